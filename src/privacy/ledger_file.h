// One open ledger file: its checks, its transactions, its records. The public class decides what to spend;
// this one knows how it is kept.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "privacy/ledger_format.h"
#include "privacy/private_file.h"
#include "privacy/sqlite.h"
#include "snapdp/privacy/ledger.h"

namespace snapdp::privacy_internal {

// What the file says at one moment, checked for consistency.
struct LedgerState {
  ledger_format::Genesis genesis;
  ledger_format::Hash genesis_hash;
  PrivacyBudget budget;
  PrivacyAmount spent;
  std::int64_t records = 0;
  std::int64_t releases = 0;
  ledger_format::Hash head;

  LedgerBalance balance() const {
    return {budget, spent, budget.remaining(spent), releases, {records, ledger_format::to_hex(head)}};
  }
};

class LedgerFile {
 public:
  // Opens the file, refusing whatever is not a sound ledger. `path` has its folder resolved.
  explicit LedgerFile(const std::filesystem::path& path);
  ~LedgerFile();
  LedgerFile(const LedgerFile&) = delete;
  LedgerFile& operator=(const LedgerFile&) = delete;

  // Makes an empty file into a ledger.
  static void initialize(const std::filesystem::path& path, const ledger_format::Genesis& genesis);

  const std::filesystem::path& path() const { return path_; }
  // The parts that never change.
  const LedgerIdentity& identity() const { return identity_; }
  const PrivacyBudget& budget() const { return budget_; }
  const std::string& declaration() const { return declaration_; }

  void set_lock_wait(std::chrono::milliseconds wait) { database_.set_busy_timeout(wait); }

  // Throws unless the ledger could be written, the process may make the file longer by `bytes`, and its disk has room for
  // them and a report of 1 MiB.
  void require_writable(std::uint64_t bytes) const;

  // One transaction around `action()`, whose result is returned. The functions below run inside one.
  template <typename Action>
  auto read(Action action) {
    require_usable();
    sqlite::Transaction transaction(database_, sqlite::Transaction::Kind::read);
    return action();
  }

  // Likewise, alone with the file; commits unless `action` throws. `what` is what is being written.
  template <typename Action>
  auto write(const std::string& what, Action action) {
    require_usable();
    sqlite::Transaction transaction(database_, sqlite::Transaction::Kind::write);
    auto result = action();
    commit(transaction, what);
    return result;
  }

  // The state, after every check that need not read all records.
  LedgerState state();

  // Appends a record of which the kind, release, cost, charges and text are given; `state` holds the spent
  // total and the number of releases after it, and moves on to the new head.
  void append(LedgerState& state, ledger_format::Record record);

  // The record of that kind for a release, checked against its link in the chain. Throws invalid_argument if
  // there is no such release; nothing if the release has no record of that kind.
  std::optional<ledger_format::Record> record(std::int64_t release, std::string_view kind);

  // The debit of a release, which it must have.
  ledger_format::Record debit(std::int64_t release);

  // The report of a release, if it has one. That it has none is established by reading all records.
  std::optional<ledger_format::Record> report(std::int64_t release);

  // The release of this label, which is checked against its link in the chain; nothing if there is none.
  std::optional<std::int64_t> find(std::string_view label);

  // All releases, with every number recomputed.
  std::vector<LedgerEntry> entries();

  // Everything that `state`, SQLite, `entries` and the hashes of all texts can tell; and that the chain passes
  // through the anchors.
  LedgerState verify(const std::vector<LedgerAnchor>& anchors);

  // What a debit's record says, without its report.
  LedgerEntry entry_of(const ledger_format::Record& debit) const;

  [[noreturn]] void corrupt(const std::string& finding) const { sqlite::refuse_corrupt(path_, finding); }

 private:
  // The process is the one that opened the file, and the file is still the one that was opened.
  void require_usable() const;
  void require_file_size(std::uint64_t bytes) const;
  [[noreturn]] void refuse_anchor(const LedgerAnchor& anchor, const std::string& finding) const;
  // Returns the version of the format.
  std::uint32_t require_header();
  void require_schema();
  void configure();
  void commit(sqlite::Transaction& transaction, const std::string& what);
  void read_genesis(LedgerState& state);
  void read_head(LedgerState& state);
  void check_last_record(const LedgerState& state);
  // The columns of a record, up to its charges, and `more`, from the table.
  std::string columns_and(const char* more) const;
  std::string text_of(const PrivacyAmount& amount) const;
  ledger_format::Record read_record(sqlite::Statement& row, bool with_text) const;
  // The hash of the record at `position`, or of the genesis for 0.
  ledger_format::Hash hash_at(std::int64_t position, const LedgerState& state);

  std::filesystem::path path_;
  FileIdentity file_;
  pid_t process_;
  sqlite::Database database_;
  std::uint32_t version_ = 0;  // of the file's format
  LedgerIdentity identity_;
  PrivacyBudget budget_;
  std::string declaration_;
};

}  // namespace snapdp::privacy_internal
