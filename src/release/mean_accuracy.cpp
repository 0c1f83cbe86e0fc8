#include "mean_accuracy.h"

#include <algorithm>
#include <cmath>

#include "snapdp/statistics/statistics.h"

namespace snapdp {
namespace {

// At most half a unit in the last place of any double in the bounds.
Rational largest_rounding(const Bounds& bounds) {
  const Dyadic largest = std::max(abs(bounds.lower()), abs(bounds.upper()));
  return (scale_by_power_of_two(largest, -53) + Dyadic(Integer(1), -1075)).rational();
}

}  // namespace

double planned_mean_accuracy(const Bounds& bounds, std::uint64_t size, double sum_accuracy,
                             double count_accuracy) {
  const Rational width = bounds.width().rational();
  if (!std::isfinite(sum_accuracy) || !std::isfinite(count_accuracy)) return to_double_up(width);
  const Rational sum_error(sum_accuracy);
  const Rational count_error(count_accuracy);
  const Rational least_count = Rational(Integer(static_cast<unsigned long>(size))) - count_error;
  if (least_count < 1) return to_double_up(width);
  const Rational error = (width / 2 * count_error + sum_error) / least_count + largest_rounding(bounds);
  return to_double_up(std::min(error, width));
}

double released_mean_accuracy(const Bounds& bounds, const Dyadic& centered_sum, const Dyadic& count,
                              double sum_accuracy, double count_accuracy) {
  const Rational lower = bounds.lower().rational();
  const Rational upper = bounds.upper().rational();
  const Rational released(mean_from_parts(bounds, centered_sum, count));
  const Rational trivial = std::max(Rational(released - lower), Rational(upper - released));
  if (count < Dyadic(1) || !std::isfinite(sum_accuracy) || !std::isfinite(count_accuracy))
    return to_double_up(trivial);
  const Rational sum_error(sum_accuracy);
  const Rational count_error(count_accuracy);
  const Rational noisy_count = count.rational();
  const Rational quotient = centered_sum.rational() / noisy_count;
  Rational error = ((upper - lower) / 2 * count_error + sum_error) / noisy_count;
  if (noisy_count > count_error) {
    error =
        std::min(error, Rational((abs(quotient) * count_error + sum_error) / (noisy_count - count_error)));
  }
  const Rational exact = std::clamp(Rational((lower + upper) / 2 + quotient), lower, upper);
  return to_double_up(std::min(Rational(error + abs(released - exact)), trivial));
}

}  // namespace snapdp
