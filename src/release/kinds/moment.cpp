// The mean of x^k.
#include <algorithm>

#include "release/kinds/kind.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::release_internal {
namespace {

class MomentKind final : public Kind {
 public:
  MomentKind() : Kind(StatisticKind::moment, "moment", {"column", "type", "bounds", "order"}) {}

  void read_more(const StatisticText& text, StatisticSpecification& statistic) const override {
    if (text.data.neighbors == Neighbors::add_remove) {
      text.table.refuse("kind",
                        "is not available under add-remove, where the number of rows is private; release "
                        "variances, or use neighbors = \"change-one\" with size");
    }
    if (!text.table.has("order"))
      text.table.refuse_missing("order", "is missing; the moment of order k is the mean of x^k");
    constexpr std::uint64_t highest = 4;
    const std::uint64_t order = text.table.get_count("order");
    if (order > highest) text.table.refuse("order", "must be 1, 2, 3 or 4");
    statistic.order = static_cast<int>(order);
  }
  std::vector<KindPart> parts(Neighbors, std::size_t) const override {
    return {{"", [](const StatisticRows& rows) {
               return rows.clamped(make_moment(rows.planned().specification.order));
             }}};
  }
  NumberRange public_range(const std::vector<DecimalBounds>& bounds, std::optional<std::uint64_t>,
                           int order) const override {
    const auto& [lower, upper] = bounds.front();
    Rational first = 1;
    Rational last = 1;
    for (int i = 0; i < order; ++i) {
      first *= lower;
      last *= upper;
    }
    const bool turns = order % 2 == 0 && lower < 0 && upper > 0;
    return {turns ? Rational(0) : std::min(first, last), std::max(first, last)};
  }
  Dyadic constant(const Declaration&, const PlannedStatistic& planned) const override {
    Dyadic power(1);
    for (int i = 0; i < planned.specification.order; ++i) power = power * planned.bounds.front().lower();
    return power;
  }
};

}  // namespace

const Kind& moment_kind() {
  static const MomentKind kind;
  return kind;
}

}  // namespace snapdp::release_internal
