// First and second moments of out - y in units of the grid, y the clamped value; see output_tails.h for m, f and M. With
// u, l the bounds in units of the grid, out = M - (M - u)+ + (l - M)+. With K = ceil(u) and T(k) = P(M >= k),
//   E[(M - u)+] = (K - u) T(K) + sum over k > K of T(k)
//   E[(M - y)^2 - (u - y)^2; M >= K] = ((K - y)^2 - (u - y)^2) T(K) + sum over k > K of ((k - y)^2 - (k - 1 - y)^2) T(k).
// Below mirrors above.
#pragma once

#include "mechanism/output_tails.h"

namespace snapdp::mechanism_internal {

template <typename Real>
struct OutputMoments {
  Real first{};   // E[out - y]
  Real second{};  // E[(out - y)^2]
};

template <typename Real>
OutputMoments<Real> output_moments(const Noise& noise, double clamped, bool with_second) {
  const OutputTails<Real> tails(noise, clamped);
  const Real& f = tails.fraction();
  OutputMoments<Real> result;
  result.first = tails.drift();
  if (with_second) result.second = tails.mean_square();

  // What clamping to a bound takes away; the first output that is clamped is `index`.
  const auto cut = [&](double bound, double index, bool up) {
    const Real b = in_steps<Real>(bound, noise.grid);
    const Real y = tails.center() + f;
    const Real reach = up ? b - y : y - b;
    const Real j = up ? Real(index) - tails.center() : tails.center() - Real(index);
    const Real distance = j - (up ? f : -f);  // of that output from y
    const typename OutputTails<Real>::Beyond beyond = tails.beyond(j, up, with_second);
    const Real over = distance - reach;
    const Real lost = over * beyond.tail + beyond.sum;
    result.first = up ? result.first - lost : result.first + lost;
    if (with_second) result.second = result.second - over * (distance + reach) * beyond.tail - beyond.squares;
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
