// The Gaussian mechanism: what the fast path's polynomial is proved to be near, the fast path against the slow one, and
// that against the definition.
#include "snapdp/mechanism/gaussian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "mechanism/endless_tape.h"
#include "mechanism/slow_path.h"
#include "mechanism/snap_kernel.h"
#include "numeric/shared/certified.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/mechanism.h"

namespace snapdp {
namespace {

using mechanism_internal::normal_slowly;
using numeric_internal::Real;
using numeric_internal::certified::Undecided;
using numeric_internal::certified::Wide;
using testing::HasSubstr;
namespace snap_kernel = mechanism_internal::snap_kernel;

std::vector<InstructionSet> kernels() {
  std::vector<InstructionSet> sets = {InstructionSet::portable};
  for (const InstructionSet set : {InstructionSet::avx2, InstructionSet::avx512}) {
    try {
      snap_kernel::kernel_for(set);
      sets.push_back(set);
    } catch (const Error&) {
    }
  }
  return sets;
}

MechanismOptions options(double scale, GridChoice grid = GridChoice(Grid(0))) {
  MechanismOptions result{.sensitivity = Dyadic(1), .grid = grid, .noise = NoiseKind::gaussian};
  result.scale = scale;
  return result;
}

// ---- The polynomial: a proof by Taylor expansions with certified remainders ----

constexpr int order = 8;
using Jet = std::array<Wide, order + 1>;  // Taylor coefficients

Jet product(const Jet& a, const Jet& b) {
  Jet result;
  for (std::size_t n = 0; n <= order; ++n) {
    for (std::size_t k = 0; k <= n; ++k) result[n] = result[n] + a[k] * b[n - k];
  }
  return result;
}

Jet quotient(const Jet& a, const Jet& b) {
  Jet result;
  for (std::size_t n = 0; n <= order; ++n) {
    Wide rest = a[n];
    for (std::size_t k = 1; k <= n; ++k) rest = rest - b[k] * result[n - k];
    result[n] = rest / b[0];
  }
  return result;
}

// P(u(L(z))) - z around z, with L(z) = -ln(2 Q(z)) where the polynomial should give z. L' = H with H = phi / Q, and H' =
// H^2 - z H.
Jet error_at(const Wide& z) {
  const Wide tail = normal_tail(z);
  Jet hazard;
  hazard[0] = exp(-ldexp(z * z, -1)) / sqrt(ldexp(Wide::pi(), 1)) / tail;
  for (std::size_t n = 0; n < order; ++n) {
    Wide next = -(z * hazard[n]);
    if (n > 0) next = next - hazard[n - 1];
    for (std::size_t k = 0; k <= n; ++k) next = next + hazard[k] * hazard[n - k];
    hazard[n + 1] = next / Wide(static_cast<double>(n + 1));
  }
  Jet ln;
  ln[0] = -log(ldexp(tail, 1));
  for (std::size_t n = 0; n < order; ++n) ln[n + 1] = hazard[n] / Wide(static_cast<double>(n + 1));
  Jet above;
  for (std::size_t n = 0; n <= order; ++n) above[n] = Wide(snap_kernel::normal_slope) * ln[n];
  above[0] = above[0] - Wide(snap_kernel::normal_shift);
  Jet below = ln;
  below[0] = below[0] + Wide(snap_kernel::normal_shift);
  const Jet u = quotient(above, below);
  Jet p;
  for (std::size_t i = std::size(snap_kernel::normal_polynomial); i-- > 0;) {
    p = product(p, u);
    p[0] = p[0] + Wide(snap_kernel::normal_polynomial[i]);
  }
  p[0] = p[0] - z;
  p[1] = p[1] - Wide(1.0);
  return p;
}

Rational size(const Wide& a) {
  return std::max(abs(lower_end(a)), abs(upper_end(a)));
}

TEST(GaussianKernel, PolynomialIsAsNearAsItsBoundSays) {
  const Wide::Precision precision(128, false);
  const Rational bound(snap_kernel::normal_approximation_bound);
  // From U = 1, and a little beyond it as ln U is rounded, to below the least U that is accepted, 2^-18.
  constexpr double first = -0x1p-12;
  constexpr double last = 4.6213;
  ASSERT_LT(upper_end(ldexp(normal_tail(Wide(last)), 1)), Rational(0x1p-18) * Rational(0.9999));
  constexpr int pieces = 600;
  const Rational half(to_double_up((Rational(last) - Rational(first)) / (2 * pieces)) * (1 + 0x1p-40));
  Rational largest = 0;
  for (int i = 0; i < pieces; ++i) {
    const double z = first + (last - first) * (i + 0.5) / pieces;  // half is larger by more than its rounding
    const Wide middle(z);
    const Jet here = error_at(middle);
    const Jet around = error_at(widened(middle, Wide(half)));
    Rational sum = 0;
    Rational power = 1;
    for (std::size_t n = 0; n < order; ++n) {
      sum += size(here[n]) * power;
      power *= half;
    }
    sum += size(around[order]) * power;
    ASSERT_LE(sum, bound) << z;
    largest = std::max(largest, sum);
  }
  EXPECT_GT(largest * 2, bound);  // and not by much
}

// ---- The slow path ----

// P(|N| > z) by MPFR's complementary error function.
Rational two_tails(const Rational& z) {
  Real x(700);
  Real root(700);
  mpfr_set_q(x.get(), z.get_mpq_t(), MPFR_RNDN);
  mpfr_sqrt_ui(root.get(), 2, MPFR_RNDN);
  mpfr_div(x.get(), x.get(), root.get(), MPFR_RNDN);
  mpfr_erfc(x.get(), x.get(), MPFR_RNDN);
  return x.rational();
}

// Every sample is inside its step: U of the digits drawn lies between the probabilities of its ends.
TEST(GaussianSlowPath, IsTheDefinition) {
  std::mt19937_64 engine(1);
  for (int i = 0; i < 600; ++i) {
    const double scale = std::exp2(std::uniform_real_distribution<double>(-20, 60)(engine));
    const Grid grid(static_cast<long>(engine() % 20) - 10);
    const Dyadic fraction(std::ldexp(static_cast<double>(engine() >> 12), -52) - 0.5);
    std::uint64_t word = engine();
    if (i % 5 == 0) word >>= engine() % 60;                        // far out
    if (i % 7 == 0) word |= ~std::uint64_t{0} << (engine() % 60);  // near zero
    const std::vector<std::uint64_t> further = {engine(), engine(), engine()};
    EndlessTape tape(further, 0x5555555555555555);
    const Integer index = normal_slowly(fraction, scale, grid, word, tape);
    // The digits drawn.
    Integer digits(static_cast<unsigned long>(word >> 1));
    long count = 63;
    EndlessTape again(further, 0x5555555555555555);
    for (std::size_t n = 0; n < tape.consumed; ++n) {
      std::array<std::uint64_t, 1> more;
      again.fill(more);
      digits = (digits << 64) + static_cast<unsigned long>(more[0]);
      count += 64;
    }
    const Rational unit = Dyadic(Integer(1), -count).rational();
    const Rational least = Rational(digits) * unit;
    const Rational most = Rational(digits + 1) * unit;
    const bool minus = (word & 1) != 0;
    // index - 1/2 <= fraction + S Phi^-1(U / 2) scale / grid < index + 1/2.
    Rational near = Rational(index) - Rational(0.5) - fraction.rational();
    Rational far = near + 1;
    if (!minus) {
      std::swap(near, far);
      near = -near;
      far = -far;
    }
    const Rational step = grid.spacing().rational() / Rational(scale);
    ASSERT_GE(far, 0);
    ASSERT_LE(two_tails(far * step), least) << i;
    if (near > 0) {
      ASSERT_GE(two_tails(near * step), most) << i;
    }
  }
}

// ---- The fast path ----

struct Run {
  std::vector<double> values;
  std::size_t words;
  std::size_t slow;
};

Run run(const Gaussian& mechanism, const std::vector<double>& values, const std::vector<std::uint64_t>& words,
        const ReplayOptions& replay) {
  Run result{std::vector<double>(values.size()), 0, 0};
  EndlessTape tape(words, 0x123456789abcdef);
  result.slow = mechanism.replay(values, result.values, tape, replay);
  result.words = tape.consumed;
  return result;
}

void expect_same(const Gaussian& mechanism, const std::vector<double>& values,
                 const std::vector<std::uint64_t>& words, const std::string& name) {
  const Run slow = run(mechanism, values, words, {.slow_only = true});
  for (const InstructionSet set : kernels()) {
    const Run fast = run(mechanism, values, words, {.kernel = set});
    ASSERT_EQ(fast.words, slow.words) << name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(fast.values[i]), std::bit_cast<std::uint64_t>(slow.values[i]))
          << name << ": " << to_hex(values[i]) << " " << words[i];
    }
  }
}

TEST(GaussianKernel, AgreesWithTheSlowPath) {
  std::mt19937_64 engine(2);
  for (int round = 0; round < 60; ++round) {
    const double scale = std::exp2(std::uniform_real_distribution<double>(-12, 24)(engine));
    const long octave = std::ilogb(scale);
    MechanismOptions with = options(scale, GridChoice(Grid(octave - static_cast<long>(engine() % 24) + 4)));
    const double reach = scale * std::exp2(static_cast<double>(engine() % 40) - 10);
    if (round % 3 == 1) with.lower = -reach;
    if (round % 3 == 2) {
      with.lower = -reach / 3;
      with.upper = reach;
    }
    const Gaussian mechanism(with);
    std::vector<double> values(300);
    std::vector<std::uint64_t> words(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = std::uniform_real_distribution<double>(-2 * reach, 2 * reach)(engine);
      words[i] = engine();
      if (i % 10 == 3) words[i] >>= engine() % 50;
      if (i % 10 == 5) words[i] |= ~std::uint64_t{0} << (engine() % 64);
      if (i % 10 == 7) values[i] = std::ldexp(std::round(std::ldexp(values[i], 4)), -4);
    }
    expect_same(mechanism, values, words, std::to_string(scale));
  }
}

// Words on both sides of every boundary between two outputs.
TEST(GaussianKernel, AgreesAtTheBoundaries) {
  for (const double scale : {0.4, 1.0, 7.0, 300.0}) {
    const Gaussian mechanism(options(scale));
    for (const double value : {0.0, 0.25, -0.4375}) {
      std::vector<std::uint64_t> words;
      const int reach = static_cast<int>(std::min(8 * scale, 60.0)) + 2;
      for (int k = -reach; k <= reach; ++k) {
        // S Phi^-1(U / 2) scale = k + 1/2 - value.
        const double distance = k + 0.5 - value;
        if (distance == 0) continue;
        const Rational u = two_tails(Rational(std::fabs(distance)) / Rational(scale));
        const Integer digits = floor(Rational(u * Rational(0x1p63)));
        for (int off = -2; off <= 2; ++off) {
          const Integer near = digits + off;
          if (near < 0 || near >= Integer(1) << 63) continue;
          words.push_back((near.get_ui() << 1) | (distance > 0 ? 1 : 0));
        }
      }
      const std::vector<double> values(words.size(), value);
      expect_same(mechanism, values, words, std::to_string(scale) + " " + std::to_string(value));
    }
  }
}

// One value at a time gives what a batch gives.
TEST(Gaussian, SingleValuesAgreeWithBatches) {
  std::mt19937_64 engine(3);
  MechanismOptions with = options(3.25, GridChoice(Grid(-3)));
  with.lower = -20;
  with.upper = 11.5;
  const Gaussian mechanism(with);
  for (int i = 0; i < 2000; ++i) {
    const double value = std::uniform_real_distribution<double>(-25, 15)(engine);
    const std::uint64_t word = i % 50 == 0 ? engine() >> 40 : engine();
    EndlessTape one({word}, 77);
    EndlessTape two({word}, 77);
    EndlessTape three({word}, 77);
    std::vector<double> out(1);
    mechanism.replay(std::vector<double>{value}, out, one);
    ASSERT_EQ(mechanism.replay(Dyadic(value), two), Dyadic(out[0]));
    ASSERT_EQ(mechanism.replay(Dyadic(value), three, {.slow_only = true}), Dyadic(out[0]));
    ASSERT_EQ(one.consumed, two.consumed);
    ASSERT_EQ(one.consumed, three.consumed);
  }
}

// At the automatic grid a sample leaves the fast path with probability 2^-18 (U below it) + 2^-26: by Chernoff more than 80
// of two million do with probability below 1e-30.
TEST(GaussianKernel, RarelyLeavesTheFastPath) {
  MechanismOptions with = options(1, GridChoice());
  with.lower = -100;
  with.upper = 100;
  const Gaussian mechanism(with);
  EXPECT_EQ(mechanism.grid(), Grid(-10));
  const std::vector<double> values(2'000'000, 0.5);
  std::vector<double> out(values.size());
  for (const InstructionSet set : kernels()) {
    EXPECT_LT(mechanism.replay(values, out, thread_generator(), {.kernel = set}), 80u);
  }
}

TEST(Gaussian, SaysWhatItIs) {
  const Mechanism mechanism(options(4, GridChoice()));
  EXPECT_EQ(mechanism.kind(), NoiseKind::gaussian);
  EXPECT_EQ(mechanism.scale(), 4);
  EXPECT_EQ(mechanism.grid(), Grid(-8));
  EXPECT_EQ(mechanism.rho(), Rational(1, 32));
  EXPECT_EQ(std::get<Gaussian>(mechanism.variant()).rho(Rational(2)), Rational(1, 8));
  EXPECT_THROW(mechanism.epsilon(), Error);
  EXPECT_THROW(mechanism.loss_bound(Rational(1)), Error);
  EXPECT_THROW(mechanism.stated_loss(), Error);
  EXPECT_EQ(Mechanism({.epsilon = 1, .sensitivity = 1}).rho(), std::nullopt);
}

TEST(Gaussian, Refuses) {
  const auto refused = [](const MechanismOptions& asked) -> std::string {
    try {
      const Mechanism mechanism(asked);
    } catch (const Error& error) {
      return error.parameter();
    }
    return "";
  };
  EXPECT_EQ(refused({.sensitivity = 1, .noise = NoiseKind::gaussian}), "scale");
  EXPECT_EQ(refused(options(0)), "scale");
  EXPECT_EQ(refused(options(-1)), "scale");
  EXPECT_EQ(refused(options(std::numeric_limits<double>::infinity())), "scale");
  EXPECT_EQ(refused(options(std::numeric_limits<double>::quiet_NaN())), "scale");
  EXPECT_EQ(refused(options(1e-310)), "scale");
  MechanismOptions laplace{.epsilon = 1, .sensitivity = 1};
  laplace.scale = 1;
  EXPECT_EQ(refused(laplace), "scale");
  MechanismOptions bounds = options(1);
  bounds.lower = 1;
  bounds.upper = 0;
  EXPECT_EQ(refused(bounds), "lower");
  MechanismOptions precise = options(1);
  precise.precision = 60;
  EXPECT_EQ(refused(precise), "precision");
  MechanismOptions integer = options(1, GridChoice(Grid(-1)));
  integer.integer = true;
  EXPECT_EQ(refused(integer), "grid");
}

}  // namespace
}  // namespace snapdp
