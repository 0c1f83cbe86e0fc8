// snapdp compose, ledger show --delta, ledger anchor and ledger verify --anchor.
#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "cli/tool.h"

namespace snapdp {
namespace {

using testing::HasSubstr;

class AccountingTest : public ToolTest {
 protected:
  AccountingTest() {
    write("people.csv", "age\n10\n20\n30\n40\n");
    write("people.toml", R"([data]
path = "people.csv"
dataset = "people"
neighbors = "change-one"
size = 4
[budget]
epsilon = 1
[[statistic]]
name = "mean_age"
kind = "mean"
column = "age"
bounds = [0, 100]
epsilon = "0.2"
[[statistic]]
name = "people"
kind = "mean"
column = "age"
bounds = [0, 50]
epsilon = "0.1"
)");
  }
};

// The columns releases, delta, basic, optimal of tests/data/composition.csv. The library is tested with all rows.
TEST_F(AccountingTest, ComposeAgreesWithAnIndependentTable) {
  std::istringstream rows(read_text(SNAPDP_TEST_DATA "/composition.csv"));
  std::string line;
  std::getline(rows, line);
  int checked = 0;
  for (int row = 0; std::getline(rows, line); ++row) {
    if (row % 4 != 1) continue;
    std::istringstream cells(line);
    std::string releases, delta, basic, optimal;
    std::getline(cells, releases, ',');
    std::getline(cells, delta, ',');
    std::getline(cells, basic, ',');
    std::getline(cells, optimal, ',');
    for (char& c : releases) c = c == '+' ? ',' : c;
    const Json json = json_of({"compose", "--epsilons", releases, "--delta", delta, "--json"});
    EXPECT_NEAR(json.at("optimal").get<double>(), std::stod(optimal), 1e-9) << line;
    if (!basic.empty()) {
      EXPECT_EQ(json.at("basic").get<double>(), std::stod(basic)) << line;
    }
    EXPECT_LE(json.at("optimal").get<double>(), json.at("basic").get<double>());
    EXPECT_LE(json.at("optimal_at_least").get<double>(), json.at("optimal").get<double>());
    ++checked;
  }
  EXPECT_EQ(checked, 8);
}

// A million losses, and losses whose rare outcomes are rarer than e^-(10^9): narrow all the same.
TEST_F(AccountingTest, ComposeEnclosesManyLargeLosses) {
  for (const auto& [epsilons, delta, expected] : std::vector<std::tuple<std::string, std::string, double>>{
           {"1e3x1000000", ".5", 999999999.3068528}, {"1e3x999999,0.37x1", "1e-9", 999999000.37}}) {
    const Json json = json_of({"compose", "--epsilons", epsilons, "--delta", delta, "--json"});
    EXPECT_NEAR(json.at("optimal"), expected, 1e-5) << epsilons;
    EXPECT_NEAR(json.at("optimal_at_least"), expected, 1e-5) << epsilons;
    EXPECT_LE(json.at("optimal"), json.at("basic"));
  }
}

TEST_F(AccountingTest, ComposePrintsATable) {
  const std::string table = succeed({"compose", "--epsilons", "0.1x100, 0.2x25", "--delta", "1e-6"});
  EXPECT_THAT(table, HasSubstr("of 125 losses at delta 0.000001"));
  EXPECT_THAT(table, HasSubstr("basic                   15  the sum"));
  EXPECT_THAT(table, HasSubstr("optimal      7.05746795106  for epsilons fixed in advance"));
  EXPECT_THAT(table, HasSubstr("zCDP"));
}

TEST_F(AccountingTest, ComposeReadsFractionsHexFloatsAndDeltaZero) {
  const Json json = json_of({"compose", "--epsilons", "1/4x2,0x1p-2x3,0x1p-2", "--delta", "0", "--json"});
  EXPECT_EQ(json.at("basic"), 1.5);
  EXPECT_EQ(json.at("optimal"), 1.5);
  EXPECT_EQ(json.at("composed"), 6);
  EXPECT_TRUE(json.at("zcdp").is_null());
  EXPECT_EQ(json.at("delta"), "0");
}

TEST_F(AccountingTest, ComposeRefusesWhatHasNoMeaning) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {" ", "empty entry"},      {"0.1,,0.2", "empty entry"}, {"0.1x", "a count from 1"},
      {"0.1x0", "a count from"}, {"0.1x-3", "a count from"},  {"0.1x1.5", "a count from"},
      {"0", "greater than 0"},   {"-1", "greater than 0"},    {"0.1x99999999999999999999", "a count from"},
      {"nan", "finite number"},  {"inf", "finite number"},    {"0.1;0.2", "not a number"},
      {"1/0", "divides by zero"}};
  for (const auto& [epsilons, message] : wrong) {
    const Outcome outcome = run({"compose", "--epsilons=" + epsilons, "--delta", "1e-6"});
    EXPECT_EQ(outcome.code, 2) << epsilons;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.error, HasSubstr("--epsilons")) << epsilons;
    EXPECT_THAT(outcome.error, HasSubstr(message)) << epsilons;
  }
  const std::vector<std::string> deltas = {"1", "1.5", "-1e-6", "nan", "x"};
  for (const std::string& delta : deltas) {
    const Outcome outcome = run({"compose", "--epsilons", "0.1", "--delta=" + delta});
    EXPECT_EQ(outcome.code, 2) << delta;
    EXPECT_THAT(outcome.error, HasSubstr("delta")) << delta;
  }
  EXPECT_EQ(run({"compose", "--epsilons", "0.1"}).code, 2);
}

TEST_F(AccountingTest, ALedgerShowsWhatItsReleasesAmountTo) {
  create_ledger();
  const Json empty = json_of({"ledger", "show", "people.ledger", "--delta", "1e-6", "--json"});
  EXPECT_EQ(empty.at("basic"), 0.0);
  EXPECT_EQ(empty.at("optimal"), 0.0);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(release().code, 0);
  const Json shown = json_of({"ledger", "show", "people.ledger", "--delta", "1e-6", "--json"});
  const Json composed = json_of({"compose", "--epsilons", "0.1x3,0.2x3", "--delta", "1e-6", "--json"});
  for (const auto& [key, value] : composed.items()) EXPECT_EQ(shown.at(key), value) << key;
  EXPECT_EQ(shown.at("spent"), "0.9");
  EXPECT_LT(shown.at("optimal").get<double>(), 0.9);
  EXPECT_THAT(succeed({"ledger", "show", "people.ledger", "--delta", "1e-6"}),
              HasSubstr("of 6 losses at delta 0.000001"));
  EXPECT_FALSE(json_of({"ledger", "show", "people.ledger", "--json"}).contains("optimal"));
  EXPECT_EQ(run({"ledger", "show", "people.ledger", "--delta", "2"}).code, 2);
  EXPECT_EQ(run({"ledger", "show", "people.ledger", "--delta", "0", "--release", "1"}).code, 2);
}

TEST_F(AccountingTest, AnAnchorFindsALedgerThatWasRolledBack) {
  create_ledger();
  const std::string first = succeed({"ledger", "anchor", "people.ledger"});
  EXPECT_EQ(first.size(), 67U);  // "0 ", 64 digits and a line break
  std::string anchors = first;
  ASSERT_EQ(release().code, 0);
  std::filesystem::copy_file(path("people.ledger"), path("old.ledger"));
  anchors += succeed({"ledger", "anchor", "people.ledger"});
  ASSERT_EQ(release().code, 0);
  const std::string last = succeed({"ledger", "anchor", "people.ledger"});
  anchors += last + "\n";
  write("anchors", anchors);
  for (const std::string& anchor : std::vector<std::string>{first, last, "@anchors"}) {
    const Outcome outcome = run({"ledger", "verify", "people.ledger", "--anchor", anchor});
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_THAT(outcome.error, HasSubstr("goes on from the anchor"));
  }
  // The ledger itself may go on.
  ASSERT_EQ(release().code, 0);
  EXPECT_EQ(run({"ledger", "verify", "people.ledger", "--anchor", "@anchors"}).code, 0);

  // An old copy looks right by itself, and is found by the anchor.
  std::filesystem::rename(path("old.ledger"), path("people.ledger"));
  EXPECT_EQ(run({"ledger", "verify", "people.ledger"}).code, 0);
  EXPECT_EQ(run({"ledger", "verify", "people.ledger", "--anchor", first}).code, 0);
  Outcome outcome = run({"ledger", "verify", "people.ledger", "--anchor", "@anchors"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.error, HasSubstr("it has only 2 records"));
  // So it is when it has gone on to as many records. By another release: of the same one, noise that both bounds hide and a
  // clock of seconds can make the very same records.
  write("people.toml", read_text(path("people.toml")) + "alpha = \"0.1\"\n");
  ASSERT_EQ(release().code, 0);
  outcome = run({"ledger", "verify", "people.ledger", "--anchor", last, "--json"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.error, HasSubstr("its first 4 records are other ones"));
}

TEST_F(AccountingTest, WhatIsNotAnAnchorIsRefused) {
  create_ledger();
  const std::string hash(64, 'a');
  const std::vector<std::string> wrong = {"x",
                                          "1",
                                          "-1 " + hash,
                                          "1 " + hash.substr(1),
                                          "1  " + hash,
                                          "1 " + hash + " 2",
                                          "1 " + std::string(64, 'G'),
                                          "99999999999999999999 " + hash};
  for (const std::string& anchor : wrong) {
    const Outcome outcome = run({"ledger", "verify", "people.ledger", "--anchor=" + anchor});
    EXPECT_EQ(outcome.code, 2) << anchor;
    EXPECT_THAT(outcome.error, HasSubstr("is not an anchor"));
  }
  EXPECT_EQ(run({"ledger", "verify", "people.ledger", "--anchor", "0 " + hash}).code, 3);
  EXPECT_EQ(run({"ledger", "verify", "people.ledger", "--anchor", "@missing"}).code, 5);
  EXPECT_EQ(run({"ledger", "verify", "people.ledger", "--anchor", "@/dev/zero"}).code, 2);
  EXPECT_EQ(run({"ledger", "verify", "people.ledger", "--anchor", "@."}).code, 5);
  write("empty", "\n \n");
  EXPECT_EQ(run({"ledger", "verify", "people.ledger", "--anchor", "@empty"}).code, 2);
}

}  // namespace
}  // namespace snapdp
