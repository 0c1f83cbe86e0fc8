#include "snapdp/mechanism/geometric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "mechanism/batch.h"
#include "mechanism/option_checks.h"
#include "mechanism/secret.h"
#include "mechanism/slow_path.h"
#include "mechanism/snap_kernel.h"
#include "snapdp/numeric/float_environment.h"

namespace snapdp {
namespace {

using namespace option_checks;

// The noise in terms of Snapping's on the grid 1, out = floor(value + S scale ln U + 1/2):
//
//   floor(scale |ln U|)  = floor(-1/2 - scale ln U + 1/2)   S = -1, value = -1/2
//   -floor(scale |ln U|) = ceil(scale ln U)
//                        = floor(1/2 + scale ln U + 1/2)    S = +1, value = +1/2, as scale ln U is no integer:
//                                                           almost surely, and Snapping draws on until it is seen
constexpr std::array<double, 2> starts = {-0.5, 0.5};

std::uint64_t with_sign(std::uint64_t word, std::size_t part) {
  return part == 0 ? word | 1 : word & ~std::uint64_t{1};
}

std::optional<double> checked_bound(const char* name, std::optional<double> bound) {
  if (!bound) return bound;
  if (!std::isfinite(*bound)) {
    refuse(name, to_string(*bound), "must be a finite number; leave the bound out when there is none");
  }
  if (*bound != std::trunc(*bound)) {
    refuse(name, to_string(*bound), "must be an integer, as the statistic is one");
  }
  if (std::fabs(*bound) > 0x1p53) {
    refuse(name, to_string(*bound),
           "must be at most 2^53 in magnitude, so that every integer between the bounds is a double");
  }
  return *bound + 0.0;  // -0 becomes +0
}

detail::SnapConstants constants_for(double scale) {
  const bool usable = scale <= snap_kernel::greatest_ratio;
  return {.ratio = scale,
          .grid = 1,
          .inverse_grid = 1,
          .limit = usable ? 0.5 - snap_kernel::margin(scale) : 0.0,
          .lower = -0x1p50,  // beyond every noise: at most greatest_ratio * 12.5
          .upper = 0x1p50,
          .narrow = true};
}

bool all_integers(std::span<const double> values) {
  bool result = true;
  for (const double value : values) {
    const double magnitude = std::fabs(value);
    // Doubles from 2^52 up are integers; to others, 2^52 leaves no room for a fraction.
    const double nearest = magnitude >= 0x1p52 ? magnitude : (magnitude + 0x1p52) - 0x1p52;
    result &= nearest == magnitude;  // false for NaN
  }
  return result;
}

[[noreturn]] void refuse_value(const char* parameter) {
  throw Error(ErrorCode::invalid_argument, parameter,
              std::string(parameter) +
                  ": geometric noise is for integers; round the statistic before, or use Laplace noise");
}

}  // namespace

Geometric::Geometric(const GeometricOptions& options)
    : epsilon_(checked_epsilon(options.epsilon)), sensitivity_(checked_sensitivity(options.sensitivity)) {
  const FloatEnvironment environment;
  if (!sensitivity_.is_integer()) {
    refuse(
        "sensitivity", shown(sensitivity_.rational()),
        "must be an integer, as it is the distance of two integers; use Laplace noise for other statistics");
  }
  scale_ = checked_scale(epsilon_, sensitivity_);
  lower_ = checked_bound("lower", options.lower);
  upper_ = checked_bound("upper", options.upper);
  check_order(lower_, upper_);
  constants_ = constants_for(scale_);
}

Rational Geometric::loss_bound(const Rational& distance) const {
  return distance / Rational(scale_);
}

Dyadic Geometric::clamp(const Dyadic& value) const {
  if (lower_ && value < Dyadic(*lower_)) return *lower_;
  if (upper_ && value > Dyadic(*upper_)) return *upper_;
  return value;
}

Integer Geometric::noise_slowly(std::span<const std::uint64_t, 2> drawn, WordSource& words) const {
  Integer noise = 0;
  for (std::size_t part = 0; part < 2; ++part) {
    noise += snap_slowly(starts[part], scale_, Grid(0), with_sign(drawn[part], part), words);
  }
  return noise;
}

Dyadic Geometric::release(const Dyadic& value, SystemGenerator& generator) const {
  return replay(value, generator);
}

void Geometric::release(std::span<const double> values, std::span<double> out,
                        SystemGenerator& generator) const {
  replay(values, out, generator);
}

Dyadic Geometric::replay(const Dyadic& value, WordSource& words, const ReplayOptions& options) const {
  const snap_kernel::Kernel kernel = snap_kernel::kernel_for(options.kernel);
  if (!value.is_integer()) refuse_value("value");
  const FloatEnvironment environment;
  SecretWords<2> drawn;
  words.fill(drawn);
  Integer noise = 0;
  if (options.slow_only || constants_.limit <= 0) {
    noise = noise_slowly(drawn, words);
  } else {
    SecretWords<2> signed_words;
    for (std::size_t part = 0; part < 2; ++part) signed_words[part] = with_sign(drawn[part], part);
    std::array<double, 2> parts;
    if (batch::run(kernel, constants_, signed_words, starts, parts).undecided) {
      noise = noise_slowly(drawn, words);
    } else {
      noise = static_cast<long>(parts[0] + parts[1]);
    }
  }
  return clamp(clamp(value) + Dyadic(std::move(noise), 0));
}

std::size_t Geometric::replay(std::span<const double> values, std::span<double> out, WordSource& words,
                              const ReplayOptions& options) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::size_t block = 512;  // values at a time, for short buffers
  const snap_kernel::Kernel kernel = snap_kernel::kernel_for(options.kernel);
  const FloatEnvironment environment;
  if (!all_integers(values)) {  // infinities are found below
    std::fill(out.begin(), out.end(), 0.0);
    refuse_value("values");
  }
  const double lower = lower_.value_or(-infinity);
  const double upper = upper_.value_or(infinity);
  std::array<double, 2 * block> start;
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = starts[i % 2];
  return batch::sample<chunk, 2>(
      values, out, words, options.slow_only || constants_.limit <= 0, lower_ && upper_,
      [&](std::span<const std::uint64_t> drawn, std::span<const double> in, std::span<double> result) {
        snap_kernel::Outcome outcome = {.undecided = false, .finite = batch::is_finite(in)};
        SecretWords<2 * block> signed_words;
        std::array<double, 2 * block> parts;
        for (std::size_t begin = 0; begin < in.size(); begin += block) {
          const std::size_t count = std::min(block, in.size() - begin);
          for (std::size_t i = 0; i < count; ++i) {
            signed_words[2 * i] = with_sign(drawn[2 * (begin + i)], 0);
            signed_words[2 * i + 1] = with_sign(drawn[2 * (begin + i) + 1], 1);
          }
          const std::span<double> noise(parts.data(), 2 * count);
          outcome.undecided |= batch::run(kernel, constants_, std::span(signed_words).first(2 * count),
                                          std::span(start).first(2 * count), noise)
                                   .undecided;
          for (std::size_t i = 0; i < count; ++i) {
            // NaN where a part is undecided: comparisons with NaN are false and keep it.
            double noisy = in[begin + i];
            noisy = lower > noisy ? lower : noisy;
            noisy = upper < noisy ? upper : noisy;
            noisy += noise[2 * i] + noise[2 * i + 1];  // the inner sum is exact
            noisy = lower > noisy ? lower : noisy;
            noisy = upper < noisy ? upper : noisy;
            result[begin + i] = noisy;
          }
        }
        return outcome;
      },
      [&](double value, std::span<const std::uint64_t> drawn, WordSource& more) {
        const Dyadic noise(noise_slowly(drawn.first<2>(), more), 0);
        return clamp(clamp(value) + noise).to_double_nearest();
      });
}

}  // namespace snapdp
