// The default Source: CSV and Parquet files, read and folded by an embedded DuckDB.
//
//   std::unique_ptr<Source> people = open_duckdb_source({.path = "people.csv"});
//   people->columns();                          // the header or schema; no row is read
//   people->fold({{{"age"}, &mean_age}}, {});   // one pass over the rows, on all cores
//
// CSV: UTF-8 text with a header line, cells separated by the delimiter, quoted with " as RFC 4180 says; lines
// end in LF or CR LF, or in CR if the header does. Nothing is guessed from the cells: every cell is text,
// whose type the specification declares. An empty cell is null. Every line is a row, and what a row says
// decides how that row is read and no other: one that is malformed (with more or fewer cells than the header,
// bytes that are not UTF-8, a quote out of place, more than 2,000,000 bytes) is a row of nulls. A row may end
// in one more delimiter. docs/specification.md has the rules.
//
// Parquet: the schema says how cells are converted to the type that is wanted, which it has no say in.
//   stored                     real                     integer                            text
//   boolean                    1 or 0                   1 or 0                             true or false
//   integers                   the nearest double       itself; null beyond 64 signed bits its digits
//   DECIMAL up to 38 digits    within two units in the  itself if it is whole and of 64    as it is written
//                              last place (up to 15     bits, else null
//                              digits: the nearest)
//   FLOAT, DOUBLE              itself; NaN is missing   itself if it is whole and of 64    digits of a whole
//                                                       bits, else null                    number of 64 bits,
//                                                                                          else shortest text
//   text, ENUM                 as a cell of a CSV file  as a cell of a CSV file            itself
//   dates, times, timestamps, intervals, lists, structs, binary data, longer DECIMALs and the rest cannot be
//   used
//
// A selection of rows runs inside the engine too. The condition is evaluated by the library, never as SQL.
// The units of a CSV file are texts, compared to the letter: "7" and "07" are two. The rows of a unit that go
// first do so by a hash of all columns that the fold reads, in the order of their names. The file is read
// once. The rows that a limit keeps are held in memory: about 120 bytes a unit, 30 a row, and their cells;
// while the file is read at most three times that, whatever the order of the rows. Where that is more than
// unit_memory and no request limits groups, 16 bytes a row are held in their place, no cells, and the file is
// read twice.
//
// Column names are compared to the letter. The engine is locked in: it sees the one file and nothing else,
// loads no extension, and writes no file. None of its messages are passed on, because they quote cells.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "snapdp/framework/source.h"

namespace snapdp {

enum class FileFormat {
  by_extension,  // .csv, .tsv, .tab and .txt are CSV, .parquet and .pq are Parquet; in any case of letters
  csv,
  parquet,
};

struct DuckdbOptions {
  // One file that exists. A pattern, an address (https://...), a folder or a pipe is refused.
  std::string path;
  FileFormat format = FileFormat::by_extension;
  // Of CSV: a tab or an ASCII punctuation mark other than " . + - and _. Unless it is given, a tab for .tsv
  // and .tab, else a comma.
  std::optional<char> delimiter = {};
  // How many threads fold; 0 for one a core.
  unsigned threads = 0;
  // How many bytes of rows are held before the file is read twice instead. Results do not depend on it.
  std::size_t unit_memory = std::size_t{256} << 20;
};

// Throws invalid_argument for options outside these rules, and io when there is no such file or it cannot be
// read. A Source serves one thread at a time.
std::unique_ptr<Source> open_duckdb_source(const DuckdbOptions& options);

}  // namespace snapdp
