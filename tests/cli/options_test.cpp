// An option is never taken for absent, nor for another: what is empty, given twice or followed by the next option is
// refused before anything happens, for every option of every command.
#include <gmock/gmock.h>

#include "cli/tool_commands.h"

namespace snapdp {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class OptionsTest : public AllCommandsTest {
 protected:
  // Refused as usage, with nothing printed, nothing written and this message.
  void expect_refused(const std::vector<std::string>& words,
                      const testing::Matcher<const std::string&>& message) const {
    std::string line;
    for (const std::string& word : words) line += " '" + word + "'";
    SCOPED_TRACE("snapdp" + line);
    const auto before = files();
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.error, message);
    EXPECT_TRUE(files() == before);
  }
};

// What the tests below change is all that is wrong with their lines.
TEST_F(OptionsTest, TheLinesOfAllCommandsWork) {
  EXPECT_GE(commands().size(), 18U);
  for (const ToolCommand& command : commands()) {
    if (command.name() == "ui") continue;  // goes on until it is ended: ui_test.cpp
    const Outcome outcome = run(working_line(command).words_of(command));
    EXPECT_EQ(outcome.code, 0) << command.name() << "\n" << outcome.error;
    EXPECT_EQ(command.positionals.size(), working_line(command).positionals.size());
  }
}

TEST_F(OptionsTest, AnEmptyValueIsNotAnAbsentOne) {
  int options = 0;
  for (const ToolCommand& command : commands()) {
    const WorkingLine& line = working_line(command);
    for (const ToolOption& option : command.options) {
      const auto message = [&](const std::string& rule) {
        return AllOf(StartsWith("snapdp: error: " + option.name + ": is empty"), HasSubstr(rule));
      };
      // Flags too: --yes= is not --yes.
      std::vector<std::string> words = line.words_of(command);
      words.push_back(option.name + "=");
      expect_refused(words, message("behind the ="));
      if (!option.takes_value) continue;
      ++options;
      expect_refused(line.with(option.name, "").words_of(command), message("give a value"));
    }
    for (std::size_t i = 0; i < line.positionals.size(); ++i) {
      WorkingLine empty = line;
      empty.positionals[i] = "";
      expect_refused(empty.words_of(command), HasSubstr("is empty"));
    }
  }
  EXPECT_GE(options, 100);
  expect_refused({""}, HasSubstr("argument 1: is empty"));
  expect_refused({"plan", "people.toml", ""}, HasSubstr("argument 3: is empty"));
  expect_refused({"plot", "law", "--epsilon", "1", "--sensitivity", "1", "-o", ""},
                 HasSubstr("-o: is empty"));
}

TEST_F(OptionsTest, AnOptionIsGivenOnce) {
  for (const ToolCommand& command : commands()) {
    for (const ToolOption& option : command.options) {
      if (option.name == "--help") continue;  // help is all that is printed then
      std::vector<std::string> words = working_line(command).words_of(command);
      while (std::count(words.begin(), words.end(), option.name) < 2) {
        words.push_back(option.name);
        if (option.takes_value) words.emplace_back("1");
      }
      expect_refused(words, HasSubstr(option.name + ": is given 2 times; give it once"));
    }
  }
  expect_refused({"plot", "law", "--epsilon", "1", "--sensitivity", "1", "-o", "a.svg", "--output", "b.svg"},
                 HasSubstr("--output: is given 2 times"));
}

// --output --yes would write a file called --yes, and --anchor --json verify nothing.
TEST_F(OptionsTest, TheNextOptionIsNoValue) {
  for (const ToolCommand& command : commands()) {
    for (const ToolOption& option : command.options) {
      if (!option.takes_value) continue;
      for (const char* next : {"--help", "--json"}) {
        std::vector<std::string> words = working_line(command).words_of(command);
        words.push_back(option.name);
        words.emplace_back(next);
        expect_refused(words, HasSubstr(option.name + ": is followed by " + next));
      }
    }
  }
  expect_refused({"ledger", "verify", "people.ledger", "--anchor", "--json=true"},
                 HasSubstr("is followed by --json"));
  // Numbers are no options, and behind -- nothing is one.
  EXPECT_EQ(
      run({"accuracy", "--epsilon", "1", "--sensitivity", "1", "--lower", "-1", "--upper", "-0.5"}).code, 0);
  EXPECT_EQ(run({"plan", "--", "--json="}).code, 5);
}

}  // namespace
}  // namespace snapdp
