// docs/errata.md: "Verifying Snapping Mechanism" (9 October 2019), the dilation view of privacy.
//
// Its corrected form: with V = U^S on (0, infinity) an output of y is the half-open interval of V whose logarithm is
// [k Lambda - Lambda/2 - y, k Lambda + Lambda/2 - y) / lambda, and moving y dilates V.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

#include "errata/finite_snapping.h"
#include "mechanism/law_oracle.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/numeric/grid.h"

namespace snapdp::errata {
namespace {

using oracle::Number;

Number clip(const Number& x) {
  return Number(0.0) > x ? Number(0.0) : x > Number(1.0) ? Number(1.0) : x;
}
// P(U in (a, b)), U uniform on (0, 1).
Number uniform(const Number& a, const Number& b) {
  return clip(b) - clip(a);
}
// P(V in (e^from, e^to)) for V = U^S, S a fair sign.
Number two_sided(const Rational& from, const Rational& to) {
  return oracle::survival(from, 1) - oracle::survival(to, 1);
}
Number e_to(const Rational& x) {
  return oracle::exp(Number(x));
}

// The law without clamps, epsilon = Lambda = 1, f(a) = 0.
OutputLaw ideal() {
  return OutputLaw({.scale = 1, .grid = Grid(0)}, 0);
}

TEST(Errata, SignIsAnExponent) {
  // S = -1, output 1: the interval of u as written is (e^(1/2) / S, e^(3/2) / S).
  const Rational half(1, 2);
  const Number zero(0.0);
  EXPECT_EQ(uniform(zero - e_to(3 * half), zero - e_to(half)).nearest(), 0);
  const Number corrected = uniform(e_to(-3 * half), e_to(-half));  // u^S between the ends
  EXPECT_DOUBLE_EQ(ideal().probability(1), (corrected * Number(0.5)).nearest());
}

TEST(Errata, BothSignsAreSummed) {
  const Rational half(1, 2);
  const auto one_sign = [&](int k) { return uniform(e_to(k - half), e_to(k + half)).nearest(); };
  EXPECT_EQ(one_sign(1), 0);
  EXPECT_NEAR(one_sign(-1), 0.3834, 5e-5);
  for (int k = -3; k <= 3; ++k) {
    EXPECT_DOUBLE_EQ(ideal().probability(k), (one_sign(k) + one_sign(-k)) / 2);
    EXPECT_DOUBLE_EQ(ideal().probability(k), two_sided(k - half, k + half).nearest());
  }
}

TEST(Errata, OneDirectionIsNotEnough) {
  // U alone (no sign) meets the premise: Pr[E] <= e^epsilon Pr[e^-epsilon E]. But for the neighbor on the other side it
  // fails without bound: f(a) + ln U never exceeds f(a).
  const Number e = e_to(1);
  for (int i = 0; i < 20; ++i) {
    const Number a = e_to(Rational(-i - 1, 4));
    const Number b = e_to(Rational(-i, 4));
    EXPECT_LE(uniform(a, b) - e * uniform(a / e, b / e), Number(1e-200));
    if (i < 4) {
      EXPECT_GT(uniform(a, b), Number(0.1));
      EXPECT_LE(uniform(a * e, b * e), Number(1e-200));
    }
  }
  // V passes in both directions.
  for (int i = -20; i < 20; ++i) {
    const Rational from(i, 4);
    const Rational to(i + 1, 4);
    const Number bound = two_sided(from, to) / e - Number(1e-200);
    EXPECT_LE(bound, two_sided(from - 1, to - 1));
    EXPECT_LE(bound, two_sided(from + 1, to + 1));
  }
}

TEST(Errata, BinsAreHalfOpen) {
  // epsilon = ln 2 and a U* of one bit: 2^-e with probability 2^-e. With f(a) = 1/2 every U* is a boundary.
  Rational closed(0);
  Rational half_open(0);
  for (long e = 1; e <= 60; ++e) {
    const Rational sum = Rational(1, 2) - e;  // f(a) + log(u) / epsilon
    for (long k = -70; k <= 2; ++k) {
      if (k - Rational(1, 2) <= sum && sum <= k + Rational(1, 2)) closed += power_of_two(-e);
      if (Grid(0).index(sum) == k) half_open += power_of_two(-e);
    }
  }
  EXPECT_GT(closed, Rational(19, 10));  // "probabilities" of the outputs that add up to 2
  EXPECT_EQ(half_open, 1 - power_of_two(-60));
}

TEST(Errata, DilationTakesThePositiveExponent) {
  // E = (0, 1) for the ideal V: Pr[E] = 1/2, Pr[e^-1 E] = 1 / 2e.
  const Rational far(-1000);
  const Number half = two_sided(far, 0);
  const Number dilated = two_sided(far - 1, -1);
  const Number definition_2 = half - e_to(1) * dilated;
  const Number definition_5 = half - e_to(-1) * dilated;
  EXPECT_NEAR(definition_2.nearest(), 0, 1e-100);
  EXPECT_NEAR(definition_5.nearest(), 0.4323, 5e-5);
}

TEST(Errata, DilationIsOnlySufficient) {
  // Geometric noise, epsilon = 1, whose atoms have been moved inside the bins of integers: the outputs of integer statistics
  // keep their law, which is private, while the atoms are no dilations of each other.
  const Rational tolerance = power_of_two(-300);
  const auto atom = [](long k) {
    Rational moved(k, 4 * (1 + std::labs(k)));
    moved.canonicalize();
    return Rational(k + moved);
  };
  const auto mass = [](long k) {
    const Number q = e_to(-1);
    return (Number(1.0) - q) / (Number(1.0) + q) * e_to(Rational(-std::labs(k)));
  };
  std::map<long, Number> outputs[2];  // for f(a) = 0 and 1
  std::map<Rational, Number> measure;
  for (long k = -40; k <= 40; ++k) {
    measure[atom(k)] = mass(k);
    for (long f : {0, 1}) outputs[f][Grid(0).index(Rational(atom(k) + f)).get_si()] = mass(k);
  }
  for (long k = -30; k <= 30; ++k) {
    EXPECT_LE(outputs[0][k], e_to(1) * outputs[1][k] + Number(tolerance));
    EXPECT_LE(outputs[1][k], e_to(1) * outputs[0][k] + Number(tolerance));
  }
  // D_epsilon(mu, mu) >= Pr[E] - e Pr[e^-1 E] for E the atom at 0.
  EXPECT_EQ(measure.count(atom(0)), 1U);
  EXPECT_EQ(measure.count(atom(0) - 1), 0U);
  EXPECT_GT(measure[atom(0)], Number(0.46));
}

TEST(Errata, ClampsCollectTheTails) {
  const OutputLaw law({.scale = 1, .grid = Grid(0), .lower = -3, .upper = 3}, 0);
  const Rational half(1, 2);
  const double as_written = two_sided(3 - half, 3 + half).nearest();
  EXPECT_NEAR(as_written, 0.02595, 5e-5);
  EXPECT_NEAR(law.probability(3), 0.04104, 5e-5);
  EXPECT_DOUBLE_EQ(law.probability(3), two_sided(3 - half, 1000).nearest());
}

TEST(Errata, RoundingCostsPrivacy) {
  // Mironov's mechanism at 53 bits, lambda = 1, Lambda = 1, B = 10, output 10. kappa is the first-order bound
  // coth(Lambda / 2 lambda) (2 eta + 4 eta R / lambda), R = 2 B + Lambda / 2.
  const FiniteSnapping mechanism{53, 53, 1};
  const Rational eta = power_of_two(-53);
  const Number coth = (e_to(1) + Number(1.0)) / (e_to(1) - Number(1.0));
  const Number kappa = coth * Number(Rational(eta * (2 + 4 * (20 + Rational(1, 2)))));
  Number largest(0.0);
  for (int i = 0; i < 200; ++i) {
    const Rational y = Rational(i, 17) - 3;
    const Number excess = mechanism.loss(Rational(19, 2), y, y - 1) - Number(1.0);
    if (excess > largest) largest = excess;
  }
  EXPECT_GT(largest, Number(Rational(eta)));
  EXPECT_LE(largest, kappa);
}

TEST(Errata, EveryShiftCounts) {
  // Geometric noise on the grid 1/4, epsilon = 4, sensitivity 1: y and y + 1 are as private as asked, y and y + 1/2 differ
  // in what is possible at all.
  const Noise noise{.scale = 0.25, .kind = NoiseKind::geometric};
  const OutputLaw at_zero(noise, 0);
  EXPECT_NEAR(at_zero.probability(0), 0.964, 5e-4);
  for (int k = -20; k <= 20; ++k) {
    for (const int shift : {-1, 1}) {
      const double ratio = at_zero.probability(k) / at_zero.probability(k + shift);
      EXPECT_LE(ratio, std::exp(4) * (1 + 1e-14));
    }
  }
  // Outputs of y = 1/2 are 1/2 + integer; the grid 1/4 has them and no 0 among them.
  EXPECT_EQ(Grid(-2).index(Rational(1, 2)) % 4, 2);
  EXPECT_EQ(at_zero.probability(0.5), 0);  // the noise is never 1/2
}

}  // namespace
}  // namespace snapdp::errata
