#pragma once

#include <duckdb.h>

#include <stdexcept>

#include "sql/database.h"

namespace snapdp {

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

}  // namespace snapdp
