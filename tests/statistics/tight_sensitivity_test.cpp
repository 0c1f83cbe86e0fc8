// Sensitivities are reached: for every statistic there are neighbors as far apart as it claims, so that no noise is
// wasted. All datasets of a few rows over a few cells are looked at.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "snapdp/framework/measurement.h"
#include "snapdp/statistics/quantiles.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {
namespace {

using Row = std::vector<double>;  // one cell a column
using Rows = std::vector<Row>;

std::vector<Dyadic> statistic(const Aggregation& aggregation, const Rows& rows) {
  const std::size_t width = aggregation.input_domain().columns().size();
  std::vector<std::vector<double>> reals(width);
  std::vector<std::vector<std::int64_t>> integers(width);
  std::vector<Column> columns;
  for (std::size_t i = 0; i < width; ++i) {
    for (const Row& row : rows) {
      reals[i].push_back(row[i]);
      integers[i].push_back(static_cast<std::int64_t>(row[i]));
    }
    const AtomType type = aggregation.input_domain().columns()[i].type;
    columns.push_back(
        {type, type == AtomType::real ? static_cast<const void*>(reals[i].data()) : integers[i].data()});
  }
  return aggregation(Chunk(columns, rows.size()));
}

Rational distance(const std::vector<Dyadic>& first, const std::vector<Dyadic>& second) {
  Dyadic sum;
  for (std::size_t i = 0; i < first.size(); ++i) sum += abs(first[i] - second[i]);
  return sum.rational();
}

// Calls `each` with all multisets of `count` rows.
void for_all(const Rows& cells, std::size_t count, const std::function<void(const Rows&)>& each,
             Rows chosen = {}, std::size_t first = 0) {
  if (chosen.size() == count) return each(chosen);
  for (std::size_t i = first; i < cells.size(); ++i) {
    chosen.push_back(cells[i]);
    for_all(cells, count, each, chosen, i);
    chosen.pop_back();
  }
}

// The largest distance of two neighbors, of which the smaller one has `rows` rows or one less.
Rational reached(const Aggregation& aggregation, const Rows& cells, std::size_t rows) {
  Rational largest = 0;
  const bool replaced = preserves_size(aggregation.input_metric());
  for_all(cells, rows - 1, [&](const Rows& others) {
    std::vector<std::vector<Dyadic>> values;
    if (!replaced) values.push_back(statistic(aggregation, others));
    for (const Row& cell : cells) {
      Rows all = others;
      all.push_back(cell);
      values.push_back(statistic(aggregation, all));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t end = replaced ? i : std::min<std::size_t>(i, 1);
      for (std::size_t j = 0; j < end; ++j) largest = std::max(largest, distance(values[i], values[j]));
    }
  });
  return largest;
}

// Reals are rounded to the statistic's grid, and the sensitivity is raised to it.
void expect_reached(const Aggregation& aggregation, const Rows& cells, std::size_t rows) {
  const StatisticDomain& domain = aggregation.output_domain();
  const Rational slack = domain.integer ? Rational(0) : Rational(2 * domain.grid.spacing().rational());
  const Rational largest = reached(aggregation, cells, rows);
  EXPECT_LE(largest, aggregation.sensitivity()) << aggregation.description();
  EXPECT_GE(largest, aggregation.sensitivity() - slack) << aggregation.description();
}

constexpr Metric add_remove = Metric::symmetric_distance;
constexpr std::size_t rows = 3;
const Rows numbers = {{0}, {1}, {2}, {3}, {4}, {7}};

TEST(TightSensitivity, OfCountsInBins) {
  const VectorDomain column = untrusted_domain({AtomType::real});
  const std::vector<Bins> bins = {Bins::numbers({3}), Bins::numbers({3, 1}), Bins::numbers({1, 2, 3}),
                                  Bins::edges({0, 2}), Bins::edges({0, 1, 3, 7})};
  expect_reached(make_count(column, add_remove), numbers, rows);
  expect_reached(make_count(column.of_size(rows), change_one()), numbers, rows);
  for (const Bins& each : bins) {
    for (const Metric metric : {add_remove, change_one(), hamming()}) {
      const VectorDomain domain = preserves_size(metric) ? column.of_size(rows) : column;
      expect_reached(make_histogram(domain, metric, each), numbers, rows);
      expect_reached(make_histogram(domain, metric, each.with_other()), numbers, rows);
      expect_reached(make_distinct_count(domain, metric, each), numbers, rows);
    }
  }
}

TEST(TightSensitivity, OfHierarchies) {
  for (const std::vector<Dyadic>& edges :
       {std::vector<Dyadic>{0, 1}, {0, 1, 2}, {0, 1, 2, 3}, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, 5}}) {
    for (const std::size_t branching : {2U, 3U, 8U}) {
      const HierarchyLayout layout(edges, branching);
      const VectorDomain column = vector_domain<double>();
      expect_reached(make_hierarchy(column, add_remove, layout), numbers, rows);
      if (layout.leaves() == 1) continue;  // refused: its one count is the public size
      expect_reached(make_hierarchy(column.of_size(rows), change_one(), layout), numbers, rows);
    }
  }
}

TEST(TightSensitivity, OfGroups) {
  const VectorDomain keyed = untrusted_domain({AtomType::real, AtomType::real});
  const auto sum = [](const VectorDomain& rest, Metric metric) {
    const Transformation complete = make_drop(rest, metric);
    return complete >> make_clamp(complete.output_domain(), metric, Bounds(-1, 2)) >> make_sum();
  };
  Rows cells;
  for (const Row& key : numbers) {
    for (const double value : {-1.0, 0.0, 2.0}) cells.push_back({key[0], value});
  }
  for (const Bins& keys : {Bins::numbers({1}), Bins::numbers({1, 2}), Bins::edges({0, 1, 2})}) {
    expect_reached(make_grouped(keyed, add_remove, keys, make_count()), cells, 2);
    expect_reached(make_grouped(keyed, add_remove, keys, sum), cells, 2);
    expect_reached(make_grouped(keyed, add_remove, keys, make_histogram(Bins::numbers({2}))), cells, 2);
    expect_reached(make_grouped(keyed, add_remove, keys, make_distinct_count(Bins::numbers({2, 0}))), cells,
                   2);
  }
}

TEST(TightSensitivity, OfSumsMeansAndMoments) {
  for (const auto& [lower, upper] : {std::pair(-1, 2), std::pair(1, 3), std::pair(-3, -1), std::pair(2, 2)}) {
    const Rows cells = {{static_cast<double>(lower)},
                        {static_cast<double>(upper)},
                        {lower < 0 && upper > 0 ? 0.0 : lower * 1.0}};
    for (const AtomType type : {AtomType::real, AtomType::integer}) {
      const VectorDomain column({{type, false, false, Bounds(lower, upper)}});
      expect_reached(make_sum(column, add_remove), cells, rows);
      expect_reached(make_centered_sum(column, add_remove), cells, rows);
      for (const int k : {1, 2, 3, 4})
        expect_reached(make_centered_moment(column, add_remove, k), cells, rows);
      for (const std::uint64_t n : {2U, 3U}) {
        const VectorDomain sized = column.of_size(n);
        expect_reached(make_sum(sized, change_one()), cells, n);
        expect_reached(make_mean(sized, change_one()), cells, n);
        expect_reached(make_variance(sized, change_one()), cells, n);
        for (const int k : {1, 2, 3, 4}) expect_reached(make_moment(sized, change_one(), k), cells, n);
      }
    }
  }
}

TEST(TightSensitivity, OfProducts) {
  Rows cells;
  for (const double x : {-1.0, 0.0, 2.0}) {
    for (const double y : {0.0, 1.0, 3.0}) cells.push_back({x, y});
  }
  const VectorDomain columns(
      {{AtomType::real, false, false, Bounds(-1, 2)}, {AtomType::real, false, false, Bounds(0, 3)}});
  expect_reached(make_centered_product(columns, add_remove), cells, 2);
  for (const std::uint64_t n : {2U, 3U})
    expect_reached(make_covariance(columns.of_size(n), change_one()), cells, n);
}

// At the distances of privacy units: no two statistics are farther apart than their public range is wide.
TEST(TightSensitivity, AtTheDistanceOfUnits) {
  const Aggregation distinct =
      make_distinct_count(untrusted_domain({AtomType::real}), add_remove, Bins::numbers({1, 2}));
  EXPECT_EQ(distinct.sensitivity(10), 2);
  NoiseOptions options{.epsilon = 1};
  options.distance = 10;
  EXPECT_EQ((distinct >> make_snapping(options)).mechanism().scale(), 2);
  EXPECT_EQ((distinct >> make_snapping(options)).loss(10), 1);
}

}  // namespace
}  // namespace snapdp
