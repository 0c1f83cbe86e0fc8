// Quantiles and the median, which are read off a hierarchy of noisy counts.
#include "snapdp/statistics/quantiles.h"

#include <algorithm>

#include "release/kinds/bins.h"
#include "release/kinds/cells.h"
#include "release/toml_values.h"

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

Rational to_rational(std::uint64_t number) {
  return Rational(Integer(static_cast<unsigned long>(number)));
}

// Of all quantiles of all groups together what is said holds.
FailureRate share_of_alpha(const PlannedStatistic& planned) {
  const std::size_t statements =
      planned.specification.quantiles.size() * std::max<std::size_t>(planned.groups, 1);
  return FailureRate(Rational(planned.specification.alpha / to_rational(statements)));
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

// bounds and resolution instead of edges: every `resolution` from the lower bound on, and the upper bound.
std::vector<Rational> edges_between(const StatisticText& text, const std::string& column) {
  const TomlTable& table = text.table;
  const std::optional<DecimalBounds> declared = text.data.column(column).bounds;
  if (!table.has("bounds") && !declared) {
    table.refuse_missing(
        "bounds",
        "is missing; resolution divides public bounds into bins, bounds = [lower, upper], here or "
        "under [columns.NAME]");
  }
  const DecimalBounds bounds =
      table.has("bounds") ? get_bounds(text.document, table, table.get_array("bounds")) : *declared;
  const Rational resolution = table.get_positive("resolution");
  const Rational bins = Rational(ceil(Rational((bounds.upper - bounds.lower) / resolution)));
  if (bins < 1)
    table.refuse("resolution", "divides bounds that are equal; a quantile between them is a constant");
  if (bins >= static_cast<unsigned long>(Specification::max_bins)) {
    table.refuse("resolution", "makes more than " + std::to_string(Specification::max_bins) +
                                   " edges of these bounds; choose a coarser one");
  }
  std::vector<Rational> edges;
  for (unsigned long i = 0; Rational(i) < bins; ++i) edges.emplace_back(bounds.lower + i * resolution);
  edges.push_back(bounds.upper);
  return edges;
}

std::vector<Rational> read_quantile_edges(const StatisticText& text, const std::string& column) {
  const TomlTable& table = text.table;
  if (table.has("resolution")) {
    if (table.has("edges")) table.refuse("resolution", "cannot stand beside edges; remove one of them");
    return edges_between(text, column);
  }
  if (table.has("bounds")) {
    table.refuse("bounds",
                 table.has("edges")
                     ? "cannot stand beside edges, the outer of which bound the values; remove one of them"
                     : "need a resolution, how far apart the edges between them are: resolution = 1");
  }
  if (!table.has("edges")) {
    table.refuse_missing("edges",
                         "is missing; declare public edges as fine as the answer should be, edges = "
                         "[0, 1, 2, 3, 4], or bounds = [0, 4] and resolution = 1");
  }
  return read_edges(table);
}

// How far ranks may be off is a search over all edges for each quantile: some 10 us an edge, several times over where an
// epsilon is to be found. So that every plan is made within seconds, there are not more of both.
constexpr std::size_t most_edges_times_quantiles = 20'000;

class QuantilesKind final : public Kind {
 public:
  using Kind::Kind;

  std::string why_not(const std::string& key) const override {
    if (key == "accuracy") return "";
    return "does not apply to quantiles, which are read off many noisy counts and lie between the outer "
           "edges; remove it";
  }
  void read_values(const StatisticText& text, StatisticSpecification& statistic) const override {
    statistic.edges = read_quantile_edges(text, statistic.columns.front());
    statistic.quantiles = has_key("quantiles") ? read_quantiles(text.table) : std::vector{Rational(1, 2)};
    if (statistic.edges.size() > most_edges_times_quantiles / statistic.quantiles.size()) {
      text.table.refuse(text.table.has("resolution") ? "resolution" : "edges",
                        "must give at most " +
                            std::to_string(most_edges_times_quantiles / statistic.quantiles.size()) +
                            " edges for so many quantiles; choose fewer. Beyond a few hundred, the noise and "
                            "not the edges decides how near an answer is");
    }
  }
  std::vector<KindPart> parts(Neighbors, std::size_t) const override {
    return {{"", [](const StatisticRows& rows) {
               return rows.complete(make_hierarchy(*rows.planned().hierarchy));
             }}};
  }
  bool is_integer(const StatisticSpecification&) const override { return true; }
  bool is_one_number() const override { return !has_key("quantiles"); }
  bool has_unit_of_column() const override { return true; }
  // Counts that are clamped to what they can be are off to one side, and sums of many of them far. Precision mode needs
  // bounds: there they are so wide that they practically never bind.
  RangeChoice range(const Declaration& data, const StatisticSpecification& statistic) const override {
    if (statistic.noise != NoiseKind::notes) return RangeChoice::none();
    const Rational rows = to_rational(data.size.value());
    return RangeChoice::fixed(Rational(-rows), Rational(2 * rows));
  }
  void prepare(const Declaration& data, PlannedStatistic& planned) const override {
    const StatisticSpecification& statistic = planned.specification;
    std::vector<Dyadic> edges =
        cell_values(statistic.edges, statistic.type.value_or(AtomType::real), "edges");
    const std::size_t branching = best_branching(edges.size() - 1, data.size.has_value());
    HierarchyLayout layout(std::move(edges), branching);
    // Where nulls are imputed, by default in the middle.
    planned.bounds = {Bounds(layout.edges().front(), layout.edges().back())};
    planned.hierarchy = data.size ? layout.with_public_total(*data.size) : std::move(layout);
  }
  std::optional<double> accuracy_of_noise(const PlannedStatistic& planned,
                                          const Noise& noise) const override {
    double largest = 0;
    for (const Rational& q : planned.specification.quantiles) {
      largest = std::max(largest, quantile_rank_error(*planned.hierarchy, noise, q, share_of_alpha(planned)));
    }
    return largest;
  }
  // Below 1 it is a share of the rows.
  Rational accuracy_asked(const Declaration& data, const StatisticSpecification& statistic) const override {
    const Rational& asked = *statistic.accuracy;
    if (asked >= 1) {
      if (!data.size || asked < to_rational(*data.size)) return asked;
      refuse("accuracy",
             " = " + to_string(asked) + ": is not below the number of rows; any guess is that accurate");
    }
    const std::optional<std::uint64_t> rows = data.size ? data.size : data.expected_size;
    if (rows && !statistic.group_by) return Rational(asked * to_rational(*rows));
    refuse("accuracy",
           " = " + to_string(asked) + ": below 1 it is a share of the rows, whose number is not public" +
               (statistic.group_by ? " of a group; give a number of rows, at least 1, or epsilon"
                                   : "; give a number of rows, at least 1, or expected_size under [data]"));
  }
  void conclude(PlannedStatistic& planned) const override {
    const Noise& noise = planned.measurements.front().measurement.mechanism().noise();
    planned.rank_error = accuracy_of_noise(planned, noise).value();
    for (const Rational& q : planned.specification.quantiles)
      planned.quantile_margins.push_back(
          quantile_margin(*planned.hierarchy, noise, q, share_of_alpha(planned)));
    planned.accuracy.reset();  // in rows, at the edges: rank_error; in values: told with the release
  }
  void add_values(ShownEntry& entry, const PlannedStatistic& planned, const ShownValues& values,
                  std::size_t group) const override {
    if (!values.any()) return;
    const std::vector<Rational> counts = leaf_counts(planned, values, group);
    entry.quantiles.reserve(planned.specification.quantiles.size());
    for (std::size_t i = 0; i < planned.specification.quantiles.size(); ++i) {
      const Rational& q = planned.specification.quantiles[i];
      ShownQuantile quantile{has_key("quantiles") ? to_string(q) : "", longest_double, longest_double,
                             longest_double};
      if (values.released() != nullptr) {
        const QuantileInterval interval =
            quantile_interval(*planned.hierarchy, counts, q, planned.quantile_margins[i]);
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
  static const QuantilesKind kind(StatisticKind::median, "median",
                                  {"column", "type", "edges", "bounds", "resolution"});
  return kind;
}

const Kind& quantiles_kind() {
  static const QuantilesKind kind(StatisticKind::quantiles, "quantiles",
                                  {"column", "type", "edges", "bounds", "resolution", "quantiles"});
  return kind;
}

}  // namespace snapdp::release_internal
