// population = true: a second interval, which includes the error of sampling, tested by sampling and releasing anew.
//
// With T rounds the misses are at most binomial(T, alpha); by Hoeffding P(misses >= alpha T + t) <= exp(-2 t^2 / T),
// which is 1e-9 for t = sqrt(T ln(1e9) / 2).
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

constexpr int rounds = 200;
constexpr std::size_t rows = 400;

const std::string add_remove = R"([data]
dataset = "d"
neighbors = "add-remove"
population = true
[budget]
epsilon = 100
)";
const std::string change_one =
    replaced(add_remove, "\"add-remove\"", "\"change-one\"\nsize = " + std::to_string(rows));

std::string statistic(const std::string& keys) {
  return "[[statistic]]\nname = \"s\"\nalpha = 0.2\n" + keys + "\n";
}
const std::string mean = statistic("kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1]\nepsilon = 0.5");
const std::string bins =
    statistic("kind = \"histogram\"\ncolumn = \"x\"\ncategories = [0, 1]\nepsilon = 0.5");
const std::string range = statistic("kind = \"range_count\"\ncolumn = \"x\"\nbounds = [1, 1]\nepsilon = 0.5");

std::string refusal(const std::string& text) {
  try {
    Plan(Specification::parse(text, "s.toml"));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

Json report_of(const Plan& plan, const std::vector<double>& x) {
  std::vector<std::vector<Dyadic>> released;
  for (const PlannedMeasurement& part : plan.statistics().front().measurements)
    released.push_back(noisy(part.measurement, part.measurement.aggregation()(x)));
  return Json::parse(Report(plan, {released}, 1, 9, 0).json()).at("statistics").at(0);
}

// Of the rows that are in some bin, of several bins, in groups.
TEST(Population, SharesOfBinsWithoutAPublicNumberOfRows) {
  const std::string declared = replaced(
      add_remove, "population = true\n",
      "population = true\n[columns.g]\ncategories = [7, 8]\n[columns.x]\ncategories = [0, 1, 2, 3, 4]\n");
  const Plan plan(Specification::parse(
      declared + statistic("kind = \"histogram\"\ncolumn = \"x\"\nepsilon = 0.5\ngroup_by = \"g\""),
      "s.toml"));
  std::mt19937_64 engine(80);
  // In group 8; 5 is in no bin.
  std::discrete_distribution<int> draw({0.4, 0.3, 0.1, 0.1, 0.0, 0.1});
  const PlannedMeasurement& part = plan.statistics().front().measurements.front();
  int misses = 0;
  for (int i = 0; i < rounds; ++i) {
    std::vector<double> g;
    std::vector<double> x;
    for (std::size_t row = 0; row < 2 * rows; ++row) {
      g.push_back(row % 2 == 0 ? 8 : 7);
      x.push_back(row % 2 == 0 ? draw(engine) : 4);
    }
    const std::vector<Column> columns = {Chunk(g).column[0], Chunk(x).column[0]};
    const std::vector<Dyadic> exact = part.measurement.aggregation()(Chunk(columns, x.size()));
    const Json json =
        Json::parse(Report(plan, {{noisy(part.measurement, exact)}}, 1, 9, 0).json()).at("statistics").at(0);
    const Json& bin = json.at("groups").at(1).at("bins").at(1).at("population");
    const double lower = bin.at("interval").at(0);
    const double upper = bin.at("interval").at(1);
    constexpr double share = 0.3 / 0.9;
    if (share < lower || share > upper) ++misses;
    EXPECT_LT(upper - lower, 0.35);
    EXPECT_GT(upper - lower, 0.1);
    EXPECT_LT(json.at("groups").at(0).at("bins").at(1).at("population").at("interval").at(1), 0.2);
    EXPECT_GT(json.at("groups").at(0).at("bins").at(4).at("population").at("interval").at(0), 0.8);
  }
  EXPECT_LT(misses, 0.2 * rounds + std::sqrt(rounds * std::log(1e9) / 2));
}

// Zeros and ones, the population with the largest variance: 30 % of it are ones.
TEST(Population, IntervalsCoverThePopulation) {
  constexpr double share = 0.3;
  std::mt19937_64 engine(79);
  std::bernoulli_distribution draw(share);
  for (const std::string& text :
       {add_remove + mean, add_remove + bins, change_one + mean, change_one + bins, change_one + range}) {
    const Plan plan(Specification::parse(text, "s.toml"));
    int misses = 0;
    double width = 0;
    for (int i = 0; i < rounds; ++i) {
      std::vector<double> x;
      for (std::size_t row = 0; row < rows; ++row) x.push_back(draw(engine) ? 1 : 0);
      const Json json = report_of(plan, x);
      const Json& number = json.contains("bins") ? json.at("bins").at(1) : json;
      EXPECT_EQ(number.at("population").at("alpha"), "0.2");
      const double lower = number.at("population").at("interval").at(0);
      const double upper = number.at("population").at("interval").at(1);
      if (share < lower || share > upper) ++misses;
      width += (upper - lower) / rounds;
    }
    EXPECT_LT(misses, 0.2 * rounds + std::sqrt(rounds * std::log(1e9) / 2)) << text;
    // Sampling alone: 2 x 1.28 sqrt(.21 / 400) = .059; without it the noise alone.
    EXPECT_GT(width, 0.059) << text;
    EXPECT_LT(width, 0.3) << text;
  }
}

TEST(Population, StandsApartAndOnlyWhereItIsSaid) {
  std::vector<double> x(rows, 0);
  for (std::size_t i = 0; i < 100; ++i) x[i] = 1;
  const std::string silent = replaced(change_one, "population = true\n", "");
  EXPECT_FALSE(report_of(Plan(Specification::parse(silent + mean, "s.toml")), x).contains("population"));
  EXPECT_FALSE(report_of(Plan(Specification::parse(
                             replaced(silent, "[budget]", "population = false\n[budget]") + mean, "s.toml")),
                         x)
                   .contains("population"));
  // The share of a single range needs the number of rows, sums are no means, and what is clamped to a declared range may be off by anything.
  EXPECT_FALSE(report_of(Plan(Specification::parse(add_remove + range, "s.toml")), x).contains("population"));
  EXPECT_FALSE(
      report_of(Plan(Specification::parse(change_one + replaced(mean, "\"mean\"", "\"sum\""), "s.toml")), x)
          .contains("population"));
  EXPECT_FALSE(
      report_of(Plan(Specification::parse(
                    change_one + replaced(mean, "epsilon", "range = [0.1, 0.2]\nepsilon"), "s.toml")),
                x)
          .contains("population"));
  // A plan has none; a report shows it, now and when it is read again.
  const Plan plan(Specification::parse(change_one + mean + replaced(bins, "\"s\"", "\"b\""), "s.toml"));
  EXPECT_THAT(plan.to_json(), Not(HasSubstr("\"population\"")));
  std::vector<std::vector<std::vector<Dyadic>>> released;
  for (const PlannedStatistic& planned : plan.statistics()) {
    const Measurement& measurement = planned.measurements.front().measurement;
    released.push_back({noisy(measurement, measurement.aggregation()(x))});
  }
  const Report report(plan, released, 1, 9, 0);
  EXPECT_THAT(report.to_table(),
              HasSubstr("s: in the population that the rows are a sample of, the mean lies in ["));
  EXPECT_THAT(report.to_table(),
              HasSubstr("b: in the population that the rows are a sample of, the share lies in 0: ["));
  EXPECT_EQ(Report::from_json(report.json()).to_table(), report.to_table());
}

TEST(Population, IsTheCustodiansToSay) {
  EXPECT_THAT(
      refusal(replaced(add_remove, "population", "privacy_unit = \"u\"\nmax_rows_per_unit = 2\npopulation") +
              mean),
      HasSubstr("several rows of a privacy unit"));
  EXPECT_EQ(
      refusal(replaced(add_remove, "population", "privacy_unit = \"u\"\nmax_rows_per_unit = 1\npopulation") +
              mean),
      "accepted");
  EXPECT_THAT(refusal(replaced(add_remove, "= true", "= \"yes\"") + mean), HasSubstr("population"));
  const std::string silent = replaced(add_remove, "population = true\n", "");
  const Declaration declared = Declaration::parse(silent, "d.toml");
  EXPECT_THROW(Specification::parse(add_remove + mean, "s.toml", {}, declared), Error);
  const Declaration says = Declaration::parse(add_remove, "d.toml");
  EXPECT_TRUE(Specification::parse(
                  replaced(silent, "[data]\ndataset = \"d\"\nneighbors = \"add-remove\"\n", "") + mean,
                  "s.toml", {}, says)
                  .data.population);
  EXPECT_TRUE(Declaration::parse(says.canonical_text(), "d.toml").population);
}

}  // namespace
}  // namespace snapdp
