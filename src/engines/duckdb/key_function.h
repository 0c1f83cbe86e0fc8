// The places of cells among public keys as one scalar function of DuckDB. It is declared a plain function of its argument,
// so that DuckDB calls it once for each entry of a column's dictionary, and once for all aggregations by the same keys.
//
//   KeyFunction place(connection, input, *aggregation.key_index());
//   connection.run("SELECT ... " + place.call() + " FROM ...");
#pragma once

#include <memory>
#include <string>

#include "engines/duckdb/cells.h"
#include "engines/duckdb/connection.h"
#include "snapdp/framework/keyed_fold.h"

namespace snapdp::engine {

class KeyFunction {
 public:
  // Registers the function. Its name is new, because the engine does not let go of functions until it closes. The index
  // must live until the last query with it has run.
  KeyFunction(const Connection& connection, const CellInput& input, const KeyIndex& index);

  // The call in SQL. Its value is a UINTEGER, never null.
  std::string call() const;
  // Rethrows what it threw during the query, if anything.
  void rethrow() const;

  class Calls;

 private:
  std::string name_;
  std::shared_ptr<Calls> calls_;
};

}  // namespace snapdp::engine
