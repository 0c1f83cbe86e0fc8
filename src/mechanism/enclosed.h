// Enclosures as narrow as they are wanted: formulas in certified.h's intervals, with more and more bits.
#pragma once

#include <algorithm>

#include "numeric/shared/certified.h"
#include "snapdp/mechanism/probability.h"

namespace snapdp::mechanism_internal {

// Runs formula() with `bits` bits and then twice as many each time, while it throws Undecided: for what is known to be
// decided by some number of bits.
template <typename Formula>
auto with_enough_bits(mpfr_prec_t bits, const Formula& formula) {
  using namespace numeric_internal::certified;
  const numeric_internal::FloatEnvironment environment;
  for (;; bits *= 2) {
    const Wide::Precision precision(bits, false);
    try {
      return formula();
    } catch (const Undecided&) {
    }
  }
}

// An interval that holds a probability.
inline ProbabilityBounds probability_bounds(const numeric_internal::certified::Wide& value) {
  return {std::max(Rational(0), lower_end(value)), std::min(Rational(1), upper_end(value))};
}

// Whether it is known within a relative 2^-bits, or to be at most 2^-65536, below which no ends are told apart.
inline bool is_narrow(const ProbabilityBounds& bounds, long bits) {
  Rational least = 1;
  mpq_div_2exp(least.get_mpq_t(), least.get_mpq_t(), 65536);
  if (bounds.high <= least) return true;
  Rational width = bounds.high - bounds.low;
  mpq_mul_2exp(width.get_mpq_t(), width.get_mpq_t(), static_cast<mp_bitcnt_t>(bits));
  return width <= bounds.low;
}

}  // namespace snapdp::mechanism_internal
