// Precision mode in exact rationals, written without the code under test: only the logarithm comes from MPFR, with 200
// digits more than are kept.
#pragma once

#include <gmp.h>
#include <gtest/gtest.h>
#include <mpfr.h>

#include "snapdp/numeric/rational.h"

namespace snapdp::precision_oracle {

inline Rational power_of_two(long exponent) {
  Rational result(1);
  if (exponent >= 0) {
    mpq_mul_2exp(result.get_mpq_t(), result.get_mpq_t(), static_cast<mp_bitcnt_t>(exponent));
  } else {
    mpq_div_2exp(result.get_mpq_t(), result.get_mpq_t(), static_cast<mp_bitcnt_t>(-exponent));
  }
  return result;
}

inline Integer floor_of(const Rational& x) {
  Integer result;
  mpz_fdiv_q(result.get_mpz_t(), x.get_num_mpz_t(), x.get_den_mpz_t());
  return result;
}

// The e with 2^e <= |x| < 2^(e+1), x != 0.
inline long exponent_of(const Rational& x) {
  const Rational magnitude = ::abs(x);
  long e = static_cast<long>(mpz_sizeinbase(magnitude.get_num_mpz_t(), 2)) -
           static_cast<long>(mpz_sizeinbase(magnitude.get_den_mpz_t(), 2));
  while (power_of_two(e) > magnitude) --e;
  while (power_of_two(e + 1) <= magnitude) ++e;
  return e;
}

// x to the nearest number of p bits, ties to the even one.
inline Rational nearest(const Rational& x, long p) {
  if (x == 0) return x;
  const Rational place = power_of_two(exponent_of(x) - p + 1);
  const Rational scaled = x / place;
  Integer below = floor_of(scaled);
  const Rational rest = scaled - below;
  if (rest > Rational(1, 2) || (rest == Rational(1, 2) && mpz_odd_p(below.get_mpz_t()))) ++below;
  return below * place;
}

// x > 0 cut off after p significant bits.
inline Rational cut_off(const Rational& x, long p) {
  const Rational place = power_of_two(exponent_of(x) - p + 1);
  return floor_of(x / place) * place;
}

// ln x to the nearest number of p bits, 0 < x < 1.
inline Rational log_of(const Rational& x, long p) {
  mpfr_t input;
  mpfr_t bound;
  mpfr_init2(input, p + 10);
  mpfr_init2(bound, p + 200);
  EXPECT_EQ(mpfr_set_q(input, x.get_mpq_t(), MPFR_RNDN), 0);
  Rational results[2];
  for (int i = 0; i < 2; ++i) {
    mpfr_log(bound, input, i == 0 ? MPFR_RNDD : MPFR_RNDU);
    mpfr_get_q(results[i].get_mpq_t(), bound);
  }
  mpfr_clear(input);
  mpfr_clear(bound);
  const Rational result = nearest(results[0], p);
  EXPECT_EQ(nearest(results[1], p), result);
  return result;
}

// scale (x) LN(u cut off).
inline Rational noise_of(const Rational& u, const Rational& scale, long p) {
  return nearest(scale * log_of(cut_off(u, p), p), p);
}

// floor((x (+) S noise) / grid + 1/2).
inline Integer index_of(const Rational& x, bool minus, const Rational& noise, const Rational& grid, long p) {
  const Rational sum = x + (minus ? -1 : 1) * noise;
  return floor_of(nearest(sum, p) / grid + Rational(1, 2));
}

}  // namespace snapdp::precision_oracle
