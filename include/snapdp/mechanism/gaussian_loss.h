// The privacy of Gaussian noise: which (epsilon, delta) hold for N(0, scale^2) added to a statistic.
//
//   const Rational rho = gaussian_rho(1, 4);                    // 1/32: sensitivity 1, scale 4
//   gaussian_delta(rho, 1).upper;                               // 4.6...e-6: (1, that)-private
//   gaussian_epsilon(rho, Rational(1, 1'000'000)).upper;        // 1.1...: the least epsilon at that delta
//   gaussian_scale_up(1, 1, Rational(1, 1'000'000));            // 4.22...: the least scale for both
//
// Neighboring values y, y' are vectors at most Delta apart in L2; of one number that is |y - y'|. Only
// Delta / scale matters, and so rho = Delta^2 / (2 scale^2), the parameter of zero-concentrated privacy (Bun
// and Steinke, TCC 2016, Proposition 1.6): of several releases the rho add up, however they were chosen, and
// what follows from the sum is exactly what follows from one release with that rho. With mu = sqrt(2 rho),
//
//   delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)
//
// which is the least delta (Balle and Wang, ICML 2018, Theorem 8). Rounding the noisy value to a grid and
// clamping it adds nothing: the outputs are a function of it (proofs/make_gaussian.md).
//
// Results are enclosures with a relative width below 10^-28, so that `upper` is never below the truth and
// hardly above it. A delta below 2^-65536 is enclosed with zero; beyond epsilon or rho of 10^8 the ends still
// hold but may lie far apart. Functions throw invalid_argument naming the parameter.
#pragma once

#include "snapdp/numeric/enclosure.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

// Delta^2 / (2 scale^2), exactly, from Delta^2 >= 0 and scale > 0.
Rational gaussian_rho(const Rational& squared_sensitivity, const Rational& scale);

// The least delta, rho >= 0. Of any real epsilon, as in sums over other losses; it then lies between
// 1 - e^epsilon and 1.
Enclosure gaussian_delta(const Rational& rho, const Rational& epsilon);

// The least epsilon >= 0 for 0 < delta < 1; exactly 0 where delta(0) is small enough.
Enclosure gaussian_epsilon(const Rational& rho, const Rational& delta);

// The largest rho that keeps epsilon >= 0 and 0 < delta < 1: `lower` keeps them.
Enclosure gaussian_largest_rho(const Rational& epsilon, const Rational& delta);

// The least scale that does, for Delta^2 > 0: `upper` keeps them.
Enclosure gaussian_scale(const Rational& squared_sensitivity, const Rational& epsilon, const Rational& delta);
// The same rounded up to the next double, which keeps them. Throws naming "squared_sensitivity" when that is
// no normal double.
double gaussian_scale_up(const Rational& squared_sensitivity, const Rational& epsilon, const Rational& delta);

}  // namespace snapdp
