// Guesses at the data plan what is computed from parts: the plan tells what a report will say of about such data, and
// nothing else depends on the guesses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "noisy.h"
#include "release/replace.h"
#include "snapdp/error.h"
#include "snapdp/release/report.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

const std::string head = R"([data]
dataset = "d"
neighbors = "add-remove"
expected_size = 10000
[budget]
epsilon = 100
)";

std::string statistic(const std::string& keys) {
  return "[[statistic]]\nname = \"s\"\n" + keys + "\n";
}

const std::string deviation =
    statistic("kind = \"standard_deviation\"\ncolumn = \"x\"\nbounds = [0, 100]\naccuracy = 1");
const std::string guessed = replaced(deviation, "accuracy = 1", "accuracy = 1\nexpected_deviation = 20");
const std::string correlation = statistic(
    "kind = \"correlation\"\ncolumns = [\"x\", \"y\"]\nbounds = [[0, 100], [0, 100]]\naccuracy = 0.05\n"
    "expected_deviation = [20, 10]\nexpected_mean = [40, 30]");

Plan plan_of(const std::string& text) {
  return Plan(Specification::parse(text, "s.toml"));
}

PlannedStatistic planned(const std::string& text) {
  return plan_of(text).statistics().front();
}

std::string refusal(const std::string& text) {
  try {
    planned(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Expectations, MakeADeviationFiftyTimesCheaper) {
  EXPECT_GT(planned(head + deviation).cost.value, 2);
  const PlannedStatistic statistic = planned(head + guessed);
  EXPECT_LT(statistic.cost.value, Rational(12, 100));
  EXPECT_LE(statistic.accuracy->tight, 1);
  EXPECT_EQ(statistic.expected_rows, 10'000U);
  EXPECT_FALSE(planned(head + deviation).expected_rows);
  // Farther from the middle a mean costs more.
  EXPECT_GT(planned(head + replaced(guessed, "expected_dev", "expected_mean = 20\nexpected_dev")).cost.value,
            statistic.cost.value * Rational(11, 10));
}

// With about such data reports say about what was planned, and are right: with T releases the misses are at most
// binomial(T, 1/20); by Hoeffding P(misses >= T / 20 + t) <= exp(-2 t^2 / T), which is 1e-9 for t = sqrt(T ln(1e9) /
// 2).
TEST(Expectations, ReportsOfSuchDataSayWhatWasPlanned) {
  constexpr int releases = 200;
  std::mt19937_64 engine(71);
  std::normal_distribution<double> normal;
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 10'000; ++i) {
    const double z = normal(engine);
    x.push_back(std::clamp(std::round(40 + 20 * z), 0.0, 100.0));
    y.push_back(std::clamp(std::round(30 + 6 * z + 8 * normal(engine)), 0.0, 100.0));
  }
  const auto covariance = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum_a = 0;
    double sum_b = 0;
    double products = 0;
    const auto n = static_cast<double>(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum_a += a[i];
      sum_b += b[i];
      products += a[i] * b[i];
    }
    return (products - sum_a * sum_b / n) / (n - 1);
  };
  const std::vector<std::pair<std::string, double>> cases{
      {replaced(guessed, "expected_dev", "expected_mean = 40\nexpected_dev"), std::sqrt(covariance(x, x))},
      {correlation, covariance(x, y) / std::sqrt(covariance(x, x) * covariance(y, y))}};
  for (const auto& [text, truth] : cases) {
    const Plan plan = plan_of(head + text);
    const PlannedStatistic& statistic = plan.statistics().front();
    const double asked = statistic.specification.accuracy->get_d();
    std::vector<std::vector<Dyadic>> exact;
    for (const PlannedMeasurement& part : statistic.measurements) {
      std::vector<Column> columns;
      for (const std::string& name : part.columns)
        columns.push_back({AtomType::real, name == "x" ? x.data() : y.data()});
      exact.push_back(part.measurement.aggregation()(Chunk(columns, x.size())));
    }
    int misses = 0;
    double stated = 0;
    for (int i = 0; i < releases; ++i) {
      std::vector<std::vector<Dyadic>> released;
      for (std::size_t j = 0; j < exact.size(); ++j)
        released.push_back(noisy(statistic.measurements[j].measurement, exact[j]));
      const Json json = Json::parse(Report(plan, {released}, 1, 9, 0).json()).at("statistics").at(0);
      const double accuracy = json.at("accuracy").at("tight");
      stated += accuracy / releases;
      if (std::fabs(json.at("value").get<double>() - truth) > accuracy) ++misses;
    }
    EXPECT_LT(misses, 0.05 * releases + std::sqrt(releases * std::log(1e9) / 2));
    EXPECT_GT(stated, 0.5 * asked);
    EXPECT_LT(stated, 1.2 * asked);
  }
}

TEST(Expectations, OfGroups) {
  const std::string mean = statistic(
      "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 100]\naccuracy = 1\ngroup_by = \"g\"\nkeys = [1, 2]\n"
      "expected_group_size = 500");
  const PlannedStatistic worst = planned(head + mean);
  EXPECT_LE(worst.accuracy->tight, 1);
  EXPECT_FALSE(worst.expected_rows);  // it holds for every group of so many rows
  const PlannedStatistic middle = planned(head + replaced(mean, "accuracy", "expected_mean = 50\naccuracy"));
  EXPECT_EQ(middle.expected_rows, 500U);
  EXPECT_LT(middle.cost.value, worst.cost.value * Rational(3, 4));
  // Twice the rows, half the noise that matters.
  EXPECT_LT(planned(head + replaced(mean, "500", "1000")).cost.value, worst.cost.value * Rational(55, 100));
  const std::string variance =
      replaced(replaced(mean, "\"mean\"", "\"variance\""), "accuracy", "expected_deviation = 9\naccuracy");
  EXPECT_EQ(planned(head + variance).expected_rows, 500U);
  EXPECT_THAT(refusal(head + replaced(mean, "expected_group_size = 500", "")),
              HasSubstr("expected_group_size = 100"));
  const std::string table = plan_of(head + mean).to_table();
  EXPECT_THAT(table, HasSubstr("\xc2\xb1"
                               "1.00\n"));
  EXPECT_THAT(table, Not(HasSubstr("told with the release")));
}

TEST(Expectations, OfChangeOne) {
  const std::string sized =
      replaced(replaced(head, "\"add-remove\"", "\"change-one\""), "expected_size", "size");
  EXPECT_LT(planned(sized + guessed).cost.value, planned(sized + deviation).cost.value / 10);
  EXPECT_LE(planned(sized + correlation).accuracy->tight, 0.05);
  EXPECT_THAT(refusal(sized + replaced(guessed, "standard_deviation", "variance")),
              HasSubstr("whose accuracy does not depend on the data"));
}

TEST(Expectations, AreToldInPlansAndNowhereElse) {
  const Plan plan = plan_of(head + correlation);
  const Json json = Json::parse(plan.to_json()).at("statistics").at(0);
  EXPECT_EQ(json.at("expected"),
            Json::parse(R"({"rows": 10000, "mean": ["40", "30"], "deviation": ["20", "10"]})"));
  EXPECT_THAT(
      one_line(plan.to_table()),
      HasSubstr("for about such data as are guessed, 10000 rows, deviation 20 and 10, mean 40 and 30"));
  EXPECT_THAT(one_line(plan_of(head + guessed).to_table()), HasSubstr("mean in the middle of the bounds"));
  std::vector<std::vector<Dyadic>> released;
  for (std::size_t i = 0; i < 6; ++i) released.push_back({Dyadic(1000)});
  EXPECT_FALSE(
      Json::parse(Report(plan, {released}, 1, 9, 0).json()).at("statistics").at(0).contains("expected"));
}

TEST(Expectations, AreRefusedWhereTheyArePointless) {
  EXPECT_THAT(refusal(head + statistic("kind = \"count\"\nepsilon = 1\nexpected_mean = 3")),
              HasSubstr("does not apply to a count"));
  EXPECT_THAT(
      refusal(
          head +
          statistic("kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1]\nepsilon = 1\nexpected_deviation = 3")),
      HasSubstr("does not apply to a mean"));
  EXPECT_THAT(refusal(replaced(head, "expected_size = 10000\n", "") + guessed),
              HasSubstr("needs expected_size"));
  EXPECT_THAT(refusal(head + replaced(guessed, "= 20", "= 51")), HasSubstr("no values between the bounds"));
  EXPECT_THAT(refusal(head + replaced(guessed, "= 20", "= 0")), HasSubstr("greater than 0"));
  EXPECT_THAT(refusal(head + replaced(guessed, "= 20", "= 20\nexpected_mean = 3")),
              HasSubstr("no values between the bounds"));
  EXPECT_THAT(refusal(head + replaced(guessed, "= 20", "= 20\nexpected_mean = 101")),
              HasSubstr("between the bounds"));
  EXPECT_THAT(refusal(head + replaced(guessed, "expected_deviation = 20", "expected_mean = 20")),
              HasSubstr("without expected_deviation"));
  EXPECT_THAT(refusal(head + replaced(correlation, "[20, 10]", "[20]")),
              HasSubstr("each of the two columns"));
  EXPECT_THAT(refusal(head + replaced(guessed, "accuracy", "expected_group_size = 3\naccuracy")),
              HasSubstr("only with group_by"));
  EXPECT_THAT(
      refusal(head + replaced(correlation, "expected_deviation = [20, 10]\nexpected_mean = [40, 30]", "")),
      HasSubstr("expected_deviation = [10, 20]"));
}

}  // namespace
}  // namespace snapdp
