// Which rows take part, as one scalar function of DuckDB for one query, which counts the rows as well.
//
//   RowFilterFunction selected(connection, {.inputs = ..., .where = ...});
//   connection.run("SELECT ... FROM (SELECT ..., " + selected.call() + " AS selected FROM ...) WHERE selected");
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engines/duckdb/cells.h"
#include "engines/duckdb/registered_function.h"
#include "snapdp/framework/transformation.h"

namespace snapdp::engines_internal {

// Numbers stand for inputs.
struct RowFilter {
  std::vector<CellInput> inputs;
  std::optional<Predicate> where = {};
  std::vector<std::size_t> where_columns = {};  // in the order of the predicate's columns
  std::optional<std::size_t> unit = {};         // must name a unit
};

// The call's value is a BOOLEAN, never null. DuckDB calls it once for every row.
class RowFilterFunction : public RegisteredFunction {
 public:
  RowFilterFunction(const Connection& connection, RowFilter filter);

  // For how many rows it was called.
  std::uint64_t rows() const;

  class Calls;

 private:
  RowFilterFunction(const Connection& connection, std::shared_ptr<Calls> calls);

  std::shared_ptr<Calls> calls_;
};

}  // namespace snapdp::engines_internal
