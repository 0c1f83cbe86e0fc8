#include "snapdp/numeric/dyadic.h"

#include <cmath>
#include <ostream>

#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

Integer shifted(const Integer& mantissa, long shift) {
  return mantissa << static_cast<unsigned long>(shift);
}

}  // namespace

Dyadic::Dyadic(std::int64_t value) : mantissa_(static_cast<long>(value)) {
  static_assert(sizeof(long) == sizeof(std::int64_t), "SnapDP supports 64-bit Unix targets");
  normalize();
}

Dyadic::Dyadic(double value) {
  const FloatEnvironment environment;
  if (!std::isfinite(value)) {
    throw Error(ErrorCode::invalid_argument, "value",
                "value = " + to_string(value) + ": must be a finite number");
  }
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  mantissa_ = std::ldexp(fraction, 53);
  exponent_ = exponent - 53;
  normalize();
}

void Dyadic::normalize() {
  if (mantissa_ == 0) {
    exponent_ = 0;
    return;
  }
  const mp_bitcnt_t zeros = mpz_scan1(mantissa_.get_mpz_t(), 0);
  if (zeros == 0) return;
  mantissa_ >>= zeros;
  exponent_ += static_cast<long>(zeros);
}

Rational Dyadic::rational() const {
  if (exponent_ >= 0) return Rational(shifted(mantissa_, exponent_));
  // Already in lowest terms: the mantissa is odd.
  return Rational(mantissa_, shifted(Integer(1), -exponent_));
}

double Dyadic::to_double_down() const {
  return snapdp::to_double_down(rational());
}
double Dyadic::to_double_up() const {
  return snapdp::to_double_up(rational());
}
double Dyadic::to_double_nearest() const {
  if (exponent_ >= -1074 && exponent_ <= 970 && mpz_sizeinbase(mantissa_.get_mpz_t(), 2) <= 53) {
    const FloatEnvironment environment;
    return std::ldexp(mantissa_.get_d(), static_cast<int>(exponent_));
  }
  return snapdp::to_double_nearest(rational());
}

bool Dyadic::is_double() const {
  const long bits = static_cast<long>(mpz_sizeinbase(mantissa_.get_mpz_t(), 2));
  return mantissa_ == 0 || (bits <= 53 && exponent_ >= -1074 && bits + exponent_ <= 1024);
}

bool Dyadic::is_int64() const {
  if (exponent_ < 0 || exponent_ > 63) return false;
  return mpz_fits_slong_p(shifted(mantissa_, exponent_).get_mpz_t()) != 0;
}

Dyadic operator+(const Dyadic& a, const Dyadic& b) {
  if (a.exponent_ >= b.exponent_) {
    return Dyadic(shifted(a.mantissa_, a.exponent_ - b.exponent_) + b.mantissa_, b.exponent_);
  }
  return b + a;
}

Dyadic operator-(const Dyadic& a, const Dyadic& b) {
  return a + -b;
}

Dyadic operator*(const Dyadic& a, const Dyadic& b) {
  return Dyadic(a.mantissa_ * b.mantissa_, a.exponent_ + b.exponent_);
}

std::strong_ordering operator<=>(const Dyadic& a, const Dyadic& b) {
  if (a.sign() != b.sign()) return a.sign() <=> b.sign();
  // Powers of two decide most comparisons without arithmetic.
  const auto magnitude = [](const Dyadic& x) {
    return static_cast<long>(mpz_sizeinbase(x.mantissa_.get_mpz_t(), 2)) + x.exponent_;
  };
  if (a.sign() != 0 && magnitude(a) != magnitude(b)) {
    return a.sign() > 0 ? magnitude(a) <=> magnitude(b) : magnitude(b) <=> magnitude(a);
  }
  const int sign = (a - b).sign();
  return sign <=> 0;
}

Dyadic abs(const Dyadic& value) {
  return value.sign() < 0 ? -value : value;
}

Dyadic scale_by_power_of_two(const Dyadic& value, long k) {
  return Dyadic(value.mantissa(), value.exponent() + k);
}

Dyadic to_dyadic(const Rational& value, std::string_view parameter) {
  const Integer& denominator = value.get_den();
  if (mpz_popcount(denominator.get_mpz_t()) != 1) {
    throw Error(
        ErrorCode::invalid_argument, std::string(parameter),
        std::string(parameter) + " = " + to_string(value) +
            ": must be a whole number of halves, quarters, eighths ...: no binary number is exactly this "
            "one; round it to a multiple of a power of two");
  }
  return Dyadic(value.get_num(), -static_cast<long>(mpz_scan1(denominator.get_mpz_t(), 0)));
}

std::string to_string(const Dyadic& value) {
  return to_string(value.rational());
}

std::ostream& operator<<(std::ostream& out, const Dyadic& value) {
  return out << to_string(value);
}

}  // namespace snapdp
