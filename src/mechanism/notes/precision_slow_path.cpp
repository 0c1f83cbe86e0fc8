#include "mechanism/notes/precision_slow_path.h"

#include <algorithm>

#include "mechanism/secret.h"

namespace snapdp::mechanism_internal {
namespace {

long bits(const Integer& value) {
  return value == 0 ? 0 : static_cast<long>(mpz_sizeinbase(value.get_mpz_t(), 2));
}

// value, exactly.
void set(SecretReal& real, const Dyadic& value) {
  mpfr_set_z_2exp(real.get(), value.mantissa().get_mpz_t(), value.exponent(), MPFR_RNDN);
}

// A precision that holds `value`.
mpfr_prec_t precision_of(const Dyadic& value) {
  return std::max(bits(value.mantissa()), 2L);
}

void append(Integer& digits, long& count, WordSource& words) {
  digits <<= 64;
  digits += static_cast<unsigned long>(words.next());
  count += 64;
}

}  // namespace

Integer precision_index(const detail::PrecisionArithmetic& arithmetic, const Dyadic& x, bool minus,
                        const Integer& digits, long count) {
  thread_local const MpfrCacheOfThread cache;
  const mpfr_prec_t precision = arithmetic.precision;
  SecretReal noise(precision);
  mpfr_set_z_2exp(noise.get(), digits.get_mpz_t(), -count, MPFR_RNDZ);  // U*
  mpfr_log(noise.get(), noise.get(), MPFR_RNDN);                        // LN(U*)
  SecretReal scale(precision);
  set(scale, arithmetic.scale);
  mpfr_mul(noise.get(), scale.get(), noise.get(), MPFR_RNDN);  // scale (x) LN(U*)
  if (minus) mpfr_neg(noise.get(), noise.get(), MPFR_RNDN);    // S (x) scale (x) LN(U*), exact
  // MPFR rounds the exact sum of operands of any two precisions, once.
  SecretReal value(precision_of(x));
  set(value, x);
  SecretReal z(precision);
  mpfr_add(z.get(), value.get(), noise.get(), MPFR_RNDN);  // x (+) S (x) scale (x) LN(U*)
  return arithmetic.grid.index(z.dyadic());                // exact
}

Integer precision_snap_slowly(const detail::PrecisionArithmetic& arithmetic, const Dyadic& x,
                              std::uint64_t word, WordSource& words) {
  const bool minus = (word & 1) != 0;
  Integer digits(static_cast<unsigned long>(word >> 1));
  for (long count = 63;; append(digits, count, words)) {
    if (digits == 0) continue;
    // Every operation is monotone, and so is the index in U*: equal at the least and at the greatest U* that begins
    // with these digits, it is the same for all between. The greatest has ones for the digits to come.
    const long missing = std::max(arithmetic.precision - bits(digits), 0L);
    Integer greatest = ((digits + 1) << static_cast<unsigned long>(missing)) - 1;
    Integer first = precision_index(arithmetic, x, minus, digits, count);
    if (missing == 0 || first == precision_index(arithmetic, x, minus, greatest, count + missing)) {
      wipe(digits);
      wipe(greatest);
      return first;
    }
  }
}

Integer precision_snap_plainly(const detail::PrecisionArithmetic& arithmetic, const Dyadic& x,
                               WordSource& words) {
  SecretWords<1> word;
  word[0] = words.next();
  Integer digits(static_cast<unsigned long>(word[0] >> 1));
  long count = 63;
  while (bits(digits) < arithmetic.precision) append(digits, count, words);
  Integer index = precision_index(arithmetic, x, (word[0] & 1) != 0, digits, count);
  wipe(digits);
  return index;
}

}  // namespace snapdp::mechanism_internal
