// Numbers on their way to and from Python. What decides privacy comes as text and is exactly what it says.
#pragma once

#include <optional>
#include <string>

#include "core/bindings.h"
#include "snapdp/framework/loss.h"
#include "snapdp/mechanism/noise.h"
#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/rational.h"

namespace snapdp::python {

// Throws invalid_argument naming `parameter` unless it is greater than 0.
Rational positive(const std::string& text, const char* parameter);
// A budget from its measure, its epsilon or rho, and its delta.
PrivacyBudget budget_of(const std::string& measure, const std::string& value, const std::string& delta);
std::optional<Rational> positive(const std::optional<std::string>& text, const char* parameter);
// The same, unless it is at least 0.
Rational not_negative(const std::string& text, const char* parameter);
// A sensitivity that is no binary fraction is rounded up to a double: noise for a little more protects what was meant.
Dyadic sensitivity_up(const std::string& text);
// Bounds are rounded outward.
std::optional<double> bound_down(const std::optional<std::string>& text, const char* parameter);
std::optional<double> bound_up(const std::optional<std::string>& text, const char* parameter);
// "auto", "notes", "2^k", or a power of two written as any other number.
GridChoice grid_of(const std::string& text);

// Python's whole numbers have no end, and neither have dyadics.
Dyadic whole_dyadic(nb::handle value);
nb::object whole_number(const Dyadic& value);

}  // namespace snapdp::python
