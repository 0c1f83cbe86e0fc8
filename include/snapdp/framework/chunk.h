// Rows as the library sees them: columns of values with optional validity bitmaps. A Chunk owns nothing; it
// fits std::span, an Arrow array and a DuckDB vector alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace snapdp {

// What a cell may hold: a double, a 64-bit signed integer, or text.
enum class AtomType { real, integer, text };

std::string to_string(AtomType type);  // "real", "integer", "text"

struct Column {
  AtomType type = AtomType::real;
  const void* values = nullptr;  // double, std::int64_t or std::string_view, as `type` says
  // One bit a row, least significant bit first, set when the cell is not null; absent when no cell is null.
  const std::uint8_t* validity = nullptr;
  std::size_t validity_offset = 0;  // the bit of row 0

  const double* reals() const { return static_cast<const double*>(values); }
  const std::int64_t* integers() const { return static_cast<const std::int64_t*>(values); }
  const std::string_view* texts() const { return static_cast<const std::string_view*>(values); }
  bool valid(std::size_t row) const {
    const std::size_t bit = validity_offset + row;
    return validity == nullptr || ((validity[bit / 8] >> (bit % 8)) & 1U) != 0;
  }
  // The same column from row `first` on.
  Column from(std::size_t first) const;
};

struct Chunk {
  static constexpr std::size_t max_columns = 8;

  Chunk() = default;
  // One column without nulls.
  Chunk(std::span<const double> rows);            // NOLINT: rows are passed as they are
  Chunk(std::span<const std::int64_t> rows);      // NOLINT
  Chunk(std::span<const std::string_view> rows);  // NOLINT
  // The same for anything contiguous, such as a std::vector.
  template <typename Rows>
  requires requires(const Rows& rows) { std::data(rows), std::size(rows); }
  Chunk(const Rows& rows)  // NOLINT
      : Chunk(std::span<const std::remove_cvref_t<decltype(*std::data(rows))>>(std::data(rows),
                                                                               std::size(rows))) {}
  // Throws invalid_argument for more than max_columns columns.
  Chunk(std::span<const Column> columns, std::size_t rows);

  std::span<const Column> columns() const { return {column.data(), column_count}; }
  // Rows [first, first + count).
  Chunk slice(std::size_t first, std::size_t count) const;

  std::array<Column, max_columns> column;
  std::size_t column_count = 0;
  std::size_t length = 0;
};

}  // namespace snapdp
