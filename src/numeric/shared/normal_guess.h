// Where to begin a search that certified arithmetic ends: logarithms and normal tails in double, far beyond the
// range of doubles themselves. About 12 digits; nothing is certified by them.
#pragma once

#include "snapdp/numeric/rational.h"

namespace snapdp::numeric_internal {

// ln of a number > 0.
double guess_log(const Rational& value);
// ln P(Z >= z) of a standard normal Z.
double guess_log_normal_tail(double z);
// The z with ln P(Z >= z) = log_tail < 0.
double guess_normal_score(double log_tail);

}  // namespace snapdp::numeric_internal
