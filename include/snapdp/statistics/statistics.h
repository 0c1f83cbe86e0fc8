// The statistics of SnapDP: aggregations that are exact before noise. Sensitivities and public ranges are
// those of the table below, exact; n is the public size, a and b the bounds of a column.
//
//   statistic          change-one or Hamming, n public     add/remove one row        public range
//   count              0 (a public constant)               1                         [n, n], or none
//   sum                b - a                               max(|a|, |b|)             [n a, n b], or none
//   mean               (b - a) / n                         centered sum and count    [a, b]
//   variance, 1/(n-1)  (b - a)^2 / n                       count, centered moments   [0, M]
//   covariance         (b - a) (d - c) / n                 count, centered product   [-M', M']
//   histogram          2 in L1                             1 in L1                   [0, n] a bin, or none
//   hierarchy          2 (H - 1) in L1                     H in L1, H levels         [0, n] a node, or none
//   distinct count     1                                   1                         [0, size of the set]
//   moment k           (max x^k - min x^k) / n             centered sums             [min x^k, max x^k]
//   centered moment k  -                                   ((b - a) / 2)^k           none
//   centered product   -                                   (b - a) (d - c) / 4       none
//
// M = n/(n-1) (b-a)^2/4 for even n and (n+1)/(4n) (b-a)^2 for odd n; M' has (b-a)(d-c) for (b-a)^2. A public
// range that depends on n exists only when n is public: it must never be derived from a private row count.
// Counts of distinct values are in distinct.h; moments, and variance, covariance, standard deviation and correlation
// from released parts, in moments.h; quantiles and the median, from hierarchies of counts, in quantiles.h.
//
// A statistic is rounded once, to the grid g: 1 for integer statistics, otherwise the largest power of two
// <= sensitivity * 2^-40; the sensitivity is then raised to a multiple of g (see Grid for why that is sound).
//
// Every constructor refuses domains that may hold null or NaN or lack bounds where it needs them; chain
// make_impute or make_drop and make_clamp before it. Written without arguments it takes its domain and metric
// from the chain:
//   make_clamp(ages, change_one(), bounds) >> make_mean()
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "snapdp/framework/aggregation.h"

namespace snapdp {

namespace statistics_internal {
class BinIndex;
}

// The number of rows. Under a size-preserving metric its sensitivity is 0: release the public size itself.
// Proof: proofs/make_count.md.
Aggregation make_count(const VectorDomain& domain, Metric metric);
Partial<Aggregation> make_count();

// The sum of one bounded column; an integer statistic when the column is. Proof: proofs/make_sum.md.
Aggregation make_sum(const VectorDomain& domain, Metric metric);
Partial<Aggregation> make_sum();

// The mean of one bounded column with public size. Proof: proofs/make_mean.md.
Aggregation make_mean(const VectorDomain& domain, Metric metric);
Partial<Aggregation> make_mean();

// Sum of (x - c) with c = (a + b) / 2, for the mean under add/remove: its sensitivity (b - a) / 2 is half
// that of a sum or better. Never an integer statistic. Proof: proofs/make_centered_sum.md.
Aggregation make_centered_sum(const VectorDomain& domain, Metric metric);
Partial<Aggregation> make_centered_sum();

// The unbiased sample variance of one bounded column, n >= 2. Proof: proofs/make_variance.md.
Aggregation make_variance(const VectorDomain& domain, Metric metric);
Partial<Aggregation> make_variance();

// The unbiased sample covariance of two bounded columns, n >= 2. Both columns have the same type.
// Proof: proofs/make_covariance.md.
Aggregation make_covariance(const VectorDomain& domain, Metric metric);
Partial<Aggregation> make_covariance();

// Which bin a cell falls into. Cells may be null or NaN; these, and cells outside every bin, are "other".
class Bins {
 public:
  // One bin a category; numbers match by value, text to the letter. Distinct, at least one, all of one kind.
  static Bins numbers(std::vector<Dyadic> categories);
  static Bins texts(std::vector<std::string> categories);
  // Bins [e_0, e_1), [e_1, e_2), ... the last one closed on both sides; strictly increasing, at least two
  // edges.
  static Bins edges(std::vector<Dyadic> edges);
  // Adds a last bin that counts every other row; without it these rows are not counted.
  Bins with_other() const;

  bool are_texts() const { return kind_ == Kind::texts; }
  bool has_other() const { return other_; }
  std::size_t size() const;
  // The bins in words: "1", "[0, 20)", "other".
  std::vector<std::string> labels() const;
  std::string description() const;

 private:
  friend class statistics_internal::BinIndex;
  enum class Kind { numbers, texts, edges };
  Kind kind_ = Kind::numbers;
  std::vector<Dyadic> numbers_;
  std::vector<std::string> texts_;
  bool other_ = false;
};

// The index of each cell's bin, 0 to size - 1, as an integer column with these bounds: categories become numbers, numbers
// become bins. Cells in no bin become null; with an "other" bin there are none. One column, whose domain may be
// untrusted. 1-stable under the symmetric, change-one and Hamming metrics. Proof: proofs/make_bin.md.
Transformation make_bin(const VectorDomain& domain, Metric metric, const Bins& bins);

// The number of rows in each bin, an integer vector under the L1 distance. The column's domain may be
// untrusted. Proof: proofs/make_histogram.md.
Aggregation make_histogram(const VectorDomain& domain, Metric metric, const Bins& bins);
Partial<Aggregation> make_histogram(const Bins& bins);

}  // namespace snapdp
