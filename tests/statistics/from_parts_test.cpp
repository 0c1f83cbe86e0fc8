#include "snapdp/statistics/from_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "statistics/exact_moments.h"

namespace snapdp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The statement that the accuracies rest on holds for every pair of good parts, not only for most.
TEST(MeanAccuracy, NoMeanWithGoodPartsIsFartherOff) {
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> unit(-1, 1);
  double closest = 0;
  for (int i = 0; i < 50'000; ++i) {
    const double width = std::ldexp(1, static_cast<int>(engine() % 20) - 10);
    const double lower = std::floor(unit(engine) * 8) * width / 4;
    const Bounds bounds(Dyadic(lower), Dyadic(lower + width));
    const auto size = static_cast<std::int64_t>(1 + engine() % (i % 2 == 0 ? 8 : 2000));
    const double count_accuracy = static_cast<double>(engine() % 30);
    const double sum_accuracy = std::fabs(unit(engine)) * width * 10;
    // The mean, centred, anywhere in [-h, h], the ends included; the parts at the edge of what is good, or inside.
    const double extreme[] = {-1, 1, unit(engine)};
    const double mean = extreme[engine() % 3] * width / 2;
    const Rational exact_sum = Rational(mean) * size;
    const double sum_noise = extreme[engine() % 3] * sum_accuracy;
    const double count_noise = std::trunc(extreme[engine() % 3] * count_accuracy);
    const Dyadic noisy_sum = to_dyadic(exact_sum, "sum") + Dyadic(sum_noise);
    const Dyadic noisy_count = Dyadic(size) + Dyadic(count_noise);
    const Rational truth = (bounds.lower() + bounds.upper()).rational() / 2 + Rational(mean);
    const Rational error = abs(Rational(mean_from_parts(bounds, noisy_count, noisy_sum)) - truth);
    const double released = mean_accuracy(bounds, {noisy_count, count_accuracy}, {noisy_sum, sum_accuracy});
    const double planned =
        planned_mean_accuracy(bounds, static_cast<std::uint64_t>(size), count_accuracy, sum_accuracy);
    ASSERT_LE(error, Rational(released)) << i;
    ASSERT_LE(error, Rational(planned)) << i;
    ASSERT_LE(planned, width);
    ASSERT_LE(released, width);
    if (released > 0) closest = std::max(closest, Rational(error / Rational(released)).get_d());
  }
  EXPECT_GT(closest, 0.99);  // and it is no wild overestimate
}

TEST(MeanAccuracy, WithoutAFiniteAccuracyOfTheParts) {
  const Bounds bounds(0, 4);
  EXPECT_EQ(planned_mean_accuracy(bounds, 100, 1, infinity), 4);
  EXPECT_EQ(mean_accuracy(bounds, {100, infinity}, {0, 1}), 2);
  // Too few rows for the noise: the midpoint, which is never farther off than half the width.
  EXPECT_EQ(mean_accuracy(bounds, {0, 1}, {50, 1}), 2);
  EXPECT_EQ(planned_mean_accuracy(bounds, 3, 3, 1), 4);
}

TEST(MomentParts, GiveTheExactStatisticsFromExactParts) {
  std::mt19937_64 engine(29);
  for (int round = 0; round < 100; ++round) {
    const Bounds bounds(-2, 6);
    const std::size_t n = 2 + engine() % 10;
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(static_cast<double>(engine() % 33) / 4 - 2);
      y.push_back(static_cast<double>(engine() % 33) / 4 - 2);
    }
    const auto sum = [&](const std::vector<double>& rows, int k) {
      return to_dyadic(power_sum(rows, center(bounds), k), "sum");
    };
    const Dyadic count(static_cast<std::int64_t>(n));
    const Dyadic products = to_dyadic(product_sum(x, y, center(bounds), center(bounds)), "sum");
    const double variance = variance_from_parts(bounds, count, sum(x, 1), sum(x, 2));
    EXPECT_EQ(variance, to_double_nearest(exact_covariance(x, x)));
    EXPECT_EQ(covariance_from_parts(bounds, bounds, count, sum(x, 1), sum(y, 1), products),
              to_double_nearest(exact_covariance(x, y)));
    EXPECT_NEAR(standard_deviation_from_variance(variance), std::sqrt(variance), 1e-15 * (1 + variance));
    // Exact parts: what is left is the rounding to a double.
    EXPECT_LE(variance_accuracy(bounds, {count, 0}, {sum(x, 1), 0}, {sum(x, 2), 0}), 1e-15 * (1 + variance));
  }
}

TEST(MomentParts, StayInTheirRanges) {
  const Bounds bounds(-2, 6);
  EXPECT_EQ(variance_from_parts(bounds, Dyadic(1), Dyadic(3), Dyadic(9)), 16);
  EXPECT_EQ(variance_from_parts(bounds, Dyadic(-5), Dyadic(3), Dyadic(9)), 16);
  EXPECT_EQ(variance_from_parts(bounds, Dyadic(10), Dyadic(0), Dyadic(-9)), 0);
  EXPECT_EQ(variance_from_parts(bounds, Dyadic(2), Dyadic(0), Dyadic(1000)), 32);
  EXPECT_EQ(covariance_from_parts(bounds, bounds, Dyadic(1), Dyadic(3), Dyadic(9), Dyadic(7)), 0);
  EXPECT_EQ(covariance_from_parts(bounds, bounds, Dyadic(2), Dyadic(0), Dyadic(0), Dyadic(-1000)), -32);
  EXPECT_EQ(standard_deviation_from_variance(Dyadic(-4)), 0);
  EXPECT_EQ(standard_deviation_from_variance(Dyadic(2)), std::sqrt(2.0));
  EXPECT_EQ(standard_deviation_from_variance(Dyadic(0x1p-1074)), std::sqrt(0x1p-1074));
  EXPECT_EQ(correlation_from_parts(Dyadic(3), Dyadic(4), Dyadic(9)), 0.5);
  EXPECT_EQ(correlation_from_parts(Dyadic(-3), Dyadic(1), Dyadic(1)), -1);
  EXPECT_EQ(correlation_from_parts(Dyadic(3), Dyadic(0), Dyadic(1)), 0);
  EXPECT_EQ(correlation_from_parts(Dyadic(3), Dyadic(1), Dyadic(-1)), 0);
  // Parts that say nothing leave the range.
  EXPECT_EQ(variance_accuracy(bounds, {Dyadic(10), infinity}, {Dyadic(0), 1}, {Dyadic(9), 1}), 31);
  EXPECT_EQ(correlation_accuracy({Dyadic(3), 1}, {Dyadic(4), 5}, {Dyadic(9), 1}), 1.5);
  EXPECT_EQ(standard_deviation_accuracy({Dyadic(4), infinity}), infinity);
}

// Parts anywhere within their accuracies, at their ends above all: the exact statistics are where the accuracies say.
TEST(MomentParts, AccuraciesHoldForEveryErrorOfTheParts) {
  std::mt19937_64 engine(31);
  const Bounds bounds(-2, 6);
  const Bounds other(0, 1);
  int informative = 0;
  for (int round = 0; round < 600; ++round) {
    const std::size_t n = 2 + engine() % (round % 2 == 0 ? 6 : 400);
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(engine() % 3 == 0 ? 6 : static_cast<double>(engine() % 17) / 2 - 2);
      y.push_back(engine() % 3 == 0 ? x.back() / 8 + 0.25 : static_cast<double>(engine() % 5) / 4);
    }
    const auto noisy = [&](const Rational& exact, double most) {
      const double accuracy = std::ldexp(static_cast<double>(engine() % 1024), -10) * most;
      const double error =
          engine() % 2 == 0 ? accuracy : accuracy * std::ldexp(static_cast<double>(engine() % 1024), -10);
      return ReleasedPart{to_dyadic(exact, "exact") + Dyadic(engine() % 2 == 0 ? error : -error), accuracy};
    };
    const double most = round % 3 == 0 ? 8 : 1;
    const Rational c = center(bounds);
    const Rational d = center(other);
    const ReleasedPart count = noisy(size_of(x), most);
    const ReleasedPart sum_x = noisy(power_sum(x, c, 1), 4 * most);
    const ReleasedPart sum_y = noisy(power_sum(y, d, 1), most);
    const ReleasedPart squares_x = noisy(power_sum(x, c, 2), 16 * most);
    const ReleasedPart squares_y = noisy(power_sum(y, d, 2), most);
    const ReleasedPart products = noisy(product_sum(x, y, c, d), 2 * most);
    const auto check = [](double released, double accuracy, const Rational& exact) {
      ASSERT_LE(abs(Rational(released) - exact), Rational(accuracy));
    };
    const ReleasedPart variance_x{
        Dyadic(variance_from_parts(bounds, count.value, sum_x.value, squares_x.value)),
        variance_accuracy(bounds, count, sum_x, squares_x)};
    const ReleasedPart variance_y{
        Dyadic(variance_from_parts(other, count.value, sum_y.value, squares_y.value)),
        variance_accuracy(other, count, sum_y, squares_y)};
    const ReleasedPart covariance{
        Dyadic(covariance_from_parts(bounds, other, count.value, sum_x.value, sum_y.value, products.value)),
        covariance_accuracy(bounds, other, count, sum_x, sum_y, products)};
    const Rational exact_xx = exact_covariance(x, x);
    const Rational exact_yy = exact_covariance(y, y);
    const Rational exact_xy = exact_covariance(x, y);
    check(variance_x.value.to_double_nearest(), variance_x.accuracy, exact_xx);
    check(variance_y.value.to_double_nearest(), variance_y.accuracy, exact_yy);
    check(covariance.value.to_double_nearest(), covariance.accuracy, exact_xy);
    // |s - sqrt(v)| <= a if and only if max(s - a, 0)^2 <= v <= (s + a)^2.
    const Rational deviation(standard_deviation_from_variance(variance_x.value));
    const Rational a(standard_deviation_accuracy(variance_x));
    ASSERT_LE(exact_xx, (deviation + a) * (deviation + a));
    if (deviation > a) {
      ASSERT_GE(exact_xx, (deviation - a) * (deviation - a));
    }
    // The exact correlation, to about 2^-500.
    const double correlation = correlation_from_parts(covariance.value, variance_x.value, variance_y.value);
    const double correlation_half = correlation_accuracy(covariance, variance_x, variance_y);
    Rational exact = 0;
    if (exact_xx > 0 && exact_yy > 0) {
      exact = exact_xy * exact_xy / (exact_xx * exact_yy);
      const Rational root = Rational(sqrt(floor(Rational(exact * (Integer(1) << 1000)))), Integer(1) << 500);
      exact = exact_xy < 0 ? Rational(-root) : root;
      exact.canonicalize();
    }
    ASSERT_LE(abs(Rational(correlation) - exact),
              Rational(correlation_half) + Rational(1, Integer(1) << 400));
    if (correlation_half < 0.5) ++informative;
  }
  EXPECT_GT(informative, 50);
}

// The same for accuracies that are known beforehand: no data of that many rows and no errors of the parts are worse.
TEST(MomentParts, PlannedAccuraciesHoldForEveryDatasetAndError) {
  std::mt19937_64 engine(37);
  const Bounds bounds(-2, 6);
  const Bounds other(0, 1);
  double closest_variance = 0;
  double closest_covariance = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::size_t n = 4 + engine() % (round % 2 == 0 ? 6 : 60);
    // At the ends above all, where the statistics are largest; the columns alike, opposite or unrelated.
    const std::size_t low = engine() % (n + 1);
    const std::uint64_t shape = engine() % 4;
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(shape == 3 ? static_cast<double>(engine() % 17) / 2 - 2 : i < low ? -2 : 6);
      y.push_back(shape == 0   ? (x.back() + 2) / 8
                  : shape == 1 ? 1 - (x.back() + 2) / 8
                               : static_cast<double>(engine() % 2));
    }
    // One accuracy at a time, or all.
    const auto accuracy = [&](double most) {
      return engine() % 2 == 0 ? 0 : std::ldexp(static_cast<double>(engine() % 1025), -10) * most;
    };
    const double a_count = static_cast<double>(engine() % 3);
    const double a_x = accuracy(4);
    const double a_y = accuracy(1);
    const double a_squares = accuracy(16);
    const double a_products = accuracy(2);
    const auto noisy = [&](const Rational& exact, double most) {
      return to_dyadic(exact, "exact") + Dyadic(engine() % 2 == 0 ? most : -most);
    };
    const Rational c = center(bounds);
    const Rational d = center(other);
    const Dyadic count = noisy(size_of(x), a_count);
    const Dyadic sum_x = noisy(power_sum(x, c, 1), a_x);
    const Dyadic sum_y = noisy(power_sum(y, d, 1), a_y);
    const Dyadic squares = noisy(power_sum(x, c, 2), a_squares);
    const Dyadic products = noisy(product_sum(x, y, c, d), a_products);
    const double variance = variance_from_parts(bounds, count, sum_x, squares);
    const double covariance = covariance_from_parts(bounds, other, count, sum_x, sum_y, products);
    const double planned_variance = planned_variance_accuracy(bounds, n, a_count, a_x, a_squares);
    const double planned_covariance =
        planned_covariance_accuracy(bounds, other, n, a_count, a_x, a_y, a_products);
    const Rational exact_variance = exact_covariance(x, x);
    const Rational error = abs(Rational(variance) - exact_variance);
    const Rational error_xy = abs(Rational(covariance) - exact_covariance(x, y));
    ASSERT_LE(error, Rational(planned_variance)) << round;
    ASSERT_LE(error_xy, Rational(planned_covariance)) << round;
    // |s - sqrt(v)| <= a if and only if max(s - a, 0)^2 <= v <= (s + a)^2.
    const Rational deviation(standard_deviation_from_variance(Dyadic(variance)));
    const Rational a(planned_standard_deviation_accuracy(bounds, planned_variance));
    ASSERT_LE(exact_variance, (deviation + a) * (deviation + a)) << round;
    if (deviation > a) {
      ASSERT_GE(exact_variance, (deviation - a) * (deviation - a)) << round;
    }
    if (n > 20) {
      closest_variance = std::max(closest_variance, Rational(error / Rational(planned_variance)).get_d());
      closest_covariance =
          std::max(closest_covariance, Rational(error_xy / Rational(planned_covariance)).get_d());
    }
  }
  // And no wild overestimates.
  EXPECT_GT(closest_variance, 0.9);
  EXPECT_GT(closest_covariance, 0.9);
}

TEST(MomentParts, PlannedAccuraciesAreAtMostThePublicRange) {
  const Bounds bounds(-2, 6);
  const Bounds other(0, 1);
  EXPECT_EQ(planned_variance_accuracy(bounds, 100, infinity, 1, 1), 32);
  EXPECT_EQ(planned_variance_accuracy(bounds, 100, 98.5, 0, 0), 32);  // too few rows may be left
  EXPECT_EQ(planned_variance_accuracy(bounds, 1, 0, 0, 0), 32);
  EXPECT_EQ(planned_covariance_accuracy(bounds, other, 100, 1, 1, infinity, 1), 8);
  EXPECT_EQ(planned_covariance_accuracy(bounds, other, 100, 1, 1, 1, 1e300), 8);
  const double largest = std::sqrt(32.0);
  EXPECT_GE(planned_standard_deviation_accuracy(bounds, infinity), largest);
  EXPECT_LE(planned_standard_deviation_accuracy(bounds, 32), largest * (1 + 0x1p-51));
  EXPECT_NEAR(planned_standard_deviation_accuracy(bounds, 0.25), 0.5, 0x1p-48);
}

}  // namespace
}  // namespace snapdp
