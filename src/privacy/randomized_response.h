// Randomized response, of all epsilon-DP mechanisms the most revealing: with probability e^epsilon / (1 + e^epsilon)
// its loss is +epsilon (a plus), otherwise -epsilon (a minus).
#pragma once

#include <cstdint>
#include <vector>

#include "privacy/positive_interval.h"
#include "snapdp/numeric/rational.h"

namespace snapdp::privacy_internal::composition {

// `count` releases with the same epsilon > 0.
struct Group {
  Rational epsilon;
  std::int64_t count;
};

// How likely first, first + 1 ... of a group are a plus, and how likely under the neighbor, where plus and minus change
// places. What is left out, at both ends, has at most the probability `left_out`.
struct PlusCounts {
  std::int64_t first = 0;
  std::vector<PositiveInterval> masses;
  std::vector<PositiveInterval> neighbors;
  PositiveInterval left_out;
};

// Leaves out no more than `negligible` at each end. About sqrt(count log(1 / negligible)) numbers, however many releases
// there are. Needs WideExponents where e^-(epsilon count) is below e^-10^8.
PlusCounts plus_counts(const Group& group, const PositiveInterval& negligible);

}  // namespace snapdp::privacy_internal::composition
