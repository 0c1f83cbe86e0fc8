#include "snapdp/mechanism/precision_snapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "mechanism/endless_tape.h"
#include "mechanism/notes/precision_slow_path.h"
#include "mechanism/precision_oracle.h"
#include "snapdp/error.h"
#include "snapdp/random/word_source.h"

namespace snapdp {

using namespace mechanism_internal;

namespace {

using precision_oracle::power_of_two;
using testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t half = std::uint64_t{1} << 63;  // S = +1, U in [1/2, 1/2 + 2^-63)

// A tape where a generator belongs does not compile.
template <typename Source>
concept CanFeedARelease = requires(const PrecisionSnapping& mechanism, Source& source) {
  mechanism.release(Dyadic(1), source);
};
static_assert(CanFeedARelease<SystemGenerator>);
static_assert(!CanFeedARelease<RecordedTape> && !CanFeedARelease<WordSource>);

PrecisionSnapping unit(double lower = -8, double upper = 8) {
  return PrecisionSnapping(
      {.epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = lower, .upper = upper});
}

void expect_refused(const MechanismOptions& options, const std::string& parameter, const std::string& text) {
  try {
    const PrecisionSnapping mechanism(options);
    ADD_FAILURE() << "was accepted instead of refused for " << parameter;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.parameter(), parameter) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(text));
    EXPECT_LT(std::string(error.what()).size(), 400u) << error.what();
  }
}

// ---- Parameters ----

TEST(PrecisionSnapping, FollowsTheNotes) {
  const Rational epsilon(1, 3);
  const PrecisionSnapping mechanism(
      {.epsilon = epsilon, .sensitivity = Dyadic(0.1), .lower = 1000, .upper = 2000.5});
  EXPECT_EQ(mechanism.epsilon(), epsilon);
  EXPECT_EQ(mechanism.sensitivity(), Dyadic(0.1));
  EXPECT_EQ(mechanism.lower(), 1000.0);
  EXPECT_EQ(mechanism.upper(), 2000.5);
  EXPECT_EQ(mechanism.precision(), 118);
  EXPECT_EQ(mechanism.center(), Dyadic(1500.25));
  EXPECT_EQ(mechanism.half_width(), Dyadic(500.25));
  // epsilon' is the largest number of 118 bits that is not above the formula.
  const Rational eta = power_of_two(-118);
  const Rational formula = (epsilon - 2 * eta) / (1 + 12 * Rational(500.25) / Rational(0.1) * eta);
  const Rational inner = mechanism.inner_epsilon().rational();
  EXPECT_LE(inner, formula);
  EXPECT_LT(formula, inner * (1 + power_of_two(-117)));
  EXPECT_LE(mpz_sizeinbase(mechanism.inner_epsilon().mantissa().get_mpz_t(), 2), 118u);
  // The scale is the least such number that is not below Delta / epsilon'.
  const Rational quotient = Rational(0.1) / inner;
  const Rational scale = mechanism.exact_scale().rational();
  EXPECT_GE(scale, quotient);
  EXPECT_LT(scale, quotient * (1 + power_of_two(-117)));
  EXPECT_LE(mpz_sizeinbase(mechanism.exact_scale().mantissa().get_mpz_t(), 2), 118u);
  EXPECT_EQ(mechanism.grid(), Grid(-1));  // .3 and a little
  EXPECT_GE(Rational(mechanism.scale()), scale);
  EXPECT_LT(Rational(std::nextafter(mechanism.scale(), 0.0)), scale);
  EXPECT_EQ(mechanism.notes_claim(),
            Rational(0.1) / scale * (1 + 12 * Rational(500.25) / Rational(0.1) * eta) + 2 * eta);
  EXPECT_LE(mechanism.notes_claim(), epsilon);
  EXPECT_GT(mechanism.notes_claim(), epsilon * (1 - power_of_two(-115)));
  EXPECT_FALSE(std::signbit(unit(-0.0, 8).lower()));
}

// epsilon = 1, Delta = 1: the noise is a little larger than in exact mode, and so the grid is twice as wide.
TEST(PrecisionSnapping, GridOfScalesAroundAPowerOfTwo) {
  EXPECT_EQ(unit().grid(), Grid(1));
  const auto grid = [](const Rational& epsilon) {
    return PrecisionSnapping(
               {.epsilon = epsilon, .sensitivity = Dyadic(1), .lower = 0, .upper = 16, .precision = 118})
        .grid();
  };
  EXPECT_EQ(grid(Rational(1, 2)), Grid(2));
  EXPECT_EQ(grid(Rational(1, 2) + power_of_two(-100)), Grid(1));
  EXPECT_EQ(grid(Rational(1, 2) - power_of_two(-100)), Grid(2));
}

TEST(PrecisionSnapping, ChoosesThePrecision) {
  const auto precision = [](const Rational& epsilon, double upper) {
    return PrecisionSnapping({.epsilon = epsilon, .sensitivity = Dyadic(1), .lower = 0, .upper = upper})
        .precision();
  };
  EXPECT_EQ(precision(1, 100), 118);
  EXPECT_EQ(precision(power_of_two(-113), 0x1p130), 118);
  EXPECT_EQ(precision(power_of_two(10), 100), 118);
  // max(118, m + 2), 2^-m the smallest power of two >= epsilon, makes epsilon' positive, but leaves it so small that the
  // noise exceeds any bounds: the refusal names both the rule's choice and a better one.
  for (const auto& [epsilon, bits, better] : std::vector<std::tuple<Rational, std::string, std::string>>{
           {power_of_two(-116), "118", "at least 121"},
           {power_of_two(-117), "119", "at least 122"},
           {power_of_two(-130), "132", "at least 135"},
           {power_of_two(-130) * Rational(3, 4), "132", "at least 136"},
           {power_of_two(-130) * Rational(1, 2), "133", "at least 136"}}) {
    MechanismOptions options = {.epsilon = epsilon, .sensitivity = Dyadic(1), .lower = 0, .upper = 0x1p300};
    expect_refused(options, "precision", "precision = " + bits + ":");
    expect_refused(options, "precision", better);
    options.precision = 2 * std::stol(bits) + 100;
    options.upper = 0x1p140;
    EXPECT_NO_THROW(PrecisionSnapping{options});
  }
}

TEST(PrecisionSnapping, RefusesEpsilonsAndSensitivitiesThatAreNotPositive) {
  const MechanismOptions good = {.epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = 0, .upper = 100};
  const auto with_epsilon = [&](const Rational& epsilon) {
    MechanismOptions options = good;
    options.epsilon = epsilon;
    return options;
  };
  expect_refused(with_epsilon(0), "epsilon", "positive");
  expect_refused(with_epsilon(-1), "epsilon", "positive");
  // Possible in themselves, but the noise exceeds the bounds.
  expect_refused(with_epsilon(Rational(5e-324)), "epsilon", "wider bounds");
  expect_refused(with_epsilon(power_of_two(-130)), "epsilon", "wider bounds");
  expect_refused(with_epsilon(power_of_two(-5000)), "epsilon", "4096");
  // So little noise that 118 bits do not reach from it to the bounds.
  expect_refused(with_epsilon(power_of_two(200)), "precision", "at least");
  MechanismOptions options = good;
  options.sensitivity = 0;
  expect_refused(options, "sensitivity", "public constant");
  options.sensitivity = -1;
  expect_refused(options, "sensitivity", "negative");
  options.sensitivity = 1e-312;
  expect_refused(options, "precision", "at least");
}

TEST(PrecisionSnapping, RefusesBoundsThatAreNotBounds) {
  const auto options = [](std::optional<double> lower, std::optional<double> upper) {
    return MechanismOptions{.epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = lower, .upper = upper};
  };
  expect_refused(options({}, {}), "lower", "missing");
  expect_refused(options(0, {}), "upper", "missing");
  expect_refused(options({}, 1), "lower", "missing");
  expect_refused(options(2, 1), "lower", "below upper");
  expect_refused(options(1, 1), "lower", "public constant");
  expect_refused(options(0.0, -0.0), "lower", "public constant");
  expect_refused(options(nan, 1), "lower", "finite");
  expect_refused(options(0, infinity), "upper", "finite");
  expect_refused(options(-infinity, 0), "lower", "finite");
}

// scale < B < 2^(p-7) scale, exactly.
TEST(PrecisionSnapping, ChecksTheConditionsOfTheNotes) {
  MechanismOptions options = {.epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = -1, .upper = 1};
  // The scale is a little above 1.
  expect_refused(options, "epsilon", "larger epsilon or wider bounds, or use exact mode");
  options.upper = std::nextafter(1.0, 2.0);
  EXPECT_NO_THROW(PrecisionSnapping{options});
  // The notes' claim is false here, with or without more bits.
  options = {.epsilon = Rational(1, 100), .sensitivity = Dyadic(1), .lower = -1, .upper = 1};
  expect_refused(options, "epsilon", "below half the distance");
  // The scale is 1 + 12 B 2^-24 and a little.
  options = {
      .epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = 0, .upper = 0x1.2p18, .precision = 24};
  expect_refused(options, "precision", "at least 25 bits");
  options.precision = 25;
  EXPECT_NO_THROW(PrecisionSnapping{options});
  options.precision = 24;
  options.upper = 0x1.1p18;
  EXPECT_NO_THROW(PrecisionSnapping{options});

  options.upper = 100;
  options.precision = 7;
  expect_refused(options, "precision", "between 8 and 4096");
  options.precision = 4097;
  expect_refused(options, "precision", "between 8 and 4096");
  options.precision = 4096;
  EXPECT_NO_THROW(PrecisionSnapping{options});
  options = {
      .epsilon = power_of_two(-22), .sensitivity = Dyadic(1), .lower = 0, .upper = 0x1p30, .precision = 23};
  expect_refused(options, "precision", "at least 24 bits");
  options.precision = 24;
  expect_refused({.epsilon = power_of_two(-22) * Rational(1, 2),
                  .sensitivity = Dyadic(1),
                  .lower = 0,
                  .upper = 0x1p30,
                  .precision = 24},
                 "precision", "at least 25 bits");
}

// What a refusal suggests is accepted.
TEST(PrecisionSnapping, SuggestsAPrecisionThatWorks) {
  std::mt19937_64 engine(8);
  for (int i = 0; i < 300; ++i) {
    MechanismOptions options;
    options.epsilon = Rational(Integer(static_cast<unsigned long>(engine() >> 40) + 1), Integer(1 << 20));
    options.sensitivity =
        std::ldexp(1 + static_cast<double>(engine() % 1000), static_cast<int>(engine() % 100) - 50);
    options.lower = 0;
    options.upper =
        std::ldexp(1.0 + static_cast<double>(engine() % 7), static_cast<int>(engine() % 300) - 100);
    options.precision = 8 + static_cast<long>(engine() % 40);
    for (int attempt = 0;; ++attempt) {
      ASSERT_LT(attempt, 3);
      try {
        const PrecisionSnapping mechanism(options);
        break;
      } catch (const Error& error) {
        if (error.parameter() == "epsilon") break;
        const std::string message = error.what();
        const std::size_t place = message.find("at least ");
        ASSERT_NE(place, std::string::npos) << message;
        options.precision = std::stol(message.substr(place + 9));
      }
    }
  }
}

TEST(PrecisionSnapping, StatesTheLoss) {
  const PrecisionSnapping mechanism = unit();
  const Rational scale = mechanism.exact_scale().rational();
  EXPECT_EQ(mechanism.loss_bound(0), 0);
  EXPECT_GT(mechanism.loss_bound(), 1 / scale);
  EXPECT_LT(mechanism.loss_bound(), 1 / scale + power_of_two(-110));
  EXPECT_EQ(mechanism.loss_bound(3) - mechanism.loss_bound(1), 2 / scale);
  // To first order, coth(grid / (2 scale)) (2 eta + 4 eta R / scale), R = B + (K - 1/2) grid; here the scale is 1, the
  // grid 2, B = 8 and K = 4.
  const double excess = Rational((mechanism.loss_bound() - 1 / scale) * power_of_two(118)).get_d();
  EXPECT_NEAR(excess, (2 + 4 * 15) / std::tanh(1), 1e-12);
  // Where the proved bound is below epsilon: a grid of at least 1.61 scales and enough room.
  EXPECT_TRUE(mechanism.epsilon_is_proved());
  const PrecisionSnapping coarse(
      {.epsilon = Rational(51, 100), .sensitivity = Dyadic(1), .lower = -8, .upper = 8});
  EXPECT_FALSE(coarse.epsilon_is_proved());  // a grid of 2 for a scale of 1.96
  EXPECT_LE(coarse.notes_claim(), coarse.epsilon());
  // At the widest bounds the terms of second order count, and the bound stays finite.
  const PrecisionSnapping wide(
      {.epsilon = Rational(3, 4), .sensitivity = Dyadic(1), .lower = 0, .upper = 0x1p47, .precision = 53});
  EXPECT_LT(wide.loss_bound(), Rational(1));
  EXPECT_GT(wide.loss_bound(), Rational(7, 10));
}

// The sensitivity .3 in data units, where dividing the values by .3 in doubles would break it.
TEST(PrecisionSnapping, LossHoldsInDataUnits) {
  const Dyadic a(76.9808188989947);
  const Dyadic b(76.6808188989947);
  const Rational distance = abs(a - b).rational();
  const PrecisionSnapping mechanism(
      {.epsilon = Rational(1), .sensitivity = Dyadic(0.3), .lower = 0, .upper = 100});
  const Rational scale = mechanism.exact_scale().rational();
  EXPECT_EQ(mechanism.loss_bound(distance) - mechanism.loss_bound(), (distance - Rational(0.3)) / scale);
  EXPECT_LE(mechanism.loss_bound(distance) - 1, power_of_two(-40));
}

// ---- Samples ----

Dyadic sample(const PrecisionSnapping& mechanism, const Dyadic& value, std::vector<std::uint64_t> words,
              const ReplayOptions& options = {}) {
  RecordedTape tape(std::move(words));
  const Dyadic result = mechanism.replay(value, tape, options);
  EXPECT_EQ(tape.remaining(), 0u);
  return result;
}

TEST(PrecisionSnapping, ReadsTheDocumentedBits) {
  const PrecisionSnapping mechanism(
      {.epsilon = Rational(Integer(1) << 20), .sensitivity = Dyadic(1), .lower = -100, .upper = 100});
  EXPECT_EQ(mechanism.grid(), Grid(-19));
  for (const bool slow_only : {false, true}) {
    // The scale is 2^-20: ln(1/2) = -0.69 of it, -0.35 of the grid.
    EXPECT_EQ(sample(mechanism, Dyadic(3), {half}, {.slow_only = slow_only}), Dyadic(3));
    EXPECT_EQ(sample(mechanism, Dyadic(3), {half + 1}, {.slow_only = slow_only}), Dyadic(3));
    // ln(1/4) = -1.39: -0.69 of the grid.
    const Dyadic step(Integer(1), -19);
    EXPECT_EQ(sample(mechanism, Dyadic(3), {half >> 1}, {.slow_only = slow_only}), Dyadic(3) - step);
    EXPECT_EQ(sample(mechanism, Dyadic(3), {(half >> 1) + 1}, {.slow_only = slow_only}), Dyadic(3) + step);
    // ln(2^-64) = -44.36: -22.18 of the grid. The digits go on in the second word.
    EXPECT_EQ(sample(mechanism, Dyadic(3), {0, half}, {.slow_only = slow_only}), Dyadic(3) - 22 * step);
  }
}

TEST(PrecisionSnapping, TakesNoMoreDigitsThanItsPrecision) {
  // Of 40 bits of U, all are in the first word unless it begins with zeros: then no further word decides anything.
  const PrecisionSnapping mechanism(
      {.epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = -1000, .upper = 1000, .precision = 40});
  std::mt19937_64 engine(2);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t word = engine() | half >> (engine() % 23);
    RecordedTape none({});
    EXPECT_NO_THROW(precision_snap_slowly({40, mechanism.exact_scale(), Grid(0)},
                                          Dyadic(Integer(static_cast<long>(engine() >> 2)), -61), word,
                                          none));
  }
  // The plain evaluation takes words until it has all 118 significant bits.
  const PrecisionSnapping wide = unit();
  for (const auto& [words, count] :
       std::vector<std::pair<std::vector<std::uint64_t>, std::size_t>>{{{half, 0, 0, 0}, 2},
                                                                       {{half >> 10, 0, 0, 0}, 3},
                                                                       {{0, half >> 10, 0, 0}, 3},
                                                                       {{0, 0, 1, 0, 0}, 5}}) {
    RecordedTape tape(words);
    wide.reference(Dyadic(0), tape);
    EXPECT_EQ(tape.consumed(), count);
  }
}

TEST(PrecisionSnapping, ATapeThatEndsIsAnError) {
  RecordedTape tape({0});
  EXPECT_THROW(unit().replay(Dyadic(0), tape), Error);
  tape.rewind();
  EXPECT_THROW(unit().reference(Dyadic(0), tape), Error);
}

// U* next to 1 has noise below half a place of the sum: what is rounded to the grid is the value.
TEST(PrecisionSnapping, RoundsTiesTowardsPlusInfinity) {
  const detail::PrecisionArithmetic arithmetic = {53, Dyadic(3, -1), Grid(1)};
  const Integer digits = (Integer(1) << 53) - 1;
  const auto index = [&](const Dyadic& x, bool minus) {
    return precision_index(arithmetic, scale_by_power_of_two(x, 1), minus, digits, 53);
  };
  for (const bool minus : {false, true}) {
    EXPECT_EQ(index(Dyadic(-0.5 + 0x1p-50), minus), 0);
    EXPECT_EQ(index(Dyadic(-0.5 - 0x1p-50), minus), -1);
    EXPECT_EQ(index(Dyadic(-1.5), minus), -1);
    EXPECT_EQ(index(Dyadic(1.5), minus), 2);
    EXPECT_EQ(index(Dyadic(3.5), minus), 4);
    EXPECT_EQ(index(Dyadic(0x1p60), minus), Integer(1) << 60);
  }
  // At .5 the places below are twice as fine, and so the noise shows.
  EXPECT_EQ(index(Dyadic(0.5), false), 0);
  EXPECT_EQ(index(Dyadic(0.5), true), 1);
  EXPECT_EQ(index(Dyadic(-0.5), false), -1);
  EXPECT_EQ(index(Dyadic(-0.5), true), 0);
}

// Noise of any size is possible: outputs beyond -709, where U* >= 2^-1022 would have ended. The probabilities of such
// outputs are in the ratio that the loss allows.
TEST(PrecisionSnapping, TailsDoNotEnd) {
  const PrecisionSnapping mechanism = unit(-1000, 1000);
  std::vector<std::uint64_t> words(18, 0);  // U = 2^-1120 (1/2 + ...): ln U = -777
  words.push_back(0x6000000000000000);
  for (const int value : {0, 1}) {
    for (const bool slow_only : {false, true}) {
      const Dyadic out = sample(mechanism, Dyadic(value), words, {.slow_only = slow_only});
      EXPECT_LT(out, Dyadic(-709));
      EXPECT_GT(out, Dyadic(-1000));
    }
  }
  // P(out <= 2 k) = P(S = +1) P(U* <= the largest u of 118 bits that gives it) = (its successor) / 2.
  const detail::PrecisionArithmetic arithmetic = {118, mechanism.exact_scale(), mechanism.grid()};
  const auto lower_tail = [&](int value, long k) {
    const Integer first = Integer(1) << 117;
    Integer low = 0;  // u = (first + place mod first) 2^(place div first - 3000)
    Integer high = first * 3000;
    while (low < high) {  // the first place with an index > k
      const Integer middle = (low + high) / 2;
      const Integer exponent = middle / first;
      const Integer digits = first + middle % first;
      if (precision_index(arithmetic, Dyadic(value), false, digits, 3117 - exponent.get_si()) > k) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    const Integer exponent = low / first;
    return Rational((first + low % first) * power_of_two(exponent.get_si() - 3117) / 2);
  };
  for (const long k : {-356L, -400L, -499L}) {
    const Rational at_zero = lower_tail(0, k);
    const Rational at_one = lower_tail(1, k);
    EXPECT_GT(at_one, 0);
    EXPECT_LE(std::log(Rational(at_zero / at_one).get_d()), 1 + 1e-15);
    EXPECT_GT(std::log(Rational(at_zero / at_one).get_d()), 1 - 1e-12);
    EXPECT_NEAR(Rational(at_zero / (at_zero + power_of_two(-2000))).get_d(), 1, 1e-9);
  }
}

TEST(PrecisionSnapping, ClampsValueAndOutput) {
  const PrecisionSnapping mechanism = unit(-2.5, 3.25);  // c = .375, B = 2.875, grid 2
  EXPECT_EQ(sample(mechanism, Dyadic(Integer(1), 3000), {half}), Dyadic(2.375));  // 2.875 - .69
  EXPECT_EQ(sample(mechanism, Dyadic(1000), {half + 1}), Dyadic(3.25));           // 2.875 + .69
  EXPECT_EQ(sample(mechanism, -Dyadic(Integer(1), 3000), {half}), Dyadic(-2.5));  // -2.875 - .69
  EXPECT_EQ(sample(mechanism, Dyadic(-1000), {half + 1}), Dyadic(-1.625));        // -2.875 + .69
  EXPECT_EQ(sample(mechanism, Dyadic(0.375), {half}), Dyadic(0.375));
}

// Whatever the value, outputs lie on one fixed set: c plus multiples of the grid, rounded, and the bounds.
TEST(PrecisionSnapping, OutputsLieOnTheGridWhateverTheValue) {
  const PrecisionSnapping mechanism(
      {.epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = -50.3, .upper = 20});
  for (const double value : {0.0, 1.0, 0.1, -36.9808188989947}) {
    const std::vector<double> values(3000, value);
    std::vector<double> out(values.size());
    mechanism.release(values, out, thread_generator());
    for (const double x : out) {
      ASSERT_GE(x, -50.3);
      ASSERT_LE(x, 20);
      if (x == -50.3 || x == 20) continue;
      const Dyadic noisy = mechanism.grid().round(Dyadic(x) - mechanism.center());
      ASSERT_EQ((mechanism.center() + noisy).to_double_nearest(), x);
    }
  }
}

// ---- Both paths, every kernel, the plain evaluation and rational arithmetic agree ----

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

  PrecisionSnapping mechanism() {
    static constexpr long precisions[] = {118, 118, 53, 24, 16, 12, 10, 30, 64, 200};
    for (;;) {
      MechanismOptions options;
      options.epsilon = Rational(unit() + 0.1);
      options.precision = precisions[below(std::size(precisions))];
      const double scale = std::ldexp(1 + unit(), below(5) == 0 ? between(-1000, 1000) : between(-30, 30));
      options.sensitivity = below(3) == 0 ? Dyadic(std::ldexp(1.0, std::ilogb(scale))) : Dyadic(scale);
      const double width = std::ldexp(scale, between(2, below(3) == 0 ? 100 : 12)) * (1 + unit());
      switch (below(6)) {
        case 0:
          options.lower = 0;
          break;
        case 1:
          options.lower = -width / 2;
          break;
        case 2:
          options.lower = scale * unit() / 8;  // a center with more digits than a double holds
          break;
        case 3:
          options.lower = std::ldexp(unit(), -1074 + between(0, 60));
          break;
        case 4:
          options.lower = std::ldexp(scale * unit(), between(20, 70));  // far from zero
          break;
        default:
          options.lower = std::round(unit() * 100) / 10 * std::ldexp(1.0, std::ilogb(scale));
      }
      options.upper = *options.lower + width;
      try {
        return PrecisionSnapping(options);
      } catch (const Error&) {  // against a rule: another one
      }
    }
  }

  double value(const PrecisionSnapping& mechanism) {
    const double width = mechanism.upper() - mechanism.lower();
    const double spacing = std::ldexp(1.0, static_cast<int>(mechanism.grid().exponent()));
    const double center = mechanism.center().to_double_nearest();
    switch (below(6)) {
      case 0:
        return center;
      case 1:
        return mechanism.lower() - width / 3;
      case 2:
        return center + (std::floor(unit() * 20) - 10) * spacing / 2;
      case 3:
        return std::nextafter(center + (std::floor(unit() * 20) - 10) * spacing / 2, sign() * infinity);
      case 4:
        return below(2) == 0 ? mechanism.lower() : mechanism.upper();
      default:
        return mechanism.lower() + unit() * width;
    }
  }

  // A word for `value`: random, or next to a rounding boundary, within a few places of p bits.
  std::uint64_t word_for(const PrecisionSnapping& mechanism, double value) {
    if (below(4) == 0) return below(8) == 0 ? word() >> between(0, 63) : word();
    const Dyadic spacing = mechanism.grid().spacing();
    Dyadic x = Dyadic(value) - mechanism.center();
    if (x > mechanism.half_width()) x = mechanism.half_width();
    if (x < -mechanism.half_width()) x = -mechanism.half_width();
    const bool minus = below(2) != 0;
    const Integer steps = mechanism.grid().index(x) + (minus ? between(1, 10) : -between(0, 9));
    const Dyadic boundary = mechanism.grid().value(steps) - scale_by_power_of_two(spacing, -1);
    const Rational distance = abs(boundary - x).rational() / mechanism.exact_scale().rational();
    const long double u = std::exp(-static_cast<long double>(distance.get_d()));
    if (!(u > 0 && u < 1)) return word();
    // A double's error in the distance: U to 2^-50 and so. Beside it, noise of the size of the p-bit rounding.
    const int places = static_cast<int>(std::min(mechanism.precision(), 52L));
    const long double off =
        static_cast<long double>(sign() * unit()) * std::ldexp(1.0L, between(-3, 8) - places);
    const long double digits = std::ldexp(u + u * off, 63);
    if (!(digits >= 1 && digits < 0x1p63L)) return word();
    return (static_cast<std::uint64_t>(digits) << 1) | (minus ? 1 : 0);
  }

 private:
  std::mt19937_64 engine_;
};

std::vector<InstructionSet> kernels() {
  std::vector<InstructionSet> supported;
  for (const InstructionSet set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (is_supported(set)) supported.push_back(set);
  }
  return supported;
}

std::string describe(const PrecisionSnapping& mechanism) {
  return "precision " + std::to_string(mechanism.precision()) + " epsilon " + to_string(mechanism.epsilon()) +
         " sensitivity " + to_string(mechanism.sensitivity()) + " bounds " + to_hex(mechanism.lower()) + " " +
         to_hex(mechanism.upper());
}

// The rational oracle's output for the U of a word and a constant rest of its digits.
double plainly(const PrecisionSnapping& mechanism, const Dyadic& value, std::uint64_t word,
               std::uint64_t rest) {
  const long p = mechanism.precision();
  Rational u = Rational(Integer(static_cast<unsigned long>(word >> 1))) * power_of_two(-63);
  for (long count = 127; u == 0 || count < p + 300; count += 64) {
    u += Integer(static_cast<unsigned long>(rest)) * power_of_two(-count);
  }
  Rational x = (value - mechanism.center()).rational();
  const Rational half_width = mechanism.half_width().rational();
  x = std::max(Rational(-half_width), std::min(half_width, x));
  const Rational grid = power_of_two(mechanism.grid().exponent());
  const Rational noise = precision_oracle::noise_of(u, mechanism.exact_scale().rational(), p);
  Rational noisy = precision_oracle::index_of(x, (word & 1) != 0, noise, grid, p) * grid;
  noisy = std::max(Rational(-half_width), std::min(half_width, noisy));
  return to_double_nearest(Rational(mechanism.center().rational() + noisy));
}

TEST(PrecisionSnapping, EveryPathAgreesBitForBit) {
  Inputs inputs(20240229);
  std::size_t fast = 0;
  std::size_t all = 0;
  for (int round = 0; round < 250 && !HasFailure(); ++round) {
    const PrecisionSnapping mechanism = inputs.mechanism();
    const auto size = static_cast<std::size_t>(inputs.between(1, 40));
    std::vector<double> values(size);
    std::vector<std::uint64_t> words(size);
    for (std::size_t i = 0; i < size; ++i) {
      values[i] = inputs.value(mechanism);
      words[i] = inputs.word_for(mechanism, values[i]);
    }
    const std::uint64_t rest = inputs.word() | 1;
    std::vector<double> expected(size);
    EndlessTape slow_tape(words, rest);
    EXPECT_EQ(mechanism.replay(values, expected, slow_tape, {.slow_only = true}), size);
    for (const InstructionSet set : kernels()) {
      std::vector<double> out(size);
      EndlessTape tape(words, rest);
      const std::size_t slow = mechanism.replay(values, out, tape, {.kernel = set});
      EXPECT_EQ(tape.consumed, slow_tape.consumed) << describe(mechanism);
      for (std::size_t i = 0; i < size; ++i) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(out[i]), std::bit_cast<std::uint64_t>(expected[i]))
            << to_string(set) << ": " << to_hex(out[i]) << " instead of " << to_hex(expected[i]) << " for "
            << to_hex(values[i]) << " word " << words[i] << ", " << describe(mechanism);
      }
      if (set == best_instruction_set()) fast += size - slow;
    }
    all += size;
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_EQ(plainly(mechanism, Dyadic(values[i]), words[i], rest), expected[i])
          << to_hex(values[i]) << " word " << words[i] << ", " << describe(mechanism);
      // Exact values with digits far below the doubles.
      Dyadic value(values[i]);
      if (inputs.below(2) == 0) {
        value += Dyadic(Integer(static_cast<unsigned long>(inputs.word())),
                        mechanism.grid().exponent() - inputs.between(40, 400));
      }
      EndlessTape one({words[i]}, rest);
      EndlessTape same({words[i]}, rest);
      EndlessTape plain({words[i]}, rest);
      const Dyadic result = mechanism.replay(value, one, {.kernel = kernels()[i % kernels().size()]});
      EXPECT_EQ(result, mechanism.replay(value, same, {.slow_only = true})) << describe(mechanism);
      EXPECT_EQ(one.consumed, same.consumed);
      EXPECT_EQ(result, mechanism.reference(value, plain)) << describe(mechanism);
      EXPECT_GE(plain.consumed, one.consumed);
      EXPECT_EQ(result.to_double_nearest(), plainly(mechanism, value, words[i], rest)) << describe(mechanism);
      if (value == Dyadic(values[i])) {
        EXPECT_EQ(result, Dyadic(expected[i]));
      }
    }
  }
  // Both paths must have been taken often.
  EXPECT_GT(fast, all / 4);
  EXPECT_LT(fast, all - all / 10);
}

// Centers whose place between two grid points is one double, two doubles, or more.
TEST(PrecisionSnapping, EveryCenterIsAddedWithOneRounding) {
  Inputs inputs(6);
  const std::vector<std::pair<double, double>> bounds = {{-16, 16},
                                                         {0, 24},
                                                         {0, 25},
                                                         {0.1, 1000},
                                                         {0.1, 0x1p40},
                                                         {-0.1, 3e6},
                                                         {0x1p-60, 100},
                                                         {1e-300, 1000.7},
                                                         {-5e-324, 0x1.8p9},
                                                         {0x1.fffffffffffffp-2, 0x1p45 + 0.5}};
  for (const auto& [lower, upper] : bounds) {
    const PrecisionSnapping mechanism(
        {.epsilon = Rational(1, 3), .sensitivity = Dyadic(1), .lower = lower, .upper = upper});
    std::vector<double> values(400);
    std::vector<std::uint64_t> words(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = i % 2 == 0
                      ? lower + inputs.unit() * (upper - lower)
                      : lower + std::ldexp(inputs.unit(), inputs.between(0, std::ilogb(upper - lower)));
      words[i] = inputs.word();
    }
    const std::uint64_t rest = inputs.word();
    std::vector<double> expected;
    for (std::size_t i = 0; i < values.size(); ++i) {
      expected.push_back(plainly(mechanism, Dyadic(values[i]), words[i], rest));
    }
    for (const InstructionSet set : kernels()) {
      std::vector<double> out(values.size());
      EndlessTape tape(words, rest);
      mechanism.replay(values, out, tape, {.kernel = set});
      EXPECT_EQ(out, expected) << lower << " " << upper;
    }
  }
}

// 2^-18 of samples have U below it; rounding to 118 bits or 53 adds nothing that would show, to 30 bits an expected
// 2 (40 + 50 / 4) 2^-30. By Chernoff more than 80 of a million, with less than 5 expected, have probability < 1e-60.
TEST(PrecisionSnapping, RarelyLeavesTheFastPath) {
  for (const long precision : {118L, 53L, 30L}) {
    const PrecisionSnapping mechanism({.epsilon = Rational(1, 3),
                                       .sensitivity = Dyadic(1),
                                       .lower = 0,
                                       .upper = 100,
                                       .precision = precision});
    const std::vector<double> values(1'000'000, 41.7);
    std::vector<double> out(values.size());
    for (const InstructionSet set : kernels()) {
      EXPECT_LT(mechanism.replay(values, out, thread_generator(), {.kernel = set}), 80u) << precision;
    }
  }
}

// ---- Batches ----

TEST(PrecisionSnappingBatch, RefusesWhatItCannotRelease) {
  const PrecisionSnapping near = unit();
  const PrecisionSnapping far = unit(0x1p60, 0x1p61);
  for (const PrecisionSnapping& mechanism : {near, far}) {
    for (const double bad : {nan, infinity, -infinity}) {
      for (const bool slow_only : {false, true}) {
        std::vector<double> values(27, 1.0);
        std::vector<double> out(values.size(), 5.0);
        values[9] = bad;
        try {
          mechanism.replay(values, out, thread_generator(), {.slow_only = slow_only});
          ADD_FAILURE() << bad << " was released";
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
          EXPECT_EQ(error.parameter(), "values");
        }
        EXPECT_EQ(std::count(out.begin(), out.end(), 0.0), 27);
      }
    }
  }
  RecordedTape tape(std::vector<std::uint64_t>(16, half));
  std::vector<double> values(4);
  std::vector<double> out(3);
  EXPECT_THROW(near.replay(values, out, tape), Error);
  EXPECT_THROW(near.replay(values, values, tape), Error);
  EXPECT_EQ(tape.consumed(), 0u);
  const std::vector<double> many(PrecisionSnapping::chunk + 10, 1.0);
  std::vector<double> outputs(many.size(), 5.0);
  RecordedTape short_tape(std::vector<std::uint64_t>(PrecisionSnapping::chunk, half));
  EXPECT_THROW(near.replay(many, outputs, short_tape), Error);
  EXPECT_EQ(static_cast<std::size_t>(std::count(outputs.begin(), outputs.end(), 0.0)), outputs.size());
}

TEST(PrecisionSnapping, IsSharedByThreads) {
  const PrecisionSnapping mechanism = unit(0, 100);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const std::vector<double> values(10000, 50.0);
      std::vector<double> out(values.size());
      mechanism.release(values, out, thread_generator());
      for (int j = 0; j < 50; ++j) {
        EXPECT_EQ(sample(mechanism, Dyadic(50), {half}, {.slow_only = true}), Dyadic(50));
      }
      EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](double x) { return x >= 0 && x <= 100; }));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

#if defined(__SSE2__)
// The caller's rounding mode, flush-to-zero and denormals-are-zero change nothing.
TEST(PrecisionSnapping, DoesNotDependOnTheFloatEnvironment) {
  const unsigned standard = _mm_getcsr();
  Inputs inputs(11);
  for (int round = 0; round < 40; ++round) {
    const PrecisionSnapping mechanism = inputs.mechanism();
    std::vector<double> values(20);
    std::vector<std::uint64_t> words(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = inputs.value(mechanism);
      words[i] = inputs.word_for(mechanism, values[i]);
    }
    std::vector<double> expected(values.size());
    EndlessTape tape(words, 5);
    mechanism.replay(values, expected, tape);
    for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      std::fesetround(rounding);
      _mm_setcsr(_mm_getcsr() | 0x8040);
      const PrecisionSnapping same({.epsilon = mechanism.epsilon(),
                                    .sensitivity = mechanism.sensitivity(),
                                    .lower = mechanism.lower(),
                                    .upper = mechanism.upper(),
                                    .precision = mechanism.precision()});
      std::vector<double> out(values.size());
      EndlessTape again(words, 5);
      same.replay(values, out, again);
      EndlessTape one({words[0]}, 5);
      const Dyadic first = same.replay(Dyadic(values[0]), one);
      std::fesetround(FE_TONEAREST);
      _mm_setcsr(standard);
      EXPECT_EQ(out, expected);
      EXPECT_EQ(first, Dyadic(expected[0]));
      EXPECT_EQ(same.exact_scale(), mechanism.exact_scale());
      EXPECT_EQ(same.loss_bound(), mechanism.loss_bound());
    }
  }
}
#endif

}  // namespace
}  // namespace snapdp
