#include "privacy/sqlite.h"

#include <algorithm>
#include <limits>

#include "privacy/private_file.h"
#include "snapdp/error.h"

namespace snapdp::privacy_internal::sqlite {

void refuse_corrupt(const std::filesystem::path& path, const std::string& finding) {
  throw Error(ErrorCode::budget_refused, "ledger",
              named_ledger(path) + "is corrupt (" + finding +
                  "); nothing was debited. See what is wrong with: snapdp ledger verify " +
                  shell_word(path.string()) +
                  "; go on only with a copy that holds every release made so far");
}

Database::Database(const std::filesystem::path& path, std::size_t max_value_bytes) : path_(path) {
  constexpr int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE;
  const int opened = sqlite3_open_v2(path_.c_str(), &handle_, flags, nullptr);
  if (opened != SQLITE_OK) {
    const std::string reason = sqlite3_errstr(opened);
    sqlite3_close(handle_);
    handle_ = nullptr;
    throw Error(ErrorCode::budget_refused, "ledger",
                named_ledger(path_) + "cannot be opened (" + reason +
                    "); check its permissions and those of its folder");
  }
  for (const int off :
       {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL, SQLITE_DBCONFIG_WRITABLE_SCHEMA}) {
    sqlite3_db_config(handle_, off, 0, nullptr);
  }
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, static_cast<int>(max_value_bytes));
  sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(handle_, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
}

Database::~Database() {
  sqlite3_close(handle_);
}

void Database::run(const std::string& sql) {
  Statement statement(*this, sql);
  while (statement.step()) {
  }
}

std::string Database::first_bytes(int size) {
  sqlite3_file* file = nullptr;
  const int found = sqlite3_file_control(handle_, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (found != SQLITE_OK || file == nullptr || file->pMethods == nullptr) fail(SQLITE_CANTOPEN);
  sqlite3_int64 available = 0;
  int code = file->pMethods->xFileSize(file, &available);
  if (code != SQLITE_OK) fail(code);
  std::string bytes(static_cast<std::size_t>(std::min<sqlite3_int64>(size, available)), '\0');
  code = file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), 0);
  if (code != SQLITE_OK) fail(code);
  return bytes;
}

void Database::set_busy_timeout(std::chrono::milliseconds wait) {
  wait_ = std::clamp(wait, std::chrono::milliseconds(0),
                     std::chrono::milliseconds(std::numeric_limits<int>::max()));
  sqlite3_busy_timeout(handle_, static_cast<int>(wait_.count()));
}

void Database::fail(int code) const {
  const auto io = [&](const std::string& what) {
    throw Error(ErrorCode::io, "ledger", named_ledger(path_) + what);
  };
  const std::string reason = sqlite3_errstr(code);
  if (code == SQLITE_READONLY_DBMOVED) io("was moved, replaced or deleted while it was open; open it again");
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(ErrorCode::budget_refused, "ledger",
                  named_ledger(path_) + "another process kept it locked for " +
                      std::to_string(wait_.count()) +
                      " ms; nothing was debited. Try again when that process has finished");
    case SQLITE_FULL:
      io("the disk is full; make room and try again");
      break;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      io("cannot be written (" + reason + "); check its permissions and those of its folder");
      break;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM:
    case SQLITE_NOLFS:
    case SQLITE_PROTOCOL:
    case SQLITE_INTERRUPT:
      io("the system failed to read or write it (" + reason + ", code " + std::to_string(code) + ")");
      break;
    default:
      break;
  }
  refuse_corrupt(path_, reason);
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  check(sqlite3_prepare_v3(database.handle(), sql.data(), static_cast<int>(sql.size()), 0, &statement_,
                           nullptr));
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  check(sqlite3_bind_int64(statement_, parameter, value));
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  check(sqlite3_bind_text64(statement_, parameter, text.empty() ? "" : text.data(), text.size(),
                            SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(int parameter, std::string_view bytes) {
  check(sqlite3_bind_blob64(statement_, parameter, bytes.empty() ? "" : bytes.data(), bytes.size(),
                            SQLITE_STATIC));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  database_.fail(code);
}

std::int64_t Statement::integer(int column) {
  require(column, SQLITE_INTEGER);
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::text(int column) {
  require(column, SQLITE_TEXT);
  return bytes(column);
}

std::string Statement::blob(int column) {
  require(column, SQLITE_BLOB);
  return bytes(column);
}

void Statement::require(int column, int type) {
  if (sqlite3_column_type(statement_, column) != type) {
    refuse_corrupt(database_.path(), "a value has the wrong type");
  }
}

std::string Statement::bytes(int column) {
  // For TEXT the UTF-8 form, for BLOB the bytes; a null pointer is an empty blob or memory exhausted.
  const void* data = sqlite3_column_type(statement_, column) == SQLITE_TEXT
                         ? static_cast<const void*>(sqlite3_column_text(statement_, column))
                         : sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (data == nullptr && size != 0) database_.fail(SQLITE_NOMEM);
  return data == nullptr ? std::string()
                         : std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

void Statement::check(int code) {
  if (code != SQLITE_OK) database_.fail(code);
}

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
  database_.run(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
  open_ = true;
}

Transaction::~Transaction() {
  // An error may have rolled back already; then there is nothing to do, and nobody to tell.
  if (open_ && sqlite3_get_autocommit(database_.handle()) == 0) {
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace snapdp::privacy_internal::sqlite
