// Attacks on the statistic before the noise: neighbors that are computed farther apart than their sensitivity. The naive
// mechanisms here have perfect noise, ours, around a statistic computed as everybody does; their loss then follows from
// the exact law.
//
// S. Casacuberta, M. Shoemate, S. Vadhan, C. Wagaman, "Widespread underestimation of sensitivity in differentially
// private libraries and how to fix it", CCS 2022.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attacks/attack.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/framework/transformation.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::attacks {
namespace {

template <typename Value>
VectorDomain bounded(const Bounds& bounds, std::optional<std::uint64_t> size = {}) {
  AtomDomain column = atom_domain<Value>();
  column.bounds = bounds;
  const VectorDomain domain({column});
  return size ? domain.of_size(*size) : domain;
}

template <typename Value>
Dyadic exact(const Aggregation& statistic, const std::vector<Value>& rows) {
  return statistic(rows).at(0);
}

double plain_sum(const std::vector<double>& rows) {
  double sum = 0;
  for (const double x : rows) sum += x;
  return sum;
}

// Eight numbers between 2^52 and 2^52 + 3, say microseconds since 1827. The sensitivity of their sum under change-one is 3.
constexpr double base = 0x1p52;
std::vector<double> above_base(const std::vector<double>& offsets) {
  std::vector<double> rows;
  for (const double offset : offsets) rows.push_back(base + offset);
  return rows;
}

// Loss, for noise of scale sensitivity / epsilon at epsilon 1. Sums of eight rows, less 8 base, which is a multiple of
// every grid here: a shift of the value by it shifts the law.
double sum_loss(double first, double second, double sensitivity) {
  return tail_loss({.scale = sensitivity, .grid = Grid(2)}, first - 8 * base, second - 8 * base);
}

TEST(SummationRounding, DrivesNeighborsApart) {
  // Ties to even double the distance of two partial sums each time their last place grows.
  const std::vector<double> rows = above_base({0, 3, 2, 0, 3, 0, 0, 0});
  const std::vector<double> neighbor = above_base({0, 1, 2, 0, 3, 0, 0, 0});
  EXPECT_EQ(plain_sum(rows) - plain_sum(neighbor), 16) << "the true distance is 2";
  EXPECT_GT(sum_loss(plain_sum(rows), plain_sum(neighbor), 3), 5);

  const Aggregation sum = make_sum(bounded<double>(Bounds(base, base + 3), 8), change_one());
  EXPECT_EQ(sum.sensitivity(), 3);
  EXPECT_EQ(exact(sum, rows) - exact(sum, neighbor), Dyadic(2));
  const double distance = (exact(sum, rows) - exact(sum, neighbor)).to_double_nearest();
  EXPECT_LE(tail_loss({.scale = 3, .grid = Grid(2)}, distance, 0), 1);
}

TEST(Reordering, GivesOneDatasetManySums) {
  // The rows of a table have no order: equal multisets are no distance apart, whatever the rows of a query plan do.
  std::vector<double> offsets = {0, 0, 0, 0, 0, 2, 3, 3};
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  const Aggregation sum = make_sum(bounded<double>(Bounds(base, base + 3), 8), change_one());
  const Dyadic ours = exact(sum, above_base(offsets));
  do {
    const std::vector<double> rows = above_base(offsets);
    least = std::fmin(least, plain_sum(rows));
    most = std::fmax(most, plain_sum(rows));
    ASSERT_EQ(exact(sum, rows), ours);
  } while (std::next_permutation(offsets.begin(), offsets.end()));
  EXPECT_GE(most - least, 8);
  EXPECT_GT(sum_loss(most, least, 3), 2.5) << "for the same data";
  EXPECT_EQ(ours, Dyadic(8 * base) + Dyadic(8));

  // The textbook case: a large row first or last.
  std::vector<double> large_first(1001, 1.0);
  large_first.front() = 0x1p53;
  std::vector<double> large_last(large_first.rbegin(), large_first.rend());
  EXPECT_EQ(plain_sum(large_last) - plain_sum(large_first), 1000);
  const Aggregation wide = make_sum(bounded<double>(Bounds(0, 0x1p53)), symmetric_distance());
  EXPECT_EQ(exact(wide, large_first), exact(wide, large_last));
}

std::int64_t wrapping_sum(const std::vector<std::int64_t>& rows) {
  std::uint64_t sum = 0;
  for (const std::int64_t x : rows) sum += static_cast<std::uint64_t>(x);
  return static_cast<std::int64_t>(sum);
}

TEST(Overflow, WrapsASumAround) {
  // One more row within [0, 2^62]: the sum falls from 2^63 - 1 to -1 - 2^62 or so.
  constexpr std::int64_t top = std::int64_t{1} << 62;
  const std::vector<std::int64_t> rows = {top, top - 1};
  const std::vector<std::int64_t> neighbor = {top, top};
  const Dyadic distance = Dyadic(wrapping_sum(rows)) - Dyadic(wrapping_sum(neighbor));
  EXPECT_EQ(distance, Dyadic(Integer(1), 64) - Dyadic(1)) << "the sensitivity is 2^62";
  // In units of 2^62, at epsilon 1.
  EXPECT_GT(tail_loss({.scale = 1, .grid = Grid(0)}, 2, -2), 3.9);

  const Aggregation sum = make_sum(bounded<std::int64_t>(Bounds(0, Dyadic(top)), 2), change_one());
  EXPECT_EQ(exact(sum, neighbor) - exact(sum, rows), Dyadic(1));
  EXPECT_EQ(exact(sum, neighbor), Dyadic(Integer(1), 63)) << "beyond 64-bit integers";
  // Nor does the output wrap: a count of 2^63 - 1 and noise.
  const Snapping mechanism({.epsilon = 1, .sensitivity = Dyadic(1), .integer = true});
  const Dyadic count(std::numeric_limits<std::int64_t>::max());
  for (int i = 0; i < 1000; ++i) {
    // Noise of more than 64 in a thousand draws has probability 1000 e^-64.
    ASSERT_LE(abs(mechanism.release(count, thread_generator()) - count), Dyadic(64));
  }
}

TEST(Overflow, SaturatesAFloatingPointSum) {
  // Infinity minus infinity is NaN, which no noise hides: one row decides between a number and NaN.
  const std::vector<double> rows = {1e308, 1e308, -1e308, -1e308};
  const std::vector<double> neighbor = {1e308, -1e308, -1e308, 1e308};
  EXPECT_TRUE(std::isinf(plain_sum(rows)));
  EXPECT_EQ(plain_sum(neighbor), 0) << "the same multiset";
  const Aggregation sum =
      make_sum(bounded<double>(Bounds(Dyadic(-1e308), Dyadic(1e308))), symmetric_distance());
  EXPECT_EQ(exact(sum, rows), Dyadic(0));
  EXPECT_EQ(exact(sum, neighbor), Dyadic(0));
}

TEST(OnePassVariance, CancelsCatastrophically) {
  // E[x^2] - E[x]^2 on [2^30, 2^30 + 1]: the true sensitivity is 1/n, the computed distance tells rounding errors.
  constexpr double far = 0x1p30;
  const auto one_pass = [](const std::vector<double>& rows) {
    double sum = 0;
    double squares = 0;
    for (const double x : rows) {
      sum += x;
      squares += x * x;
    }
    const auto n = static_cast<double>(rows.size());
    return (squares - sum * sum / n) / (n - 1);
  };
  std::mt19937_64 engine(1);
  std::vector<double> rows(64);
  for (double& x : rows) x = far + static_cast<double>(engine() >> 44) * 0x1p-20;
  const Aggregation variance =
      make_variance(bounded<double>(Bounds(far, far + 1), rows.size()), change_one());
  EXPECT_LE(variance.sensitivity(), Rational(1, 64) * (1 + Rational(0x1p-30)));
  double widest = 0;
  double widest_of_ours = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> neighbor = rows;
    neighbor[i] = far + 1;
    widest = std::fmax(widest, std::fabs(one_pass(rows) - one_pass(neighbor)));
    const Dyadic distance = abs(exact(variance, rows) - exact(variance, neighbor));
    widest_of_ours = std::fmax(widest_of_ours, distance.to_double_nearest());
  }
  EXPECT_GT(widest * 64, 100) << "a hundred times the sensitivity";
  EXPECT_LE(widest_of_ours, to_double_up(variance.sensitivity()));
}

// Case 24 of many bug reports: noise for sensitivity 1 on f / sensitivity, in doubles.
TEST(Scaling, StretchesTheDistance) {
  constexpr double value = 76.9808188989947;
  constexpr double neighbor = 76.6808188989947;
  const Rational sensitivity(0.3);
  ASSERT_LE(Rational(value) - Rational(neighbor), sensitivity) << "neighbors";
  const Rational computed = Rational(value / 0.3) - Rational(neighbor / 0.3);
  EXPECT_GT(computed, 1);
  EXPECT_GE(computed - 1, 256 * Rational(0x1p-53));
  // Exactly: the loss of Laplace noise is the distance over the scale.
  const Snapping unit({.epsilon = 1, .sensitivity = Dyadic(1)});
  EXPECT_GT(unit.loss_bound(computed), 1) << "more than the epsilon paid";

  const Snapping ours({.epsilon = 1, .sensitivity = Dyadic(0.3)});
  EXPECT_LE(ours.loss_bound(Rational(value) - Rational(neighbor)), 1);
  EXPECT_LE(tail_loss({.scale = ours.scale(), .grid = ours.grid()}, value, neighbor), 1 + 1e-15);
  // Over many pairs that are exactly the sensitivity apart.
  std::mt19937_64 engine(1);
  int stretched = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double y = static_cast<double>(engine() >> 11) * 0x1p-53 * 100;
    const Rational apart = Rational(y + 0.3) - Rational(y);
    if (apart > sensitivity) continue;
    if (Rational((y + 0.3) / 0.3) - Rational(y / 0.3) > 1) ++stretched;
    ASSERT_LE(ours.loss_bound(apart), 1);
  }
  EXPECT_GT(stretched, 0);
}

// Rounding a statistic to a grid before the noise: only ties in one direction keep distances.
TEST(TiesOfTheGrid, DoubleTheDistance) {
  const auto to_even = [](double y) { return std::nearbyint(y); };
  const auto away = [](double y) { return std::round(y); };
  EXPECT_EQ(to_even(1.5) - to_even(0.5), 2);
  EXPECT_EQ(away(0.5) - away(-0.5), 2);
  // Outputs on the grid 2 around the even numbers would even show which one it was; the loss alone is twice as large.
  const Noise noise{.scale = 1, .grid = Grid(0)};
  EXPECT_NEAR(tail_loss(noise, to_even(1.5), to_even(0.5)), 2, 1e-12);
  EXPECT_NEAR(tail_loss(noise, away(0.5), away(-0.5)), 2, 1e-12);

  const Grid grid(0);
  for (int i = -64; i <= 64; ++i) {
    for (int j = i; j <= i + 8; ++j) {
      const Dyadic distance = grid.round(Dyadic(Integer(j), -3)) - grid.round(Dyadic(Integer(i), -3));
      ASSERT_GE(distance, Dyadic(0));
      ASSERT_LE(distance, Dyadic(1)) << i << " and " << j << " eighths";
    }
  }
}

}  // namespace
}  // namespace snapdp::attacks
