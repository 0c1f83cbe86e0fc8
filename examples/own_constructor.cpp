// Your own transformation, tried by the neighbor tester before anybody relies on it.
#include <snapdp/snapdp.h>
#include <snapdp/testing/neighbor_tester.h>

#include <cmath>
#include <iostream>

using namespace snapdp;

int main() {
  AtomDomain ages = atom_domain<double>();
  ages.bounds = Bounds(-3, 2);
  AtomDomain output = atom_domain<double>();
  output.bounds = Bounds(0, 3);
  output.nullable = true;  // what make_map asks for: a result outside the bounds would become null

  // |x| of each row. A function of the row alone moves no other row, so it is 1-stable; Trusted{} says that we know it is
  // one, because a program cannot see that for itself.
  const Transformation absolute = make_map(
      VectorDomain({ages}), change_one(), output, [](double x) { return std::abs(x); }, "absolute value",
      Trusted{});

  if (const auto found = find_counterexample(absolute)) {
    std::cout << "not 1-stable: " << found->description() << "\n";
    return 1;
  }
  std::cout << "no counterexample: neighbors stay neighbors\n";

  const auto total = absolute >> make_impute(absolute.output_domain(), change_one(), {Dyadic(0)});
  std::cout << "then: " << describe(Domain(total.output_domain())) << "\n";
}
