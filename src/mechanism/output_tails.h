// The law of the output index, for formulas run by certify().
//
// Everything is in units of the grid. The clamped value is y = m + f with m an integer and -1/2 <= f < 1/2, and M is
// the index of the output before clamping. For j >= 1 Laplace and geometric noise have geometric tails, q = e^(-1/ratio):
//   P(M >= m + j) = A q^(j-1),  P(M <= m - j) = B q^(j-1),
//   Laplace:   A = e^(-(1/2 - f)/ratio) / 2,  B = e^(-(1/2 + f)/ratio) / 2
//   geometric: A = B = q / (1 + q), f = 0
// and Gaussian noise those of the normal law, Q(z) = P(Z >= z):
//   P(M >= m + j) = Q((j - 1/2 - f)/ratio),  P(M <= m - j) = Q((j - 1/2 + f)/ratio)
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "mechanism/least.h"
#include "mechanism/normal_sums.h"
#include "numeric/shared/certified.h"
#include "numeric/shared/normal_guess.h"
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
  if constexpr (std::is_same_v<Real, double>) {
    return std::ldexp(x, static_cast<int>(std::clamp(-grid.exponent(), -5000L, 5000L)));
  } else {
    return Real::scaled(x, -grid.exponent());
  }
}

// The least integer n >= 0 with start q^n <= limit.
template <typename Real>
Real steps_down_to(const Real& start, const Real& limit, const Real& ratio) {
  if (sign(start - limit) <= 0) return Real();
  return -floor(-(ratio * log(start / limit)));
}

// P(noise >= t) in units of the grid, for any t; not of geometric noise.
template <typename Real>
Real survival_of(NoiseKind kind, const Real& t, const Real& ratio) {
  using std::exp;
  if (kind == NoiseKind::gaussian) return normal_tail(t / ratio);
  if (sign(t) >= 0) return ldexp(exp(-t / ratio), -1);
  return Real(1.0) - ldexp(exp(t / ratio), -1);
}

template <typename Real>
class OutputTails {
 public:
  // `clamped` is the value after clamping.
  OutputTails(const Noise& noise, double clamped)
      : geometric_(noise.kind == NoiseKind::geometric),
        normal_(noise.kind == NoiseKind::gaussian),
        ratio_(in_steps<Real>(noise.scale.up(), noise.grid)),
        inverse_ratio_(Real(1.0) / ratio_),
        center_(round_index(clamped, noise.grid)),
        fraction_(in_steps<Real>(clamped, noise.grid) - center_) {
    using std::exp;
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
    using std::expm1;
    if (geometric_) return one_minus_q() * inverse_one_plus_q_;
    const Real half(0.5);
    if (normal_)
      return normal_mass((half - fraction_) * inverse_ratio_) +
             normal_mass((half + fraction_) * inverse_ratio_);
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
    const Real outer = side > 0 ? above(j) : below(-j);
    if (!normal_) return outer * one_minus_q();
    return outer - (side > 0 ? above(j + Real(1.0)) : below(Real(1.0) - j));
  }

  // P(0 <= N <= t), t >= 0 in units of the grid, of the noise N before rounding. Not of geometric noise.
  Real mass(const Real& t) const {
    using std::expm1;
    return normal_ ? normal_mass(t * inverse_ratio_) : ldexp(-expm1(-t * inverse_ratio_), -1);
  }

  // The least n >= 0 with start(n) <= limit (or, if `strictly`, < limit), where start(n) is the sum of P(M >= m + up + n)
  // and P(M <= m - down - n), of those given, and `start` is start(0); up, down >= 1.
  struct Sides {
    std::optional<Real> up;
    std::optional<Real> down;
  };
  Real steps_until_rare(const Real& start, const Sides& from, const Rational& limit,
                        bool strictly = false) const {
    const Real most(limit);
    if (!normal_) {
      if (!strictly) return steps_down_to(start, most, ratio_);
      return sign(start - most) < 0 ? Real() : floor(ratio_ * log(start / most)) + Real(1.0);
    }
    const auto is_rare = [&](const Integer& n) {
      const Real steps{Rational(n)};
      Real sum{};
      if (from.up) sum = above(*from.up + steps);
      if (from.down) sum = sum + below(*from.down + steps);
      const int side = sign(sum - most);
      return strictly ? side < 0 : side <= 0;
    };
    const double sides = from.up && from.down ? 2 : 1;
    const double score = guess_normal_score(std::min(guess_log(limit) - std::log(sides), -1e-9));
    return Real(Rational(least_integer(is_rare, score * approximately(ratio_))));
  }

  // What clamping to a bound takes off, from the output m + j or m - j on, j >= 0: with T(i) = P(M >= m + i), and by mirror
  // image below,
  //   tail = T(j),  sum = sum of T(i) over i > j,  squares = sum of ((i - f)^2 - (i - 1 - f)^2) T(i) over i > j.
  struct Beyond {
    Real tail{};
    Real sum{};
    Real squares{};
  };
  Beyond beyond(const Real& j, bool up, bool with_squares) const {
    const Real one(1.0);
    const Real offset = up ? fraction_ : -fraction_;  // the output m + j lies at distance j - offset
    const bool at_center_too = sign(j) <= 0;
    const Real first = up ? above(at_center_too ? one : j) : below(at_center_too ? one : j);
    Beyond result;
    result.tail = at_center_too ? at_center() + first : first;
    if (normal_) {
      const NormalSums<Real> sums(ratio_);
      const Real threshold = j + Real(0.5) - offset;
      result.sum = sums.tails(threshold);
      if (with_squares) result.squares = sums.moments(threshold);
      return result;
    }
    // Given M >= m + i, M - m - i is geometric with the mean e = q / (1 - q).
    const Real e = one / one_minus_q() - one;
    result.sum = at_center_too ? first * (one + e) : first * e;
    if (with_squares) result.squares = result.sum * (ldexp(j + one - offset + e, 1) - one);
    return result;
  }
  // E[M - y] and E[(M - y)^2].
  Real drift() const {
    if (normal_) return NormalSums<Real>(ratio_).drift(fraction_);
    const Real one(1.0);
    return (above(one) - below(one)) / one_minus_q() - fraction_;
  }
  Real mean_square() const {
    if (normal_) return NormalSums<Real>(ratio_).mean_square(fraction_);
    const Real one(1.0);
    const Real p = one_minus_q();
    const Real a = above(one);
    const Real b = below(one);
    return (a + b) * (Real(2.0) / p - one) / p - Real(2.0) * fraction_ * ((a - b) / p) +
           fraction_ * fraction_;
  }

  const Real& inverse_ratio() const { return inverse_ratio_; }
  // Of Laplace and geometric noise.
  Real one_minus_q() const {
    using std::expm1;
    return -expm1(-inverse_ratio_);
  }

 private:
  Real tail(const Real& j, const Real& shift) const {
    using std::exp;
    if (normal_) return normal_tail((j - Real(0.5) + shift) * inverse_ratio_);
    if (!geometric_) return ldexp(exp((Real(0.5) - j - shift) * inverse_ratio_), -1);
    const bool first = sign(j - Real(1.0)) == 0;
    return (first ? q_ : exp(-j * inverse_ratio_)) * inverse_one_plus_q_;
  }

  bool geometric_;
  bool normal_;
  Real ratio_;
  Real inverse_ratio_;
  Real center_;
  Real fraction_;
  // For geometric noise.
  Real q_{};
  Real inverse_one_plus_q_{};
};

}  // namespace snapdp::mechanism_internal
