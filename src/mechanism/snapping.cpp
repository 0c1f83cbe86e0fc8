#include "snapdp/mechanism/snapping.h"

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

namespace snapdp {

using namespace numeric_internal;
using namespace mechanism_internal;

namespace {

using namespace option_checks;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::optional<double> checked_bound(const char* name, std::optional<double> bound, Grid grid, bool integer) {
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

detail::SnapConstants constants_for(double scale, Grid grid, const std::optional<double>& lower,
                                    const std::optional<double>& upper) {
  detail::SnapConstants constants;
  const int exponent = static_cast<int>(grid.exponent());
  constants.grid = std::ldexp(1.0, exponent);
  constants.inverse_grid = std::ldexp(1.0, -exponent);
  constants.ratio = std::ldexp(scale, -exponent);
  const bool usable = constants.ratio >= std::numeric_limits<double>::min() &&
                      constants.ratio <= snap_kernel::greatest_ratio &&
                      scale <= snap_kernel::greatest_scale && constants.grid <= snap_kernel::greatest_grid;
  constants.limit = usable ? 0.5 - snap_kernel::margin(constants.ratio) : 0.0;
  constants.lower = lower.value_or(-infinity);
  constants.upper = upper.value_or(infinity);
  constants.narrow = std::max(std::fabs(constants.lower), std::fabs(constants.upper)) <=
                     std::ldexp(snap_kernel::narrow_steps, exponent);
  return constants;
}

}  // namespace

Snapping::Snapping(const MechanismOptions& options)
    : epsilon_(checked_epsilon(options.epsilon)),
      noise_{.sensitivity = checked_sensitivity(options.sensitivity), .coordinates = options.coordinates},
      integer_(options.integer) {
  const FloatEnvironment environment;
  noise_.scale = checked_scale(epsilon_, sensitivity());
  noise_.grid = options.grid.resolve(Rational(scale()), integer_);
  noise_.lower = checked_bound("lower", options.lower, grid(), integer_);
  noise_.upper = checked_bound("upper", options.upper, grid(), integer_);
  check_order(lower(), upper());
  if (lower()) exact_lower_ = Dyadic(*lower());
  if (upper()) exact_upper_ = Dyadic(*upper());
  constants_ = constants_for(scale(), grid(), lower(), upper());
}

Rational Snapping::loss_bound(const Rational& distance) const {
  return checked_distance(distance) / Rational(scale());
}

const Dyadic& Snapping::clamp(const Dyadic& value) const {
  if (exact_lower_ && value < *exact_lower_) return *exact_lower_;
  if (exact_upper_ && value > *exact_upper_) return *exact_upper_;
  return value;
}

Dyadic Snapping::sample_slowly(const Dyadic& value, std::uint64_t word, WordSource& words) const {
  const Dyadic& center = clamp(value);
  const Integer index = grid().index(center);
  const Dyadic fraction = scale_by_power_of_two(center - grid().value(index), -grid().exponent());
  return clamp(grid().value(index + snap_slowly(fraction, scale(), grid(), word, words)));
}

Dyadic Snapping::release(const Dyadic& value, SystemGenerator& generator) const {
  return replay(value, generator);
}

void Snapping::release(std::span<const double> values, std::span<double> out,
                       SystemGenerator& generator) const {
  replay(values, out, generator);
}

Dyadic Snapping::replay(const Dyadic& value, WordSource& words, const ReplayOptions& options) const {
  const snap_kernel::Kernel kernel = snap_kernel::kernel_for(options.kernel);
  const FloatEnvironment environment;
  SecretWords<1> word;
  words.fill(word);
  if (options.slow_only || constants_.limit <= 0) return sample_slowly(value, word[0], words);
  const Dyadic& center = clamp(value);
  const Integer index = grid().index(center);
  const double fraction = batch::fraction_of(center, index, grid());
  const std::optional<long> steps = batch::steps(kernel, constants_, fraction, word[0]);
  if (!steps) return sample_slowly(value, word[0], words);
  Dyadic noisy = grid().value(index + *steps);
  const Dyadic& clamped = clamp(noisy);
  if (&clamped != &noisy) return clamped;
  return noisy;
}

std::size_t Snapping::replay(std::span<const double> values, std::span<double> out, WordSource& words,
                             const ReplayOptions& options) const {
  const snap_kernel::Kernel kernel = snap_kernel::kernel_for(options.kernel);
  return batch::sample<chunk, 1>(
      values, out, words, options.slow_only || constants_.limit <= 0, lower() && upper(),
      [&](std::span<std::uint64_t> drawn, std::span<const double> in, std::span<double> result) {
        return batch::run(kernel, constants_, drawn, in, result);
      },
      [&](double value, std::span<const std::uint64_t> drawn, std::size_t i, WordSource& more) {
        return sample_slowly(value, drawn[i], more).to_double_nearest();
      });
}

}  // namespace snapdp
