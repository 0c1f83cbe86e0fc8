#include "snapdp/release/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "snapdp/error.h"
#include "snapdp/testing/memory_source.h"

namespace snapdp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* head = R"([data]
dataset = "people"
neighbors = "add-remove"
[budget]
epsilon = 10
)";

std::string statistic(const std::string& name, const std::string& keys) {
  return "[[statistic]]\nname = \"" + name + "\"\nepsilon = 1\n" + keys + "\n";
}

DataCheck check_of(const std::string& text, MemorySource source) {
  return check_data(Plan(Specification::parse(text, "s.toml")), source);
}

const std::string mean_age = statistic("mean", "kind = \"mean\"\ncolumn = \"age\"\nbounds = [18, 65]");

TEST(DataCheck, SaysWhereNumbersLie) {
  MemorySource source;
  source.add("age",
             MemorySource::Texts{"17", "-1e300", "18", "18.0", "40", "65", "66", "", "n/a", "64.5", "nan"});
  const DataCheck check = check_of(head + mean_age, source);
  EXPECT_EQ(check.rows, 11U);
  EXPECT_EQ(check.counted, 11U);
  EXPECT_EQ(check.declared_rows, std::nullopt);
  ASSERT_EQ(check.cells.size(), 1U);
  const CellCheck& age = check.cells[0];
  EXPECT_EQ(age.column, "age");
  EXPECT_THAT(age.statistics, ElementsAre("mean"));
  EXPECT_EQ(age.expected, "number in [18, 65]");
  ASSERT_TRUE(age.places.has_value());
  EXPECT_EQ(age.places->below, 2U);
  EXPECT_EQ(age.places->at_lower, 2U);
  EXPECT_EQ(age.places->between, 2U);
  EXPECT_EQ(age.places->at_upper, 1U);
  EXPECT_EQ(age.places->above, 1U);
  // Every row is somewhere.
  EXPECT_EQ(age.missing + age.unreadable, 3U);
  EXPECT_GE(age.unreadable, 1U);
}

TEST(DataCheck, AColumnReadAsIntegersHasFractionsThatCannotBeRead) {
  MemorySource source;
  source.add("age", MemorySource::Texts{"17", "18.5", "1e1", "9223372036854775807", "9223372036854775808"});
  const std::string integers = statistic(
      "mean", "kind = \"mean\"\ncolumn = \"age\"\ntype = \"integer\"\nbounds = [0, \"9223372036854775807\"]");
  const DataCheck check = check_of(head + integers, source);
  EXPECT_EQ(check.cells.at(0).unreadable, 2U);
  EXPECT_EQ(check.cells.at(0).places->at_upper, 1U);
  EXPECT_EQ(check.cells.at(0).places->between, 2U);
}

TEST(DataCheck, StatisticsThatReadAColumnAlikeShareALine) {
  MemorySource source;
  source.add("age", MemorySource::Reals{1, 2, 3});
  const std::string sum = statistic("sum", "kind = \"sum\"\ncolumn = \"age\"\nbounds = [18, 65]");
  const std::string wide = statistic("wide", "kind = \"sum\"\ncolumn = \"age\"\nbounds = [0, 65]");
  const DataCheck check = check_of(head + mean_age + sum + wide, source);
  ASSERT_EQ(check.cells.size(), 2U);
  EXPECT_THAT(check.cells[0].statistics, ElementsAre("mean", "sum"));
  EXPECT_EQ(check.cells[0].places->below, 3U);
  EXPECT_EQ(check.cells[1].places->between, 3U);
}

TEST(DataCheck, SaysWhichCategoriesNobodyHas) {
  MemorySource source;
  source.add("city", MemorySource::Texts{"ulm", "Ulm", "bonn", "bonn ", std::string_view(), "ulm"});
  const std::string cities = statistic(
      "cities", "kind = \"histogram\"\ncolumn = \"city\"\ncategories = [\"ulm\", \"bonn\", \"kiel\"]");
  for (const char* other : {"", "other = \"bin\"\n"}) {
    const DataCheck check = check_of(head + cities + other, source);
    const CellCheck& city = check.cells.at(0);
    ASSERT_TRUE(city.values.has_value());
    EXPECT_EQ(city.missing, 1U);
    EXPECT_EQ(city.values->known, 3U);
    EXPECT_EQ(city.values->unknown, 2U);
    EXPECT_THAT(city.values->never, ElementsAre("kiel"));
    EXPECT_THAT(check.to_text(),
                AllOf(HasSubstr("no row has \"kiel\""), HasSubstr("3 among them, 2 none of them")));
  }
}

TEST(DataCheck, GroupsAndOuterEdgesAreLookedAt) {
  MemorySource source;
  source.add("age", MemorySource::Reals{5, 15, 25, 99});
  source.add("state", MemorySource::Integers{1, 2, 7, 2});
  const std::string by_state = statistic(
      "by_state",
      "kind = \"histogram\"\ncolumn = \"age\"\nedges = [10, 20, 99]\ngroup_by = \"state\"\nkeys = [1, 2, 3]");
  const DataCheck check = check_of(head + by_state, source);
  ASSERT_EQ(check.cells.size(), 2U);
  EXPECT_EQ(check.cells[0].expected, "number in [10, 99]");
  EXPECT_EQ(check.cells[0].places->below, 1U);
  EXPECT_EQ(check.cells[0].places->at_upper, 1U);
  EXPECT_EQ(check.cells[1].column, "state");
  EXPECT_EQ(check.cells[1].values->unknown, 1U);
  EXPECT_THAT(check.cells[1].values->never, ElementsAre("3"));
}

TEST(DataCheck, TheLimitOnUnitsIsCountedNotCarriedOut) {
  MemorySource source;
  source.add("pid", MemorySource::Texts{"a", "b", "a", "a", " ", "", "c", "b"});
  source.add("age", MemorySource::Reals{20, 20, 20, 20, 20, 20, 20, 1});
  const std::string text = R"([data]
dataset = "people"
neighbors = "add-remove"
privacy_unit = "pid"
max_rows_per_unit = 2
where = "age >= 18"
[budget]
epsilon = 10
)" + mean_age;
  const DataCheck check = check_of(text, source);
  EXPECT_EQ(check.rows, 8U);
  EXPECT_EQ(check.counted, 7U);
  ASSERT_TRUE(check.units.has_value());
  EXPECT_EQ(check.units->units, 3U);
  EXPECT_EQ(check.units->without_unit, 2U);
  EXPECT_EQ(check.units->most_rows, 3U);
  EXPECT_EQ(check.units->above_limit, 1U);
  EXPECT_EQ(check.units->dropped, 1U);
  EXPECT_EQ(check.cells.at(0).places->between, 7U);
}

TEST(DataCheck, ThePublicNumberOfRowsMayBeWrong) {
  MemorySource source;
  source.add("age", MemorySource::Reals{20, 30});
  const std::string text =
      "[data]\ndataset = \"d\"\nneighbors = \"change-one\"\nsize = 3\n[budget]\nepsilon = 1\n";
  const DataCheck check = check_of(text + mean_age, source);
  EXPECT_EQ(check.declared_rows, 3U);
  EXPECT_THAT(check.to_text(),
              HasSubstr("\xe2\x96\xb2 2 rows, but size = 3 is declared: a release will be refused"));
}

TEST(DataCheck, BeginsAndEndsWithItsNotice) {
  MemorySource source;
  source.add("age", MemorySource::Reals{20, 30});
  const DataCheck check = check_of(head + mean_age, source);
  const std::string text = check.to_text({"the file \x1b[31m is odd"});
  EXPECT_TRUE(text.starts_with(DataCheck::notice));
  EXPECT_TRUE(text.ends_with(std::string(DataCheck::notice) + "\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("is odd"), Not(HasSubstr("\x1b"))));
  const auto json = nlohmann::json::parse(check.to_json({"odd"}));
  EXPECT_EQ(json.at("notice"), DataCheck::notice);
  EXPECT_EQ(json.at("form").at(0), "odd");
  EXPECT_EQ(json.at("columns").at(0).at("places").at("between"), 2);
}

TEST(DataCheck, AColumnThatIsNotThereIsNamed) {
  MemorySource source;
  source.add("ages", MemorySource::Reals{20, 30});
  try {
    check_of(head + mean_age, source);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    EXPECT_THAT(error.what(), HasSubstr("\"age\""));
  }
}

}  // namespace
}  // namespace snapdp
