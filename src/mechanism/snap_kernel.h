// The fast path: many samples at once in double arithmetic, each either certain or left undecided.
//
// One body of code, compiled once per instruction set. The sets differ only in that AVX2 and AVX-512 round a
// product and its sum once where the baseline rounds twice; the bounds below count both roundings, so they
// cover all of them, and an accepted sample is the true one whichever accepted it. No branch and no memory
// address depends on a word, a value or a result; there are no tables.
//
// In units of the grid, with r = scale / grid and f = value / grid - (an integer nearest to it), a sample is
// that integer plus floor(y + 1/2), y = f + S r ln U (Gaussian noise below). The kernel computes Y with |Y - y| < margin(r) and
// accepts k = (the integer nearest to Y) when |Y - k| <= 1/2 - margin(r): then k - 1/2 < y < k + 1/2.
//
// Error bound. u = 2^-53 bounds the relative error of one rounding.
//
//   A word w stands for the U in [w', w' + 2) 2^-64, w' = w with bit 0 cleared. The middle is M 2^-64, M = w
//   with bit 0 set, and V = RN(M). Samples with V < 2^46 are undecided: U >= 2^-18, |ln U| <= 18 ln 2 < 12.48.
//
//   (1) uniform_width_bound      |ln U - ln(M 2^-64)| <= 2^-64 / 2^-18
//   (2) uniform_rounding_bound   |ln(M 2^-64) - ln(V 2^-64)| <= u (1 + 2u)
//   (3) ln_approximation_bound   V = 2^e m with m in [sqrt(1/2), sqrt(2)] up to a last place. With
//                                s = (m - 1) / (m + 1), |s| < 0.17158,
//                                ln m = ln((1 + s) / (1 - s)) = s P(s^2) + (at most 4.63e-15; Sollya, supnorm)
//   (4) ln_rounding_bound        L = RN(RN((e - 64) ln2) + RN(s P(s^2))), -18 <= e - 64 <= 0:
//         m - 1 is exact (Sterbenz). m + 1 and the quotient give s a relative error of 2u, which the
//         derivative 2 / (1 - s^2) < 2.061 of ln((1 + s) / (1 - s)) makes 2.061 u of s P; the last sum of P
//         and the product add u each, the terms below them less than 0.1 u: 4.2 u * 0.3466      < 1.7e-16
//         the double ln2 differs from the logarithm of 2 by less than 2.4e-17, times 18         < 4.4e-16
//         rounding the product, below 16: 2^-50                                                 < 8.9e-16
//         rounding the sum, below 16: 2^-50                                                     < 8.9e-16
//   so |L - ln U| <= ln_error_bound, the sum of (1) to (4).
//
//   (5) RN(r L): r is exact (`scale` times a power of two, normal); |r L| < 12.49 r gives 12.49 r u
//   (6) f: a Dyadic fraction of at most 1/2, cut to a double, is off by less than 2^-54; that of a double is
//       exact, or off by less than 2^-1074
//   (7) Y = RN(f + RN(r L)): (12.49 r + 1/2 + 2^-53) u
//   (8) k and Y - k are exact: |Y| < 2^51, and Y - k is a multiple of the last place of Y, at most 1/2
//   Altogether |Y - y| < r (ln_error_bound + 25 u) + 2^-54 + 2^-54 (1 + 2^-52). margin(r) is larger by more
//   than 2^-54, which covers the rounding of 1/2 - margin(r) and, for r < 2^-1000, of a subnormal r L.
#pragma once

#include <cstddef>
#include <cstdint>

#include "snapdp/mechanism/snapping.h"
#include "snapdp/numeric/instruction_set.h"

namespace snapdp::mechanism_internal::snap_kernel {

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

// The largest |Y - y| of Laplace noise, in units of the grid.
constexpr double margin(double ratio) {
  return ratio * 0x1.bdp-46 + 0x1p-52;
}
static_assert(ln_error_bound + 25 * 0x1p-53 < 0x1.bcp-46);

// Gaussian noise: in the place of ln U stands Phi^-1(U / 2), a smooth function of it, evaluated as a polynomial in u =
// (c L - d) / (L + d), L = -ln U, which maps the L in question, from 0 to 12.4785, to u between -1 and 1.
//
//   (1) normal_approximation_bound  |P(u(-ln V)) - (-Phi^-1(V / 2))| for exact u and P: proved by
//                                   tests/mechanism/gaussian_test.cpp, in certified arithmetic
//   (2) normal_rounding_bound       L is off by ln_error_bound at most, and d Phi^-1(e^-L / 2) / dL < 1.26 in magnitude:
//                                   < 2.8e-14. c L - d and L + d round by 24 u and 17 u at most, and u by 5 u
//                                   altogether; |P'(u)| < 5.2 there: < 3e-15. A term c_i u^i, i = 4 k + j <= 23, goes
//                                   through 3 k roundings of u^4k, 2 k + 1 of Horner's rule, and 6 at the end: 32 u sum
//                                   |c_i| at most, the sum being below 4.7: < 1.7e-14
// The rest is as above with |Phi^-1(U / 2)| < 4.63 for |ln U| < 12.49, so that fewer u are lost.
inline constexpr double normal_polynomial[] = {
    0x1.cb117353fd641p+0,  0x1.e3ced34e5f9a8p+0,   0x1.8dd2e53e25e53p-2,   0x1.3fe85c7308e46p-2,
    0x1.8bcd111fb81bap-4,  0x1.46e7a593e5e0fp-4,   0x1.b0d6477a2553fp-6,   0x1.77b97aa324844p-6,
    0x1.eb823a552b1bdp-8,  0x1.c89bf7a9b220dp-8,   0x1.177eef5324bb9p-9,   0x1.28d7d0957f0efp-9,
    0x1.6bab6b8265f2dp-11, 0x1.15cc7a5c5ed8ap-11,  0x1.cd3e089d0cf97p-18,  0x1.42aeddf4fbd07p-11,
    0x1.2b9a9315a6a8bp-12, -0x1.c14fcc262910bp-12, -0x1.ab4fb05e4d822p-13, 0x1.ec00f1f730336p-12,
    0x1.e3e6386df3bf7p-14, -0x1.c7de5af858769p-13, -0x1.bfe4b1d8595c2p-16, 0x1.f10462a816556p-15};
inline constexpr double normal_slope = 1.71875;  // c
inline constexpr double normal_shift = 4.5;      // d
inline constexpr double normal_approximation_bound = 6.5e-12;
inline constexpr double normal_rounding_bound = 5.6e-14;
inline constexpr double normal_error_bound = 0x1.0p-37;
static_assert(normal_approximation_bound + normal_rounding_bound < normal_error_bound);

// The largest |Y - y| of Gaussian noise, in units of the grid.
constexpr double normal_margin(double ratio) {
  return ratio * 0x1.01p-37 + 0x1p-52;
}
static_assert(normal_error_bound + 25 * 0x1p-53 < 0x1.01p-37);

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

// out[i] = the double nearest to the sample of words[i] and values[i], clamped, or NaN when it is undecided.
// `count` is a multiple of `stride`; needs a FloatEnvironment; `out` overlaps nothing.
using Kernel = Outcome (*)(const detail::SnapConstants& constants, const std::uint64_t* words,
                           const double* values, double* out, std::size_t count);

Kernel kernel_for(InstructionSet set);

}  // namespace snapdp::mechanism_internal::snap_kernel
