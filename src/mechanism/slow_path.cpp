#include "mechanism/slow_path.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "mechanism/secret.h"
#include "numeric/shared/normal_guess.h"
#include "numeric/shared/normal_tail.h"

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

namespace {

using namespace numeric_internal;

// About -Phi^-1((digits + 1/2) / 2^(count + 1)), with `bits` bits: Newton's method doubles what is right each time.
void guess_score(mpfr_ptr z, const Integer& digits, long count, long bits) {
  SecretReal tail(count + bits + 64);
  SecretReal step(bits + 64);
  SecretReal density(bits + 64);
  mpfr_set_z_2exp(tail.get(), digits.get_mpz_t(), 1, MPFR_RNDN);
  mpfr_add_ui(tail.get(), tail.get(), 1, MPFR_RNDN);
  mpfr_mul_2si(tail.get(), tail.get(), -(count + 2), MPFR_RNDN);
  long exponent = 0;
  const double fraction = mpfr_get_d_2exp(&exponent, tail.get(), MPFR_RNDN);
  mpfr_set_d(z, guess_normal_score(std::log(fraction) + static_cast<double>(exponent) * std::log(2.0)),
             MPFR_RNDN);
  for (long right = 30; right < bits; right *= 2) {
    normal_tail_bound(step.get(), z, MPFR_RNDU);
    mpfr_sub(step.get(), step.get(), tail.get(), MPFR_RNDN);
    mpfr_sqr(density.get(), z, MPFR_RNDN);
    mpfr_div_si(density.get(), density.get(), -2, MPFR_RNDN);
    mpfr_exp(density.get(), density.get(), MPFR_RNDN);
    mpfr_div(step.get(), step.get(), density.get(), MPFR_RNDN);
    mpfr_const_pi(density.get(), MPFR_RNDN);
    mpfr_mul_2ui(density.get(), density.get(), 1, MPFR_RNDN);
    mpfr_sqrt(density.get(), density.get(), MPFR_RNDN);
    mpfr_mul(step.get(), step.get(), density.get(), MPFR_RNDN);
    mpfr_add(z, z, step.get(), MPFR_RNDN);
  }
}

// Where the noise |N| >= 0 lies against a distance, in units of the grid, for all U with the digits drawn.
enum class Side { below, above, open };

Side side_of(const Dyadic& distance, double scale, Grid grid, const Integer& digits, long count) {
  if (distance.sign() <= 0) return Side::above;
  const mpfr_prec_t bits = telling_bits(digits, count) + 96;
  SecretReal z(bits);
  SecretReal tail(bits);
  SecretReal end(bits);
  // P(|N| >= distance) = 2 P(Z >= z) at z = distance * grid / scale; below that are the U of larger noise.
  for (const bool larger : {true, false}) {
    mpfr_set_z_2exp(z.get(), distance.mantissa().get_mpz_t(), distance.exponent() + grid.exponent(),
                    larger ? MPFR_RNDU : MPFR_RNDD);
    mpfr_div_d(z.get(), z.get(), scale, larger ? MPFR_RNDU : MPFR_RNDD);
    normal_tail_bound(tail.get(), z.get(), larger ? MPFR_RNDD : MPFR_RNDU);
    const Integer digit = larger ? Integer(digits + 1) : digits;
    mpfr_set_z_2exp(end.get(), digit.get_mpz_t(), -(count + 1), MPFR_RNDN);  // exact
    const int order = mpfr_cmp(end.get(), tail.get());
    if (larger && order <= 0) return Side::above;
    if (!larger && order >= 0) return Side::below;
  }
  return Side::open;
}

}  // namespace

Integer normal_slowly(const Dyadic& fraction, double scale, Grid grid, std::uint64_t word,
                      WordSource& words) {
  thread_local const MpfrCacheOfThread cache;
  const bool minus = (word & 1) != 0;
  const Grid unit(0);
  const Dyadic half(Integer(1), -1);
  // Of |N| in units of the grid, in binary places before the point.
  const long places = std::max(static_cast<long>(std::ilogb(scale)) + 1 - grid.exponent(), 0L);
  Integer digits(static_cast<unsigned long>(word >> 1));
  for (long count = 63;; count += 64) {
    // digits <= 2^count U < digits + 1. With fewer digits than places nothing is decided.
    if (digits != 0 && count > places) {
      SecretReal z(places + 160);
      guess_score(z.get(), digits, count, places + 64);
      mpfr_mul_d(z.get(), z.get(), scale, MPFR_RNDN);
      mpfr_mul_2si(z.get(), z.get(), -grid.exponent(), MPFR_RNDN);
      // S Phi^-1(U / 2) <= 0 for S = +1. The guess is off by less than one, and is corrected.
      const Dyadic noise = z.dyadic();
      Integer index = unit.index(minus ? fraction + noise : fraction - noise);
      for (;;) {
        // The output is this index when index - 1/2 <= fraction -+ |N| < index + 1/2.
        const Dyadic low = Dyadic(index, 0) - half - fraction;
        const Dyadic high = low + 1;
        const Side after = side_of(minus ? low : -high, scale, grid, digits, count);
        const Side before = side_of(minus ? high : -low, scale, grid, digits, count);
        if (after == Side::above && before == Side::below) {
          wipe(digits);
          return index;
        }
        if (after == Side::below) {
          index += minus ? -1 : 1;
        } else if (before == Side::above) {
          index += minus ? 1 : -1;
        } else {
          break;
        }
      }
    }
    const std::uint64_t more = words.next();
    digits <<= 64;
    digits += static_cast<unsigned long>(more);
  }
}

}  // namespace snapdp::mechanism_internal
