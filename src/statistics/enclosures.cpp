#include "statistics/enclosures.h"

#include <algorithm>

namespace snapdp::statistics_internal {

Interval operator+(const Interval& a, const Interval& b) {
  return {a.low + b.low, a.high + b.high};
}

Interval operator-(const Interval& a, const Interval& b) {
  return {a.low - b.high, a.high - b.low};
}

Interval operator*(const Interval& a, const Interval& b) {
  const auto [low, high] = std::minmax({Rational(a.low * b.low), Rational(a.low * b.high),
                                        Rational(a.high * b.low), Rational(a.high * b.high)});
  return {low, high};
}

Interval operator/(const Interval& a, const Interval& b) {
  return a * Interval{1 / b.high, 1 / b.low};
}

Interval square(const Interval& a) {
  const Interval product = a * a;
  return {std::max(product.low, Rational(0)), product.high};
}

Rational magnitude(const Interval& a) {
  return std::max(Rational(-a.low), a.high);
}

std::optional<Interval> intersection(const Interval& a, const Interval& b) {
  const Interval both{std::max(a.low, b.low), std::min(a.high, b.high)};
  if (both.low > both.high) return std::nullopt;
  return both;
}

double half_width(double released, const Interval& range, const std::optional<Interval>& enclosure) {
  const Interval left = enclosure ? intersection(range, *enclosure).value_or(range) : range;
  const Rational value(released);
  return to_double_up(std::max({Rational(left.high - value), Rational(value - left.low), Rational(0)}));
}

Root root(const Rational& value) {
  if (value <= 0) return {0, 0};
  constexpr long bits = 132;
  const auto size = [](const Integer& integer) {
    return static_cast<long>(mpz_sizeinbase(integer.get_mpz_t(), 2));
  };
  const long shift = std::max(0L, (bits + size(value.get_den()) - size(value.get_num())) / 2);
  const Integer unit = Integer(1) << static_cast<mp_bitcnt_t>(shift);
  // floor(sqrt(floor(x))) = floor(sqrt(x)).
  const Integer whole = sqrt(floor(Rational(value * unit * unit)));
  return {Rational(Rational(whole) / unit), Rational(Rational(whole + 1) / unit)};
}

Rational largest_covariance(const Bounds& x, const Bounds& y) {
  return x.width().rational() * y.width().rational() / 2;
}

Interval variance_range(const Bounds& bounds) {
  return {0, largest_covariance(bounds, bounds)};
}

Interval covariance_range(const Bounds& x, const Bounds& y) {
  const Rational largest = largest_covariance(x, y);
  return {-largest, largest};
}

Rational largest_rounding(const Rational& largest) {
  return largest / (Integer(1) << 53) + Dyadic(Integer(1), -1075).rational();
}

}  // namespace snapdp::statistics_internal
