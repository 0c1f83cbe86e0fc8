// Moments of columns, and what to compute from noisy ones.
//
// With a public number of rows (change-one, Hamming), make_variance, make_covariance and make_moment are released as
// they are. Under the symmetric distance the number of rows is private; release sums and a count, each with its own
// share of the budget, and compute the rest from these:
//
//   variance      make_count, make_centered_sum, make_centered_moment(2)          variance_from_parts
//   covariance    make_count, make_centered_sum of x and of y,                    covariance_from_parts
//                 make_centered_product
//   correlation   a covariance and the two variances, released either way         correlation_from_parts
//
// (a column's parts may be used several times: they are paid for once). c is the middle of the bounds of a column,
// (a + b) / 2, and h = (b - a) / 2; n is a public size.
//
//   statistic                                    metric          sensitivity                      public range
//   centered moment k, sum of (x - c)^k          symmetric       h^k                              none
//   centered product, sum of (x - c) (y - d)     symmetric       h_x h_y                          none
//   moment k, mean of x^k                        change-one      (max x^k - min x^k) / n          [min x^k, max x^k]
//
// max and min are over the bounds. Statistics are exact and rounded once, as statistics.h says.
#pragma once

#include "snapdp/statistics/statistics.h"

namespace snapdp {

// Sum of (x - c)^k of one bounded column, k = 1, 2, 3 or 4, under the symmetric distance only; k = 1 is
// make_centered_sum. k = 3 and 4 are summed exactly in long integers, some tenths of a microsecond a row.
// Throws invalid_argument naming "k" for another k. Proof: proofs/make_centered_moment.md.
Aggregation make_centered_moment(const VectorDomain& domain, Metric metric, int k);
Partial<Aggregation> make_centered_moment(int k);

// Sum of (x - c) (y - d) of two bounded columns of one type, under the symmetric distance only.
// Proof: proofs/make_centered_product.md.
Aggregation make_centered_product(const VectorDomain& domain, Metric metric);
Partial<Aggregation> make_centered_product();

// The mean of x^k of one bounded column with public size, k = 1, 2, 3 or 4; k = 1 is make_mean.
// Proof: proofs/make_moment.md.
Aggregation make_moment(const VectorDomain& domain, Metric metric, int k);
Partial<Aggregation> make_moment(int k);

// A released number and how far it may be from the exact one: |value - exact| <= accuracy, except with a
// probability that is the caller's to bound. Accuracies of the mechanism for rates alpha_1, ..., alpha_m hold together
// except with probability alpha_1 + ... + alpha_m, and everything below computed from the same parts holds together
// with them. An infinite accuracy says nothing.
struct ReleasedPart {
  Dyadic value;
  double accuracy;
};

// What follows is post-processing: functions of released numbers and public bounds alone, the same on every machine.
// Results are rounded to the nearest double. The accuracies enclose everything that the exact statistics of a dataset
// may be, given parts as accurate as they claim, and are rounded up; where they can say nothing they are the distance
// to the farther end of the public range. They take the exact statistics before rounding to a grid, as the mechanism's
// accuracies with its rounding_error do.

// The 1/(n-1) variance: (squares - sum^2 / count) / (count - 1), clamped to [0, (b-a)^2 / 2], which holds the variance
// of every two or more rows. The middle of that range when the noisy count is below 2. `sum` and `squares` are the
// centered moments 1 and 2.
double variance_from_parts(const Bounds& bounds, const Dyadic& count, const Dyadic& sum,
                           const Dyadic& squares);
// For datasets of at least two rows.
double variance_accuracy(const Bounds& bounds, const ReleasedPart& count, const ReleasedPart& sum,
                         const ReleasedPart& squares);

// The 1/(n-1) covariance: (products - sum_x sum_y / count) / (count - 1), clamped to +-(b-a)(d-c) / 2; 0 when the noisy
// count is below 2.
double covariance_from_parts(const Bounds& x, const Bounds& y, const Dyadic& count, const Dyadic& sum_x,
                             const Dyadic& sum_y, const Dyadic& products);
// For datasets of at least two rows.
double covariance_accuracy(const Bounds& x, const Bounds& y, const ReleasedPart& count,
                           const ReleasedPart& sum_x, const ReleasedPart& sum_y,
                           const ReleasedPart& products);

// The square root of a released variance; 0 when it is negative.
double standard_deviation_from_variance(const Dyadic& variance);
double standard_deviation_accuracy(const ReleasedPart& variance);

// covariance / sqrt(variance_x variance_y), clamped to [-1, 1]; 0 when a variance is not positive.
double correlation_from_parts(const Dyadic& covariance, const Dyadic& variance_x, const Dyadic& variance_y);
// The correlation of constant columns counts as 0. A variance that may be 0 leaves only the range.
double correlation_accuracy(const ReleasedPart& covariance, const ReleasedPart& variance_x,
                            const ReleasedPart& variance_y);

// How far they may be off known beforehand, for every dataset of `size` rows and parts that are within these accuracies;
// at most the width of the public range, and rounded up. Let p, s, t and k be the accuracies of products, sums and
// count, k >= 1; N the size, S, T, P the exact parts and S', T', P', N' the released ones, N' >= N - k >= 2; C and C' the
// covariances they give. Then
//
//     (C' - C) (N' - 1) = (P' - P) - (S' T' / N' - S T / N) - C (N' - N)
//     S' T' / N' - S T / N = (S (T' - T) + T (S' - S) + (S' - S) (T' - T)) / N' - S T (N' - N) / (N N')
//
// and with m = S / N, l = T / N, |m| <= h_x and |l| <= h_y the two terms with N' - N are together at most
// k (|C| + |m l| N / N') <= k h_x h_y N / (N - k): |C| (N - 1) / N <= sqrt((h_x^2 - m^2) (h_y^2 - l^2)), and
// sqrt((h_x^2 - m^2) (h_y^2 - l^2)) + |m l| <= h_x h_y (Cauchy-Schwarz). Therefore
//
//     |C' - C| <= (p + (N (h_x t + h_y s + k h_x h_y) + s t) / (N - k)) / (N - k - 1).
double planned_covariance_accuracy(const Bounds& x, const Bounds& y, std::uint64_t size,
                                   double count_accuracy, double sum_x_accuracy, double sum_y_accuracy,
                                   double products_accuracy);
double planned_variance_accuracy(const Bounds& bounds, std::uint64_t size, double count_accuracy,
                                 double sum_accuracy, double squares_accuracy);
// Of the root of a variance that is this accurate: |sqrt(a) - sqrt(b)| <= sqrt(|a - b|).
double planned_standard_deviation_accuracy(const Bounds& bounds, double variance_accuracy);

}  // namespace snapdp
