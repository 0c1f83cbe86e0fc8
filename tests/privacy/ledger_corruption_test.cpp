// Damaged, foreign and hostile files: whatever is done to the file, opening it never crashes, never shows
// less spent than was, and a debit never goes beyond what was left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "privacy/ledger_format.h"
#include "privacy/ledger_testing.h"
#include "snapdp/error.h"
#include "snapdp/privacy/ledger.h"

namespace snapdp {

using namespace privacy_internal;

namespace {

using ledger_testing::charge;
using ledger_testing::error_of;
using ledger_testing::household;
using ledger_testing::run_sql;
using ledger_testing::ScratchFolder;
using testing::HasSubstr;

class LedgerCorruptionTest : public testing::Test {
 protected:
  LedgerCorruptionTest() {
    Ledger ledger = Ledger::create(path_, household, 1);
    for (int i = 1; i <= 3; ++i)
      ledger.debit(household, charge(Rational(1, 4)), "specification " + std::string(50, '#'));
    ledger.store_report(2, "{\"release\": 2}");
    // Long enough for overflow pages and, with the others, an interior page.
    ledger.store_report(1, "{\"release\": 1, \"text\": \"" + std::string(9000, 'x') + "\"}");
    good_ = ledger_testing::read_bytes(path_);
    reports_ = {ledger.report(1), ledger.report(2), ledger.report(3)};
    anchor_ = ledger.balance().anchor;
  }

  // Opens the file as it is now; what holds whatever was done to it.
  void expect_no_overspend(const std::string& what) {
    try {
      Ledger ledger = Ledger::open(path_);
      EXPECT_EQ(ledger.identity(), household) << what;
      EXPECT_EQ(ledger.budget(), PrivacyBudget(1)) << what;
      EXPECT_EQ(ledger.balance().spent, Rational(3, 4)) << what;
      EXPECT_EQ(ledger.balance().anchor, anchor_) << what;
      EXPECT_THROW(ledger.debit(household, charge(Rational(1, 2)), ""), Error) << what;
      bool sound = true;
      try {
        ledger.verify();
      } catch (const Error&) {
        sound = false;
      }
      if (sound) {
        // Nothing that anybody reads has changed.
        EXPECT_EQ(ledger.entries().size(), 3U) << what;
        for (std::int64_t i = 1; i <= 3; ++i)
          EXPECT_EQ(ledger.report(i), reports_[static_cast<std::size_t>(i - 1)]) << what;
      } else {
        // Not noticed at once, so each text must still be right or refused.
        for (std::int64_t i = 1; i <= 3; ++i) {
          try {
            const std::optional<std::string> report = ledger.report(i);
            EXPECT_EQ(report, reports_[static_cast<std::size_t>(i - 1)]) << what;
          } catch (const Error&) {
          }
        }
      }
      // What is left can be spent once at most, and is spent for whoever comes next.
      try {
        EXPECT_EQ(ledger.debit(household, charge(Rational(1, 8)), "more").remaining, Rational(1, 8)) << what;
      } catch (const Error&) {
        return;
      }
      ++debited_;
      EXPECT_EQ(Ledger::open(path_).balance().spent, Rational(7, 8)) << what;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::budget_refused || error.code() == ErrorCode::io) << what;
      EXPECT_THAT(error.what(), HasSubstr(path_.string())) << what;
      ++refused_;
    }
  }

  void expect_refused(const std::string& what) {
    const Error error = error_of([&] { Ledger::open(path_); });
    EXPECT_EQ(error.code(), ErrorCode::budget_refused) << what;
    EXPECT_EQ(error.parameter(), "ledger") << what;
    EXPECT_THAT(error.what(), HasSubstr(path_.string())) << what;
  }

  void restore() { ledger_testing::write_bytes(path_, good_); }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "people.ledger";
  std::string good_;
  std::vector<std::optional<std::string>> reports_;
  LedgerAnchor anchor_;
  int refused_ = 0;
  int debited_ = 0;
};

TEST_F(LedgerCorruptionTest, FlippedBytes) {
  for (std::size_t offset = 0; offset < good_.size(); offset += offset < 100 ? 1 : 149) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string bytes = good_;
      bytes[offset] = static_cast<char>(static_cast<unsigned char>(bytes[offset]) ^ flip);
      ledger_testing::write_bytes(path_, bytes);
      expect_no_overspend("byte " + std::to_string(offset) + " ^ " + std::to_string(flip));
    }
  }
  // Both outcomes must have been met, or the test tests nothing.
  EXPECT_GT(refused_, 100);
  EXPECT_GT(debited_, 100);
}

TEST_F(LedgerCorruptionTest, EveryByteOfTheHeaderThatGivesThePagesTheirMeaning) {
  // https://www.sqlite.org/fileformat.html: the change counters, page count, schema cookie, cache size, the
  // unused bytes and the writer's version may differ.
  const auto may_differ = [](std::size_t offset) {
    return (offset >= 24 && offset < 32) || (offset >= 40 && offset < 44) || (offset >= 48 && offset < 52) ||
           (offset >= 72 && offset < 100);
  };
  for (std::size_t offset = 0; offset < 100; ++offset) {
    if (may_differ(offset)) continue;
    std::string bytes = good_;
    bytes[offset] = static_cast<char>(bytes[offset] ^ 4);
    ledger_testing::write_bytes(path_, bytes);
    expect_refused("byte " + std::to_string(offset));
  }
}

TEST_F(LedgerCorruptionTest, OverwrittenPages) {
  for (std::size_t page = 0; page * 4096 < good_.size(); ++page) {
    for (std::size_t other = 0; other * 4096 < good_.size(); ++other) {
      std::string bytes = good_;
      bytes.replace(page * 4096, 4096, good_, other * 4096, 4096);
      ledger_testing::write_bytes(path_, bytes);
      if (page != other)
        expect_no_overspend("page " + std::to_string(other) + " over " + std::to_string(page));
    }
    for (const char fill : {'\0', '\xff', '1'}) {
      std::string bytes = good_;
      bytes.replace(page * 4096, 4096, 4096, fill);
      ledger_testing::write_bytes(path_, bytes);
      expect_no_overspend("page " + std::to_string(page) + " filled");
    }
  }
}

TEST_F(LedgerCorruptionTest, TruncatedFiles) {
  for (std::size_t length = 0; length < good_.size(); length += length < 200 ? 1 : 509) {
    ledger_testing::write_bytes(path_, good_.substr(0, length));
    expect_refused(std::to_string(length));
  }
  ledger_testing::write_bytes(path_, good_.substr(0, good_.size() - 1));
  expect_refused("one byte");
  ledger_testing::write_bytes(path_, good_ + std::string(5000, 'x'));
  expect_no_overspend("something appended");
}

TEST_F(LedgerCorruptionTest, ForeignFiles) {
  for (const std::string& bytes :
       {std::string(), std::string("dear diary"), std::string(100'000, '\0'), std::string("SQLite format 3"),
        "SQLite format 3" + std::string(5000, '\0')}) {
    ledger_testing::write_bytes(path_, bytes);
    expect_refused(bytes.substr(0, 20));
    EXPECT_EQ(ledger_testing::read_bytes(path_), bytes);
  }
  ledger_testing::write_bytes(path_, "");
  run_sql(path_, "CREATE TABLE spent (epsilon REAL); INSERT INTO spent VALUES (0);");
  const std::string foreign = ledger_testing::read_bytes(path_);
  expect_refused("another application's database");
  EXPECT_EQ(ledger_testing::read_bytes(path_), foreign);
  // The same with our marks on it, and an older ledger of a later version.
  run_sql(path_, "PRAGMA application_id = 1397638224; PRAGMA user_version = 1;");
  expect_refused("another database posing as a ledger");
  restore();
  run_sql(path_, "PRAGMA user_version = 4;");
  EXPECT_THAT(error_of([&] { Ledger::open(path_); }).what(), HasSubstr("another version"));
  restore();
  run_sql(path_, "PRAGMA journal_mode = WAL;");
  expect_refused("a write-ahead log");
}

TEST_F(LedgerCorruptionTest, SchemasThatAreNotALedgers) {
  for (const char* sql : {
           "CREATE TRIGGER t AFTER UPDATE ON head BEGIN UPDATE head SET spent = '0'; END",
           "CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record WHERE position = new.position; "
           "END",
           "CREATE VIEW v AS SELECT * FROM record",
           "CREATE TABLE extra (a)",
           "CREATE INDEX i ON record (time)",
           "ALTER TABLE head RENAME TO tail; CREATE VIEW head AS SELECT 1 AS one, 0 AS records, 0 AS "
           "releases, '0' AS "
           "spent, hash FROM ledger",
           "ALTER TABLE head ADD COLUMN more INTEGER",
           "ALTER TABLE record DROP COLUMN text",
           "DROP TABLE record",
           "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'record'",
           "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE "
           "name = 'head'",
           "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'head (', 'head  (') "
           "WHERE name = 'head'",
           "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name LIKE 'sqlite_auto%'",
       }) {
    restore();
    run_sql(path_, sql);
    expect_refused(sql);
  }
}

TEST_F(LedgerCorruptionTest, AlteredRows) {
  for (const char* sql : {
           "UPDATE head SET spent = '0'",
           "UPDATE head SET spent = '1/2'",
           "UPDATE head SET spent = '-1'",
           "UPDATE head SET spent = 'NaN'",
           "UPDATE head SET spent = '6/8'",
           "UPDATE head SET spent = '0.75'",
           "UPDATE head SET spent = '5/4'",
           "UPDATE head SET spent = ''",
           "UPDATE head SET spent = char(1633) || '/4'",
           "UPDATE head SET releases = 2",
           "UPDATE head SET releases = -1, records = -1",
           "UPDATE head SET records = 4",
           "UPDATE head SET records = 9223372036854775807, releases = 9223372036854775807",
           "UPDATE head SET hash = zeroblob(32)",
           "UPDATE head SET hash = zeroblob(0)",
           "UPDATE head SET one = 2",
           "INSERT INTO head SELECT 0, records, releases, '0', hash FROM head",
           "DELETE FROM head",
           "UPDATE ledger SET budget = '2'",
           "UPDATE ledger SET declaration = 'x'",
           "UPDATE ledger SET budget = '-1'",
           "UPDATE ledger SET budget = '1/0'",
           "UPDATE ledger SET dataset = 'household-2025'",
           "UPDATE ledger SET dataset = char(27) || '[2J'",
           "UPDATE ledger SET neighbors = 'add-remove'",
           "UPDATE ledger SET privacy_unit = 'pid'",
           "UPDATE ledger SET nonce = zeroblob(32)",
           "UPDATE ledger SET hash = zeroblob(32)",
           "INSERT INTO ledger SELECT 0, 'a', neighbors, privacy_unit, declaration, budget, created, nonce, "
           "hash FROM "
           "ledger",
           "DELETE FROM ledger",
           "DELETE FROM record",
           "DELETE FROM record WHERE position = 5",
           "DELETE FROM record WHERE position = 4",
           "INSERT INTO record SELECT 6, 'report', 3, time, '0', spent, '', 'x', hash FROM record WHERE "
           "position = 5",
           "UPDATE record SET text = 'another report' WHERE position = 5",
           "UPDATE record SET release = 3 WHERE position = 5",
           "UPDATE record SET time = '2024-05-01T12:34:56Z' WHERE position = 5",
           "UPDATE record SET time = '' WHERE position = 5",
           "UPDATE record SET hash = zeroblob(32) WHERE position = 5",
           // The first rows of what would be a rollback to an earlier state, without the hashes.
           "DELETE FROM record WHERE position > 2; UPDATE head SET records = 2, releases = 2, spent = '1/2'",
       }) {
    restore();
    run_sql(path_, sql);
    expect_refused(sql);
  }
}

TEST_F(LedgerCorruptionTest, VerifyFindsWhatOpeningDoesNotRead) {
  for (const char* sql : {
           "UPDATE record SET epsilon = '1/8' WHERE position = 1",
           "UPDATE record SET epsilon = '1/8', charges = '1/8 mean_age' || char(10) WHERE position = 1",
           "UPDATE record SET charges = '1/4 other' || char(10) WHERE position = 1",
           "UPDATE record SET charges = '' WHERE position = 1",
           "UPDATE record SET spent = '1/8' WHERE position = 1",
           "UPDATE record SET text = 'another' WHERE position = 1",
           "UPDATE record SET text = char(27) WHERE position = 2",
           "UPDATE record SET time = 'yesterday' WHERE position = 1",
           "UPDATE record SET kind = 'refund' WHERE position = 4",
           "UPDATE record SET release = 1 - release WHERE position = 4",
           "UPDATE record SET hash = zeroblob(32) WHERE position = 2",
           "UPDATE record SET position = 10 - position WHERE position < 4",
           "DELETE FROM record WHERE position = 2",
           "DELETE FROM record WHERE position = 1",
       }) {
    restore();
    run_sql(path_, sql);
    expect_no_overspend(sql);
    restore();
    run_sql(path_, sql);
    const Error error = error_of([&] { Ledger::open(path_).verify(); });
    EXPECT_EQ(error.code(), ErrorCode::budget_refused) << sql;
    EXPECT_THAT(error.what(), HasSubstr("corrupt")) << sql;
  }
  restore();
  EXPECT_EQ(Ledger::open(path_).verify().anchor, anchor_);
}

TEST_F(LedgerCorruptionTest, VerifyFindsAnIndexWithAHole) {
  // Takes the first entry, release 1's debit, out of the index on page 5: one cell less, pointers moved up by one.
  std::string bytes = good_;
  const std::size_t page = std::size_t{4} * 4096;
  ASSERT_EQ(bytes[page], 10) << "not an index leaf";
  const auto cells = static_cast<std::size_t>(bytes[page + 4]);
  ASSERT_EQ(cells, 5U);
  bytes[page + 4] = static_cast<char>(cells - 1);
  bytes.replace(page + 8, 2 * (cells - 1), good_, page + 10, 2 * (cells - 1));
  ledger_testing::write_bytes(path_, bytes);
  const Ledger ledger = Ledger::open(path_);
  EXPECT_EQ(ledger.balance().spent, Rational(3, 4));
  EXPECT_THAT(error_of([&] { ledger.specification(1); }).what(), HasSubstr("release 1 is missing"));
  EXPECT_THAT(error_of([&] { ledger.verify(); }).what(), HasSubstr("SQLite finds"));
}

// Whoever can write the file can also compute hashes.
class LedgerForgeryTest : public LedgerCorruptionTest {
 protected:
  // Runs the SQL, then makes the whole chain of hashes, and the head's, right again.
  void forge(const std::string& sql) {
    restore();
    run_sql(path_, sql);
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    const auto text = [](sqlite3_stmt* row, int column) {
      return std::string(reinterpret_cast<const char*>(sqlite3_column_text(row, column)));
    };
    sqlite3_stmt* row = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(database, "SELECT hash FROM ledger", -1, &row, nullptr), SQLITE_OK);
    ASSERT_EQ(sqlite3_step(row), SQLITE_ROW);
    ledger_format::Hash hash(static_cast<const char*>(sqlite3_column_blob(row, 0)), 32);
    sqlite3_finalize(row);
    ASSERT_EQ(sqlite3_prepare_v2(database, "SELECT * FROM record ORDER BY position", -1, &row, nullptr),
              SQLITE_OK);
    std::string update;
    while (sqlite3_step(row) == SQLITE_ROW) {
      hash = ledger_format::hash_of(
          hash, {sqlite3_column_int64(row, 0), text(row, 1), sqlite3_column_int64(row, 2), text(row, 3),
                 text(row, 4), text(row, 5), text(row, 6), text(row, 7)});
      update += "UPDATE record SET hash = x'" + ledger_format::to_hex(hash) +
                "' WHERE position = " + std::to_string(sqlite3_column_int64(row, 0)) + ";";
    }
    sqlite3_finalize(row);
    sqlite3_close(database);
    // Without VACUUM, what was deleted would leave free pages, which no ledger has.
    run_sql(path_, update + "UPDATE head SET hash = x'" + ledger_format::to_hex(hash) + "'; VACUUM");
  }
};

TEST_F(LedgerForgeryTest, AHistoryThatDoesNotAddUpIsFound) {
  for (const char* sql : {
           "UPDATE record SET spent = '1/8' WHERE position = 1",
           "UPDATE record SET epsilon = '1/8' WHERE position = 1",
           "UPDATE record SET charges = '1/8 mean_age' || char(10) WHERE position = 1",
           "UPDATE record SET charges = '1/2 a' || char(10) || '-1/4 b' || char(10) WHERE position = 1",
           "UPDATE record SET epsilon = '1/8', charges = '1/8 mean_age' || char(10) WHERE position = 1",
           "UPDATE record SET epsilon = '1/4' WHERE position = 4",
           "UPDATE record SET charges = '1/4 a' || char(10) WHERE position = 4",
           "UPDATE record SET spent = '1/2' WHERE position = 4",
           "UPDATE record SET release = 4 WHERE position = 1",
           "UPDATE record SET release = 9 WHERE position = 1; UPDATE record SET release = 1 WHERE position = "
           "2; "
           "UPDATE record SET release = 2 WHERE position = 1",
           "UPDATE record SET release = 0 WHERE position = 4",
           "UPDATE record SET kind = 'refund' WHERE position = 4",
           "UPDATE record SET position = 7 WHERE position = 1",
           "UPDATE record SET position = 0 WHERE position = 1",
           "UPDATE head SET spent = '1/2'; UPDATE record SET spent = '1/2' WHERE position >= 3",
           "UPDATE head SET releases = 4; UPDATE record SET release = 4 WHERE position = 3",
           "DELETE FROM record WHERE position = 1",
       }) {
    forge(sql);
    const Error error = error_of([&] { Ledger::open(path_).entries(); });
    EXPECT_EQ(error.code(), ErrorCode::budget_refused) << sql;
    EXPECT_THAT(error_of([&] { Ledger::open(path_).verify(); }).what(), HasSubstr("corrupt")) << sql;
  }
}

// One that adds up cannot be told from a true one by the file alone, but it is not the one whose anchor was kept.
TEST_F(LedgerForgeryTest, AHistoryThatAddsUpHasAnotherAnchor) {
  forge(
      "DELETE FROM record WHERE position > 1; UPDATE record SET epsilon = '1/100', spent = '1/100', charges "
      "= '1/100 "
      "mean_age' || char(10); UPDATE head SET records = 1, releases = 1, spent = '1/100'");
  const LedgerBalance balance = Ledger::open(path_).verify();
  EXPECT_EQ(balance.spent, Rational(1, 100));
  EXPECT_LT(balance.anchor.records, anchor_.records);
  forge("UPDATE record SET text = 'another report' WHERE position = 4");
  EXPECT_EQ(Ledger::open(path_).report(2), "another report");
  EXPECT_EQ(Ledger::open(path_).verify().anchor.records, anchor_.records);
  EXPECT_NE(Ledger::open(path_).verify().anchor, anchor_);
  forge("");
  EXPECT_EQ(Ledger::open(path_).verify().anchor, anchor_);
}

}  // namespace
}  // namespace snapdp
