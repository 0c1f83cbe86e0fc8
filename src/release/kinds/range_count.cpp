// The number of rows whose value lies in a closed interval: a histogram of that one bin.
#include "release/kinds/bins.h"
#include "release/kinds/cells.h"
#include "release/kinds/population.h"

namespace snapdp::release_internal {
namespace {

class RangeCountKind final : public Kind {
 public:
  RangeCountKind()
      : Kind(StatisticKind::range_count, "range_count", {"column", "type", "bounds", "nonnegative"}) {}

  std::vector<KindPart> parts(Neighbors, std::size_t) const override {
    return {{"", [](const StatisticRows& rows) {
               const Dyadic& lower = rows.planned().bounds.front().lower();
               const Dyadic& upper = rows.planned().bounds.front().upper();
               return make_histogram(lower == upper ? Bins::numbers({lower}) : Bins::edges({lower, upper}));
             }}};
  }
  bool is_integer(const StatisticSpecification&) const override { return true; }
  bool is_count() const override { return true; }
  NumberRange public_range(const std::vector<DecimalBounds>&, std::optional<std::uint64_t> size,
                           int) const override {
    return range_of_count(size);
  }
  void add_values(ShownEntry& entry, const PlannedStatistic& planned, const ShownValues& values,
                  std::size_t group) const override {
    Kind::add_values(entry, planned, values, group);
    entry.population = population_share_of(planned, values, group);
  }
  bool is_constant(Neighbors, const StatisticSpecification&) const override { return false; }
  // Its bounds tell rows apart: they are rounded as cells are, not outward.
  void prepare(const Declaration&, PlannedStatistic& planned) const override {
    const StatisticSpecification& asked = planned.specification;
    const AtomType type = asked.type.value_or(AtomType::real);
    planned.bounds = {Bounds(cell_value(asked.bounds.front().lower, type, "bounds"),
                             cell_value(asked.bounds.front().upper, type, "bounds"))};
  }
};

}  // namespace

const Kind& range_count_kind() {
  static const RangeCountKind kind;
  return kind;
}

}  // namespace snapdp::release_internal
