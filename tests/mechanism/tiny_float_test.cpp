// Every outcome on a tiny floating-point format: all values of 8-bit floats, all U of 8 bits, both signs, against
// rational arithmetic.
#include <gmp.h>
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <vector>

#include "mechanism/endless_tape.h"
#include "mechanism/notes/precision_slow_path.h"
#include "mechanism/precision_oracle.h"
#include "snapdp/mechanism/precision_snapping.h"
#include "snapdp/mechanism/snapping.h"

namespace snapdp {

using namespace mechanism_internal;

namespace {

using precision_oracle::power_of_two;

// A sign, 4 bits of exponent and 3 of fraction, subnormals included: m 2^e, |m| < 16, -9 <= e <= 5.
std::vector<double> tiny_floats(double least, double greatest) {
  std::vector<double> values = {0};
  for (int e = -9; e <= 5; ++e) {
    for (int m = e == -9 ? 1 : 8; m < 16; ++m) {
      for (const int sign : {-1, 1}) {
        const double value = std::ldexp(sign * m, e);
        if (value >= least && value <= greatest) values.push_back(value);
      }
    }
  }
  return values;
}

std::vector<InstructionSet> kernels() {
  std::vector<InstructionSet> supported;
  for (const InstructionSet set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (is_supported(set)) supported.push_back(set);
  }
  return supported;
}

// ---- Exact mode ----

// Bounds of (scale / grid) ln(b / 256) in units of 2^-200.
struct Enclosure {
  Integer low;
  Integer high;
};

Enclosure noise_of(unsigned b, double scale, Grid grid) {
  Enclosure result;
  mpfr_t x;
  mpfr_init2(x, 400);
  for (const mpfr_rnd_t direction : {MPFR_RNDD, MPFR_RNDU}) {
    mpfr_set_ui_2exp(x, b, -8, MPFR_RNDN);
    mpfr_log(x, x, direction);
    mpfr_mul_d(x, x, scale, direction);
    mpfr_mul_2si(x, x, 200 - grid.exponent(), MPFR_RNDN);
    mpfr_get_z((direction == MPFR_RNDD ? result.low : result.high).get_mpz_t(), x, direction);
  }
  mpfr_clear(x);
  return result;
}

// x / grid + 1/2 in the same units.
Integer half_up(double x, Grid grid) {
  const Rational result = (Rational(x) / power_of_two(grid.exponent()) + Rational(1, 2)) * power_of_two(200);
  EXPECT_EQ(result.get_den(), 1);
  return result.get_num();
}

// floor(x / grid + S noise + 1/2) for x as half_up.
double exact_steps(const Integer& x, bool minus, const Enclosure& noise) {
  Integer low = minus ? Integer(x - noise.high) : Integer(x + noise.low);
  Integer high = minus ? Integer(x - noise.low) : Integer(x + noise.high);
  mpz_fdiv_q_2exp(low.get_mpz_t(), low.get_mpz_t(), 200);
  mpz_fdiv_q_2exp(high.get_mpz_t(), high.get_mpz_t(), 200);
  EXPECT_EQ(low, high);  // no outcome is open: ln of a rational number is irrational
  return low.get_d();
}

struct ExactCase {
  double scale;
  GridChoice grid;
  std::optional<double> lower;
  std::optional<double> upper;
};

TEST(TinyFloats, EveryOutcomeOfExactMode) {
  const std::vector<ExactCase> cases = {{1, GridChoice::notes(), {}, {}},
                                        {1, GridChoice::parse("2^-3"), -2.5, 3.25},
                                        {1.125, GridChoice::notes(), -20, {}},
                                        {1.875, GridChoice::parse("2^-2"), {}, 7},
                                        {2, GridChoice::parse("2^4"), -480, 480},
                                        {0.6875, GridChoice::automatic(), {}, {}},
                                        {15 * 8, GridChoice::notes(), -300, 300},
                                        {0x1p-9, GridChoice::notes(), {}, {}},
                                        {0x1.cp-8, GridChoice::parse("2^0"), {}, {}}};
  const std::vector<double> values = tiny_floats(-480, 480);
  ASSERT_EQ(values.size(), 255u);
  std::size_t compared = 0;
  for (const ExactCase& each : cases) {
    const Snapping mechanism({.epsilon = Rational(1),
                              .sensitivity = Dyadic(each.scale),
                              .lower = each.lower,
                              .upper = each.upper,
                              .grid = each.grid});
    ASSERT_EQ(mechanism.scale(), each.scale);
    const double lower = each.lower.value_or(-1e300);
    const double upper = each.upper.value_or(1e300);
    std::vector<Integer> clamped;
    for (const double value : values) {
      clamped.push_back(half_up(std::fmin(std::fmax(value, lower), upper), mechanism.grid()));
    }
    for (unsigned b = 1; b < 256; ++b) {
      const Enclosure noise = noise_of(b, each.scale, mechanism.grid());
      for (const bool minus : {false, true}) {
        const std::uint64_t word = (std::uint64_t{b} << 56) + (minus ? 1 : 0);
        std::vector<double> expected;
        for (const Integer& x : clamped) {
          const double rounded =
              std::ldexp(exact_steps(x, minus, noise), static_cast<int>(mechanism.grid().exponent()));
          expected.push_back(std::fmin(std::fmax(rounded, lower), upper));
        }
        const std::vector<std::uint64_t> words(values.size(), word);
        std::vector<double> out(values.size());
        for (const InstructionSet set : kernels()) {
          EndlessTape tape(words, 0);
          mechanism.replay(values, out, tape, {.kernel = set});
          ASSERT_EQ(out, expected) << "U = " << b << "/256, scale " << each.scale;
        }
        // The slow path takes a thousand times as long: some of all.
        for (std::size_t i = (b + (minus ? 8 : 0)) % 16; i < values.size(); i += 16) {
          EndlessTape tape({word}, 0);
          ASSERT_EQ(mechanism.replay(Dyadic(values[i]), tape, {.slow_only = true}), Dyadic(expected[i]));
        }
        compared += values.size();
      }
    }
  }
  EXPECT_EQ(compared, cases.size() * 255 * 2 * 255);
}

// ---- Precision mode ----

// The arithmetic alone, on formats smaller than the mechanism allows: all U* of p bits down to 2^-8.
TEST(TinyFloats, EveryOutcomeOfTinyArithmetic) {
  const std::vector<double> values = tiny_floats(-16, 16);
  std::size_t compared = 0;
  for (long p = 2; p <= 7; ++p) {
    // Numbers of p bits at both ends of a binade and between.
    const long first = 1L << (p - 1);
    const std::vector<Dyadic> scales = {Dyadic(Integer(first), 1 - p), Dyadic(Integer(first + 1), 1 - p),
                                        Dyadic(Integer(2 * first - 1), 3 - p)};
    for (const Dyadic& scale : scales) {
      const detail::PrecisionArithmetic arithmetic = {p, scale, Grid::at_least(scale.rational())};
      const Rational grid = power_of_two(arithmetic.grid.exponent());
      for (long e = 1; e <= 8; ++e) {
        for (long m = first; m < 2 * first; m += p < 6 ? 1 : 5) {
          const Integer digits(m);
          const long count = e + p - 1;
          const Rational noise =
              precision_oracle::noise_of(digits * power_of_two(-count), scale.rational(), p);
          for (std::size_t i = static_cast<std::size_t>(m + e) % 5; i < values.size(); i += 5) {
            for (const bool minus : {false, true}) {
              ASSERT_EQ(precision_index(arithmetic, Dyadic(values[i]), minus, digits, count),
                        precision_oracle::index_of(Rational(values[i]), minus, noise, grid, p))
                  << "p " << p << " scale " << to_string(scale) << " U* " << m << " 2^-" << count << " x "
                  << values[i];
              ++compared;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 40'000u);
}

// The mechanism: all U of 8 bits, followed by zeros or by ones.
TEST(TinyFloats, EveryOutcomeOfPrecisionMode) {
  struct Case {
    long precision;
    Rational epsilon;
    double lower;
    double upper;
  };
  const std::vector<Case> cases = {{8, Rational(1, 2), -3, 3},   {8, Rational(2), 0.375, 1.75},
                                   {9, Rational(3, 4), -4, 3.5}, {10, Rational(1), 0, 13},
                                   {12, Rational(1), -15, 15},   {20, Rational(1), -15, 15}};
  std::size_t fast = 0;
  std::size_t compared = 0;
  for (const Case& each : cases) {
    const long p = each.precision;
    const PrecisionSnapping mechanism({.epsilon = each.epsilon,
                                       .sensitivity = Dyadic(1),
                                       .lower = each.lower,
                                       .upper = each.upper,
                                       .precision = p});
    const Rational grid = power_of_two(mechanism.grid().exponent());
    const Rational center = (Rational(each.lower) + Rational(each.upper)) / 2;
    std::vector<double> values = tiny_floats(each.lower, each.upper);
    if (p > 8) {  // a third of them, from zero out
      for (std::size_t i = 0; 3 * i < values.size(); ++i) values[i] = values[3 * i];
      values.resize((values.size() + 2) / 3);
    }
    values.push_back(-1000);  // clamped
    values.push_back(1000);
    for (unsigned b = 1; b < 256; ++b) {
      for (const bool ones : {false, true}) {
        if (ones && p <= 8 && b >= 128) continue;  // U* ends after the first 8 digits
        const std::uint64_t tail = ones ? ~std::uint64_t{0} : 0;
        const Rational u = ones ? Rational(b + 1, 256) - power_of_two(-3000) : Rational(b, 256);
        const Rational noise = precision_oracle::noise_of(u, mechanism.exact_scale().rational(), p);
        for (const bool minus : {false, true}) {
          const std::uint64_t word =
              (std::uint64_t{b} << 56) + ((tail >> 8) & ~std::uint64_t{1}) + (minus ? 1 : 0);
          std::vector<double> expected;
          for (const double value : values) {
            const Rational x = Rational(std::fmin(std::fmax(value, each.lower), each.upper)) - center;
            const Rational noisy = center + precision_oracle::index_of(x, minus, noise, grid, p) * grid;
            expected.push_back(std::fmin(std::fmax(noisy.get_d(), each.lower), each.upper));
            ASSERT_TRUE(Rational(noisy.get_d()) == noisy);
          }
          const std::vector<std::uint64_t> words(values.size(), word);
          std::vector<double> out(values.size());
          EndlessTape tape(words, tail);
          fast += values.size() - mechanism.replay(values, out, tape);
          ASSERT_EQ(out, expected) << "p " << p << " U = " << b << "/256 " << ones;
          if (b % 8 == 0) {
            for (const InstructionSet set : kernels()) {
              EndlessTape same(words, tail);
              mechanism.replay(values, out, same, {.kernel = set});
              ASSERT_EQ(out, expected) << to_string(set);
              ASSERT_EQ(tape.consumed, same.consumed);
            }
            EndlessTape same(words, tail);
            mechanism.replay(values, out, same, {.slow_only = true});
            ASSERT_EQ(out, expected) << "slow only";
            ASSERT_EQ(tape.consumed, same.consumed);
          }
          compared += values.size();
        }
      }
    }
  }
  // Both paths were at work.
  EXPECT_GT(fast, compared / 4);
  EXPECT_LT(fast, compared - compared / 16);
}

}  // namespace
}  // namespace snapdp
