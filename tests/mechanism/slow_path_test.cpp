#include "mechanism/slow_path.h"

#include <gmp.h>
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <random>
#include <vector>

#include "snapdp/random/word_source.h"

namespace snapdp {

using namespace mechanism_internal;

namespace {

// floor(fraction + S (scale / grid) ln U + 1/2) with 8000 bits throughout and no intervals.
Integer plainly(const Dyadic& fraction, double scale, Grid grid, const std::vector<std::uint64_t>& words) {
  Integer digits(static_cast<unsigned long>(words[0] >> 1));
  for (std::size_t i = 1; i < words.size(); ++i)
    digits = (digits << 64) + static_cast<unsigned long>(words[i]);
  // The middle of the numbers that begin with these digits.
  digits = 2 * digits + 1;
  mpfr_t noise;
  mpfr_t x;
  mpfr_inits2(8000, noise, x, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_z_2exp(noise, digits.get_mpz_t(), -64 * static_cast<long>(words.size()), MPFR_RNDN);
  mpfr_log(noise, noise, MPFR_RNDN);
  mpfr_mul_d(noise, noise, scale, MPFR_RNDN);
  mpfr_mul_2si(noise, noise, -grid.exponent(), MPFR_RNDN);
  if ((words[0] & 1) != 0) mpfr_neg(noise, noise, MPFR_RNDN);
  mpfr_set_z_2exp(x, fraction.mantissa().get_mpz_t(), fraction.exponent(), MPFR_RNDN);
  mpfr_add(x, x, noise, MPFR_RNDN);
  mpfr_add_d(x, x, 0.5, MPFR_RNDN);
  mpfr_floor(x, x);
  Integer result;
  mpfr_get_z(result.get_mpz_t(), x, MPFR_RNDN);
  mpfr_clears(noise, x, static_cast<mpfr_ptr>(nullptr));
  return result;
}

TEST(SlowPath, AgreesWithAPlainEvaluation) {
  std::mt19937_64 engine(3);
  const auto between = [&](long low, long high) {
    return low + static_cast<long>(engine() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (int i = 0; i < 1000; ++i) {
    const double scale =
        std::ldexp(1 + static_cast<double>(engine() >> 12) * 0x1p-52, static_cast<int>(between(-1000, 1000)));
    const Grid grid(std::ilogb(scale) + (i % 2 == 0 ? between(-70, 70) : between(-20, 5)));
    // In [-1/2, 1/2], often an end or next to it.
    const Integer half_steps(between(-1, 1));
    Dyadic fraction = Dyadic(half_steps, -1);
    if (engine() % 2 == 0) fraction = Dyadic(Integer(between(-(1L << 40), 1L << 40)), -41);
    if (engine() % 4 == 0)
      fraction += Dyadic(Integer(1), -between(60, 1100)) * Dyadic(fraction.sign() > 0 ? -1 : 1);
    std::vector<std::uint64_t> words = {engine(), engine(), engine(), engine()};
    if (engine() % 4 == 0) words[0] >>= between(0, 63);
    if (engine() % 16 == 0) words[0] |= ~std::uint64_t{1};  // U near 1
    RecordedTape tape({words.begin() + 1, words.end()});
    ASSERT_EQ(snap_slowly(fraction, scale, grid, words[0], tape), plainly(fraction, scale, grid, words))
        << to_hex(scale) << " " << to_string(grid) << " " << to_string(fraction);
  }
}

TEST(SlowPath, TakesAWordOnlyWhenItMust) {
  RecordedTape none({});
  // U in [1/2, 1/2 + 2^-63): noise -.69.
  EXPECT_EQ(snap_slowly(Dyadic(0), 1, Grid(0), std::uint64_t{1} << 63, none), -1);
  // U in [0, 2^-63): no bound. The next word leaves U in [2^-65, 2^-65 + 2^-127): noise -45.05.
  RecordedTape one({std::uint64_t{1} << 62, 1});
  EXPECT_EQ(snap_slowly(Dyadic(0), 1, Grid(0), 0, one), -45);
  EXPECT_EQ(one.consumed(), 1u);
  // U in [1 - 2^-63, 1): the noise is below zero, if only just, but may be zero for all these digits say.
  RecordedTape two({~std::uint64_t{0}, 5});
  EXPECT_EQ(snap_slowly(Dyadic(Integer(-1), -1), 1, Grid(0), ~std::uint64_t{1}, two), -1);
  EXPECT_EQ(two.consumed(), 2u);
}

// Zeros before the first digit make noise large and not its evaluation long.
TEST(SlowPath, AgreesBehindManyZeros) {
  std::mt19937_64 engine(5);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::uint64_t> words(1 + engine() % 60, 0);
    words.front() = engine() % 2;
    words.push_back(engine() >> engine() % 64);
    for (int more = 0; more < 3; ++more) words.push_back(engine());
    const Grid grid(static_cast<long>(engine() % 80) - 70);
    RecordedTape tape({words.begin() + 1, words.end()});
    ASSERT_EQ(snap_slowly(Dyadic(0.25), 1.5, grid, words[0], tape), plainly(Dyadic(0.25), 1.5, grid, words))
        << i;
  }
}

}  // namespace
}  // namespace snapdp
