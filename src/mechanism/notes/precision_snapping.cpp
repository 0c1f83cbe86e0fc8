#include "snapdp/mechanism/precision_snapping.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanism/batch.h"
#include "mechanism/notes/precision_margin.h"
#include "mechanism/notes/precision_slow_path.h"
#include "mechanism/option_checks.h"
#include "mechanism/secret.h"
#include "mechanism/shared/precision_loss.h"
#include "mechanism/snap_kernel.h"
#include "numeric/shared/float_environment.h"

namespace snapdp {

using namespace numeric_internal;
using namespace mechanism_internal;

namespace {

using namespace option_checks;

// The fast path of batches is used for grids in this range: beyond, a multiple might overflow or be subnormal.
constexpr long least_grid_exponent = -1000;
constexpr long greatest_grid_exponent = 960;

Rational power_of_two(long exponent) {
  return Dyadic(Integer(1), exponent).rational();
}

// About `value` > 0.
std::string shown_shortly(const Dyadic& value) {
  const double nearest = value.to_double_nearest();
  return nearest > 0 && nearest < std::numeric_limits<double>::infinity() ? to_string(nearest)
                                                                          : shown(value.rational());
}

double checked_bound(const char* name, const std::optional<double>& bound) {
  if (!bound) {
    throw Error(ErrorCode::invalid_argument, name,
                std::string(name) +
                    " is missing: precision mode needs both bounds of the statistic, as its loss grows with "
                    "their distance; give them, or use exact mode");
  }
  if (!std::isfinite(*bound)) {
    refuse(name, to_string(*bound), "must be a finite number; precision mode needs both bounds");
  }
  return *bound + 0.0;  // -0 becomes +0
}

// The bits from which on epsilon > 2 eta.
long enough_precision(const Rational& epsilon) {
  return 2 - Grid::at_least(epsilon).exponent();
}

std::size_t checked_coordinates(std::size_t coordinates) {
  if (coordinates == 0) refuse("coordinates", "0", "must be at least 1: how many numbers may differ");
  return coordinates;
}

Rational counted(std::size_t coordinates) {
  return Rational(Integer(static_cast<unsigned long>(coordinates)));
}

long checked_precision(const std::optional<long>& given, const Rational& epsilon, std::size_t coordinates) {
  constexpr long least = PrecisionSnapping::least_precision;
  constexpr long greatest = PrecisionSnapping::greatest_precision;
  const Rational each = epsilon / counted(coordinates);
  const long enough = enough_precision(each);
  if (given && (*given < least || *given > greatest)) {
    refuse("precision", std::to_string(*given),
           "must be between " + std::to_string(least) + " and " + std::to_string(greatest) +
               " bits; leave it out for a good choice");
  }
  const long precision = given ? *given : PrecisionSnapping::default_precision(each);
  if (precision > greatest) {
    refuse("epsilon", shown(epsilon),
           "needs more than " + std::to_string(greatest) + " bits; choose a larger epsilon");
  }
  if (each <= power_of_two(1 - precision)) {
    const std::string times = coordinates == 1 ? "" : std::to_string(coordinates) + " times ";
    refuse("precision", std::to_string(precision),
           "epsilon = " + shown(epsilon) + " must be above " + times + "2^" + std::to_string(1 - precision) +
               ": use a precision of at least " + std::to_string(enough) + " bits, or a larger epsilon");
  }
  return precision;
}

// scale < B < 2^(p-7) scale.
void check_scale(const Rational& epsilon, const Dyadic& sensitivity, const Dyadic& half_width,
                 const detail::PrecisionArithmetic& arithmetic, std::size_t coordinates) {
  const Dyadic& scale = arithmetic.scale;
  const std::string bits = std::to_string(arithmetic.precision);
  if (scale >= half_width) {
    const std::string rule = "the noise scale " + shown_shortly(scale) +
                             " must be below half the distance of the bounds, " + shown_shortly(half_width) +
                             ", or the privacy of precision mode fails: ";
    // (Delta + 12 B eta) / (epsilon - 2 eta) < B is 14 eta < epsilon - Delta / B. What is proved of several numbers costs
    // up to 2.2 (6 eta + 8 B eta / scale) in each, and 32 for 14 is enough for it.
    const Rational room = epsilon - sensitivity.rational() / half_width.rational();
    const Rational etas = coordinates == 1 ? Rational(14) : Rational(32 * counted(coordinates));
    if (room > 0) {
      refuse("precision", bits,
             rule + "use a precision of at least " +
                 std::to_string(1 - Grid::at_most(Rational(room / etas)).exponent()) + " bits");
    }
    refuse("epsilon", shown(epsilon), rule + "choose a larger epsilon or wider bounds, or use exact mode");
  }
  if (half_width >= scale_by_power_of_two(scale, arithmetic.precision - 7)) {
    const Rational most_scales = half_width.rational() * epsilon / sensitivity.rational();
    refuse("precision", bits,
           "half the distance of the bounds, " + shown_shortly(half_width) + ", must be below 2^" +
               std::to_string(arithmetic.precision - 7) + " times the noise scale " + shown_shortly(scale) +
               ": use a precision of at least " + std::to_string(Grid::at_least(most_scales).exponent() + 7) +
               " bits, or narrower bounds");
  }
}

detail::SnapConstants constants_for(const detail::PrecisionArithmetic& arithmetic, double lower, double upper,
                                    const Dyadic& center, const Dyadic& half_width) {
  detail::SnapConstants constants;
  const Grid grid = arithmetic.grid;
  const auto in_steps = [&](const Dyadic& x) { return scale_by_power_of_two(x, -grid.exponent()); };
  constants.ratio = in_steps(arithmetic.scale).to_double_nearest();
  constants.limit = 0.5 - precision_margin(arithmetic.precision, in_steps(half_width).rational());
  if (grid.exponent() < least_grid_exponent || grid.exponent() > greatest_grid_exponent) return constants;
  constants.grid = std::ldexp(1.0, static_cast<int>(grid.exponent()));
  constants.inverse_grid = std::ldexp(1.0, static_cast<int>(-grid.exponent()));
  constants.lower = lower;
  constants.upper = upper;
  const Dyadic fraction = in_steps(center - grid.round(center));
  constants.center = fraction.to_double_nearest();
  const Dyadic rest = fraction - Dyadic(constants.center);
  constants.center_rest = rest.to_double_nearest();
  constants.narrow =
      std::max(std::fabs(lower), std::fabs(upper)) <= snap_kernel::narrow_steps * constants.grid &&
      Dyadic(constants.center_rest) == rest &&
      // The output next to zero, center * grid, must not be rounded twice.
      (rest.sign() == 0 ||
       std::fabs(constants.center * constants.grid) >= std::numeric_limits<double>::min());
  return constants;
}

}  // namespace

long PrecisionSnapping::default_precision(const Rational& epsilon) {
  constexpr long correctly_rounded_logarithms = 118;  // of doubles, by the notes
  return std::max(correctly_rounded_logarithms, enough_precision(epsilon));
}

PrecisionSnapping::PrecisionSnapping(const MechanismOptions& options)
    : epsilon_(checked_epsilon(options.epsilon)),
      noise_{.sensitivity = checked_sensitivity(options.sensitivity),
             .kind = NoiseKind::notes,
             .coordinates = checked_coordinates(options.coordinates)} {
  const FloatEnvironment environment;
  noise_.lower = checked_bound("lower", options.lower);
  noise_.upper = checked_bound("upper", options.upper);
  check_order(noise_.lower, noise_.upper);
  center_ = scale_by_power_of_two(Dyadic(lower()) + Dyadic(upper()), -1);
  half_width_ = scale_by_power_of_two(Dyadic(upper()) - Dyadic(lower()), -1);

  choose_arithmetic(checked_precision(options.precision, epsilon_, coordinates()));
  noise_.precision = arithmetic_.precision;
  noise_.scale = arithmetic_.scale.rational();
  noise_.grid = arithmetic_.grid;
  constants_ = constants_for(arithmetic_, lower(), upper(), center_, half_width_);
}

// The notes' arithmetic; of several numbers the noise then grows until what is proved is within epsilon.
void PrecisionSnapping::choose_arithmetic(long precision) {
  NotesArithmetic chosen = notes_arithmetic(epsilon_, sensitivity(), half_width_, precision, coordinates());
  constexpr int most_steps =
      32;  // each but the first few moves the scale by a fraction of what the one before did
  for (int step = 0; step < most_steps; ++step) {
    inner_epsilon_ = chosen.inner_epsilon;
    arithmetic_ = chosen.arithmetic;
    check_scale(epsilon_, sensitivity(), half_width_, arithmetic_, coordinates());
    excess_ = Rational(precision_loss_excess_up(arithmetic_, half_width_));
    if (coordinates() == 1 || epsilon_is_proved()) return;
    const Rational left = epsilon_ - counted(coordinates()) * excess_;
    if (left <= 0) break;
    chosen = arithmetic_of(left, sensitivity(), precision);
  }
  refuse("precision", std::to_string(precision),
         "its roundings in " + std::to_string(coordinates()) + " numbers leave too little of epsilon = " +
             shown(epsilon_) + " for the noise: use more bits, or exact mode");
}

Rational PrecisionSnapping::loss_bound(const Rational& distance, std::size_t differing) const {
  if (checked_distance(distance) == 0) return 0;
  return distance / arithmetic_.scale.rational() + counted(differing) * excess_;
}

Rational PrecisionSnapping::notes_claim() const {
  return notes_loss_claim(arithmetic_, sensitivity().rational(), half_width_);
}

// clamp_B(value - c).
Dyadic PrecisionSnapping::centered(const Dyadic& value) const {
  Dyadic x = value - center_;
  if (x > half_width_) return half_width_;
  if (x < -half_width_) return -half_width_;
  return x;
}

// c + clamp_B(grid * index), rounded to a double.
double PrecisionSnapping::output(const Integer& index) const {
  const Dyadic noisy = arithmetic_.grid.value(index);
  if (noisy >= half_width_) return upper();
  if (noisy <= -half_width_) return lower();
  return (center_ + noisy).to_double_nearest();
}

std::optional<Integer> PrecisionSnapping::sample_quickly(const Dyadic& x, std::uint64_t word,
                                                         InstructionSet kernel) const {
  const Grid grid = arithmetic_.grid;
  const Integer index = grid.index(x);
  const double fraction = batch::fraction_of(x, index, grid);
  const std::optional<long> steps = batch::steps(snap_kernel::kernel_for(kernel), constants_, fraction, word);
  if (!steps) return std::nullopt;
  return Integer(index + *steps);
}

Dyadic PrecisionSnapping::release(const Dyadic& value, SystemGenerator& generator) const {
  return replay(value, generator);
}

void PrecisionSnapping::release(std::span<const double> values, std::span<double> out,
                                SystemGenerator& generator) const {
  replay(values, out, generator);
}

Dyadic PrecisionSnapping::replay(const Dyadic& value, WordSource& words, const ReplayOptions& options) const {
  require_supported(options.kernel);
  const FloatEnvironment environment;
  SecretWords<1> word;
  words.fill(word);
  const Dyadic x = centered(value);
  if (!options.slow_only && constants_.limit > 0) {
    const std::optional<Integer> index = sample_quickly(x, word[0], options.kernel);
    if (index) return output(*index);
  }
  return output(precision_snap_slowly(arithmetic_, x, word[0], words));
}

std::size_t PrecisionSnapping::replay(std::span<const double> values, std::span<double> out,
                                      WordSource& words, const ReplayOptions& options) const {
  const snap_kernel::Kernel kernel = snap_kernel::kernel_for(options.kernel);
  const auto slow = [&](double value, std::span<const std::uint64_t> drawn, std::size_t i, WordSource& more) {
    return output(precision_snap_slowly(arithmetic_, centered(value), drawn[i], more));
  };
  const bool slow_only = options.slow_only || constants_.limit <= 0;
  if (constants_.narrow) {
    return batch::sample<chunk, 1>(
        values, out, words, slow_only, true,
        [&](std::span<std::uint64_t> drawn, std::span<const double> in, std::span<double> result) {
          return batch::run(kernel, constants_, drawn, in, result);
        },
        slow);
  }
  // Bounds too far from zero for the kernel: only the noise is computed in doubles.
  return batch::sample<chunk, 1>(
      values, out, words, slow_only, true,
      [&](std::span<std::uint64_t> drawn, std::span<const double> in, std::span<double> result) {
        snap_kernel::Outcome outcome = {.undecided = false, .finite = batch::is_finite(in)};
        for (std::size_t i = 0; outcome.finite && i < in.size(); ++i) {
          const std::optional<Integer> index = sample_quickly(centered(in[i]), drawn[i], options.kernel);
          result[i] = index ? output(*index) : std::numeric_limits<double>::quiet_NaN();
          outcome.undecided |= !index;
        }
        return outcome;
      },
      slow);
}

Dyadic PrecisionSnapping::reference(const Dyadic& value, WordSource& words) const {
  return output(precision_snap_plainly(arithmetic_, centered(value), words));
}

}  // namespace snapdp
