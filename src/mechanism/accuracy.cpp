#include "snapdp/mechanism/accuracy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <type_traits>
#include <utility>

#include "mechanism/clamped_search.h"
#include "mechanism/option_checks.h"
#include "mechanism/output_tails.h"
#include "numeric/shared/certified.h"
#include "numeric/shared/float_environment.h"
#include "numeric/shared/normal_guess.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/law.h"

namespace snapdp {

using namespace numeric_internal;
using namespace mechanism_internal;

namespace {

using certified::certify;
using certified::Constant;
using certified::Fast;
using certified::Undecided;
using option_checks::refuse;

void check_common(const Rational& rounding_error, const std::optional<double>& range) {
  if (rounding_error < 0) {
    refuse("rounding_error", to_string(rounding_error),
           "must not be negative; use half the grid the statistic is on");
  }
  if (range && (!(*range > 0) || !std::isfinite(*range))) {
    refuse("range", to_string(*range), "must be positive and finite; leave it out when a bound is absent");
  }
}

void check(const AccuracyQuery& query) {
  check_shape(query.noise);
  if (query.values) check_grid(*query.values);
  check_common(query.rounding_error, std::nullopt);
}

// No error exceeds the distance of the bounds.
double within(double accuracy, const Noise& noise) {
  if (!noise.lower || !noise.upper) return accuracy;
  return std::min(accuracy, to_double_up(Rational(*noise.upper) - Rational(*noise.lower)));
}

Rational divided(const Rational& value, Grid grid) {
  Rational result;
  const long g = grid.exponent();
  if (g >= 0) {
    mpq_div_2exp(result.get_mpq_t(), value.get_mpq_t(), static_cast<mp_bitcnt_t>(g));
  } else {
    mpq_mul_2exp(result.get_mpq_t(), value.get_mpq_t(), static_cast<mp_bitcnt_t>(-g));
  }
  return result;
}

template <typename Real>
Real in_units(const Rational& value, Grid grid) {
  if (value == 0) return Real();
  return Real(divided(value, grid));
}

// Which outputs miss, seen from the worst y, in units of the grid. Let p and m be the distances from y to the next outputs
// beyond the accuracy a above and below. Both tails together are P = S(p - 1/2) + S(m - 1/2), S(t) the probability of noise
// above t, and p + m is an integer, because both ends are outputs. For a fixed sum P grows as p and m move apart, because
// the density falls with the distance from 0, so the worst y has the least p (or, mirrored, m), called `near`, and the
// least sum, 2 near + `gap`:
//   P = S(near - 1/2) + S(near + gap - 1/2), of Laplace noise e^-(near-1/2)/ratio (1 + e^-gap/ratio) / 2.
// Needs near >= 1/2; below that a y about halfway between two outputs has none within a, and P = 1.
//   y real:         p > a and m > a come as close to a as one likes: near = a, and the sum is above 2 a.
//   y on a grid g:  the errors are multiples of g when g <= 1, and near = t, the least of them above a, which some y
//                   has; the sum is at least 2 t. With g > 1 all values are outputs, like with g = 1.
template <typename Real>
struct Miss {
  Real near;
  Real gap;
};

template <typename Real>
Miss<Real> miss_of_reals(const Real& a) {
  const Real twice = ldexp(a, 1);
  return {a, floor(twice) + Real(1.0) - twice};
}

template <typename Real>
Miss<Real> miss_on_grid(const Real& t) {
  const Real twice = ldexp(t, 1);
  return {t, -floor(-twice) - twice};
}

// The worst P.
template <typename Real>
Real probability(const Miss<Real>& miss, const Real& ratio, NoiseKind kind) {
  if (kind == NoiseKind::gaussian) {
    const Real t = miss.near - Real(0.5);
    return survival_of(kind, t, ratio) + survival_of(kind, t + miss.gap, ratio);
  }
  const Real inverse = Real(1.0) / ratio;
  return ldexp(exp((Real(0.5) - miss.near) * inverse) * (Real(1.0) + exp(-miss.gap * inverse)), -1);
}

// P(|K| > 0) = 2 q / (1 + q) for geometric noise; P(|K| > n) is q^n times that.
template <typename Real>
Real geometric_miss(const Real& scale) {
  const Real q = exp(-(Real(1.0) / scale));
  return ldexp(q, 1) / (Real(1.0) + q);
}

}  // namespace

FailureRate::FailureRate(double value, std::string_view parameter)
    : FailureRate(shortest_decimal(value, parameter), parameter) {}

FailureRate::FailureRate(Rational value, std::string_view parameter) : value_(std::move(value)) {
  const FloatEnvironment environment;
  if (value_ <= 0 || value_ >= 1) {
    refuse(std::string(parameter), to_string(value_),
           "a probability of failure lies strictly between 0 and 1, such as 0.05");
  }
}

namespace {

// The least double a such that P(|N| > a - `less`) <= alpha for Gaussian noise N before it is rounded.
double gaussian_quantile(const Noise& noise, const FailureRate& alpha, const Rational& less) {
  const auto is_enough = [&](double a) {
    if (!std::isfinite(a)) return true;
    const Rational t = Rational(a) - less;
    return t >= 0 && certify([&](auto zero) {
             using Real = decltype(zero);
             const Real tail = normal_tail(Real(t) / Real(noise.scale.up()));
             return sign(ldexp(tail, 1) - Real(alpha.value())) <= 0;
           });
  };
  const double score = guess_normal_score(std::min(guess_log(alpha.value()), -1e-9) - std::log(2));
  return least_double(is_enough, score * noise.scale.up() + less.get_d());
}

}  // namespace

double conservative_accuracy(const AccuracyQuery& query) {
  const FloatEnvironment environment;
  check(query);
  const Noise& noise = query.noise;
  if (noise.kind == NoiseKind::gaussian) {
    const Rational less = query.rounding_error + noise.grid.spacing().rational() / 2;
    return within(gaussian_quantile(noise, query.alpha, less), noise);
  }
  const Rational error = query.rounding_error + noise.arithmetic_error() + noise.output_error();
  return within(certify([&](auto zero) {
                  using Real = decltype(zero);
                  const Real ratio = Real::scaled(noise.scale.up(), -noise.grid.exponent());
                  const Real a = Real(0.5) - ratio * log(Real(query.alpha.value()));
                  return round_up(a + in_units<Real>(error, noise.grid), noise.grid.exponent());
                }),
                noise);
}

double continuous_accuracy(const AccuracyQuery& query) {
  const FloatEnvironment environment;
  check(query);
  if (query.noise.kind == NoiseKind::gaussian) return gaussian_quantile(query.noise, query.alpha, 0);
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const long grid = query.noise.grid.exponent();
    const Real ratio = Real::scaled(query.noise.scale.up(), -grid);
    return round_up(-(ratio * log(Real(query.alpha.value()))), grid);
  });
}

namespace {

// The tight accuracy in units of the grid; `at_jump` when the miss jumps there from above alpha to alpha or below.
template <typename Real>
struct TightPoint {
  Real a;
  bool at_jump;
};

// Inverts the worst miss of reals. With x = 1/(2 ratio) and a in [k/2, (k+1)/2) it is
//   e^-kx cosh(((k+1)/2 - a) / ratio),
// which falls to the limit e^-kx at the right end, and from there jumps down. The least integer k with e^-kx
// < alpha is floor(L/x) + 1 with L = ln(1/alpha). In that piece a = (k+1)/2 - ratio arccosh(e^r), r = k x -
// L, unless the piece starts at alpha or below already: then a = k/2. Since arccosh(e^r) = r + w, w = ln(1 +
// sqrt(1 - e^-2r)), that is a = 1/2 + ratio (L - w), free of cancellation: Laplace's accuracy plus 1/2 -
// ratio w.
template <typename Real>
TightPoint<Real> tight_point(const Real& ratio, const Rational& alpha) {
  const Real half(0.5);
  const Real log_rate = -log(Real(alpha));
  const Real x = half / ratio;
  const Real k = floor(log_rate / x) + Real(1.0);
  const Real r = k * x - log_rate;
  const Real w = log1p(sqrt(-expm1(ldexp(-r, 1))));
  if (sign(r + w - x) >= 0) return {half * k, true};
  return {half + ratio * (log_rate - w), false};
}

}  // namespace

namespace {

// The worst miss on a grid g before t is that of reals just before t; see Miss. So the answer is t - g for the least
// multiple t of g from which on that is at most alpha: at or above the tight a of reals, or beyond it where the miss jumps
// there.
template <typename Real>
Real tight_on_grid(const TightPoint<Real>& point, int places) {
  const Real one(1.0);
  const Real steps = ldexp(point.a, places);
  const Real t = point.at_jump ? floor(steps) + one : -floor(-steps);
  return ldexp(t - one, -places);
}

}  // namespace

namespace {

// About where the worst miss of reals is e^log_rate, in units of the statistic. In steps of the grid it lies, or the miss
// jumps to below it, in [n/2, (n+1)/2) with the least n >= 1 such that both tails beyond n / 2 are rare.
double approximate_gaussian_accuracy(double ratio, double log_rate, Grid grid) {
  const double score = guess_normal_score(log_rate - std::numbers::ln2);
  const double n = std::max(1.0, std::floor(2 * ratio * score) + 1);
  const auto log_miss = [&](double a) {
    const double near = guess_log_normal_tail((a - 0.5) / ratio);
    return near + std::log1p(std::exp(guess_log_normal_tail((n + 0.5 - a) / ratio) - near));
  };
  double low = n / 2;
  double high = low + 0.5;
  if (log_miss(low) <= log_rate) high = low;
  while (high - low > high * 0x1p-52) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (log_miss(middle) <= log_rate ? high : low) = middle;
  }
  return std::ldexp(high, static_cast<int>(std::clamp(grid.exponent(), -5000L, 5000L)));
}

// Gaussian noise: the worst miss has no inverse in closed form, but it decreases, and so the least accuracies are found by
// asking.
TightAccuracy gaussian_tight_accuracy(const AccuracyQuery& query) {
  const Noise& noise = query.noise;
  const long grid = noise.grid.exponent();
  const auto is_rare = [&](const auto& miss) {
    using Real = std::decay_t<decltype(miss.near)>;
    if (sign(miss.near - Real(0.5)) < 0) return false;
    const Real worst = probability(miss, in_steps<Real>(noise.scale.up(), noise.grid), noise.kind);
    return sign(worst - Real(query.alpha.value())) <= 0;
  };
  const double ratio = std::ldexp(noise.scale.up(), static_cast<int>(std::clamp(-grid, -5000L, 5000L)));
  const double log_rate = std::min(guess_log(query.alpha.value()), -1e-9);
  // Most is missed on both sides alike.
  const double guess = std::max(0.5, guess_normal_score(log_rate - std::numbers::ln2) * ratio);
  if (query.values) {
    // Errors are multiples of the values' grid; see Miss for the least one that is missed, t.
    const int places = places_of(*query.values, noise.grid);
    const auto holds = [&](const Integer& steps) {
      return certify([&](auto zero) {
        using Real = decltype(zero);
        return is_rare(miss_on_grid(ldexp(Real(Rational(steps)), -places)));
      });
    };
    const Integer t = least_integer(holds, std::ldexp(guess, places));
    return certify([&](auto zero) {
      using Real = decltype(zero);
      const Real a = ldexp(Real(Rational(t - 1)), -places);
      return TightAccuracy{round_up(a, grid),
                           round_up(a + in_units<Real>(query.rounding_error, noise.grid), grid)};
    });
  }
  const auto least_beyond = [&](const Rational& less) {
    const auto holds = [&](double a) {
      if (!std::isfinite(a)) return true;
      const Rational error = Rational(a) - less;
      return error > 0 && certify([&](auto zero) {
               using Real = decltype(zero);
               return is_rare(miss_of_reals(in_units<Real>(error, noise.grid)));
             });
    };
    return least_double(holds, approximate_gaussian_accuracy(ratio, log_rate, noise.grid) + less.get_d());
  };
  const double of_noise = least_beyond(0);
  return {of_noise, query.rounding_error == 0 ? of_noise : least_beyond(query.rounding_error)};
}

}  // namespace

TightAccuracy mechanism_internal::unclamped_accuracy(const AccuracyQuery& query) {
  if (query.noise.kind == NoiseKind::gaussian) return gaussian_tight_accuracy(query);
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const long grid = query.noise.grid.exponent();
    const Real ratio = Real::scaled(query.noise.scale.up(), -grid);
    Real a;
    if (query.noise.kind == NoiseKind::geometric) {
      a = steps_down_to(geometric_miss(ratio), Real(query.alpha.value()), ratio);
    } else {
      const TightPoint<Real> point = tight_point(ratio, query.alpha.value());
      a = query.values ? tight_on_grid(point, places_of(*query.values, query.noise.grid)) : point.a;
    }
    return TightAccuracy{round_up(a, grid),
                         round_up(a + in_units<Real>(query.rounding_error, query.noise.grid), grid)};
  });
}

namespace {

// The tight formula takes both tails from the exact law, which arithmetic of fewer than about 100 bits bends visibly.
double tight_accuracy_of_notes(AccuracyQuery query) {
  const Noise& noise = query.noise;
  const Rational arithmetic = noise.arithmetic_error();
  if (arithmetic > Rational(0x1p-90) * Rational(noise.scale.up())) return conservative_accuracy(query);
  query.rounding_error += noise.output_error();
  if (query.values) query.values = noise.centered(*query.values);
  if (query.values && noise.grid.exponent() >= query.values->exponent()) {
    // Noise that is off by at most `arithmetic` makes no tail larger than a factor e^(arithmetic / scale) says, and e^-x
    // >= 1 - x. A value moved by as much would leave its grid.
    query.alpha = FailureRate(Rational(query.alpha.value() * (1 - arithmetic / noise.scale.exact())));
  } else {
    query.values.reset();
    query.rounding_error += arithmetic;
  }
  return within(unclamped_accuracy(query).in_all, noise);
}

}  // namespace

double tight_accuracy(const AccuracyQuery& query) {
  const FloatEnvironment environment;
  check(query);
  if (query.noise.kind == NoiseKind::notes) return tight_accuracy_of_notes(query);
  return within(unclamped_accuracy(query).in_all, query.noise);
}

Accuracy accuracy_of(const AccuracyQuery& query) {
  const FloatEnvironment environment;
  const double conservative = conservative_accuracy(query);
  return {conservative, std::min(tight_accuracy(query), conservative), continuous_accuracy(query)};
}

double worst_miss(const Noise& noise, const Rational& accuracy, std::optional<Grid> values) {
  const FloatEnvironment environment;
  const Grid grid = noise.grid;
  check_shape(noise);
  if (values) check_grid(*values);
  if (accuracy < 0) refuse("accuracy", to_string(accuracy), "must not be negative");
  if (noise.kind == NoiseKind::geometric) {
    Noise free = noise;
    free.lower.reset();
    free.upper.reset();
    return OutputLaw(free, 0).miss(accuracy);
  }
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const Real a = in_units<Real>(accuracy, grid);
    Miss<Real> miss;
    if (values) {
      const int places = places_of(*values, grid);
      miss = miss_on_grid(ldexp(floor(ldexp(a, places)) + Real(1.0), -places));
    } else {
      miss = miss_of_reals(a);
    }
    if (sign(miss.near - Real(0.5)) < 0) return 1.0;
    return round_up(probability(miss, Real::scaled(noise.scale.up(), -grid.exponent()), noise.kind), 0);
  });
}

namespace {

// The scale at which the worst miss is alpha, near >= 1/2: Newton's method on g(s) = (near - 1/2) s - ln((1 + e^-gap s) / 2)
// - ln(1/alpha), s = 1/ratio, which increases and is concave; Laplace's scale is an s on the low side. Only a start for the
// certified search.
double approximate_ratio(const Miss<double>& miss, double log_rate) {
  double s = log_rate / miss.near;
  for (int i = 0; i < 60; ++i) {
    const double e = std::exp(-miss.gap * s);
    const double value = (miss.near - 0.5) * s - std::log1p((e - 1) / 2) - log_rate;
    const double step = -value / ((miss.near - 0.5) + miss.gap * e / (1 + e));
    s += step;
    if (!(std::fabs(step) > 1e-9 * s)) break;  // the error after this step is of the order of its square
  }
  return 1 / s;
}

// The same of Gaussian noise: the worst miss falls as 1/ratio grows.
double approximate_gaussian_ratio(const Miss<double>& miss, double log_rate) {
  const double near = miss.near - 0.5;
  const auto log_miss = [&](double s) {
    const double first = guess_log_normal_tail(near * s);
    return first + std::log1p(std::exp(guess_log_normal_tail((near + miss.gap) * s) - first));
  };
  double low = -1100 * std::numbers::ln2;  // of ln(1/ratio)
  double high = -low;
  for (int i = 0; i < 70; ++i) {
    const double middle = (low + high) / 2;
    (log_miss(std::exp(middle)) > -log_rate ? low : high) = middle;
  }
  return std::exp(-high);
}

// The scale at which 2 q^(n+1) / (1 + q) is alpha: Newton's method on g(s) = (n + 1) s + ln((1 + e^-s) / 2) -
// ln(1/alpha), s = 1/scale, which increases and is convex.
double approximate_geometric_scale(double n, double log_rate) {
  double s = log_rate / (n + 0.5);
  for (int i = 0; i < 60; ++i) {
    const double e = std::exp(-s);
    const double step = -((n + 1) * s + std::log1p((e - 1) / 2) - log_rate) / (n + 1 - e / (1 + e));
    s += step;
    if (!(std::fabs(step) > 1e-9 * s)) break;
  }
  return 1 / s;
}

// Does the tight accuracy of a scale, on the grid chosen for it, reach a target?
class Target {
 public:
  // Throws when the target is out of reach or always reached, as far as that is seen without a scale.
  explicit Target(const EpsilonQuery& query) : query_(query), alpha_(query.alpha.value()) {
    check_common(query.rounding_error, query.range);
    if (query.noise == NoiseKind::notes) {
      refuse("noise", "\"precision\"", "its grid depends on the bounds; search with least_epsilon()");
    }
    if (query.accuracy <= 0) {
      refuse("accuracy", to_string(query.accuracy),
             "must be positive: noise of any size misses by more than 0");
    }
    if (query.range && query.accuracy >= Rational(*query.range)) {
      refuse("accuracy", to_string(query.accuracy),
             "is not below " + to_string(*query.range) +
                 ", the range of the statistic, so every epsilon reaches it; ask for a smaller error or give "
                 "epsilon");
    }
    // What is reported is rounded up to a double, and must not pass the target either.
    double reported =
        query.accuracy.get_d();  // rounds towards zero, but is vague about subnormals and overflow
    if (!(reported > 0x1p-1000 && reported < 0x1p1000)) reported = to_double_down(query.accuracy);
    Rational error_of_noise(reported);
    if (query.rounding_error != 0) error_of_noise -= query.rounding_error;
    is_possible_ = error_of_noise >= 0;
    if (geometric()) {
      reach_ = Constant(floor(error_of_noise));
    } else {
      reach_ = Constant(query.integer ? Rational(floor(error_of_noise) + 1) : std::move(error_of_noise));
      // A grid that suits no scale at all is refused in its own words.
      if (query.grid.is_explicit()) query.grid.resolve(Rational(1), query.integer);
    }
  }

  // Whether the statistic's own rounding leaves anything to the noise.
  bool is_possible() const { return is_possible_; }

  // No grid: the choice has none for this scale. It is the same for all scales in (2^(j-1), 2^j].
  const std::optional<Grid>& grid(double scale) const {
    if (geometric()) return grid_;
    const int octave = std::ilogb(std::nextafter(scale, 0.0)) + 1;
    if (octave != octave_) {
      octave_ = octave;
      grid_ = query_.grid.for_octave(octave, query_.integer);
    }
    return grid_;
  }

  // Scales too small for the choice of grid count as reached, too large ones as not: it stays monotone.
  bool reached(double scale) const {
    if (!grid(scale)) return scale < 1;
    if (const std::optional<bool> near = reached_near(scale)) return *near;
    return certify([&](auto zero) {
      using Real = decltype(zero);
      if (!geometric() && sign(steps<Real>() - Real(0.5)) < 0) return false;
      return sign(probability_of_miss<Real>(scale) - alpha_.template as<Real>()) <= 0;
    });
  }

  // The largest scale that reaches the target, but for a unit in the last place; the least scale when none seems to.
  double guess() const {
    const double alpha = alpha_.approximately();
    const double log_rate =
        alpha < 0.5 ? -std::log(alpha) : -std::log1p(Rational(alpha_.value() - 1).get_d());
    if (geometric()) return refined(approximate_geometric_scale(reach_.approximately(), log_rate));
    // Noise without rounding misses less often, so start there.
    const double score =
        gaussian() ? std::max(0.0, guess_normal_score(-log_rate - std::numbers::ln2)) : log_rate;
    const double quotient = reach_.approximately() / score;
    const double largest = quotient > 0x1p-1022 ? std::min(quotient, 0x1p1023) : 0x1p-1022;
    for (int j = std::min(std::ilogb(largest) + 1, 1023); j >= -1022; --j) {
      const double power = std::ldexp(1.0, j);
      if (!grid(power)) continue;
      const Miss<double> miss = approximate_miss();
      if (miss.near < 0.5) continue;
      const double ratio =
          gaussian() ? approximate_gaussian_ratio(miss, log_rate) : approximate_ratio(miss, log_rate);
      const double scale = std::ldexp(ratio, static_cast<int>(grid_->exponent()));
      // An explicit grid is the same for every j.
      if (query_.grid.is_explicit()) return refined(scale);
      if (scale > power) return power;
      if (scale > power / 2) return std::min(refined(scale), power);
    }
    return 0;
  }

  [[noreturn]] void refuse_unreachable() const {
    // The smallest error of any scale: half of the finest grid, and the statistic's own rounding.
    std::optional<Grid> finest;
    if (query_.grid.is_explicit() || query_.integer) finest = grid(1.0);
    Rational floor_error = query_.rounding_error;
    // Integers lie on the grid 1.
    const bool rounds = finest && !geometric() && !(query_.integer && *finest == Grid(0));
    if (rounds) floor_error += finest->spacing().rational() / 2;
    if (query_.integer && query_.grid.is_notes() && is_possible_) {
      refuse("accuracy", to_string(query_.accuracy),
             "no epsilon reaches it: the notes' grid is 1 at least for an integer statistic, and so the "
             "noise scale above "
             "1/2; ask for more, or choose grid = \"auto\"");
    }
    refuse("accuracy", to_string(query_.accuracy),
           "no epsilon reaches it: rounding alone may cost " + to_string(floor_error) +
               "; ask for more than that, or choose a finer grid");
  }

 private:
  bool geometric() const { return query_.noise == NoiseKind::geometric; }
  bool gaussian() const { return query_.noise == NoiseKind::gaussian; }

  // reach_ in steps of the grid.
  template <typename Real>
  Real steps() const {
    return ldexp(reach_.as<Real>(), static_cast<int>(-grid_->exponent()));
  }
  template <typename Real>
  Miss<Real> miss() const {
    return query_.integer ? miss_on_grid(steps<Real>()) : miss_of_reals(steps<Real>());
  }
  Miss<double> approximate_miss() const {
    const double steps = std::ldexp(reach_.approximately(), static_cast<int>(-grid_->exponent()));
    const double twice = 2 * steps;
    return {steps, (query_.integer ? std::ceil(twice) : std::floor(twice) + 1) - twice};
  }

  // The worst probability of an error beyond the target.
  template <typename Real>
  Real probability_of_miss(double scale) const {
    const Real ratio = Real::scaled(scale, -grid_->exponent());
    if (geometric()) return geometric_miss(ratio) * exp(-(steps<Real>() / ratio));
    return probability(miss<Real>(), ratio, query_.noise);
  }

  // What one evaluation in double-double tells about that probability M for scales nearby.
  struct Near {
    Grid grid;
    double scale;
    Fast excess;  // M / alpha - 1
    Fast slope;   // d ln M / d ln scale
    double bend;  // at least |d ln slope / d ln scale|
  };

  // One step of Newton's method in ln(scale) from a scale that is off by a few units in the last place. With s = grid /
  // scale, a and d near and gap of Miss, or n the error of the noise in steps, the slope is
  //   s (a - 1/2) + g,  g = s d / (e^(s d) + 1),  and for geometric noise  s (n + h),  h = 1 / (1 + e^-s),
  // and bends by at most 1 + s d, as |s dg/ds| <= g (1 + s d), and by at most 1 + s (1 - h) < 2.
  double refined(double scale) const {
    if (!grid(scale) || gaussian()) return scale;
    try {
      const Fast one(1.0);
      const Fast half(0.5);
      const Fast s = one / Fast::scaled(scale, -grid_->exponent());
      Near near{*grid_, scale, {}, {}, 2};
      Fast probability;
      if (geometric()) {
        const Fast n = steps<Fast>();
        const Fast q = exp(-s);
        probability = ldexp(q * exp(-(s * n)), 1) / (one + q);
        near.slope = s * (n + one / (one + q));
      } else {
        const auto [a, d] = miss<Fast>();
        if (sign(a - half) < 0) return scale;
        const Fast e = exp(-(s * d));
        probability = ldexp(exp((half - a) * s) * (one + e), -1);
        near.slope = s * (a - half + d * e / (one + e));
        near.bend = 2 + (s * d).approximately();
      }
      near.excess = probability / alpha_.as<Fast>() - one;
      const double next = scale - scale * (near.excess.approximately() / near.slope.approximately());
      if (!(std::fabs(next - scale) < 0x1p-40 * scale)) return scale;
      near_ = near;
      return next;
    } catch (const Undecided&) {
      return scale;
    }
  }

  // From the scale of near_ to scale (1 + t) ln(M / alpha) grows from ln(1 + x), x the excess, by the mean slope times
  // ln(1 + t). We take x + slope t, which is off by less than x^2 for |x| < 1/2, and relative to slope t by less than t for
  // the logarithm and 1.1 bend t for the slope. None when that does not settle the sign.
  std::optional<bool> reached_near(double scale) const {
    if (!near_ || near_->grid != *grid_) return std::nullopt;
    try {
      const Fast t = (Fast(scale) - Fast(near_->scale)) / Fast(near_->scale);
      const double size = std::fabs(t.approximately());
      const double x = near_->excess.approximately();
      if (!(size * near_->bend < 0x1p-20) || !(std::fabs(x) < 0.25)) return std::nullopt;
      const Fast change = near_->slope * t;
      const Fast error(2 * x * x + std::fabs(change.approximately()) * size * 2 * (1 + near_->bend));
      const Fast value = near_->excess + change;
      if (sign(value - error) > 0) return false;
      if (sign(value + error) < 0) return true;
    } catch (const Undecided&) {
    }
    return std::nullopt;
  }

  const EpsilonQuery& query_;
  Constant alpha_;
  bool is_possible_ = true;
  // The error left to the noise, at most accuracy - rounding_error; of geometric noise, a whole number. Of integers, whose
  // errors are integers, the least error that is not left.
  Constant reach_;
  // For the scales last asked about: j and their grid.
  mutable int octave_ = std::numeric_limits<int>::min();
  mutable std::optional<Grid> grid_ = Grid(0);
  mutable std::optional<Near> near_;
};

// The tight accuracy increases with the scale. On one grid, because every tail does. Where the grid doubles from s to
// 2 s, because with E = e^(-s/2 scale) and D = e^(-gap/scale) the ratio of the worst misses at one near >= s is at least
// (1 + D E^2) / (E (1 + D)), as the gap grows by s at most, and 1 + D E^2 - E - D E = (1 - E)(1 - D E) >= 0; between s/2
// and s the coarser grid always misses. Of Gaussian noise the near tail gains and the far one loses the mass of an interval
// of length s / 2 at most, and the gain is nearer to 0. (The statistic's grid must not be coarser than s: integers have s >= 1.) So the
// scales that reach the target are an interval, whose end is certified by two neighbours.
double largest_scale(const Target& target) {
  if (!target.is_possible()) target.refuse_unreachable();

  // Positive doubles are ordered as their bits. Bisection of the normal doubles that starts at the guess and first
  // steps away from it by 1, 4, 16 ... units in the last place.
  const auto bits = [](double x) { return std::bit_cast<std::int64_t>(x); };
  const auto value = [](std::int64_t b) { return std::bit_cast<double>(b); };
  const std::int64_t none = bits(std::numeric_limits<double>::min()) - 1;
  std::int64_t low = none;                                            // reached, or nothing is
  std::int64_t high = bits(std::numeric_limits<double>::infinity());  // not reached
  std::int64_t probe = std::clamp(bits(target.guess()), low + 1, high - 1);
  std::int64_t step = 1;
  bool above = false;
  bool below = false;
  while (high - low > 1) {
    if (target.reached(value(probe))) {
      low = probe;
      above = true;
    } else {
      high = probe;
      below = true;
    }
    if ((above && below) || step >= high - low) {
      probe = low + (high - low) / 2;
    } else {
      probe = above ? low + step : high - step;
      if (step < std::int64_t{1} << 58) step *= 4;
    }
  }
  if (low == none || !target.grid(value(low))) target.refuse_unreachable();
  return value(low);
}

// The least integer n with n 2^-60 >= sensitivity / scale.
Integer least_steps(const Rational& sensitivity, double scale) {
  int exponent = 0;
  const Integer mantissa(std::ldexp(std::frexp(scale, &exponent), 53));
  const int shift = 60 + 53 - exponent;
  Integer numerator = sensitivity.get_num();
  Integer denominator = sensitivity.get_den() * mantissa;
  (shift >= 0 ? numerator : denominator) <<= static_cast<unsigned>(std::abs(shift));
  mpz_cdiv_q(numerator.get_mpz_t(), numerator.get_mpz_t(), denominator.get_mpz_t());
  return numerator;
}

}  // namespace

double scale_for_accuracy(const EpsilonQuery& query) {
  const FloatEnvironment environment;
  return largest_scale(Target(query));
}

Rational epsilon_for_accuracy(const EpsilonQuery& query) {
  const FloatEnvironment environment;
  if (query.noise == NoiseKind::gaussian)
    refuse("noise", "gaussian",
           "its scale alone has no epsilon; use scale_for_accuracy() and gaussian_epsilon()");
  if (query.sensitivity <= 0) {
    refuse("sensitivity", to_string(query.sensitivity),
           "must be positive; a statistic no row can change is a public constant: release it as such");
  }
  const Target target(query);
  const double scale = largest_scale(target);
  // sensitivity / epsilon, rounded up, is at most `scale` exactly when epsilon >= sensitivity / scale.
  Rational epsilon(least_steps(query.sensitivity, scale));
  const std::size_t bits = mpz_sizeinbase(epsilon.get_num_mpz_t(), 2);
  mpq_div_2exp(epsilon.get_mpq_t(), epsilon.get_mpq_t(), 60);
  // sensitivity / epsilon is above scale (1 - 2^-60 / epsilon), and with epsilon >= 2^-7 it rounds up to `scale` itself:
  // the double below is at most scale (1 - 2^-53).
  if (bits >= 54) return epsilon;
  // A smaller scale is at least as accurate; checked, since the caller will rely on it.
  const double rounded = to_double_up(query.sensitivity / epsilon);
  const bool verified =
      rounded >= std::numeric_limits<double>::min() && target.grid(rounded) && target.reached(rounded);
  if (rounded != scale && !verified) {
    refuse("sensitivity", to_string(query.sensitivity),
           "is too small: the least epsilon, 2^-60, already leaves a noise scale below the normal doubles; "
           "rescale the statistic");
  }
  return epsilon;
}

}  // namespace snapdp
