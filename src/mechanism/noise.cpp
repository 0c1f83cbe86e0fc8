#include "snapdp/mechanism/noise.h"

#include <algorithm>
#include <cmath>

#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

// Half the distance of the bounds that notes need.
Dyadic half_width(const Noise& noise) {
  for (const auto& [name, bound] : {std::pair("lower", noise.lower), std::pair("upper", noise.upper)}) {
    if (bound && std::isfinite(*bound)) continue;
    throw Error(ErrorCode::invalid_argument, name,
                std::string(name) + " is missing: precision mode needs two finite bounds");
  }
  return scale_by_power_of_two(Dyadic(*noise.upper) - Dyadic(*noise.lower), -1);
}

}  // namespace

std::string mode_name(NoiseKind kind) {
  return kind == NoiseKind::notes ? "precision" : "exact";
}

std::string noise_name(NoiseKind kind) {
  if (kind == NoiseKind::gaussian) return "gaussian";
  return kind == NoiseKind::geometric ? "geometric" : "laplace";
}

NoiseScale::NoiseScale(Rational value) : up_(to_double_up(value)) {
  const FloatEnvironment environment;
  if (!std::isfinite(up_) || Rational(up_) != value) exact_ = std::move(value);
}

Rational NoiseScale::exact() const {
  const FloatEnvironment environment;
  if (exact_) return *exact_;
  if (!std::isfinite(up_)) {
    throw Error(ErrorCode::invalid_argument, "scale",
                "scale = " + to_string(up_) +
                    ": must be positive and finite; the scale of the noise is sensitivity / epsilon");
  }
  return Rational(up_);
}

Dyadic Noise::origin() const {
  const FloatEnvironment environment;
  if (kind != NoiseKind::notes) return 0;
  const Dyadic half = half_width(*this);  // looks whether there are bounds
  return Dyadic(*lower) + half;
}

Noise Noise::centered() const {
  const FloatEnvironment environment;
  Noise result = *this;
  if (kind != NoiseKind::notes) return result;
  const double half = half_width(*this).to_double_up();
  result.lower = -half;
  result.upper = half;
  return result;
}

double Noise::centered(double y) const {
  const FloatEnvironment environment;
  return (Dyadic(y) - origin()).to_double_nearest() + 0.0;  // -0 becomes +0
}

Grid Noise::centered(Grid values) const {
  const Dyadic about = origin();
  return about.sign() == 0 ? values : Grid(std::min(values.exponent(), about.exponent()));
}

Rational Noise::arithmetic_error() const {
  const FloatEnvironment environment;
  if (kind != NoiseKind::notes) return 0;
  // With eta = 2^-p: U* is U to a relative 2 eta, so the noise moves by 2 eta scale; the logarithm, the product and the
  // sum round by eta times themselves. Noise beyond 2 B + grid ends at a bound either way, which bounds all three by
  // 2 B + grid, and by 4 B + grid with the value added.
  const Rational eta = Dyadic(Integer(1), -precision).rational();
  const Rational reach = 2 * half_width(*this).rational() + grid.spacing().rational();
  return eta * (2 * scale.exact() + 4 * reach);
}

Rational Noise::output_error() const {
  const FloatEnvironment environment;
  if (kind != NoiseKind::notes) return 0;
  return Rational(0x1p-53) * std::max(::abs(Rational(*lower)), ::abs(Rational(*upper)));
}

}  // namespace snapdp
