#include "snapdp/mechanism/mechanism.h"

#include <type_traits>

#include "mechanism/option_checks.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

[[noreturn]] void refuse(const char* parameter, const std::string& message) {
  throw Error(ErrorCode::invalid_argument, parameter, message);
}

std::variant<Snapping, PrecisionSnapping, Geometric, Gaussian> chosen(const MechanismOptions& options) {
  if (options.coordinates == 0)
    refuse("coordinates", "coordinates = 0: must be at least 1: how many numbers may differ");
  if (options.noise != NoiseKind::notes && options.precision) {
    refuse("precision", "precision = " + std::to_string(*options.precision) +
                            ": exact mode has no precision; leave it out, or choose mode = \"precision\"");
  }
  if (options.noise != NoiseKind::gaussian && options.scale) {
    refuse("scale", "scale = " + to_string(*options.scale) +
                        ": follows from epsilon; leave it out, or choose Gaussian noise");
  }
  switch (options.noise) {
    case NoiseKind::geometric:
      if (!options.integer) {
        refuse("noise",
               "noise = \"geometric\": it is for integer statistics (counts, histograms, sums of integers); "
               "use Laplace noise");
      }
      if (!options.grid.is_automatic() && !(options.grid == GridChoice(Grid(0)))) {
        refuse("grid", "grid = \"" + to_string(options.grid) +
                           "\": geometric noise consists of integers; leave the grid out");
      }
      return Geometric(options);
    case NoiseKind::notes:
      if (options.integer) {
        refuse("integer", "integer: precision mode does not release integers; choose exact mode");
      }
      if (!options.grid.is_automatic() && !options.grid.is_notes()) {
        refuse("grid",
               "grid = \"" + to_string(options.grid) +
                   "\": precision mode has the notes' grid; leave the grid out, or choose exact mode");
      }
      return PrecisionSnapping(options);
    case NoiseKind::gaussian:
      return Gaussian(options);
    case NoiseKind::exact:
      break;
  }
  return Snapping(options);
}

[[noreturn]] void refuse_loss() {
  refuse(
      "noise",
      "noise = \"gaussian\": no epsilon holds at delta 0; ask for rho(), or for a delta: gaussian_delta()");
}

}  // namespace

Mechanism::Mechanism(const MechanismOptions& options) : mechanism_(chosen(options)) {}

const Noise& Mechanism::noise() const {
  return std::visit([](const auto& mechanism) -> const Noise& { return mechanism.noise(); }, mechanism_);
}

const Rational& Mechanism::epsilon() const {
  return std::visit(
      [](const auto& mechanism) -> const Rational& {
        if constexpr (std::is_same_v<std::decay_t<decltype(mechanism)>, Gaussian>) {
          refuse_loss();
        } else {
          return mechanism.epsilon();
        }
      },
      mechanism_);
}

Rational Mechanism::loss_bound(const Rational& distance, std::size_t differing) const {
  const FloatEnvironment environment;
  if (const auto* precision = std::get_if<PrecisionSnapping>(&mechanism_))
    return precision->loss_bound(distance, differing);
  if (kind() == NoiseKind::gaussian) refuse_loss();
  return mechanism_internal::option_checks::checked_distance(distance) / noise().scale.exact();
}

std::optional<Rational> Mechanism::rho() const {
  const auto* gaussian = std::get_if<Gaussian>(&mechanism_);
  return gaussian != nullptr ? std::optional(gaussian->rho()) : std::nullopt;
}

bool Mechanism::loss_is_proved() const {
  return kind() == NoiseKind::gaussian || loss_bound(sensitivity().rational()) <= epsilon();
}

Rational Mechanism::stated_loss() const {
  const FloatEnvironment environment;
  const auto* precision = std::get_if<PrecisionSnapping>(&mechanism_);
  if (precision != nullptr && !precision->epsilon_is_proved()) return precision->notes_claim();
  return loss_bound(sensitivity().rational());
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

namespace {

// The noise and the grid follow from epsilon by the arithmetic of the mode, so epsilon is searched for.
Rational epsilon_of_notes(const MechanismOptions& options, const Rational& accuracy,
                          const FailureRate& alpha) {
  const auto mechanism = [&](const Rational& epsilon) {
    MechanismOptions with = options;
    with.epsilon = epsilon;
    with.integer = false;  // outputs are none; values may be
    return Mechanism(with);
  };
  // What is wrong whatever epsilon is, which the search would take for too little an epsilon.
  mechanism_internal::option_checks::checked_sensitivity(options.sensitivity);
  const long bits = options.precision.value_or(PrecisionSnapping::least_precision);
  if (bits < PrecisionSnapping::least_precision || bits > PrecisionSnapping::greatest_precision)
    refuse("precision", "precision = " + std::to_string(bits) + ": must be a number of bits from " +
                            std::to_string(PrecisionSnapping::least_precision) + " to " +
                            std::to_string(PrecisionSnapping::greatest_precision));
  const std::string given = "accuracy = " + to_string(accuracy);
  const bool has_range = options.lower && options.upper;
  if (has_range && accuracy >= Rational(*options.upper) - Rational(*options.lower))
    refuse("accuracy", given + ": is not below the width of the range; any guess is that accurate");
  if (!has_range || *options.lower >= *options.upper || !options.grid.is_automatic()) mechanism(1);
  const std::optional<Grid> values = options.integer ? std::optional(Grid(0)) : std::nullopt;
  std::optional<Rational> also;
  if (values)
    also = last_epsilon_on_grid(options.sensitivity.rational(), *options.lower, *options.upper, *values);
  const std::optional<Rational> least = least_epsilon(
      [&](const Rational& epsilon) {
        return accuracy_of({mechanism(epsilon).noise(), alpha, 0, values}).tight <= accuracy;
      },
      also);
  if (least) return *least;
  refuse("accuracy", given +
                         ": no epsilon reaches it in precision mode between these bounds; ask for less, "
                         "raise the precision, or choose exact mode");
}

}  // namespace

Rational epsilon_for_accuracy(const MechanismOptions& options, const Rational& accuracy,
                              const FailureRate& alpha) {
  const FloatEnvironment environment;
  if (options.noise == NoiseKind::gaussian) {
    refuse("noise",
           "noise = \"gaussian\": an accuracy gives its scale and not an epsilon; use scale_for_accuracy()");
  }
  if (options.noise == NoiseKind::notes) return epsilon_of_notes(options, accuracy, alpha);
  EpsilonQuery query{.sensitivity = options.sensitivity.rational(), .accuracy = accuracy, .alpha = alpha};
  query.grid = options.grid;
  query.integer = options.integer;
  query.noise = options.noise;
  if (options.lower && options.upper && *options.lower < *options.upper)
    query.range = to_double_up(Rational(*options.upper) - Rational(*options.lower));
  MechanismOptions with = options;
  with.epsilon = epsilon_for_accuracy(query);
  static_cast<void>(Mechanism(with));  // refuses what is no mechanism
  return with.epsilon;
}

Rational last_epsilon_on_grid(const Rational& sensitivity, double lower, double upper, Grid values) {
  const FloatEnvironment environment;
  const Noise noise{.lower = lower, .upper = upper, .kind = NoiseKind::notes};
  // The scale is above sensitivity / epsilon, and the grid is the least power of two that is not below the scale.
  return Rational(2 * sensitivity / noise.centered(values).spacing().rational());
}

Dyadic Mechanism::release(const Dyadic& value, SystemGenerator& generator) const {
  return std::visit([&](const auto& mechanism) { return mechanism.release(value, generator); }, mechanism_);
}

}  // namespace snapdp
