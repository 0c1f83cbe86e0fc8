// One array of a stream: its columns, checked against the schema as far as can be without their cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "engines/arrow/arrow_layout.h"
#include "engines/arrow/arrow_stream.h"

namespace snapdp::engines_internal {

// What the buffers of one array hold. They belong to the array.
struct ArrowCells {
  ArrowCellType type;
  std::size_t rows = 0;
  std::size_t first = 0;                   // where the first row lies in the buffers
  const std::uint8_t* validity = nullptr;  // null when no cell is null
  const char* values = nullptr;            // of fixed width; of utf8 the offsets
  const char* bytes = nullptr;             // of utf8
  std::int64_t size = 0;                   // of `bytes`
  const void* const* parts = nullptr;      // of views: buffers of bytes,
  const char* part_sizes = nullptr;        // their sizes
  std::int64_t part_count = 0;             // and number

  bool valid(std::size_t place) const {
    return validity == nullptr || (unsigned{validity[place / 8]} >> (place % 8) & 1U) != 0;
  }
  // Buffers need not be aligned.
  template <typename Value>
  Value value(std::size_t place) const {
    Value value;
    std::memcpy(&value, values + place * sizeof value, sizeof value);
    return value;
  }
};

struct ArrowColumn {
  ArrowCells cells;                 // of the rows, or of the dictionary
  std::optional<ArrowCells> index;  // of the rows, into the dictionary
  std::optional<ArrowCells> whole;  // of the batch, where whole rows may be null

  // The cells that there is one of for each row.
  const ArrowCells& rows() const { return index ? *index : cells; }
};

class ArrowBatch {
 public:
  // Throws bad_data naming "stream" and the column when the array does not fit the layout. Only the columns `used` are
  // looked at.
  ArrowBatch(ArrowOwned<ArrowArray> array, const ArrowLayout& layout, const std::vector<std::size_t>& used);

  std::size_t rows() const { return rows_; }
  // One of those that are used.
  const ArrowColumn& column(std::size_t place) const { return columns_[place]; }

 private:
  ArrowOwned<ArrowArray> array_;
  std::size_t rows_ = 0;
  std::vector<ArrowColumn> columns_;
};

}  // namespace snapdp::engines_internal
