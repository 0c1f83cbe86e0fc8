#include "engines/duckdb/registration.h"

#include <atomic>

#include "snapdp/error.h"

namespace snapdp::engines_internal::detail {

using namespace engines_internal;

std::string new_name(const std::string& stem) {
  static std::atomic<std::uint64_t> next{0};
  return stem + "_" + std::to_string(next++);
}

std::string call(const std::string& name, std::span<const Argument> arguments) {
  std::string list;
  for (const Argument& argument : arguments) list += (list.empty() ? "" : ", ") + argument.sql;
  return name + "(" + list + ")";
}

void refuse_function() {
  throw Error(ErrorCode::io, "engine", "engine: DuckDB does not accept a function of SnapDP");
}

}  // namespace snapdp::engines_internal::detail
