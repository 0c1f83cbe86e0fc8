#include "snapdp/mechanism/gaussian.h"

#include <cmath>
#include <limits>

#include "mechanism/grid_mechanism.h"
#include "mechanism/option_checks.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;
using namespace mechanism_internal;

namespace {

using namespace option_checks;

double checked_deviation(const std::optional<double>& scale) {
  if (!scale) {
    throw Error(ErrorCode::invalid_argument, "scale",
                "scale: is missing; Gaussian noise takes its standard deviation, for example from "
                "gaussian_scale_up()");
  }
  if (!(*scale >= std::numeric_limits<double>::min()) || !std::isfinite(*scale)) {
    refuse("scale", to_string(*scale),
           "must be a normal double greater than 0: the standard deviation of the noise");
  }
  return *scale;
}

}  // namespace

Gaussian::Gaussian(const MechanismOptions& options)
    : noise_{.scale = checked_deviation(options.scale),
             .sensitivity = checked_sensitivity(options.sensitivity),
             .kind = NoiseKind::gaussian,
             .coordinates = options.coordinates},
      integer_(options.integer) {
  const FloatEnvironment environment;
  noise_.grid = options.grid.resolve(Rational(scale()), integer_);
  noise_.lower = grid_mechanism::checked_bound("lower", options.lower, grid(), integer_);
  noise_.upper = grid_mechanism::checked_bound("upper", options.upper, grid(), integer_);
  check_order(lower(), upper());
  if (lower()) exact_lower_ = Dyadic(*lower());
  if (upper()) exact_upper_ = Dyadic(*upper());
  constants_ = grid_mechanism::constants_for(noise_);
}

Rational Gaussian::rho(const Rational& distance) const {
  const FloatEnvironment environment;
  const Rational scale(this->scale());
  return checked_distance(distance) * distance / (2 * scale * scale);
}

Dyadic Gaussian::release(const Dyadic& value, SystemGenerator& generator) const {
  return replay(value, generator);
}

void Gaussian::release(std::span<const double> values, std::span<double> out,
                       SystemGenerator& generator) const {
  replay(values, out, generator);
}

Dyadic Gaussian::replay(const Dyadic& value, WordSource& words, const ReplayOptions& options) const {
  return grid_mechanism::Sampler{noise_, exact_lower_, exact_upper_, constants_}.replay(value, words,
                                                                                        options);
}

std::size_t Gaussian::replay(std::span<const double> values, std::span<double> out, WordSource& words,
                             const ReplayOptions& options) const {
  return grid_mechanism::Sampler{noise_, exact_lower_, exact_upper_, constants_}.replay(values, out, words,
                                                                                        options);
}

}  // namespace snapdp
