// Tables made independently from the papers' definitions, with ball arithmetic: tests/data/gaussian_*.csv.
#include "snapdp/mechanism/gaussian_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "mechanism/csv_rows.h"
#include "snapdp/error.h"

namespace snapdp {
namespace {

Rational number(const std::string& text) {
  return parse_rational(text, "row");
}

// A table's number has 30 digits, correctly rounded; ours must hold it and be as narrow.
testing::AssertionResult holds(const Enclosure& found, const std::string& text) {
  const Rational expected = number(text);
  if (text == "0") {
    if (found.lower == 0 && found.upper == 0) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "is not exactly 0";
  }
  const Rational digit = expected * number("5e-30");
  if (!(found.lower <= expected + digit && expected - digit <= found.upper))
    return testing::AssertionFailure() << round_up_to_digits(found.lower, 31) << " to "
                                       << round_up_to_digits(found.upper, 31) << " does not hold " << text;
  if (!(found.lower <= found.upper && found.upper - found.lower <= expected * number("1e-28")))
    return testing::AssertionFailure() << "is too wide for " << text;
  return testing::AssertionSuccess();
}

TEST(GaussianPrivacy, Tables) {
  for (const auto& row : csv_texts("gaussian_delta.csv", 4)) {
    SCOPED_TRACE(row[0] + "," + row[1] + "," + row[2] + "," + row[3]);
    if (row[0] == "sigma") {
      ASSERT_TRUE(holds(gaussian_scale(1, number(row[2]), number(row[3])), row[1]));
      const double scale = gaussian_scale_up(1, number(row[2]), number(row[3]));
      ASSERT_GE(Rational(scale), number(row[1]) * (1 - number("5e-30")));
      ASSERT_LE(Rational(std::nextafter(scale, 0.0)), number(row[1]) * (1 + number("5e-30")));
      continue;
    }
    const Rational rho = gaussian_rho(1, number(row[1]));
    if (row[0] == "delta") {
      ASSERT_TRUE(holds(gaussian_delta(rho, number(row[2])), row[3]));
    } else {
      ASSERT_TRUE(holds(gaussian_epsilon(rho, number(row[3])), row[2]));
    }
  }
}

TEST(GaussianPrivacy, TablesOfRho) {
  for (const auto& row : csv_texts("gaussian_zcdp.csv", 5)) {
    SCOPED_TRACE(row[0] + "," + row[1] + "," + row[2] + "," + row[3]);
    if (row[0] == "to_epsilon") {
      ASSERT_TRUE(holds(gaussian_epsilon(number(row[2]), number(row[3])), row[4]));
    } else if (row[0] == "to_delta") {
      ASSERT_TRUE(holds(gaussian_delta(number(row[2]), number(row[1])), row[4]));
    } else {
      ASSERT_TRUE(holds(gaussian_largest_rho(number(row[1]), number(row[3])), row[4]));
    }
  }
}

// delta(-epsilon) = 1 - e^-epsilon (1 - delta(epsilon)), from the formula.
TEST(GaussianPrivacy, NegativeEpsilon) {
  for (const char* epsilon : {"0.25", "1", "3", "40"}) {
    const Enclosure above = gaussian_delta(Rational(1, 8), number(epsilon));
    const Enclosure below = gaussian_delta(Rational(1, 8), -number(epsilon));
    EXPECT_NEAR(below.upper.get_d(), 1 - std::exp(-number(epsilon).get_d()) * (1 - above.upper.get_d()),
                1e-14);
    EXPECT_LE(below.lower, below.upper);
    EXPECT_LE(below.upper, 1);
  }
  EXPECT_NEAR(gaussian_delta(0, -1).upper.get_d(), 1 - std::exp(-1), 1e-15);
}

// What one function finds the others keep, also where numbers are extreme.
TEST(GaussianPrivacy, RootsKeepAndAreLeast) {
  std::mt19937_64 engine(7);
  const auto log_uniform = [&](double low, double high) {
    return Rational(std::exp2(std::uniform_real_distribution<double>(low, high)(engine)));
  };
  for (int i = 0; i < 60; ++i) {
    const Rational rho = log_uniform(-40, 12);
    const Rational delta = log_uniform(-1000, -0.01);
    SCOPED_TRACE(to_string(rho) + " " + to_string(delta));
    const Enclosure epsilon = gaussian_epsilon(rho, delta);
    ASSERT_LE(gaussian_delta(rho, epsilon.upper).upper, delta);
    if (epsilon.upper == 0) continue;
    ASSERT_GT(gaussian_delta(rho, epsilon.lower).upper, delta);
    ASSERT_LE(epsilon.upper - epsilon.lower, epsilon.upper * number("1e-28"));
    const Enclosure back = gaussian_largest_rho(epsilon.upper, delta);
    ASSERT_LE(gaussian_delta(back.lower, epsilon.upper).upper, delta);
    ASSERT_GE(back.upper, rho);
  }
}

TEST(GaussianPrivacy, Extremes) {
  EXPECT_EQ(gaussian_delta(0, 1).upper, 0);
  EXPECT_EQ(gaussian_epsilon(0, Rational(1, 2)).upper, 0);
  EXPECT_EQ(gaussian_rho(2, 3), Rational(1, 9));
  for (const char* rho : {"1e-300", "1e-30", "1e9", "1e300"}) {
    for (const char* epsilon : {"0", "1e-300", "1", "1e5", "1e9", "1e300"}) {
      const Enclosure delta = gaussian_delta(number(rho), number(epsilon));
      EXPECT_LE(0, delta.lower) << rho << " " << epsilon;
      EXPECT_LE(delta.lower, delta.upper) << rho << " " << epsilon;
      EXPECT_LE(delta.upper, 1) << rho << " " << epsilon;
    }
  }
  // Two releases are one with the sum of their rho: epsilon of k of them grows like sqrt(k).
  EXPECT_LT(gaussian_epsilon(Rational(100, 5000), Rational(1, 1'000'000)).upper,
            10 * gaussian_epsilon(Rational(1, 5000), Rational(1, 1'000'000)).upper * 2);
}

TEST(GaussianPrivacy, Refuses) {
  const auto parameter = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.parameter();
    }
    return "";
  };
  EXPECT_EQ(parameter([] { gaussian_delta(-1, 1); }), "rho");
  EXPECT_EQ(parameter([] { gaussian_epsilon(1, 0); }), "delta");
  EXPECT_EQ(parameter([] { gaussian_epsilon(1, 1); }), "delta");
  EXPECT_EQ(parameter([] { gaussian_largest_rho(-1, Rational(1, 2)); }), "epsilon");
  EXPECT_EQ(parameter([] { gaussian_scale_up(0, 1, Rational(1, 2)); }), "squared_sensitivity");
  EXPECT_EQ(parameter([] { gaussian_rho(1, 0); }), "scale");
  EXPECT_EQ(parameter([] { gaussian_rho(-1, 1); }), "squared_sensitivity");
}

}  // namespace
}  // namespace snapdp
