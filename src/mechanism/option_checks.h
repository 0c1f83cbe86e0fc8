// Checks of options that the mechanisms have in common.
#pragma once

#include <optional>
#include <string>

#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/rational.h"

namespace snapdp::mechanism_internal::option_checks {

// Throws invalid_argument: "parameter = given: rule".
[[noreturn]] void refuse(const std::string& parameter, const std::string& given, const std::string& rule);

// Short enough for a message.
std::string shown(const Rational& value);

// In lowest terms and positive.
Rational checked_epsilon(Rational epsilon);

// Positive.
Dyadic checked_sensitivity(const Dyadic& sensitivity);

// sensitivity / epsilon, rounded up to a double: normal and finite.
double checked_scale(const Rational& epsilon, const Dyadic& sensitivity);

// Of two values: not negative. Returned as it is.
const Rational& checked_distance(const Rational& distance);

// lower < upper when there are both.
void check_order(const std::optional<double>& lower, const std::optional<double>& upper);

}  // namespace snapdp::mechanism_internal::option_checks
