#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "snapdp/error.h"
#include "snapdp/mechanism/noise.h"

namespace snapdp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(GridChoice, ReadsAndWritesItsText) {
  EXPECT_TRUE(GridChoice::parse("auto").is_automatic());
  EXPECT_TRUE(GridChoice::parse("notes").is_notes());
  EXPECT_TRUE(GridChoice::parse("2^-10").is_explicit());
  for (const char* text : {"auto", "notes", "2^-10", "2^0", "2^1023", "2^-1022"}) {
    EXPECT_EQ(to_string(GridChoice::parse(text)), text);
    EXPECT_EQ(GridChoice::parse(to_string(GridChoice::parse(text))), GridChoice::parse(text));
  }
  EXPECT_EQ(GridChoice(), GridChoice::automatic());
  EXPECT_FALSE(GridChoice() == GridChoice::notes());
}

TEST(GridChoice, RefusesOtherText) {
  for (const char* text : {"", "Auto", "2^", "2^x", "2^1.5", "2^ 3", "3^2", "1024", "2^1024", "2^-1023",
                           "2^99999999999999999999", "2^3 ", " 2^3", "2^+3"}) {
    try {
      GridChoice::parse(text, "grid of mean_age");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.parameter(), "grid of mean_age");
    }
  }
  const std::string long_text(100000, '2');
  try {
    GridChoice::parse(long_text);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_LT(std::string(error.what()).size(), 300u);
  }
  EXPECT_THROW(GridChoice(Grid(1024)), Error);
  EXPECT_THROW(GridChoice(Grid(-1023)), Error);
}

TEST(GridChoice, NotesIsTheSmallestPowerOfTwoThatIsNotBelowTheScale) {
  const auto exponent = [](double scale) {
    return GridChoice::notes().resolve(Rational(scale), false).exponent();
  };
  EXPECT_EQ(exponent(1), 0);
  EXPECT_EQ(exponent(std::nextafter(2.0, infinity)), 2);
  EXPECT_EQ(exponent(2), 1);
  EXPECT_EQ(exponent(std::nextafter(2.0, 0.0)), 1);
  EXPECT_EQ(exponent(0x1p-1022), -1022);
  EXPECT_EQ(exponent(0x1p1023), 1023);
  EXPECT_THROW(exponent(std::numeric_limits<double>::max()), Error);
  EXPECT_THROW(exponent(std::numeric_limits<double>::denorm_min()), Error);
}

TEST(GridChoice, AutomaticIsFineExceptForIntegers) {
  const auto exponent = [](double scale, bool integer) {
    return GridChoice().resolve(Rational(scale), integer).exponent();
  };
  EXPECT_EQ(exponent(4, false), -8);
  EXPECT_EQ(exponent(5, false), -7);
  EXPECT_EQ(exponent(4, true), 0);
  EXPECT_EQ(exponent(1024, true), 0);
  EXPECT_EQ(exponent(4096, true), 2);
  EXPECT_EQ(exponent(0x1p-900, true), 0);
  EXPECT_EQ(exponent(std::numeric_limits<double>::max(), false), 1014);
  EXPECT_THROW(exponent(0x1p-1020, false), Error);
}

TEST(GridChoice, AnIntegerStatisticNeedsAnIntegralGrid) {
  EXPECT_EQ(GridChoice(Grid(3)).resolve(Rational(1), true).exponent(), 3);
  EXPECT_EQ(GridChoice(Grid(-3)).resolve(Rational(1), false).exponent(), -3);
  for (const GridChoice& choice : {GridChoice(Grid(-1)), GridChoice::notes()}) {
    try {
      choice.resolve(Rational(1, 4), true);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.parameter(), "grid");
    }
  }
}

}  // namespace
}  // namespace snapdp
