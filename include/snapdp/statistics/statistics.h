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
// range that depends on n exists only when n is public: it must never be derived from a private row count. c
// is the middle of a column's bounds; max and min are over the bounds. Variance, covariance, standard
// deviation and correlation from released parts are in from_parts.h; quantiles and the median, from
// hierarchies of counts, in quantiles.h.
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

// The index of each cell's bin, 0 to size - 1, as an integer column with these bounds: categories become
// numbers, numbers become bins. Cells in no bin become null; with an "other" bin there are none. One column,
// whose domain may be untrusted. 1-stable under the symmetric, change-one and Hamming metrics. Proof:
// proofs/make_bin.md.
Transformation make_bin(const VectorDomain& domain, Metric metric, const Bins& bins);

// The number of rows in each bin, an integer vector under the L1 distance. The column's domain may be
// untrusted. Proof: proofs/make_histogram.md.
Aggregation make_histogram(const VectorDomain& domain, Metric metric, const Bins& bins);
Partial<Aggregation> make_histogram(const Bins& bins);

// How many values of a public set occur in a column:
//
//   make_distinct_count(untrusted, symmetric_distance(), Bins::texts({"CA", "NY", "TX"}))   // 0, 1, 2 or 3
//
// The set must be public: a count of every value that occurs reveals a row with a rare one only through its
// noise, but a list of values taken from the data reveals it outright.

// The number of bins of `set` that hold at least one row: an integer statistic with sensitivity 1 under every
// dataset metric, in the public range [0, size of the set], which does not depend on the number of rows. No
// public size is needed under the size-preserving metrics. The column's domain may be untrusted; nulls, NaN
// and cells outside the set count for nothing. Throws invalid_argument for a set with an "other" bin or of
// another kind than the column. Proof: proofs/make_distinct_count.md.
Aggregation make_distinct_count(const VectorDomain& domain, Metric metric, const Bins& set);
Partial<Aggregation> make_distinct_count(const Bins& set);

// Moments. With a public number of rows (change-one, Hamming), make_variance, make_covariance and make_moment
// are released as they are. Under the symmetric distance the number of rows is private: release centered sums
// and a count, each with its own share of the budget, and compute the rest from these with from_parts.h.

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

// One statistic for each of a public set of keys, in one pass:
//
//   Bins states = Bins::texts({"CA", "NY", "TX"});
//   auto rows = untrusted_domain({AtomType::text, AtomType::real});        // the key comes first
//   auto incomes = [](const VectorDomain& rest, Metric metric) {
//     const Transformation complete = make_drop(rest, metric);
//     return complete >> make_clamp(complete.output_domain(), metric, Bounds(0, 1e6)) >> make_sum();
//   };
//   Aggregation by_state = make_grouped(rows, symmetric_distance(), states, incomes);
//   by_state >> make_snapping({.epsilon = "1/2"})                          // 1/2 for all states together

// The aggregation `inner` of the rows of each key. The first column of `domain` is the key; `inner` is built
// on the others. The statistic is the vector of all groups one after the other, in the order of the keys:
// `dimension` of `inner` numbers each. Every key has its group, whether rows have it or not; rows with
// another key, or none, take no part. Bins may be categories or edges, and may have an "other".
//
// Groups are disjoint, so a row that comes or goes changes one of them: under the L1 distance the sensitivity
// is that of one group (parallel composition, McSherry 2009), d times it for d rows. Only under the symmetric
// distance: a replaced row may leave one group and enter another, and group sizes are not public. Throws
// mismatch for other metrics, invalid_argument for a domain without a key column or keys of another type than
// its column. Proof: proofs/make_grouped.md.
Aggregation make_grouped(const VectorDomain& domain, Metric metric, const Bins& keys,
                         const Partial<Aggregation>& inner);
Partial<Aggregation> make_grouped(const Bins& keys, const Partial<Aggregation>& inner);

}  // namespace snapdp
