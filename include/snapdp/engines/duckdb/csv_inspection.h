// What is wrong with the form of a CSV file, for the eyes of whoever holds it: which rows are malformed, and
// whether the file seems to be written otherwise than it is read.
//
//   const CsvInspection form = inspect_csv({.path = "people.csv"});
//   for (const CsvInspection::Row& row : form.malformed)
//     std::cout << row.line << ": " << row.problem << "\n";
//
// Not private: everything here comes from rows, and nothing may be published. Releases read malformed rows as
// rows of nulls (duckdb_source.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "snapdp/engines/duckdb/duckdb_source.h"

namespace snapdp {

struct CsvInspection {
  struct Row {
    std::uint64_t line = 0;  // where it begins, counted from 1; the header is line 1
    std::string problem;     // "has more or fewer cells than the header"
  };
  static constexpr std::size_t most_rows_told = 20;

  std::uint64_t rows = 0;
  std::uint64_t malformed_rows = 0;
  std::vector<Row> malformed;  // the first of them
  // What to look at: another delimiter that the header suggests, the encoding that malformed rows suggest.
  std::vector<std::string> hints;
};

// Reads the whole file, on one thread. Throws what open_duckdb_source() and its columns() throw, and
// invalid_argument when the file is Parquet, which has no such rows.
CsvInspection inspect_csv(const DuckdbOptions& options);

}  // namespace snapdp
