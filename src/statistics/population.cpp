#include "snapdp/statistics/population.h"

#include <algorithm>
#include <cmath>

#include "numeric/shared/float_environment.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

// KL(p || q), 0 <= p <= 1, 0 < q < 1.
double divergence(double p, double q) {
  const double inside = p > 0 ? p * std::log(p / q) : 0;
  const double outside = p < 1 ? (1 - p) * std::log((1 - p) / (1 - q)) : 0;
  return inside + outside;
}

// The least q above p, but for 2^-40, with KL(p || q) > most; 1 when there is none.
double farthest_above(double p, double most) {
  double low = p;
  double high = 1;
  while (high - low > 0x1p-40) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    (divergence(p, middle) > most ? high : low) = middle;
  }
  return high;
}

}  // namespace

MeanInterval population_mean(const Bounds& bounds, const MeanInterval& sample, double rows,
                             const FailureRate& alpha) {
  const FloatEnvironment environment;
  const Rational lower = bounds.lower().rational();
  const Rational width = bounds.width().rational();
  if (width == 0 || !(rows > 0)) return {to_double_down(lower), to_double_up(Rational(lower + width))};
  // Each side for itself; a little more, for the rounding of logarithms and of their difference.
  const double most = -std::log(to_double_down(Rational(alpha.value() / 2))) / rows * (1 + 0x1p-20) + 0x1p-48;
  const auto share = [&](double mean) { return Rational((Rational(mean) - lower) / width); };
  const double from = std::clamp(to_double_down(share(sample.lower)), 0.0, 1.0);
  const double to = std::clamp(to_double_up(share(sample.upper)), 0.0, 1.0);
  const Rational low = 1 - Rational(farthest_above(1 - from, most));
  const Rational high(farthest_above(to, most));
  return {to_double_down(Rational(lower + low * width)), to_double_up(Rational(lower + high * width))};
}

}  // namespace snapdp
