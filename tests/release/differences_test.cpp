// differences = [["a", "b"]]: read off what is released of the groups, tested by releasing anew.
//
// Coverage: with T rounds the misses are at most binomial(T, alpha); P(misses >= alpha T + sqrt(T ln(1e9) / 2)) <= 1e-9
// (Hoeffding).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "noisy.h"
#include "release/replace.h"
#include "snapdp/error.h"
#include "snapdp/release/report.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr int rounds = 300;
constexpr double alpha = 0.2;

const std::string data = R"([data]
dataset = "d"
neighbors = "add-remove"
[columns.x]
bounds = [0, 10]
unit = "kg"
[columns.g]
categories = ["a", "b", "c"]
labels = { a = "Aachen", b = "Bonn" }
[budget]
epsilon = 100
)";

std::string statistic(const std::string& kind, const std::string& more) {
  return "[[statistic]]\nname = \"s\"\nkind = \"" + kind +
         "\"\nepsilon = 0.5\nalpha = 0.2\ngroup_by = \"g\"\n" + more +
         "\ndifferences = [[\"a\", \"b\"], [\"c\", \"a\"]]\n";
}

// Rows of a, b and c: 40, 60, 100, whose x are 2, 6 and 4 on average.
struct Rows {
  std::vector<double> x;
  std::vector<std::string> g;
};
Rows rows() {
  Rows rows;
  const auto add = [&](const char* group, int count, double mean) {
    for (int i = 0; i < count; ++i) {
      rows.x.push_back(mean + (i % 2 == 0 ? 1 : -1));
      rows.g.emplace_back(group);
    }
  };
  add("a", 40, 2);
  add("b", 60, 6);
  add("c", 100, 4);
  return rows;
}

// As often as `times`, the statistics of one release.
std::vector<Json> releases(const Plan& plan, int times) {
  const Rows all = rows();
  std::vector<std::string_view> texts(all.g.begin(), all.g.end());
  std::vector<std::vector<Dyadic>> exact;
  const PlannedStatistic& planned = plan.statistics().front();
  for (const PlannedMeasurement& part : planned.measurements) {
    std::vector<Column> columns = {Chunk(texts).column[0]};
    if (part.columns.size() > 1) columns.push_back(Chunk(all.x).column[0]);
    exact.push_back(part.measurement.aggregation()(Chunk(columns, all.x.size())));
  }
  std::vector<Json> made;
  for (int i = 0; i < times; ++i) {
    std::vector<std::vector<Dyadic>> released;
    for (std::size_t part = 0; part < exact.size(); ++part)
      released.push_back(noisy(planned.measurements[part].measurement, exact[part]));
    made.push_back(Json::parse(Report(plan, {released}, 1, 9, 0).json()).at("statistics"));
  }
  return made;
}

double accuracy_of(const Json& json) {
  return json.at("accuracy").at("tight").get<double>();
}

std::string refusal(const std::string& text) {
  try {
    Plan(Specification::parse(text, "s.toml"));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

struct Case {
  std::string text;
  double first;   // a less b, exactly
  double second;  // c less a
};

TEST(Differences, HoldTheExactOnesAsOftenAsTheySay) {
  for (const Case& one :
       {Case{statistic("count", ""), -20, 60}, Case{statistic("count", "nonnegative = true"), -20, 60},
        Case{statistic("count", "noise = \"geometric\""), -20, 60},
        Case{statistic("range_count", "column = \"x\"\nbounds = [0, 5.5]"), 40 - 30, 60},
        Case{statistic("count", "grid = \"2^4\""), -20, 60},
        Case{statistic("sum", "column = \"x\""), 80 - 360, 400 - 80},
        Case{statistic("mean", "column = \"x\""), -4, 2},
        Case{statistic("variance", "column = \"x\""), 40.0 / 39 - 60.0 / 59, 100.0 / 99 - 40.0 / 39},
        Case{statistic("median", "column = \"x\"\nedges = [0, 1.5, 2.5, 4, 6, 8, 10]"), -4, 2}}) {
    const Plan plan(Specification::parse(data + one.text, "s.toml"));
    EXPECT_EQ(plan.epsilon(), Rational(1, 2)) << "differences cost nothing";
    int misses = 0;
    int others = 0;
    for (const Json& json : releases(plan, rounds)) {
      ASSERT_EQ(json.size(), 3U);
      EXPECT_EQ(json[1].at("name"), "s: a - b");
      EXPECT_EQ(json[2].at("name"), "s: c - a");
      const auto off = [](const Json& of, double exact) {
        if (of.contains("interval")) return exact < of.at("interval")[0] || exact > of.at("interval")[1];
        return std::abs(of.at("value").get<double>() - exact) > accuracy_of(of) + 1e-9;
      };
      if (off(json[1], one.first)) ++misses;
      if (off(json[2], one.second)) ++others;
      const auto value = [&](std::size_t group) {
        const Json& each = json[0].at("groups")[group].at("value");
        return each.get<double>();
      };
      EXPECT_NEAR(json[1].at("value").get<double>(), value(0) - value(1), 1e-9);
      EXPECT_NEAR(json[2].at("value").get<double>(), value(2) - value(0), 1e-9);
    }
    const double most = alpha * rounds + std::sqrt(rounds * std::log(1e9) / 2);
    EXPECT_LT(misses, most) << one.text;
    EXPECT_LT(others, most) << one.text;
  }
}

// The law of the two noises together: half as wide again as for one number, not twice.
TEST(Differences, AreNarrowerThanTwoIntervals) {
  const Plan plan(Specification::parse(data + statistic("count", ""), "s.toml"));
  const Json json = releases(plan, 1).front();
  const double together = accuracy_of(json[1]);
  EXPECT_LT(together, 1.7 * accuracy_of(json[0]));
  EXPECT_GT(together, accuracy_of(json[0]));
  // (1 + t/2) e^-t = .2 for t = 2.40 scales of 2: the tails of two Laplace noises, 4.8. Rounding moves either by half, and
  // the error is an integer.
  EXPECT_EQ(together, 5);
  // Known beforehand, and the same in the plan.
  const Json planned = Json::parse(plan.to_json()).at("statistics");
  EXPECT_EQ(accuracy_of(planned.at(1)), together);
  EXPECT_FALSE(planned.at(1).contains("value"));
  EXPECT_EQ(planned.at(1).at("epsilon"), "0");
}

TEST(Differences, AreShownAsNumbersOfTheirOwn) {
  const Plan plan(
      Specification::parse(data + statistic("mean", "column = \"x\"\ntitle = \"Weight\""), "s.toml"));
  EXPECT_THAT(plan.to_table(), HasSubstr("s: a - b"));
  EXPECT_THAT(plan.to_html(), HasSubstr("Weight: Aachen less Bonn"));
  const PlannedStatistic& planned = plan.statistics().front();
  const std::vector<std::vector<Dyadic>> released = {{Dyadic(-120), Dyadic(60), Dyadic(-100)},
                                                     {Dyadic(40), Dyadic(60), Dyadic(100)}};
  ASSERT_EQ(planned.measurements.front().part, "sum");
  const Report report(plan, {released}, 1, 9, 0);
  const Json json = Json::parse(report.json()).at("statistics").at(1);
  EXPECT_EQ(json.at("difference"), Json::parse(R"({"of": "s", "kind": "mean", "groups": ["a", "b"]})"));
  EXPECT_EQ(json.at("bounds"), Json::parse(R"([["-10", "10"]])"));
  EXPECT_EQ(json.at("unit"), "kg");
  EXPECT_EQ(json.at("value"), -4);
  for (const std::string& view : {report.to_html(), report.to_table()})
    EXPECT_THAT(view, HasSubstr("Weight: Aachen less Bonn"));
  EXPECT_THAT(report.to_markdown(), HasSubstr("Weight\\: Aachen less Bonn, kg"));
  EXPECT_THAT(report.to_csv(), HasSubstr("\ns: a - b,,,-4,"));
  const Report again = Report::from_json(report.json());
  EXPECT_EQ(again.to_html(), report.to_html());
  EXPECT_EQ(again.to_table(), report.to_table());
  EXPECT_EQ(again.to_csv(), report.to_csv());
}

TEST(Differences, WarnWhereTheSignIsNotTold) {
  const Plan plan(Specification::parse(data + statistic("count", ""), "s.toml"));
  const auto warnings = [&](long a, long b) {
    return Json::parse(Report(plan, {{{Dyadic(a), Dyadic(b), Dyadic(1000)}}}, 1, 9, 0).json()).at("warnings");
  };
  ASSERT_EQ(warnings(50, 49).size(), 1U);
  EXPECT_EQ(warnings(50, 49).at(0).at("kind"), "sign_not_told");
  EXPECT_EQ(warnings(50, 49).at(0).at("statistic"), "s: a - b");
  EXPECT_TRUE(warnings(50, 500).empty());
}

// What is wrong with a group's number is wrong with its differences.
TEST(Differences, WarnOfWhatHoldsOfAGroup) {
  const Plan plan(Specification::parse(data + statistic("mean", "column = \"x\""), "s.toml"));
  // Of the first group there are no rows to be seen.
  const std::vector<std::vector<Dyadic>> released = {{Dyadic(0), Dyadic(60), Dyadic(-100)},
                                                     {Dyadic(0), Dyadic(60), Dyadic(100)}};
  const Report report(plan, {released}, 1, 9, 0);
  const Json json = Json::parse(report.json());
  EXPECT_TRUE(json.at("statistics").at(1).at("difference").at("beware"));
  int found = 0;
  for (const Json& warning : json.at("warnings")) {
    if (warning.at("kind") == "in_a_group") ++found;
  }
  EXPECT_EQ(found, 2);  // it is in both differences
  EXPECT_THAT(report.to_html(), HasSubstr("a group has a warning"));
  EXPECT_EQ(Report::from_json(report.json()).to_html(), report.to_html());
}

// Whatever is drawn: see Report::rehearse.
TEST(Differences, AreRehearsed) {
  for (const std::string& text :
       {statistic("count", ""), statistic("sum", "column = \"x\""), statistic("mean", "column = \"x\""),
        statistic("median", "column = \"x\"\nedges = [0, 5, 10]")}) {
    const Plan plan(Specification::parse(
        replaced(data, "[columns.x]", "population = true\n[columns.x]") + text, "s.toml"));
    const Report::Rehearsal rehearsal = Report::rehearse(plan);
    for (const double huge : {0.0, 1e-300, 9.87654321987654321e299, -1.2345678901234567e290}) {
      std::vector<std::vector<Dyadic>> released;
      for (const PlannedMeasurement& part : plan.statistics().front().measurements)
        released.emplace_back(part.measurement.aggregation().output_domain().dimension, Dyadic(huge));
      const Report report(plan, {released}, 1, 9, 0);
      EXPECT_LE(report.json().size(), rehearsal.length) << text;
      EXPECT_NO_THROW(Report::from_json(report.json())) << text;
    }
  }
}

// In the population of each group the mean is known less well than in the rows.
TEST(Differences, TellOfThePopulation) {
  const std::string sample = replaced(data, "[columns.x]", "population = true\n[columns.x]");
  const Plan plan(Specification::parse(sample + statistic("mean", "column = \"x\""), "s.toml"));
  const Json json = releases(plan, 1).front();
  const Json& difference = json[1].at("population");
  EXPECT_EQ(difference.at("alpha"), "0.2");
  const auto width = [](const Json& of) {
    return of.at("interval")[1].get<double>() - of.at("interval")[0].get<double>();
  };
  const Json& groups = json[0].at("groups");
  EXPECT_GT(width(difference), width(groups[0].at("population")) + width(groups[1].at("population")));
  EXPECT_LT(width(difference), 1.5 * (width(groups[0].at("population")) + width(groups[1].at("population"))));
  EXPECT_GT(width(difference), 2 * accuracy_of(json[1]));
}

TEST(Differences, AreRefusedWithTheReason) {
  const auto with = [](const std::string& differences) {
    return data + replaced(statistic("count", ""), "[[\"a\", \"b\"], [\"c\", \"a\"]]", differences);
  };
  EXPECT_THAT(refusal(with("[]")), HasSubstr("must have at least one entry"));
  EXPECT_THAT(refusal(with("[\"a\", \"b\"]")), HasSubstr("must be pairs of keys"));
  EXPECT_THAT(refusal(with("[[\"a\"]]")), HasSubstr("must be pairs of keys"));
  EXPECT_THAT(refusal(with("[[\"a\", 1]]")), HasSubstr("texts in quotes"));
  EXPECT_THAT(refusal(with("[[\"a\", \"z\"]]")), HasSubstr("none of the keys"));
  EXPECT_THAT(refusal(with("[[\"a\", \"a\"]]")), HasSubstr("does not differ from itself"));
  EXPECT_THAT(refusal(with("[[\"a\", \"b\"], [\"a\", \"b\"]]")), HasSubstr("twice"));
  EXPECT_EQ(refusal(with("[[\"a\", \"b\"], [\"b\", \"a\"]]")), "accepted");
  EXPECT_THAT(refusal(data + replaced(statistic("count", ""), "group_by = \"g\"", "")),
              HasSubstr("applies only with group_by"));
  EXPECT_THAT(refusal(data + statistic("histogram", "column = \"x\"\nedges = [0, 5, 10]")),
              HasSubstr("does not apply to kind = \"histogram\""));
  EXPECT_THAT(refusal(data + statistic("quantiles", "column = \"x\"\nedges = [0, 5, 10]\nquantiles = [0.5]")),
              HasSubstr("does not apply to kind = \"quantiles\""));
  EXPECT_THAT(refusal(data + statistic("count", "range = [0, 50]")), HasSubstr("declared range"));
  const std::string huge = replaced(data, "[0, 10]", "[-1e304, 1e304]");
  for (const std::string& text : {statistic("sum", "column = \"x\""), statistic("mean", "column = \"x\""),
                                  statistic("median", "column = \"x\"\nedges = [-1e304, 0, 1e304]")})
    EXPECT_THAT(refusal(huge + text), HasSubstr("beyond 2^1000")) << text;
  // A report lists statistics and differences by their names.
  const std::string other = "[[statistic]]\nname = \"s: a - b\"\nkind = \"count\"\nepsilon = 1\n";
  EXPECT_THAT(refusal(with("[[\"a\", \"b\"]]") + other), HasSubstr("same name in the report"));
  EXPECT_EQ(refusal(with("[[\"a\", \"c\"]]") + other), "accepted");
  const std::string numbers = replaced(replaced(with("[[1, 2.0]]"), "[\"a\", \"b\", \"c\"]", "[1, 2]"),
                                       "labels = { a = \"Aachen\", b = \"Bonn\" }\n", "");
  EXPECT_EQ(refusal(numbers), "accepted");
}

}  // namespace
}  // namespace snapdp
