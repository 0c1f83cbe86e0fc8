// The law, accuracy and bias of snapped Gaussian noise against tables made independently from the definitions, with ball
// arithmetic (tests/data/snapped_gaussian_*.csv), and against slow sums here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "mechanism/csv_rows.h"
#include "mechanism/normal_sums.h"
#include "mechanism/refused.h"
#include "numeric/shared/certified.h"
#include "numeric/shared/normal_guess.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/law.h"

namespace snapdp {
namespace {

using numeric_internal::certified::certify;
using numeric_internal::certified::Fast;
using numeric_internal::certified::Undecided;
using numeric_internal::certified::Wide;

Rational number(const std::string& text) {
  return parse_rational(text, "row");
}
double real(const std::string& text) {
  return number(text).get_d();
}
std::optional<double> bound(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(real(text));
}
Noise gaussian(const std::string& sigma, const std::string& grid, const std::string& lower = "",
               const std::string& upper = "") {
  return {.scale = real(sigma),
          .grid = Grid::at_least(number(grid)),
          .lower = bound(lower),
          .upper = bound(upper),
          .kind = NoiseKind::gaussian};
}

// Correctly rounded, as far as 30 digits tell.
testing::AssertionResult is_nearest(double value, const std::string& text) {
  const Rational exact = number(text);
  const Rational digit = abs(exact) * number("1e-29");
  if (value == to_double_nearest(exact - digit) || value == to_double_nearest(exact + digit))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << to_string(value) << " is not " << text;
}
testing::AssertionResult is_rounded_up(double value, const std::string& text) {
  const Rational exact = number(text);
  const Rational digit = abs(exact) * number("1e-29");
  if (value == to_double_up(exact) || value == to_double_up(exact - digit) ||
      value == to_double_up(exact + digit))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << to_string(value) << " is not above " << text;
}

TEST(GaussianLaw, Table) {
  for (const auto& row : csv_texts("snapped_gaussian_law.csv", 8)) {
    SCOPED_TRACE(row[0] + "," + row[1] + "," + row[2] + "," + row[3] + "," + row[4] + "," + row[6]);
    if (!row[3].empty() && row[3] == row[4]) continue;  // a public constant, which is refused
    const OutputLaw law(gaussian(row[1], row[2], row[3], row[4]), real(row[0]));
    ASSERT_TRUE(is_nearest(law.probability(real(row[6])), row[7]));
  }
}

TEST(GaussianAccuracy, Table) {
  for (const auto& row : csv_texts("snapped_gaussian_accuracy.csv", 6)) {
    SCOPED_TRACE(row[0] + "," + row[1] + "," + row[2]);
    const AccuracyQuery query{.noise = gaussian(row[0], row[1]), .alpha = FailureRate(number(row[2]))};
    ASSERT_TRUE(is_rounded_up(tight_accuracy(query), row[3]));
    ASSERT_TRUE(is_rounded_up(conservative_accuracy(query), row[5]));
    if (row[4].empty()) continue;
    AccuracyQuery of_integers = query;
    of_integers.values = Grid(0);
    ASSERT_TRUE(is_rounded_up(tight_accuracy(of_integers), row[4]));
  }
}

TEST(GaussianBias, Table) {
  for (const auto& row : csv_texts("snapped_gaussian_bias.csv", 6)) {
    SCOPED_TRACE(row[0] + "," + row[1] + "," + row[2] + "," + row[3] + "," + row[4]);
    if (!row[3].empty() && row[3] == row[4]) continue;
    ASSERT_TRUE(is_nearest(bias(gaussian(row[1], row[2], row[3], row[4]), real(row[0])), row[5]));
  }
}

// Wide against MPFR's complementary error function, Fast against Wide.
TEST(NormalTail, AgreesWithTheErrorFunction) {
  std::mt19937_64 engine(3);
  for (int i = 0; i < 3000; ++i) {
    const double z = i < 120 ? i / 8.0 + 1.0 / 16 : std::uniform_real_distribution<double>(-9, 15)(engine);
    const Wide::Precision precision(200, false);
    numeric_internal::Real x(400);
    numeric_internal::Real root(400);
    mpfr_set_ui(root.get(), 2, MPFR_RNDN);
    mpfr_sqrt(root.get(), root.get(), MPFR_RNDN);
    mpfr_d_div(x.get(), z, root.get(), MPFR_RNDN);
    mpfr_erfc(x.get(), x.get(), MPFR_RNDN);
    mpfr_div_2ui(x.get(), x.get(), 1, MPFR_RNDN);
    const Rational exact = x.rational();
    const Wide tail = normal_tail(Wide(z));
    ASSERT_LE(lower_end(tail), exact) << z;
    ASSERT_GE(upper_end(tail), exact) << z;
    ASSERT_LE(upper_end(tail) - lower_end(tail), exact * Rational(0x1p-180)) << z;
    const Fast fast = normal_tail(Fast(z));
    const Fast reference(lower_end(tail));
    try {
      ASSERT_EQ(sign(fast - reference), 0) << z;
    } catch (const Undecided&) {
    }
    // Narrower than 2^-88.
    ASSERT_EQ(sign(fast - reference + ldexp(reference, -88)), 1) << z;
    ASSERT_EQ(sign(reference + ldexp(reference, -88) - fast), 1) << z;
  }
}

TEST(NormalTail, SinesAgree) {
  std::mt19937_64 engine(4);
  for (int i = 0; i < 2000; ++i) {
    const double turns = std::ldexp(std::uniform_real_distribution<double>(-1, 1)(engine), i % 20 - 14);
    const Wide::Precision precision(200, false);
    const Rational sine = lower_end(sin_of_turns(Wide(turns)));
    const Rational cosine = lower_end(cos_of_turns(Wide(turns)));
    for (const auto& [fast, exact] :
         {std::pair(sin_of_turns(Fast(turns)), sine), {cos_of_turns(Fast(turns)), cosine}}) {
      const Fast reference(exact);
      const Fast margin = ldexp(Fast(1.0), -95);
      ASSERT_EQ(sign(fast - reference + margin), 1) << turns;
      ASSERT_EQ(sign(reference + margin - fast), 1) << turns;
    }
    ASSERT_NEAR(sine.get_d(), std::sin(2 * M_PI * turns), 1e-12);
    ASSERT_NEAR(cosine.get_d(), std::cos(2 * M_PI * turns), 1e-12);
  }
}

TEST(NormalTail, Guesses) {
  for (const double log_tail : {-1e-9, -0.1, -0.69, -0.7, -1.0, -5.0, -100.0, -700.0, -5e4}) {
    const double z = numeric_internal::guess_normal_score(log_tail);
    EXPECT_NEAR(numeric_internal::guess_log_normal_tail(z), log_tail, 1e-10 * std::fabs(log_tail))
        << log_tail;
  }
}

// The three ways to sum agree wherever two of them apply, and with plain addition.
TEST(NormalSums, AgreeWithAddition) {
  const Wide::Precision precision(200, false);
  for (const double ratio : {0.01, 0.3, 0.5, 0.75, 3.0, 9.0, 30.0}) {
    for (const double t : {0.5, 0.75, 1.5, 7.25, 80.5, 700.0}) {
      Wide tails;
      Wide moments;
      Wide integrals;
      for (int i = 0; i < 20 * ratio + 3; ++i) {
        const Wide x(t + i);
        const Wide z = x / Wide(ratio);
        const Wide tail = normal_tail(z);
        tails = tails + tail;
        moments = moments + ldexp(x * tail, 1);
        integrals = integrals + Wide(ratio) * mechanism_internal::NormalSums<Wide>::loss(z);
      }
      const mechanism_internal::NormalSums<Wide> sums{Wide(ratio)};
      const mechanism_internal::NormalSums<double> doubles(ratio);
      const auto check = [&](const Wide& found, const Wide& added, double near) {
        const Rational exact = lower_end(added);
        const Rational off = abs(Rational(lower_end(found) - exact));
        ASSERT_LE(off, abs(exact) * Rational(0x1p-150) + Rational(0x1p-280)) << ratio << " " << t;
        ASSERT_LE(upper_end(found) - lower_end(found), abs(exact) * Rational(0x1p-140) + Rational(0x1p-280));
        ASSERT_NEAR(near, exact.get_d(), 1e-8 * std::fabs(exact.get_d()) + 1e-80) << ratio << " " << t;
      };
      check(sums.tails(Wide(t)), tails, doubles.tails(t));
      check(sums.moments(Wide(t)), moments, doubles.moments(t));
      check(sums.integrals(Wide(t)), integrals, doubles.integrals(t));
    }
  }
}

// A slow law: every output within 45 standard deviations, with the tails of the table above.
struct SlowLaw {
  std::vector<double> outputs;
  std::vector<double> probabilities;
  SlowLaw(const Noise& noise, double y) {
    const double grid = noise.grid.spacing().to_double_up();
    const double clamped = std::clamp(y, noise.lower.value_or(-1e300), noise.upper.value_or(1e300));
    const auto reach = static_cast<long>(45 * noise.scale.up() / grid) + 2;
    const auto center = static_cast<long>(std::floor(clamped / grid + 0.5));
    const double lower = noise.lower.value_or(-1e300);
    const double upper = noise.upper.value_or(1e300);
    double seen = std::numeric_limits<double>::quiet_NaN();
    for (long k = center - reach; k <= center + reach; ++k) {
      const double output = std::clamp(static_cast<double>(k) * grid, lower, upper);
      if (output == seen) continue;
      seen = output;
      outputs.push_back(output);
      probabilities.push_back(OutputLaw(noise, y).probability(output));
    }
  }
};

TEST(GaussianLaw, SumsOfItself) {
  const std::vector<Noise> noises = {gaussian("1", "1", "-3", "4"),       gaussian("0.3", "1", "-2.5", "3"),
                                     gaussian("3", "0.5", "-4.25", "10"), gaussian("12", "1", "", "7.5"),
                                     gaussian("2.5", "4", "-30", ""),     gaussian("6", "1")};
  for (const Noise& noise : noises) {
    for (const double y : {0.0, 0.25, -1.75, 3.0, 2.5}) {
      const SlowLaw slow(noise, y);
      const OutputLaw law(noise, y);
      double mass = 0;
      double mean = 0;
      for (std::size_t i = 0; i < slow.outputs.size(); ++i) {
        mass += slow.probabilities[i];
        mean += slow.probabilities[i] * (slow.outputs[i] - y);
        ASSERT_NEAR(law.cdf(slow.outputs[i]), mass, 1e-13);
        ASSERT_NEAR(law.at_least(slow.outputs[i]), 1 - mass + slow.probabilities[i], 1e-13);
      }
      ASSERT_NEAR(mass, 1, 1e-13);
      ASSERT_NEAR(law.mean(), y + mean, 1e-12);
      ASSERT_NEAR(bias(noise, y), mean, 1e-12);
      double variance = 0;
      for (std::size_t i = 0; i < slow.outputs.size(); ++i)
        variance += slow.probabilities[i] * (slow.outputs[i] - y - mean) * (slow.outputs[i] - y - mean);
      ASSERT_NEAR(law.variance(), variance, 1e-11 * (1 + variance));
      for (const double p : {1e-12, 0.001, 0.3, 0.5, 0.77, 0.999, 1 - 1e-12}) {
        double sum = 0;
        std::size_t i = 0;
        while (i + 1 < slow.outputs.size() && (sum += slow.probabilities[i]) < p - 1e-15) ++i;
        ASSERT_EQ(law.quantile(Rational(p)), slow.outputs[i]) << p;
      }
      for (const char* alpha : {"1e-9", "0.01", "0.05", "0.3", "0.7", "0.95"}) {
        const double a = law.accuracy(FailureRate(number(alpha)));
        ASSERT_LE(law.miss(Rational(a)), to_double_up(number(alpha)));
        if (a > 0) {
          ASSERT_GT(law.miss(Rational(std::nextafter(a, 0.0))), to_double_down(number(alpha)) * (1 - 1e-15))
              << a;
        }
      }
      const OutputLaw::Table table = law.table(1e-10);
      double sum = table.below + table.above;
      for (const OutputProbability& row : table.outputs) sum += row.probability;
      ASSERT_NEAR(sum, 1, 1e-13);
      if (!noise.lower && !noise.upper) {
        double farthest = 0;
        for (double x = y - 20; x < y + 20; x += 1.0 / 64) {
          const double continuous = std::erfc((y - x) / noise.scale.up() / std::sqrt(2)) / 2;
          farthest = std::max({farthest, std::fabs(law.cdf(x) - continuous),
                               std::fabs(law.cdf(std::nextafter(x, -1e9)) - continuous)});
        }
        ASSERT_NEAR(law.distance_to_continuous(), farthest, 1e-12);
      }
    }
  }
}

// The tight accuracy misses at most alpha for every value, and a smaller one more for some.
TEST(GaussianAccuracy, TightIsTight) {
  std::mt19937_64 engine(5);
  for (const char* sigma : {"0.2", "0.7", "1", "5", "33.3"}) {
    for (const char* alpha : {"1e-20", "0.01", "0.05", "0.4", "0.9"}) {
      const AccuracyQuery query{.noise = gaussian(sigma, "1"), .alpha = FailureRate(number(alpha))};
      const double a = tight_accuracy(query);
      ASSERT_LE(a, conservative_accuracy(query));
      ASSERT_LE(worst_miss(query.noise, Rational(a)), to_double_up(query.alpha.value()));
      ASSERT_GT(worst_miss(query.noise, Rational(std::nextafter(a, 0.0))), query.alpha.value());
      for (int i = 0; i < 40; ++i) {
        const double y = std::uniform_real_distribution<double>(-2, 2)(engine);
        ASSERT_LE(OutputLaw(query.noise, y).accuracy(query.alpha), a);
      }
      AccuracyQuery rounded = query;
      rounded.rounding_error = Rational(1, 3);
      ASSERT_GE(tight_accuracy(rounded), to_double_up(Rational(std::nextafter(a, 0.0)) + Rational(1, 3)));
      ASSERT_LE(tight_accuracy(rounded), to_double_up(Rational(a) + Rational(1, 3)));
      for (const Grid values : {Grid(0), Grid(-3), Grid(2)}) {
        AccuracyQuery on_grid = query;
        on_grid.values = values;
        const double m = tight_accuracy(on_grid);
        double worst = 0;
        const double step = values.spacing().to_double_up();
        for (double y = 0; y < 1.0 || y == 0; y += step)
          worst = std::max(worst, OutputLaw(query.noise, y).accuracy(query.alpha));
        ASSERT_EQ(m, worst) << sigma << " " << alpha << " " << values.exponent();
      }
      // The scale that reaches this accuracy is this one or a little larger.
      const double scale = scale_for_accuracy({.sensitivity = 1,
                                               .accuracy = Rational(a),
                                               .alpha = query.alpha,
                                               .grid = GridChoice(Grid(0)),
                                               .noise = NoiseKind::gaussian});
      ASSERT_GE(scale, query.noise.scale.up());
      Noise more = query.noise;
      more.scale = std::nextafter(scale, 1e300);
      ASSERT_GT(tight_accuracy({.noise = more, .alpha = query.alpha}), a);
    }
  }
}

TEST(GaussianAccuracy, ClampedIsTheWorstOfAllValues) {
  for (const auto& noise :
       {gaussian("1", "1", "-2", "3"), gaussian("2", "1", "-2.25", "1.5"), gaussian("0.4", "1", "0", "2.75"),
        gaussian("3", "0.5", "-1", "2"), gaussian("1", "0.25", "0", "100")}) {
    for (const char* alpha : {"1e-6", "0.05", "0.3", "0.6"}) {
      const AccuracyQuery query{.noise = noise, .alpha = FailureRate(number(alpha))};
      const double a = clamped_accuracy(query);
      double worst = 0;
      const double width = std::min(*noise.upper - *noise.lower, 40.0);
      for (int i = 0; i <= 4000; ++i) {
        const double y = std::min(*noise.lower + width * i / 4000, *noise.upper);
        worst = std::max(worst, OutputLaw(noise, y).accuracy(query.alpha));
      }
      ASSERT_LE(worst, a);
      ASSERT_GE(worst, a - 0.02 * (1 + a)) << alpha;
      ASSERT_LE(a, tight_accuracy(query));
    }
  }
}

TEST(GaussianBias, WorstAndUniform) {
  for (const auto& noise : {gaussian("1", "1", "-2", "3"), gaussian("0.1", "1", "-2.25", "1.5"),
                            gaussian("0.4", "1", "0", "2.75"), gaussian("3", "0.5", "-1", "2.125"),
                            gaussian("50", "1", "0", "100.5"), gaussian("0.7", "8", "-20", "21")}) {
    const WorstBias worst = worst_bias(noise);
    ASSERT_EQ(bias(noise, worst.guess), worst.bias);
    double largest = 0;
    double sum = 0;
    constexpr int pieces = 2048;
    const double width = *noise.upper - *noise.lower;
    std::vector<double> values;
    for (int i = 0; i <= pieces; ++i) {
      values.push_back(bias(noise, *noise.lower + width * i / pieces));
      largest = std::max(largest, std::fabs(values.back()));
    }
    ASSERT_GE(std::fabs(worst.bias), largest * (1 - 1e-12));
    ASSERT_LE(std::fabs(worst.bias), largest + 0.01 * noise.grid.spacing().to_double_up());
    // Simpson's rule, which smooth functions hardly err from.
    for (int i = 0; i < pieces; i += 2) {
      sum += (values[static_cast<std::size_t>(i)] + 4 * values[static_cast<std::size_t>(i) + 1] +
              values[static_cast<std::size_t>(i) + 2]) /
             (3.0 * pieces);
    }
    const double exact = expected_bias_uniform(noise);
    ASSERT_NEAR(exact, sum, 1e-8 + 1e-5 * (noise.scale.up() < 0.3 ? 1 : 0));
    const WorstBias of_integers = worst_bias(noise, Grid(0));
    ASSERT_EQ(of_integers.guess, std::floor(of_integers.guess));
  }
  // Without bounds: the fraction 1/4 in the limit.
  const WorstBias free = worst_bias(gaussian("1", "1"));
  EXPECT_NEAR(std::fabs(free.bias), std::exp(-2 * M_PI * M_PI) / M_PI, 1e-15);
  EXPECT_NEAR(std::fabs(worst_bias(gaussian("0.5", "1")).bias), std::exp(-M_PI * M_PI / 2) / M_PI, 1e-8);
  for (double f = 0; f <= 0.5; f += 1.0 / 512)
    EXPECT_LE(std::fabs(bias(gaussian("0.1", "1"), f)), std::fabs(worst_bias(gaussian("0.1", "1")).bias));
  EXPECT_EQ(worst_bias(gaussian("3", "1", "0", "")).guess, 0);
}

TEST(GaussianBounds, MinimalBounds) {
  for (const char* gamma : {"0.01", "1e-12", "0.6"}) {
    const FailureRate rate(number(gamma));
    const Noise noise = gaussian("2.5", "0.5");
    const ChosenBounds bounds = minimal_bounds(noise, {0, 7.25}, rate);
    EXPECT_LE(Rational(bounds.binding_probability), rate.value());
    Noise narrower = noise;
    narrower.lower = bounds.lower + 0.5;
    narrower.upper = bounds.upper - 0.5;
    if (*narrower.lower <= 0 && *narrower.upper >= 7.25) {
      EXPECT_GT(Rational(binding_probability(narrower, {0, 7.25})), rate.value());
    }
  }
}

// Scales, grids and values as extreme as doubles.
TEST(GaussianLaw, Extremes) {
  for (const char* sigma : {"1e-300", "1e-20", "1", "1e20", "1e300"}) {
    for (const char* grid : {"0x1p-1000", "0x1p-60", "1", "0x1p60", "0x1p1000"}) {
      const Noise noise = gaussian(sigma, grid);
      SCOPED_TRACE(std::string(sigma) + " " + grid);
      const OutputLaw law(noise, 0);
      const double p = law.probability(0);
      EXPECT_TRUE(p >= 0 && p <= 1);
      EXPECT_EQ(law.cdf(0) + law.at_least(0) - p, 1);
      EXPECT_EQ(law.mean(), 0);
      const AccuracyQuery query{.noise = noise, .alpha = 0.05};
      EXPECT_LE(tight_accuracy(query), conservative_accuracy(query));
      EXPECT_GE(tight_accuracy(query), 0.5 * number(grid).get_d());
      EXPECT_GE(law.variance(), 0);
      if (Rational(noise.scale.up()) <= Rational(0x1p100) * number(grid)) {
        EXPECT_LE(law.quantile(Rational(1, 100)), 0);
      }
    }
  }
}

}  // namespace
}  // namespace snapdp
