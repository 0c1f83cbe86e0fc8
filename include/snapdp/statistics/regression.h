// Least squares from noisy moments: the coefficients of y on an intercept and one or more columns x1, x2,
// ..., and where those of the exact rows lie. Post-processing of released numbers: it costs nothing.
//
//   RegressionMoments moments;            // of a private number of rows, each with noise of its own
//   moments.count = {.value = count, .noise = noise_of_count, .integer = true};
//   moments.firsts = {sum_y, sum_x1, sum_x2};        // make_centered_sum
//   moments.with_y = {x1_y, x2_y};                   // make_centered_product
//   moments.among_x = {x1_x1, x1_x2, x2_x2};         // make_centered_moment(2), make_centered_product
//   regression_from_moments({bounds_y, bounds_x1, bounds_x2}, moments, 0.05);  // intercept, x1, x2
//
// What is estimated is the least-squares fit of the rows as they were clamped, not that of a population, and
// not what it would be without bounds. proofs/regression.md derives the intervals.
#pragma once

#include <optional>
#include <vector>

#include "snapdp/mechanism/bounds.h"
#include "snapdp/statistics/noisy_parts.h"

namespace snapdp {

// Of y and p columns x. With a count: sums and products of distances from the middles of the bounds, as
// under the symmetric distance. Without: means (make_mean) and 1/(n-1) covariances and variances, of a
// public number of rows.
struct RegressionMoments {
  std::optional<NoisyPart> count;
  std::vector<NoisyPart> firsts;   // of y, x1, ..., xp
  std::vector<NoisyPart> with_y;   // of x1 and y, ..., xp and y
  std::vector<NoisyPart> among_x;  // of x1 and x1, x1 and x2, ..., x1 and xp, x2 and x2, ..., xp and xp
};

// In the unit of y, or for each unit of x. An end is infinite where nothing is known.
struct RegressionCoefficient {
  double value;
  double lower;
  double upper;
};

// The intercept and the p coefficients that solve the noisy normal equations, rounded to the nearest double,
// with intervals, rounded outward: except with probability alpha the least-squares fit of the exact rows is
// unique and each of its coefficients lies in its interval, all together. `bounds` are those of y, x1, ...,
// xp.
//
// Never fails for what was released. Where the noisy moments are those of no data, because their matrix is
// not positive definite, of fewer than two rows, or beyond the doubles, every coefficient of x is 0, the
// intercept is the noisy mean of y, and nothing is said of any: all ends are infinite. So they are where the
// noise is so large beside the moments that the exact matrix might be singular, as of constant or collinear
// columns, of which there is no unique fit. Throws invalid_argument naming "moments" when their numbers do
// not fit together.
std::vector<RegressionCoefficient> regression_from_moments(const std::vector<Bounds>& bounds,
                                                           const RegressionMoments& moments,
                                                           const FailureRate& alpha);

}  // namespace snapdp
