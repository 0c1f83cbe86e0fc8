// Rows of CSV text: where they end, and what their cells are.
//
// How a row is read depends on that row alone, so that nobody's row spoils another's, and every row is one row, however
// malformed. The rules, of RFC 4180 with what it leaves open:
//   - A row ends where its line does, at an LF or CR LF (or, in a file whose header ends in CR, at a CR), unless that stands
//     in a quoted cell. The file's last row needs no end. A blank line is a row with one empty cell.
//   - A quote at a cell's start, or after spaces there, opens a quoted cell if the first quote after it that is not doubled
//     is followed, perhaps after spaces, by a delimiter or the end of the row or file. Such a cell may hold delimiters, line
//     breaks and, doubled, quotes.
//   - A quote that opens nothing is text. At a cell's start it makes the row malformed; elsewhere it is a letter.
//   - A row is malformed that has another number of cells than the header (one more, empty, at the end is fine), holds a
//     stray CR (or LF) or bytes that are not UTF-8, or is longer than max_row_bytes. All its cells are null.
// What remains is the open quote: where a row starts a cell with a quote that some later row happens to close in the way
// above, what lies between becomes that cell.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace snapdp::engines_internal {

inline constexpr char csv_quote = '"';
// Without the line's end.
inline constexpr std::size_t max_row_bytes = 2'000'000;

enum class LineEnd {
  lf,  // or CR LF
  cr,
};

struct CsvFormat {
  char delimiter = ',';
  LineEnd line_end = LineEnd::lf;
  std::size_t columns = 1;
  bool last_may_lack = false;  // rows may do without the last cell: the header ends in a delimiter

  // The byte that lines end in.
  char end() const { return line_end == LineEnd::lf ? '\n' : '\r'; }
};

// Bytes that can be read again.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `into` from `offset` on unless the bytes end first; the number of bytes read.
  virtual std::size_t read(std::uint64_t offset, std::span<char> into) const = 0;
};

// Cuts text into pieces of whole rows.
class CsvSplitter {
 public:
  // Pieces are cut once they have piece_bytes, and the text is read window_bytes at a time.
  CsvSplitter(const ByteSource& bytes, const CsvFormat& format, std::uint64_t first_row,
              std::size_t piece_bytes = std::size_t{1} << 20,
              std::size_t window_bytes = std::size_t{1} << 18);

  struct Piece {
    std::uint64_t begin, end;
    bool too_long;  // it is one row that is longer than max_row_bytes
  };
  std::optional<Piece> next();

 private:
  enum class Place { open, quoted, after_quote, closed, after_cr };

  std::uint64_t offset() const { return window_offset_ + at_; }
  std::string_view rest() const { return std::string_view(window_).substr(at_); }
  bool refill();
  std::optional<Piece> scan();
  std::optional<Piece> scan_open();
  void scan_quoted();
  void scan_closed();
  // The quote that was taken to open a cell is text.
  void go_back();
  std::optional<Piece> finish();
  Piece cut(std::uint64_t end, bool too_long);

  const ByteSource& bytes_;
  CsvFormat format_;
  std::size_t piece_bytes_, window_bytes_;
  std::string window_;
  std::uint64_t window_offset_;
  std::size_t at_ = 0;  // in the window
  Place place_ = Place::open;
  bool at_cell_start_ = true;
  std::uint64_t opened_ = 0;  // where the last quote stands that was taken to open a cell
  std::uint64_t begin_;       // of the piece
  std::uint64_t row_end_;     // of the last row known to have ended
};

// What makes a row malformed.
enum class RowFault { none, cells, quote, line_break, encoding, length };

// Reads the rows of one piece after the other.
class CsvRowReader {
 public:
  // `wanted` are the places of columns.
  CsvRowReader(const CsvFormat& format, const std::vector<std::size_t>& wanted);

  // Room for a piece of `size` bytes: fill it and call start().
  std::span<char> room(std::size_t size);
  void start();

  // Goes on to the next row of the piece, if there is one.
  bool next();
  // Of this row. Cells, one for each column wanted, live until the next call; data() is null where they are. Empty cells
  // are null, and so are all those of malformed rows.
  RowFault fault() const { return fault_; }
  // Where the next one begins, in bytes of the piece.
  std::size_t offset() const { return static_cast<std::size_t>(at_ - buffer_.data()); }
  std::span<const std::string_view> cells() const { return cells_; }

 private:
  static constexpr std::size_t unwanted = static_cast<std::size_t>(-1);

  struct Cell {
    std::string_view text;
    bool quoted = false;
    bool doubled = false;  // there are doubled quotes in it
  };
  Cell take_cell();
  std::optional<Cell> take_quoted(const char* quote);
  const char* end_of_text(const char* from);
  // Whether a row ends here.
  bool at_end(const char* place) const;
  void keep(std::size_t column, const Cell& cell);
  void skip_line_end();
  void undouble();
  void mark(RowFault fault) {
    if (fault_ == RowFault::none) fault_ = fault;
  }

  CsvFormat format_;
  std::vector<std::size_t> place_;   // of each column among the cells wanted
  std::array<bool, 256> special_{};  // bytes that end cells, or may
  std::vector<char> buffer_;         // the piece, and one byte that ends lines
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  bool ascii_ = true;
  RowFault fault_ = RowFault::none;
  std::vector<std::string_view> cells_;
  std::vector<std::size_t> doubled_;  // cells to be written with single quotes
  std::string single_;
};

}  // namespace snapdp::engines_internal
