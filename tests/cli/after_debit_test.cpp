// After the debit nothing fails: the tool, from the outside.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

#include "cli/tool.h"
#include "soak/disk.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* add_remove_head = R"([data]
path = "people.csv"
dataset = "people"
neighbors = "add-remove"
[budget]
epsilon = "1e6"
)";
constexpr const char* sum = "kind = \"sum\"\ncolumn = \"age\"\n";

std::string statistic(const std::string& name, const std::string& keys) {
  return "[[statistic]]\nname = \"" + name + "\"\n" + keys + "\n";
}

std::string histogram(int bins) {
  std::string categories = "0";
  for (int i = 1; i < bins; ++i) categories += "," + std::to_string(i);
  return statistic("ages", "kind = \"histogram\"\ncolumn = \"age\"\nepsilon = \"0.25\"\ncategories = [" +
                               categories + "]");
}

class AfterDebitTest : public ToolTest {
 protected:
  AfterDebitTest() {
    write("people.csv", "age\n10\n20\n30\n40\n");
    ask(statistic("n", "kind = \"count\"\nepsilon = 1"));
    create_ledger();
  }

  void ask(const std::string& statistics) const { write("people.toml", add_remove_head + statistics); }

  std::int64_t releases() const {
    return static_cast<std::int64_t>(Json::parse(ledger()).at("releases").size());
  }

  // What is asked succeeds in every form, and is shown again.
  void expect_shown(const std::string& statistics) const {
    ask(statistics);
    succeed({"plan", "people.toml"});
    json_of({"plan", "people.toml", "--json"});
    const Outcome table = release();
    EXPECT_EQ(table.code, 0) << table.error;
    const Outcome json = release({"--json"});
    EXPECT_EQ(json.code, 0) << json.error;
    const std::int64_t last = releases();
    const auto again = [&](std::int64_t number) {
      return std::vector<std::string>{"ledger", "show", "people.ledger", "--release", std::to_string(number)};
    };
    EXPECT_EQ(succeed(again(last - 1)), table.out);
    std::vector<std::string> as_json = again(last);
    as_json.emplace_back("--json");
    EXPECT_EQ(succeed(as_json), json.out);
    succeed(again(last));
    succeed({"ledger", "show", "people.ledger"});
    succeed({"ledger", "anchor", "people.ledger"});
    succeed({"ledger", "verify", "people.ledger"});
  }
};

TEST_F(AfterDebitTest, WhatIsPaidForIsShownHoweverLongItsNumbers) {
  expect_shown(statistic("grid", sum + std::string("bounds = [0, 1]\ngrid = \"2^335\"\nepsilon = 1")));
  expect_shown(statistic("epsilon", "kind = \"count\"\nepsilon = \"1e-305\""));
  expect_shown(statistic("bounds", sum + std::string("bounds = [0, 1e150]\nepsilon = 1")));
  std::string means;
  for (int i = 0; i < 45; ++i) {
    means += statistic("m" + std::to_string(i),
                       "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 1]\nepsilon = \"1/" +
                           std::to_string(101 + 2 * i) + "\"");
  }
  expect_shown(means);
  expect_shown(statistic("n", "kind = \"count\"\nepsilon = 1"));
}

TEST_F(AfterDebitTest, AReportTooLongForTheLedgerCostsNothing) {
  std::string keys = "0";
  std::string quantiles = "0";
  for (int i = 1; i < 20'000; ++i) keys += "," + std::to_string(i);
  for (int i = 1; i < 60; ++i) quantiles += ",\"" + std::to_string(i) + "/60\"";
  ask(statistic("q",
                "kind = \"quantiles\"\ncolumn = \"age\"\nedges = [0, 50, 100]\nepsilon = 1\nquantiles = [" +
                    quantiles + "]\ngroup_by = \"age\"\nkeys = [" + keys + "]"));
  const Outcome outcome = release();
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("a ledger keeps at most 64 MiB"));
  EXPECT_EQ(Json::parse(ledger()).at("spent"), "0");
}

// What another version wrote is shown as it is: here, the first ledger's report, which has no statistics.
TEST_F(AfterDebitTest, AReportOfAnotherVersionIsShownAsItIsKept) {
  write("old.ledger", read_text(std::filesystem::path(SNAPDP_TEST_DATA) / "ledger-1.db"));
  std::filesystem::permissions(path("old.ledger"), std::filesystem::perms(0600));
  const Outcome table = run({"ledger", "show", "old.ledger", "--release", "1"});
  EXPECT_EQ(table.code, 0);
  EXPECT_EQ(table.out, "{\"release\":1}\n");
  EXPECT_THAT(table.error, HasSubstr("printed as it is kept"));
  EXPECT_EQ(succeed({"ledger", "show", "old.ledger", "--release", "1", "--json"}), "{\"release\":1}");
  const Outcome none = run({"ledger", "show", "old.ledger", "--release", "2"});
  EXPECT_EQ(none.code, 4);
  EXPECT_THAT(none.error, HasSubstr("the debit stands"));
}

// A limit on the length of files, with the signal's default, which is to end the process.
TEST_F(AfterDebitTest, AFileThatMayNotGrowCostsNothing) {
  ask(histogram(20'000));
  int refused = 0;
  int released = 0;
  for (const int kibibytes : {8, 64, 400, 900, 1200, 2000, 3000, 4000, 6000}) {
    const std::int64_t before = releases();
    const std::string command =
        "cd '" + path("").string() + "' && { (ulimit -f " + std::to_string(2 * kibibytes) +
        "; " SNAPDP_TOOL
        " release people.toml --ledger people.ledger --yes --json 2> error; echo $? > code)"
        " | cat > out; }";
    ASSERT_EQ(std::system(command.c_str()), 0);
    const std::string printed = read_text(path("out"));  // the tool's next run writes there, too
    if (read_text(path("code")) == "0\n") {
      ++released;
      EXPECT_EQ(releases(), before + 1);
      EXPECT_EQ(
          succeed({"ledger", "show", "people.ledger", "--json", "--release", std::to_string(before + 1)}),
          printed);
    } else {
      ++refused;
      EXPECT_EQ(read_text(path("code")), "5\n") << kibibytes << read_text(path("error"));
      EXPECT_EQ(releases(), before) << kibibytes;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(released, 0);
}

// Printing is what remains, and it costs nothing to do again.
TEST_F(AfterDebitTest, AnOutputThatMayNotGrowIsSaidAndPrintedAgain) {
  ask(histogram(3000));
  const std::string command =
      "cd '" + path("").string() +
      "' && dd if=/dev/zero of=out bs=1024 count=2000 2> /dev/null && (ulimit -f 4000; " SNAPDP_TOOL
      " release people.toml --ledger people.ledger --yes --json >> out 2> error; echo $? > code)";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read_text(path("code")), "5\n");
  EXPECT_THAT(read_text(path("error")), HasSubstr("snapdp ledger show people.ledger --release 1"));
  EXPECT_EQ(json_of({"ledger", "show", "people.ledger", "--release", "1", "--json"}).at("release"), 1);
}

TEST_F(AfterDebitTest, AClosedStandardOutputCostsNothing) {
  ask(statistic("n", "kind = \"count\"\nepsilon = 1"));
  const std::string command =
      "cd '" + path("").string() +
      "' && " SNAPDP_TOOL " release people.toml --ledger people.ledger --yes >&- 2> error; echo $? > code";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read_text(path("code")), "5\n");
  EXPECT_THAT(read_text(path("error")), HasSubstr("standard output"));
  EXPECT_EQ(releases(), 0);
}

#if defined(SNAPDP_PRELOAD_DISK)
// Every few calls on the ledger's files something happens: see tests/soak/disk.h.
class InterruptedReleaseTest : public AfterDebitTest {
 protected:
  InterruptedReleaseTest() {
    std::filesystem::create_directory(path("ledger"));
    ask(histogram(50));
    succeed({"ledger", "create", "ledger/people.ledger", "people.toml", "--epsilon", "1000"});
  }

  struct Interrupted {
    int status = 0;
    std::string out;
    std::string error;
    bool debited = false;
    bool kept = false;
  };

  Interrupted release_with(disk::Fault fault, long call, bool lasting, bool ignored = false) const {
    const std::int64_t before = count();
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string setting = path("ledger").string() + " " + std::to_string(static_cast<int>(fault)) +
                                  " " + std::to_string(call) + (lasting ? " 1" : " 0") + " 0 1";
      ::setenv("SNAPDP_DISK", setting.c_str(), 1);
      ::setenv("SNAPDP_DISK_CALLS", path("calls").c_str(), 1);
      ::setenv("LD_PRELOAD", SNAPDP_PRELOAD_DISK, 1);
      ::signal(SIGTERM, ignored ? SIG_IGN : SIG_DFL);
      const int output = ::open(path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      const int messages = ::open(path("error").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (::chdir(path("").c_str()) != 0 || ::dup2(output, 1) < 0 || ::dup2(messages, 2) < 0) ::_exit(127);
      execute({"release", "people.toml", "--ledger", "ledger/people.ledger", "--yes", "--json"});
    }
    Interrupted result;
    while (::waitpid(child, &result.status, 0) < 0 && errno == EINTR) {
    }
    result.out = read_text(path("out"));
    result.error = read_text(path("error"));
    const Json ledger = json_of({"ledger", "show", "ledger/people.ledger", "--json"});
    result.debited = static_cast<std::int64_t>(ledger.at("releases").size()) == before + 1;
    result.kept = result.debited && ledger.at("releases").back().at("reported");
    return result;
  }

  std::int64_t count() const {
    return static_cast<std::int64_t>(
        json_of({"ledger", "show", "ledger/people.ledger", "--json"}).at("releases").size());
  }

  long undisturbed_calls() const {
    EXPECT_EQ(release_with(disk::Fault::none, 0, false).status, 0);
    return std::stol(read_text(path("calls")));
  }
};

TEST_F(InterruptedReleaseTest, ASignalNeverComesBetweenTheDebitAndTheReport) {
  const long calls = undisturbed_calls();
  int early = 0;
  int late = 0;
  for (long call = 1; call <= calls; call += 4) {
    const Interrupted result = release_with(disk::Fault::terminate, call, false);
    EXPECT_TRUE(WIFSIGNALED(result.status) && WTERMSIG(result.status) == SIGTERM) << call << result.error;
    EXPECT_EQ(result.kept, result.debited) << call;
    if (!result.debited) {
      ++early;
      continue;
    }
    if (!result.out.empty()) continue;  // printed already
    ++late;
    EXPECT_THAT(result.error, HasSubstr("interrupted; release")) << call;
    EXPECT_THAT(result.error, HasSubstr("snapdp ledger show ledger/people.ledger --release")) << call;
  }
  EXPECT_GT(early, 3);
  EXPECT_GT(late, 3);
  // Whoever has the tool ignore a signal has it ignored there, too.
  const Interrupted ignored = release_with(disk::Fault::terminate, calls * 3 / 4, false, true);
  EXPECT_EQ(ignored.status, 0);
  EXPECT_EQ(Json::parse(ignored.out).at("statistics").size(), 1U);
}

// A disk that is full after the debit although it had room before: of what remains, the one thing that can keep a report
// out of its ledger. It is printed, and said to be the only copy.
TEST_F(InterruptedReleaseTest, AReportThatTheLedgerCannotKeepIsPrinted) {
  const long calls = undisturbed_calls();
  int not_kept = 0;
  for (long call = calls / 2; call <= calls; call += 4) {
    const Interrupted result = release_with(disk::Fault::full, call, true);
    if (!result.debited || result.kept || !WIFEXITED(result.status)) continue;
    if (result.error.find("may stand") != std::string::npos) continue;  // the debit itself was cut short
    ++not_kept;
    EXPECT_EQ(WEXITSTATUS(result.status), 5);
    EXPECT_THAT(result.error, HasSubstr("could not be kept in the ledger, so save it now")) << call;
    EXPECT_EQ(Json::parse(result.out).at("statistics").size(), 1U);
  }
  EXPECT_GT(not_kept, 0);
}
#endif

}  // namespace
}  // namespace snapdp
