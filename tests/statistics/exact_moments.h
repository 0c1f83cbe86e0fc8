// The slow obvious statistics of rows of doubles, in rationals.
#pragma once

#include <vector>

#include "snapdp/framework/domain.h"

namespace snapdp {

inline Rational power(const Rational& base, int k) {
  Rational result = 1;
  for (int i = 0; i < k; ++i) result *= base;
  return result;
}

inline Rational center(const Bounds& bounds) {
  return (bounds.lower().rational() + bounds.upper().rational()) / 2;
}

// The slow obvious statistic: sum of (x - c)^k.
inline Rational power_sum(const std::vector<double>& rows, const Rational& c, int k) {
  Rational sum = 0;
  for (const double x : rows) sum += power(Rational(x) - c, k);
  return sum;
}

inline Rational product_sum(const std::vector<double>& x, const std::vector<double>& y, const Rational& c,
                            const Rational& d) {
  Rational sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (Rational(x[i]) - c) * (Rational(y[i]) - d);
  return sum;
}

inline Rational size_of(const std::vector<double>& rows) {
  return Rational(static_cast<double>(rows.size()));
}

inline Rational exact_covariance(const std::vector<double>& x, const std::vector<double>& y) {
  const Rational n = size_of(x);
  return product_sum(x, y, Rational(power_sum(x, 0, 1) / n), Rational(power_sum(y, 0, 1) / n)) / (n - 1);
}

}  // namespace snapdp
