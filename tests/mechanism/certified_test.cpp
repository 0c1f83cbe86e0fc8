#include "numeric/shared/certified.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "mechanism/law_oracle.h"
#include "snapdp/error.h"

namespace snapdp::numeric_internal::certified {

using namespace numeric_internal;

namespace {

// True when `enclosure` holds `exact` and is narrower than 2^-88 of it: neither sign below is decided against
// us.
testing::AssertionResult encloses(const Fast& enclosure, const Fast& reference) {
  try {
    if (sign(enclosure - reference) != 0)
      return testing::AssertionFailure() << "does not hold the exact number";
  } catch (const Undecided&) {
  }
  try {
    const Fast margin = ldexp(reference, -88);
    const int side = sign(reference);
    if (sign(enclosure - reference + margin) != side || sign(reference + margin - enclosure) != side) {
      return testing::AssertionFailure() << "is far from the exact number";
    }
  } catch (const Undecided&) {
    return testing::AssertionFailure() << "is too wide";
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult encloses(const Fast& enclosure, const Rational& exact) {
  return encloses(enclosure, Fast(exact));
}

testing::AssertionResult encloses(const Fast& enclosure, oracle::Number exact) {
  Fast reference;
  for (int part = 0; part < 3; ++part) {
    const double piece = exact.nearest();
    reference = reference + Fast(piece);
    exact = exact - oracle::Number(piece);
  }
  return encloses(enclosure, reference);
}

double log_uniform(std::mt19937_64& engine, double low, double high) {
  return std::exp2(std::uniform_real_distribution<double>(low, high)(engine));
}

TEST(Certified, FastEnclosesTheElementaryFunctions) {
  std::mt19937_64 engine(1);
  const auto check = [](const char* name, const Fast& value, const oracle::Number& exact, double x) {
    ASSERT_TRUE(encloses(value, exact)) << name << "(" << x << ")";
  };
  for (int i = 0; i < 3000; ++i) {
    const double magnitude = log_uniform(engine, -60, 6.9);
    for (const double x : {magnitude, -magnitude}) {
      const oracle::Number exact(x);
      check("exp", exp(Fast(x)), oracle::Number::unary(mpfr_exp, exact), x);
      if (x > -60) check("expm1", expm1(Fast(x)), oracle::Number::unary(mpfr_expm1, exact), x);
      if (x > -1) check("log1p", log1p(Fast(x)), oracle::Number::unary(mpfr_log1p, exact), x);
    }
    const double y = log_uniform(engine, -390, 390);
    check("log", log(Fast(y)), oracle::Number::unary(mpfr_log, oracle::Number(y)), y);
    const double near_one = 1 + (i % 2 ? 1 : -1) * log_uniform(engine, -52, -1);
    check("log", log(Fast(near_one)), oracle::Number::unary(mpfr_log, oracle::Number(near_one)), near_one);
    check("sqrt", sqrt(Fast(y)), oracle::Number::unary(mpfr_sqrt, oracle::Number(y)), y);
  }
}

// e^a is put together from 2^n, 2^(i/256) and a rest of at most ln 2 / 512: where the rest is largest, where it vanishes,
// and where it is tiny, with a low part or without.
TEST(Certified, FastEnclosesExponentialsWhereTheirTableChanges) {
  std::mt19937_64 engine(4);
  const double half_step = std::log(2) / 512;
  for (int i = -4000; i <= 4000; ++i) {
    const double near = (i % 5 == 0 ? 33 * i : i) * half_step;
    const double hi = near + near * static_cast<double>(static_cast<int>(engine() % 9) - 4) * 0x1p-52;
    const double lo =
        i % 3 == 0 ? 0.0 : hi * 0x1p-55 * (1 + std::ldexp(static_cast<double>(engine() >> 12), -52));
    const Fast x = Fast(hi) + Fast(lo);
    const oracle::Number exact = oracle::Number(hi) + oracle::Number(lo);
    ASSERT_TRUE(encloses(exp(x), oracle::Number::unary(mpfr_exp, exact))) << hi << " " << lo;
    if (hi > -60) {
      ASSERT_TRUE(encloses(expm1(x), oracle::Number::unary(mpfr_expm1, exact))) << hi << " " << lo;
    }
    if (hi > -0.999) {
      ASSERT_TRUE(encloses(log1p(x), oracle::Number::unary(mpfr_log1p, exact))) << hi << " " << lo;
    }
  }
}

TEST(Certified, FastEnclosesArithmetic) {
  std::mt19937_64 engine(2);
  for (int i = 0; i < 20000; ++i) {
    // Double-doubles with unrelated low parts, and doubles.
    const auto operand = [&] {
      Rational q(std::ldexp(static_cast<double>(static_cast<std::int64_t>(engine())),
                            static_cast<int>(engine() % 40) - 60));
      if (engine() % 2) q += Rational(std::ldexp(static_cast<double>(engine() % 1000), -150));
      if (q == 0) q = 1;
      return q;
    };
    const Rational a = operand();
    const Rational b = operand();
    const Fast fa(a);
    const Fast fb(b);
    ASSERT_TRUE(encloses(fa * fb, a * b));
    ASSERT_TRUE(encloses(fa / fb, a / b));
    ASSERT_TRUE(encloses(fa * fa + fb * fb, a * a + b * b));
    // A difference may cancel: containment only.
    try {
      const Rational exact = a - b;
      ASSERT_EQ(sign(fa - fb - Fast(exact)), 0);
    } catch (const Undecided&) {
    }
    ASSERT_TRUE(encloses(Fast(Rational(a / b)), a / b));
    ASSERT_TRUE(encloses(fa + Fast(floor(Rational(b))), a + floor(Rational(b)))) << a << " " << b;
  }
}

TEST(Certified, ExactOperandsStayExact) {
  EXPECT_EQ(sign(Fast(0.5) + Fast(0.25) - Fast(0.75)), 0);
  EXPECT_EQ(sign(exp(Fast(0.0)) - Fast(1.0)), 0);
  EXPECT_EQ(round_nearest(exp(Fast(0.0)), 0), 1.0);
  EXPECT_EQ(round_up(Fast(Rational(3, 8)), 3), 3.0);
  EXPECT_EQ(round_up(floor(Fast(-2.5)), 0), -3.0);
  EXPECT_EQ(round_up(floor(Fast(0x1p70) + Fast(-0.25)), -70), 1.0);
  EXPECT_EQ(round_down(floor(Fast(0x1p70) + Fast(-0.25)), -70), std::nextafter(1.0, 0.0));
  EXPECT_EQ(round_up(Fast(1.0) + Fast(0x1p-80), 0), 1 + 0x1p-52);
  EXPECT_EQ(round_up(Fast(1.0) + Fast(-0x1p-80), 0), 1.0);
  EXPECT_EQ(round_down(Fast(1.0) + Fast(-0x1p-80), 0), 1 - 0x1p-53);
  EXPECT_FALSE(std::signbit(round_nearest(Fast(-0.0), 0)));
}

TEST(Certified, FastRefusesWhatItCannotDecide) {
  EXPECT_THROW(sign(exp(Fast(1.0)) / exp(Fast(1.0)) - Fast(1.0)), Undecided);
  EXPECT_THROW(floor(exp(log(Fast(3.0)))), Undecided);
  EXPECT_THROW(Fast(0x1p401), Undecided);
  EXPECT_THROW(Fast(std::nan("")), Undecided);
  EXPECT_THROW(Fast(0x1p300) * Fast(0x1p200), Undecided);
  EXPECT_THROW(Fast(0x1p-300) * Fast(0x1p-200), Undecided);
  EXPECT_THROW(Fast(1.0) / (exp(Fast(1.0)) - exp(Fast(1.0))), Undecided);
  EXPECT_THROW(exp(Fast(300.0)), Undecided);
  EXPECT_THROW(log(Fast(-1.0)), Undecided);
  EXPECT_THROW(round_nearest(Fast(1.0), -1074), Undecided);
}

// Both number types give the same correctly rounded result, and Wide takes over when Fast cannot.
TEST(Certified, FastAndWideAgreeToTheBit) {
  std::mt19937_64 engine(3);
  const Wide::Precision precision(160, false);
  for (int i = 0; i < 2000; ++i) {
    const double x = log_uniform(engine, -40, 7);
    const double y = log_uniform(engine, -40, 7);
    const auto formula = [&](auto zero) {
      using Real = decltype(zero);
      const Real a(x);
      const Real b(y);
      return sqrt(log1p(a) / b) + expm1(-a) * exp(-b) - log(a + b) * Real(Rational(1, 3));
    };
    ASSERT_EQ(round_nearest(formula(Fast()), 5), round_nearest(formula(Wide()), 5)) << x << " " << y;
    ASSERT_EQ(round_up(formula(Fast()), -5), round_up(formula(Wide()), -5)) << x << " " << y;
    ASSERT_EQ(round_down(formula(Fast()), 0), round_down(formula(Wide()), 0)) << x << " " << y;
  }
  // Far outside the range of Fast, and a result that is exactly zero.
  EXPECT_EQ(certify([](auto zero) {
              using Real = decltype(zero);
              return round_nearest(log(Real::scaled(1.0, 5000)) / log(Real::scaled(1.0, 2500)), 0);
            }),
            2.0);
  EXPECT_EQ(certify([](auto zero) {
              using Real = decltype(zero);
              return sign(log(Real(4.0)) - ldexp(log(Real(2.0)), 1));
            }),
            0);
}

// The caller's rounding mode changes nothing.
TEST(Certified, IgnoresTheCallersRoundingMode) {
  const auto formula = [](auto zero) {
    using Real = decltype(zero);
    return round_up(log(Real(Rational(1, 20))), 0);
  };
  const double expected = certify(formula);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const double result = certify(formula);
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(result, expected);
    EXPECT_EQ(after, mode);
  }
}

TEST(Certified, EndsAreFractionsOfASizeThatFits) {
  const Wide::Precision precision(160, false);
  const Wide third = Wide(1.0) / Wide(3.0);
  EXPECT_LT(lower_end(third), Rational(1, 3));
  EXPECT_GT(upper_end(third), Rational(1, 3));
  // e^-10^8 as it stands would have some 10^8 binary places.
  const Wide tiny = exp(Wide(-1e8));
  EXPECT_EQ(lower_end(tiny), 0);
  EXPECT_EQ(upper_end(tiny), Rational(1) / Rational(Integer(1) << 65536));
  EXPECT_EQ(lower_end(-tiny), -upper_end(tiny));
  EXPECT_EQ(upper_end(-tiny), 0);
  EXPECT_THROW(upper_end(exp(Wide(1e8))), Undecided);
  EXPECT_THROW(upper_end(exp(Wide(1e30))), Undecided);
}

// What even the last attempt leaves open is an Error, and no exception of another kind.
TEST(Certified, RefusesWhatNothingDecides) {
  EXPECT_THROW(certify([](auto zero) {
                 using Real = decltype(zero);
                 return round_up(log(exp(Real(-1e300))), 0);
               }),
               Error);
}

}  // namespace
}  // namespace snapdp::numeric_internal::certified
