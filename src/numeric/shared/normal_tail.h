// P(Z >= z) of a standard normal Z in MPFR numbers, bounded on one side. What it computes with is wiped.
#pragma once

#include "numeric/shared/real.h"

namespace snapdp::numeric_internal {

// `result` is a bound with its precision: below for MPFR_RNDD, above for MPFR_RNDU. Beyond z = 27,000 it is 0 or
// 2^-(5 10^8).
void normal_tail_bound(mpfr_ptr result, mpfr_srcptr z, mpfr_rnd_t direction);

}  // namespace snapdp::numeric_internal
