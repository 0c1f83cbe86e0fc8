#include "engines/arrow/arrow_layout.h"

#include <array>
#include <charconv>
#include <string_view>

#include "snapdp/error.h"

namespace snapdp::engines_internal {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::bad_data, "stream", "stream: " + message);
}

struct Known {
  std::string_view format;
  ArrowForm form;
  ArrowKind kind;
};
constexpr std::array known_formats = {
    Known{"n", ArrowForm::null, ArrowKind::null},
    Known{"b", ArrowForm::boolean, ArrowKind::boolean},
    Known{"c", ArrowForm::int8, ArrowKind::integer},
    Known{"s", ArrowForm::int16, ArrowKind::integer},
    Known{"i", ArrowForm::int32, ArrowKind::integer},
    Known{"l", ArrowForm::int64, ArrowKind::integer},
    Known{"C", ArrowForm::uint8, ArrowKind::integer},
    Known{"S", ArrowForm::uint16, ArrowKind::integer},
    Known{"I", ArrowForm::uint32, ArrowKind::integer},
    Known{"L", ArrowForm::uint64, ArrowKind::large_integer},
    Known{"e", ArrowForm::float16, ArrowKind::real},
    Known{"f", ArrowForm::float32, ArrowKind::real},
    Known{"g", ArrowForm::float64, ArrowKind::real},
    Known{"u", ArrowForm::utf8, ArrowKind::text},
    Known{"U", ArrowForm::large_utf8, ArrowKind::text},
    Known{"vu", ArrowForm::utf8_view, ArrowKind::text},
};

// Formats that begin like this, and what to do about it. The first that fits counts.
struct Unusable {
  std::string_view prefix;
  const char* why;
};
constexpr std::array unusable_formats = {
    Unusable{"tdD", "a date (cast it to utf8, or to int32 for its days since 1970)"},
    Unusable{"td", "a date (cast it to utf8, or to int64 for its milliseconds since 1970)"},
    Unusable{"tts", "a time of day (cast it to utf8, or to int32 for its seconds)"},
    Unusable{"ttm", "a time of day (cast it to utf8, or to int32 for its milliseconds)"},
    Unusable{"tt", "a time of day (cast it to utf8, or to int64)"},
    Unusable{"ts", "a timestamp (cast it to utf8, or to int64 for its units since 1970)"},
    Unusable{"tD", "a duration (cast it to int64)"},
    Unusable{"ti", "an interval of time (cast it to utf8)"},
    Unusable{"z", "binary data, not marked as text (cast it to utf8)"},
    Unusable{"Z", "binary data, not marked as text (cast it to large_utf8)"},
    Unusable{"vz", "binary data, not marked as text (cast it to utf8)"},
    Unusable{"w", "binary data of fixed width, not marked as text (cast it to utf8)"},
    Unusable{"+l", "a list (take an element, or cast it to utf8)"},
    Unusable{"+L", "a list (take an element, or cast it to utf8)"},
    Unusable{"+v", "a list (take an element, or cast it to utf8)"},
    Unusable{"+w", "a list (take an element, or cast it to utf8)"},
    Unusable{"+r", "run-end encoded (cast it to its type of values)"},
    Unusable{"+", "a nested structure (take one of its fields)"},
};

bool take_number(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_comma(std::string_view& text) {
  if (text.empty() || text.front() != ',') return false;
  text.remove_prefix(1);
  return true;
}

// "d:DIGITS,SCALE" with 128 bits, or "d:DIGITS,SCALE,BITS".
void read_decimal(std::string_view text, ArrowColumnType& column) {
  constexpr int most_digits = 38;
  constexpr int digits_of_int64 = 18;
  ArrowCellType& cells = column.cells;
  int bits = 128;
  text.remove_prefix(2);
  const bool read = take_number(text, cells.digits) && take_comma(text) && take_number(text, cells.scale) &&
                    (text.empty() || (take_comma(text) && take_number(text, bits) && text.empty()));
  const bool known = bits == 32 || bits == 64 || bits == 128 || bits == 256;
  if (!read || !known || cells.digits < 1)
    refuse("a decimal column has a format that is none; export it again");
  if (bits == 256 || cells.digits > most_digits) {
    column.unusable =
        "a decimal of more than 38 digits or 128 bits (cast it to a shorter one, or to float64)";
  } else if (cells.scale < 0 || cells.scale > cells.digits) {
    column.unusable = "a decimal whose scale is negative or beyond its digits (cast it to float64)";
  } else {
    cells.form = bits == 32   ? ArrowForm::decimal32
                 : bits == 64 ? ArrowForm::decimal64
                              : ArrowForm::decimal128;
    cells.kind =
        cells.scale == 0 && cells.digits <= digits_of_int64 ? ArrowKind::integer : ArrowKind::decimal;
  }
}

void read_cells(std::string_view format, ArrowColumnType& column) {
  for (const Known& known : known_formats) {
    if (known.format == format) {
      column.cells = {known.form, known.kind};
      return;
    }
  }
  if (format.starts_with("d:")) return read_decimal(format, column);
  for (const Unusable& unusable : unusable_formats) {
    if (format.starts_with(unusable.prefix)) {
      column.unusable = unusable.why;
      return;
    }
  }
  column.unusable = "of a type that SnapDP does not know (cast it to float64, int64 or utf8)";
}

bool is_index(const ArrowCellType& cells) {
  return cells.digits == 0 && (cells.kind == ArrowKind::integer || cells.kind == ArrowKind::large_integer);
}

ArrowColumnType read_column(const ArrowSchema& schema) {
  if (schema.release == nullptr || schema.format == nullptr)
    refuse("a column of the schema is released or has no format; export it again");
  ArrowColumnType column;
  if (schema.name != nullptr) column.name = schema.name;
  read_cells(schema.format, column);
  if (schema.dictionary == nullptr || !column.unusable.empty()) return column;
  if (!is_index(column.cells))
    refuse("a dictionary is indexed by something other than integers; export it again");
  if (schema.dictionary->format == nullptr) refuse("a dictionary has no format; export it again");
  column.index = column.cells.form;
  column.cells = {};
  if (schema.dictionary->dictionary != nullptr) {
    column.unusable = "a dictionary of a dictionary (cast it to its type of values)";
  } else {
    read_cells(schema.dictionary->format, column);
  }
  return column;
}

}  // namespace

std::size_t arrow_width(ArrowForm form) {
  switch (form) {
    case ArrowForm::null:
    case ArrowForm::boolean:
      return 0;
    case ArrowForm::int8:
    case ArrowForm::uint8:
      return 1;
    case ArrowForm::int16:
    case ArrowForm::uint16:
    case ArrowForm::float16:
      return 2;
    case ArrowForm::int32:
    case ArrowForm::uint32:
    case ArrowForm::float32:
    case ArrowForm::decimal32:
    case ArrowForm::utf8:
      return 4;
    case ArrowForm::int64:
    case ArrowForm::uint64:
    case ArrowForm::float64:
    case ArrowForm::decimal64:
    case ArrowForm::large_utf8:
      return 8;
    case ArrowForm::decimal128:
    case ArrowForm::utf8_view:
      break;
  }
  return 16;
}

ArrowLayout read_layout(const ArrowSchema& schema) {
  if (schema.format == nullptr) refuse("the schema has no format; export it again");
  ArrowLayout layout;
  if (std::string_view(schema.format) != "+s") {
    layout.table = false;
    layout.columns.push_back(read_column(schema));
    return layout;
  }
  constexpr std::int64_t most_columns = 1'000'000;
  if (schema.n_children < 0 || schema.n_children > most_columns ||
      (schema.n_children > 0 && schema.children == nullptr))
    refuse("the schema has a number of columns that cannot be; export it again");
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    if (schema.children[i] == nullptr) refuse("a column of the schema is missing; export it again");
    layout.columns.push_back(read_column(*schema.children[i]));
  }
  return layout;
}

std::vector<SourceColumn> source_columns(const ArrowLayout& layout) {
  std::vector<SourceColumn> columns;
  for (const ArrowColumnType& column : layout.columns) {
    SourceColumn& as = columns.emplace_back(SourceColumn{column.name, std::nullopt, column.unusable});
    if (!column.unusable.empty()) continue;
    switch (column.cells.kind) {
      case ArrowKind::boolean:
      case ArrowKind::integer:
      case ArrowKind::large_integer:
        as.type = AtomType::integer;
        break;
      case ArrowKind::decimal:
      case ArrowKind::real:
        as.type = AtomType::real;
        break;
      case ArrowKind::null:
      case ArrowKind::text:
        break;
    }
  }
  return columns;
}

ArrowInput arrow_input(const ArrowLayout& layout, std::size_t column, AtomType wanted) {
  const ArrowKind kind = layout.columns[column].cells.kind;
  if (kind == ArrowKind::text) return {column, AtomType::text, wanted};
  if (wanted == AtomType::integer && kind == ArrowKind::decimal) return {column, AtomType::text, wanted};
  if (wanted == AtomType::integer && kind == ArrowKind::real) return {column, AtomType::real, wanted};
  return {column, wanted, wanted};
}

ArrowInput exact_arrow_input(const ArrowLayout& layout, std::size_t column) {
  switch (layout.columns[column].cells.kind) {
    case ArrowKind::boolean:
    case ArrowKind::integer:
      return {column, AtomType::integer, AtomType::integer};
    case ArrowKind::real:
      return {column, AtomType::real, AtomType::real};
    case ArrowKind::large_integer:
    case ArrowKind::decimal:
    case ArrowKind::text:
    case ArrowKind::null:
      break;
  }
  return {column, AtomType::text, AtomType::text};
}

}  // namespace snapdp::engines_internal
