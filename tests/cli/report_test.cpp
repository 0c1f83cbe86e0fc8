// The ways out of a report: on a terminal, in files, and again from the ledger.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "cli/tool_commands.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ReportTest : public AllCommandsTest {
 protected:
  mode_t mode(const std::string& name) const {
    struct stat status = {};
    EXPECT_EQ(::stat(path(name).c_str(), &status), 0) << name;
    return status.st_mode & 07777;
  }
  std::string spent() const { return Json::parse(ledger()).at("spent").get<std::string>(); }
};

TEST_F(ReportTest, GoesToFilesWithTheReleaseAndAgain) {
  const Outcome table = release({"--html", "a.html", "--csv", "a.csv", "--markdown", "a.md"});
  EXPECT_EQ(table.code, 0) << table.error;
  EXPECT_THAT(table.out, StartsWith("Release "));
  for (const char* name : {"a.html", "a.csv", "a.md"}) {
    EXPECT_EQ(mode(name), 0600U);
    EXPECT_THAT(table.error, HasSubstr("snapdp: wrote \"" + std::string(name) + "\"\n"));
  }
  EXPECT_THAT(read_text(path("a.html")), StartsWith("<!doctype html>\n"));
  EXPECT_THAT(
      read_text(path("a.csv")),
      StartsWith(
          "statistic,group,bin,value,lower,upper,alpha,epsilon,population_lower,population_upper\r\n"));
  EXPECT_THAT(read_text(path("a.md")), StartsWith("# Release "));
  const std::size_t number = Json::parse(ledger()).at("releases").size();
  const std::string before = spent();
  std::vector<std::string> again = {"report", "people.ledger", "--release", std::to_string(number)};
  EXPECT_EQ(succeed(again), table.out);
  again.insert(again.end(), {"--html", "b.html", "--csv", "b.csv", "--markdown", "b.md", "--json", "b.json"});
  EXPECT_EQ(succeed(again), "");
  for (const char* kind : {"html", "csv", "md"})
    EXPECT_EQ(read_text(path(std::string("b.") + kind)), read_text(path(std::string("a.") + kind))) << kind;
  EXPECT_EQ(read_text(path("b.json")),
            succeed({"ledger", "show", "people.ledger", "--release", std::to_string(number), "--json"}));
  EXPECT_EQ(spent(), before);
}

TEST_F(ReportTest, WhatCannotBeWrittenIsSaidBeforeTheDebit) {
  const std::string before = spent();
  for (const char* option : {"--html", "--csv", "--markdown"}) {
    EXPECT_EQ(release({option, "none/report"}).code, 5) << option;
    for (const char* file : {"people.ledger", "people.csv", "people.toml", "people.ledger-journal"})
      EXPECT_EQ(release({option, file}).code, 2) << option << " " << file;
  }
  EXPECT_EQ(release({"--html", "same", "--csv", "./same"}).code, 2);
  EXPECT_EQ(release({"--html", "same", "--output", "same"}).code, 2);
  EXPECT_EQ(release({"--digits", "some"}).code, 2);
  EXPECT_EQ(spent(), before);
  EXPECT_EQ(release({"--csv", "values.csv"}).code, 0);
  EXPECT_EQ(run({"report", "people.ledger", "--release", "1", "--html", "people.ledger"}).code, 2);
  EXPECT_EQ(run({"report", "people.ledger", "--release", "99"}).code, 2);
  EXPECT_EQ(run({"report", "people.ledger"}).code, 2);
}

TEST_F(ReportTest, APlanIsAPageToo) {
  EXPECT_EQ(succeed({"plan", "people.toml", "--html", "plan.html"}), "");
  EXPECT_THAT(read_text(path("plan.html")), HasSubstr("that this run may cost"));
  succeed({"plan", "people.toml", "--ledger", "people.ledger", "--html", "plan.html"});
  EXPECT_THAT(read_text(path("plan.html")), HasSubstr("would remain"));
  EXPECT_EQ(mode("plan.html"), 0600U);
  EXPECT_EQ(run({"plan", "people.toml", "--html", "people.toml"}).code, 2);
  EXPECT_EQ(run({"plan", "people.toml", "--html", "plan.html", "--json"}).code, 2);
}

TEST_F(ReportTest, BarsAreForTerminalsAlone) {
  ASSERT_EQ(release().code, 0);
  const std::vector<std::string> words = {"report", "people.ledger", "--release", "1"};
  EXPECT_THAT(succeed(words), Not(HasSubstr("budget  0")));
  ::setenv("LC_ALL", "C.UTF-8", 1);
  EXPECT_THAT(on_terminal(words, "").out, testing::AllOf(HasSubstr("\u2591"), HasSubstr("\x1b[1m")));
  ::setenv("LC_ALL", "C", 1);
  const std::string ascii = on_terminal(words, "").out;
  EXPECT_THAT(ascii,
              testing::AllOf(HasSubstr("budget  0 "), HasSubstr("0 [\x1b[2m...."), Not(HasSubstr("\u2588"))));
  ::unsetenv("LC_ALL");
}

TEST_F(ReportTest, WordsForPeopleStandInEveryView) {
  const std::string text =
      "headline = \"What people said\"\n" +
      replaced(read_text(path("people.toml")), "[data]\n", "[data]\ntitle = \"People of Ulm\"\n");
  write("people.toml", text);
  succeed({"ledger", "create", "words.ledger", "people.toml", "--epsilon", "1000000"});
  succeed({"release", "people.toml", "--ledger", "words.ledger", "--yes", "--html", "w.html", "--markdown",
           "w.md", "--output", "w.txt"});
  EXPECT_THAT(read_text(path("w.html")), HasSubstr("<h1>What people said</h1>"));
  EXPECT_THAT(read_text(path("w.md")), HasSubstr("of People of Ulm\n"));
  EXPECT_THAT(read_text(path("w.txt")), HasSubstr("of People of Ulm"));
  const Json record = json_of({"ledger", "show", "words.ledger", "--release", "1", "--json"});
  EXPECT_EQ(record.at("title"), "People of Ulm");
  EXPECT_EQ(record.at("headline"), "What people said");
}

}  // namespace
}  // namespace snapdp
