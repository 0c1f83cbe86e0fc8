// snapdp check, labels and dry runs through the tool.
#include <gmock/gmock.h>

#include "cli/tool.h"

namespace snapdp {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* specification = R"([data]
path = "people.csv"
dataset = "people"
neighbors = "add-remove"
[budget]
epsilon = 1
[[statistic]]
name = "mean"
kind = "mean"
column = "age"
bounds = [0, 100]
epsilon = 0.5
)";

class CheckTest : public ToolTest {
 protected:
  CheckTest() {
    write("people.csv", "person,age\nann,31\nbob,secret\nbea,145\neve\n");
    write("people.toml", specification);
  }
};

TEST_F(CheckTest, WithoutDataItReadsNoRow) {
  succeed({"ledger", "create", "people.ledger", "people.toml", "--epsilon", "1"});
  const std::string text = succeed({"check", "people.toml", "--ledger", "people.ledger"});
  EXPECT_THAT(text,
              AllOf(HasSubstr("epsilon 0.5 of the 1 left"),
                    HasSubstr("people.csv has every column that is asked for"),
                    HasSubstr("Ready. No row was read, nothing was spent."), Not(HasSubstr("\xe2\x9c\x97"))));
  // Rows change nothing.
  write("people.csv", "person,age\n\xff\xff\n");
  EXPECT_EQ(succeed({"check", "people.toml", "--ledger", "people.ledger"}), text);
}

TEST_F(CheckTest, SaysAllThatIsWrongAndExitsForTheFirst) {
  write("people.csv", "person,years\n");
  write("dear.toml",
        std::string(specification) + "[[statistic]]\nname = \"n\"\nkind = \"count\"\nepsilon = 5\n");
  const Outcome outcome = run({"check", "dear.toml"});
  EXPECT_EQ(outcome.code, 3);  // the budget comes before the columns
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("cost epsilon 5.5 together"), HasSubstr("column \"age\" is not in the header"),
                    HasSubstr("Not ready: 2 things to mend")));
  write("wrong.toml", "[data]\nepsilon = 1\n");
  EXPECT_EQ(run({"check", "wrong.toml"}).code, 2);
}

TEST_F(CheckTest, WhatTheRowsHoldGoesToATerminalOrWhereItIsAskedTo) {
  const Outcome outcome = run({"check", "people.toml", "--data", "people.csv"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.error, HasSubstr("--private"));
  const std::string text = succeed({"check", "people.toml", "--data", "people.csv", "--private"});
  EXPECT_TRUE(text.starts_with("private, not protected: do not share, do not choose bounds from it\n"));
  EXPECT_TRUE(text.ends_with("private, not protected: do not share, do not choose bounds from it\n"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("line 5 has more or fewer cells"), HasSubstr("1 cell that cannot be read"),
                    HasSubstr("1 between, 0 at the upper bound, 1 above"), Not(HasSubstr("secret"))));
  EXPECT_THAT(on_terminal({"check", "people.toml", "--data", "people.csv"}, "").out, HasSubstr("4 rows"));
  EXPECT_THAT(succeed({"check", "people.toml", "--data", "people.csv", "--private", "--json"}),
              HasSubstr("\"unreadable\": 1"));
  EXPECT_EQ(run({"check", "people.toml", "--private"}).code, 2);
}

TEST_F(CheckTest, ALabelIsPaidForOnce) {
  succeed({"ledger", "create", "people.ledger", "people.toml", "--epsilon", "0.5"});
  const std::vector<std::string> arguments = {"release", "people.toml", "--ledger", "people.ledger",
                                              "--yes",   "--label",     "2026-Q4"};
  const Outcome first = run(arguments);
  ASSERT_EQ(first.code, 0) << first.error;
  EXPECT_THAT(first.error, Not(HasSubstr("printed again")));
  std::filesystem::remove(path("people.csv"));
  const Outcome again = run(arguments);
  EXPECT_EQ(again.code, 0) << again.error;
  EXPECT_EQ(again.out, first.out);
  EXPECT_THAT(again.error, HasSubstr("release 1 bears this label and is printed again"));
  EXPECT_THAT(succeed({"ledger", "show", "people.ledger"}), HasSubstr("2026-Q4"));
  EXPECT_THAT(succeed({"ledger", "show", "people.ledger", "--json"}), HasSubstr("\"label\": \"2026-Q4\""));
  // On a terminal nothing is asked, as there is nothing to pay.
  EXPECT_EQ(
      on_terminal({"release", "people.toml", "--ledger", "people.ledger", "--label", "2026-Q4"}, "").code, 0);
  write("people.toml", std::string(specification) + "# more\n");
  EXPECT_EQ(run(arguments).code, 3);
}

// The README's six commands.
TEST_F(CheckTest, ACustodiansDay) {
  std::string rows = "person,age,city\n";
  for (int i = 0; i < 500; ++i) rows += std::to_string(i) + "," + std::to_string(18 + i % 60) + ",ulm\n";
  write("data.csv", rows);
  const Outcome init = on_terminal({"init", "data.csv"}, "my people\nperson\n1\n0 100\ny\nulm, bonn\n\x04");
  ASSERT_EQ(init.code, 0) << init.out;
  EXPECT_THAT(one_line(succeed({"plan", "data.question.toml", "--declaration", "data.toml"})),
              HasSubstr("whether any one person (column person, up to 1 row) is in the data."));
  EXPECT_THAT(succeed({"check", "data.question.toml", "--declaration", "data.toml", "--data", "data.csv",
                       "--private"}),
              HasSubstr("no row has \"bonn\""));
  succeed({"ledger", "create", "data.ledger", "data.toml", "--epsilon", "2"});
  succeed({"release", "data.question.toml", "--ledger", "data.ledger", "--yes", "--html", "report.html",
           "--label", "first"});
  const std::string page = read_text(path("report.html"));
  EXPECT_THAT(page, AllOf(HasSubstr("<!doctype html>"), HasSubstr("my people"), HasSubstr("ulm")));
  succeed({"ledger", "anchor", "data.ledger"});
}

TEST_F(CheckTest, ADryRunSpendsNothing) {
  succeed({"ledger", "create", "people.ledger", "people.toml", "--epsilon", "0.5"});
  const Outcome dry = run({"release", "people.toml", "--ledger", "people.ledger", "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.error;
  EXPECT_THAT(dry.out, HasSubstr("Plan for people"));
  EXPECT_THAT(dry.error, HasSubstr("nothing was spent"));
  EXPECT_THAT(succeed({"ledger", "show", "people.ledger"}), HasSubstr("epsilon 0\n"));
  EXPECT_EQ(
      run({"release", "people.toml", "--ledger", "people.ledger", "--dry-run", "--html", "a.html"}).code, 2);
  std::filesystem::remove(path("people.csv"));
  EXPECT_EQ(run({"release", "people.toml", "--ledger", "people.ledger", "--dry-run"}).code, 5);
  // Another path in the specification is one more thing that is wrong.
  write("other.toml", replaced(specification, "people.csv", "other.csv"));
  const Outcome other = run({"check", "other.toml", "--ledger", "people.ledger"});
  EXPECT_EQ(other.code, 3);
  EXPECT_THAT(other.out, HasSubstr("Not ready"));
}

}  // namespace
}  // namespace snapdp
