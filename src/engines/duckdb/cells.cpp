#include "engines/duckdb/cells.h"

#include <algorithm>
#include <array>
#include <bit>

#include "framework/shared/source_parts.h"
#include "snapdp/error.h"

namespace snapdp::engines_internal {

using namespace framework_internal;

namespace {

// DuckDB's validity masks are 64-bit words, a Column's are bytes.
static_assert(std::endian::native == std::endian::little);

// Room for the converted cells of one vector, per thread and input.
struct Converted {
  std::array<std::string_view, block_rows> texts;
  Scratch results;
};

Converted& converted(std::size_t input) {
  thread_local std::vector<std::unique_ptr<Converted>> all;
  while (all.size() <= input) all.push_back(std::make_unique<Converted>());
  return *all[input];
}

}  // namespace

LogicalType duckdb_type_of(AtomType type) {
  switch (type) {
    case AtomType::real:
      return LogicalType(duckdb_create_logical_type(DUCKDB_TYPE_DOUBLE));
    case AtomType::integer:
      return LogicalType(duckdb_create_logical_type(DUCKDB_TYPE_BIGINT));
    case AtomType::text:
      break;
  }
  return LogicalType(duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR));
}

std::size_t place_of(const CellInput& input, std::vector<CellInput>& inputs) {
  const auto known = std::find(inputs.begin(), inputs.end(), input);
  const auto place = static_cast<std::size_t>(known - inputs.begin());
  if (known == inputs.end()) inputs.push_back(input);
  return place;
}

CellReader::CellReader(std::vector<CellInput> inputs) : inputs_(std::move(inputs)) {
  for (const CellInput& input : inputs_) convert_.push_back(cell_conversion(input.stored, input.wanted));
}

std::vector<Argument> CellReader::arguments() const {
  std::vector<Argument> arguments;
  for (const CellInput& input : inputs_) arguments.push_back({input.sql, duckdb_type_of(input.stored)});
  return arguments;
}

std::vector<Column> CellReader::read(duckdb_data_chunk chunk) const {
  const std::size_t length = duckdb_data_chunk_get_size(chunk);
  if (length > block_rows)
    throw Error(ErrorCode::io, "engine", "engine: DuckDB's vectors are longer than SnapDP's blocks");
  return read(chunk, 0, length);
}

std::vector<Column> CellReader::read(duckdb_data_chunk chunk, std::size_t first, std::size_t length) const {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    columns.push_back(column(i, duckdb_data_chunk_get_vector(chunk, i), first, length));
  return columns;
}

Column CellReader::column(std::size_t input, duckdb_vector vector, std::size_t first,
                          std::size_t length) const {
  // DuckDB flattens the vectors of a function of its C interface: one value a row.
  Column stored{inputs_[input].stored, duckdb_vector_get_data(vector),
                reinterpret_cast<const std::uint8_t*>(duckdb_vector_get_validity(vector)), 0};
  if (stored.type == AtomType::text) {
    stored.validity_offset = first;
    Converted& room = converted(input);
    const auto* texts = static_cast<const duckdb_string_t*>(stored.values) + first;
    for (std::size_t row = 0; row < length; ++row)
      room.texts[row] = stored.valid(row) ? view(texts[row]) : std::string_view();
    stored.values = room.texts.data();
  } else {
    stored = stored.from(first);
  }
  if (!convert_[input]) return stored;
  return convert_[input]
      ->apply(Chunk(std::span<const Column>(&stored, 1), length), converted(input).results)
      .column[0];
}

}  // namespace snapdp::engines_internal
