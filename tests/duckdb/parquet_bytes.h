// Small Parquet files byte by byte, of types and names that DuckDB does not write: one row group, plain encoding, no
// compression. The format is that of https://parquet.apache.org/docs/file-format/, its metadata Thrift's compact protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace snapdp::parquet {

// The enumerations of parquet.thrift.
enum Physical { boolean = 0, int32 = 1, int64 = 2, float32 = 4, float64 = 5, byte_array = 6, fixed = 7 };
inline constexpr int converted_decimal = 5;

// A struct in Thrift's compact protocol. Fields go in by rising number.
class Struct {
 public:
  Struct& i32(int field, std::int64_t value) { return number(field, 5, value); }
  Struct& i64(int field, std::int64_t value) { return number(field, 6, value); }
  Struct& text(int field, std::string_view value) {
    head(field, 8);
    add_text(value);
    return *this;
  }
  Struct& nested(int field, const Struct& value) {
    head(field, 12);
    bytes_ += value.done();
    return *this;
  }
  Struct& structs(int field, const std::vector<Struct>& values) {
    list(field, 12, values.size());
    for (const Struct& value : values) bytes_ += value.done();
    return *this;
  }
  Struct& texts(int field, const std::vector<std::string>& values) {
    list(field, 8, values.size());
    for (const std::string& value : values) add_text(value);
    return *this;
  }
  Struct& numbers(int field, const std::vector<int>& values) {
    list(field, 5, values.size());
    for (const int value : values) zigzag(value);
    return *this;
  }
  std::string done() const { return bytes_ + '\0'; }

 private:
  void head(int field, int type) {
    bytes_ += static_cast<char>((field - last_) << 4 | type);
    last_ = field;
  }
  void list(int field, int type, std::size_t size) {
    head(field, 9);
    bytes_ += static_cast<char>(static_cast<int>(size) << 4 | type);
  }
  Struct& number(int field, int type, std::int64_t value) {
    head(field, type);
    zigzag(value);
    return *this;
  }
  void add_text(std::string_view value) {
    varint(value.size());
    bytes_ += value;
  }
  void zigzag(std::int64_t value) {
    varint(static_cast<std::uint64_t>(value) << 1U ^ static_cast<std::uint64_t>(value >> 63));
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>(value | 0x80U);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
  int last_ = 0;
};

struct Column {
  std::string name;
  Physical type;
  std::vector<std::string> cells;  // as the type writes them in plain encoding
  int type_length = 0;             // of fixed
  std::optional<int> converted = {};
  int scale = 0;
  int precision = 0;
  std::optional<Struct> logical = {};
  bool null = false;  // all cells are
};

// `value` in so many bytes, most significant first, as decimals are written.
inline std::string big_endian(std::int64_t value, std::size_t bytes) {
  std::string text(bytes, value < 0 ? '\xff' : '\0');
  for (std::size_t i = 0; i < bytes && i < sizeof value; ++i)
    text[bytes - 1 - i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
  return text;
}

inline std::string little_endian(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

// All columns have as many cells.
inline std::string file(const std::vector<Column>& columns) {
  std::string bytes = "PAR1";
  const auto rows = static_cast<std::int64_t>(columns.at(0).cells.size());
  std::vector<Struct> schema{Struct().text(4, "root").i32(5, static_cast<std::int64_t>(columns.size()))};
  std::vector<Struct> chunks;
  for (const Column& column : columns) {
    Struct element;
    element.i32(1, column.type);
    if (column.type == fixed) element.i32(2, column.type_length);
    element.i32(3, column.null ? 1 : 0).text(4, column.name);
    if (column.converted) element.i32(6, *column.converted);
    if (column.precision > 0) element.i32(7, column.scale).i32(8, column.precision);
    if (column.logical) element.nested(10, *column.logical);
    schema.push_back(element);

    std::string page;
    if (column.null) {  // definition levels: one run of zeros
      page = little_endian(2, 4) + static_cast<char>(rows << 1) + '\0';
    } else {
      for (const std::string& cell : column.cells)
        page += (column.type == byte_array ? little_endian(cell.size(), 4) : "") + cell;
    }
    const auto page_size = static_cast<std::int64_t>(page.size());
    const Struct data = Struct().i32(1, rows).i32(2, 0).i32(3, 3).i32(4, 3);
    const std::string header = Struct().i32(1, 0).i32(2, page_size).i32(3, page_size).nested(5, data).done();
    const auto offset = static_cast<std::int64_t>(bytes.size());
    bytes += header + page;
    const auto size = static_cast<std::int64_t>(header.size() + page.size());
    chunks.push_back(Struct().i64(2, offset).nested(3, Struct()
                                                           .i32(1, column.type)
                                                           .numbers(2, {0, 3})
                                                           .texts(3, {column.name})
                                                           .i32(4, 0)
                                                           .i64(5, rows)
                                                           .i64(6, size)
                                                           .i64(7, size)
                                                           .i64(9, offset)));
  }
  const Struct group =
      Struct().structs(1, chunks).i64(2, static_cast<std::int64_t>(bytes.size())).i64(3, rows);
  const std::string footer = Struct().i32(1, 1).structs(2, schema).i64(3, rows).structs(4, {group}).done();
  return bytes + footer + little_endian(footer.size(), 4) + "PAR1";
}

}  // namespace snapdp::parquet
