// What the pictures of one mechanism have in common: their size, their frame, and the words above it.
#pragma once

#include <optional>
#include <string>

#include "release/shared/chart.h"
#include "snapdp/mechanism/mechanism.h"

namespace snapdp::release_internal::chart {

inline constexpr int picture_width = 760;
inline constexpr int picture_height = 440;

// The chart that fills a picture. Throws invalid_argument for epsilon when the axes have no place in doubles.
Panel panel_of(Svg& svg, const std::string& title, const Axis& x, const Axis& y);

// The mechanism in words, for a title.
std::string described(const Mechanism& mechanism, bool with_epsilon = true);

// What bounds do, in words: "[0, 20]", "0 or more", "20 or less"; nothing without bounds.
std::string clamp_text(const std::optional<double>& lower, const std::optional<double>& upper);

}  // namespace snapdp::release_internal::chart
