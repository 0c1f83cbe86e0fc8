#include "engines/duckdb/registration.h"

#include <atomic>

#include "snapdp/error.h"

namespace snapdp::engine {

std::string new_function_name(const std::string& stem) {
  static std::atomic<std::uint64_t> next{0};
  return stem + "_" + std::to_string(next++);
}

void refuse_function() {
  throw Error(ErrorCode::io, "engine", "engine: DuckDB does not accept a function of SnapDP");
}

}  // namespace snapdp::engine
