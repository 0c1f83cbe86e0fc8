// The law of the output index, in closed form, for formulas run by certify().
//
// Everything is in units of the grid. The clamped value is y = m + f with m an integer and -1/2 <= f < 1/2, and M is
// the index of the output before clamping. For j >= 1 both kinds of noise have geometric tails with q = e^(-1/ratio):
//   P(M >= m + j) = A q^(j-1),  P(M <= m - j) = B q^(j-1),
//   Laplace:   A = e^(-(1/2 - f)/ratio) / 2,  B = e^(-(1/2 + f)/ratio) / 2
//   geometric: A = B = q / (1 + q), f = 0
#pragma once

#include <algorithm>
#include <cmath>

#include "numeric/shared/certified.h"
#include "snapdp/mechanism/law.h"

namespace snapdp::mechanism_internal {

using namespace numeric_internal;

// Throw invalid_argument naming the offending field.
void check_grid(Grid grid);
void check_noise(const Noise& noise);
// The same wherever the bounds lie.
void check_shape(const Noise& noise);
// Also checks the value; returns it clamped to the bounds.
double checked_value(const Noise& noise, double value, const char* parameter);

// floor(x / grid) and ceil(x / grid) for |x / grid| <= 2^53, exact even where the quotient is not a normal double.
double floor_index(double x, Grid grid);
double ceil_index(double x, Grid grid);
// floor(x / grid + 1/2).
double round_index(double x, Grid grid);

// A grid of values in units of that of the outputs is 2^-places. A coarser one consists of outputs, like 1 = 2^-0.
inline int places_of(Grid values, Grid outputs) {
  return static_cast<int>(std::max(outputs.exponent() - values.exponent(), 0L));
}

// True when the law of the outputs is symmetric about the clamped value, as far as doubles tell.
bool is_symmetric(const Noise& noise, double clamped);

// x / grid, exact.
template <typename Real>
Real in_steps(double x, Grid grid) {
  return Real::scaled(x, -grid.exponent());
}

// The least integer n >= 0 with start q^n <= limit.
template <typename Real>
Real steps_down_to(const Real& start, const Real& limit, const Real& ratio) {
  if (sign(start - limit) <= 0) return Real();
  return -floor(-(ratio * log(start / limit)));
}

template <typename Real>
class OutputTails {
 public:
  // `clamped` is the value after clamping.
  OutputTails(const Noise& noise, double clamped)
      : geometric_(noise.kind == NoiseKind::geometric),
        ratio_(in_steps<Real>(noise.scale.up(), noise.grid)),
        inverse_ratio_(Real(1.0) / ratio_),
        center_(round_index(clamped, noise.grid)),
        fraction_(in_steps<Real>(clamped, noise.grid) - center_) {
    if (geometric_) {
      q_ = exp(-inverse_ratio_);
      inverse_one_plus_q_ = Real(1.0) / (Real(1.0) + q_);
    }
  }

  const Real& ratio() const { return ratio_; }
  // m and f.
  const Real& center() const { return center_; }
  const Real& fraction() const { return fraction_; }

  // P(M >= m + j) and P(M <= m - j) for an integer j >= 1.
  Real above(const Real& j) const { return tail(j, -fraction_); }
  Real below(const Real& j) const { return tail(j, fraction_); }
  // P(M = m), without cancellation.
  Real at_center() const {
    if (geometric_) return one_minus_q() * inverse_one_plus_q_;
    const Real half(0.5);
    return ldexp(-expm1((fraction_ - half) * inverse_ratio_) - expm1(-(half + fraction_) * inverse_ratio_),
                 -1);
  }
  // P(M >= k) and P(M <= k) for any integer k.
  Real at_least(const Real& k) const {
    const Real j = k - center_;
    return sign(j) > 0 ? above(j) : Real(1.0) - below(Real(1.0) - j);
  }
  Real at_most(const Real& k) const {
    const Real j = center_ - k;
    return sign(j) > 0 ? below(j) : Real(1.0) - above(Real(1.0) - j);
  }
  // P(M = k).
  Real at(const Real& k) const {
    const Real j = k - center_;
    const int side = sign(j);
    if (side == 0) return at_center();
    return (side > 0 ? above(j) : below(-j)) * one_minus_q();
  }

  const Real& inverse_ratio() const { return inverse_ratio_; }
  Real one_minus_q() const { return -expm1(-inverse_ratio_); }

 private:
  Real tail(const Real& j, const Real& shift) const {
    if (!geometric_) return ldexp(exp((Real(0.5) - j - shift) * inverse_ratio_), -1);
    const bool first = sign(j - Real(1.0)) == 0;
    return (first ? q_ : exp(-j * inverse_ratio_)) * inverse_one_plus_q_;
  }

  bool geometric_;
  Real ratio_;
  Real inverse_ratio_;
  Real center_;
  Real fraction_;
  // For geometric noise.
  Real q_;
  Real inverse_one_plus_q_;
};

}  // namespace snapdp::mechanism_internal
