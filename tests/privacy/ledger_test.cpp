#include "snapdp/privacy/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "privacy/ledger_testing.h"
#include "snapdp/error.h"

namespace snapdp {
namespace {

using ledger_testing::charge;
using ledger_testing::error_of;
using ledger_testing::household;
using ledger_testing::ScratchFolder;
using testing::AllOf;
using testing::HasSubstr;

class LedgerTest : public testing::Test {
 protected:
  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "people.ledger";
};

TEST_F(LedgerTest, StartsWithEverythingLeft) {
  const Ledger ledger =
      Ledger::create(path_, {"household-2024", Neighbors::add_remove, "pid"}, Rational(3, 2));
  EXPECT_EQ(ledger.identity(), (LedgerIdentity{"household-2024", Neighbors::add_remove, "pid"}));
  EXPECT_EQ(ledger.budget(), PrivacyBudget(Rational(3, 2)));
  const LedgerBalance balance = ledger.balance();
  EXPECT_EQ(balance.budget, PrivacyBudget(Rational(3, 2)));
  EXPECT_EQ(balance.spent, 0);
  EXPECT_EQ(balance.remaining, Rational(3, 2));
  EXPECT_EQ(balance.releases, 0);
  EXPECT_EQ(balance.anchor.records, 0);
  EXPECT_EQ(balance.anchor.hash.size(), 64U);
  EXPECT_TRUE(ledger.entries().empty());
  EXPECT_EQ(ledger.verify().anchor, balance.anchor);
}

// Case 1 of the inputs that broke other libraries.
TEST_F(LedgerTest, TenTenthsFitABudgetOfOneAndAnEleventhDoesNot) {
  const std::vector<std::vector<Rational>> ways = {
      std::vector<Rational>(10, parse_rational("0.1", "epsilon")),
      std::vector<Rational>(10, shortest_decimal(0.1, "epsilon")),
      {Rational(1, 3), Rational(1, 3), Rational(1, 6), Rational(1, 7), Rational(1, 42)},
  };
  for (std::size_t way = 0; way < ways.size(); ++way) {
    const auto path = folder_ / ("way" + std::to_string(way)).c_str();
    Ledger ledger = Ledger::create(path, household, parse_rational("1.0", "epsilon"));
    std::int64_t release = 0;
    Rational spent = 0;
    for (const Rational& epsilon : ways[way]) {
      ledger.check(household, epsilon);
      const LedgerReceipt receipt = ledger.debit(household, charge(epsilon), "the specification");
      spent += epsilon;
      EXPECT_EQ(receipt.release, ++release);
      EXPECT_EQ(receipt.cost, epsilon);
      EXPECT_EQ(receipt.spent, spent);
      EXPECT_EQ(receipt.remaining, 1 - spent);
    }
    EXPECT_EQ(ledger.balance().remaining, 0);
    for (const char* more : {"0.1", "1e-400"}) {
      const Rational epsilon = parse_rational(more, "epsilon");
      const Error checked = error_of([&] { ledger.check(household, epsilon); });
      const Error debited = error_of([&] { ledger.debit(household, charge(epsilon), ""); });
      EXPECT_EQ(checked.code(), ErrorCode::budget_refused);
      EXPECT_EQ(debited.code(), ErrorCode::budget_refused);
      EXPECT_STREQ(checked.what(), debited.what());
    }
    EXPECT_EQ(Ledger::open(path).verify().releases, release);
  }
}

TEST_F(LedgerTest, RefusalSaysWhatIsLeftAndWhatWasAsked) {
  Ledger ledger = Ledger::create(path_, household, 1);
  ledger.debit(household, charge(Rational(2, 3)), "");
  const Error error = error_of([&] { ledger.debit(household, charge(Rational(3, 4)), ""); });
  EXPECT_EQ(error.code(), ErrorCode::budget_refused);
  EXPECT_EQ(error.parameter(), "epsilon");
  EXPECT_THAT(error.what(), AllOf(HasSubstr("epsilon = 0.75"), HasSubstr("has 0.33333 left of 1"),
                                  HasSubstr(path_.string())));
  EXPECT_EQ(ledger.balance().spent, Rational(2, 3));
  // The last bit of the budget can still be spent.
  EXPECT_EQ(ledger.debit(household, charge(Rational(1, 3)), "").remaining, 0);
}

// Case 26: a spend that is negative, subnormal or larger than what is left.
TEST_F(LedgerTest, OnlyPositiveAmountsAreSpent) {
  Ledger ledger = Ledger::create(path_, household, 1);
  Rational no_denominator;
  mpz_set_ui(no_denominator.get_den_mpz_t(), 0);
  const LedgerAnchor before = ledger.balance().anchor;
  for (const Rational& epsilon : {Rational(0), Rational(-1), Rational(-1, 10), no_denominator}) {
    for (const Error& error : {error_of([&] { ledger.check(household, epsilon); }),
                               error_of([&] { ledger.debit(household, charge(epsilon), ""); }),
                               // A negative charge hidden behind a larger one is refused as well.
                               error_of([&] {
                                 ledger.debit(household, {{"a", Rational(1, 2)}, {"b", epsilon}}, "");
                               }),
                               error_of([&] { Ledger::create(folder_ / "other", household, epsilon); })}) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.parameter(), "epsilon");
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "other"));
  EXPECT_EQ(ledger.balance().anchor, before);
  // The smallest subnormal double, and numbers that are not in lowest terms.
  ledger.debit(household, charge(shortest_decimal(5e-324, "epsilon")), "");
  Rational two_quarters;
  mpz_set_ui(two_quarters.get_num_mpz_t(), 2);
  mpz_set_ui(two_quarters.get_den_mpz_t(), 4);
  const LedgerReceipt receipt = ledger.debit(household, charge(two_quarters), "");
  EXPECT_EQ(receipt.spent, Rational(1, 2) + shortest_decimal(5e-324, "epsilon"));
  ledger.verify();
}

TEST_F(LedgerTest, AnotherIdentityMaySpendNothing) {
  Ledger ledger = Ledger::create(path_, {"household-2024", Neighbors::add_remove, "pid"}, 1);
  const struct {
    LedgerIdentity identity;
    const char* parameter;
    const char* kept;
  } cases[] = {{{"household-2023", Neighbors::add_remove, "pid"}, "dataset", "household-2024"},
               {{"household-2024 ", Neighbors::add_remove, "pid"}, "dataset", "household-2024"},
               {{"household-2024", Neighbors::change_one, "pid"}, "neighbors", "add-remove"},
               {{"household-2024", Neighbors::add_remove, ""}, "privacy_unit", "pid"},
               {{"household-2024", Neighbors::add_remove, "PID"}, "privacy_unit", "pid"}};
  for (const auto& [identity, parameter, kept] : cases) {
    for (const Error& error :
         {error_of([&, who = identity] { ledger.check(who, Rational(1, 10)); }),
          error_of([&, who = identity] { ledger.debit(who, charge(Rational(1, 10)), ""); })}) {
      EXPECT_EQ(error.code(), ErrorCode::budget_refused);
      EXPECT_EQ(error.parameter(), parameter);
      EXPECT_THAT(error.what(), HasSubstr(kept));
    }
  }
  EXPECT_EQ(ledger.balance().spent, 0);
  EXPECT_EQ(ledger.balance().anchor.records, 0);
}

TEST_F(LedgerTest, NamesAndTextsAreChecked) {
  for (const char* dataset : {"", "a\nb", "\x1b[2J", "caf\xe9", "a\x7f"}) {
    const Error error = error_of([&] { Ledger::create(path_, {dataset, Neighbors::change_one, ""}, 1); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.parameter(), "dataset");
  }
  EXPECT_EQ(error_of([&] {
              Ledger::create(path_, {std::string(257, 'a'), Neighbors::change_one, ""}, 1);
            }).parameter(),
            "dataset");
  EXPECT_EQ(error_of([&] {
              Ledger::create(path_, {"a", Neighbors::change_one, "a\tb"}, 1);
            }).parameter(),
            "privacy_unit");
  EXPECT_FALSE(std::filesystem::exists(path_));

  const LedgerIdentity longest{std::string(256, 'a'), Neighbors::add_remove, "caf\xc3\xa9"};
  Ledger ledger = Ledger::create(path_, longest, 1);
  EXPECT_EQ(Ledger::open(path_).identity(), longest);
  EXPECT_EQ(error_of([&] { ledger.debit(longest, {{"a\nb", Rational(1, 2)}}, ""); }).parameter(), "name");
  EXPECT_EQ(error_of([&] { ledger.debit(longest, {}, ""); }).parameter(), "charges");
  EXPECT_EQ(
      error_of([&] { ledger.debit(longest, charge(Rational(1, 2)), std::string("a\0b", 3)); }).parameter(),
      "specification");
  EXPECT_EQ(
      error_of([&] { ledger.store_report(1, std::string(Ledger::max_text_bytes + 1, ' ')); }).parameter(),
      "report");
  const std::vector<LedgerCharge> too_many(Ledger::max_charges + 1, {"a", Rational(1, 100'000)});
  EXPECT_EQ(error_of([&] { ledger.debit(longest, too_many, ""); }).parameter(), "charges");
  EXPECT_EQ(ledger.balance().anchor.records, 0);
}

TEST_F(LedgerTest, TotalsThatWouldGrowWithoutBoundAreRefused) {
  Ledger ledger = Ledger::create(path_, household, 10);
  // Denominators without a common factor, each of about 300 digits: 2^1000 + k.
  int granted = 0;
  Integer denominator = 1;
  denominator <<= 1000;
  for (int i = 0; i < 10; ++i) {
    denominator += 1;
    try {
      ledger.debit(household, charge(Rational(1, denominator)), "");
      ++granted;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::budget_refused);
      EXPECT_THAT(error.what(), HasSubstr("short decimals"));
    }
  }
  EXPECT_EQ(granted, 2);
  EXPECT_LT(ledger.balance().spent.value, Rational(1, 1000));
  // In one debit as well: thousands of them would take forever to add.
  std::vector<LedgerCharge> charges;
  for (std::size_t i = 0; i < Ledger::max_charges; ++i)
    charges.push_back({"a", Rational(1, denominator += 1)});
  EXPECT_EQ(error_of([&] { ledger.debit(household, charges, ""); }).parameter(), "epsilon");
  ledger.verify();
}

TEST_F(LedgerTest, ReportsAreKeptOnceAndReprintedFreeOfCharge) {
  Ledger ledger = Ledger::create(path_, household, 1);
  const std::string specification = "[data]\npath = \"caf\xc3\xa9.csv\"\n\n" + std::string(10'000, '#');
  const std::string report = "{\"release\": 1,\n\t\"text\": \"" + std::string(300'000, 'x') + "\"}";
  const std::vector<LedgerCharge> charges = {{"mean age, years", Rational(1, 8)},
                                             {"mean age, years", Rational(1, 4)}};
  ASSERT_EQ(ledger.debit(household, charges, specification).release, 1);
  EXPECT_EQ(ledger.report(1), std::nullopt);
  EXPECT_FALSE(ledger.entry(1).reported);
  ASSERT_EQ(ledger.debit(household, charge(Rational(1, 2)), "").release, 2);
  ledger.store_report(2, "");
  ledger.store_report(1, report);
  EXPECT_EQ(ledger.balance().spent, Rational(7, 8));

  const Ledger again = Ledger::open(path_);
  EXPECT_EQ(again.report(1), report);
  EXPECT_EQ(again.report(2), "");
  EXPECT_EQ(again.specification(1), specification);
  EXPECT_EQ(again.specification(2), "");
  const LedgerEntry entry = again.entry(1);
  EXPECT_EQ(entry.release, 1);
  EXPECT_EQ(entry.charges, charges);
  EXPECT_EQ(entry.cost, Rational(3, 8));
  EXPECT_EQ(entry.spent, Rational(3, 8));
  EXPECT_TRUE(entry.reported);
  EXPECT_EQ(entry.time.size(), 20U);
  const std::vector<LedgerEntry> entries = again.entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[1].spent, Rational(7, 8));
  EXPECT_TRUE(entries[1].reported);
  EXPECT_EQ(again.verify().anchor.records, 4);

  EXPECT_EQ(error_of([&] { ledger.store_report(1, "another"); }).code(), ErrorCode::invalid_argument);
  for (const std::int64_t release :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{3}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(error_of([&] { ledger.store_report(release, "x"); }).parameter(), "release");
    EXPECT_EQ(error_of([&] { ledger.report(release); }).parameter(), "release");
    EXPECT_EQ(error_of([&] { ledger.entry(release); }).parameter(), "release");
    EXPECT_EQ(error_of([&] { ledger.specification(release); }).parameter(), "release");
  }
  EXPECT_EQ(ledger.report(1), report);
}

TEST_F(LedgerTest, TheHashChainMovesWithEveryRecordAndOnlyThen) {
  Ledger ledger = Ledger::create(path_, household, 1);
  Ledger twin = Ledger::create(folder_ / "twin", household, 1);
  // The nonce: equal histories of two ledgers have unrelated hashes.
  EXPECT_NE(ledger.balance().anchor.hash, twin.balance().anchor.hash);
  std::vector<LedgerAnchor> seen = {ledger.balance().anchor};
  const auto moved = [&] {
    seen.push_back(ledger.balance().anchor);
    EXPECT_EQ(seen.back().records, static_cast<std::int64_t>(seen.size()) - 1);
    EXPECT_NE(seen.back().hash, seen[seen.size() - 2].hash);
  };
  ledger.debit(household, charge(Rational(1, 10)), "a");
  moved();
  ledger.store_report(1, "b");
  moved();
  ledger.debit(household, charge(Rational(1, 10)), "a");
  moved();
  EXPECT_THROW(ledger.debit(household, charge(1), "a"), Error);
  EXPECT_THROW(ledger.store_report(1, "c"), Error);
  ledger.entries();
  EXPECT_EQ(ledger.balance().anchor, seen.back());
  EXPECT_EQ(ledger.verify().anchor, seen.back());
}

TEST_F(LedgerTest, ALabelIsBorneByOneRelease) {
  Ledger ledger = Ledger::create(path_, household, 1);
  const std::string text = "# a comment\n[budget]\n";
  EXPECT_EQ(ledger.find("2026-Q4"), std::nullopt);
  ledger.debit(household, charge(Rational(1, 10)), text);
  ledger.debit(household, charge(Rational(1, 10)), text, "2026-Q4");
  ledger.store_report(2, "# snapdp label: 2027-Q1\n");  // a report bears none
  ledger.debit(household, charge(Rational(1, 10)), text, "2026-Q");
  EXPECT_EQ(ledger.find("2026-Q4"), 2);
  EXPECT_EQ(ledger.find("2026-Q"), 3);
  EXPECT_EQ(ledger.find("2026-q4"), std::nullopt);
  EXPECT_EQ(ledger.find("2027-Q1"), std::nullopt);
  EXPECT_EQ(ledger.entry(2).label, "2026-Q4");
  std::vector<std::string> labels;
  for (const LedgerEntry& entry : ledger.entries()) labels.push_back(entry.label);
  EXPECT_THAT(labels, testing::ElementsAre("", "2026-Q4", "2026-Q"));
  for (const int release : {1, 2, 3}) EXPECT_EQ(ledger.specification(release), text);
  // Another handle on the file, as another process has one, cannot use it again either.
  Ledger other = Ledger::open(path_);
  const Error error = error_of([&] { other.debit(household, charge(Rational(1, 10)), text, "2026-Q4"); });
  EXPECT_EQ(error.code(), ErrorCode::budget_refused);
  EXPECT_EQ(error.parameter(), "label");
  EXPECT_THAT(error.what(), AllOf(HasSubstr("release 2"), HasSubstr("nothing was debited")));
  EXPECT_EQ(ledger.balance().spent, Rational(3, 10));
  ledger.verify();
}

TEST_F(LedgerTest, LabelsAreNames) {
  Ledger ledger = Ledger::create(path_, household, 1);
  for (const std::string& label : {std::string("two\nlines"), std::string(257, 'x'), std::string("\xff")}) {
    const Error error = error_of([&] { ledger.debit(household, charge(Rational(1, 10)), "text", label); });
    EXPECT_EQ(error.parameter(), "label");
    EXPECT_EQ(error_of([&] { ledger.find(label); }).parameter(), "label");
  }
  // Nor does a text pretend to one.
  EXPECT_EQ(error_of([&] {
              ledger.debit(household, charge(Rational(1, 10)), "# snapdp label: x\n[data]\n");
            }).parameter(),
            "specification");
  EXPECT_EQ(ledger.balance().spent, 0);
  // The longest is found in lists too.
  const std::string longest(256, 'x');
  ledger.debit(household, charge(Rational(1, 10)), "text", longest);
  EXPECT_EQ(ledger.entries().front().label, longest);
  EXPECT_EQ(ledger.find(longest), 1);
}

TEST_F(LedgerTest, CreateLeavesWhatExistsAlone) {
  Ledger::create(path_, household, 1).debit(household, charge(Rational(1, 2)), "");
  const Error error = error_of([&] { Ledger::create(path_, household, 5); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(Ledger::open(path_).balance().remaining, Rational(1, 2));

  ledger_testing::write_bytes(folder_ / "notes.txt", "dear diary");
  EXPECT_THROW(Ledger::create(folder_ / "notes.txt", household, 1), Error);
  EXPECT_EQ(ledger_testing::read_bytes(folder_ / "notes.txt"), "dear diary");
  std::filesystem::create_symlink(folder_ / "nowhere", folder_ / "link");
  EXPECT_THROW(Ledger::create(folder_ / "link", household, 1), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "nowhere"));
  // The journal of a ledger that was deleted must not be played into a new one.
  ledger_testing::write_bytes(folder_ / "old.ledger-journal", "stale");
  EXPECT_THROW(Ledger::create(folder_ / "old.ledger", household, 1), Error);
  EXPECT_THROW(Ledger::create(folder_ / "no such folder" / "a.ledger", household, 1), Error);
  EXPECT_EQ(error_of([&] { Ledger::create("", household, 1); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { Ledger::open(folder_.path() / ""); }).code(), ErrorCode::invalid_argument);
}

TEST_F(LedgerTest, ALedgerIsKnownByItsFile) {
  EXPECT_FALSE(Ledger::lies_at(path_));
  Ledger::create(path_, household, 1).debit(household, charge(Rational(1, 2)), "");
  EXPECT_TRUE(Ledger::lies_at(path_));
  std::filesystem::create_symlink(path_, folder_ / "link");
  EXPECT_TRUE(Ledger::lies_at(folder_ / "link"));
  // A damaged one is still nothing to write over.
  const std::string bytes = ledger_testing::read_bytes(path_);
  ledger_testing::write_bytes(folder_ / "damaged", bytes.substr(0, 100));
  EXPECT_TRUE(Ledger::lies_at(folder_ / "damaged"));
  ledger_testing::write_bytes(folder_ / "short", bytes.substr(0, 99));
  ledger_testing::write_bytes(folder_ / "notes.txt", "dear diary");
  for (const char* other : {"short", "notes.txt", "", "no such file"})
    EXPECT_FALSE(Ledger::lies_at(folder_ / other)) << other;
}

// A specification under change-one neighbors has no privacy unit: such a ledger could never pay for one.
TEST_F(LedgerTest, ChangeOneNeighborsHaveNoPrivacyUnit) {
  const Error error = error_of([&] { Ledger::create(path_, {"a", Neighbors::change_one, "pid"}, 1); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.parameter(), "privacy_unit");
  EXPECT_THAT(error.what(), HasSubstr("leave it out, or use add-remove"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// People read decimals, rounded so that no more seems to be left than there is.
TEST_F(LedgerTest, RefusalsShowDecimalsOnTheSafeSide) {
  Ledger ledger = Ledger::create(path_, household, Rational(2, 3));
  ledger.debit(household, charge(Rational(1, 3)), "");
  const Error error = error_of([&] { ledger.check(household, Rational(1, 3) + Rational(1, 1'000'000'007)); });
  EXPECT_THAT(error.what(), HasSubstr("epsilon = 0.33334: "));
  EXPECT_THAT(error.what(), HasSubstr("has 0.33333 left of 0.66666; "));
}

TEST_F(LedgerTest, FilesAreOfMode0600WhateverTheUmask) {
  for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{077}, mode_t{0277}, mode_t{0777}}) {
    const auto path = folder_ / std::to_string(mask).c_str();
    const mode_t before = ::umask(mask);
    Ledger ledger = Ledger::create(path, household, 1);
    ledger.debit(household, charge(Rational(1, 2)), "");
    ::umask(before);
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600U) << mask;
    EXPECT_EQ(Ledger::open(path).balance().spent, Rational(1, 2));
  }
}

TEST_F(LedgerTest, FilesThatOthersMayWriteAreRefused) {
  Ledger::create(path_, household, 1);
  for (const mode_t mode :
       {mode_t{0620}, mode_t{0602}, mode_t{0660}, mode_t{0666}, mode_t{0777}, mode_t{02}}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    const Error error = error_of([&] { Ledger::open(path_); });
    EXPECT_EQ(error.code(), ErrorCode::budget_refused);
    EXPECT_THAT(error.what(), HasSubstr("chmod 600"));
  }
  for (const mode_t mode : {mode_t{0600}, mode_t{0640}, mode_t{0644}}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    EXPECT_EQ(Ledger::open(path_).balance().releases, 0);
  }
  // Also when it happens while the ledger is open.
  Ledger ledger = Ledger::open(path_);
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  EXPECT_EQ(error_of([&] { ledger.debit(household, charge(1), ""); }).code(), ErrorCode::budget_refused);
  ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
  EXPECT_EQ(ledger.balance().spent, 0);
}

TEST_F(LedgerTest, OnlyARegularFileOfOneNameIsOpened) {
  Ledger::create(path_, household, 1);
  std::filesystem::create_symlink(path_, folder_ / "link");
  EXPECT_THAT(error_of([&] { Ledger::open(folder_ / "link"); }).what(), HasSubstr("symbolic link"));
  // A link on the way is only a folder's other name, and both names share one journal.
  std::filesystem::create_directory_symlink(folder_.path(), folder_ / "again");
  EXPECT_EQ(Ledger::open(folder_ / "again" / "people.ledger").path(), Ledger::open(path_).path());

  std::filesystem::create_hard_link(path_, folder_ / "second");
  EXPECT_THAT(error_of([&] { Ledger::open(path_); }).what(), HasSubstr("2 hard links"));
  std::filesystem::remove(folder_ / "second");
  EXPECT_EQ(Ledger::open(path_).balance().releases, 0);

  EXPECT_THAT(error_of([&] { Ledger::open(folder_.path()); }).what(), HasSubstr("not a regular file"));
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { Ledger::open(folder_ / "pipe"); }).what(), HasSubstr("not a regular file"));
  EXPECT_THAT(error_of([&] { Ledger::open("/dev/null"); }).what(), HasSubstr("not a regular file"));
}

TEST_F(LedgerTest, AMissingLedgerSaysHowToCreateOne) {
  const Error error = error_of([&] { Ledger::open(path_); });
  EXPECT_EQ(error.code(), ErrorCode::budget_refused);
  EXPECT_EQ(error.parameter(), "ledger");
  EXPECT_THAT(error.what(), HasSubstr("snapdp ledger create " + path_.string()));
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_EQ(error_of([&] { Ledger::open(folder_ / "no such folder" / "a"); }).code(),
            ErrorCode::budget_refused);
}

TEST_F(LedgerTest, AJournalThatOthersMayHaveWrittenIsNotPlayedBack) {
  Ledger::create(path_, household, 1);
  Ledger ledger = Ledger::open(path_);
  const std::filesystem::path journal = path_.string() + "-journal";
  const auto refused = [&] {
    EXPECT_EQ(error_of([&] { Ledger::open(path_); }).code(), ErrorCode::budget_refused);
    EXPECT_THAT(error_of([&] { ledger.debit(household, charge(1), ""); }).what(),
                HasSubstr("people.ledger-journal"));
  };
  ledger_testing::write_bytes(journal, "anything", 0666);
  refused();
  std::filesystem::remove(journal);
  std::filesystem::create_symlink(folder_ / "elsewhere", journal);
  refused();
  std::filesystem::remove(journal);
  if (::geteuid() == 0) {  // only root can give files away
    ledger_testing::write_bytes(journal, "anything");
    ASSERT_EQ(::chown(journal.c_str(), 12345, 12345), 0);
    refused();
    std::filesystem::remove(journal);
  }
  EXPECT_EQ(ledger.debit(household, charge(1), "").remaining, 0);
}

TEST_F(LedgerTest, AFileReplacedWhileItIsOpenIsNotDebited) {
  Ledger ledger = Ledger::create(path_, household, 1);
  const std::string copy = ledger_testing::read_bytes(path_);
  ledger.debit(household, charge(Rational(1, 2)), "");
  std::filesystem::rename(path_, folder_ / "moved");
  EXPECT_EQ(error_of([&] { ledger.debit(household, charge(Rational(1, 4)), ""); }).code(),
            ErrorCode::budget_refused);
  ledger_testing::write_bytes(path_, copy);
  EXPECT_EQ(error_of([&] { ledger.debit(household, charge(Rational(1, 4)), ""); }).code(), ErrorCode::io);
  EXPECT_EQ(Ledger::open(folder_ / "moved").balance().spent, Rational(1, 2));
  EXPECT_EQ(Ledger::open(path_).balance().spent, 0);
}

// The limit on file sizes holds for root as well, and fails writes as a full disk does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit before_{};
};

TEST_F(LedgerTest, ADiskThatFillsUpCostsNothing) {
  Ledger ledger = Ledger::create(path_, household, 1);
  ledger.debit(household, charge(Rational(1, 2)), "");
  const LedgerBalance before = ledger.balance();
  const std::string text(200'000, 'x');
  for (const rlim_t limit :
       {rlim_t{0}, rlim_t{100}, rlim_t{600}, rlim_t{5000}, rlim_t{30'000}, rlim_t{150'000}}) {
    const FileSizeLimit full(limit);
    EXPECT_EQ(error_of([&] { ledger.debit(household, charge(Rational(1, 4)), text); }).code(), ErrorCode::io)
        << limit;
    EXPECT_EQ(error_of([&] { ledger.store_report(1, text); }).code(), ErrorCode::io) << limit;
    if (limit >= 20'480) continue;  // the size of a new ledger
    EXPECT_EQ(error_of([&] { Ledger::create(folder_ / "new", household, 1); }).code(), ErrorCode::io);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
  }
  EXPECT_EQ(ledger.verify().anchor, before.anchor);
  // With room again, the report that could not be stored can be.
  ledger.store_report(1, text);
  EXPECT_EQ(Ledger::open(path_).report(1), text);
}

TEST_F(LedgerTest, ADiskWithoutRoomForAReportIsRefusedBeforeTheDebit) {
  const auto small = folder_ / "small";
  std::filesystem::create_directory(small);
  if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=512k") != 0)
    GTEST_SKIP() << "cannot mount a small disk here";
  {
    Ledger ledger = Ledger::create(small / "a.ledger", household, 1);
    EXPECT_EQ(error_of([&] { ledger.check(household, Rational(1, 2)); }).code(), ErrorCode::io);
    const Error error = error_of([&] { ledger.debit(household, charge(Rational(1, 2)), ""); });
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_THAT(error.what(), HasSubstr("too full"));
    EXPECT_EQ(ledger.verify().spent, 0);
  }
  ::umount(small.c_str());
}

}  // namespace
}  // namespace snapdp
