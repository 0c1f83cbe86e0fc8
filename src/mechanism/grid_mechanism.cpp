#include "mechanism/grid_mechanism.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanism/batch.h"
#include "mechanism/option_checks.h"
#include "mechanism/secret.h"
#include "mechanism/slow_path.h"
#include "mechanism/snap_kernel.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp::mechanism_internal {

using namespace numeric_internal;
using namespace option_checks;

std::optional<double> grid_mechanism::checked_bound(const char* name, std::optional<double> bound, Grid grid,
                                                    bool integer) {
  if (!bound) return bound;
  if (!std::isfinite(*bound)) {
    refuse(name, to_string(*bound), "must be a finite number; leave the bound out when there is none");
  }
  if (integer && *bound != std::trunc(*bound)) {
    refuse(name, to_string(*bound), "must be an integer, as the statistic is one");
  }
  const Rational magnitude = ::abs(Rational(*bound));
  const Rational most_steps(Integer(1) << 53);
  if (magnitude > most_steps * grid.spacing().rational()) {
    refuse(name, to_string(*bound),
           "lies more than 2^53 steps of the grid " + to_string(grid) +
               " from zero, so outputs near it would not be doubles: use the grid " +
               to_string(Grid::at_least(Rational(magnitude / most_steps))) + " or a coarser one");
  }
  return *bound + 0.0;  // -0 becomes +0
}

detail::SnapConstants grid_mechanism::constants_for(const Noise& noise) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double scale = noise.scale.up();
  detail::SnapConstants constants;
  const int exponent = static_cast<int>(noise.grid.exponent());
  constants.grid = std::ldexp(1.0, exponent);
  constants.inverse_grid = std::ldexp(1.0, -exponent);
  constants.ratio = std::ldexp(scale, -exponent);
  const bool usable = constants.ratio >= std::numeric_limits<double>::min() &&
                      constants.ratio <= snap_kernel::greatest_ratio &&
                      scale <= snap_kernel::greatest_scale && constants.grid <= snap_kernel::greatest_grid;
  constants.limit = usable ? 0.5 - snap_kernel::margin(constants.ratio) : 0.0;
  constants.normal = noise.kind == NoiseKind::gaussian;
  if (usable && constants.normal) constants.limit = 0.5 - snap_kernel::normal_margin(constants.ratio);
  constants.lower = noise.lower.value_or(-infinity);
  constants.upper = noise.upper.value_or(infinity);
  constants.narrow = std::max(std::fabs(constants.lower), std::fabs(constants.upper)) <=
                     std::ldexp(snap_kernel::narrow_steps, exponent);
  return constants;
}

const Dyadic& grid_mechanism::Sampler::clamp(const Dyadic& value) const {
  if (lower && value < *lower) return *lower;
  if (upper && value > *upper) return *upper;
  return value;
}

Dyadic grid_mechanism::Sampler::sample_slowly(const Dyadic& value, std::uint64_t word,
                                              WordSource& words) const {
  const Grid grid = noise.grid;
  const Dyadic& center = clamp(value);
  const Integer index = grid.index(center);
  const Dyadic fraction = scale_by_power_of_two(center - grid.value(index), -grid.exponent());
  const auto slowly = noise.kind == NoiseKind::gaussian ? normal_slowly : snap_slowly;
  return clamp(grid.value(index + slowly(fraction, noise.scale.up(), grid, word, words)));
}

Dyadic grid_mechanism::Sampler::replay(const Dyadic& value, WordSource& words,
                                       const ReplayOptions& options) const {
  const snap_kernel::Kernel kernel = snap_kernel::kernel_for(options.kernel);
  const FloatEnvironment environment;
  SecretWords<1> word;
  words.fill(word);
  if (options.slow_only || constants.limit <= 0) return sample_slowly(value, word[0], words);
  const Dyadic& center = clamp(value);
  const Integer index = noise.grid.index(center);
  const double fraction = batch::fraction_of(center, index, noise.grid);
  const std::optional<long> steps = batch::steps(kernel, constants, fraction, word[0]);
  if (!steps) return sample_slowly(value, word[0], words);
  Dyadic noisy = noise.grid.value(index + *steps);
  const Dyadic& clamped = clamp(noisy);
  if (&clamped != &noisy) return clamped;
  return noisy;
}

std::size_t grid_mechanism::Sampler::replay(std::span<const double> values, std::span<double> out,
                                            WordSource& words, const ReplayOptions& options) const {
  const snap_kernel::Kernel kernel = snap_kernel::kernel_for(options.kernel);
  return batch::sample<Snapping::chunk, 1>(
      values, out, words, options.slow_only || constants.limit <= 0, lower && upper,
      [&](std::span<std::uint64_t> drawn, std::span<const double> in, std::span<double> result) {
        return batch::run(kernel, constants, drawn, in, result);
      },
      [&](double value, std::span<const std::uint64_t> drawn, std::size_t i, WordSource& more) {
        return sample_slowly(value, drawn[i], more).to_double_nearest();
      });
}

}  // namespace snapdp::mechanism_internal
