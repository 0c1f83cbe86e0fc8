// Where the custodian says that the rows are a random sample: what a released number says of the population.
#pragma once

#include <optional>

#include "release/kinds/kind.h"

namespace snapdp::release_internal {

// Of a mean, of all rows or of group `group`; nothing for other kinds, without a sample, or where values are clamped to
// a declared range.
std::optional<ShownInterval> population_mean_of(const PlannedStatistic& planned, const ShownValues& values,
                                                std::size_t group);

// Of a count of rows in a bin: the share of the population in it, when the number of all rows is public.
std::optional<ShownInterval> population_share_of(const PlannedStatistic& planned, const ShownValues& values,
                                                 std::size_t index);

}  // namespace snapdp::release_internal
