// One MPFR number that cleans up behind itself: the only owner of an mpfr_t, but for the secret ones of the mechanism.
#pragma once

#include "snapdp/numeric/rational.h"
// mpfr.h declares its GMP functions only after gmp.h.
#include <mpfr.h>

namespace snapdp::numeric_internal {

class Real {
 public:
  // Not a number yet, of `bits` bits.
  explicit Real(mpfr_prec_t bits) { mpfr_init2(value_, bits); }
  Real(const Real& other) : Real(mpfr_get_prec(other.value_)) { mpfr_set(value_, other.value_, MPFR_RNDN); }
  Real(Real&& other) noexcept : Real(MPFR_PREC_MIN) { swap(other); }
  Real& operator=(Real other) noexcept {
    swap(other);
    return *this;
  }
  ~Real() { mpfr_clear(value_); }
  void swap(Real& other) noexcept { mpfr_swap(value_, other.value_); }

  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }
  mpfr_prec_t bits() const { return mpfr_get_prec(value_); }

  // Exactly; it must be finite.
  Rational rational() const {
    Rational result;
    mpfr_get_q(result.get_mpq_t(), value_);
    return result;
  }

 private:
  mpfr_t value_;
};

}  // namespace snapdp::numeric_internal
