// The data file as a table: its columns, from the header or schema alone, and how SQL reads its rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/duckdb/connection.h"
#include "snapdp/release/source.h"

namespace snapdp::engine {

class Table {
 public:
  virtual ~Table() = default;
  const std::vector<SourceColumn>& columns() const { return columns_; }

  struct Scan {
    std::string from;  // what comes after FROM; its columns are sql_column(0), sql_column(1) ...
    std::optional<std::uint64_t> rows;  // how many rows that must give, where it is known
  };
  // May read the file. Throws Error (bad_data or io).
  virtual Scan scan() const = 0;
  // Throws the bad_data error that stands for whatever DuckDB found wrong with the rows.
  [[noreturn]] virtual void malformed() const = 0;

 protected:
  explicit Table(std::vector<SourceColumn> columns) : columns_(std::move(columns)) {}

 private:
  std::vector<SourceColumn> columns_;
};

// Columns go by their place in SQL: DuckDB compares names without regard to case and renames duplicates.
std::string sql_column(std::size_t place);

// Both read the header or schema; they throw bad_data and io. `path` is what the connection may read.
std::unique_ptr<const Table> open_csv(const std::string& path, char delimiter);
std::unique_ptr<const Table> open_parquet(const Connection& connection, const std::string& path);

// Throws the Error that stands for a failure of the engine over this table.
[[noreturn]] void report(const EngineFailure& failure, const Table& table);

}  // namespace snapdp::engine
