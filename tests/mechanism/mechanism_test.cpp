#include "snapdp/mechanism/mechanism.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mechanism/refused.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/law.h"

namespace snapdp {
namespace {

// Its outputs lie on a grid about the middle of the bounds, which need not be one of integers.
TEST(Mechanism, PrecisionModeReleasesNoIntegers) {
  MechanismOptions options{
      .epsilon = 1, .sensitivity = 1, .lower = 0, .upper = 100, .noise = NoiseKind::notes};
  EXPECT_EQ(Mechanism(options).kind(), NoiseKind::notes);
  options.integer = true;
  try {
    const Mechanism mechanism(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.parameter(), "integer");
  }
}

TEST(Mechanism, NoValuesAreLessThanNothingApart) {
  MechanismOptions options{.epsilon = 1, .sensitivity = 1, .lower = 0, .upper = 100};
  for (const NoiseKind noise : {NoiseKind::exact, NoiseKind::geometric, NoiseKind::notes}) {
    options.noise = noise;
    options.integer = noise == NoiseKind::geometric;
    const Mechanism mechanism(options);
    EXPECT_EQ(refused_parameter([&] { static_cast<void>(mechanism.loss_bound(Rational(-1, 3))); }),
              "distance");
    EXPECT_EQ(mechanism.loss_bound(0), 0);
  }
  options.integer = false;
  options.noise = NoiseKind::exact;
  EXPECT_EQ(refused_parameter([&] { static_cast<void>(Snapping(options).loss_bound(-1)); }), "distance");
  EXPECT_EQ(refused_parameter([&] { static_cast<void>(Geometric(options).loss_bound(-1)); }), "distance");
  EXPECT_EQ(refused_parameter([&] { static_cast<void>(PrecisionSnapping(options).loss_bound(-1)); }),
            "distance");
}

// In every mode: what it finds is accurate enough, and the next smaller epsilon is not.
TEST(EpsilonForAccuracy, IsTheLeastOfEveryMechanism) {
  const Rational unit(Integer(1), Integer(1) << 60);
  const FailureRate alpha(0.05);
  for (const MechanismOptions& options :
       {MechanismOptions{.sensitivity = 1}, MechanismOptions{.sensitivity = 1, .lower = 0, .upper = 100},
        MechanismOptions{.sensitivity = 1, .integer = true},
        MechanismOptions{.sensitivity = 2, .grid = GridChoice::notes()},
        MechanismOptions{.sensitivity = 1, .integer = true, .noise = NoiseKind::geometric},
        MechanismOptions{.sensitivity = 1, .lower = 0, .upper = 100, .noise = NoiseKind::notes},
        MechanismOptions{
            .sensitivity = 1, .lower = 0, .upper = 100, .integer = true, .noise = NoiseKind::notes}}) {
    const Rational target = 7;
    const Rational epsilon = epsilon_for_accuracy(options, target, alpha);
    const auto tight = [&](const Rational& loss) {
      MechanismOptions with = options;
      with.epsilon = loss;
      with.integer = options.integer && options.noise != NoiseKind::notes;
      const std::optional<Grid> values = options.integer ? std::optional(Grid(0)) : std::nullopt;
      return accuracy_of({Mechanism(with).noise(), alpha, 0, values}).tight;
    };
    EXPECT_LE(tight(epsilon), 7);
    EXPECT_GT(tight(Rational(epsilon - unit)), 7);
  }
  const MechanismOptions notes{.sensitivity = 1, .lower = 0, .upper = 100, .noise = NoiseKind::notes};
  EXPECT_EQ(refused_parameter([&] { epsilon_for_accuracy(notes, 100, alpha); }), "accuracy");
  EXPECT_EQ(refused_parameter([&] { epsilon_for_accuracy(notes, Rational(1, Integer(1) << 80), alpha); }),
            "accuracy");
  EXPECT_EQ(refused_parameter(
                [&] { epsilon_for_accuracy({.sensitivity = 1, .noise = NoiseKind::notes}, 7, alpha); }),
            "lower");
}

TEST(WorstMiss, OfGeometricNoiseIsThatOfAnyInteger) {
  const Mechanism mechanism(
      {.epsilon = Rational(1, 2), .sensitivity = 1, .integer = true, .noise = NoiseKind::geometric});
  for (const int error : {0, 1, 5}) {
    const double miss = worst_miss(mechanism.noise(), error);
    EXPECT_EQ(miss, OutputLaw(mechanism.noise(), 3).miss(error));
    const double q = std::exp(-0.5);
    EXPECT_NEAR(miss, 2 * std::pow(q, error + 1) / (1 + q), 1e-15);
  }
}

TEST(MiddleValue, LiesBetweenTheBounds) {
  EXPECT_EQ(middle_value({}), 0);
  EXPECT_EQ(middle_value({.lower = 3}), 3);
  EXPECT_EQ(middle_value({.lower = -3}), 0);
  EXPECT_EQ(middle_value({.upper = -2}), -2);
  EXPECT_EQ(middle_value({.lower = 0, .upper = 5}), 2.5);
  EXPECT_EQ(middle_value({.lower = 0, .upper = 5, .kind = NoiseKind::geometric}), 2);
}

}  // namespace
}  // namespace snapdp
