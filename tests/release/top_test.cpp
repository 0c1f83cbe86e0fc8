// kind = "top": the most frequent categories, named without counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/release/report.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string add_remove = "[data]\ndataset = \"d\"\nneighbors = \"add-remove\"\n";
const std::string change_one = "[data]\ndataset = \"d\"\nneighbors = \"change-one\"\nsize = 9\n";
const std::string cities = "categories = [\"ulm\", \"bonn\", \"new york\"]\n";

std::string text_of(const std::string& head, const std::string& more) {
  return head +
         "[budget]\nepsilon = 2\n[[statistic]]\nname = \"cities\"\nkind = \"top\"\ncolumn = \"city\"\n" +
         more;
}
Plan plan_of(const std::string& head, const std::string& more) {
  return Plan(Specification::parse(text_of(head, more), "s.toml"));
}
Report report_of(const Plan& plan, const std::vector<Dyadic>& chosen) {
  return Report(plan, {{chosen}}, 1, plan.epsilon(), Rational(0));
}

TEST(Top, Plan) {
  const Plan plan = plan_of(add_remove, cities + "k = 2\nepsilon = 1\n");
  const PlannedStatistic& planned = plan.statistics().front();
  ASSERT_EQ(planned.measurements.size(), 1);
  const Measurement& measurement = planned.measurements.front().measurement;
  ASSERT_TRUE(measurement.is_choice());
  EXPECT_EQ(measurement.choice().sensitivity(), 1);
  EXPECT_EQ(measurement.choice().count(), 2);
  EXPECT_EQ(plan.epsilon(), 1);
  EXPECT_EQ(planned.loss_bound, 1);
  EXPECT_EQ(planned.certificate.bound, 1);
  EXPECT_EQ(planned.certificate.witness, Rational(1, 2));
  EXPECT_FALSE(planned.accuracy);
  ASSERT_TRUE(planned.gap);
  EXPECT_EQ(*planned.gap, measurement.accuracy(0.05).tight);
  EXPECT_TRUE(plan.savings().empty());
  for (const PlanWarning& warning : plan.warnings())
    EXPECT_NE(warning.statistic, "cities") << warning.message;
  EXPECT_THAT(plan.to_table(), testing::ContainsRegex("at most [0-9]+ rows below the best"));
  EXPECT_THAT(plan.to_html(), HasSubstr("below the best"));
  EXPECT_THAT(plan.explanation(), HasSubstr("permute-and-flip: of 3 candidates 2 are named"));
  EXPECT_THAT(plan.to_json(), HasSubstr("\"noise\": \"permute-and-flip\""));
  EXPECT_THAT(plan.to_json(), HasSubstr("\"candidates\": 3"));
  // A replaced row moves two counts.
  const Plan replaced = plan_of(change_one, cities + "k = 2\nepsilon = 1\n");
  EXPECT_EQ(replaced.statistics().front().measurements.front().measurement.choice().sensitivity(), 2);
  // All rows of a unit move the same way.
  const Plan units =
      plan_of(add_remove + "privacy_unit = \"id\"\nmax_rows_per_unit = 3\n", cities + "k = 1\nweight = 1\n");
  EXPECT_EQ(units.statistics().front().measurements.front().measurement.choice().sensitivity(), 3);
  EXPECT_EQ(units.epsilon(), 2);
}

TEST(Top, EveryFormOfAReport) {
  const Plan plan = plan_of(add_remove, cities + "k = 2\nepsilon = 1\n");
  const Report report = report_of(plan, {2, 0});
  EXPECT_THAT(report.json(),
              HasSubstr("\"top\": [\n        {\n          \"category\": \"new york\"\n        },\n"
                        "        {\n          \"category\": \"ulm\"\n        }\n      ]"));
  EXPECT_THAT(report.to_table(), HasSubstr("1  new york\n  2  ulm\n"));
  EXPECT_THAT(report.to_table(), HasSubstr("each category that is named has at most 7 rows\n"));
  EXPECT_THAT(report.to_csv(), HasSubstr("cities,,1,new york,,,0.05,1,,\r\ncities,,2,ulm,,,0.05,1,,\r\n"));
  EXPECT_THAT(report.to_markdown(), HasSubstr("| 1 | new york |\n| 2 | ulm |\n"));
  EXPECT_THAT(report.to_html(), HasSubstr("<th scope=\"row\">1</th><td class=\"v\">new york</td>"));
  EXPECT_THAT(report.to_table(), Not(HasSubstr("bonn")));
  const Report stored = Report::from_json(report.json());
  EXPECT_EQ(stored.to_table(), report.to_table());
  EXPECT_EQ(stored.to_csv(), report.to_csv());
  EXPECT_EQ(stored.to_markdown(), report.to_markdown());
  EXPECT_EQ(stored.to_html(), report.to_html());
  // What was rehearsed before the debit is at least as long, whatever comes out.
  EXPECT_GE(Report::rehearse(plan).length, report.json().size());
}

// No name steers what reads it.
TEST(Top, NamesAreEscaped) {
  const Plan plan = plan_of(add_remove, "categories = [\"a,\\\"b\", \"<b>|*\"]\nk = 2\nepsilon = 1\n");
  const Report report = report_of(plan, {0, 1});
  EXPECT_THAT(report.to_csv(), HasSubstr("cities,,1,\"a,\"\"b\",,,"));
  EXPECT_THAT(report.to_html(), HasSubstr("&lt;b&gt;|*"));
  EXPECT_THAT(report.to_html(), Not(HasSubstr("<b>|*")));
  EXPECT_THAT(report.to_markdown(), HasSubstr("\\<b\\>\\|\\*"));
}

TEST(Top, Labels) {
  const std::string head = add_remove + "[columns.city]\ncategories = [1, 2, 3]\n";
  const Plan plan = plan_of(head, "k = 1\nepsilon = 1\n");
  EXPECT_THAT(report_of(plan, {1}).to_table(), HasSubstr("1  2\n"));
}

TEST(Top, Refusals) {
  const auto refused = [](const std::string& more, const std::string& head = add_remove) {
    try {
      plan_of(head, more);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(refused(cities + "epsilon = 1\n"), HasSubstr("k is missing"));
  EXPECT_THAT(refused(cities + "k = 4\nepsilon = 1\n"), HasSubstr("k = 4: must be at most 3"));
  EXPECT_THAT(refused(cities + "k = 0\nepsilon = 1\n"), HasSubstr("k = 0"));
  EXPECT_THAT(refused("k = 1\nepsilon = 1\n"), HasSubstr("categories"));
  EXPECT_THAT(refused(cities + "k = 1\naccuracy = 1\n"), HasSubstr("accuracy"));
  for (const std::string key :
       {"grid = \"auto\"", "mode = \"exact\"", "noise = \"geometric\"", "precision = 60"})
    EXPECT_THAT(refused(cities + "k = 1\nepsilon = 1\n" + key + "\n"), HasSubstr("top releases none"));
  EXPECT_THAT(refused(cities + "k = 1\nepsilon = 1\ngroup_by = \"g\"\nkeys = [1]\n"), HasSubstr("group_by"));
  EXPECT_THAT(refused(cities + "k = 1\nepsilon = 1\nrange = [0, 1]\n"), HasSubstr("range"));
  EXPECT_THAT(refused(cities + "k = 1\nepsilon = 1\nguesses = [1]\n"), HasSubstr("guesses"));
  EXPECT_THAT(refused(cities + "k = 1\nepsilon = 1\nnonnegative = true\n"), HasSubstr("nonnegative"));
  EXPECT_THAT(refused(cities + "k = 1\nepsilon = 1\nedges = [0, 1]\n"), HasSubstr("edges"));
}

}  // namespace
}  // namespace snapdp
