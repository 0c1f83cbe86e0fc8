// The places of cells among public keys as one scalar function of DuckDB. It is declared a plain function of its argument,
// so that DuckDB calls it once for each entry of a column's dictionary, and once for all aggregations by the same keys.
//
//   const RegisteredFunction place = key_function(connection, input, *aggregation.key_index());
//   connection.run("SELECT ... " + place.call() + " FROM ...");
#pragma once

#include "engines/duckdb/cells.h"
#include "engines/duckdb/registered_function.h"
#include "framework/shared/keyed_fold.h"

namespace snapdp::engines_internal {

using namespace framework_internal;

// Its value is a UINTEGER, never null. The index must live until the last query with it has run.
RegisteredFunction key_function(const Connection& connection, const CellInput& input, const KeyIndex& index);

}  // namespace snapdp::engines_internal
