#include "snapdp/release/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "release/replace.h"
#include "snapdp/error.h"
#include "snapdp/statistics/from_parts.h"
#include "snapdp/statistics/noisy_parts.h"

namespace snapdp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* change_one_head = R"([data]
dataset = "d"
neighbors = "change-one"
size = 10000
[budget]
epsilon = 10
)";
constexpr const char* add_remove_head = R"([data]
dataset = "d"
neighbors = "add-remove"
[budget]
epsilon = 10
)";

Plan plan_of(const std::string& head, const std::string& statistics) {
  return Plan(Specification::parse(head + statistics, "s.toml"));
}

std::string statistic(const std::string& name, const std::string& keys) {
  return "[[statistic]]\nname = \"" + name + "\"\n" + keys + "\n";
}

Error refusal(const std::string& head, const std::string& statistics) {
  try {
    plan_of(head, statistics).require_affordable();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::io, "", "accepted " + statistics);
}

Rational sensitivity(const PlannedStatistic& planned) {
  return planned.measurements.at(0).measurement.mechanism().sensitivity().rational();
}

TEST(Plan, PutsRealCellsOnAGridWhereThatIsAsked) {
  const std::string head = add_remove_head;
  const std::string declared =
      replaced(head, "[budget]", "row_grid = \"auto\"\nexpected_size = 1000000\n[budget]");
  const std::string mean = "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 100]\nepsilon = 1\n";
  const auto grids = [&](const std::string& of_head, const std::string& keys) {
    return plan_of(of_head, statistic("s", keys)).statistics().at(0).row_grids;
  };
  EXPECT_THAT(grids(head, mean), testing::IsEmpty());
  // 64 is the largest power of two <= the width; 10 + ceil(log2(10^6 rows * budget 10)) = 34 bits below it.
  EXPECT_THAT(grids(declared, mean), ElementsAre(Grid(6 - 34)));
  // Of a private number of rows nobody guesses: as fine as sums of cells near 128 can be; and squares want one bit more.
  EXPECT_THAT(grids(head, mean + "row_grid = \"auto\"\n"), ElementsAre(Grid(7 - 51)));
  EXPECT_THAT(grids(declared, replaced(mean, "mean", "variance")), ElementsAre(Grid(6 - 35)));
  EXPECT_THAT(grids(declared, mean + "row_grid = \"2^-3\"\n"), ElementsAre(Grid(-3)));
  EXPECT_THAT(grids(declared, mean + "row_grid = \"none\"\n"), testing::IsEmpty());
  EXPECT_THAT(grids(declared, mean + "type = \"integer\"\n"), testing::IsEmpty());
  EXPECT_THAT(grids(declared, "kind = \"count\"\nepsilon = 1\n"), testing::IsEmpty());
  EXPECT_THAT(
      grids(declared, "kind = \"median\"\ncolumn = \"x\"\nbounds = [0, 100]\nresolution = 1\nepsilon = 1\n"),
      testing::IsEmpty());
  EXPECT_EQ(grids(declared,
                  "kind = \"covariance\"\ncolumns = [\"x\", \"y\"]\nbounds = [[0, 100], [0, 1]]\n"
                  "epsilon = 1\n")
                .size(),
            2U);
}

// A mean of cells in the middles of their steps may lie beyond the bounds; no released one does.
TEST(Plan, ARowGridDoesNotMoveThePublicRange) {
  const auto range = [](const std::string& more) {
    return plan_of(change_one_head,
                   statistic("s", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 100]\nepsilon = 1\n" + more))
        .statistics()
        .at(0)
        .measurements.at(0)
        .measurement.mechanism()
        .upper();
  };
  EXPECT_EQ(range("row_grid = \"2^3\"\n"), range(""));
  EXPECT_EQ(range(""), 100.0);
}

// Half a spacing for each of as many rows as are expected is below a thousandth of the noise.
TEST(Plan, TheAutomaticRowGridIsFineBesideTheNoise) {
  for (const std::string size : {"10", "1000", "30000000", "1000000000"}) {
    const Plan plan = plan_of(
        replaced(add_remove_head, "[budget]", "row_grid = \"auto\"\nexpected_size = " + size + "\n[budget]"),
        statistic("s", "kind = \"sum\"\ncolumn = \"x\"\nbounds = [-3, 100]\nepsilon = 10\n"));
    const PlannedStatistic& planned = plan.statistics().at(0);
    const Rational moved = Rational(size) * planned.row_grids.at(0).spacing().rational() / 2;
    EXPECT_LT(moved, planned.measurements.at(0).measurement.mechanism().scale() / 1024) << size;
  }
}

TEST(Plan, TellsOfTheRowGridAndExplainsIt) {
  const Plan plan = plan_of(change_one_head, statistic("age",
                                                       "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 100]\n"
                                                       "epsilon = 1\nrow_grid = \"2^-3\"\n"));
  EXPECT_THAT(plan.to_table(),
              HasSubstr("age: each cell is put on a grid first, at most 0.0625 from where it was"));
  EXPECT_THAT(plan.explanation(), HasSubstr("middles of steps of 2^-3"));
  EXPECT_EQ(Json::parse(plan.to_json())["statistics"][0]["row_grid"], Json({"0.125"}));
  // The width, and with it the sensitivity, is as before; the range moves by half a spacing.
  EXPECT_EQ(
      sensitivity(plan.statistics().at(0)),
      sensitivity(plan_of(change_one_head, statistic("age",
                                                     "kind = \"mean\"\n"
                                                     "column = \"x\"\nbounds = [0, 100]\nepsilon = 1\n"))
                      .statistics()
                      .at(0)));
}

TEST(Plan, RefusesRowGridsThatMakeNoSense) {
  const std::string sum = "kind = \"sum\"\ncolumn = \"x\"\nbounds = [0, 100]\nepsilon = 1\n";
  for (const std::string value : {"\"fine\"", "0.5", "\"3\"", "\"2^-60\"", "true"}) {
    EXPECT_EQ(refusal(add_remove_head, statistic("s", sum + "row_grid = " + value + "\n")).parameter(),
              "row_grid")
        << value;
  }
  EXPECT_EQ(refusal(add_remove_head, statistic("s", "kind = \"count\"\nepsilon = 1\nrow_grid = \"auto\"\n"))
                .parameter(),
            "row_grid");
  EXPECT_EQ(
      refusal(add_remove_head, statistic("s", sum + "type = \"integer\"\nrow_grid = \"auto\"\n")).parameter(),
      "row_grid");
  EXPECT_EQ(
      refusal(replaced(add_remove_head, "[budget]", "row_grid = \"2^-3\"\n[budget]"), statistic("s", sum))
          .parameter(),
      "row_grid");
}

TEST(Plan, EveryKindHasTheSensitivityOfItsTable) {
  const Plan plan = plan_of(
      change_one_head,
      statistic("sum",
                "kind = \"sum\"\ncolumn = \"x\"\ntype = \"integer\"\nbounds = [-5, 10]\nepsilon = 0.5") +
          statistic("mean", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 100]\nepsilon = 0.5") +
          statistic("variance", "kind = \"variance\"\ncolumn = \"x\"\nbounds = [0, 100]\nepsilon = 0.5") +
          statistic("covariance",
                    "kind = \"covariance\"\ncolumns = [\"x\", \"y\"]\nbounds = [[0, 100], [0, 10]]\nepsilon "
                    "= 0.5") +
          statistic("histogram", "kind = \"histogram\"\ncolumn = \"x\"\ncategories = [1, 2]\nepsilon = 0.5"));
  ASSERT_EQ(plan.statistics().size(), 5U);
  EXPECT_EQ(plan.epsilon(), Rational(5, 2));
  const std::vector<Rational> exact = {15, Rational(1, 100), 1, Rational(1, 10), 2};
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const PlannedStatistic& planned = plan.statistics()[i];
    // Raised to the grid of the statistic, by less than 2^-40 of itself.
    EXPECT_GE(sensitivity(planned), exact[i]);
    EXPECT_LE(sensitivity(planned), exact[i] * (1 + Rational(1, 1L << 40)));
    EXPECT_LE(planned.loss_bound, planned.cost.value);
    EXPECT_GE(planned.loss_bound, planned.cost.value * (1 - Rational(1, 1L << 52)));
    ASSERT_TRUE(planned.accuracy.has_value());
    EXPECT_GT(planned.accuracy->tight, 0);
    EXPECT_LE(planned.accuracy->tight, planned.accuracy->conservative);
    EXPECT_EQ(planned.accuracy->simultaneous.has_value(), i == 4);
  }
  EXPECT_GT(*plan.statistics()[4].accuracy->simultaneous, plan.statistics()[4].accuracy->tight);
  EXPECT_THAT(plan.statistics()[4].bins, ElementsAre("1", "2"));
  // Public ranges with both ends finite clamp the output.
  EXPECT_EQ(plan.statistics()[0].measurements[0].measurement.mechanism().lower(), -50000);
  EXPECT_EQ(plan.statistics()[1].measurements[0].measurement.mechanism().upper(), 100);
  EXPECT_EQ(plan.statistics()[4].measurements[0].measurement.mechanism().upper(), 10000);
}

TEST(Plan, AHistogramOfOneBinIsOneCount) {
  const auto scale = [](const std::string& keys) {
    const Plan plan = plan_of(
        change_one_head, statistic("h", "kind = \"histogram\"\ncolumn = \"x\"\n" + keys + "\nepsilon = 0.5"));
    return plan.statistics()[0].measurements[0].measurement.mechanism().scale();
  };
  EXPECT_EQ(scale("categories = [1]"), 2);
  EXPECT_EQ(scale("edges = [0, 18]"), 2);
  EXPECT_EQ(scale("categories = [1]\nother = \"bin\""), 4);
  EXPECT_EQ(scale("categories = [1, 2]"), 4);
  EXPECT_THAT(plan_of(change_one_head,
                      statistic("h", "kind = \"histogram\"\ncolumn = \"x\"\ncategories = [1]\nepsilon = 1"))
                  .to_table({.utility = true}),
              HasSubstr("histogram, 1 bin "));
}

TEST(Plan, PrecisionModeCountsEveryNumberThatDiffers) {
  const Plan plan =
      plan_of(change_one_head, statistic("h",
                                         "kind = \"histogram\"\ncolumn = \"x\"\ncategories = [1, 2, "
                                         "3]\nepsilon = 0.5\nmode = \"precision\"") +
                                   statistic("q",
                                             "kind = \"median\"\ncolumn = \"x\"\nedges = [0, 1, 2, 3, "
                                             "4]\nepsilon = 0.5\nmode = \"precision\""));
  EXPECT_EQ(plan.epsilon(), 1);
  for (const PlannedStatistic& planned : plan.statistics()) {
    const Measurement& measurement = planned.measurements[0].measurement;
    EXPECT_EQ(planned.certificate.bound, measurement.loss());
    EXPECT_LE(planned.certificate.bound, Rational(1, 2));
    EXPECT_GT(planned.certificate.witness, Rational(1, 2) - Rational(0x1p-90));
    EXPECT_FALSE(planned.certificate.notes_claim);
    EXPECT_TRUE(planned.certificate.covers(planned.cost.value));
    EXPECT_EQ(measurement.price().epsilon, planned.cost.value);
  }
  EXPECT_EQ(plan.statistics()[0].measurements[0].measurement.mechanism().coordinates(), 2U);
  EXPECT_EQ(plan.statistics()[1].measurements[0].measurement.mechanism().coordinates(), 2U);
  EXPECT_THAT(plan.explanation(), HasSubstr("proved"));
  EXPECT_EQ(Json::parse(plan.to_json()).at("statistics").at(0).at("loss_basis"), "proved");
}

TEST(Plan, UnderAddRemoveNothingIsClampedToARangeThatDependsOnTheRows) {
  const Plan plan = plan_of(
      add_remove_head,
      statistic("count", "kind = \"count\"\nepsilon = 0.5") +
          statistic("sum", "kind = \"sum\"\ncolumn = \"x\"\nbounds = [-5, 3]\nepsilon = 0.5") +
          statistic("histogram", "kind = \"histogram\"\ncolumn = \"x\"\nedges = [0, 1]\nepsilon = 1"));
  EXPECT_EQ(sensitivity(plan.statistics()[0]), 1);
  EXPECT_EQ(sensitivity(plan.statistics()[1]), 5);
  EXPECT_EQ(sensitivity(plan.statistics()[2]), 1);
  for (const PlannedStatistic& planned : plan.statistics()) {
    EXPECT_FALSE(planned.measurements[0].measurement.mechanism().lower().has_value());
    EXPECT_FALSE(planned.measurements[0].measurement.mechanism().upper().has_value());
  }
}

TEST(Plan, AMeanUnderAddRemoveIsTwoReleases) {
  const std::string keys =
      "kind = \"mean\"\ncolumn = \"x\"\nbounds = [10, 20]\nepsilon = 0.1\nsplit = [2, 1]";
  const Plan plan = plan_of(add_remove_head, statistic("mean", keys));
  const PlannedStatistic& mean = plan.statistics()[0];
  ASSERT_EQ(mean.measurements.size(), 2U);
  EXPECT_EQ(mean.measurements[0].part, "sum");
  EXPECT_EQ(mean.measurements[0].epsilon, Rational(1, 15));
  EXPECT_EQ(mean.measurements[1].part, "count");
  EXPECT_EQ(mean.measurements[1].epsilon, Rational(1, 30));
  EXPECT_EQ(mean.cost.value, Rational(1, 10));
  EXPECT_EQ(sensitivity(mean), 5);
  EXPECT_FALSE(mean.accuracy.has_value());

  const std::string head = replaced(add_remove_head, "[budget]", "expected_size = 5000\n[budget]");
  const Plan expected = plan_of(head, statistic("mean", keys));
  ASSERT_TRUE(expected.statistics()[0].accuracy.has_value());
  const StatisticAccuracy planned = *expected.statistics()[0].accuracy;
  const NoisyPart sum{0, mean.measurements[0].measurement.mechanism().noise()};
  const NoisyPart count{
      .value = 0, .noise = mean.measurements[1].measurement.mechanism().noise(), .integer = true};
  EXPECT_NEAR(planned.tight, planned_mean_accuracy(Bounds(10, 20), 5000, count, sum, 0.05), 1e-6);
  const double of_sum = mean.measurements[0].accuracy.conservative;
  const double of_count = mean.measurements[1].accuracy.conservative;
  EXPECT_NEAR(planned.conservative, (5 * of_count + of_sum) / (5000 - of_count), 1e-9);
  EXPECT_LT(planned.tight, 0.7 * planned.conservative);
}

TEST(Plan, WhatIsComputedFromPartsHasAnAccuracyWhereItCanBeTold) {
  const std::string x = "column = \"x\"\nbounds = [0, 100]\nepsilon = 0.1";
  const std::string xy = "columns = [\"x\", \"y\"]\nbounds = [[0, 100], [0, 1]]\nepsilon = 0.1";
  const std::string variance = statistic("v", "kind = \"variance\"\n" + x);
  const std::string deviation = statistic("s", "kind = \"standard_deviation\"\n" + x);
  const std::string covariance = statistic("c", "kind = \"covariance\"\n" + xy);
  const std::string correlation = statistic("r", "kind = \"correlation\"\n" + xy);
  const std::string groups =
      statistic("g", "kind = \"variance\"\n" + x + "\ngroup_by = \"k\"\nkeys = [1, 2]");
  const std::string head = replaced(add_remove_head, "[budget]", "expected_size = 5000\n[budget]");
  const Plan expected = plan_of(head, variance + deviation + covariance + correlation + groups);
  const auto& statistics = expected.statistics();
  const auto part = [](const PlannedStatistic& planned, const std::string& name) {
    for (const PlannedMeasurement& measurement : planned.measurements) {
      if (measurement.part != name) continue;
      const StatisticDomain& domain = measurement.measurement.aggregation().output_domain();
      const Rational rounding = domain.integer ? Rational(0) : Rational(domain.grid.spacing().rational() / 2);
      return NoisyPart{0, measurement.measurement.mechanism().noise(), rounding, domain.integer};
    }
    throw std::logic_error("no such part");
  };
  EXPECT_EQ(statistics[0].accuracy->tight,
            planned_variance_accuracy(Bounds(0, 100), 5000, part(statistics[0], "count"),
                                      part(statistics[0], "sum"), part(statistics[0], "squares"), 0.05));
  EXPECT_EQ(statistics[1].accuracy->tight,
            planned_standard_deviation_accuracy(Bounds(0, 100), statistics[0].accuracy->tight));
  EXPECT_EQ(statistics[2].accuracy->tight,
            planned_covariance_accuracy(Bounds(0, 100), Bounds(0, 1), 5000, part(statistics[2], "count"),
                                        part(statistics[2], "sum_x"), part(statistics[2], "sum_y"),
                                        part(statistics[2], "products"), 0.05));
  EXPECT_FALSE(statistics[3].accuracy.has_value());
  EXPECT_FALSE(statistics[4].accuracy.has_value());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GE(statistics[i].accuracy->conservative, statistics[i].accuracy->tight);
    // Of a count in whole numbers less may be missed than of Laplace noise as it is.
    EXPECT_LE(statistics[i].accuracy->laplace, statistics[i].accuracy->conservative);
  }
  // Without a size, nothing; under change-one the variance is released itself.
  const Plan unknown = plan_of(add_remove_head, variance + deviation + covariance);
  for (const PlannedStatistic& planned : unknown.statistics()) EXPECT_FALSE(planned.accuracy.has_value());
  const Plan change_one = plan_of(change_one_head, variance + deviation + correlation);
  EXPECT_EQ(change_one.statistics()[1].accuracy->tight,
            planned_standard_deviation_accuracy(Bounds(0, 100), change_one.statistics()[0].accuracy->tight));
  EXPECT_FALSE(change_one.statistics()[2].accuracy.has_value());
}

TEST(Plan, TheLeastEpsilonThatIsAccurateEnough) {
  const auto plan_for = [](const std::string& head, const std::string& name, const std::string& keys) {
    return plan_of(head, statistic(name, keys));
  };
  const std::string head = replaced(add_remove_head, "[budget]", "expected_size = 5000\n[budget]");
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {change_one_head, "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 100]\naccuracy = 0.25\nalpha = 0.01"},
      {change_one_head,
       "kind = \"sum\"\ncolumn = \"x\"\ntype = \"integer\"\nbounds = [0, 100]\naccuracy = 2000"},
      {change_one_head,
       "kind = \"histogram\"\ncolumn = \"x\"\ncategories = [1, 2, 3]\naccuracy = 20\ngrid = \"notes\""},
      {head, "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 100]\naccuracy = 0.25"},
      {head, "kind = \"variance\"\ncolumn = \"x\"\nbounds = [0, 100]\naccuracy = 60"},
      {head, "kind = \"standard_deviation\"\ncolumn = \"x\"\nbounds = [0, 100]\naccuracy = 9"},
      {head, "kind = \"covariance\"\ncolumns = [\"x\", \"y\"]\nbounds = [[0, 100], [0, 1]]\naccuracy = 1"},
      {change_one_head, "kind = \"standard_deviation\"\ncolumn = \"x\"\nbounds = [0, 100]\naccuracy = 2"},
      {change_one_head,
       "kind = \"standard_deviation\"\ncolumn = \"x\"\nbounds = [0, 100]\naccuracy = 2\nmode = "
       "\"precision\""},
      {head, "kind = \"count\"\naccuracy = 10"}};
  for (const auto& [start, keys] : wanted) {
    const Plan plan = plan_for(start, "x", keys);
    const PlannedStatistic& planned = plan.statistics()[0];
    EXPECT_LE(planned.accuracy->tight, *planned.specification.accuracy) << keys;
    // One step of 2^-60 less is not enough.
    const Rational less = planned.cost.value - Dyadic(Integer(1), -60).rational();
    const std::string cheaper = replaced(keys, "accuracy = ", "epsilon = \"" + less.get_str() + "\" # ");
    EXPECT_GT(plan_for(start, "x", cheaper).statistics()[0].accuracy->tight, *planned.specification.accuracy)
        << keys;
    EXPECT_EQ(Integer((Integer(1) << 60) % planned.cost.value.get_den()), 0);
  }
}

TEST(Plan, PublicConstantsCostNothing) {
  const Plan plan =
      plan_of(change_one_head,
              statistic("count", "kind = \"count\"\nepsilon = 1") +
                  statistic("sum", "kind = \"sum\"\ncolumn = \"x\"\ntype = \"integer\"\nbounds = [7, 7]") +
                  statistic("mean", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [-0.0, 0]") +
                  statistic("variance", "kind = \"variance\"\ncolumn = \"x\"\nbounds = [0.1, 0.1]") +
                  statistic("covariance",
                            "kind = \"covariance\"\ncolumns = [\"x\", \"y\"]\nbounds = [[0, 1], [3, 3]]"));
  EXPECT_EQ(plan.epsilon(), 0);
  const std::vector<Dyadic> constants = {10000, 70000, 0, 0, 0};
  for (std::size_t i = 0; i < constants.size(); ++i) {
    EXPECT_EQ(plan.statistics()[i].constant, constants[i]);
    EXPECT_TRUE(plan.statistics()[i].measurements.empty());
  }
  EXPECT_THAT(plan.to_table(), HasSubstr("exact, a public constant"));
  // Under add/remove a sum of equal values still tells how many there are.
  const Plan add_remove =
      plan_of(add_remove_head,
              statistic("sum", "kind = \"sum\"\ncolumn = \"x\"\nbounds = [7, 7]\nepsilon = 1") +
                  statistic("zero", "kind = \"sum\"\ncolumn = \"x\"\nbounds = [0, 0]\nepsilon = 1") +
                  statistic("mean", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [7, 7]\nepsilon = 1"));
  EXPECT_EQ(sensitivity(add_remove.statistics()[0]), 7);
  EXPECT_EQ(add_remove.statistics()[1].constant, Dyadic(0));
  EXPECT_EQ(add_remove.statistics()[2].constant, Dyadic(7));
  EXPECT_EQ(add_remove.epsilon(), 1);
}

TEST(Plan, DecimalBoundsRoundOutward) {
  const Plan plan = plan_of(
      change_one_head,
      statistic("real", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0.1, 0.7]\nepsilon = 1") +
          statistic(
              "integer",
              "kind = \"mean\"\ncolumn = \"x\"\ntype = \"integer\"\nbounds = [-0.5, 0.7]\nepsilon = 1"));
  const Bounds& real = plan.statistics()[0].bounds[0];
  EXPECT_LT(real.lower().rational(), Rational(1, 10));
  EXPECT_GT(real.upper().rational(), Rational(7, 10));
  EXPECT_EQ(std::nextafter(real.lower().to_double_nearest(), 1), 0.1);
  EXPECT_EQ(real.upper().to_double_nearest(), std::nextafter(0.7, 1));
  EXPECT_EQ(plan.statistics()[1].bounds[0], Bounds(-1, 1));
}

// What is not declared is real, whatever a file's schema says.
TEST(Plan, TypesComeFromTheStatisticOrTheDeclaration) {
  const std::string sum = statistic("s", "kind = \"sum\"\ncolumn = \"x\"\nbounds = [0, 9]\nepsilon = 0.001");
  const auto is_integer = [](const Plan& plan) {
    return plan.statistics()[0].measurements[0].measurement.aggregation().output_domain().integer;
  };
  EXPECT_FALSE(is_integer(plan_of(change_one_head, sum)));
  EXPECT_FALSE(
      is_integer(plan_of(replaced(change_one_head, "dataset", "path = \"x.parquet\"\ndataset"), sum)));
  EXPECT_TRUE(is_integer(plan_of(change_one_head, replaced(sum, "bounds", "type = \"integer\"\nbounds"))));
  const std::string integer = "[columns.x]\ntype = \"integer\"\n";
  EXPECT_TRUE(is_integer(plan_of(change_one_head, integer + sum)));
  const std::string covariance = statistic(
      "c", "kind = \"covariance\"\ncolumns = [\"x\", \"y\"]\nbounds = [[0, 1], [0, 1]]\nepsilon = 1");
  const std::string both = integer + "[columns.y]\ntype = \"integer\"\n";
  const auto type = [&](const std::string& columns) {
    return plan_of(change_one_head, columns + covariance).specification().statistics[0].type;
  };
  EXPECT_EQ(type(""), std::nullopt);
  EXPECT_EQ(type(integer), AtomType::real);
  EXPECT_EQ(type(both), AtomType::integer);
}

TEST(Plan, BeyondItsBudgetItCanBeLookedAt) {
  const std::string fixed = statistic("fixed", "kind = \"count\"\nepsilon = 12");
  const std::string weighed = statistic("weighed", "kind = \"count\"\nweight = 1");
  const Plan plan = plan_of(add_remove_head, weighed + fixed);
  EXPECT_FALSE(plan.is_affordable());
  EXPECT_EQ(plan.epsilon(), 12);
  EXPECT_THAT(plan.unpaid(), ElementsAre("weighed"));
  ASSERT_EQ(plan.statistics().size(), 1U);
  EXPECT_EQ(plan.statistics()[0].specification.name, "fixed");
  EXPECT_THAT(plan.to_table(), AllOf(HasSubstr("fixed"), HasSubstr("weighed")));
  EXPECT_FALSE(plan.to_json().empty());
  // All of the budget: nothing is left to share, but it is not exceeded.
  const Plan full = plan_of(add_remove_head, replaced(fixed, "12", "10") + weighed);
  EXPECT_FALSE(full.is_affordable());
  EXPECT_EQ(refusal(add_remove_head, replaced(fixed, "12", "10") + weighed).parameter(), "weight");
  EXPECT_TRUE(plan_of(add_remove_head, replaced(fixed, "12", "10")).is_affordable());
}

// The first line that people read.
TEST(Plan, SaysWhatItHides) {
  const std::string count = statistic("n", "kind = \"count\"\nepsilon = 1");
  const std::string mean = statistic("m", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1]\nepsilon = 1");
  const std::string unit =
      replaced(add_remove_head, "[budget]", "privacy_unit = \"pid\"\nmax_rows_per_unit = 3\n[budget]");
  EXPECT_THAT(
      one_line(plan_of(unit, count).to_table()),
      HasSubstr(
          "Nobody can tell, beyond a factor e^1, whether any one person (column pid, up to 3 rows) is in the "
          "data."));
  EXPECT_THAT(one_line(plan_of(add_remove_head, count).to_table()),
              HasSubstr("whether any one row is in the data."));
  EXPECT_THAT(one_line(plan_of(change_one_head, mean).to_table()), HasSubstr("what any one row says."));
}

TEST(Plan, FitsIntoEightyColumns) {
  const std::string name =
      "a name of \xc3\xa4 that is longer than any column of a table can be, and then some more of it";
  const Plan plan = plan_of(
      add_remove_head,
      statistic(name, "kind = \"histogram\"\ncolumn = \"x\"\ncategories = [1, 2, 3]\nepsilon = 0.123456") +
          statistic("m",
                    "kind = \"correlation\"\ncolumns = [\"x\", \"y\"]\nbounds = [[0, 1], [0, "
                    "1e100]]\nepsilon = 11"));
  for (const TerminalStyle::Marks marks :
       {TerminalStyle::Marks::none, TerminalStyle::Marks::ascii, TerminalStyle::Marks::utf8}) {
    std::istringstream lines(
        plan.to_table({.style = {.marks = marks}, .ledger = LedgerBalance{20, 1, 19, 1, {}}}));
    std::string line;
    while (std::getline(lines, line)) {
      const auto columns = std::count_if(
          line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; });
      EXPECT_LE(columns, 80) << line;
    }
  }
}

TEST(Plan, SaysWhatWouldFit) {
  const std::string statistics =
      statistic("a", "kind = \"count\"\nepsilon = 8") + statistic("b", "kind = \"count\"\nepsilon = 4");
  const Plan plan = plan_of(add_remove_head, statistics);
  EXPECT_THAT(one_line(plan.to_table()),
              AllOf(HasSubstr("12 of the 10 that [budget] allows: it does not fit."),
                    HasSubstr("fit with every epsilon times 0.83, and accuracies about 1.2 times as wide, or "
                              "without \"a\".")));
  // The ledger may have less.
  EXPECT_THAT(
      one_line(plan.to_table({.ledger = LedgerBalance{20, 17, 3, 1, {}}})),
      AllOf(HasSubstr("and the 3 that the ledger has left: it does not fit."), HasSubstr("times 0.25")));
  EXPECT_THAT(one_line(plan.to_table({.ledger = LedgerBalance{20, 20, 0, 1, {}}})),
              HasSubstr("Nothing is left to spend"));
}

TEST(Plan, WarnsBeforePaying) {
  const auto messages = [](const Plan& plan, const std::optional<LedgerBalance>& ledger = std::nullopt) {
    std::string text;
    for (const PlanWarning& warning : plan.warnings(ledger))
      text += warning.statistic + ": " + warning.message + "\n";
    return text;
  };
  const std::string unit =
      replaced(add_remove_head, "[budget]", "privacy_unit = \"pid\"\nmax_rows_per_unit = 3\n[budget]");
  const std::string count = statistic("n", "kind = \"count\"\nepsilon = 1");
  EXPECT_EQ(messages(plan_of(unit, count)), "");
  EXPECT_THAT(messages(plan_of(unit, replaced(count, "epsilon = 1", "epsilon = 11"))),
              HasSubstr("this run costs epsilon 11"));
  EXPECT_THAT(messages(plan_of(unit, count), LedgerBalance{30, 20, 10, 1, {}}),
              HasSubstr("has given away epsilon 21"));
  EXPECT_EQ(messages(plan_of(unit, count), LedgerBalance{30, 19, 11, 1, {}}), "");
  EXPECT_THAT(messages(plan_of(add_remove_head, count)), HasSubstr("no privacy unit is declared"));
  const std::string mean = statistic("m", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1]\nepsilon = 1");
  for (const char* name : {"id", "PID", "user_id", "personId", "SSN"}) {
    EXPECT_THAT(messages(plan_of(
                    std::string(change_one_head) + "[columns." + name + "]\ntype = \"integer\"\n", mean)),
                HasSubstr("\"" + std::string(name) + "\" looks like an identifier"));
  }
  for (const char* name : {"width", "paid", "idle", "age"}) {
    EXPECT_THAT(messages(plan_of(
                    std::string(change_one_head) + "[columns." + name + "]\ntype = \"integer\"\n", mean)),
                testing::Not(HasSubstr("identifier")));
  }
  EXPECT_THAT(messages(plan_of(unit, mean)), HasSubstr("m: how far it may be off is told with the release"));
  // The JSON has them too.
  const Json json = Json::parse(plan_of(add_remove_head, count).to_json());
  EXPECT_THAT(json.at("warnings").at(0).at("message").get<std::string>(), HasSubstr("privacy unit"));
}

struct Fault {
  std::string head;
  std::string keys;
  ErrorCode code;
  std::string message;
};

TEST(Plan, RefusesWhatCannotBeDone) {
  const std::string mean = "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1]\n";
  const std::vector<Fault> faults = {
      {change_one_head, "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, \"1e309\"]\nepsilon = 1",
       ErrorCode::invalid_argument,
       "s.toml:7: statistic \"x\": bounds = [0, 1e309]: must lie within the range of doubles"},
      {change_one_head, "kind = \"sum\"\ncolumn = \"x\"\ntype = \"integer\"\nbounds = [0, 1e19]\nepsilon = 1",
       ErrorCode::invalid_argument, "64-bit integer"},
      {change_one_head,
       "kind = \"histogram\"\ncolumn = \"x\"\ntype = \"integer\"\ncategories = [1, 2.5]\nepsilon = 1",
       ErrorCode::invalid_argument, "categories = 2.5: must be a whole number"},
      {change_one_head, mean + "epsilon = 10.000001", ErrorCode::budget_refused,
       "cost epsilon 10.000001 together, but [budget] allows this run 10"},
      {change_one_head, mean + "accuracy = 1", ErrorCode::invalid_argument, "accuracy"},
      {change_one_head, mean + "accuracy = 2\nalpha = 0.5", ErrorCode::invalid_argument, "accuracy"},
      {change_one_head, mean + "accuracy = \"1e-6\"", ErrorCode::budget_refused, "[budget]"},
      {change_one_head, mean + "accuracy = \"1e-300\"", ErrorCode::invalid_argument, "accuracy"},
      {change_one_head, mean + "epsilon = \"1e-320\"", ErrorCode::invalid_argument, "s.toml:7"},
      {change_one_head, mean + "epsilon = \"1e-400\"", ErrorCode::invalid_argument, "s.toml:7"},
      {change_one_head, mean + "epsilon = 1\ngrid = \"2^-80\"", ErrorCode::invalid_argument, "grid"},
      {change_one_head,
       "kind = \"sum\"\ncolumn = \"x\"\ntype = \"integer\"\nbounds = [0, 1]\nepsilon = 1\ngrid = \"2^-3\"",
       ErrorCode::invalid_argument, "grid"},
      {add_remove_head, mean + "accuracy = 0.1", ErrorCode::invalid_argument,
       "add expected_size under [data]"},
      {replaced(add_remove_head, "[budget]", "expected_size = 10\n[budget]"), mean + "accuracy = 1",
       ErrorCode::invalid_argument, "any guess is that accurate"},
      {replaced(add_remove_head, "[budget]", "expected_size = 10\n[budget]"),
       "kind = \"variance\"\ncolumn = \"x\"\nbounds = [0, 1]\naccuracy = 0.5", ErrorCode::invalid_argument,
       "any guess is that accurate"},
      {add_remove_head, "kind = \"standard_deviation\"\ncolumn = \"x\"\nbounds = [0, 1]\naccuracy = 0.1",
       ErrorCode::invalid_argument, "add expected_size under [data]"},
      {change_one_head,
       "kind = \"correlation\"\ncolumns = [\"x\", \"y\"]\nbounds = [[0, 1], [0, 1]]\naccuracy = 0.1",
       ErrorCode::invalid_argument, "may be next to 0"},
      {replaced(add_remove_head, "[budget]", "nulls = { impute = 0.5 }\n[budget]"),
       "kind = \"sum\"\ncolumn = \"x\"\ntype = \"integer\"\nbounds = [0, 1]\nepsilon = 1",
       ErrorCode::invalid_argument, "impute = 0.5: must be a whole number"},
  };
  for (const Fault& fault : faults) {
    const Error error = refusal(fault.head, statistic("x", fault.keys));
    EXPECT_EQ(error.code(), fault.code) << fault.keys << "\n" << error.what();
    EXPECT_THAT(error.what(), HasSubstr(fault.message)) << fault.keys;
  }
}

// Tiny alpha and a large range: stated accuracies stay true and finite where they can be.
TEST(Plan, ExtremesAreTrueAnswers) {
  const Plan plan = plan_of(
      change_one_head,
      statistic("far",
                "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, \"0x1p47\"]\nepsilon = 1\nalpha = 1e-300") +
          statistic("small", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1]\nepsilon = \"1e-9\""));
  const PlannedStatistic& far = plan.statistics()[0];
  const double scale = far.measurements[0].measurement.mechanism().scale();
  EXPECT_NEAR(far.accuracy->tight, scale * 300 * std::log(10), 0.01 * scale * 690);
  // No accuracy is worse than the whole range.
  EXPECT_EQ(plan.statistics()[1].accuracy->tight, 1);
}

TEST(Plan, JsonHasTheKeysOfAReport) {
  const Json json = Json::parse(
      plan_of(change_one_head,
              statistic("count", "kind = \"count\"") +
                  statistic("mean", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 100]\nepsilon = 0.25") +
                  statistic("h",
                            "kind = \"histogram\"\ncolumn = \"x\"\ncategories = [1, 2]\nother = "
                            "\"bin\"\nepsilon = 0.5\nalpha = 0.01"))
          .to_json());
  EXPECT_EQ(json.at("dataset"), "d");
  EXPECT_EQ(json.at("neighbors"), "change-one");
  EXPECT_EQ(json.at("budget").at("epsilon"), "10");
  EXPECT_EQ(json.at("budget").at("planned"), "0.75");
  const Json& count = json.at("statistics").at(0);
  EXPECT_EQ(count.at("value"), 10000);
  EXPECT_EQ(count.at("epsilon"), "0");
  EXPECT_EQ(count.at("accuracy").at("tight"), 0);
  const Json& mean = json.at("statistics").at(1);
  EXPECT_EQ(mean.at("epsilon"), "0.25");
  EXPECT_EQ(parse_rational(mean.at("scale").get<std::string>(), "scale"),
            Rational(to_double_up(parse_rational(mean.at("sensitivity").get<std::string>(), "s") * 4)));
  EXPECT_EQ(mean.at("grid"), "0.00006103515625");  // 1/1024 of 1/16, the power of two above 0.04
  EXPECT_LE(parse_rational(mean.at("loss_bound").get<std::string>(), "l"), Rational(1, 4));
  EXPECT_EQ(mean.at("accuracy").at("alpha"), "0.05");
  EXPECT_EQ(mean.at("certificate").at("witness"), mean.at("certificate").at("bound"));
  EXPECT_EQ(count.at("certificate"), Json::parse(R"({"witness": "0", "bound": "0"})"));
  EXPECT_EQ(json.at("certificate").at("bound"), "0.750000000000000000000000000000");
  EXPECT_FALSE(mean.contains("value"));
  EXPECT_FALSE(mean.at("accuracy").contains("simultaneous"));
  const Json& histogram = json.at("statistics").at(2);
  EXPECT_EQ(histogram.at("bins").size(), 3U);
  EXPECT_EQ(histogram.at("bins").at(2).at("bin"), "other");
  EXPECT_EQ(histogram.at("sensitivity"), "2");
  EXPECT_EQ(histogram.at("scale"), "4");
  EXPECT_EQ(histogram.at("grid"), "1");
  EXPECT_EQ(histogram.at("accuracy").at("alpha"), "0.01");
  EXPECT_GT(histogram.at("accuracy").at("simultaneous"), histogram.at("accuracy").at("tight"));
}

TEST(Plan, WeightsShareWhatIsLeft) {
  const std::string count = "kind = \"count\"\n";
  const Plan plan =
      plan_of(add_remove_head, statistic("a", count + "weight = 1") + statistic("b", count + "epsilon = 1") +
                                   statistic("c", count + "weight = 2"));
  // Thirds of nine, rounded down to multiples of 2^-60, in the order of the file.
  EXPECT_EQ(plan.statistics()[0].cost.value, 3);
  EXPECT_EQ(plan.statistics()[1].cost.value, 1);
  EXPECT_EQ(plan.statistics()[2].cost.value, 6);
  const Plan thirds = plan_of(add_remove_head, statistic("a", count + "weight = 1") +
                                                   statistic("b", count + "weight = \"1/3\"") +
                                                   statistic("c", count + "weight = \"1/3\""));
  EXPECT_LE(thirds.epsilon(), 10);
  EXPECT_GT(thirds.epsilon(), 10 - Rational(1, 1L << 58));
  for (const PlannedStatistic& planned : thirds.statistics())
    EXPECT_EQ(Rational(planned.cost.value * Rational(Integer(1) << 60)).get_den(), 1);
  EXPECT_EQ(
      refusal(add_remove_head, statistic("a", count + "weight = 1") + statistic("b", count + "epsilon = 10"))
          .parameter(),
      "weight");
}

TEST(Plan, UnitsMultiplyTheSensitivity) {
  const std::string head =
      replaced(add_remove_head, "[budget]", "privacy_unit = \"pid\"\nmax_rows_per_unit = 3\n[budget]");
  const Plan plan = plan_of(
      head,
      statistic("n", "kind = \"count\"\nepsilon = 0.5") +
          statistic("sums",
                    "kind = \"sum\"\ncolumn = \"x\"\ntype = \"integer\"\nbounds = [-5, 4]\nepsilon = 0.5\n"
                    "group_by = \"g\"\nkeys = [1, 2]") +
          statistic("exact", "kind = \"count\"\naccuracy = 10"));
  EXPECT_EQ(sensitivity(plan.statistics()[0]), 3);
  EXPECT_EQ(sensitivity(plan.statistics()[1]), 15);
  EXPECT_LE(plan.statistics()[1].loss_bound, Rational(1, 2));
  // An accuracy costs as much more.
  const Plan rows = plan_of(add_remove_head, statistic("exact", "kind = \"count\"\naccuracy = 10"));
  EXPECT_LE(plan.statistics()[2].accuracy->tight, 10);
  EXPECT_NEAR(Rational(plan.statistics()[2].cost.value / rows.statistics()[0].cost.value).get_d(), 3, 1e-9);
  ASSERT_TRUE(plan.selection().unit.has_value());
  EXPECT_EQ(plan.selection().unit->max_rows, 3U);
  EXPECT_EQ(plan.statistics()[1].measurements[0].columns, (std::vector<std::string>{"g", "x"}));
}

// A unit contributes groups times rows of each, or all its rows when these are fewer: the noise is for that.
TEST(Plan, LimitsOnTheGroupsOfAUnitLowerTheNoise) {
  const std::string head =
      replaced(add_remove_head, "[budget]", "privacy_unit = \"pid\"\nmax_rows_per_unit = 10\n[budget]");
  const std::string counts = "kind = \"count\"\ngroup_by = \"g\"\nkeys = [1, 2, 3]\n";
  const auto limited = [&](const std::string& name, const std::string& price, int groups, int rows) {
    return statistic(name, counts + price + "\nmax_groups_per_unit = " + std::to_string(groups) +
                               "\nmax_rows_per_group_per_unit = " + std::to_string(rows));
  };
  const Plan plan = plan_of(
      head, statistic("all", counts + "epsilon = 0.5") + limited("some", "epsilon = 0.5", 2, 3) +
                limited("one", "epsilon = 0.5", 1, 1) + limited("many", "epsilon = 0.5", 4, 3) +
                limited("exact", "accuracy = 10", 2, 1) + statistic("exact rows", counts + "accuracy = 10"));
  const std::vector<int> rows = {10, 6, 1, 10, 2, 10};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Measurement& measurement = plan.statistics()[i].measurements[0].measurement;
    EXPECT_EQ(sensitivity(plan.statistics()[i]), rows[i]);
    EXPECT_EQ(measurement.distance(), rows[i]);
    EXPECT_LE(measurement.loss(rows[i]), plan.statistics()[i].cost.value);
  }
  EXPECT_NEAR(Rational(plan.statistics()[5].cost.value / plan.statistics()[4].cost.value).get_d(), 5, 1e-9);
  EXPECT_EQ(plan.selection().unit->max_rows, 10U);
  const Json json = Json::parse(plan.to_json()).at("statistics").at(1);
  EXPECT_EQ(json.at("max_groups_per_unit"), 2);
  EXPECT_EQ(json.at("max_rows_per_group_per_unit"), 3);
  EXPECT_EQ(json.at("sensitivity"), "6");
  EXPECT_THAT(plan.explanation(), HasSubstr("those in at most 2 groups, at most 3 rows in each\n  0. vectors "
                                            "of any number of rows (real or NaN "
                                            "or null)\n     neighbors at symmetric distance 6"));
}

TEST(Plan, GroupsKnowTheirKeysTypes) {
  const std::string grouped =
      statistic("n", "kind = \"count\"\nepsilon = 1\ngroup_by = \"g\"\nkeys = [1, 2]");
  const std::string integers = "[columns.g]\ntype = \"integer\"\n";
  const std::string texts = "[columns.g]\ntype = \"text\"\n";
  EXPECT_EQ(plan_of(add_remove_head, integers + grouped).statistics()[0].groups, 2U);
  EXPECT_EQ(refusal(add_remove_head, texts + grouped).parameter(), "keys");
  EXPECT_EQ(refusal(add_remove_head, integers + replaced(grouped, "[1, 2]", "[\"1\"]")).parameter(), "keys");
  EXPECT_EQ(refusal(add_remove_head, integers + replaced(grouped, "[1, 2]", "[1.5]")).parameter(), "keys");
  const std::string mean = statistic("m",
                                     "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1]\naccuracy = 0.1\n"
                                     "group_by = \"g\"\nkeys = [1]");
  EXPECT_THAT(refusal(add_remove_head, mean).what(),
              HasSubstr("not public; guess it, expected_group_size = 100, or give epsilon or weight"));
}

TEST(Plan, ExplainsEachStatisticAsItsChain) {
  const std::string head =
      replaced(add_remove_head, "[budget]",
               "privacy_unit = \"pid\"\nmax_rows_per_unit = 2\nwhere = \"x > 3\"\n[budget]");
  const std::string text =
      plan_of(head, statistic("m",
                              "kind = \"sum\"\ncolumn = \"x\"\nbounds = [0, 10]\nepsilon = 1\n"
                              "group_by = \"g\"\nkeys = [1, 2, 3]"))
          .explanation();
  for (const char* part :
       {"all the rows of one \"pid\" more", "where x > 3", "at most 2 are kept", "drop null and NaN",
        "clamp to [0, 10]", "real in [0, 10]", "symmetric distance <= 2", "L1 distance <= 20",
        "vectors of 3 multiples of", "Laplace noise of scale 20", "epsilon <= 1 for neighbors, proved"})
    EXPECT_THAT(text, HasSubstr(part));
  const std::string constant = plan_of(change_one_head, statistic("n", "kind = \"count\"")).explanation();
  EXPECT_THAT(constant, HasSubstr("a public constant, 10000"));
  EXPECT_THAT(constant, HasSubstr("change-one distance 1"));
}

// The bounds of a mean of 10^11 rows lie 10^11 noise scales apart.
TEST(Plan, PrecisionModeOfHugeDatasetsIsCertified) {
  const std::string head = replaced(change_one_head, "size = 10000", "size = 100000000000");
  const std::string rest = "column = \"x\"\nbounds = [0, 1]\nepsilon = 1\nmode = \"precision\"";
  const Plan plan = plan_of(head, statistic("mean", "kind = \"mean\"\n" + rest) +
                                      statistic("variance", "kind = \"variance\"\n" + rest) +
                                      statistic("sum", "kind = \"sum\"\n" + rest));
  for (const PlannedStatistic& planned : plan.statistics()) {
    EXPECT_GT(planned.certificate.witness, Rational(99, 100));
    EXPECT_LE(planned.certificate.witness, planned.certificate.bound);
    EXPECT_LT(planned.certificate.bound, 1 + Rational(1e-12));
  }
}

// The step that ends in the statistic says which it is, not only what was summed for it.
TEST(Plan, ExplainsWhichStatisticTheSumsBecome) {
  const std::string one = "column = \"x\"\nbounds = [0, 10]\nepsilon = 1";
  const std::string two = "columns = [\"x\", \"y\"]\nbounds = [[0, 10], [0, 2]]\nepsilon = 1";
  const auto explained = [](const std::string& head, const std::string& kind, const std::string& keys) {
    return plan_of(head, statistic("s", "kind = \"" + kind + "\"\n" + keys)).explanation();
  };
  for (const auto& [kind, keys, step] : std::vector<std::array<std::string, 3>>{
           {"mean", one, ". mean, from the sum of real in [0, 10]\n"},
           {"variance", one, ". variance, from the sum and sum of squares of real in [0, 10]\n"},
           {"standard_deviation", one, ". variance, from the sum and sum of squares of real in [0, 10]\n"},
           {"covariance", two,
            ". covariance, from the sums and sum of products of real in [0, 10] and real in [0, 2]\n"},
           {"moment", one + "\norder = 3",
            ". mean of x^3, from the sums of powers 1 to 3 of real in [0, 10]\n"},
           {"sum", one, ". sum of real in [0, 10]\n"},
           {"distinct", "column = \"x\"\ncategories = [1, 2]\nepsilon = 1",
            ". number of categories that occur, from the histogram of categories 1 2\n"}}) {
    EXPECT_THAT(explained(change_one_head, kind, keys), HasSubstr(step)) << kind;
  }
  EXPECT_THAT(
      explained(add_remove_head, "covariance", two),
      AllOf(HasSubstr(". sum of distances from the middle of the bounds, from the sum of real in [0, 10]\n"),
            HasSubstr(". sum of distances from the middle of the bounds, from the sum of real in [0, 2]\n"),
            HasSubstr(". sum of products of distances from the middles of the bounds, from the sums")));
  EXPECT_THAT(
      explained(add_remove_head, "variance", one),
      HasSubstr(". sum of distances from the middle of the bounds to the power 2, from the sum and sum of"));
}

// What only a plan can tell of several statistics is told of all.
TEST(Plan, NamesSeveralFaultsAtOnce) {
  const std::string one = "kind = \"sum\"\ncolumn = \"x\"\ntype = \"integer\"\nepsilon = 1\nbounds = ";
  const Error error =
      refusal(change_one_head,
              statistic("a", one + "[0, \"1e30\"]") + statistic("b", one + "[0, 1]") +
                  statistic("c", "kind = \"sum\"\ncolumn = \"x\"\nbounds = [0, \"1e400\"]\nweight = 1") +
                  statistic("d", one + "[0, \"1e31\"]"));
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.parameter(), "bounds");
  const std::string text = error.what();
  EXPECT_THAT(text, testing::StartsWith("s.toml:7: statistic \"a\": bounds"));
  EXPECT_THAT(text, HasSubstr("\ns.toml:27: statistic \"d\": bounds"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

// Doubles that take many digits are shown as the decimals that stand for them; fractions in texts stay.
TEST(Plan, ExplainsInDecimals) {
  const std::string text =
      plan_of(
          change_one_head,
          statistic("s", "kind = \"variance\"\ncolumn = \"x\"\nbounds = [-0.1, \"1e-300\"]\nepsilon = 1") +
              statistic("h",
                        "kind = \"histogram\"\ncolumn = \"x\"\ncategories = [\"1/2\", \"3/4\"]\nepsilon = 1"))
          .explanation();
  EXPECT_THAT(text, HasSubstr("clamp to [-0.1, 1e-300]"));
  EXPECT_THAT(text, HasSubstr("real in [-0.1, 1e-300]"));
  EXPECT_THAT(text, HasSubstr("histogram of categories 3:1/2 3:3/4"));
  // The loss is a little less than 0.3333333, and no rounding makes it more than what is debited.
  EXPECT_THAT(plan_of(change_one_head, statistic("s",
                                                 "kind = \"variance\"\ncolumn = \"x\"\nbounds = [0, 1]\n"
                                                 "epsilon = 0.3333333"))
                  .explanation(),
              HasSubstr("loss: epsilon <= 0.3333333 for neighbors, proved; 0.3333333 is debited"));
}

// Counts, histograms, sums of integers and the nodes of quantiles err by integers: accuracies are those, and cost less.
TEST(Plan, IntegerStatisticsErrByIntegers) {
  const std::string head = replaced(add_remove_head, "[budget]", "expected_size = 1000\n[budget]");
  const Plan plan = plan_of(
      replaced(head, "epsilon = 10", "epsilon = 100"),
      statistic("exact", "kind = \"count\"\naccuracy = 1") +
          statistic("near", "kind = \"count\"\naccuracy = 2") +
          statistic("rough", "kind = \"count\"\naccuracy = 10") +
          statistic("one", "kind = \"count\"\nepsilon = 1") +
          statistic("bins", "kind = \"histogram\"\ncolumn = \"x\"\ncategories = [1, 2, 3]\nepsilon = 1") +
          statistic("sum",
                    "kind = \"sum\"\ncolumn = \"x\"\ntype = \"integer\"\nbounds = [0, 3]\naccuracy = 4") +
          statistic("mean", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1]\nepsilon = 2") +
          statistic("median", "kind = \"median\"\ncolumn = \"x\"\nedges = [0, 1, 2, 3, 4]\nepsilon = 1"));
  const double l = std::log(20);
  const std::vector<std::pair<std::size_t, double>> costs = {
      {0, l / 1.5}, {1, l / 2.5}, {2, l / 10.5}, {5, 3 * l / 4.5}};
  for (const auto& [i, epsilon] : costs) {
    EXPECT_NEAR(plan.statistics()[i].cost.value.get_d(), epsilon, 1e-12) << i;
    EXPECT_EQ(Rational(plan.statistics()[i].accuracy->tight), *plan.statistics()[i].specification.accuracy)
        << i;
  }
  EXPECT_EQ(plan.statistics()[3].accuracy->tight, 3);
  EXPECT_NEAR(plan.statistics()[3].accuracy->conservative, l + 0.5, 1e-12);
  EXPECT_EQ(plan.statistics()[4].accuracy->tight, 3);
  EXPECT_EQ(*plan.statistics()[4].accuracy->simultaneous, 4);  // e^-4.5 < .05 / 3 < e^-3.5
  // Of a mean the count alone is an integer; half of alpha each, and half of epsilon.
  const PlannedStatistic& mean = plan.statistics()[6];
  for (const PlannedMeasurement& part : mean.measurements) {
    const bool whole = part.accuracy.tight == std::floor(part.accuracy.tight);
    EXPECT_EQ(whole, part.part == "count") << part.part;
  }
  EXPECT_EQ(plan.statistics()[7].measurements[0].accuracy.tight,
            std::floor(plan.statistics()[7].measurements[0].accuracy.tight));
  // Geometric noise is compared with the same.
  for (const Saving& saving : plan.savings()) {
    if (saving.statistic == "rough") {
      EXPECT_LT(saving.epsilon, plan.statistics()[2].cost.value) << saving.change;
    }
  }
}

// The grid of precision mode lies about the middle of the bounds; the least epsilon is the least there too.
TEST(Plan, IntegerSumsOfPrecisionModeErrByIntegers) {
  for (const char* size : {"10000", "9999"}) {
    for (const char* accuracy : {"1", "3", "40"}) {
      const std::string keys =
          std::string("kind = \"sum\"\ncolumn = \"x\"\ntype = \"integer\"\nbounds = [0, 5]\n") +
          "mode = \"precision\"\naccuracy = " + accuracy;
      const std::string head =
          replaced(replaced(change_one_head, "size = 10000", std::string("size = ") + size), "epsilon = 10",
                   "epsilon = 100");
      const Plan integers = plan_of(head, statistic("x", keys));
      const Plan reals = plan_of(head, statistic("x", replaced(keys, "\"integer\"", "\"real\"")));
      const PlannedStatistic& planned = integers.statistics()[0];
      EXPECT_LE(planned.accuracy->tight, *planned.specification.accuracy);
      // Outputs are rounded once to doubles about the middle, which may cost a step what the integers gained.
      EXPECT_LE(planned.cost.value, reals.statistics()[0].cost.value);
      const Rational less = planned.cost.value - Grid(-60).spacing().rational();
      const Plan cheaper = plan_of(
          head, statistic("x", replaced(keys, "accuracy = ", "epsilon = \"" + less.get_str() + "\" # ")));
      EXPECT_GT(cheaper.statistics()[0].accuracy->tight, *planned.specification.accuracy)
          << size << " " << accuracy;
    }
  }
}

}  // namespace
}  // namespace snapdp
