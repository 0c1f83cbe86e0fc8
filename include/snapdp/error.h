// Errors: every public function of SnapDP either does what its comment says or throws snapdp::Error.
//
// The message names the parameter, the value given, the rule it breaks and the next step. It never contains
// cell text, a row count or anything else that depends on private rows, and no terminal obeys anything in it:
// text.h says what is shown as "?". It may have several lines, one for each fault.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "snapdp/text.h"

namespace snapdp {

enum class ErrorCode {
  invalid_argument,  // a parameter breaks a documented rule: bounds, epsilon, a specification key ...
  mismatch,          // two parts that do not fit: domains or metrics in a chain, states to be merged
  budget_refused,    // the ledger or the budget of the run does not allow the release
  bad_data,          // the data do not fit what was declared: a missing column, another type or size
  io,                // a file, the engine or the system generator failed
};

// "invalid_argument".
inline std::string to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::mismatch:
      return "mismatch";
    case ErrorCode::budget_refused:
      return "budget_refused";
    case ErrorCode::bad_data:
      return "bad_data";
    case ErrorCode::io:
      break;
  }
  return "io";
}

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string parameter, const std::string& message)
      : std::runtime_error(shown_lines(message)), code_(code), parameter_(std::move(parameter)) {}

  ErrorCode code() const noexcept { return code_; }
  // The name of the offending parameter as the caller wrote it, for example "epsilon" or "upper".
  const std::string& parameter() const noexcept { return parameter_; }

 private:
  ErrorCode code_;
  std::string parameter_;
};

}  // namespace snapdp
