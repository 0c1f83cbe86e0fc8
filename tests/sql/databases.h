// Databases in memory, for running the queries of engines/sql as their users would.
#pragma once

#include <duckdb.h>
#include <sqlite3.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "snapdp/engines/sql/sql_query.h"

namespace snapdp {

using DatabaseCell = std::variant<std::monostate, std::int64_t, double, std::string>;

struct DatabaseColumn {
  std::string name;
  std::string type;  // of SQL: BIGINT, DOUBLE, VARCHAR ...
  std::vector<DatabaseCell> cells;
};

class Database {
 public:
  virtual ~Database() = default;
  virtual SqlDialect dialect() const = 0;
  virtual SqlResult run(const std::string& sql) = 0;
  virtual void create(const std::string& table, const std::vector<DatabaseColumn>& columns) = 0;

 protected:
  static std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + "\"";
  }
  static std::string create_table(const std::string& table, const std::vector<DatabaseColumn>& columns) {
    std::string sql = "CREATE TABLE " + quoted(table) + " (";
    for (const DatabaseColumn& column : columns)
      sql += (&column == &columns.front() ? "" : ", ") + quoted(column.name) + " " + column.type;
    return sql + ")";
  }
};

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase() { check(sqlite3_open(":memory:", &database_)); }
  ~SqliteDatabase() override { sqlite3_close(database_); }
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  SqlDialect dialect() const override { return SqlDialect::sqlite; }
  SqlResult run(const std::string& sql) override {
    const Statement statement = prepare(sql);
    SqlResult result;
    const int columns = sqlite3_column_count(statement.get());
    for (int i = 0; i < columns; ++i) result.columns.emplace_back(sqlite3_column_name(statement.get(), i));
    while (sqlite3_step(statement.get()) == SQLITE_ROW) {
      std::vector<std::string>& row = result.rows.emplace_back();
      for (int i = 0; i < columns; ++i) {
        const unsigned char* text = sqlite3_column_text(statement.get(), i);
        row.emplace_back(text == nullptr ? "" : reinterpret_cast<const char*>(text));
      }
    }
    check(sqlite3_reset(statement.get()));
    return result;
  }
  void create(const std::string& table, const std::vector<DatabaseColumn>& columns) override {
    run(create_table(table, columns));
    std::string marks;
    for (std::size_t i = 0; i < columns.size(); ++i) marks += i == 0 ? "?" : ", ?";
    const Statement statement = prepare("INSERT INTO " + quoted(table) + " VALUES (" + marks + ")");
    for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const int place = static_cast<int>(i) + 1;
        const DatabaseCell& cell = columns[i].cells[row];
        if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
          check(sqlite3_bind_int64(statement.get(), place, *integer));
        } else if (const auto* real = std::get_if<double>(&cell)) {
          check(sqlite3_bind_double(statement.get(), place, *real));
        } else if (const auto* text = std::get_if<std::string>(&cell)) {
          check(sqlite3_bind_text(statement.get(), place, text->data(), static_cast<int>(text->size()),
                                  SQLITE_TRANSIENT));
        } else {
          check(sqlite3_bind_null(statement.get(), place));
        }
      }
      sqlite3_step(statement.get());
      check(sqlite3_reset(statement.get()));
    }
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  Statement prepare(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr));
    return Statement(statement);
  }
  void check(int status) const {
    if (status != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database_));
  }

  sqlite3* database_ = nullptr;
};

class DuckdbDatabase final : public Database {
 public:
  DuckdbDatabase() {
    if (duckdb_open(nullptr, &database_) == DuckDBError ||
        duckdb_connect(database_, &connection_) == DuckDBError)
      throw std::runtime_error("DuckDB does not start");
  }
  ~DuckdbDatabase() override {
    duckdb_disconnect(&connection_);
    duckdb_close(&database_);
  }
  DuckdbDatabase(const DuckdbDatabase&) = delete;
  DuckdbDatabase& operator=(const DuckdbDatabase&) = delete;

  SqlDialect dialect() const override { return SqlDialect::duckdb; }
  SqlResult run(const std::string& sql) override {
    duckdb_result answer;
    if (duckdb_query(connection_, sql.c_str(), &answer) == DuckDBError) {
      const std::string why = duckdb_result_error(&answer);
      duckdb_destroy_result(&answer);
      throw std::runtime_error(why);
    }
    SqlResult result;
    for (idx_t i = 0; i < duckdb_column_count(&answer); ++i)
      result.columns.emplace_back(duckdb_column_name(&answer, i));
    for (idx_t row = 0; row < duckdb_row_count(&answer); ++row) {
      std::vector<std::string>& cells = result.rows.emplace_back();
      for (idx_t i = 0; i < result.columns.size(); ++i) {
        char* text = duckdb_value_varchar(&answer, i, row);
        cells.emplace_back(text == nullptr ? "" : text);
        duckdb_free(text);
      }
    }
    duckdb_destroy_result(&answer);
    return result;
  }
  void create(const std::string& table, const std::vector<DatabaseColumn>& columns) override {
    run(create_table(table, columns));
    duckdb_appender appender;
    if (duckdb_appender_create(connection_, nullptr, table.c_str(), &appender) == DuckDBError)
      throw std::runtime_error("DuckDB has no such table");
    for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
      for (const DatabaseColumn& column : columns) {
        const DatabaseCell& cell = column.cells[row];
        if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
          duckdb_append_int64(appender, *integer);
        } else if (const auto* real = std::get_if<double>(&cell)) {
          duckdb_append_double(appender, *real);
        } else if (const auto* text = std::get_if<std::string>(&cell)) {
          duckdb_append_varchar_length(appender, text->data(), text->size());
        } else {
          duckdb_append_null(appender);
        }
      }
      duckdb_appender_end_row(appender);
    }
    const bool good = duckdb_appender_close(appender) == DuckDBSuccess;
    duckdb_appender_destroy(&appender);
    if (!good) throw std::runtime_error("DuckDB does not take the rows");
  }

 private:
  duckdb_database database_ = nullptr;
  duckdb_connection connection_ = nullptr;
};

inline std::vector<std::unique_ptr<Database>> all_databases() {
  std::vector<std::unique_ptr<Database>> all;
  all.push_back(std::make_unique<SqliteDatabase>());
  all.push_back(std::make_unique<DuckdbDatabase>());
  return all;
}

}  // namespace snapdp
