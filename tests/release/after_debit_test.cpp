// After the debit nothing fails: whatever a plan accepts is drawn, kept and shown, or refused with the ledger as it was.
#include "release/after_debit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "privacy/ledger_testing.h"
#include "random/failing_generator.h"
#include "release/little_memory.h"
#include "release/replace.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {
namespace {

using ledger_testing::error_of;
using ledger_testing::ScratchFolder;
using testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* add_remove_head = R"([data]
dataset = "people"
neighbors = "add-remove"
[budget]
epsilon = "1e400"
)";
const LedgerIdentity people{"people", Neighbors::add_remove, ""};

std::string statistic(const std::string& name, const std::string& keys) {
  return "[[statistic]]\nname = \"" + name + "\"\n" + keys + "\n";
}

// [0, 1, 2, ...], each with `before` and `after` around it.
std::string list(int count, const std::string& before = "", const std::string& after = "") {
  std::string text = "[";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + before + std::to_string(i) + after;
  return text + "]";
}

class AfterDebitTest : public testing::Test {
 protected:
  Ledger open() const { return Ledger::open(folder_ / "people.ledger"); }

  Released run(const std::string& text, const ReleaseOptions& options = {}) {
    return release(
        Specification::parse(add_remove_head + text, "s.toml"), ledger_,
        [](const Declaration&) {
          auto source = std::make_unique<MemorySource>();
          source->add("x", MemorySource::Reals{1, 2, 3, 4});
          source->add("y", MemorySource::Reals{-1, 2, 0.5, 4});
          return source;
        },
        options);
  }

  // Runs that must succeed, and be shown by the ledger.
  Json shown(const std::string& text) {
    const Released released = run(text);
    EXPECT_EQ(released.not_stored, "");
    const std::string kept = ledger_.report(*released.release).value();
    EXPECT_EQ(kept, released.report.json());
    EXPECT_EQ(Report::from_json(kept).to_table(), released.report.to_table());
    return Json::parse(kept);
  }

  // Runs that must be refused with nothing debited.
  Error refusal(const std::string& text, const ReleaseOptions& options = {}) {
    const Rational before = ledger_.balance().spent.value;
    const Error error = error_of([&] { run(text, options); });
    EXPECT_EQ(ledger_.balance().spent, before);
    return error;
  }

  // What is left is 10^400 less fractions.
  ScratchFolder folder_;
  Ledger ledger_ = Ledger::create(folder_ / "people.ledger", people, parse_rational("1e400", "budget"));
};

constexpr const char* sum = "kind = \"sum\"\ncolumn = \"x\"\n";

TEST_F(AfterDebitTest, NumbersLongerThanPeopleWriteThemAreShown) {
  // The grid has 101 digits, the sensitivity 150, a part's epsilon some 200.
  shown(statistic("grid", sum + std::string("bounds = [0, 1]\ngrid = \"2^335\"\nepsilon = 1")));
  shown(statistic("epsilon", "kind = \"count\"\nepsilon = \"1e-305\""));
  shown(statistic("bounds", sum + std::string("bounds = [0, 1e150]\nepsilon = 1")));
  shown(statistic("split",
                  "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1]\nepsilon = 1\n"
                  "split = [\"1/" +
                      std::string(99, '7') + "\", \"" + std::string(99, '3') + "\"]"));
}

TEST_F(AfterDebitTest, FractionsWithoutCommonFactorsAreShownInEveryLaterReport) {
  std::string means;
  for (int i = 0; i < 45; ++i) {
    means += statistic("m" + std::to_string(i),
                       "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1]\nepsilon = \"1/" +
                           std::to_string(101 + 2 * i) + "\"");
  }
  EXPECT_GT(shown(means).at("ledger").at("spent").get<std::string>().size(), 100U);
  shown(statistic("n", "kind = \"count\"\nepsilon = 1"));
  // Until the ledger itself has no room for the exact total: then before the debit.
  for (int i = 0; i < 20; ++i) {
    const std::string more = statistic(
        "n", "kind = \"count\"\nepsilon = \"1/" + std::string(90, '7') + std::to_string(101 + 2 * i) + "\"");
    try {
      shown(more);
    } catch (const Error&) {
      const Error error = refusal(more);
      EXPECT_EQ(error.code(), ErrorCode::budget_refused);
      EXPECT_THAT(error.what(), HasSubstr("1024 digits"));
      return;
    }
  }
  ADD_FAILURE() << "the ledger has no limit";
}

TEST_F(AfterDebitTest, ValuesBeyondTheDoublesAreExactText) {
  // Noise of scale 8.9e307 is beyond the largest double with probability e^-2.02 > 0.13; of 200 sums none is with
  // probability 0.87^200 < 1e-12.
  std::string sums;
  for (int i = 0; i < 200; ++i) {
    sums += statistic("s" + std::to_string(i), sum + std::string("bounds = [0, 8.9e307]\nepsilon = 1"));
  }
  const Released released = run(sums);
  int texts = 0;
  const Json json = Json::parse(released.report.json());
  for (const Json& one : json.at("statistics")) texts += one.at("value").is_string() ? 1 : 0;
  EXPECT_GT(texts, 0);
  EXPECT_THAT(released.report.to_table(), testing::Not(HasSubstr("inf")));
}

TEST_F(AfterDebitTest, RangesBeyondTheDoublesAreRefused) {
  for (const char* kind : {"variance", "standard_deviation"}) {
    const Error error = refusal(statistic(
        "v", "kind = \"" + std::string(kind) + "\"\ncolumn = \"x\"\nbounds = [0, 1e200]\nepsilon = 1e150"));
    EXPECT_EQ(error.parameter(), "bounds");
    EXPECT_THAT(error.what(), HasSubstr("beyond the largest double"));
  }
  for (const char* kind : {"covariance", "correlation"}) {
    EXPECT_EQ(refusal(statistic("c", "kind = \"" + std::string(kind) +
                                         "\"\ncolumns = [\"x\", \"y\"]\nbounds = [[0, 1e154], [0, "
                                         "1e155]]\nepsilon = 1e10"))
                  .parameter(),
              "bounds");
  }
  shown(statistic("v", "kind = \"variance\"\ncolumn = \"x\"\nbounds = [0, 1e154]\nepsilon = 1e10"));
}

// Whatever is drawn, of few rows or beyond the doubles, a regression is shown.
TEST_F(AfterDebitTest, RegressionsOfAnyMomentsAreShown) {
  const std::string large = "[0, 1e150]";
  const std::string small = "[\"-1e-150\", \"1e-150\"]";
  const std::string far = "[1e10, 10000000001]";
  for (const char* epsilon : {"1e-5", "1", "1e5"}) {
    for (const std::string& bounds : {large + ", " + small, small + ", " + large, far + ", " + far,
                                      small + ", " + far, large + ", [0, 1]"}) {
      for (const std::string& groups : {std::string(), "group_by = \"y\"\nkeys = " + list(3) + "\n"}) {
        const std::string keys = "kind = \"regression\"\ny = \"x\"\nx = [\"y\"]\n" + groups + "bounds = [";
        const Json json = shown(statistic("r", keys + bounds + "]\nepsilon = \"" + epsilon + "\""));
        const Json& of_all = json.at("statistics").at(0);
        const Json& entry = groups.empty() ? of_all : of_all.at("groups").at(2);
        EXPECT_EQ(entry.at("coefficients").size(), 2U);
        for (const Json& one : entry.at("coefficients")) EXPECT_TRUE(one.at("value").is_number());
      }
    }
  }
}

TEST_F(AfterDebitTest, QuantilesBetweenTheFarthestDoublesAreShown) {
  const std::string edges = "column = \"x\"\nedges = [\"-1.7e308\", 0, \"1.7e308\"]\nepsilon = 1\n";
  shown(statistic("m", "kind = \"median\"\n" + edges));
  shown(statistic("q", "kind = \"quantiles\"\nquantiles = [0, 1]\n" + edges));
}

TEST_F(AfterDebitTest, AReportThatNoLedgerKeepsIsRefusedNamingWhatIsTooMuch) {
  ReleaseOptions options;
  options.confirm = [](const Plan&) {
    ADD_FAILURE() << "asked although it cannot be";
    return false;
  };
  options.before_debit = [] { ADD_FAILURE() << "nearly paid"; };
  const auto quantiles = [&](int keys, int count) {
    return statistic("n", "kind = \"count\"\nepsilon = 1") +
           statistic("big",
                     "kind = \"quantiles\"\ncolumn = \"x\"\nedges = [0, 1, 2]\nepsilon = 1\nquantiles = " +
                         list(count, "\"", "/1000\"") + "\ngroup_by = \"y\"\nkeys = " + list(keys));
  };
  // Of too many values nothing is ever made. With fewer, that are long, the length itself tells.
  const std::string long_values = statistic(
      "big", sum +
                 std::string("bounds = [0, 1]\ngrid = \"2^-1000\"\nepsilon = 1\ngroup_by = \"y\"\nkeys = ") +
                 list(99'000));
  for (const std::string& text : {quantiles(20'000, 60), quantiles(50'000, 1000), long_values}) {
    const Error error = refusal(text, options);
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("statistic \"big\": the report would have"));
    EXPECT_THAT(error.what(), HasSubstr("a ledger keeps at most 64 MiB"));
    EXPECT_THAT(error.what(), HasSubstr("use fewer keys"));
  }
  options = {};
  shown(quantiles(200, 60));
}

// Every bit of the bound is used by some report: it is no guess that is far too large.
TEST_F(AfterDebitTest, TheRehearsedLengthIsNear) {
  const Plan plan(Specification::parse(
      add_remove_head +
          statistic("h", "kind = \"histogram\"\ncolumn = \"x\"\nepsilon = 1\nedges = " + list(2000)),
      ""));
  const std::size_t longest = Report::rehearse(plan).length;
  const std::vector<Dyadic> zeros(1999, Dyadic(0));
  const std::size_t shortest = Report(plan, {{zeros}}, 1, 0, 1).json().size();
  EXPECT_LT(shortest, longest);
  EXPECT_LT(longest, 3 * shortest);
}

// The counts below depend on it: the digest (FNV-1a) of all texts is the same whatever compiler made the test.
TEST_F(AfterDebitTest, ASeedMeansTheSameSpecificationToEveryCompiler) {
  std::uint64_t digest = 0xcbf29ce484222325;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const std::string text = RandomSpecification(seed).text();
    for (const char byte : text) digest = (digest ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  EXPECT_EQ(digest, 0x34ea1909af9bcf07U);
}

TEST_F(AfterDebitTest, AnyPlanThatIsAcceptedIsReleasedKeptAndShown) {
  constexpr std::uint64_t first = 1;
  constexpr std::uint64_t rounds = 400;
  AfterDebit rule(folder_.path());
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
    try {
      rule.check(seed);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n" << rule.text();
    }
  }
  // Enough of both for the test to mean something.
  EXPECT_GT(rule.counts().released, 100);
  EXPECT_GT(rule.counts().refused, 50);
  for (const int kind : rule.counts().statistics) EXPECT_GT(kind, 0);
  EXPECT_GT(rule.counts().limits_on_groups, 5);
}

TEST_F(AfterDebitTest, AGeneratorThatFailsCostsNothing) {
  const std::string count = statistic("n", "kind = \"count\"\nepsilon = 1");
  shown(count);  // leaves words in the buffer, which would hide the failure
  {
    const FailingGenerator failing(0);
    EXPECT_THAT(refusal(count).what(), HasSubstr("random generator failed"));
  }
  shown(count);
}

// Of what remains: a generator that fails in the middle. It is said, and nothing of the release shows.
TEST_F(AfterDebitTest, AGeneratorThatFailsInTheMiddleIsSaidToHaveBeenPaidFor) {
  const FailingGenerator failing(1);
  const Error error = error_of([&] {
    run(statistic("h", "kind = \"histogram\"\ncolumn = \"x\"\nepsilon = 1\nedges = " + list(5000)));
  });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_THAT(error.what(), HasSubstr("release 1 is paid for, shows nothing and is not refunded"));
  EXPECT_EQ(ledger_.balance().spent, 1);
}

// The second commit of each connection fails: the report's, after the debit's.
int refuse_second_commit(void* commits) {
  return ++*static_cast<int*>(commits) == 2 ? 1 : 0;
}
int commits = 0;
int watch_commits(sqlite3* database, const char**, const sqlite3_api_routines*) {
  commits = 0;
  sqlite3_commit_hook(database, refuse_second_commit, &commits);
  return SQLITE_OK;
}

TEST_F(AfterDebitTest, AReportThatTheLedgerCannotKeepIsStillReturned) {
  using EntryPoint = void (*)();
  const auto watch = reinterpret_cast<EntryPoint>(watch_commits);
  ASSERT_EQ(sqlite3_auto_extension(watch), SQLITE_OK);
  ledger_ = open();
  const Released released = run(statistic("n", "kind = \"count\"\nepsilon = 1"));
  sqlite3_cancel_auto_extension(watch);
  EXPECT_THAT(released.not_stored, HasSubstr("ledger"));
  EXPECT_EQ(Json::parse(released.report.json()).at("release"), 1);
  EXPECT_EQ(ledger_.balance().spent, 1);
  EXPECT_EQ(ledger_.report(1), std::nullopt);
}

TEST_F(AfterDebitTest, AFileThatMayNotGrowCostsNothing) {
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const std::string text =
      statistic("h", "kind = \"histogram\"\ncolumn = \"x\"\nepsilon = 1\nedges = " + list(5000));
  const rlim_t now = std::filesystem::file_size(folder_ / "people.ledger");
  int refused = 0;
  int released = 0;
  for (rlim_t more = 0; more < 2'000'000; more += 100'000) {
    const rlimit limit{now + more, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);  // not ignored: a write beyond it would end the process
    const Rational spent = ledger_.balance().spent.value;
    try {
      EXPECT_EQ(run(text).not_stored, "");
      ++released;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      EXPECT_THAT(error.what(), HasSubstr("ulimit -f"));
      EXPECT_EQ(ledger_.balance().spent, spent);
      ++refused;
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(released, 0);
}

#ifndef SNAPDP_LITTLE_MEMORY_CANNOT_BE_TRIED
// With memory of every size that nearly suffices, in processes of their own: the release succeeds or costs nothing.
class TooLittleMemoryTest : public AfterDebitTest {
 protected:
  void release_with(std::size_t bytes, const ReleaseOptions& options = {}) {
    const std::int64_t before = open().balance().releases;
    const bool good = succeeds_with_memory(
        bytes, [&] { ledger_ = open(); }, [&] { return run(quantiles_, options).not_stored.empty(); });
    const Ledger after = open();
    const std::int64_t paid = after.balance().releases - before;
    EXPECT_EQ(paid, good ? 1 : 0) << bytes << " bytes";
    if (paid == 1) {
      EXPECT_TRUE(after.report(before + 1).has_value()) << bytes;
    }
    good ? ++released_ : ++refused_;
  }

  std::string quantiles_ =
      statistic("q", "kind = \"quantiles\"\ncolumn = \"x\"\nedges = [0, 1, 2]\nepsilon = 1\nquantiles = " +
                         list(20, "\"", "/20\"") + "\ngroup_by = \"y\"\nkeys = " + list(200));
  int released_ = 0;
  int refused_ = 0;
};

TEST_F(TooLittleMemoryTest, CostsNothingInForks) {
  for (std::size_t bytes = 0; bytes < (std::size_t{96} << 20) && released_ < 3; bytes += std::size_t{3} << 20)
    release_with(bytes);
  EXPECT_GT(refused_, 3);
  EXPECT_GT(released_, 0);
}

// Right before the debit all but little is gone, also what was freed until then: what is held for what follows it suffices.
TEST_F(TooLittleMemoryTest, DoesNotComeAfterTheDebitInForks) {
  for (std::size_t left = 0; left < (std::size_t{2} << 20); left += std::size_t{1} << 17) {
    ReleaseOptions options;
    options.before_debit = [left] { leave_memory(left); };
    release_with(std::size_t{512} << 20, options);
  }
  EXPECT_GT(released_, 0);
}
#endif

}  // namespace
}  // namespace snapdp
