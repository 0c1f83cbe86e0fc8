// The largest privacy loss of precision mode that a search finds: an exact lower bound of the supremum.
#pragma once

#include <cstddef>

#include "mechanism/shared/precision_law.h"

namespace snapdp::privacy_internal {

using namespace mechanism_internal;

// ln(P(k | x) / P(k | y)), rounded down, for the worst k, x and y found with |x - y| <= distance, both within the bounds.
// Looks at about `pairs` pairs, the same ones at each call.
Rational largest_loss_found(const detail::PrecisionArithmetic& arithmetic, const Dyadic& half_width,
                            const Rational& distance, std::size_t pairs);

}  // namespace snapdp::privacy_internal
