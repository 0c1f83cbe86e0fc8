#include "core/noise.h"

#include <cmath>

#include "core/numbers.h"
#include "snapdp/error.h"

namespace snapdp::python {
namespace {

[[noreturn]] void refuse(const char* parameter, const std::string& message) {
  throw Error(ErrorCode::invalid_argument, parameter, parameter + message);
}

}  // namespace

NoiseKind noise_kind(const std::string& mode, const std::string& noise) {
  if (mode != "exact" && mode != "precision")
    refuse("mode", " = " + quoted_text(mode) + ": must be \"exact\" or \"precision\"");
  if (noise != "laplace" && noise != "geometric")
    refuse("noise", " = " + quoted_text(noise) + ": must be \"laplace\" or \"geometric\"");
  if (mode == "exact") return noise == "geometric" ? NoiseKind::geometric : NoiseKind::exact;
  if (noise == "geometric")
    refuse("noise", " = \"geometric\": precision mode is defined for Laplace noise only; use mode=\"exact\"");
  return NoiseKind::notes;
}

NoiseQuestion::NoiseQuestion(const std::optional<std::string>& loss, const std::string& distance,
                             const std::optional<std::string>& from, const std::optional<std::string>& to,
                             const std::string& spacing, const std::string& mode,
                             const std::optional<long>& bits, const std::string& noise_name, bool whole)
    : epsilon(positive(loss, "epsilon")),
      sensitivity(sensitivity_up(distance)),
      lower(bound_down(from, "lower")),
      upper(bound_up(to, "upper")),
      grid(grid_of(spacing)),
      noise(noise_kind(mode, noise_name)),
      precision(bits),
      integer(whole || noise == NoiseKind::geometric) {
  if (has_range() && *lower > *upper)
    refuse("lower", " = " + *from + ": must be less than upper = " + *to + "; swap them");
}

void NoiseQuestion::require_range(const std::string& why) const {
  if (!has_range())
    refuse(lower ? "upper" : "lower", ": is missing; " + why + ", so give both lower and upper");
}

void NoiseQuestion::check_value(const std::optional<double>& value) const {
  if (integer && value && *value != std::floor(*value))
    refuse("value",
           " = " + to_string(*value) + ": must be a whole number, because the statistic is an integer");
}

const Rational& NoiseQuestion::required_epsilon() const {
  if (!epsilon) refuse("epsilon", ": is missing; give the privacy loss, epsilon=\"1/4\"");
  return *epsilon;
}

MechanismOptions NoiseQuestion::free_options(const Rational& loss) const {
  return {.epsilon = loss,
          .sensitivity = sensitivity,
          .grid = grid,
          .integer = integer && noise != NoiseKind::notes,
          .noise = noise,
          .precision = precision};
}

MechanismOptions NoiseQuestion::options(const Rational& loss) const {
  if (has_range() && *lower == *upper) {
    refuse("lower",
           " = " + to_string(*lower) +
               ": must be less than upper: between equal bounds the statistic is a public constant and "
               "needs no noise");
  }
  if (noise == NoiseKind::notes) require_range("precision mode's loss grows with the range");
  MechanismOptions between = free_options(loss);
  between.lower = lower;
  between.upper = upper;
  return between;
}

Rational NoiseQuestion::epsilon_for(const Rational& accuracy, const FailureRate& alpha) const {
  MechanismOptions asked = options(0);
  asked.integer = integer;
  try {
    return epsilon_for_accuracy(asked, accuracy, alpha);
  } catch (const Error& error) {
    const std::string message = error.what();
    if (error.parameter() != "accuracy" || !message.starts_with("accuracy")) throw;
    throw Error(error.code(), "target_accuracy", "target_" + message);
  }
}

}  // namespace snapdp::python
