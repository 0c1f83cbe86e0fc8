// What the tool prints, no terminal obeys, and nobody can forge a line of it: whatever paths, arguments, names and files
// hold.
#include <gmock/gmock.h>

#include "cli/tool_commands.h"
#include "snapdp/text.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::Not;

// A title and a bell, C1 as UTF-8 and as a byte, DEL, an override of direction, a line separator.
const std::string controls =
    "\x1b]0;x\x07\xc2\x9b"
    "31m\x9b\x7f\xe2\x80\xae\xe2\x80\xa8\xd8\x9c";
// A line that looks like the tool's own.
const std::string hostile = controls + "\nsnapdp: forged\r";

void expect_safe(std::string text) {
  // Lines of a CSV file end in CR LF, in what is printed of it as well.
  for (std::size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos;) text.erase(at, 1);
  EXPECT_EQ(shown_lines(text), text);
  EXPECT_THAT("\n" + text, Not(HasSubstr("\nsnapdp: forged")));
}

class TerminalTest : public AllCommandsTest {
 protected:
  Outcome expect_safe_run(const std::vector<std::string>& words) const {
    std::string line;
    for (const std::string& word : words) line += " '" + shown_text(word) + "'";
    SCOPED_TRACE("snapdp" + line);
    Outcome outcome = run(words);
    EXPECT_NE(outcome.code, -1);
    expect_safe(outcome.out);
    expect_safe(outcome.error);
    return outcome;
  }
};

// In parts, which run side by side.
class WordsTest : public TerminalTest, public testing::WithParamInterface<std::size_t> {
 public:
  static constexpr std::size_t parts = 4;
};

TEST_P(WordsTest, OfACommandLine) {
  int refused = 0;
  const auto expect_refusal = [&](const std::vector<std::string>& words) {
    const Outcome outcome = expect_safe_run(words);
    if (outcome.code == 0) return;
    ++refused;
    if (outcome.out.find("Not ready: ") != std::string::npos) return;  // snapdp check has said it there
    EXPECT_THAT(outcome.error, testing::StartsWith("snapdp: error: "));
  };
  expect_refusal({hostile});
  expect_refusal({"--" + hostile});
  expect_refusal({"ledger", hostile});
  const std::vector<ToolCommand>& all = commands();
  for (std::size_t which = GetParam(); which < all.size(); which += parts) {
    const ToolCommand& command = all[which];
    const WorkingLine& line = working_line(command);
    for (const std::string& word : {hostile, "--" + hostile, "-" + hostile}) {
      std::vector<std::string> words = line.words_of(command);
      words.push_back(word);
      expect_refusal(words);
    }
    for (const ToolOption& option : command.options) {
      // What a program of the user's writes is its own.
      if (option.name == "--command") continue;
      // As it is, and behind what makes the beginning of a number, a list, a power, a fraction or a file of it.
      for (const char* before : {"", "1", "1,", "2^", "1/", "@", "0x", "1x"}) {
        if (!option.takes_value && *before == '\0') {
          std::vector<std::string> words = line.words_of(command);
          words.push_back(option.name + "=" + hostile);
          expect_refusal(words);
        }
        if (option.takes_value) expect_refusal(line.with(option.name, before + hostile).words_of(command));
      }
    }
    for (std::size_t i = 0; i < line.positionals.size(); ++i) {
      WorkingLine other = line;
      other.positionals[i] = hostile;
      expect_refusal(other.words_of(command));
    }
  }
  EXPECT_GE(refused, 150);
}
INSTANTIATE_TEST_SUITE_P(Part, WordsTest, testing::Range(std::size_t{0}, WordsTest::parts));

// Every name of a specification that may be chosen freely, in every command that reads one.
class HostileNamesTest : public TerminalTest {
 protected:
  HostileNamesTest() {
    std::string quoted;  // as it stands in TOML; control characters below U+0080 are refused there
    for (const char* code : {"\\u009b", "\\u202e", "\\u2028", "\\u061c"}) quoted += code;
    const std::string bidi = "\\u202e\\u2028";  // what the ledger takes for a name
    text_ = "[data]\npath = \"" + quoted + ".csv\"\ndataset = \"d" + bidi +
            "\"\nneighbors = \"add-remove\"\nprivacy_unit = \"u" + quoted +
            "\"\nmax_rows_per_unit = 2\nexpected_size = 10\nwhere = '''\"w" + raw_ + "\" > 0'''\n" +
            "[budget]\nepsilon = 100\n" + "[[statistic]]\nname = \"n" + bidi +
            "\"\nkind = \"count\"\ngrid = \"notes\"\nepsilon = \"0.5\"\nalpha = \"0.1\"\n" +
            "[[statistic]]\nname = \"m" + bidi + "\"\nkind = \"mean\"\ncolumn = \"c" + quoted +
            "\"\nbounds = [0, 9]\nepsilon = 1\n" + "[[statistic]]\nname = \"h" + bidi +
            "\"\nkind = \"histogram\"\ncolumn = \"t" + quoted + "\"\ncategories = [\"a\", \"b" + quoted +
            "\"]\nepsilon = 1\n" + "[[statistic]]\nname = \"g" + bidi +
            "\"\nkind = \"count\"\ngroup_by = \"t" + quoted + "\"\nkeys = [\"k" + quoted +
            "\"]\nepsilon = 1\n" + "[[statistic]]\nname = \"q" + bidi +
            "\"\nkind = \"median\"\ncolumn = \"c" + quoted + "\"\nedges = [0, 1, 2]\nepsilon = 1\n";
    write(hostile, text_);
    write(raw_ + ".csv", "u" + raw_ + ",w" + raw_ + ",c" + raw_ + ",t" + raw_ + "\n1,1,1,a\n2,1,2,b\n");
  }

  // As a ledger takes it.
  std::string without_unit() const {
    return replaced(text_, "privacy_unit = \"u\\u009b\\u202e\\u2028\\u061c\"\nmax_rows_per_unit = 2\n", "");
  }

  const std::string raw_ = "\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xd8\x9c";
  const std::string dataset_ = "d\xe2\x80\xae\xe2\x80\xa8";
  std::string text_;
};

TEST_F(HostileNamesTest, AreShownSafelyEverywhere) {
  // The ledger takes no C1 for a name.
  const Outcome unit = expect_safe_run({"ledger", "create", "L" + hostile, hostile, "--epsilon", "100"});
  EXPECT_EQ(unit.code, 2);
  EXPECT_THAT(unit.error, HasSubstr("privacy_unit"));
  EXPECT_EQ(expect_safe_run({"plan", hostile}).code, 0);
  EXPECT_EQ(expect_safe_run({"explain", hostile}).code, 0);
  const Outcome json = expect_safe_run({"plan", hostile, "--json"});
  EXPECT_EQ(Json::parse(json.out).at("dataset"), dataset_);
  EXPECT_EQ(Json::parse(json.out).at("statistics").at(2).at("columns").at(0), "t" + raw_);
  // A ledger of another dataset, which is told.
  const Outcome other = expect_safe_run({"release", hostile, "--ledger", "people.ledger", "--yes"});
  EXPECT_EQ(other.code, 3);
}

TEST_F(HostileNamesTest, AreReleasedAndShownAgainSafely) {
  const std::string ledger = "L" + hostile;
  write(hostile, without_unit());
  const Outcome created = expect_safe_run({"ledger", "create", ledger, hostile, "--epsilon", "100"});
  EXPECT_EQ(created.code, 0) << created.error;
  const Outcome table = expect_safe_run({"release", hostile, "--ledger", ledger, "--yes"});
  EXPECT_EQ(table.code, 0) << table.error;
  const Outcome json = expect_safe_run({"release", hostile, "--ledger", ledger, "--yes", "--json"});
  EXPECT_EQ(Json::parse(json.out).at("statistics").at(3).at("groups").at(0).at("key"), "k" + raw_);
  const Outcome written =
      expect_safe_run({"release", hostile, "--ledger", ledger, "--yes", "--output", "O" + hostile});
  EXPECT_EQ(written.code, 0) << written.error;
  expect_safe(read_text(path("O" + hostile)));
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{},
                                             {"--json"},
                                             {"--declaration"},
                                             {"--release", "1"},
                                             {"--release", "2", "--json"},
                                             {"--delta", "1e-6"}}) {
    std::vector<std::string> words = {"ledger", "show", ledger};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(expect_safe_run(words).code, 0);
  }
  EXPECT_EQ(expect_safe_run({"ledger", "show", ledger, "--release", "2", "--json"}).out, json.out);
  EXPECT_EQ(expect_safe_run({"ledger", "verify", ledger}).code, 0);
  EXPECT_EQ(expect_safe_run({"ledger", "verify", ledger, "--json"}).code, 0);
  EXPECT_EQ(expect_safe_run({"ledger", "anchor", ledger}).code, 0);
  // What fails names its files.
  expect_safe_run({"ledger", "show", ledger, "--release", "99"});
  expect_safe_run({"ledger", "create", ledger, hostile, "--epsilon", "1"});
  expect_safe_run({"ledger", "create", "new", "none" + hostile, "--epsilon", "1"});
  expect_safe_run({"release", hostile, "--ledger", "none" + hostile, "--yes"});
  expect_safe_run({"release", hostile, "--ledger", ledger, "--yes", "--data", "none" + hostile});
  expect_safe_run({"release", hostile, "--ledger", ledger, "--yes", "--data", hostile});
  expect_safe_run({"release", hostile, "--ledger", ledger, "--yes", "--output", "none" + hostile + "/x"});
  std::filesystem::permissions(path(ledger), std::filesystem::perms(0666));
  EXPECT_THAT(expect_safe_run({"ledger", "show", ledger}).error, HasSubstr("chmod 600 $'"));
  write("broken" + hostile, "no ledger");
  expect_safe_run({"ledger", "show", "broken" + hostile});
  std::string full = read_text(path(ledger));
  write("cut" + hostile, full.substr(0, full.size() / 2));
  std::filesystem::permissions(path("cut" + hostile), std::filesystem::perms(0600));
  expect_safe_run({"ledger", "verify", "cut" + hostile});
  // A full disk after the debit: the way to print the report again is one line of a shell.
  std::filesystem::permissions(path(ledger), std::filesystem::perms(0600));
  const Outcome lost = run({"release", hostile, "--ledger", ledger, "--yes"}, "/dev/full");
  EXPECT_EQ(lost.code, 5);
  expect_safe(lost.error);
  const std::string command = lost.error.substr(lost.error.find("\n  snapdp ") + 10);
  write("again", std::string(SNAPDP_TOOL) + " " + command);
  EXPECT_EQ(std::system(("cd '" + path("").string() + "' && bash again > shown").c_str()), 0);
  EXPECT_THAT(read_text(path("shown")), testing::StartsWith("Release 4 of d??"));
}

TEST_F(HostileNamesTest, AreSafeInTheQuestionOnATerminal) {
  const std::string ledger = "L" + hostile;
  write(hostile, without_unit());
  EXPECT_EQ(run({"ledger", "create", ledger, hostile, "--epsilon", "100"}).code, 0);
  ::setenv("NO_COLOR", "1", 1);
  const Outcome outcome = on_terminal({"release", hostile, "--ledger", ledger}, "n\n");
  ::unsetenv("NO_COLOR");
  EXPECT_THAT(outcome.out, HasSubstr("remaining)?"));
  std::string lines = outcome.out;  // the terminal's own ends of lines
  std::erase(lines, '\r');
  expect_safe(lines);
}

// What stands in files that nobody vouches for.
TEST_F(TerminalTest, ContentsOfFiles) {
  const std::vector<std::string> tomls = {
      hostile,
      "x = \"" + controls,
      "[data]\n\"" + controls + "\" = 1\n",
      "[data]\n\"\\u009b\\u202e\" = 1\n",
      "\"\\u001b\" = 1\n",
      "[data]\ndataset = \"\\u001b[2J\\u009b\"\n",
      "[data]\ndataset = 'd'\nneighbors = \"\\u009b\\u202e\\u001b\"\n",
      replaced(read_text(path("people.toml")), "kind = \"mean\"", "kind = \"\\u009b\\u202e\""),
      replaced(read_text(path("people.toml")), "name = \"mean_age\"", "name = \"\\u009b\\u202e\"\nbound = 1"),
      replaced(read_text(path("people.toml")), "epsilon = \"0.25\"",
               "epsilon = \"\\u009b\\u202e\\u001b\\n\""),
      replaced(read_text(path("people.toml")), "epsilon = \"0.25\"", "epsilon = \"\\u009b\\u202e\\u001b\\n"),
      replaced(read_text(path("people.toml")), "bounds = [0, 100]",
               "bounds = [0, \"\\u009b\\u202e\\u001b\\n\"]"),
      replaced(read_text(path("people.toml")), "column = \"age\"", "column = \"\\u009b\\u202e\\u2028\""),
      replaced(read_text(path("people.toml")), "epsilon = \"0.25\"",
               "epsilon = \"0.25\"\ngrid = \"2^\\u009b\\u001b\""),
      replaced(replaced(read_text(path("people.toml")), "\"change-one\"\nsize = 4", "\"add-remove\""),
               "[budget]", "where = \"\\u009b \\u202e\"\n[budget]"),
      replaced(replaced(read_text(path("people.toml")), "\"change-one\"\nsize = 4", "\"add-remove\""),
               "[budget]", "where = \"a = '\\u009b\\u202e\"\n[budget]")};
  for (const std::string& toml : tomls) {
    write("hostile.toml", toml);
    for (const char* command : {"plan", "explain"}) expect_safe_run({command, "hostile.toml"});
    expect_safe_run({"release", "hostile.toml", "--ledger", "people.ledger", "--yes"});
  }
  const std::string csv = read_text(path("people.csv"));
  for (const std::string& data :
       {hostile, controls + csv, replaced(csv, "age", "a" + controls), replaced(csv, "age", "age" + hostile),
        replaced(csv, "age,income", controls + "," + controls), csv + controls + "\n",
        csv + "\"" + hostile}) {
    write("hostile.csv", data);
    expect_safe_run(
        {"release", "people.toml", "--ledger", "people.ledger", "--yes", "--data", "hostile.csv"});
  }
  const std::string vectors = read_text(path("vectors.csv"));
  const std::string cells = vectors.substr(vectors.find('\n') + 1);
  for (std::size_t column = 0; column < 12; ++column) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < column && at != std::string::npos; ++i) at = cells.find(',', at + 1);
    if (at == std::string::npos) break;
    std::string changed = cells;
    changed.insert(at + (column > 0 ? 1 : 0), controls);
    write("hostile.csv", vectors.substr(0, vectors.find('\n') + 1) + changed);
    expect_safe_run({"trace", "--vectors", "hostile.csv"});
  }
  write("hostile.csv", controls + vectors);
  expect_safe_run({"trace", "--vectors", "hostile.csv"});
  write("anchors", hostile);
  expect_safe_run({"ledger", "verify", "people.ledger", "--anchor", "@anchors"});
  expect_safe_run({"audit", "--epsilon", "1", "--sensitivity", "1", "--values", "0,1", "--samples", "100",
                   "--command", "printf '\\033[2J\\302\\233\\233\\n'; cat"});
}

}  // namespace
}  // namespace snapdp
