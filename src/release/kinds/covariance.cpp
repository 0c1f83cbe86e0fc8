// The covariance of two columns, x and y, and the correlation: the covariance over the root of the variances' product.
#include "release/kinds/kind.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::release_internal {
namespace {

// A statistic of one of the columns, which the part sees first.
KindPart of_column(std::string name, std::size_t column, const Partial<Aggregation>& statistic,
                   std::vector<std::size_t> centers) {
  const Partial<Aggregation> of_first = [statistic](const VectorDomain& rows, Metric metric) {
    return make_project(rows, metric, 1) >> statistic;
  };
  return {std::move(name), of_clamped_rows(of_first), std::move(centers), {column, 1 - column}};
}

std::vector<KindPart> parts_of_covariance() {
  return {of_column("sum_x", 0, make_centered_sum(), {0}),
          of_column("sum_y", 1, make_centered_sum(), {1}),
          {"count", of_complete_rows(make_count())},
          {"products", of_clamped_rows(make_centered_product()), {0, 1}}};
}

// Released, or computed from its parts.
ReleasedPart covariance_of(const ReleasedParts& parts, const std::vector<Bounds>& bounds) {
  if (parts.contains("covariance")) return parts.at("covariance");
  const ReleasedPart& count = parts.at("count");
  const ReleasedPart& sum_x = parts.at("sum_x");
  const ReleasedPart& sum_y = parts.at("sum_y");
  const ReleasedPart& products = parts.at("products");
  return {Dyadic(covariance_from_parts(bounds[0], bounds[1], count.value, sum_x.value, sum_y.value,
                                       products.value)),
          covariance_accuracy(bounds[0], bounds[1], count, sum_x, sum_y, products)};
}

// The same of the variance of the column whose parts have these names.
ReleasedPart variance_of(const ReleasedParts& parts, const Bounds& bounds, const std::string& variance,
                         const std::string& sum_name, const std::string& squares_name) {
  if (parts.contains(variance)) return parts.at(variance);
  const ReleasedPart& count = parts.at("count");
  const ReleasedPart& sum = parts.at(sum_name);
  const ReleasedPart& squares = parts.at(squares_name);
  return {Dyadic(variance_from_parts(bounds, count.value, sum.value, squares.value)),
          variance_accuracy(bounds, count, sum, squares)};
}

class CovarianceKind final : public Kind {
 public:
  CovarianceKind()
      : Kind(StatisticKind::covariance, "covariance",
             {"columns", "type", "bounds", "split", "expected_mean", "expected_deviation"}) {}

  std::vector<KindPart> parts(Neighbors neighbors, std::size_t) const override {
    if (neighbors == Neighbors::change_one) return {{"", of_clamped_rows(make_covariance())}};
    return parts_of_covariance();
  }
  bool is_second_moment() const override { return true; }
  bool has_sign() const override { return true; }
  NumberRange public_range(const std::vector<DecimalBounds>& bounds, std::optional<std::uint64_t> size,
                           int) const override {
    const Rational greatest = greatest_second_moment(bounds.front(), bounds.back(), size);
    return {Rational(-greatest), greatest};
  }
  Composed compose(const ReleasedParts& parts, const std::vector<Bounds>& bounds) const override {
    const ReleasedPart covariance = covariance_of(parts, bounds);
    return {covariance.value.to_double_nearest(), covariance.accuracy};
  }
  double joint_accuracy(const NoisyParts& parts, const std::vector<Bounds>& bounds,
                        const FailureRate& alpha) const override {
    return covariance_accuracy(bounds[0], bounds[1], parts.at("count"), parts.at("sum_x"), parts.at("sum_y"),
                               parts.at("products"), alpha);
  }
  std::optional<double> planned_accuracy(const PartAccuracies& parts, const std::vector<Bounds>& bounds,
                                         std::uint64_t size) const override {
    return planned_covariance_accuracy(bounds[0], bounds[1], size, parts.at("count"), parts.at("sum_x"),
                                       parts.at("sum_y"), parts.at("products"));
  }
  std::optional<double> planned_joint_accuracy(const NoisyParts& parts, const std::vector<Bounds>& bounds,
                                               std::uint64_t size, const FailureRate& alpha) const override {
    return planned_covariance_accuracy(bounds[0], bounds[1], size, parts.at("count"), parts.at("sum_x"),
                                       parts.at("sum_y"), parts.at("products"), alpha);
  }
};

class CorrelationKind final : public Kind {
 public:
  CorrelationKind()
      : Kind(StatisticKind::correlation, "correlation",
             {"columns", "type", "bounds", "split", "expected_mean", "expected_deviation"}) {}

  std::vector<KindPart> parts(Neighbors neighbors, std::size_t) const override {
    if (neighbors == Neighbors::change_one) {
      return {{"covariance", of_clamped_rows(make_covariance())},
              of_column("variance_x", 0, make_variance(), {}),
              of_column("variance_y", 1, make_variance(), {})};
    }
    std::vector<KindPart> parts = parts_of_covariance();
    parts.push_back(of_column("squares_x", 0, make_centered_moment(2), {0}));
    parts.push_back(of_column("squares_y", 1, make_centered_moment(2), {1}));
    return parts;
  }
  bool is_second_moment() const override { return true; }
  bool has_sign() const override { return true; }
  NumberRange public_range(const std::vector<DecimalBounds>&, std::optional<std::uint64_t>,
                           int) const override {
    return {Rational(-1), Rational(1)};
  }
  Composed compose(const ReleasedParts& parts, const std::vector<Bounds>& bounds) const override {
    const ReleasedPart covariance = covariance_of(parts, bounds);
    const ReleasedPart variance_x = variance_of(parts, bounds[0], "variance_x", "sum_x", "squares_x");
    const ReleasedPart variance_y = variance_of(parts, bounds[1], "variance_y", "sum_y", "squares_y");
    return {correlation_from_parts(covariance.value, variance_x.value, variance_y.value),
            correlation_accuracy(covariance, variance_x, variance_y)};
  }
  double joint_accuracy(const NoisyParts& parts, const std::vector<Bounds>& bounds,
                        const FailureRate& alpha) const override {
    if (parts.contains("covariance"))
      return correlation_accuracy(parts.at("covariance"), parts.at("variance_x"), parts.at("variance_y"),
                                  alpha);
    return correlation_accuracy(bounds[0], bounds[1],
                                {parts.at("count"), parts.at("sum_x"), parts.at("sum_y"),
                                 parts.at("products"), parts.at("squares_x"), parts.at("squares_y")},
                                alpha);
  }
  std::string no_planned_accuracy() const override {
    return "how far a correlation may be off depends on the variances, which may be next to 0; guess the "
           "deviations, "
           "expected_deviation = [10, 20], or give epsilon or weight instead";
  }
};

}  // namespace

const Kind& covariance_kind() {
  static const CovarianceKind kind;
  return kind;
}

const Kind& correlation_kind() {
  static const CorrelationKind kind;
  return kind;
}

}  // namespace snapdp::release_internal
