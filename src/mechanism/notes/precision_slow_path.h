// Precision mode in MPFR: the notes as they stand, the oracle of the fast path. See precision_snapping.h.
#pragma once

#include <cstdint>

#include "snapdp/mechanism/precision_snapping.h"
#include "snapdp/numeric/dyadic.h"
#include "snapdp/random/word_source.h"

namespace snapdp::mechanism_internal {

// floor((x (+) S (x) scale (x) LN(U*)) / grid + 1/2) in arithmetic of arithmetic.precision >= 2 bits, x = clamp_B(value
// - c), U* the number digits * 2^-count in (0, 1) cut off after that many significant bits; S = -1 for `minus`.
Integer precision_index(const detail::PrecisionArithmetic& arithmetic, const Dyadic& x, bool minus,
                        const Integer& digits, long count);

// The same for the S and U that `word` begins and `words` continues, with as many further words as the index needs.
Integer precision_snap_slowly(const detail::PrecisionArithmetic& arithmetic, const Dyadic& x,
                              std::uint64_t word, WordSource& words);

// The same with all the words that U* needs.
Integer precision_snap_plainly(const detail::PrecisionArithmetic& arithmetic, const Dyadic& x,
                               WordSource& words);

}  // namespace snapdp::mechanism_internal
