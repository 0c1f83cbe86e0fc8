#include "snapdp/mechanism/snapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/random/word_source.h"

namespace snapdp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t half = std::uint64_t{1} << 63;  // S = +1, U in [1/2, 1/2 + 2^-63)

using testing::HasSubstr;

// A tape where a generator belongs does not compile.
template <typename Source>
concept CanFeedARelease = requires(const Snapping& mechanism, Source& source, std::span<const double> values,
                                   std::span<double> out) {
  mechanism.release(Dyadic(1), source);
}
|| requires(const Snapping& mechanism, Source& source, std::span<const double> values,
            std::span<double> out) {
  mechanism.release(values, out, source);
};
static_assert(CanFeedARelease<SystemGenerator>);
static_assert(!CanFeedARelease<RecordedTape> && !CanFeedARelease<WordSource>);

Snapping unit(GridChoice grid = GridChoice::notes()) {
  return Snapping({.epsilon = Rational(1), .sensitivity = Dyadic(1), .grid = grid});
}

Error refusal(const MechanismOptions& options) {
  try {
    const Snapping mechanism(options);
    return Error(ErrorCode::io, "", "was accepted");
  } catch (const Error& error) {
    return error;
  }
}

void expect_refused(const MechanismOptions& options, const std::string& parameter, const std::string& text) {
  const Error error = refusal(options);
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.parameter(), parameter) << error.what();
  EXPECT_THAT(error.what(), HasSubstr(text));
  EXPECT_LT(std::string(error.what()).size(), 400u) << error.what();
}

TEST(Snapping, SaysWhatItIs) {
  const Snapping mechanism({.epsilon = Rational(1, 3),
                            .sensitivity = Dyadic(0.1),
                            .lower = -1,
                            .upper = 2,
                            .grid = GridChoice::parse("2^-4")});
  EXPECT_EQ(mechanism.epsilon(), Rational(1, 3));
  EXPECT_EQ(mechanism.sensitivity(), Dyadic(0.1));
  EXPECT_GE(Rational(mechanism.scale()), Rational(0.1) * 3);
  EXPECT_LT(Rational(std::nextafter(mechanism.scale(), 0.0)), Rational(0.1) * 3);
  EXPECT_EQ(mechanism.grid(), Grid(-4));
  EXPECT_EQ(mechanism.lower(), -1.0);
  EXPECT_EQ(mechanism.upper(), 2.0);
  EXPECT_FALSE(mechanism.integer());
  EXPECT_LE(mechanism.loss_bound(), Rational(1, 3));
  EXPECT_EQ(mechanism.loss_bound(), Rational(0.1) / Rational(mechanism.scale()));
  EXPECT_EQ(mechanism.loss_bound(Rational(1, 2)), Rational(1, 2) / Rational(mechanism.scale()));
}

TEST(Snapping, ChoosesTheGrid) {
  const Rational epsilon(1, 5);
  const Dyadic sensitivity(1);
  EXPECT_EQ(Snapping({.epsilon = epsilon, .sensitivity = sensitivity}).grid(), Grid(-7));
  EXPECT_EQ(Snapping({.epsilon = epsilon, .sensitivity = sensitivity, .grid = GridChoice::notes()}).grid(),
            Grid(3));
  EXPECT_EQ(Snapping({.epsilon = epsilon, .sensitivity = sensitivity, .integer = true}).grid(), Grid(0));
}

// Powers of two stay themselves; a scale just above one doubles the grid.
TEST(Snapping, GridOfScalesAroundAPowerOfTwo) {
  const auto grid = [](double sensitivity) {
    return Snapping({.epsilon = Rational(1), .sensitivity = Dyadic(sensitivity), .grid = GridChoice::notes()})
        .grid();
  };
  EXPECT_EQ(grid(std::nextafter(2.0, infinity)), Grid(2));
  EXPECT_EQ(grid(2), Grid(1));
  EXPECT_EQ(grid(std::nextafter(2.0, 0.0)), Grid(1));
}

TEST(Snapping, RefusesEpsilonsThatAreNotPositiveOrLeaveNoScale) {
  const Dyadic one(1);
  expect_refused({.epsilon = Rational(0), .sensitivity = one}, "epsilon", "positive");
  expect_refused({.sensitivity = one}, "epsilon", "positive");
  expect_refused({.epsilon = Rational(-1), .sensitivity = one}, "epsilon", "positive");
  Rational no_number;
  no_number.get_den() = 0;
  expect_refused({.epsilon = no_number, .sensitivity = one}, "epsilon", "positive");
  // The smallest subnormal and a huge one.
  expect_refused({.epsilon = Rational(5e-324), .sensitivity = one}, "epsilon", "scale");
  expect_refused({.epsilon = parse_rational("1e-400", "epsilon"), .sensitivity = one}, "epsilon", "scale");
  expect_refused({.epsilon = parse_rational("1e400", "epsilon"), .sensitivity = one}, "epsilon", "scale");
  expect_refused({.epsilon = Rational(1), .sensitivity = Dyadic(1e-312)}, "epsilon", "scale");
  EXPECT_THROW(exact_rational(nan, "epsilon"), Error);
  EXPECT_THROW(exact_rational(infinity, "epsilon"), Error);
}

TEST(Snapping, RefusesSensitivitiesThatAreNotPositive) {
  expect_refused({.epsilon = Rational(1), .sensitivity = Dyadic(0)}, "sensitivity", "public constant");
  expect_refused({.epsilon = Rational(1)}, "sensitivity", "public constant");
  expect_refused({.epsilon = Rational(1), .sensitivity = Dyadic(-1)}, "sensitivity", "negative");
  EXPECT_THROW(Dyadic{nan}, Error);
  EXPECT_THROW(Dyadic{infinity}, Error);
}

// Extreme but possible: the stated loss holds and the noise is there.
TEST(Snapping, WorksForExtremeEpsilons) {
  const Rational tiny = Rational(1) / Rational(Integer(1) << 130);
  const Rational huge(Integer(1) << 900);
  for (const Rational& epsilon : {tiny, huge, Rational(1, Integer("123456789012345678901234567890"))}) {
    const Snapping mechanism({.epsilon = epsilon, .sensitivity = Dyadic(1)});
    EXPECT_LE(mechanism.loss_bound(), epsilon);
    EXPECT_GT(mechanism.loss_bound(), epsilon * Rational(999, 1000));
    bool moved = false;
    // 64 outputs at the value itself: probability below 1024^-64.
    for (int i = 0; i < 64; ++i) moved |= mechanism.release(0, thread_generator()) != Dyadic(0);
    EXPECT_TRUE(moved);
  }
}

TEST(Snapping, RefusesBoundsThatAreNotBounds) {
  const auto options = [](std::optional<double> lower, std::optional<double> upper) {
    return MechanismOptions{.epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = lower, .upper = upper};
  };
  expect_refused(options(2, 1), "lower", "below upper");
  expect_refused(options(1, 1), "lower", "public constant");
  expect_refused(options(0.0, -0.0), "lower", "public constant");
  expect_refused(options(nan, 1), "lower", "finite");
  expect_refused(options(0, nan), "upper", "finite");
  expect_refused(options(-infinity, 1), "lower", "leave the bound out");
  expect_refused(options(0, infinity), "upper", "leave the bound out");
  // Far from zero for the grid 2^-10: the message names one that is coarse enough.
  expect_refused(options(0x1p43 + 0x1p-9, 0x1p44), "lower", "2^-9");
  expect_refused(options(0, 1e300), "upper", "2^944");
  EXPECT_NO_THROW(Snapping(options(0, 0x1p43)));
  EXPECT_NO_THROW(Snapping({.epsilon = Rational(1),
                            .sensitivity = Dyadic(1),
                            .lower = 0,
                            .upper = 1e300,
                            .grid = GridChoice::parse("2^944")}));
}

TEST(Snapping, RefusesWhatIsNoIntegerForAnIntegerStatistic) {
  MechanismOptions options = {.epsilon = Rational(10), .sensitivity = Dyadic(1), .integer = true};
  EXPECT_NO_THROW(Snapping{options});
  options.grid = GridChoice::parse("2^-1");
  expect_refused(options, "grid", "integer");
  options.grid = GridChoice::notes();
  expect_refused(options, "grid", "integer");
  options.grid = GridChoice::automatic();
  options.lower = 0.5;
  expect_refused(options, "lower", "integer");
  options.lower = 0;
  options.upper = 7.25;
  expect_refused(options, "upper", "integer");
  options.upper = 7;
  const Snapping mechanism(options);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(mechanism.release(Dyadic(3.5), thread_generator()).is_integer());
}

TEST(Snapping, WorksWithOneBoundOrNone) {
  SystemGenerator& generator = thread_generator();
  const Snapping above({.epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = -0.0});
  const Snapping below({.epsilon = Rational(1), .sensitivity = Dyadic(1), .upper = -0.0});
  EXPECT_FALSE(std::signbit(*above.lower()));
  EXPECT_FALSE(std::signbit(*below.upper()));
  for (int i = 0; i < 200; ++i) {
    EXPECT_GE(above.release(Dyadic(-5), generator), Dyadic(0));
    EXPECT_LE(below.release(Dyadic(5), generator), Dyadic(0));
  }
  const std::vector<double> values(1000, 0.0);
  std::vector<double> out(1000);
  above.release(values, out, generator);
  EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](double x) { return x >= 0 && !std::signbit(x); }));
  below.release(values, out, generator);
  EXPECT_TRUE(
      std::all_of(out.begin(), out.end(), [](double x) { return x <= 0 && (x != 0 || !std::signbit(x)); }));
}

// The bits of a sample: bit 0 is the sign, the others the digits of U.
TEST(Snapping, ReadsTheDocumentedBits) {
  const Snapping mechanism = unit(GridChoice::parse("2^-20"));
  const auto sample = [&](std::vector<std::uint64_t> words, ReplayOptions options = {}) {
    RecordedTape tape(std::move(words));
    const Dyadic result = mechanism.replay(Dyadic(3), tape, options);
    EXPECT_EQ(tape.remaining(), 0u);
    return result;
  };
  // ln(1/2) = -0.693147180559945..., times 2^20: -726817.498...
  EXPECT_EQ(sample({half}), Dyadic(3) + Dyadic(Integer(-726817), -20));
  EXPECT_EQ(sample({half + 1}), Dyadic(3) - Dyadic(Integer(-726817), -20));
  // ln(2^-64) = -44.361419555836500..., times 2^20: -46516319.87...: the digits go on in the second word.
  EXPECT_EQ(sample({0, half}), Dyadic(3) + Dyadic(Integer(-46516320), -20));
  EXPECT_EQ(sample({0, half}, {.slow_only = true}), Dyadic(3) + Dyadic(Integer(-46516320), -20));
}

TEST(Snapping, ATapeThatEndsIsAnError) {
  RecordedTape tape({0});
  EXPECT_THROW(unit().replay(Dyadic(0), tape), Error);
}

TEST(Snapping, RoundsTiesTowardsPlusInfinity) {
  // With noise far below the grid an output is the value, rounded; with none of it exactly zero, ties follow the sign.
  const Snapping mechanism(
      {.epsilon = Rational(Integer(1) << 200), .sensitivity = Dyadic(1), .grid = GridChoice::parse("2^0")});
  const auto sample = [&](double value, bool minus) {
    RecordedTape tape({half + (minus ? 1 : 0)});
    RecordedTape same({half + (minus ? 1 : 0)});
    const Dyadic fast = mechanism.replay(Dyadic(value), tape);
    EXPECT_EQ(fast, mechanism.replay(Dyadic(value), same, {.slow_only = true}));
    return fast;
  };
  for (const bool minus : {false, true}) {
    EXPECT_EQ(sample(1.25, minus), Dyadic(1));
    EXPECT_EQ(sample(-1.25, minus), Dyadic(-1));
    EXPECT_EQ(sample(std::nextafter(-0.5, -1.0), minus), Dyadic(-1));
    EXPECT_EQ(sample(std::nextafter(-0.5, 0.0), minus), Dyadic(0));
    EXPECT_EQ(sample(0x1p60, minus), Dyadic(0x1p60));
    // S ln U < 0 for S = +1: the noise decides a tie.
    EXPECT_EQ(sample(-1.5, minus), Dyadic(minus ? -1 : -2));
    EXPECT_EQ(sample(-0.5, minus), Dyadic(minus ? 0 : -1));
    EXPECT_EQ(sample(1.5, minus), Dyadic(minus ? 2 : 1));
    EXPECT_EQ(sample(3.5, minus), Dyadic(minus ? 4 : 3));
  }
}

TEST(Snapping, ExactValuesNeverWrapOrRound) {
  const Dyadic greatest(std::numeric_limits<std::int64_t>::max());
  const Snapping mechanism({.epsilon = Rational(1, 10), .sensitivity = Dyadic(1), .integer = true});
  // S = -1 and U = 1/2: noise 6.93, rounded 7.
  RecordedTape tape({half + 1});
  EXPECT_EQ(mechanism.replay(greatest, tape), greatest + Dyadic(7));
  for (int i = 0; i < 100; ++i) {
    const Dyadic noise = mechanism.release(greatest, thread_generator()) - greatest;
    EXPECT_TRUE(noise.is_integer());
    EXPECT_LT(abs(noise), Dyadic(1 << 20));  // false with probability e^-100000
  }
  // A value of 500 digits with a fraction of 2000.
  const Dyadic wide = Dyadic(Integer(1), 1500) + Dyadic(Integer(-3), -2000);
  tape.rewind();
  EXPECT_EQ(mechanism.replay(wide, tape), Dyadic(Integer(1), 1500) + Dyadic(7));
  // Beyond the doubles.
  const Snapping far({.epsilon = Rational(1, 4), .sensitivity = Dyadic(0x1p1000)});
  RecordedTape other({half + 1});
  EXPECT_GT(far.replay(Dyadic(Integer(1), 2000), other), Dyadic(Integer(1), 2000));
}

TEST(Snapping, ClampsValueAndOutput) {
  const Snapping mechanism({.epsilon = Rational(1),
                            .sensitivity = Dyadic(1),
                            .lower = -2.5,
                            .upper = 3.25,
                            .grid = GridChoice::notes()});
  const auto sample = [&](const Dyadic& value, std::uint64_t word) {
    RecordedTape tape({word});
    return mechanism.replay(value, tape);
  };
  EXPECT_EQ(sample(Dyadic(Integer(1), 3000), half), Dyadic(3));  // 3.25 - .69
  EXPECT_EQ(sample(Dyadic(1000), half + 1), Dyadic(3.25));       // 3.25 + .69
  EXPECT_EQ(sample(Dyadic(-1000), half), Dyadic(-2.5));          // -2.5 - .69
  EXPECT_EQ(sample(Dyadic(-1000), half + 1), Dyadic(-2));        // -2.5 + .69
}

// A mean on (0, 2^47) of a few rows.
TEST(Snapping, WorksOnWideBounds) {
  const double upper = 0x1p47;
  const Snapping mechanism(
      {.epsilon = Rational(1), .sensitivity = Dyadic(upper / 128), .lower = 0, .upper = upper});
  for (int i = 0; i < 100; ++i) {
    const Dyadic out = mechanism.release(Dyadic(0x1p46 + 0.125), thread_generator());
    EXPECT_GE(out, Dyadic(0));
    EXPECT_LE(out, Dyadic(upper));
    EXPECT_TRUE(out == Dyadic(upper) || mechanism.grid().round(out) == out);
  }
}

// Scale 1 on 0 and on 1: both give multiples of the grid and nothing else, so no last digit tells them apart.
TEST(Snapping, OutputsLieOnTheGridWhateverTheValue) {
  const Snapping mechanism({.epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = -50, .upper = 50});
  for (const double value : {0.0, 1.0, 0.1, -76.9808188989947}) {
    const std::vector<double> values(5000, value);
    std::vector<double> out(values.size());
    mechanism.release(values, out, thread_generator());
    for (const double x : out) ASSERT_EQ(mechanism.grid().round(Dyadic(x)), Dyadic(x));
  }
}

// The sensitivity .3 in data units, where dividing the values by .3 in doubles would break it.
TEST(Snapping, LossHoldsInDataUnits) {
  const Dyadic sensitivity(0.3);
  const Dyadic a(76.9808188989947);
  const Dyadic b(76.6808188989947);
  const Rational distance = abs(a - b).rational();
  const Snapping mechanism({.epsilon = Rational(1), .sensitivity = sensitivity});
  // The two doubles are not exactly .3 apart; the loss between them is what their exact distance says.
  EXPECT_EQ(mechanism.loss_bound(distance), distance / Rational(mechanism.scale()));
  EXPECT_LE(mechanism.loss_bound(), Rational(1));
  EXPECT_LE(Rational(mechanism.loss_bound(distance) - mechanism.loss_bound()),
            Rational(1) / Rational(Integer(1) << 40));
}

// Noise of any size is possible: outputs beyond -709, where a double U would have ended.
TEST(Snapping, TailsDoNotEnd) {
  const Snapping mechanism({.epsilon = Rational(1),
                            .sensitivity = Dyadic(1),
                            .lower = -1000,
                            .upper = 1000,
                            .grid = GridChoice::notes()});
  // U = 2^-1120 (1/2 + ...): ln U = -777.
  std::vector<std::uint64_t> words(18, 0);
  words.push_back(0x6000000000000000);
  for (const int value : {0, 1}) {
    for (const bool slow_only : {false, true}) {
      RecordedTape tape(words);
      const Dyadic out = mechanism.replay(Dyadic(value), tape, {.slow_only = slow_only});
      EXPECT_LT(out, Dyadic(-709));
      EXPECT_GT(out, Dyadic(-1000));
    }
  }
}

TEST(SnappingBatch, RefusesWhatItCannotRelease) {
  const Snapping bounded({.epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = -8, .upper = 8});
  for (const Snapping& mechanism : {bounded, unit()}) {
    for (const double bad : {nan, infinity, -infinity}) {
      for (const std::size_t place : {std::size_t{0}, std::size_t{9000}, std::size_t{9002}}) {
        for (const bool slow_only : {false, true}) {
          if (slow_only && place > 0) continue;  // it would take long
          std::vector<double> values(9003, 1.0);
          std::vector<double> out(values.size(), 5.0);
          values[place] = bad;
          try {
            mechanism.replay(values, out, thread_generator(), {.slow_only = slow_only});
            ADD_FAILURE() << bad << " was released";
          } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            EXPECT_EQ(error.parameter(), "values");
          }
          EXPECT_EQ(std::count(out.begin(), out.end(), 0.0), 9003);
        }
      }
    }
  }
  RecordedTape tape(std::vector<std::uint64_t>(16, half));
  std::vector<double> values(4);
  std::vector<double> out(3);
  EXPECT_THROW(unit().replay(values, out, tape), Error);
  EXPECT_THROW(unit().replay(values, values, tape), Error);
  EXPECT_THROW(unit().replay(std::span(values).first(3), std::span(values).last(3), tape), Error);
  EXPECT_NO_THROW(unit().replay(std::span(values).first(2), std::span(values).last(2), tape));
  EXPECT_EQ(tape.consumed(), 2u);
}

TEST(SnappingBatch, AnOutputBeyondTheDoublesIsAnErrorOnlyThere) {
  const double greatest = std::numeric_limits<double>::max();
  const MechanismOptions options = {.epsilon = Rational(1), .sensitivity = Dyadic(0x1p1000)};
  const Snapping unbounded(options);
  // S = -1: noise upwards.
  const std::vector<std::uint64_t> words(40, half + 1);
  std::vector<double> values(40, 1.0);
  values[17] = greatest;
  for (const bool slow_only : {false, true}) {
    std::vector<double> out(40, 5.0);
    RecordedTape tape(words);
    try {
      unbounded.replay(values, out, tape, {.slow_only = slow_only});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.parameter(), "values");
      EXPECT_THAT(error.what(), HasSubstr("bounds"));
    }
    EXPECT_EQ(std::count(out.begin(), out.end(), 0.0), 40);
    RecordedTape one({half + 1});
    EXPECT_GT(unbounded.replay(Dyadic(greatest), one, {.slow_only = slow_only}), Dyadic(greatest));
    // An upper bound keeps it among the doubles.
    MechanismOptions with_bound = options;
    with_bound.upper = 0x1p1020;
    tape.rewind();
    Snapping(with_bound).replay(values, out, tape, {.slow_only = slow_only});
    EXPECT_EQ(out[17], 0x1p1020);
  }
}

TEST(SnappingBatch, AFailingSourceReleasesNothing) {
  // Enough words for the first chunk only.
  const std::vector<double> values(Snapping::chunk + 10, 1.0);
  std::vector<double> out(values.size(), 5.0);
  RecordedTape tape(std::vector<std::uint64_t>(Snapping::chunk, half));
  EXPECT_THROW(unit().replay(values, out, tape), Error);
  EXPECT_EQ(static_cast<std::size_t>(std::count(out.begin(), out.end(), 0.0)), out.size());
}

TEST(SnappingBatch, OfNothingIsNothing) {
  RecordedTape tape({});
  EXPECT_EQ(unit().replay(std::span<const double>(), std::span<double>(), tape), 0u);
}

TEST(Snapping, IsSharedByThreads) {
  const Snapping mechanism({.epsilon = Rational(1, 2), .sensitivity = Dyadic(1), .lower = 0, .upper = 100});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const std::vector<double> values(10000, 50.0);
      std::vector<double> out(values.size());
      mechanism.release(values, out, thread_generator());
      for (int j = 0; j < 50; ++j) {
        RecordedTape tape({half});
        EXPECT_EQ(mechanism.replay(Dyadic(50), tape, {.slow_only = true}).is_double(), true);
      }
      EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](double x) { return x >= 0 && x <= 100; }));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace snapdp
