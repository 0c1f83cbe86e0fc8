#include "snapdp/mechanism/snapping.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "mechanism/slow_path.h"
#include "mechanism/snap_kernel.h"
#include "snapdp/error.h"
#include "snapdp/numeric/float_environment.h"

namespace snapdp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Random words in use, wiped on every way out.
template <std::size_t size>
struct SecretWords : std::array<std::uint64_t, size> {
  ~SecretWords() { wipe(*this); }
};

[[noreturn]] void refuse(const std::string& parameter, const std::string& given, const std::string& rule) {
  throw Error(ErrorCode::invalid_argument, parameter, parameter + " = " + given + ": " + rule);
}

// Short enough for a message.
std::string shown(const Rational& value) {
  std::string text = to_string(value);
  if (text.size() <= 40) return text;
  return value > 0 ? "about " + to_string(Grid::at_most(value)) : text.substr(0, 40) + "...";
}

Rational checked_epsilon(Rational epsilon) {
  if (epsilon.get_den() == 0)
    refuse("epsilon", epsilon.get_num().get_str() + "/0", "must be a positive number");
  epsilon.canonicalize();
  if (epsilon <= 0)
    refuse("epsilon", shown(epsilon), "must be positive: the privacy loss to allow, such as 1/4");
  return epsilon;
}

Dyadic checked_sensitivity(const Dyadic& sensitivity) {
  if (sensitivity.sign() < 0) {
    refuse("sensitivity", shown(sensitivity.rational()),
           "must not be negative: the largest distance between neighbouring values");
  }
  if (sensitivity.sign() == 0) {
    refuse("sensitivity", "0",
           "neighbouring data give the same value, so it is a public constant: release it as such, without "
           "noise");
  }
  return sensitivity;
}

double checked_scale(const Rational& epsilon, const Dyadic& sensitivity) {
  const Rational exact = sensitivity.rational() / epsilon;
  const double scale = to_double_up(exact);
  if (scale < std::numeric_limits<double>::min() || scale == infinity) {
    refuse("epsilon", shown(epsilon),
           "the noise scale sensitivity / epsilon = " + shown(sensitivity.rational()) + " / " +
               shown(epsilon) +
               " must be a double between 2^-1022 and 2^1024: choose another epsilon, or express the "
               "statistic in "
               "another unit");
  }
  return scale;
}

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

void check_order(const std::optional<double>& lower, const std::optional<double>& upper) {
  if (!lower || !upper) return;
  if (*lower > *upper) {
    refuse("lower", to_string(*lower), "must be below upper = " + to_string(*upper) + "; swap the bounds");
  }
  if (*lower == *upper) {
    refuse("lower", to_string(*lower),
           "equals upper, so every output is this public constant: release it as such, without noise");
  }
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

// The same noise around a fraction of the grid: integers come out.
detail::SnapConstants unit_constants(const detail::SnapConstants& constants) {
  return {.ratio = constants.ratio,
          .grid = 1,
          .inverse_grid = 1,
          .limit = constants.limit,
          .lower = -1 - snap_kernel::narrow_steps,
          .upper = 1 + snap_kernel::narrow_steps,
          .narrow = true};
}

// value / spacing - index, in [-1/2, 1/2), without the digits that do not fit a double: less than 2^-54 too small in
// magnitude.
double fraction_of(const Dyadic& value, const Integer& index, Grid grid) {
  const long places = grid.exponent() - value.exponent();
  if (places <= 0) return 0;  // a multiple of the spacing
  const Integer rest = value.mantissa() - (index << static_cast<unsigned long>(places));
  long exponent = 0;
  const double digits = mpz_get_d_2exp(&exponent, rest.get_mpz_t());
  return std::ldexp(digits, static_cast<int>(std::max(exponent - places, -2000L)));
}

bool is_finite(std::span<const double> values) {
  // Adding one to the exponent field carries into the sign exactly for NaN and infinities.
  std::uint64_t carries = 0;
  for (const double value : values) {
    carries |= (std::bit_cast<std::uint64_t>(value) & 0x7ff0000000000000) + 0x0010000000000000;
  }
  return carries >> 63 == 0;
}

bool overlap(std::span<const double> a, std::span<double> b) {
  const std::less<const double*> before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) &&
         before(b.data(), a.data() + a.size());
}

// The kernel on any number of samples.
snap_kernel::Outcome snap(snap_kernel::Kernel kernel, const detail::SnapConstants& constants,
                          std::span<const std::uint64_t> words, std::span<const double> values,
                          std::span<double> out) {
  constexpr std::size_t stride = snap_kernel::stride;
  const std::size_t rest = words.size() % stride;
  const std::size_t whole = words.size() - rest;
  const snap_kernel::Outcome outcome = kernel(constants, words.data(), values.data(), out.data(), whole);
  if (rest == 0) return outcome;
  SecretWords<stride> last_words;
  last_words.fill(std::uint64_t{1} << 63);  // U = 1/2: the filling is decided
  std::array<double, stride> last_values = {};
  std::array<double, stride> last_out;
  std::copy_n(words.data() + whole, rest, last_words.data());
  std::copy_n(values.data() + whole, rest, last_values.data());
  const snap_kernel::Outcome last =
      kernel(constants, last_words.data(), last_values.data(), last_out.data(), stride);
  std::copy_n(last_out.data(), rest, out.data() + whole);
  return {.undecided = outcome.undecided || last.undecided, .finite = outcome.finite && last.finite};
}

}  // namespace

Snapping::Snapping(const SnappingOptions& options)
    : epsilon_(checked_epsilon(options.epsilon)),
      sensitivity_(checked_sensitivity(options.sensitivity)),
      integer_(options.integer) {
  const FloatEnvironment environment;
  scale_ = checked_scale(epsilon_, sensitivity_);
  grid_ = options.grid.resolve(Rational(scale_), integer_);
  lower_ = checked_bound("lower", options.lower, grid_, integer_);
  upper_ = checked_bound("upper", options.upper, grid_, integer_);
  check_order(lower_, upper_);
  if (lower_) exact_lower_ = Dyadic(*lower_);
  if (upper_) exact_upper_ = Dyadic(*upper_);
  constants_ = constants_for(scale_, grid_, lower_, upper_);
}

Rational Snapping::loss_bound(const Rational& distance) const {
  return distance / Rational(scale_);
}

const Dyadic& Snapping::clamp(const Dyadic& value) const {
  if (exact_lower_ && value < *exact_lower_) return *exact_lower_;
  if (exact_upper_ && value > *exact_upper_) return *exact_upper_;
  return value;
}

Dyadic Snapping::sample_slowly(const Dyadic& value, std::uint64_t word, WordSource& words) const {
  const Dyadic& center = clamp(value);
  const Integer index = grid_.index(center);
  const Dyadic fraction = scale_by_power_of_two(center - grid_.value(index), -grid_.exponent());
  return clamp(grid_.value(index + snap_slowly(fraction, scale_, grid_, word, words)));
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
  const Integer index = grid_.index(center);
  const double fraction = fraction_of(center, index, grid_);
  double steps = 0;
  if (snap(kernel, unit_constants(constants_), word, std::span(&fraction, 1), std::span(&steps, 1))
          .undecided) {
    return sample_slowly(value, word[0], words);
  }
  Dyadic noisy = grid_.value(index + static_cast<long>(steps));
  const Dyadic& clamped = clamp(noisy);
  if (&clamped != &noisy) return clamped;
  return noisy;
}

std::size_t Snapping::replay(std::span<const double> values, std::span<double> out, WordSource& words,
                             const ReplayOptions& options) const {
  const snap_kernel::Kernel kernel = snap_kernel::kernel_for(options.kernel);
  if (values.size() != out.size()) {
    throw Error(ErrorCode::invalid_argument, "out", "out: must have as many elements as values; resize it");
  }
  if (overlap(values, out)) {
    throw Error(ErrorCode::invalid_argument, "out", "out: must not overlap values; use memory of its own");
  }
  const bool slow_only = options.slow_only || constants_.limit <= 0;
  const bool bounded = lower_ && upper_;
  std::size_t slow = 0;
  const FloatEnvironment environment;
  try {
    SecretWords<chunk> buffer;
    for (std::size_t begin = 0; begin < values.size(); begin += chunk) {
      const std::size_t count = std::min(chunk, values.size() - begin);
      const std::span<std::uint64_t> drawn(buffer.data(), count);
      const std::span<const double> in = values.subspan(begin, count);
      const std::span<double> result = out.subspan(begin, count);
      words.fill(drawn);
      const snap_kernel::Outcome outcome =
          slow_only ? snap_kernel::Outcome{.undecided = true, .finite = is_finite(in)}
                    : snap(kernel, constants_, drawn, in, result);
      if (!outcome.finite) {
        throw Error(ErrorCode::invalid_argument, "values",
                    "values: must be finite numbers; impute or drop NaN and clamp infinities first");
      }
      if (outcome.undecided) {
        for (std::size_t i = 0; i < count; ++i) {
          if (!slow_only && !std::isnan(result[i])) continue;
          result[i] = sample_slowly(in[i], drawn[i], words).to_double_nearest();
          ++slow;
        }
      }
      if (!bounded && !is_finite(result)) {
        throw Error(ErrorCode::invalid_argument, "values",
                    "values: an output lies beyond the largest double; give bounds, or release exact values");
      }
    }
  } catch (...) {
    std::fill(out.begin(), out.end(), 0.0);
    throw;
  }
  return slow;
}

}  // namespace snapdp
