#include "snapdp/framework/measurement.h"

#include "snapdp/error.h"

namespace snapdp {
namespace {

Snapping mechanism_for(const Aggregation& aggregation, const NoiseOptions& options) {
  const Rational sensitivity = aggregation.sensitivity();
  if (sensitivity == 0) {
    throw Error(
        ErrorCode::invalid_argument, "sensitivity",
        "sensitivity = 0: neighboring datasets give the same statistic, so it is a public constant; release "
        "the constant itself, without noise and without spending");
  }
  const StatisticDomain& statistic = aggregation.output_domain();
  SnappingOptions snapping{.epsilon = options.epsilon.value(),
                           .sensitivity = to_dyadic(sensitivity, "sensitivity")};
  if (statistic.range) {
    snapping.lower = statistic.range->lower().to_double_down();
    snapping.upper = statistic.range->upper().to_double_up();
  }
  snapping.grid = options.grid;
  snapping.integer = statistic.integer;
  return Snapping(snapping);
}

Relation privacy_for(const Aggregation& aggregation, const Snapping& mechanism) {
  // Adding Laplace noise of scale s to values at (L1) distance d loses at most d / s.
  return Relation::chain(aggregation.stability(), Relation::stable(1 / Rational(mechanism.scale())));
}

}  // namespace

Measurement::Measurement(Aggregation aggregation, const NoiseOptions& options)
    : aggregation_(std::move(aggregation)),
      mechanism_(mechanism_for(aggregation_, options)),
      privacy_(privacy_for(aggregation_, mechanism_)) {}

Accuracy Measurement::accuracy(const FailureRate& alpha) const {
  const StatisticDomain& statistic = aggregation_.output_domain();
  AccuracyQuery query{.scale = mechanism_.scale(), .grid = mechanism_.grid(), .alpha = alpha};
  // An integer statistic is exact on its grid; any other was rounded to it, by at most half its spacing.
  if (!statistic.integer) query.rounding_error = statistic.grid.spacing().rational() / 2;
  if (statistic.range)
    query.range = to_double_up(Rational(*mechanism_.upper()) - Rational(*mechanism_.lower()));
  return {conservative_accuracy(query), tight_accuracy(query), laplace_accuracy(query)};
}

Release Measurement::release(const Chunk& rows, BudgetAccountant& accountant) const {
  const std::vector<Dyadic> statistic = aggregation_(rows);
  const Rational cost = loss();
  accountant.debit(cost, aggregation_.description());
  return {release_paid(statistic, thread_generator()), cost};
}

std::vector<Dyadic> Measurement::release_paid(const std::vector<Dyadic>& statistic,
                                              SystemGenerator& generator) const {
  std::vector<Dyadic> noisy;
  noisy.reserve(statistic.size());
  for (const Dyadic& value : statistic) noisy.push_back(mechanism_.release(value, generator));
  return noisy;
}

}  // namespace snapdp
