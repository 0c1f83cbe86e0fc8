// Certified real arithmetic: every number is an enclosure of a real number, every operation encloses its
// exact result, and a decision (a sign, a floor, a rounding) is taken only when the whole enclosure agrees.
//
// A formula is written once, as a generic function of the number type, and run by certify(): first on Fast
// (double-double with an error radius, about a hundred bits and a few dozen nanoseconds an operation), and
// when that leaves something undecided on Wide (MPFR intervals), with more bits each time. The result is
// therefore correctly rounded, and the same whichever type decided it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "numeric/shared/float_environment.h"
#include "numeric/shared/real.h"
#include "snapdp/numeric/rational.h"

namespace snapdp::numeric_internal::certified {

// Thrown by a decision that the enclosure does not settle, and by Fast outside its range; only certify() sees
// it.
struct Undecided {};

// Throws invalid_argument: what 4096 bits and MPFR's exponents leave undecided has numbers of absurd sizes.
[[noreturn]] void refuse_undecided();

// hi + lo, a double-double with |lo| <= ulp(hi) / 2, enclosing [hi + lo - radius, hi + lo + radius].
//
// The error bounds of the operations are those of Joldes, Muller and Popescu, "Tight and rigorous error
// bounds for basic building blocks of double-word arithmetic", ACM TOMS 44(2), 2017: relative to the result 3
// u^2 for a sum, 7 u^2 for a product, 15 u^2 for a quotient, to first order with u = 2^-53; we take 2^-101 =
// 32 u^2 for all. They hold without underflow and overflow, hence the range: a nonzero result of a product or
// quotient has a magnitude in [2^-400, 2^400] or Undecided is thrown. Round-to-nearest is assumed: certify()
// sees to it.
class Fast {
 public:
  Fast() = default;
  // Exactly `value`.
  explicit Fast(double value) : Fast(in_range(value), 0.0, 0.0) {}
  explicit Fast(const Rational& value);
  // value * 2^exponent.
  static Fast scaled(double value, long exponent);

  friend Fast operator-(const Fast& a) { return Fast(-a.hi_, -a.lo_, a.radius_); }
  friend Fast operator+(const Fast& a, const Fast& b);
  friend Fast operator-(const Fast& a, const Fast& b) { return a + -b; }
  friend Fast operator*(const Fast& a, const Fast& b);
  friend Fast operator/(const Fast& a, const Fast& b);
  // a * 2^k, exact.
  friend Fast ldexp(const Fast& a, int k);
  friend Fast sqrt(const Fast& a);
  friend Fast exp(const Fast& a);
  friend Fast expm1(const Fast& a);
  friend Fast log(const Fast& a);
  friend Fast log1p(const Fast& a);
  // See below, at the declarations for both.
  friend Fast normal_tail(const Fast& a);
  friend Fast normal_mass(const Fast& a);
  friend Fast sin_of_turns(const Fast& a);
  friend Fast cos_of_turns(const Fast& a);
  friend Fast widened(const Fast& a, const Fast& by);
  static Fast pi();
  // Relative to what operations lose, about.
  static long bits() { return 100; }

  friend int sign(const Fast& a);
  friend Fast floor(const Fast& a);
  // The double nearest to a * 2^exponent, or the next one in the named direction.
  friend double round_nearest(const Fast& a, long exponent);
  friend double round_up(const Fast& a, long exponent);
  friend double round_down(const Fast& a, long exponent);

  // A double near the number, for guesses.
  double approximately() const { return hi_; }
  friend double approximately(const Fast& a) { return a.hi_; }

 private:
  Fast(double hi, double lo, double radius) : hi_(hi), lo_(lo), radius_(radius) {}
  static double in_range(double value) {
    const double magnitude = std::fabs(value);
    if (magnitude != 0 && !(magnitude >= 0x1p-400 && magnitude <= 0x1p400)) throw Undecided();
    return value;
  }
  // Adds a distance to the enclosure.
  Fast widened(double by) const { return Fast(hi_, lo_, (radius_ + by) * (1 + 0x1p-50)); }

  double hi_ = 0;
  double lo_ = 0;
  double radius_ = 0;
};

// An interval of MPFR numbers with the precision of the innermost Wide::Precision in scope.
class Wide {
 public:
  // While it lives, new numbers of this thread have `bits` bits. `last` marks the last attempt: a sign that
  // stays undecided then counts as zero, a floor as the integer nearby, a rounding as the safe end of its
  // interval. With thousands of bits, an enclosure that still holds a rational number is that number.
  class Precision {
   public:
    Precision(mpfr_prec_t bits, bool last);
    ~Precision();
    Precision(const Precision&) = delete;
    Precision& operator=(const Precision&) = delete;

   private:
    mpfr_prec_t outer_bits_;
    bool outer_last_;
  };

  Wide();
  explicit Wide(double value);
  explicit Wide(const Rational& value);
  static Wide scaled(double value, long exponent);

  friend Wide operator-(const Wide& a);
  friend Wide operator+(const Wide& a, const Wide& b);
  friend Wide operator-(const Wide& a, const Wide& b);
  friend Wide operator*(const Wide& a, const Wide& b);
  friend Wide operator/(const Wide& a, const Wide& b);
  friend Wide ldexp(const Wide& a, int k);
  friend Wide sqrt(const Wide& a);
  friend Wide exp(const Wide& a);
  friend Wide expm1(const Wide& a);
  friend Wide log(const Wide& a);
  friend Wide log1p(const Wide& a);
  friend Wide normal_tail(const Wide& a);
  friend Wide normal_mass(const Wide& a);
  friend Wide sin_of_turns(const Wide& a);
  friend Wide cos_of_turns(const Wide& a);
  friend Wide widened(const Wide& a, const Wide& by);
  static Wide pi();
  // A double near the number, for guesses.
  friend double approximately(const Wide& a) { return mpfr_get_d(a.low_.get(), MPFR_RNDN); }
  // That new numbers of this thread have.
  static long bits();

  friend int sign(const Wide& a);
  friend Wide floor(const Wide& a);
  friend double round_nearest(const Wide& a, long exponent);
  friend double round_up(const Wide& a, long exponent);
  friend double round_down(const Wide& a, long exponent);
  // The ends of the enclosure, exactly; between 2^-65536 and 0 in magnitude, where a fraction may need a billion digits,
  // the farther out of the two. Throws Undecided beyond 2^65536.
  friend Rational lower_end(const Wide& a);
  friend Rational upper_end(const Wide& a);

 private:
  Real low_;
  Real high_;
};

// P(Z >= a) of a standard normal Z, with full relative accuracy; below e^-(4 10^8) it is enclosed with zero.
Fast normal_tail(const Fast& a);
Wide normal_tail(const Wide& a);
// P(0 <= Z <= a) for a >= 0, where Wide has full relative accuracy and Fast an absolute one.
Fast normal_mass(const Fast& a);
Wide normal_mass(const Wide& a);
// sin(2 pi a) and cos(2 pi a).
Fast sin_of_turns(const Fast& a);
Wide sin_of_turns(const Wide& a);
Fast cos_of_turns(const Fast& a);
Wide cos_of_turns(const Wide& a);
// Encloses all numbers between a - by and a + by, by >= 0.
Fast widened(const Fast& a, const Fast& by);
Wide widened(const Wide& a, const Wide& by);

// A rational that formulas read many times; converted to Fast once.
class Constant {
 public:
  Constant() = default;
  explicit Constant(Rational value) : value_(std::move(value)) {
    try {
      fast_ = Fast(value_);
    } catch (const Undecided&) {
    }
  }
  const Rational& value() const { return value_; }
  // A double near it, for guesses.
  double approximately() const { return fast_ ? fast_->approximately() : value_.get_d(); }

  template <typename Real>
  Real as() const {
    if constexpr (std::is_same_v<Real, Fast>) {
      if (!fast_) throw Undecided();
      return *fast_;
    } else {
      return Real(value_);
    }
  }

 private:
  Rational value_;
  std::optional<Fast> fast_;
};

// Runs formula(Fast()) and, while something stays undecided, formula(Wide()) with more and more bits. The
// formula takes its number type from its argument: [&](auto zero) { using Real = decltype(zero); ... }.
template <typename Formula>
auto certify(const Formula& formula) {
  {
    const FloatEnvironment environment;
    try {
      return formula(Fast());
    } catch (const Undecided&) {
    }
  }
  for (const mpfr_prec_t bits : {160, 640}) {
    const Wide::Precision precision(bits, false);
    try {
      return formula(Wide());
    } catch (const Undecided&) {
    }
  }
  // Enough for integers up to the ratio of any two doubles.
  const Wide::Precision precision(4096, true);
  try {
    return formula(Wide());
  } catch (const Undecided&) {
    refuse_undecided();
  }
}

// ---- Implementation of the inline part ----

namespace internal {

constexpr double operation_error = 0x1p-101;
constexpr double round_up_factor = 1 + 0x1p-50;  // covers the few roundings of a radius computation

// 2^k; throws Undecided when that is no normal double.
inline double power_of_two(long k) {
  if (k < -1022 || k > 1023) throw Undecided();
  return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
}

struct Pair {
  double hi;
  double lo;
};

inline Pair two_sum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

// Needs |a| >= |b| or a = 0.
inline Pair fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// Dekker's exact product; no fused multiply-add, so that every target gives the same bits.
inline Pair two_product(double a, double b) {
  constexpr double splitter = 0x1p27 + 1;
  const double pa = splitter * a;
  const double a_hi = pa - (pa - a);
  const double a_lo = a - a_hi;
  const double pb = splitter * b;
  const double b_hi = pb - (pb - b);
  const double b_lo = b - b_hi;
  const double product = a * b;
  return {product, ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
}

}  // namespace internal

inline Fast operator+(const Fast& a, const Fast& b) {
  const internal::Pair s = internal::two_sum(a.hi_, b.hi_);
  const bool exact = a.lo_ == 0 && b.lo_ == 0;
  if (exact && a.radius_ == 0 && b.radius_ == 0) return Fast(s.hi, s.lo, 0.0);
  const internal::Pair t = internal::two_sum(a.lo_, b.lo_);
  const internal::Pair v = internal::fast_two_sum(s.hi, s.lo + t.hi);
  const internal::Pair z = internal::fast_two_sum(v.hi, t.lo + v.lo);
  const double rounding = exact ? 0.0 : std::fabs(z.hi) * internal::operation_error;
  return Fast(z.hi, z.lo, (a.radius_ + b.radius_ + rounding) * internal::round_up_factor);
}

inline Fast operator*(const Fast& a, const Fast& b) {
  const internal::Pair c = internal::two_product(a.hi_, b.hi_);
  Fast::in_range(c.hi);
  const internal::Pair z = internal::fast_two_sum(c.hi, c.lo + (a.hi_ * b.lo_ + a.lo_ * b.hi_));
  const bool exact = a.lo_ == 0 && b.lo_ == 0;
  const double rounding = exact ? 0.0 : std::fabs(z.hi) * internal::operation_error;
  // |a b - a' b'| <= |a| rb + |b| ra + ra rb with |a| <= |a.hi| (1 + u).
  const double spread = std::fabs(a.hi_) * b.radius_ + std::fabs(b.hi_) * a.radius_ + a.radius_ * b.radius_;
  return Fast(z.hi, z.lo, (spread + rounding) * internal::round_up_factor);
}

}  // namespace snapdp::numeric_internal::certified
