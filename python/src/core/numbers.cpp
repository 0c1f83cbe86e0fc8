#include "core/numbers.h"

#include <nanobind/stl/string.h>

#include <cmath>

#include "snapdp/error.h"

namespace snapdp::python {
namespace {

std::optional<double> rounded(const std::optional<std::string>& text, const char* parameter,
                              double (*round)(const Rational&)) {
  if (!text) return std::nullopt;
  const double value = round(parse_rational(*text, parameter));
  if (!std::isfinite(value)) {
    throw Error(ErrorCode::invalid_argument, parameter,
                std::string(parameter) + " = " + *text +
                    ": is beyond the largest double, 1.8e308; choose a bound within it, or none");
  }
  return value == 0 ? 0.0 : value;
}

}  // namespace

Rational positive(const std::string& text, const char* parameter) {
  Rational value = parse_rational(text, parameter);
  if (value > 0) return value;
  throw Error(ErrorCode::invalid_argument, parameter,
              std::string(parameter) + " = " + text + ": must be greater than 0");
}

PrivacyBudget budget_of(const std::string& measure, const std::string& value, const std::string& delta) {
  const PrivacyMeasure counted = *parse_measure(measure);
  Rational failing = 0;
  if (counted != PrivacyMeasure::pure) failing = positive(delta, "delta");
  PrivacyBudget budget(counted, {positive(value, unit_of(counted).c_str()), failing});
  require_budget(budget);
  return budget;
}

std::optional<Rational> positive(const std::optional<std::string>& text, const char* parameter) {
  if (!text) return std::nullopt;
  return positive(*text, parameter);
}

Rational not_negative(const std::string& text, const char* parameter) {
  Rational value = parse_rational(text, parameter);
  if (value >= 0) return value;
  throw Error(ErrorCode::invalid_argument, parameter,
              std::string(parameter) + " = " + text + ": must not be negative");
}

Dyadic sensitivity_up(const std::string& text) {
  const Rational exact = positive(text, "sensitivity");
  if (mpz_popcount(exact.get_den_mpz_t()) == 1) return to_dyadic(exact, "sensitivity");
  const double up = to_double_up(exact);
  if (std::isfinite(up)) return up;
  throw Error(ErrorCode::invalid_argument, "sensitivity",
              "sensitivity = " + text + ": is beyond the largest double, 1.8e308; measure in a larger unit");
}

std::optional<double> bound_down(const std::optional<std::string>& text, const char* parameter) {
  return rounded(text, parameter, to_double_down);
}

std::optional<double> bound_up(const std::optional<std::string>& text, const char* parameter) {
  return rounded(text, parameter, to_double_up);
}

GridChoice grid_of(const std::string& text) {
  if (text == "auto" || text == "notes" || text.find('^') != std::string::npos)
    return GridChoice::parse(text, "grid");
  try {
    const Rational spacing = parse_rational(text, "grid");
    if (spacing > 0) {
      const Grid grid = Grid::at_least(spacing);
      if (grid.spacing().rational() == spacing) return GridChoice(grid);
    }
  } catch (const Error& error) {
    if (error.parameter() != "grid") throw;
  }
  throw Error(ErrorCode::invalid_argument, "grid",
              "grid = " + quoted_text(text) +
                  ": must be \"auto\", \"notes\" or a power of two such as \"2^-10\"" +
                  GridChoice::hint(text));
}

Dyadic whole_dyadic(nb::handle value) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (small == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (overflow == 0) return Dyadic(static_cast<std::int64_t>(small));
  // As hexadecimal text, whose length has no limit and whose conversion takes no time to speak of.
  const auto text = nb::cast<std::string>(value.attr("__format__")("x"));
  return Dyadic(Integer(text, 16), 0);
}

nb::object whole_number(const Dyadic& value) {
  if (value.is_int64()) return nb::int_(value.to_int64());
  const std::string text = value.rational().get_num().get_str(16);
  return nb::steal(PyLong_FromString(text.c_str(), nullptr, 16));
}

}  // namespace snapdp::python
