// Help, arguments, exit codes, terminals: how the tool talks.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "cli/tool.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* people_csv = "age,income\n10,100\n20,200\n30,300\n40,400\n";
constexpr const char* people_toml = R"([data]
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
epsilon = "0.25"
[[statistic]]
name = "people"
kind = "count"
)";

class UsageTest : public ToolTest {
 protected:
  UsageTest() {
    write("people.csv", people_csv);
    write("people.toml", people_toml);
  }
};

TEST_F(UsageTest, HelpBeginsWithExamples) {
  const std::vector<std::vector<std::string>> commands = {{"--help"},
                                                          {"-h"},
                                                          {"init", "--help"},
                                                          {"plan", "--help"},
                                                          {"release", "--help"},
                                                          {"ledger", "--help"},
                                                          {"ledger", "create", "--help"},
                                                          {"ledger", "show", "--help"},
                                                          {"ledger", "verify", "--help"},
                                                          {"accuracy", "--help"},
                                                          {"trace", "--help"},
                                                          {"audit", "--help"}};
  for (const std::vector<std::string>& command : commands) {
    const Outcome help = run(command);
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.error, "");
    EXPECT_THAT(help.out, HasSubstr("\n\nExamples:\n  snapdp "));
    EXPECT_THAT(help.out, HasSubstr("\n\nUsage: snapdp "));
    EXPECT_LT(help.out.find("Examples:"), help.out.find("Usage:"));
    EXPECT_THAT(help.out, Not(HasSubstr("\t")));
  }
  EXPECT_EQ(run({"--version"}).out, "snapdp 0.1.0\n");
  const Outcome nothing = run({});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(nothing.out, "");
  EXPECT_THAT(nothing.error, HasSubstr("Examples:"));
}

TEST_F(UsageTest, WrongArgumentsGetSuggestions) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"plam"}, "unknown command \"plam\"; did you mean \"plan\"?"},
      {{"ledger", "creat", "x"}, "snapdp ledger: unknown command \"creat\"; did you mean \"create\"?"},
      {{"ledger"}, "snapdp ledger"},
      {{"plan"}, "SPEC is required"},
      {{"plan", "people.toml", "--jsn"}, "unknown option \"--jsn\"; did you mean \"--json\"?"},
      {{"plan", "people.toml", "extra"}, "unexpected argument \"extra\""},
      {{"release", "people.toml", "--yes"}, "--ledger is required"},
      {{"release", "people.toml", "--legder=x", "--yes"}, "--leg"},
      {{"ledger", "show", "x", "--release", "one"}, "--release"},
      {{"ledger", "create", "x", "--epsilon", "1"}, "DECLARATION is required"},
      {{"ledger", "create", "x", "people.toml"}, "--epsilon is missing"},
      {{"ledger", "create", "x", "people.toml", "--rho", "1"}, "--delta is missing"},
      {{"ledger", "create", "x", "people.toml", "--rho", "1", "--epsilon", "1"}, "--rho"},
      {{"ledger", "create", "x", "people.toml", "--dataset", "d", "--epsilon", "1"},
       "unknown option \"--dataset\""},
      {{"ledger", "create", "x", "people.toml", "--epsilon", "-1"}, "epsilon"},
      {{"ledger", "create", "x", "people.toml", "--epsilon", "one"}, "--epsilon"},
      {{"accuracy", "--epsilon", "1"}, "--sensitivity: is missing"},
      {{"accuracy", "--sensitivity", "1"}, "--epsilon: is missing"},
      {{"trace", "--vectors", "x", "--kernel", "sse"}, "kernel"},
  };
  for (const auto& [arguments, message] : wrong) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.error, StartsWith("snapdp: error: "));
    EXPECT_THAT(outcome.error, HasSubstr(message));
  }
  EXPECT_FALSE(std::filesystem::exists(path("x")));
}

TEST_F(UsageTest, APlanOpensNoDataFile) {
  std::filesystem::remove(path("people.csv"));
  const std::string table = succeed({"plan", "people.toml"});
  EXPECT_THAT(table, HasSubstr("mean_age"));
  EXPECT_THAT(table, HasSubstr("This run costs epsilon 0.25 of the 1 that [budget] allows."));
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  const Json json = json_of({"plan", "people.toml", "--json"});
  EXPECT_EQ(json.at("statistics").at(0).at("sensitivity"), "25");
  EXPECT_EQ(json.at("budget").at("planned"), "0.25");
}

TEST_F(UsageTest, ReleasesAsATableAndAsJson) {
  create_ledger();
  const Outcome table = release();
  EXPECT_EQ(table.code, 0) << table.error;
  EXPECT_EQ(table.error, "");
  EXPECT_THAT(table.out, StartsWith("Release 1 of people  "));
  const Outcome json = release({"--json"});
  const Json report = Json::parse(json.out);
  EXPECT_EQ(report.at("release"), 2);
  EXPECT_EQ(report.at("statistics").at(0).at("epsilon"), "0.25");
  EXPECT_EQ(report.at("statistics").at(1).at("value"), 4);
  EXPECT_EQ(report.at("ledger").at("spent"), "0.5");
  EXPECT_EQ(report.at("ledger").at("remaining"), "999999.5");
  // Printed again, to the letter and free of charge.
  EXPECT_EQ(succeed({"ledger", "show", "people.ledger", "--release", "2", "--json"}), json.out);
  EXPECT_EQ(succeed({"ledger", "show", "people.ledger", "--release", "1"}), table.out);
  EXPECT_EQ(Json::parse(ledger()).at("spent"), "0.5");
  EXPECT_EQ(run({"ledger", "show", "people.ledger", "--release", "3"}).code, 2);
  EXPECT_THAT(succeed({"ledger", "show", "people.ledger"}), HasSubstr("mean_age"));
  const Json checked = json_of({"ledger", "verify", "people.ledger", "--json"});
  EXPECT_EQ(checked.at("remaining"), "999999.5");
  EXPECT_EQ(checked.at("anchor").at("hash").get<std::string>().size(), 64U);
}

TEST_F(UsageTest, DataComesFromThePathOrTheOption) {
  // A relative path starts at the declaration, wherever the ledger is; --data at the working folder.
  std::filesystem::create_directory(path("sub"));
  std::filesystem::create_directory(path("books"));
  std::filesystem::rename(path("people.csv"), path("sub/people.csv"));
  std::filesystem::rename(path("people.toml"), path("sub/people.toml"));
  succeed({"ledger", "create", "books/people.ledger", "sub/people.toml", "--epsilon", "10"});
  EXPECT_THAT(succeed({"ledger", "show", "books/people.ledger", "--declaration"}),
              HasSubstr("path = \"../sub/people.csv\""));
  const auto release = [&](const std::string& specification, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"release", specification, "--ledger", "books/people.ledger",
                                          "--yes"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  EXPECT_EQ(release("sub/people.toml").code, 0);
  // A specification elsewhere means another file by the same path.
  write("people.toml", people_toml);
  EXPECT_EQ(release("people.toml").code, 3);
  EXPECT_EQ(release("people.toml", {"--data", "sub/people.csv"}).code, 0);
  write("people.toml", replaced(people_toml, "path = \"people.csv\"", ""));
  EXPECT_EQ(release("people.toml").code, 0);
  std::filesystem::remove(path("sub/people.csv"));
  EXPECT_EQ(release("people.toml").code, 5);
  // Where nobody said where the data lie, the command line has to.
  create_ledger();
  const Outcome none = run({"release", "people.toml", "--ledger", "people.ledger", "--yes"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.error, HasSubstr("--data FILE"));
}

TEST_F(UsageTest, WithoutATerminalYesIsRequired) {
  create_ledger();
  const Outcome outcome = run({"release", "people.toml", "--ledger", "people.ledger"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("--yes: is required"));
  EXPECT_EQ(Json::parse(ledger()).at("spent"), "0");
}

TEST_F(UsageTest, OnATerminalThePlanIsShownAndAQuestionAsked) {
  create_ledger();
  for (const char* answer : {"n\n", "\n", "no\n", "\x04"}) {
    const Outcome refused = on_terminal({"release", "people.toml", "--ledger", "people.ledger"}, answer);
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.out, HasSubstr("Plan for people"));
    EXPECT_THAT(refused.out, HasSubstr("debit epsilon 0.25 from"));
    EXPECT_THAT(refused.out, HasSubstr("nothing was debited"));
    EXPECT_THAT(refused.out, Not(HasSubstr("Release 1 of")));
  }
  EXPECT_EQ(Json::parse(ledger()).at("spent"), "0");
  const Outcome agreed = on_terminal({"release", "people.toml", "--ledger", "people.ledger"}, "y\n");
  EXPECT_EQ(agreed.code, 0);
  EXPECT_THAT(agreed.out, HasSubstr("Release 1 of people"));
  EXPECT_THAT(agreed.out, HasSubstr("\x1b[1m"));
  EXPECT_EQ(Json::parse(ledger()).at("spent"), "0.25");
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_THAT(on_terminal({"plan", "people.toml"}, "").out, Not(HasSubstr("\x1b")));
  ::unsetenv("NO_COLOR");
  EXPECT_THAT(on_terminal({"plan", "people.toml"}, "").out, HasSubstr("\x1b[1m"));
}

TEST_F(UsageTest, OutputFilesAreWholePrivateAndReplaceAtOnce) {
  create_ledger();
  write("report.json", "old");
  ::chmod(path("report.json").c_str(), 0644);
  const Outcome outcome = release({"--json", "--output", "report.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(Json::parse(read_text(path("report.json"))).at("release"), 1);
  struct stat status = {};
  ::stat(path("report.json").c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  // A link stays a link, and nothing else is left behind.
  std::filesystem::create_symlink("report.json", path("link.json"));
  EXPECT_EQ(release({"--json", "--output", "link.json"}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.json")));
  EXPECT_EQ(Json::parse(read_text(path("report.json"))).at("release"), 2);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path("")))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, testing::UnorderedElementsAre("people.csv", "people.toml", "people.ledger",
                                                   "report.json", "link.json", "out", "error"));
  // A device is written to, not replaced.
  EXPECT_EQ(release({"--output", "/dev/null"}).code, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(UsageTest, AnOutputThatCannotBeWrittenCostsNothing) {
  create_ledger();
  for (const char* output : {"nowhere/report.json", "/", "/proc/report.json"}) {
    const Outcome outcome = release({"--output", output});
    EXPECT_EQ(outcome.code, 5) << output;
    EXPECT_THAT(outcome.error, HasSubstr("cannot be written"));
  }
  EXPECT_EQ(Json::parse(ledger()).at("spent"), "0");
}

// A full disk or a closed pipe after the debit: the error says where the report still is, and there it is.
TEST_F(UsageTest, WhatIsPaidForIsNeverLost) {
  create_ledger();
  const Outcome full = run({"release", "people.toml", "--ledger", "people.ledger", "--yes"}, "/dev/full");
  EXPECT_EQ(full.code, 5);
  EXPECT_THAT(full.error, HasSubstr("snapdp ledger show people.ledger --release 1"));
  const Outcome file = release({"--json", "--output", "/dev/full"});
  EXPECT_EQ(file.code, 5);
  EXPECT_THAT(file.error, HasSubstr("--release 2"));

  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  ::close(pipe[0]);
  const std::string closed = "/proc/self/fd/" + std::to_string(pipe[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::chdir(path("").c_str()) != 0 || ::dup2(pipe[1], 1) < 0) ::_exit(127);
    const int messages = ::open("error", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(messages, 2);
    execute({"release", "people.toml", "--ledger", "people.ledger", "--yes", "--json"});
  }
  EXPECT_EQ(wait_for(child), 5);
  ::close(pipe[1]);
  EXPECT_THAT(read_text(path("error")), HasSubstr("--release 3"));

  EXPECT_EQ(Json::parse(ledger()).at("spent"), "0.75");
  for (const char* release : {"1", "2", "3"}) {
    EXPECT_EQ(
        json_of({"ledger", "show", "people.ledger", "--release", release, "--json"}).at("statistics").size(),
        2U);
  }
  // Other commands have nothing to lose, but say so too.
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"plan", "people.toml"}, {"--help"}, {"ledger", "show", "people.ledger"}}) {
    EXPECT_EQ(run(command, "/dev/full").code, 5);
  }
}

TEST_F(UsageTest, AccuracyAnswersInNumbers) {
  const Json at_one =
      json_of({"accuracy", "--epsilon", "1", "--sensitivity", "1", "--grid", "notes", "--json"});
  EXPECT_NEAR(at_one.at("tight"), 3.40755, 1e-5);
  EXPECT_NEAR(at_one.at("conservative"), 3.49573, 1e-5);
  EXPECT_NEAR(at_one.at("laplace"), 2.99573, 1e-5);
  EXPECT_TRUE(at_one.at("epsilon").is_null());
  const Json fine = json_of({"accuracy", "--epsilon", "0x1p0", "--sensitivity", "1", "--json"});
  EXPECT_LT(fine.at("tight").get<double>(), 1.001 * fine.at("laplace").get<double>());

  // The least epsilon for accuracy 4: it reaches 4, and a little less does not.
  for (const char* grid : {"auto", "notes", "2^-3", "2^1"}) {
    const Json target =
        json_of({"accuracy", "--sensitivity", "1", "--target-accuracy", "4", "--grid", grid, "--json"});
    EXPECT_LE(target.at("tight"), 4);
    const double epsilon = target.at("epsilon");
    const Json below = json_of({"accuracy", "--sensitivity", "1", "--grid", grid, "--json", "--epsilon",
                                to_string(epsilon * (1 - 1e-12))});
    EXPECT_GT(below.at("tight"), 4) << grid;
    EXPECT_LE(epsilon, (1 + std::log(20)) / 4);
  }
  EXPECT_THAT(succeed({"accuracy", "--epsilon", "0.5", "--sensitivity", "1"}), HasSubstr("noise scale"));
}

TEST_F(UsageTest, AccuracyRefusesWhatIsNoMechanism) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--epsilon", "0", "--sensitivity", "1"},
      {"--epsilon", "-1", "--sensitivity", "1"},
      {"--epsilon", "nan", "--sensitivity", "1"},
      {"--epsilon", "inf", "--sensitivity", "1"},
      {"--epsilon", "5e-324", "--sensitivity", "1"},
      {"--epsilon", "1", "--sensitivity", "0"},
      {"--epsilon", "1", "--sensitivity", "nan"},
      {"--epsilon", "1", "--sensitivity", "inf"},
      {"--epsilon", "1", "--sensitivity", "1e-312"},
      {"--epsilon", "1", "--sensitivity", "1", "--alpha", "0"},
      {"--epsilon", "1", "--sensitivity", "1", "--alpha", "1"},
      {"--epsilon", "1", "--sensitivity", "1", "--grid", "3"},
      {"--sensitivity", "1", "--target-accuracy", "0"},
      {"--sensitivity", "1", "--target-accuracy", "0.4", "--grid", "2^0"}};
  for (std::vector<std::string> arguments : wrong) {
    arguments.insert(arguments.begin(), "accuracy");
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_THAT(outcome.error, StartsWith("snapdp: error: "));
  }
  // Extremes that are mechanisms have true answers.
  const Json tiny =
      json_of({"accuracy", "--epsilon", "0x1p-130", "--sensitivity", "1", "--alpha", "1e-300", "--json"});
  EXPECT_NEAR(tiny.at("tight").get<double>() / (std::ldexp(1, 130) * 300 * std::log(10)), 1, 0.01);
}

TEST_F(UsageTest, TraceRecomputesRecordedReleases) {
  const std::string vectors = std::string(SNAPDP_TEST_DATA) + "/snap_exact.csv";
  const std::string expected = read_text(vectors);
  // Not EXPECT_EQ, which would print both files.
  EXPECT_TRUE(succeed({"trace", "--vectors", vectors}) == expected);
  EXPECT_TRUE(succeed({"trace", "--vectors", vectors, "--slow", "--kernel", "portable"}) == expected);
  // Outputs are recomputed, not copied.
  const std::size_t last = expected.rfind(',');
  write("wrong.csv",
        expected.substr(0, last) + ",0x0.0p+0" + expected.substr(expected.find_last_not_of("\r\n") + 1));
  EXPECT_TRUE(succeed({"trace", "--vectors", "wrong.csv"}) == expected);
  for (const char* kernel : {"avx2", "avx512"}) {
    const Outcome outcome = run({"trace", "--vectors", vectors, "--kernel", kernel});
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 2);
    EXPECT_TRUE(outcome.out == (outcome.code == 0 ? expected : ""));
  }
  EXPECT_EQ(run({"trace", "--vectors", "missing.csv"}).code, 5);
  write("broken.csv", "epsilon,output\n1\n");
  EXPECT_EQ(run({"trace", "--vectors", "broken.csv"}).code, 4);
}

TEST_F(ToolTest, ExplainsASpecificationWithoutData) {
  write("people.toml",
        "[data]\npath = \"nowhere.csv\"\ndataset = \"people\"\nneighbors = \"add-remove\"\nwhere = \"age > "
        "17\"\n"
        "[budget]\nepsilon = 1\n[[statistic]]\nname = \"n\"\nkind = \"count\"\nweight = 1\n");
  const std::string text = succeed({"explain", "people.toml"});
  EXPECT_NE(text.find("where age > 17"), std::string::npos) << text;
  EXPECT_NE(text.find("Together (sequential composition): epsilon 1 of the 1"), std::string::npos) << text;
  EXPECT_EQ(run({"explain", "missing.toml"}).code, 5);
  EXPECT_EQ(run({"explain"}).code, 2);
}

}  // namespace
}  // namespace snapdp
