// Numbers as people read them: their digits end where the noise begins, and intervals are rounded outward.
// All of it is exact decimal arithmetic.
//
//   const long place = last_place(Rational(902));                 // 2: hundreds
//   decimal_text(Rational(28547), place, Toward::nearest);        // "28,500"
//   decimal_text(Rational(27645), place, Toward::below);          // "27,600"
#pragma once

#include <string>

#include "snapdp/numeric/rational.h"

namespace snapdp::release_internal {

Rational power_of_ten(long exponent);
// floor(log10(value)); 0 for what has no logarithm.
long exponent_of(const Rational& value);

// The place, as a power of ten, of the last digit worth showing of a number that may be off by `accuracy` >
// 0: two digits of the accuracy when it begins with 1.0 to 3.54, else one (Particle Data Group, Review of
// Particle Physics, 5.3).
long last_place(const Rational& accuracy);

enum class Toward { nearest, below, above };

// The multiple of 10^place next to `value`; half-way up when nearest.
Rational round_at(const Rational& value, long place, Toward toward);

// round_at() as a text, with commas between thousands and U+2212 as minus; in scientific form where
// plain digits would be more than 15 on either side of the point. At most 17 significant digits.
std::string decimal_text(const Rational& value, long place, Toward toward);

// All digits of a number that was declared: the shortest decimal that reads back as the double nearest to it.
std::string declared_text(const Rational& value);

// A percentage, from 0 to 100, of at most three digits: "73.2", "0.4", "99.99".
std::string percent_text(const Rational& percent, Toward toward);

// With "-" for U+2212 and for whatever else is not ASCII in a text that decimal_text() made.
std::string ascii_number(std::string text);

}  // namespace snapdp::release_internal
