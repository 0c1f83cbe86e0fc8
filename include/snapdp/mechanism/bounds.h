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

#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/law.h"

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

}  // namespace snapdp
