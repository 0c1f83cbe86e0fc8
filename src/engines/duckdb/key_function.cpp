#include "engines/duckdb/key_function.h"

#include <algorithm>
#include <atomic>

#include "engines/duckdb/kept_exception.h"
#include "snapdp/error.h"

namespace snapdp::engine {

using Function = Handle<duckdb_scalar_function, duckdb_destroy_scalar_function>;

class KeyFunction::Calls {
 public:
  Calls(const CellInput& input, const KeyIndex& index) : reader_({input}), index_(index) {}

  const CellReader& reader() const { return reader_; }

  void call(duckdb_data_chunk chunk, duckdb_vector result) const {
    const std::size_t length = duckdb_data_chunk_get_size(chunk);
    auto* places = static_cast<std::uint32_t*>(duckdb_vector_get_data(result));
    // A dictionary may be longer than a block.
    for (std::size_t first = 0; first < length; first += block_rows) {
      const std::size_t rows = std::min(block_rows, length - first);
      index_.find(reader_.read(chunk, first, rows).front(), rows, places + first);
    }
  }

  KeptException& exception() { return exception_; }

 private:
  CellReader reader_;
  const KeyIndex& index_;
  KeptException exception_;
};

namespace {

// Nothing throws through DuckDB's C interface: the exception is kept, and the query fails.
void run(duckdb_function_info info, duckdb_data_chunk chunk, duckdb_vector result) {
  KeyFunction::Calls& calls =
      **static_cast<std::shared_ptr<KeyFunction::Calls>*>(duckdb_scalar_function_get_extra_info(info));
  try {
    calls.call(chunk, result);
  } catch (...) {
    calls.exception().keep(std::current_exception());
    duckdb_scalar_function_set_error(info, "the keys were not found");
  }
}

}  // namespace

KeyFunction::KeyFunction(const Connection& connection, const CellInput& input, const KeyIndex& index)
    : calls_(std::make_shared<Calls>(input, index)) {
  static std::atomic<std::uint64_t> next{0};
  name_ = "snapdp_place_" + std::to_string(next++);

  const Function function(duckdb_create_scalar_function());
  duckdb_scalar_function_set_name(function.get(), name_.c_str());
  duckdb_scalar_function_add_parameter(function.get(), calls_->reader().type(0).get());
  const LogicalType result(duckdb_create_logical_type(DUCKDB_TYPE_UINTEGER));
  duckdb_scalar_function_set_return_type(function.get(), result.get());
  duckdb_scalar_function_set_function(function.get(), run);
  duckdb_scalar_function_set_special_handling(function.get());  // a null has a place too
  duckdb_scalar_function_set_extra_info(function.get(), new std::shared_ptr<Calls>(calls_), [](void* calls) {
    delete static_cast<std::shared_ptr<Calls>*>(calls);
  });
  if (duckdb_register_scalar_function(connection.get(), function.get()) == DuckDBError)
    throw Error(ErrorCode::io, "engine", "engine: DuckDB does not accept the search for keys as a function");
}

std::string KeyFunction::call() const {
  return name_ + "(" + calls_->reader().arguments() + ")";
}

void KeyFunction::rethrow() const {
  calls_->exception().rethrow();
}

}  // namespace snapdp::engine
