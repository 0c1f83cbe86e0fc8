#include "snapdp/framework/chunk.h"

#include <algorithm>
#include <string>

#include "snapdp/error.h"

namespace snapdp {
namespace {

std::size_t cell_size(AtomType type) {
  switch (type) {
    case AtomType::real:
      return sizeof(double);
    case AtomType::integer:
      return sizeof(std::int64_t);
    case AtomType::text:
      break;
  }
  return sizeof(std::string_view);
}

}  // namespace

Column Column::from(std::size_t first) const {
  Column result = *this;
  result.values = static_cast<const char*>(values) + first * cell_size(type);
  result.validity_offset += first;
  return result;
}

Chunk::Chunk(std::span<const double> rows) : column_count(1), length(rows.size()) {
  column[0] = {AtomType::real, rows.data()};
}

Chunk::Chunk(std::span<const std::int64_t> rows) : column_count(1), length(rows.size()) {
  column[0] = {AtomType::integer, rows.data()};
}

Chunk::Chunk(std::span<const std::string_view> rows) : column_count(1), length(rows.size()) {
  column[0] = {AtomType::text, rows.data()};
}

Chunk::Chunk(std::span<const Column> columns, std::size_t rows) : column_count(columns.size()), length(rows) {
  if (columns.size() > max_columns) {
    throw Error(ErrorCode::invalid_argument, "columns",
                "columns: " + std::to_string(columns.size()) + " given; at most " +
                    std::to_string(max_columns) + " take part in one statistic");
  }
  std::copy(columns.begin(), columns.end(), column.begin());
}

Chunk Chunk::slice(std::size_t first, std::size_t count) const {
  Chunk result = *this;
  result.length = count;
  for (std::size_t i = 0; i < column_count; ++i) result.column[i] = column[i].from(first);
  return result;
}

}  // namespace snapdp
