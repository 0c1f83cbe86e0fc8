// Any number of quantiles from one release: a hierarchy of noisy counts over public edges.
#include <snapdp/snapdp.h>

#include <iostream>
#include <vector>

using namespace snapdp;

int main() {
  std::vector<double> rows;
  for (int age = 18; age < 90; ++age) rows.insert(rows.end(), static_cast<std::size_t>(100 - age), age);

  const std::vector<Dyadic> edges{0, 10, 20, 30, 40, 50, 60, 70, 80, 90};
  const HierarchyLayout layout(edges, best_branching(edges.size() - 1, false));
  const auto tree = make_hierarchy(vector_domain<double>(), symmetric_distance(), layout) >>
                    make_snapping({.epsilon = "1/2", .noise = NoiseKind::geometric});
  InMemoryAccountant budget("1/2");
  const auto counts = consistent_counts(layout, tree.release(rows, budget).values);

  // With probability at least 95% all three lie in their intervals.
  const FailureRate each(Rational(1, 60));
  for (const Rational& q : {Rational(1, 4), Rational(1, 2), Rational(3, 4)}) {
    const double margin = quantile_margin(layout, tree.mechanism().noise(), q, each);
    const QuantileInterval interval = quantile_interval(layout, counts, q, margin);
    std::cout << to_string(q) << ": " << quantile_from_hierarchy(layout, counts, q) << " in ["
              << interval.lower << ", " << interval.upper << "]\n";
  }
}
