#include "snapdp/numeric/grid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "snapdp/error.h"

namespace snapdp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Grid, SmallestPowerOfTwoAtLeast) {
  EXPECT_EQ(Grid::at_least(Rational(1)).exponent(), 0);
  EXPECT_EQ(Grid::at_least(Rational(2)).exponent(), 1);
  EXPECT_EQ(Grid::at_least(Rational(std::nextafter(2.0, infinity))).exponent(), 2);
  EXPECT_EQ(Grid::at_least(Rational(std::nextafter(2.0, 0.0))).exponent(), 1);
  EXPECT_EQ(Grid::at_least(Rational(std::numeric_limits<double>::denorm_min())).exponent(), -1074);
  EXPECT_EQ(Grid::at_least(Rational(3 * std::numeric_limits<double>::denorm_min())).exponent(), -1072);
  EXPECT_EQ(Grid::at_least(Rational(1, 3)).exponent(), -1);
  EXPECT_EQ(Grid::at_most(Rational(1, 3)).exponent(), -2);
  EXPECT_EQ(Grid::at_most(Rational(4)).exponent(), 2);
  EXPECT_THROW(Grid::at_least(Rational(0)), Error);
}

TEST(Grid, RoundsTiesTowardsPlusInfinityAndCarries) {
  const Grid unit(0);
  const auto index = [&](double x) { return unit.index(Dyadic(x)).get_si(); };
  EXPECT_EQ(index(-1.5), -1);
  EXPECT_EQ(index(-0.5), 0);
  EXPECT_EQ(index(0.5), 1);
  EXPECT_EQ(index(1.5), 2);
  EXPECT_EQ(index(3.5), 4);
  EXPECT_EQ(index(std::nextafter(-0.5, -1.0)), -1);
  EXPECT_EQ(index(std::nextafter(-0.5, 0.0)), 0);
  EXPECT_EQ(index(std::nextafter(0.5, 0.0)), 0);
  EXPECT_EQ(index(0x1p60 + 0x1p10), (1L << 60) + (1L << 10));
  EXPECT_EQ(Grid(1000).index(Dyadic(std::numeric_limits<double>::denorm_min())), 0);
  EXPECT_EQ(Grid(1000).index(Dyadic(-0x1p999)), 0);
  EXPECT_EQ(Grid(-1074).index(Dyadic(0x1p1023)), Integer(1) << 2097);
}

TEST(Grid, AgreesWithItsDefinitionOnRationals) {
  std::mt19937_64 engine(7);
  for (int i = 0; i < 5000; ++i) {
    const double x = std::ldexp(static_cast<double>(static_cast<std::int64_t>(engine())),
                                -60 + static_cast<int>(engine() % 20));
    const Grid grid(static_cast<long>(engine() % 20) - 10);
    ASSERT_EQ(grid.index(Dyadic(x)), grid.index(Rational(x)));
    const Rational rounded = grid.round(Dyadic(x)).rational();
    const Rational error = rounded - Rational(x);
    const Rational half = grid.spacing().rational() / 2;
    ASSERT_LE(error, half);
    ASSERT_GT(error, -half);
    const Rational up = grid.round_up(Rational(x)).rational();
    ASSERT_GE(up, Rational(x));
    ASSERT_LT(up - grid.spacing().rational(), Rational(x));
  }
}

// The property the tie rule exists for: rounding never separates two numbers by more than their distance raised to
// the grid. Ties-to-even and ties-away both fail it.
TEST(Grid, RoundingKeepsDistancesUpToTheGrid) {
  const Grid unit(0);
  for (int a = -40; a <= 40; ++a) {
    for (int b = -40; b <= 40; ++b) {
      const Rational x(a, 8);
      const Rational y(b, 8);
      const Integer apart = abs(unit.index(x) - unit.index(y));
      ASSERT_LE(apart, ceil(Rational(abs(Rational(x - y))))) << a << " " << b;
    }
  }
}

TEST(Dyadic, ArithmeticIsExactAndFieldsAreCanonical) {
  EXPECT_EQ(Dyadic(0.5) + Dyadic(0.5), Dyadic(1));
  EXPECT_EQ(Dyadic(12).mantissa(), 3);
  EXPECT_EQ(Dyadic(12).exponent(), 2);
  EXPECT_EQ(Dyadic(-0.0), Dyadic(0));
  EXPECT_LT(Dyadic(-1), Dyadic(0x1p-1074));
  EXPECT_EQ(Dyadic(0x1p1000) * Dyadic(0x1p-1000), Dyadic(1));
  EXPECT_TRUE(Dyadic(std::numeric_limits<std::int64_t>::min()).is_int64());
  EXPECT_FALSE((Dyadic(std::numeric_limits<std::int64_t>::max()) + Dyadic(1)).is_int64());
  EXPECT_FALSE((Dyadic(1) + Dyadic(0x1p-60)).is_double());
  EXPECT_TRUE(Dyadic(0x1.fffffffffffffp+1023).is_double());
  EXPECT_FALSE(Dyadic(Integer(1), 1024).is_double());
  EXPECT_EQ((Dyadic(1) + Dyadic(0x1p-60)).to_double_up(), 1 + 0x1p-52);
  EXPECT_EQ((Dyadic(1) + Dyadic(0x1p-60)).to_double_down(), 1.0);
  EXPECT_EQ(Dyadic(0.1).to_double_nearest(), 0.1);
  EXPECT_THROW(Dyadic(std::nan("")), Error);
  EXPECT_EQ(to_dyadic(Rational(3, 8), "x"), Dyadic(0.375));
  EXPECT_THROW(to_dyadic(Rational(1, 10), "x"), Error);
}

}  // namespace
}  // namespace snapdp
