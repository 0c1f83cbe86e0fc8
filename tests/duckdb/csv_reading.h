// CSV text read twice: by the engine's reader, in pieces and windows of any size, and by the rules of csv_rows.h taken by
// the letter. No GoogleTest here: a fuzz target uses it too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engines/duckdb/csv_rows.h"
#include "engines/duckdb/utf8.h"

namespace snapdp::engines_internal {

class TextBytes final : public ByteSource {
 public:
  explicit TextBytes(std::string_view text) : text_(text) {}
  std::size_t read(std::uint64_t offset, std::span<char> into) const override {
    const std::string_view rest = text_.substr(std::min<std::uint64_t>(offset, text_.size()), into.size());
    std::copy(rest.begin(), rest.end(), into.begin());
    return rest.size();
  }

 private:
  std::string_view text_;
};

// Cells between |, "null" for what is null; "!" and the fault for a malformed row.
using Rows = std::vector<std::string>;

inline std::string fault_name(RowFault fault) {
  const char* names[] = {"", "cells", "quote", "line_break", "encoding", "length"};
  return std::string("!") + names[static_cast<int>(fault)];
}

inline void require(bool holds, const char* rule) {
  if (!holds) throw std::logic_error(rule);
}

// The row that the reader is at.
inline std::string shown_row(const CsvRowReader& reader) {
  std::string row;
  for (const std::string_view cell : reader.cells()) {
    require(cell.empty() == (cell.data() == nullptr), "empty cells are null");
    require(cell.empty() || reader.fault() == RowFault::none, "all cells of a malformed row are null");
    row += (row.empty() ? "" : "|") + (cell.empty() ? "null" : std::string(cell));
  }
  return reader.fault() == RowFault::none ? row : fault_name(reader.fault());
}

// All columns, or those at the places in `wanted`, of the rows from `first_row` on. Throws std::logic_error when pieces do
// not fit together.
inline Rows read_rows(const ByteSource& bytes, std::uint64_t size, const CsvFormat& format,
                      std::uint64_t first_row, std::size_t piece_bytes, std::size_t window_bytes,
                      std::vector<std::size_t> wanted = {}) {
  if (wanted.empty()) {
    for (std::size_t i = 0; i < format.columns; ++i) wanted.push_back(i);
  }
  CsvSplitter splitter(bytes, format, first_row, piece_bytes, window_bytes);
  CsvRowReader reader(format, wanted);
  Rows rows;
  std::uint64_t end = first_row;
  while (const auto piece = splitter.next()) {
    require(piece->begin == end && piece->end > end, "a piece starts where the last one ended");
    end = piece->end;
    if (piece->too_long) {
      rows.push_back(fault_name(RowFault::length));
      continue;
    }
    const std::span<char> room = reader.room(static_cast<std::size_t>(piece->end - piece->begin));
    require(bytes.read(piece->begin, room) == room.size(), "pieces lie within the text");
    reader.start();
    while (reader.next()) rows.push_back(shown_row(reader));
  }
  require(end == size, "pieces cover the text");
  return rows;
}

// ---- The rules, one character at a time -----------------------------------------------------------------------------------

// Knows no limit on the length of a row.
class SlowReader {
 public:
  SlowReader(std::string_view text, const CsvFormat& format) : text_(text), format_(format) {}

  Rows rows() {
    Rows rows;
    while (at_ < text_.size()) rows.push_back(row());
    return rows;
  }

 private:
  // The length of a line's end that stands here, or 0.
  std::size_t line_end(std::size_t at) const {
    if (format_.line_end == LineEnd::cr) return at < text_.size() && text_[at] == '\r' ? 1 : 0;
    if (text_.substr(at, 1) == "\n") return 1;
    return text_.substr(at, 2) == "\r\n" ? 2 : 0;
  }
  bool ends_cell(std::size_t at) const {
    return at >= text_.size() || text_[at] == format_.delimiter || line_end(at) > 0;
  }

  std::string row() {
    const std::size_t begin = at_;
    faults_.clear();
    std::vector<std::string> cells;
    bool last_is_bare = false;  // empty and not between quotes
    while (true) {
      std::string cell = quoted_cell();
      last_is_bare = !quoted_ && cell.empty();
      cells.push_back(cell);
      if (at_ >= text_.size() || text_[at_] != format_.delimiter) break;
      ++at_;
    }
    const std::string_view row = text_.substr(begin, at_ - begin);
    at_ += line_end(at_);
    const bool one_more = cells.size() == format_.columns + 1 && last_is_bare;
    const bool one_less = cells.size() + 1 == format_.columns && format_.last_may_lack;
    if (cells.size() != format_.columns && !one_more && !one_less) faults_.push_back("!cells");
    if (!is_utf8(row)) faults_.push_back("!encoding");
    if (!faults_.empty()) return faults_.front();
    cells.resize(format_.columns);
    std::string shown;
    for (const std::string& cell : cells)
      shown += (shown.empty() ? "" : "|") + (cell.empty() ? "null" : cell);
    return shown;
  }

  // The cell that starts here.
  std::string quoted_cell() {
    const std::size_t begin = at_;
    std::size_t at = at_;
    while (text_.substr(at, 1) == " ") ++at;
    quoted_ = false;
    if (text_.substr(at, 1) == "\"") {
      std::string cell;
      for (++at; at < text_.size(); ++at) {
        if (text_[at] == '"' && text_.substr(at + 1, 1) != "\"") break;
        if (text_[at] == '"') ++at;
        cell += text_[at];
      }
      std::size_t after = at + 1;
      while (text_.substr(std::min(after, text_.size()), 1) == " ") ++after;
      if (at < text_.size() && ends_cell(after)) {
        quoted_ = true;
        at_ = std::min(after, text_.size());
        return cell;
      }
      faults_.push_back("!quote");
    }
    for (at_ = begin; !ends_cell(at_); ++at_) {
      if (text_[at_] == '\r' || text_[at_] == '\n') faults_.push_back("!line_break");
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  CsvFormat format_;
  std::size_t at_ = 0;
  bool quoted_ = false;
  std::vector<std::string> faults_;
};

// Only whether a row is malformed must agree: of several faults a reader may name any.
inline Rows without_fault_names(Rows rows) {
  for (std::string& row : rows) {
    for (const RowFault fault :
         {RowFault::cells, RowFault::quote, RowFault::line_break, RowFault::encoding}) {
      if (row == fault_name(fault)) row = "!";
    }
  }
  return rows;
}

}  // namespace snapdp::engines_internal
