// The mean of a column; under add-remove the quotient of a centered sum and a count.
#include "release/kinds/kind.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::release_internal {
namespace {

class MeanKind final : public Kind {
 public:
  MeanKind() : Kind(StatisticKind::mean, "mean", {"column", "type", "bounds", "split", "expected_mean"}) {}

  std::vector<KindPart> parts(Neighbors neighbors, std::size_t) const override {
    if (neighbors == Neighbors::change_one) return {{"", of_clamped_rows(make_mean())}};
    return {{"sum", of_clamped_rows(make_centered_sum()), {0}}, {"count", of_complete_rows(make_count())}};
  }
  bool has_unit_of_column() const override { return true; }
  NumberRange public_range(const std::vector<DecimalBounds>& bounds, std::optional<std::uint64_t>,
                           int) const override {
    return {bounds.front().lower, bounds.front().upper};
  }
  Dyadic constant(const Declaration&, const PlannedStatistic& planned) const override {
    return planned.bounds.front().lower();
  }
  Composed compose(const ReleasedParts& parts, const std::vector<Bounds>& bounds) const override {
    const ReleasedPart& count = parts.at("count");
    const ReleasedPart& sum = parts.at("sum");
    return {mean_from_parts(bounds[0], count.value, sum.value), mean_accuracy(bounds[0], count, sum)};
  }
  double joint_accuracy(const NoisyParts& parts, const std::vector<Bounds>& bounds,
                        const FailureRate& alpha) const override {
    return mean_accuracy(bounds[0], parts.at("count"), parts.at("sum"), alpha);
  }
  std::optional<double> planned_accuracy(const PartAccuracies& parts, const std::vector<Bounds>& bounds,
                                         std::uint64_t size) const override {
    return planned_mean_accuracy(bounds[0], size, parts.at("count"), parts.at("sum"));
  }
  std::optional<double> planned_joint_accuracy(const NoisyParts& parts, const std::vector<Bounds>& bounds,
                                               std::uint64_t size, const FailureRate& alpha) const override {
    return planned_mean_accuracy(bounds[0], size, parts.at("count"), parts.at("sum"), alpha);
  }
};

}  // namespace

const Kind& mean_kind() {
  static const MeanKind kind;
  return kind;
}

}  // namespace snapdp::release_internal
