// Quantiles and the median from a hierarchy of noisy counts over public edges.
//
//   const HierarchyLayout layout({0, 10, 20, 30, 40, 50, 60, 70, 80}, 2);
//   auto ages = make_hierarchy(domain, symmetric_distance(), layout) >> make_snapping({.epsilon = "1/2"});
//   auto tree = ages.release(rows, accountant).values;          // one integer a node
//   auto counts = consistent_counts(layout, tree);  // one number a leaf; their sums are those of the nodes
//   double median = quantile_from_hierarchy(layout, counts, Rational(1, 2));
//
//   // With probability at least 0.95, known before any row is read: how many rows off,
//   double off = quantile_rank_error(layout, ages.mechanism().noise(), Rational(1, 2), 0.05);
//   // and after the release, between which edges the exact median lies.
//   double margin = quantile_margin(layout, ages.mechanism().noise(), Rational(1, 2), 0.05);
//   auto [lower, upper] = quantile_interval(layout, counts, Rational(1, 2), margin);
//
// Leaves are the bins [e_0, e_1), [e_1, e_2), ...; values below e_0 count in the first and values from the
// last edge on in the last. A node of a higher level is the sum of `branching` neighboring nodes (fewer at
// the right end) of the level below, up to one root for all rows. Edges must be public: edges taken from the
// data reveal it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "snapdp/framework/aggregation.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/noise.h"

namespace snapdp {

// The shape of a hierarchy: what its numbers mean.
class HierarchyLayout {
 public:
  // Throws invalid_argument naming "edges" unless there are 2 to 100,001, strictly increasing, each a double;
  // or "branching" unless it is at least 2.
  explicit HierarchyLayout(std::vector<Dyadic> edges, std::size_t branching = 2);
  // The layout for a public number of rows: the root, which would be that number, is left out. This is what
  // make_hierarchy releases under change-one and Hamming. Throws invalid_argument naming "edges" for a single
  // bin.
  HierarchyLayout with_public_total(std::uint64_t rows) const;

  const std::vector<Dyadic>& edges() const { return edges_; }
  std::size_t branching() const { return branching_; }
  const std::optional<std::uint64_t>& public_total() const { return total_; }
  std::size_t leaves() const { return edges_.size() - 1; }
  // The number of nodes of each level that is released, from the top down; the last one is the leaves. A
  // release holds the levels in this order, each from left to right.
  const std::vector<std::size_t>& levels() const { return levels_; }
  std::size_t nodes() const;
  std::string description() const;

 private:
  std::vector<Dyadic> edges_;
  std::size_t branching_;
  std::vector<std::size_t> levels_;
  std::optional<std::uint64_t> total_;
};

// The number of rows in each node, an integer vector under the L1 distance: sensitivity = the number of
// released levels under the symmetric distance, twice that under change-one and Hamming, where the root is
// left out (`layout` becomes with_public_total(domain size) by itself; another public total is refused). One
// numeric column without null and NaN. Proof: proofs/make_hierarchy.md.
Aggregation make_hierarchy(const VectorDomain& domain, Metric metric, const HierarchyLayout& layout);
Partial<Aggregation> make_hierarchy(const HierarchyLayout& layout);

// The branching of a hierarchy of so many leaves that tells quantiles best when one epsilon pays for all
// levels: few levels make little noise, wide ones add much of it up. That is the least largest variance of
// an edge's error. 2 for fewer than two leaves.
std::size_t best_branching(std::size_t leaves, bool public_total);

// What follows is post-processing: functions of a released hierarchy and its public layout, the same on every
// machine. Under change-one and Hamming the layout is with_public_total(n).

// The leaf counts that fit all released nodes best (least squares), exactly: of all linear unbiased estimates
// those with the least variance, and a node's estimate is the sum of its leaves'. A public total is met
// exactly. They may be fractions and negative. For full trees these are the estimates of Hay, Rastogi, Miklau
// and Suciu (Boosting the accuracy of differentially private histograms through consistency, 2010): averages
// on the way up, then on the way down what is missing is shared out. Throws invalid_argument naming "tree"
// when the number of nodes is wrong.
std::vector<Rational> consistent_counts(const HierarchyLayout& layout, const std::vector<Dyadic>& tree);

// The q-quantile, 0 <= q <= 1, of leaf counts: where their cumulative sum crosses q times its end. It is
// found as in a search tree: the edge between the largest nodes first, then on the side where the crossing
// must be, down to one leaf; inside it linear interpolation. So it depends on few estimates, and first on
// the best ones. It grows with q and lies in [e_0, last edge]; where no rows are left, it is the middle of
// these. Rounded to the nearest double.
double quantile_from_hierarchy(const HierarchyLayout& layout, const std::vector<Rational>& counts,
                               const Rational& q);

// R such that with N rows, for the leaf [e_i, e_(i+1)] that holds the released quantile, with probability at
// least 1 - alpha
//     rows below e_i <= q N + R   and   rows below e_(i+1) >= q N - R   (all rows, for the last edge),
// whatever the rows are, when every node of the hierarchy has independent `noise`: Mechanism::noise() of the
// measurement that released it. It follows from the law of the sums of noises in the estimates, and grows
// with the logarithm of the number of edges. Rounded up. Of several quantiles and groups together an equal
// share of alpha each will do (union bound). Derivation: proofs/make_hierarchy.md. Throws invalid_argument
// naming "noise" when its bounds cut off counts that nodes may have.
//
// It is a statement about the edges. Rows inside a leaf cannot be told apart: the rows below the released
// quantile itself may be as far from q N as the leaf has rows.
double quantile_rank_error(const HierarchyLayout& layout, const Noise& noise, const Rational& q,
                           const FailureRate& alpha);

// A margin such that for any one edge the estimate of its rows below, less q times that of all rows, is
// within the margin of the exact difference with probability at least 1 - alpha; on either side of it alpha /
// 2. At most quantile_rank_error(). Rounded up.
double quantile_margin(const HierarchyLayout& layout, const Noise& noise, const Rational& q,
                       const FailureRate& alpha);

// With margin = quantile_margin(layout, noise, q, alpha) all exact q-quantiles of the rows, their values
// clamped to [e_0, last edge], lie between these edges with probability at least 1 - alpha: every x with at
// most q N rows below it and at least q N rows at or below it. Edges are given up from the outside in, as
// long as their estimates are farther than the margin from what they must be at a quantile; so only the two
// edges around the exact quantiles can be given up wrongly, however many there are. The released quantile
// lies between them too.
struct QuantileInterval {
  double lower;
  double upper;
};
QuantileInterval quantile_interval(const HierarchyLayout& layout, const std::vector<Rational>& counts,
                                   const Rational& q, double margin);

}  // namespace snapdp
