// Which rows take part, and in which order a privacy unit's rows are kept, as one scalar function of DuckDB.
//
//   RowKeyFunction key(connection, {.inputs = ..., .where = ...});
//   connection.run("SELECT ... FROM (SELECT ..., " + key.call() + " AS key FROM ...) WHERE key IS NOT NULL");
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/duckdb/cells.h"
#include "engines/duckdb/connection.h"
#include "snapdp/framework/predicate.h"
#include "snapdp/framework/row_hash.h"

namespace snapdp::engine {

// Numbers stand for inputs.
struct RowKey {
  std::vector<CellInput> inputs;
  std::optional<Predicate> where = {};
  std::vector<std::size_t> where_columns = {};  // in the order of the predicate's columns
  std::optional<std::size_t> unit = {};         // must name a unit
  std::vector<std::size_t> content = {};        // what is hashed; with nothing to hash every key is 0
  RowHashKey hash = RowHashKey::rows;
};

class RowKeyFunction {
 public:
  // Registers the function. Its name is new, because the engine does not let go of functions until it closes.
  RowKeyFunction(const Connection& connection, RowKey key);

  // The call in SQL. Its value is a UBIGINT: the hash of the content, or null for a row that takes no part.
  // DuckDB calls it once for every row, because it is declared volatile.
  std::string call() const;
  // For how many rows it was called since the last time this was asked.
  std::uint64_t take_rows();
  // Rethrows what it threw during the query, if anything.
  void rethrow() const;

  class Calls;

 private:
  std::string name_;
  std::shared_ptr<Calls> calls_;
};

}  // namespace snapdp::engine
