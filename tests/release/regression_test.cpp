// Least squares as specifications ask for them, and as reports tell them.
#include "snapdp/statistics/regression.h"

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

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

const std::string add_remove = "[data]\ndataset = \"d\"\nneighbors = \"add-remove\"\n";
const std::string change_one = "[data]\ndataset = \"d\"\nneighbors = \"change-one\"\nsize = 400\n";
const std::string budget = "[budget]\nepsilon = \"1e9\"\n";
const std::string gaussian_budget = "[budget]\nrho = \"1e9\"\ndelta = \"1e-6\"\n";
const std::string plane =
    "y = \"income\"\nx = [\"age\", \"educ\"]\nbounds = [[0, 100], [0, 80], [0, 20]]\nepsilon = \"1e8\"\n";

// What else is expected of single releases then fails no more often.
const std::string rarely = "alpha = \"1e-12\"\n";

std::string regression(const std::string& keys) {
  return "[[statistic]]\nname = \"r\"\nkind = \"regression\"\n" + keys;
}

std::string refusal(const std::string& text) {
  try {
    const Plan plan(Specification::parse(text, "s.toml"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "accepted";
}

// Rows of income = 10 + age / 2 + 2 educ, and noise between -5 and 5; the last rows have cells beyond the bounds.
struct People {
  std::vector<double> key, income, age, educ;

  explicit People(std::size_t rows) {
    std::mt19937_64 engine(97);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (std::size_t i = 0; i < rows; ++i) {
      key.push_back(i % 2 == 0 ? 1 : 2);
      age.push_back(std::round(20 + 50 * uniform(engine)));
      educ.push_back(std::round(4 + 10 * uniform(engine) + age.back() / 16));
      income.push_back(std::round(10 + age.back() / 2 + 2 * educ.back() + 10 * uniform(engine) - 5));
    }
    age.back() = 1000;
    income.front() = -700;
  }

  // Of the rows with this key, clamped; of all for 0.
  std::vector<Rational> fit(int of_key) const {
    std::vector<std::vector<Rational>> a(3, std::vector<Rational>(4));
    for (std::size_t row = 0; row < age.size(); ++row) {
      if (of_key != 0 && key[row] != of_key) continue;
      const std::vector<Rational> one{1, Rational(std::min(age[row], 80.0)), Rational(educ[row]),
                                      Rational(std::max(income[row], 0.0))};
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 4; ++j) a[i][j] += one[i] * one[j];
      }
    }
    for (std::size_t pivot = 0; pivot < 3; ++pivot) {
      for (std::size_t row = 0; row < 3; ++row) {
        if (row == pivot) continue;
        const Rational times = a[row][pivot] / a[pivot][pivot];
        for (std::size_t i = 0; i < 4; ++i) a[row][i] -= times * a[pivot][i];
      }
    }
    return {Rational(a[0][3] / a[0][0]), Rational(a[1][3] / a[1][1]), Rational(a[2][3] / a[2][2])};
  }
};

// The report of a release with real noise.
Report released(const Plan& plan, const People& people) {
  const std::map<std::string, const std::vector<double>*> all{
      {"key", &people.key}, {"income", &people.income}, {"age", &people.age}, {"educ", &people.educ}};
  std::vector<std::vector<Dyadic>> values;
  for (const PlannedMeasurement& part : plan.statistics().front().measurements) {
    std::vector<Column> columns;
    for (const std::string& name : part.columns) columns.push_back({AtomType::real, all.at(name)->data()});
    values.push_back(
        noisy(part.measurement, part.measurement.aggregation()(Chunk(columns, people.age.size()))));
  }
  return Report(plan, {values}, 1, 1, 0);
}

Json statistic_of(const Report& report) {
  return Json::parse(report.json()).at("statistics").at(0);
}

std::vector<std::string> names(const Json& coefficients) {
  std::vector<std::string> names;
  for (const Json& one : coefficients) names.push_back(one.at("name"));
  return names;
}

bool holds(const Json& coefficients, const std::vector<Rational>& exact) {
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const Json& interval = coefficients.at(i).at("interval");
    const double value = exact[i].get_d();
    if (!interval.at(0).is_null() && interval.at(0).get<double>() > value) return false;
    if (!interval.at(1).is_null() && interval.at(1).get<double>() < value) return false;
  }
  return true;
}

TEST(RegressionKind, WithNextToNoNoiseIsTheFitOfTheClampedRows) {
  const People people(400);
  const std::vector<Rational> exact = people.fit(0);
  const std::string gaussian =
      replaced(plane, "epsilon = \"1e8\"", "rho = \"1e9\"") + "noise = \"gaussian\"\n";
  for (const std::string& text :
       {add_remove + budget + regression(plane), change_one + budget + regression(plane),
        add_remove + gaussian_budget + regression(gaussian),
        change_one + gaussian_budget + regression(gaussian),
        add_remove + budget + regression(plane + "row_grid = \"auto\"\n")}) {
    const Plan plan(Specification::parse(text, "s.toml"));
    const Json statistic = statistic_of(released(plan, people));
    const Json& coefficients = statistic.at("coefficients");
    EXPECT_THAT(names(coefficients), ElementsAre("intercept", "age", "educ"));
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double near = 1e-3 * (1 + std::fabs(exact[i].get_d()));
      EXPECT_NEAR(coefficients.at(i).at("value").get<double>(), exact[i].get_d(), near);
      const Json& interval = coefficients.at(i).at("interval");
      EXPECT_LT(interval.at(1).get<double>() - interval.at(0).get<double>(), near);
    }
    EXPECT_EQ(statistic.at("alpha"), "0.05");
    EXPECT_EQ(statistic.at("columns"), Json::parse(R"(["income", "age", "educ"])"));
    EXPECT_TRUE(statistic.at("accuracy").is_null());
  }
}

// By Hoeffding more misses have a probability below 1e-9; and at this epsilon every interval says something.
TEST(RegressionKind, IntervalsHoldAsOftenAsTheySayAndOfAllGroupsTogether) {
  constexpr int releases = 120;
  const People people(20'000);
  const std::vector<std::vector<Rational>> exact{people.fit(0), people.fit(1), people.fit(2)};
  for (const std::string groups : {"", "group_by = \"key\"\nkeys = [1, 2]\n"}) {
    const Plan plan(Specification::parse(
        add_remove + budget +
            regression(replaced(plane, "\"1e8\"", groups.empty() ? "1.5" : "6") + groups + "alpha = 0.5\n"),
        "s.toml"));
    int misses = 0;
    int told = 0;
    for (int i = 0; i < releases; ++i) {
      const Json statistic = statistic_of(released(plan, people));
      bool all = true;
      if (groups.empty()) {
        all = holds(statistic.at("coefficients"), exact[0]);
        told += statistic.at("coefficients").at(1).at("interval").at(0).is_null() ? 0 : 1;
      }
      for (const int key : groups.empty() ? std::vector<int>{} : std::vector<int>{1, 2}) {
        const Json& group = statistic.at("groups").at(static_cast<std::size_t>(key - 1));
        EXPECT_EQ(group.at("parts").size(), 9U);
        all = all && holds(group.at("coefficients"), exact[static_cast<std::size_t>(key)]);
        told += group.at("coefficients").at(1).at("interval").at(0).is_null() ? 0 : 1;
      }
      if (!all) ++misses;
    }
    EXPECT_LT(misses, 0.5 * releases + std::sqrt(releases * std::log(1e9) / 2));
    EXPECT_EQ(told, groups.empty() ? releases : 2 * releases);
  }
}

TEST(RegressionKind, HasTheMomentsThatTheFitNeeds) {
  EXPECT_THAT(parts_of(StatisticKind::regression, Neighbors::add_remove),
              ElementsAre("count", "sum_y", "sum_x1", "products_x1_y", "squares_x1"));
  EXPECT_THAT(parts_of(StatisticKind::regression, Neighbors::add_remove, 3),
              ElementsAre("count", "sum_y", "sum_x1", "sum_x2", "products_x1_y", "products_x2_y",
                          "squares_x1", "products_x1_x2", "squares_x2"));
  EXPECT_THAT(parts_of(StatisticKind::regression, Neighbors::change_one, 3),
              ElementsAre("mean_y", "mean_x1", "mean_x2", "covariance_x1_y", "covariance_x2_y", "variance_x1",
                          "covariance_x1_x2", "variance_x2"));
  const Plan plan(Specification::parse(
      add_remove + budget +
          regression(replaced(plane, "\"1e8\"", "45") + "split = [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"),
      "s.toml"));
  const std::vector<PlannedMeasurement>& parts = plan.statistics().front().measurements;
  ASSERT_EQ(parts.size(), 9U);
  EXPECT_EQ(parts[5].measurement.mechanism().sensitivity(), Dyadic(500));   // educ and income, 10 by 50
  EXPECT_EQ(parts[6].measurement.mechanism().sensitivity(), Dyadic(1600));  // age and age, 40 by 40
  EXPECT_THAT(parts[5].columns, ElementsAre("educ", "income", "age"));
  EXPECT_THAT(parts[5].centers, ElementsAre(Dyadic(10), Dyadic(50)));
  EXPECT_EQ(parts[0].epsilon, Rational(5));
  EXPECT_EQ(plan.epsilon(), Rational(45));
  EXPECT_FALSE(plan.statistics().front().accuracy);
  EXPECT_THAT(plan.to_table({.utility = true}), HasSubstr("products_x1_x2"));
  EXPECT_THAT(plan.to_table(), Not(HasSubstr("expected_size")));
  EXPECT_THAT(plan.explanation(), HasSubstr("regression of \"income\" on \"age\" and \"educ\""));
}

// Every view names the coefficients, now and from what a ledger keeps; where nothing is known it says so.
TEST(RegressionKind, ViewsTellEachCoefficient) {
  for (const bool told : {true, false}) {
    for (const std::string groups : {"", "group_by = \"key\"\nkeys = [1, 2]\n"}) {
      const std::string keys = (told ? plane : replaced(plane, "\"1e8\"", "\"1e-3\"")) + rarely;
      const Plan plan(Specification::parse(add_remove + budget + regression(keys + groups), "s.toml"));
      const Report report = released(plan, People(400));
      EXPECT_EQ(Report::from_json(report.json()).to_table(), report.to_table());
      EXPECT_EQ(Report::from_json(report.json()).to_csv(), report.to_csv());
      const Json statistic = statistic_of(report);
      const Json& coefficients =
          (groups.empty() ? statistic : statistic.at("groups").at(0)).at("coefficients");
      EXPECT_EQ(coefficients.at(2).at("interval").at(0).is_null(), !told);
      for (const std::string& view : {report.to_table(), report.to_html(), report.to_markdown()}) {
        EXPECT_THAT(view, HasSubstr("intercept"));
        EXPECT_THAT(view, HasSubstr("educ"));
        EXPECT_THAT(view, HasSubstr("egression of income on age and educ"));
        EXPECT_EQ(view.find("tells nothing") == std::string::npos, told);
        EXPECT_THAT(view, Not(HasSubstr("inf")));
      }
      const std::string line = groups.empty() ? "r,,age," : "r,1,age,";
      EXPECT_THAT(report.to_csv(), HasSubstr(line));
      const Json warnings = Json::parse(report.json()).at("warnings");
      if (!told) {
        EXPECT_EQ(warnings.at(0).at("coefficient"), "intercept");
      }
      EXPECT_GE(Report::rehearse(plan).length, report.json().size());
    }
  }
}

TEST(RegressionKind, AnIntervalThatHolds0IsNotSure) {
  const Plan plan(Specification::parse(add_remove + budget + regression(plane + rarely), "s.toml"));
  // Rows of (income, age): no slope at all, and educ a little.
  People people(4);
  people.income = {60, 40, 60, 40};
  people.age = {20, 20, 60, 60};
  people.educ = {2, 4, 4, 2};
  const Json json = Json::parse(released(plan, people).json());
  ASSERT_EQ(json.at("warnings").size(), 2U);  // of both slopes, and not of the intercept
  EXPECT_EQ(json.at("warnings").at(0).at("kind"), "sign_not_told");
  EXPECT_EQ(json.at("warnings").at(0).at("coefficient"), "age");
}

TEST(RegressionKind, ReportsThatAreNoneAreRefused) {
  const Plan plan(Specification::parse(add_remove + budget + regression(plane), "s.toml"));
  const std::string json = released(plan, People(400)).json();
  for (const auto& [was, becomes] : std::vector<std::pair<std::string, std::string>>{
           {"\"coefficients\": [", "\"coefficients\": [1, "},
           {"\"coefficients\": [", "\"coefficients\": [], \"was\": ["},
           {"\"name\": \"age\"", "\"name\": 1"},
           {"\"interval\": [", "\"interval\": [\"1\", "},
           {"\"alpha\": \"0.05\",\n      \"coefficients\"", "\"coefficients\""}}) {
    try {
      Report::from_json(replaced(json, was, becomes));
      ADD_FAILURE() << becomes;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data) << becomes;
    }
  }
}

TEST(RegressionKind, WhatIsWrongIsRefusedWithTheNextStep) {
  const auto refused = [](const std::string& was, const std::string& becomes,
                          const std::string& head = add_remove) {
    return refusal(head + budget + regression(replaced(plane, was, becomes)));
  };
  EXPECT_EQ(refused("epsilon", "epsilon"), "accepted");
  EXPECT_THAT(refused("y = \"income\"\n", ""), HasSubstr("y is missing; name the column"));
  EXPECT_THAT(refused("x = [\"age\", \"educ\"]\n", ""), HasSubstr("x is missing; list the columns"));
  EXPECT_THAT(refused("\"educ\"]", "\"income\"]"), HasSubstr("names y, \"income\""));
  EXPECT_THAT(refused("\"educ\"]", "\"age\"]"), HasSubstr("names \"age\" twice"));
  EXPECT_THAT(refused("\"educ\"]", "\"intercept\"]"), HasSubstr("must not name a column \"intercept\""));
  EXPECT_THAT(refused("[\"age\", \"educ\"]", "[]"), HasSubstr("must name 1 to 7 columns beside y"));
  const std::string eight = R"(["a", "b", "c", "d", "e", "f", "g", "h"])";
  EXPECT_THAT(refused("[\"age\", \"educ\"]", eight), HasSubstr("must name 1 to 7 columns beside y"));
  EXPECT_THAT(refused("[\"age\", \"educ\"]", "\"age\""), HasSubstr("x = \"age\""));
  EXPECT_THAT(refused("bounds = [[0, 100], [0, 80], [0, 20]]\n", ""),
              HasSubstr("declare public bounds of all columns, that of y first"));
  EXPECT_THAT(refused("[[0, 100], [0, 80], [0, 20]]", "[[0, 100], [0, 80]]"),
              HasSubstr("a pair for each of the 3 columns"));
  EXPECT_THAT(refused("[[0, 100], [0, 80], [0, 20]]", "[[0, 100], [0, 80], 3]"),
              HasSubstr("a pair for each of the 3 columns"));
  EXPECT_THAT(refused("[0, 80]", "[7, 7]"), HasSubstr("of \"age\": bounds that are equal"));
  EXPECT_THAT(refused("[0, 80]", "[0, 1e200]"), HasSubstr("beyond the largest double"));
  EXPECT_THAT(refused("epsilon = \"1e8\"", "accuracy = 0.1"), HasSubstr("does not apply to a regression"));
  for (const std::string more :
       {"range = [0, 1]", "guesses = [1]", "column = \"a\"", "columns = [\"a\", \"b\"]",
        "expected_mean = [1]", "nonnegative = true", "order = 2"}) {
    EXPECT_THAT(refusal(add_remove + budget + regression(plane + more + "\n")),
                HasSubstr("does not apply to a regression"))
        << more;
  }
  EXPECT_THAT(refusal(add_remove + budget + regression(plane + "column = \"a\"\n")),
              HasSubstr("use y = \"income\" and x ="));
  EXPECT_THAT(refusal(add_remove + budget + regression(plane + "split = [1, 2]\n")),
              HasSubstr("must have 9 weights above 0"));
  EXPECT_THAT(refusal(add_remove + budget +
                      regression(plane + "group_by = \"k\"\nkeys = [1, 2]\ndifferences = [[1, 2]]\n")),
              HasSubstr("more than one number"));
  const std::string seven =
      "y = \"y\"\nx = [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\"]\nepsilon = 1\nbounds = "
      "[[0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1]]\n";
  for (const std::string& head : {add_remove, change_one})
    EXPECT_EQ(refusal(head + budget + regression(seven)), "accepted");
  EXPECT_THAT(refusal(add_remove + budget + regression(seven + "group_by = \"k\"\nkeys = [1]\n")),
              HasSubstr("must name 1 to 6 columns beside y and the column of the groups"));
  EXPECT_THAT(refusal(replaced(change_one, "400", "1") + budget + regression(plane)),
              HasSubstr("needs size >= 2"));
  EXPECT_THAT(refusal(add_remove + "[columns.educ]\ntype = \"text\"\n" + budget + regression(plane)),
              HasSubstr("x = [\"age\", \"educ\"]: is declared as text"));
  EXPECT_THAT(refusal(add_remove + "[columns.income]\ntype = \"text\"\n" + budget + regression(plane)),
              HasSubstr("y = \"income\": is declared as text"));
  EXPECT_THAT(refusal(add_remove + budget + "[[statistic]]\nname = \"r\"\nkind = \"ols\"\n" + plane),
              HasSubstr("regression"));
}

TEST(RegressionKind, TakesDeclaredBoundsAndTypes) {
  const std::string columns =
      "[columns.income]\nbounds = [0, 100]\ntype = \"integer\"\n[columns.age]\nbounds = [0, 80]\ntype = "
      "\"integer\"\n[columns.educ]\nbounds = [1, 20]\ntype = \"integer\"\n";
  const Plan plan(Specification::parse(
      add_remove + columns + budget + regression("y = \"income\"\nx = [\"age\", \"educ\"]\nepsilon = 1\n"),
      "s.toml"));
  const PlannedStatistic& planned = plan.statistics().front();
  EXPECT_EQ(planned.specification.type, AtomType::integer);
  EXPECT_EQ(planned.bounds[2].lower(), Dyadic(1));
  const Report report = [&] {
    std::vector<std::vector<Dyadic>> zeros(planned.measurements.size(), {Dyadic(0)});
    return Report(plan, {zeros}, 1, 1, 0);
  }();
  // Nothing was in the data: a placeholder that says so.
  const Json json = Json::parse(report.json());
  EXPECT_EQ(json.at("statistics").at(0).at("coefficients").at(0).at("value"), 50.0);
  EXPECT_EQ(json.at("statistics").at(0).at("coefficients").at(1).at("value"), 0.0);
  EXPECT_THAT(report.to_table(), HasSubstr("placeholder"));
}

}  // namespace
}  // namespace snapdp
