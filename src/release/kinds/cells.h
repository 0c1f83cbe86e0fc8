// From the decimals of a specification to the numbers that cells hold. What a type cannot hold is refused
// (invalid_argument naming `parameter`).
#pragma once

#include <string>
#include <vector>

#include "snapdp/framework/domain.h"
#include "snapdp/release/declaration.h"

namespace snapdp::release_internal {

[[noreturn]] void refuse(const std::string& parameter, const std::string& message);

// The value a cell with this text has: the nearest double, or the integer itself.
Dyadic cell_value(const Rational& value, AtomType type, const std::string& parameter);
std::vector<Dyadic> cell_values(const std::vector<Rational>& values, AtomType type,
                                const std::string& parameter);

// Decimal bounds round outward, so that every value within the decimals is within the bounds. Equal decimals
// declare a constant and stay equal.
Bounds round_outward(const DecimalBounds& bounds, AtomType type);

Dyadic midpoint(const Bounds& bounds, AtomType type);

}  // namespace snapdp::release_internal
