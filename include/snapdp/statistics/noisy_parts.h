// How far what is computed from several noisy parts may be off, from the joint law of their noises: the
// noises partly cancel, and all that a statistic depends on is one sum of them. from_parts.h computes the
// statistics themselves, and accuracies that follow from those of the parts alone: these are several times
// as wide.
//
//   const NoisyPart n{.value = count, .noise = noise_of_count, .integer = true};  // Mechanism::noise()
//   const NoisyPart s{.value = sum, .noise = noise_of_sum, .rounding_error = grid / 2};
//   mean_from_parts(bounds, n.value, s.value);
//   mean_accuracy(bounds, n, s, 0.05);   // the exact mean is that near, except with probability 1/20
//
// c is the middle of the bounds of a column, h half their width; sums, squares and products are those of
// x - c. The results hold for every dataset of at least one row (of means) or two, follow from released
// numbers and public facts alone, and are rounded up; where nothing can be said they are the distance to
// the farther end of the public range. proofs/noisy_parts.md derives them.
#pragma once

#include <cstdint>

#include "snapdp/framework/domain.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/noise.h"

namespace snapdp {

// A released number: the exact one, which was rounded by at most rounding_error, and independent noise, of
// which bounds may have cut off the rest.
struct NoisyPart {
  Dyadic value;
  Noise noise;
  Rational rounding_error = 0;
  bool integer = false;  // the exact number is one
};

// Of mean_from_parts(). With S' and N' the noisy sum and count and m the exact mean less c, the error of S'
// - m N' is that of the sum less m times that of the count, and S' - m N' is 0 without it.
double mean_accuracy(const Bounds& bounds, const NoisyPart& count, const NoisyPart& sum,
                     const FailureRate& alpha);

// Of variance_from_parts(). With V the exact variance, squares - 2 m sum + (m^2 - V) count + V is 0 without
// noise.
double variance_accuracy(const Bounds& bounds, const NoisyPart& count, const NoisyPart& sum,
                         const NoisyPart& squares, const FailureRate& alpha);
// Of its root.
double standard_deviation_accuracy(const Bounds& bounds, const NoisyPart& count, const NoisyPart& sum,
                                   const NoisyPart& squares, const FailureRate& alpha);

// Of covariance_from_parts(). With C the exact covariance and l the exact mean of y less its middle,
// products - l sum_x - m sum_y + (m l - C) count + C is 0 without noise.
double covariance_accuracy(const Bounds& x, const Bounds& y, const NoisyPart& count, const NoisyPart& sum_x,
                           const NoisyPart& sum_y, const NoisyPart& products, const FailureRate& alpha);

// Of the correlation that covariance and variances from these parts give. With K_xy = products - l sum_x -
// m sum_y + m l count and K_xx, K_yy likewise, and k the ratio of the deviations of y and x, K_xy -
// correlation (k K_xx + K_yy / k) / 2 is 0 without noise.
struct CorrelationParts {
  NoisyPart count;
  NoisyPart sum_x;
  NoisyPart sum_y;
  NoisyPart products;
  NoisyPart squares_x;
  NoisyPart squares_y;
};
double correlation_accuracy(const Bounds& x, const Bounds& y, const CorrelationParts& parts,
                            const FailureRate& alpha);

// Of correlation_from_parts() of a covariance and variances that were themselves released, all between
// bounds or all without.
double correlation_accuracy(const NoisyPart& covariance, const NoisyPart& variance_x,
                            const NoisyPart& variance_y, const FailureRate& alpha);

// Of a sum or a difference of so many released numbers of the same law, each with noise of its own: known
// beforehand. `one` is any of them, its value does not matter. `values` is where the exact numbers lie; those
// that the noise's bounds cut off count as what they are clamped to.
double sum_accuracy(const NoisyPart& one, const OutputRange& values, std::uint64_t numbers,
                    const FailureRate& alpha);

// Known beforehand, of every dataset of `size` rows; at most the width of the public range. The values of the
// parts do not matter.
double planned_mean_accuracy(const Bounds& bounds, std::uint64_t size, const NoisyPart& count,
                             const NoisyPart& sum, const FailureRate& alpha);
double planned_variance_accuracy(const Bounds& bounds, std::uint64_t size, const NoisyPart& count,
                                 const NoisyPart& sum, const NoisyPart& squares, const FailureRate& alpha);
double planned_covariance_accuracy(const Bounds& x, const Bounds& y, std::uint64_t size,
                                   const NoisyPart& count, const NoisyPart& sum_x, const NoisyPart& sum_y,
                                   const NoisyPart& products, const FailureRate& alpha);

}  // namespace snapdp
