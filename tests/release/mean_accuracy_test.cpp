#include "release/mean_accuracy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "snapdp/statistics/statistics.h"

namespace snapdp {
namespace {

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
    const Rational error = abs(Rational(mean_from_parts(bounds, noisy_sum, noisy_count)) - truth);
    const double released =
        released_mean_accuracy(bounds, noisy_sum, noisy_count, sum_accuracy, count_accuracy);
    const double planned =
        planned_mean_accuracy(bounds, static_cast<std::uint64_t>(size), sum_accuracy, count_accuracy);
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
  EXPECT_EQ(planned_mean_accuracy(bounds, 100, HUGE_VAL, 1), 4);
  EXPECT_EQ(released_mean_accuracy(bounds, 0, 100, 1, HUGE_VAL), 2);
  // Too few rows for the noise: the midpoint, which is never farther off than half the width.
  EXPECT_EQ(released_mean_accuracy(bounds, 50, 0, 1, 1), 2);
  EXPECT_EQ(planned_mean_accuracy(bounds, 3, 1, 3), 4);
}

}  // namespace
}  // namespace snapdp
