#include "engines/duckdb/cells.h"

#include <algorithm>
#include <array>
#include <bit>

#include "snapdp/error.h"

namespace snapdp::engine {
namespace {

// DuckDB's validity masks are 64-bit words, a Column's are bytes.
static_assert(std::endian::native == std::endian::little);

// Room for the converted cells of one vector, per thread and input.
struct Converted {
  std::array<std::string_view, block_rows> texts;
  Scratch parsed;
};

Converted& converted(std::size_t input) {
  thread_local std::vector<std::unique_ptr<Converted>> all;
  while (all.size() <= input) all.push_back(std::make_unique<Converted>());
  return *all[input];
}

}  // namespace

std::size_t place_of(const CellInput& input, std::vector<CellInput>& inputs) {
  const auto known = std::find(inputs.begin(), inputs.end(), input);
  const auto place = static_cast<std::size_t>(known - inputs.begin());
  if (known == inputs.end()) inputs.push_back(input);
  return place;
}

CellReader::CellReader(std::vector<CellInput> inputs) : inputs_(std::move(inputs)) {
  for (const CellInput& input : inputs_) {
    std::shared_ptr<const RowFunction> parse;
    if (input.text && input.wanted != AtomType::text) {
      // A row-wise function is the same under every metric.
      parse = make_parse(untrusted_domain({AtomType::text}), symmetric_distance(), {input.wanted})
                  .functions()
                  .at(0);
    }
    parse_.push_back(std::move(parse));
  }
}

std::vector<Argument> CellReader::arguments() const {
  std::vector<Argument> arguments;
  for (const CellInput& input : inputs_) {
    arguments.push_back({input.sql, LogicalType(duckdb_create_logical_type(input.text ? DUCKDB_TYPE_VARCHAR
                                                                           : input.wanted == AtomType::real
                                                                               ? DUCKDB_TYPE_DOUBLE
                                                                               : DUCKDB_TYPE_BIGINT))});
  }
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
  const bool text = inputs_[input].text;
  Column result{inputs_[input].wanted, duckdb_vector_get_data(vector),
                reinterpret_cast<const std::uint8_t*>(duckdb_vector_get_validity(vector)), text ? first : 0};
  if (!text) return result.from(first);
  result.type = AtomType::text;
  Converted& room = converted(input);
  const auto* texts = static_cast<const duckdb_string_t*>(result.values) + first;
  for (std::size_t row = 0; row < length; ++row)
    room.texts[row] = result.valid(row) ? view(texts[row]) : std::string_view();
  result.values = room.texts.data();
  if (!parse_[input]) return result;
  return parse_[input]->apply(Chunk(std::span<const Column>(&result, 1), length), room.parsed).column[0];
}

}  // namespace snapdp::engine
