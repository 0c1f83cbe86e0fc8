// The fast path of precision mode: the kernel of exact mode (snap_kernel.h) with another margin.
//
// In units of the grid, with r = scale / grid in (1/2, 1], D = (value - c) / grid and Z = z / grid, z as computed in
// arithmetic of p bits, a sample is floor(Z + 1/2), exactly. The kernel computes Y ~ Z - j for an integer j that it
// knows and accepts k = (nearest integer to Y) when |Y - k| <= 1/2 - precision_margin: then Z - j lies strictly inside
// (k - 1/2, k + 1/2), whatever the digits of U behind the first 63 are.
//
// Error bound. u = 2^-53, eta = 2^-p <= 2^-8; accepted samples have |ln U| <= 18 ln 2 < 12.48.
//   Between the real Laplace noise and p bits:
//   (1) U* <= U < U* (1 + 2 eta): |ln U* - ln U| < 2 eta, |ln U*| < 12.48 + 2 eta =: a
//   (2) L = RN_p(ln U*):    |L - ln U*| <= eta a
//   (3) n = RN_p(scale L):  |n / grid - r L| <= eta (1 + eta) a, as r <= 1
//   (4) z = RN_p(x + S n):  |Z - (D + S n / grid)| <= eta (B / grid + (1 + eta)^2 a)
//       together below eta (2 + 3.02 a + B / grid) < eta (40 + B / grid)
//   Between the real Laplace noise and doubles:
//   (5) the logarithm: ln_error_bound of snap_kernel.h
//   (6) RN(r) has a relative error up to u: 12.49 u in the noise
//   (7) n' = RN(RN(r) L'): 12.49 u
//   (8) f, the fraction of D: the fractions of value / grid (exact or below 2^-1074 for a double) and c / grid (up to
//       2^-55 off as a double) and the rounding of their difference, at most 1 in magnitude, 2^-54; or that of an exact
//       D, rounded, 2^-54: at most 0.75 u
//   (9) Y = RN(f + n'): (12.5 + 1) u
//       together below ln_error_bound + 39.3 u
// The constant below also covers the rounding of 1/2 - precision_margin.
#pragma once

#include "mechanism/snap_kernel.h"
#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/rational.h"

namespace snapdp::mechanism_internal {

inline constexpr double precision_ln_margin = 0x1.d8p-46;
static_assert(snap_kernel::ln_error_bound + 42 * 0x1p-53 < precision_ln_margin);

// The largest |Y - (Z - j)|, in units of the grid; `half_width_steps` = B / grid.
inline double precision_margin(long precision, const Rational& half_width_steps) {
  const Rational eta = Dyadic(Integer(1), -precision).rational();
  return to_double_up(Rational(precision_ln_margin) + eta * (40 + half_width_steps));
}

}  // namespace snapdp::mechanism_internal
