// Moments of columns. With a public number of rows (change-one, Hamming), make_variance, make_covariance and make_moment
// are released as they are. Under the symmetric distance the number of rows is private: release sums and a count, each
// with its own share of the budget, and compute the rest from these with from_parts.h. c is the middle of the bounds of a
// column, (a + b) / 2, and h = (b - a) / 2; n is a public size.
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

}  // namespace snapdp
