// The mechanism of the notes with all its roundings, slowly and plainly: the exact probability that an output
// lies at or above a rounding boundary. An oracle for the statements about privacy at finite precision.
#pragma once

#include <mpfr.h>

#include "mechanism/law_oracle.h"
#include "snapdp/numeric/rational.h"

namespace snapdp::errata {

// A binary floating-point number of `bits` significant bits.
class Float {
 public:
  explicit Float(unsigned bits) { mpfr_init2(value_, static_cast<mpfr_prec_t>(bits)); }
  Float(const Float& other) : Float(static_cast<unsigned>(mpfr_get_prec(other.value_))) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
  }
  Float& operator=(const Float&) = delete;
  ~Float() { mpfr_clear(value_); }

  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }
  Rational rational() const {
    Rational q;
    mpfr_get_q(q.get_mpq_t(), value_);
    return q;
  }

 private:
  mpfr_t value_;
};

// `value` rounded to `bits` significant bits.
inline Rational rounded(const Rational& value, unsigned bits, mpfr_rnd_t direction) {
  Float result(bits);
  mpfr_set_q(result.get(), value.get_mpq_t(), direction);
  return result.rational();
}

inline Rational power_of_two(long exponent) {
  Rational result(1);
  if (exponent >= 0) {
    mpq_mul_2exp(result.get_mpq_t(), result.get_mpq_t(), static_cast<mp_bitcnt_t>(exponent));
  } else {
    mpq_div_2exp(result.get_mpq_t(), result.get_mpq_t(), static_cast<mp_bitcnt_t>(-exponent));
  }
  return result;
}

// S (x) scale (x) LN(U*): U* has `uniform_bits` significant bits and an unlimited exponent, the logarithm, the product and
// the sum are correctly rounded to `precision` bits.
struct FiniteSnapping {
  unsigned precision;
  unsigned uniform_bits;
  Rational scale;

  // Notes, section 5, for sensitivity 1: epsilon' = (epsilon - 2 eta) / (1 + 12 bound eta) rounded down, scale 1 / epsilon'
  // rounded up, eta = 2^-precision.
  static FiniteSnapping of_notes(const Rational& epsilon, const Rational& bound, unsigned precision,
                                 unsigned uniform_bits) {
    const Rational eta = power_of_two(-static_cast<long>(precision));
    const Rational reduced = rounded((epsilon - 2 * eta) / (1 + 12 * bound * eta), precision, MPFR_RNDD);
    return {precision, uniform_bits, rounded(1 / reduced, precision, MPFR_RNDU)};
  }

  // Does y + scale |ln u|, as computed, reach the boundary?
  bool reaches(const Rational& boundary, const Rational& y, const Float& u) const {
    Float term(precision);
    Float factor(precision);
    mpfr_log(term.get(), u.get(), MPFR_RNDN);
    mpfr_neg(term.get(), term.get(), MPFR_RNDN);
    mpfr_set_q(factor.get(), scale.get_mpq_t(), MPFR_RNDN);
    mpfr_mul(term.get(), factor.get(), term.get(), MPFR_RNDN);
    mpfr_add_q(term.get(), term.get(), y.get_mpq_t(), MPFR_RNDN);
    return mpfr_cmp_q(term.get(), boundary.get_mpq_t()) >= 0;
  }

  // P(y (+) S (x) scale (x) LN(U*) >= boundary) for a boundary above y, where only S = -1 can reach it: U* must not be
  // above the largest u that reaches it (every operation is monotone). U* takes u with the probability of its spacing, so
  // P(U* <= u) is u plus one spacing.
  Rational tail(const Rational& boundary, const Rational& y) const {
    Float u(uniform_bits);
    const oracle::Number start = oracle::exp(oracle::Number(Rational((y - boundary) / scale)));
    mpfr_set(u.get(), start.get(), MPFR_RNDN);
    while (!reaches(boundary, y, u)) mpfr_nextbelow(u.get());
    for (Float next(u);; mpfr_nextabove(u.get())) {
      mpfr_nextabove(next.get());
      if (!reaches(boundary, y, next)) break;
    }
    const long spacing = static_cast<long>(mpfr_get_exp(u.get())) - static_cast<long>(uniform_bits);
    return (u.rational() + power_of_two(spacing)) / 2;
  }

  // ln of the ratio of the two tails: what an observer of "the upper bound was released" gains.
  oracle::Number loss(const Rational& boundary, const Rational& y, const Rational& neighbor) const {
    return oracle::log(oracle::Number(Rational(tail(boundary, y) / tail(boundary, neighbor))));
  }
};

}  // namespace snapdp::errata
