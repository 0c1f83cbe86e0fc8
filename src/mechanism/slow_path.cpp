#include "mechanism/slow_path.h"

#include <bit>

#include "mechanism/secret.h"

namespace snapdp::mechanism_internal {
namespace {

// How many binary digits of the noise tell digits from digits + 1: a relative 1 / digits in U, and so at least that divided
// by count in its logarithm. Leading zeros of U take none.
mpfr_prec_t telling_bits(const Integer& digits, long count) {
  return static_cast<mpfr_prec_t>(mpz_sizeinbase(digits.get_mpz_t(), 2)) +
         static_cast<mpfr_prec_t>(std::bit_width(static_cast<unsigned long>(count)));
}

// A bound of (scale / grid) * |ln(digits / 2^count)|: below for RNDD, above for RNDU. `digits` > 0.
Dyadic noise_bound(const Integer& digits, long count, double scale, Grid grid, mpfr_rnd_t direction) {
  // 64 bits more than that: rounding is negligible beside the width of the interval of U.
  SecretReal x(telling_bits(digits, count) + 64);
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
  thread_local const MpfrCacheOfThread cache;
  const bool minus = (word & 1) != 0;
  const Grid unit(0);
  Integer digits(static_cast<unsigned long>(word >> 1));
  for (long count = 63;; count += 64) {
    // digits <= 2^count U < digits + 1.
    if (digits != 0) {
      const Dyadic most = noise_bound(digits, count, scale, grid, MPFR_RNDU);
      const Dyadic least = noise_bound(Integer(digits + 1), count, scale, grid, MPFR_RNDD);
      // S ln U <= 0 for S = +1. Sums and rounding to the grid are exact.
      Integer first = unit.index(minus ? fraction + least : fraction - most);
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

}  // namespace snapdp::mechanism_internal
