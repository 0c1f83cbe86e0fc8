#include "snapdp/mechanism/snapping.h"

#include "mechanism/grid_mechanism.h"
#include "mechanism/option_checks.h"
#include "numeric/shared/float_environment.h"

namespace snapdp {

using namespace numeric_internal;
using namespace mechanism_internal;
using namespace option_checks;

Snapping::Snapping(const MechanismOptions& options)
    : epsilon_(checked_epsilon(options.epsilon)),
      noise_{.sensitivity = checked_sensitivity(options.sensitivity), .coordinates = options.coordinates},
      integer_(options.integer) {
  const FloatEnvironment environment;
  noise_.scale = checked_scale(epsilon_, sensitivity());
  noise_.grid = options.grid.resolve(Rational(scale()), integer_);
  noise_.lower = grid_mechanism::checked_bound("lower", options.lower, grid(), integer_);
  noise_.upper = grid_mechanism::checked_bound("upper", options.upper, grid(), integer_);
  check_order(lower(), upper());
  if (lower()) exact_lower_ = Dyadic(*lower());
  if (upper()) exact_upper_ = Dyadic(*upper());
  constants_ = grid_mechanism::constants_for(noise_);
}

Rational Snapping::loss_bound(const Rational& distance) const {
  return checked_distance(distance) / Rational(scale());
}

Dyadic Snapping::release(const Dyadic& value, SystemGenerator& generator) const {
  return replay(value, generator);
}

void Snapping::release(std::span<const double> values, std::span<double> out,
                       SystemGenerator& generator) const {
  replay(values, out, generator);
}

Dyadic Snapping::replay(const Dyadic& value, WordSource& words, const ReplayOptions& options) const {
  return grid_mechanism::Sampler{noise_, exact_lower_, exact_upper_, constants_}.replay(value, words,
                                                                                        options);
}

std::size_t Snapping::replay(std::span<const double> values, std::span<double> out, WordSource& words,
                             const ReplayOptions& options) const {
  return grid_mechanism::Sampler{noise_, exact_lower_, exact_upper_, constants_}.replay(values, out, words,
                                                                                        options);
}

}  // namespace snapdp
