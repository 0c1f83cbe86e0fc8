// Every kernel gives the bits of the slow path, and takes as many words.
#include "mechanism/snap_kernel.h"

#include <gtest/gtest.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/snapping.h"
#include "snapdp/random/word_source.h"

namespace snapdp {

using namespace numeric_internal;
using namespace mechanism_internal;

namespace {

std::vector<InstructionSet> kernels() {
  std::vector<InstructionSet> supported;
  for (const InstructionSet set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (is_supported(set)) supported.push_back(set);
  }
  return supported;
}

// Words are served from a list, and after its end the same word again and again: so a sample takes the same further
// words alone as in a batch.
class EndlessTape final : public WordSource {
 public:
  EndlessTape(std::vector<std::uint64_t> words, std::uint64_t rest) : words_(std::move(words)), rest_(rest) {}
  void fill(std::span<std::uint64_t> words) override {
    for (std::uint64_t& word : words) {
      word = consumed < words_.size() ? words_[consumed] : rest_;
      ++consumed;
    }
  }
  std::size_t consumed = 0;

 private:
  std::vector<std::uint64_t> words_;
  std::uint64_t rest_;
};

struct Outputs {
  std::vector<double> values;
  std::size_t words;
  std::size_t slow;
  std::string error;
};

Outputs run(const Snapping& mechanism, const std::vector<double>& values,
            const std::vector<std::uint64_t>& words, std::uint64_t rest, const ReplayOptions& options) {
  Outputs result = {std::vector<double>(values.size()), 0, 0, ""};
  EndlessTape tape(words, rest);
  try {
    result.slow = mechanism.replay(values, result.values, tape, options);
  } catch (const Error& error) {
    result.error = error.what();
  }
  result.words = tape.consumed;
  return result;
}

std::string describe(const Snapping& mechanism) {
  return "scale " + to_hex(mechanism.scale()) + " grid " + to_string(mechanism.grid()) + " bounds " +
         (mechanism.lower() ? to_hex(*mechanism.lower()) : "none") + " " +
         (mechanism.upper() ? to_hex(*mechanism.upper()) : "none");
}

// Runs a batch every way there is. Returns how many samples the portable kernel decided.
std::size_t expect_agreement(const Snapping& mechanism, const std::vector<double>& values,
                             const std::vector<std::uint64_t>& words, std::uint64_t rest) {
  const Outputs expected = run(mechanism, values, words, rest, {.slow_only = true});
  std::size_t fast = 0;
  for (const InstructionSet set : kernels()) {
    const Outputs actual = run(mechanism, values, words, rest, {.kernel = set});
    EXPECT_EQ(actual.error, expected.error);
    EXPECT_EQ(actual.words, expected.words) << describe(mechanism);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(actual.values[i]),
                std::bit_cast<std::uint64_t>(expected.values[i]))
          << to_string(set) << ": " << to_hex(actual.values[i]) << " instead of "
          << to_hex(expected.values[i]) << " for " << to_hex(values[i]) << " word " << words[i] << ", "
          << describe(mechanism);
    }
    if (set == InstructionSet::portable) fast = values.size() - actual.slow;
  }
  if (!expected.error.empty()) return 0;
  // One by one, exactly. (In a later chunk, samples do not have the words of the same number.)
  if (values.size() > Snapping::chunk) return fast;
  for (std::size_t i = 0; i < values.size(); i += 5) {
    const InstructionSet set = kernels()[i % kernels().size()];
    EndlessTape fast_tape({words[i]}, rest);
    EndlessTape slow_tape({words[i]}, rest);
    const Dyadic one = mechanism.replay(Dyadic(values[i]), fast_tape, {.kernel = set});
    EXPECT_EQ(one, mechanism.replay(Dyadic(values[i]), slow_tape, {.slow_only = true}))
        << describe(mechanism);
    EXPECT_EQ(fast_tape.consumed, slow_tape.consumed);
    EXPECT_EQ(one.to_double_nearest(), expected.values[i]);
  }
  return fast;
}

class Inputs {
 public:
  explicit Inputs(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t word() { return engine_(); }
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low + 1)));
  }
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double sign() { return below(2) == 0 ? 1 : -1; }

  // Anything from subnormal to huge, but mostly near the noise: near ties, near grid points, random.
  double value(const Snapping& mechanism, bool moderate) {
    const double drawn = any_value(mechanism, moderate);
    return std::isfinite(drawn) ? drawn : 0;
  }

  // A word for `value`: random, next to a rounding boundary, or at an end of the range of U.
  std::uint64_t word_for(const Snapping& mechanism, double value) {
    switch (below(4)) {
      case 0:
        return word();
      case 1: {
        const std::uint64_t ends[] = {0,
                                      1,
                                      ~std::uint64_t{0},
                                      ~std::uint64_t{1},
                                      std::uint64_t{1} << 46,
                                      (std::uint64_t{1} << 46) - 1,
                                      word() >> between(0, 63)};
        return ends[below(7)];
      }
      default: {
        const double spacing = std::ldexp(1.0, static_cast<int>(mechanism.grid().exponent()));
        if (mechanism.lower() && value < *mechanism.lower()) value = *mechanism.lower();
        if (mechanism.upper() && value > *mechanism.upper()) value = *mechanism.upper();
        const bool minus = below(2) != 0;
        const double position = value / spacing;
        // A boundary on the right side at a distance that the noise reaches.
        const double distance = std::ldexp(unit(), between(-4, 4)) * mechanism.scale() / spacing;
        const long double boundary = std::floor(position + (minus ? distance : -distance)) + 0.5L;
        const long double ln = (minus ? -1 : 1) * (boundary - static_cast<long double>(position)) *
                               static_cast<long double>(spacing) /
                               static_cast<long double>(mechanism.scale());
        const long double u = std::exp(ln);
        if (!(u > 0 && u < 1)) return word();
        const auto digits = static_cast<std::uint64_t>(std::ldexp(u, 63));
        // The long double places U within a few units of 2^-63 of the boundary, so both sides occur.
        return ((digits + static_cast<std::uint64_t>(between(-3, 3))) << 1) | (minus ? 1 : 0);
      }
    }
  }

 private:
  double any_value(const Snapping& mechanism, bool moderate) {
    const double spacing = std::ldexp(1.0, static_cast<int>(mechanism.grid().exponent()));
    switch (below(moderate ? 6 : 9)) {
      case 0:
        return 0;
      case 1:
        return sign() * unit() * mechanism.scale() * 30;
      case 2:
        return sign() * (static_cast<double>(below(1000)) + 0.5) * spacing;
      case 3:
        return std::nextafter(sign() * (static_cast<double>(below(1000)) + 0.5) * spacing, sign() * 1e308);
      case 4:
        return sign() * static_cast<double>(below(std::uint64_t{1} << 53)) * spacing;
      case 5:
        return sign() * std::ldexp(unit(), -1074 + between(0, 60));
      case 6:
        return sign() * std::ldexp(1 + unit(), between(-1022, 1022));
      case 7:
        // Around the places where every double is an integer or a half.
        return std::nextafter(sign() * std::ldexp(spacing, between(49, 54)), sign() * 1e308) + spacing / 2;
      default:
        return sign() * std::numeric_limits<double>::max();
    }
  }

  std::mt19937_64 engine_;
};

Snapping random_mechanism(Inputs& inputs) {
  for (;;) {
    MechanismOptions options;
    options.epsilon = 1;
    const bool extreme = inputs.below(4) == 0;
    const double scale =
        std::ldexp(1 + inputs.unit(), extreme ? inputs.between(-1022, 1022) : inputs.between(-40, 40));
    options.sensitivity = inputs.below(4) == 0 ? Dyadic(std::ldexp(1.0, std::ilogb(scale))) : Dyadic(scale);
    const int finer = inputs.below(3) == 0 ? inputs.between(-60, 60) : inputs.between(-4, 20);
    const int exponent = std::ilogb(scale) - finer;
    if (exponent < -1022 || exponent > 1023) continue;
    options.grid = inputs.below(4) == 0 ? GridChoice::automatic() : GridChoice(Grid(exponent));
    const double reach = std::ldexp(scale, inputs.between(-4, 12));
    if (inputs.below(2) == 0) options.lower = -reach * inputs.unit();
    if (inputs.below(2) == 0) options.upper = reach * inputs.unit() + 0x1p-1074;
    try {
      return Snapping(options);
    } catch (const Error&) {  // out of range: another one
    }
  }
}

TEST(SnapKernel, AgreesWithTheSlowPathBitForBit) {
  Inputs inputs(20240229);
  std::size_t fast = 0;
  std::size_t all = 0;
  for (int round = 0; round < 400; ++round) {
    const Snapping mechanism = random_mechanism(inputs);
    // Sizes that are no multiple of any vector length; extreme values would make a whole batch overflow without
    // bounds, so they come in half of the rounds.
    const auto size = static_cast<std::size_t>(inputs.between(1, 60));
    std::vector<double> values(size);
    std::vector<std::uint64_t> words(size);
    for (std::size_t i = 0; i < size; ++i) {
      values[i] = inputs.value(mechanism, round % 2 == 0);
      words[i] = inputs.word_for(mechanism, values[i]);
    }
    fast += expect_agreement(mechanism, values, words, inputs.word());
    all += size;
    if (HasFailure()) break;
  }
  // The comparison is about the fast path: it must have been taken often, and left often.
  EXPECT_GT(fast, all / 4);
  EXPECT_LT(fast, all - all / 4);
}

// The acceptance margin at work: words on both sides of a boundary, as near to it as 63 digits allow.
TEST(SnapKernel, AgreesNextToRoundingBoundaries) {
  Inputs inputs(7);
  for (const char* grid : {"2^0", "2^-3", "2^-10", "2^-20", "2^-30", "2^5"}) {
    const Snapping mechanism(
        {.epsilon = Rational(3, 4), .sensitivity = Dyadic(1), .grid = GridChoice::parse(grid)});
    std::vector<double> values(300);
    std::vector<std::uint64_t> words(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = inputs.value(mechanism, true);
      // Random digits at a random distance from the boundary, from 2^-63 to 2^-33.
      words[i] = inputs.word_for(mechanism, values[i]) ^
                 ((inputs.word() >> inputs.between(34, 63)) & ~std::uint64_t{1});
    }
    expect_agreement(mechanism, values, words, inputs.word());
  }
}

// With random words and ordinary mechanisms, in chunks: what releases do.
TEST(SnapKernel, AgreesOnWholeChunks) {
  Inputs inputs(99);
  for (const bool bounded : {true, false}) {
    MechanismOptions options = {.epsilon = Rational(1, 4), .sensitivity = Dyadic(1)};
    if (bounded) {
      options.lower = 0;
      options.upper = 100;
    }
    const Snapping mechanism(options);
    std::vector<double> values(2 * Snapping::chunk + 13);
    for (double& value : values) value = inputs.unit() * 120 - 10;
    std::vector<std::uint64_t> words(values.size());
    for (std::uint64_t& word : words) word = inputs.word();
    // Undecided samples in the first and the last chunk, so that further words come between the chunks.
    words[3] = 0;
    words[2 * Snapping::chunk + 9] = 1;
    expect_agreement(mechanism, values, words, inputs.word());
  }
}

// The words of a chunk come first, then the further words of its undecided samples.
TEST(SnapKernel, TakesWordsInTheDocumentedOrder) {
  const Snapping mechanism({.epsilon = Rational(1), .sensitivity = Dyadic(1)});
  const std::size_t n = Snapping::chunk + 2;
  const std::uint64_t half = std::uint64_t{1} << 63;
  std::vector<std::uint64_t> words(Snapping::chunk, half);
  words[5] = 0;
  words[9] = 1;
  words.insert(words.end(), {half, half >> 1});  // the rest of samples 5 and 9
  words.insert(words.end(), {half, half});       // the second chunk
  const std::vector<double> values(n, 0.0);
  for (const InstructionSet set : kernels()) {
    for (const bool slow_only : {false, true}) {
      std::vector<double> out(n);
      RecordedTape tape(words);
      mechanism.replay(values, out, tape, {.kernel = set, .slow_only = slow_only});
      EXPECT_EQ(tape.remaining(), 0u);
      // ln 2 = 709.78 / 1024, 64 ln 2 = 45426.09 / 1024, 65 ln 2 = 46135.88 / 1024.
      EXPECT_EQ(out[0], -710 * 0x1p-10);
      EXPECT_EQ(out[5], -45426 * 0x1p-10);
      EXPECT_EQ(out[9], 46136 * 0x1p-10);
      EXPECT_EQ(out[n - 1], -710 * 0x1p-10);
    }
  }
}

// At the automatic grid a sample leaves the fast path with probability 2^-18 (U below it) + 2^-34: by Chernoff more
// than 80 of two million do with probability below 1e-30.
TEST(SnapKernel, RarelyLeavesTheFastPath) {
  const Snapping mechanism({.epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = -100, .upper = 100});
  const std::vector<double> values(2'000'000, 0.5);
  std::vector<double> out(values.size());
  for (const InstructionSet set : kernels()) {
    const std::size_t slow = mechanism.replay(values, out, thread_generator(), {.kernel = set});
    EXPECT_LT(slow, 80u);
    EXPECT_LT(static_cast<double>(slow), 0x1p-14 * static_cast<double>(values.size()));
  }
}

// The only samples to leave it are those with U < 2^-18 and those within the margin of a boundary.
TEST(SnapKernel, DecidesEverythingElse) {
  const double ratio = 1000;
  const FloatEnvironment environment;
  const detail::SnapConstants constants = {.ratio = ratio,
                                           .grid = 1,
                                           .inverse_grid = 1,
                                           .limit = 0.5 - snap_kernel::margin(ratio),
                                           .lower = -1e9,
                                           .upper = 1e9,
                                           .narrow = true};
  Inputs inputs(5);
  std::vector<std::uint64_t> words(8 * 5000);
  for (std::uint64_t& word : words) word = inputs.word() | (std::uint64_t{1} << 46);
  const std::vector<double> values(words.size(), 0.25);
  std::vector<double> out(words.size());
  for (const InstructionSet set : kernels()) {
    const snap_kernel::Kernel kernel = snap_kernel::kernel_for(set);
    EXPECT_TRUE(kernel(constants, words.data(), values.data(), out.data(), words.size()).finite);
    std::size_t undecided = 0;
    for (const double x : out) undecided += std::isnan(x) ? 1u : 0u;
    // 40000 samples of probability 2^-34.
    EXPECT_EQ(undecided, 0u);
    words[7] = (std::uint64_t{1} << 46) - 1;
    EXPECT_TRUE(kernel(constants, words.data(), values.data(), out.data(), words.size()).undecided);
    EXPECT_TRUE(std::isnan(out[7]));
    words[7] |= std::uint64_t{1} << 46;
  }
}

#if defined(__SSE2__)
// The caller's rounding mode, flush-to-zero and denormals-are-zero change nothing and come back.
TEST(SnapKernel, DoesNotDependOnTheFloatEnvironment) {
  Inputs inputs(11);
  for (int round = 0; round < 60; ++round) {
    const Snapping mechanism = random_mechanism(inputs);
    const std::size_t size = 40;
    std::vector<double> values(size);
    std::vector<std::uint64_t> words(size);
    for (std::size_t i = 0; i < size; ++i) {
      values[i] = inputs.value(mechanism, true);
      words[i] = inputs.word_for(mechanism, values[i]);
    }
    const unsigned standard = _mm_getcsr();
    for (const bool slow_only : {false, true}) {
      const Outputs expected = run(mechanism, values, words, 5, {.slow_only = slow_only});
      EndlessTape one({words[0]}, 5);
      const Dyadic expected_one = mechanism.replay(Dyadic(values[0]), one, {.slow_only = slow_only});
      for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::fesetround(rounding);
        _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero
        const unsigned changed = _mm_getcsr() & 0xffc0;
        const Outputs actual = run(mechanism, values, words, 5, {.slow_only = slow_only});
        EndlessTape other({words[0]}, 5);
        const Dyadic actual_one = mechanism.replay(Dyadic(values[0]), other, {.slow_only = slow_only});
        const unsigned after = _mm_getcsr() & 0xffc0;
        std::fesetround(FE_TONEAREST);
        _mm_setcsr(standard);
        EXPECT_EQ(after, changed);
        EXPECT_EQ(actual.words, expected.words);
        EXPECT_EQ(actual_one, expected_one);
        for (std::size_t i = 0; i < size; ++i) {
          EXPECT_EQ(std::bit_cast<std::uint64_t>(actual.values[i]),
                    std::bit_cast<std::uint64_t>(expected.values[i]));
        }
      }
    }
  }
}

TEST(SnapKernel, ConstructionDoesNotDependOnTheFloatEnvironment) {
  const unsigned standard = _mm_getcsr();
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    _mm_setcsr(_mm_getcsr() | 0x8040);
    const Snapping mechanism(
        {.epsilon = Rational(1, 3), .sensitivity = Dyadic(0.1), .lower = 0, .upper = 5e-324});
    std::fesetround(FE_TONEAREST);
    _mm_setcsr(standard);
    const Snapping same({.epsilon = Rational(1, 3), .sensitivity = Dyadic(0.1), .lower = 0, .upper = 5e-324});
    EXPECT_EQ(mechanism.scale(), same.scale());
    EXPECT_EQ(mechanism.grid(), same.grid());
    EXPECT_EQ(*mechanism.upper(), 5e-324);
  }
}
#endif

}  // namespace
}  // namespace snapdp
