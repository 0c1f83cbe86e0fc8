// A thin owner for SQLite handles: values are typed, every failure becomes a snapdp::Error that names the
// file.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace snapdp::privacy_internal::sqlite {

// Throws budget_refused: what the file holds cannot be what a ledger wrote.
[[noreturn]] void refuse_corrupt(const std::filesystem::path& path, const std::string& finding);

// One connection, hardened for a file that may be hostile: https://www.sqlite.org/security.html.
class Database {
 public:
  // Opens an existing file for reading and writing (for reading when it cannot be written) without following
  // links. A longer value than `max_value_bytes` is an error.
  Database(const std::filesystem::path& path, std::size_t max_value_bytes);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs one statement and drops its rows.
  void run(const std::string& sql);

  // The first `size` bytes of the file as they are on the disk, read through SQLite's own descriptor: closing
  // another descriptor of the same file would drop the locks of every connection in this process. Shorter if
  // the file is.
  std::string first_bytes(int size);

  void set_busy_timeout(std::chrono::milliseconds wait);

  // Forgets the connection without closing it. After fork() even closing would disturb the parent's
  // transaction.
  void abandon() { handle_ = nullptr; }

  // Throws the Error that an SQLite result code stands for.
  [[noreturn]] void fail(int code) const;

  const std::filesystem::path& path() const { return path_; }
  sqlite3* handle() const { return handle_; }

 private:
  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
  std::chrono::milliseconds wait_{0};
};

class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Parameters are numbered from 1. Texts and blobs are not copied: they must outlive the last step().
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind_blob(int parameter, std::string_view bytes);

  // True while there is a row.
  bool step();

  // Columns are numbered from 0. A value of another type than asked for is corruption: CHECK and STRICT hold
  // only for what SQLite itself wrote.
  std::int64_t integer(int column);
  std::string text(int column);
  std::string blob(int column);
  bool is_null(int column) { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

 private:
  void require(int column, int type);
  std::string bytes(int column);
  void check(int code);

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

// BEGIN ... COMMIT, rolled back unless commit() returns.
class Transaction {
 public:
  // `write` takes the file's write lock at once, so that nothing read inside can change before the commit.
  enum class Kind { read, write };

  Transaction(Database& database, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
  bool open_ = false;
};

}  // namespace snapdp::privacy_internal::sqlite
