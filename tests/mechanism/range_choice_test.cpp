#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/mechanism/bounds.h"

namespace snapdp {
namespace {

using testing::HasSubstr;

std::string refused(const RangeChoice& choice, const std::optional<StatisticRange>& own,
                    const MechanismOptions& options = {}) {
  try {
    resolve(choice, own, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.parameter() + ": " + error.what();
  }
  return "nothing";
}

// One row of tests/data/range.csv: widened ranges by formulas of their own, in arithmetic of 400 bits.
struct Row {
  explicit Row(const std::string& line) {
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    cells.resize(13);
  }
  Rational number(std::size_t i) const { return parse_rational(cells[i], "range.csv"); }
  std::vector<std::string> cells;
};

TEST(RangeChoice, WidenedVectors) {
  std::ifstream file(std::string(SNAPDP_TEST_DATA) + "/range.csv");
  std::string line;
  std::getline(file, line);
  int rows = 0;
  while (std::getline(file, line)) {
    const Row row(line);
    const bool precise = row.cells[0] == "precision";
    const bool geometric = row.cells[1] == "geometric";
    MechanismOptions options{.sensitivity = to_dyadic(row.number(3), "sensitivity"),
                             .grid = GridChoice::parse(row.cells[2]),
                             .integer = geometric,
                             .noise = precise     ? NoiseKind::notes
                                      : geometric ? NoiseKind::geometric
                                                  : NoiseKind::exact};
    const StatisticRange own{row.number(7).get_d(), row.number(8).get_d()};
    const FailureRate gamma(row.number(9));
    const bool by_accuracy = row.cells[4].empty();  // instead of epsilon
    const RangeChoice choice = by_accuracy
                                   ? widened_for_accuracy(gamma, own, options, row.number(5), row.number(6))
                                   : RangeChoice::widened(gamma);
    if (!by_accuracy) options.epsilon = row.number(4);
    const OutputRange range = resolve(choice, own, options);
    EXPECT_EQ(range.lower, row.number(10).get_d()) << line;
    EXPECT_EQ(range.upper, row.number(11).get_d()) << line;
    ++rows;
    if (by_accuracy) continue;
    options.lower = range.lower;
    options.upper = range.upper;
    const Mechanism mechanism(options);
    const double middle = mechanism.noise().origin().to_double_nearest();
    const double binds =
        binding_probability(mechanism.noise().centered(), {own.lower - middle, own.upper - middle});
    EXPECT_LE(Rational(binds), gamma.value()) << line;
    if (!precise) {
      EXPECT_NEAR(binds, row.number(12).get_d(), 1e-15 * binds + 1e-100) << line;
    }
  }
  EXPECT_EQ(rows, 52);
}

// The notes' range for an accuracy holds for whatever epsilon reaches that accuracy: gamma is kept there.
TEST(RangeChoice, WidenedBeforeEpsilonIsKnown) {
  std::mt19937_64 engine(61);
  const FailureRate alpha(0.05);
  for (int round = 0; round < 20; ++round) {
    const StatisticRange own{-static_cast<double>(engine() % 1000), static_cast<double>(1 + engine() % 1000)};
    const FailureRate gamma(Rational(1, static_cast<long>(2 + engine() % 1000)));
    const Rational accuracy(static_cast<long>(1 + engine() % 60), 4);
    MechanismOptions options{.sensitivity = 1, .noise = NoiseKind::notes};
    const OutputRange range =
        resolve(widened_for_accuracy(gamma, own, options, accuracy, alpha), own, options);
    options.lower = range.lower;
    options.upper = range.upper;
    const std::optional<Rational> epsilon = least_epsilon([&](const Rational& tried) {
      options.epsilon = tried;
      return accuracy_of({Mechanism(options).noise(), alpha}).tight <= accuracy;
    });
    ASSERT_TRUE(epsilon);
    options.epsilon = *epsilon;
    const Mechanism mechanism(options);
    const double middle = mechanism.noise().origin().to_double_nearest();
    ASSERT_LE(
        Rational(binding_probability(mechanism.noise().centered(), {own.lower - middle, own.upper - middle})),
        gamma.value());
    // epsilon >= sensitivity ln(1/alpha) / accuracy, which the range was chosen for.
    ASSERT_GE(epsilon->get_d() * 1.0000001, std::log(20.0) / accuracy.get_d());
  }
}

TEST(RangeChoice, ConstantsRoundOutward) {
  const RangeChoice tenths = RangeChoice::fixed(Rational(-1, 10), Rational(1, 10));
  const OutputRange reals = resolve(tenths, std::nullopt, {});
  EXPECT_LT(Rational(*reals.lower), Rational(-1, 10));
  EXPECT_GT(Rational(*reals.upper), Rational(1, 10));
  EXPECT_EQ(std::nextafter(*reals.lower, 0), -std::nextafter(*reals.upper, 0));
  EXPECT_EQ(resolve(tenths, std::nullopt, {.integer = true}), (OutputRange{-1, 1}));
  EXPECT_EQ(resolve(RangeChoice::fixed(Rational(0), std::nullopt), std::nullopt, {}),
            (OutputRange{0, std::nullopt}));
  EXPECT_EQ(resolve(RangeChoice::fixed(std::nullopt, Rational(5)), StatisticRange{0, 9}, {}),
            (OutputRange{std::nullopt, 5}));
}

TEST(RangeChoice, OwnAndNone) {
  EXPECT_EQ(resolve(RangeChoice(), StatisticRange{-2, 7}, {}), (OutputRange{-2, 7}));
  EXPECT_EQ(resolve(RangeChoice(), std::nullopt, {}), OutputRange{});
  EXPECT_EQ(resolve(RangeChoice::none(), StatisticRange{-2, 7}, {}), OutputRange{});
  EXPECT_EQ(to_string(RangeChoice().kind()), "public");
  EXPECT_EQ(to_string(RangeChoice::none().kind()), "none");
  EXPECT_EQ(to_string(RangeChoice::fixed(0, 1).kind()), "declared");
  EXPECT_EQ(to_string(RangeChoice::widened(FailureRate(0.1)).kind()), "gamma");
}

TEST(RangeChoice, RefusesWhatIsNoRange) {
  EXPECT_THROW(RangeChoice::fixed(std::nullopt, std::nullopt), Error);
  EXPECT_THROW(RangeChoice::fixed(1, 0), Error);
  EXPECT_THROW(RangeChoice::fixed(1, 1), Error);
  const StatisticRange own{0, 100};
  // Nothing is left of the public range, or one point.
  EXPECT_THAT(refused(RangeChoice::fixed(200, 300), own), HasSubstr("always lies in [0, 100]"));
  EXPECT_THAT(refused(RangeChoice::fixed(-5, 0), own), HasSubstr("range: range = [-5, 0]"));
  EXPECT_THAT(refused(RangeChoice::fixed(100, std::nullopt), own), HasSubstr("always lies in"));
  EXPECT_THAT(refused(RangeChoice::fixed(parse_rational("-1e400", "x"), 0), std::nullopt),
              HasSubstr("beyond the largest double"));
  // A range that would follow from private rows.
  EXPECT_THAT(refused(RangeChoice::widened(FailureRate(0.1)), std::nullopt, {.epsilon = 1, .sensitivity = 1}),
              HasSubstr("declare constants"));
  EXPECT_THAT(refused(RangeChoice::widened(FailureRate(0.1)), own,
                      {.epsilon = 1, .sensitivity = 1, .noise = NoiseKind::notes, .precision = 53}),
              HasSubstr("118 bits or more"));
}

}  // namespace
}  // namespace snapdp
