// What the constructors of aggregations share: checks of their arguments, and the last step of a statistic.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "snapdp/framework/aggregation.h"

namespace snapdp::statistics_internal {

// Throws invalid_argument.
[[noreturn]] void refuse(const char* parameter, const std::string& message);

// The columns of a numeric statistic: `count` of them, bounded, without null and NaN, all of one type.
void require_columns(const VectorDomain& domain, std::size_t count, const std::string& what);
// The public size, at least `least`, under a metric that preserves it.
std::uint64_t require_size(const VectorDomain& domain, Metric metric, std::uint64_t least,
                           const std::string& what);

Rational to_rational(std::uint64_t n);
// An end of a public range, rounded outward to a double; refused when it is beyond the largest.
Dyadic outward_up(const Rational& value);
Dyadic outward_down(const Rational& value);
// The least and the largest x^power of x in the bounds, power >= 1.
Bounds power_range(const Bounds& bounds, int power);

// The last step of every real statistic: the grid g (see statistics.h) and the sensitivity on it.
struct Rounding {
  Grid grid;
  Rational sensitivity;
};
// With sensitivity 0 the statistic is a public constant; it lies on the grids of `bounds`.
Rounding rounding_for(const Rational& sensitivity, bool integer, const Bounds& bounds);

// A scalar statistic whose sensitivity is proved for distance 1 and scales with the distance.
Aggregation scalar(const VectorDomain& domain, Metric metric, std::shared_ptr<const Fold> fold,
                   const Rounding& rounding, bool integer, std::optional<Bounds> range,
                   std::function<Rational(const Totals&)> exact);

}  // namespace snapdp::statistics_internal
