// Accuracies of variances, covariances and correlations come from interval arithmetic on exact rationals: if every part's
// exact value lies in its interval, the exact result lies in the interval that the same formula gives, however the values
// inside hang together.
#include "snapdp/statistics/from_parts.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "numeric/shared/float_environment.h"
#include "statistics/construction.h"
#include "statistics/enclosures.h"

namespace snapdp {

using namespace numeric_internal;
using namespace statistics_internal;

namespace {

double clamped(const Rational& value, const Interval& range) {
  return to_double_nearest(std::clamp(value, range.low, range.high));
}

// What the exact number may be; nothing when the part says nothing or the two do not meet, which can only be when the
// part is worse than it claims.
std::optional<Interval> known(const ReleasedPart& part, const Interval& range) {
  if (!std::isfinite(part.accuracy)) return std::nullopt;
  const Rational value = part.value.rational();
  const Rational accuracy(part.accuracy);
  return intersection(range, {value - accuracy, value + accuracy});
}

// The exact number of rows is an integer and at least 2.
std::optional<Interval> known_count(const ReleasedPart& count) {
  if (!std::isfinite(count.accuracy)) return std::nullopt;
  const Rational accuracy(count.accuracy);
  const Integer low = ceil(Rational(count.value.rational() - accuracy));
  const Integer high = floor(Rational(count.value.rational() + accuracy));
  if (high < 2 || low > high) return std::nullopt;
  return Interval{std::max(Rational(low), Rational(2)), Rational(high)};
}

// Sums of `rows` numbers in [-size, size].
Interval sums(const Interval& rows, const Rational& size) {
  return {-rows.high * size, rows.high * size};
}

}  // namespace

double mean_from_parts(const Bounds& bounds, const Dyadic& count, const Dyadic& sum) {
  const FloatEnvironment environment;
  const Rational lower = bounds.lower().rational();
  const Rational upper = bounds.upper().rational();
  const Rational center = (lower + upper) / 2;
  if (count < Dyadic(1)) return to_double_nearest(center);
  return clamped(center + sum.rational() / count.rational(), {lower, upper});
}

double mean_accuracy(const Bounds& bounds, const ReleasedPart& count, const ReleasedPart& sum) {
  const FloatEnvironment environment;
  const Rational lower = bounds.lower().rational();
  const Rational upper = bounds.upper().rational();
  const Rational released(mean_from_parts(bounds, count.value, sum.value));
  const Rational trivial = std::max(Rational(released - lower), Rational(upper - released));
  if (count.value < Dyadic(1) || !std::isfinite(sum.accuracy) || !std::isfinite(count.accuracy))
    return to_double_up(trivial);
  const Rational s(sum.accuracy);
  const Rational k(count.accuracy);
  const Rational noisy_count = count.value.rational();
  const Rational quotient = sum.value.rational() / noisy_count;
  Rational error = ((upper - lower) / 2 * k + s) / noisy_count;
  if (noisy_count > k) error = std::min(error, Rational((abs(quotient) * k + s) / (noisy_count - k)));
  const Rational exact = std::clamp(Rational((lower + upper) / 2 + quotient), lower, upper);
  return to_double_up(std::min(Rational(error + abs(released - exact)), trivial));
}

double planned_mean_accuracy(const Bounds& bounds, std::uint64_t size, double count_accuracy,
                             double sum_accuracy) {
  const FloatEnvironment environment;
  const Rational width = bounds.width().rational();
  if (!std::isfinite(sum_accuracy) || !std::isfinite(count_accuracy)) return to_double_up(width);
  const Rational k(count_accuracy);
  const Rational least_rows = to_rational(size) - k;
  if (least_rows < 1) return to_double_up(width);
  const Rational largest = std::max(abs(bounds.lower()), abs(bounds.upper())).rational();
  const Rational error = (width / 2 * k + Rational(sum_accuracy)) / least_rows + largest_rounding(largest);
  return to_double_up(std::min(error, width));
}

double variance_from_parts(const Bounds& bounds, const Dyadic& count, const Dyadic& sum,
                           const Dyadic& squares) {
  const FloatEnvironment environment;
  const Interval range = variance_range(bounds);
  if (count < Dyadic(2)) return to_double_nearest(range.high / 2);
  const Rational n = count.rational();
  return clamped((squares.rational() - sum.rational() * sum.rational() / n) / (n - 1), range);
}

double variance_accuracy(const Bounds& bounds, const ReleasedPart& count, const ReleasedPart& sum,
                         const ReleasedPart& squares) {
  const FloatEnvironment environment;
  const Rational half = bounds.width().rational() / 2;
  std::optional<Interval> variance;
  if (const std::optional<Interval> n = known_count(count)) {
    const std::optional<Interval> s = known(sum, sums(*n, half));
    const std::optional<Interval> q = known(squares, {0, n->high * half * half});
    if (s && q) variance = (*q - square(*s) / *n) / (*n - Interval{1, 1});
  }
  return half_width(variance_from_parts(bounds, count.value, sum.value, squares.value),
                    variance_range(bounds), variance);
}

double covariance_from_parts(const Bounds& x, const Bounds& y, const Dyadic& count, const Dyadic& sum_x,
                             const Dyadic& sum_y, const Dyadic& products) {
  const FloatEnvironment environment;
  if (count < Dyadic(2)) return 0;
  const Rational n = count.rational();
  return clamped((products.rational() - sum_x.rational() * sum_y.rational() / n) / (n - 1),
                 covariance_range(x, y));
}

double covariance_accuracy(const Bounds& x, const Bounds& y, const ReleasedPart& count,
                           const ReleasedPart& sum_x, const ReleasedPart& sum_y,
                           const ReleasedPart& products) {
  const FloatEnvironment environment;
  const Rational half_x = x.width().rational() / 2;
  const Rational half_y = y.width().rational() / 2;
  std::optional<Interval> covariance;
  if (const std::optional<Interval> n = known_count(count)) {
    const std::optional<Interval> s = known(sum_x, sums(*n, half_x));
    const std::optional<Interval> t = known(sum_y, sums(*n, half_y));
    const std::optional<Interval> p = known(products, sums(*n, half_x * half_y));
    if (s && t && p) covariance = (*p - *s * *t / *n) / (*n - Interval{1, 1});
  }
  return half_width(covariance_from_parts(x, y, count.value, sum_x.value, sum_y.value, products.value),
                    covariance_range(x, y), covariance);
}

double standard_deviation_from_variance(const Dyadic& variance) {
  const FloatEnvironment environment;
  return to_double_nearest(root(variance.rational()).low);
}

double standard_deviation_accuracy(const ReleasedPart& variance) {
  const FloatEnvironment environment;
  if (!std::isfinite(variance.accuracy)) return variance.accuracy;
  const Rational value = variance.value.rational();
  const Rational accuracy(variance.accuracy);
  const Rational released(standard_deviation_from_variance(variance.value));
  const Rational above = root(value + accuracy).high - released;
  const Rational below = released - root(value - accuracy).low;
  return to_double_up(std::max({above, below, Rational(0)}));
}

double correlation_from_parts(const Dyadic& covariance, const Dyadic& variance_x, const Dyadic& variance_y) {
  const FloatEnvironment environment;
  if (variance_x.sign() <= 0 || variance_y.sign() <= 0) return 0;
  const Rational c = covariance.rational();
  const Rational size = root(c * c / (variance_x.rational() * variance_y.rational())).low;
  return clamped(covariance.sign() < 0 ? Rational(-size) : size, {-1, 1});
}

double correlation_accuracy(const ReleasedPart& covariance, const ReleasedPart& variance_x,
                            const ReleasedPart& variance_y) {
  const FloatEnvironment environment;
  const auto enclose = [&]() -> std::optional<Interval> {
    for (const ReleasedPart* part : {&covariance, &variance_x, &variance_y}) {
      if (!std::isfinite(part->accuracy)) return std::nullopt;
    }
    const auto low = [](const ReleasedPart& part) {
      return Rational(part.value.rational() - Rational(part.accuracy));
    };
    const auto high = [](const ReleasedPart& part) {
      return Rational(part.value.rational() + Rational(part.accuracy));
    };
    if (low(variance_x) <= 0 || low(variance_y) <= 0) return std::nullopt;
    const Interval product{low(variance_x) * low(variance_y), high(variance_x) * high(variance_y)};
    return Interval{low(covariance), high(covariance)} /
           Interval{root(product.low).low, root(product.high).high};
  };
  return half_width(correlation_from_parts(covariance.value, variance_x.value, variance_y.value), {-1, 1},
                    enclose());
}

namespace {

// See from_parts.h. `range` is the public one: for N' < 2 some constant in it is released.
double planned_accuracy(const Bounds& x, const Bounds& y, const Interval& range, std::uint64_t size,
                        double count_accuracy, double sum_x_accuracy, double sum_y_accuracy,
                        double products_accuracy) {
  const FloatEnvironment environment;
  const Rational width = range.high - range.low;
  for (const double accuracy : {count_accuracy, sum_x_accuracy, sum_y_accuracy, products_accuracy}) {
    if (!std::isfinite(accuracy)) return to_double_up(width);
  }
  const Rational rows = to_rational(size);
  const Rational k = std::max(Rational(count_accuracy), Rational(1));
  const Rational least_rows = rows - k;
  if (least_rows < 2) return to_double_up(width);
  const Rational s(sum_x_accuracy);
  const Rational t(sum_y_accuracy);
  const Rational half_x = x.width().rational() / 2;
  const Rational half_y = y.width().rational() / 2;
  const Rational sums = rows * (half_x * t + half_y * s + k * half_x * half_y) + s * t;
  const Rational error = (Rational(products_accuracy) + sums / least_rows) / (least_rows - 1);
  return to_double_up(std::min(Rational(error + largest_rounding(range.high)), width));
}

}  // namespace

double planned_covariance_accuracy(const Bounds& x, const Bounds& y, std::uint64_t size,
                                   double count_accuracy, double sum_x_accuracy, double sum_y_accuracy,
                                   double products_accuracy) {
  return planned_accuracy(x, y, covariance_range(x, y), size, count_accuracy, sum_x_accuracy, sum_y_accuracy,
                          products_accuracy);
}

double planned_variance_accuracy(const Bounds& bounds, std::uint64_t size, double count_accuracy,
                                 double sum_accuracy, double squares_accuracy) {
  return planned_accuracy(bounds, bounds, variance_range(bounds), size, count_accuracy, sum_accuracy,
                          sum_accuracy, squares_accuracy);
}

double planned_standard_deviation_accuracy(const Bounds& bounds, double variance_accuracy) {
  const FloatEnvironment environment;
  const Root largest = root(variance_range(bounds).high);
  if (!std::isfinite(variance_accuracy)) return to_double_up(largest.high);
  const Rational error = root(Rational(variance_accuracy)).high + (largest.high - largest.low);
  return to_double_up(std::min(Rational(error + largest_rounding(largest.high)), largest.high));
}

}  // namespace snapdp
