#include "privacy/ledger_file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <utility>

#include "snapdp/error.h"

namespace snapdp::privacy_internal {

using ledger_format::Genesis;
using ledger_format::Hash;
using ledger_format::Record;
using sqlite::Statement;
using sqlite::Transaction;

namespace {

// A row holds one long text and its short companions: the charges, of at most 1024 + 258 bytes each.
constexpr std::size_t max_value_bytes = Ledger::max_text_bytes + Ledger::max_charges * 1300;

// What must be free on the disk beside the debit itself, so that the report that was paid for can be stored.
constexpr std::uint64_t report_reserve_bytes = 1 << 20;

// What texts of so many bytes take in the file: a page of 4096 bytes holds 4092 of a long text, and the two records of a
// release, with their indexes, touch a few pages more.
constexpr std::uint64_t in_pages(std::uint64_t bytes) {
  constexpr std::uint64_t few = 16;
  return bytes + bytes / (ledger_format::page_size / 8) + few * ledger_format::page_size;
}

}  // namespace

std::string LedgerFile::columns_and(const char* more) const {
  return std::string("SELECT position, kind, release, time, ") + ledger_format::cost_column(version_) +
         ", spent, charges" + more + " FROM record ";
}

std::string LedgerFile::text_of(const PrivacyAmount& amount) const {
  return ledger_format::amount_text(budget_.measure, amount);
}

LedgerFile::LedgerFile(const std::filesystem::path& path)
    : path_(path), file_(inspect_private_file(path)), process_(::getpid()), database_(path, max_value_bytes) {
  set_lock_wait(Ledger::default_lock_wait);
  // Before any SQL runs, so that nothing foreign is parsed, rolled back or turned into another journal mode.
  version_ = require_header();
  configure();
  LedgerState now = read([&] { return state(); });
  identity_ = now.genesis.identity;
  budget_ = now.budget;
  declaration_ = std::move(now.genesis.declaration);
}

LedgerFile::~LedgerFile() {
  if (process_ != ::getpid()) database_.abandon();
}

void LedgerFile::initialize(const std::filesystem::path& path, const Genesis& genesis) {
  sqlite::Database database(path, max_value_bytes);
  database.set_busy_timeout(Ledger::default_lock_wait);
  for (const char* pragma :
       {"PRAGMA page_size = 4096", "PRAGMA encoding = 'UTF-8'", "PRAGMA auto_vacuum = NONE",
        "PRAGMA journal_mode = DELETE", "PRAGMA synchronous = EXTRA", "PRAGMA fullfsync = ON"}) {
    database.run(pragma);
  }
  Transaction transaction(database, Transaction::Kind::write);
  database.run("PRAGMA application_id = " + std::to_string(ledger_format::application_id));
  database.run("PRAGMA user_version = " + std::to_string(genesis.version));
  for (const ledger_format::SchemaRow& row : ledger_format::schema(genesis.version)) {
    if (row.sql != nullptr) database.run(row.sql);
  }
  const Hash hash = hash_of(genesis);
  const bool others = genesis.version == ledger_format::version_of_others;
  Statement row(database,
                std::string("INSERT INTO ledger (one, dataset, neighbors, privacy_unit, declaration, "
                            "budget, created, nonce, hash") +
                    (others ? ", measure) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                            : ") VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)"));
  // Bound texts must live until the step.
  const std::string neighbors = to_string(genesis.identity.neighbors);
  const std::string measure = to_string(genesis.measure);
  row.bind(1, genesis.identity.dataset)
      .bind(2, neighbors)
      .bind(3, genesis.identity.privacy_unit)
      .bind(4, genesis.declaration)
      .bind(5, genesis.budget)
      .bind(6, genesis.created)
      .bind_blob(7, genesis.nonce)
      .bind_blob(8, hash);
  if (others) row.bind(9, measure);
  row.step();
  Statement(database, "INSERT INTO head (one, records, releases, spent, hash) VALUES (1, 0, 0, ?, ?)")
      .bind(1, ledger_format::amount_text(genesis.measure, {}))
      .bind_blob(2, hash)
      .step();
  transaction.commit();
}

void LedgerFile::configure() {
  // EXTRA: besides the file, the folder is synced after the journal's deletion, which is what commits.
  for (const char* pragma :
       {"PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON", "PRAGMA mmap_size = 0",
        "PRAGMA temp_store = MEMORY", "PRAGMA synchronous = EXTRA", "PRAGMA fullfsync = ON",
        "PRAGMA journal_mode = DELETE"}) {
    database_.run(pragma);
  }
}

void LedgerFile::require_usable() const {
  if (process_ != ::getpid()) {
    throw Error(ErrorCode::invalid_argument, "ledger",
                named_ledger(path_) +
                    "was opened before fork(), which SQLite's locks do not survive; open it in this process");
  }
  // Again at every call: a journal may have been planted, the mode changed, or the file replaced.
  if (inspect_private_file(path_) != file_) {
    throw Error(ErrorCode::io, "ledger",
                named_ledger(path_) + "was replaced while it was open; open it again");
  }
}

void LedgerFile::require_writable(std::uint64_t bytes) const {
  if (sqlite3_db_readonly(database_.handle(), "main") == 1) database_.fail(SQLITE_READONLY);
  require_file_size(bytes);
  struct statvfs disk {};
  // Where the system does not tell, the write itself will.
  if (::statvfs(path_.c_str(), &disk) != 0 || disk.f_blocks == 0) return;
  const std::uint64_t wanted = in_pages(bytes) + report_reserve_bytes;
  if (std::uint64_t{disk.f_bavail} * disk.f_frsize >= wanted) return;
  throw Error(ErrorCode::io, "ledger",
              named_ledger(path_) +
                  "its disk is too full to keep the report that would be paid for; nothing was debited. Make "
                  "room for " +
                  std::to_string((wanted >> 10) + 1) + " KiB and try again");
}

void LedgerFile::require_file_size(std::uint64_t bytes) const {
  struct rlimit limit {};
  struct stat file {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (::stat(path_.c_str(), &file) != 0) return;
  const std::uint64_t wanted = static_cast<std::uint64_t>(file.st_size) + in_pages(bytes);
  if (wanted <= limit.rlim_cur) return;
  throw Error(ErrorCode::io, "ledger",
              named_ledger(path_) +
                  "this process may not write files long enough to keep the report that would be paid for; "
                  "nothing was debited. Raise the limit (ulimit -f) to " +
                  std::to_string((wanted >> 10) + 1) + " KiB and try again");
}

std::uint32_t LedgerFile::require_header() {
  const std::string bytes = database_.first_bytes(ledger_format::header_bytes);
  std::optional<std::string> fault = ledger_format::find_header_fault(bytes);
  if (!fault && version_ != 0 && ledger_format::version_of(bytes) != version_)
    fault = "it changed its version while it was open";
  if (!fault) return ledger_format::version_of(bytes);
  throw Error(ErrorCode::budget_refused, "ledger",
              named_ledger(path_) + "cannot be used (" + *fault +
                  "); nothing was debited. Give the path of a file made by snapdp ledger create; if that was "
                  "interrupted, remove the file and create it again");
}

void LedgerFile::require_schema() {
  Statement row(database_, "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid");
  for (const ledger_format::SchemaRow& expected : ledger_format::schema(version_)) {
    if (!row.step()) corrupt("its schema is incomplete");
    const bool same = row.text(0) == expected.type && row.text(1) == expected.name &&
                      row.text(2) == expected.table && row.integer(3) == expected.root_page &&
                      (expected.sql == nullptr ? row.is_null(4) : row.text(4) == expected.sql);
    if (!same) corrupt("its schema is not that of a ledger");
  }
  if (row.step()) corrupt("its schema holds something that no ledger has");
}

LedgerState LedgerFile::state() {
  // The first statement of a transaction takes the lock and rolls back what a crash left behind; only then do
  // the header's bytes on the disk mean anything.
  require_schema();
  require_header();
  LedgerState state;
  read_genesis(state);
  read_head(state);
  check_last_record(state);
  return state;
}

void LedgerFile::read_genesis(LedgerState& state) {
  Statement row(database_,
                std::string("SELECT one, dataset, neighbors, privacy_unit, budget, created, nonce, hash") +
                    (version_ > 1 ? ", declaration" : "") +
                    (version_ == ledger_format::version_of_others ? ", measure" : "") + " FROM ledger");
  if (!row.step()) corrupt("what it is for is missing");
  Genesis& genesis = state.genesis;
  genesis.version = version_;
  const std::optional<Neighbors> neighbors = ledger_format::parse_neighbors(row.text(2));
  genesis.identity = {row.text(1), neighbors.value_or(Neighbors::change_one), row.text(3)};
  genesis.budget = row.text(4);
  genesis.created = row.text(5);
  genesis.nonce = row.blob(6);
  state.genesis_hash = row.blob(7);
  if (version_ > 1) genesis.declaration = row.text(8);
  std::optional<PrivacyMeasure> measure = PrivacyMeasure::pure;
  if (version_ == ledger_format::version_of_others) measure = parse_measure(row.text(9));
  genesis.measure = measure.value_or(PrivacyMeasure::pure);
  if (row.integer(0) != 1 || row.step()) corrupt("what it is for is there twice");
  const LedgerIdentity& identity = genesis.identity;
  const std::optional<PrivacyAmount> budget = ledger_format::parse_amount(genesis.measure, genesis.budget);
  if (!ledger_format::is_name(identity.dataset) || !neighbors ||
      (!identity.privacy_unit.empty() && !ledger_format::is_name(identity.privacy_unit)) || !measure ||
      (genesis.measure == PrivacyMeasure::pure) == (version_ == ledger_format::version_of_others) ||
      !budget || !is_budget(PrivacyBudget(genesis.measure, *budget)) ||
      !ledger_format::is_document(genesis.declaration) || !ledger_format::is_time(genesis.created) ||
      hash_of(genesis) != state.genesis_hash) {
    corrupt("what it is for was altered");
  }
  state.budget = {genesis.measure, *budget};
}

void LedgerFile::read_head(LedgerState& state) {
  Statement row(database_, "SELECT one, records, releases, spent, hash FROM head");
  if (!row.step()) corrupt("its total is missing");
  state.records = row.integer(1);
  state.releases = row.integer(2);
  const std::optional<PrivacyAmount> spent = ledger_format::parse_amount(state.budget.measure, row.text(3));
  state.head = row.blob(4);
  if (row.integer(0) != 1 || row.step()) corrupt("its total is there twice");
  if (!spent || !state.budget.exceeded_by(*spent).empty() || state.releases < 0 ||
      state.records < state.releases || (state.releases == 0) != (*spent == PrivacyAmount())) {
    corrupt("its total cannot be right");
  }
  state.spent = *spent;
}

void LedgerFile::check_last_record(const LedgerState& state) {
  {
    Statement row(database_, "SELECT coalesce(max(release), 0) FROM record");
    if (!row.step() || row.integer(0) != state.releases) corrupt("its number of releases is wrong");
  }
  Statement row(database_, columns_and(", text, hash") + "ORDER BY position DESC LIMIT 1");
  if (!row.step()) {
    if (state.records != 0) corrupt("its records are missing");
    if (state.head != state.genesis_hash) corrupt("its hash chain does not end in its head");
    return;
  }
  const Record last = read_record(row, true);
  if (last.position != state.records ||
      last.spent != ledger_format::amount_text(state.budget.measure, state.spent) || last.release < 1 ||
      last.release > state.releases || (last.kind == "debit" && last.release != state.releases)) {
    corrupt("its last record does not agree with its total");
  }
  if (row.blob(8) != state.head || hash_of(hash_at(last.position - 1, state), last) != state.head) {
    corrupt("its hash chain is broken at record " + std::to_string(last.position));
  }
}

Record LedgerFile::read_record(Statement& row, bool with_text) const {
  Record record;
  record.position = row.integer(0);
  record.kind = row.text(1);
  record.release = row.integer(2);
  record.time = row.text(3);
  record.cost = row.text(4);
  record.spent = row.text(5);
  record.charges = row.text(6);
  if (with_text) record.text = row.text(7);
  if (!ledger_format::is_time(record.time) || (with_text && !ledger_format::is_document(record.text))) {
    corrupt("record " + std::to_string(record.position) + " was altered");
  }
  return record;
}

Hash LedgerFile::hash_at(std::int64_t position, const LedgerState& state) {
  if (position == 0) return state.genesis_hash;
  Statement row(database_, "SELECT hash FROM record WHERE position = ?");
  row.bind(1, position);
  if (!row.step()) corrupt("record " + std::to_string(position) + " is missing");
  return row.blob(0);
}

void LedgerFile::append(LedgerState& state, Record record) {
  record.position = ++state.records;
  record.time = ledger_format::time_now();
  record.spent = text_of(state.spent);
  state.head = hash_of(state.head, record);
  Statement(database_, std::string("INSERT INTO record (position, kind, release, time, ") +
                           ledger_format::cost_column(version_) +
                           ", spent, charges, text, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(1, record.position)
      .bind(2, record.kind)
      .bind(3, record.release)
      .bind(4, record.time)
      .bind(5, record.cost)
      .bind(6, record.spent)
      .bind(7, record.charges)
      .bind(8, record.text)
      .bind_blob(9, state.head)
      .step();
  Statement(database_, "UPDATE head SET records = ?, releases = ?, spent = ?, hash = ? WHERE one = 1")
      .bind(1, state.records)
      .bind(2, state.releases)
      .bind(3, record.spent)
      .bind_blob(4, state.head)
      .step();
  // Read back what is about to be committed: in a damaged file the two writes may have hit something else.
  const LedgerState written = this->state();
  if (written.records != state.records || written.releases != state.releases ||
      written.spent != state.spent || written.head != state.head) {
    corrupt("what was written does not read back");
  }
}

void LedgerFile::commit(Transaction& transaction, const std::string& what) {
  try {
    transaction.commit();
    // SQLite has synced the folder after deleting the journal, but ignores it when it cannot open the folder to do
    // so (too many open files, say; unixDelete() in its os_unix.c). The deletion might then not last, and a
    // journal that comes back undoes the commit.
    sync_folder(path_);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::io) throw;
    // The journal may be gone already (committed) or not (rolled back): only the file itself can tell.
    throw Error(ErrorCode::io, error.parameter(),
                std::string(error.what()) + ". That was while the " + what +
                    " was being committed: it may stand. See: snapdp ledger show " +
                    shell_word(path_.string()));
  }
}

LedgerEntry LedgerFile::entry_of(const Record& debit) const {
  const PrivacyMeasure measure = budget_.measure;
  const std::optional<PrivacyAmount> cost = ledger_format::parse_amount(measure, debit.cost);
  const std::optional<PrivacyAmount> spent = ledger_format::parse_amount(measure, debit.spent);
  std::optional<std::vector<LedgerCharge>> charges = ledger_format::parse_charges(measure, debit.charges);
  const auto fault = [&] { corrupt("record " + std::to_string(debit.position) + " does not add up"); };
  if (!cost || !spent || !charges || charges->empty()) fault();
  PrivacyAmount sum;
  for (const LedgerCharge& charge : *charges) {
    try {
      sum = sum + charge.loss.in(measure);
    } catch (const Error&) {  // not a loss of this measure
      fault();
    }
    if (sum.value > cost->value || sum.delta > cost->delta ||
        ledger_format::number_text(sum.value).size() > Ledger::max_number_digits ||
        ledger_format::number_text(sum.delta).size() > Ledger::max_number_digits)
      fault();
  }
  if (sum != *cost) fault();
  std::string text = debit.text;
  return {debit.release, debit.time, *cost, *spent, std::move(*charges), ledger_format::take_label(text),
          false};
}

std::optional<Record> LedgerFile::record(std::int64_t release, std::string_view kind) {
  const LedgerState now = state();
  if (release < 1 || release > now.releases) {
    throw Error(ErrorCode::invalid_argument, "release",
                "release = " + std::to_string(release) + ": " + named_ledger(path_) + "has " +
                    (now.releases == 0 ? "no release yet" : "releases 1 to " + std::to_string(now.releases)) +
                    "; list them with: snapdp ledger show " + shell_word(path_.string()));
  }
  Statement row(database_, columns_and(", text, hash") + "WHERE release = ? AND kind = ?");
  row.bind(1, release).bind(2, kind);
  if (!row.step()) return std::nullopt;
  Record record = read_record(row, true);
  if (record.release != release || record.kind != kind || record.position < 1 ||
      hash_of(hash_at(record.position - 1, now), record) != row.blob(8)) {
    corrupt("its hash chain is broken at release " + std::to_string(release));
  }
  return record;
}

Record LedgerFile::debit(std::int64_t release) {
  std::optional<Record> found = record(release, "debit");
  if (!found) corrupt("release " + std::to_string(release) + " is missing");
  return std::move(*found);
}

std::optional<Record> LedgerFile::report(std::int64_t release) {
  std::optional<Record> found = record(release, "report");
  // What is there is vouched for by its hash; what is not, only by all the records together.
  if (!found && entries()[static_cast<std::size_t>(release - 1)].reported) {
    corrupt("the report of release " + std::to_string(release) + " is missing");
  }
  return found;
}

std::optional<std::int64_t> LedgerFile::find(std::string_view label) {
  const std::string line = ledger_format::label_line(label);
  std::int64_t release = 0;
  {
    Statement row(database_,
                  "SELECT release FROM record WHERE kind = 'debit' AND substr(text, 1, length(?1)) = ?1 "
                  "ORDER BY position LIMIT 1");
    row.bind(1, line);
    if (!row.step()) return std::nullopt;
    release = row.integer(0);
  }
  std::string text = debit(release).text;
  if (ledger_format::take_label(text) != label)
    corrupt("release " + std::to_string(release) + " was altered");
  return release;
}

std::vector<LedgerEntry> LedgerFile::entries() {
  const LedgerState now = state();
  std::vector<LedgerEntry> entries;
  std::int64_t records = 0;
  PrivacyAmount total;
  // Of a text only what may be a label's line: texts are long, and reports are not looked at.
  const std::size_t longest_line = ledger_format::label_line(std::string(256, 'x')).size();
  Statement row(database_, columns_and(", CASE kind WHEN 'debit' THEN substr(text, 1, ?1) ELSE '' END") +
                               "ORDER BY position");
  row.bind(1, static_cast<std::int64_t>(longest_line));
  while (row.step()) {
    Record record = read_record(row, false);
    record.text = row.text(7);
    const std::string where = "record " + std::to_string(record.position);
    if (record.position != ++records) corrupt(where + " does not follow the one before it");
    const auto releases = static_cast<std::int64_t>(entries.size());
    if (record.kind == "debit") {
      entries.push_back(entry_of(record));
      total = total + entries.back().cost;
      if (record.release != releases + 1) corrupt(where + " is not the next release");
    } else {
      const bool sound = record.kind == "report" && record.cost == "0" && record.charges.empty() &&
                         record.release >= 1 && record.release <= releases;
      if (!sound || std::exchange(entries[static_cast<std::size_t>(record.release - 1)].reported, true)) {
        corrupt(where + " is not the first report of a release before it");
      }
    }
    if (record.spent != text_of(total)) corrupt(where + " has the wrong total");
  }
  if (records != now.records || static_cast<std::int64_t>(entries.size()) != now.releases ||
      total != now.spent) {
    corrupt("its records do not add up to its total");
  }
  return entries;
}

void LedgerFile::refuse_anchor(const LedgerAnchor& anchor, const std::string& finding) const {
  throw Error(
      ErrorCode::budget_refused, "anchor",
      "anchor = " + to_string(anchor) + ": " + named_ledger(path_) + "does not go on from there (" + finding +
          "). It was rolled back to an older copy, rewritten, or is another ledger; go on only with one "
          "that holds every release made so far");
}

LedgerState LedgerFile::verify(const std::vector<LedgerAnchor>& anchors) {
  LedgerState now = state();
  {
    Statement row(database_, "PRAGMA integrity_check(1)");
    if (!row.step()) corrupt("SQLite cannot check it");
    if (const std::string finding = row.text(0); finding != "ok") corrupt("SQLite finds: " + finding);
  }
  entries();
  Hash hash = now.genesis_hash;
  const auto check_anchors = [&](std::int64_t records) {
    for (const LedgerAnchor& anchor : anchors) {
      if (anchor.records == records && anchor.hash != ledger_format::to_hex(hash)) {
        refuse_anchor(anchor, "its first " + std::to_string(records) + " records are other ones");
      }
    }
  };
  check_anchors(0);
  Statement row(database_, columns_and(", text, hash") + "ORDER BY position");
  while (row.step()) {
    const Record record = read_record(row, true);
    hash = hash_of(hash, record);
    if (row.blob(8) != hash) corrupt("its hash chain is broken at record " + std::to_string(record.position));
    check_anchors(record.position);
  }
  if (hash != now.head) corrupt("its hash chain does not end in its head");
  for (const LedgerAnchor& anchor : anchors) {
    if (anchor.records > now.records) {
      refuse_anchor(anchor, "it has only " + std::to_string(now.records) + " records");
    }
  }
  return now;
}

}  // namespace snapdp::privacy_internal
