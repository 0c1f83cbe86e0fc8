// All aggregations of one pass as one aggregate function of DuckDB. Every cell is converted once, however many
// aggregations read it; the engine runs the function in parallel and merges its states, which is exact in any order.
//
//   FoldFunction function(connection, inputs, requests);
//   connection.run("SELECT " + function.call() + " FROM ...");   // GROUP BY works as well
//   function.take(...)                                           // by the number in the result
//
// The states never leave the process, so the result column holds no bytes of theirs but their places in a list.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/duckdb/cells.h"
#include "engines/duckdb/registered_function.h"
#include "snapdp/framework/aggregation.h"

namespace snapdp::engines_internal {

struct FoldAggregation {
  const Aggregation* aggregation = nullptr;
  std::vector<std::size_t> inputs;  // in the order of the aggregation's columns
  // Where the aggregation has a key_index(), its first column may come as places of keys; inputs are then the others.
  std::optional<std::size_t> places = {};
};

// What one group of rows has been folded to.
struct FoldedRows {
  std::uint64_t rows = 0;
  std::vector<AggregateState> states;  // one an aggregation
};

// The call's value is a UBIGINT for take().
class FoldFunction : public RegisteredFunction {
 public:
  // `places` are SQL for UINTEGERs without nulls (see key_function.h).
  FoldFunction(const Connection& connection, std::vector<CellInput> inputs,
               std::vector<FoldAggregation> aggregations, const std::vector<std::string>& places = {});

  // What the group with this value was folded to; once.
  FoldedRows take(std::uint64_t value);

  class Pass;

 private:
  FoldFunction(const Connection& connection, std::shared_ptr<Pass> pass,
               const std::vector<std::string>& places);

  std::shared_ptr<Pass> pass_;
};

}  // namespace snapdp::engines_internal
