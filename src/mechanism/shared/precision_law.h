// The law of precision mode itself, with every rounding in it: the exact probability of each output.
//
// With x = clamp_B(value - c), index k of the grid and S, U* as in precision_snapping.h, an output is
// k = floor((x (+) S (x) scale (x) LN(U*)) / grid + 1/2), between -K and K = ceil(B / grid); the two ends collect what
// lies beyond them and are the bounds. Every operation is monotone in U*, so {index >= k} is {U* <= u} for one of the
// two signs, and u is found by inverting the roundings one by one: no search, one exponential.
#pragma once

#include "numeric/shared/real.h"
#include "snapdp/mechanism/precision_snapping.h"
#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/rational.h"

namespace snapdp::mechanism_internal {

using namespace numeric_internal;

// Not for several threads at once: it holds scratch numbers.
class PrecisionLaw {
 public:
  // Needs half_width < 2^(precision-7) grid: rounding boundaries are numbers of `precision` bits.
  PrecisionLaw(const detail::PrecisionArithmetic& arithmetic, const Dyadic& half_width);

  const Dyadic& half_width() const { return half_width_; }
  // K: outputs have indices from -K to K.
  const Integer& outermost() const { return outermost_; }

  // P(output = k | x) * 2^shift, |x| <= half_width, -K <= k <= K, into `result`, exactly: it needs probability_bits()
  // bits. The shift is what it returns: 0 for outputs within 2^16 scales of x; farther out the probability itself may lie
  // beyond MPFR's exponents, as e^-1e12 does.
  Integer probability(const Integer& k, const Dyadic& x, Real& result);
  mpfr_prec_t probability_bits() const { return precision_ + 64; }
  // P(output = k | x) for an output within 2^16 scales of x.
  Rational probability(const Integer& k, const Dyadic& x);

 private:
  // The boundary below index k as seen from x.
  struct Threshold {
    Dyadic distance;  // {index >= k} is {x + noise > middle}, or >= when `reached`; distance = middle - x
    bool reached;
  };
  Threshold threshold(const Integer& k, const Dyadic& x) const;
  // The shift for tails beyond `distance` > 0.
  Integer shift_at(const Dyadic& distance);
  // P(noise > distance or, with `reached`, >= distance | the noise is positive) * 2^shift, for distance > 0.
  void tail(const Dyadic& distance, bool reached, const Integer& shift, Real& result);

  mpfr_prec_t precision_;
  Grid grid_;
  Dyadic half_width_;
  Integer outermost_;
  Real scale_;
  Real noise_;   // p bits
  Real log_;     // p bits
  Real middle_;  // p + 2 bits: between two numbers of p bits
  Real near_;    // p bits
  Real far_;     // p bits
};

}  // namespace snapdp::mechanism_internal
