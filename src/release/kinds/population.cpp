#include "release/kinds/population.h"

#include "snapdp/statistics/population.h"

namespace snapdp::release_internal {
namespace {

// Half of alpha is for the noise, half for the sampling; under add-remove a quarter of that is for the number of rows.
const Rational noise_share(1, 2);
const Rational rows_share(1, 8);

ShownInterval interval_of(const PlannedStatistic& planned, const Bounds& bounds, const Rational& value,
                          double accuracy, double rows, const Rational& sampling_share) {
  const Rational& alpha = planned.specification.alpha;
  const MeanInterval sample{to_double_down(Rational(value - Rational(accuracy))),
                            to_double_up(Rational(value + Rational(accuracy)))};
  const MeanInterval mean = population_mean(bounds, sample, rows, Rational(alpha * sampling_share));
  return {to_string(alpha), mean.lower, mean.upper};
}

ShownInterval stand_in(const PlannedStatistic& planned) {
  return {to_string(planned.specification.alpha), longest_double, longest_double};
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
                                    std::size_t group) {
  const Rational& alpha = planned.specification.alpha;
  NoisyParts parts;
  for (std::size_t i = 0; i < planned.measurements.size(); ++i)
    parts[planned.measurements[i].part] = noisy_part(planned.measurements[i], (*values.released())[i][group]);
  const NoisyPart& count = parts.at("count");
  const Bounds& bounds = planned.bounds.front();
  const double mean = mean_from_parts(bounds, count.value, parts.at("sum").value);
  const double accuracy = mean_accuracy(bounds, count, parts.at("sum"), Rational(alpha * noise_share));
  const double missing = accuracy_of({count.noise, Rational(alpha * rows_share), 0, Grid(0)}).tight;
  const double rows = to_double_down(Rational(count.value.rational() - Rational(missing)));
  return interval_of(planned, bounds, Rational(mean), accuracy, rows, Rational(1 - noise_share - rows_share));
}

}  // namespace

std::optional<ShownInterval> population_mean_of(const PlannedStatistic& planned, const ShownValues& values,
                                                std::size_t group) {
  if (!says_something(planned) || planned.specification.kind != StatisticKind::mean || !values.any())
    return std::nullopt;
  if (values.released() == nullptr) return stand_in(planned);
  if (!planned.public_rows) return mean_from_noisy_count(planned, values, group);
  const PlannedMeasurement& measurement = planned.measurements.front();
  const double accuracy =
      measurement.measurement.accuracy(Rational(planned.specification.alpha * noise_share)).tight;
  return interval_of(planned, planned.bounds.front(), values.released()->front()[group].rational(), accuracy,
                     rows_of(*planned.public_rows), Rational(1 - noise_share));
}

std::optional<ShownInterval> population_share_of(const PlannedStatistic& planned, const ShownValues& values,
                                                 std::size_t index) {
  if (!says_something(planned) || !planned.public_rows || !values.any()) return std::nullopt;
  if (values.released() == nullptr) return stand_in(planned);
  const PlannedMeasurement& measurement = planned.measurements.front();
  const Rational rows(Integer(static_cast<unsigned long>(*planned.public_rows)));
  const double accuracy =
      measurement.measurement.accuracy(Rational(planned.specification.alpha * noise_share)).tight;
  return interval_of(planned, Bounds(0, 1), Rational(values.released()->front()[index].rational() / rows),
                     to_double_up(Rational(Rational(accuracy) / rows)), rows_of(*planned.public_rows),
                     Rational(1 - noise_share));
}

}  // namespace snapdp::release_internal
