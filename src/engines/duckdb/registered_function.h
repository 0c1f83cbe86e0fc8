// A function of ours that DuckDB knows, as the queries need it. registration.h makes them.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "engines/duckdb/connection.h"
#include "engines/duckdb/kept_exception.h"

namespace snapdp::engines_internal {

// An argument of a call: what it is in SQL and the type that this has.
struct Argument {
  std::string sql;
  LogicalType type;
};

class RegisteredFunction {
 public:
  RegisteredFunction(std::string call, std::shared_ptr<const KeptException> exception)
      : call_(std::move(call)), exception_(std::move(exception)) {}

  // The call in SQL.
  const std::string& call() const { return call_; }
  // Rethrows what the function threw during the query, if anything.
  void rethrow() const { exception_->rethrow(); }

 private:
  std::string call_;
  std::shared_ptr<const KeptException> exception_;
};

}  // namespace snapdp::engines_internal
