#include "snapdp/mechanism/geometric.h"

#include <gmock/gmock.h>
#include <gmp.h>
#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "mechanism/endless_tape.h"
#include "snapdp/error.h"
#include "snapdp/random/word_source.h"

namespace snapdp {
namespace {

using testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t half = std::uint64_t{1} << 63;  // U in [1/2, 1/2 + 2^-63)

template <typename Source>
concept CanFeedARelease = requires(const Geometric& mechanism, Source& source) {
  mechanism.release(Dyadic(1), source);
};
static_assert(CanFeedARelease<SystemGenerator>);
static_assert(!CanFeedARelease<RecordedTape> && !CanFeedARelease<WordSource>);

std::vector<InstructionSet> kernels() {
  std::vector<InstructionSet> supported;
  for (const InstructionSet set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (is_supported(set)) supported.push_back(set);
  }
  return supported;
}

Geometric unit(std::optional<double> lower = {}, std::optional<double> upper = {}) {
  return Geometric({.epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = lower, .upper = upper});
}

void expect_refused(const MechanismOptions& options, const std::string& parameter, const std::string& text) {
  try {
    const Geometric mechanism(options);
    ADD_FAILURE() << "was accepted instead of refused for " << parameter;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.parameter(), parameter) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(text));
    EXPECT_LT(std::string(error.what()).size(), 400u) << error.what();
  }
}

TEST(Geometric, SaysWhatItIs) {
  const Geometric mechanism(
      {.epsilon = Rational(3, 10), .sensitivity = Dyadic(2), .lower = -0.0, .upper = 100});
  EXPECT_EQ(mechanism.epsilon(), Rational(3, 10));
  EXPECT_EQ(mechanism.sensitivity(), Dyadic(2));
  EXPECT_GE(Rational(mechanism.scale()), Rational(20, 3));
  EXPECT_LT(Rational(std::nextafter(mechanism.scale(), 0.0)), Rational(20, 3));
  EXPECT_EQ(mechanism.grid(), Grid(0));
  EXPECT_TRUE(mechanism.integer());
  EXPECT_EQ(mechanism.lower(), 0.0);
  EXPECT_FALSE(std::signbit(*mechanism.lower()));
  EXPECT_EQ(mechanism.upper(), 100.0);
  EXPECT_EQ(mechanism.loss_bound(), 2 / Rational(mechanism.scale()));
  EXPECT_LE(mechanism.loss_bound(), Rational(3, 10));
  EXPECT_EQ(mechanism.loss_bound(6), 3 * mechanism.loss_bound());
}

TEST(Geometric, RefusesBadOptions) {
  const Dyadic one(1);
  expect_refused({.epsilon = Rational(0), .sensitivity = one}, "epsilon", "positive");
  expect_refused({.epsilon = Rational(-1), .sensitivity = one}, "epsilon", "positive");
  expect_refused({.epsilon = Rational(5e-324), .sensitivity = one}, "epsilon", "scale");
  expect_refused({.epsilon = Rational(1)}, "sensitivity", "public constant");
  expect_refused({.epsilon = Rational(1), .sensitivity = -1}, "sensitivity", "negative");
  expect_refused({.epsilon = Rational(1), .sensitivity = Dyadic(1.5)}, "sensitivity", "integer");
  const auto bounds = [&](std::optional<double> lower, std::optional<double> upper) {
    return MechanismOptions{.epsilon = Rational(1), .sensitivity = one, .lower = lower, .upper = upper};
  };
  expect_refused(bounds(2, 1), "lower", "below upper");
  expect_refused(bounds(1, 1), "lower", "public constant");
  expect_refused(bounds(nan, 1), "lower", "finite");
  expect_refused(bounds(0, infinity), "upper", "leave the bound out");
  expect_refused(bounds(0.5, 7), "lower", "integer");
  expect_refused(bounds(0, 7.25), "upper", "integer");
  expect_refused(bounds(0, 0x1p53 + 2), "upper", "2^53");
  EXPECT_NO_THROW(Geometric(bounds(-0x1p53, 0x1p53)));
}

Dyadic sample(const Geometric& mechanism, const Dyadic& value, std::vector<std::uint64_t> words,
              const ReplayOptions& options = {}) {
  RecordedTape tape(std::move(words));
  const Dyadic result = mechanism.replay(value, tape, options);
  EXPECT_EQ(tape.remaining(), 0u);
  return result;
}

TEST(Geometric, ReadsTheDocumentedBits) {
  const Geometric mechanism({.epsilon = Rational(1, 1000), .sensitivity = Dyadic(1)});
  for (const bool slow_only : {false, true}) {
    for (const std::uint64_t unused : {std::uint64_t{0}, std::uint64_t{1}}) {
      // 1000 ln 2 = 693.1 is added, 1000 ln 4 = 1386.2 subtracted.
      EXPECT_EQ(sample(mechanism, 5, {half | unused, half >> 1}, {.slow_only = slow_only}),
                Dyadic(5 + 693 - 1386));
      EXPECT_EQ(sample(mechanism, 5, {half >> 1, half | unused}, {.slow_only = slow_only}),
                Dyadic(5 + 1386 - 693));
      // 64000 ln 2 = 44361.4; 65000 ln 2 = 45054.5. The first U draws on before the second.
      EXPECT_EQ(sample(mechanism, 5, {unused, 0, half, half >> 1}, {.slow_only = slow_only}),
                Dyadic(5 + 44361 - 45054));
    }
  }
}

TEST(Geometric, ExactValuesNeverWrapOrRound) {
  const Dyadic greatest(std::numeric_limits<std::int64_t>::max());
  const Geometric mechanism({.epsilon = Rational(1, 10), .sensitivity = Dyadic(1)});
  EXPECT_EQ(sample(mechanism, greatest, {half >> 1, half}), greatest + Dyadic(13 - 6));
  const Dyadic wide = Dyadic(Integer(1), 1500) + Dyadic(3);
  EXPECT_EQ(sample(mechanism, wide, {half >> 1, half}), wide + Dyadic(7));
  // Noise beyond the doubles: about 2^1022 (ln 2^64 - ln 2).
  const Geometric far({.epsilon = Rational(1), .sensitivity = Dyadic(Integer(1), 1022)});
  EndlessTape tape({0, half}, half);
  const Dyadic out = far.replay(Dyadic(7), tape);
  EXPECT_GT(out, Dyadic(Integer(43), 1022));
  EXPECT_LT(out, Dyadic(Integer(44), 1022));
  EXPECT_TRUE(out.is_integer());
}

TEST(Geometric, RefusesValuesThatAreNoIntegers) {
  const Geometric mechanism = unit(0, 10);
  RecordedTape tape(std::vector<std::uint64_t>(64, half));
  EXPECT_THROW(mechanism.replay(Dyadic(0.5), tape), Error);
  EXPECT_EQ(tape.consumed(), 0u);
  for (const double bad : {0.5, -3.25, 0x1p51 + 0.5, -0x1p52 + 0.5, 1e-300, nan, infinity, -infinity}) {
    for (const bool slow_only : {false, true}) {
      std::vector<double> values(11, 1.0);
      std::vector<double> out(values.size(), 5.0);
      values[7] = bad;
      try {
        mechanism.replay(values, out, thread_generator(), {.slow_only = slow_only});
        ADD_FAILURE() << bad << " was released";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        EXPECT_EQ(error.parameter(), "values");
      }
      EXPECT_EQ(std::count(out.begin(), out.end(), 0.0), 11);
    }
  }
  const std::vector<double> good = {-0.0, 1, -2, 0x1p51, 0x1p52 + 1, -0x1p53, 1e300};
  std::vector<double> out(good.size());
  EXPECT_NO_THROW(mechanism.replay(good, out, thread_generator()));
  std::vector<double> few(3);
  EXPECT_THROW(mechanism.replay(good, few, thread_generator()), Error);
  EXPECT_THROW(mechanism.replay(out, out, thread_generator()), Error);
}

TEST(Geometric, ClampsValueAndOutput) {
  const Geometric mechanism = unit(-3, 5);
  const std::uint64_t far = half >> 2;  // ln 8 = 2.08
  EXPECT_EQ(sample(mechanism, Dyadic(Integer(1), 3000), {half, far}), Dyadic(3));
  EXPECT_EQ(sample(mechanism, Dyadic(1000), {far, half}), Dyadic(5));
  EXPECT_EQ(sample(mechanism, Dyadic(-1000), {half, far}), Dyadic(-3));
  EXPECT_EQ(sample(mechanism, Dyadic(-1000), {far, half}), Dyadic(-1));
}

// floor(scale |ln U|) with 800 bits, from a word and a constant rest of the digits.
Integer plainly(double scale, std::uint64_t word, std::uint64_t rest) {
  Integer digits(static_cast<unsigned long>(word >> 1));
  for (int i = 0; i < 8; ++i) digits = (digits << 64) + static_cast<unsigned long>(rest);
  mpfr_t x;
  mpfr_init2(x, 800);
  mpfr_set_z_2exp(x, digits.get_mpz_t(), -63 - 8 * 64, MPFR_RNDN);
  mpfr_log(x, x, MPFR_RNDN);
  mpfr_mul_d(x, x, scale, MPFR_RNDN);
  mpfr_neg(x, x, MPFR_RNDN);
  mpfr_floor(x, x);
  Integer result;
  mpfr_get_z(result.get_mpz_t(), x, MPFR_RNDN);
  mpfr_clear(x);
  return result;
}

// Every U of 8 bits for both parts.
TEST(Geometric, EveryOutcomeOfEightBits) {
  for (const double scale : {1.0, 0.6875, 30.0, 0x1p-5}) {
    const Geometric mechanism({.epsilon = 2 / Rational(scale), .sensitivity = Dyadic(2), .lower = -40});
    ASSERT_EQ(mechanism.scale(), scale);
    std::vector<Integer> parts(256);
    for (unsigned b = 1; b < 256; ++b) parts[b] = plainly(scale, std::uint64_t{b} << 56, 1);
    for (unsigned first = 1; first < 256; ++first) {
      std::vector<double> values;
      std::vector<double> expected;
      std::vector<std::uint64_t> words(255, std::uint64_t{first} << 56);
      for (unsigned second = 1; second < 256; ++second) {
        words.push_back(std::uint64_t{second} << 56);
        values.push_back(static_cast<double>(second % 7) - 3);
        expected.push_back(std::fmax(-40, values.back() + Integer(parts[first] - parts[second]).get_d()));
      }
      std::vector<double> out(255);
      for (const InstructionSet set : kernels()) {
        EndlessTape tape(words, 1);
        mechanism.replay(values, out, tape, {.kernel = set});
        ASSERT_EQ(out, expected) << scale << " " << first;
      }
      if (first % 16 == 5) {
        EndlessTape tape(words, 1);
        mechanism.replay(values, out, tape, {.slow_only = true});
        ASSERT_EQ(out, expected) << scale << " " << first;
      }
    }
  }
}

// On any input, every kernel gives the bits of the slow path and of the plain evaluation, and takes as many words.
TEST(Geometric, EveryPathAgreesBitForBit) {
  std::mt19937_64 engine(5);
  const auto below = [&](std::uint64_t n) { return engine() % n; };
  std::size_t fast = 0;
  std::size_t all = 0;
  for (int round = 0; round < 150 && !HasFailure(); ++round) {
    const double scale = std::ldexp(1 + static_cast<double>(engine() >> 12) * 0x1p-52,
                                    static_cast<int>(below(3) == 0 ? below(140) : below(20)) - 10);
    MechanismOptions options = {.epsilon = Rational(Integer(1) << 20) / Rational(scale),
                                .sensitivity = Dyadic(1 << 20)};
    if (below(2) == 0) options.lower = -static_cast<double>(below(100000));
    if (below(2) == 0) options.upper = static_cast<double>(below(100000) + 1);
    const Geometric mechanism(options);
    ASSERT_EQ(mechanism.scale(), scale);
    const std::size_t size = 1 + below(1200) / (1 + below(100));
    const std::uint64_t rest = engine() | 1;
    std::vector<double> values(size);
    for (double& value : values) {
      value = static_cast<double>(below(200000)) - 100000;
      if (below(8) == 0) value = std::ldexp(value, 40) + 1;
    }
    std::vector<std::uint64_t> words(2 * size);
    for (std::uint64_t& word : words) {
      word = engine();
      if (below(8) == 0) word >>= below(64);
      if (below(4) == 0) {
        // Next to a boundary: U = e^(-k / scale) to a few units of 2^-63.
        const long double k =
            std::floor(static_cast<long double>(scale) * static_cast<long double>(below(1000)) / 100);
        const long double digits = std::ldexp(std::exp(-k / static_cast<long double>(scale)), 63);
        if (digits >= 8 && digits < 0x1.fffffffffffp62L) {
          word = (static_cast<std::uint64_t>(digits) + below(7) - 3) << 1 | below(2);
        }
      }
    }
    std::vector<double> expected(size);
    for (std::size_t i = 0; i < size; ++i) {
      Dyadic value(values[i]);
      const auto clamp = [&](Dyadic x) {
        if (options.lower && x < Dyadic(*options.lower)) x = *options.lower;
        if (options.upper && x > Dyadic(*options.upper)) x = *options.upper;
        return x;
      };
      const Dyadic noise(Integer(plainly(scale, words[i], rest) - plainly(scale, words[size + i], rest)), 0);
      const Dyadic exact = clamp(clamp(value) + noise);
      expected[i] = exact.to_double_nearest();
      if (i % 7 == 0) {
        for (const bool slow_only : {false, true}) {
          EndlessTape tape({words[i], words[size + i]}, rest);
          EXPECT_EQ(mechanism.replay(value, tape, {.slow_only = slow_only}), exact) << scale;
        }
      }
    }
    EndlessTape slow_tape(words, rest);
    std::vector<double> out(size);
    mechanism.replay(values, out, slow_tape, {.slow_only = true});
    EXPECT_EQ(out, expected) << scale;
    for (const InstructionSet set : kernels()) {
      EndlessTape tape(words, rest);
      const std::size_t slow = mechanism.replay(values, out, tape, {.kernel = set});
      EXPECT_EQ(out, expected) << to_string(set) << " " << scale;
      EXPECT_EQ(tape.consumed, slow_tape.consumed);
      if (set == best_instruction_set()) fast += size - slow;
    }
    all += size;
  }
  EXPECT_GT(fast, all / 4);
  EXPECT_LT(fast, all - all / 50);
}

// The words of a chunk come first: the first of each value, then the second of each.
TEST(Geometric, TakesWordsInTheDocumentedOrder) {
  const Geometric mechanism({.epsilon = Rational(1, 1000), .sensitivity = Dyadic(1)});
  const std::size_t n = Geometric::chunk + 2;
  std::vector<std::uint64_t> words(Geometric::chunk, half);
  words[5] = 0;
  std::vector<std::uint64_t> second(Geometric::chunk, half >> 1);
  second[3] = 0;
  words.insert(words.end(), second.begin(), second.end());
  words.insert(words.end(), {half, half >> 1});                        // the rest of samples 3 and 5
  words.insert(words.end(), {half, half >> 1, half >> 1, half >> 1});  // the second chunk
  const std::vector<double> values(n, 0.0);
  for (const InstructionSet set : kernels()) {
    for (const bool slow_only : {false, true}) {
      std::vector<double> out(n);
      RecordedTape tape(words);
      mechanism.replay(values, out, tape, {.kernel = set, .slow_only = slow_only});
      EXPECT_EQ(tape.remaining(), 0u);
      EXPECT_EQ(out[0], 693 - 1386);
      EXPECT_EQ(out[3], 693 - 44361);   // 64 digits
      EXPECT_EQ(out[5], 45054 - 1386);  // 65 digits
      EXPECT_EQ(out[n - 2], 693 - 1386);
      EXPECT_EQ(out[n - 1], 0);
    }
  }
}

// Chernoff: a cell of probability p holds a fraction f of n samples or one farther from p with probability at most
// 2 exp(-n KL(f, p)). The limit makes the chance that any of fewer than 10,000 cells exceeds it 1e-9.
void expect_law(const std::map<double, double>& probabilities, const std::vector<double>& outputs,
                const std::string& name) {
  std::map<double, std::size_t> counts;
  for (const double x : outputs) {
    ++counts[std::fmin(std::fmax(x, probabilities.begin()->first), probabilities.rbegin()->first)];
  }
  for (const auto& [x, count] : counts) EXPECT_TRUE(probabilities.contains(x)) << name << ": " << x;
  double total = 0;
  const auto n = static_cast<double>(outputs.size());
  for (const auto& [x, p] : probabilities) {
    total += p;
    const double f = static_cast<double>(counts.contains(x) ? counts.at(x) : 0) / n;
    const double divergence =
        (f > 0 ? f * std::log(f / p) : 0) + (f < 1 ? (1 - f) * std::log((1 - f) / (1 - p)) : 0);
    EXPECT_LE(n * divergence, std::log(2 * 10'000 / 1e-9))
        << name << ": output " << x << " has " << f << " of " << p;
  }
  EXPECT_NEAR(total, 1, 1e-12);
}

// P(first) ... P(last) for the value, the ends collecting the tails.
std::map<double, double> law(double scale, double value, double first, double last) {
  const double q = std::exp(-1 / scale);
  std::map<double, double> result;
  for (double x = first; x <= last; ++x) {
    result[x] = (1 - q) / (1 + q) * std::pow(q, std::fabs(x - value));
  }
  // P(K >= k) = q^k / (1 + q), k >= 0 (or 1 - P(K <= k - 1)).
  result[first] = std::pow(q, value - first) / (1 + q);
  result[last] = std::pow(q, last - value) / (1 + q);
  return result;
}

TEST(GeometricLaw, EveryKernelFollowsIt) {
  struct Case {
    double scale;
    std::optional<double> lower;
    std::optional<double> upper;
    double value;
  };
  for (const Case& each : {Case{1, {}, {}, 0}, Case{1, -3, 5, 4}, Case{0.25, {}, {}, 7},
                           Case{13.7, {}, {}, -1000}, Case{13.7, 0, {}, 2}, Case{4, -6, 6, 100}}) {
    const Geometric mechanism({.epsilon = 1 / Rational(each.scale),
                               .sensitivity = Dyadic(1),
                               .lower = each.lower,
                               .upper = each.upper});
    const double center =
        std::fmin(std::fmax(each.value, each.lower.value_or(-infinity)), each.upper.value_or(infinity));
    const double reach = std::ceil(12 * each.scale);
    const std::map<double, double> expected =
        law(each.scale, center, each.lower.value_or(center - reach), each.upper.value_or(center + reach));
    const std::string name = "scale " + to_string(each.scale) + " value " + to_string(each.value);
    for (const InstructionSet set : kernels()) {
      const std::vector<double> values(200'000, each.value);
      std::vector<double> out(values.size());
      mechanism.replay(values, out, thread_generator(), {.kernel = set});
      expect_law(expected, out, name + ", " + std::string(to_string(set)));
    }
    std::vector<double> out(20'000);
    for (double& x : out) x = mechanism.release(Dyadic(each.value), thread_generator()).to_double_nearest();
    expect_law(expected, out, name + ", exact");
    out.resize(1'000);
    for (double& x : out) {
      x = mechanism.replay(Dyadic(each.value), thread_generator(), {.slow_only = true}).to_double_nearest();
    }
    expect_law(expected, out, name + ", slow path");
  }
}

// The numbers of the specification: mass .46212 at the value for epsilon 1, against .39347 of rounded Laplace noise.
TEST(GeometricLaw, TheFormulaOfThisTestIsRight) {
  const std::map<double, double> expected = law(1, 0, -30, 30);
  EXPECT_NEAR(expected.at(0), .46212, 5e-6);
  EXPECT_NEAR(expected.at(1) / expected.at(2), std::exp(1), 1e-12);
  EXPECT_GT(expected.at(0), .39347);
}

// An integer of scale |ln U| is seen to be none only by drawing on; U below 2^-18 is left to the slow path. Two
// million U, 2^-18 each: by Chernoff more than 80 have probability below 1e-30.
TEST(Geometric, RarelyLeavesTheFastPath) {
  const std::vector<double> values(1'000'000, 3);
  std::vector<double> out(values.size());
  for (const double scale : {1.0, 100.0, 0x1p20}) {
    const Geometric mechanism({.epsilon = 1 / Rational(scale), .sensitivity = Dyadic(1)});
    for (const InstructionSet set : kernels()) {
      EXPECT_LT(mechanism.replay(values, out, thread_generator(), {.kernel = set}), 80u) << scale;
    }
  }
}

TEST(Geometric, IsSharedByThreads) {
  const Geometric mechanism = unit(0, 100);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const std::vector<double> values(10000, 50.0);
      std::vector<double> out(values.size());
      mechanism.release(values, out, thread_generator());
      for (int j = 0; j < 50; ++j)
        EXPECT_EQ(sample(mechanism, 50, {half, half}, {.slow_only = true}), Dyadic(50));
      EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](double x) { return x >= 0 && x <= 100; }));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Geometric, DoesNotDependOnTheRoundingMode) {
  const Geometric mechanism(
      {.epsilon = Rational(1, 30), .sensitivity = Dyadic(1), .lower = -50, .upper = 50});
  std::mt19937_64 engine(3);
  std::vector<std::uint64_t> words(400);
  for (std::uint64_t& word : words) word = engine();
  const std::vector<double> values(200, 17.0);
  std::vector<double> expected(values.size());
  EndlessTape tape(words, 5);
  mechanism.replay(values, expected, tape);
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    std::vector<double> out(values.size());
    EndlessTape again(words, 5);
    mechanism.replay(values, out, again);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(out, expected);
  }
}

}  // namespace
}  // namespace snapdp
