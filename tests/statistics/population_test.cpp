#include "snapdp/statistics/population.h"

#include <gtest/gtest.h>

#include <cmath>

namespace snapdp {
namespace {

// P(binomial(n, q) <= k).
double binomial_cdf(int n, double q, int k) {
  double sum = 0;
  for (int i = 0; i <= k; ++i) {
    const double log_choose = std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1);
    sum += std::exp(log_choose + i * std::log(q) + (n - i) * std::log1p(-q));
  }
  return sum;
}

// Against the exact binomial law of samples of zeros and ones, the worst there are: of every population the interval
// misses it with probability at most alpha.
TEST(PopulationMean, CoversEveryShareOfEveryPopulation) {
  double largest = 0;
  for (const int n : {1, 2, 5, 30, 200}) {
    for (const double alpha : {0.5, 0.05}) {
      for (int i = 1; i < 100; ++i) {
        const double q = i / 100.0;
        double misses = 0;
        for (int k = 0; k <= n; ++k) {
          const double p = static_cast<double>(k) / n;
          const MeanInterval interval = population_mean(Bounds(0, 1), {p, p}, n, alpha);
          if (interval.lower <= q && q <= interval.upper) continue;
          misses += binomial_cdf(n, q, k) - (k > 0 ? binomial_cdf(n, q, k - 1) : 0);
        }
        EXPECT_LE(misses, alpha) << n << " " << q;
        if (n == 200 && alpha < 0.1) largest = std::max(largest, misses);
      }
    }
  }
  EXPECT_GT(largest, 0.003);  // normal intervals at 2.72 standard errors miss .0066
}

TEST(PopulationMean, IsTheClosedFormAtTheEnds) {
  // Nobody in a bin: 1 - (alpha / 2)^(1 / rows).
  const MeanInterval none = population_mean(Bounds(0, 1), {0, 0}, 100, 0.05);
  EXPECT_EQ(none.lower, 0);
  EXPECT_NEAR(none.upper, 1 - std::pow(0.025, 0.01), 1e-6);
  EXPECT_GE(none.upper, 1 - std::pow(0.025, 0.01));
  const MeanInterval all = population_mean(Bounds(0, 1), {1, 1}, 100, 0.05);
  EXPECT_EQ(all.upper, 1);
  EXPECT_NEAR(all.lower, std::pow(0.025, 0.01), 1e-6);
}

TEST(PopulationMean, OfTheHeadersExample) {
  const MeanInterval interval =
      population_mean(Bounds(0, 100), {41, 42}, 10'000, FailureRate(Rational(1, 40)));
  EXPECT_NEAR(interval.lower, 39.54, 0.01);
  EXPECT_NEAR(interval.upper, 43.46, 0.01);
}

TEST(PopulationMean, FollowsBoundsSampleAndRows) {
  const MeanInterval unit = population_mean(Bounds(0, 1), {0.25, 0.5}, 400, 0.1);
  const MeanInterval scaled = population_mean(Bounds(-8, 8), {-4, 0}, 400, 0.1);
  EXPECT_NEAR(scaled.lower, -8 + 16 * unit.lower, 1e-9);
  EXPECT_NEAR(scaled.upper, -8 + 16 * unit.upper, 1e-9);
  // About two standard errors: sqrt(2 ln 20 / 400) of at most a half.
  EXPECT_NEAR(0.25 - unit.lower, std::sqrt(2 * std::log(20) / 400) * std::sqrt(0.25 * 0.75), 0.005);
  const MeanInterval more = population_mean(Bounds(0, 1), {0.25, 0.5}, 1e15, 0.1);
  EXPECT_LT(more.upper, 0.5 + 1e-6);
  EXPECT_GE(more.upper, 0.5);
  // Nothing known of the rows, or noise beyond the bounds.
  EXPECT_EQ(population_mean(Bounds(2, 3), {2.4, 2.5}, 0, 0.05).upper, 3);
  EXPECT_EQ(population_mean(Bounds(2, 3), {2.4, 2.5}, -5, 0.05).lower, 2);
  EXPECT_EQ(population_mean(Bounds(0, 1), {-0.5, 1.5}, 10, 0.05).lower, 0);
  EXPECT_EQ(population_mean(Bounds(0, 1), {-0.5, 1.5}, 10, 0.05).upper, 1);
  EXPECT_EQ(population_mean(Bounds(3, 3), {3, 3}, 10, 0.05).lower, 3);
}

}  // namespace
}  // namespace snapdp
