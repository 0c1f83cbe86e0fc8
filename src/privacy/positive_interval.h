// An interval of non-negative MPFR numbers that encloses a real number: every operation rounds its lower end
// down and its upper end up.
#pragma once

#include "numeric/shared/real.h"
#include "snapdp/numeric/rational.h"

namespace snapdp::privacy_internal {

using namespace numeric_internal;

// While it lives, numbers of this thread may be as small as e^-10^18, and not only e^-10^8.
class WideExponents {
 public:
  WideExponents() : least_(mpfr_get_emin()), greatest_(mpfr_get_emax()) {
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
  }
  WideExponents(const WideExponents&) = delete;
  WideExponents& operator=(const WideExponents&) = delete;
  ~WideExponents() {
    mpfr_set_emin(least_);
    mpfr_set_emax(greatest_);
  }

 private:
  mpfr_exp_t least_;
  mpfr_exp_t greatest_;
};

class PositiveInterval {
 public:
  // Zero, with ends of `bits` bits; results take the precision of what they are assigned to.
  explicit PositiveInterval(mpfr_prec_t bits) : low_(bits), high_(bits) {
    mpfr_set_zero(low_.get(), 1);
    mpfr_set_zero(high_.get(), 1);
  }
  // value >= 0.
  PositiveInterval(mpfr_prec_t bits, const Rational& value) : PositiveInterval(bits) {
    mpfr_set_q(low_.get(), value.get_mpq_t(), MPFR_RNDD);
    mpfr_set_q(high_.get(), value.get_mpq_t(), MPFR_RNDU);
  }

  mpfr_srcptr low() const { return low_.get(); }
  mpfr_srcptr high() const { return high_.get(); }
  mpfr_prec_t bits() const { return low_.bits(); }

  PositiveInterval& operator+=(const PositiveInterval& other) {
    mpfr_add(low_.get(), low_.get(), other.low_.get(), MPFR_RNDD);
    mpfr_add(high_.get(), high_.get(), other.high_.get(), MPFR_RNDU);
    return *this;
  }
  PositiveInterval& operator*=(const PositiveInterval& other) {
    mpfr_mul(low_.get(), low_.get(), other.low_.get(), MPFR_RNDD);
    mpfr_mul(high_.get(), high_.get(), other.high_.get(), MPFR_RNDU);
    return *this;
  }
  PositiveInterval& operator*=(unsigned long factor) {
    mpfr_mul_ui(low_.get(), low_.get(), factor, MPFR_RNDD);
    mpfr_mul_ui(high_.get(), high_.get(), factor, MPFR_RNDU);
    return *this;
  }
  PositiveInterval& operator/=(unsigned long divisor) {
    mpfr_div_ui(low_.get(), low_.get(), divisor, MPFR_RNDD);
    mpfr_div_ui(high_.get(), high_.get(), divisor, MPFR_RNDU);
    return *this;
  }
  // *this > 0.
  PositiveInterval reciprocal() const {
    PositiveInterval result(bits());
    mpfr_ui_div(result.low_.get(), 1, high_.get(), MPFR_RNDD);
    mpfr_ui_div(result.high_.get(), 1, low_.get(), MPFR_RNDU);
    return result;
  }
  // 1 / (1 + *this).
  PositiveInterval one_plus_reciprocal() const {
    PositiveInterval result(bits());
    mpfr_add_ui(result.low_.get(), high_.get(), 1, MPFR_RNDU);
    mpfr_ui_div(result.low_.get(), 1, result.low_.get(), MPFR_RNDD);
    mpfr_add_ui(result.high_.get(), low_.get(), 1, MPFR_RNDD);
    mpfr_ui_div(result.high_.get(), 1, result.high_.get(), MPFR_RNDU);
    return result;
  }
  PositiveInterval power(unsigned long exponent) const {
    PositiveInterval result(bits());
    mpfr_pow_ui(result.low_.get(), low_.get(), exponent, MPFR_RNDD);
    mpfr_pow_ui(result.high_.get(), high_.get(), exponent, MPFR_RNDU);
    return result;
  }
  // e^-value, for value >= 0.
  static PositiveInterval exp_minus(mpfr_prec_t bits, const Rational& value) {
    const PositiveInterval exponent(bits, value);
    PositiveInterval result(bits);
    mpfr_neg(result.low_.get(), exponent.high_.get(), MPFR_RNDD);
    mpfr_exp(result.low_.get(), result.low_.get(), MPFR_RNDD);
    mpfr_neg(result.high_.get(), exponent.low_.get(), MPFR_RNDU);
    mpfr_exp(result.high_.get(), result.high_.get(), MPFR_RNDU);
    return result;
  }
  // max(0, a - b) / c.
  static PositiveInterval excess_ratio(const PositiveInterval& a, const PositiveInterval& b,
                                       const PositiveInterval& c) {
    PositiveInterval result(a.bits());
    mpfr_sub(result.low_.get(), a.low_.get(), b.high_.get(), MPFR_RNDD);
    if (mpfr_sgn(result.low_.get()) <= 0) {
      mpfr_set_zero(result.low_.get(), 1);
    } else {
      mpfr_div(result.low_.get(), result.low_.get(), c.high_.get(), MPFR_RNDD);
    }
    mpfr_sub(result.high_.get(), a.high_.get(), b.low_.get(), MPFR_RNDU);
    if (mpfr_sgn(result.high_.get()) <= 0) {
      mpfr_set_zero(result.high_.get(), 1);
    } else {
      mpfr_div(result.high_.get(), result.high_.get(), c.low_.get(),
               MPFR_RNDU);  // infinite for a c that may be 0
    }
    return result;
  }
  // What is left of it when up to `least` is taken away, *this >= least >= 0.
  void lower_by(const PositiveInterval& least) {
    mpfr_sub(low_.get(), low_.get(), least.high_.get(), MPFR_RNDD);
    if (mpfr_sgn(low_.get()) < 0) mpfr_set_zero(low_.get(), 1);
  }
  // Becomes the larger of the two.
  void raise_to(const PositiveInterval& other) {
    mpfr_max(low_.get(), low_.get(), other.low_.get(), MPFR_RNDD);
    mpfr_max(high_.get(), high_.get(), other.high_.get(), MPFR_RNDU);
  }
  // The logarithm, for values of 1 and more.
  PositiveInterval log() const {
    PositiveInterval result(bits());
    mpfr_log(result.low_.get(), low_.get(), MPFR_RNDD);
    mpfr_log(result.high_.get(), high_.get(), MPFR_RNDU);
    return result;
  }

 private:
  Real low_;
  Real high_;
};

}  // namespace snapdp::privacy_internal
