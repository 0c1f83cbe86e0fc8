// Where the custodian says that the rows are a random sample: what a released number says of the population.
#pragma once

#include <optional>

#include "release/kinds/kind.h"

namespace snapdp::release_internal {

// Of a mean, of all rows or of group `group`, except with probability alpha; nothing for other kinds, without a sample, or
// where values are clamped to a declared range.
std::optional<ShownInterval> population_mean_of(const PlannedStatistic& planned, const ShownValues& values,
                                                std::size_t group, const Rational& alpha);

// Of a count of rows in a bin: the share of the population in it, when the number of all rows is public.
std::optional<ShownInterval> population_share_of(const PlannedStatistic& planned, const ShownValues& values,
                                                 std::size_t index);
// How far a bin and the sum of all others may be off, each except with its share of alpha; nothing where
// population_shares_of() says nothing.
std::optional<ShareErrors> share_errors(const PlannedStatistic& planned);
// Of the bins of a histogram, where the number of rows is not public: their shares of what is in some bin. `group` counts
// groups. As many as there are bins, or none.
std::vector<ShownInterval> population_shares_of(const PlannedStatistic& planned, const ShownValues& values,
                                                std::size_t group);

}  // namespace snapdp::release_internal
