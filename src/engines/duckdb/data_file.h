// Which file holds the data, and in what form, by its name alone.
#pragma once

#include <string>

#include "snapdp/engines/duckdb/duckdb_source.h"

namespace snapdp::engines_internal {

struct DataFile {
  std::string path;                     // the full name of a regular file
  FileFormat format = FileFormat::csv;  // or parquet
  char delimiter = ',';                 // of CSV
};

// Throws invalid_argument and io as open_duckdb_source() does.
DataFile find_data_file(const DuckdbOptions& options);

}  // namespace snapdp::engines_internal
