#include "release/composed.h"

#include <limits>
#include <stdexcept>

#include "snapdp/statistics/from_parts.h"

namespace snapdp::release_internal {
namespace {

// Where the part of this name is among the measurements.
std::optional<std::size_t> find_part(const PlannedStatistic& planned, const std::string& name) {
  for (std::size_t i = 0; i < planned.measurements.size(); ++i) {
    if (planned.measurements[i].part == name) return i;
  }
  return std::nullopt;
}

std::size_t index_of_part(const PlannedStatistic& planned, const std::string& name) {
  if (const std::optional<std::size_t> found = find_part(planned, name)) return *found;
  throw std::logic_error("no part has this name");
}

// The parts by name, with their accuracies.
class Parts {
 public:
  Parts(const PlannedStatistic& planned, const std::vector<Dyadic>& values, const PartAccuracy& accuracy)
      : planned_(planned), values_(values), accuracy_(accuracy) {}

  ReleasedPart operator[](const std::string& name) const {
    const std::size_t i = index_of_part(planned_, name);
    return {values_[i], accuracy_(planned_.measurements[i])};
  }
  bool has(const std::string& name) const { return find_part(planned_, name).has_value(); }

  // The variance of a column, released or computed. The names of the column's parts end in `suffix`.
  ReleasedPart variance(const std::string& suffix, const Bounds& bounds) const {
    if (has("variance" + suffix)) return (*this)["variance" + suffix];
    const ReleasedPart count = (*this)["count"];
    const ReleasedPart sum = (*this)["sum" + suffix];
    const ReleasedPart squares = (*this)["squares" + suffix];
    return {Dyadic(variance_from_parts(bounds, count.value, sum.value, squares.value)),
            variance_accuracy(bounds, count, sum, squares)};
  }

  ReleasedPart covariance(const Bounds& x, const Bounds& y) const {
    if (has("covariance")) return (*this)["covariance"];
    const ReleasedPart count = (*this)["count"];
    const ReleasedPart sum_x = (*this)["sum_x"];
    const ReleasedPart sum_y = (*this)["sum_y"];
    const ReleasedPart products = (*this)["products"];
    return {Dyadic(covariance_from_parts(x, y, count.value, sum_x.value, sum_y.value, products.value)),
            covariance_accuracy(x, y, count, sum_x, sum_y, products)};
  }

 private:
  const PlannedStatistic& planned_;
  const std::vector<Dyadic>& values_;
  const PartAccuracy& accuracy_;
};

// planned_accuracy from the accuracies of the parts by name.
std::optional<double> planned_from(const PlannedStatistic& planned, std::optional<std::uint64_t> size,
                                   const std::function<double(const std::string&)>& accuracy) {
  const Bounds& x = planned.bounds.front();
  const Bounds& y = planned.bounds.back();
  const bool has_variance = find_part(planned, "variance").has_value();
  if (planned.specification.group_by || (!size && !has_variance)) return std::nullopt;
  switch (planned.specification.kind) {
    case StatisticKind::mean:
      return planned_mean_accuracy(x, *size, accuracy("count"), accuracy("sum"));
    case StatisticKind::variance:
      return planned_variance_accuracy(x, *size, accuracy("count"), accuracy("sum"), accuracy("squares"));
    case StatisticKind::standard_deviation:
      return planned_standard_deviation_accuracy(
          x, has_variance ? accuracy("variance")
                          : planned_variance_accuracy(x, *size, accuracy("count"), accuracy("sum"),
                                                      accuracy("squares")));
    case StatisticKind::covariance:
      return planned_covariance_accuracy(x, y, *size, accuracy("count"), accuracy("sum_x"), accuracy("sum_y"),
                                         accuracy("products"));
    default:
      return std::nullopt;
  }
}

}  // namespace

Composed compose(const PlannedStatistic& planned, const std::vector<Dyadic>& values,
                 const PartAccuracy& accuracy) {
  const Parts parts(planned, values, accuracy);
  const Bounds& x = planned.bounds.front();
  const Bounds& y = planned.bounds.back();
  switch (planned.specification.kind) {
    case StatisticKind::mean: {
      const ReleasedPart sum = parts["sum"];
      const ReleasedPart count = parts["count"];
      return {mean_from_parts(x, count.value, sum.value), mean_accuracy(x, count, sum)};
    }
    case StatisticKind::variance: {
      const ReleasedPart variance = parts.variance("", x);
      return {variance.value.to_double_nearest(), variance.accuracy};
    }
    case StatisticKind::standard_deviation: {
      const ReleasedPart variance = parts.variance("", x);
      return {standard_deviation_from_variance(variance.value), standard_deviation_accuracy(variance)};
    }
    case StatisticKind::covariance: {
      const ReleasedPart covariance = parts.covariance(x, y);
      return {covariance.value.to_double_nearest(), covariance.accuracy};
    }
    case StatisticKind::correlation: {
      const ReleasedPart covariance = parts.covariance(x, y);
      const ReleasedPart variance_x = parts.variance("_x", x);
      const ReleasedPart variance_y = parts.variance("_y", y);
      return {correlation_from_parts(covariance.value, variance_x.value, variance_y.value),
              correlation_accuracy(covariance, variance_x, variance_y)};
    }
    case StatisticKind::count:
    case StatisticKind::sum:
    case StatisticKind::histogram:
    case StatisticKind::distinct:
    case StatisticKind::moment:
    case StatisticKind::median:
    case StatisticKind::quantiles:
      break;
  }
  throw std::logic_error("this kind is released itself");
}

std::optional<double> planned_accuracy(const PlannedStatistic& planned, std::optional<std::uint64_t> size,
                                       double Accuracy::*kind) {
  return planned_from(planned, size, [&](const std::string& name) {
    return planned.measurements[index_of_part(planned, name)].accuracy.*kind;
  });
}

std::optional<double> guess_accuracy(const PlannedStatistic& planned, std::optional<std::uint64_t> size) {
  return planned_from(planned, size,
                      [](const std::string&) { return std::numeric_limits<double>::infinity(); });
}

Rational part_alpha(const PlannedStatistic& planned) {
  const std::size_t parts = planned.specification.split.size();
  return planned.specification.alpha / Rational(Integer(static_cast<unsigned long>(parts)));
}

}  // namespace snapdp::release_internal
