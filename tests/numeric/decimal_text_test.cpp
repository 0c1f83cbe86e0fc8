#include <gtest/gtest.h>

#include "snapdp/numeric/rational.h"

namespace snapdp {
namespace {

Rational number(const std::string& text) {
  return parse_rational(text, "number");
}

TEST(Numbers, AreRoundedUpToSignificantDigits) {
  EXPECT_EQ(round_up_to_digits(number("0.12345"), 3), "0.124");
  EXPECT_EQ(round_up_to_digits(number("12345"), 3), "12400");
  EXPECT_EQ(round_up_to_digits(number("12.3"), 3), "12.3");
  EXPECT_EQ(round_up_to_digits(number("12.300000001"), 3), "12.4");
  EXPECT_EQ(round_up_to_digits(number("0.5"), 3), "0.5");
  EXPECT_EQ(round_up_to_digits(number("99.91"), 3), "100");
  EXPECT_EQ(round_up_to_digits(number("1e-9"), 3), "1e-9");
  EXPECT_EQ(round_up_to_digits(number("1.2341e+25"), 3), "1.24e+25");
  EXPECT_EQ(round_up_to_digits(number("1/3"), 5), "0.33334");
  EXPECT_EQ(round_up_to_digits(number("0"), 3), "0");
  EXPECT_EQ(round_up_to_digits(number("1e400"), 3), "1e+400");
}

// What remains is never shown as more than it is, and what is spent never as less.
TEST(Numbers, AreRoundedDownToSignificantDigits) {
  EXPECT_EQ(round_down_to_digits(number("0.12345"), 3), "0.123");
  EXPECT_EQ(round_down_to_digits(number("12345"), 3), "12300");
  EXPECT_EQ(round_down_to_digits(number("99.99"), 3), "99.9");
  EXPECT_EQ(round_down_to_digits(number("1/3"), 5), "0.33333");
  EXPECT_EQ(round_down_to_digits(number("-1/3"), 5), "-0.33334");
  EXPECT_EQ(round_up_to_digits(number("-1/3"), 5), "-0.33333");
  EXPECT_EQ(round_down_to_digits(number("1.2349e+25"), 3), "1.23e+25");
  EXPECT_EQ(round_down_to_digits(number("0"), 3), "0");
}

TEST(Numbers, RoundToBothSidesOfTheNumber) {
  Rational value(1, 7);
  for (int i = 0; i < 200; ++i) {
    for (const Rational& x : {value, Rational(-value), Rational(1 / value)}) {
      for (const int digits : {1, 3, 5}) {
        const Rational up = number(round_up_to_digits(x, digits));
        const Rational down = number(round_down_to_digits(x, digits));
        EXPECT_LE(down, x);
        EXPECT_GE(up, x);
        EXPECT_LE(up - down, abs(x) / Rational(digits == 1 ? 1 : digits == 3 ? 100 : 10'000));
      }
      EXPECT_LE(number(short_number_down(x)), x);
      EXPECT_GE(number(short_number(x)), x);
    }
    value *= Rational(13, 11);
  }
}

TEST(Numbers, AreShownExactlyWhenShort) {
  EXPECT_EQ(short_number(number("0.25")), "0.25");
  EXPECT_EQ(short_number(number("1000000")), "1000000");
  EXPECT_EQ(short_number(number("1/3")), "0.33334");
  EXPECT_EQ(short_number_down(number("1/3")), "0.33333");
  EXPECT_EQ(short_number_down(number("0.25")), "0.25");
  EXPECT_EQ(short_number_down(number("1.99999999999999")), "1.9999");
  EXPECT_EQ(short_number(number("0x1p-40")), "9.095e-13");
}

TEST(Numbers, HaveTheDigitsOfTheirGrid) {
  EXPECT_EQ(at_grid_resolution(number("44.79218"), number("0x1p-14")), "44.79218");
  EXPECT_EQ(at_grid_resolution(number("44.79218"), number("0.25")), "44.8");
  EXPECT_EQ(at_grid_resolution(number("-44.79218"), number("0.01")), "-44.79");
  EXPECT_EQ(at_grid_resolution(number("0.004"), number("0.5")), "0.0");
  EXPECT_EQ(at_grid_resolution(number("-0.004"), number("0.5")), "0.0");
  EXPECT_EQ(at_grid_resolution(number("123456"), number("1024")), "123456");
  EXPECT_EQ(at_grid_resolution(number("1e300"), number("1e280")), "1e+300");
  // Beyond the doubles, and between numbers that 30 decimals do not tell apart.
  EXPECT_EQ(at_grid_resolution(number("1.5e310"), number("1e280")), "1.5e+310");
  EXPECT_EQ(at_grid_resolution(number("-1.5e310"), number("1e280")), "-1.5e+310");
  EXPECT_EQ(at_grid_resolution(number("1e-200"), number("1e-210")), "1e-200");
  EXPECT_EQ(at_grid_resolution(number("2e-350"), number("1e-351")), "2e-350");
  EXPECT_EQ(at_grid_resolution(number("0"), number("1e-351")), "0");
}

}  // namespace
}  // namespace snapdp
