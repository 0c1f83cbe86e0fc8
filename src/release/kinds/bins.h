// Public sets of values as statistics name them.
#pragma once

#include <string>
#include <vector>

#include "release/kinds/kind.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::release_internal {

// The key "edges".
std::vector<Rational> read_edges(const TomlTable& table);

// "categories", "edges" or, without either, the public values of the column; `missing` is what to say when there are none.
void read_bins(const StatisticText& text, const std::string& missing, StatisticSpecification& statistic);

Bins bins_of(const StatisticSpecification& statistic);

}  // namespace snapdp::release_internal
