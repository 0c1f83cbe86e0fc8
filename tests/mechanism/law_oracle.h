// The plain oracle: 800-bit MPFR, exact rationals, one term after the other. Slow and obvious.
#pragma once

#include <mpfr.h>

#include "snapdp/numeric/grid.h"
#include "snapdp/numeric/rational.h"

namespace snapdp::oracle {

class Number {
 public:
  Number() { mpfr_init2(value_, 800); }
  Number(const Rational& q) : Number() { mpfr_set_q(value_, q.get_mpq_t(), MPFR_RNDN); }  // NOLINT
  Number(double d) : Number() { mpfr_set_d(value_, d, MPFR_RNDN); }                       // NOLINT
  Number(const Number& other) : Number() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  Number& operator=(const Number& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~Number() { mpfr_clear(value_); }

  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }
  double nearest() const { return mpfr_get_d(value_, MPFR_RNDN); }
  double up() const { return mpfr_get_d(value_, MPFR_RNDU); }
  Rational rational() const {
    Rational q;
    mpfr_get_q(q.get_mpq_t(), value_);
    return q;
  }

  friend Number operator+(const Number& a, const Number& b) { return apply(mpfr_add, a, b); }
  friend Number operator-(const Number& a, const Number& b) { return apply(mpfr_sub, a, b); }
  friend Number operator*(const Number& a, const Number& b) { return apply(mpfr_mul, a, b); }
  friend Number operator/(const Number& a, const Number& b) { return apply(mpfr_div, a, b); }
  friend bool operator<(const Number& a, const Number& b) { return mpfr_less_p(a.value_, b.value_) != 0; }
  friend bool operator<=(const Number& a, const Number& b) {
    return mpfr_lessequal_p(a.value_, b.value_) != 0;
  }
  friend bool operator>(const Number& a, const Number& b) { return b < a; }

  template <typename Function>
  static Number unary(Function function, const Number& a) {
    Number result;
    function(result.value_, a.value_, MPFR_RNDN);
    return result;
  }

 private:
  template <typename Function>
  static Number apply(Function function, const Number& a, const Number& b) {
    Number result;
    function(result.value_, a.value_, b.value_, MPFR_RNDN);
    return result;
  }
  mpfr_t value_;
};

inline Number exp(const Number& a) {
  return Number::unary(mpfr_exp, a);
}
inline Number log(const Number& a) {
  return Number::unary(mpfr_log, a);
}

// P(Laplace(scale) >= t).
inline Number survival(const Rational& t, const Rational& scale) {
  const Number tail = exp(Number(Rational(-abs(t) / scale))) * Number(0.5);
  return t >= 0 ? tail : Number(1.0) - tail;
}

// P(grid floor((y + Laplace)/grid + 1/2) >= k grid).
inline Number at_least(const Integer& k, const Rational& y, const Rational& scale, Grid grid) {
  return survival((Rational(k) - Rational(1, 2)) * grid.spacing().rational() - y, scale);
}

// P(grid floor((y + Laplace)/grid + 1/2) < k grid).
inline Number below(const Integer& k, const Rational& y, const Rational& scale, Grid grid) {
  return survival(y - (Rational(k) - Rational(1, 2)) * grid.spacing().rational(), scale);
}

// P(|out - y| > a) without clamps, a >= 0.
inline Number miss(const Rational& a, const Rational& y, const Rational& scale, Grid grid) {
  const Rational unit = grid.spacing().rational();
  const Integer above = floor(Rational((y + a) / unit)) + 1;  // the first output above y + a
  const Integer inside = ceil(Rational((y - a) / unit));      // the first output not below y - a
  return at_least(above, y, scale, grid) + below(inside, y, scale, grid);
}

}  // namespace snapdp::oracle
