// Statistics computed from released parts, and how far they may be off. c is the middle of the bounds of a
// column, (a + b) / 2, and h = (b - a) / 2; sums, squares and products are those of x - c: make_centered_sum,
// make_centered_moment(2) and make_centered_product.
//
//   mean                 count, sum                                        symmetric distance
//   variance             count, sum, squares                               symmetric distance
//   covariance           count, sums of x and of y, products               symmetric distance
//   standard deviation   a variance, released or computed from parts       any
//   correlation          a covariance and two variances, either way        any
#pragma once

#include <cstdint>

#include "snapdp/framework/domain.h"

namespace snapdp {

// A released number and how far it may be from the exact one: |value - exact| <= accuracy, except with a
// probability that is the caller's to bound. Accuracies of the mechanism for rates alpha_1, ..., alpha_m hold
// together except with probability alpha_1 + ... + alpha_m, and everything below computed from the same parts
// holds together with them. An infinite accuracy says nothing.
struct ReleasedPart {
  Dyadic value;
  double accuracy;
};

// What follows is post-processing: functions of released numbers and public bounds alone, the same on every
// machine. Results are rounded to the nearest double. The accuracies enclose everything that the exact
// statistics of a dataset may be, given parts as accurate as they claim, and are rounded up; where they can
// say nothing they are the distance to the farther end of the public range. They take the exact statistics
// before rounding to a grid, as the mechanism's accuracies with its rounding_error do. Planned accuracies are
// known beforehand: they hold for every dataset of `size` rows when the parts are as accurate as given, and
// are at most the width of the public range.

// The mean that a noisy centered sum and a noisy count give: clamp(c + sum / count, [a, b]); the midpoint
// when the noisy count is below 1.
double mean_from_parts(const Bounds& bounds, const Dyadic& count, const Dyadic& sum);

// For datasets of at least one row. Let N rows lie in [c - h, c + h], S = sum of (x - c) and m = S / N, so
// |m| <= h. With |S' - S| <= s, |N' - N| <= k and N' > 0
//
//     S' / N' - m = ((S' - S) - m (N' - N)) / N',   so   |S' / N' - m| <= (|m| k + s) / N'.              (1)
//
// |m| is at most h, and also at most |S' / N'| + e for the error e itself; putting that into (1) and solving
// for e gives e <= (|S' / N'| k + s) / (N' - k) when N' > k. Clamping to [c - h, c + h], where c + m lies,
// can only reduce the error.
double mean_accuracy(const Bounds& bounds, const ReleasedPart& count, const ReleasedPart& sum);

// Known beforehand for `size` rows: by (1), (h k + s) / (N - k).
double planned_mean_accuracy(const Bounds& bounds, std::uint64_t size, double count_accuracy,
                             double sum_accuracy);

// The 1/(n-1) variance: (squares - sum^2 / count) / (count - 1), clamped to [0, (b-a)^2 / 2], which holds the
// variance of every two or more rows. The middle of that range when the noisy count is below 2. `sum` and
// `squares` are the centered moments 1 and 2.
double variance_from_parts(const Bounds& bounds, const Dyadic& count, const Dyadic& sum,
                           const Dyadic& squares);
// For datasets of at least two rows.
double variance_accuracy(const Bounds& bounds, const ReleasedPart& count, const ReleasedPart& sum,
                         const ReleasedPart& squares);

// The 1/(n-1) covariance: (products - sum_x sum_y / count) / (count - 1), clamped to +-(b-a)(d-c) / 2; 0 when
// the noisy count is below 2.
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

// Known beforehand for `size` rows. Let p, s, t and k be the accuracies of products, sums and count, k >= 1;
// N the size, S, T, P the exact parts and S', T', P', N' the released ones, N' >= N - k >= 2; C and C' the
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
