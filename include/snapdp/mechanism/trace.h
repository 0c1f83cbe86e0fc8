// Deterministic replay for auditors: recompute released values from their recorded random bits.
//
//   std::string checked = trace(text_of_the_file, {.slow_only = true});   // equal to the text when all is
//   well
#pragma once

#include <string>
#include <string_view>

#include "snapdp/mechanism/snapping.h"
#include "snapdp/numeric/instruction_set.h"

namespace snapdp {

// `vectors` is CSV text without quotes: a header and one sample a row, in any order of these columns.
//
//   epsilon       the exact number written, > 0
//   sensitivity   > 0
//   lower, upper  the bounds; empty for none
//   value         the exact statistic
//   grid          a power of two; empty for the smallest one >= scale
//   precision     in place of grid: precision mode (precision_snapping.h) with so many bits and both bounds
//   scale         in place of epsilon and sensitivity: Gaussian noise of this standard deviation (gaussian.h)
//   sign          1 or -1: S
//   uniform_bits  hexadecimal digits of U after the point, at most 4096
//   output        what Snapping (or PrecisionSnapping) gives; ignored and recomputed
//
// Numbers are doubles, C99 hex floats by custom. Returns the same text with `output` recomputed as C99 hex
// floats (and lines ending in "\n"). Throws bad_data, naming line and column, for malformed text, parameters
// that the mechanism refuses, and rows whose uniform_bits do not decide the output.
std::string trace(std::string_view vectors, const ReplayOptions& options = {});

// "best", "portable", "avx2" or "avx512". Throws invalid_argument when this machine does not have it.
InstructionSet parse_kernel(std::string_view text, std::string_view parameter = "kernel");

}  // namespace snapdp
