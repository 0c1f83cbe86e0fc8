#include "mechanism/slow_path.h"

// mpfr.h declares its integer functions only after gmp.h.
#include <gmp.h>
#include <mpfr.h>
#include <string.h>  // explicit_bzero

namespace snapdp {
namespace {

// MPFR keeps constants such as log 2 per thread.
struct CacheOfThread {
  ~CacheOfThread() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
};

// A number of fixed precision that is wiped when it goes.
class Real {
 public:
  explicit Real(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  ~Real() {
    explicit_bzero(mpfr_custom_get_significand(value_), mpfr_custom_get_size(mpfr_get_prec(value_)));
    mpfr_clear(value_);
  }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  mpfr_ptr get() { return value_; }

  Dyadic dyadic() const {
    Integer mantissa;
    const mpfr_exp_t exponent = mpfr_get_z_2exp(mantissa.get_mpz_t(), value_);
    return Dyadic(std::move(mantissa), exponent);
  }

 private:
  mpfr_t value_;
};

void wipe(Integer& value) {
  mpz_ptr raw = value.get_mpz_t();
  explicit_bzero(mpz_limbs_modify(raw, static_cast<mp_size_t>(mpz_size(raw))),
                 mpz_size(raw) * sizeof(mp_limb_t));
  mpz_limbs_finish(raw, 0);
}

// A bound of (scale / grid) * |ln(digits / 2^count)|: below for RNDD, above for RNDU. `digits` > 0.
Dyadic noise_bound(const Integer& digits, long count, double scale, Grid grid, mpfr_rnd_t direction) {
  // 64 bits more than U has: rounding is negligible beside the width of the interval of U.
  Real x(count + 64);
  mpfr_set_z_2exp(x.get(), digits.get_mpz_t(), -count, MPFR_RNDN);  // exact
  // ln <= 0: a bound of the magnitude from above is one of the logarithm from below.
  mpfr_log(x.get(), x.get(), direction == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU);
  mpfr_abs(x.get(), x.get(), MPFR_RNDN);  // exact
  mpfr_mul_d(x.get(), x.get(), scale, direction);
  mpfr_mul_2si(x.get(), x.get(), -grid.exponent(), MPFR_RNDN);  // exact
  return x.dyadic();
}

}  // namespace

Integer snap_slowly(const Dyadic& fraction, double scale, Grid grid, std::uint64_t word, WordSource& words) {
  thread_local const CacheOfThread cache;
  const bool minus = (word & 1) != 0;
  const Grid unit(0);
  Integer digits(static_cast<unsigned long>(word >> 1));
  for (long count = 63;; count += 64) {
    // digits <= 2^count U < digits + 1.
    if (digits != 0) {
      const Dyadic most = noise_bound(digits, count, scale, grid, MPFR_RNDU);
      const Dyadic least = noise_bound(Integer(digits + 1), count, scale, grid, MPFR_RNDD);
      // S ln U <= 0 for S = +1. Sums and rounding to the grid are exact.
      const Integer first = unit.index(minus ? fraction + least : fraction - most);
      const Integer last = unit.index(minus ? fraction + most : fraction - least);
      if (first == last) {
        wipe(digits);
        return first;
      }
    }
    const std::uint64_t more = words.next();
    digits <<= 64;
    digits += static_cast<unsigned long>(more);
  }
}

}  // namespace snapdp
