#include "numeric/shared/normal_guess.h"

#include <cmath>
#include <numbers>

namespace snapdp::numeric_internal {

double guess_log(const Rational& value) {
  signed long above = 0;
  signed long below = 0;
  const double numerator = mpz_get_d_2exp(&above, value.get_num_mpz_t());
  const double denominator = mpz_get_d_2exp(&below, value.get_den_mpz_t());
  return std::log(numerator / denominator) + static_cast<double>(above - below) * std::numbers::ln2;
}

double guess_log_normal_tail(double z) {
  if (z < -5) return std::log1p(-std::erfc(-z / std::numbers::sqrt2) / 2);
  if (z < 25) return std::log(std::erfc(z / std::numbers::sqrt2) / 2);
  const double w = 1 / (z * z);
  return -z * z / 2 - std::log(z * std::sqrt(2 * std::numbers::pi)) +
         std::log1p(-w * (1 - 3 * w * (1 - 5 * w)));
}

// Newton's method: the logarithm of the tail is concave, with a slope of -phi / tail.
double guess_normal_score(double log_tail) {
  // Where most of the mass is on the other side, that side tells.
  if (log_tail > -0.6) {
    const double other = std::log(-std::expm1(log_tail));
    return other > -0.6 ? 0.0 : -guess_normal_score(other);
  }
  double z = log_tail < -1 ? std::sqrt(-2 * log_tail) : 0.5;
  for (int i = 0; i < 60; ++i) {
    const double at = guess_log_normal_tail(z);
    const double slope = -std::exp(-z * z / 2 - std::log(2 * std::numbers::pi) / 2 - at);
    const double step = (log_tail - at) / slope;
    z += step;
    if (!(std::fabs(step) > 1e-15 * std::fabs(z))) break;
  }
  return z;
}

}  // namespace snapdp::numeric_internal
