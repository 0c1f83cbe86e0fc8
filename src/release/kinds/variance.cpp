// The variance of a column and its square root, the standard deviation.
#include <cmath>

#include "release/kinds/kind.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::release_internal {
namespace {

std::vector<KindPart> parts_of_variance() {
  return {{"sum", of_clamped_rows(make_centered_sum()), {0}},
          {"count", of_complete_rows(make_count())},
          {"squares", of_clamped_rows(make_centered_moment(2)), {0}}};
}

// Released, or computed from its parts.
ReleasedPart variance_of(const ReleasedParts& parts, const Bounds& bounds) {
  if (parts.contains("variance")) return parts.at("variance");
  const ReleasedPart& count = parts.at("count");
  const ReleasedPart& sum = parts.at("sum");
  const ReleasedPart& squares = parts.at("squares");
  return {Dyadic(variance_from_parts(bounds, count.value, sum.value, squares.value)),
          variance_accuracy(bounds, count, sum, squares)};
}

double planned_variance(const PartAccuracies& parts, const Bounds& bounds, std::uint64_t size) {
  if (parts.contains("variance")) return parts.at("variance");
  return planned_variance_accuracy(bounds, size, parts.at("count"), parts.at("sum"), parts.at("squares"));
}

// From 0 to what greatest_second_moment() says.
NumberRange range_of_variance(const std::vector<DecimalBounds>& bounds, std::optional<std::uint64_t> size) {
  return {Rational(0), greatest_second_moment(bounds.front(), bounds.front(), size)};
}

double planned_variance(const NoisyParts& parts, const Bounds& bounds, std::uint64_t size,
                        const FailureRate& alpha) {
  if (!parts.contains("variance"))
    return planned_variance_accuracy(bounds, size, parts.at("count"), parts.at("sum"), parts.at("squares"),
                                     alpha);
  const NoisyPart& variance = parts.at("variance");
  return accuracy_of({variance.noise, alpha, variance.rounding_error}).tight;
}

class VarianceKind final : public Kind {
 public:
  VarianceKind()
      : Kind(StatisticKind::variance, "variance",
             {"column", "type", "bounds", "split", "expected_mean", "expected_deviation"}) {}

  std::vector<KindPart> parts(Neighbors neighbors, std::size_t) const override {
    if (neighbors == Neighbors::change_one) return {{"", of_clamped_rows(make_variance())}};
    return parts_of_variance();
  }
  bool is_second_moment() const override { return true; }
  NumberRange public_range(const std::vector<DecimalBounds>& bounds, std::optional<std::uint64_t> size,
                           int) const override {
    return range_of_variance(bounds, size);
  }
  Composed compose(const ReleasedParts& parts, const std::vector<Bounds>& bounds) const override {
    const ReleasedPart variance = variance_of(parts, bounds[0]);
    return {variance.value.to_double_nearest(), variance.accuracy};
  }
  double joint_accuracy(const NoisyParts& parts, const std::vector<Bounds>& bounds,
                        const FailureRate& alpha) const override {
    return variance_accuracy(bounds[0], parts.at("count"), parts.at("sum"), parts.at("squares"), alpha);
  }
  std::optional<double> planned_accuracy(const PartAccuracies& parts, const std::vector<Bounds>& bounds,
                                         std::uint64_t size) const override {
    return planned_variance(parts, bounds[0], size);
  }
  std::optional<double> planned_joint_accuracy(const NoisyParts& parts, const std::vector<Bounds>& bounds,
                                               std::uint64_t size, const FailureRate& alpha) const override {
    return planned_variance(parts, bounds[0], size, alpha);
  }
};

class StandardDeviationKind final : public Kind {
 public:
  StandardDeviationKind()
      : Kind(StatisticKind::standard_deviation, "standard_deviation",
             {"column", "type", "bounds", "split", "expected_mean", "expected_deviation"}) {}

  std::vector<KindPart> parts(Neighbors neighbors, std::size_t) const override {
    if (neighbors == Neighbors::change_one) return {{"variance", of_clamped_rows(make_variance())}};
    return parts_of_variance();
  }
  bool is_second_moment() const override { return true; }
  bool has_unit_of_column() const override { return true; }
  NumberRange public_range(const std::vector<DecimalBounds>& bounds, std::optional<std::uint64_t> size,
                           int) const override {
    const NumberRange variance = range_of_variance(bounds, size);
    const double upper = std::sqrt(to_double_nearest(*variance.upper));
    if (!std::isfinite(upper)) return {Rational(0), {}};
    return {Rational(0), Rational(upper)};
  }
  Composed compose(const ReleasedParts& parts, const std::vector<Bounds>& bounds) const override {
    const ReleasedPart variance = variance_of(parts, bounds[0]);
    return {standard_deviation_from_variance(variance.value), standard_deviation_accuracy(variance)};
  }
  double joint_accuracy(const NoisyParts& parts, const std::vector<Bounds>& bounds,
                        const FailureRate& alpha) const override {
    if (parts.contains("variance")) {
      const NoisyPart& variance = parts.at("variance");
      const double accuracy = accuracy_of({variance.noise, alpha, variance.rounding_error}).tight;
      return standard_deviation_accuracy({variance.value, accuracy});
    }
    return standard_deviation_accuracy(bounds[0], parts.at("count"), parts.at("sum"), parts.at("squares"),
                                       alpha);
  }
  std::optional<double> planned_accuracy(const PartAccuracies& parts, const std::vector<Bounds>& bounds,
                                         std::uint64_t size) const override {
    return planned_standard_deviation_accuracy(bounds[0], planned_variance(parts, bounds[0], size));
  }
  std::optional<double> planned_joint_accuracy(const NoisyParts& parts, const std::vector<Bounds>& bounds,
                                               std::uint64_t size, const FailureRate& alpha) const override {
    return planned_standard_deviation_accuracy(bounds[0], planned_variance(parts, bounds[0], size, alpha));
  }
};

}  // namespace

const Kind& variance_kind() {
  static const VarianceKind kind;
  return kind;
}

const Kind& standard_deviation_kind() {
  static const StandardDeviationKind kind;
  return kind;
}

}  // namespace snapdp::release_internal
