#include "snapdp/mechanism/bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "mechanism/law_oracle.h"
#include "mechanism/refused.h"
#include "snapdp/error.h"

namespace snapdp {
namespace {

using oracle::Number;

// P(rounded > upper) + P(rounded < lower) at y.
Number slow_binding(double scale, Grid grid, double lower, double upper, const Rational& y) {
  const Rational unit = grid.spacing().rational();
  return oracle::at_least(floor(Rational(Rational(upper) / unit)) + 1, y, Rational(scale), grid) +
         oracle::below(ceil(Rational(Rational(lower) / unit)), y, Rational(scale), grid);
}

TEST(BindingProbability, IsTheWorstOverTheRange) {
  std::mt19937_64 engine(21);
  const auto pick = [&](std::uint64_t n) { return static_cast<int>(engine() % n); };
  for (int i = 0; i < 150; ++i) {
    const double scale = std::ldexp(1 + pick(1000), -7);
    const Grid grid(pick(6) - 2);
    const StatisticRange range{-pick(64) / 16.0, pick(64) / 16.0};
    const double lower = range.lower - pick(64) / 16.0;
    const double upper = range.upper + (pick(64) + 1) / 16.0;
    const double worst =
        binding_probability({.scale = scale, .grid = grid, .lower = lower, .upper = upper}, range);
    Number largest(0.0);
    for (int j = 0; j <= 32; ++j) {
      const Rational y = Rational(range.lower) + (Rational(range.upper) - Rational(range.lower)) * j / 32;
      const Number p = slow_binding(scale, grid, lower, upper, y);
      if (p > largest) largest = p;
    }
    ASSERT_EQ(worst, largest.up()) << scale << " " << to_string(grid) << " " << lower << " " << upper;
  }
}

TEST(BindingProbability, OneBoundOrNone) {
  EXPECT_EQ(binding_probability({.scale = 1}, {0, 10}), 0);
  EXPECT_EQ(binding_probability({.scale = 1, .upper = 12.0}, {0, 10}),
            oracle::survival(Rational(5, 2), 1).up());
  EXPECT_EQ(binding_probability({.scale = 1, .lower = -2.0}, {0, 10}),
            oracle::survival(Rational(5, 2), 1).up());
}

TEST(MinimalBounds, AreTheLeastThatBindRarelyEnough) {
  std::mt19937_64 engine(22);
  const auto pick = [&](std::uint64_t n) { return static_cast<int>(engine() % n); };
  for (int i = 0; i < 300; ++i) {
    const double scale = std::ldexp(1 + pick(1000), -7);
    const Grid grid(pick(10) - 6);
    const double unit = std::ldexp(1.0, static_cast<int>(grid.exponent()));
    const StatisticRange range{-pick(640) / 16.0, pick(640) / 16.0};
    const double gamma = std::pow(10.0, -pick(9)) * 0.9;
    const ChosenBounds bounds = minimal_bounds({.scale = scale, .grid = grid}, range, gamma);
    ASSERT_LE(bounds.binding_probability, gamma);
    ASSERT_EQ(bounds.binding_probability,
              binding_probability(
                  {.scale = scale, .grid = grid, .lower = bounds.lower, .upper = bounds.upper}, range));
    // One step narrower binds too often, or does not hold the range any more.
    const double lower = bounds.lower + unit;
    const double upper = bounds.upper - unit;
    if (lower <= range.lower && upper >= range.upper) {
      ASSERT_GT(binding_probability({.scale = scale, .grid = grid, .lower = lower, .upper = upper}, range),
                gamma);
    }
    ASSERT_LE(bounds.lower, range.lower);
    ASSERT_GE(bounds.upper, range.upper);
    ASSERT_EQ(std::fmod(bounds.lower, unit), 0);
    ASSERT_EQ(std::fmod(bounds.upper, unit), 0);
  }
}

// For a range [-B', B']: the least M with M grid >= B' and P(|rounded| > M grid) <= gamma at B'.
TEST(MinimalBounds, SymmetricRange) {
  const double scale = 1;
  for (const double half : {0.0, 3.0, 3.3, 50.0}) {
    const ChosenBounds bounds = minimal_bounds({.scale = scale, .grid = Grid(0)}, {-half, half}, 0.01);
    EXPECT_EQ(bounds.lower, -bounds.upper);
    int m = static_cast<int>(std::ceil(half));
    while (slow_binding(scale, Grid(0), -m, m, Rational(half)) > Number(0.01)) ++m;
    EXPECT_EQ(bounds.upper, m) << half;
  }
  // The example of the header.
  const ChosenBounds bounds = minimal_bounds({.scale = 1, .grid = Grid(0)}, {0, 100}, 0.01);
  EXPECT_EQ(bounds.lower, -4);
  EXPECT_EQ(bounds.upper, 104);
}

TEST(MinimalBounds, Geometric) {
  const ChosenBounds bounds =
      minimal_bounds({.scale = 2, .grid = Grid(0), .kind = NoiseKind::geometric}, {0, 10}, 0.05);
  // P(K >= j) = q^j / (1 + q).
  const double q = std::exp(-0.5);
  int n = 0;
  while ((std::pow(q, n + 1) + std::pow(q, n + 11)) / (1 + q) > 0.05) ++n;
  EXPECT_EQ(bounds.lower, -n);
  EXPECT_EQ(bounds.upper, 10 + n);
}

TEST(NotesHalfWidth, IsTheFormula) {
  const NotesBoundQuery query{.sensitivity = 3, .half_range = 50, .gamma = 0.01};
  const double bound = notes_half_width(query, Rational(1, 2));
  // k / 2 = 2 but for the last places.
  EXPECT_NEAR(bound, 50 + 3 * 2 * (1 + 2 * std::log(100)), 1e-11);
  EXPECT_GT(bound, 50 + 3 * 2 * (1 + 2 * std::log(100)));
  const Rational usable = Rational(1, 2) - Rational(0x1p-117);
  const Rational k = (2 + Rational(24 * 0x1p-52)) / usable;
  const Number exact =
      Number(50.0) + Number(Rational(3 * k / 2)) * (Number(1.0) + Number(2.0) * oracle::log(Number(100.0)));
  EXPECT_EQ(bound, exact.up());
}

// What the formula is for: the bound binds with probability at most gamma, in exact mode on the notes' grid too.
TEST(NotesHalfWidth, BindsRarelyEnough) {
  for (const double gamma : {0.5, 0.05, 1e-6}) {
    for (const Rational& epsilon : {Rational(1, 10), Rational(1, 2), Rational(1), Rational(3)}) {
      const double bound = notes_half_width({.sensitivity = 1, .half_range = 20, .gamma = gamma}, epsilon);
      const double scale = to_double_up(1 / epsilon);
      const Grid grid = Grid::at_least(Rational(scale));
      EXPECT_LE(
          binding_probability({.scale = scale, .grid = grid, .lower = -bound, .upper = bound}, {-20, 20}),
          gamma);
      const ChosenBounds least = minimal_bounds({.scale = scale, .grid = grid}, {-20, 20}, gamma);
      EXPECT_LE(least.upper, bound + std::ldexp(1.0, static_cast<int>(grid.exponent())));
    }
  }
}

TEST(NotesHalfWidth, FromAccuracy) {
  const NotesBoundQuery query{.sensitivity = 3, .half_range = 50, .gamma = 0.01};
  const double log_rate = std::log(20);
  const double expected = 50 + 3 * (4 / (3 * log_rate)) * (1 + 2 * std::log(100));
  EXPECT_NEAR(notes_half_width_for_accuracy(query, 4, 0.05), expected, 1e-12);
}

TEST(Bounds, Refusals) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refused_parameter([&] { minimal_bounds({.scale = 0, .grid = Grid(0)}, {0, 1}, 0.05); }), "scale");
  EXPECT_EQ(refused_parameter([&] { minimal_bounds({.scale = 1, .grid = Grid(0)}, {1, 0}, 0.05); }), "lower");
  EXPECT_EQ(refused_parameter([&] {
              minimal_bounds({.scale = 1, .grid = Grid(0)}, {nan, 0}, 0.05);
            }),
            "lower");
  EXPECT_EQ(refused_parameter([&] {
              minimal_bounds({.scale = 1, .grid = Grid(0)}, {0, infinity}, 0.05);
            }),
            "upper");
  EXPECT_EQ(refused_parameter([&] {
              minimal_bounds({.scale = 1, .grid = Grid(-52)}, {0, 1}, 0.05);
            }),
            "grid");
  EXPECT_EQ(refused_parameter([&] {
              minimal_bounds({.scale = 1, .grid = Grid(1), .kind = NoiseKind::geometric}, {0, 1}, 0.05);
            }),
            "grid");
  EXPECT_EQ(refused_parameter([&] { binding_probability({.scale = 1, .lower = 1.0}, {0, 2}); }), "lower");
  EXPECT_EQ(refused_parameter([&] { binding_probability({.scale = 1, .upper = 1.0}, {0, 2}); }), "upper");
  const auto notes = [](NotesBoundQuery query, const Rational& epsilon) {
    return refused_parameter([&] { notes_half_width(query, epsilon); });
  };
  const NotesBoundQuery query{.sensitivity = 1, .half_range = 1, .gamma = 0.05};
  NotesBoundQuery changed = query;
  EXPECT_EQ(notes(query, 1), "accepted");
  EXPECT_EQ(notes(query, 0), "epsilon");
  EXPECT_EQ(notes(query, -1), "epsilon");
  EXPECT_EQ(notes(query, Rational(0x1p-117)), "epsilon");
  EXPECT_EQ(notes(query, Rational(0x1p-70)), "precision");
  changed.precision = 130;
  EXPECT_EQ(notes(changed, Rational(0x1p-70)), "accepted");
  changed.precision = 117;
  EXPECT_EQ(notes(changed, 1), "precision");
  changed = query;
  changed.sensitivity = 0;
  EXPECT_EQ(notes(changed, 1), "sensitivity");
  changed = query;
  changed.half_range = -1;
  EXPECT_EQ(notes(changed, 1), "half_range");
  EXPECT_EQ(refused_parameter([&] { notes_half_width_for_accuracy(query, 0, 0.05); }), "accuracy");
}

// The bounds are the least for the very noise that the mechanism has between them.
TEST(MinimalMechanism, FitsItsOwnBounds) {
  const StatisticRange range{10, 30};
  const FailureRate gamma(0.01);
  for (const NoiseKind kind : {NoiseKind::exact, NoiseKind::geometric, NoiseKind::notes}) {
    const MechanismOptions options{
        .epsilon = Rational(1, 2), .sensitivity = 1, .integer = kind == NoiseKind::geometric, .noise = kind};
    const MinimalMechanism minimal = minimal_mechanism(options, range, gamma);
    const Mechanism& mechanism = minimal.mechanism;
    EXPECT_EQ(mechanism.lower(), minimal.bounds.lower);
    EXPECT_EQ(mechanism.upper(), minimal.bounds.upper);
    EXPECT_EQ(minimal.half_width, (minimal.bounds.upper - minimal.bounds.lower) / 2);
    Noise centered{.scale = mechanism.scale(),
                   .grid = mechanism.grid(),
                   .lower = *mechanism.lower() - 20,
                   .upper = *mechanism.upper() - 20};
    if (kind == NoiseKind::geometric) centered.kind = kind;
    EXPECT_LE(binding_probability(centered, {-10, 10}), 0.01);
    EXPECT_EQ(binding_probability(centered, {-10, 10}), minimal.bounds.binding_probability);
    const double step = mechanism.grid().spacing().to_double_up();
    centered.lower = *centered.lower + step;
    centered.upper = *centered.upper - step;
    EXPECT_GT(binding_probability(centered, {-10, 10}), 0.01);
  }
  EXPECT_EQ(refused_parameter([&] {
              minimal_mechanism({.epsilon = Rational(1, Integer(1) << 60),
                                 .sensitivity = 1,
                                 .noise = NoiseKind::notes,
                                 .precision = 8},
                                range, gamma);
            }),
            "precision");
  EXPECT_EQ(refused_parameter([&] {
              minimal_mechanism({.epsilon = 1, .sensitivity = 1, .noise = NoiseKind::notes}, {2, 1}, gamma);
            }),
            "lower");
}

}  // namespace
}  // namespace snapdp
