// Exact dyadic numbers m * 2^e: data values, bounds, grid points and the statistics before noise.
#pragma once

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "snapdp/numeric/rational.h"

namespace snapdp {

class Dyadic {
 public:
  Dyadic() = default;
  Dyadic(int value) : mantissa_(value) { normalize(); }  // NOLINT: the obvious implicit conversions
  Dyadic(std::int64_t value);                            // NOLINT
  // The number a finite double is; throws invalid_argument on NaN and infinities.
  Dyadic(double value);  // NOLINT
  Dyadic(Integer mantissa, long exponent) : mantissa_(std::move(mantissa)), exponent_(exponent) {
    normalize();
  }

  // Odd, or zero with exponent zero, so that equal numbers have equal fields.
  const Integer& mantissa() const noexcept { return mantissa_; }
  long exponent() const noexcept { return exponent_; }
  int sign() const noexcept { return sgn(mantissa_); }
  bool is_integer() const noexcept { return exponent_ >= 0; }

  Rational rational() const;
  // See rational.h for directions and overflow.
  double to_double_down() const;
  double to_double_up() const;
  double to_double_nearest() const;
  // True when some double is exactly this number.
  bool is_double() const;
  // Whether the number is an integer in the range of std::int64_t, and that integer when it is.
  bool is_int64() const;
  std::int64_t to_int64() const { return rational().get_num().get_si(); }

  Dyadic operator-() const { return Dyadic(-mantissa_, exponent_); }
  friend Dyadic operator+(const Dyadic& a, const Dyadic& b);
  friend Dyadic operator-(const Dyadic& a, const Dyadic& b);
  friend Dyadic operator*(const Dyadic& a, const Dyadic& b);
  Dyadic& operator+=(const Dyadic& other) { return *this = *this + other; }
  Dyadic& operator-=(const Dyadic& other) { return *this = *this - other; }
  friend bool operator==(const Dyadic& a, const Dyadic& b) {
    return a.exponent_ == b.exponent_ && a.mantissa_ == b.mantissa_;
  }
  friend std::strong_ordering operator<=>(const Dyadic& a, const Dyadic& b);

 private:
  void normalize();
  Integer mantissa_ = 0;
  long exponent_ = 0;
};

Dyadic abs(const Dyadic& value);
// value * 2^k.
Dyadic scale_by_power_of_two(const Dyadic& value, long k);

// The number as a dyadic when it is one (its denominator a power of two); throws invalid_argument naming
// `parameter` otherwise.
Dyadic to_dyadic(const Rational& value, std::string_view parameter);

// As for Rational: a decimal of at most 40 significant digits, otherwise "p/q". Reads back exactly.
std::string to_string(const Dyadic& value);
std::ostream& operator<<(std::ostream& out, const Dyadic& value);

}  // namespace snapdp
