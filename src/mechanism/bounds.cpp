#include "snapdp/mechanism/bounds.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "mechanism/option_checks.h"
#include "mechanism/output_tails.h"
#include "numeric/shared/certified.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;
using namespace mechanism_internal;

namespace {

using certified::certify;

using option_checks::refuse;

// The noise alone: as far as bounds are chosen, that of notes is Laplace's.
Noise unbounded(Noise noise) {
  noise.lower.reset();
  noise.upper.reset();
  if (noise.kind == NoiseKind::notes) noise.kind = NoiseKind::exact;
  return noise;
}

void check_order_of(const StatisticRange& range) {
  if (range.lower > range.upper) {
    refuse("lower", to_string(range.lower), "must not be above upper = " + to_string(range.upper));
  }
}

void check_range(const Noise& noise, const StatisticRange& range) {
  const Noise whole = unbounded(noise);
  check_noise(whole);
  checked_value(whole, range.lower, "lower");
  checked_value(whole, range.upper, "upper");
  check_order_of(range);
}

// Whether the upper end of the range is the worse one for thresholds at the indices low and high, both given: P(M < low)
// + P(M > high) is symmetric in y about their middle and falls towards it.
bool upper_end_is_worse(const Noise& noise, const StatisticRange& range, double low, double high) {
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const Real ends = in_steps<Real>(range.lower, noise.grid) + in_steps<Real>(range.upper, noise.grid);
    return sign(ends - (Real(low) + Real(high))) >= 0;
  });
}

// P(M < low) + P(M > high) at the value y.
template <typename Real>
Real outside(const Noise& noise, double y, const std::optional<double>& low,
             const std::optional<double>& high) {
  const OutputTails<Real> tails(noise, y);
  Real sum;
  if (high) sum = tails.at_least(Real(*high) + Real(1.0));
  if (low) sum = sum + tails.at_most(Real(*low) - Real(1.0));
  return sum;
}

}  // namespace

double binding_probability(const Noise& noise, const StatisticRange& range) {
  const FloatEnvironment environment;
  check_noise(noise);
  check_range(noise, range);
  if (noise.lower && range.lower < *noise.lower) {
    refuse("lower", to_string(range.lower),
           "lies below the bound " + to_string(*noise.lower) + " of the outputs");
  }
  if (noise.upper && range.upper > *noise.upper) {
    refuse("upper", to_string(range.upper),
           "lies above the bound " + to_string(*noise.upper) + " of the outputs");
  }
  if (!noise.lower && !noise.upper) return 0.0;
  std::optional<double> low;
  std::optional<double> high;
  if (noise.lower) low = ceil_index(*noise.lower, noise.grid);
  if (noise.upper) high = floor_index(*noise.upper, noise.grid);
  const bool at_upper = !low || (high && upper_end_is_worse(noise, range, *low, *high));
  return certify([&](auto zero) {
    using Real = decltype(zero);
    return round_up(outside<Real>(noise, at_upper ? range.upper : range.lower, low, high), 0);
  });
}

ChosenBounds minimal_bounds(const Noise& noise, const StatisticRange& range, const FailureRate& gamma) {
  const FloatEnvironment environment;
  check_range(noise, range);
  const Grid grid = noise.grid;
  const double low = floor_index(range.lower, grid);
  const double high = ceil_index(range.upper, grid);
  const double y = upper_end_is_worse(noise, range, low, high) ? range.upper : range.lower;
  const double steps = certify([&](auto zero) {
    using Real = decltype(zero);
    const OutputTails<Real> tails(noise, y);
    const Real one(1.0);
    const typename OutputTails<Real>::Sides sides = {Real(high) + one - tails.center(),
                                                     tails.center() - Real(low) + one};
    return round_up(tails.steps_until_rare(outside<Real>(noise, y, low, high), sides, gamma.value()), 0);
  });
  if (!(std::fabs(low - steps) <= 0x1p53) || !(std::fabs(high + steps) <= 0x1p53)) {
    refuse("grid", to_string(grid),
           "is so fine that the bounds are no multiples of it in double; choose a coarser grid");
  }
  ChosenBounds bounds{};
  bounds.lower = std::ldexp(low - steps, static_cast<int>(grid.exponent()));
  bounds.upper = std::ldexp(high + steps, static_cast<int>(grid.exponent()));
  bounds.binding_probability = certify([&](auto zero) {
    using Real = decltype(zero);
    return round_up(outside<Real>(noise, y, low - steps, high + steps), 0);
  });
  return bounds;
}

MinimalMechanism minimal_mechanism(const MechanismOptions& options, const StatisticRange& range,
                                   const FailureRate& gamma) {
  const FloatEnvironment environment;
  const auto between = [&](const ChosenBounds& bounds) {
    MechanismOptions with = options;
    with.lower = bounds.lower;
    with.upper = bounds.upper;
    return Mechanism(with);
  };
  if (options.noise != NoiseKind::notes) {
    MechanismOptions free = options;
    free.lower.reset();
    free.upper.reset();
    const ChosenBounds bounds = minimal_bounds(Mechanism(free).noise(), range, gamma);
    const Rational width = Rational(bounds.upper) - Rational(bounds.lower);
    return {bounds, to_double_up(Rational(width / 2)), between(bounds)};
  }
  check_order_of(range);
  const Rational middle = (Rational(range.lower) + Rational(range.upper)) / 2;
  const double half_range = to_double_up(Rational((Rational(range.upper) - Rational(range.lower)) / 2));
  double scale = to_double_up(Rational(options.sensitivity.rational() / options.epsilon));
  if (!std::isfinite(scale)) static_cast<void>(between({range.lower, range.upper, 0}));  // says what is wrong
  Grid grid = Grid::at_least(Rational(scale));
  constexpr int most_rounds = 200;
  for (int round = 0; round < most_rounds; ++round) {
    const ChosenBounds about_zero =
        minimal_bounds({.scale = scale, .grid = grid}, {-half_range, half_range}, gamma);
    if (!std::isfinite(about_zero.upper)) {
      throw Error(ErrorCode::invalid_argument, "epsilon",
                  "epsilon: is too small: bounds that rarely bind lie beyond the largest double; raise it");
    }
    const Rational half_width(about_zero.upper);
    const ChosenBounds bounds{to_double_down(Rational(middle - half_width)),
                              to_double_up(Rational(middle + half_width)), about_zero.binding_probability};
    Mechanism mechanism = between(bounds);
    if (mechanism.scale() == scale && mechanism.grid() == grid)
      return {bounds, about_zero.upper, std::move(mechanism)};
    scale = mechanism.scale();
    grid = mechanism.grid();
  }
  throw Error(ErrorCode::invalid_argument, "precision",
              "precision: is too low for this epsilon: wider bounds take more noise, which takes wider "
              "bounds; raise it");
}

namespace {

// `epsilon` is a formula for certify(); `parameter` and `given` are what it comes from.
template <typename Epsilon>
double notes_formula(const NotesBoundQuery& query, const char* parameter, const Rational& given,
                     const Epsilon& epsilon) {
  if (query.sensitivity <= 0) {
    refuse("sensitivity", to_string(query.sensitivity),
           "must be positive; a statistic no row can change is a public constant: release it as such");
  }
  if (query.half_range < 0) {
    refuse("half_range", to_string(query.half_range), "must not be negative; it is (upper - lower) / 2");
  }
  if (query.precision < 118) {
    refuse("precision", std::to_string(query.precision), "the formula holds for 118 bits or more");
  }
  const double half_width = certify([&](auto zero) {
    using Real = decltype(zero);
    const Real usable = epsilon(zero) - Real(0x1p-117);
    if (sign(usable) <= 0) return std::numeric_limits<double>::infinity();
    // k / 2.
    const Real factor = (Real(1.0) + Real(12 * 0x1p-52)) / usable;
    const Real gaps = Real(1.0) - ldexp(log(Real(query.gamma.value())), 1);
    return round_up(Real(query.half_range) + Real(query.sensitivity) * factor * gaps, 0);
  });
  if (std::isinf(half_width)) {
    refuse(parameter, to_string(given),
           "the formula needs an epsilon above 2^-117, and a bound that is a double; spend more or ask for "
           "less accuracy");
  }
  const Rational limit = Dyadic(Integer(1), query.precision - 52).rational() * query.sensitivity;
  if (Rational(half_width) > limit) {
    refuse("precision", std::to_string(query.precision),
           "is too low for a bound of " + to_string(half_width) + "; it must be at least " +
               std::to_string(52 + Grid::at_least(Rational(half_width) / query.sensitivity).exponent()));
  }
  return half_width;
}

}  // namespace

double notes_half_width(const NotesBoundQuery& query, const Rational& epsilon) {
  const FloatEnvironment environment;
  return notes_formula(query, "epsilon", epsilon, [&](auto zero) { return decltype(zero)(epsilon); });
}

double notes_half_width_for_accuracy(const NotesBoundQuery& query, const Rational& accuracy,
                                     const FailureRate& alpha) {
  const FloatEnvironment environment;
  if (accuracy <= 0) {
    refuse("accuracy", to_string(accuracy), "must be positive: noise of any size misses by more than 0");
  }
  return notes_formula(query, "accuracy", accuracy, [&](auto zero) {
    using Real = decltype(zero);
    return -(Real(query.sensitivity) * log(Real(alpha.value())) / Real(accuracy));
  });
}

}  // namespace snapdp
