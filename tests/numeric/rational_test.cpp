#include "snapdp/numeric/rational.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "snapdp/error.h"
#include "snapdp/numeric/dyadic.h"

namespace snapdp {
namespace {

TEST(ParseRational, ReadsExactlyWhatIsWritten) {
  EXPECT_EQ(parse_rational("0.1", "epsilon"), Rational(1, 10));
  EXPECT_EQ(parse_rational("1/4", "epsilon"), Rational(1, 4));
  EXPECT_EQ(parse_rational("1e-3", "epsilon"), Rational(1, 1000));
  EXPECT_EQ(parse_rational("-2.50E+1", "epsilon"), Rational(-25));
  EXPECT_EQ(parse_rational("1_000", "epsilon"), Rational(1000));
  EXPECT_EQ(parse_rational("0x1.8p-3", "epsilon"), Rational(3, 16));
  EXPECT_EQ(parse_rational(" 7 ", "epsilon"), Rational(7));
  EXPECT_EQ(parse_rational("0.5/1.5", "epsilon"), Rational(1, 3));
  EXPECT_EQ(parse_rational("1e400", "epsilon").get_num(),
            parse_rational("1" + std::string("e400"), "x").get_num());
}

TEST(ParseRational, RefusesWhatIsNotANumberNamingTheParameter) {
  for (const char* text : {"", "abc", "1/0", "nan", "inf", "1e", "1e5x", "--1", "0x", "1__0", "_1", "1e401",
                           "1e-401", "1e99999999999999999999", ".", "1/2/3"}) {
    try {
      parse_rational(text, "epsilon");
      FAIL() << "accepted " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.parameter(), "epsilon");
      EXPECT_THAT(error.what(), testing::HasSubstr("epsilon"));
    }
  }
  EXPECT_THROW(parse_rational(std::string(101, '1'), "epsilon"), Error);
  EXPECT_NO_THROW(parse_rational(std::string(100, '1'), "epsilon"));
}

TEST(ParseExact, ReadsBackWhatIsWrittenWhateverItsLength) {
  std::mt19937_64 engine(7);
  for (const unsigned long digits : {1UL, 99UL, 101UL, 400UL, 1024UL, 5000UL, 9000UL}) {
    for (int i = 0; i < 30; ++i) {
      Integer numerator;
      Integer denominator;
      mpz_ui_pow_ui(numerator.get_mpz_t(), 10, digits);
      mpz_ui_pow_ui(denominator.get_mpz_t(), static_cast<unsigned long>(i % 3 == 0 ? 10 : 2), digits);
      numerator += static_cast<unsigned long>(engine());
      denominator += static_cast<unsigned long>(i % 3 == 2 ? engine() : 0);
      for (const Rational& value : {Rational(numerator, denominator), Rational(denominator, numerator)}) {
        Rational canonical = i % 2 == 0 ? value : Rational(-value);
        canonical.canonicalize();
        EXPECT_EQ(parse_exact(to_string(canonical), "number"), canonical);
      }
    }
  }
  EXPECT_EQ(parse_exact("1e8000", "number").get_num().get_str().size(), 8001U);
  for (const std::string& text :
       {std::string(65'537, '1'), std::string("1e8193"), std::string("1e-99999999999999999999"),
        std::string("nan"), std::string("null"), std::string("")}) {
    EXPECT_THROW(parse_exact(text, "number"), Error) << text.substr(0, 40);
  }
  // People still get the limits for people.
  EXPECT_THROW(parse_rational(to_string(Rational(Integer(1), parse_rational("1e101", "").get_num() + 1)), ""),
               Error);
}

TEST(ShortestDecimal, ADoubleMeansWhatItsAuthorTyped) {
  EXPECT_EQ(shortest_decimal(0.1, "epsilon"), Rational(1, 10));
  EXPECT_EQ(shortest_decimal(1e-7, "epsilon"), Rational(1, 10000000));
  EXPECT_NE(exact_rational(0.1, "epsilon"), Rational(1, 10));
  EXPECT_THROW(shortest_decimal(std::nan(""), "epsilon"), Error);
  EXPECT_THROW(exact_rational(HUGE_VAL, "epsilon"), Error);
}

TEST(DirectedRounding, BracketsEveryRationalWithAdjacentDoubles) {
  std::mt19937_64 engine(1);
  for (int i = 0; i < 20000; ++i) {
    Integer numerator = static_cast<unsigned long>(engine());
    Integer denominator = static_cast<unsigned long>(engine() | 1);
    const unsigned long shift = engine() % 1200;
    if (i % 2 != 0) {
      numerator <<= shift;
    } else {
      denominator <<= shift;
    }
    Rational value(numerator, denominator);
    value.canonicalize();
    if (i % 3 == 0) value = -value;
    const double down = to_double_down(value);
    const double up = to_double_up(value);
    if (std::isinf(up) || std::isinf(down)) {
      ASSERT_GT(abs(value), Rational(std::numeric_limits<double>::max()));
      continue;
    }
    ASSERT_LE(Rational(down), value);
    ASSERT_GE(Rational(up), value);
    ASSERT_TRUE(down == up || std::nextafter(down, HUGE_VAL) == up);
    const double nearest = to_double_nearest(value);
    ASSERT_TRUE(nearest == down || nearest == up);
    ASSERT_LE(abs(Rational(nearest) - value), abs(Rational(down) - value));
    ASSERT_LE(abs(Rational(nearest) - value), abs(Rational(up) - value));
  }
}

TEST(DirectedRounding, AtTheEdgesOfTheDoubleRange) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(to_double_down(Rational(tiny) / 3), 0.0);
  EXPECT_EQ(to_double_up(Rational(tiny) / 3), tiny);
  EXPECT_EQ(to_double_nearest(Rational(tiny) / 2), 0.0);
  EXPECT_EQ(to_double_nearest(Rational(tiny) * Rational(3, 2)), 2 * tiny);
  EXPECT_EQ(to_double_down(Rational(tiny) * Rational(7, 2)), 3 * tiny);
  EXPECT_FALSE(std::signbit(to_double_nearest(-Rational(tiny) / 2)));
  const Rational huge = Rational(std::numeric_limits<double>::max()) * 3;
  EXPECT_EQ(to_double_down(huge), std::numeric_limits<double>::max());
  EXPECT_EQ(to_double_up(huge), HUGE_VAL);
  EXPECT_EQ(to_double_nearest(huge), HUGE_VAL);
  EXPECT_EQ(to_double_down(-huge), -HUGE_VAL);
  EXPECT_EQ(to_double_up(-huge), -std::numeric_limits<double>::max());
  // Ties to even.
  EXPECT_EQ(to_double_nearest(Rational(1) + Rational(0x1p-53)), 1.0);
  EXPECT_EQ(to_double_nearest(Rational(1) + 3 * Rational(0x1p-53)), 1.0 + 0x1p-51);
}

TEST(Rational, ADoubleThatIsNoNumberIsAnErrorAndNoSignal) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(Rational{value}, Error);
    EXPECT_THROW(Rational{static_cast<float>(value)}, Error);
    Rational assigned;
    EXPECT_THROW(assigned = value, Error);
    EXPECT_THROW([](const Rational& taken) { return taken; }(value), Error);
  }
  EXPECT_EQ(Rational(0x1p-1074), Rational(1, Integer(1) << 1074));
}

TEST(ParseRational, TakesOneSignOfTheExponent) {
  EXPECT_EQ(parse_rational("1e+2", "x"), 100);
  for (const char* text : {"1e+-2", "1e+", "1e-+2", "0x1p+-3", "1e--2", "1e++2"}) {
    EXPECT_THROW(parse_rational(text, "x"), Error) << text;
  }
}

TEST(ParseRational, MessagesHoldNothingThatATerminalObeys) {
  try {
    parse_rational("1\x1b[2J\x7f\n", "x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find_first_of("\x1b\x7f\n"), std::string::npos) << error.what();
  }
}

TEST(ToString, PrintsWhatReadsBackExactly) {
  EXPECT_EQ(to_string(Rational(1, 10)), "0.1");
  EXPECT_EQ(to_string(Rational(1, 3)), "1/3");
  EXPECT_EQ(to_string(Rational(-1500)), "-1500");
  EXPECT_EQ(to_string(Rational(0)), "0");
  EXPECT_EQ(to_string(Rational(1, 1000)), "0.001");
  EXPECT_EQ(to_string(Rational(25, 2)), "12.5");
  EXPECT_EQ(to_string(Dyadic(0x1p-20)), "0.00000095367431640625");
  EXPECT_EQ(to_string(0.1), "0.1");
  EXPECT_EQ(to_hex(12.0), "0x1.8000000000000p+3");
  EXPECT_EQ(to_hex(-0.0), "-0x0.0p+0");
  std::mt19937_64 engine(2);
  for (int i = 0; i < 2000; ++i) {
    Rational value(Integer(static_cast<unsigned long>(engine())),
                   Integer(static_cast<unsigned long>(engine() % 5000 + 1)));
    value.canonicalize();
    ASSERT_EQ(parse_rational(to_string(value), "x"), value);
    const Rational dyadic(std::ldexp(static_cast<double>(engine()), static_cast<int>(engine() % 200) - 150));
    ASSERT_EQ(parse_rational(to_string(dyadic), "x"), dyadic) << to_string(dyadic);
  }
}

}  // namespace
}  // namespace snapdp
