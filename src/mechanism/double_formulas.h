// The functions of certified arithmetic on plain doubles, so that a formula written for certified numbers also runs on
// them, where only a guess is wanted.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

namespace snapdp::mechanism_internal {

inline int sign(double x) {
  return (x > 0) - (x < 0);
}
inline double ldexp(double x, int k) {
  return std::ldexp(x, k);
}
inline double normal_tail(double x) {
  return std::erfc(x / std::numbers::sqrt2) / 2;
}
inline double normal_mass(double x) {
  return std::erf(x / std::numbers::sqrt2) / 2;
}
inline double sin_of_turns(double x) {
  return std::sin(2 * std::numbers::pi * x);
}
inline double cos_of_turns(double x) {
  return std::cos(2 * std::numbers::pi * x);
}
inline double widened(double x, double) {
  return x;
}
inline double approximately(double x) {
  return x;
}

}  // namespace snapdp::mechanism_internal
