// The least number with a property that holds from there on: searches that begin at a guess, step away from it, each
// step twice or four times as long as the last, and end in a bisection.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "snapdp/numeric/rational.h"

namespace snapdp::mechanism_internal {

// The least double >= 0 with holds(x). It holds for `most`, which is not asked.
template <typename Holds>
double least_double(const Holds& holds, double guess, double most = std::numeric_limits<double>::infinity()) {
  // Doubles >= 0 are ordered as their bits.
  const auto bits = [](double x) { return std::bit_cast<std::int64_t>(x); };
  const auto value = [](std::int64_t b) { return std::bit_cast<double>(b); };
  std::int64_t below = -1;          // does not hold
  std::int64_t above = bits(most);  // holds
  if (!(guess >= 0)) guess = 0;
  std::int64_t probe = std::clamp(bits(guess), below + 1, std::max(above - 1, below + 1));
  std::int64_t step = 1;
  bool down = false;
  bool up = false;
  while (above - below > 1) {
    if (holds(value(probe))) {
      above = probe;
      down = true;
    } else {
      below = probe;
      up = true;
    }
    if ((down && up) || step >= above - below) {
      probe = below + (above - below) / 2;
    } else {
      probe = down ? above - step : below + step;
      if (step < std::int64_t{1} << 58) step *= 4;
    }
  }
  return value(above);
}

// The least integer >= 0 with holds(n).
template <typename Holds>
Integer least_integer(const Holds& holds, double guess) {
  guess = std::min(guess, 0x1p1000);
  Integer probe = guess >= 1 ? Integer(guess) : Integer(0);  // also of no number
  Integer step = 1;
  if (guess > 0x1p50) step = Integer(std::ldexp(guess, -50));
  Integer below = -1;
  Integer above = -1;  // none yet
  while (above < 0 || above - below > 1) {
    const bool does = holds(probe);
    (does ? above : below) = probe;
    if (above < 0) {
      probe = below + step;
    } else if (above - below <= step || (below >= 0 && step > 1)) {
      probe = below + (above - below) / 2;
    } else {
      probe = above - step;
    }
    step *= 2;
  }
  return above;
}

}  // namespace snapdp::mechanism_internal
