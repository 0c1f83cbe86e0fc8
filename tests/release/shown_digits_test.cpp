// Numbers as people read them: digits end where the noise begins.
#include "release/shown_digits.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace snapdp {
namespace {

using namespace release_internal;

Rational exact(const std::string& text) {
  return parse_exact(text, "test");
}

// What a reader takes a text for.
Rational read(std::string text) {
  std::erase(text, ',');
  return exact(ascii_number(text));
}

TEST(ShownDigits, EndWhereTheAccuracyHasOneOrTwoDigits) {
  const std::vector<std::pair<std::string, long>> places = {
      {"1", -1},    {"0.727", -1}, {"60", 1},      {"902", 2},      {"1120", 2}, {"3.54", -1},
      {"3.55", 0},  {"9.99", 0},   {"10", 0},      {"35.4", 0},     {"35.6", 1}, {"1/3", -2},
      {"11500", 3}, {"0.1", -2},   {"1e300", 299}, {"4e-300", -300}};
  for (const auto& [accuracy, place] : places) EXPECT_EQ(last_place(exact(accuracy)), place) << accuracy;
}

TEST(ShownDigits, AreGroupedAndHaveAMinus) {
  EXPECT_EQ(decimal_text(exact("28547.6"), 2, Toward::nearest), "28,500");
  EXPECT_EQ(decimal_text(exact("27645.6"), 2, Toward::below), "27,600");
  EXPECT_EQ(decimal_text(exact("29449.5"), 2, Toward::above), "29,500");
  EXPECT_EQ(decimal_text(exact("44.589"), -1, Toward::nearest), "44.6");
  EXPECT_EQ(decimal_text(exact("0.04"), -1, Toward::below), "0");
  EXPECT_EQ(decimal_text(exact("0.04"), -3, Toward::below), "0.040");
  EXPECT_EQ(decimal_text(exact("-1234567.5"), 0, Toward::nearest), "\u22121,234,567");
  EXPECT_EQ(decimal_text(exact("-1234567.5"), 0, Toward::below), "\u22121,234,568");
  EXPECT_EQ(decimal_text(exact("999.7"), 0, Toward::nearest), "1,000");
  EXPECT_EQ(decimal_text(exact("1.26e30"), 29, Toward::nearest), "1.3e30");
  EXPECT_EQ(decimal_text(exact("-1.26e-30"), -31, Toward::nearest), "\u22121.3e\u221230");
  EXPECT_EQ(ascii_number("\u22121.3e\u221230"), "-1.3e-30");
  EXPECT_EQ(declared_text(exact("150000")), "150,000");
  EXPECT_EQ(declared_text(Rational(0.1)), "0.1");
  EXPECT_EQ(declared_text(Rational(-1e300)), "\u22121e300");
}

TEST(ShownDigits, PercentagesNeverSayLessThanTheirBound) {
  EXPECT_EQ(percent_text(exact("73.1058"), Toward::above), "74");
  EXPECT_EQ(percent_text(exact("2.67"), Toward::above), "2.7");
  EXPECT_EQ(percent_text(exact("0.369"), Toward::below), "0.36");
  EXPECT_EQ(percent_text(exact("99.9951"), Toward::above), "99.9951");
  EXPECT_EQ(percent_text(exact("99.99999999"), Toward::above), "100");
  EXPECT_EQ(percent_text(exact("0"), Toward::above), "0");
}

// Each text, read again, is the number rounded to its place, and no farther from it than that allows.
TEST(ShownDigits, AreRoundedExactly) {
  std::mt19937_64 engine(1);
  for (int i = 0; i < 2000; ++i) {
    const double value = std::ldexp(static_cast<double>(static_cast<std::int64_t>(engine())),
                                    static_cast<int>(engine() % 120) - 120);
    const long place = static_cast<long>(engine() % 12) - 6;
    const Rational number(value);
    // At most 17 digits are shown.
    const long shown = std::max(place, exponent_of(Rational(abs(number))) - 16);
    const Rational unit = power_of_ten(shown);
    const Rational below = read(decimal_text(number, place, Toward::below));
    const Rational above = read(decimal_text(number, place, Toward::above));
    const Rational nearest = read(decimal_text(number, place, Toward::nearest));
    EXPECT_LE(below, number);
    EXPECT_LT(Rational(number - below), unit);
    EXPECT_GE(above, number);
    EXPECT_LT(Rational(above - number), unit);
    EXPECT_LE(Rational(abs(Rational(number - nearest)) * 2), unit) << value << " at " << place;
  }
}

}  // namespace
}  // namespace snapdp
