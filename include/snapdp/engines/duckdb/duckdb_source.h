// The default Source: CSV and Parquet files, read and folded by an embedded DuckDB.
//
//   std::unique_ptr<Source> people = open_duckdb_source({.path = "people.csv"});
//   people->columns();                          // the header or schema; no row is read
//   people->fold({{{"age"}, &mean_age}}, {});   // one pass over the rows, on all cores
//
// CSV: UTF-8 text with a header line, cells separated by the delimiter, quoted with " as RFC 4180 says; the lines end
// in LF, CR LF or CR, all in the same way. Nothing is guessed from the cells: every cell is text, whose type the
// specification declares. An empty cell is null. A blank line is no row, except in a file of one column, where it is
// an empty cell. A row may end in one more delimiter; otherwise every row has as many cells as the header.
//
// Parquet: the schema says how cells are converted to the type that is wanted, which it has no say in.
//   integer   BOOLEAN (0 and 1), signed and unsigned integers, DECIMAL without fraction of up to 18 digits; a value
//             beyond 64 signed bits is null where an integer is wanted
//   real      FLOAT, DOUBLE, other DECIMALs (up to 15 digits exactly, else within two units in the last place); a
//             value that is not whole is null where an integer is wanted
//   no type   text, read as the type that is wanted, like a cell of a CSV file
//   unusable  dates, times, timestamps, intervals, lists, structs, binary data and the rest
// Numbers wanted as text are decimals, whole ones without a point however they are stored; BOOLEANs are true and false.
//
// A selection of rows runs inside the engine too. The condition is evaluated by the library, never as SQL. The units of
// a CSV file are texts, compared to the letter: "7" and "07" are two. The rows of a unit that go first do so by
// row_hash.h of all columns that the fold reads, in the order of their names. A limit on groups costs a pass over the
// file of its own; requests with the same limit share it. The rows that a limit keeps, up to twice as many while the
// file is read, are held in memory: about 60 bytes a row and its cells, which never go into temporary files.
//
// Column names are compared to the letter. The engine is locked in: it sees the one file and nothing else, loads no
// extension, and writes no temporary file unless temp_folder says so. None of its messages are passed on, because they
// quote cells.
#pragma once

#include <memory>
#include <string>

#include "snapdp/release/source.h"

namespace snapdp {

enum class FileFormat {
  by_extension,  // .csv, .tsv and .txt are CSV, .parquet and .pq are Parquet; in any case of letters
  csv,
  parquet,
};

struct DuckdbOptions {
  // One file that exists. A pattern, an address (https://...), a folder or a pipe is refused.
  std::string path;
  FileFormat format = FileFormat::by_extension;
  // Of CSV: a tab or an ASCII punctuation mark other than " . + - and _.
  char delimiter = ',';
  // How many threads fold; 0 for one a core.
  unsigned threads = 0;
  // An existing folder for temporary files should memory run short. They go into a private folder in it (mode 0700)
  // that is removed with the Source. Empty: running out of memory is an error.
  std::string temp_folder = {};
};

// Throws invalid_argument for options outside these rules, and io when there is no such file or it cannot be read.
// A Source serves one thread at a time.
std::unique_ptr<Source> open_duckdb_source(const DuckdbOptions& options);

}  // namespace snapdp
