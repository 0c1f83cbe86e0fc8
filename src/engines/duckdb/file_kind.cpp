#include "engines/duckdb/file_kind.h"

#include <algorithm>
#include <array>

namespace snapdp::engines_internal {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::string_view start;
  const char* what;
};

constexpr std::string_view parquet_start = "PAR1";

constexpr std::array kinds{
    Kind{"PK\x03\x04"sv,
         "is a zip archive, as Excel workbooks (.xlsx) are; save the sheet as \"CSV UTF-8\", or unpack the "
         "archive"},
    Kind{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv,
         "is an Excel workbook (.xls); save the sheet as \"CSV UTF-8\""},
    Kind{"\x1f\x8b"sv, "is compressed by gzip; decompress it (gunzip)"},
    Kind{"BZh91AY&SY"sv, "is compressed by bzip2; decompress it (bunzip2)"},
    Kind{"\xfd"
         "7zXZ\0"sv,
         "is compressed by xz; decompress it (unxz)"},
    Kind{"\x28\xb5\x2f\xfd"sv, "is compressed by zstd; decompress it (unzstd)"},
    Kind{"SQLite format 3\0"sv, "is an SQLite database; export the table as CSV (sqlite3 -csv -header)"},
    Kind{"ARROW1"sv, "is an Arrow file (Feather); write it as Parquet or CSV"},
    Kind{"PARE"sv, "is an encrypted Parquet file; decrypt it"},
    Kind{"%PDF-"sv, "is a PDF document; export the table as CSV"},
    Kind{"<?xml"sv, "is XML; export the table as CSV"},
    Kind{"<!DOCTYPE"sv, "is a web page; check what was downloaded"},
    Kind{"<html"sv, "is a web page; check what was downloaded"},
};

// Of text that is not UTF-8: what byte order marks tell.
constexpr std::array wide_texts{
    Kind{"\xff\xfe\0\0"sv, "UTF-32LE"},
    Kind{"\0\0\xfe\xff"sv, "UTF-32BE"},
    Kind{"\xff\xfe"sv, "UTF-16LE"},
    Kind{"\xfe\xff"sv, "UTF-16BE"},
};

std::string is_wide_text(const std::string& encoding) {
  return "is " + encoding + " text; save it as \"CSV UTF-8\", or convert it: iconv -f " + encoding +
         " -t UTF-8";
}

// An object or array of JSON, one a line or all in one.
bool is_json(std::string_view start) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = start.find_first_not_of(blank);
  if (first == std::string_view::npos || (start[first] != '{' && start[first] != '[')) return false;
  const std::size_t second = start.find_first_not_of(blank, first + 1);
  if (second == std::string_view::npos) return false;
  return start[second] == '"' || start[second] == '{' || (start[first] == '[' && start[second] == '[');
}

std::string other_format(std::string_view start) {
  const auto starts = [start](const Kind& kind) { return start.starts_with(kind.start); };
  if (const auto kind = std::find_if(kinds.begin(), kinds.end(), starts); kind != kinds.end())
    return kind->what;
  if (const auto text = std::find_if(wide_texts.begin(), wide_texts.end(), starts); text != wide_texts.end())
    return is_wide_text(text->what);
  if (is_json(start)) return "is JSON; write the table as CSV";
  return "";
}

// Without a byte order mark: in most languages every other byte of the first line is zero. Lines may end in a carriage
// return alone, and what follows the first one are people's rows, which decide nothing here.
bool has_zero(std::string_view start) {
  return start.substr(0, start.find_first_of("\r\n")).find('\0') != std::string_view::npos;
}

}  // namespace

std::string not_csv(std::string_view start) {
  if (start.empty()) return "is empty; its first line must name the columns";
  if (start.starts_with(parquet_start))
    return "is a Parquet file; let its name end in .parquet, or declare its format";
  std::string other = other_format(start);
  if (!other.empty()) return other;
  if (has_zero(start)) {
    return is_wide_text(start[0] == '\0' ? "UTF-16BE" : "UTF-16LE") +
           " (its first line holds zero bytes; if it is no text, export the table as CSV)";
  }
  constexpr std::string_view excel = "sep=";
  const std::string_view line = start.substr(0, start.find_first_of("\r\n"));
  if (line.starts_with(excel) && line.size() == excel.size() + 1)
    return "starts with a line \"sep=\", which only Excel reads; remove that line";
  return "";
}

std::string not_parquet(std::string_view start) {
  if (start.empty()) return "is empty; write it anew";
  if (start.starts_with(parquet_start)) return "";
  const std::string other = other_format(start);
  return other.empty()
             ? "is not a Parquet file; if it is CSV, let its name end in .csv, or declare its format"
             : other;
}

}  // namespace snapdp::engines_internal
