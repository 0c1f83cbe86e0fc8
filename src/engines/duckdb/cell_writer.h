// Cells into DuckDB's vectors.
#pragma once

#include <duckdb.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace snapdp::engines_internal {

class CellWriter {
 public:
  explicit CellWriter(duckdb_vector vector)
      : vector_(vector), values_(static_cast<char*>(duckdb_vector_get_data(vector))) {}

  void write_null(idx_t row) {
    duckdb_vector_ensure_validity_writable(vector_);
    duckdb_validity_set_row_invalid(duckdb_vector_get_validity(vector_), row);
  }
  // Of a DOUBLE or a BIGINT.
  void write_bits(idx_t row, std::uint64_t bits) {
    std::memcpy(values_ + row * sizeof bits, &bits, sizeof bits);
  }
  // UTF-8, of a VARCHAR. Short texts lie in the vector itself.
  void write_text(idx_t row, std::string_view text) {
    duckdb_string_t written{};
    if (text.size() > sizeof written.value.inlined.inlined) {
      duckdb_vector_assign_string_element_len(vector_, row, text.data(), text.size());
      return;
    }
    written.value.inlined.length = static_cast<std::uint32_t>(text.size());
    if (!text.empty()) std::memcpy(written.value.inlined.inlined, text.data(), text.size());
    std::memcpy(values_ + row * sizeof written, &written, sizeof written);
  }

 private:
  duckdb_vector vector_;
  char* values_;
};

}  // namespace snapdp::engines_internal
