#include "snapdp/privacy/dilation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "mechanism/law_oracle.h"
#include "mechanism/shared/precision_law.h"
#include "snapdp/error.h"
#include "snapdp/privacy/certificate.h"

namespace snapdp {

using namespace mechanism_internal;

namespace {

using testing::HasSubstr;
using testing::StartsWith;

const Rational tolerance(1, 1'000'000'000);

TEST(Dilation, BothSignsMakeTheLawOfOutputs) {
  const UniformPowerLaw law;
  for (const Noise& noise : {Noise{.scale = 1, .grid = Grid(0), .lower = -8, .upper = 8},
                             Noise{.scale = 1.5, .grid = Grid(-1), .lower = 0, .upper = 4.25},
                             Noise{.scale = 0.75, .grid = Grid(0)}}) {
    const Rational value(7, 8);
    const std::vector<LogInterval> intervals = output_intervals(noise, value, 20);
    const OutputLaw expected(noise, 0.875);
    const double first = noise.lower ? *noise.lower : std::floor((0.875 - 20 * noise.scale.up()));
    const double step = noise.grid.spacing().to_double_nearest();
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      const Enclosure p = law.probability(intervals[i]);
      EXPECT_LE(p.lower, p.upper);
      double output = first + static_cast<double>(i) * step;
      if (noise.upper && i + 1 == intervals.size()) output = *noise.upper;
      EXPECT_NEAR(p.lower.get_d(), expected.probability(output), 1e-15) << output;
      EXPECT_NEAR(p.upper.get_d(), p.lower.get_d(), 1e-40);
    }
  }
}

// For all |s| <= epsilon, with and without clamps, on grids finer and coarser than the scale, values on and off the grid.
TEST(Dilation, TheMechanismsOutputsArePrivate) {
  const UniformPowerLaw law;
  for (const auto& [scale, grid, bound] :
       {std::tuple(1.0, 0L, 4.0), std::tuple(1.0, 0L, 0.0), std::tuple(0.75, 1L, 3.5),
        std::tuple(2.0, -1L, 2.0), std::tuple(1.25, 0L, 0.0)}) {
    Noise noise{.scale = scale, .grid = Grid(grid)};
    if (bound > 0) {
      noise.lower = -bound;
      noise.upper = bound;
    }
    for (const Rational& value : {Rational(0), Rational(1, 2), Rational(-17, 7)}) {
      const Rational epsilon = 1 / Rational(scale);
      const Enclosure delta =
          dilation_divergence(law, output_intervals(noise, value, 25), epsilon, epsilon, tolerance);
      EXPECT_GE(delta.lower, 0);
      EXPECT_LE(delta.lower, Rational(1e-40));
      EXPECT_LE(delta.upper, tolerance) << scale << " " << grid << " " << bound << " " << value;
    }
  }
}

TEST(Dilation, TooSmallALossIsCaught) {
  const UniformPowerLaw law;
  const Noise noise{.scale = 1, .grid = Grid(0), .lower = -4, .upper = 4};
  const std::vector<LogInterval> intervals = output_intervals(noise, 0);
  const Enclosure delta = dilation_divergence(law, intervals, Rational(9, 10), 1, Rational(1, 1000));
  EXPECT_GT(delta.lower, Rational(1, 50));
  EXPECT_LE(delta.upper - delta.lower, Rational(1, 1000));
  // Of all the shifts, 1 and -1 are the worst for this law: a sum over outputs in multiple precision.
  double largest = 0;
  for (const Rational& shift : {Rational(1), Rational(-1)}) {
    double sum = 0;
    for (int k = -4; k <= 4; ++k) {
      const auto probability = [&](const Rational& y) {
        oracle::Number p(1.0);
        if (k > -4) p = oracle::at_least(Integer(k), y, 1, Grid(0));
        if (k < 4) p = p - oracle::at_least(Integer(k + 1), y, 1, Grid(0));
        return p.nearest();
      };
      sum += std::max(0.0, probability(0) - std::exp(0.9) * probability(Rational(-shift)));
    }
    largest = std::max(largest, sum);
  }
  EXPECT_NEAR(delta.lower.get_d(), largest, 1e-3);
}

// Geometric noise on the integers at epsilon = 4 and a grid of 1/4: shifts of a whole epsilon pass, half of it does not.
TEST(Dilation, EveryShiftIsLookedAt) {
  const LatticePowerLaw law(4);
  const Noise noise{.scale = 0.25, .grid = Grid(-2)};
  const std::vector<LogInterval> intervals = output_intervals(noise, 0);
  for (const int shift : {-4, 4}) {
    std::vector<LogInterval> moved = intervals;
    for (LogInterval& interval : moved) {
      *interval.from += shift;
      *interval.to += shift;
    }
    EXPECT_LE(lifting_divergence(law, intervals, moved, 4).upper, Rational(1e-30));
  }
  const Enclosure delta = dilation_divergence(law, intervals, 4, 4, Rational(1, 100));
  EXPECT_GT(delta.lower, Rational(963, 1000));
  // The same outputs with the noise of real numbers.
  EXPECT_LE(dilation_divergence(UniformPowerLaw(), intervals, 4, 4, tolerance).upper, tolerance);
}

// The lifting: the output law of y against that of a neighbor, through intervals and clamps.
TEST(Dilation, LiftsToOutputs) {
  const UniformPowerLaw law;
  for (const bool clamped : {false, true}) {
    Noise noise{.scale = 1, .grid = Grid(0)};
    if (clamped) {
      noise.lower = -2.5;
      noise.upper = 3;
    }
    for (const Rational& y : {Rational(0), Rational(1, 3), Rational(-2)}) {
      for (const Rational& move : {Rational(1), Rational(-1), Rational(1, 2)}) {
        std::vector<LogInterval> here = output_intervals(noise, y);
        std::vector<LogInterval> there = here;
        for (LogInterval& interval : there) {
          if (interval.from) *interval.from -= move;
          if (interval.to) *interval.to -= move;
        }
        if (clamped && y + move >= Rational(-5, 2) && y + move <= 3) {
          // A dilation is what moving the value does.
          const std::vector<LogInterval> moved = output_intervals(noise, Rational(y + move));
          ASSERT_EQ(moved.size(), there.size());
          for (std::size_t i = 0; i < moved.size(); ++i) {
            EXPECT_EQ(moved[i].from, there[i].from);
            EXPECT_EQ(moved[i].to, there[i].to);
          }
        }
        EXPECT_LE(lifting_divergence(law, here, there, 1).upper, Rational(1e-30));
        EXPECT_GT(lifting_divergence(law, here, there, Rational(1, 4)).lower, Rational(1, 100));
      }
    }
  }
}

// At finite precision E ranges over unions of outputs and epsilon grows by kappa: the certificate's bound.
TEST(Dilation, OfPrecisionModeIsLiftedWithMore) {
  constexpr long precision = 10;
  const double half_width = 3;
  const Certificate certificate = certify({.scale = 1,
                                           .sensitivity = 1,
                                           .lower = -half_width,
                                           .upper = half_width,
                                           .kind = NoiseKind::notes,
                                           .precision = precision});
  PrecisionLaw law({precision, Dyadic(1), Grid(0)}, Dyadic(half_width));
  const auto divergence = [&](const Dyadic& x, const Dyadic& y, const Rational& epsilon) {
    const double growth = std::exp(epsilon.get_d());
    double sum = 0;
    for (Integer k = -law.outermost(); k <= law.outermost(); ++k) {
      sum += std::max(0.0, law.probability(k, x).get_d() - growth * law.probability(k, y).get_d());
    }
    return sum;
  };
  double at_epsilon = 0;
  for (int i = -96; i <= 64; ++i) {
    const Dyadic x = Dyadic(Integer(i), -5) + Dyadic(Integer(1), -11);
    const Dyadic y = x + Dyadic(1);
    EXPECT_LE(divergence(x, y, certificate.bound), 1e-15);
    EXPECT_LE(divergence(y, x, certificate.bound), 1e-15);
    at_epsilon = std::max({at_epsilon, divergence(x, y, 1), divergence(y, x, 1)});
  }
  EXPECT_GT(at_epsilon, 1e-4);  // rounding costs something
}

TEST(Dilation, RefusesWhatMakesNoSense) {
  const UniformPowerLaw law;
  const std::vector<LogInterval> all = {{std::nullopt, std::nullopt}};
  EXPECT_THROW(dilation_divergence(law, all, -1, 1, tolerance), Error);
  EXPECT_THROW(dilation_divergence(law, all, 1, -1, tolerance), Error);
  EXPECT_THROW(dilation_divergence(law, all, 1, 1, 0), Error);
  EXPECT_THROW(dilation_divergence(law, all, 10'001, 1, tolerance), Error);
  EXPECT_THROW(output_intervals({.scale = 1}, 0, 0), Error);
  EXPECT_THROW(output_intervals({.scale = 1, .grid = Grid(-20)}, 0), Error);
  EXPECT_EQ(output_intervals({.scale = 1, .lower = 0.0, .upper = 1e9}, 0).size(),
            61U);  // as far as the depth
  EXPECT_THROW(lifting_divergence(law, all, {}, 1), Error);
  EXPECT_THROW(lifting_divergence(law, all, all, -1), Error);
  EXPECT_THROW(LatticePowerLaw(0), Error);
  // Counted twice, an interval would hide what is left out.
  const std::vector<std::vector<LogInterval>> overlapping = {{{0, 1}, {0, 1}},
                                                             {{1, 2}, {std::nullopt, Rational(3, 2)}},
                                                             {{0, std::nullopt}, {5, 6}},
                                                             {{-1, 3}, {1, 2}}};
  for (const std::vector<LogInterval>& twice : overlapping) {
    EXPECT_THROW(dilation_divergence(law, twice, 1, 1, tolerance), Error);
    EXPECT_THROW(lifting_divergence(law, twice, twice, 1), Error);
  }
  const std::vector<LogInterval> apart = {{2, 3}, {std::nullopt, 0}, {0, 1}, {1, 1}, {5, std::nullopt}};
  EXPECT_GT(dilation_divergence(law, apart, 1, 1, tolerance).upper, 0);
  EXPECT_EQ(dilation_divergence(law, all, 1, 1, tolerance).lower, 0);
  EXPECT_EQ(law.probability({Rational(1), Rational(1)}).upper, 0);
  EXPECT_EQ(law.probability(all[0]).lower, 1);
}

TEST(Dilation, BetweenTwoShiftsIntervalsKeepTheSmaller) {
  const UniformPowerLaw law;
  ASSERT_TRUE(law.is_unimodal());
  std::mt19937_64 engine(67);
  const auto pick = [&] { return Rational(static_cast<long>(engine() % 2001) - 1000, 128); };
  const auto moved = [&](LogInterval interval, const Rational& shift) {
    if (interval.from) *interval.from += shift;
    if (interval.to) *interval.to += shift;
    return law.probability(interval);
  };
  for (int round = 0; round < 2'000; ++round) {
    Rational ends[4] = {pick(), pick(), pick(), pick()};
    if (ends[0] > ends[1]) std::swap(ends[0], ends[1]);
    if (ends[2] > ends[3]) std::swap(ends[2], ends[3]);
    LogInterval interval{ends[0], ends[1]};
    if (round % 7 == 0) interval.from.reset();
    if (round % 5 == 0) interval.to.reset();
    const Rational least = std::min(moved(interval, ends[2]).lower, moved(interval, ends[3]).lower);
    for (int i = 1; i < 8; ++i) {
      const Rational between = ends[2] + (ends[3] - ends[2]) * Rational(i, 8);
      ASSERT_GE(moved(interval, between).upper, least);
    }
  }
  EXPECT_FALSE(LatticePowerLaw(1).is_unimodal());
}

// Far from the value there is next to nothing, however coarse the grid.
TEST(Dilation, FarTailsAreEnclosedInNumbersOfOneSize) {
  const UniformPowerLaw law;
  const Rational far = Dyadic(Integer(1), 900).rational();
  for (const LogInterval& interval :
       {LogInterval{far, std::nullopt}, {std::nullopt, -far}, {far, far + 1}, {-2 * far, -far}}) {
    const Enclosure p = law.probability(interval);
    EXPECT_LE(p.lower, 0);
    EXPECT_GE(p.upper, 0);
    EXPECT_LT(p.upper, Rational(1e-300));
  }
  const Enclosure all = law.probability({-far, far});
  EXPECT_GE(all.upper, 1);
  EXPECT_GT(all.lower, 1 - Rational(1e-300));
}

DilationQuestion question(const Noise& noise, const Rational& epsilon) {
  Noise of_one = noise;
  of_one.sensitivity = 1;
  return {.noise = of_one, .epsilon = epsilon};
}

TEST(DilationCheck, HoldsForEveryNeighborOfManyValues) {
  for (const auto& [scale, grid] : {std::pair(1.0, 0L), {0.75, 1L}, {2.0, -3L}, {0.5, -6L}, {8.0, 5L}}) {
    const Rational epsilon = 1 / Rational(scale);
    for (const Noise& noise : {Noise{.scale = scale, .grid = Grid(grid)},
                               Noise{.scale = scale, .grid = Grid(grid), .lower = -2.25, .upper = 3},
                               Noise{.scale = scale, .grid = Grid(grid), .upper = 3},
                               Noise{.scale = scale, .grid = Grid(grid), .lower = -2.25}}) {
      for (const Rational& value :
           {Rational(-9, 4), Rational(0), Rational(5, 16), Rational(1, 3), Rational(3)}) {
        const DilationCheck check = check_dilation(question(noise, epsilon), value);
        EXPECT_EQ(check.delta.lower, 0);
        EXPECT_LE(check.delta.upper, tolerance);
        // Neighbors between the bounds, at most the sensitivity away.
        const Rational up = noise.upper ? std::min(Rational(1), Rational(3 - value)) : Rational(1);
        const Rational down =
            noise.lower ? std::min(Rational(1), Rational(value + Rational(9, 4))) : Rational(1);
        EXPECT_EQ(check.shifts.from, -up / Rational(scale));
        EXPECT_EQ(check.shifts.to, down / Rational(scale));
      }
    }
  }
}

// A claim that is a little too small is found false, with about the delta that the outputs really have.
TEST(DilationCheck, FindsFalseClaims) {
  const Noise noise{.scale = 1, .grid = Grid(0), .lower = -4, .upper = 4};
  for (const Rational& value : {Rational(0), Rational(4), Rational(1, 2)}) {
    const DilationCheck check = check_dilation(question(noise, Rational(9, 10)), value);
    double largest = 0;
    for (const Rational& other : {Rational(value - 1), Rational(value + 1)}) {
      if (other > 4) continue;
      const std::vector<LogInterval> here = output_intervals(noise, value);
      const std::vector<LogInterval> there = output_intervals(noise, other);
      largest = std::max(largest,
                         lifting_divergence(UniformPowerLaw(), here, there, Rational(9, 10)).lower.get_d());
    }
    // At a bound the sets of outputs that tell most are those of the neighbor.
    EXPECT_EQ(largest > 0.01, value != 4) << largest;
    EXPECT_NEAR(check.delta.lower.get_d(), largest, 1e-9);
    EXPECT_LE(check.delta.upper - check.delta.lower, tolerance);
  }
  EXPECT_GT(check_dilation(question(noise, Rational(9999, 10000)), 0).delta.lower, 0);
  EXPECT_EQ(check_dilation(question(noise, Rational(10001, 10000)), 0).delta.lower, 0);
  // Between near bounds less is lost, and a smaller claim is true: values and outputs 0 and 1 only.
  const Noise near{.scale = 1, .grid = Grid(0), .lower = 0, .upper = 1};
  const Certificate certificate = certify({.scale = 1, .sensitivity = 1, .lower = 0, .upper = 1});
  EXPECT_LT(certificate.bound, 1);
  const DilationCheck kept = check_dilation(question(near, certificate.bound + Rational(1e-20)), 0);
  EXPECT_EQ(kept.delta.lower, 0);
  EXPECT_GT(check_dilation(question(near, certificate.witness - Rational(1, 1000)), 0).delta.lower, 0);
}

TEST(DilationCheck, RefusesWhatItCannotCheck) {
  const auto refused = [](const DilationQuestion& asked, const Rational& value = 0) {
    try {
      check_dilation(asked, value);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const auto with = [](const Noise& noise) { return question(noise, 1); };
  EXPECT_THAT(refused(with({.scale = 1, .kind = NoiseKind::geometric})), StartsWith("noise"));
  EXPECT_THAT(refused(with({.scale = 0})), StartsWith("scale"));
  EXPECT_THAT(refused(with({.scale = 1, .lower = 1, .upper = 1})), StartsWith("lower"));
  EXPECT_THAT(refused(with({.scale = 1, .lower = 1, .upper = 2}), 3), StartsWith("value = 3: lies beyond"));
  // The grid is too fine, and the message says which one is not.
  EXPECT_THAT(refused(with({.scale = 1, .grid = Grid(-12)})), HasSubstr("take 2^-10 or a coarser one"));
  EXPECT_NO_THROW(output_intervals({.scale = 1, .grid = Grid(-10)}, 0, 24));
  // However far the bounds are.
  EXPECT_THAT(refused(with({.scale = 1, .grid = Grid(-40), .lower = -1e300, .upper = 1e300})),
              StartsWith("grid"));
  EXPECT_EQ(refused(with({.scale = 1, .grid = Grid(0), .lower = -1e300, .upper = 1e300})), "nothing");
  EXPECT_THAT(refused(with({.scale = 1e-4, .grid = Grid(0)})), StartsWith("sensitivity"));
  EXPECT_EQ(refused(question({.scale = 1, .grid = Grid(1000)}, 1)), "nothing");
  DilationQuestion asked = with({.scale = 1});
  asked.epsilon = 1001;
  EXPECT_THAT(refused(asked), StartsWith("epsilon"));
  asked.epsilon = 0;
  EXPECT_THAT(refused(asked), StartsWith("epsilon"));
  asked = with({.scale = 1});
  asked.noise.sensitivity = 0;
  EXPECT_THAT(refused(asked), StartsWith("sensitivity"));
  asked.noise.sensitivity = 1001;
  EXPECT_THAT(refused(asked), StartsWith("sensitivity"));
  asked = with({.scale = 1});
  for (const Rational& bad : {Rational(0), Rational(1e-31), Rational(1, 2)}) {
    asked.tolerance = bad;
    EXPECT_THAT(refused(asked), StartsWith("tolerance"));
  }
  asked.tolerance = Rational(1e-29);
  EXPECT_EQ(refused(asked), "nothing");
}

}  // namespace
}  // namespace snapdp
