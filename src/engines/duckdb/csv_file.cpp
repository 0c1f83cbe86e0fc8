#include "engines/duckdb/csv_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "engines/duckdb/file_kind.h"
#include "engines/duckdb/utf8.h"
#include "snapdp/error.h"
#include "snapdp/text.h"

namespace snapdp::engines_internal {
namespace {

[[noreturn]] void bad_header(const std::string& problem) {
  throw Error(ErrorCode::bad_data, "header", "header: " + problem);
}

// The cells of one line without line breaks in cells.
std::vector<std::string> header_cells(std::string_view line, char delimiter) {
  std::vector<std::string> cells;
  std::size_t i = 0;
  while (true) {
    std::string cell;
    if (i < line.size() && line[i] == csv_quote) {
      ++i;
      while (true) {
        const std::size_t close = line.find(csv_quote, i);
        if (close == std::string_view::npos) {
          bad_header("a quote stays open to the end of the first line; names have no line breaks");
        }
        cell += line.substr(i, close - i);
        i = close + 1;
        if (i == line.size() || line[i] != csv_quote) break;
        cell += csv_quote;  // two quotes are one in the text
        ++i;
      }
      if (i < line.size() && line[i] != delimiter)
        bad_header(
            "text follows a closing quote; after it comes a delimiter or the end of the line. Declare the "
            "delimiter that the file has; where spaces separate its cells, write it anew with commas or "
            "tabs");
    } else {
      const std::size_t end = std::min(line.find(delimiter, i), line.size());
      cell = line.substr(i, end - i);
      i = end;
      if (cell.find(csv_quote) != std::string::npos)
        bad_header("a quote inside a name; write the name between quotes and double the quotes in it");
    }
    cells.push_back(std::move(cell));
    if (i == line.size()) return cells;
    ++i;
  }
}

struct FirstLine {
  std::string_view text;
  LineEnd line_end = LineEnd::lf;
  std::size_t size = 0;  // with its end
};

FirstLine first_line(std::string_view start) {
  const std::size_t length = start.find_first_of("\r\n");
  if (length == std::string_view::npos) return {start, LineEnd::lf, start.size()};
  const std::size_t feed = start.find_first_not_of('\r', length);
  const bool fed = feed != std::string_view::npos && start[feed] == '\n';
  if (fed && feed > length + 1)
    bad_header("the first line ends in several carriage returns and a line feed; mend the line ends");
  const std::string_view text = start.substr(0, length);
  return fed ? FirstLine{text, LineEnd::lf, feed + 1} : FirstLine{text, LineEnd::cr, length + 1};
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

CsvFile::CsvFile(const std::string& path, char delimiter)
    : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0) fail(std::string("it cannot be opened (") + std::strerror(errno) + ")");
  try {
    if (fstat(file_, &opened_) != 0) fail(std::string("it cannot be read (") + std::strerror(errno) + ")");
    read_header(delimiter);
  } catch (...) {
    close(file_);
    throw;
  }
}

CsvFile::~CsvFile() {
  close(file_);
}

std::size_t CsvFile::read(std::uint64_t offset, std::span<char> into) const {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const ssize_t count =
        pread(file_, into.data() + filled, into.size() - filled, static_cast<off_t>(offset + filled));
    if (count == 0) break;
    if (count > 0) {
      filled += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      fail(std::string("it cannot be read (") + std::strerror(errno) + ")");
    }
  }
  return filled;
}

void CsvFile::require_unchanged() const {
  struct stat now {};
  if (fstat(file_, &now) == 0 && now.st_size == opened_.st_size &&
      now.st_mtim.tv_sec == opened_.st_mtim.tv_sec && now.st_mtim.tv_nsec == opened_.st_mtim.tv_nsec) {
    return;
  }
  fail("it changed while it was read; try again when nothing writes to it");
}

void CsvFile::fail(const std::string& problem) const {
  throw Error(ErrorCode::io, "path", "path = " + quoted_path(path_) + ": " + problem);
}

// So much of the file that the first line and what ends it are there, unless the line is too long.
std::string CsvFile::read_start() const {
  constexpr std::size_t most = max_row_bytes + 2;  // two bytes more, to see the line's end
  std::string start;
  for (std::size_t size = std::size_t{1} << 14;; size = std::min(8 * size, most)) {
    start.resize(size);
    start.resize(read(0, start));
    const std::size_t line_end = start.find_first_of("\r\n");
    const bool ended =
        line_end != std::string::npos && start.find_first_not_of('\r', line_end) != std::string::npos;
    if (ended || start.size() < size || size == most) return start;
  }
}

void CsvFile::read_header(char delimiter) {
  const std::string start = read_start();
  if (const std::string problem = not_csv(start); !problem.empty())
    throw Error(ErrorCode::bad_data, "data", "data: the file " + problem);
  const FirstLine line = first_line(start);
  if (line.text.size() > max_row_bytes)
    bad_header("the first line is longer than " + std::to_string(max_row_bytes) + " bytes");
  first_row_ = line.size;

  std::string_view text = line.text;
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (!is_utf8(text)) {
    bad_header(
        "the first line is not UTF-8 text; save the file as \"CSV UTF-8\", or convert it, from Windows-1252 "
        "or Latin-1 "
        "for example: iconv -f WINDOWS-1252 -t UTF-8");
  }
  names_ = header_cells(text, delimiter);
  const auto nameless = [](const std::string& name) { return name.empty(); };
  if (std::all_of(names_.begin(), names_.end(), nameless))
    bad_header("the first line is blank; it must name the columns");
  format_ = {delimiter, line.line_end, names_.size(), nameless(names_.back())};
}

}  // namespace snapdp::engines_internal
