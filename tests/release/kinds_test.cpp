// What holds of every kind of statistic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "release/kinds/kind.h"
#include "release/replace.h"
#include "snapdp/error.h"
#include "snapdp/release/report.h"
#include "snapdp/testing/neighbor_tester.h"

namespace snapdp {
namespace {

using namespace release_internal;
using testing::HasSubstr;

const std::string change_one_head = "[data]\ndataset = \"d\"\nneighbors = \"change-one\"\nsize = 5\n";
const std::string add_remove_head = "[data]\ndataset = \"d\"\nneighbors = \"add-remove\"\n";

// The keys that a statistic of each kind needs.
const std::map<std::string, std::string> needed = {
    {"count", ""},
    {"sum", "column = \"x\"\nbounds = [-1, 3]\n"},
    {"mean", "column = \"x\"\nbounds = [-1, 3]\n"},
    {"variance", "column = \"x\"\nbounds = [-1, 3]\n"},
    {"covariance", "columns = [\"x\", \"y\"]\nbounds = [[-1, 3], [0, 0.7]]\n"},
    {"histogram", "column = \"x\"\nedges = [0, 1, 2.5]\n"},
    {"distinct", "column = \"x\"\ncategories = [0, 1, 2.5]\n"},
    {"standard_deviation", "column = \"x\"\nbounds = [-1, 3]\n"},
    {"correlation", "columns = [\"x\", \"y\"]\nbounds = [[-1, 3], [0, 0.7]]\n"},
    {"moment", "column = \"x\"\nbounds = [-1, 3]\norder = 3\n"},
    {"median", "column = \"x\"\nedges = [0, 1, 2.5]\n"},
    {"quantiles", "column = \"x\"\nedges = [0, 1, 2.5]\nquantiles = [0, 0.9]\n"},
    {"range_count", "column = \"x\"\nbounds = [-1, 2.5]\n"},
    {"top", "column = \"x\"\ncategories = [0, 1, 2.5]\nk = 2\n"},
    {"regression", "y = \"x\"\nx = [\"y\", \"z\"]\nbounds = [[-1, 3], [0, 0.7], [0, 2.5]]\n"},
};

Plan plan_of(const std::string& head, const Kind& kind, const std::string& more = "") {
  return Plan(Specification::parse(head + "[budget]\nepsilon = 1\n[[statistic]]\nname = \"s\"\nkind = \"" +
                                       kind.name() + "\"\nepsilon = 1\n" + needed.at(kind.name()) + more,
                                   "s.toml"));
}

TEST(Kinds, EachHasANameAndAPlaceOfItsOwn) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < all_kinds().size(); ++i) {
    const Kind& kind = *all_kinds()[i];
    EXPECT_EQ(static_cast<std::size_t>(kind.id()), i) << kind.name();
    EXPECT_EQ(&kind_of(kind.id()), &kind);
    EXPECT_EQ(to_string(kind.id()), kind.name());
    EXPECT_TRUE(names.insert(kind.name()).second) << kind.name();
    EXPECT_TRUE(needed.contains(kind.name())) << "write down what keys it needs";
  }
}

// The chain of each, from rows as they come to the noise, on every pair of neighbors that the tester can think of.
TEST(Kinds, NeighborsAreAsNearAsTheChainOfEachClaims) {
  const std::string groups = "group_by = \"g\"\nkeys = [1, 2.5]\n";
  for (const Kind* kind : all_kinds()) {
    std::vector<Plan> plans = {plan_of(change_one_head, *kind)};
    if (kind->id() != StatisticKind::moment) {
      plans.push_back(plan_of(add_remove_head, *kind));
      if (!kind->is_choice())
        plans.push_back(plan_of(add_remove_head + "nulls = { impute = 7 }\n", *kind, groups));
    }
    for (const Plan& plan : plans) {
      for (const PlannedMeasurement& part : plan.statistics().front().measurements) {
        const std::optional<Counterexample> found =
            find_counterexample(part.measurement, {.trials = 300, .reals = {-1, 0, 1, 2, 2.5, 3, 0.7}});
        EXPECT_FALSE(found) << kind->name() << " " << part.part << ": " << found->description();
      }
    }
  }
}

// The same numbers make the same table now and from what a ledger keeps, and none is missing.
TEST(Kinds, ReportsOfEachAreReadBack) {
  for (const Kind* kind : all_kinds()) {
    const Plan plan = plan_of(change_one_head, *kind);
    const PlannedStatistic& planned = plan.statistics().front();
    std::vector<std::vector<Dyadic>> values;
    for (const PlannedMeasurement& part : planned.measurements)
      values.emplace_back(part.measurement.released_count(), Dyadic(1));
    const Report report(plan, {values}, 1, Rational(1), Rational(0));
    EXPECT_THAT(report.json(), HasSubstr("\"kind\": \"" + kind->name() + "\""));
    EXPECT_THAT(report.json(), HasSubstr(kind->is_choice() ? "\"category\": " : "\"value\": "));
    EXPECT_EQ(Report::from_json(report.json()).to_table(), report.to_table());
  }
}

TEST(Kinds, AStoredReportWithAValueOfAnotherTypeIsRefused) {
  const Plan plan = plan_of(add_remove_head, kind_of(StatisticKind::sum));
  const std::string json = Report(plan, {{{Dyadic(1)}}}, 1, Rational(1), Rational(0)).json();
  EXPECT_FALSE(Report::from_json(json).to_table().empty());
  for (const auto& [was, becomes] :
       std::vector<std::pair<std::string, std::string>>{{"\"release\": 1", "\"release\": \"1\""},
                                                        {"\"release\": 1", "\"release\": 1.5"},
                                                        {"\"name\": \"s\"", "\"name\": 3"},
                                                        {"\"tight\": ", "\"tight\": true, \"was\": "},
                                                        {"\"epsilon\": \"1\"", "\"epsilon\": \"one\""},
                                                        {"\"accuracy\": ", "\"accuracies\": "},
                                                        {"\"spent\": \"1\"", "\"spent\": null"}}) {
    try {
      Report::from_json(replaced(json, was, becomes));
      ADD_FAILURE() << becomes;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data) << becomes;
      EXPECT_STREQ(error.what(), "report: the stored text is not a report of this program") << becomes;
    }
  }
}

TEST(Kinds, ARangeCountIncludesItsEndsAndNoRowWithoutANumber) {
  const std::vector<double> cells = {-1, 2.5, 0, -1.5, 2.6, std::nan(""), INFINITY};
  const auto counted = [&](const std::string& head, const std::string& more = "") {
    const Plan plan = plan_of(head, kind_of(StatisticKind::range_count), more);
    const Measurement& measurement = plan.statistics().front().measurements.front().measurement;
    EXPECT_EQ(measurement.mechanism().sensitivity(), Dyadic(1));
    EXPECT_EQ(measurement.mechanism().grid().spacing(), Dyadic(1));
    return measurement.aggregation()(cells).front();
  };
  const std::string seven = "[data]\ndataset = \"d\"\nneighbors = \"change-one\"\nsize = 7\n";
  EXPECT_EQ(counted(seven), Dyadic(3));
  EXPECT_EQ(counted(add_remove_head, "noise = \"geometric\"\n"), Dyadic(3));
}

// Only the bins of a histogram are listed in a report; the values that a distinct count looks for do not lengthen it.
TEST(Kinds, TheValuesThatADistinctCountLooksForAreNotListed) {
  std::string many = "1";
  for (int i = 2; i <= 2000; ++i) many += ", " + std::to_string(i);
  const std::string text = add_remove_head +
                           "[budget]\nepsilon = 1\n[[statistic]]\nname = \"s\"\nkind = \"distinct\"\n"
                           "column = \"x\"\nepsilon = 1\ncategories = [" +
                           many + "]\ngroup_by = \"g\"\nkeys = [" + many + "]\n";
  const Plan plan(Specification::parse(text, "s.toml"));
  EXPECT_TRUE(plan.statistics().front().bins.empty());
  EXPECT_LT(Report::rehearse(plan).length, std::size_t{1} << 20);
}

}  // namespace
}  // namespace snapdp
