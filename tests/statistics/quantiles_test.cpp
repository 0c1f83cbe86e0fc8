#include "snapdp/statistics/quantiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
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
  const Noise noise{.scale = 3};
  EXPECT_THROW(quantile_rank_error(layout, noise, -1, 0.05), Error);
  EXPECT_THROW(quantile_margin(layout, noise, 2, 0.05), Error);
  EXPECT_THROW(quantile_interval(layout, {1, 2, 3, 4}, 0, std::nan("")), Error);
  // Bounds that cut off counts.
  EXPECT_THROW(quantile_margin(layout, {.scale = 3, .lower = 1}, 0, 0.05), Error);
  EXPECT_THROW(quantile_margin(layout, {.scale = 3, .lower = 0, .upper = 9}, 0, 0.05), Error);
  const HierarchyLayout nine = layout.with_public_total(9);
  EXPECT_THROW(quantile_rank_error(nine, {.scale = 3, .lower = 0, .upper = 8}, 0, 0.05), Error);
  EXPECT_NO_THROW(quantile_rank_error(nine, {.scale = 3, .lower = 0, .upper = 9}, 0, 0.05));
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
  // No rows, or fewer: the middle.
  EXPECT_EQ(quantile_from_hierarchy(layout, {0, 0, 0}, Rational(1, 3)), 20);
  EXPECT_EQ(quantile_from_hierarchy(layout, {-1, -2, 0}, Rational(1, 3)), 20);
  EXPECT_EQ(quantile_from_hierarchy(layout, {0, 2, 0}, 0), 10);
  // Where estimates cross the target several times, the edge between the largest nodes decides: 1 below 20, of 5.
  EXPECT_EQ(quantile_from_hierarchy(layout, {4, -3, 4}, Rational(1, 2)), 27.5);
  const HierarchyLayout three({0, 10, 20, 40}, 3);
  EXPECT_EQ(quantile_from_hierarchy(three, {4, -3, 4}, Rational(1, 2)), 6.25);
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

// The weights of the nodes in the estimate of the rows below an edge, less q times that of all rows: from unit trees.
std::vector<Rational> weights_of(const HierarchyLayout& layout, std::size_t edge, const Rational& q) {
  std::vector<Rational> weights;
  for (std::size_t node = 0; node < layout.nodes(); ++node) {
    std::vector<Dyadic> unit(layout.nodes(), Dyadic(0));
    unit[node] = 1;
    const std::vector<Rational> counts = consistent_counts(layout, unit);
    const auto leaf = [&](std::size_t i) { return counts.begin() + static_cast<std::ptrdiff_t>(i); };
    Rational weight = std::accumulate(leaf(0), leaf(edge), Rational(0));
    weights.push_back(weight - q * std::accumulate(leaf(0), leaf(layout.leaves()), Rational(0)));
  }
  return weights;
}

// The probabilities of the multiples of 1/32, from -60 to 60, for a weighted sum of Laplace noises, each rounded to
// them.
std::vector<double> law_of_sum(const std::vector<Rational>& weights, double scale) {
  constexpr long steps = 60 * 32;
  const auto cdf = [](double x) { return x < 0 ? std::exp(x) / 2 : 1 - std::exp(-x) / 2; };
  std::vector<double> sum(2 * steps + 1);
  sum[steps] = 1;
  for (const Rational& weight : weights) {
    const double size = std::fabs(weight.get_d()) * scale * 32;
    if (size == 0) continue;
    std::vector<double> next(sum.size());
    const long farthest = std::min(steps, static_cast<long>(30 * size) + 1);
    for (long k = -farthest; k <= farthest; ++k) {
      const double x = static_cast<double>(k);
      const double probability = cdf((x + 0.5) / size) - cdf((x - 0.5) / size);
      for (long i = std::max(-steps, -steps + k); i <= std::min(steps, steps + k); ++i)
        next[static_cast<std::size_t>(i + steps)] +=
            probability * sum[static_cast<std::size_t>(i - k + steps)];
    }
    sum = std::move(next);
  }
  return sum;
}

double tail_beyond(const std::vector<double>& law, double radius) {
  const auto first = static_cast<std::size_t>(60 * 32 + std::floor(radius * 32) + 1);
  return std::accumulate(law.begin() + static_cast<std::ptrdiff_t>(first), law.end(), 0.0);
}

// The edges that a search for an edge looks at: of those between its ends the ones that lie between the largest nodes,
// b^k leaves wide for the largest k, and of these the middle one.
std::vector<std::size_t> way_to(const HierarchyLayout& layout, std::size_t edge) {
  const auto width = [&](std::size_t i) {
    std::size_t power = 1;
    while (i % (power * layout.branching()) == 0) power *= layout.branching();
    return power;
  };
  std::vector<std::size_t> way;
  std::size_t lower = 0;
  std::size_t upper = layout.leaves();
  while (way.empty() || way.back() != edge) {
    std::vector<std::size_t> widest;
    for (std::size_t i = lower + 1; i < upper; ++i) {
      if (!widest.empty() && width(i) > width(widest.front())) widest.clear();
      if (widest.empty() || width(i) == width(widest.front())) widest.push_back(i);
    }
    way.push_back(widest[(widest.size() - 1) / 2]);
    (way.back() <= edge ? lower : upper) = way.back();
  }
  return way;
}

// The errors of all edges and of the total of one layout.
struct ExactErrors {
  ExactErrors(const HierarchyLayout& of, double scale, const Rational& q) : layout(of) {
    for (std::size_t edge = 1; edge <= layout.leaves(); ++edge)
      laws.push_back(law_of_sum(weights_of(layout, edge, edge == layout.leaves() ? Rational(0) : q), scale));
  }
  // P(error > radius), of edge 1, 2, ... and last of the total.
  double tail(std::size_t edge, double radius) const { return tail_beyond(laws[edge - 1], radius); }
  double largest_tail(double radius) const {
    double largest = 0;
    for (std::size_t edge = 1; edge < layout.leaves(); ++edge)
      largest = std::max(largest, tail(edge, radius));
    return largest;
  }
  // The probability of being misled on one side, by the union bound.
  double misled(double radius) const {
    double largest = 0;
    for (std::size_t edge = 1; edge < layout.leaves(); ++edge) {
      double above = 0;
      double below = 0;
      for (const std::size_t looked_at : way_to(layout, edge)) {
        if (looked_at >= edge) above += tail(looked_at, radius);
        if (looked_at <= edge) below += tail(looked_at, radius);
      }
      largest = std::max({largest, above, below});
    }
    return largest + (layout.public_total() ? 0 : tail(layout.leaves(), radius));
  }

  HierarchyLayout layout;
  std::vector<std::vector<double>> laws;
};

// Against the laws of the sums, convolved noise by noise: margins and rank errors hold, and are no more than what is
// needed.
TEST(Quantiles, ErrorsAreThoseOfTheExactLaw) {
  const Rational q(1, 3);
  const double alpha = 0.1;
  for (const std::size_t branching : {2U, 3U, 6U}) {
    for (const bool total : {false, true}) {
      const HierarchyLayout plain = layout_of(6, branching);
      const HierarchyLayout layout = total ? plain.with_public_total(0) : plain;
      const Noise noise{.scale = 2, .grid = Grid(-20)};
      const ExactErrors exact(layout, 2, q);
      const double margin = quantile_margin(layout, noise, q, alpha);
      EXPECT_LE(exact.largest_tail(1.01 * margin), alpha / 2) << branching << total;
      EXPECT_GT(exact.largest_tail(0.99 * margin), alpha / 2) << branching << total;
      const double rank_error = quantile_rank_error(layout, noise, q, alpha);
      EXPECT_LE(exact.misled(1.01 * rank_error), alpha / 2) << branching << total;
      EXPECT_GT(exact.misled(0.99 * rank_error), alpha / 2) << branching << total;
      EXPECT_LT(margin, rank_error);
    }
  }
}

// Coarse grids move single counts by half a step, but not all of them in one direction: the margin is far below the sum
// of what they may move, and still holds. Four standard errors of 4000 draws.
TEST(Quantiles, MarginsKnowCoarseGrids) {
  const HierarchyLayout layout = layout_of(64, 4);
  const Noise noise{.scale = 8, .grid = Grid(4)};
  const double margin = quantile_margin(layout, noise, Rational(1, 2), 0.1);
  const double fine = quantile_margin(layout, {.scale = 8}, Rational(1, 2), 0.1);
  EXPECT_LT(margin, 1.7 * fine);
  EXPECT_GT(margin, fine);
  // Chernoff's bound takes over where rates are beyond what is computed in doubles, and grows slowly.
  const double rare = quantile_margin(layout, {.scale = 8}, Rational(1, 2), 1e-13);
  EXPECT_GT(rare, 2 * fine);
  EXPECT_LT(rare, 8 * fine);
  // Clamped noise leans to one side.
  const HierarchyLayout sized = layout.with_public_total(1000);
  const double clamped = quantile_margin(sized, {.scale = 8, .lower = 0, .upper = 1000}, Rational(1, 2), 0.1);
  const double free = quantile_margin(sized, {.scale = 8}, Rational(1, 2), 0.1);
  const double hardly =
      quantile_margin(sized, {.scale = 8, .lower = -1000, .upper = 2000}, Rational(1, 2), 0.1);
  EXPECT_GT(clamped, 2 * free);
  EXPECT_GE(hardly, free);
  EXPECT_LE(hardly, 1.001 * free);
}

TEST(Quantiles, FinerEdgesCostLittle) {
  const auto error = [](std::size_t leaves) {
    HierarchyLayout layout = layout_of(leaves, best_branching(leaves, false));
    const Noise noise{.scale = static_cast<double>(layout.levels().size())};
    return quantile_rank_error(layout, noise, Rational(1, 2), 0.05);
  };
  double before = error(2);
  for (const std::size_t leaves : {4U, 8U, 16U, 64U, 256U, 1024U}) {
    const double now = error(leaves);
    EXPECT_LT(now, 2 * before) << leaves;
    before = now;
  }
  // Better than the binary tree.
  const HierarchyLayout binary = layout_of(210, 2);
  const Noise noise{.scale = static_cast<double>(binary.levels().size())};
  EXPECT_LT(error(210), 0.9 * quantile_rank_error(binary, noise, Rational(1, 2), 0.05));
}

// By brute force: the branching with the least of all largest variances.
TEST(Quantiles, BestBranchingHasTheLeastVariance) {
  const auto largest_variance = [](std::size_t leaves, std::size_t branching, bool total) {
    const HierarchyLayout plain = layout_of(leaves, branching);
    const HierarchyLayout layout = total ? plain.with_public_total(0) : plain;
    Rational largest = 0;
    for (std::size_t edge = 1; edge < leaves; ++edge) {
      Rational variance = 0;
      for (const Rational& weight : weights_of(layout, edge, Rational(1, 2))) variance += weight * weight;
      largest = std::max(largest, variance);
    }
    const auto levels = static_cast<unsigned long>(layout.levels().size());
    return Rational(largest * (levels * levels)).get_d();
  };
  for (const std::size_t leaves : {2U, 3U, 7U, 12U, 30U}) {
    for (const bool total : {false, true}) {
      double least = HUGE_VAL;
      for (std::size_t branching = 2; branching <= leaves; ++branching)
        least = std::min(least, largest_variance(leaves, branching, total));
      const double chosen = largest_variance(leaves, best_branching(leaves, total), total);
      EXPECT_LE(chosen, 1.1 * least) << leaves << total;
    }
  }
  EXPECT_EQ(best_branching(0, false), 2U);
  EXPECT_EQ(best_branching(1, true), 2U);
}

// Rows, their exact hierarchy, and a tree that errs.
struct Erring {
  HierarchyLayout layout;
  std::vector<double> rows;  // sorted
  std::vector<Rational> counts;

  long below(double edge) const {  // all rows, for the last edge
    if (edge >= layout.edges().back().to_double_nearest()) return static_cast<long>(rows.size());
    return static_cast<long>(std::lower_bound(rows.begin(), rows.end(), edge) - rows.begin());
  }
  Rational target(const Rational& q) const { return q * Rational(static_cast<long>(rows.size())); }
  // For a leaf that holds the released value.
  bool ranks_hold(double released, const Rational& q, const Rational& off) const {
    for (std::size_t leaf = 0; leaf < layout.leaves(); ++leaf) {
      const double lower = layout.edges()[leaf].to_double_nearest();
      const double upper = layout.edges()[leaf + 1].to_double_nearest();
      if (released < lower || released > upper) continue;
      if (Rational(leaf == 0 ? 0 : below(lower)) <= target(q) + off &&
          Rational(below(upper)) >= target(q) - off)
        return true;
    }
    return false;
  }
  bool holds_quantiles(const QuantileInterval& interval, const Rational& q) const {
    return std::all_of(rows.begin(), rows.end(), [&](double x) {
      const auto less = std::lower_bound(rows.begin(), rows.end(), x) - rows.begin();
      const auto at_most = std::upper_bound(rows.begin(), rows.end(), x) - rows.begin();
      const bool quantile =
          Rational(static_cast<long>(less)) <= target(q) && target(q) <= Rational(static_cast<long>(at_most));
      return !quantile || (interval.lower <= x && x <= interval.upper);
    });
  }
};

// When no edge's estimate errs by more than some margin, nothing that is claimed with it can fail, for any rows.
TEST(Quantiles, HoldWhereEveryEdgeIsWithinTheMargin) {
  std::mt19937_64 engine(53);
  int informative = 0;
  for (int round = 0; round < 600; ++round) {
    const std::size_t leaves = 2 + engine() % 15;
    const std::size_t n = engine() % (round % 2 == 0 ? 20 : 400);
    Erring erring{layout_of(leaves, 2 + engine() % 3), {}, {}};
    const double last = erring.layout.edges().back().to_double_nearest();
    VectorDomain domain = vector_domain<double>();
    if (engine() % 2 == 0) {
      erring.layout = erring.layout.with_public_total(n);
      domain = domain.of_size(n);
    }
    for (std::size_t i = 0; i < n; ++i)
      erring.rows.push_back(engine() % 4 == 0 ? std::floor(last / 3)
                                              : static_cast<double>(engine() % 1000) / 1000 * last);
    const Aggregation aggregation = make_hierarchy(
        domain, erring.layout.public_total() ? change_one() : symmetric_distance(), erring.layout);
    std::vector<Dyadic> tree = aggregation(erring.rows);
    const auto accuracy = static_cast<std::int64_t>(engine() % 5);
    for (Dyadic& node : tree) {
      const std::int64_t error = engine() % 3 == 0 ? 0 : accuracy;
      node += Dyadic(engine() % 2 == 0 ? error : -error);
    }
    erring.counts = consistent_counts(erring.layout, tree);
    std::sort(erring.rows.begin(), erring.rows.end());
    for (int i = 0; i <= 10; ++i) {
      const Rational q(i, 10);
      const Rational all = std::accumulate(erring.counts.begin(), erring.counts.end(), Rational(0));
      Rational margin = abs(all - Rational(static_cast<long>(n)));
      Rational estimate = 0;
      for (std::size_t edge = 1; edge < leaves; ++edge) {
        estimate += erring.counts[edge - 1];
        const Rational exact =
            Rational(erring.below(erring.layout.edges()[edge].to_double_nearest())) - erring.target(q);
        margin = std::max(margin, Rational(abs(Rational(estimate - q * all) - exact)));
      }
      const double off = to_double_up(margin);
      const double released = quantile_from_hierarchy(erring.layout, erring.counts, q);
      const QuantileInterval interval = quantile_interval(erring.layout, erring.counts, q, off);
      ASSERT_TRUE(erring.ranks_hold(released, q, Rational(off)));
      ASSERT_TRUE(erring.holds_quantiles(interval, q));
      ASSERT_LE(interval.lower, released);
      ASSERT_GE(interval.upper, released);
      if (interval.lower > 0 || interval.upper < last) ++informative;
    }
  }
  EXPECT_GT(informative, 300);
}

// Releases with real noise miss what is claimed no more often than alpha = 1/5, in rank and by the interval, with every
// kind of noise, rows spread out and in heaps. With T independent releases the misses are at most binomial(T, alpha);
// by Hoeffding P(misses >= alpha T + t) <= exp(-2 t^2 / T), which is below 1e-10 for t = sqrt(T ln(1e10) / 2).
TEST(Quantiles, ReleasesAreAsAccurateAsTheySay) {
  constexpr int releases = 300;
  const Rational alpha(1, 5);
  const Rational half(1, 2);
  std::vector<double> spread;
  std::vector<double> heaps;
  for (int i = 0; i < 1000; ++i) {
    spread.push_back(static_cast<double>((i * 7919) % 4160));
    heaps.push_back(i < 495 ? 7 : i < 505 ? 2000 : 4100);  // many edges with one rank, just below the middle
  }
  const NoiseOptions laplace{.epsilon = "1/4"};
  const NoiseOptions geometric{.epsilon = "1/4", .noise = NoiseKind::geometric};
  const NoiseOptions coarse{.epsilon = "1/4", .grid = GridChoice::notes()};
  const NoiseOptions notes{.epsilon = "1/2", .noise = NoiseKind::notes};
  for (const std::vector<double>& rows : {spread, heaps}) {
    for (const NoiseOptions& noise : {laplace, geometric, coarse, notes}) {
      Erring erring{layout_of(64, 4), rows, {}};
      std::sort(erring.rows.begin(), erring.rows.end());
      VectorDomain domain = vector_domain<double>();
      Metric metric = symmetric_distance();
      if (noise.noise == NoiseKind::notes) {
        erring.layout = erring.layout.with_public_total(rows.size());
        domain = domain.of_size(rows.size());
        metric = change_one();
      }
      const Measurement measurement = make_hierarchy(domain, metric, erring.layout) >> noise;
      const double off = quantile_rank_error(erring.layout, measurement.mechanism().noise(), half, alpha);
      const double margin = quantile_margin(erring.layout, measurement.mechanism().noise(), half, alpha);
      EXPECT_LT(off, noise.noise == NoiseKind::notes ? 400 : 100);
      const std::vector<Dyadic> exact = measurement.aggregation()(rows);
      int rank_misses = 0;
      int interval_misses = 0;
      for (int i = 0; i < releases; ++i) {
        erring.counts = consistent_counts(erring.layout, noisy(measurement, exact));
        const double median = quantile_from_hierarchy(erring.layout, erring.counts, half);
        if (!erring.ranks_hold(median, half, Rational(off))) ++rank_misses;
        if (!erring.holds_quantiles(quantile_interval(erring.layout, erring.counts, half, margin), half))
          ++interval_misses;
      }
      const double most = alpha.get_d() * releases + std::sqrt(releases * std::log(1e10) / 2);
      EXPECT_LT(rank_misses, most);
      EXPECT_LT(interval_misses, most);
    }
  }
}

}  // namespace
}  // namespace snapdp
