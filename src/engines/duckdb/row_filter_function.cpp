#include "engines/duckdb/row_filter_function.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "engines/duckdb/registration.h"
#include "framework/shared/row_hash.h"

namespace snapdp::engines_internal {

using namespace framework_internal;

class RowFilterFunction::Calls {
 public:
  explicit Calls(RowFilter filter) : filter_(std::move(filter)), reader_(filter_.inputs) {}

  const CellReader& reader() const { return reader_; }

  void call(duckdb_data_chunk chunk, duckdb_vector result) {
    const std::vector<Column> columns = reader_.read(chunk);
    const std::size_t length = duckdb_data_chunk_get_size(chunk);
    rows_ += length;
    std::array<std::uint8_t, block_rows> holds;
    holds.fill(1);
    if (filter_.where) {
      std::vector<Column> compared;
      for (const std::size_t place : filter_.where_columns) compared.push_back(columns[place]);
      filter_.where->evaluate(Chunk(compared, length), holds.data());
    }
    if (filter_.unit) {
      for (std::size_t row = 0; row < length; ++row) holds[row] &= names_unit(columns[*filter_.unit], row);
    }
    std::copy_n(holds.begin(), length, static_cast<bool*>(duckdb_vector_get_data(result)));
  }

  std::uint64_t rows() const { return rows_; }

  KeptException& exception() { return exception_; }

 private:
  RowFilter filter_;
  CellReader reader_;
  std::atomic<std::uint64_t> rows_{0};
  KeptException exception_;
};

// Were it not called once a row, the rows would be miscounted.
RowFilterFunction::RowFilterFunction(const Connection& connection, std::shared_ptr<Calls> calls)
    : RegisteredFunction(register_scalar(connection, "snapdp_selected", calls->reader().arguments(),
                                         DUCKDB_TYPE_BOOLEAN, CallRate::once_a_row, calls)),
      calls_(std::move(calls)) {}

RowFilterFunction::RowFilterFunction(const Connection& connection, RowFilter filter)
    : RowFilterFunction(connection, std::make_shared<Calls>(std::move(filter))) {}

std::uint64_t RowFilterFunction::rows() const {
  return calls_->rows();
}

}  // namespace snapdp::engines_internal
