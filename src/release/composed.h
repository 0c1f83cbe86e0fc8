// Statistics that are computed from several released parts (parts_of): the value, and how far it may be off. Both are
// post-processing.
#pragma once

#include <vector>

#include "snapdp/release/plan.h"

namespace snapdp {

// Each part misses its accuracy with this probability, so that all hold together except with the statistic's alpha.
Rational part_alpha(const PlannedStatistic& planned);

struct Composed {
  double value;
  double accuracy;
};

// `values` are the released numbers in the order of planned.measurements; `kind` says which of their accuracies to take
// (conservative or tight). The value does not depend on it.
Composed compose(const PlannedStatistic& planned, const std::vector<Dyadic>& values, double Accuracy::*kind);

}  // namespace snapdp
