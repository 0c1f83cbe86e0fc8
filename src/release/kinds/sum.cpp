// The sum of a column.
#include "release/kinds/kind.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::release_internal {
namespace {

class SumKind final : public Kind {
 public:
  SumKind() : Kind(StatisticKind::sum, "sum", {"column", "type", "bounds"}) {}

  std::vector<KindPart> parts(Neighbors, std::size_t) const override {
    return {{"", of_clamped_rows(make_sum())}};
  }
  bool is_integer(const StatisticSpecification& statistic) const override {
    return statistic.type == AtomType::integer;
  }
  bool has_unit_of_column() const override { return true; }
  NumberRange public_range(const std::vector<DecimalBounds>& bounds, std::optional<std::uint64_t> size,
                           int) const override {
    const auto& [lower, upper] = bounds.front();
    NumberRange range;
    if (size) {
      const Rational rows(Integer(static_cast<unsigned long>(*size)));
      return {Rational(rows * lower), Rational(rows * upper)};
    }
    if (lower >= 0) range.lower = 0;
    if (upper <= 0) range.upper = 0;
    return range;
  }
  // Of a private number of rows only zeros have a constant sum.
  bool is_constant(Neighbors neighbors, const StatisticSpecification& statistic) const override {
    return Kind::is_constant(neighbors, statistic) &&
           (neighbors == Neighbors::change_one || statistic.bounds.front().lower == 0);
  }
  Dyadic constant(const Declaration& data, const PlannedStatistic& planned) const override {
    if (!data.size) return Dyadic(0);
    return Dyadic(Integer(static_cast<unsigned long>(*data.size)), 0) * planned.bounds.front().lower();
  }
};

}  // namespace

const Kind& sum_kind() {
  static const SumKind kind;
  return kind;
}

}  // namespace snapdp::release_internal
