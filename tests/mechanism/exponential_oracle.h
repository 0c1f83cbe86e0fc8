// The exponential by its own series with the remainder, in intervals of rationals that are rounded to multiples of 2^-400: for
// oracles that share nothing with the library.
#pragma once

#include "snapdp/mechanism/probability.h"
#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

inline Rational power_of_two(long exponent) {
  return Dyadic(Integer(1), exponent).rational();
}

inline constexpr long oracle_bits = 400;

// To a multiple of 2^-400.
inline Rational rounded(const Rational& value, bool up) {
  const Rational scaled = value * power_of_two(oracle_bits);
  return Rational(up ? ceil(scaled) : floor(scaled)) * power_of_two(-oracle_bits);
}

// e^x, enclosed.
inline ProbabilityBounds exponential(const Rational& x) {
  // e^x = (e^(x / 2^k))^(2^k) with |x / 2^k| <= 1/2; after 90 terms less than the last one is left.
  int halvings = 0;
  Rational small = x;
  while (abs(small) > Rational(1, 2)) {
    small /= 2;
    ++halvings;
  }
  Rational sum = 0;
  Rational term = 1;
  for (int i = 1; i <= 90; ++i) {
    sum += term;
    term = rounded(term * small / i, true);
  }
  const Rational slack = 100 * power_of_two(-oracle_bits) + abs(term);
  ProbabilityBounds result{rounded(sum - slack, false), rounded(sum + slack, true)};
  for (int i = 0; i < halvings; ++i) {
    result = {rounded(result.low * result.low, false), rounded(result.high * result.high, true)};
  }
  return result;
}

}  // namespace snapdp
