// First and second moments of out - y in units of the grid, y the clamped value; see output_tails.h for m, f, A, B, q
// and M. With u, l the bounds in units of the grid and out = M - (M - u)+ + (l - M)+,
//   E[M - y]     = (A - B) / (1 - q) - f
//   E[(M - y)^2] = (A + B) (1 + q) / (1 - q)^2 - 2 f (A - B) / (1 - q) + f^2
// and given M >= k > m, M - k is geometric: mean e = q / (1 - q), mean square e + 2 e^2. So with K = ceil(u) > m
//   E[(M - u)+] = P(M >= K) (K - u + e)
//   E[(M - y)^2 - (u - y)^2; M >= K] = P(M >= K) ((K - u) (K - y + u - y) + 2 (K - y) e + e + 2 e^2).
// When K = m, the centre itself is clamped: its term is added to those with m + 1 for K. Below mirrors above.
#pragma once

#include "mechanism/output_tails.h"

namespace snapdp::mechanism_internal {

template <typename Real>
struct OutputMoments {
  Real first;   // E[out - y]
  Real second;  // E[(out - y)^2]
};

template <typename Real>
OutputMoments<Real> output_moments(const Noise& noise, double clamped, bool with_second) {
  const OutputTails<Real> tails(noise, clamped);
  const Real zero;
  const Real one(1.0);
  const Real p = tails.one_minus_q();
  const Real e = one / p - one;
  const Real& f = tails.fraction();
  const Real above = tails.above(one);
  const Real below = tails.below(one);
  OutputMoments<Real> result;
  // Given M > m or M < m, |M - m| is 1 plus a geometric variable.
  const Real drift = (above - below) / p;
  result.first = drift - f;
  if (with_second)
    result.second = (above + below) * (one + Real(2.0) * e) / p - Real(2.0) * f * drift + f * f;

  // What clamping to the bound at distance `reach` from y takes away, on the side where outputs lie at m + j - y =
  // j - side: `first` outputs are beyond it from j = `first` on.
  const auto cut = [&](double bound, double first_index, bool up) {
    const Real b = in_steps<Real>(bound, noise.grid);
    const Real y = tails.center() + f;
    const Real reach = up ? b - y : y - b;
    const auto excess = [&](const Real& distance, const Real& mean, const Real& square) {
      // E[(D - reach)] and E[D^2 - reach^2] for D = distance + a variable with this mean and mean square.
      const Real over = distance - reach;
      return OutputMoments<Real>{over + mean, over * (distance + reach) + ldexp(distance * mean, 1) + square};
    };
    Real j = up ? Real(first_index) - tails.center() : tails.center() - Real(first_index);
    Real lost_first;
    Real lost_second;
    const Real offset = up ? f : -f;  // the output m + j lies at distance j - offset
    if (sign(j) <= 0) {
      const Real weight = tails.at_center();
      const OutputMoments<Real> part = excess(-offset, zero, zero);
      lost_first = weight * part.first;
      lost_second = weight * part.second;
      j = one;
    }
    const Real weight = up ? tails.above(j) : tails.below(j);
    const OutputMoments<Real> part = excess(j - offset, e, e + ldexp(e * e, 1));
    lost_first = lost_first + weight * part.first;
    result.first = up ? result.first - lost_first : result.first + lost_first;
    if (with_second) result.second = result.second - lost_second - weight * part.second;
  };
  if (noise.upper) cut(*noise.upper, ceil_index(*noise.upper, noise.grid), true);
  if (noise.lower) cut(*noise.lower, floor_index(*noise.lower, noise.grid), false);
  return result;
}

// E[out] - guess in units of the grid; a guess outside the bounds is clamped by the mechanism, not by us.
template <typename Real>
Real bias_in_steps(const Noise& noise, double guess, double clamped) {
  Real moved = output_moments<Real>(noise, clamped, false).first;
  if (guess == clamped) return moved;
  return moved + in_steps<Real>(clamped, noise.grid) - in_steps<Real>(guess, noise.grid);
}

}  // namespace snapdp::mechanism_internal
