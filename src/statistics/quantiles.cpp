// Post-processing of hierarchies. Notation: y_v is the released count of node v, with independent noise of one variance
// for all nodes, taken as 1. Going up, z_v is the best estimate of node v from its own subtree and s_v its variance;
// going down, h_v is the best estimate from the whole tree.
#include "snapdp/statistics/quantiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanism/shared/noise_sums.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"
#include "statistics/construction.h"

namespace snapdp {

using namespace mechanism_internal;
using namespace numeric_internal;
using namespace statistics_internal;

namespace {

// The children of a node, as places [first, end) of the level below.
struct Children {
  std::size_t first;
  std::size_t end;
};

// The levels from the top down, a public root included, and the variances s_v. A leaf has 1; a node combines y_v,
// variance 1, and the sum of its children, variance S, with weights S and 1: s_v = S / (S + 1). All nodes of a level
// but the last are full and alike.
template <typename Number>
class Shapes {
 public:
  explicit Shapes(const HierarchyLayout& layout) : Shapes(layout.leaves(), layout.branching()) {}
  Shapes(std::size_t leaves, std::size_t branching) : branching_(branching), sizes_{leaves} {
    while (sizes_.front() > 1) sizes_.insert(sizes_.begin(), (sizes_.front() - 1) / branching + 1);
    full_.assign(depth(), 1);
    last_.assign(depth(), 1);
    for (std::size_t level = depth() - 1; level-- > 0;) {
      full_[level] = from_children(level, 0);
      last_[level] = from_children(level, sizes_[level] - 1);
    }
  }

  std::size_t depth() const { return sizes_.size(); }
  std::size_t size(std::size_t level) const { return sizes_[level]; }
  Children children(std::size_t level, std::size_t node) const {
    const std::size_t first = node * branching_;
    const std::size_t below = sizes_[level + 1];
    return {first, branching_ < below - first ? first + branching_ : below};
  }
  const Number& variance(std::size_t level, std::size_t node) const {
    return node + 1 == sizes_[level] ? last_[level] : full_[level];
  }
  // S_v.
  Number sum(std::size_t level, std::size_t node) const {
    const Children below = children(level, node);
    const bool has_last = below.end == sizes_[level + 1];
    const auto full = static_cast<unsigned long>(below.end - below.first - (has_last ? 1 : 0));
    Number result = full_[level + 1] * Number(full);
    if (has_last) result += last_[level + 1];
    return result;
  }

 private:
  Number from_children(std::size_t level, std::size_t node) const {
    const Number below = sum(level, node);
    return below / (below + 1);
  }

  std::size_t branching_;
  std::vector<std::size_t> sizes_;
  std::vector<Number> full_;
  std::vector<Number> last_;
};

void require_fraction(const Rational& q) {
  if (q < 0 || q > 1) refuse("q", "q = " + to_string(q) + ": quantiles run from 0 to 1");
}

// C_0 = 0, C_1, ..., the estimates of the rows below each edge.
std::vector<Rational> estimates(const HierarchyLayout& layout, const std::vector<Rational>& counts) {
  if (counts.size() != layout.leaves()) {
    refuse("counts", "counts: " + std::to_string(counts.size()) + " given for " +
                         std::to_string(layout.leaves()) + " leaves; use consistent_counts");
  }
  std::vector<Rational> below{0};
  for (const Rational& count : counts) below.push_back(below.back() + count);
  return below;
}

// Then a quantile may be anywhere.
bool no_rows(const HierarchyLayout& layout, const std::vector<Rational>& below) {
  return !layout.public_total() && below.back() <= 0;
}

// The noises in the estimates of the rows below edges, less q times that of all rows: their weights follow from what
// consistent_counts does, the formulas are in proofs/make_hierarchy.md. In double arithmetic, where a weight in [-1, 1]
// is a few sums and products of numbers below 1 away: its error stays far below 2^-45.
class RankWeights {
 public:
  RankWeights(const HierarchyLayout& layout, double q)
      : layout_(layout), q_(q), shapes_(layout), full_(shapes_.depth()), last_(shapes_.depth()) {
    for (std::size_t level = shapes_.depth(); level-- > 0;) {
      full_[level] = inside(level, 0);
      last_[level] = inside(level, shapes_.size(level) - 1);
    }
  }

  // Of an inner edge.
  WeightedNoises of_edge(std::size_t edge) const {
    const std::size_t depth = shapes_.depth();
    std::vector<std::size_t> path(depth, edge);  // the nodes that hold the leaf above the edge
    for (std::size_t level = depth - 1; level-- > 0;) path[level] = path[level + 1] / layout_.branching();
    std::vector<double> share(depth);  // alpha: of h_v that the estimate takes, for the nodes of the path
    for (std::size_t level = depth - 1; level-- > 0;) {
      const Children below = shapes_.children(level, path[level]);
      const double left = shapes_.variance(level + 1, 0) * static_cast<double>(path[level + 1] - below.first);
      const double own = share[level + 1] * shapes_.variance(level + 1, path[level + 1]);
      share[level] = (left + own) / shapes_.sum(level, path[level]);
    }
    WeightedNoises noises;
    double of_node = layout_.public_total() ? 0 : share[0] - q_;
    for (std::size_t level = 0; level + 1 < depth; ++level) {
      const double s = shapes_.variance(level, path[level]);
      if (of_node != 0) noises.push_back({of_node * s, 1});
      const double passed = of_node * (1 - s) - share[level];
      const Children below = shapes_.children(level, path[level]);
      add(noises, level + 1, below.first, path[level + 1], passed + 1);
      add(noises, level + 1, path[level + 1] + 1, below.end, passed);
      of_node = passed + share[level + 1];
    }
    noises.push_back({of_node, 1});
    return noises;
  }

  WeightedNoises of_total() const { return last_[0]; }

 private:
  // The weights of the noises in z of a node.
  WeightedNoises inside(std::size_t level, std::size_t node) const {
    if (level + 1 == shapes_.depth()) return {{1, 1}};
    const double s = shapes_.variance(level, node);
    WeightedNoises noises{{s, 1}};
    const Children below = shapes_.children(level, node);
    add(noises, level + 1, below.first, below.end, 1 - s);
    return noises;
  }
  // Those in the z of the nodes [first, end), each times `weight`. All but the last node of a level are alike.
  void add(WeightedNoises& noises, std::size_t level, std::size_t first, std::size_t end,
           double weight) const {
    if (first >= end || weight == 0) return;
    const bool has_last = end == shapes_.size(level);
    const auto full = static_cast<double>(end - first - (has_last ? 1 : 0));
    if (full > 0) {
      for (const WeightedNoise& noise : full_[level])
        noises.push_back({noise.weight * weight, noise.times * full});
    }
    if (!has_last) return;
    for (const WeightedNoise& noise : last_[level]) noises.push_back({noise.weight * weight, noise.times});
  }

  const HierarchyLayout& layout_;
  double q_;
  Shapes<double> shapes_;
  std::vector<WeightedNoises> full_;
  std::vector<WeightedNoises> last_;
};

// The edge strictly between two edges, not neighbors, that a search looks at first: that of the largest nodes, whose
// estimates have the fewest noises, and of these the middle one.
std::size_t first_looked_at(const HierarchyLayout& layout, std::size_t lower, std::size_t upper) {
  std::size_t width = 1;
  const auto has_inner = [&](std::size_t step) { return (upper - 1) / step > lower / step; };
  while (width <= upper / layout.branching() && has_inner(width * layout.branching()))
    width *= layout.branching();
  const std::size_t first = lower / width + 1;
  const std::size_t last = (upper - 1) / width;
  return (first + (last - first) / 2) * width;
}

// The largest probability that a search looks at an edge beyond some edge, itself included, and is misled there: the
// sums of `tails`, one an inner edge, over the edges that lie on one side on the way to an edge. And that of the total,
// the last of `tails` when it is private, which may come out as none.
class Misled {
 public:
  explicit Misled(const HierarchyLayout& layout) : layout_(layout) {}
  double operator()(const std::vector<double>& tails) const {
    const double none = layout_.public_total() ? 0 : tails.back();
    return none + largest(tails, 0, layout_.leaves(), 0, 0);
  }

 private:
  double largest(const std::vector<double>& tails, std::size_t lower, std::size_t upper, double above,
                 double below) const {
    if (upper - lower < 2) return 0;
    const std::size_t edge = first_looked_at(layout_, lower, upper);
    const double tail = tails[edge - 1];
    return std::max({above + tail, below + tail, largest(tails, lower, edge, above + tail, below),
                     largest(tails, edge, upper, above, below + tail)});
  }

  const HierarchyLayout& layout_;
};

// Of a node's count. Refuses bounds that cut off counts.
ErrorLaw law_of(const HierarchyLayout& layout, const Noise& noise) {
  OutputRange counts{0.0, std::nullopt};
  if (layout.public_total()) counts.upper = to_double_up(to_rational(*layout.public_total()));
  const bool holds_counts = (!noise.lower || *noise.lower <= 0) &&
                            (!noise.upper || (counts.upper && *counts.upper <= *noise.upper));
  if (!holds_counts) {
    refuse("noise",
           "noise: its bounds cut off counts that nodes may have; release the hierarchy without bounds, or "
           "with bounds that hold 0 and the public number of rows");
  }
  return ErrorLaw(noise, counts, true);
}

// An R that every tail of a bound on both sides is small for: joint(P(error > R)) <= alpha / 2 and so below -R.
double radius(const HierarchyLayout& layout, const Noise& noise, const Rational& q, const FailureRate& alpha,
              const JointTail& joint) {
  const FloatEnvironment environment;
  require_fraction(q);
  const ErrorLaw law = law_of(layout, noise);
  if (layout.leaves() == 1) return 0;
  const RankWeights weights(layout, q.get_d());
  std::vector<WeightedNoises> sums;
  for (std::size_t edge = 1; edge < layout.leaves(); ++edge) sums.push_back(weights.of_edge(edge));
  if (!layout.public_total()) sums.push_back(weights.of_total());
  return error_of_sums(law, static_cast<double>(layout.nodes()), sums,
                       to_double_down(Rational(alpha.value() / 2)), joint);
}

// The largest variance of the error of an edge's rank, less half of that of all rows, when one epsilon pays for all
// levels: the square of the noise scale is proportional to that of the number of levels. Given h_v the children's
// estimates have the variances s_u and sum to it, and the parts of the error that different levels add are not
// correlated.
double relative_variance(std::size_t leaves, std::size_t branching, bool public_total) {
  const Shapes<double> shapes(leaves, branching);
  double largest = 0;
  for (std::size_t edge = 1; edge < leaves; ++edge) {
    double variance = 0;
    double share = 0;  // of the node that holds the leaf above the edge: of its estimate
    std::size_t node = edge;
    for (std::size_t level = shapes.depth() - 1; level-- > 0; node /= branching) {
      const std::size_t parent = node / branching;
      const double own = shapes.variance(level + 1, node);
      const auto before = static_cast<double>(node - shapes.children(level, parent).first);
      const double left = shapes.variance(level + 1, 0) * before;
      const double all = shapes.sum(level, parent);
      const double taken = left + share * own;
      variance += left + share * share * own - taken * taken / all;
      share = taken / all;
    }
    if (!public_total) variance += (share - 0.5) * (share - 0.5) * shapes.variance(0, 0);
    largest = std::max(largest, variance);
  }
  const auto levels = static_cast<double>(shapes.depth() - (public_total ? 1 : 0));
  return largest * levels * levels;
}

// The next lower branching to look at, the least that takes one level more; 0 after 2.
std::size_t next_branching(std::size_t leaves, std::size_t branching) {
  if (branching <= 2) return 0;
  const auto levels = [leaves](std::size_t of) { return Shapes<double>(leaves, of).depth(); };
  const std::size_t wanted = levels(branching) + 1;
  std::size_t next = branching - 1;
  while (next > 2 && levels(next - 1) <= wanted) --next;
  return next;
}

}  // namespace

std::vector<Rational> consistent_counts(const HierarchyLayout& layout, const std::vector<Dyadic>& tree) {
  const FloatEnvironment environment;
  if (tree.size() != layout.nodes()) {
    refuse("tree", "tree: " + std::to_string(tree.size()) + " nodes given; the layout has " +
                       std::to_string(layout.nodes()));
  }
  const Shapes<Rational> shapes(layout);
  const std::size_t depth = shapes.depth();
  // The released counts, and then z: z_v = (S y_v + sum of the children's z) / (S + 1) = s y_v + (1 - s) sum.
  std::vector<std::vector<Rational>> z(depth);
  std::size_t next = 0;
  for (std::size_t level = 0; level < depth; ++level) {
    for (std::size_t node = 0; node < shapes.size(level); ++node) {
      z[level].push_back(level == 0 && layout.public_total() ? to_rational(*layout.public_total())
                                                             : tree[next++].rational());
    }
  }
  for (std::size_t level = depth - 1; level-- > 0;) {
    if (level == 0 && layout.public_total()) break;  // known, not estimated
    for (std::size_t node = 0; node < z[level].size(); ++node) {
      Rational sum = 0;
      const Children below = shapes.children(level, node);
      for (std::size_t child = below.first; child < below.end; ++child) sum += z[level + 1][child];
      const Rational& s = shapes.variance(level, node);
      z[level][node] = s * z[level][node] + (1 - s) * sum;
    }
  }
  // Going down, z becomes h: what a node has and its children lack is shared out by their variances.
  for (std::size_t level = 0; level + 1 < depth; ++level) {
    for (std::size_t node = 0; node < z[level].size(); ++node) {
      Rational missing = z[level][node];
      const Children below = shapes.children(level, node);
      for (std::size_t child = below.first; child < below.end; ++child) missing -= z[level + 1][child];
      missing /= shapes.sum(level, node);
      for (std::size_t child = below.first; child < below.end; ++child)
        z[level + 1][child] += missing * shapes.variance(level + 1, child);
    }
  }
  return z.back();
}

double quantile_from_hierarchy(const HierarchyLayout& layout, const std::vector<Rational>& counts,
                               const Rational& q) {
  const FloatEnvironment environment;
  require_fraction(q);
  const std::vector<Rational> below = estimates(layout, counts);
  const auto edge = [&](std::size_t i) { return layout.edges()[i].rational(); };
  if (no_rows(layout, below)) return to_double_nearest((edge(0) + edge(layout.leaves())) / 2);
  const Rational target = q * below.back();
  std::size_t lower = 0;
  std::size_t upper = layout.leaves();
  while (upper - lower > 1) {
    const std::size_t looked_at = first_looked_at(layout, lower, upper);
    const bool right = q == 0 ? below[looked_at] <= 0 : below[looked_at] < target;
    (right ? lower : upper) = looked_at;
  }
  const Rational& from = below[lower];
  const Rational& to = below[upper];
  const Rational fraction = from < to ? Rational((target - from) / (to - from)) : Rational(1, 2);
  return to_double_nearest(edge(lower) + (edge(upper) - edge(lower)) * fraction);
}

std::size_t best_branching(std::size_t leaves, bool public_total) {
  const FloatEnvironment environment;
  std::size_t best = 2;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t branching = leaves; branching >= 2; branching = next_branching(leaves, branching)) {
    const double error = relative_variance(leaves, branching, public_total);
    if (error < least) best = branching;
    least = std::min(least, error);
  }
  return best;
}

double quantile_rank_error(const HierarchyLayout& layout, const Noise& noise, const Rational& q,
                           const FailureRate& alpha) {
  return radius(layout, noise, q, alpha, Misled(layout));
}

double quantile_margin(const HierarchyLayout& layout, const Noise& noise, const Rational& q,
                       const FailureRate& alpha) {
  return radius(layout, noise, q, alpha, [](const std::vector<double>& tails) {
    return *std::max_element(tails.begin(), tails.end());
  });
}

QuantileInterval quantile_interval(const HierarchyLayout& layout, const std::vector<Rational>& counts,
                                   const Rational& q, double margin) {
  const FloatEnvironment environment;
  require_fraction(q);
  if (!(margin >= 0)) refuse("margin", "margin: it is a number of rows, at least 0");
  const std::vector<Rational> below = estimates(layout, counts);
  std::size_t lower = 0;
  std::size_t upper = layout.leaves();
  if (std::isfinite(margin) && !no_rows(layout, below)) {
    const Rational least = q * below.back() - Rational(margin);
    const Rational most = q * below.back() + Rational(margin);
    if (q > 0) {
      while (lower + 2 <= layout.leaves() && below[lower + 1] < least) ++lower;
    }
    if (q < 1) {
      while (upper >= 2 && below[upper - 1] > most) --upper;
    }
  }
  return {layout.edges()[lower].to_double_nearest(), layout.edges()[upper].to_double_nearest()};
}

}  // namespace snapdp
