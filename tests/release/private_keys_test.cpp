// Statistics by groups that nobody declared: keys = "private" with a [keys.NAME].
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "release/little_memory.h"
#include "release/replace.h"
#include "snapdp/error.h"
#include "snapdp/release/check.h"
#include "snapdp/release/release.h"
#include "snapdp/testing/memory_source.h"

namespace snapdp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

const std::string question = R"([data]
dataset = "people"
neighbors = "add-remove"
[columns.city]
type = "text"
labels = { ulm = "Ulm on the Danube" }
[budget]
epsilon = "2100"
delta = "1e-6"
[keys.city]
epsilon = "1"
delta = "1e-9"
[[statistic]]
name = "people"
kind = "count"
group_by = "city"
keys = "private"
epsilon = "1000"
noise = "geometric"
[[statistic]]
name = "income"
kind = "mean"
column = "income"
bounds = [0, 100]
group_by = "city"
keys = "private"
epsilon = "1000"
[[statistic]]
name = "all"
kind = "count"
epsilon = "1"
)";

class PrivateKeysTest : public testing::Test {
 protected:
  PrivateKeysTest() { std::filesystem::create_directories(folder_); }
  ~PrivateKeysTest() override { std::filesystem::remove_all(folder_); }

  Ledger& ledger() {
    if (!ledger_) {
      ledger_ = Ledger::create(folder_ / "people.ledger", {"people", Neighbors::add_remove, unit_},
                               PrivacyBudget::approximate(100'000, "1e-3"));
    }
    return *ledger_;
  }
  void of_units(const std::string& unit) { unit_ = unit; }
  Released run(const std::string& text, const ReleaseOptions& options = {}) {
    return release(
        Specification::parse(text, "s.toml"), ledger(),
        [&](const Declaration&) { return std::make_unique<MemorySource>(table_); }, options);
  }
  // From here on as another process would see it.
  Ledger& opened_anew() {
    ledger_.reset();
    ledger_ = Ledger::open(folder_ / "people.ledger");
    return *ledger_;
  }
  void add(const std::string& city, int rows, double income) {
    cities_.insert(cities_.end(), static_cast<std::size_t>(rows), city);
    incomes_.insert(incomes_.end(), static_cast<std::size_t>(rows), income);
    MemorySource::Texts cells(cities_.begin(), cities_.end());
    table_ = MemorySource();
    table_.add("city", std::move(cells)).add("income", MemorySource::Reals(incomes_));
  }

  std::vector<std::string> cities_;
  MemorySource::Reals incomes_;
  MemorySource table_;

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("snapdp_keys_" + std::to_string(std::random_device()()));
  std::string unit_;
  std::optional<Ledger> ledger_;
};

TEST_F(PrivateKeysTest, AreChosenAndReleasedInOneEntry) {
  add("ulm", 400, 50);
  add("bonn", 300, 20);
  add("a village", 1, 90);
  const Released released = run(question);
  const Json json = Json::parse(released.report.json());
  const Json& people = json["statistics"][0];
  ASSERT_EQ(people["groups"].size(), 2U);
  EXPECT_EQ(people["groups"][0]["key"], "bonn");
  EXPECT_EQ(people["groups"][0]["value"], 300);
  EXPECT_EQ(people["groups"][1]["key"], "ulm");
  EXPECT_EQ(people["groups"][1]["label"], "Ulm on the Danube");
  EXPECT_EQ(people["keys"], "private");
  EXPECT_NEAR(json["statistics"][1]["groups"][1]["value"].get<double>(), 50, 1);
  const Json& keys = json["keys"][0];
  EXPECT_EQ(keys["column"], "city");
  EXPECT_EQ(keys["epsilon"], "1");
  EXPECT_EQ(keys["delta"], "0.000000001");
  EXPECT_EQ(keys["shown"], 2);
  EXPECT_FALSE(keys.contains("cut"));
  EXPECT_EQ(keys["statistics"], Json({"people", "income"}));
  EXPECT_EQ(json["ledger"]["spent"], "2002");
  EXPECT_EQ(json["ledger"]["spent_delta"], "0.000000001");

  const LedgerEntry entry = ledger().entry(1);
  EXPECT_EQ(entry.cost, PrivacyAmount(2002, Rational(1, 1'000'000'000)));
  EXPECT_EQ(entry.charges.at(0).name, "keys of city");
  EXPECT_EQ(ledger().report(1), released.report.json());
  EXPECT_THAT(released.report.json(), Not(HasSubstr("village")));

  const Report again = Report::from_json(released.report.json());
  const std::string law = "A group is shown by the number of its rows, from ";
  for (const std::string& view : {again.to_table(), again.to_html(), again.to_markdown()}) {
    EXPECT_THAT(one_line(view), AllOf(HasSubstr(" 2 groups are shown of people, income"), HasSubstr(law),
                                      HasSubstr("Ulm on the Danube"), Not(HasSubstr("village"))));
  }
  EXPECT_THAT(again.to_csv(), HasSubstr("people,bonn,,300,"));
  EXPECT_THAT(one_line(again.to_table()), HasSubstr("2002 spent now"));
}

TEST_F(PrivateKeysTest, ThatAreAllTooSmallAreAnEmptyResultThatSaysWhy) {
  add("ulm", 2, 50);
  const std::string text =
      replaced(question, "[[statistic]]\nname = \"all\"\nkind = \"count\"\nepsilon = \"1\"\n", "");
  const Released released = run(text);
  const Json json = Json::parse(released.report.json());
  EXPECT_TRUE(json["statistics"].empty());
  EXPECT_EQ(json["keys"][0]["shown"], 0);
  EXPECT_EQ(json["keys"][0]["left_out"], "2000");
  EXPECT_THAT(json["certificate"]["bound"].get<std::string>(), testing::StartsWith("2001.0"));
  EXPECT_EQ(ledger().balance().spent, PrivacyAmount(2001, Rational(1, 1'000'000'000)));
  const Report again = Report::from_json(*ledger().report(1));
  for (const std::string& view : {again.to_table(), again.to_html(), again.to_markdown()}) {
    EXPECT_THAT(one_line(view),
                AllOf(HasSubstr("2001"), HasSubstr(" no group is shown, and so nothing of people, income"),
                      Not(HasSubstr("ulm"))));
  }
  EXPECT_THAT(again.to_csv(), Not(HasSubstr("ulm")));
}

// Names from the data in every view.
TEST_F(PrivateKeysTest, AreTextsThatNoViewObeys) {
  for (const char* key :
       {"<script>alert(1)</script>", "=1+1", "\"quoted\", with a comma", "a|b", "\\", "x\xcc\x81"})
    add(key, 400, 50);
  const Released released = run(question);
  const Json json = Json::parse(released.report.json());
  EXPECT_EQ(json["statistics"][0]["groups"].size(), 6U);
  EXPECT_THAT(released.report.to_html(), Not(HasSubstr("<script>alert")));
  EXPECT_THAT(released.report.to_csv(), AllOf(HasSubstr("people,'=1+1,"), Not(HasSubstr(",=1+1"))));
  EXPECT_EQ(Report::from_json(released.report.json()).json(), released.report.json());
}

TEST_F(PrivateKeysTest, AreCutAtThePublicMost) {
  for (const char* key : {"a", "b", "c"}) add(key, 400, 50);
  const Released released = run(replaced(question, "delta = \"1e-9\"\n", "delta = \"1e-9\"\nmost = 2\n"));
  const Json json = Json::parse(released.report.json());
  EXPECT_EQ(json["statistics"][0]["groups"].size(), 2U);
  EXPECT_EQ(json["keys"][0]["cut"], true);
  EXPECT_THAT(one_line(released.report.to_table()), HasSubstr("the first in order of those that might be"));
}

// A report that might become too long is refused before anything is read, whatever is in the data.
TEST_F(PrivateKeysTest, AreNoMoreThanAReportHolds) {
  add("a", 400, 50);
  try {
    run(replaced(question, "delta = \"1e-9\"\n", "delta = \"1e-9\"\nmost = 100000\n"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("MiB"));
  }
  EXPECT_EQ(table_.folds, 0);
  EXPECT_EQ(ledger().balance().spent, PrivacyAmount());
}

#ifndef SNAPDP_LITTLE_MEMORY_CANNOT_BE_TRIED
// Right before the debit all memory is gone but what is held for what follows: choosing the keys, the noise, and the plan and the
// report of the groups that are shown.
TEST_F(PrivateKeysTest, NeedNoMemoryBeyondWhatIsHeldAfterTheDebitInForks) {
  constexpr int many = 1500;
  MemorySource::Texts cells;
  for (int i = 0; i < many; ++i) {
    const std::string number = std::to_string(i);
    cities_.push_back(std::string(KeyValues::longest - number.size(), '"') + number);
  }
  for (int row = 0; row < 60; ++row) {
    for (const std::string& city : cities_) cells.emplace_back(city);
  }
  table_.add("city", cells).add("income", MemorySource::Reals(cells.size(), 50));
  const std::string text = replaced(question, "delta = \"1e-9\"\n", "delta = \"1e-9\"\nmost = 1500\n");
  static_cast<void>(ledger());
  for (const std::size_t left : {std::size_t{0}, std::size_t{1} << 20}) {
    const std::int64_t before = opened_anew().balance().releases;
    ReleaseOptions options;
    options.before_debit = [left] { leave_memory(left); };
    const bool good = succeeds_with_memory(
        std::size_t{1} << 30, [&] { opened_anew(); }, [&] { return run(text, options).not_stored.empty(); });
    const std::int64_t paid = opened_anew().balance().releases - before;
    ASSERT_TRUE(good || paid == 0) << left;
    if (paid == 0) continue;
    const Json json = Json::parse(*ledger().report(before + 1));
    EXPECT_EQ(json["statistics"][0]["groups"].size(), static_cast<std::size_t>(many)) << left;
  }
  EXPECT_GT(opened_anew().balance().releases, 0);
}
#endif

// What people call groups counts for the longest report too.
TEST_F(PrivateKeysTest, HaveWordsThatFitIntoTheReport) {
  const std::string words(256, '"');
  std::string text = replaced(question, "type = \"text\"\n", "type = \"integer\"\n");
  text = replaced(text, "labels = { ulm = \"Ulm on the Danube\" }", "labels = { 7 = '" + words + "' }");
  table_.add("city", MemorySource::Integers(400, 7)).add("income", MemorySource::Reals(400, 50));
  const Json json = Json::parse(run(text).report.json());
  EXPECT_EQ(json["statistics"][0]["groups"][0]["label"], words);
  EXPECT_EQ(json["statistics"][0]["groups"][0]["key"], 7);
  EXPECT_THROW(run(replaced(text, "delta = \"1e-9\"\n", "delta = \"1e-9\"\nmost = 50000\n")), Error);
  EXPECT_NO_THROW(Plan(Specification::parse(
      replaced(replaced(text, words, "short"), "delta = \"1e-9\"\n", "delta = \"1e-9\"\nmost = 50000\n"),
      "s.toml")));
}

// Nothing that a check of the cells needs to know.
TEST_F(PrivateKeysTest, AreCheckedLikeOtherCells) {
  add("ulm", 4, 50);
  const Plan plan(Specification::parse(question, "s.toml"));
  EXPECT_EQ(check_data(plan, table_).cells.size(), 2U);
}

TEST_F(PrivateKeysTest, DryRunsReadAndSpendNothing) {
  add("ulm", 400, 50);
  const Plan plan = dry_run(Specification::parse(question, "s.toml"), ledger(),
                            [&](const Declaration&) { return std::make_unique<MemorySource>(table_); });
  EXPECT_EQ(plan.cost(), PrivacyAmount(2002, Rational(1, 1'000'000'000)));
  EXPECT_EQ(ledger().balance().spent, PrivacyAmount());
}

TEST_F(PrivateKeysTest, OfUnitsCountEachOnce) {
  of_units("person");
  std::vector<std::int64_t> persons;
  for (int i = 0; i < 300; ++i) {
    cities_.emplace_back("ulm");
    persons.push_back(i);
    cities_.emplace_back("the town of one");
    persons.push_back(-1);
  }
  table_.add("city", MemorySource::Texts(cities_.begin(), cities_.end())).add("person", persons);
  std::string text =
      replaced(question, "neighbors = \"add-remove\"\n",
               "neighbors = \"add-remove\"\nprivacy_unit = \"person\"\nmax_rows_per_unit = 300\n");
  text = replaced(text, "delta = \"1e-9\"\n", "delta = \"1e-9\"\nmax_groups_per_unit = 3\n");
  const std::size_t income = text.find("[[statistic]]\nname = \"income\"");
  text = text.substr(0, income);
  text = replaced(text, "keys = \"private\"\n",
                  "keys = \"private\"\nmax_groups_per_unit = 3\nmax_rows_per_group_per_unit = 1\n");
  const Json json = Json::parse(run(text).report.json());
  ASSERT_EQ(json["statistics"][0]["groups"].size(), 1U);
  EXPECT_EQ(json["statistics"][0]["groups"][0]["key"], "ulm");
  EXPECT_EQ(json["keys"][0]["max_groups_per_unit"], 3);
}

// A plan knows all but the keys.
TEST(PrivateKeysPlan, TellsWhatItCostsAndWhatIsSeen) {
  const Plan plan(Specification::parse(question, "s.toml"));
  EXPECT_EQ(plan.cost(), PrivacyAmount(2002, Rational(1, 1'000'000'000)));
  const PlannedKeys& keys = plan.private_keys().at(0);
  const SelectionLaw law(1, Rational(1, 1'000'000'000));
  EXPECT_GE(law.probability(keys.likely).low, Rational(1, 2));
  EXPECT_LT(law.probability(keys.likely - 1).high, Rational(1, 2));
  EXPECT_EQ(keys.certain, law.first_certain());
  const Json json = Json::parse(plan.to_json());
  EXPECT_EQ(json["keys"][0]["likely_units"], keys.likely.get_str());
  EXPECT_EQ(json["budget"]["planned"], "2002");
  EXPECT_FALSE(json["statistics"][0].contains("groups"));
  EXPECT_THAT(plan.to_table(), AllOf(HasSubstr("keys of city"), HasSubstr("which groups are shown"),
                                     HasSubstr("delta 0.000000001.\n")));
  EXPECT_THAT(plan.explanation(), AllOf(HasSubstr("with private keys"), HasSubstr("partition selection")));
  EXPECT_THAT(plan.to_html(), HasSubstr("keys of city"));
  EXPECT_THROW(plan.composition(), Error);
  EXPECT_THROW(plan.requests(), Error);
}

TEST(PrivateKeysPlan, InRho) {
  std::string text = replaced(question, "epsilon = \"2100\"", "rho = \"2100\"");
  const Plan plan(Specification::parse(text, "s.toml"));
  EXPECT_EQ(plan.private_keys().at(0).cost, PrivacyAmount(pure_to_zcdp(1), Rational(1, 1'000'000'000)));
}

// What a plan says of the law is what runs: of a unit's groups, of which there are no more than it has rows.
TEST(PrivateKeysPlan, TellsTheLawThatRuns) {
  for (const char* rows : {"1", "2", "5"}) {
    std::string text = replaced(question, "neighbors = \"add-remove\"\n",
                                std::string("neighbors = \"add-remove\"\nprivacy_unit = \"person\"\n") +
                                    "max_rows_per_unit = " + rows + "\n");
    text = replaced(text, "delta = \"1e-9\"\n", "delta = \"1e-9\"\nmax_groups_per_unit = 3\nmin_units = 4\n");
    const Plan plan(Specification::parse(text, "s.toml"));
    const PrivateGroups groups = plan.private_groups();
    EXPECT_EQ(plan.private_keys().at(0).certain, groups.law(0).first_certain() + 3) << rows;
    EXPECT_GE(groups.law(0).probability(plan.private_keys().at(0).likely - 3).low, Rational(1, 2)) << rows;
  }
}

// What is left for a weight is what the keys leave.
TEST(PrivateKeysPlan, LeavesItsCostToNobody) {
  const std::string text = replaced(question, "name = \"all\"\nkind = \"count\"\nepsilon = \"1\"",
                                    "name = \"all\"\nkind = \"count\"\nweight = 1");
  const Plan plan(Specification::parse(text, "s.toml"));
  EXPECT_EQ(plan.statistics().at(2).cost, PrivacyAmount(99));
}

std::string refusal_of(const std::string& text) {
  try {
    Plan(Specification::parse(text, "s.toml")).require_affordable();
  } catch (const Error& error) {
    return error.what();
  }
  return "was not refused";
}

TEST(PrivateKeysPlan, RefusesWhatIsNotProved) {
  const auto changed = [](const std::string& from, const std::string& to) {
    return refusal_of(replaced(question, from, to));
  };
  EXPECT_EQ(refusal_of(question), "was not refused");
  EXPECT_THAT(changed("delta = \"1e-6\"\n", ""),
              AllOf(HasSubstr("[keys.city]"), HasSubstr("needs a budget with a delta")));
  EXPECT_THAT(changed("delta = \"1e-9\"\n", ""), HasSubstr("[keys.city]: delta is missing"));
  EXPECT_THAT(changed("delta = \"1e-9\"\n", "delta = 1\n"), HasSubstr("must be less than 1"));
  EXPECT_THAT(changed("delta = \"1e-9\"\n", "delta = 0\n"), HasSubstr("delta = 0"));
  EXPECT_THAT(changed("delta = \"1e-9\"\n", "delta = \"1e-3\"\n"), HasSubstr("cost delta"));
  EXPECT_THAT(changed("delta = \"1e-9\"\n", "delta = \"1e-9\"\nmost = 100001\n"),
              HasSubstr("at most 100000"));
  EXPECT_THAT(changed("delta = \"1e-9\"\n", "delta = \"1e-9\"\nmax_groups_per_unit = 2\n"),
              HasSubstr("applies only with privacy_unit"));
  EXPECT_THAT(changed("neighbors = \"add-remove\"\n",
                      "neighbors = \"add-remove\"\nprivacy_unit = \"person\"\nmax_rows_per_unit = 3\n"),
              HasSubstr("max_groups_per_unit is missing"));
  EXPECT_THAT(changed("[keys.city]", "[keys.town]"),
              AllOf(HasSubstr("needs a table [keys.city]"), HasSubstr("town")));
  EXPECT_THAT(changed("type = \"text\"\n", "type = \"real\"\n"), HasSubstr("reals are no keys"));
  EXPECT_THAT(changed("keys = \"private\"\n", "keys = \"privat\"\n"), HasSubstr("\"private\""));
  EXPECT_THAT(changed("keys = \"private\"\n", "keys = \"private\"\ndifferences = [[\"a\", \"b\"]]\n"),
              HasSubstr("groups that are declared"));
  std::string unused = question.substr(0, question.find("[[statistic]]"));
  EXPECT_THAT(refusal_of(unused + "[[statistic]]\nname = \"all\"\nkind = \"count\"\nepsilon = 1\n"),
              HasSubstr("no statistic is by these keys"));
}

}  // namespace
}  // namespace snapdp
