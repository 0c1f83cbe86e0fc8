// How often something of known probability happened, judged with a false alarm that is computed.
#pragma once

#include <cmath>
#include <cstddef>

namespace snapdp {

// Whether `count` of `draws` independent events of probability p may be: by Chernoff's bound, draws KL(count / draws, p)
// exceeds ln(2 / false_alarm) with at most that probability.
inline bool may_happen(std::size_t count, std::size_t draws, double p, double false_alarm) {
  const double n = static_cast<double>(draws);
  const double q = static_cast<double>(count) / n;
  if (p <= 0 || p >= 1) return q == p;
  const double divergence =
      (q > 0 ? q * std::log(q / p) : 0) + (q < 1 ? (1 - q) * std::log((1 - q) / (1 - p)) : 0);
  return n * divergence <= std::log(2 / false_alarm);
}

}  // namespace snapdp
