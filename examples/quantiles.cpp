// Any number of quantiles from one release: a hierarchy of noisy counts over public edges.
#include <snapdp/snapdp.h>

#include <iostream>
#include <vector>

using namespace snapdp;

int main() {
  std::vector<double> rows;
  for (int age = 18; age < 90; ++age) rows.insert(rows.end(), static_cast<std::size_t>(100 - age), age);

  const HierarchyLayout layout({0, 10, 20, 30, 40, 50, 60, 70, 80, 90});
  const auto tree = make_hierarchy(vector_domain<double>(), symmetric_distance(), layout) >>
                    make_snapping({.epsilon = "1/2", .noise = NoiseKind::geometric});
  InMemoryAccountant budget("1/2");
  const auto counts = consistent_counts(layout, tree.release(rows, budget).values);

  // With probability at least 95% every node, and so every quantile, is within this.
  const Rational nodes(Integer(static_cast<unsigned long>(layout.nodes())));
  const double node = tree.accuracy(FailureRate(Rational(Rational(1, 20) / nodes))).tight;
  for (const Rational& q : {Rational(1, 4), Rational(1, 2), Rational(3, 4)}) {
    const QuantileInterval interval =
        quantile_interval(layout, counts, q, quantile_rank_error(layout, node, q));
    std::cout << to_string(q) << ": " << quantile_from_hierarchy(layout, counts, q) << " in ["
              << interval.lower << ", " << interval.upper << "]\n";
  }
}
