#include "release/kinds/cells.h"

#include <cmath>

#include "snapdp/error.h"

namespace snapdp::release_internal {
namespace {

Dyadic nearest_real(const Rational& value, const std::string& parameter) {
  const double nearest = to_double_nearest(value);
  if (!std::isfinite(nearest))
    refuse(parameter, " = " + to_string(value) + ": is beyond the largest double, 1.8e308");
  return Dyadic(nearest);
}

Dyadic whole_number(const Rational& value, const std::string& parameter) {
  if (value.get_den() != 1) {
    refuse(parameter, " = " + to_string(value) + ": must be a whole number, because type = \"integer\"");
  }
  Dyadic number(value.get_num(), 0);
  if (!number.is_int64()) {
    refuse(parameter, " = " + to_string(value) + ": does not fit a 64-bit integer, and type = \"integer\"");
  }
  return number;
}

}  // namespace

void refuse(const std::string& parameter, const std::string& message) {
  throw Error(ErrorCode::invalid_argument, parameter, parameter + message);
}

Dyadic cell_value(const Rational& value, AtomType type, const std::string& parameter) {
  return type == AtomType::integer ? whole_number(value, parameter) : nearest_real(value, parameter);
}

std::vector<Dyadic> cell_values(const std::vector<Rational>& values, AtomType type,
                                const std::string& parameter) {
  std::vector<Dyadic> cells;
  for (const Rational& value : values) cells.push_back(cell_value(value, type, parameter));
  return cells;
}

Bounds round_outward(const DecimalBounds& bounds, AtomType type) {
  if (bounds.lower == bounds.upper) {
    const Dyadic value = cell_value(bounds.lower, type, "bounds");
    return Bounds(value, value);
  }
  if (type == AtomType::integer) {
    return Bounds(whole_number(Rational(floor(bounds.lower)), "bounds"),
                  whole_number(Rational(ceil(bounds.upper)), "bounds"));
  }
  const double lower = to_double_down(bounds.lower);
  const double upper = to_double_up(bounds.upper);
  if (!std::isfinite(lower) || !std::isfinite(upper)) {
    refuse("bounds", " = [" + to_string(bounds.lower) + ", " + to_string(bounds.upper) +
                         "]: must lie within the range of doubles, 1.8e308; declare tighter bounds");
  }
  return Bounds(Dyadic(lower), Dyadic(upper));
}

Dyadic midpoint(const Bounds& bounds, AtomType type) {
  const Rational middle = (bounds.lower() + bounds.upper()).rational() / 2;
  return type == AtomType::integer ? Dyadic(floor(middle), 0) : Dyadic(to_double_nearest(middle));
}

}  // namespace snapdp::release_internal
