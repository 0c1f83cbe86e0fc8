// What is told of how groups differ: read off what is released of them, at no further cost.
#pragma once

#include <vector>

#include "release/report_model.h"

namespace snapdp::release_internal {

constexpr const char* difference_kind = "difference";

// One for each pair of the specification's. `shown` is the statistic itself, with the values of `values`.
std::vector<ShownStatistic> differences_of(const PlannedStatistic& planned, const ShownStatistic& shown,
                                           const ShownValues& values);

// Before anything is paid: throws invalid_argument naming "differences" where a double might not hold one.
void check_differences(const PlannedStatistic& planned);

// Of a report that was just made, whose differences follow their statistics: what holds of a group's number holds of its
// differences.
void mark_differences(ReportModel& model);

}  // namespace snapdp::release_internal
