// The slow path: one sample decided in multiple precision, with as many random bits as that takes. The oracle
// of the fast path, and obviously right.
#pragma once

#include <cstdint>

#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/grid.h"
#include "snapdp/random/word_source.h"

namespace snapdp::mechanism_internal {

// floor(fraction + S * (scale / grid) * ln U + 1/2), where `word` holds S and the first 63 digits of U and
// `words` the further ones (see snapping.h). `scale` is a positive double. Ends with probability 1: a round
// that does not decide takes another word.
Integer snap_slowly(const Dyadic& fraction, double scale, Grid grid, std::uint64_t word, WordSource& words);

// The same with Gaussian noise: floor(fraction + S * (scale / grid) * Phi^-1(U / 2) + 1/2).
Integer normal_slowly(const Dyadic& fraction, double scale, Grid grid, std::uint64_t word, WordSource& words);

}  // namespace snapdp::mechanism_internal
