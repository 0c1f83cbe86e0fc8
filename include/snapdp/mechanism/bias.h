// Bias, known beforehand: E[out] - guess for a guess at the statistic. Clamping pulls outputs inwards and a
// coarse grid pulls them to its multiples; nothing here looks at data.
//
//   const Noise noise{.scale = 1, .grid = Grid(0), .lower = -5, .upper = 5};
//   bias(noise, 4);       // -0.1764...
//   worst_bias(noise);    // {-5, 0.4797...}: the largest over all values inside the bounds
//
// Of notes' noise, take Noise::centered() and guesses less Noise::origin(). All functions throw
// invalid_argument naming the offending parameter; see OutputLaw.
#pragma once

#include <optional>
#include <span>

#include "snapdp/mechanism/law.h"

namespace snapdp {

// E[out] - guess, correctly rounded, in constant time. A guess outside the bounds is clamped by the mechanism
// like any value, and then subtracted as given.
double bias(const Noise& noise, double guess);

struct WorstBias {
  double guess;  // where the bias is largest in magnitude
  double bias;   // bias(noise, guess)
};

// The largest bias in magnitude over all values inside the bounds: a half line when there is one, all real
// numbers when there is none. On coarse grids it need not be at a bound; with one bound it is less than a
// step of the grid from the values that round to it, because far away only the rounding is left. The guess is
// found in double arithmetic and its bias is then exact to rounding: the supremum exceeds it by a relative
// 2^-40 at most. With `grid` only the values on that grid count, Grid(0) for an integer statistic, and bounds
// lie on it; for geometric noise values are integers anyway.
WorstBias worst_bias(const Noise& noise, std::optional<Grid> grid = std::nullopt);
// The same over the values of a range inside the bounds, such as the public range of a statistic that is
// clamped to a wider one; its ends lie on the grid.
WorstBias worst_bias(const Noise& noise, const StatisticRange& values,
                     std::optional<Grid> grid = std::nullopt);

// The mean of bias(noise, guess) over guesses with the given weights, which are not negative and have a
// positive sum; accurate to a relative 2^-50 of the mean of |bias|.
double expected_bias(const Noise& noise, std::span<const double> guesses, std::span<const double> weights);

// The same of guesses at the value itself, also of notes' noise, with weights > 0; guesses are rounded to
// doubles, and of weights only their ratios count. Throws invalid_argument naming "guesses" when there are
// none, for a guess whose law cannot be computed, or for one that is no integer where the noise is geometric.
double expected_bias(const Noise& noise, std::span<const Rational> guesses,
                     std::span<const Rational> weights);

// The mean bias over values uniform on [lower, upper] (for geometric noise, on the integers there), correctly
// rounded, in constant time. Both bounds are required.
double expected_bias_uniform(const Noise& noise);

}  // namespace snapdp
