// The data file as a table: its columns, from the header or schema alone, and how SQL reads its rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/duckdb/cells.h"
#include "engines/duckdb/connection.h"
#include "snapdp/release/source.h"

namespace snapdp::engine {

class Table {
 public:
  virtual ~Table() = default;
  const std::vector<SourceColumn>& columns() const { return columns_; }
  // Whether different numbers in this column may be read as the same double or 64-bit integer.
  bool wide(std::size_t place) const { return wide_[place]; }

  struct Scan {
    std::string from;  // what comes after FROM; its columns are sql_column(0), sql_column(1) ...
    std::optional<std::uint64_t> rows;  // how many rows that must give, where it is known
  };
  // May read the file. Throws Error (bad_data or io).
  virtual Scan scan() const = 0;
  // Throws the bad_data error that stands for whatever DuckDB found wrong with the rows.
  [[noreturn]] virtual void malformed() const = 0;

 protected:
  Table(std::vector<SourceColumn> columns, std::vector<bool> wide)
      : columns_(std::move(columns)), wide_(std::move(wide)) {}

 private:
  std::vector<SourceColumn> columns_;
  std::vector<bool> wide_;
};

// Columns go by their place in SQL: DuckDB compares names without regard to case and renames duplicates.
std::string sql_column(std::size_t place);

// How a column is read as the wanted type, which the schema has no say in. Throws bad_data when there is none of this
// name, or when it cannot be used.
CellInput cell_input(const Table& table, const std::string& name, AtomType wanted);
// How its cells are told apart: as the schema has them, so text is compared to the letter. Numbers that lie too close
// for a double or beyond 64 bits are compared in writing.
CellInput exact_cell_input(const Table& table, const std::string& name);

// Both read the header or schema; they throw bad_data and io. `path` is what the connection may read.
std::unique_ptr<const Table> open_csv(const std::string& path, char delimiter);
std::unique_ptr<const Table> open_parquet(const Connection& connection, const std::string& path);

// Throws the Error that stands for a failure of the engine over this table.
[[noreturn]] void report(const EngineFailure& failure, const Table& table);

}  // namespace snapdp::engine
