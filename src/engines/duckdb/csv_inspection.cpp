#include "snapdp/engines/duckdb/csv_inspection.h"

#include <algorithm>
#include <array>

#include "engines/duckdb/csv_file.h"
#include "engines/duckdb/data_file.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace engines_internal;

namespace {

std::string problem_of(RowFault fault) {
  switch (fault) {
    case RowFault::none:
      break;
    case RowFault::cells:
      return "has more or fewer cells than the header";
    case RowFault::quote:
      return "has a quote out of place";
    case RowFault::line_break:
      return "has a line end of another kind than the header";
    case RowFault::encoding:
      return "holds bytes that are not UTF-8";
    case RowFault::length:
      return "is longer than " + std::to_string(max_row_bytes) + " bytes";
  }
  return "";
}

// Counts the lines of a file while its rows are read.
class Inspector {
 public:
  explicit Inspector(const CsvFile& file)
      : file_(file), rows_(file.format(), {}), line_(1 + lines_in(header(file))) {}

  CsvInspection inspect() && {
    CsvSplitter splitter(file_, file_.format(), file_.first_row());
    while (const std::optional<CsvSplitter::Piece> piece = splitter.next()) {
      if (piece->too_long) {
        take_long_row(*piece);
      } else {
        take(*piece);
      }
    }
    file_.require_unchanged();
    return std::move(result_);
  }

 private:
  static std::string header(const CsvFile& file) {
    std::string text(static_cast<std::size_t>(file.first_row()), '\0');
    text.resize(file.read(0, text));
    return text;
  }

  std::uint64_t lines_in(std::string_view text) const {
    return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), file_.format().end()));
  }

  void take(const CsvSplitter::Piece& piece) {
    const std::span<char> text = rows_.room(static_cast<std::size_t>(piece.end - piece.begin));
    if (file_.read(piece.begin, text) != text.size()) return;  // it has become shorter, as will be told
    rows_.start();
    std::size_t begin = 0;
    while (rows_.next()) {
      const std::size_t end = rows_.offset();
      add(rows_.fault());
      line_ += lines_in({text.data() + begin, end - begin});
      begin = end;
    }
  }

  void take_long_row(const CsvSplitter::Piece& piece) {
    add(RowFault::length);
    std::string window;
    for (std::uint64_t at = piece.begin; at < piece.end; at += window.size()) {
      window.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(piece.end - at, std::uint64_t{1} << 18)));
      window.resize(file_.read(at, window));
      if (window.empty()) return;
      line_ += lines_in(window);
    }
  }

  void add(RowFault fault) {
    ++result_.rows;
    if (fault == RowFault::none) return;
    ++result_.malformed_rows;
    if (result_.malformed.size() < CsvInspection::most_rows_told)
      result_.malformed.push_back({line_, problem_of(fault)});
    if (fault == RowFault::encoding && !wrongly_encoded_) {
      wrongly_encoded_ = true;
      result_.hints.emplace_back(
          "some rows are not UTF-8; if the file was saved as Windows-1252 or Latin-1, convert it: iconv -f "
          "WINDOWS-1252 -t UTF-8");
    }
  }

  const CsvFile& file_;
  CsvRowReader rows_;
  std::uint64_t line_;
  bool wrongly_encoded_ = false;
  CsvInspection result_;
};

std::string name_of(char delimiter) {
  return delimiter == '\t' ? "a tab" : std::string("\"") + delimiter + "\"";
}

// A header of one name that another delimiter would make several of.
std::string delimiter_hint(const CsvFile& file) {
  if (file.names().size() > 1) return "";
  constexpr std::array<char, 4> usual = {',', ';', '\t', '|'};
  const std::string& name = file.names().front();
  const auto occurrences = [&](char c) { return std::count(name.begin(), name.end(), c); };
  const char most = *std::max_element(usual.begin(), usual.end(),
                                      [&](char a, char b) { return occurrences(a) < occurrences(b); });
  if (occurrences(most) == 0) return "";
  return "the header is one name with " + name_of(most) +
         " in it; if that separates the cells, declare delimiter = " +
         (most == '\t' ? "\"\\t\"" : name_of(most)) + " in [data]";
}

}  // namespace

CsvInspection inspect_csv(const DuckdbOptions& options) {
  const DataFile data = find_data_file(options);
  if (data.format != FileFormat::csv) {
    throw Error(ErrorCode::invalid_argument, "path",
                "path: the file is Parquet, whose rows have no form to inspect; inspect CSV files");
  }
  const CsvFile file(data.path, data.delimiter);
  CsvInspection result = Inspector(file).inspect();
  if (const std::string hint = delimiter_hint(file); !hint.empty())
    result.hints.insert(result.hints.begin(), hint);
  return result;
}

}  // namespace snapdp
