#include "snapdp/mechanism/mechanism.h"

#include <algorithm>
#include <vector>

#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/bias.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

[[noreturn]] void refuse(const char* parameter, const std::string& message) {
  throw Error(ErrorCode::invalid_argument, parameter, message);
}

std::variant<Snapping, PrecisionSnapping, Geometric> chosen(const MechanismOptions& options) {
  if (options.coordinates == 0)
    refuse("coordinates", "coordinates = 0: must be at least 1: how many numbers may differ");
  if (options.mode == Mode::exact && options.precision) {
    refuse("precision", "precision = " + std::to_string(*options.precision) +
                            ": exact mode has no precision; leave it out, or choose mode = \"precision\"");
  }
  if (options.noise == NoiseKind::geometric) {
    if (options.mode == Mode::precision) {
      refuse("noise",
             "noise = \"geometric\": precision mode is defined for Laplace noise only; use exact mode");
    }
    if (!options.integer) {
      refuse("noise",
             "noise = \"geometric\": it is for integer statistics (counts, histograms, sums of integers); "
             "use Laplace noise");
    }
    if (!options.grid.is_automatic() && !(options.grid == GridChoice(Grid(0)))) {
      refuse("grid", "grid = \"" + to_string(options.grid) +
                         "\": geometric noise consists of integers; leave the grid out");
    }
    return Geometric({.epsilon = options.epsilon,
                      .sensitivity = options.sensitivity,
                      .lower = options.lower,
                      .upper = options.upper});
  }
  if (options.mode == Mode::precision) {
    if (options.integer) {
      refuse("integer", "integer: precision mode does not release integers; choose exact mode");
    }
    if (!options.grid.is_automatic() && !options.grid.is_notes()) {
      refuse("grid", "grid = \"" + to_string(options.grid) +
                         "\": precision mode has the notes' grid; leave the grid out, or choose exact mode");
    }
    return PrecisionSnapping({.epsilon = options.epsilon,
                              .sensitivity = options.sensitivity,
                              .lower = options.lower,
                              .upper = options.upper,
                              .precision = options.precision,
                              .coordinates = options.coordinates});
  }
  return Snapping({.epsilon = options.epsilon,
                   .sensitivity = options.sensitivity,
                   .lower = options.lower,
                   .upper = options.upper,
                   .grid = options.grid,
                   .integer = options.integer});
}

}  // namespace

std::string to_string(Mode mode) {
  return mode == Mode::exact ? "exact" : "precision";
}

std::string to_string(NoiseKind kind) {
  return kind == NoiseKind::laplace ? "laplace" : "geometric";
}

Mechanism::Mechanism(const MechanismOptions& options)
    : mechanism_(chosen(options)), coordinates_(options.coordinates) {}

const Rational& Mechanism::epsilon() const {
  return std::visit([](const auto& mechanism) -> const Rational& { return mechanism.epsilon(); }, mechanism_);
}

const Dyadic& Mechanism::sensitivity() const {
  return std::visit([](const auto& mechanism) -> const Dyadic& { return mechanism.sensitivity(); },
                    mechanism_);
}

double Mechanism::scale() const {
  return std::visit([](const auto& mechanism) { return mechanism.scale(); }, mechanism_);
}

Grid Mechanism::grid() const {
  return std::visit([](const auto& mechanism) { return mechanism.grid(); }, mechanism_);
}

std::optional<double> Mechanism::lower() const {
  return std::visit([](const auto& mechanism) { return std::optional<double>(mechanism.lower()); },
                    mechanism_);
}

std::optional<double> Mechanism::upper() const {
  return std::visit([](const auto& mechanism) { return std::optional<double>(mechanism.upper()); },
                    mechanism_);
}

Rational Mechanism::loss_bound(const Rational& distance, std::size_t differing) const {
  const FloatEnvironment environment;
  if (const auto* precision = std::get_if<PrecisionSnapping>(&mechanism_))
    return precision->loss_bound(distance, differing);
  return std::visit([&](const auto& mechanism) { return mechanism.loss_bound(distance); }, mechanism_);
}

bool Mechanism::loss_is_proved() const {
  return loss_bound(sensitivity().rational()) <= epsilon();
}

Rational Mechanism::stated_loss() const {
  const FloatEnvironment environment;
  const auto* precision = std::get_if<PrecisionSnapping>(&mechanism_);
  if (precision != nullptr && !precision->epsilon_is_proved()) return precision->notes_claim();
  return loss_bound(sensitivity().rational());
}

OutputNoise Mechanism::output_noise() const {
  const FloatEnvironment environment;
  OutputNoise noise{
      .scale = scale(), .grid = grid(), .lower = lower(), .upper = upper(), .kind = this->noise()};
  if (const auto* precision = std::get_if<PrecisionSnapping>(&mechanism_)) {
    noise.lower = -precision->half_width().to_double_up();
    noise.upper = precision->half_width().to_double_up();
  }
  return noise;
}

Dyadic Mechanism::origin() const {
  const FloatEnvironment environment;
  const auto* precision = std::get_if<PrecisionSnapping>(&mechanism_);
  return precision == nullptr ? Dyadic(0) : precision->center();
}

namespace {

// The grid of value - origin for values on a grid.
Grid grid_about(const Dyadic& origin, Grid values) {
  return origin.sign() == 0 ? values : Grid(std::min(values.exponent(), origin.exponent()));
}

}  // namespace

Grid Mechanism::centered(Grid values) const {
  return grid_about(origin(), values);
}

Rational Mechanism::arithmetic_error() const {
  const FloatEnvironment environment;
  const auto* precision = std::get_if<PrecisionSnapping>(&mechanism_);
  if (precision == nullptr) return 0;
  // With eta = 2^-p: U* is U to a relative 2 eta, so the noise moves by 2 eta scale; the logarithm, the product and the
  // sum round by eta times themselves. Noise beyond 2 B + grid ends at a bound either way, which bounds all three by
  // 2 B + grid, and by 4 B + grid with the value added.
  const Rational eta = Dyadic(Integer(1), -precision->precision()).rational();
  const Rational reach = 2 * precision->half_width().rational() + precision->grid().spacing().rational();
  return eta * (2 * precision->exact_scale().rational() + 4 * reach);
}

Rational Mechanism::output_error() const {
  const FloatEnvironment environment;
  if (mode() != Mode::precision) return 0;
  return Rational(0x1p-53) * std::max(::abs(Rational(*lower())), ::abs(Rational(*upper())));
}

Accuracy Mechanism::accuracy(const FailureRate& alpha, const Rational& rounding_error,
                             std::optional<Grid> values) const {
  const FloatEnvironment environment;
  const Rational arithmetic = arithmetic_error();
  AccuracyQuery query{.scale = scale(),
                      .grid = grid(),
                      .alpha = alpha,
                      .rounding_error = rounding_error + arithmetic + output_error(),
                      .noise = noise()};
  if (lower() && upper()) query.range = to_double_up(Rational(*upper()) - Rational(*lower()));
  const double conservative = conservative_accuracy(query);
  const double laplace = laplace_accuracy(query);
  // The tight formula takes both tails from the exact law, which arithmetic of fewer than about 100 bits bends visibly.
  if (arithmetic > Rational(0x1p-90) * Rational(query.scale)) return {conservative, conservative, laplace};
  if (values) {
    const Grid finest = centered(*values);
    if (mode() == Mode::exact) {
      query.values = finest;
    } else if (grid().exponent() >= finest.exponent()) {
      // Noise that is off by at most `arithmetic` makes no tail larger than a factor e^(arithmetic / scale) says, and e^-x
      // >= 1 - x. A value moved by as much would leave its grid.
      const Rational exact_scale = std::get<PrecisionSnapping>(mechanism_).exact_scale().rational();
      query.alpha = FailureRate(Rational(alpha.value() * (1 - arithmetic / exact_scale)));
      query.rounding_error = rounding_error + output_error();
      query.values = finest;
    }
  }
  return {conservative, std::min(tight_accuracy(query), conservative), laplace};
}

double Mechanism::expected_bias(std::span<const Rational> guesses, std::span<const Rational> weights) const {
  const FloatEnvironment environment;
  if (guesses.empty() || guesses.size() != weights.size()) {
    refuse("guesses", "guesses: " + std::to_string(guesses.size()) + " given with " +
                          std::to_string(weights.size()) +
                          " weights; give one weight for each, at least one");
  }
  const Rational heaviest = *std::max_element(weights.begin(), weights.end());
  const Rational shift = origin().rational();
  std::vector<double> values;
  std::vector<double> shares;
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    if (weights[i] <= 0)
      refuse("guesses", "guesses: the weight " + to_string(weights[i]) + " must be greater than 0");
    if (noise() == NoiseKind::geometric && guesses[i].get_den() != 1) {
      refuse("guesses",
             "guesses: " + to_string(guesses[i]) + " must be a whole number, because the noise is geometric");
    }
    values.push_back(to_double_nearest(Rational(guesses[i] - shift)));
    shares.push_back(to_double_nearest(Rational(weights[i] / heaviest)));
  }
  try {
    return snapdp::expected_bias(output_noise(), values, shares);
  } catch (const Error& error) {
    refuse("guesses", "guesses: their bias cannot be computed: " + std::string(error.what()));
  }
}

std::optional<Rational> least_epsilon(const std::function<bool(const Rational&)>& reaches,
                                      const std::optional<Rational>& also) {
  const FloatEnvironment environment;
  constexpr long exponent = -60;
  constexpr int most_doublings = 90;
  const auto enough_at = [&](const Integer& index) {
    try {
      return reaches(Dyadic(index, exponent).rational());
    } catch (const Error&) {
      return false;
    }
  };
  // No power of two below `enough` is enough.
  Integer enough = 1;
  int doublings = 0;
  for (; doublings < most_doublings && !enough_at(enough); ++doublings) enough *= 2;
  Integer too_little = enough / 2;
  const Integer last = also ? floor(Rational(*also / Grid(exponent).spacing().rational())) : Integer(0);
  if (last > 0 && last < enough && enough_at(last)) {
    enough = last;
    too_little = Dyadic(Integer(1), Grid::at_most(Rational(last)).exponent()).rational().get_num();
  } else if (doublings == most_doublings) {
    return std::nullopt;
  }
  while (enough - too_little > 1) {
    const Integer middle = (enough + too_little) / 2;
    (enough_at(middle) ? enough : too_little) = middle;
  }
  return Dyadic(enough, exponent).rational();
}

Rational last_epsilon_on_grid(const Rational& sensitivity, double lower, double upper, Grid values) {
  const FloatEnvironment environment;
  const Dyadic middle = scale_by_power_of_two(Dyadic(lower) + Dyadic(upper), -1);
  // The scale is above sensitivity / epsilon, and the grid is the least power of two that is not below the scale.
  return Rational(2 * sensitivity / grid_about(middle, values).spacing().rational());
}

Dyadic Mechanism::release(const Dyadic& value, SystemGenerator& generator) const {
  return std::visit([&](const auto& mechanism) { return mechanism.release(value, generator); }, mechanism_);
}

}  // namespace snapdp
