// The law of an output: the probability of everything a release may print, for a given exact statistic.
//
//   const OutputLaw law({.scale = 1, .grid = Grid(0), .lower = -8, .upper = 8}, 0);
//   law.probability(0);              // 0.3934...
//   law.cdf(3);                      // P(out <= 3)
//   law.quantile(Rational(1, 2));    // 0
//   law.accuracy(0.05);              // the least a with P(|out - 0| > a) <= 0.05
//
// It is computed from the formulas of the mechanism alone and says nothing about any data: the value is a
// guess. Results are correctly rounded to the nearest double, in the far tails too, unless a comment says
// otherwise. Outputs that are doubles are required: |value| and |bound| at most 2^53 grid steps, or the
// constructor throws invalid_argument naming a coarser grid.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/noise.h"
#include "snapdp/numeric/grid.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

// Where exact statistics lie.
struct StatisticRange {
  double lower;
  double upper;  // >= lower
};

struct OutputProbability {
  double output;
  double probability;
};

// A value to look at where none is given: the middle of the bounds, with one bound the value inside it that
// is nearest to 0, and 0 without; for geometric noise an integer.
double middle_value(const Noise& noise);

class OutputLaw {
 public:
  // The law for the exact statistic `value`, clamped to the bounds like any other; an integer for geometric
  // noise. Throws invalid_argument naming the offending parameter.
  OutputLaw(const Noise& noise, double value);

  const Noise& noise() const noexcept { return noise_; }
  double value() const noexcept { return value_; }

  // P(out = x); 0 when x is no output.
  double probability(double x) const;
  // P(out <= x) and P(out >= x), each with full relative accuracy.
  double cdf(double x) const;
  double at_least(double x) const;
  // The least output x with P(out <= x) >= p, to the nearest double more than 2^53 grid steps from 0; throws
  // invalid_argument unless 0 < p < 1.
  double quantile(const Rational& p) const;

  // E[out], to the nearest double of value + (E[out] - value) with the difference correctly rounded; see
  // the functions of biases below.
  double mean() const;
  // E[(out - E[out])^2].
  double variance() const;

  // P(|out - value| > a), a >= 0.
  double miss(const Rational& a) const;
  // The least a with P(|out - value| > a) <= alpha, rounded up. For values inside the bounds: throws
  // invalid_argument otherwise.
  double accuracy(const FailureRate& alpha) const;

  // Every output, in order, whose probability is at least `least` > 0 or that is not farther out than such a
  // one; what is left lies beyond both ends, and so does what lies more than 2^53 grid steps from 0. Throws
  // invalid_argument when there are more than ten million.
  struct Table {
    std::vector<OutputProbability> outputs;
    double below;    // P(out < the first output)
    double above;    // P(out > the last output)
    double cut = 0;  // how many outputs are missing because there were more than `most`
  };
  Table table(double least = 1e-15) const;
  // The same with a limit of its own on each side of the value: a tiny one towards a bound, so that the table
  // reaches it. Of more than `most` >= 1 outputs the `most` nearest to the value remain.
  Table table(double least_below, double least_above, std::optional<std::size_t> most = std::nullopt) const;

  // The largest difference between P(out <= x) and P(value + noise <= x), over all x and without clamps, the
  // noise Laplace's or Gaussian before it is rounded: how far the grid takes the law from it. Not for
  // geometric noise.
  double distance_to_continuous() const;

 private:
  Noise noise_;
  double value_;
  double clamped_;  // the value, clamped
};

// The law as a release prints it: about the value itself, whatever the kind of noise. Of notes it is that of
// real arithmetic, which arithmetic of 118 bits bends by a relative 2^-90 at most.
class ReleaseLaw {
 public:
  ReleaseLaw(const Noise& noise, double value);

  const OutputLaw& centered() const noexcept { return law_; }
  double value() const noexcept { return value_; }

  // An output of centered() as it is printed: shifted, rounded once to a double.
  double output(double centered) const;
  double mean() const;
  // P(|out - value| > a), but for the last rounding.
  double miss(const Rational& a) const { return law_.miss(a); }
  // An a with P(|out - value| > a) <= alpha that includes what arithmetic and the last rounding add.
  double accuracy(const FailureRate& alpha) const;
  // The `most` outputs nearest to the value, as printed: the last rounding may have made two of them one.
  // Towards a bound all whose probability a double can hold; on a side without one those of 1e-15 or more.
  OutputLaw::Table table(std::size_t most) const;

 private:
  Noise noise_;
  double value_;
  OutputLaw law_;
};

// Bias, known beforehand: E[out] - guess for a guess at the statistic. Clamping pulls outputs inwards and a
// coarse grid pulls them to its multiples; nothing here looks at data.
//
//   const Noise noise{.scale = 1, .grid = Grid(0), .lower = -5, .upper = 5};
//   bias(noise, 4);       // -0.1764...
//   worst_bias(noise);    // {-5, 0.4797...}: the largest over all values inside the bounds
//
// Of notes' noise, take Noise::centered() and guesses less Noise::origin(). All functions throw
// invalid_argument naming the offending parameter; see OutputLaw.

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
