// docs/errata.md, sections 2 to 5 of Covington's notes: grids, rounding, noise and its precision.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>

#include "errata/finite_snapping.h"
#include "mechanism/law_oracle.h"
#include "snapdp/error.h"
#include "snapdp/numeric/grid.h"
#include "snapdp/numeric/rational.h"

namespace snapdp::errata {
namespace {

using oracle::Number;

// lambda' of the notes without any rounding, for sensitivity 1.
Rational reduced_scale(const Rational& epsilon, const Rational& bound, long precision) {
  const Rational eta = power_of_two(-precision);
  return (1 + 12 * bound * eta) / (epsilon - 2 * eta);
}

TEST(Errata, GridOfTheRequestedScale) {
  const Rational scale = reduced_scale(1, 10, 118);
  const Rational half_grid = Grid::at_least(1).spacing().rational() / 2;  // of lambda = 1 / epsilon
  EXPECT_FALSE(scale / 2 <= half_grid);
  const Rational half_reduced_grid = Grid::at_least(scale).spacing().rational() / 2;
  EXPECT_LE(scale / 2, half_reduced_grid);
  EXPECT_LT(half_reduced_grid, scale);
  EXPECT_EQ(half_reduced_grid, 1);
}

TEST(Errata, GridsMayCoincide) {
  const Rational epsilon(3, 4);
  EXPECT_EQ(Grid::at_least(1 / epsilon), Grid::at_least(reduced_scale(epsilon, 10, 118)));
}

TEST(Errata, UniformMustCarryThePrecision) {
  const Rational boundary = 9;  // half a grid step of 2 below the bound 10
  const Rational y(-0x1.bc40f964p+1);
  const auto excess = [&](unsigned uniform_bits) {
    return FiniteSnapping::of_notes(1, 10, 118, uniform_bits).loss(boundary, y, y - 1) - Number(1.0);
  };
  EXPECT_GT(excess(53), Number(power_of_two(-53)));
  EXPECT_LE(excess(118), Number(0.0));
}

// x is a worst case for doubles (Lefevre and Muller, Worst Cases for Correct Rounding of the Elementary Functions in Double
// Precision, 2003): the 53 leading bits of ln x are followed by 64 zeros.
TEST(Errata, BitsToRoundTheLogarithm) {
  const auto logarithm = [](const Rational& x, unsigned bits) {
    const Float argument = [&] {
      Float value(400);
      mpfr_set_q(value.get(), x.get_mpq_t(), MPFR_RNDN);
      return value;
    }();
    Float result(bits);
    mpfr_log(result.get(), argument.get(), MPFR_RNDN);
    return result.rational();
  };
  const Rational x(0x1.62a88613629b6p+678);
  EXPECT_EQ(logarithm(x, 116), logarithm(x, 53));  // so which side of a double ln x lies on is not decided
  EXPECT_NE(logarithm(x, 118), logarithm(x, 53));

  // The same question for a U* of 118 bits: every working precision up to 235 bits rounds the wrong way.
  const Rational u = 1 - power_of_two(-117);
  const Rational right = logarithm(u, 118);
  for (unsigned bits = 119; bits <= 235; ++bits) {
    EXPECT_NE(rounded(logarithm(u, bits), 118, MPFR_RNDN), right) << bits;
  }
  EXPECT_EQ(rounded(logarithm(u, 236), 118, MPFR_RNDN), right);
}

TEST(Errata, ExponentStartsAtOne) {
  // U* = 1.m 2^-e is uniform on (0, 2^(1 - first)). P(S ln U >= t) for t >= 0, and then for every t.
  const auto tail = [](const Rational& t, bool from_zero) {
    const Number one(1.0);
    const Rational distance = abs(t);
    const Number far = oracle::exp(Number(Rational(-distance)));
    Number mass = far;
    if (from_zero) {
      const Number beyond =
          Number(2.0) - oracle::exp(Number(distance));  // U above e^t, where ln U is positive
      mass = (far + (beyond > Number(0.0) ? beyond : Number(0.0))) * Number(0.5);
    }
    return t >= 0 ? mass * Number(0.5) : one - mass * Number(0.5);
  };
  // P(out = 1) on the grid 1 at y = -0.19 and at y = 0.81.
  const auto ratio = [&](bool from_zero) {
    const Rational y(-19, 100);
    const auto bin = [&](const Rational& at) {
      return tail(Rational(1, 2) - at, from_zero) - tail(Rational(3, 2) - at, from_zero);
    };
    return bin(y + 1) / bin(y);
  };
  EXPECT_GT(ratio(true), Number(6.5));  // e^1.87
  EXPECT_LE(ratio(false), oracle::exp(Number(1.0)));
}

TEST(Errata, NearestToTheLogarithm) {
  // The neighbors a < ln x < b of a logarithm: the nearer one to x is always b, when x > ln x, and often wrong.
  int b_is_nearest = 0;
  int a_is_nearest = 0;
  for (int i = 1; i < 100; ++i) {
    const double x = i / 100.0;
    Float argument(53);
    mpfr_set_d(argument.get(), x, MPFR_RNDN);
    Float a(53);
    Float b(53);
    Float nearest(53);
    mpfr_log(a.get(), argument.get(), MPFR_RNDD);
    mpfr_log(b.get(), argument.get(), MPFR_RNDU);
    mpfr_log(nearest.get(), argument.get(), MPFR_RNDN);
    EXPECT_GT(abs(Rational(a.rational() - Rational(x))), abs(Rational(b.rational() - Rational(x))));
    ++(nearest.rational() == b.rational() ? b_is_nearest : a_is_nearest);
  }
  EXPECT_GT(a_is_nearest, 20);
  EXPECT_GT(b_is_nearest, 20);
}

struct Fields {
  bool negative;
  int exponent;            // the eleven bits
  std::uint64_t mantissa;  // m_1 is bit 51
};

constexpr std::uint64_t all_ones = (std::uint64_t{1} << 52) - 1;

Fields fields(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return {bits >> 63 != 0, static_cast<int>((bits >> 52) & 2047), bits & all_ones};
}

double from_fields(const Fields& f) {
  return std::bit_cast<double>((std::uint64_t{f.negative} << 63) |
                               (static_cast<std::uint64_t>(f.exponent) << 52) | f.mantissa);
}

// Formula (4.1).
double smallest_power_of_two(double scale) {
  Fields f = fields(scale);
  if (f.mantissa == 0) return scale;
  f.mantissa = 0;
  ++f.exponent;
  return from_fields(f);
}

TEST(Errata, PowerOfTwoOfASubnormalScale) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (const double normal : {1.0, 0x1.0000000000001p0, 3.0, 0x1p-1022, 0x1.8p-1022}) {
    EXPECT_EQ(Dyadic(smallest_power_of_two(normal)), Grid::at_least(Rational(normal)).spacing());
  }
  EXPECT_EQ(Grid::at_least(Rational(tiny)), Grid(-1074));
  EXPECT_EQ(smallest_power_of_two(tiny), 0x1p-1022);
  EXPECT_EQ(Grid::at_least(Rational(3 * tiny)), Grid(-1072));
  EXPECT_EQ(smallest_power_of_two(3 * tiny), 0x1p-1022);
  EXPECT_EQ(Grid::at_least(Rational(0x1.8p1023)), Grid(1024));  // exists, but is no double
  EXPECT_TRUE(std::isinf(smallest_power_of_two(0x1.8p1023)));
}

// Section 4.2.1: the quotient by 2^m, by subtracting m from the exponent's eleven bits.
double quotient(double x, int m) {
  Fields f = fields(x);
  f.exponent = (f.exponent - m) & 2047;
  return from_fields(f);
}

TEST(Errata, QuotientMayBeSubnormal) {
  EXPECT_EQ(quotient(3.0, 1), 1.5);
  // 2^-1000 / 2^100 rounds to the grid point 0; the eleven bits of the quotient's exponent have wrapped around.
  EXPECT_EQ(Grid(100).index(Dyadic(0x1p-1000)), 0);
  EXPECT_GT(quotient(0x1p-1000, 100), 0x1p900);
  // 2^1000 / 2^-100 is an integer of 1101 bits.
  EXPECT_EQ(Grid(-100).index(Dyadic(0x1p1000)), Integer(Integer(1) << 1100));
  EXPECT_LT(quotient(0x1p1000, -100), 1.0);
}

// Section 4.2.2, cases 1 to 4, to the letter, or with either of its two corrections.
double round_to_integer(double x, bool carry_corrected, bool ties_corrected) {
  Fields f = fields(x);
  const int y = f.exponent - 1023;
  if (y >= 52) return x;
  const std::uint64_t fraction = y < 0 ? 0 : f.mantissa & (all_ones >> y);
  if (ties_corrected && f.negative && y >= -1) {
    // Rounding up means away from zero; a negative tie goes the other way.
    const bool tie = y == -1 ? f.mantissa == 0 : fraction == std::uint64_t{1} << (51 - y);
    if (tie) return std::trunc(x) + 0.0;
  }
  if (y == -1) return f.negative ? -1 : 1;
  if (y < -1) return 0;
  const int places = 52 - y;  // of the fraction
  const std::uint64_t integral = f.mantissa >> places;
  if ((f.mantissa >> (places - 1) & 1) == 0) {
    f.mantissa = integral << places;
    return from_fields(f);
  }
  const std::uint64_t ones = (std::uint64_t{1} << y) - 1;
  if (carry_corrected ? integral == ones : f.mantissa == all_ones) {
    f.mantissa = 0;
    ++f.exponent;
  } else {
    f.mantissa = ((integral + 1) & ones) << places;  // (m'_1 ... m'_y) has y places
  }
  return from_fields(f);
}

TEST(Errata, NegativeTiesGoUp) {
  EXPECT_EQ(round_to_integer(-0.5, false, false), -1);
  EXPECT_EQ(Grid(0).index(Dyadic(-0.5)), 0);
  EXPECT_EQ(round_to_integer(-2.5, false, false), -3);
  EXPECT_EQ(Grid(0).index(Dyadic(-2.5)), -2);
  EXPECT_EQ(round_to_integer(-1.5, true, false), -2);
  EXPECT_EQ(Grid(0).index(Dyadic(-1.5)), -1);
  // Why it matters: -0.5 and 0.5 are at distance 1, rounded to the letter at distance 2.
  EXPECT_EQ(round_to_integer(0.5, false, false), 1);
}

TEST(Errata, CarryStopsAtThePoint) {
  EXPECT_EQ(round_to_integer(3.5, false, false), 2);
  EXPECT_EQ(Grid(0).index(Dyadic(3.5)), 4);
  EXPECT_EQ(round_to_integer(1.5, false, false), 1);
  EXPECT_EQ(Grid(0).index(Dyadic(1.5)), 2);
  // With both corrections the formula is the definition of section 2.2.
  for (int quarters = -64; quarters <= 64; ++quarters) {
    const double x = quarters / 4.0;
    EXPECT_EQ(Grid(0).round(Dyadic(x)), Dyadic(round_to_integer(x, true, true))) << x;
  }
  std::mt19937_64 engine(1);
  for (int i = 0; i < 10000; ++i) {
    Fields f{(engine() & 1) != 0, 1020 + static_cast<int>(engine() % 56), engine() & all_ones};
    if (i % 2 == 0) f.mantissa |= all_ones >> (engine() % 52);
    const double x = from_fields(f);
    ASSERT_EQ(Grid(0).round(Dyadic(x)), Dyadic(round_to_integer(x, true, true))) << to_hex(x);
  }
}

TEST(Errata, ClaimNeedsScaleBelowBound) {
  const auto excess = [](const Rational& bound, const Rational& boundary, const Rational& y) {
    const Rational epsilon(1, 100);
    return FiniteSnapping::of_notes(epsilon, bound, 53, 53).loss(boundary, y, y - 1) - Number(epsilon);
  };
  // lambda' is 100 and the grid 128; the three possible outputs are -1, 0 and 1, the last one from 64 up.
  EXPECT_GT(excess(1, 64, Rational(116449718973549) * power_of_two(-52)), Number(power_of_two(-54)));
  // With B = 200 > lambda' the same claim holds, here by a wide margin.
  std::mt19937_64 engine(1);
  for (int i = 0; i < 300; ++i) {
    const Rational y(std::ldexp(static_cast<double>(engine() >> 11), -45) - 128);
    ASSERT_LE(excess(200, 192, y), Number(0.0));
  }
}

TEST(Errata, LeastPrecisionIsUseless) {
  // m and p of section 5 for an epsilon just above 2^-120.
  const Rational epsilon = power_of_two(-120) * (1 + power_of_two(-40));
  const long m = -Grid::at_least(epsilon).exponent();
  const long p = m + 2;
  EXPECT_EQ(p, 121);
  const Rational reduced = 1 / reduced_scale(epsilon, 0, p);
  EXPECT_GT(reduced, 0);
  EXPECT_LT(reduced, epsilon * power_of_two(-39));
  // Eight more bits make epsilon' nearly epsilon.
  EXPECT_GT(1 / reduced_scale(epsilon, 0, p + 8), epsilon * Rational(99, 100));
  // lambda' = (1 + 12 B eta) / (epsilon - 2 eta) exceeds every B unless epsilon > 14 eta, but p gives epsilon <= 4 eta.
  const Rational eta = power_of_two(-p);
  EXPECT_LE(power_of_two(-m), 4 * eta);
  EXPECT_FALSE(12 * eta / (power_of_two(-m) - 2 * eta) < 1);
  for (const long bits : {1, 40, 160, 1000}) {
    EXPECT_GT(reduced_scale(power_of_two(-m), power_of_two(bits), p), power_of_two(bits));
  }
}

}  // namespace
}  // namespace snapdp::errata
