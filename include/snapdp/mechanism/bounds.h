// Choosing output bounds: wider than the range of the statistic, so that clamping rarely binds and hardly
// biases. A public choice, made before any row is read.
//
//   minimal_bounds({.scale = 1, .grid = Grid(0)}, {0, 100}, 0.01);  // [-4, 104], whole steps of the grid
//   notes_half_width({.sensitivity = 1, .half_range = 50, .gamma = 0.01}, Rational(1, 2));  // 70.42...
//
// A bound binds when the noisy output before clamping lies beyond it; gamma is the probability of that which
// the user accepts, for the worst value inside the statistic's range. Functions throw invalid_argument naming
// the parameter.
#pragma once

#include <optional>
#include <string>

#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/mechanism/mechanism.h"

namespace snapdp {

// The largest probability, over values inside `range`, the public range of the statistic before any widening,
// that an output is clamped to a bound of `noise`, rounded up; 0 without bounds. The range must lie inside
// the bounds.
double binding_probability(const Noise& noise, const StatisticRange& range);

struct ChosenBounds {
  double lower;  // multiples of the grid around the range
  double upper;
  double binding_probability;  // at most gamma
};

// The narrowest such bounds: floor(lower / grid) - n and ceil(upper / grid) + n steps of the grid with the
// least n >= 0. For a range [-B, B] these are -M and M steps with the least M such that M grid >= B and
// P(|out| > M grid) <= gamma. Bounds that the noise has already do not matter.
ChosenBounds minimal_bounds(const Noise& noise, const StatisticRange& range, const FailureRate& gamma);

// The mechanism that `options` describe (whose own bounds do not matter) between the narrowest such bounds
// around `range`. The noise of precision mode depends on the bounds, if hardly: there these are about the
// middle of the range, and the noise and they fit each other.
struct MinimalMechanism {
  ChosenBounds bounds;
  double half_width;  // of the bounds, rounded up
  Mechanism mechanism;
};
// Throws invalid_argument naming "epsilon" when such bounds lie beyond the largest double, "precision" when
// wider bounds need more noise without end, otherwise what minimal_bounds() and the mechanism throw.
MinimalMechanism minimal_mechanism(const MechanismOptions& options, const StatisticRange& range,
                                   const FailureRate& gamma);

struct NotesBoundQuery {
  Rational sensitivity;  // > 0
  Rational half_range;   // B' >= 0: the range is [-B', B'] about its middle
  FailureRate gamma;
  long precision = 118;  // bits of the precision-mode mechanism the bound is for, at least 118
};

// The notes' formula, rounded up: B' + sensitivity (k/2) (1 + 2 ln(1/gamma)), k = (2 + 24 * 2^-52) / (epsilon
// - 2^-117). It bounds the noise of precision mode at its own grid, before B is known; exact mode needs less.
// Throws unless epsilon > 2^-117 and (B / sensitivity) 2^-precision <= 2^-52.
double notes_half_width(const NotesBoundQuery& query, const Rational& epsilon);

// The same when an accuracy at rate alpha is given instead of epsilon, which is then at least
// sensitivity ln(1/alpha) / accuracy.
double notes_half_width_for_accuracy(const NotesBoundQuery& query, const Rational& accuracy,
                                     const FailureRate& alpha);

// The range that a release clamps values and outputs to: a public choice, made before any row is read.
//
//   RangeChoice::fixed(0, 100)                  these constants; an end that is left out does not clamp
//   RangeChoice::none()                         no clamps
//   RangeChoice::widened(FailureRate(0.01))     the statistic's public range, widened so that an output is
//                                               clamped with probability at most gamma
//   RangeChoice()                               the statistic's own public range, where it has one
//
// Constants come first because they are known to be public. A range that follows from the rows, from their
// private number say, moves the support of the outputs, and the loss is infinite: so only a range that is
// public may be widened. Clamping to a range narrower than the statistic's costs bias, and every accuracy is
// then that of the exact statistic clamped to it.
class RangeChoice {
 public:
  enum class Kind { own, fixed, none, widened };

  RangeChoice() = default;  // own
  // Throws invalid_argument naming "range" unless one end is given and lower < upper. Ends are rounded
  // outward: to doubles, or to whole numbers for integer statistics.
  static RangeChoice fixed(std::optional<Rational> lower, std::optional<Rational> upper);
  static RangeChoice none();
  static RangeChoice widened(FailureRate gamma);

  Kind kind() const noexcept { return kind_; }
  // Of Kind::fixed.
  const std::optional<Rational>& lower() const noexcept { return lower_; }
  const std::optional<Rational>& upper() const noexcept { return upper_; }
  // Of Kind::widened.
  const std::optional<FailureRate>& gamma() const noexcept { return gamma_; }

 private:
  Kind kind_ = Kind::own;
  std::optional<Rational> lower_;
  std::optional<Rational> upper_;
  std::optional<FailureRate> gamma_;
};

// "public", "declared", "none", "gamma".
std::string to_string(RangeChoice::Kind kind);

struct OutputRange {
  std::optional<double> lower;
  std::optional<double> upper;
  friend bool operator==(const OutputRange&, const OutputRange&) = default;
};

// What `choice` clamps to when the exact statistic lies in `own`, its public range if it has one, for the
// mechanism that `options` describe (whose own bounds do not matter). A range is widened
//
//   in exact mode       by the least whole steps of the grid: minimal_bounds();
//   in precision mode   by the formula of the notes, about the middle: notes_half_width(), for 118
//                       bits or more.
//
// Throws invalid_argument naming "range" when nothing of `own` is left between constants, when there is no
// public range to widen, or for an end that is no double; otherwise what these functions and the mechanism
// throw.
OutputRange resolve(const RangeChoice& choice, const std::optional<StatisticRange>& own,
                    const MechanismOptions& options);

// The constants that widen `own` in precision mode when an accuracy at rate alpha is given instead of
// epsilon, by notes_half_width_for_accuracy(): the range must be known before epsilon is. `options.epsilon`
// does not matter.
RangeChoice widened_for_accuracy(const FailureRate& gamma, const StatisticRange& own,
                                 const MechanismOptions& options, const Rational& accuracy,
                                 const FailureRate& alpha);

}  // namespace snapdp
