// Sums over the tails of rounded Gaussian noise, which have no closed form: for biases and variances. Formulas run by
// certify(), and on doubles for guesses.
//
// In units of the grid, with r = ratio and Q(z) = P(Z >= z), for a threshold t:
//   tails(t)      sum over i >= 0 of Q((t + i) / r)
//   moments(t)    sum over i >= 0 of 2 (t + i) Q((t + i) / r)
//   integrals(t)  sum over i >= 0 of r L((t + i) / r),  L(z) = integral of Q from z on = phi(z) - z Q(z)
//
// A sum of many terms is an integral and its corrections (Euler and Maclaurin, midpoint rule): with a = t - 1/2,
//   sum of f(t + i) = integral of f from a on - sum over k = 1 ... p of c_k f^(2k-1)(a) + R,
//   c_k = B_2k(1/2) / (2k)!,  x/2 / sinh(x/2) = sum of c_k x^2k,
//   |R| <= |B_2p| / (2p)! integral of |f^(2p)| from a on,  |B_2p| / (2p)! < 3.3 / (2 pi)^2p.
// The derivatives of Q are Hermite functions, Q^(n) = (-1)^n He_(n-1) phi, and by Cramer's inequality |He_n(z)| phi(z) <
// 0.44 sqrt(n!) e^(-z^2/4). With that |R| is below r or r^2 times 14 (2 pi r)^-2p sqrt((2p)!) e^(-z^2/4), z = a / r.
//
// What rounding alone does to a value with the fraction f is periodic in it (Poisson's summation formula): with E_j =
// e^(-2 pi^2 j^2 r^2),
//   E[M - y]     = sum over j >= 1 of (-1)^j sin(2 pi j f) E_j / (pi j)
//   E[(M - y)^2] = r^2 + 1/12 + sum of (-1)^j cos(2 pi j f) E_j (1 / (pi j)^2 + 4 r^2)
// the latter as E[(M - X)^2] + 2 E[(M - X) N] + E[N^2] for X = y + N, with E[N g(y + N)] = r^2 E[g'(y + N)].
#pragma once

#include <cmath>
#include <numbers>
#include <type_traits>
#include <vector>

#include "mechanism/double_formulas.h"
#include "numeric/shared/certified.h"

namespace snapdp::mechanism_internal {

using namespace numeric_internal;

template <typename Real>
class NormalSums {
 public:
  explicit NormalSums(const Real& ratio) : r_(ratio), size_(approximately(ratio)) {}

  // t >= 0 here, and t >= 1/2 where the ratio is 1/2 or more.
  Real tails(const Real& t) const { return sum(t, What::tails); }
  Real moments(const Real& t) const { return sum(t, What::moments); }
  Real integrals(const Real& t) const { return sum(t, What::integrals); }

  // E[M - y] and E[(M - y)^2] for y = m + f, -1/2 <= f <= 1/2.
  Real drift(const Real& f) const {
    const Real half(0.5);
    const bool up = sign(f) >= 0;
    const Real lean = up ? f : -f;
    // As (-1)^j sin(2 pi j f) = -sin(2 pi j (1/2 - f)), what is left near 1/2 is small as well.
    const Real other = half - lean;
    if (sign(lean) == 0 || sign(other) == 0) return Real();
    if (size_ < least_for_fourier) return tails(half - f) - tails(half + f) - f;
    const bool near_half = approximately(lean) > 0.25;
    const Real& h = near_half ? other : lean;
    const auto term = [&](long j, const Real& e) {
      const Real wave =
          sin_of_turns(Real(static_cast<double>(j)) * h) * e / (pi() * Real(static_cast<double>(j)));
      return near_half || j % 2 != 0 ? -wave : wave;
    };
    // |sin(2 pi j h)| / (pi j) <= 2 h.
    const Real sum = fourier(term, ldexp(h, 1));
    return up ? sum : -sum;
  }
  Real mean_square(const Real& f) const {
    const Real half(0.5);
    if (size_ < least_for_fourier) return f * f + moments(half - f) + moments(half + f);
    const auto term = [&](long j, const Real& e) {
      const Real k(static_cast<double>(j));
      const Real wave = cos_of_turns(k * f) * e * factor(k);
      return j % 2 != 0 ? -wave : wave;
    };
    return r_ * r_ + Real(1.0) / Real(12.0) + fourier(term, factor(Real(1.0)));
  }
  // The integral of the drift as the fraction goes from 0 to f.
  Real drift_integral(const Real& f) const {
    const Real half(0.5);
    if (size_ < least_for_fourier) {
      return integrals(half - f) + integrals(half + f) - ldexp(integrals(half), 1) - ldexp(f * f, -1);
    }
    const auto term = [&](long j, const Real& e) {
      const Real k(static_cast<double>(j));
      const Real wave = (cos_of_turns(k * f) - Real(1.0)) * e / ldexp(pi() * pi() * k * k, 1);
      return j % 2 != 0 ? wave : -wave;
    };
    return fourier(term, Real(1.0));
  }
  // L(z).
  static Real loss(const Real& z) { return density(z) - z * normal_tail(z); }

 private:
  enum class What { tails, moments, integrals };
  static constexpr double least_for_fourier = 0.5;

  static Real pi() {
    if constexpr (std::is_same_v<Real, double>) {
      return std::numbers::pi;
    } else {
      return Real::pi();
    }
  }
  static double bits() {
    if constexpr (std::is_same_v<Real, double>) {
      return 53;
    } else {
      return static_cast<double>(Real::bits());
    }
  }
  static Real density(const Real& z) {
    using std::exp;
    using std::sqrt;
    return exp(-ldexp(z * z, -1)) / sqrt(ldexp(pi(), 1));
  }
  Real factor(const Real& j) const {
    const Real angle = pi() * j;
    return Real(1.0) / (angle * angle) + ldexp(r_ * r_, 2);
  }

  // The sum of term(j, E_j) over j >= 1, |term(j, e)| <= most * e; for a ratio of 1/2 or more, where E_(j+1) < E_j / 2^21.
  template <typename Term>
  Real fourier(const Term& term, const Real& most) const {
    using std::exp;
    const double rate = 2 * std::numbers::pi * std::numbers::pi * size_ * size_;
    const Real exponent = ldexp(pi() * pi() * r_ * r_, 1);
    // Below e^-1700 nothing is left of a double, whatever it is multiplied by; Fast has no numbers below 2^-400.
    const double farthest = std::is_same_v<Real, certified::Fast> ? 277 : 1700;
    Real sum{};
    for (long j = 1;; ++j) {
      const double square = static_cast<double>(j) * static_cast<double>(j);
      const Real e = exp(-(exponent * Real(square)));
      if (rate * square > farthest || rate * (square - 1) > (bits() + 8) * std::numbers::ln2)
        return widened(sum, ldexp(most * e, 1));
      sum = sum + term(j, e);
    }
  }

  Real sum(const Real& t, What what) const {
    const double start = approximately(t) / size_;
    // Less than anything that matters; and a ratio may be beyond the doubles.
    constexpr double farthest = 1000;
    if (!(start < farthest)) return term_by_term(t, what, 1);
    // Terms until they have fallen by a factor 2^bits, or below anything that a double could hold.
    const double wanted = std::min((bits() + 12) * std::numbers::ln2 + std::log1p(size_), 1700.0);
    const double end = std::max(std::sqrt(start * start + 2 * wanted), 1.5);
    const double count = std::ceil((end - start) * size_) + 1;
    constexpr double few = 48;
    if (!(count <= few)) {
      const int order = order_for((approximately(t) - 0.5) / size_);
      if (order > 0) return by_integral(t, what, order);
    }
    constexpr double most_terms = 1e6;
    if (!(count <= most_terms)) {
      if constexpr (std::is_same_v<Real, double>) return std::nan("");
      throw certified::Undecided();
    }
    return term_by_term(t, what, static_cast<long>(count));
  }

  Real term_by_term(const Real& t, What what, long count) const {
    const Real one(1.0);
    Real sum{};
    for (long i = 0;; ++i) {
      const Real x = t + Real(static_cast<double>(i));
      const Real z = x / r_;
      const Real tail = normal_tail(z);
      if (i == count) {
        // What is left is at most a term and the integral from there on, z > 1: L(z) < Q(z) / z, and the integral of 2 w Q
        // is below that of 2 phi, of L below Q / z^2.
        const Real inverse = r_ / z;
        Real left = tail * (one + inverse);
        if (what == What::moments) left = ldexp(r_ * tail * (z + r_), 1);
        if (what == What::integrals) left = tail * inverse * (one + inverse);
        return widened(sum, left);
      }
      Real term = tail;
      if (what == What::moments) term = ldexp(x * tail, 1);
      if (what == What::integrals) term = r_ * (density(z) - z * tail);
      sum = sum + term;
    }
  }

  // ln of the bound of |R| / r^(1 or 2) of p terms at z.
  double log_rest(int p, double z) const {
    return std::log(14.0) - 2 * p * std::log(2 * std::numbers::pi * size_) + std::lgamma(2.0 * p + 1) / 2 -
           z * z / 4;
  }
  // How many terms of the corrections are enough; 0 when no number is.
  int order_for(double z) const {
    constexpr int most = 1500;
    const double main = -z * z / 2 - std::log(2.6 * (1 + z * z));  // about ln L(z)
    const double target = std::max(main - (bits() + 8) * std::numbers::ln2, -1700.0);
    for (int p = 1; p <= most; ++p) {
      const double rest = log_rest(p, z);
      if (rest <= target) return p;
      if (p > 1 && rest > log_rest(p - 1, z)) return 0;
    }
    return 0;
  }

  Real by_integral(const Real& t, What what, int order) const {
    using std::exp;
    const Real one(1.0);
    const Real z = (t - Real(0.5)) / r_;
    const Real tail = normal_tail(z);
    const Real phi = density(z);
    const Real square = r_ * r_;
    const Real inverse = one / square;
    // f is r or r^2 times what is summed here.
    Real sum = phi - z * tail;
    if (what == What::moments) sum = (one - z * z) * tail + z * phi;
    if (what == What::integrals) sum = ldexp((one + z * z) * tail - z * phi, -1);
    const std::vector<Real> c = corrections(order);
    // He_(2k-3) and He_(2k-2), from k = 1 on: He_(n+1) = z He_n - n He_(n-1).
    Real before{};
    Real hermite = one;
    Real power = one;  // r^-2k
    for (int k = 1; k <= order; ++k) {
      power = power * inverse;
      Real term{};
      if (what == What::tails) {
        term = hermite * phi;
      } else if (what == What::moments) {
        term = ldexp(k == 1 ? z * phi - tail : phi * (z * hermite - Real(2.0 * k - 1) * before), 1);
      } else {
        term = k == 1 ? tail : before * phi;
      }
      sum = sum + c[static_cast<std::size_t>(k)] * power * term;
      for (const int n : {2 * k - 2, 2 * k - 1}) {
        const Real next = z * hermite - Real(static_cast<double>(n)) * before;
        before = hermite;
        hermite = next;
      }
    }
    const double rest = log_rest(order, std::max(approximately(z), 0.0));
    sum = widened(sum, exp(Real(std::max(rest, -5000.0) + 1)));  // the logarithm is one of doubles
    return sum * (what == What::tails ? r_ : square);
  }

  // c_0 ... c_order, from (sum of c_k x^2k) (sum of x^2k / (4^k (2k+1)!)) = 1.
  static std::vector<Real> corrections(int order) {
    std::vector<Real> c{Real(1.0)};
    std::vector<Real> inverse{Real(1.0)};
    for (int n = 1; n <= order; ++n) {
      inverse.push_back(inverse.back() / Real(8.0 * n * (2.0 * n + 1)));
      Real sum{};
      for (int k = 1; k <= n; ++k)
        sum = sum + c[static_cast<std::size_t>(n - k)] * inverse[static_cast<std::size_t>(k)];
      c.push_back(-sum);
    }
    return c;
  }

  Real r_;
  double size_;
};

}  // namespace snapdp::mechanism_internal
