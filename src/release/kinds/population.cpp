#include "release/kinds/population.h"

#include "snapdp/statistics/population.h"

namespace snapdp::release_internal {
namespace {

// Half of alpha is for the noise, half for the sampling; where a mean has a noisy number of rows, a quarter of that is for
// it.
const Rational noise_share(1, 2);
const Rational rows_share(1, 8);

// The shares of alpha add up to 1: `sampling_share` is what the noise leaves.
ShownInterval interval_of(const Rational& alpha, const Bounds& bounds, const MeanInterval& sample,
                          double rows, const Rational& sampling_share) {
  const MeanInterval population = population_mean(bounds, sample, rows, Rational(alpha * sampling_share));
  return {to_string(alpha), population.lower, population.upper};
}

MeanInterval around(const Rational& value, const Rational& accuracy) {
  return {to_double_down(Rational(value - accuracy)), to_double_up(Rational(value + accuracy))};
}

ShownInterval stand_in(const PlannedStatistic& planned) {
  return {to_string(planned.specification.alpha), longest_double, longest_double};
}

// No share is longer, and this is quickly shown.
constexpr double longest_share = -0.00012345678901234567;

ShownInterval share_stand_in(const PlannedStatistic& planned) {
  return {to_string(planned.specification.alpha), longest_share, longest_share};
}

bool says_something(const PlannedStatistic& planned) {
  return planned.of_population && !planned.constant &&
         planned.specification.range.kind() != RangeChoice::Kind::fixed;
}

double rows_of(std::uint64_t rows) {
  return static_cast<double>(rows) * (1 - 0x1p-52);
}

// The quotient of a noisy sum and a noisy count.
ShownInterval mean_from_noisy_count(const PlannedStatistic& planned, const ShownValues& values,
                                    std::size_t group, const Rational& alpha) {
  const NoisyParts parts = noisy_parts_of(planned, values, group);
  const NoisyPart& count = parts.at("count");
  const Bounds& bounds = planned.bounds.front();
  const double mean = mean_from_parts(bounds, count.value, parts.at("sum").value);
  const double accuracy = mean_accuracy(bounds, count, parts.at("sum"), Rational(alpha * noise_share));
  const double missing = accuracy_of({count.noise, Rational(alpha * rows_share), 0, Grid(0)}).tight;
  const double rows = to_double_down(Rational(count.value.rational() - Rational(missing)));
  return interval_of(alpha, bounds, around(Rational(mean), Rational(accuracy)), rows,
                     Rational(1 - noise_share - rows_share));
}

}  // namespace

std::optional<ShownInterval> population_mean_of(const PlannedStatistic& planned, const ShownValues& values,
                                                std::size_t group, const Rational& alpha) {
  if (!says_something(planned) || planned.specification.kind != StatisticKind::mean || !values.any())
    return std::nullopt;
  if (values.released() == nullptr) return stand_in(planned);
  if (!planned.public_rows) return mean_from_noisy_count(planned, values, group, alpha);
  const PlannedMeasurement& measurement = planned.measurements.front();
  const double accuracy = measurement.measurement.accuracy(Rational(alpha * noise_share)).tight;
  return interval_of(alpha, planned.bounds.front(),
                     around(values.released()->front()[group].rational(), Rational(accuracy)),
                     rows_of(*planned.public_rows), Rational(1 - noise_share));
}

std::optional<ShownInterval> population_share_of(const PlannedStatistic& planned, const ShownValues& values,
                                                 std::size_t index) {
  if (!says_something(planned) || !planned.public_rows || !values.any()) return std::nullopt;
  if (values.released() == nullptr) return share_stand_in(planned);
  const Rational& alpha = planned.specification.alpha;
  const Rational rows(Integer(static_cast<unsigned long>(*planned.public_rows)));
  const double accuracy =
      planned.measurements.front().measurement.accuracy(Rational(alpha * noise_share)).tight;
  const Rational share = Rational(values.released()->front()[index].rational() / rows);
  return interval_of(alpha, Bounds(0, 1), around(share, Rational(Rational(accuracy) / rows)),
                     rows_of(*planned.public_rows), Rational(1 - noise_share));
}

std::optional<ShareErrors> share_errors(const PlannedStatistic& planned) {
  if (!says_something(planned) || planned.public_rows || planned.bins.size() < 2) return std::nullopt;
  const PlannedMeasurement& measurement = planned.measurements.front();
  const Rational each = Rational(planned.specification.alpha * noise_share / 2);
  const ShareErrors errors{
      measurement.measurement.accuracy(each).tight,
      sum_accuracy(noisy_part(measurement, Dyadic(0)), {0.0, std::nullopt}, planned.bins.size() - 1, each)};
  if (!std::isfinite(errors.of_bin) || !std::isfinite(errors.of_others)) return std::nullopt;
  return errors;
}

// With c the rows in the bin and r those in the others, each within what half of the noise's share of alpha allows, the
// share c / (c + r) grows with c and falls with r; at the ends of both it has its own. There are c + r rows at least.
// Those of the sample that are in some bin are a sample of what is in some bin.
std::vector<ShownInterval> population_shares_of(const PlannedStatistic& planned, const ShownValues& values,
                                                std::size_t group) {
  const std::size_t bins = planned.bins.size();
  if (!planned.share_errors || !values.any()) return {};
  if (values.released() == nullptr) return std::vector(bins, share_stand_in(planned));
  const Rational& alpha = planned.specification.alpha;
  const Rational error_of_bin(planned.share_errors->of_bin);
  const double error = planned.share_errors->of_others;
  const auto first = values.released()->front().begin() + static_cast<std::ptrdiff_t>(group * bins);
  Rational all = 0;
  for (auto count = first; count != first + static_cast<std::ptrdiff_t>(bins); ++count)
    all += count->rational();
  const auto not_below_zero = [](const Rational& count) { return std::max(count, Rational(0)); };
  const auto share = [](const Rational& in, const Rational& others) {
    return in > 0 ? Rational(in / (in + others)) : Rational(0);
  };
  std::vector<ShownInterval> shares;
  for (auto count = first; count != first + static_cast<std::ptrdiff_t>(bins); ++count) {
    const Rational in = count->rational();
    const Rational others = Rational(all - in);
    const Rational least = not_below_zero(Rational(in - error_of_bin));
    const Rational most = not_below_zero(Rational(in + error_of_bin));
    const Rational least_others = not_below_zero(Rational(others - Rational(error)));
    const Rational most_others = not_below_zero(Rational(others + Rational(error)));
    const MeanInterval sample{to_double_down(share(least, most_others)),
                              to_double_up(least_others > 0 ? share(most, least_others) : Rational(1))};
    shares.push_back(interval_of(alpha, Bounds(0, 1), sample, to_double_down(Rational(least + least_others)),
                                 Rational(1 - noise_share)));
  }
  return shares;
}

}  // namespace snapdp::release_internal
