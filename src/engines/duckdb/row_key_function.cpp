#include "engines/duckdb/row_key_function.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "engines/duckdb/kept_exception.h"
#include "snapdp/error.h"

namespace snapdp::engine {

using Function = Handle<duckdb_scalar_function, duckdb_destroy_scalar_function>;

class RowKeyFunction::Calls {
 public:
  explicit Calls(RowKey key) : key_(std::move(key)), reader_(key_.inputs) {}

  const CellReader& reader() const { return reader_; }

  void call(duckdb_data_chunk chunk, duckdb_vector result) {
    const std::vector<Column> columns = reader_.read(chunk);
    const std::size_t length = duckdb_data_chunk_get_size(chunk);
    rows_ += length;
    const auto chosen = [&](const std::vector<std::size_t>& places) {
      std::vector<Column> some;
      for (const std::size_t place : places) some.push_back(columns[place]);
      return some;
    };

    std::array<std::uint8_t, block_rows> holds;
    holds.fill(1);
    if (key_.where) key_.where->evaluate(Chunk(chosen(key_.where_columns), length), holds.data());
    if (key_.unit) {
      for (std::size_t row = 0; row < length; ++row) holds[row] &= names_unit(columns[*key_.unit], row);
    }

    auto* keys = static_cast<std::uint64_t*>(duckdb_vector_get_data(result));
    if (key_.content.empty()) {
      std::fill_n(keys, length, 0);
    } else {
      hash_rows(key_.hash, chosen(key_.content), length, keys);
    }
    if (std::find(holds.begin(), holds.begin() + length, 0) == holds.begin() + length) return;
    duckdb_vector_ensure_validity_writable(result);
    std::uint64_t* validity = duckdb_vector_get_validity(result);
    for (std::size_t row = 0; row < length; ++row) {
      if (holds[row] == 0) duckdb_validity_set_row_invalid(validity, row);
    }
  }

  std::uint64_t take_rows() { return rows_.exchange(0); }

  KeptException& exception() { return exception_; }

 private:
  RowKey key_;
  CellReader reader_;
  std::atomic<std::uint64_t> rows_{0};
  KeptException exception_;
};

namespace {

// Nothing throws through DuckDB's C interface: the exception is kept, and the query fails.
void run(duckdb_function_info info, duckdb_data_chunk chunk, duckdb_vector result) {
  RowKeyFunction::Calls& calls =
      **static_cast<std::shared_ptr<RowKeyFunction::Calls>*>(duckdb_scalar_function_get_extra_info(info));
  try {
    calls.call(chunk, result);
  } catch (...) {
    calls.exception().keep(std::current_exception());
    duckdb_scalar_function_set_error(info, "the selection failed");
  }
}

}  // namespace

RowKeyFunction::RowKeyFunction(const Connection& connection, RowKey key)
    : calls_(std::make_shared<Calls>(std::move(key))) {
  static std::atomic<std::uint64_t> next{0};
  name_ = "snapdp_key_" + std::to_string(next++);

  const Function function(duckdb_create_scalar_function());
  duckdb_scalar_function_set_name(function.get(), name_.c_str());
  for (std::size_t i = 0; i < calls_->reader().inputs().size(); ++i)
    duckdb_scalar_function_add_parameter(function.get(), calls_->reader().type(i).get());
  const LogicalType result(duckdb_create_logical_type(DUCKDB_TYPE_UBIGINT));
  duckdb_scalar_function_set_return_type(function.get(), result.get());
  duckdb_scalar_function_set_function(function.get(), run);
  duckdb_scalar_function_set_special_handling(function.get());  // nulls are cells too
  // Otherwise DuckDB might call it twice a row, or once for all rows that share a dictionary's entry.
  duckdb_scalar_function_set_volatile(function.get());
  duckdb_scalar_function_set_extra_info(function.get(), new std::shared_ptr<Calls>(calls_), [](void* calls) {
    delete static_cast<std::shared_ptr<Calls>*>(calls);
  });
  if (duckdb_register_scalar_function(connection.get(), function.get()) == DuckDBError)
    throw Error(ErrorCode::io, "engine", "engine: DuckDB does not accept the choice of rows as a function");
}

std::string RowKeyFunction::call() const {
  return name_ + "(" + calls_->reader().arguments() + ")";
}

std::uint64_t RowKeyFunction::take_rows() {
  return calls_->take_rows();
}

void RowKeyFunction::rethrow() const {
  calls_->exception().rethrow();
}

}  // namespace snapdp::engine
