#include "engines/duckdb/key_function.h"

#include <algorithm>

#include "engines/duckdb/registration.h"

namespace snapdp::engines_internal {
namespace {

class Places {
 public:
  Places(const CellInput& input, const KeyIndex& index) : reader_({input}), index_(index) {}

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

}  // namespace

RegisteredFunction key_function(const Connection& connection, const CellInput& input, const KeyIndex& index) {
  const auto places = std::make_shared<Places>(input, index);
  return register_scalar(connection, "snapdp_place", places->reader().arguments(), DUCKDB_TYPE_UINTEGER,
                         CallRate::once_a_value, places);
}

}  // namespace snapdp::engines_internal
