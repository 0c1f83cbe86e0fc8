// The cells of a small file as texts, where all of it is wanted: the result of a query, say.
#pragma once

#include <string>
#include <vector>

#include "snapdp/engines/duckdb/duckdb_source.h"

namespace snapdp {

struct FileCells {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // in no order; a null is ""
};

// Reads a CSV or Parquet file whole, as open_duckdb_source() reads cells. Throws what that does, and
// bad_data for a column that cannot be used or whose name is that of another.
FileCells read_cells(const DuckdbOptions& options);

}  // namespace snapdp
