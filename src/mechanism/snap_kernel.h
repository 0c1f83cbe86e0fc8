// The fast path: many samples at once in double arithmetic, each either certain or left undecided.
//
// One body of code, compiled once per instruction set: every instruction set performs the same IEEE 754
// operations in the same order, so one error bound covers them all. No branch and no memory address depends
// on a word, a value or a result; there are no tables.
//
// In units of the grid, with r = scale / grid and f = value / grid - (nearest integer to it), a sample is
// floor(y + 1/2) plus that integer, y = f + S r ln U. The kernel computes Y ~ y with |Y - y| < margin(r) and
// accepts k = (nearest integer to Y) when |Y - k| <= 1/2 - margin(r): then y lies strictly inside (k - 1/2, k
// + 1/2).
//
// Error bound. All logarithms are natural; u = 2^-53 is the rounding error of a double.
//   A word w stands for the U in [w', w' + 2) 2^-64, w' = w with bit 0 cleared. Its midpoint is M 2^-64, M =
//   w with bit 0 set, and V = RN(M). Samples with V < 2^46 are undecided, so U >= 2^-18 and |ln U| <= 18 ln 2
//   < 12.48. (1) |ln U - ln(M 2^-64)| <= 2^-64 / 2^-18 = 2^-46 uniform_width_bound (2) |ln(M 2^-64) - ln(V
//   2^-64)| <= u (1 + 2u)                                          uniform_rounding_bound (3) V = 2^e m,
//   sqrt(1/2) <= m < sqrt(2) up to one ulp, and with s = (m - 1) / (m + 1)
//       ln m = ln((1 + s) / (1 - s)) = s P(s^2) + (approximation error),  |s| < 0.17158;
//       the error of s P(s^2) is at most 4.63e-15 (Sollya: supnorm) ln_approximation_bound
//   (4) rounding of L = RN(RN((e - 64) ln2) + s P(s^2)), -18 <= e - 64 <= 0:
//         RN(m - 1) is exact (Sterbenz); m + 1, the quotient, the last addition of P and the last product
//         each have relative error u, the inner terms of P less than u / 10 together: 4.2 u * 0.3466
//         < 1.7e-16 the double ln2 differs from log 2 by less than 2.4e-17, times 18 < 4.3e-16
//         |(e - 64) ln2| < 16: its rounding                                                    2^-50
//         < 8.9e-16 |L| < 16: the rounding of the sum 2^-50   < 8.9e-16
//       together ln_rounding_bound
//   So |L - ln U| <= ln_error_bound, the sum of (1) to (4).
//   (5) n = RN(r L): r is exact (a power of two times the double `scale`, normal), |r L| < 12.49 r:
//   error 12.49 r u (6) f is exact up to 2^-54 (a Dyadic fraction |f| <= 1/2 rounded to a double; exact or
//   below 2^-1074 for a double) (7) Y = RN(f + n), |f + n| < 12.49 r + 1/2 + 2^-54: error below (12.5 r + 1)
//   u (8) k and Y - k are exact: |Y| < 2^51, and Y - k is a multiple of the last place of Y that is no larger
//   than 1/2. Altogether |Y - y| < r (ln_error_bound + 25 u) + 2^-54 + 2^-53 <= margin(r), below; subnormal r
//   L, possible only for r < 2^-1000, adds 2^-1074, covered by the slack in the last term.
#pragma once

#include <cstddef>
#include <cstdint>

#include "snapdp/mechanism/snapping.h"
#include "snapdp/numeric/instruction_set.h"

namespace snapdp::snap_kernel {

inline constexpr double uniform_width_bound = 0x1p-46;
inline constexpr double uniform_rounding_bound = 0x1.01p-53;
inline constexpr double ln_approximation_bound = 4.63e-15;
inline constexpr double ln_rounding_bound = 2.4e-15;
inline constexpr double ln_error_bound = 0x1.83p-46;
static_assert(uniform_width_bound + uniform_rounding_bound + ln_approximation_bound + ln_rounding_bound <
              ln_error_bound);

// The least V that is accepted, in units of 2^-64: a sample with U below 2^-18 is undecided.
inline constexpr double least_uniform = 0x1p46;

// P(z), z = s^2, lowest degree first: Sollya's fpminimax of log((1+x)/(1-x)) on [2^-20, 0.17158] with
// monomials x, x^3 ... x^11, absolute error.
inline constexpr double ln_polynomial[] = {0x1.ffffffffff9dap0, 0x1.555555582d5d3p-1, 0x1.9999939722f2dp-2,
                                           0x1.249500c7fb8fp-2, 0x1.c5eba209984ap-3,  0x1.9425bbbf0b668p-3};
inline constexpr double ln2 = 0x1.62e42fefa39efp-1;

// The largest |Y - y|, in units of the grid.
constexpr double margin(double ratio) {
  return ratio * 0x1.bdp-46 + 0x1p-52;
}
static_assert(ln_error_bound + 25 * 0x1p-53 < 0x1.bcp-46);

// Beyond these the fast path is not used: with the ratio above nothing much is accepted; above the others,
// noise or a multiple of the grid might overflow before the bounds are applied.
inline constexpr double greatest_ratio = 0x1p40;
inline constexpr double greatest_scale = 0x1p1018;
inline constexpr double greatest_grid = 0x1p970;

// Bounds within so many steps of zero allow a shorter sequence of operations with the same results.
inline constexpr double narrow_steps = 0x1p50;

// Samples of one call: a multiple of this many.
inline constexpr std::size_t stride = 8;

struct Outcome {
  bool undecided;  // some sample is
  bool finite;     // all values are; otherwise `out` means nothing
};

// out[i] = the double nearest to the sample of words[i] and values[i], clamped, or NaN when it is undecided. `count` is
// a multiple of `stride`; needs a FloatEnvironment; `out` overlaps nothing.
using Kernel = Outcome (*)(const detail::SnapConstants& constants, const std::uint64_t* words,
                           const double* values, double* out, std::size_t count);

Kernel kernel_for(InstructionSet set);

}  // namespace snapdp::snap_kernel
