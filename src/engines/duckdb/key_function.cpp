#include "engines/duckdb/key_function.h"

#include <algorithm>

#include "engines/duckdb/registration.h"

namespace snapdp::engine {

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

KeyFunction::KeyFunction(const Connection& connection, const CellInput& input, const KeyIndex& index)
    : name_(new_function_name("snapdp_place")), calls_(std::make_shared<Calls>(input, index)) {
  register_scalar(connection, name_, calls_->reader().types(),
                  LogicalType(duckdb_create_logical_type(DUCKDB_TYPE_UINTEGER)), engine::Calls::once_a_value,
                  calls_);
}

std::string KeyFunction::call() const {
  return name_ + "(" + calls_->reader().arguments() + ")";
}

void KeyFunction::rethrow() const {
  calls_->exception().rethrow();
}

}  // namespace snapdp::engine
