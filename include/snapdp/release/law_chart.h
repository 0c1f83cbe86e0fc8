// The law of an output as a picture, known before any row is read.
#pragma once

#include <optional>
#include <string>

#include "snapdp/mechanism/mechanism.h"

namespace snapdp {

// The probability of each output about the exact statistic `value`, and the Laplace density for a cell of
// the grid: SVG, without scripts and with nothing to load. Without `value` it is the middle of the range, or
// the value nearest to 0 that is not clamped. Throws invalid_argument where doubles cannot tell the numbers
// apart.
std::string law_chart(const Mechanism& mechanism, const std::optional<double>& value = std::nullopt);

}  // namespace snapdp
