// From DuckDB's vectors to the library's columns: the one place where cells are converted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/duckdb/connection.h"
#include "engines/duckdb/registered_function.h"
#include "snapdp/framework/transformation.h"

namespace snapdp::engines_internal {

// One argument of a function that DuckDB calls.
struct CellInput {
  std::string sql;  // gives a DOUBLE, a BIGINT or a VARCHAR, as `stored` says
  AtomType stored = AtomType::real;
  // What becomes of it: text is parsed as make_parse says, and a real is the integer that it is, or else null. Integers
  // become neither reals nor text here, nor reals text: SQL does that.
  AtomType wanted = AtomType::real;

  friend bool operator==(const CellInput&, const CellInput&) = default;
};

// The type of DuckDB that holds such cells.
LogicalType duckdb_type_of(AtomType type);

// The number of the input among `inputs`, to which it is added when it is new.
std::size_t place_of(const CellInput& input, std::vector<CellInput>& inputs);

class CellReader {
 public:
  explicit CellReader(std::vector<CellInput> inputs);

  const std::vector<CellInput>& inputs() const { return inputs_; }
  std::vector<Argument> arguments() const;
  // One column an argument, of the type wanted. They live in the chunk and in room of the calling thread's, until it
  // reads again. Throws io for chunks longer than block_rows.
  std::vector<Column> read(duckdb_data_chunk chunk) const;
  // Of at most block_rows rows from row `first` on.
  std::vector<Column> read(duckdb_data_chunk chunk, std::size_t first, std::size_t length) const;

 private:
  Column column(std::size_t input, duckdb_vector vector, std::size_t first, std::size_t length) const;

  std::vector<CellInput> inputs_;
  std::vector<std::shared_ptr<const RowFunction>> convert_;  // one an input, or null
};

}  // namespace snapdp::engines_internal
