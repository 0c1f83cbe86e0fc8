// The whole tool under fire: snapdp release is killed, loses power, or meets failing calls at every system call it makes
// on the ledger's files (preload_disk.cpp). Everything that it has printed or written is visible; after each round
//
//   the ledger opens, verifies and goes on from the anchor of the round before;
//   every report that is visible, even a part of one, has its debit in the ledger, with its epsilon;
//   a whole report is the one that the ledger keeps: no second noise is ever drawn for a release;
//   nothing is spent that nobody tried to spend;
//   a signal that can be held back never comes between the debit and the report.
//
// Usage: soak_release [--rounds N] [--seed S]        (400 rounds)
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/privacy/ledger.h"
#include "soak/disk.h"

namespace snapdp {
namespace {

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
)";
const Rational epsilon(1, 4);

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct Plan {
  const char* name;
  disk::Fault fault;
  bool lasting;
  bool power_later;
  bool power_at_end = false;
};
constexpr std::array<Plan, 10> plans = {{
    {"power failure", disk::Fault::power, false, false},
    {"killed before a call", disk::Fault::kill_before, false, false},
    {"call fails", disk::Fault::error, false, false},
    {"call fails, then power failure", disk::Fault::error, false, true},
    {"disk full from then on", disk::Fault::full, true, false},
    {"disk fails from then on", disk::Fault::error, true, false},
    {"killed after a call", disk::Fault::kill_after, false, false},
    {"told to end after a call", disk::Fault::terminate, false, false},
    {"power failure at the end", disk::Fault::none, false, false, true},
    {"call fails, power failure at the end", disk::Fault::error, false, false, true},
}};

class Campaign {
 public:
  Campaign(int rounds, std::uint64_t seed) : rounds_(rounds), engine_(seed) {
    std::string pattern =
        ::access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm/snapdp-soak-XXXXXX" : "/tmp/snapdp-soak-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch folder");
    folder_ = std::filesystem::canonical(pattern);
    std::filesystem::create_directory(folder_ / "ledger");
    ledger_ = folder_ / "ledger" / "people.ledger";
    std::ofstream(folder_ / "people.csv") << "age\n10\n20\n30\n40\n";
    std::ofstream(folder_ / "people.toml") << people_toml;
  }
  ~Campaign() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  bool run() {
    create_ledger();
    const long calls = undisturbed_calls();
    std::printf("calls on the ledger's files in a release: %ld\n", calls);
    for (round_ = 0; round_ < rounds_ && failures_ < 20; ++round_) {
      const Plan& plan = plans[static_cast<std::size_t>(round_) % plans.size()];
      disk::Trouble trouble;
      trouble.fault = plan.fault;
      trouble.call = 1 + round_ / static_cast<long>(plans.size()) * 61 % calls;
      trouble.lasting = plan.lasting;
      if (plan.power_later) trouble.power = trouble.call + 1 + static_cast<long>(engine_() % 40);
      if (plan.power_at_end) trouble.power = -1;
      trouble.seed = engine_();
      what_ = std::string(plan.name) + " at call " + std::to_string(trouble.call);
      const bool to_file = round_ % 3 == 2;
      const std::filesystem::path output = folder_ / (to_file ? "report.json" : "out");
      std::filesystem::remove(folder_ / "report.json");
      const bool succeeded = release(trouble, to_file);
      check(read_text(output), succeeded, plan.power_later, plan.fault == disk::Fault::terminate);
    }
    std::printf(
        "%d rounds: %d reports of tools that succeeded, %d of tools that then failed, %d debits without a "
        "report, %d lost, %d refused as "
        "corrupt after two faults at once, %d violations\n",
        round_, whole_, partial_, unseen_, lost_, corrupt_, failures_);
    return failures_ == 0;
  }

 private:
  // True when the tool said that it succeeded.
  bool release(const disk::Trouble& trouble, bool to_file) {
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string setting = (folder_ / "ledger").string() + " " +
                                  std::to_string(static_cast<int>(trouble.fault)) + " " +
                                  std::to_string(trouble.call) + " " + (trouble.lasting ? "1 " : "0 ") +
                                  std::to_string(trouble.power) + " " + std::to_string(trouble.seed);
      ::setenv("SNAPDP_DISK", setting.c_str(), 1);
      ::setenv("SNAPDP_DISK_CALLS", (folder_ / "calls").c_str(), 1);
      ::setenv("LD_PRELOAD", SNAPDP_PRELOAD_DISK, 1);
      const int in = ::open("/dev/null", O_RDONLY);
      const int out = ::open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      const int error = ::open((folder_ / "error").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (::chdir(folder_.c_str()) != 0 || ::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(error, 2) < 0) {
        ::_exit(127);
      }
      std::vector<const char*> arguments = {
          SNAPDP_TOOL, "release", "people.toml", "--ledger", "ledger/people.ledger", "--yes", "--json"};
      if (to_file) arguments.insert(arguments.end(), {"--output", "report.json"});
      arguments.push_back(nullptr);
      ::execv(SNAPDP_TOOL, const_cast<char**>(arguments.data()));
      ::_exit(127);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  void create_ledger() {
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "ledger"))
      std::filesystem::remove(entry.path());
    Ledger::create(
        ledger_, {"people", Neighbors::change_one, ""}, 1000,
        "[data]\ndataset = \"people\"\nneighbors = \"change-one\"\npath = \"../people.csv\"\nsize = 4\n");
    anchor_.reset();
    releases_ = 0;
  }

  long undisturbed_calls() {
    std::string calls;
    if (release({}, false)) calls = read_text(folder_ / "calls");
    if (calls.empty())
      throw std::runtime_error("an undisturbed release fails: " + read_text(folder_ / "error"));
    create_ledger();
    return std::stol(calls);
  }

  void require(bool holds, const std::string& rule) {
    if (holds) return;
    ++failures_;
    std::printf("VIOLATED in round %d (%s): %s\n", round_, what_.c_str(), rule.c_str());
  }

  void check(const std::string& visible, bool succeeded, bool may_be_corrupt, bool must_be_kept) {
    try {
      const Ledger ledger = Ledger::open(ledger_);
      const LedgerBalance balance =
          ledger.verify(anchor_ ? std::vector<LedgerAnchor>{*anchor_} : std::vector<LedgerAnchor>{});
      const std::int64_t more = balance.releases - releases_;
      require(more == 0 || more == 1, "one release is debited at most");
      require(balance.spent == epsilon * balance.releases, "each release has its epsilon");
      if (!visible.empty()) {
        if (more != 1) ++lost_;
        require(more == 1, "durable spent >= visible: something was printed without a debit");
      }
      if (succeeded) {
        require(!visible.empty(), "a release that succeeded printed its report");
        require(more == 1 && ledger.report(balance.releases) == visible,
                "the ledger keeps the report that was printed");
        ++whole_;
      } else if (!visible.empty()) {
        ++partial_;
      } else if (more == 1) {
        ++unseen_;
      }
      if (must_be_kept && more == 1)
        require(ledger.report(balance.releases).has_value(), "what was paid for before a signal is kept");
      anchor_ = balance.anchor;
      releases_ = balance.releases;
    } catch (const Error& error) {
      if (may_be_corrupt && error.code() == ErrorCode::budget_refused) {
        ++corrupt_;
      } else {
        require(false, std::string("the ledger opens and verifies: ") + error.what());
      }
      create_ledger();
    }
  }

  int rounds_;
  std::mt19937_64 engine_;
  std::filesystem::path folder_;
  std::filesystem::path ledger_;
  int round_ = 0;
  std::int64_t releases_ = 0;
  std::optional<LedgerAnchor> anchor_;
  std::string what_;
  int whole_ = 0;
  int partial_ = 0;
  int unseen_ = 0;
  int lost_ = 0;
  int corrupt_ = 0;
  int failures_ = 0;
};

}  // namespace
}  // namespace snapdp

int main(int argc, char** argv) {
  int rounds = 400;
  std::uint64_t seed = 20240501;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::max(1, std::atoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  try {
    std::printf("releases under fire: %d rounds, seed %llu\n", rounds, static_cast<unsigned long long>(seed));
    snapdp::Campaign campaign(rounds, seed);
    return campaign.run() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "soak_release: %s\n", error.what());
    return 2;
  }
}
