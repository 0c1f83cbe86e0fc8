// The number of rows; a public constant under change-one.
#include "release/kinds/kind.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::release_internal {
namespace {

class CountKind final : public Kind {
 public:
  CountKind() : Kind(StatisticKind::count, "count", {"nonnegative"}) {}

  std::vector<KindPart> parts(Neighbors, std::size_t) const override {
    return {{"", [](const StatisticRows&) { return make_count(); }}};
  }
  bool is_integer(const StatisticSpecification&) const override { return true; }
  bool is_count() const override { return true; }
  NumberRange public_range(const std::vector<DecimalBounds>&, std::optional<std::uint64_t> size,
                           int) const override {
    return range_of_count(size);
  }
  bool is_constant(Neighbors neighbors, const StatisticSpecification&) const override {
    return neighbors == Neighbors::change_one;
  }
  Dyadic constant(const Declaration& data, const PlannedStatistic&) const override {
    return Dyadic(Integer(static_cast<unsigned long>(*data.size)), 0);
  }
};

}  // namespace

const Kind& count_kind() {
  static const CountKind kind;
  return kind;
}

}  // namespace snapdp::release_internal
