// Enclosed probabilities as the tool prints them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "snapdp/mechanism/probability.h"

namespace snapdp::cli {

// Digits of either end in JSON, and in tables.
inline constexpr int enclosure_digits = 32;

// ["low", "high"], decimals of 32 significant digits, the one rounded down and the other up.
inline nlohmann::ordered_json enclosure_json(const ProbabilityBounds& bounds) {
  return nlohmann::ordered_json::array({round_down_to_digits(bounds.low, enclosure_digits),
                                        round_up_to_digits(bounds.high, enclosure_digits)});
}

// One number where that many digits are all the same, rounded up; they are known to more.
inline std::string enclosure_text(const ProbabilityBounds& bounds) {
  return round_up_to_digits(bounds.high, 12);
}

}  // namespace snapdp::cli
