// An interval of non-negative MPFR numbers that encloses a real number: every operation rounds its lower end
// down and its upper end up.
#pragma once

#include "snapdp/numeric/rational.h"
// mpfr.h declares its GMP functions only after gmp.h.
#include <mpfr.h>

namespace snapdp {

// One MPFR number that cleans up behind itself.
class Real {
 public:
  explicit Real(mpfr_prec_t bits) { mpfr_init2(value_, bits); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

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
  explicit PositiveInterval(mpfr_prec_t bits) {
    mpfr_init2(low_, bits);
    mpfr_init2(high_, bits);
    mpfr_set_zero(low_, 1);
    mpfr_set_zero(high_, 1);
  }
  // value >= 0.
  PositiveInterval(mpfr_prec_t bits, const Rational& value) : PositiveInterval(bits) {
    mpfr_set_q(low_, value.get_mpq_t(), MPFR_RNDD);
    mpfr_set_q(high_, value.get_mpq_t(), MPFR_RNDU);
  }
  PositiveInterval(const PositiveInterval& other) : PositiveInterval(mpfr_get_prec(other.low_)) {
    mpfr_set(low_, other.low_, MPFR_RNDD);
    mpfr_set(high_, other.high_, MPFR_RNDU);
  }
  PositiveInterval(PositiveInterval&& other) noexcept : PositiveInterval(MPFR_PREC_MIN) { swap(other); }
  PositiveInterval& operator=(PositiveInterval other) noexcept {
    swap(other);
    return *this;
  }
  ~PositiveInterval() {
    mpfr_clear(low_);
    mpfr_clear(high_);
  }

  mpfr_srcptr low() const { return low_; }
  mpfr_srcptr high() const { return high_; }
  mpfr_prec_t bits() const { return mpfr_get_prec(low_); }

  PositiveInterval& operator+=(const PositiveInterval& other) {
    mpfr_add(low_, low_, other.low_, MPFR_RNDD);
    mpfr_add(high_, high_, other.high_, MPFR_RNDU);
    return *this;
  }
  PositiveInterval& operator*=(const PositiveInterval& other) {
    mpfr_mul(low_, low_, other.low_, MPFR_RNDD);
    mpfr_mul(high_, high_, other.high_, MPFR_RNDU);
    return *this;
  }
  PositiveInterval& operator*=(unsigned long factor) {
    mpfr_mul_ui(low_, low_, factor, MPFR_RNDD);
    mpfr_mul_ui(high_, high_, factor, MPFR_RNDU);
    return *this;
  }
  PositiveInterval& operator/=(unsigned long divisor) {
    mpfr_div_ui(low_, low_, divisor, MPFR_RNDD);
    mpfr_div_ui(high_, high_, divisor, MPFR_RNDU);
    return *this;
  }
  // *this > 0.
  PositiveInterval reciprocal() const {
    PositiveInterval result(bits());
    mpfr_ui_div(result.low_, 1, high_, MPFR_RNDD);
    mpfr_ui_div(result.high_, 1, low_, MPFR_RNDU);
    return result;
  }
  // 1 / (1 + *this).
  PositiveInterval one_plus_reciprocal() const {
    PositiveInterval result(bits());
    mpfr_add_ui(result.low_, high_, 1, MPFR_RNDU);
    mpfr_ui_div(result.low_, 1, result.low_, MPFR_RNDD);
    mpfr_add_ui(result.high_, low_, 1, MPFR_RNDD);
    mpfr_ui_div(result.high_, 1, result.high_, MPFR_RNDU);
    return result;
  }
  PositiveInterval power(unsigned long exponent) const {
    PositiveInterval result(bits());
    mpfr_pow_ui(result.low_, low_, exponent, MPFR_RNDD);
    mpfr_pow_ui(result.high_, high_, exponent, MPFR_RNDU);
    return result;
  }
  // e^-value, for value >= 0.
  static PositiveInterval exp_minus(mpfr_prec_t bits, const Rational& value) {
    const PositiveInterval exponent(bits, value);
    PositiveInterval result(bits);
    mpfr_neg(result.low_, exponent.high_, MPFR_RNDD);
    mpfr_exp(result.low_, result.low_, MPFR_RNDD);
    mpfr_neg(result.high_, exponent.low_, MPFR_RNDU);
    mpfr_exp(result.high_, result.high_, MPFR_RNDU);
    return result;
  }
  // max(0, a - b) / c.
  static PositiveInterval excess_ratio(const PositiveInterval& a, const PositiveInterval& b,
                                       const PositiveInterval& c) {
    PositiveInterval result(a.bits());
    mpfr_sub(result.low_, a.low_, b.high_, MPFR_RNDD);
    if (mpfr_sgn(result.low_) <= 0) {
      mpfr_set_zero(result.low_, 1);
    } else {
      mpfr_div(result.low_, result.low_, c.high_, MPFR_RNDD);
    }
    mpfr_sub(result.high_, a.high_, b.low_, MPFR_RNDU);
    if (mpfr_sgn(result.high_) <= 0) {
      mpfr_set_zero(result.high_, 1);
    } else {
      mpfr_div(result.high_, result.high_, c.low_, MPFR_RNDU);  // infinite for a c that may be 0
    }
    return result;
  }
  // What is left of it when up to `least` is taken away, *this >= least >= 0.
  void lower_by(const PositiveInterval& least) {
    mpfr_sub(low_, low_, least.high_, MPFR_RNDD);
    if (mpfr_sgn(low_) < 0) mpfr_set_zero(low_, 1);
  }
  // Becomes the larger of the two.
  void raise_to(const PositiveInterval& other) {
    mpfr_max(low_, low_, other.low_, MPFR_RNDD);
    mpfr_max(high_, high_, other.high_, MPFR_RNDU);
  }
  // The logarithm, for values of 1 and more.
  PositiveInterval log() const {
    PositiveInterval result(bits());
    mpfr_log(result.low_, low_, MPFR_RNDD);
    mpfr_log(result.high_, high_, MPFR_RNDU);
    return result;
  }

 private:
  void swap(PositiveInterval& other) noexcept {
    mpfr_swap(low_, other.low_);
    mpfr_swap(high_, other.high_);
  }

  mpfr_t low_;
  mpfr_t high_;
};

}  // namespace snapdp
