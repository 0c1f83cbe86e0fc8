// Statistics that are computed from several released parts (parts_of): the value, and how far it may be off. Both are
// post-processing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "snapdp/release/plan.h"

namespace snapdp::release_internal {

// Each part misses its accuracy with this probability, so that all hold together except with the statistic's alpha.
Rational part_alpha(const PlannedStatistic& planned);

struct Composed {
  double value;
  double accuracy;
};

// Which of a part's accuracies to take: conservative, tight, or tight for all groups at once.
using PartAccuracy = std::function<double(const PlannedMeasurement&)>;

// `values` are the released numbers in the order of planned.measurements. The value does not depend on `accuracy`.
Composed compose(const PlannedStatistic& planned, const std::vector<Dyadic>& values,
                 const PartAccuracy& accuracy);

// How far the value may be off for every dataset of `size` rows, known beforehand. Nothing where that cannot be told: under
// add-remove without a size, for groups, whose sizes are private, and for correlations, whose variances may be next to 0.
std::optional<double> planned_accuracy(const PlannedStatistic& planned, std::optional<std::uint64_t> size,
                                       double Accuracy::*kind);

// The same when the parts say nothing at all: how far off any guess in the public range may be.
std::optional<double> guess_accuracy(const PlannedStatistic& planned, std::optional<std::uint64_t> size);

}  // namespace snapdp::release_internal
