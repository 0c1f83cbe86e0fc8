// The data file as a table: its columns, from the header or schema alone, and how SQL reads its rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/duckdb/cells.h"
#include "engines/duckdb/connection.h"
#include "engines/duckdb/data_file.h"
#include "snapdp/framework/source.h"

namespace snapdp::engines_internal {

// How the cells of a column are stored.
enum class Storage {
  text,
  boolean,
  integer,        // of up to 64 signed bits
  large_integer,  // of more
  decimal,        // with a fraction, or more than 18 digits
  real,
  none,  // the column cannot be used
};

// One reading of all rows. Destroy it when the query is over.
class Scan {
 public:
  virtual ~Scan() = default;
  // What comes after FROM; its columns are sql_column(0), sql_column(1) ...
  virtual const std::string& from() const = 0;
  // How much of the file has been read, if DuckDB does not know it.
  virtual std::optional<double> percent() const { return std::nullopt; }
  // Rethrows what reading threw during the query, if it did.
  virtual void rethrow() const {}
  // After the query, and all others over the same rows: throws io when the rows are not those of one file.
  virtual void finish() const = 0;
};

class Table {
 public:
  virtual ~Table() = default;
  const std::vector<SourceColumn>& columns() const { return columns_; }
  Storage storage(std::size_t place) const { return storage_[place]; }

  virtual std::unique_ptr<const Scan> scan(const Connection& connection) const = 0;
  // Throws the bad_data error that stands for whatever DuckDB found wrong with the rows, if it may find anything.
  virtual void refuse_content() const {}

 protected:
  Table(std::vector<SourceColumn> columns, std::vector<Storage> storage)
      : columns_(std::move(columns)), storage_(std::move(storage)) {}

 private:
  std::vector<SourceColumn> columns_;
  std::vector<Storage> storage_;
};

// Columns go by their place in SQL: DuckDB compares names without regard to case and renames duplicates.
std::string sql_column(std::size_t place);

// How a column is read as the wanted type (docs/specification.md, "Stored and declared types"). Throws bad_data when it is
// not there, not the only one of its name, or cannot be used.
CellInput cell_input(const Table& table, const std::string& name, AtomType wanted);
// How its cells are told apart: as the file stores them, so text is compared to the letter. Numbers that lie too close
// for a double or beyond 64 bits are compared in writing.
CellInput exact_cell_input(const Table& table, const std::string& name);

// Both read the header or schema; they throw bad_data and io. `path` of a Parquet file is what the connection may read.
std::unique_ptr<const Table> open_csv(const std::string& path, char delimiter);
std::unique_ptr<const Table> open_parquet(const Connection& connection, const std::string& path);

// Throws io: the file is not what it was.
[[noreturn]] void refuse_changed_file();
// The one of these that the file is, and what a connection may read for it.
std::unique_ptr<const Table> open_table(const Connection& connection, const DataFile& file);
std::string readable_path(const DataFile& file);

// Throws the Error that stands for a failure of the engine over this table.
[[noreturn]] void report(const EngineFailure& failure, const Table& table);

}  // namespace snapdp::engines_internal
