// The keys `range` and `guesses` of a statistic: what is refused, what a plan makes of them, and what a release then does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "noisy.h"
#include "release/replace.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/release/report.h"

namespace snapdp {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr const char* change_one_head = R"([data]
dataset = "people"
neighbors = "change-one"
size = 1000
[budget]
epsilon = "1000"
)";
constexpr const char* add_remove_head = R"([data]
dataset = "people"
neighbors = "add-remove"
[budget]
epsilon = "1000"
)";

const std::string of_x = "column = \"x\"\nbounds = [0, 100]\n";
const std::string sum = "kind = \"sum\"\n" + of_x;
const std::string mean = "kind = \"mean\"\n" + of_x;
const std::string count = "kind = \"count\"\n";
const std::string histogram = "kind = \"histogram\"\ncolumn = \"x\"\ncategories = [1, 2, 3]\n";
const std::string distinct = "kind = \"distinct\"\ncolumn = \"x\"\ncategories = [1, 2, 3]\n";

std::string statistic(const std::string& keys, const std::string& price = "epsilon = 1") {
  return "[[statistic]]\nname = \"s\"\n" + keys + "\n" + price + "\n";
}
Plan plan_of(const std::string& head, const std::string& keys, const std::string& price = "epsilon = 1") {
  return Plan(Specification::parse(head + statistic(keys, price), "s.toml"));
}
// Parameter and message of the refusal.
std::string refused(const std::string& head, const std::string& keys,
                    const std::string& price = "epsilon = 1") {
  try {
    plan_of(head, keys, price);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("statistic \"s\": "));
    return error.parameter() + ": " + error.what();
  }
  return "nothing";
}
Json planned(const std::string& head, const std::string& keys, const std::string& price = "epsilon = 1") {
  return Json::parse(plan_of(head, keys, price).to_json()).at("statistics").at(0);
}
const Mechanism& mechanism_of(const Plan& plan) {
  return plan.statistics().front().measurements.front().measurement.mechanism();
}

TEST(Range, IsThePublicOneUnlessChosen) {
  const Json own = planned(change_one_head, sum);
  EXPECT_EQ(own.at("range"), Json::parse(R"({"choice": "public", "lower": "0", "upper": "100000"})"));
  EXPECT_EQ(planned(add_remove_head, sum).at("range"),
            Json::parse(R"({"choice": "public", "lower": null, "upper": null})"));
  EXPECT_EQ(planned(add_remove_head, distinct).at("range").at("upper"), "3");
  EXPECT_THAT(one_line(plan_of(change_one_head, sum).to_table()), Not(HasSubstr("clamped to [")));
}

TEST(Range, DeclaredConstantsUnderBothNeighbors) {
  for (const char* head : {change_one_head, add_remove_head}) {
    const Plan plan = plan_of(head, sum + "range = [-0.1, \"1000.5\"]");
    EXPECT_EQ(mechanism_of(plan).lower(), -0.1);  // which is below a tenth, outward
    EXPECT_EQ(mechanism_of(plan).upper(), 1000.5);
    EXPECT_THAT(one_line(plan.to_table()), HasSubstr("s: values and outputs are clamped to [-0.1"));
    EXPECT_THAT(one_line(plan.to_table()),
                HasSubstr("as declared; accuracies are about the exact value clamped to it"));
    EXPECT_THAT(plan.explanation(), HasSubstr("1000.5], as declared; so are the values"));
    EXPECT_TRUE(plan.certificate().covers(1));
  }
  EXPECT_EQ(planned(add_remove_head, count + "range = [0, 500]").at("range"),
            Json::parse(R"({"choice": "declared", "lower": "0", "upper": "500"})"));
  // Integer statistics have whole ends.
  for (const std::string& keys : {count, histogram, distinct, count + "noise = \"geometric\"\n"}) {
    const Plan plan = plan_of(add_remove_head, keys + "range = [-0.5, 1.5]");
    EXPECT_EQ(mechanism_of(plan).lower(), -1);
    EXPECT_EQ(mechanism_of(plan).upper(), 2);
  }
  const Plan half = plan_of(add_remove_head, count + "range = [0, \"none\"]");
  EXPECT_EQ(mechanism_of(half).lower(), 0);
  EXPECT_FALSE(mechanism_of(half).upper());
  EXPECT_THAT(one_line(half.to_table()), HasSubstr("clamped to 0 or more"));
  EXPECT_THAT(half.explanation(), HasSubstr("clamped to 0 or more, as declared"));
  EXPECT_THAT(one_line(plan_of(change_one_head, mean + "range = [\"none\", 50]").to_table()),
              HasSubstr("clamped to 50 or less"));
}

TEST(Range, NoneClampsNothing) {
  for (const std::string& keys :
       {sum, mean, histogram, distinct, "kind = \"variance\"\n" + of_x,
        "kind = \"moment\"\norder = 2\n" + of_x,
        std::string("kind = \"covariance\"\ncolumns = [\"x\", \"y\"]\nbounds = [[0, 1], [0, 1]]\n")}) {
    const Plan plan = plan_of(change_one_head, keys + "range = \"none\"");
    EXPECT_FALSE(mechanism_of(plan).lower());
    EXPECT_FALSE(mechanism_of(plan).upper());
    EXPECT_THAT(one_line(plan.to_table()), HasSubstr("s: values and outputs are not clamped."));
    EXPECT_THAT(plan.explanation(), HasSubstr("not clamped, as declared"));
    const Json json = Json::parse(plan.to_json()).at("statistics").at(0);
    EXPECT_EQ(json.at("range"), Json::parse(R"({"choice": "none", "lower": null, "upper": null})"));
    EXPECT_EQ(json.at("utility").at("binding_probability"), 0.0);
  }
}

// In exact mode the least steps of the grid around the public range; in precision mode the notes' formula.
TEST(Range, GammaWidensThePublicRange) {
  for (const std::string& keys : {sum, mean, histogram, distinct, "kind = \"variance\"\n" + of_x,
                                  histogram + "noise = \"geometric\"\n"}) {
    const Plan plan = plan_of(change_one_head, keys + "range = { gamma = \"0.01\" }");
    const StatisticDomain& domain =
        plan.statistics().front().measurements.front().measurement.aggregation().output_domain();
    const Mechanism& mechanism = mechanism_of(plan);
    const std::optional<StatisticRange> own = public_range(domain);
    ASSERT_TRUE(own);
    EXPECT_LE(Rational(own->lower), domain.range->lower().rational());
    EXPECT_GE(Rational(own->upper), domain.range->upper().rational());
    const ChosenBounds least = minimal_bounds(mechanism.noise(), *own, 0.01);
    EXPECT_EQ(mechanism.lower(), least.lower);
    EXPECT_EQ(mechanism.upper(), least.upper);
    EXPECT_LT(least.lower, own->lower);
    const Json json = Json::parse(plan.to_json()).at("statistics").at(0);
    EXPECT_EQ(json.at("range").at("choice"), "gamma");
    EXPECT_EQ(json.at("range").at("gamma"), "0.01");
    const double binds = json.at("utility").at("binding_probability");
    EXPECT_LE(binds, 0.01);
    EXPECT_GT(binds, 0);
    EXPECT_THAT(one_line(plan.to_table()),
                HasSubstr("the public range widened so that a clamp binds with probability"));
    EXPECT_THAT(plan.explanation(), HasSubstr("where a clamp binds with probability <= 0.01"));
    // The bias nearly vanishes.
    const double biased = planned(change_one_head, keys).at("utility").at("worst_bias");
    EXPECT_LT(json.at("utility").at("worst_bias"), 0.1 * biased);
  }
  const std::string precise = mean + "mode = \"precision\"\nrange = { gamma = \"0.01\" }";
  const Plan plan = plan_of(change_one_head, precise);
  const StatisticRange own =
      *public_range(plan.statistics().front().measurements.front().measurement.aggregation().output_domain());
  const Rational half((Rational(own.upper) - Rational(own.lower)) / 2);
  const double notes = notes_half_width(
      {.sensitivity = mechanism_of(plan).sensitivity().rational(), .half_range = half, .gamma = 0.01}, 1);
  EXPECT_EQ(mechanism_of(plan).lower(), to_double_down(Rational(50 - Rational(notes))));
  EXPECT_EQ(mechanism_of(plan).upper(), to_double_up(Rational(50 + Rational(notes))));
  EXPECT_LE(planned(change_one_head, precise).at("utility").at("binding_probability"), 0.01);
}

// Under add-remove the range of nearly everything depends on the private number of rows: it is a constant or none.
TEST(Range, NothingPrivateIsWidened) {
  for (const std::string& keys : {sum, count, histogram, count + "group_by = \"g\"\nkeys = [1, 2]\n"}) {
    EXPECT_THAT(refused(add_remove_head, keys + "range = { gamma = \"0.01\" }"),
                AllOf(HasSubstr("range: "), HasSubstr("depends on the private rows"),
                      HasSubstr("declare constants, range = [lower, upper]")));
  }
  // The number of categories is public.
  EXPECT_EQ(planned(add_remove_head, distinct + "range = { gamma = \"0.01\" }").at("range").at("choice"),
            "gamma");
}

TEST(Range, IsRefusedWhereThereIsNoNumberOfItsOwn) {
  for (const char* key : {"range = [0, 5]", "range = \"none\"", "range = { gamma = 0.1 }", "guesses = [1]"}) {
    EXPECT_THAT(
        refused(add_remove_head, mean + key),
        HasSubstr(
            "does not apply to a mean under add-remove, which is computed from noisy parts (sum, count)"));
    EXPECT_THAT(refused(change_one_head, "kind = \"standard_deviation\"\n" + of_x + key),
                HasSubstr("noisy parts (variance)"));
    for (const std::string kind : {"median", "quantiles"}) {
      const std::string which = kind == "median" ? "" : "quantiles = [0.5]\n";
      EXPECT_THAT(refused(change_one_head,
                          "kind = \"" + kind + "\"\ncolumn = \"x\"\nedges = [0, 1, 2]\n" + which + key),
                  HasSubstr("does not apply to quantiles"));
    }
    EXPECT_THAT(refused(change_one_head, count + key), HasSubstr("a public constant"));
    EXPECT_THAT(
        refused(change_one_head, std::string("kind = \"mean\"\ncolumn = \"x\"\nbounds = [3, 3]\n") + key),
        HasSubstr("a public constant"));
  }
}

TEST(Range, ErrorsNameTheRule) {
  const std::string rule = R"(must be [lower, upper], "none" (no clamps) or { gamma = "0.01" })";
  for (const char* value : {"inf", "nan", "5", "true", "\"auto\"", "1979-05-27"}) {
    EXPECT_THAT(refused(change_one_head, sum + "range = " + value),
                HasSubstr(std::string("range = ") + value + ": " + rule));
  }
  const auto range = [](const std::string& value) {
    return refused(change_one_head, sum + "range = " + value);
  };
  EXPECT_THAT(range("\"None\""), HasSubstr("did you mean \"none\"?"));
  EXPECT_THAT(range("[1]"), HasSubstr("must have two ends"));
  EXPECT_THAT(range("[1, 2, 3]"), HasSubstr("must have two ends"));
  EXPECT_THAT(range("[[0, 1]]"), HasSubstr("must have two ends"));
  EXPECT_THAT(range("[2, 1]"), HasSubstr("swap them"));
  EXPECT_THAT(range("[1, 1]"), HasSubstr("its ends are equal"));
  EXPECT_THAT(range("[0, inf]"), HasSubstr("an end is a finite number, or \"none\" where there is none"));
  EXPECT_THAT(range("[-inf, nan]"), HasSubstr("range = -inf: an end is a finite number"));
  EXPECT_THAT(range("[\"none\", \"none\"]"), HasSubstr("write range = \"none\""));
  EXPECT_THAT(range("[\"a\", 1]"), HasSubstr("is not a number"));
  EXPECT_THAT(range("[true, 1]"), HasSubstr("must be a number; this is true or false"));
  EXPECT_THAT(range("{ gama = 0.1 }"), HasSubstr("did you mean \"gamma\"?"));
  EXPECT_THAT(range("{}"), HasSubstr("gamma is missing"));
  EXPECT_THAT(range("{ gamma = 0 }"), HasSubstr("strictly between 0 and 1"));
  EXPECT_THAT(range("{ gamma = 1 }"), HasSubstr("strictly between 0 and 1"));
  EXPECT_THAT(range("{ gamma = \"1/100\", x = 1 }"), HasSubstr("unknown key \"x\""));
  // Known only once the statistic is.
  EXPECT_THAT(range("[200000, 300000]"), HasSubstr("the statistic always lies in [0, 1e+05]"));
  EXPECT_THAT(range("[-5, 0]"), HasSubstr("would be clamped to one end"));
  EXPECT_THAT(range("[0, \"1e300\"]"), HasSubstr("range: its end upper = 1e+300"));
  EXPECT_THAT(refused(add_remove_head, sum + "range = [0, \"1e400\"]"),
              HasSubstr("beyond the largest double"));
  EXPECT_THAT(refused(add_remove_head, count + "noise = \"geometric\"\nrange = [0, 1e17]"),
              HasSubstr("range: its end upper = 1e+17: must be at most 2^53"));
}

TEST(Range, PrecisionModeNeedsBothEnds) {
  const std::string precise = "mode = \"precision\"\n";
  // Constants make the mode available where the rows are private.
  for (const std::string& keys : {count, sum, distinct}) {
    const Plan plan = plan_of(add_remove_head, keys + precise + "range = [0, 5000]");
    EXPECT_EQ(mechanism_of(plan).kind(), NoiseKind::notes);
    EXPECT_EQ(mechanism_of(plan).upper(), 5000);
    EXPECT_TRUE(plan.statistics().front().measurements.front().certificate.covers(1));
    EXPECT_THAT(refused(add_remove_head, keys + precise), HasSubstr("declare constants"));
    EXPECT_THAT(refused(add_remove_head, keys + precise + "range = { gamma = 0.1 }"), HasSubstr("mode"));
  }
  EXPECT_THAT(refused(change_one_head, mean + precise + "range = \"none\""), HasSubstr("both ends finite"));
  EXPECT_THAT(refused(change_one_head, mean + precise + "range = [0, \"none\"]"),
              HasSubstr("both ends finite"));
  EXPECT_THAT(refused(add_remove_head, count + precise + "range = [0, 1]"),
              HasSubstr("must be below half the distance of the bounds"));
  // Several numbers cost more than the notes' formula knows.
  EXPECT_THAT(refused(change_one_head, histogram + precise + "range = { gamma = 0.1 }"),
              HasSubstr("for statistics of one number"));
  EXPECT_EQ(mechanism_of(plan_of(add_remove_head, histogram + precise + "range = [0, 5000]")).kind(),
            NoiseKind::notes);
  EXPECT_THAT(refused(change_one_head, mean + precise + "precision = 100\nrange = { gamma = 0.1 }"),
              HasSubstr("118 bits or more"));
}

// No accuracy exceeds the width of the range, and epsilon for an accuracy is the least with it.
TEST(Range, AccuracyTakesTheClampedRange) {
  const Plan narrow = plan_of(add_remove_head, count + "range = [0, 2]", "epsilon = 0.01");
  EXPECT_EQ(narrow.statistics().front().accuracy->tight, 2);
  EXPECT_GT(plan_of(add_remove_head, count, "epsilon = 0.01").statistics().front().accuracy->tight, 100);
  EXPECT_THAT(refused(add_remove_head, count + "range = [0, 20]", "accuracy = 20"), HasSubstr("accuracy"));
  const Rational unit(Integer(1), Integer(1) << 60);
  for (const std::string& keys :
       {mean, mean + "range = \"none\"", mean + "range = [10, 90]", mean + "range = { gamma = 0.01 }",
        mean + "mode = \"precision\"\nrange = { gamma = 0.01 }",
        mean + "mode = \"precision\"\nrange = [10, 90]"}) {
    const Plan plan = plan_of(change_one_head, keys, "accuracy = \"0.7\"");
    const PlannedStatistic& statistic = plan.statistics().front();
    EXPECT_LE(statistic.accuracy->tight, 0.7) << keys;
    // A little less of epsilon is not enough, between the same ends.
    const std::string range = "[" + to_string(Rational(mechanism_of(plan).lower().value_or(-1e6))) + ", " +
                              to_string(Rational(mechanism_of(plan).upper().value_or(1e6))) + "]";
    const std::string same =
        mean + (statistic.specification.noise == NoiseKind::notes ? "mode = \"precision\"\n" : "") +
        "range = [\"" + replaced(range.substr(1, range.size() - 2), ", ", "\", \"") + "\"]";
    const Plan less = plan_of(change_one_head, same,
                              "epsilon = \"" + to_string(Rational(statistic.cost.value - unit)) + "\"");
    EXPECT_GT(less.statistics().front().accuracy->tight, 0.7) << keys;
  }
  // A range that is not nearer than the accuracy asks nothing of a release.
  EXPECT_THAT(refused(change_one_head, mean + "range = { gamma = 0.01 }", "accuracy = 100"),
              HasSubstr("accuracy"));
}

// At the worst exact value a widened range clamps no more often than gamma says: of T releases, by Hoeffding, gamma T +
// sqrt(T ln(1e9) / 2) or more are clamped with probability at most 1e-9. The public range clamps half of them.
TEST(Range, ReleasesAreClampedAsRarelyAsGammaSays) {
  constexpr int releases = 4000;
  const auto clamped = [&](const Plan& plan) {
    const Measurement& measurement = plan.statistics().front().measurements.front().measurement;
    const std::vector<Dyadic> exact = measurement.aggregation()(std::vector<double>(1000, 100));
    int number = 0;
    for (int i = 0; i < releases; ++i) {
      const Dyadic released = noisy(measurement, exact).front();
      EXPECT_LE(released, Dyadic(*measurement.mechanism().upper()));
      if (released == Dyadic(*measurement.mechanism().upper())) ++number;
    }
    return number;
  };
  const double most = 0.05 * releases + std::sqrt(releases * std::log(1e9) / 2);
  for (const char* mode : {"", "mode = \"precision\"\n"}) {
    // A clamp binds when the output before it lies beyond the end; the end itself is an output.
    EXPECT_LT(clamped(plan_of(change_one_head, mean + mode + "range = { gamma = 0.05 }")), most);
    EXPECT_GT(clamped(plan_of(change_one_head, mean + mode)), most);
  }
}

// Whatever a neighbor's rows are, outputs lie between the same constants and on the same grid.
TEST(Range, ReleasesLieBetweenTheConstants) {
  const Plan plan = plan_of(add_remove_head, count + "range = [2, 5]", "epsilon = 0.1");
  const Measurement& measurement = plan.statistics().front().measurements.front().measurement;
  for (const std::size_t rows : {0U, 3U, 900U}) {
    for (int i = 0; i < 200; ++i) {
      const Dyadic released = noisy(measurement, {Dyadic(static_cast<std::int64_t>(rows))}).front();
      ASSERT_TRUE(released.is_integer());
      ASSERT_GE(released, Dyadic(2));
      ASSERT_LE(released, Dyadic(5));
    }
  }
  const Report report(plan, {{{Dyadic(5)}}}, 1, 1, 1);
  EXPECT_THAT(report.to_table(), HasSubstr("s: values and outputs are clamped to [2, 5], as declared"));
  EXPECT_EQ(Json::parse(report.json()).at("statistics").at(0).at("range").at("upper"), "5");
}

TEST(Guesses, GiveTheMeanBias) {
  const std::string guesses = "guesses = [0, [50, 2], \"99.5\"]\n";
  const Plan plan = plan_of(change_one_head, mean + guesses);
  const Noise noise = mechanism_of(plan).noise().centered();
  const double expected = (bias(noise, 0) + 2 * bias(noise, 50) + bias(noise, 99.5)) / 4;
  const Json json = Json::parse(plan.to_json()).at("statistics").at(0);
  EXPECT_NEAR(json.at("utility").at("expected_bias").get<double>(), expected, 1e-15);
  EXPECT_THAT(one_line(plan.to_table({.utility = true})),
              AllOf(HasSubstr("expected bias P(clamped)"),
                    HasSubstr("expected bias: the mean of E[out] - value over the guesses")));
  // Nothing else depends on them.
  Json without = planned(change_one_head, mean);
  without["utility"]["expected_bias"] = json.at("utility").at("expected_bias");
  EXPECT_EQ(without, json);
  EXPECT_THAT(one_line(plan_of(change_one_head, mean).to_table({.utility = true})),
              Not(HasSubstr("expected bias")));
  EXPECT_THAT(plan.to_json(), Not(HasSubstr("guesses")));

  // About the middle of the bounds, in precision mode; of each bin alike.
  const Plan precise = plan_of(change_one_head, mean + guesses + "mode = \"precision\"");
  const Noise centered = mechanism_of(precise).noise().centered();
  EXPECT_NEAR(*precise.statistics().front().expected_bias,
              (bias(centered, -50) + 2 * bias(centered, 0) + bias(centered, 49.5)) / 4, 1e-15);
  const Plan bins = plan_of(change_one_head, histogram + "guesses = [0, 333]\nnoise = \"geometric\"");
  const Noise integers = mechanism_of(bins).noise().centered();
  EXPECT_NEAR(*bins.statistics().front().expected_bias, (bias(integers, 0) + bias(integers, 333)) / 2, 1e-15);
  // Weights count relative to each other only, however large.
  EXPECT_EQ(
      *plan_of(change_one_head, mean + "guesses = [[0, \"1e399\"], [50, \"1e398\"]]")
           .statistics()
           .front()
           .expected_bias,
      *plan_of(change_one_head, mean + "guesses = [[0, 10], [50, 1]]").statistics().front().expected_bias);
}

TEST(Guesses, ErrorsNameTheRule) {
  const auto guesses = [](const std::string& value) {
    return refused(add_remove_head, count + "guesses = " + value);
  };
  EXPECT_THAT(guesses("5"), HasSubstr("must be an array in brackets"));
  EXPECT_THAT(guesses("[]"), HasSubstr("must have at least one entry"));
  EXPECT_THAT(guesses("[[1]]"), HasSubstr("a pair of a number and its weight"));
  EXPECT_THAT(guesses("[[1, 2, 3]]"), HasSubstr("a pair of a number and its weight"));
  EXPECT_THAT(guesses("[[1, 0]]"), HasSubstr("the weight must be greater than 0"));
  EXPECT_THAT(guesses("[1, [2, -1]]"), HasSubstr("the weight must be greater than 0"));
  EXPECT_THAT(guesses("[true]"), HasSubstr("must be a number"));
  EXPECT_THAT(guesses("[\"x\"]"), HasSubstr("is not a number"));
  EXPECT_THAT(guesses("[\"1e300\"]"), HasSubstr("guesses: their bias cannot be computed"));
  EXPECT_THAT(guesses("[0.5]\nnoise = \"geometric\""), HasSubstr("must be a whole number"));
  std::string many = "[0";
  for (std::size_t i = 0; i < Specification::max_bins; ++i) many += ",0";
  EXPECT_THAT(guesses(many + "]"), HasSubstr("more than 100000 entries"));
}

}  // namespace
}  // namespace snapdp
