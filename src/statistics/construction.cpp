#include "statistics/construction.h"

#include <algorithm>
#include <cmath>

#include "snapdp/error.h"
#include "snapdp/statistics/rounding.h"

namespace snapdp::statistics_internal {
namespace {

// An end of a public range, rounded outward to a double.
Dyadic range_end(double end) {
  if (!std::isfinite(end)) {
    refuse("bounds",
           "bounds: the public range of the statistic is wider than doubles reach (about 1.8e308); use "
           "narrower bounds");
  }
  return Dyadic(end);
}

}  // namespace

void refuse(const char* parameter, const std::string& message) {
  throw Error(ErrorCode::invalid_argument, parameter, message);
}

void require_columns(const VectorDomain& domain, std::size_t count, const std::string& what) {
  if (domain.columns().size() != count) {
    refuse("domain", what + " takes " + std::to_string(count) + " column" + (count == 1 ? "" : "s") +
                         ", not " + describe(Domain(domain)));
  }
  for (const AtomDomain& column : domain.columns()) {
    if (column.type == AtomType::text)
      refuse("domain", what + " takes numbers, not text; use make_parse first");
    if (column.nullable || column.nan) {
      refuse("domain",
             what + ": the column holds " + describe(column) + "; use make_impute or make_drop first");
    }
    if (!column.bounds) refuse("domain", what + ": the column has no bounds; use make_clamp first");
    if (column.type != domain.columns().front().type) {
      refuse("domain", what + ": both columns must have the same type");
    }
  }
}

std::uint64_t require_size(const VectorDomain& domain, Metric metric, std::uint64_t least,
                           const std::string& what) {
  if (!preserves_size(metric)) {
    throw Error(ErrorCode::mismatch, "metric",
                what + " divides by the number of rows, which the " + to_string(metric) +
                    " does not make public; use change_one(), or release sums and a count and divide these");
  }
  if (!domain.size()) refuse("size", what + " needs the public number of rows; use of_size(n)");
  if (*domain.size() < least) {
    refuse("size", "size = " + std::to_string(*domain.size()) + ": " + what + " needs at least " +
                       std::to_string(least) + " rows");
  }
  return *domain.size();
}

Rational to_rational(std::uint64_t n) {
  return Rational(Integer(static_cast<unsigned long>(n)));
}

Dyadic outward_up(const Rational& value) {
  return range_end(to_double_up(value));
}
Dyadic outward_down(const Rational& value) {
  return range_end(to_double_down(value));
}

Bounds power_range(const Bounds& bounds, int power) {
  Dyadic lower = bounds.lower();
  Dyadic upper = bounds.upper();
  for (int i = 1; i < power; ++i) {
    lower = lower * bounds.lower();
    upper = upper * bounds.upper();
  }
  if (power % 2 != 0) return {lower, upper};
  const auto [low, high] = std::minmax(lower, upper);
  const bool zero_inside = bounds.lower().sign() < 0 && bounds.upper().sign() > 0;
  return {zero_inside ? Dyadic(0) : low, high};
}

Rounding rounding_for(const Rational& sensitivity, bool integer, const Bounds& bounds) {
  if (integer) return {Grid(0), sensitivity};
  if (sensitivity == 0) {
    // A public constant, an integer multiple of the bounds or zero: on their grid it is exact.
    return {Grid(std::min({0L, bounds.lower().exponent(), bounds.upper().exponent()}) - 1), 0};
  }
  const Grid grid = statistic_grid(sensitivity);
  return {grid, rounded_sensitivity(sensitivity, grid)};
}

Aggregation scalar(const VectorDomain& domain, Metric metric, std::shared_ptr<const Fold> fold,
                   const Rounding& rounding, bool integer, std::optional<Bounds> range,
                   std::function<Rational(const Totals&)> exact) {
  return {{domain, StatisticDomain{1, rounding.grid, integer, std::move(range)}, metric,
           Metric::absolute_distance, Relation::stable(rounding.sensitivity)},
          std::move(fold),
          [exact = std::move(exact), grid = rounding.grid](const Totals& totals) {
            return std::vector<Dyadic>{grid.round(exact(totals))};
          }};
}

}  // namespace snapdp::statistics_internal
