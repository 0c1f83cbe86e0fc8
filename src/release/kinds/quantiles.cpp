// Quantiles and the median, which are read off a hierarchy of noisy counts.
#include "snapdp/statistics/quantiles.h"

#include <algorithm>

#include "release/kinds/bins.h"
#include "release/kinds/cells.h"

namespace snapdp::release_internal {
namespace {

// The consistent counts of the hierarchy of group `group`; none for stand-ins.
std::vector<Rational> leaf_counts(const PlannedStatistic& planned, const ShownValues& values,
                                  std::size_t group) {
  if (values.released() == nullptr) return {};
  const auto nodes = static_cast<std::ptrdiff_t>(planned.hierarchy->nodes());
  const auto first = values.released()->front().begin() + static_cast<std::ptrdiff_t>(group) * nodes;
  return consistent_counts(*planned.hierarchy, {first, first + nodes});
}

std::vector<Rational> read_quantiles(const TomlTable& table) {
  if (!table.has("quantiles"))
    table.refuse_missing("quantiles",
                         "is missing; say which, quantiles = [0.25, 0.5, 0.75]. All come from one release");
  std::vector<Rational> quantiles = table.get_numbers("quantiles");
  const bool inside =
      std::all_of(quantiles.begin(), quantiles.end(), [](const Rational& q) { return q >= 0 && q <= 1; });
  if (quantiles.empty() || !inside) table.refuse("quantiles", "must be numbers from 0 to 1, at least one");
  return quantiles;
}

class QuantilesKind final : public Kind {
 public:
  using Kind::Kind;

  std::string why_not(const std::string& key) const override {
    if (key == "accuracy") {
      return "is not available for quantiles: how far a value may be off depends on the noisy counts around "
             "it; give epsilon or weight instead";
    }
    return "does not apply to quantiles, which are read off many noisy counts and lie between the outer "
           "edges; remove it";
  }
  void read_values(const StatisticText& text, StatisticSpecification& statistic) const override {
    if (!text.table.has("edges")) {
      text.table.refuse_missing("edges",
                                "is missing; declare public edges as fine as the answer should be, edges = "
                                "[0, 1, 2, 3, 4]");
    }
    statistic.edges = read_edges(text.table);
    statistic.quantiles = has_key("quantiles") ? read_quantiles(text.table) : std::vector{Rational(1, 2)};
  }
  std::vector<KindPart> parts(Neighbors) const override {
    return {{"", [](const StatisticRows& rows) {
               return rows.complete(make_hierarchy(*rows.planned().hierarchy));
             }}};
  }
  bool is_integer(const StatisticSpecification&) const override { return true; }
  bool has_unit_of_column() const override { return true; }
  void prepare(const Declaration& data, PlannedStatistic& planned) const override {
    const StatisticSpecification& statistic = planned.specification;
    HierarchyLayout layout(cell_values(statistic.edges, statistic.type.value_or(AtomType::real), "edges"));
    // Where nulls are imputed, by default in the middle.
    planned.bounds = {Bounds(layout.edges().front(), layout.edges().back())};
    planned.hierarchy = data.size ? layout.with_public_total(*data.size) : std::move(layout);
  }
  void conclude(PlannedStatistic& planned) const override {
    // Of every node of every group: whatever is read off the hierarchies then holds for all of them together.
    const double node_accuracy = planned.measurements.front().simultaneous;
    for (const Rational& q : planned.specification.quantiles) {
      planned.rank_error =
          std::max(planned.rank_error, quantile_rank_error(*planned.hierarchy, node_accuracy, q));
    }
    planned.accuracy.reset();  // in rows, at the edges: rank_error; in values: told with the release
  }
  void add_values(ShownEntry& entry, const PlannedStatistic& planned, const ShownValues& values,
                  std::size_t group) const override {
    if (!values.any()) return;
    const std::vector<Rational> counts = leaf_counts(planned, values, group);
    entry.quantiles.reserve(planned.specification.quantiles.size());
    for (const Rational& q : planned.specification.quantiles) {
      ShownQuantile quantile{has_key("quantiles") ? to_string(q) : "", longest_double, longest_double,
                             longest_double};
      if (values.released() != nullptr) {
        const QuantileInterval interval =
            quantile_interval(*planned.hierarchy, counts, q, planned.rank_error);
        quantile.value = quantile_from_hierarchy(*planned.hierarchy, counts, q);
        quantile.lower = interval.lower;
        quantile.upper = interval.upper;
      }
      entry.quantiles.push_back(std::move(quantile));
    }
  }
};

}  // namespace

const Kind& median_kind() {
  static const QuantilesKind kind(StatisticKind::median, "median", {"column", "type", "edges"});
  return kind;
}

const Kind& quantiles_kind() {
  static const QuantilesKind kind(StatisticKind::quantiles, "quantiles",
                                  {"column", "type", "edges", "quantiles"});
  return kind;
}

}  // namespace snapdp::release_internal
