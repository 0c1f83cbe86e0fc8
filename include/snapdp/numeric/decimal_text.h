// Numbers with as many digits as people read, rounded to the safe side: what was spent or may be off upward, what remains
// or is allowed downward. The exact value stands in the JSON.
#pragma once

#include <string>

#include "snapdp/numeric/rational.h"

namespace snapdp {

// `value` with at most `digits` significant digits, rounded up (towards +infinity): "0.0523", "1240",
// "3.1e+25".
std::string round_up_to_digits(const Rational& value, int digits);
// Likewise, rounded down (towards -infinity).
std::string round_down_to_digits(const Rational& value, int digits);
// A number exactly when that takes at most 12 characters, otherwise rounded up to 5 significant digits.
std::string short_number(const Rational& value);
// Likewise, rounded down.
std::string short_number_down(const Rational& value);
// `value` with as many decimals as tell neighbors on the grid apart; in scientific form where that takes 30 or the value
// has more than 20 digits.
std::string at_grid_resolution(const Rational& value, const Rational& spacing);

}  // namespace snapdp
