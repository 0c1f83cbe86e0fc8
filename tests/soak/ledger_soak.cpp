// The ledger under fire: processes debit, and are killed, lose power, or meet failing calls at every system call they
// make. After each round the file is read by somebody else, and
//
//   durable spent >= everything ever visible: what a debit() that returned was told of, noise may have been drawn for;
//   no overspend: visible <= spent <= budget;
//   nothing is spent that nobody tried to spend; every report whose store_report() returned is there;
//   the ledger verifies, goes on from the anchor noted after the round before, and still takes debits.
//
// Usage: soak_ledger [--rounds N] [--seed S]
//
// Ends with 1 and what was wrong in which round if anything was. Of N rounds (3000), four in five
// hit one call each: in 3000 rounds every call meets every fault. The others are races for the last epsilon, and kills
// at random moments. Then come torn files, and a release after a long past.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/privacy/ledger.h"
#include "soak/disk.h"

namespace snapdp {
namespace {

const LedgerIdentity people{"people", Neighbors::change_one, ""};
constexpr int budget_units = 100;  // epsilons are multiples of a hundredth of the budget, which is 1
constexpr int most_releases = 200;

// What the processes have made visible; in memory that outlives them.
struct Visible {
  std::atomic<int> created;
  std::atomic<int> spent;                                 // units of debits that returned
  std::array<std::atomic<int>, most_releases + 1> units;  // by release, once its debit returned
  std::array<std::atomic<int>, most_releases + 1> reported;
};

Rational epsilon_of(int units) {
  Rational epsilon(units, budget_units);
  epsilon.canonicalize();
  return epsilon;
}

// What a release that was reported says.
std::string report_of(std::int64_t release) {
  return "{\"release\": " + std::to_string(release) + ", \"text\": \"" +
         std::string(static_cast<std::size_t>(release * 997 % 9000), 'r') + "\"}";
}

enum class Round { create, release };

struct Plan {
  const char* name;
  Round round;
  disk::Fault fault;
  bool lasting;
  bool power_at_end;         // the power fails after the process has done all it could
  bool power_later = false;  // or at one of the next calls
};

// Faults that hit one call each.
constexpr std::array<Plan, 15> plans = {{
    {"power failure", Round::release, disk::Fault::power, false, false},
    {"killed before a call", Round::release, disk::Fault::kill_before, false, false},
    {"power failure", Round::release, disk::Fault::power, false, false},
    {"killed within a write", Round::release, disk::Fault::kill_midway, false, false},
    {"call fails", Round::release, disk::Fault::error, false, false},
    {"call fails, power failure at the end", Round::release, disk::Fault::error, false, true},
    {"call fails, power failure soon after", Round::release, disk::Fault::error, false, false, true},
    {"disk full once", Round::release, disk::Fault::full, false, false},
    {"disk full from then on", Round::release, disk::Fault::full, true, true},
    {"disk fails from then on", Round::release, disk::Fault::error, true, true},
    {"short write or interrupt", Round::release, disk::Fault::short_write, false, true},
    {"killed after a call", Round::release, disk::Fault::kill_after, false, false},
    {"no fault, power failure at the end", Round::release, disk::Fault::none, false, true},
    {"creation, power failure", Round::create, disk::Fault::power, false, false},
    {"creation, call fails", Round::create, disk::Fault::error, false, true},
}};

struct Counts {
  int rounds = 0;
  int acknowledged = 0;  // debits that returned
  int stood = 0;         // debits that stand although they did not return
  int refused = 0;       // rounds in which nothing was debited
};

class Campaign {
 public:
  Campaign(int rounds, std::uint64_t seed) : rounds_(rounds), engine_(seed) {
    std::string pattern =
        ::access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm/snapdp-soak-XXXXXX" : "/tmp/snapdp-soak-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch folder");
    folder_ = std::filesystem::canonical(pattern);
    path_ = folder_ / "people.ledger";
    void* const shared =
        ::mmap(nullptr, sizeof(Visible), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
    visible_ = new (shared) Visible{};
  }
  ~Campaign() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    ::munmap(visible_, sizeof(Visible));
  }
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  bool run() {
    for (round_ = 0; round_ < rounds_ && failures_ < 20; ++round_) {
      if (round_ % 10 == 8) {
        race();
      } else if (round_ % 10 == 9) {
        kill_at_random();
      } else {
        one_fault();
      }
    }
    torn_files();
    long_past();
    print();
    return failures_ == 0;
  }

 private:
  // ---- What the processes do

  // A release as the tool makes one. Each step is visible as soon as the call before it returned.
  void release(int units) {
    try {
      Ledger ledger = Ledger::open(path_);
      ledger.set_lock_wait(std::chrono::seconds(20));
      const Rational epsilon = epsilon_of(units);
      ledger.check(people, epsilon);
      const LedgerReceipt paid = ledger.debit(
          people, {{"mean_age", epsilon / 2}, {"mean_income", epsilon / 2}}, std::string(3000, 's'));
      visible_->spent += units;  // the noise is drawn
      visible_->units.at(static_cast<std::size_t>(paid.release)) = units;
      ledger.store_report(paid.release, report_of(paid.release));
      visible_->reported.at(static_cast<std::size_t>(paid.release)) = 1;
    } catch (const Error&) {
      // Refused, or failed: whatever became visible was noted before.
    }
  }

  void create() {
    try {
      Ledger::create(path_, people, 1);
      visible_->created = 1;
    } catch (const Error&) {
    }
  }

  template <typename Body>
  pid_t start(Body body) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    body();
    ::_exit(0);
  }
  static void wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }

  // ---- Rounds

  void one_fault() {
    const std::size_t which = static_cast<std::size_t>(fault_rounds_) % plans.size();
    const Plan& plan = plans[which];
    const long turn = fault_rounds_++ / static_cast<long>(plans.size());
    const long calls = plan.round == Round::create ? calls_of_creation() : calls_of_release();
    // Every call in turn, in leaps, so that a short campaign meets calls of all sorts.
    const long call = 1 + turn * leap(calls) % calls;
    describe(std::string(plan.name) + " at call " + std::to_string(call) + " of " + std::to_string(calls));
    const std::uint64_t seed = engine_();
    const long power = plan.power_later ? call + 1 + static_cast<long>(engine_() % 40) : 0;
    if (plan.round == Round::create) {
      fresh();
      wait_for(start([&] {
        disk::watch(folder_, {plan.fault, call, plan.lasting, power, seed});
        create();
        if (plan.power_at_end) disk::fail_power();
      }));
      check_creation(plan.name);
      return;
    }
    const int units = next_units();
    wait_for(start([&] {
      disk::watch(folder_, {plan.fault, call, plan.lasting, power, seed});
      release(units);
      if (plan.power_at_end) disk::fail_power();
    }));
    attempted_ += units;
    // SQLite takes no notice when it cannot sync the folder after making its journal; should the power fail before
    // the commit, the journal may be gone. Then the ledger may be refused as corrupt. No epsilon comes back.
    check(plan.name, plan.power_later);
  }

  // Processes that all want what is left; some are killed on the way.
  void race() {
    describe("race");
    const long calls = calls_of_release();
    if (left() == 0) create_ledger();
    const int all = left();
    std::vector<pid_t> children;
    const int count = 2 + static_cast<int>(engine_() % 4);
    for (int i = 0; i < count; ++i) {
      const long call = 1 + static_cast<long>(engine_() % static_cast<std::uint64_t>(2 * calls));
      const disk::Fault fault = engine_() % 3 == 0 ? disk::Fault::kill_before : disk::Fault::none;
      children.push_back(start([&] {
        disk::watch(folder_, {.fault = fault, .call = call});
        release(all);
      }));
    }
    for (const pid_t child : children) wait_for(child);
    attempted_ += all;  // no more than one of them
    check("race for the last epsilon");
  }

  void kill_at_random() {
    describe("kill at random");
    const int units = next_units();
    const pid_t child = start([&] { release(units); });
    std::this_thread::sleep_for(std::chrono::microseconds(engine_() % 4000));
    ::kill(child, SIGKILL);
    wait_for(child);
    attempted_ += units;
    check("killed at a random moment");
  }

  // ---- The ledger between the rounds

  void fresh() {
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      std::filesystem::remove(entry.path());
    new (visible_) Visible{};
    spent_ = 0;
    attempted_ = 0;
    acknowledged_ = 0;
    releases_before_ = 0;
    anchor_.reset();
  }

  void create_ledger() {
    fresh();
    Ledger::create(path_, people, 1);
    visible_->created = 1;
  }

  int left() const { return std::filesystem::exists(path_) ? budget_units - spent_ : 0; }

  // An epsilon for the next release, of a new ledger when the old one is used up.
  int next_units() {
    if (left() < 12) create_ledger();
    return 1 + static_cast<int>(engine_() % 12);
  }

  // How many calls an undisturbed creation, and a release with a little past, make.
  long calls_of_creation() {
    if (creation_calls_ == 0) {
      fresh();
      creation_calls_ = count([&] { create(); });
      fresh();
    }
    return creation_calls_;
  }
  long calls_of_release() {
    if (release_calls_ == 0) {
      fresh();
      create();
      release(1);
      release_calls_ = count([&] { release(1); });
      create_ledger();
    }
    return release_calls_;
  }
  template <typename Body>
  long count(Body body) {
    disk::watch(folder_, {});
    body();
    const long calls = disk::calls();
    disk::unwatch();
    return calls;
  }
  // Has no factor in common with `calls`.
  static long leap(long calls) {
    for (long leap = calls * 5 / 13 + 1;; ++leap) {
      long a = calls;
      long b = leap;
      while (b != 0) a = std::exchange(b, a % b);
      if (a == 1) return leap;
    }
  }

  // ---- What must hold

  void describe(const std::string& what) { what_ = what; }
  void require(bool holds, const std::string& rule) {
    if (holds) return;
    ++failures_;
    std::printf("VIOLATED in round %d (%s): %s\n", round_, what_.c_str(), rule.c_str());
  }

  void check_creation(const char* name) {
    ++counts_[name].rounds;
    try {
      const LedgerBalance balance = Ledger::open(path_).verify();
      require(balance.budget == 1 && balance.spent == 0, "a new ledger has its budget and nothing spent");
      ++counts_[name].acknowledged;
    } catch (const Error& error) {
      require(visible_->created == 0,
              std::string("a ledger whose creation returned is there: ") + error.what());
      require(error.code() == ErrorCode::budget_refused, "a half-made ledger is refused");
      ++counts_[name].refused;
    }
    fresh();
  }

  void check(const char* name, bool may_be_corrupt = false) {
    Counts& counts = counts_[name];
    ++counts.rounds;
    const int failures_before = failures_;
    try {
      Ledger ledger = Ledger::open(path_);
      const LedgerBalance balance =
          ledger.verify(anchor_ ? std::vector<LedgerAnchor>{*anchor_} : std::vector<LedgerAnchor>{});
      const Rational exact = balance.spent.value * budget_units;
      require(exact.get_den() == 1, "what is spent is made of what was debited");
      const int spent = static_cast<int>(exact.get_num().get_si());
      require(spent >= visible_->spent,
              "durable spent >= visible: " + std::to_string(spent) + " < " + std::to_string(visible_->spent));
      require(visible_->spent <= budget_units && spent <= budget_units, "no overspend");
      if (visible_->spent > budget_units || spent > budget_units) ++overspends_;
      if (spent < visible_->spent) ++lost_;
      require(spent <= spent_ + attempted_, "nothing is spent that nobody tried to spend");
      const std::vector<LedgerEntry> entries = ledger.entries();
      int acknowledged = 0;
      for (std::size_t release = 1; release <= most_releases; ++release) {
        const int units = visible_->units[release];
        if (units == 0) continue;
        ++acknowledged;
        if (release > entries.size()) {
          require(false, "a release that was paid for is there");
          continue;
        }
        require(entries[release - 1].cost == epsilon_of(units), "each release has its epsilon");
        if (visible_->reported[release] == 0) continue;
        const auto number = static_cast<std::int64_t>(release);
        require(ledger.report(number) == report_of(number), "a report that was stored is there");
      }
      const auto all = static_cast<int>(entries.size());
      counts.acknowledged += acknowledged - acknowledged_;
      counts.stood += (all - releases_before_) - (acknowledged - acknowledged_);
      if (all == releases_before_) ++counts.refused;
      acknowledged_ = acknowledged;
      releases_before_ = all;
      spent_ = spent;
      attempted_ = 0;
      anchor_ = balance.anchor;
      // What stands unseen counts as seen from now on.
      visible_->spent = spent;
    } catch (const Error& error) {
      if (may_be_corrupt && error.code() == ErrorCode::budget_refused) {
        ++corrupt_;
        create_ledger();
      } else {
        require(false, std::string("the ledger opens and verifies: ") + error.what());
      }
    }
    if (failures_ > failures_before) create_ledger();
  }

  void print();
  void torn_files();
  void long_past();

  int rounds_;
  std::mt19937_64 engine_;
  std::filesystem::path folder_;
  std::filesystem::path path_;
  Visible* visible_ = nullptr;
  int round_ = 0;
  long fault_rounds_ = 0;
  long creation_calls_ = 0;
  long release_calls_ = 0;
  int spent_ = 0;
  int attempted_ = 0;
  int acknowledged_ = 0;
  int releases_before_ = 0;
  std::optional<LedgerAnchor> anchor_;
  std::string what_;
  std::map<std::string, Counts> counts_;
  int failures_ = 0;
  int lost_ = 0;
  int overspends_ = 0;
  int corrupt_ = 0;
  std::string notes_;
};

// A copy that was cut off anywhere is refused, or nothing but zeros was cut off.
void Campaign::torn_files() {
  describe("torn file");
  create_ledger();
  for (int i = 0; i < 4; ++i) release(10);
  std::ifstream file(path_, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // All prefixes in a full campaign, and as many as there are rounds in a short one.
  const std::size_t step =
      std::max<std::size_t>(1, rounds_ >= 2000 ? 1 : good.size() / static_cast<std::size_t>(rounds_));
  int refused = 0;
  int tried = 0;
  for (std::size_t size = 0; size < good.size(); size += step, ++tried) {
    std::filesystem::resize_file(path_, 0);
    std::ofstream(path_, std::ios::binary) << good.substr(0, size);
    try {
      const LedgerBalance balance = Ledger::open(path_).verify();
      require(balance.spent == Rational(2, 5) && good.find_first_not_of('\0', size) == std::string::npos,
              "a ledger cut off after " + std::to_string(size) + " bytes is refused");
    } catch (const Error& error) {
      require(error.code() == ErrorCode::budget_refused, "a torn file is refused as such");
      ++refused;
    }
  }
  notes_ += "torn files: " + std::to_string(tried) + " prefixes of " + std::to_string(good.size()) +
            " bytes, " + std::to_string(refused) + " refused\n";
}

// Pages that a release reads and calls that it makes, with few and with many releases before it.
void Campaign::long_past() {
  describe("long past");
  const int many = rounds_ >= 2000 ? 10'000 : 500;
  std::filesystem::remove(path_);
  Ledger::create(path_, people, 1);
  const auto add = [&](int count) {
    Ledger ledger = Ledger::open(path_);
    for (int i = 0; i < count; ++i)
      ledger.debit(people, {{"mean_age", Rational(1, 1'000'000)}}, std::string(500, 's'));
  };
  const auto one = [&] {
    disk::watch(folder_, {});
    add(1);
    const long reads = disk::reads();
    disk::unwatch();
    return reads;
  };
  add(10);
  const long few = one();
  add(many);
  const long after = one();
  require(after <= few + 12, "the past does not slow the next release");
  require(Ledger::open(path_).verify().releases == many + 12, "all are there");
  notes_ += "reads for a debit: " + std::to_string(few) + " after 10 releases, " + std::to_string(after) +
            " after " + std::to_string(many + 11) + "\n";
}

void Campaign::print() {
  std::printf("%-36s %7s %13s %12s %8s\n", "", "rounds", "acknowledged", "stood anyway", "nothing");
  Counts total;
  for (const auto& [name, counts] : counts_) {
    std::printf("%-36s %7d %13d %12d %8d\n", name.c_str(), counts.rounds, counts.acknowledged, counts.stood,
                counts.refused);
    total.rounds += counts.rounds;
    total.acknowledged += counts.acknowledged;
    total.stood += counts.stood;
  }
  std::printf("refused as corrupt after two faults at once: %d\n", corrupt_);
  std::printf("calls on files: %ld in a creation, %ld in a release\n%s", creation_calls_, release_calls_,
              notes_.c_str());
  std::printf(
      "%d rounds: %d debits acknowledged, %d stood although their process did not hear of it, %d lost, %d "
      "overspends, %d violations\n",
      total.rounds, total.acknowledged, total.stood, lost_, overspends_, failures_);
}

int run(int argc, char** argv) {
  int rounds = 3000;
  std::uint64_t seed = 20240501;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) {
      rounds = std::max(1, std::atoi(argv[i + 1]));
    } else if (std::strcmp(argv[i], "--seed") == 0) {
      seed = std::strtoull(argv[i + 1], nullptr, 10);
    } else {
      argc = 0;
    }
  }
  if (argc % 2 == 0) {
    std::fprintf(stderr, "usage: soak_ledger [--rounds N] [--seed S]\n");
    return 2;
  }
  std::printf("ledger under fire: %d rounds, seed %llu\n", rounds, static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  Campaign campaign(rounds, seed);
  return campaign.run() ? 0 : 1;
}

}  // namespace
}  // namespace snapdp

int main(int argc, char** argv) {
  try {
    return snapdp::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "soak_ledger: %s\n", error.what());
    return 2;
  }
}
