// The ledger: how much of a privacy budget has been spent on a dataset, kept in one SQLite file. A release is
// paid for before the first random bit is drawn, durably, and is never refunded.
//
//   Ledger ledger = Ledger::open("household.ledger");
//   ledger.check(identity, Rational(1, 4));                               // free; throws if it would not fit
//   LedgerReceipt paid = ledger.debit(identity, {{"mean_age", Rational(1, 4)}}, specification_text);
//   ... draw noise, make the report ...
//   ledger.store_report(paid.release, report_json);                       // reprinted free of charge ever
//   after
//
// The format of the file, and what is promised against whom, are in docs/ledger.md. The budget counts in one
// measure (framework/loss.h), which is declared once; every debit says what it costs in that measure.
//
// Threads and processes: a Ledger is for one thread at a time. Any number of Ledger objects, in any number of
// threads and processes, may be open on one file: each call is one transaction on the file, which waits for
// the others. After fork() the child must open its own; an inherited Ledger refuses every call. Do not open
// and close the file by other means (to copy it, say) in a process that has it open as a Ledger: POSIX would
// drop SQLite's locks.
//
// Errors: budget_refused when the ledger does not allow the release or cannot be trusted (missing, foreign,
// corrupt, writable by others, another identity, too little left, locked by another process for too long); io
// when the disk or the system failed; invalid_argument when an argument breaks the rules below. A call that
// throws has debited nothing, except debit() itself failing with io while it commits: then the debit may
// stand, and the message says so. A debit that stands is never taken back.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdp/framework/accountant.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

namespace privacy_internal {
class LedgerFile;
}

// What the budget protects. A specification that declares anything else may not spend from the ledger. The
// names are the custodian's; nothing here is ever derived from rows.
struct LedgerIdentity {
  std::string dataset;  // 1 to 256 bytes of UTF-8 without control characters
  Neighbors neighbors = Neighbors::change_one;
  std::string privacy_unit;  // a column name, or "" when the unit is one row; at most 256 bytes

  friend bool operator==(const LedgerIdentity&, const LedgerIdentity&) = default;
};

// One line of a debit: what a statistic loses, which is not nothing. The name has the form of a dataset's
// name.
struct LedgerCharge {
  std::string name;
  PrivacyLoss loss;

  friend bool operator==(const LedgerCharge&, const LedgerCharge&) = default;
};

// The proof of a debit, and the totals right after it.
struct LedgerReceipt {
  std::int64_t release;  // 1, 2, 3 ... in the order of the debits
  PrivacyAmount cost;
  PrivacyAmount spent;
  PrivacyAmount remaining;
};

// The length and head of the hash chain. Kept outside the ledger (on paper, in another system), it shows
// later that the ledger was not rolled back or rewritten: the chain must still pass through it.
struct LedgerAnchor {
  std::int64_t records = 0;
  std::string hash;  // 64 lowercase hexadecimal digits

  friend bool operator==(const LedgerAnchor&, const LedgerAnchor&) = default;
};

// One line of text for an anchor: the number of records, a space and the hash.
std::string to_string(const LedgerAnchor& anchor);
// Reads what to_string() wrote, with spaces around it; otherwise throws invalid_argument naming `parameter`.
LedgerAnchor parse_anchor(std::string_view text, std::string_view parameter);

// The state at one moment. spent + remaining = budget.limit(), exactly.
struct LedgerBalance {
  PrivacyBudget budget;
  PrivacyAmount spent;
  PrivacyAmount remaining;
  std::int64_t releases = 0;
  LedgerAnchor anchor;
};

// One past release without its texts, which may be large: see specification() and report().
struct LedgerEntry {
  std::int64_t release = 0;
  std::string time;     // UTC, "2024-05-01T12:34:56Z"
  PrivacyAmount cost;   // the sum of what the charges cost
  PrivacyAmount spent;  // the total after this release
  std::vector<LedgerCharge> charges;
  std::string label;      // or ""
  bool reported = false;  // whether report() has a text
};

class Ledger {
 public:
  // The longest specification or report.
  static constexpr std::size_t max_text_bytes = std::size_t{64} << 20;
  // The most charges in one debit.
  static constexpr std::size_t max_charges = 10'000;
  // The longest "p/q" that a number of a budget, a charge or the running total may have. Decimals of up to
  // 400 places always fit; sums of fractions whose denominators share nothing may not, and are refused.
  static constexpr std::size_t max_number_digits = 1024;
  // How long a call waits for other processes unless set_lock_wait() says otherwise.
  static constexpr std::chrono::milliseconds default_lock_wait{30'000};

  // Makes a new ledger with mode 0600, whatever the umask. Never touches an existing file: that is an
  // invalid_argument, as is a privacy unit with change-one neighbors, which have none, or what
  // require_budget() refuses.
  // `declaration` is what its custodian says of the dataset, kept as text and covered by the hash chain:
  // snapdp/release/declaration.h makes it and reads it. Without one (""), a specification may not say how a
  // file is read.
  static Ledger create(const std::filesystem::path& path, const LedgerIdentity& identity,
                       const PrivacyBudget& budget, std::string_view declaration = {});

  // Whether a ledger lies there, sound or not, so that nobody writes over it. Opens and closes the file: not
  // for one that this process has open as a Ledger.
  static bool lies_at(const std::filesystem::path& path);

  // Opens an existing ledger. Refuses a file that is missing, not a ledger, inconsistent, a symbolic link,
  // one of several hard links, or writable by group or world. Takes the same time however many releases are
  // inside; verify() reads them all. A ledger that may only be read can be opened, but not debited.
  static Ledger open(const std::filesystem::path& path);

  // A moved-from Ledger may only be assigned to or destroyed.
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  const std::filesystem::path& path() const;
  const LedgerIdentity& identity() const;
  const PrivacyBudget& budget() const;
  const std::string& declaration() const;

  // As the file stands now, other processes' debits included.
  LedgerBalance balance() const;

  // Throws if debit() of this total would be refused now, if the file may not be written, or if its disk is
  // too full to keep a report; changes nothing.
  void check(const LedgerIdentity& identity, const PrivacyLoss& loss) const;
  // The same for debit() with these arguments and a report of at most `report_bytes`, for which the disk must
  // have room and the process leave (RLIMIT_FSIZE).
  void check(const LedgerIdentity& identity, const std::vector<LedgerCharge>& charges,
             std::string_view specification, std::size_t report_bytes) const;

  // Debits the sum of what the charges cost in the budget's measure, or throws. On return the debit is on
  // the disk (written, synced, and the folder synced), and every other process sees it. `specification` is
  // kept as text for the auditor: it is public. So is `label`, unless it is "": a name that no other release
  // of the ledger bears, or the debit is refused.
  LedgerReceipt debit(const LedgerIdentity& identity, const std::vector<LedgerCharge>& charges,
                      std::string_view specification, std::string_view label = {});

  // The release that bears this label, or nothing. Reads the first line of every specification.
  std::optional<std::int64_t> find(std::string_view label) const;

  // Keeps the finished report of a release; once only. Costs nothing.
  void store_report(std::int64_t release, std::string_view report);

  // All past releases, oldest first.
  std::vector<LedgerEntry> entries() const;
  // One past release; invalid_argument if there is none of that number.
  LedgerEntry entry(std::int64_t release) const;
  // As it was given to debit().
  std::string specification(std::int64_t release) const;
  // Nothing if the process died between the debit and store_report().
  std::optional<std::string> report(std::int64_t release) const;

  // Reads everything and recomputes everything: SQLite's own structure, the schema, every number, every
  // running total, the hash chain, which must pass through each of the anchors. Throws budget_refused saying
  // what is wrong and where; returns the balance it confirmed.
  LedgerBalance verify(const std::vector<LedgerAnchor>& anchors = {}) const;

  // Calls wait at most this long for other processes, then refuse with nothing debited.
  void set_lock_wait(std::chrono::milliseconds wait);

 private:
  explicit Ledger(std::unique_ptr<privacy_internal::LedgerFile> file);
  std::unique_ptr<privacy_internal::LedgerFile> file_;
};

// A ledger as the accountant of releases that a program makes itself, chain by chain:
//
//   Ledger ledger = Ledger::open("people.ledger");
//   LedgerAccountant accountant(ledger, {"people-2026", Neighbors::change_one, ""}, "mean_age");
//   const Release r = mean_age.release(rows, accountant);     // debits the ledger, durably, then draws
//   accountant.receipt()->remaining;
//
// The ledger keeps the chain in words as the text of the release, for the auditor. A report, if there is to
// be one, is the caller's to keep: ledger.store_report(accountant.receipt()->release, text).

// For one thread, as its ledger is.
class LedgerAccountant final : public BudgetAccountant {
 public:
  // `identity` is what the caller takes the data for; the ledger must agree at every debit. `name` is what
  // the ledger calls the releases. The ledger must outlive the accountant.
  LedgerAccountant(Ledger& ledger, LedgerIdentity identity, std::string name);

  // Throws what Ledger::debit throws, and mismatch when the release protects other neighbors than the
  // identity names:
  //   "change-one"                     the change-one distance 1
  //   "add-remove"                     the symmetric distance 1
  //   "add-remove" with a unit         distance 1 in privacy units (make_on_table), or the symmetric
  //                                    distance, however many rows of a unit count; that no unit has more
  //                                    is then for the caller to see to
  void debit(const Debit& debit) override;

  // Of the last debit.
  const std::optional<LedgerReceipt>& receipt() const { return receipt_; }

 private:
  Ledger& ledger_;
  LedgerIdentity identity_;
  std::string name_;
  std::optional<LedgerReceipt> receipt_;
};

}  // namespace snapdp
