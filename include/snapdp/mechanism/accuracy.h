// Accuracy of rounded Laplace or Gaussian noise, known before any row is read: an a with P(|out - y| > a) <=
// alpha, whatever the exact statistic y inside the bounds is.
//
//   accuracy_of({mechanism.noise(), 0.05});
//
//   const Noise noise{.scale = 4, .grid = Grid(2)};
//   tight_accuracy({noise, 0.05});         // 13.63...: the least a that holds for every real y
//   conservative_accuracy({noise, 0.05});  // 13.98...: scale ln(1/alpha) + grid/2
//   tight_accuracy({.noise = noise, .alpha = 0.05, .values = Grid(0)});  // 13: for every integer y
//
//   // The least epsilon whose tight accuracy is 4 or better, for a real statistic and for a count:
//   epsilon_for_accuracy({.sensitivity = 1, .accuracy = 4, .alpha = 0.05, .grid = GridChoice::notes()});
//   epsilon_for_accuracy({.sensitivity = 1, .accuracy = 4, .alpha = 0.05, .integer = true});
//
// out = grid floor((y + noise) / grid + 1/2), the noise Laplace(scale) or N(0, scale^2), possibly clamped to
// public bounds, which only helps.
// Scale, grid and accuracies are in the unit of the statistic. Accuracies are certified: the exact number
// rounded up to the next double. Functions throw invalid_argument on a scale that is not positive and finite;
// a rate alpha outside (0, 1) cannot be constructed.
#pragma once

#include <limits>
#include <optional>
#include <string_view>

#include "snapdp/mechanism/noise.h"
#include "snapdp/numeric/grid.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

// A probability of failure, exact and strictly between 0 and 1. A double means its shortest decimal: 0.05 is
// one twentieth.
class FailureRate {
 public:
  // Throw invalid_argument naming `parameter`.
  FailureRate(double value, std::string_view parameter = "alpha");    // NOLINT: written in place
  FailureRate(Rational value, std::string_view parameter = "alpha");  // NOLINT

  const Rational& value() const noexcept { return value_; }

 private:
  Rational value_;
};

struct AccuracyQuery {
  Noise noise;  // whose bounds, when there are both, cap every accuracy at their distance
  FailureRate alpha;
  // What the statistic itself may be off by: g/2 when it is rounded to a grid g before noise. >= 0.
  Rational rounding_error = 0;
  // The grid that the statistic lives on, Grid(0) for integers: then only those y count, and the tight
  // accuracy is a multiple of that grid or of the outputs', whichever is finer. Absent: any real number. With
  // geometric noise statistics are integers anyway. Notes whose own grid is finer than this take all real
  // values.
  std::optional<Grid> values = std::nullopt;
};

// scale ln(1/alpha) + grid/2, the notes' formula; valid for geometric noise too. Of Gaussian noise scale z +
// grid/2, where a standard normal is beyond z in magnitude with probability alpha. With notes' noise, here
// and below, what its arithmetic and the last rounding to a double may add is included.
double conservative_accuracy(const AccuracyQuery& query);

// The least a that holds for every y when nothing is clamped; with clamps it stays valid. 0 is common for
// integers and noise well below 1.
double tight_accuracy(const AccuracyQuery& query);

// The same over every real y between the bounds, with values and outputs clamped to them: less than
// tight_accuracy where that is more than about half their distance. The least double that holds, and with a
// rounding_error at most one unit in the last place above it. With query.values the lesser of this and
// tight_accuracy, which both hold. With one bound, or none, it is tight_accuracy: farther from the bound than
// that every fraction of the grid occurs, and clamping changes no miss. Not for notes' noise.
double clamped_accuracy(const AccuracyQuery& query);

// scale ln(1/alpha), or scale z: Laplace or Gaussian noise without rounding, for comparison. Ignores
// everything else.
double continuous_accuracy(const AccuracyQuery& query);

// The half-width a of an interval with P(|released - exact statistic| > a) <= alpha, for each coordinate.
struct Accuracy {
  double conservative;
  double tight;    // at most that
  double laplace;  // of the continuous noise, Laplace's or Gaussian
};
Accuracy accuracy_of(const AccuracyQuery& query);

// The largest probability of an error above `accuracy` >= 0, over every real y, or every y on the grid
// `values`, and without clamps and the errors of arithmetic, rounded up. Geometric noise misses every integer
// alike.
double worst_miss(const Noise& noise, const Rational& accuracy, std::optional<Grid> values = std::nullopt);

struct EpsilonQuery {
  Rational sensitivity;  // > 0
  Rational accuracy;     // the target, > 0
  FailureRate alpha;
  GridChoice grid = {};
  bool integer = false;  // the statistic is an integer, and so are the outputs; see GridChoice
  Rational rounding_error = 0;
  std::optional<double> range = std::nullopt;
  // geometric: integers, and `grid` is ignored. Not notes, whose grid depends on the bounds: see
  // least_epsilon().
  NoiseKind noise = NoiseKind::exact;
};

// Not for Gaussian noise: gaussian_epsilon() says what epsilon a scale has at a delta.
//
// The least multiple of 2^-60 such that scale sensitivity/epsilon, rounded up to a double, and the grid
// chosen for it have a tight accuracy, as reported, not above the target. (Integers: of all integers.) Throws
// invalid_argument when no epsilon reaches the target (with the least target that can be reached), or when
// every epsilon does because it is not below the range.
Rational epsilon_for_accuracy(const EpsilonQuery& query);

// The largest scale, a normal double, whose tight accuracy on the grid chosen for it is not above the target:
// epsilon_for_accuracy without the last step. Ignores the sensitivity.
double scale_for_accuracy(const EpsilonQuery& query);

}  // namespace snapdp
