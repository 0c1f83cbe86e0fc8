// Weighted sums of noisy parts, and the exact means that they enclose: what noisy_parts.cpp and regression.cpp share.
// See proofs/noisy_parts.md.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "snapdp/statistics/noisy_parts.h"
#include "statistics/enclosures.h"

namespace snapdp::statistics_internal {

// What enclosing what weights depend on (means, deviations, coefficients) takes of alpha; the rest is the statistic's.
inline const Rational enclosing_share(1, 8);
// An enclosure makes the weights smaller, and so itself; after a few rounds nothing changes any more.
constexpr int enclosing_rounds = 3;

struct WeightedPart {
  const NoisyPart* part;
  Interval weight;
};

Interval exactly(const Rational& value);
Interval around(const Rational& value, const Rational& distance);
Interval negative(const Interval& a);

// How far the sum of the noises may be off but for a probability of alpha, for the worst weights; nothing when that is
// infinite.
std::optional<Rational> error_of(const std::vector<WeightedPart>& sum, const Rational& alpha);

// A number strictly between its bounds is what it would be without them. For others nothing is said.
bool released_freely(const NoisyPart& part);
bool released_freely(std::initializer_list<const NoisyPart*> parts);

// The exact mean less the middle of the bounds, m, and what its noisy estimate may be off by.
struct EnclosedMean {
  Interval enclosure;
  Rational estimate;
  Rational error;  // the largest |m - estimate|
};
// From a count and a centered sum; nothing when they say nothing.
std::optional<EnclosedMean> mean_of(const Bounds& bounds, const NoisyPart& count, const NoisyPart& sum,
                                    const Rational& alpha);

}  // namespace snapdp::statistics_internal
