#include "engines/duckdb/csv_rows.h"

#include <algorithm>
#include <cstring>

#include "engines/duckdb/utf8.h"

namespace snapdp::engines_internal {

// ---- Where rows end ---------------------------------------------------------------------------------------------------

CsvSplitter::CsvSplitter(const ByteSource& bytes, const CsvFormat& format, std::uint64_t first_row,
                         std::size_t piece_bytes, std::size_t window_bytes)
    : bytes_(bytes),
      format_(format),
      piece_bytes_(piece_bytes),
      window_bytes_(window_bytes),
      window_offset_(first_row),
      begin_(first_row),
      row_end_(first_row) {}

std::optional<CsvSplitter::Piece> CsvSplitter::next() {
  while (true) {
    if (at_ < window_.size()) {
      if (std::optional<Piece> piece = scan()) return piece;
      continue;
    }
    if (row_end_ > begin_ && offset() - begin_ >= piece_bytes_) return cut(row_end_, false);
    if (refill()) continue;
    if (place_ != Place::quoted && place_ != Place::after_cr) return finish();
    go_back();
  }
}

bool CsvSplitter::refill() {
  window_offset_ = offset();
  at_ = 0;
  window_.resize(window_bytes_);
  window_.resize(bytes_.read(window_offset_, window_));
  return !window_.empty();
}

std::optional<CsvSplitter::Piece> CsvSplitter::scan() {
  switch (place_) {
    case Place::open:
      return scan_open();
    case Place::quoted:
    case Place::after_quote:
      scan_quoted();
      break;
    case Place::closed:
    case Place::after_cr:
      scan_closed();
      break;
  }
  return std::nullopt;
}

// Up to the next quote, or a row that is too long.
std::optional<CsvSplitter::Piece> CsvSplitter::scan_open() {
  const std::string_view text = rest().substr(0, rest().find(csv_quote));
  if (row_end_ == begin_) {
    const std::size_t first = text.find(format_.end());
    // One byte more than a row has may be a CR.
    if (first != std::string_view::npos && offset() + first - begin_ > max_row_bytes + 1) {
      at_ += first + 1;
      at_cell_start_ = true;
      return cut(offset(), true);
    }
  }
  if (const std::size_t last = text.rfind(format_.end()); last != std::string_view::npos)
    row_end_ = offset() + last + 1;
  if (const std::size_t last = text.find_last_not_of(' '); last != std::string_view::npos)
    at_cell_start_ = text[last] == format_.delimiter || text[last] == format_.end();
  at_ += text.size();
  if (at_ == window_.size()) return std::nullopt;
  if (at_cell_start_) {
    place_ = Place::quoted;
    opened_ = offset();
  }
  at_cell_start_ = false;
  ++at_;
  return std::nullopt;
}

void CsvSplitter::scan_quoted() {
  if (place_ == Place::after_quote) {
    const bool doubled = rest().front() == csv_quote;
    place_ = doubled ? Place::quoted : Place::closed;
    at_ += doubled ? 1 : 0;
    return;
  }
  const std::size_t quote = rest().find(csv_quote);
  at_ = quote == std::string_view::npos ? window_.size() : at_ + quote + 1;
  if (quote != std::string_view::npos) place_ = Place::after_quote;
}

void CsvSplitter::scan_closed() {
  if (place_ == Place::closed) at_ = std::min(window_.find_first_not_of(' ', at_), window_.size());
  if (at_ == window_.size()) return;
  const char next = window_[at_];
  if (next == format_.end() || (place_ == Place::closed && next == format_.delimiter)) {
    place_ = Place::open;
  } else if (place_ == Place::closed && next == '\r') {
    place_ = Place::after_cr;
    ++at_;
  } else {
    go_back();
  }
}

void CsvSplitter::go_back() {
  place_ = Place::open;
  at_cell_start_ = false;
  if (opened_ >= window_offset_) {
    at_ = static_cast<std::size_t>(opened_ - window_offset_) + 1;
  } else {
    window_.clear();
    window_offset_ = opened_ + 1;
    at_ = 0;
  }
}

// At the end of the text, which ends the last row.
std::optional<CsvSplitter::Piece> CsvSplitter::finish() {
  if (begin_ == offset()) return std::nullopt;
  const bool too_long = offset() - row_end_ > max_row_bytes + 1;
  if (too_long && row_end_ > begin_) return cut(row_end_, false);
  return cut(offset(), too_long);
}

CsvSplitter::Piece CsvSplitter::cut(std::uint64_t end, bool too_long) {
  const Piece piece{begin_, end, too_long};
  begin_ = end;
  row_end_ = end;
  return piece;
}

// ---- What their cells are -----------------------------------------------------------------------------------------------

CsvRowReader::CsvRowReader(const CsvFormat& format, const std::vector<std::size_t>& wanted)
    : format_(format), place_(format.columns, unwanted), cells_(wanted.size()) {
  for (std::size_t i = 0; i < wanted.size(); ++i) place_.at(wanted[i]) = i;
  for (const char c : {format.delimiter, '\r', '\n'}) special_[static_cast<unsigned char>(c)] = true;
}

std::span<char> CsvRowReader::room(std::size_t size) {
  if (buffer_.size() < size + 1) buffer_.resize(size + 1);
  at_ = buffer_.data();
  end_ = at_ + size;
  return {buffer_.data(), size};
}

void CsvRowReader::start() {
  buffer_[static_cast<std::size_t>(end_ - buffer_.data())] = format_.end();
  ascii_ = is_ascii({at_, static_cast<std::size_t>(end_ - at_)});
}

bool CsvRowReader::next() {
  if (at_ == end_) return false;
  const char* const begin = at_;
  fault_ = RowFault::none;
  doubled_.clear();
  std::fill(cells_.begin(), cells_.end(), std::string_view());
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    const Cell cell = take_cell();
    if (count < format_.columns) {
      keep(count, cell);
    } else if (count > format_.columns || !cell.text.empty() || cell.quoted) {
      mark(RowFault::cells);
    }
    more = at_ != end_ && *at_ == format_.delimiter;
    if (more) ++at_;
  }
  if (count < format_.columns && !(format_.last_may_lack && count + 1 == format_.columns))
    mark(RowFault::cells);
  const std::string_view row(begin, static_cast<std::size_t>(at_ - begin));
  skip_line_end();
  if (row.size() > max_row_bytes) mark(RowFault::length);
  if (!ascii_ && !is_utf8(row)) mark(RowFault::encoding);
  if (fault_ != RowFault::none) {
    std::fill(cells_.begin(), cells_.end(), std::string_view());
  } else if (!doubled_.empty()) {
    undouble();
  }
  return true;
}

// Leaves at_ at what ends the cell.
CsvRowReader::Cell CsvRowReader::take_cell() {
  const char* const begin = at_;
  const char* text = at_;
  while (text != end_ && *text == ' ') ++text;
  if (text != end_ && *text == csv_quote) {
    if (const std::optional<Cell> quoted = take_quoted(text)) return *quoted;
    mark(RowFault::quote);
  }
  at_ = end_of_text(text);
  return {{begin, static_cast<std::size_t>(at_ - begin)}};
}

std::optional<CsvRowReader::Cell> CsvRowReader::take_quoted(const char* quote) {
  const char* const begin = quote + 1;
  const char* close = begin;
  bool doubled = false;
  while (true) {
    close = static_cast<const char*>(std::memchr(close, csv_quote, static_cast<std::size_t>(end_ - close)));
    if (close == nullptr) return std::nullopt;
    if (close + 1 == end_ || close[1] != csv_quote) break;
    doubled = true;
    close += 2;
  }
  const char* after = close + 1;
  while (after != end_ && *after == ' ') ++after;
  if (!at_end(after) && *after != format_.delimiter) return std::nullopt;
  at_ = after;
  return Cell{{begin, static_cast<std::size_t>(close - begin)}, true, doubled};
}

const char* CsvRowReader::end_of_text(const char* from) {
  // The byte behind the piece is special.
  for (const char* place = from;; ++place) {
    while (!special_[static_cast<unsigned char>(*place)]) ++place;
    if (place == end_ || *place == format_.delimiter || at_end(place)) return place;
    mark(RowFault::line_break);
  }
}

bool CsvRowReader::at_end(const char* place) const {
  if (place == end_ || *place == format_.end()) return true;
  return *place == '\r' && place[1] == '\n' && place + 1 != end_;
}

void CsvRowReader::keep(std::size_t column, const Cell& cell) {
  const std::size_t place = place_[column];
  if (place == unwanted || cell.text.empty()) return;
  cells_[place] = cell.text;
  if (cell.doubled) doubled_.push_back(place);
}

void CsvRowReader::skip_line_end() {
  if (at_ == end_) return;
  if (*at_ == '\r' && format_.line_end == LineEnd::lf) ++at_;
  ++at_;
}

void CsvRowReader::undouble() {
  std::size_t size = 0;
  for (const std::size_t place : doubled_) size += cells_[place].size();
  single_.clear();
  single_.reserve(size);  // so that it stays where it is
  for (const std::size_t place : doubled_) {
    const std::size_t begin = single_.size();
    for (std::size_t i = 0; i < cells_[place].size(); ++i) {
      single_ += cells_[place][i];
      if (cells_[place][i] == csv_quote) ++i;
    }
    cells_[place] = std::string_view(single_).substr(begin);
  }
}

}  // namespace snapdp::engines_internal
