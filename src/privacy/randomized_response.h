// Randomized response, of all epsilon-DP mechanisms the most revealing: with probability e^epsilon / (1 + e^epsilon)
// its loss is +epsilon (a plus), otherwise -epsilon (a minus).
#pragma once

#include <cstdint>
#include <vector>

#include "privacy/positive_interval.h"
#include "snapdp/numeric/rational.h"

namespace snapdp::composition {

// `count` releases with the same epsilon > 0.
struct Group {
  Rational epsilon;
  std::int64_t count;
};

// The probabilities that 0, 1 ... count of them are a plus.
std::vector<PositiveInterval> plus_counts(const Group& group, mpfr_prec_t bits);

}  // namespace snapdp::composition
