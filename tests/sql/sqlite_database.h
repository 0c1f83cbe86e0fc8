#pragma once

#include <sqlite3.h>

#include <memory>
#include <stdexcept>

#include "sql/database.h"

namespace snapdp {

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

}  // namespace snapdp
