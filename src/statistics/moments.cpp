#include "snapdp/error.h"
#include "snapdp/statistics/statistics.h"
#include "statistics/construction.h"
#include "statistics/folds.h"

namespace snapdp {

using namespace statistics_internal;

namespace {

void require_power(int k) {
  if (k < 1 || k > 4) refuse("k", "k = " + std::to_string(k) + ": moments 1, 2, 3 and 4 exist");
}

void require_symmetric(Metric metric, const std::string& what, const std::string& instead) {
  if (preserves_size(metric)) {
    throw Error(ErrorCode::mismatch, "metric",
                what + " serves the symmetric distance, where the number of rows is private; under the " +
                    to_string(metric) + " use " + instead);
  }
}

Rational power(const Rational& base, int exponent) {
  Rational result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

// Sum of (x - c)^k, by the binomial theorem from the sums of x^j.
Rational centered(const Totals& totals, const Rational& center, int k) {
  Rational result = 0;
  long binomial = 1;  // k over j
  for (int j = 0; j <= k; ++j) {
    const Rational sum =
        j == 0 ? to_rational(totals.rows) : totals.values[static_cast<std::size_t>(j - 1)].rational();
    result += binomial * power(-center, k - j) * sum;
    binomial = binomial * (k - j) / (j + 1);
  }
  return result;
}

}  // namespace

Aggregation make_centered_moment(const VectorDomain& domain, Metric metric, int k) {
  require_power(k);
  if (k == 1) return make_centered_sum(domain, metric);
  require_dataset_metric(metric, "make_centered_moment");
  require_columns(domain, 1, "make_centered_moment");
  require_symmetric(metric, "make_centered_moment", "make_moment or make_variance");
  const AtomDomain& column = domain.columns().front();
  const Bounds& bounds = *column.bounds;
  const Rational sensitivity = power(bounds.width().rational() / 2, k);
  return scalar(domain, metric, power_sums_fold(column, k), rounding_for(sensitivity, false, bounds), false,
                std::nullopt,
                [center = bounds.middle().rational(), k](const Totals& totals) {
                  return centered(totals, center, k);
                })
      .told_as("sum of distances from the middle of the bounds to the power " + std::to_string(k));
}

Aggregation make_centered_product(const VectorDomain& domain, Metric metric) {
  require_dataset_metric(metric, "make_centered_product");
  require_columns(domain, 2, "make_centered_product");
  require_symmetric(metric, "make_centered_product", "make_covariance");
  const AtomDomain& x = domain.columns()[0];
  const AtomDomain& y = domain.columns()[1];
  const Rational sensitivity = x.bounds->width().rational() * y.bounds->width().rational() / 4;
  return scalar(domain, metric, products_fold(x, y), rounding_for(sensitivity, false, *x.bounds), false,
                std::nullopt,
                [c = x.bounds->middle().rational(), d = y.bounds->middle().rational()](const Totals& totals) {
                  const Rational sum_x = totals.values[0].rational();
                  const Rational sum_y = totals.values[1].rational();
                  const Rational sum_xy = totals.values[2].rational();
                  return Rational(sum_xy - d * sum_x - c * sum_y + to_rational(totals.rows) * c * d);
                })
      .told_as("sum of products of distances from the middles of the bounds");
}

Aggregation make_moment(const VectorDomain& domain, Metric metric, int k) {
  require_power(k);
  if (k == 1) return make_mean(domain, metric);
  require_dataset_metric(metric, "make_moment");
  require_columns(domain, 1, "make_moment");
  const std::uint64_t n = require_size(domain, metric, 1, "make_moment");
  const AtomDomain& column = domain.columns().front();
  const Bounds powers = power_range(*column.bounds, k);
  const Rational sensitivity = powers.width().rational() / to_rational(n);
  return scalar(
             domain, metric, power_sums_fold(column, k), rounding_for(sensitivity, false, powers), false,
             Bounds(outward_down(powers.lower().rational()), outward_up(powers.upper().rational())),
             [n](const Totals& totals) { return Rational(totals.values.back().rational() / to_rational(n)); })
      .told_as("mean of x^" + std::to_string(k));
}

Partial<Aggregation> make_centered_moment(int k) {
  return [k](const VectorDomain& domain, Metric metric) { return make_centered_moment(domain, metric, k); };
}
Partial<Aggregation> make_centered_product() {
  return [](const VectorDomain& domain, Metric metric) { return make_centered_product(domain, metric); };
}
Partial<Aggregation> make_moment(int k) {
  return [k](const VectorDomain& domain, Metric metric) { return make_moment(domain, metric, k); };
}

}  // namespace snapdp
