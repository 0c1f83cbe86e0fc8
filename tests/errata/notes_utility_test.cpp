// docs/errata.md, sections 6 and 7 and the appendix of Covington's notes: error, accuracy, bias and bounds.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "errata/finite_snapping.h"
#include "mechanism/law_oracle.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/mechanism/snapping.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::errata {
namespace {

using oracle::Number;
using oracle::survival;

// The law with lambda = Lambda = 1, clamped to [-bound, bound].
OutputLaw unit_law(double bound, double value) {
  return OutputLaw({.scale = 1, .grid = Grid(0), .lower = -bound, .upper = bound}, value);
}

TEST(Errata, MidpointOfTheBounds) {
  struct Centering {
    Rational shift;
    Rational bound;
  };
  const auto as_written = [](const Rational& lower, const Rational& upper) {
    const Rational s = (upper - lower) / 2;
    return Centering{s, upper - s};
  };
  const auto corrected = [](const Rational& lower, const Rational& upper) {
    return Centering{(upper + lower) / 2, (upper - lower) / 2};
  };
  EXPECT_EQ(as_written(1000, 2000).bound, 1500);
  EXPECT_LT(as_written(-3000, -1000).bound, 0);
  for (const auto& [lower, upper] : {std::pair<Rational, Rational>{1000, 2000}, {-3000, -1000}, {-1, 4}}) {
    const Centering c = corrected(lower, upper);
    EXPECT_EQ(upper - c.shift, c.bound);
    EXPECT_EQ(lower - c.shift, -c.bound);
  }
  EXPECT_EQ(corrected(1000, 2000).bound, 500);
}

TEST(Errata, NoiseScaleIgnoresTheWidth) {
  const auto scale = [](const Rational& bound) { return FiniteSnapping::of_notes(1, bound, 118, 118).scale; };
  EXPECT_LT(scale(2000) / scale(500) - 1, power_of_two(-100));
  // In exact mode there is no dependence at all.
  const Snapping wide({.epsilon = 1, .sensitivity = 1, .lower = -2000, .upper = 2000});
  const Snapping narrow({.epsilon = 1, .sensitivity = 1, .lower = 1000, .upper = 2000});
  EXPECT_EQ(wide.scale(), narrow.scale());
}

TEST(Errata, AccuracyInTheUnitOfTheData) {
  const auto accuracy = [](double sensitivity) {  // epsilon = 1
    return conservative_accuracy(
        {.noise = {.scale = sensitivity, .grid = Grid::at_least(Rational(sensitivity))}, .alpha = 0.05});
  };
  EXPECT_DOUBLE_EQ(accuracy(4), 4 * accuracy(1));
  // The grid of data with sensitivity 3 is 4, not 3.
  EXPECT_GT(accuracy(3), 3 * accuracy(1) + 0.4);
  // Sensitivity 0 would be an accuracy of 0; it is no mechanism.
  EXPECT_THROW(Snapping({.epsilon = 1, .sensitivity = 0}), Error);
}

TEST(Errata, DividingBySensitivityRounds) {
  const double sensitivity = 0.3;
  const double f = 76.9808188989947;
  const double g = 76.6808188989947;
  EXPECT_LE(Rational(f) - Rational(g), Rational(sensitivity));
  // Divided in double, the two are further apart than 1: by 256 roundoffs.
  EXPECT_EQ(Rational(f / sensitivity) - Rational(g / sensitivity) - 1, 256 * power_of_two(-53));
  // In the unit of the data nothing is divided.
  const Snapping mechanism({.epsilon = 1, .sensitivity = sensitivity});
  EXPECT_LE(mechanism.loss_bound(Rational(f) - Rational(g)), 1);
}

TEST(Errata, BoundItselfIsReleased) {
  const OutputLaw law = unit_law(8, 0);
  EXPECT_DOUBLE_EQ(law.probability(-8), survival(Rational(15, 2), 1).nearest());  // P(rounded <= -8)
  EXPECT_LT(survival(Rational(17, 2), 1).nearest(), 0.4 * law.probability(-8));   // P(rounded < -8)
}

TEST(Errata, TailsAreOnlyBounded) {
  // The first multiple of the grid beyond 8.25 is 9, reached from 8.5 on.
  const OutputLaw law = unit_law(8.25, 0);
  const double stated = survival(Rational(31, 4), 1).nearest();  // P_L = F(-B - f + Lambda/2), and P_U alike
  for (const double bound : {-8.25, 8.25}) {
    EXPECT_DOUBLE_EQ(law.probability(bound), survival(Rational(17, 2), 1).nearest());
    EXPECT_LT(law.probability(bound), stated);
  }
}

TEST(Errata, UpperTailBoundIsReversed) {
  const OutputLaw law = unit_law(8, 7);
  const double stated_lower_bound = survival(0, 1).nearest();  // P_U^- = 1 - F(B - f - lambda')
  EXPECT_EQ(stated_lower_bound, 0.5);
  EXPECT_LT(law.probability(8), 0.31);
  EXPECT_LE(law.probability(8), stated_lower_bound);  // it is an upper bound
}

TEST(Errata, TailIsCountedTwice) {
  // F_Nsub(x) at the largest error x = B + f, lambda' = Lambda' = 1, B = 20, f = 19, as written.
  const Number f_z = Number(1.0) - oracle::exp(Number(Rational(-39) + Rational(1, 2)));
  const Number p_u = survival(Rational(1, 2), 1);
  EXPECT_GT(f_z + p_u, Number(1.3));  // a distribution function
}

// Algorithm 1 (GetAccuracy) with lambda' = 1.
Number get_accuracy(const Rational& f, const Rational& bound, const Rational& alpha) {
  const Number p_lower = survival(bound + f - 1, 1);
  const Number p_upper = survival(bound - f - 1, 1);
  const Number needed = Number(1.0) + p_lower - Number(alpha);
  const Number f_z = Number(1.0) - oracle::exp(Number(Rational(1 - (bound - f))));
  if (Number(alpha) <= p_lower) return Number(Rational(bound + f));
  if (needed <= f_z) return Number(1.0) - oracle::log(Number(alpha) - p_lower);
  if (needed <= f_z + p_upper) return Number(Rational(bound - f));
  return Number(1.0) - oracle::log(Number(alpha) - p_lower + p_upper);
}

TEST(Errata, AccuracyFromTheStatisticIsUnsound) {
  const double stated = get_accuracy(19, 20, Rational(1, 20)).nearest();
  EXPECT_NEAR(stated, 1.598, 5e-4);
  const OutputLaw law = unit_law(20, 19);
  EXPECT_NEAR(law.miss(Rational(stated)), 0.1116, 5e-5);
  // What holds for every value: GetAccuracy2, and the least such number.
  const AccuracyQuery query{.noise = {.scale = 1, .grid = Grid(0)}, .alpha = 0.05};
  EXPECT_LE(law.miss(Rational(conservative_accuracy(query))), 0.05);
  EXPECT_LE(law.miss(Rational(tight_accuracy(query))), 0.05);
}

TEST(Errata, EpsilonFromAccuracyIsNotBounded) {
  // (6.5) of 26 August 2020 and the line before it, at epsilon = 1, a = 4, alpha = 1/20, B = 2^40, eta = 2^-53.
  const Rational eta = power_of_two(-53);
  const Rational factor = 1 + 12 * power_of_two(40) * eta;
  const Number log20 = oracle::log(Number(20.0));
  const auto right_side = [&](const Rational& subtracted) {
    return Number(factor) * log20 / Number(Rational(4 - subtracted)) + Number(Rational(2 * eta));
  };
  const Number before = right_side(factor / (1 - 2 * eta));
  const Number after = right_side(1);
  EXPECT_FALSE(before <= after);
  EXPECT_GT(before - after, Number(0.0004));
}

// E[clamp(f + Y*)] - f with Y* ~ Laplace(-1/2, 1), and its parts as in section 6.4.
struct Bias {
  explicit Bias(const Rational& bound, const Rational& f) : low(-bound - f), high(bound - f) {
    const Rational half(1, 2);
    p_lower = survival(-(low + half), 1);
    p_upper = survival(high + half, 1);
    // The antiderivatives of y f(y), f(y) = e^(-|y + 1/2|) / 2, on both sides of -1/2.
    const auto left = [&](const Rational& y) {
      return oracle::exp(Number(Rational(y + half))) * Number(Rational((y - 1) / 2));
    };
    const auto right = [&](const Rational& y) {
      return oracle::exp(Number(Rational(-y - half))) * Number(Rational((-y - 1) / 2));
    };
    integral = left(-half) - left(low) + right(high) - right(-half);
  }
  Number expectation() const { return ends() + integral; }
  Number as_written() const { return ends() + (Number(1.0) - p_lower - p_upper) * integral; }
  Number ends() const { return p_lower * Number(low) + p_upper * Number(high); }

  Rational low;
  Rational high;
  Number p_lower;
  Number p_upper;
  Number integral;
};

TEST(Errata, BiasBoundIsALowerBound) {
  for (int f = 0; f <= 5; ++f) {
    const double bias = unit_law(5, f).mean() - f;
    const double stated_upper_bound = Bias(5, f).expectation().nearest();
    EXPECT_LT(stated_upper_bound, bias) << f;
    EXPECT_GT(-stated_upper_bound, -bias) << f;  // its magnitude does bound the magnitude
  }
  EXPECT_NEAR(unit_law(5, 4).mean() - 4, -0.176434151, 1e-9);
  EXPECT_NEAR(Bias(5, 4).expectation().nearest(), -0.6115, 5e-5);
  EXPECT_EQ(unit_law(5, 0).mean(), 0);
}

TEST(Errata, BiasIntegralIsWeightedTwice) {
  const Bias bias(5, 4);
  // The expectation by another way: the integrals of P(Y* > t) over (0, 1) and of P(Y* < -t) over (0, 9).
  const Number half(0.5);
  const Number above = half * (oracle::exp(Number(-0.5)) - oracle::exp(Number(-1.5)));
  const Number below = half * (Number(1.0) - oracle::exp(Number(-8.5)))  // -9 < y < -1/2
                       + half - half * (Number(1.0) - oracle::exp(Number(-0.5)));
  EXPECT_NEAR(bias.expectation().nearest(), (above - below).nearest(), 1e-15);
  EXPECT_GT(bias.as_written() - bias.expectation(), Number(0.08));
}

TEST(Errata, LowerTailShiftsDown) {
  // f = B' = 2, B = 6, lambda' = Lambda' = 1.
  const Number stated_bound = survival(8 + Rational(1, 2), 1);  // F of Laplace(+1/2) at -B - B'
  const Number corrected = survival(8 - Rational(1, 2), 1);     // F of Laplace(-1/2)
  const double lower_binds = unit_law(6, 2).probability(-6);
  EXPECT_GT(lower_binds, 2.7 * stated_bound.nearest());
  EXPECT_LE(lower_binds, corrected.up());
  // The conclusion survives: P(a bound binds) <= gamma.
  for (const double gamma : {0.5, 0.05, 1e-3, 1e-9}) {
    const double bound = 2 + (1 + 2 * std::log(1 / gamma)) / 2;
    const OutputLaw law = unit_law(bound, 2);
    EXPECT_LE(law.probability(-bound) + law.probability(bound), gamma);
  }
}

// The largest sample covariance of two columns of n zeros and ones (a convex function of each cell takes its largest value
// at the ends).
Rational largest_covariance(unsigned n) {
  Rational largest(0);
  for (unsigned x = 0; x < 1U << n; ++x) {
    for (unsigned y = 0; y < 1U << n; ++y) {
      const long both = __builtin_popcount(x & y);
      const long product = static_cast<long>(__builtin_popcount(x)) * __builtin_popcount(y);
      Rational covariance(static_cast<long>(n) * both - product, static_cast<long>(n * (n - 1)));
      covariance.canonicalize();
      if (covariance > largest) largest = covariance;
    }
  }
  return largest;
}

Rational odd_formula(unsigned n) {
  Rational formula(static_cast<long>(n) + 1, 4 * static_cast<long>(n));
  formula.canonicalize();
  return formula;
}

TEST(Errata, OddVarianceIsLarger) {
  for (const unsigned n : {3U, 5U, 7U}) {
    const VectorDomain domain({AtomDomain{.type = AtomType::real, .bounds = Bounds(0, 1)}});
    const Aggregation variance = make_variance(domain.of_size(n), change_one());
    std::vector<double> rows(n, 0.0);
    for (unsigned i = 0; i < n / 2; ++i) rows[i] = 1;
    const Rational reached = variance(rows)[0].rational();
    EXPECT_GT(reached, Rational(1, 4));  // (b - a)^2 / 4
    const Rational grid = variance.output_domain().grid.spacing().rational();
    EXPECT_LE(abs(Rational(reached - odd_formula(n))), grid / 2);
    EXPECT_GE(variance.output_domain().range->upper().rational(), odd_formula(n));
  }
}

TEST(Errata, OddCovarianceIsLarger) {
  for (const unsigned n : {3U, 5U, 7U}) {
    EXPECT_EQ(largest_covariance(n), odd_formula(n));
    EXPECT_GT(largest_covariance(n), Rational(1, 4));
    const AtomDomain unit{.type = AtomType::real, .bounds = Bounds(0, 1)};
    const Aggregation covariance = make_covariance(VectorDomain({unit, unit}).of_size(n), change_one());
    EXPECT_GE(covariance.output_domain().range->upper().rational(), odd_formula(n));
    EXPECT_LE(covariance.output_domain().range->lower().rational(), -odd_formula(n));
  }
  EXPECT_EQ(largest_covariance(4), Rational(1, 3));  // even n was right: n / (4 (n - 1))
}

TEST(Errata, SignInTheAppendix) {
  // Case 2 with P_L^+ = 0, epsilon' = 1, alpha = 1/20: F_Z^-(a) = 1 - exp(-a + 1) must be 1 - alpha.
  const Number log_alpha = oracle::log(Number(Rational(1, 20)));
  const auto residual = [](const Number& a) {
    return (oracle::exp(Number(1.0) - a) - Number(Rational(1, 20))).nearest();
  };
  const Number as_written = log_alpha - Number(1.0);  // from epsilon' a + 1 = ln(alpha)
  const Number corrected = Number(1.0) - log_alpha;   // from -epsilon' a + 1 = ln(alpha)
  EXPECT_LT(as_written, Number(0.0));
  EXPECT_GT(residual(as_written), 100);
  EXPECT_NEAR(residual(corrected), 0, 1e-15);
}

}  // namespace
}  // namespace snapdp::errata
