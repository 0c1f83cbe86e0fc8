#include <algorithm>
#include <limits>
#include <numeric>

#include "framework/shared/row_language.h"
#include "snapdp/error.h"
#include "snapdp/statistics/quantiles.h"
#include "statistics/construction.h"

namespace snapdp {

using namespace statistics_internal;

namespace {

constexpr std::size_t most_leaves = 100'000;

// Which leaf a cell falls into: the number of inner edges at or below it.
class LeafIndex {
 public:
  LeafIndex(AtomType type, const HierarchyLayout& layout) : leaves_(layout.leaves()) {
    for (std::size_t i = 1; i < leaves_; ++i) {
      const Dyadic& edge = layout.edges()[i];
      if (type == AtomType::real) {
        reals_.push_back(edge.to_double_nearest());
        continue;
      }
      // x >= edge is x >= ceil(edge); no integer reaches an edge above them all, nor any edge after it.
      const Integer least = ceil(edge.rational());
      if (least > std::numeric_limits<std::int64_t>::max()) break;
      integers_.push_back(least.fits_slong_p() ? least.get_si() : std::numeric_limits<std::int64_t>::min());
    }
  }

  std::size_t leaves() const { return leaves_; }
  framework_internal::Places places(AtomType type) const {
    framework_internal::Places places{.type = type,
                                      .count = leaves_,
                                      .elsewhere = leaves_,
                                      .cuts = true,
                                      .reals = reals_,
                                      .integers = integers_};
    places.place_of.resize(std::max(reals_.size(), integers_.size()) + 1);
    std::iota(places.place_of.begin(), places.place_of.end(), std::size_t{0});
    return places;
  }
  void count(const Column& column, std::size_t rows, std::vector<std::uint64_t>& counts) const {
    if (column.type == AtomType::integer) {
      count(column.integers(), rows, integers_, counts);
    } else {
      count(column.reals(), rows, reals_, counts);
    }
  }

 private:
  template <typename Value>
  static void count(const Value* cells, std::size_t rows, const std::vector<Value>& edges,
                    std::vector<std::uint64_t>& counts) {
    for (std::size_t row = 0; row < rows; ++row) {
      const auto above = std::upper_bound(edges.begin(), edges.end(), cells[row]);
      ++counts[static_cast<std::size_t>(above - edges.begin())];
    }
  }

  std::size_t leaves_;
  std::vector<double> reals_;
  std::vector<std::int64_t> integers_;
};

class LeafState final : public FoldState {
 public:
  explicit LeafState(std::shared_ptr<const LeafIndex> index)
      : index_(std::move(index)), counts_(index_->leaves()) {}
  LeafState(std::shared_ptr<const LeafIndex> index, std::uint64_t rows, std::vector<std::uint64_t> counts)
      : index_(std::move(index)), rows_(rows), counts_(std::move(counts)) {}

  void update(const Chunk& block) override {
    rows_ = add_rows(rows_, block.length);
    index_->count(block.column[0], block.length, counts_);
  }
  void merge(const FoldState& other) override {
    const auto& same = static_cast<const LeafState&>(other);
    rows_ = add_rows(rows_, same.rows_);
    std::transform(counts_.begin(), counts_.end(), same.counts_.begin(), counts_.begin(), std::plus<>());
  }
  Totals totals() const override {
    Totals result{rows_, {}};
    for (const std::uint64_t count : counts_)
      result.values.emplace_back(Integer(static_cast<unsigned long>(count)), 0);
    return result;
  }

 private:
  std::shared_ptr<const LeafIndex> index_;
  std::uint64_t rows_ = 0;
  std::vector<std::uint64_t> counts_;
};

class LeafFold final : public Fold {
 public:
  LeafFold(AtomType type, const HierarchyLayout& layout)
      : type_(type), index_(std::make_shared<LeafIndex>(type, layout)), description_(layout.description()) {}

  std::unique_ptr<FoldState> start() const override { return std::make_unique<LeafState>(index_); }
  std::unique_ptr<FoldState> restore(const Totals& totals) const override {
    const auto require = [](bool possible, const char* why) {
      if (!possible) {
        throw Error(
            ErrorCode::bad_data, "state",
            std::string("state: its totals are impossible: ") + why + "; recompute the state from the rows");
      }
    };
    require(totals.values.size() == index_->leaves(), "the number of leaves is wrong");
    std::vector<std::uint64_t> counts;
    std::uint64_t left = totals.rows;
    for (const Dyadic& count : totals.values) {
      require(count.is_integer() && count.sign() >= 0, "a leaf's count is no count");
      require(count <= Dyadic(Integer(static_cast<unsigned long>(left)), 0),
              "the leaves hold more than all rows");
      counts.push_back(count.rational().get_num().get_ui());
      left -= counts.back();
    }
    require(left == 0, "the leaves do not hold all rows");
    return std::make_unique<LeafState>(index_, totals.rows, std::move(counts));
  }
  std::string description() const override { return description_; }
  void tell(framework_internal::RowLanguage& language) const override {
    language.count_places(index_->places(type_));
  }

 private:
  AtomType type_;
  std::shared_ptr<const LeafIndex> index_;
  std::string description_;
};

// All released levels from their leaves.
std::vector<Dyadic> tree_of(const HierarchyLayout& layout, const std::vector<Dyadic>& leaves) {
  std::vector<std::vector<Dyadic>> levels{leaves};
  while (levels.size() < layout.levels().size()) {
    const std::vector<Dyadic>& below = levels.back();
    std::vector<Dyadic> level((below.size() + layout.branching() - 1) / layout.branching());
    for (std::size_t i = 0; i < below.size(); ++i) level[i / layout.branching()] += below[i];
    levels.push_back(std::move(level));
  }
  std::vector<Dyadic> tree;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level)
    tree.insert(tree.end(), level->begin(), level->end());
  return tree;
}

}  // namespace

HierarchyLayout::HierarchyLayout(std::vector<Dyadic> edges, std::size_t branching)
    : edges_(std::move(edges)), branching_(branching) {
  if (edges_.size() < 2 || edges_.size() > most_leaves + 1) {
    refuse("edges", "edges: " + std::to_string(edges_.size()) + " given; a hierarchy takes 2 to " +
                        std::to_string(most_leaves + 1));
  }
  if (branching_ < 2) {
    refuse("branching", "branching = " + std::to_string(branching_) +
                            ": a node has at least 2 below it; 2 to 16 are common");
  }
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    if (!edges_[i].is_double())
      refuse("edges", "edges: " + to_string(edges_[i]) + " is no double; use the nearest one");
    if (i > 0 && edges_[i] <= edges_[i - 1]) {
      refuse("edges", "edges: " + to_string(edges_[i]) + " follows " + to_string(edges_[i - 1]) +
                          "; edges must be strictly increasing");
    }
  }
  levels_.push_back(leaves());
  while (levels_.back() > 1) {
    // Rounded up, without overflow for any branching.
    const std::size_t below = levels_.back();
    levels_.push_back(below / branching_ + (below % branching_ == 0 ? 0 : 1));
  }
  std::reverse(levels_.begin(), levels_.end());
}

HierarchyLayout HierarchyLayout::with_public_total(std::uint64_t rows) const {
  if (leaves() == 1) {
    refuse("edges", "edges: a single bin holds all rows, whose number is public; give more than two edges");
  }
  HierarchyLayout layout = *this;
  if (!total_) layout.levels_.erase(layout.levels_.begin());
  layout.total_ = rows;
  return layout;
}

std::size_t HierarchyLayout::nodes() const {
  return std::accumulate(levels_.begin(), levels_.end(), std::size_t{0});
}

std::string HierarchyLayout::description() const {
  std::string text = "hierarchy, branching " + std::to_string(branching_) + ", edges";
  for (const Dyadic& edge : edges_) text += " " + to_string(edge);
  return text;
}

Aggregation make_hierarchy(const VectorDomain& domain, Metric metric, const HierarchyLayout& layout) {
  require_dataset_metric(metric, "make_hierarchy");
  if (domain.columns().size() != 1) refuse("domain", "make_hierarchy takes one column");
  const AtomDomain& column = domain.columns().front();
  if (column.type == AtomType::text)
    refuse("domain", "make_hierarchy takes numbers, not text; use make_parse first");
  if (column.nullable || column.nan) {
    refuse("domain",
           "make_hierarchy: the column holds " + describe(column) + "; use make_impute or make_drop first");
  }
  HierarchyLayout released = layout;
  std::optional<Bounds> range;
  if (preserves_size(metric)) {
    if (!domain.size()) {
      refuse("size", "make_hierarchy under the " + to_string(metric) +
                         " needs the public number of rows; use of_size(n)");
    }
    if (layout.public_total() && layout.public_total() != domain.size()) {
      throw Error(ErrorCode::mismatch, "size",
                  "size: the layout is for " + std::to_string(*layout.public_total()) +
                      " rows, the domain has " + std::to_string(*domain.size()) + "; declare one size");
    }
    released = layout.with_public_total(*domain.size());
    range = Bounds(Dyadic(0), outward_up(to_rational(*domain.size())));
  } else if (layout.public_total()) {
    throw Error(ErrorCode::mismatch, "metric",
                "make_hierarchy: the number of rows is not public under the " + to_string(metric) +
                    "; use a layout without a public total");
  }
  // A row lies in one node of every level; a replaced one leaves one and enters another.
  const Rational sensitivity = to_rational(released.levels().size()) * (preserves_size(metric) ? 2 : 1);
  // At worst all d rows lie in the same nodes: d in each of those, whose L2 is sqrt(their number) d.
  return Aggregation({domain, StatisticDomain{released.nodes(), Grid(0), true, range}, metric,
                      Metric::l1_distance, Relation::stable(sensitivity)},
                     std::make_shared<LeafFold>(column.type, layout),
                     [released](const Totals& totals) { return tree_of(released, totals.values); })
      .with_l2(sensitivity);
}

Partial<Aggregation> make_hierarchy(const HierarchyLayout& layout) {
  return
      [layout](const VectorDomain& domain, Metric metric) { return make_hierarchy(domain, metric, layout); };
}

}  // namespace snapdp
