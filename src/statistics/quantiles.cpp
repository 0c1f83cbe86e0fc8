// Post-processing of hierarchies. Notation: y_v is the released count of node v, with independent noise of one variance
// for all nodes, taken as 1. Going up, z_v is the best estimate of node v from its own subtree and s_v its variance;
// going down, h_v is the best estimate from the whole tree.
#include "snapdp/statistics/quantiles.h"

#include <algorithm>
#include <cmath>

#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"
#include "statistics/construction.h"

namespace snapdp {

using namespace numeric_internal;
using namespace statistics_internal;

namespace {

// The children of node `node` of a level, as places [first, end) of the level below.
struct Children {
  std::size_t first;
  std::size_t end;
};
Children children(const HierarchyLayout& layout, std::size_t node, std::size_t size_below) {
  const std::size_t first = node * layout.branching();
  return {first, layout.branching() < size_below - first ? first + layout.branching() : size_below};
}

// The variances s_v of every level from the top down, the root always included (a public one has no use for its own).
// A leaf has 1; a node combines y_v, variance 1, and the sum of its children, variance S, with weights S and 1:
//     s_v = S / (S + 1).
template <typename Number>
std::vector<std::vector<Number>> variances(const HierarchyLayout& layout) {
  std::vector<std::size_t> sizes = layout.levels();
  if (layout.public_total()) sizes.insert(sizes.begin(), 1);
  std::vector<std::vector<Number>> levels(sizes.size());
  levels.back().assign(layout.leaves(), 1);
  for (std::size_t level = sizes.size() - 1; level-- > 0;) {
    for (std::size_t node = 0; node < sizes[level]; ++node) {
      Number sum = 0;
      const Children below = children(layout, node, sizes[level + 1]);
      for (std::size_t child = below.first; child < below.end; ++child) sum += levels[level + 1][child];
      levels[level].push_back(sum / (sum + 1));
    }
  }
  return levels;
}

void require_fraction(const Rational& q) {
  if (q < 0 || q > 1) refuse("q", "q = " + to_string(q) + ": quantiles run from 0 to 1");
}

// M_0 = 0, M_1, ..., one an edge: see the header.
std::vector<Rational> cumulative(const HierarchyLayout& layout, const std::vector<Rational>& counts) {
  if (counts.size() != layout.leaves()) {
    refuse("counts", "counts: " + std::to_string(counts.size()) + " given for " +
                         std::to_string(layout.leaves()) + " leaves; use consistent_counts");
  }
  std::vector<Rational> below{0};
  Rational sum = 0;
  for (const Rational& count : counts) {
    sum += count;
    below.push_back(std::max(below.back(), sum));
    if (layout.public_total()) below.back() = std::min(below.back(), to_rational(*layout.public_total()));
  }
  return below;
}

// The largest sum of absolute weights that the node noises have in an estimate of the rows below an edge. The weights
// follow from what consistent_counts does; derivation in proofs/make_hierarchy.md.
double largest_weight(const HierarchyLayout& layout) {
  const std::vector<std::vector<double>> variance = variances<double>(layout);
  const std::size_t depth = variance.size();
  const auto variance_below = [](double s) { return s / (1 - s); };  // S from s = S / (S + 1)
  // spread[level][node]: the sum of the weights in z_v, all of them positive.
  std::vector<std::vector<double>> spread(depth);
  spread.back().assign(layout.leaves(), 1);
  for (std::size_t level = depth - 1; level-- > 0;) {
    for (std::size_t node = 0; node < variance[level].size(); ++node) {
      double sum = variance_below(variance[level][node]);
      const Children below = children(layout, node, variance[level + 1].size());
      for (std::size_t child = below.first; child < below.end; ++child) sum += spread[level + 1][child];
      spread[level].push_back(sum * (1 - variance[level][node]));
    }
  }
  double largest = layout.public_total() ? 0 : spread[0][0];  // that of the total
  std::vector<std::size_t> path(depth);
  std::vector<double> share(depth);  // of h_v that the estimate takes, for the nodes of the path
  for (std::size_t leaf = 1; leaf < layout.leaves(); ++leaf) {
    path[depth - 1] = leaf;
    for (std::size_t level = depth - 1; level-- > 0;) path[level] = path[level + 1] / layout.branching();
    share[depth - 1] = 0;
    for (std::size_t level = depth - 1; level-- > 0;) {
      const double all = variance_below(variance[level][path[level]]);
      double left = 0;
      const Children below = children(layout, path[level], variance[level + 1].size());
      for (std::size_t child = below.first; child < path[level + 1]; ++child)
        left += variance[level + 1][child];
      share[level] = (left + share[level + 1] * variance[level + 1][path[level + 1]]) / all;
    }
    double weight = 0;  // so far
    double of_node = layout.public_total() ? 0 : share[0];
    for (std::size_t level = 0; level + 1 < depth; ++level) {
      const double s = variance[level][path[level]];
      weight += std::abs(of_node) * s;
      const double passed = of_node * (1 - s) - share[level];
      const Children below = children(layout, path[level], variance[level + 1].size());
      for (std::size_t child = below.first; child < below.end; ++child) {
        if (child == path[level + 1]) continue;
        weight += std::abs(passed + (child < path[level + 1] ? 1 : 0)) * spread[level + 1][child];
      }
      of_node = passed + share[level + 1];
    }
    largest = std::max(largest, weight + std::abs(of_node));
  }
  // Sums of at most some 10^6 positive terms, each of a few roundings on numbers up to 1 times a positive factor: their
  // relative error stays far below this.
  return largest * (1 + 0x1p-20);
}

}  // namespace

std::vector<Rational> consistent_counts(const HierarchyLayout& layout, const std::vector<Dyadic>& tree) {
  const FloatEnvironment environment;
  if (tree.size() != layout.nodes()) {
    refuse("tree", "tree: " + std::to_string(tree.size()) + " nodes given; the layout has " +
                       std::to_string(layout.nodes()));
  }
  const std::vector<std::vector<Rational>> variance = variances<Rational>(layout);
  const std::size_t depth = variance.size();
  // The released counts, and then z: z_v = (S y_v + sum of the children's z) / (S + 1) = s y_v + (1 - s) sum.
  std::vector<std::vector<Rational>> z(depth);
  std::size_t next = 0;
  for (std::size_t level = 0; level < depth; ++level) {
    for (std::size_t node = 0; node < variance[level].size(); ++node) {
      z[level].push_back(level == 0 && layout.public_total() ? to_rational(*layout.public_total())
                                                             : tree[next++].rational());
    }
  }
  for (std::size_t level = depth - 1; level-- > 0;) {
    if (level == 0 && layout.public_total()) break;  // known, not estimated
    for (std::size_t node = 0; node < z[level].size(); ++node) {
      Rational sum = 0;
      const Children below = children(layout, node, z[level + 1].size());
      for (std::size_t child = below.first; child < below.end; ++child) sum += z[level + 1][child];
      const Rational& s = variance[level][node];
      z[level][node] = s * z[level][node] + (1 - s) * sum;
    }
  }
  // Going down, z becomes h: what a node has and its children lack is shared out by their variances.
  for (std::size_t level = 0; level + 1 < depth; ++level) {
    for (std::size_t node = 0; node < z[level].size(); ++node) {
      Rational missing = z[level][node];
      Rational all = 0;
      const Children below = children(layout, node, z[level + 1].size());
      for (std::size_t child = below.first; child < below.end; ++child) {
        missing -= z[level + 1][child];
        all += variance[level + 1][child];
      }
      for (std::size_t child = below.first; child < below.end; ++child)
        z[level + 1][child] += missing * variance[level + 1][child] / all;
    }
  }
  return z.back();
}

double quantile_from_hierarchy(const HierarchyLayout& layout, const std::vector<Rational>& counts,
                               const Rational& q) {
  const FloatEnvironment environment;
  require_fraction(q);
  const std::vector<Rational> below = cumulative(layout, counts);
  const Rational first = layout.edges().front().rational();
  const Rational last = layout.edges().back().rational();
  if (below.back() == 0) return to_double_nearest((first + last) / 2);
  const Rational target = q * below.back();
  // The first edge that M reaches the target at; for the target 0, the first it leaves 0 at.
  const auto reached = target == 0 ? std::upper_bound(below.begin(), below.end(), target)
                                   : std::lower_bound(below.begin(), below.end(), target);
  const auto edge = static_cast<std::size_t>(reached - below.begin());
  const Rational lower = layout.edges()[edge - 1].rational();
  const Rational width = layout.edges()[edge].rational() - lower;
  return to_double_nearest(lower + width * (target - below[edge - 1]) / (below[edge] - below[edge - 1]));
}

double quantile_rank_error(const HierarchyLayout& layout, double node_accuracy, const Rational& q) {
  const FloatEnvironment environment;
  require_fraction(q);
  if (!(node_accuracy >= 0)) refuse("node_accuracy", "node_accuracy: it is a distance, at least 0");
  if (std::isinf(node_accuracy)) return node_accuracy;
  const Rational rows = Rational(largest_weight(layout)) * Rational(node_accuracy);
  return to_double_up(layout.public_total() ? rows : Rational(rows * (1 + q)));
}

QuantileInterval quantile_interval(const HierarchyLayout& layout, const std::vector<Rational>& counts,
                                   const Rational& q, double rank_error) {
  const FloatEnvironment environment;
  require_fraction(q);
  if (!(rank_error >= 0)) refuse("rank_error", "rank_error: it is a number of rows, at least 0");
  const std::vector<Rational> below = cumulative(layout, counts);
  std::size_t lower = 0;
  std::size_t upper = layout.leaves();
  if (std::isfinite(rank_error)) {
    const Rational target = q * below.back();
    const Rational error(rank_error);
    // M grows: the last edge with M < target - R, and the first with M > target + R.
    const auto from = std::lower_bound(below.begin(), below.end(), Rational(target - error));
    const auto to = std::upper_bound(below.begin(), below.end(), Rational(target + error));
    if (from != below.begin()) lower = static_cast<std::size_t>(from - below.begin()) - 1;
    if (to != below.end()) upper = static_cast<std::size_t>(to - below.begin());
  }
  return {layout.edges()[lower].to_double_nearest(), layout.edges()[upper].to_double_nearest()};
}

}  // namespace snapdp
