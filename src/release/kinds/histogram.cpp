// The number of rows in each public bin.
#include "release/kinds/bins.h"
#include "release/kinds/population.h"

namespace snapdp::release_internal {
namespace {

class HistogramKind final : public Kind {
 public:
  HistogramKind()
      : Kind(StatisticKind::histogram, "histogram",
             {"column", "type", "categories", "edges", "other", "nonnegative"}) {}

  std::string instead_of(const std::string& key) const override {
    return key == "bounds" ? "categories or edges" : "";
  }
  void read_values(const StatisticText& text, StatisticSpecification& statistic) const override {
    read_bins(text,
              "or edges are missing; declare the public bins, categories = [1, 2, 3] or edges = [0, 20, 40], "
              "or categories under [columns.NAME]",
              statistic);
  }
  std::vector<KindPart> parts(Neighbors, std::size_t) const override {
    return {{"", [](const StatisticRows& rows) {
               return make_histogram(bins_of(rows.planned().specification));
             }}};
  }
  bool is_integer(const StatisticSpecification&) const override { return true; }
  bool is_one_number() const override { return false; }
  bool is_count() const override { return true; }
  NumberRange public_range(const std::vector<DecimalBounds>&, std::optional<std::uint64_t> size,
                           int) const override {
    return range_of_count(size);
  }
  void prepare(const Declaration&, PlannedStatistic& planned) const override {
    planned.bins = bins_of(planned.specification).labels();
  }
  void conclude(PlannedStatistic& planned) const override { planned.share_errors = share_errors(planned); }
  void add_values(ShownEntry& entry, const PlannedStatistic& planned, const ShownValues& values,
                  std::size_t group) const override {
    const std::size_t first = group * planned.bins.size();
    const std::vector<ShownInterval> shares = population_shares_of(planned, values, group);
    entry.bins.reserve(planned.bins.size());
    for (const std::string& label : planned.bins) {
      const std::size_t place = entry.bins.size();
      ShownBin& bin = entry.bins.emplace_back(
          ShownBin{label, {}, {}, population_share_of(planned, values, first + place)});
      if (!shares.empty()) bin.population = shares[place];
      if (values.any()) bin.value = released_number(planned, values, first + place);
    }
  }
};

}  // namespace

const Kind& histogram_kind() {
  static const HistogramKind kind;
  return kind;
}

}  // namespace snapdp::release_internal
