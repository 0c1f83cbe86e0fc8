// The folds behind the statistics: exact accumulators from the numeric room as states of an aggregation.
#pragma once

#include <memory>

#include "snapdp/framework/aggregation.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::statistics_internal {

std::shared_ptr<const Fold> count_fold();
// Over one bounded column: totals {sum} and {sum, sum of squares}.
std::shared_ptr<const Fold> sum_fold(const AtomDomain& column);
std::shared_ptr<const Fold> moments_fold(const AtomDomain& column);
// Over one bounded column: totals {sum, sum of squares, ..., sum of x^degree}.
std::shared_ptr<const Fold> power_sums_fold(const AtomDomain& column, int degree);
// Over two bounded columns of one type: totals {sum of x, sum of y, sum of x y}.
std::shared_ptr<const Fold> products_fold(const AtomDomain& x, const AtomDomain& y);
// Over one column: a count a bin.
std::shared_ptr<const Fold> histogram_fold(AtomType type, const Bins& bins);

}  // namespace snapdp::statistics_internal
