// See proofs/noisy_parts.md. Every bound has the same shape: for the exact statistics some sum of noisy parts is 0 but
// for the noises, whose weights depend on the exact statistics. So these lie where that sum is within what the law of
// its noises allows; what else the weights depend on (means, deviations) is enclosed first, at a small share of alpha.
#include "snapdp/statistics/noisy_parts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "mechanism/shared/noise_sums.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/statistics/from_parts.h"
#include "statistics/construction.h"
#include "statistics/enclosures.h"
#include "statistics/noisy_terms.h"

namespace snapdp {

using namespace mechanism_internal;
using namespace numeric_internal;
using namespace statistics_internal;

namespace {

// Sums of products about the exact means, from parts about the middles: for the exact m and l the products less l
// sum_x, m sum_y and so on are, without noise, the co-moment K = sum (x - mean)(y - mean). With the estimates of m and
// l in their places they are `about_estimates`, which for other m and l is off by N' (m - m')(l - l').
struct Moment {
  Rational about_estimates;
  Rational moved;  // what enclosures of m and l allow that to be, in magnitude
};

Moment moment_of(const NoisyPart& count, const NoisyPart& products, const EnclosedMean& x,
                 const EnclosedMean& y) {
  const Rational n = count.value.rational();
  return {products.value.rational() - n * x.estimate * y.estimate, n * x.error * y.error};
}

// For a square that is off upwards only.
Interval enclosing(const Moment& moment, bool is_square) {
  return {moment.about_estimates - (is_square ? Rational(0) : moment.moved),
          moment.about_estimates + moment.moved};
}

// Variances and covariances: what K = C (N - 1) allows C to be.
std::optional<Interval> covariance_of(const Interval& range, const NoisyPart& count, const Interval& moment,
                                      std::vector<WeightedPart> noises, const Interval& product_of_means,
                                      const Rational& alpha) {
  const Interval rows = exactly(count.value.rational() - 1);
  if (rows.low < 1) return std::nullopt;
  Interval covariance = range;
  noises.push_back({&count, {}});
  for (int i = 0; i < enclosing_rounds; ++i) {
    noises.back().weight = product_of_means - covariance;
    const std::optional<Rational> error = error_of(noises, alpha);
    if (!error) return std::nullopt;
    const std::optional<Interval> next = intersection(range, (moment + around(0, *error)) / rows);
    if (!next) return std::nullopt;
    covariance = *next;
  }
  return covariance;
}

std::optional<Interval> variance_of(const Bounds& bounds, const NoisyPart& count, const NoisyPart& sum,
                                    const NoisyPart& squares, const Rational& alpha) {
  if (!released_freely(squares)) return std::nullopt;
  const std::optional<EnclosedMean> mean = mean_of(bounds, count, sum, Rational(alpha * enclosing_share));
  if (!mean) return std::nullopt;
  const Interval& m = mean->enclosure;
  return covariance_of(
      variance_range(bounds), count, enclosing(moment_of(count, squares, *mean, *mean), true),
      {{&squares, exactly(1)}, {&sum, exactly(2) * m}}, square(m), Rational(alpha * (1 - enclosing_share)));
}

// How far covariances may be off for any data of `size` rows. The weights are the largest that such data have: |m| <=
// h_x, |l| <= h_y and |m l - C| <= h_x h_y N / (N - 1), see planned_covariance_accuracy() in from_parts.h.
std::optional<Rational> planned_error(const Bounds& x, const Bounds& y, const Rational& rows,
                                      const NoisyPart& count, const NoisyPart& products,
                                      const std::vector<WeightedPart>& sums, const Rational& alpha) {
  const Rational each = alpha * enclosing_share / 3;
  const Rational half_x = x.width().rational() / 2;
  const Rational half_y = y.width().rational() / 2;
  const std::optional<Rational> missing = error_of({{&count, exactly(1)}}, each);
  const std::optional<Rational> of_m =
      error_of({{sums.front().part, exactly(1)}, {&count, exactly(half_x)}}, each);
  const std::optional<Rational> of_l =
      error_of({{sums.back().part, exactly(1)}, {&count, exactly(half_y)}}, each);
  if (!missing || !of_m || !of_l || rows - *missing < 2) return std::nullopt;
  std::vector<WeightedPart> noises = sums;
  noises.push_back({&products, exactly(1)});
  noises.push_back({&count, exactly(half_x * half_y * rows / (rows - 1))});
  const std::optional<Rational> error = error_of(noises, Rational(alpha * (1 - enclosing_share)));
  if (!error) return std::nullopt;
  const Rational least_rows = rows - *missing;
  return Rational((*error + *of_m * *of_l / least_rows) / (least_rows - 1));
}

double planned(const Interval& range, const std::optional<Rational>& error) {
  const Rational width = range.high - range.low;
  if (!error) return to_double_up(width);
  return to_double_up(std::min(Rational(*error + largest_rounding(magnitude(range))), width));
}

// K of one column, above 0; nothing when it might be 0.
std::optional<Interval> positive_moment_of(const NoisyPart& count, const NoisyPart& sum,
                                           const NoisyPart& squares, const EnclosedMean& mean,
                                           const Rational& alpha) {
  const Interval& m = mean.enclosure;
  const std::optional<Rational> error =
      error_of({{&squares, exactly(1)}, {&sum, exactly(2) * m}, {&count, square(m)}}, alpha);
  if (!error) return std::nullopt;
  const Interval moment = enclosing(moment_of(count, squares, mean, mean), true) + around(0, *error);
  if (moment.low <= 0) return std::nullopt;
  return moment;
}

Interval root(const Interval& a) {
  return {statistics_internal::root(a.low).low, statistics_internal::root(a.high).high};
}

// Where the correlation may be, when xy - correlation (k xx + yy / k) / 2 is off by at most what `error_for` says of
// correlations in an interval. xx and yy are above 0.
template <typename ErrorFor>
std::optional<Interval> correlation_of(const Interval& xy, const Interval& xx, const Interval& yy,
                                       const Interval& ratio, const ErrorFor& error_for) {
  // k xx + yy / k is convex in k, and at least 2 sqrt(xx yy).
  const auto both = [&](const Rational& k) { return Rational((k * xx.high + yy.high / k) / 2); };
  const Interval size{statistics_internal::root(xx.low * yy.low).low,
                      std::max(both(ratio.low), both(ratio.high))};
  if (size.low <= 0) return std::nullopt;
  const Interval range{-1, 1};
  Interval correlation = range;
  for (int i = 0; i < enclosing_rounds; ++i) {
    const std::optional<Rational> error = error_for(correlation);
    if (!error) return std::nullopt;
    const std::optional<Interval> next = intersection(range, (xy + around(0, *error)) / size);
    if (!next) return std::nullopt;
    correlation = *next;
  }
  return correlation;
}

// Rounded outward, to keep fractions short, as far as doubles reach.
Interval rounded(const Interval& a) {
  const double low = to_double_down(a.low);
  const double high = to_double_up(a.high);
  return {std::isfinite(low) ? Rational(low) : a.low, std::isfinite(high) ? Rational(high) : a.high};
}

std::optional<Interval> correlation_from(const Bounds& x, const Bounds& y, const CorrelationParts& p,
                                         const Rational& alpha) {
  if (!released_freely({&p.products, &p.squares_x, &p.squares_y})) return std::nullopt;
  const Rational each = alpha * enclosing_share / 4;
  const std::optional<EnclosedMean> mean_x = mean_of(x, p.count, p.sum_x, each);
  const std::optional<EnclosedMean> mean_y = mean_of(y, p.count, p.sum_y, each);
  if (!mean_x || !mean_y) return std::nullopt;
  const std::optional<Interval> moment_x = positive_moment_of(p.count, p.sum_x, p.squares_x, *mean_x, each);
  const std::optional<Interval> moment_y = positive_moment_of(p.count, p.sum_y, p.squares_y, *mean_y, each);
  if (!moment_x || !moment_y) return std::nullopt;
  const Interval ratio = rounded(root(*moment_y / *moment_x));
  const Interval xx = enclosing(moment_of(p.count, p.squares_x, *mean_x, *mean_x), true);
  const Interval yy = enclosing(moment_of(p.count, p.squares_y, *mean_y, *mean_y), true);
  if (ratio.low <= 0 || xx.low <= 0 || yy.low <= 0) return std::nullopt;
  const Interval m = rounded(mean_x->enclosure);
  const Interval l = rounded(mean_y->enclosure);
  const auto error_for = [&](const Interval& correlation) {
    const Interval of_x = correlation * ratio;
    const Interval of_y = correlation / ratio;
    const Interval half = exactly(Rational(1, 2));
    return error_of({{&p.products, exactly(1)},
                     {&p.sum_x, of_x * m - l},
                     {&p.sum_y, of_y * l - m},
                     {&p.count, m * l - half * (of_x * square(m) + of_y * square(l))},
                     {&p.squares_x, half * of_x},
                     {&p.squares_y, half * of_y}},
                    Rational(alpha * (1 - enclosing_share)));
  };
  return correlation_of(enclosing(moment_of(p.count, p.products, *mean_x, *mean_y), false), xx, yy, ratio,
                        error_for);
}

std::optional<Interval> correlation_from(const NoisyPart& covariance, const NoisyPart& variance_x,
                                         const NoisyPart& variance_y, const Rational& alpha) {
  if (!released_freely({&covariance, &variance_x, &variance_y})) return std::nullopt;
  const auto enclosed = [&](const NoisyPart& variance) -> std::optional<Interval> {
    const std::optional<Rational> error =
        error_of({{&variance, exactly(1)}}, Rational(alpha * enclosing_share / 2));
    if (!error || variance.value.rational() <= *error) return std::nullopt;
    return around(variance.value.rational(), *error);
  };
  const std::optional<Interval> x = enclosed(variance_x);
  const std::optional<Interval> y = enclosed(variance_y);
  if (!x || !y) return std::nullopt;
  const Interval ratio = rounded(root(*y / *x));
  if (ratio.low <= 0) return std::nullopt;
  const auto error_for = [&](const Interval& correlation) {
    const Interval half = exactly(Rational(1, 2));
    return error_of({{&covariance, exactly(1)},
                     {&variance_x, half * correlation * ratio},
                     {&variance_y, half * correlation / ratio}},
                    Rational(alpha * (1 - enclosing_share)));
  };
  return correlation_of(exactly(covariance.value.rational()), exactly(variance_x.value.rational()),
                        exactly(variance_y.value.rational()), ratio, error_for);
}

}  // namespace

double mean_accuracy(const Bounds& bounds, const NoisyPart& count, const NoisyPart& sum,
                     const FailureRate& alpha) {
  const FloatEnvironment environment;
  const Rational middle = (bounds.lower() + bounds.upper()).rational() / 2;
  const std::optional<EnclosedMean> mean = mean_of(bounds, count, sum, alpha.value());
  return half_width(mean_from_parts(bounds, count.value, sum.value),
                    {bounds.lower().rational(), bounds.upper().rational()},
                    mean ? std::optional(exactly(middle) + mean->enclosure) : std::nullopt);
}

double variance_accuracy(const Bounds& bounds, const NoisyPart& count, const NoisyPart& sum,
                         const NoisyPart& squares, const FailureRate& alpha) {
  const FloatEnvironment environment;
  return half_width(variance_from_parts(bounds, count.value, sum.value, squares.value),
                    variance_range(bounds), variance_of(bounds, count, sum, squares, alpha.value()));
}

double standard_deviation_accuracy(const Bounds& bounds, const NoisyPart& count, const NoisyPart& sum,
                                   const NoisyPart& squares, const FailureRate& alpha) {
  const FloatEnvironment environment;
  const std::optional<Interval> variance = variance_of(bounds, count, sum, squares, alpha.value());
  const double released = standard_deviation_from_variance(
      Dyadic(variance_from_parts(bounds, count.value, sum.value, squares.value)));
  return half_width(released, root(variance_range(bounds)),
                    variance ? std::optional(root(*variance)) : std::nullopt);
}

double covariance_accuracy(const Bounds& x, const Bounds& y, const NoisyPart& count, const NoisyPart& sum_x,
                           const NoisyPart& sum_y, const NoisyPart& products, const FailureRate& alpha) {
  const FloatEnvironment environment;
  const auto enclose = [&]() -> std::optional<Interval> {
    if (!released_freely(products)) return std::nullopt;
    const Rational each = alpha.value() * enclosing_share / 2;
    const std::optional<EnclosedMean> mean_x = mean_of(x, count, sum_x, each);
    const std::optional<EnclosedMean> mean_y = mean_of(y, count, sum_y, each);
    if (!mean_x || !mean_y) return std::nullopt;
    const Interval& m = mean_x->enclosure;
    const Interval& l = mean_y->enclosure;
    return covariance_of(covariance_range(x, y), count,
                         enclosing(moment_of(count, products, *mean_x, *mean_y), false),
                         {{&products, exactly(1)}, {&sum_x, negative(l)}, {&sum_y, negative(m)}}, m * l,
                         Rational(alpha.value() * (1 - enclosing_share)));
  };
  return half_width(covariance_from_parts(x, y, count.value, sum_x.value, sum_y.value, products.value),
                    covariance_range(x, y), enclose());
}

double sum_accuracy(const NoisyPart& one, const OutputRange& values, std::uint64_t numbers,
                    const FailureRate& alpha) {
  const FloatEnvironment environment;
  OutputRange kept = values;
  if (one.noise.lower) kept.lower = std::max(kept.lower.value_or(*one.noise.lower), *one.noise.lower);
  if (one.noise.upper) kept.upper = std::min(kept.upper.value_or(*one.noise.upper), *one.noise.upper);
  const ErrorLaw law(one.noise, kept, one.integer);
  const auto times = static_cast<double>(numbers);
  const double error = error_of_sums(law, times, {{{1, times}}}, to_double_down(Rational(alpha.value() / 2)),
                                     [](const std::vector<double>& tails) { return tails.front(); });
  if (!std::isfinite(error)) return error;
  const bool integers = one.integer && one.noise.kind != NoiseKind::notes && one.noise.grid.exponent() >= 0;
  if (integers) return std::floor(error);
  return to_double_up(Rational(Rational(error) + one.rounding_error * times));
}

double planned_mean_accuracy(const Bounds& bounds, std::uint64_t size, const NoisyPart& count,
                             const NoisyPart& sum, const FailureRate& alpha) {
  const FloatEnvironment environment;
  const Rational half = bounds.width().rational() / 2;
  const auto error = [&]() -> std::optional<Rational> {
    const std::optional<Rational> missing =
        error_of({{&count, exactly(1)}}, Rational(alpha.value() * enclosing_share));
    const std::optional<Rational> sums = error_of({{&sum, exactly(1)}, {&count, exactly(half)}},
                                                  Rational(alpha.value() * (1 - enclosing_share)));
    if (!missing || !sums) return std::nullopt;
    const Rational least_rows = to_rational(size) - *missing;
    if (least_rows < 1) return std::nullopt;
    return Rational(*sums / least_rows);
  };
  return planned({bounds.lower().rational(), bounds.upper().rational()}, error());
}

double planned_variance_accuracy(const Bounds& bounds, std::uint64_t size, const NoisyPart& count,
                                 const NoisyPart& sum, const NoisyPart& squares, const FailureRate& alpha) {
  const FloatEnvironment environment;
  const WeightedPart sums{&sum, exactly(bounds.width().rational())};
  return planned(variance_range(bounds),
                 planned_error(bounds, bounds, to_rational(size), count, squares, {sums}, alpha.value()));
}

double planned_covariance_accuracy(const Bounds& x, const Bounds& y, std::uint64_t size,
                                   const NoisyPart& count, const NoisyPart& sum_x, const NoisyPart& sum_y,
                                   const NoisyPart& products, const FailureRate& alpha) {
  const FloatEnvironment environment;
  const std::vector<WeightedPart> sums{{&sum_x, exactly(y.width().rational() / 2)},
                                       {&sum_y, exactly(x.width().rational() / 2)}};
  return planned(covariance_range(x, y),
                 planned_error(x, y, to_rational(size), count, products, sums, alpha.value()));
}

double correlation_accuracy(const Bounds& x, const Bounds& y, const CorrelationParts& parts,
                            const FailureRate& alpha) {
  const FloatEnvironment environment;
  const Dyadic& count = parts.count.value;
  const Dyadic covariance(
      covariance_from_parts(x, y, count, parts.sum_x.value, parts.sum_y.value, parts.products.value));
  const Dyadic variance_x(variance_from_parts(x, count, parts.sum_x.value, parts.squares_x.value));
  const Dyadic variance_y(variance_from_parts(y, count, parts.sum_y.value, parts.squares_y.value));
  return half_width(correlation_from_parts(covariance, variance_x, variance_y), {-1, 1},
                    correlation_from(x, y, parts, alpha.value()));
}

double correlation_accuracy(const NoisyPart& covariance, const NoisyPart& variance_x,
                            const NoisyPart& variance_y, const FailureRate& alpha) {
  const FloatEnvironment environment;
  return half_width(correlation_from_parts(covariance.value, variance_x.value, variance_y.value), {-1, 1},
                    correlation_from(covariance, variance_x, variance_y, alpha.value()));
}

}  // namespace snapdp
