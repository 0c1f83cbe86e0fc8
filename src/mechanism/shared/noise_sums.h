// Tails of weighted sums of independent noises, bounded from above: what rank errors of quantiles and intervals of what
// is computed from several noisy parts rest on. proofs/noise_sums.md proves the bounds.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/noise.h"

namespace snapdp::mechanism_internal {

// A noise's error, released - exact: Laplace noise of `scale`, which rounding moves by at most `off`. Clamping to
// bounds that hold the exact value may besides move it towards 0.
struct ErrorLaw {
  // `values` is where the exact value lies, on the integers when `integers`; a side without a bound has no end.
  ErrorLaw(const Noise& noise, const OutputRange& values, bool integers);

  double scale;
  double off;
  NoiseKind kind;
  double grid;
  double drift;    // of `off` what is not the rounding to the grid
  bool on_grid;    // the exact value is a possible output
  double moved;    // the probability that there is an error at all, at most
  double clamped;  // the probability that clamping moves it at all, at most; 0 without bounds
};

// `times` independent copies of one noise, each with this weight.
struct WeightedNoise {
  double weight;
  double times;
};

// The error of a weighted sum.
using WeightedNoises = std::vector<WeightedNoise>;

// What must be small of the probabilities that single sums err by more than something: their largest, their largest sum
// along some path ... Grows with each of them and is homogeneous: joint(c tails) = c joint(tails).
using JointTail = std::function<double(const std::vector<double>& tails)>;

// An R with joint(P(sum 0 > R), P(sum 1 > R), ...) <= alpha, for 0 < alpha < 1 / 2, and the same for sums below -R;
// rounded up. All sums are of `noises` noises. Weights may be wrong by a relative 2^-40 and an absolute 2^-45. Infinite
// when alpha is 0 or something overflows.
double error_of_sums(const ErrorLaw& law, double noises, const std::vector<WeightedNoises>& sums,
                     double alpha, const JointTail& joint);

// The same of one sum of noises with laws of their own. What it is for larger weights is enough for smaller ones,
// whatever the rates: the sum of Laplace noises is then more peaked.
struct NoisyTerm {
  ErrorLaw law;
  double weight;
};
double error_of_sum(const std::vector<NoisyTerm>& terms, double alpha);

}  // namespace snapdp::mechanism_internal
