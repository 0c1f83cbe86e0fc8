#include "snapdp/statistics/quantiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "noisy.h"
#include "rows.h"
#include "snapdp/error.h"
#include "snapdp/framework/measurement.h"

namespace snapdp {
namespace {

HierarchyLayout layout_of(std::size_t leaves, std::size_t branching) {
  std::vector<Dyadic> edges;
  for (std::size_t i = 0; i <= leaves; ++i) edges.emplace_back(static_cast<std::int64_t>(i * i + i));
  return HierarchyLayout(edges, branching);
}

std::vector<long> numbers(const std::vector<Dyadic>& tree) {
  std::vector<long> result;
  for (const Dyadic& node : tree) result.push_back(node.rational().get_num().get_si());
  return result;
}

// The leaves below each released node, and all leaves for a root that is left out.
std::vector<std::vector<std::size_t>> leaves_below(const HierarchyLayout& layout) {
  std::vector<std::vector<std::size_t>> result;
  for (std::size_t level = 0; level < layout.levels().size(); ++level) {
    std::size_t width = 1;
    for (std::size_t below = level + 1; below < layout.levels().size(); ++below) width *= layout.branching();
    for (std::size_t node = 0; node < layout.levels()[level]; ++node) {
      result.emplace_back();
      for (std::size_t leaf = node * width; leaf < std::min((node + 1) * width, layout.leaves()); ++leaf)
        result.back().push_back(leaf);
    }
  }
  return result;
}

TEST(Hierarchy, CountsEveryLevel) {
  const HierarchyLayout layout({0, 1, 2, 3, 4, 5}, 2);
  EXPECT_EQ(layout.levels(), (std::vector<std::size_t>{1, 2, 3, 5}));
  EXPECT_EQ(layout.nodes(), 11U);
  const VectorDomain reals = vector_domain<double>();
  const Aggregation any = make_hierarchy(reals, symmetric_distance(), layout);
  const std::vector<double> rows{-HUGE_VAL, -0.0, 0.5, 1, 4.999, 5, HUGE_VAL, 3};
  EXPECT_EQ(numbers(any(rows)), (std::vector<long>{8, 5, 3, 4, 1, 3, 3, 1, 0, 1, 3}));
  EXPECT_EQ(any.sensitivity(), 4);
  EXPECT_EQ(any.sensitivity(2), 8);
  EXPECT_FALSE(any.output_domain().range);
  EXPECT_TRUE(any.output_domain().integer);
  // The root is the public size and left out.
  const Aggregation sized = make_hierarchy(reals.of_size(8), change_one(), layout);
  EXPECT_EQ(numbers(sized(rows)), (std::vector<long>{5, 3, 4, 1, 3, 3, 1, 0, 1, 3}));
  EXPECT_EQ(sized.sensitivity(), 6);
  EXPECT_EQ(sized.output_domain().range, Bounds(0, 8));
  EXPECT_EQ(sized.output_domain().dimension, layout.with_public_total(8).nodes());
  EXPECT_EQ(layout.with_public_total(8).with_public_total(8).nodes(), 10U);
  EXPECT_EQ(HierarchyLayout({0, 1, 2, 3, 4, 5}, 5).levels(), (std::vector<std::size_t>{1, 5}));
  EXPECT_EQ(HierarchyLayout({0, 1}).levels(), (std::vector<std::size_t>{1}));
}

TEST(Hierarchy, OfIntegersAtTheirLimits) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const HierarchyLayout layout(
      {Dyadic(-0x1p70), Dyadic{least}, Dyadic(-0.5), Dyadic(0.5), Dyadic(0x1p63), Dyadic(0x1p80)}, 8);
  const Aggregation aggregation = make_hierarchy(vector_domain<std::int64_t>(), symmetric_distance(), layout);
  const std::vector<std::int64_t> rows{least, -1, 0, 1, most, most};
  EXPECT_EQ(numbers(aggregation(rows)), (std::vector<long>{6, 0, 2, 1, 3, 0}));
}

// Every dataset of up to three rows over all leaves and their edges, and every neighbor of each.
TEST(Hierarchy, EveryPairOfNeighborsIsAsCloseAsClaimed) {
  const std::vector<double> alphabet{-1, 0, 1.5, 2, 3, 7, 8};
  for (const std::size_t branching : {2U, 3U, 7U}) {
    const HierarchyLayout layout({0, 1, 2, 3, 5, 8}, branching);
    const VectorDomain reals = vector_domain<double>();
    const Aggregation any = make_hierarchy(reals, symmetric_distance(), layout);
    Rational farthest_any = 0;
    Rational farthest_sized = 0;
    for (std::size_t n = 1; n <= 3; ++n) {
      const Aggregation sized =
          make_hierarchy(reals.of_size(n), n % 2 == 0 ? change_one() : hamming(), layout);
      std::size_t datasets = 1;
      for (std::size_t i = 0; i < n; ++i) datasets *= alphabet.size();
      const auto apart = [](const Aggregation& aggregation, const Chunk& a, const Chunk& b) {
        const std::vector<Dyadic> left = aggregation(a);
        const std::vector<Dyadic> right = aggregation(b);
        Rational distance = 0;
        for (std::size_t i = 0; i < left.size(); ++i) distance += abs(left[i] - right[i]).rational();
        EXPECT_LE(distance, aggregation.sensitivity());
        return Rational(distance / aggregation.sensitivity());
      };
      for (std::size_t code = 0; code < datasets; ++code) {
        std::vector<double> rows;
        for (std::size_t i = 0, rest = code; i < n; ++i, rest /= alphabet.size())
          rows.push_back(alphabet[rest % alphabet.size()]);
        const Chunk all(rows);
        farthest_any = std::max(farthest_any, apart(any, all, all.slice(1, n - 1)));
        for (const double value : alphabet) {
          std::vector<double> changed = rows;
          changed[0] = value;
          farthest_sized = std::max(farthest_sized, apart(sized, rows, changed));
        }
      }
    }
    EXPECT_EQ(farthest_any, 1);
    EXPECT_EQ(farthest_sized, 1);
  }
}

TEST(Hierarchy, StatesMergeAndImpossibleOnesAreRefused) {
  std::mt19937_64 engine(41);
  const HierarchyLayout layout = layout_of(9, 3);
  const Transformation drop = make_drop(untrusted_domain({AtomType::real}), symmetric_distance());
  const Aggregation aggregation = drop >> make_hierarchy(layout);
  for (int round = 0; round < 20; ++round) {
    const std::vector<double> rows = adversarial_reals(engine, 1 + engine() % 200);
    const std::size_t middle = engine() % rows.size();
    AggregateState left = aggregation.start();
    AggregateState right = aggregation.start();
    aggregation.update(left, Chunk(rows).slice(0, middle));
    aggregation.update(right, Chunk(rows).slice(middle, rows.size() - middle));
    aggregation.merge(right, aggregation.from_bytes(aggregation.to_bytes(left)));
    EXPECT_EQ(aggregation.finish(right), aggregation(rows));
  }
  const Aggregation two =
      make_hierarchy(vector_domain<double>(), symmetric_distance(), HierarchyLayout({0, 1, 2}));
  EXPECT_NO_THROW(two.fold().restore({3, {1, 2}}));
  EXPECT_THROW(two.fold().restore({3, {1, 1}}), Error);
  EXPECT_THROW(two.fold().restore({3, {4, -1}}), Error);
  EXPECT_THROW(two.fold().restore({3, {1, 3}}), Error);
  EXPECT_THROW(two.fold().restore({3, {Dyadic(1.5), Dyadic(1.5)}}), Error);
  EXPECT_THROW(two.fold().restore({3, {3}}), Error);
}

TEST(Hierarchy, RefusesWhatHasNoProof) {
  EXPECT_THROW(HierarchyLayout({1}), Error);
  EXPECT_THROW(HierarchyLayout({1, 1}), Error);
  EXPECT_THROW(HierarchyLayout({2, 1}), Error);
  EXPECT_THROW(HierarchyLayout({0, 1}, 1), Error);
  EXPECT_THROW(HierarchyLayout({0, Dyadic((Integer(1) << 60) + 1, 0)}), Error);
  EXPECT_THROW(HierarchyLayout({0, 1}).with_public_total(3), Error);
  const HierarchyLayout layout = layout_of(4, 2);
  const VectorDomain reals = vector_domain<double>();
  EXPECT_THROW(make_hierarchy(untrusted_domain({AtomType::real}), symmetric_distance(), layout), Error);
  EXPECT_THROW(make_hierarchy(vector_domain<std::string_view>(), symmetric_distance(), layout), Error);
  EXPECT_THROW(make_hierarchy(reals, change_one(), layout), Error);
  EXPECT_THROW(make_hierarchy(reals, Metric::l1_distance, layout), Error);
  EXPECT_THROW(make_hierarchy(reals, symmetric_distance(), layout.with_public_total(4)), Error);
  EXPECT_THROW(make_hierarchy(reals.of_size(5), hamming(), layout.with_public_total(4)), Error);
  EXPECT_NO_THROW(make_hierarchy(reals.of_size(4), hamming(), layout.with_public_total(4)));
  EXPECT_THROW(consistent_counts(layout, {1, 2}), Error);
  EXPECT_THROW(quantile_from_hierarchy(layout, {1, 2}, Rational(1, 2)), Error);
  EXPECT_THROW(quantile_from_hierarchy(layout, {1, 2, 3, 4}, Rational(3, 2)), Error);
  EXPECT_THROW(quantile_rank_error(layout, std::nan(""), 1), Error);
}

// Least squares is known by its normal equations: the residuals of the nodes above a leaf add up to 0, or, when the
// total is given, to the same number for every leaf.
TEST(ConsistentCounts, SolveTheNormalEquationsExactly) {
  std::mt19937_64 engine(43);
  for (const std::size_t branching : {2U, 3U, 5U}) {
    for (const std::size_t leaves : {1U, 2U, 3U, 5U, 8U, 11U, 27U}) {
      for (const bool total : {false, true}) {
        if (total && leaves == 1) continue;
        const HierarchyLayout plain = layout_of(leaves, branching);
        const HierarchyLayout layout = total ? plain.with_public_total(50) : plain;
        std::vector<Dyadic> tree;
        for (std::size_t i = 0; i < layout.nodes(); ++i)
          tree.emplace_back(static_cast<std::int64_t>(engine() % 61) - 20);
        const std::vector<Rational> counts = consistent_counts(layout, tree);
        ASSERT_EQ(counts.size(), leaves);
        const std::vector<std::vector<std::size_t>> below = leaves_below(layout);
        std::vector<Rational> gradient(leaves);
        for (std::size_t node = 0; node < below.size(); ++node) {
          Rational residual = tree[node].rational();
          for (const std::size_t leaf : below[node]) residual -= counts[leaf];
          for (const std::size_t leaf : below[node]) gradient[leaf] += residual;
        }
        for (const Rational& value : gradient) ASSERT_EQ(value, total ? gradient[0] : Rational(0));
        if (total) {
          Rational sum = 0;
          for (const Rational& count : counts) sum += count;
          ASSERT_EQ(sum, 50);
        }
      }
    }
  }
}

// A root and two leaves.
TEST(ConsistentCounts, OfTwoLeavesByHand) {
  const HierarchyLayout layout({0, 1, 2});
  // z = (2/3) 12 + (1/3) (3 + 5) = 32/3; missing 32/3 - 8 = 8/3, half to each.
  EXPECT_EQ(consistent_counts(layout, {12, 3, 5}), (std::vector<Rational>{Rational(13, 3), Rational(19, 3)}));
  EXPECT_EQ(consistent_counts(layout.with_public_total(12), {3, 5}), (std::vector<Rational>{5, 7}));
}

TEST(Quantiles, AreThoseOfTheLeafCounts) {
  const HierarchyLayout layout({0, 10, 20, 40}, 2);
  const std::vector<Rational> counts{4, 0, 4};
  EXPECT_EQ(quantile_from_hierarchy(layout, counts, 0), 0);
  EXPECT_EQ(quantile_from_hierarchy(layout, counts, Rational(1, 4)), 5);
  EXPECT_EQ(quantile_from_hierarchy(layout, counts, Rational(1, 2)), 10);
  EXPECT_EQ(quantile_from_hierarchy(layout, counts, Rational(3, 4)), 30);
  EXPECT_EQ(quantile_from_hierarchy(layout, counts, 1), 40);
  // No rows, or fewer: the middle. Negative counts never take ranks back.
  EXPECT_EQ(quantile_from_hierarchy(layout, {0, 0, 0}, Rational(1, 3)), 20);
  EXPECT_EQ(quantile_from_hierarchy(layout, {-1, -2, 0}, Rational(1, 3)), 20);
  EXPECT_EQ(quantile_from_hierarchy(layout, {4, -3, 4}, Rational(1, 2)), 6.25);
  EXPECT_EQ(quantile_from_hierarchy(layout, {0, 2, 0}, 0), 10);
}

TEST(Quantiles, GrowWithTheFractionAndStayInside) {
  std::mt19937_64 engine(47);
  for (int round = 0; round < 200; ++round) {
    const std::size_t leaves = 1 + engine() % 12;
    HierarchyLayout layout = layout_of(leaves, 2 + engine() % 3);
    const bool total = leaves > 1 && engine() % 2 == 0;
    if (total) layout = layout.with_public_total(engine() % 30);
    std::vector<Dyadic> tree;
    for (std::size_t i = 0; i < layout.nodes(); ++i)
      tree.emplace_back(static_cast<std::int64_t>(engine() % 41) - 20);
    const std::vector<Rational> counts = consistent_counts(layout, tree);
    double before = 0;
    for (int q = 0; q <= 20; ++q) {
      const double value = quantile_from_hierarchy(layout, counts, Rational(q, 20));
      ASSERT_GE(value, before);
      ASSERT_LE(value, layout.edges().back().to_double_nearest());
      const QuantileInterval interval =
          quantile_interval(layout, counts, Rational(q, 20), static_cast<double>(engine() % 8));
      ASSERT_LE(interval.lower, value);
      ASSERT_GE(interval.upper, value);
      before = value;
    }
  }
}

// The claimed factor is the largest sum of absolute weights of any rank estimate; the weights come from unit trees.
TEST(Quantiles, RankErrorIsTheLargestSumOfWeights) {
  for (const std::size_t branching : {2U, 3U, 4U, 20U}) {
    for (const std::size_t leaves : {2U, 3U, 4U, 7U, 8U, 13U, 16U}) {
      for (const bool total : {false, true}) {
        const HierarchyLayout plain = layout_of(leaves, branching);
        const HierarchyLayout layout = total ? plain.with_public_total(0) : plain;
        std::vector<Rational> weight(leaves + 1);
        for (std::size_t node = 0; node < layout.nodes(); ++node) {
          std::vector<Dyadic> unit(layout.nodes(), Dyadic(0));
          unit[node] = 1;
          const std::vector<Rational> counts = consistent_counts(layout, unit);
          Rational below = 0;
          for (std::size_t edge = 1; edge <= leaves; ++edge) {
            below += counts[edge - 1];
            weight[edge] += abs(below);
          }
        }
        const Rational largest = *std::max_element(weight.begin(), weight.end());
        const double claimed = quantile_rank_error(layout, 1, 0);
        EXPECT_GE(Rational(claimed), largest);
        EXPECT_LE(claimed, 1.00001 * largest.get_d()) << leaves << " leaves, branching " << branching;
        EXPECT_NEAR(quantile_rank_error(layout, 3, 1), (total ? 3 : 6) * claimed, 1e-9 * claimed);
      }
    }
  }
}

// Any tree within the node accuracy of the exact one, the worst corners above all: the claims hold for every row count.
TEST(Quantiles, AccuracyHoldsForEveryErrorOfTheNodes) {
  std::mt19937_64 engine(53);
  int informative = 0;
  for (int round = 0; round < 600; ++round) {
    const std::size_t leaves = 2 + engine() % 15;
    const std::size_t n = engine() % (round % 2 == 0 ? 20 : 400);
    HierarchyLayout layout = layout_of(leaves, 2 + engine() % 3);
    const double last = layout.edges().back().to_double_nearest();
    VectorDomain domain = vector_domain<double>();
    if (engine() % 2 == 0) {
      layout = layout.with_public_total(n);
      domain = domain.of_size(n);
    }
    std::vector<double> rows;
    for (std::size_t i = 0; i < n; ++i)
      rows.push_back(engine() % 4 == 0 ? std::floor(last / 3)
                                       : static_cast<double>(engine() % 1000) / 1000 * last);
    const Aggregation aggregation =
        make_hierarchy(domain, layout.public_total() ? change_one() : symmetric_distance(), layout);
    std::vector<Dyadic> tree = aggregation(rows);
    const int accuracy = static_cast<int>(engine() % 5);
    for (Dyadic& node : tree) {
      const int error = engine() % 3 == 0 ? 0 : accuracy;
      node += Dyadic(engine() % 2 == 0 ? error : -error);
    }
    const std::vector<Rational> counts = consistent_counts(layout, tree);
    std::sort(rows.begin(), rows.end());
    const auto below = [&](double edge) {  // all rows, for the last edge
      return edge >= last
                 ? static_cast<long>(n)
                 : static_cast<long>(std::lower_bound(rows.begin(), rows.end(), edge) - rows.begin());
    };
    for (int i = 0; i <= 10; ++i) {
      const Rational q(i, 10);
      const double released = quantile_from_hierarchy(layout, counts, q);
      const double off = quantile_rank_error(layout, accuracy, q);
      const Rational target = q * Rational(static_cast<long>(n));
      bool holds = false;  // for a leaf that holds the released value
      for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
        const double lower = layout.edges()[leaf].to_double_nearest();
        const double upper = layout.edges()[leaf + 1].to_double_nearest();
        if (released < lower || released > upper) continue;
        holds = holds || (Rational(below(lower)) <= target + Rational(off) &&
                          Rational(below(upper)) >= target - Rational(off));
      }
      ASSERT_TRUE(holds);
      const QuantileInterval interval = quantile_interval(layout, counts, q, off);
      if (interval.lower > 0 || interval.upper < last) ++informative;
      for (const double x : rows) {
        const auto less = std::lower_bound(rows.begin(), rows.end(), x) - rows.begin();
        const auto at_most = std::upper_bound(rows.begin(), rows.end(), x) - rows.begin();
        if (Rational(static_cast<long>(less)) <= target && target <= Rational(static_cast<long>(at_most))) {
          ASSERT_LE(interval.lower, x);
          ASSERT_GE(interval.upper, x);
        }
      }
    }
  }
  EXPECT_GT(informative, 300);
}

// Releases with real noise miss the median's rank bound no more often than alpha = 1/5. With T independent releases the
// misses are at most binomial(T, alpha); by Hoeffding P(misses >= alpha T + t) <= exp(-2 t^2 / T), which is below 1e-9
// for t = sqrt(T ln(1e9) / 2).
TEST(Quantiles, ReleasesAreAsAccurateAsTheySay) {
  constexpr int releases = 400;
  const Rational alpha(1, 5);
  const HierarchyLayout layout = layout_of(16, 4);
  std::vector<double> rows;
  for (int i = 0; i < 1000; ++i) rows.push_back(static_cast<double>((i * 7919) % 272));
  const auto below = [&](double edge) {
    return std::count_if(rows.begin(), rows.end(), [&](double x) { return x < edge; });
  };
  const Measurement measurement = make_hierarchy(vector_domain<double>(), symmetric_distance(), layout) >>
                                  make_snapping({.epsilon = "1/4"});
  EXPECT_LE(measurement.loss(), Rational(1, 4));
  const double node =
      measurement.accuracy(FailureRate(Rational(alpha / static_cast<unsigned long>(layout.nodes())))).tight;
  const Rational half(1, 2);
  const double off = quantile_rank_error(layout, node, half);
  EXPECT_LT(off, 900);
  const std::vector<Dyadic> exact = measurement.aggregation()(rows);
  int misses = 0;
  for (int i = 0; i < releases; ++i) {
    const std::vector<Rational> counts = consistent_counts(layout, noisy(measurement, exact));
    const double median = quantile_from_hierarchy(layout, counts, half);
    bool holds = false;
    for (std::size_t leaf = 0; leaf < layout.leaves(); ++leaf) {
      const double lower = layout.edges()[leaf].to_double_nearest();
      const double upper = layout.edges()[leaf + 1].to_double_nearest();
      if (median < lower || median > upper) continue;
      holds = holds || (static_cast<double>(below(lower)) <= 500 + off &&
                        static_cast<double>(below(upper)) >= 500 - off);
    }
    const QuantileInterval interval = quantile_interval(layout, counts, half, off);
    std::vector<double> sorted = rows;
    std::sort(sorted.begin(), sorted.end());
    if (!holds || interval.lower > sorted[499] || interval.upper < sorted[500]) ++misses;
  }
  const double most = alpha.get_d() * releases + std::sqrt(releases * std::log(1e9) / 2);
  EXPECT_LT(misses, most);
}

}  // namespace
}  // namespace snapdp
