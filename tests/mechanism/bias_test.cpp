#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "mechanism/csv_rows.h"
#include "mechanism/law_oracle.h"
#include "mechanism/refused.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/law.h"

namespace snapdp {
namespace {

using oracle::Number;

// Sum of (v_k - v_(k-1)) P(out >= v_k), term by term.
Number slow_bias(const Noise& noise, const Rational& guess) {
  const Rational unit = noise.grid.spacing().rational();
  Rational y = guess;
  if (noise.lower && y < *noise.lower) y = *noise.lower;
  if (noise.upper && y > *noise.upper) y = *noise.upper;
  const long reach = static_cast<long>(100 * Rational(Rational(noise.scale.up()) / unit).get_d()) + 5;
  const Integer center = noise.grid.index(y);
  Integer from = center - reach;
  Integer to = center + reach;
  Rational previous = Rational(from) * unit;
  if (noise.lower && previous <= *noise.lower) {
    previous = *noise.lower;
    from = floor(Rational(previous / unit));
  }
  if (noise.upper) to = std::min(to, ceil(Rational(Rational(*noise.upper) / unit)));
  Number sum(Rational(previous - guess));
  for (Integer k = from + 1; k <= to; ++k) {
    Rational x = Rational(k) * unit;
    if (noise.upper && x > *noise.upper) x = *noise.upper;
    sum =
        sum + Number(Rational(x - previous)) * oracle::at_least(k, y, Rational(noise.scale.up()), noise.grid);
    previous = x;
  }
  return sum;
}

TEST(Bias, Vectors) {
  for (const auto& row : csv_rows("bias.csv", 5)) {
    const Noise noise{.scale = to_double_up(1 / row[0]),
                      .grid = Grid::at_least(row[1]),
                      .lower = -row[2].get_d(),
                      .upper = row[2].get_d()};
    const double result = bias(noise, row[3].get_d());
    ASSERT_LE(std::fabs(Rational(result - row[4]).get_d()), 2e-16 * std::fabs(result))
        << result << " " << row[4].get_d();
  }
}

std::vector<Noise> noises() {
  std::mt19937_64 engine(11);
  const auto pick = [&](std::uint64_t n) { return static_cast<int>(engine() % n); };
  std::vector<Noise> result;
  while (result.size() < 80) {
    Noise noise{.scale = std::ldexp(1 + pick(1000), -8), .grid = Grid(pick(6) - 2)};
    const double unit = std::ldexp(1.0, static_cast<int>(noise.grid.exponent()));
    if (pick(4)) noise.upper = unit * (pick(100) - 20) / 8;
    if (pick(4)) noise.lower = unit * (pick(100) - 80) / 8;
    if (noise.lower && noise.upper && *noise.lower >= *noise.upper) continue;
    result.push_back(noise);
  }
  return result;
}

std::string describe(const Noise& noise) {
  const auto text = [](const std::optional<double>& b) { return b ? to_string(*b) : "none"; };
  return to_string(noise.scale.up()) + " grid " + to_string(noise.grid) + " [" + text(noise.lower) + ", " +
         text(noise.upper) + "]";
}

TEST(Bias, MatchesTheSumOverOutputs) {
  std::mt19937_64 engine(12);
  for (const Noise& noise : noises()) {
    const double unit = std::ldexp(1.0, static_cast<int>(noise.grid.exponent()));
    for (int i = 0; i < 4; ++i) {
      // Some guesses lie outside the bounds, some halfway between outputs.
      const double guess = unit * (static_cast<double>(engine() % 321) - 160) / 16;
      const Number exact = slow_bias(noise, Rational(guess));
      ASSERT_NEAR(bias(noise, guess), exact.nearest(), 1.2e-16 * std::fabs(exact.nearest()) + 1e-40)
          << describe(noise) << " at " << guess;
    }
  }
}

TEST(Bias, KnownValues) {
  EXPECT_NEAR(bias({.scale = 1, .grid = Grid(0), .lower = -5.0, .upper = 5.0}, 4), -0.176434151, 5e-10);
  const Noise coarse{.scale = 1, .grid = Grid(3), .lower = -32.0, .upper = 32.0};
  EXPECT_NEAR(std::fabs(bias(coarse, 32)), 0.073, 5e-4);
  const WorstBias worst = worst_bias(coarse);
  EXPECT_NEAR(std::fabs(worst.bias), 1.619, 5e-4);
  EXPECT_NEAR(std::fabs(worst.guess), 0.832 * 32, 0.02);
}

TEST(Bias, IsZeroBySymmetry) {
  EXPECT_EQ(bias({.scale = 1, .grid = Grid(0), .lower = -5.0, .upper = 5.0}, 0), 0);
  EXPECT_EQ(bias({.scale = 1, .grid = Grid(0), .lower = -5.5, .upper = 5.5}, 0), 0);
  EXPECT_EQ(bias({.scale = 3, .grid = Grid(-2), .lower = 0.0, .upper = 1.25}, 0.625), 0);
  EXPECT_EQ(bias({.scale = 1, .grid = Grid(0)}, 7), 0);
  EXPECT_EQ(bias({.scale = 1, .grid = Grid(0)}, 7.5), 0);
  EXPECT_NE(bias({.scale = 1, .grid = Grid(0)}, 7.25), 0);
  EXPECT_EQ(bias({.scale = 1, .kind = NoiseKind::geometric}, 7), 0);
  EXPECT_EQ(bias({.scale = 1, .lower = 0.0, .upper = 4.0, .kind = NoiseKind::geometric}, 2), 0);
  EXPECT_GT(bias({.scale = 1, .lower = 0.0, .upper = 4.0, .kind = NoiseKind::geometric}, 1), 0);
  // Bounds that are mirror images while the grid is not.
  EXPECT_NE(bias({.scale = 1, .grid = Grid(0), .lower = -4.7, .upper = 5.3}, 0.3), 0);
  // A guess outside the bounds is at least that far off.
  EXPECT_LT(bias({.scale = 1, .grid = Grid(0), .lower = -5.0, .upper = 5.0}, 9), -4);
}

TEST(WorstBias, IsWorseThanAScan) {
  std::vector<Noise> all = noises();
  for (const double scale : {1e-3, 1e-4, 1e-6, 0.01, 0.1}) {
    all.push_back({.scale = scale, .grid = Grid(0), .lower = -3.25, .upper = 2.5});
    all.push_back({.scale = scale, .grid = Grid(0), .lower = 0.125, .upper = 0.375});
    all.push_back({.scale = scale, .grid = Grid(0)});
    for (const double bound : {-3.25, 0.0, 0.5, 0.75}) {
      all.push_back({.scale = scale, .grid = Grid(0), .lower = bound});
      all.push_back({.scale = scale, .grid = Grid(0), .upper = bound});
    }
  }
  for (const double scale : {50.0, 1e4, 1e9}) {
    all.push_back({.scale = scale, .grid = Grid(0), .lower = -30.0, .upper = 20.5});
    all.push_back({.scale = scale, .grid = Grid(0)});
    all.push_back({.scale = scale, .grid = Grid(0), .lower = -30.0});
    all.push_back({.scale = scale, .grid = Grid(0), .upper = 20.5});
  }
  for (const Noise& noise : all) {
    const WorstBias worst = worst_bias(noise);
    ASSERT_EQ(worst.bias, bias(noise, worst.guess));
    const double unit = std::ldexp(1.0, static_cast<int>(noise.grid.exponent()));
    const double from = noise.lower.value_or(noise.upper.value_or(1) - 40 * unit);
    const double to = noise.upper.value_or(from + 40 * unit);
    ASSERT_TRUE(!noise.lower || worst.guess >= *noise.lower) << describe(noise);
    ASSERT_TRUE(!noise.upper || worst.guess <= *noise.upper) << describe(noise);
    double largest = 0;
    double where = 0;
    for (const double offset : {-1e-2, -1e-4, 1e-4, 1e-2}) {
      const double y = worst.guess + offset * unit;
      if ((noise.lower && y < *noise.lower) || (noise.upper && y > *noise.upper)) continue;
      ASSERT_LE(std::fabs(bias(noise, y)), std::fabs(worst.bias) * (1 + 0x1p-40))
          << describe(noise) << " at " << y;
    }
    const int points = 600;
    for (int i = 0; i <= points; ++i) {
      const double y = i == points ? to : from + (to - from) * i / points;
      const double b = std::fabs(bias(noise, y));
      if (b > largest) {
        largest = b;
        where = y;
      }
    }
    ASSERT_GE(std::fabs(worst.bias), largest * (1 - 0x1p-40))
        << describe(noise) << " worst at " << worst.guess << ", scan at " << where;
    // The scan comes close to it.
    ASSERT_LE(std::fabs(worst.bias), largest + (to - from) / points) << describe(noise);
  }
  const Noise geometric{.scale = 2, .lower = 0.0, .upper = 10.0, .kind = NoiseKind::geometric};
  double largest = 0;
  for (int y = 0; y <= 10; ++y) largest = std::max(largest, std::fabs(bias(geometric, y)));
  EXPECT_EQ(std::fabs(worst_bias(geometric).bias), largest);
}

// Values inside wider bounds, and without bounds: no scan of them finds a larger bias.
TEST(WorstBias, OfARangeIsWorseThanAScan) {
  std::mt19937_64 engine(29);
  const auto pick = [&](std::uint64_t n) { return static_cast<double>(engine() % n); };
  for (int round = 0; round < 400; ++round) {
    const StatisticRange values{-pick(100) / 16, pick(100) / 16};
    Noise noise{.scale = std::ldexp(1 + pick(1000), -8), .grid = Grid(static_cast<long>(pick(5)) - 2)};
    if (round % 4 != 1) noise.lower = values.lower - pick(3) * pick(50) / 16 - (round % 4 == 0 ? 0.25 : 0);
    if (round % 4 != 2) noise.upper = values.upper + pick(3) * pick(50) / 16 + 0.0625;
    if (round % 16 == 5) noise.upper.reset();
    const WorstBias worst = worst_bias(noise, values);
    ASSERT_EQ(worst.bias, bias(noise, worst.guess));
    ASSERT_GE(worst.guess, values.lower);
    ASSERT_LE(worst.guess, values.upper);
    const int points = 300;
    for (int i = 0; i <= points; ++i) {
      const double y = i == points ? values.upper : values.lower + (values.upper - values.lower) * i / points;
      ASSERT_LE(std::fabs(bias(noise, y)), std::fabs(worst.bias) * (1 + 0x1p-40) + 1e-18)
          << describe(noise) << " at " << y << ", worst at " << worst.guess;
    }
  }
  const Noise geometric{.scale = 2, .lower = 0.0, .upper = 10.0, .kind = NoiseKind::geometric};
  EXPECT_EQ(worst_bias(geometric, {3, 9}).guess, 9);
  EXPECT_EQ(worst_bias(geometric, {1, 8}).guess, 1);
  EXPECT_EQ(worst_bias(geometric, {0, 10}).bias, worst_bias(geometric).bias);
  EXPECT_THROW(worst_bias(geometric, {-1, 10}), Error);
  EXPECT_THROW(worst_bias(geometric, {4, 3}), Error);
}

// Nothing reaches a bound 2000 scales away: what holds near one bound then holds for it alone.
TEST(Bias, OneBoundIsTheLimitOfAFarSecondOne) {
  std::vector<Noise> all = noises();
  for (const double bound : {-7.0, 0.0, 12.0}) {
    all.push_back({.scale = 2.5, .lower = bound, .kind = NoiseKind::geometric});
    all.push_back({.scale = 0.25, .upper = bound, .kind = NoiseKind::geometric});
  }
  int one_sided = 0;
  for (const Noise& noise : all) {
    if (noise.lower.has_value() == noise.upper.has_value()) continue;
    ++one_sided;
    const double unit = std::ldexp(1.0, static_cast<int>(noise.grid.exponent()));
    const double far = unit * (std::ceil(2000 * noise.scale.up() / unit) + 100);
    Noise two = noise;
    (noise.lower ? two.upper : two.lower) = noise.lower ? far : -far;
    Noise other = two;  // its far bound alone
    (noise.lower ? other.lower : other.upper).reset();
    const double near = noise.lower ? *noise.lower : *noise.upper;
    for (int i = -40; i <= 40; ++i) {
      double guess = near + unit * i / 8;
      if (noise.kind == NoiseKind::geometric) guess = near + i;
      ASSERT_EQ(bias(noise, guess), bias(two, guess)) << describe(noise) << " at " << guess;
    }
    const double worst = std::fabs(worst_bias(noise).bias);
    ASSERT_EQ(std::fabs(worst_bias(two).bias), std::max(worst, std::fabs(worst_bias(other).bias)))
        << describe(noise);
    // It pulls inwards. Without the bound the bias would be less.
    EXPECT_EQ(worst_bias(noise).bias > 0, noise.lower.has_value()) << describe(noise);
    Noise free = noise;
    free.lower.reset();
    free.upper.reset();
    EXPECT_GE(worst, std::fabs(worst_bias(free).bias)) << describe(noise);
  }
  EXPECT_GT(one_sided, 20);
}

// Far from the only bound the bias is that of the grid alone: none for geometric noise and fine grids.
TEST(Bias, VanishesFarFromTheOnlyBound) {
  const Noise fine{.scale = 1, .grid = Grid(-10), .lower = 0.0};
  EXPECT_NEAR(bias(fine, 0), 0.5, 1e-3);
  EXPECT_NEAR(bias(fine, 5), std::exp(-5) / 2, 1e-5);
  EXPECT_LT(std::fabs(bias(fine, 60)), 1e-24);
  const Noise integers{.scale = 3, .upper = 0.0, .kind = NoiseKind::geometric};
  EXPECT_LT(bias(integers, 0), -1);
  EXPECT_LT(std::fabs(bias(integers, -300)), 1e-40);
  EXPECT_EQ(worst_bias(integers).guess, 0);
  const Noise coarse{.scale = 1, .grid = Grid(3), .lower = 0.0};
  const Noise free{.scale = 1, .grid = Grid(3)};
  EXPECT_NEAR(bias(coarse, 802), bias(free, 2), 1e-15);
}

TEST(ExpectedBias, WeighsGuesses) {
  const Noise noise{.scale = 1, .grid = Grid(0), .lower = -5.0, .upper = 5.0};
  const std::vector<double> guesses{4, 5, -1};
  const std::vector<double> weights{1, 2, 0};
  EXPECT_NEAR(expected_bias(noise, guesses, weights), (bias(noise, 4) + 2 * bias(noise, 5)) / 3, 1e-16);
  const std::vector<double> symmetric{-4, 4};
  const std::vector<double> equal{0.5, 0.5};
  EXPECT_EQ(expected_bias(noise, symmetric, equal), 0);
}

TEST(ExpectedBias, UniformIsTheMeanOverTheRange) {
  for (const Noise& noise : noises()) {
    if (!noise.lower || !noise.upper) continue;
    // Gauss-Legendre with 3 points on each of many panels, whose ends include every kink of the bias.
    const double unit = std::ldexp(1.0, static_cast<int>(noise.grid.exponent()));
    const double width = *noise.upper - *noise.lower;
    const int panels = static_cast<int>(width / (unit / 16) + 0.5) * 4;
    double sum = 0;
    for (int i = 0; i < panels; ++i) {
      const double middle = *noise.lower + width * (i + 0.5) / panels;
      const double offset = width / panels / 2 * std::sqrt(0.6);
      sum += (5 * bias(noise, middle - offset) + 8 * bias(noise, middle) + 5 * bias(noise, middle + offset)) /
             18;
    }
    ASSERT_NEAR(expected_bias_uniform(noise), sum / panels, 1e-10 * unit) << describe(noise);
  }
  EXPECT_EQ(expected_bias_uniform({.scale = 1, .grid = Grid(0), .lower = -5.0, .upper = 7.0}), 0);
  EXPECT_EQ(expected_bias_uniform({.scale = 1, .lower = -5.0, .upper = 7.0, .kind = NoiseKind::geometric}),
            0);
  EXPECT_NE(expected_bias_uniform({.scale = 1, .grid = Grid(0), .lower = -5.0, .upper = 7.25}), 0);
}

TEST(Bias, Refusals) {
  const double nan = std::nan("");
  EXPECT_EQ(refused_parameter([&] { bias({.scale = 0}, 0); }), "scale");
  EXPECT_EQ(refused_parameter([&] { bias({.scale = 1}, nan); }), "guess");
  EXPECT_EQ(refused_parameter([&] { bias({.scale = 1, .lower = 1.0, .upper = 0.0}, 0); }), "lower");
  EXPECT_EQ(refused_parameter([&] { worst_bias({.scale = nan}); }), "scale");
  EXPECT_EQ(refused_parameter([&] { expected_bias_uniform({.scale = 1, .lower = 0.0}); }), "upper");
  EXPECT_EQ(refused_parameter([&] { expected_bias_uniform({.scale = 1, .upper = 0.0}); }), "lower");
  const Noise noise{.scale = 1};
  const auto weighted = [&](std::vector<double> guesses, std::vector<double> weights) {
    return refused_parameter([&] { expected_bias(noise, guesses, weights); });
  };
  EXPECT_EQ(weighted({}, {}), "weights");
  EXPECT_EQ(weighted({1}, {1, 2}), "weights");
  EXPECT_EQ(weighted({1}, {-1}), "weights");
  EXPECT_EQ(weighted({1}, {0}), "weights");
  EXPECT_EQ(weighted({1}, {nan}), "weights");
  EXPECT_EQ(weighted({nan}, {1}), "guess");
}

// Where doubles lie a step of the grid apart, and at the last output that is one.
TEST(WorstBias, IsFoundAtTheLastOutputs) {
  for (const double bound : {0x1p53, 0x1p53 - 1, 0x1p52 + 1}) {
    for (const bool up : {false, true}) {
      Noise noise{.scale = 1, .grid = Grid(0)};
      (up ? noise.upper : noise.lower) = up ? -bound : bound;
      const WorstBias worst = worst_bias(noise);
      EXPECT_EQ(worst.guess, up ? -bound : bound);
      EXPECT_EQ(std::fabs(worst.bias),
                std::fabs(worst_bias({.scale = 1, .grid = Grid(0), .lower = 0.0}).bias));
      Noise both = noise;
      (up ? both.lower : both.upper) = up ? -0x1p53 : 0x1p53;
      if (*both.lower == *both.upper) continue;
      EXPECT_TRUE(std::isfinite(worst_bias(both).bias));
    }
  }
}

// On the grid of an integer statistic: every integer is looked at.
TEST(WorstBias, OfIntegersIsThatOfTheWorstInteger) {
  std::mt19937_64 engine(37);
  int coarse = 0;
  for (int round = 0; round < 400; ++round) {
    Noise noise{
        .scale = std::ldexp(static_cast<double>(1 + engine() % 999), static_cast<int>(engine() % 8) - 9),
        .grid = Grid(static_cast<long>(engine() % 6))};
    const auto lower = static_cast<double>(engine() % 90) - 40;
    const auto width = static_cast<double>(1 + engine() % 120);
    if (round % 4 != 1 && round % 4 != 3) noise.lower = lower;
    if (round % 4 != 2 && round % 4 != 3) noise.upper = lower + width;
    const WorstBias worst = worst_bias(noise, Grid(0));
    ASSERT_EQ(worst.guess, std::floor(worst.guess)) << describe(noise);
    ASSERT_EQ(worst.bias, bias(noise, worst.guess));
    double largest = 0;
    const double from = noise.lower.value_or(noise.upper.value_or(70) - 160);
    const double to = noise.upper.value_or(from + 160);
    for (double y = from; y <= to; ++y) largest = std::max(largest, std::fabs(bias(noise, y)));
    ASSERT_GE(std::fabs(worst.bias), largest * (1 - 0x1p-40)) << describe(noise) << " at " << worst.guess;
    if (noise.grid.exponent() > 0 && largest > 0) ++coarse;
    if (!noise.lower || !noise.upper) continue;
    const StatisticRange values{lower + std::floor(width / 4), lower + width - std::floor(width / 3)};
    double inner = 0;
    for (double y = values.lower; y <= values.upper; ++y) inner = std::max(inner, std::fabs(bias(noise, y)));
    // Far from both bounds biases are sums that cancel, and below 1e-18 of the range no double shows them.
    ASSERT_GE(std::fabs(worst_bias(noise, values, Grid(0)).bias), inner * (1 - 0x1p-40) - 1e-18 * width)
        << describe(noise);
  }
  EXPECT_GT(coarse, 100);
  // A count on the grid 1 has none.
  EXPECT_EQ(worst_bias({.scale = 1, .grid = Grid(0)}, Grid(0)).bias, 0);
  EXPECT_NE(worst_bias({.scale = 1, .grid = Grid(0)}).bias, 0);
}

}  // namespace
}  // namespace snapdp
