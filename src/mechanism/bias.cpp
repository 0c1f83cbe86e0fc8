#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mechanism/bias_formula.h"
#include "mechanism/option_checks.h"
#include "mechanism/output_tails.h"
#include "numeric/shared/certified.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/law.h"

namespace snapdp {

using namespace numeric_internal;
using namespace mechanism_internal;

namespace {

using certified::certify;

using option_checks::refuse;

// `noise` is checked already.
double certified_bias(const Noise& noise, double guess) {
  const double clamped = checked_value(noise, guess, "guess");
  if (guess == clamped && is_symmetric(noise, clamped)) return 0.0;
  return certify([&](auto zero) {
    using Real = decltype(zero);
    return round_nearest(bias_in_steps<Real>(noise, guess, clamped), noise.grid.exponent());
  });
}

// The bias of Laplace noise as a function of the value y, in units of the grid and in double arithmetic. For all y that
// round to one index m it is, with A and B of output_tails.h,
//   b(y) = constant + (m - y) + up A + down B,   A = e^((y - m - 1/2)/ratio) / 2,  B = e^((m - 1/2 - y)/ratio) / 2.
// The factors are those of output_moments, sorted.
class BiasCurve {
 public:
  // With `places` only the y that are multiples of 2^-places count.
  BiasCurve(double ratio, std::optional<double> lower, std::optional<double> upper, std::optional<int> places)
      : ratio_(ratio),
        q_(std::exp(-1 / ratio)),
        p_(-std::expm1(-1 / ratio)),
        lower_(lower),
        upper_(upper),
        places_(places) {}

  // The largest |b| on [low, high], added to `best` with its y; less than a few steps of the grid.
  void search(double low, double high, double& best_y, double& best) const {
    // Whole steps move nothing but the numbers: near zero y has a fraction, and m + 1 is another number than m.
    const double origin = std::floor(low);
    const auto moved = [&](const std::optional<double>& bound) {
      return bound ? std::optional<double>(*bound - origin) : std::nullopt;
    };
    constexpr double greatest_index = 0x1p53;
    const BiasCurve near_zero(ratio_, moved(lower_), moved(upper_), places_);
    double y = 0;
    const double before = best;
    near_zero.search_near_zero(low - origin, std::min(high, greatest_index) - origin, y, best);
    if (best > before) best_y = origin + y;
  }

 private:
  void search_near_zero(double low, double high, double& best_y, double& best) const {
    double m = std::floor(low + 0.5);
    do {
      const double from = std::max(low, m - 0.5);
      const double to = std::min(high, m + 0.5);
      const Piece piece = at(m);
      const auto consider_exactly = [&](double y) {
        if (!(y >= from && y <= to)) return;
        const double a = std::exp((y - m - 0.5) / ratio_) / 2;
        const double b = std::exp((m - 0.5 - y) / ratio_) / 2;
        const double bias = std::fabs(piece.constant + (m - y) + piece.up * a + piece.down * b);
        if (bias > best) {
          best = bias;
          best_y = y;
        }
      };
      // On a grid the multiples on both sides: between its ends and extremes b is monotone.
      const auto consider = [&](double y) {
        if (!places_) return consider_exactly(y);
        const double steps = std::ldexp(y, *places_);
        consider_exactly(std::ldexp(std::floor(steps), -*places_));
        consider_exactly(std::ldexp(std::ceil(steps), -*places_));
      };
      if (from == low || places_) consider(from);
      consider(to);
      // b' = 0 is up A - down B = ratio, a quadratic equation for e^(y/ratio). Its roots, by the signs of the factors:
      const double root = ratio_ + std::sqrt(std::max(0.0, ratio_ * ratio_ + piece.up * piece.down * q_));
      if (piece.up > 0) consider(m + 0.5 + ratio_ * std::log(root / piece.up));
      if (piece.down < 0) consider(m - 0.5 - ratio_ * std::log(root / -piece.down));
      ++m;
    } while (m - 0.5 < high);
  }

  struct Piece {
    double constant;
    double up;
    double down;
  };

  Piece at(double m) const {
    const double e = q_ / p_;
    Piece piece{0, 1 / p_, -1 / p_};
    if (upper_) {
      const double k = std::ceil(*upper_);
      if (k > m) {
        piece.up -= std::exp((m + 1 - k) / ratio_) * (k - *upper_ + e);
      } else {  // the centre is clamped too
        piece.constant -= m - *upper_;
        piece.up = 0;
        piece.down += m - *upper_;
      }
    }
    if (lower_) {
      const double k = std::floor(*lower_);
      if (k < m) {
        piece.down += std::exp((k + 1 - m) / ratio_) * (*lower_ - k + e);
      } else {
        const double inward = *lower_ - m;
        piece.constant += inward;
        piece.up -= inward;
        piece.down += 1 / p_;
      }
    }
    return piece;
  }

  double ratio_;
  double q_;
  double p_;
  std::optional<double> lower_;
  std::optional<double> upper_;
  std::optional<int> places_;
};

// Without bounds b depends on f alone, sinh(f/ratio) / (2 sinh(1/(2 ratio))) - f: odd, zero at 0 and 1/2, and largest
// where cosh(f/ratio) = 2 ratio sinh(1/(2 ratio)), which tends to f = 1/sqrt(12) as the ratio grows.
double worst_real_fraction(double ratio) {
  const double x = 1 / ratio;
  if (x < 1e-3) return -std::sqrt(1.0 / 12);
  if (x > 700) return -0.5 + ratio * std::log(x / 2);  // cosh(f x) = e^(|f| x) / 2, sinh(x/2) = e^(x/2) / 2
  return -ratio * std::acosh(2 * ratio * std::sinh(x / 2));
}

// The same among the multiples of 2^-places: those next to it, as b rises to it and falls from it.
double worst_fraction(double ratio, std::optional<int> places) {
  const double real = worst_real_fraction(ratio);
  if (!places) return real;
  // sinh(f x) / (2 sinh(x / 2)) - f without overflow, f > 0.
  const auto size = [x = 1 / ratio](double fraction) {
    const double f = std::fabs(fraction);
    return std::fabs(std::exp((f - 0.5) * x) * std::expm1(-2 * f * x) / (2 * std::expm1(-x)) - f);
  };
  const double steps = std::ldexp(real, *places);
  const double below = std::ldexp(std::floor(steps), -*places);
  const double above = std::ldexp(std::ceil(steps), -*places);
  return size(below) > size(above) ? below : above;
}

// The largest bias of Gaussian noise in magnitude over the values in [low, high], in units of the statistic: the one above
// zero is within a step of the lower end, the one below zero within a step of the upper end, as the bias falls by every
// whole step (see worst_bias). There it is looked at on a mesh, which half steps belong to because for a small scale it
// jumps there, and the best mesh is searched by golden section, on doubles.
class GaussianWorstBias {
 public:
  GaussianWorstBias(const Noise& noise, std::optional<Grid> values) : noise_(noise), values_(values) {}

  double guess(double low, double high) {
    best_ = low;
    largest_ = -1;
    const double step = noise_.grid.spacing().to_double_up();
    search(low, std::min(low + step, high));
    search(std::max(high - step, low), high);
    return best_;
  }

 private:
  double size(double y) const {
    const double clamped = std::clamp(y, noise_.lower.value_or(-std::numeric_limits<double>::infinity()),
                                      noise_.upper.value_or(std::numeric_limits<double>::infinity()));
    const double bias = std::fabs(bias_in_steps<double>(noise_, y, clamped));
    return std::isnan(bias) ? -1 : bias;
  }

  void consider_exactly(double y, double low, double high) {
    if (!(y >= low && y <= high)) return;
    const double found = size(y);
    if (found > largest_) {
      largest_ = found;
      best_ = y;
    }
  }
  // With a grid of values its numbers on both sides.
  void consider(double y, double low, double high) {
    if (!values_) return consider_exactly(y, low, high);
    const auto exponent = static_cast<int>(values_->exponent());
    consider_exactly(std::ldexp(floor_index(y, *values_), exponent), low, high);
    consider_exactly(std::ldexp(ceil_index(y, *values_), exponent), low, high);
  }

  void search(double low, double high) {
    constexpr int mesh = 128;
    const double step = std::ldexp(1.0, static_cast<int>(noise_.grid.exponent()));
    std::vector<double> points;
    for (int i = 0; i <= mesh; ++i)
      points.push_back(std::min(low + (high - low) * (static_cast<double>(i) / mesh), high));
    const double first = round_index(low, noise_.grid) - 0.5;
    for (int i = 0; i <= 4; ++i) {
      const double half = (first + 0.5 * i) * step;
      if (half > low && half < high) points.push_back(half);
    }
    std::sort(points.begin(), points.end());
    std::size_t top = 0;
    double largest = -1;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double found = size(points[i]);
      if (found > largest) {
        largest = found;
        top = i;
      }
      consider(points[i], low, high);
    }
    if (top > 0) golden(points[top - 1], points[top], low, high);
    if (top + 1 < points.size()) golden(points[top], points[top + 1], low, high);
    golden(points[top > 0 ? top - 1 : 0], points[std::min(top + 1, points.size() - 1)], low, high);
  }

  void golden(double from, double to, double low, double high) {
    const double ratio = (std::sqrt(5.0) - 1) / 2;
    double left = to - (to - from) * ratio;
    double right = from + (to - from) * ratio;
    double at_left = size(left);
    double at_right = size(right);
    for (int i = 0; i < 90 && from < left && left < right && right < to; ++i) {
      if (at_left >= at_right) {
        to = right;
        right = left;
        at_right = at_left;
        left = to - (to - from) * ratio;
        at_left = size(left);
      } else {
        from = left;
        left = right;
        at_left = at_right;
        right = from + (to - from) * ratio;
        at_right = size(right);
      }
    }
    for (const double y : {from, left, right, to}) consider(y, low, high);
  }

  const Noise& noise_;
  std::optional<Grid> values_;
  double best_ = 0;
  double largest_ = -1;
};

// Without bounds, in units of the grid: it is odd in f, and from a ratio of 2 on a sine but for a relative 10^-50.
double worst_gaussian_fraction(const Noise& noise, std::optional<int> places) {
  const double ratio = std::ldexp(noise.scale.up(), static_cast<int>(-noise.grid.exponent()));
  double real = -0.25;
  if (ratio < 2) {
    const Noise unit{.scale = ratio, .kind = NoiseKind::gaussian};
    real = GaussianWorstBias(unit, std::nullopt).guess(-0.5, 0);
  }
  if (!places) return real;
  const NormalSums<double> sums(std::min(ratio, 2.0));
  const double steps = std::ldexp(real, *places);
  const double below = std::ldexp(std::floor(steps), -*places);
  const double above = std::ldexp(std::ceil(steps), -*places);
  return std::fabs(sums.drift(below)) > std::fabs(sums.drift(above)) ? below : above;
}

// One step beyond the values, in units of the grid, that round to a bound or beyond it.
double step_above(double lower) {
  const double whole = std::floor(lower);
  return lower - whole < 0.5 ? whole + 1.5 : lower + 1;
}
double step_below(double upper) {
  const double whole = std::ceil(upper);
  return whole - upper <= 0.5 ? whole - 1.5 : upper - 1;
}

}  // namespace

double bias(const Noise& noise, double guess) {
  const FloatEnvironment environment;
  check_noise(noise);
  return certified_bias(noise, guess);
}

// Where no bound is near, the bias is a periodic function of y. Bounds add terms that decrease in y on all y that round
// strictly inside them: -(constant) e^(y/ratio) for the upper, +(constant) e^(-y/ratio) for the lower. So going down by
// whole steps only raises b: it is largest within one step above the y that round to the lower bound or below it, and by
// the mirror image least near the upper bound. With the lower bound alone b exceeds the periodic function everywhere and
// that is odd, so that b is nowhere as far below zero as it is above it within that one step: no other y need be looked at.
WorstBias worst_bias(const Noise& noise, std::optional<Grid> grid) {
  const FloatEnvironment environment;
  check_noise(noise);
  if (grid) check_grid(*grid);
  if (noise.lower && noise.upper) return worst_bias(noise, {*noise.lower, *noise.upper}, grid);
  if (noise.kind == NoiseKind::geometric) {
    // Values are integers and only the bound matters, the nearer the more.
    const double guess = noise.upper ? *noise.upper : noise.lower.value_or(0.0);
    return {guess, certified_bias(noise, guess)};
  }
  const auto spacing = static_cast<int>(noise.grid.exponent());
  const std::optional<int> places = grid ? std::optional(places_of(*grid, noise.grid)) : std::nullopt;
  if (noise.kind == NoiseKind::gaussian) {
    double guess = 0;
    if (!noise.lower && !noise.upper) {
      guess = std::ldexp(worst_gaussian_fraction(noise, places), spacing);
    } else {
      // With one bound, within a step of it.
      const double step = noise.grid.spacing().to_double_up();
      GaussianWorstBias search(noise, grid);
      guess = noise.lower ? search.guess(*noise.lower, *noise.lower + step)
                          : search.guess(*noise.upper - step, *noise.upper);
    }
    return {guess, certified_bias(noise, guess)};
  }
  double y = 0;
  {
    const double ratio = std::ldexp(noise.scale.up(), -spacing);
    const auto steps = [&](const std::optional<double>& bound) {
      return bound ? std::optional<double>(std::ldexp(*bound, -spacing)) : std::nullopt;
    };
    const std::optional<double> lower = steps(noise.lower);
    const std::optional<double> upper = steps(noise.upper);
    if (!lower && !upper) {
      y = worst_fraction(ratio, places);
    } else {
      const BiasCurve curve(ratio, lower, upper, places);
      double best = -1;
      if (lower) {
        curve.search(*lower, step_above(*lower), y, best);
      } else {
        curve.search(step_below(*upper), *upper, y, best);
      }
    }
  }
  double guess = std::ldexp(y, spacing);
  if (noise.lower) guess = std::max(guess, *noise.lower);
  if (noise.upper) guess = std::min(guess, *noise.upper);
  return {guess, certified_bias(noise, guess)};
}

// The same steps down and up stay inside a range when they begin a step inside it. So b is largest within the step above
// its lower end, or that of the bound, and least within the step below its upper end.
WorstBias worst_bias(const Noise& noise, const StatisticRange& values, std::optional<Grid> grid) {
  const FloatEnvironment environment;
  check_noise(noise);
  if (grid) check_grid(*grid);
  if (!(values.lower <= values.upper)) {
    refuse("values", to_string(values.lower), "must not be above its upper end, " + to_string(values.upper));
  }
  for (const double end : {values.lower, values.upper}) {
    if (checked_value(noise, end, "values") != end)
      refuse("values", to_string(end), "lies outside the bounds; the range of the values must lie inside");
  }
  double guess = 0;
  if (noise.kind == NoiseKind::geometric) {
    // Only the bounds matter, the nearer the more.
    const double low = std::ceil(values.lower);
    const double high = std::floor(values.upper);
    const bool high_is_worse =
        std::fabs(certified_bias(noise, high)) >= std::fabs(certified_bias(noise, low));
    guess = high_is_worse ? high : low;
  } else if (noise.kind == NoiseKind::gaussian) {
    guess = GaussianWorstBias(noise, grid).guess(values.lower, values.upper);
  } else {
    const auto spacing = static_cast<int>(noise.grid.exponent());
    const auto steps = [&](double x) { return std::ldexp(x, -spacing); };
    const auto bound = [&](const std::optional<double>& x) {
      return x ? std::optional<double>(steps(*x)) : std::nullopt;
    };
    const double low = steps(values.lower);
    const double high = steps(values.upper);
    const BiasCurve curve(steps(noise.scale.up()), bound(noise.lower), bound(noise.upper),
                          grid ? std::optional(places_of(*grid, noise.grid)) : std::nullopt);
    double y = low;
    double best = -1;
    const double first = noise.lower ? std::max(low + 1, step_above(steps(*noise.lower))) : low + 1;
    curve.search(low, std::min(first, high), y, best);
    const double last = noise.upper ? std::min(high - 1, step_below(steps(*noise.upper))) : high - 1;
    curve.search(std::max(last, low), high, y, best);
    guess = std::clamp(std::ldexp(y, spacing), values.lower, values.upper);
  }
  return {guess, certified_bias(noise, guess)};
}

double expected_bias(const Noise& noise, std::span<const double> guesses, std::span<const double> weights) {
  const FloatEnvironment environment;
  check_noise(noise);
  if (guesses.size() != weights.size() || guesses.empty()) {
    refuse("weights", std::to_string(weights.size()) + " numbers",
           "must be as many as the guesses, and at least one; here are " + std::to_string(guesses.size()) +
               " guesses");
  }
  double sum = 0;
  double sum_error = 0;
  double total = 0;
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    const double weight = weights[i];
    if (!(weight >= 0) || !std::isfinite(weight)) {
      refuse("weights", to_string(weight), "must be finite and not negative");
    }
    const double term = weight * certified_bias(noise, guesses[i]);
    const certified::internal::Pair next = certified::internal::two_sum(sum, term);
    sum = next.hi;
    sum_error += next.lo;
    total += weight;
  }
  if (!(total > 0) || !std::isfinite(total)) {
    refuse("weights", to_string(total), "must have a positive and finite sum");
  }
  return (sum + sum_error) / total;
}

double expected_bias(const Noise& noise, std::span<const Rational> guesses,
                     std::span<const Rational> weights) {
  const FloatEnvironment environment;
  const auto refuse_guesses = [](const std::string& rule) {
    throw Error(ErrorCode::invalid_argument, "guesses", "guesses: " + rule);
  };
  if (guesses.empty() || guesses.size() != weights.size()) {
    refuse_guesses(std::to_string(guesses.size()) + " given with " + std::to_string(weights.size()) +
                   " weights; give one weight for each, at least one");
  }
  const Rational heaviest = *std::max_element(weights.begin(), weights.end());
  const Rational shift = noise.origin().rational();
  std::vector<double> values;
  std::vector<double> shares;
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    if (weights[i] <= 0) refuse_guesses("the weight " + to_string(weights[i]) + " must be greater than 0");
    if (noise.kind == NoiseKind::geometric && guesses[i].get_den() != 1) {
      refuse_guesses(to_string(guesses[i]) + " must be a whole number, because the noise is geometric");
    }
    values.push_back(to_double_nearest(Rational(guesses[i] - shift)));
    shares.push_back(to_double_nearest(Rational(weights[i] / heaviest)));
  }
  try {
    return expected_bias(noise.centered(), values, shares);
  } catch (const Error& error) {
    refuse_guesses("their bias cannot be computed: " + std::string(error.what()));
    throw;
  }
}

namespace {

// The integral over [l, u] of E[M - y] - E[(M - u)+] + E[(l - M)+], by the sums of normal_sums.h: the first is periodic,
// and with K = ceil(u) and T_k(y) = Q((k - 1/2 - y)/ratio)
//   E[(M - u)+] = (K - u) T_K + sum over k > K of T_k,  integral of T_k = [ratio L((k - 1/2 - y)/ratio)] at u, less at l;
// the last is the mirror image of the second.
double gaussian_expected_bias_uniform(const Noise& noise) {
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const Real half(0.5);
    const Real ratio = in_steps<Real>(noise.scale.up(), noise.grid);
    const NormalSums<Real> sums(ratio);
    const Real l = in_steps<Real>(*noise.lower, noise.grid);
    const Real u = in_steps<Real>(*noise.upper, noise.grid);
    const auto fraction = [&](double bound) {
      return in_steps<Real>(bound, noise.grid) - Real(round_index(bound, noise.grid));
    };
    const Real free =
        sums.drift_integral(fraction(*noise.upper)) - sums.drift_integral(fraction(*noise.lower));
    // `near` and `far` are the distances from the bound's first clamped output to the two ends.
    const auto cut = [&](const Real& near, const Real& far) {
      const auto integral = [&](const Real& t) { return ratio * NormalSums<Real>::loss((t - half) / ratio); };
      return near * (integral(near) - integral(far)) + sums.integrals(near + half) -
             sums.integrals(far + half);
    };
    const Real last(ceil_index(*noise.upper, noise.grid));
    const Real first(floor_index(*noise.lower, noise.grid));
    const Real lost = cut(last - u, last - l);
    const Real won = cut(l - first, u - first);
    return round_nearest((free - lost + won) / (u - l), noise.grid.exponent());
  });
}

}  // namespace

// With T_k(y) = P(M >= k) = P(Laplace >= k - 1/2 - y), outputs v_k = l, k0 ... K-1, u and gaps g_k between them,
//   E[out] = l + sum over k = k0 ... K of g_k T_k(y),   k0 = floor(l) + 1, K = ceil(u),
// and the integral of T_k over [l, u] is H(k - 1/2 - l) - H(k - 1/2 - u) with H an antiderivative of the survival:
//   H(t) = -ratio/2 e^(-t/ratio) for t >= 0,  t - ratio/2 e^(t/ratio) for t < 0.
// All gaps but the first and the last are 1, and their thresholds lie inside [l, u]: geometric sums.
double expected_bias_uniform(const Noise& noise) {
  const FloatEnvironment environment;
  check_noise(noise);
  if (!noise.lower) refuse("lower", "none", "guesses uniform on the bounds need both bounds");
  if (!noise.upper) refuse("upper", "none", "guesses uniform on the bounds need both bounds");
  // The mirror image about the middle maps the outputs to each other: geometric noise, and grids that hold l + u.
  if (noise.kind == NoiseKind::geometric) return 0.0;
  const certified::internal::Pair ends = certified::internal::two_sum(*noise.lower, *noise.upper);
  if (ends.lo == 0 && floor_index(ends.hi, noise.grid) == ceil_index(ends.hi, noise.grid)) return 0.0;
  if (noise.kind == NoiseKind::gaussian) return gaussian_expected_bias_uniform(noise);
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const Real one(1.0);
    const Real half(0.5);
    const Real ratio = in_steps<Real>(noise.scale.up(), noise.grid);
    const Real l = in_steps<Real>(*noise.lower, noise.grid);
    const Real u = in_steps<Real>(*noise.upper, noise.grid);
    const Real first = Real(floor_index(*noise.lower, noise.grid)) + one;
    const Real last(ceil_index(*noise.upper, noise.grid));
    const auto antiderivative = [&](const Real& t) {
      if (sign(t) >= 0) return -(ratio * half * exp(-t / ratio));
      return t - ratio * half * exp(t / ratio);
    };
    const auto integral = [&](const Real& k) {
      return antiderivative(k - half - l) - antiderivative(k - half - u);
    };
    const Real width = u - l;
    Real sum;
    if (sign(last - first) == 0) {
      sum = width * integral(first);
    } else {
      sum = (first - l) * integral(first) + (u - last + one) * integral(last);
      const Real n = last - first - one;
      if (sign(n) > 0) {
        const Real geometric = -expm1(-n / ratio) / -expm1(-one / ratio);
        const Real from_lower = exp(-(first + half - l) / ratio);
        const Real from_upper = exp(-(u - last + one + half) / ratio);
        sum = sum + n * (u - half * (first + last) + half) +
              ratio * half * geometric * (from_upper - from_lower);
      }
    }
    return round_nearest(sum / width - half * width, noise.grid.exponent());
  });
}

}  // namespace snapdp
