// One of the three mechanisms, chosen at run time: what a measurement holds.
//
//   Mechanism exact({.epsilon = Rational(1, 4), .sensitivity = Dyadic(1), .lower = 0, .upper = 100});
//   Mechanism notes({.epsilon = 1, .sensitivity = Dyadic(1), .lower = 0, .upper = 100, .mode = Mode::precision});
//   Mechanism counts({.epsilon = 1, .sensitivity = Dyadic(1), .noise = NoiseKind::geometric});
//
// Snapping (the default), PrecisionSnapping and Geometric are the mechanisms themselves; their headers say what each
// promises. This class only passes on.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "snapdp/mechanism/geometric.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/mechanism/precision_snapping.h"
#include "snapdp/mechanism/snapping.h"

namespace snapdp {

enum class Mode {
  exact,      // noise of real numbers; the default
  precision,  // the notes' arithmetic of p bits
};

std::string to_string(Mode mode);       // "exact", "precision"
std::string to_string(NoiseKind kind);  // "laplace", "geometric"

struct MechanismOptions {
  Rational epsilon = 0;              // requested privacy loss, > 0
  Dyadic sensitivity = 0;            // largest distance between neighboring values, > 0
  std::optional<double> lower = {};  // public bounds; precision mode needs both
  std::optional<double> upper = {};
  GridChoice grid = {};                // exact mode with Laplace noise; the others have their own grid
  bool integer = false;                // outputs must be integers; geometric noise needs integer values
  Mode mode = Mode::exact;             // geometric noise is exact
  std::optional<long> precision = {};  // bits, in precision mode
  NoiseKind noise = NoiseKind::laplace;
  // Of a vector: how many of its numbers may differ between neighbors. Precision mode loses something in each of them.
  std::size_t coordinates = 1;
};

// The half-width a of an interval with P(|released - exact statistic| > a) <= alpha, for each coordinate.
struct Accuracy {
  double conservative;
  double tight;
  double laplace;  // unrounded Laplace noise of the same scale, for comparison
};

class Mechanism {
 public:
  // Throws invalid_argument naming the option that the chosen mechanism cannot take, or that does not go with it: a
  // grid or integer outputs in precision mode, a precision in exact mode, geometric noise on reals.
  explicit Mechanism(const MechanismOptions& options);

  Mode mode() const {
    return std::holds_alternative<PrecisionSnapping>(mechanism_) ? Mode::precision : Mode::exact;
  }
  NoiseKind noise() const {
    return std::holds_alternative<Geometric>(mechanism_) ? NoiseKind::geometric : NoiseKind::laplace;
  }
  const std::variant<Snapping, PrecisionSnapping, Geometric>& variant() const { return mechanism_; }

  const Rational& epsilon() const;
  const Dyadic& sensitivity() const;
  double scale() const;
  Grid grid() const;
  std::optional<double> lower() const;
  std::optional<double> upper() const;
  // Of a vector, the numbers that may differ between neighbors; see MechanismOptions.
  std::size_t coordinates() const { return coordinates_; }
  // What is proved for values at most `distance` apart; of vectors, in L1 and with coordinates() numbers that differ. In
  // precision mode this may exceed epsilon by about 2^-100 where only the notes' claim stays below it; see
  // PrecisionSnapping.
  Rational loss_bound(const Rational& distance) const { return loss_bound(distance, coordinates_); }
  // The same for vectors that differ in `differing` numbers at most.
  Rational loss_bound(const Rational& distance, std::size_t differing) const;
  // At the sensitivity: the proved bound when it is at most epsilon, else the notes' claim, which always is.
  Rational stated_loss() const;
  // Whether stated_loss() is proved.
  bool loss_is_proved() const;

  // As the law of its outputs is concerned, for a value y: the law is that of the noise at y - origin(), shifted by
  // origin(). The origin is 0 except in precision mode, whose grid is anchored at the middle of the bounds. See
  // arithmetic_error() for what the law leaves out.
  OutputNoise output_noise() const;
  Dyadic origin() const;
  // The grid that y - origin() lies on for y on the grid `values`.
  Grid centered(Grid values) const;

  // How far the noise of p-bit arithmetic may be from that of real arithmetic on the same digits, and how far the last
  // rounding to a double may move an output: both 0 except in precision mode.
  Rational arithmetic_error() const;
  Rational output_error() const;

  // For every real value inside the bounds, or every value on the grid `values`, Grid(0) for integers; the two bounds
  // together cap it. `rounding_error` is what the value itself may be off by. Precision mode whose own grid is finer than
  // `values` takes all real values.
  Accuracy accuracy(const FailureRate& alpha, const Rational& rounding_error = 0,
                    std::optional<Grid> values = std::nullopt) const;

  // The mean of E[out] - guess over guesses at the value with the given weights > 0, known beforehand; see bias.h. Guesses
  // are rounded to doubles; of weights only their ratios count. Throws invalid_argument naming "guesses" when there are
  // none, for a guess whose law cannot be computed, or for one that is no integer where the noise is geometric.
  double expected_bias(std::span<const Rational> guesses, std::span<const Rational> weights) const;

  // See the mechanisms.
  Dyadic release(const Dyadic& value, SystemGenerator& generator) const;

 private:
  std::variant<Snapping, PrecisionSnapping, Geometric> mechanism_;
  std::size_t coordinates_;
};

// The least multiple of 2^-60 with `reaches`, by doubling and bisection, for a property that holds from some epsilon on;
// nothing when that is beyond 2^30. Where the mechanism refuses an epsilon (Error), it is taken for too little. The
// property may also hold from some epsilon up to `also`, and then from a larger one on again.
std::optional<Rational> least_epsilon(const std::function<bool(const Rational&)>& reaches,
                                      const std::optional<Rational>& also = std::nullopt);

// In precision mode: up to this epsilon the grid is no finer than that of the statistic's distance to the middle of the
// bounds, which lies on the grid `values`. There Mechanism::accuracy changes its ways: see `also`.
Rational last_epsilon_on_grid(const Rational& sensitivity, double lower, double upper, Grid values);

}  // namespace snapdp
