#include "snapdp/mechanism/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "mechanism/refused.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/mechanism/mechanism.h"

namespace snapdp {
namespace {

TEST(NoiseScale, IsExactAndRoundedUp) {
  const NoiseScale third(Rational(1, 3));
  EXPECT_EQ(third.exact(), Rational(1, 3));
  EXPECT_EQ(third.up(), to_double_up(Rational(1, 3)));
  EXPECT_EQ(NoiseScale(0.1).exact(), Rational(0.1));
  EXPECT_EQ(NoiseScale(Rational(3, 4)).up(), 0.75);
  const Rational huge(Integer(Integer(1) << 2000));
  EXPECT_EQ(NoiseScale(huge).exact(), huge);
  for (const double none : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_EQ(refused_parameter([&] { (void)NoiseScale(none).exact(); }), "scale");
  }
}

TEST(Noise, IsWhatTheMechanismWasAskedFor) {
  const MechanismOptions options{.epsilon = Rational(1, 3),
                                 .sensitivity = 2,
                                 .lower = -1,
                                 .upper = 100,
                                 .integer = true,
                                 .noise = NoiseKind::geometric,
                                 .coordinates = 2};
  const Mechanism mechanism(options);
  const Noise& noise = mechanism.noise();
  EXPECT_EQ(noise.kind, NoiseKind::geometric);
  EXPECT_EQ(noise.scale.exact(), 6);
  EXPECT_EQ(noise.sensitivity, Dyadic(2));
  EXPECT_EQ(noise.grid, Grid(0));
  EXPECT_EQ(noise.lower, -1);
  EXPECT_EQ(noise.upper, 100);
  EXPECT_EQ(noise.coordinates, 2u);
  EXPECT_EQ(noise.origin(), Dyadic(0));
  EXPECT_EQ(noise.arithmetic_error() + noise.output_error(), 0);
  EXPECT_EQ(mode_name(noise.kind) + " " + noise_name(noise.kind), "exact geometric");
  EXPECT_EQ(mode_name(NoiseKind::notes) + " " + noise_name(NoiseKind::notes), "precision laplace");
  EXPECT_EQ(mode_name(NoiseKind::exact) + " " + noise_name(NoiseKind::exact), "exact laplace");
}

TEST(Noise, OfNotesIsAboutTheMiddle) {
  const Mechanism mechanism(
      {.epsilon = 1, .sensitivity = 1, .lower = -1, .upper = 100, .noise = NoiseKind::notes});
  const Noise& noise = mechanism.noise();
  const auto& notes = std::get<PrecisionSnapping>(mechanism.variant());
  EXPECT_EQ(noise.scale.exact(), notes.exact_scale().rational());
  EXPECT_EQ(noise.precision, notes.precision());
  EXPECT_EQ(noise.origin(), notes.center());
  EXPECT_EQ(noise.centered().upper, 50.5);
  EXPECT_EQ(noise.centered().lower, -50.5);
  EXPECT_EQ(noise.centered(Grid(0)), Grid(-1));
  EXPECT_EQ(noise.centered(Grid(-3)), Grid(-3));
  EXPECT_EQ(noise.centered(49.5), 0);
  EXPECT_GT(noise.arithmetic_error(), 0);
  EXPECT_EQ(noise.output_error(), 100 * Rational(0x1p-53));
  // What would silently be about 0 is refused.
  EXPECT_EQ(refused_parameter([&] { OutputLaw(noise, 3); }), "noise");
  EXPECT_EQ(refused_parameter([&] { bias(noise, 3); }), "noise");
  EXPECT_EQ(refused_parameter([&] { binding_probability(noise, {0, 1}); }), "noise");
  EXPECT_EQ(refused_parameter([&] { clamped_accuracy({noise, 0.05}); }), "noise");
  const Noise unbounded{.scale = 1, .lower = 0, .kind = NoiseKind::notes};
  EXPECT_EQ(refused_parameter([&] { (void)unbounded.origin(); }), "upper");
  EXPECT_EQ(refused_parameter([&] { tight_accuracy({unbounded, 0.05}); }), "upper");
  EXPECT_EQ(
      refused_parameter([&] {
        epsilon_for_accuracy({.sensitivity = 1, .accuracy = 4, .alpha = 0.05, .noise = NoiseKind::notes});
      }),
      "noise");
}

// The same law, shifted; and an accuracy that has room for what the arithmetic adds.
TEST(ReleaseLaw, OfNotesIsAboutTheValue) {
  const Mechanism mechanism(
      {.epsilon = 1, .sensitivity = 1, .lower = -1, .upper = 100, .noise = NoiseKind::notes});
  const ReleaseLaw law(mechanism.noise(), 98);
  EXPECT_EQ(law.output(50.5), 100);
  EXPECT_EQ(law.output(-50.5), -1);
  EXPECT_EQ(law.output(2), 51.5);
  EXPECT_NEAR(law.mean() - 49.5, law.centered().mean(), 1e-13);
  EXPECT_EQ(law.miss(3), law.centered().miss(3));
  EXPECT_GT(law.accuracy(0.05), law.centered().accuracy(0.05));
  EXPECT_NEAR(law.accuracy(0.05), law.centered().accuracy(0.05), 1e-12);
  const OutputLaw::Table table = law.table(1000);
  EXPECT_EQ(table.outputs.front().output, -1);
  EXPECT_EQ(table.outputs.back().output, 100);
  const double sum = std::accumulate(table.outputs.begin(), table.outputs.end(), 0.0,
                                     [](double left, const auto& row) { return left + row.probability; });
  EXPECT_NEAR(sum, 1, 1e-12);
  // Exact noise is where it is.
  const ReleaseLaw exact({.scale = 2, .grid = Grid(1), .lower = 0, .upper = 100}, 98);
  EXPECT_EQ(exact.accuracy(0.05), exact.centered().accuracy(0.05));
  EXPECT_EQ(exact.mean(), exact.centered().mean());
  EXPECT_EQ(exact.output(96), 96);
}

}  // namespace
}  // namespace snapdp
