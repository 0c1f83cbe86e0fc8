// How many values of a public set occur.
#include "release/kinds/bins.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::release_internal {
namespace {

class DistinctKind final : public Kind {
 public:
  DistinctKind() : Kind(StatisticKind::distinct, "distinct", {"column", "type", "categories"}) {}

  std::string instead_of(const std::string& key) const override {
    return key == "bounds" ? "categories" : "";
  }
  void read_values(const StatisticText& text, StatisticSpecification& statistic) const override {
    read_bins(text,
              "is missing; declare the public set of values that are looked for, categories = [1, 2, 3], "
              "here or under [columns.NAME]",
              statistic);
  }
  std::vector<KindPart> parts(Neighbors, std::size_t) const override {
    return {{"", [](const StatisticRows& rows) {
               return make_distinct_count(bins_of(rows.planned().specification));
             }}};
  }
  bool is_integer(const StatisticSpecification&) const override { return true; }
  bool is_count() const override { return true; }
  // Its upper end is the number of values that are looked for, which a report has as the mechanism's range.
  NumberRange public_range(const std::vector<DecimalBounds>&, std::optional<std::uint64_t>,
                           int) const override {
    return range_of_count(std::nullopt);
  }
};

}  // namespace

const Kind& distinct_kind() {
  static const DistinctKind kind;
  return kind;
}

}  // namespace snapdp::release_internal
