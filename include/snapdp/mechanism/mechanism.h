// One of the four mechanisms, chosen at run time: what a measurement holds.
//
//   Mechanism exact({.epsilon = Rational(1, 4), .sensitivity = 1, .lower = 0, .upper = 100});
//   Mechanism notes({.epsilon = 1, .sensitivity = 1, .lower = 0, .upper = 100, .noise = NoiseKind::notes});
//   Mechanism counts({.epsilon = 1, .sensitivity = 1, .integer = true, .noise = NoiseKind::geometric});
//   Mechanism normal({.sensitivity = 1, .noise = NoiseKind::gaussian, .scale = 4});
//
// Snapping (the default), PrecisionSnapping, Geometric and Gaussian are the mechanisms themselves; their
// headers say what each promises. This class only passes on. What is to be known of its noise before it is
// drawn, noise() tells; see noise.h.
#pragma once

#include <functional>
#include <optional>
#include <variant>

#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/gaussian.h"
#include "snapdp/mechanism/geometric.h"
#include "snapdp/mechanism/noise.h"
#include "snapdp/mechanism/precision_snapping.h"
#include "snapdp/mechanism/snapping.h"

namespace snapdp {

class Mechanism {
 public:
  // Throws invalid_argument naming the option that the chosen mechanism cannot take, or that does not go with
  // it: a grid or integer outputs in precision mode, a precision in exact mode, geometric noise on reals, a
  // scale for any but Gaussian noise.
  explicit Mechanism(const MechanismOptions& options);

  const std::variant<Snapping, PrecisionSnapping, Geometric, Gaussian>& variant() const { return mechanism_; }

  const Noise& noise() const;
  NoiseKind kind() const { return noise().kind; }
  // Throws invalid_argument naming "noise" for Gaussian noise, for which no epsilon holds at delta 0, and so
  // do the functions of losses: rho() says what it costs.
  const Rational& epsilon() const;
  const Dyadic& sensitivity() const { return noise().sensitivity; }
  double scale() const { return noise().scale.up(); }
  Grid grid() const { return noise().grid; }
  const std::optional<double>& lower() const { return noise().lower; }
  const std::optional<double>& upper() const { return noise().upper; }
  std::size_t coordinates() const { return noise().coordinates; }
  // What is proved for values at most `distance` apart; of vectors, in L1 and with coordinates() numbers that
  // differ. In precision mode this may exceed epsilon by about 2^-100 where only the notes' claim stays below
  // it; see PrecisionSnapping. Throws invalid_argument naming "distance" when it is negative.
  Rational loss_bound(const Rational& distance) const { return loss_bound(distance, coordinates()); }
  // The same for vectors that differ in `differing` numbers at most.
  Rational loss_bound(const Rational& distance, std::size_t differing) const;
  // At the sensitivity: the proved bound when it is at most epsilon, else the notes' claim, which always is.
  Rational stated_loss() const;
  // Whether stated_loss() is proved.
  bool loss_is_proved() const;
  // Of zero-concentrated privacy at the sensitivity, exactly: Gaussian noise alone has it.
  std::optional<Rational> rho() const;

  // See the mechanisms.
  Dyadic release(const Dyadic& value, SystemGenerator& generator) const;

 private:
  std::variant<Snapping, PrecisionSnapping, Geometric, Gaussian> mechanism_;
};

// The least epsilon, a multiple of 2^-60, with which the mechanism that `options` describe (whose epsilon
// does not matter) has a tight accuracy of `accuracy` or better at `alpha`: of all real values, or with
// options.integer of all integers. Throws invalid_argument naming "accuracy" when there is none, or when any
// guess between the bounds is that accurate; otherwise what the mechanism throws.
Rational epsilon_for_accuracy(const MechanismOptions& options, const Rational& accuracy,
                              const FailureRate& alpha);

// The least multiple of 2^-60 with `reaches`, by doubling and bisection, for a property that holds from some
// epsilon on; nothing when that is beyond 2^30. Where the mechanism refuses an epsilon (Error), it is taken
// for too little. The property may also hold from some epsilon up to `also`, and then from a larger one on
// again.
std::optional<Rational> least_epsilon(const std::function<bool(const Rational&)>& reaches,
                                      const std::optional<Rational>& also = std::nullopt);

// In precision mode: up to this epsilon the grid is no finer than that of the statistic's distance to the
// middle of the bounds, which lies on the grid `values`. There accuracy_of() changes its ways: see `also`.
Rational last_epsilon_on_grid(const Rational& sensitivity, double lower, double upper, Grid values);

}  // namespace snapdp
