// What must be known of a CSV file before DuckDB reads it, found without looking at what the cells say.
//
// DuckDB 1.4 loses rows in silence from some files, which must never happen here. Seen and reproduced:
//   - its parallel reader looks for the next row near each chunk's start. A row of the wrong length there makes it drop
//     rows, at times the rest of the chunk; inside a quoted cell it may take the cell's text for a row;
//   - its serial reader drops the last row when a quote stays open to the end of the file;
//   - strict_mode = true together with new_line = '\r\n' drops everything.
// So files that hold a quote are read serially, the last pair of options is avoided, the line ends and quotes are
// checked here, and the rows are counted here too: a different count from DuckDB's refuses the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace snapdp::engine {

enum class LineEnd { lf, cr, cr_lf };

struct CsvHeader {
  std::vector<std::string> names;
  LineEnd line_end = LineEnd::lf;
  std::uint64_t size = 0;  // bytes before the first row
};

// Throws invalid_argument unless `delimiter` may separate cells.
void check_csv_delimiter(char delimiter);

// Reads the first line. Throws bad_data when it is not a header: empty, longer than max_line_bytes, not UTF-8, with
// stray quotes, or with empty or duplicate names.
CsvHeader read_csv_header(const std::string& path, char delimiter);

struct CsvShape {
  std::uint64_t rows = 0;
  bool quotes = false;  // there is a quote somewhere below the header
};

// Counts the rows. Throws bad_data when quotes are not closed or line ends are not all as in the header.
CsvShape read_csv_shape(const std::string& path, const CsvHeader& header, char delimiter);

// The same over pieces of the text below the header.
class CsvCounter {
 public:
  CsvCounter(LineEnd line_end, char delimiter, std::size_t columns);
  void add(std::string_view piece);
  // Throws bad_data; see read_csv_shape.
  CsvShape finish() const;

 private:
  enum class Place { open, quoted, after_quote, closed };
  void add_open(std::string_view text);

  char first_, last_;  // of a line end
  char delimiter_;
  bool blank_lines_count_;
  Place place_ = Place::open;
  bool at_cell_start_ = true;
  bool malformed_ = false;
  bool quotes_ = false;
  char previous_;
  std::uint64_t line_feeds_ = 0;
  std::uint64_t carriage_returns_ = 0;
  std::uint64_t pairs_ = 0;        // CR LF
  std::uint64_t blank_lines_ = 0;  // line ends right after a line end
};

// DuckDB's limit for a row, which holds for the header too.
inline constexpr std::size_t max_line_bytes = 2'000'000;

}  // namespace snapdp::engine
