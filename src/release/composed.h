// Statistics that are computed from several released parts (parts_of): the value, and how far it may be off. Both are
// post-processing.
#pragma once

#include <vector>

#include "snapdp/release/plan.h"

namespace snapdp {

// Each part misses its accuracy with this probability, so that all hold together except with the statistic's alpha.
Rational part_alpha(const PlannedStatistic& planned);

// `parts` are the released numbers in the order of planned.measurements.
double composed_value(const PlannedStatistic& planned, const std::vector<Dyadic>& parts);
// With the accuracies of this kind (conservative or tight) of the parts.
double composed_accuracy(const PlannedStatistic& planned, const std::vector<Dyadic>& parts,
                         double Accuracy::*kind);

}  // namespace snapdp
