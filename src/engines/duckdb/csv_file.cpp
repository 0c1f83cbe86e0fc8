#include "engines/duckdb/csv_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "engines/duckdb/column_names.h"
#include "snapdp/error.h"

namespace snapdp::engine {
namespace {

constexpr char quote = '"';

class InputFile {
 public:
  explicit InputFile(const std::string& path) : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) fail();
  }
  ~InputFile() { close(file_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  void skip(std::uint64_t bytes) {
    if (lseek(file_, static_cast<off_t>(bytes), SEEK_SET) < 0) fail();
  }
  // Fills `buffer` unless the file ends first.
  std::string_view read(std::vector<char>& buffer) {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const ssize_t count = ::read(file_, buffer.data() + filled, buffer.size() - filled);
      if (count == 0) break;
      if (count > 0) {
        filled += static_cast<std::size_t>(count);
      } else if (errno != EINTR) {
        fail();
      }
    }
    return {buffer.data(), filled};
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorCode::io, "path",
                "path = \"" + path_ + "\": it cannot be read (" + std::strerror(errno) + ")");
  }

  std::string path_;
  int file_;
};

[[noreturn]] void bad_header(const std::string& problem) {
  throw Error(ErrorCode::bad_data, "header", "header: " + problem);
}

// The first byte of text that is not well-formed UTF-8 (Unicode 15, table 3-7), or npos.
std::size_t find_bad_utf8(std::string_view text) {
  std::size_t i = 0;
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  while (i < text.size()) {
    const unsigned lead = byte(i);
    std::size_t length = 1;
    unsigned lower = 0x80;
    unsigned upper = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
      length = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      length = 3;
      if (lead == 0xe0) lower = 0xa0;
      if (lead == 0xed) upper = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      length = 4;
      if (lead == 0xf0) lower = 0x90;
      if (lead == 0xf4) upper = 0x8f;
    } else if (lead >= 0x80) {
      return i;
    }
    for (std::size_t k = 1; k < length; ++k) {
      if (byte(i + k) < lower || byte(i + k) > upper) return i;
      lower = 0x80;
      upper = 0xbf;
    }
    i += length;
  }
  return std::string_view::npos;
}

// The cells of one line without line breaks in cells.
std::vector<std::string> header_cells(std::string_view line, char delimiter) {
  std::vector<std::string> cells;
  std::size_t i = 0;
  while (true) {
    std::string cell;
    if (i < line.size() && line[i] == quote) {
      ++i;
      while (true) {
        const std::size_t close = line.find(quote, i);
        if (close == std::string_view::npos) {
          bad_header("a quote stays open to the end of the first line; names have no line breaks");
        }
        cell += line.substr(i, close - i);
        i = close + 1;
        if (i == line.size() || line[i] != quote) break;
        cell += quote;  // two quotes are one in the text
        ++i;
      }
      if (i < line.size() && line[i] != delimiter)
        bad_header("text follows a closing quote; after it comes a delimiter or the end of the line");
    } else {
      const std::size_t end = std::min(line.find(delimiter, i), line.size());
      cell = line.substr(i, end - i);
      i = end;
      if (cell.find(quote) != std::string::npos)
        bad_header("a quote inside a name; write the name between quotes and double the quotes in it");
    }
    cells.push_back(std::move(cell));
    if (i == line.size()) return cells;
    ++i;
  }
}

}  // namespace

void check_csv_delimiter(char delimiter) {
  constexpr std::string_view excluded = "\".+-_";
  const bool punctuation = delimiter > ' ' && delimiter < 0x7f && !(delimiter >= '0' && delimiter <= '9') &&
                           !(delimiter >= 'A' && delimiter <= 'Z') && !(delimiter >= 'a' && delimiter <= 'z');
  if (delimiter == '\t' || (punctuation && excluded.find(delimiter) == std::string_view::npos)) return;
  throw Error(ErrorCode::invalid_argument, "delimiter",
              "delimiter: byte " + std::to_string(static_cast<unsigned char>(delimiter)) +
                  " given; use a tab or an ASCII punctuation mark other than \" . + - and _, "
                  "for example \",\", \";\" or \"|\"");
}

CsvHeader read_csv_header(const std::string& path, char delimiter) {
  InputFile file(path);
  // One byte more, to see the LF of a CR LF.
  std::vector<char> buffer(max_line_bytes + 1);
  const std::string_view start = file.read(buffer);
  if (start.empty()) bad_header("the file is empty; its first line must name the columns");
  const std::size_t length = start.find_first_of("\r\n");
  if (length == std::string_view::npos && start.size() > max_line_bytes)
    bad_header("the first line is longer than " + std::to_string(max_line_bytes) + " bytes");

  std::string_view line = start.substr(0, length);
  CsvHeader header;
  header.size = line.size();
  if (length != std::string_view::npos) {
    const bool carriage_return = start[length] == '\r';
    const bool pair = carriage_return && length + 1 < start.size() && start[length + 1] == '\n';
    header.line_end = pair ? LineEnd::cr_lf : carriage_return ? LineEnd::cr : LineEnd::lf;
    header.size += pair ? 2 : 1;
  }
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (line.substr(0, byte_order_mark.size()) == byte_order_mark) line.remove_prefix(byte_order_mark.size());
  if (line.find('\0') != std::string_view::npos || find_bad_utf8(line) != std::string_view::npos) {
    bad_header("the first line is not UTF-8 text; convert the file to UTF-8 (or say that it is Parquet)");
  }

  header.names = header_cells(line, delimiter);
  check_column_names(header.names, "header");
  return header;
}

CsvCounter::CsvCounter(LineEnd line_end, char delimiter, std::size_t columns)
    : first_(line_end == LineEnd::lf ? '\n' : '\r'),
      last_(line_end == LineEnd::cr ? '\r' : '\n'),
      delimiter_(delimiter),
      blank_lines_count_(columns == 1),
      previous_(last_) {}

// Text without quotes, outside quoted cells. The loops are written so that compilers vectorise them.
void CsvCounter::add_open(std::string_view text) {
  if (text.empty()) return;
  const auto count = [&](auto matches) {
    std::uint64_t sum = matches(previous_, text[0]) ? 1U : 0U;
    for (std::size_t i = 1; i < text.size(); ++i) sum += matches(text[i - 1], text[i]) ? 1U : 0U;
    return sum;
  };
  line_feeds_ += count([](char, char c) { return c == '\n'; });
  carriage_returns_ += count([](char, char c) { return c == '\r'; });
  if (first_ != last_) pairs_ += count([](char before, char c) { return before == '\r' && c == '\n'; });
  blank_lines_ +=
      count([first = first_, last = last_](char before, char c) { return before == last && c == first; });
  previous_ = text.back();
  // A quote opens a cell only at its start; DuckDB skips spaces before it.
  const std::size_t tail = text.find_last_not_of(' ');
  if (tail != std::string_view::npos)
    at_cell_start_ = text[tail] == delimiter_ || text[tail] == '\n' || text[tail] == '\r';
}

void CsvCounter::add(std::string_view piece) {
  std::size_t i = 0;
  while (i < piece.size()) {
    switch (place_) {
      case Place::open: {
        const std::size_t end = std::min(piece.find(quote, i), piece.size());
        add_open(piece.substr(i, end - i));
        i = end;
        if (i == piece.size()) break;
        quotes_ = true;
        if (at_cell_start_) place_ = Place::quoted;
        at_cell_start_ = false;
        previous_ = quote;
        ++i;
        break;
      }
      case Place::quoted:
        i = piece.find(quote, i);
        if (i == std::string_view::npos) return;
        place_ = Place::after_quote;
        ++i;
        break;
      case Place::after_quote:
        if (piece[i] == quote) {  // two quotes are one in the text
          place_ = Place::quoted;
          ++i;
        } else {
          place_ = Place::closed;
        }
        break;
      case Place::closed:
        i = std::min(piece.find_first_not_of(' ', i), piece.size());
        if (i == piece.size()) break;
        malformed_ |= piece[i] != delimiter_ && piece[i] != first_;
        place_ = Place::open;
        break;
    }
  }
}

CsvShape CsvCounter::finish() const {
  const bool line_ends_agree = first_ != last_  ? line_feeds_ == pairs_ && carriage_returns_ == pairs_
                               : first_ == '\n' ? carriage_returns_ == 0
                                                : line_feeds_ == 0;
  if (malformed_ || !line_ends_agree || place_ == Place::quoted) {
    throw Error(ErrorCode::bad_data, "data",
                "data: the file is not well-formed CSV: every opening quote needs a closing one with the "
                "delimiter or "
                "the line's end after it, and all lines must end like the first one");
  }
  CsvShape shape;
  shape.quotes = quotes_;
  shape.rows = (last_ == '\n' ? line_feeds_ : carriage_returns_) + (previous_ == last_ ? 0 : 1);
  if (!blank_lines_count_) shape.rows -= blank_lines_;
  return shape;
}

CsvShape read_csv_shape(const std::string& path, const CsvHeader& header, char delimiter) {
  InputFile file(path);
  file.skip(header.size);
  CsvCounter counter(header.line_end, delimiter, header.names.size());
  std::vector<char> buffer(std::size_t{1} << 18);
  while (true) {
    const std::string_view piece = file.read(buffer);
    if (piece.empty()) return counter.finish();
    counter.add(piece);
  }
}

}  // namespace snapdp::engine
