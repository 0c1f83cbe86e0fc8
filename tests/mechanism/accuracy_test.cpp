#include "snapdp/mechanism/accuracy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "mechanism/law_oracle.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/law.h"

namespace snapdp {
namespace {

using oracle::Number;

const double infinity = std::numeric_limits<double>::infinity();

// In lowest terms, which the constructor of Rational leaves to its caller.
Rational ratio(std::int64_t numerator, std::int64_t denominator) {
  Rational result(static_cast<long>(numerator), static_cast<long>(denominator));
  result.canonicalize();
  return result;
}

Rational tiny() {
  return Rational(Integer(1), Integer(Integer(1) << 300));
}

// The largest miss over the values where one of the two tails is about to lose an output, and a few others.
Number brute_miss(const Rational& a, const Rational& scale, Grid grid) {
  const Rational unit = grid.spacing().rational();
  Number worst(0.0);
  const auto consider = [&](const Rational& y) {
    const Number miss = oracle::miss(a, y, scale, grid);
    if (miss > worst) worst = miss;
  };
  for (const Rational& nudge : {Rational(0), Rational(unit * tiny()), Rational(-unit * tiny())}) {
    consider(unit - a + nudge);
    consider(a - unit + nudge);
    consider(unit / 2 + nudge);
  }
  for (int i = 0; i < 16; ++i) consider(unit * ratio(2 * i + 1, 32));
  return worst;
}

// `a` is the least double with a worst miss of at most alpha.
testing::AssertionResult is_least(double a, double scale, Grid grid, const Rational& alpha) {
  if (brute_miss(Rational(a), Rational(scale), grid) > Number(alpha)) {
    return testing::AssertionFailure() << a << " misses too often";
  }
  if (brute_miss(Rational(std::nextafter(a, 0.0)), Rational(scale), grid) <= Number(alpha)) {
    return testing::AssertionFailure() << a << " is not the least";
  }
  return testing::AssertionSuccess();
}

double clamped(AccuracyQuery query, std::optional<double> lower, std::optional<double> upper) {
  query.noise.lower = lower;
  query.noise.upper = upper;
  return clamped_accuracy(query);
}

TEST(Accuracy, KnownValues) {
  const AccuracyQuery query{.noise = {.scale = 1, .grid = Grid(0)}, .alpha = 0.05};
  EXPECT_NEAR(tight_accuracy(query), 3.40755, 5e-6);
  EXPECT_DOUBLE_EQ(continuous_accuracy(query), std::log(20));
  EXPECT_DOUBLE_EQ(conservative_accuracy(query), std::log(20) + 0.5);
  EXPECT_EQ(continuous_accuracy(query), oracle::log(Number(20.0)).up());
  EXPECT_EQ(conservative_accuracy(query), (oracle::log(Number(20.0)) + Number(0.5)).up());
}

TEST(Accuracy, AutomaticGridIsNearlyLaplace) {
  for (const double scale : {1.0, 1.01, 2.0, 0.3, 1e6}) {
    const AccuracyQuery query{
        .noise = {.scale = scale, .grid = GridChoice::automatic().resolve(Rational(scale), false)},
        .alpha = 0.05};
    EXPECT_LE(tight_accuracy(query), 1.001 * continuous_accuracy(query));
    EXPECT_LE(conservative_accuracy(query), 1.001 * continuous_accuracy(query));
  }
}

TEST(Accuracy, TightIsTheLeastDoubleThatNoValueMisses) {
  std::mt19937_64 engine(1);
  for (int i = 0; i < 200; ++i) {
    const double scale = std::ldexp(1 + std::ldexp(static_cast<double>(engine() >> 12), -52),
                                    static_cast<int>(engine() % 40) - 20);
    const long finer = static_cast<long>(engine() % 16) - 4;  // from 16 times the notes' grid to 1/2048 of it
    const Grid grid(Grid::at_least(Rational(scale)).exponent() - finer);
    const Rational alpha =
        ratio(static_cast<std::int64_t>(engine() % 999 + 1), engine() % 2 ? 1000 : 1'000'000);
    const double tight = tight_accuracy({.noise = {.scale = scale, .grid = grid}, .alpha = alpha});
    ASSERT_TRUE(is_least(tight, scale, grid, alpha)) << scale << " " << to_string(grid) << " " << alpha;
    ASSERT_LE(tight, conservative_accuracy({.noise = {.scale = scale, .grid = grid}, .alpha = alpha}));
    ASSERT_GE(tight, continuous_accuracy({.noise = {.scale = scale, .grid = grid}, .alpha = alpha}));
    // The miss at what is reported: at most alpha, and where the law is continuous there, alpha itself.
    const double miss = worst_miss({.scale = scale, .grid = grid}, Rational(tight));
    ASSERT_LE(miss, to_double_up(alpha));
    const double halves = std::ldexp(tight, 1 - static_cast<int>(grid.exponent()));
    if (halves != std::floor(halves)) {
      ASSERT_GE(miss, to_double_down(alpha) - 1e-12);
    }
  }
}

TEST(Accuracy, WorstMissIsTheWorstOverValues) {
  std::mt19937_64 engine(2);
  for (int i = 0; i < 150; ++i) {
    const Rational scale(std::ldexp(static_cast<double>(engine() % 1000 + 1), -6));
    const Grid grid(static_cast<long>(engine() % 8) - 4);
    const Rational a =
        grid.spacing().rational() * ratio(static_cast<std::int64_t>(engine() % 1000), engine() % 2 ? 64 : 7);
    const double worst = worst_miss({.scale = scale.get_d(), .grid = grid}, a);
    const Number brute = brute_miss(a, scale, grid);
    ASSERT_LE(brute.nearest(), worst) << scale << " " << to_string(grid) << " " << a;
    ASSERT_LE(worst, std::nextafter(brute.up(), infinity)) << scale << " " << to_string(grid) << " " << a;
  }
}

// Rates at and around e^(-k grid / 2 scale), where the least k changes.
TEST(Accuracy, TightAtTheJumps) {
  for (const double scale : {1.0, 0.75, 37.5}) {
    const Grid grid(0);
    for (int k = 1; k <= 40; k += 3) {
      const Number edge = oracle::exp(Number(Rational(-k) / (2 * Rational(scale))));
      for (const int bits : {20, 52, 90, 180, 390}) {
        for (const int side : {-1, 1}) {
          const Rational alpha =
              edge.rational() *
              (1 + Rational(side) / Rational(Integer(Integer(1) << static_cast<unsigned>(bits))));
          const double tight = tight_accuracy({.noise = {.scale = scale, .grid = grid}, .alpha = alpha});
          // Just above the edge the limit of piece k is allowed: a little less than (k+1)/2. Just below it a
          // lies in piece k + 1, which starts at (k+1)/2 with a smaller miss.
          if (side < 0) {
            ASSERT_EQ(tight, (k + 1) / 2.0) << scale << " " << k << " " << bits;
          } else {
            ASSERT_LE(tight, (k + 1) / 2.0);
            ASSERT_GT(tight, k / 2.0);
            if (bits < 90) {
              ASSERT_LT(tight, (k + 1) / 2.0);
            }
            if (bits < 200) {
              ASSERT_TRUE(is_least(tight, scale, grid, alpha)) << scale << " " << k << " " << bits;
            }
          }
        }
      }
    }
  }
}

TEST(Accuracy, ScalesWithTheUnit) {
  const AccuracyQuery unit{.noise = {.scale = 1.3, .grid = Grid(1)}, .alpha = 0.01};
  for (const int shift : {-1000, -600, -1, 1, 600, 1000}) {
    const AccuracyQuery scaled{.noise = {.scale = std::ldexp(1.3, shift), .grid = Grid(1 + shift)},
                               .alpha = 0.01};
    EXPECT_EQ(tight_accuracy(scaled), std::ldexp(tight_accuracy(unit), shift));
    EXPECT_EQ(conservative_accuracy(scaled), std::ldexp(conservative_accuracy(unit), shift));
    EXPECT_EQ(continuous_accuracy(scaled), std::ldexp(continuous_accuracy(unit), shift));
  }
}

TEST(Accuracy, ExtremeScalesAndGrids) {
  // A grid far finer than the noise: Laplace's accuracy but for the last place.
  for (const long exponent : {-1022L, -300L, -60L}) {
    const AccuracyQuery query{.noise = {.scale = 3, .grid = Grid(exponent)}, .alpha = 0.05};
    EXPECT_GE(tight_accuracy(query), continuous_accuracy(query));
    EXPECT_LE(tight_accuracy(query), std::nextafter(continuous_accuracy(query), infinity));
  }
  // Noise far below the grid: half a grid step and the next double, unless the tie itself misses rarely
  // enough.
  for (const double scale : {1e-20, 1e-300, std::numeric_limits<double>::denorm_min()}) {
    EXPECT_EQ(tight_accuracy({.noise = {.scale = scale, .grid = Grid(0)}, .alpha = 0.05}),
              std::nextafter(0.5, 1.0))
        << scale;
    EXPECT_EQ(tight_accuracy({.noise = {.scale = scale, .grid = Grid(0)}, .alpha = 0.75}), 0.5) << scale;
  }
  EXPECT_EQ(conservative_accuracy({.noise = {.scale = 1.7e308, .grid = Grid(1023)}, .alpha = 1e-300}),
            infinity);
  const double subnormal = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(continuous_accuracy({.noise = {.scale = subnormal, .grid = Grid(-1074)}, .alpha = 0.05}),
            3 * subnormal);
}

TEST(Accuracy, RareFailures) {
  const AccuracyQuery query{.noise = {.scale = 1, .grid = Grid(0)}, .alpha = 1e-300};
  const Rational alpha = parse_rational("1e-300", "alpha");
  EXPECT_EQ(continuous_accuracy(query), (Number(0.0) - oracle::log(Number(alpha))).up());
  EXPECT_TRUE(is_least(tight_accuracy(query), 1, Grid(0), alpha));
  EXPECT_LE(tight_accuracy(query), conservative_accuracy(query));
  const AccuracyQuery common{.noise = {.scale = 1, .grid = Grid(0)}, .alpha = Rational(1 - tiny())};
  EXPECT_EQ(tight_accuracy(common), 0.5);
  EXPECT_GT(continuous_accuracy(common), 0.0);
}

TEST(Accuracy, AddsTheStatisticsOwnRoundingAndStopsAtTheRange) {
  AccuracyQuery query{.noise = {.scale = 1, .grid = Grid(-10)}, .alpha = 0.05};
  const double without = tight_accuracy(query);
  query.rounding_error = Rational(1, 8);
  EXPECT_NEAR(tight_accuracy(query), without + 0.125, 1e-15);
  EXPECT_GE(tight_accuracy(query), without + 0.125);
  EXPECT_NEAR(conservative_accuracy(query), std::log(20) + std::ldexp(1.0, -11) + 0.125, 1e-15);
  query.noise.lower = -1;
  query.noise.upper = 1;
  EXPECT_EQ(tight_accuracy(query), 2);
  EXPECT_EQ(conservative_accuracy(query), 2);
  EXPECT_GT(continuous_accuracy(query), 2);
  query.noise.upper = 299;
  EXPECT_LT(tight_accuracy(query), 4);
}

template <typename Function>
std::string refused_parameter(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find(error.parameter()), std::string::npos);
    return error.parameter();
  }
  return "accepted";
}

TEST(Accuracy, Refusals) {
  for (const double alpha : {0.0, 1.0, -0.5, 1.5, infinity, -infinity, std::nan("")}) {
    EXPECT_EQ(refused_parameter([&] { FailureRate rate(alpha); }), "alpha") << alpha;
    EXPECT_EQ(refused_parameter([&] { FailureRate rate(alpha, "gamma"); }), "gamma") << alpha;
  }
  EXPECT_EQ(FailureRate(0.05).value(), Rational(1, 20));
  for (const double scale : {0.0, -1.0, infinity, std::nan("")}) {
    const AccuracyQuery query{.noise = {.scale = scale, .grid = Grid(0)}, .alpha = 0.05};
    EXPECT_EQ(refused_parameter([&] { tight_accuracy(query); }), "scale");
    EXPECT_EQ(refused_parameter([&] { conservative_accuracy(query); }), "scale");
    EXPECT_EQ(refused_parameter([&] { continuous_accuracy(query); }), "scale");
    EXPECT_EQ(refused_parameter([&] { worst_miss({.scale = scale, .grid = Grid(0)}, 1); }), "scale");
  }
  AccuracyQuery query{.noise = {.scale = 1, .grid = Grid(0)}, .alpha = 0.05};
  EXPECT_EQ(refused_parameter([&] { worst_miss({.scale = 1, .grid = Grid(0)}, -1); }), "accuracy");
  query.rounding_error = -1;
  EXPECT_EQ(refused_parameter([&] { tight_accuracy(query); }), "rounding_error");
  query.rounding_error = 0;
  EXPECT_EQ(refused_parameter([&] { clamped(query, 1, 1); }), "lower");
  EXPECT_EQ(refused_parameter([&] { clamped(query, std::nan(""), 1); }), "lower");
  EXPECT_EQ(refused_parameter([&] { clamped(query, 0, infinity); }), "upper");
  EXPECT_EQ(refused_parameter([&] { clamped(query, std::nullopt, infinity); }), "upper");
  const AccuracyQuery geometric{.noise = {.scale = 1, .grid = Grid(1), .kind = NoiseKind::geometric},
                                .alpha = 0.05};
  EXPECT_EQ(refused_parameter([&] { tight_accuracy(geometric); }), "grid");
  query.noise.lower = 1;
  query.noise.upper = 1;
  EXPECT_EQ(refused_parameter([&] { tight_accuracy(query); }), "lower");
}

// ---- Known values, clamps, geometric noise ----

TEST(AccuracyOnGrid, IsTheLeastForValuesOnTheGrid) {
  std::mt19937_64 engine(31);
  for (int i = 0; i < 200; ++i) {
    const double scale = std::ldexp(static_cast<double>(engine() % 1000 + 1), -7);
    const Grid grid(static_cast<long>(engine() % 7) - 3);
    const Grid values(grid.exponent() + 2 - static_cast<long>(engine() % 8));
    const Rational alpha = ratio(static_cast<std::int64_t>(engine() % 999 + 1), 1000);
    const double a =
        tight_accuracy({.noise = {.scale = scale, .grid = grid}, .alpha = alpha, .values = values});
    // Every residue of a value within one output step.
    const Rational unit = grid.spacing().rational();
    const auto worst = [&](const Rational& at) {
      Number result(0.0);
      for (Rational y = 0; y < unit; y += values.spacing().rational()) {
        const Number miss = oracle::miss(at, y, Rational(scale), grid);
        if (miss > result) result = miss;
      }
      return result;
    };
    ASSERT_LE(worst(Rational(a)).nearest(), alpha.get_d())
        << scale << " " << to_string(grid) << " " << to_string(values);
    for (const Rational& at : {Rational(a), Rational(a / 2), Rational(a + 1)}) {
      const double miss = worst_miss({.scale = scale, .grid = grid}, at, values);
      ASSERT_GE(Rational(miss), worst(at).rational());
      ASSERT_NEAR(miss, worst(at).nearest(), 1e-15);
    }
    if (a > 0) {
      ASSERT_GT(worst(Rational(std::nextafter(a, 0.0))), Number(alpha))
          << scale << " " << to_string(grid) << " " << to_string(values);
    }
    ASSERT_LE(a, tight_accuracy({.noise = {.scale = scale, .grid = grid}, .alpha = alpha}));
  }
  // In the limit of fine values it is the tight accuracy.
  const AccuracyQuery query{.noise = {.scale = 1.3, .grid = Grid(1)}, .alpha = 0.05};
  EXPECT_NEAR(tight_accuracy({.noise = {.scale = 1.3, .grid = Grid(1)}, .alpha = 0.05, .values = Grid(-45)}),
              tight_accuracy(query), 1e-12);
  EXPECT_EQ(tight_accuracy({.noise = {.scale = 0.1, .grid = Grid(0)}, .alpha = 0.05, .values = Grid(0)}), 0);
  // P(|error| > a) = e^-(a + 1/2) for integers on the grid 1.
  EXPECT_EQ(tight_accuracy({.noise = {.scale = 1, .grid = Grid(0)}, .alpha = 0.05, .values = Grid(0)}), 3);
  for (int a = 0; a < 9; ++a)
    EXPECT_NEAR(worst_miss({.scale = 1, .grid = Grid(0)}, a, Grid(0)), std::exp(-(a + 0.5)), 1e-16);
  // Between bounds the lesser of what holds for the grid and for the bounds.
  const AccuracyQuery integers{.noise = {.scale = 1, .grid = Grid(0)}, .alpha = 0.05, .values = Grid(0)};
  EXPECT_EQ(clamped(integers, -300, 300), 3);
  EXPECT_EQ(clamped(integers, 0, 2), 2);
  EXPECT_EQ(clamped(integers, 0.0, std::nullopt), 3);
}

// The largest miss over many values in [lower, upper], among them those next to where the outputs beyond a change.
double brute_clamped_miss(const Noise& noise, double a) {
  const double unit = std::ldexp(1.0, static_cast<int>(noise.grid.exponent()));
  const double lower = *noise.lower;
  const double upper = *noise.upper;
  const double nudge = (upper - lower) * 0x1p-40;
  double worst = 0;
  const auto consider = [&](double y) {
    for (const double z : {y - nudge, y, y + nudge}) {
      if (z < lower || z > upper) continue;
      worst = std::max(worst, OutputLaw(noise, z).miss(Rational(a)));
    }
  };
  for (int i = 0; i <= 32; ++i) consider(lower + (upper - lower) * i / 32);
  consider(lower + a);
  consider(upper - a);
  for (double k = std::floor(lower / unit) * unit; k <= upper + unit; k += unit) {
    consider(k - a);
    consider(k + a);
  }
  return worst;
}

TEST(ClampedAccuracy, IsTheLeastInsideTheBounds) {
  std::mt19937_64 engine(32);
  const auto pick = [&](std::uint64_t n) { return static_cast<int>(engine() % n); };
  int smaller = 0;
  for (int i = 0; i < 150; ++i) {
    const double scale = std::ldexp(1 + pick(1000), -8);
    const Grid grid(pick(6) - 2);
    const double unit = std::ldexp(1.0, static_cast<int>(grid.exponent()));
    const double lower = -unit * pick(64) / 16;
    const double upper = lower + unit * (pick(160) + 1) / 16;
    const double alpha = std::vector<double>{0.9, 0.6, 0.3, 0.05, 0.001}[static_cast<std::size_t>(pick(5))];
    const AccuracyQuery query{.noise = {.scale = scale, .grid = grid}, .alpha = alpha};
    const Noise noise{.scale = scale, .grid = grid, .lower = lower, .upper = upper};
    const double a = clamped(query, lower, upper);
    const std::string what = to_string(scale) + " grid " + to_string(grid) + " [" + to_string(lower) + ", " +
                             to_string(upper) + "] alpha " + to_string(alpha);
    ASSERT_LE(a, tight_accuracy(query)) << what;
    ASSERT_LE(a, upper - lower) << what;
    ASSERT_LE(brute_clamped_miss(noise, a), alpha) << what << " a = " << a;
    if (a > 0) {
      ASSERT_GT(brute_clamped_miss(noise, a * (1 - 1e-6)), alpha - 1e-9) << what << " a = " << a;
    }
    if (a < std::min(upper - lower, tight_accuracy(query))) ++smaller;
  }
  EXPECT_GT(smaller, 20);
}

TEST(ClampedAccuracy, KnownValuesAndLimits) {
  const AccuracyQuery query{.noise = {.scale = 1, .grid = Grid(0)}, .alpha = 0.05};
  EXPECT_NEAR(clamped(query, -3, 3), 3.00, 0.005);
  EXPECT_EQ(clamped(query, -300, 300), tight_accuracy(query));
  EXPECT_EQ(clamped(query, 0, 0.25), 0.25);
  AccuracyQuery rounded = query;
  rounded.rounding_error = Rational(1, 16);
  EXPECT_EQ(clamped(rounded, -300, 300), tight_accuracy(rounded));
  EXPECT_NEAR(clamped(rounded, -3, 3), std::min(6.0, clamped(query, -3, 3) + 0.0625), 1e-12);
  EXPECT_LE(clamped({.noise = {.scale = 1e300, .grid = Grid(990)}, .alpha = 0.05}, 0, 1), 1);
}

// On a half line the worst value is as bad as on the whole one, and no worse.
TEST(ClampedAccuracy, OneBoundSavesNothing) {
  std::mt19937_64 engine(33);
  const auto pick = [&](std::uint64_t n) { return static_cast<int>(engine() % n); };
  for (int i = 0; i < 40; ++i) {
    const double scale = std::ldexp(1 + pick(1000), -8);
    const Grid grid(pick(6) - 2);
    const double unit = std::ldexp(1.0, static_cast<int>(grid.exponent()));
    const double bound = unit * (pick(64) - 32) / 16;
    const double alpha = std::vector<double>{0.9, 0.6, 0.3, 0.05, 0.001}[static_cast<std::size_t>(pick(5))];
    const AccuracyQuery query{
        .noise = {.scale = scale, .grid = grid}, .alpha = alpha, .rounding_error = Rational(1, 64)};
    const double a = clamped(query, bound, std::nullopt);
    ASSERT_EQ(a, clamped(query, std::nullopt, bound));
    ASSERT_EQ(a, clamped(query, std::nullopt, std::nullopt));
    ASSERT_EQ(a, clamped(query, bound, bound + 2 * a + 4 * unit + 1));
    const double noise_alone =
        clamped({.noise = {.scale = scale, .grid = grid}, .alpha = alpha}, bound, std::nullopt);
    for (const bool up : {false, true}) {
      const Noise noise{.scale = scale,
                        .grid = grid,
                        .lower = up ? std::nullopt : std::optional(bound),
                        .upper = up ? std::optional(bound) : std::nullopt};
      double worst = 0;
      double worst_below = 0;  // with an accuracy a little smaller
      const double less = noise_alone - unit * 1e-6;
      const double reach = noise_alone + 3 * unit;
      // Values that lie `noise_alone` from the thresholds of the grid, a little before and after.
      for (double k = std::floor((bound - reach) / unit); k * unit <= bound + reach; ++k) {
        for (const double sign : {-1.0, 1.0}) {
          for (const double nudge : {-1e-7, 0.0, 1e-7}) {
            const double y = k * unit + sign * noise_alone + nudge * unit;
            if (up ? y > bound : y < bound) continue;
            const OutputLaw law(noise, y);
            worst = std::max(worst, law.miss(Rational(noise_alone)));
            if (less >= 0) worst_below = std::max(worst_below, law.miss(Rational(less)));
          }
        }
      }
      ASSERT_LE(worst, alpha) << i;
      if (less >= 0) {
        ASSERT_GT(worst_below, alpha - 1e-9) << i;
      }
    }
  }
  const AccuracyQuery counts{.noise = {.scale = 2, .grid = Grid(0), .kind = NoiseKind::geometric},
                             .alpha = 0.05};
  EXPECT_EQ(clamped(counts, 0.0, std::nullopt), tight_accuracy(counts));
}

TEST(GeometricAccuracy, IsTheLeastInteger) {
  for (const double scale : {0.05, 0.3, 1.0, 7.5, 300.0}) {
    for (const double alpha : {0.9, 0.5, 0.05, 1e-9}) {
      const AccuracyQuery query{.noise = {.scale = scale, .grid = Grid(0), .kind = NoiseKind::geometric},
                                .alpha = alpha};
      const double n = tight_accuracy(query);
      const double q = std::exp(-1 / scale);
      ASSERT_EQ(n, std::floor(n));
      ASSERT_LE(2 * std::pow(q, n + 1) / (1 + q), alpha * (1 + 1e-12));
      if (n > 0) {
        ASSERT_GT(2 * std::pow(q, n) / (1 + q), alpha);
      }
      ASSERT_EQ(n, OutputLaw({.scale = scale, .kind = NoiseKind::geometric}, 3).accuracy(alpha));
      ASSERT_LE(n, conservative_accuracy(query));
      for (const int range : {1, 2, 5, 40}) {
        // Every value, every error.
        const auto worst = [&](int a) {
          double result = 0;
          for (int y = 0; y <= range; ++y) {
            const Noise noise{.scale = scale, .lower = 0.0, .upper = range, .kind = NoiseKind::geometric};
            result = std::max(result, OutputLaw(noise, y).miss(a));
          }
          return result;
        };
        int least = 0;
        while (worst(least) > alpha) ++least;
        ASSERT_EQ(clamped(query, 0, range), least) << scale << " " << alpha << " " << range;
      }
    }
  }
}

// ---- Accuracy -> epsilon ----

double reported(const EpsilonQuery& query, const Rational& epsilon) {
  const double scale = to_double_up(query.sensitivity / epsilon);
  Noise noise{.scale = scale, .grid = query.grid.resolve(Rational(scale), query.integer)};
  if (query.range) {
    noise.lower = 0;
    noise.upper = query.range;
  }
  return tight_accuracy({.noise = noise,
                         .alpha = query.alpha,
                         .rounding_error = query.rounding_error,
                         .values = query.integer ? std::optional(Grid(0)) : std::nullopt});
}

// On the grid of 2^-60, reaches the target, and one step less does not.
testing::AssertionResult is_least_epsilon(const EpsilonQuery& query, const Rational& epsilon) {
  const Rational step = Grid(-60).spacing().rational();
  if (epsilon <= 0 || Rational(epsilon / step).get_den() != 1)
    return testing::AssertionFailure() << "off the grid";
  if (Rational(reported(query, epsilon)) > query.accuracy) {
    return testing::AssertionFailure() << "accuracy " << reported(query, epsilon) << " at " << epsilon;
  }
  const Rational less = epsilon - step;
  if (less > 0 && Rational(reported(query, less)) <= query.accuracy) {
    return testing::AssertionFailure() << epsilon << " is not the least";
  }
  return testing::AssertionSuccess();
}

TEST(EpsilonForAccuracy, AccuracyFour) {
  for (const GridChoice& grid : {GridChoice::automatic(), GridChoice::notes(), GridChoice(Grid(0)),
                                 GridChoice(Grid(2)), GridChoice(Grid(-20))}) {
    for (const bool integer : {false, true}) {
      if (integer && grid == GridChoice(Grid(-20))) continue;
      const EpsilonQuery query{
          .sensitivity = 1, .accuracy = 4, .alpha = 0.05, .grid = grid, .integer = integer};
      const Rational epsilon = epsilon_for_accuracy(query);
      EXPECT_TRUE(is_least_epsilon(query, epsilon)) << to_string(epsilon);
      EXPECT_LT(epsilon, Rational(3, 2));
      EXPECT_GT(epsilon, Rational(integer ? 6 : 7, 10));
    }
  }
  // The jump: on the notes' grid scale 1 has 3.408 and the scales above it, on grid 2, have more than 4.
  EXPECT_EQ(epsilon_for_accuracy(
                {.sensitivity = 1, .accuracy = Rational(7, 2), .alpha = 0.05, .grid = GridChoice::notes()}),
            1);
}

// Targets between the accuracy at scale 2^m and its limit from above all need the scale 2^m exactly.
TEST(EpsilonForAccuracy, OptimumAtAPowerOfTwo) {
  for (const int m : {-30, -1, 0, 7, 40}) {
    const double scale = std::ldexp(1.0, m);
    const double at = tight_accuracy({.noise = {.scale = scale, .grid = Grid(m)}, .alpha = 0.05});
    const double above = tight_accuracy(
        {.noise = {.scale = std::nextafter(scale, infinity), .grid = Grid(m + 1)}, .alpha = 0.05});
    ASSERT_GT(above, 1.1 * at);
    for (const double target : {at, (at + above) / 2, std::nextafter(above, 0.0)}) {
      const EpsilonQuery query{
          .sensitivity = 3, .accuracy = Rational(target), .alpha = 0.05, .grid = GridChoice::notes()};
      EXPECT_EQ(scale_for_accuracy(query), scale);
      EXPECT_TRUE(is_least_epsilon(query, epsilon_for_accuracy(query)));
    }
    const EpsilonQuery more{
        .sensitivity = 3, .accuracy = Rational(above), .alpha = 0.05, .grid = GridChoice::notes()};
    EXPECT_GT(scale_for_accuracy(more), scale);
    const EpsilonQuery less{.sensitivity = 3,
                            .accuracy = Rational(std::nextafter(at, 0.0)),
                            .alpha = 0.05,
                            .grid = GridChoice::notes()};
    EXPECT_LT(scale_for_accuracy(less), scale);
  }
}

TEST(EpsilonForAccuracy, IsTheLeastForAnyTarget) {
  std::mt19937_64 engine(5);
  const std::vector<GridChoice> grids = {GridChoice::automatic(), GridChoice::notes(), GridChoice(Grid(-4))};
  for (int i = 0; i < 150; ++i) {
    const std::int64_t a = static_cast<std::int64_t>(engine() % 10'000) + 700;
    EpsilonQuery query{.sensitivity = ratio(static_cast<std::int64_t>(engine() % 1000 + 1),
                                            static_cast<std::int64_t>(engine() % 1000 + 1)),
                       .accuracy = ratio(a, 1000),
                       .alpha = ratio(static_cast<std::int64_t>(engine() % 99 + 1), 100),
                       .grid = grids[engine() % grids.size()]};
    query.integer = !query.grid.is_explicit() && !query.grid.is_notes() && engine() % 2;
    if (engine() % 2) query.rounding_error = Rational(1, 1 << 12);
    if (engine() % 2) query.range = 1000.0;
    ASSERT_TRUE(is_least_epsilon(query, epsilon_for_accuracy(query)))
        << query.sensitivity << " " << query.accuracy << " " << query.alpha.value() << " "
        << to_string(query.grid);
  }
}

// scale ln(1/alpha) + grid/2 <= scale (ln(1/alpha) + 1) on the notes' grid.
TEST(EpsilonForAccuracy, IsWithinTheSimpleBound) {
  for (const double a : {0.001, 0.7, 4.0, 5e6}) {
    const Rational epsilon = epsilon_for_accuracy(
        {.sensitivity = 1, .accuracy = Rational(a), .alpha = 0.05, .grid = GridChoice::notes()});
    EXPECT_LE(epsilon.get_d(), (1 + std::log(20)) / a * (1 + 1e-12));
    EXPECT_GE(epsilon.get_d(), std::log(20) / a * (1 - 1e-12));
  }
}

TEST(EpsilonForAccuracy, LargeAndSmallTargets) {
  // Nothing but 2^-60 is needed.
  const EpsilonQuery loose{.sensitivity = 1, .accuracy = parse_rational("1e300", "accuracy"), .alpha = 0.05};
  EXPECT_EQ(epsilon_for_accuracy(loose), Grid(-60).spacing().rational());
  const EpsilonQuery strict{
      .sensitivity = 1, .accuracy = parse_rational("1e-300", "accuracy"), .alpha = 0.05};
  EXPECT_TRUE(is_least_epsilon(strict, epsilon_for_accuracy(strict)));
  const EpsilonQuery rare{.sensitivity = 1, .accuracy = 4, .alpha = 1e-300};
  EXPECT_TRUE(is_least_epsilon(rare, epsilon_for_accuracy(rare)));
  // On a fixed grid the noise may have to be far smaller than the target.
  const EpsilonQuery close{.sensitivity = 1,
                           .accuracy = Rational(1, 2) + Rational(1, 1 << 20),
                           .alpha = 0.05,
                           .grid = GridChoice(Grid(0))};
  EXPECT_TRUE(is_least_epsilon(close, epsilon_for_accuracy(close)));
  // Half the grid itself is reached when alpha allows for the tie.
  const EpsilonQuery half{
      .sensitivity = 1, .accuracy = Rational(1, 2), .alpha = 0.75, .grid = GridChoice(Grid(0))};
  EXPECT_TRUE(is_least_epsilon(half, epsilon_for_accuracy(half)));
}

TEST(EpsilonForAccuracy, GeometricNoise) {
  for (const double target : {0.0625, 0.5, 1.0, 1.5, 4.0, 1000.0}) {
    for (const double alpha : {0.5, 0.05, 1e-9}) {
      const EpsilonQuery query{
          .sensitivity = 2, .accuracy = Rational(target), .alpha = alpha, .noise = NoiseKind::geometric};
      const Rational epsilon = epsilon_for_accuracy(query);
      const auto at = [&](const Rational& e) {
        const double scale = to_double_up(query.sensitivity / e);
        return tight_accuracy(
            {.noise = {.scale = scale, .grid = Grid(0), .kind = NoiseKind::geometric}, .alpha = alpha});
      };
      EXPECT_LE(at(epsilon), target);
      EXPECT_GT(at(epsilon - Rational(0x1p-60)), target);
    }
  }
}

// Integers: on the grid 1 an error above a has the probability e^-(a + 1/2) epsilon, so that ln 20 / (a + 1/2) is the least.
TEST(EpsilonForAccuracy, OfCounts) {
  for (const auto& [accuracy, rounded] : std::vector<std::pair<Rational, double>>{
           {1, 1.997}, {2, 1.198}, {10, .2853}, {Rational(1, 100), 5.991}, {Rational(199, 100), 1.997}}) {
    const EpsilonQuery query{.sensitivity = 1, .accuracy = accuracy, .alpha = 0.05, .integer = true};
    const Rational epsilon = epsilon_for_accuracy(query);
    EXPECT_NEAR(epsilon.get_d(), rounded, 1e-3 * rounded);
    const double least = std::log(20) / (floor(accuracy).get_d() + 0.5);
    EXPECT_NEAR(epsilon.get_d(), least, 1e-14);
    EXPECT_TRUE(is_least_epsilon(query, epsilon));
  }
}

// The least accuracy of integers by adding up the law for every integer that there is within a step of the grid.
Number worst_of_integers(const Rational& a, const Rational& scale, Grid grid) {
  Number worst(0.0);
  for (Rational y = 0; y < grid.spacing().rational(); y += 1) {
    const Number miss = oracle::miss(a, y, scale, grid);
    if (miss > worst) worst = miss;
  }
  return worst;
}

TEST(EpsilonForAccuracy, OfIntegersIsTheLeastByTheLaw) {
  std::mt19937_64 engine(47);
  const Rational step = Grid(-60).spacing().rational();
  int coarse = 0;
  for (int i = 0; i < 150; ++i) {
    const GridChoice grid = i % 3 == 0   ? GridChoice::automatic()
                            : i % 3 == 1 ? GridChoice::notes()
                                         : GridChoice(Grid(static_cast<long>(engine() % 5)));
    const EpsilonQuery query{.sensitivity = static_cast<long>(1 + engine() % 9),
                             .accuracy = ratio(static_cast<std::int64_t>(1 + engine() % 400),
                                               static_cast<std::int64_t>(1 + engine() % 5)),
                             .alpha = ratio(static_cast<std::int64_t>(1 + engine() % 400), 1000),
                             .grid = grid,
                             .integer = true};
    Rational epsilon;
    try {
      epsilon = epsilon_for_accuracy(query);
    } catch (const Error&) {
      // On this grid some integer is always farther off, or the notes' grid allows no less noise.
      const Rational finest = grid.is_explicit() ? grid.resolve(1, true).spacing().rational() : Rational(1);
      ASSERT_TRUE(query.accuracy < finest / 2 || worst_of_integers(query.accuracy, Rational(1, 2) + step,
                                                                   Grid(0)) > Number(query.alpha.value()));
      continue;
    }
    const auto is_accurate = [&](const Rational& at) {
      const double scale = to_double_up(query.sensitivity / at);
      const Grid chosen = query.grid.resolve(Rational(scale), true);
      coarse += chosen == Grid(0) ? 0 : 1;
      return worst_of_integers(query.accuracy, Rational(scale), chosen) <= Number(query.alpha.value());
    };
    ASSERT_TRUE(is_accurate(epsilon)) << to_string(query.accuracy) << " " << to_string(query.grid);
    ASSERT_FALSE(is_accurate(epsilon - step)) << to_string(query.accuracy) << " " << to_string(query.grid);
  }
  EXPECT_GT(coarse, 50);
}

TEST(EpsilonForAccuracy, RefusesWhatNoEpsilonReaches) {
  const auto refused = [](const EpsilonQuery& query) {
    return refused_parameter([&] { epsilon_for_accuracy(query); });
  };
  EXPECT_EQ(refused({.sensitivity = 1, .accuracy = 0, .alpha = 0.05}), "accuracy");
  EXPECT_EQ(refused({.sensitivity = 1, .accuracy = -1, .alpha = 0.05}), "accuracy");
  EXPECT_EQ(
      refused({.sensitivity = 1, .accuracy = Rational(1, 2), .alpha = 0.05, .grid = GridChoice(Grid(0))}),
      "accuracy");
  EXPECT_EQ(
      refused({.sensitivity = 1, .accuracy = Rational(1, 4), .alpha = 0.75, .grid = GridChoice(Grid(0))}),
      "accuracy");
  EXPECT_EQ(refused({.sensitivity = 1,
                     .accuracy = Rational(7, 2),
                     .alpha = 0.05,
                     .grid = GridChoice(Grid(3)),
                     .integer = true}),
            "accuracy");
  EXPECT_EQ(refused({.sensitivity = 1, .accuracy = 1, .alpha = 0.05, .integer = true, .rounding_error = 2}),
            "accuracy");
  EXPECT_EQ(refused({.sensitivity = 1,
                     .accuracy = Rational(1, 4),
                     .alpha = 0.05,
                     .grid = GridChoice::notes(),
                     .integer = true}),
            "accuracy");
  EXPECT_EQ(refused({.sensitivity = 1, .accuracy = 1, .alpha = 0.05, .rounding_error = 1}), "accuracy");
  EXPECT_EQ(refused({.sensitivity = 1, .accuracy = 100, .alpha = 0.05, .range = 100.0}), "accuracy");
  EXPECT_EQ(refused({.sensitivity = 0, .accuracy = 1, .alpha = 0.05}), "sensitivity");
  EXPECT_EQ(refused({.sensitivity = -1, .accuracy = 1, .alpha = 0.05}), "sensitivity");
  EXPECT_EQ(
      refused(
          {.sensitivity = 1, .accuracy = 1, .alpha = 0.05, .grid = GridChoice(Grid(-2)), .integer = true}),
      "grid");
  EXPECT_EQ(refused({.sensitivity = parse_rational("1e-330", "sensitivity"), .accuracy = 1, .alpha = 0.05}),
            "sensitivity");
}

}  // namespace
}  // namespace snapdp
