#include "snapdp/mechanism/geometric.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "mechanism/batch.h"
#include "mechanism/option_checks.h"
#include "mechanism/secret.h"
#include "mechanism/slow_path.h"
#include "mechanism/snap_kernel.h"
#include "numeric/shared/float_environment.h"

namespace snapdp {

using namespace numeric_internal;
using namespace mechanism_internal;

namespace {

using namespace option_checks;

// The noise in terms of Snapping's on the grid 1, out = floor(value + S scale ln U + 1/2):
//
//   floor(scale |ln U|)  = floor(-1/2 - scale ln U + 1/2)   S = -1, value = -1/2
//   -floor(scale |ln U|) = ceil(scale ln U)
//                        = floor(1/2 + scale ln U + 1/2)    S = +1, value = +1/2, as scale ln U is no integer:
//                                                           almost surely, and Snapping draws on until it is seen
constexpr double added = -0.5;
constexpr double subtracted = 0.5;
constexpr std::uint64_t minus = 1;  // bit 0 of a word

constexpr std::size_t block = 512;  // values at a time, for short buffers

constexpr std::array<double, block> repeated(double value) {
  std::array<double, block> result = {};
  for (double& x : result) x = value;
  return result;
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

// NaN and infinities count as integers here.
bool all_integers(std::span<const double> values) {
  std::uint64_t differences = 0;
  for (const double value : values) {
    // Adding 2^52 to a number below it leaves no room for a fraction; doubles from there up are integers.
    const double magnitude = std::fabs(value);
    const double nearest = (magnitude + 0x1p52) - 0x1p52;
    const auto bits = std::bit_cast<std::uint64_t>(magnitude);
    const std::uint64_t is_below = (bits - std::bit_cast<std::uint64_t>(0x1p52)) >> 63;
    differences |= (bits ^ std::bit_cast<std::uint64_t>(nearest)) & (0 - is_below);
  }
  return differences == 0;
}

[[noreturn]] void refuse_value(const char* parameter) {
  throw Error(ErrorCode::invalid_argument, parameter,
              std::string(parameter) +
                  ": geometric noise is for integers; round the statistic before, or use Laplace noise");
}

}  // namespace

Geometric::Geometric(const MechanismOptions& options)
    : epsilon_(checked_epsilon(options.epsilon)),
      noise_{.sensitivity = checked_sensitivity(options.sensitivity),
             .kind = NoiseKind::geometric,
             .coordinates = options.coordinates} {
  const FloatEnvironment environment;
  if (!sensitivity().is_integer()) {
    refuse(
        "sensitivity", shown(sensitivity().rational()),
        "must be an integer, as it is the distance of two integers; use Laplace noise for other statistics");
  }
  noise_.scale = checked_scale(epsilon_, sensitivity());
  noise_.lower = checked_bound("lower", options.lower);
  noise_.upper = checked_bound("upper", options.upper);
  check_order(lower(), upper());
  constants_ = constants_for(scale());
}

Rational Geometric::loss_bound(const Rational& distance) const {
  return checked_distance(distance) / Rational(scale());
}

Dyadic Geometric::clamp(const Dyadic& value) const {
  if (lower() && value < Dyadic(*lower())) return *lower();
  if (upper() && value > Dyadic(*upper())) return *upper();
  return value;
}

Integer Geometric::noise_slowly(std::uint64_t first, std::uint64_t second, WordSource& words) const {
  Integer noise = snap_slowly(added, scale(), Grid(0), first | minus, words);
  noise += snap_slowly(subtracted, scale(), Grid(0), second & ~minus, words);
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
  std::optional<long> more;
  std::optional<long> less;
  if (!options.slow_only && constants_.limit > 0) {
    more = batch::steps(kernel, constants_, added, drawn[0] | minus);
    less = batch::steps(kernel, constants_, subtracted, drawn[1] & ~minus);
  }
  Integer noise = more && less ? Integer(*more + *less) : noise_slowly(drawn[0], drawn[1], words);
  return clamp(clamp(value) + Dyadic(std::move(noise), 0));
}

std::size_t Geometric::replay(std::span<const double> values, std::span<double> out, WordSource& words,
                              const ReplayOptions& options) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr std::array<double, block> added_values = repeated(added);
  static constexpr std::array<double, block> subtracted_values = repeated(subtracted);
  const snap_kernel::Kernel kernel = snap_kernel::kernel_for(options.kernel);
  const FloatEnvironment environment;
  if (!observable(all_integers(values))) {
    std::fill(out.begin(), out.end(), 0.0);
    refuse_value("values");
  }
  const double lower = noise_.lower.value_or(-infinity);
  const double upper = noise_.upper.value_or(infinity);
  return batch::sample<chunk, 2>(
      values, out, words, options.slow_only || constants_.limit <= 0, noise_.lower && noise_.upper,
      [&](std::span<std::uint64_t> drawn, std::span<const double> in, std::span<double> result) {
        const std::size_t count = in.size();
        snap_kernel::Outcome outcome = {.undecided = false, .finite = batch::is_finite(in)};
        SecretDoubles<block> subtrahends;
        for (std::size_t begin = 0; begin < count; begin += block) {
          const std::size_t size = std::min(block, count - begin);
          const std::span<double> noisy = result.subspan(begin, size);
          const std::span<std::uint64_t> first = drawn.subspan(begin, size);
          const std::span<std::uint64_t> second = drawn.subspan(count + begin, size);
          for (std::uint64_t& word : first) word |= minus;
          for (std::uint64_t& word : second) word &= ~minus;
          const auto more = batch::run(kernel, constants_, first, std::span(added_values).first(size), noisy);
          const auto less = batch::run(kernel, constants_, second, std::span(subtracted_values).first(size),
                                       std::span(subtrahends).first(size));
          outcome.undecided |= more.undecided;  // without a branch
          outcome.undecided |= less.undecided;
          for (std::size_t i = 0; i < size; ++i) {
            double x = in[begin + i];
            x = lower > x ? lower : x;
            x = upper < x ? upper : x;
            // The sum of the noise is exact. An undecided part is NaN; comparisons with NaN are false and keep it.
            x += noisy[i] + subtrahends[i];
            x = lower > x ? lower : x;
            x = upper < x ? upper : x;
            noisy[i] = x;
          }
        }
        return outcome;
      },
      [&](double value, std::span<const std::uint64_t> drawn, std::size_t i, WordSource& more) {
        const Dyadic noise(noise_slowly(drawn[i], drawn[drawn.size() / 2 + i], more), 0);
        return clamp(clamp(value) + noise).to_double_nearest();
      });
}

}  // namespace snapdp
