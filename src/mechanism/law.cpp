#include "snapdp/mechanism/law.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "mechanism/bias_formula.h"
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

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double greatest_index = 0x1p53;
constexpr double most_rows = 1e7;

using option_checks::refuse;

// x * 2^-g, an infinity on overflow. `exact` tells whether nothing was lost at the bottom of the double range.
double quotient(double x, Grid grid, bool& exact) {
  const long g = grid.exponent();
  if (g >= -1000 && g <= 1000) {
    const double q = x * certified::internal::power_of_two(-g);
    exact = std::isinf(q) || q * certified::internal::power_of_two(g) == x;
    return q;
  }
  const int shift = static_cast<int>(std::clamp(g, -5000L, 5000L));
  const double q = std::ldexp(x, -shift);
  exact = std::isinf(q) || std::ldexp(q, shift) == x;
  return q;
}

void check_point(double x, const Noise& noise, const char* parameter) {
  if (!std::isfinite(x)) refuse(parameter, to_string(x), "must be a finite number");
  if (noise.kind == NoiseKind::geometric && x != std::floor(x)) {
    refuse(parameter, to_string(x), "must be an integer: geometric noise is for integer statistics");
  }
  if (std::fabs(floor_index(x, noise.grid)) > greatest_index) {
    refuse(parameter, to_string(x),
           "is more than 2^53 steps of the grid " + to_string(noise.grid) +
               ", so that outputs there are no doubles; choose a grid of at least " +
               to_string(Grid(std::ilogb(x) + 1 - 53)));
  }
}

}  // namespace

double mechanism_internal::floor_index(double x, Grid grid) {
  bool exact = true;
  const double q = quotient(x, grid, exact);
  if (!exact) return x < 0 ? -1.0 : 0.0;
  return std::floor(q);
}

double mechanism_internal::ceil_index(double x, Grid grid) {
  const double result = -floor_index(-x, grid);
  return result == 0 ? 0.0 : result;
}

double mechanism_internal::round_index(double x, Grid grid) {
  bool exact = true;
  const double q = quotient(x, grid, exact);
  if (!exact) return 0.0;
  const double whole = std::floor(q);
  return q - whole >= 0.5 ? whole + 1 : whole;
}

// The exponents of doubles, and of their products and quotients, lie well inside.
void mechanism_internal::check_grid(Grid grid) {
  constexpr long greatest_exponent = 65536;
  if (grid.exponent() < -greatest_exponent || grid.exponent() > greatest_exponent)
    refuse("grid", to_string(grid), "must lie between 2^-65536 and 2^65536");
}

void mechanism_internal::check_shape(const Noise& noise) {
  if (!(noise.scale.up() > 0) || !std::isfinite(noise.scale.up())) {
    refuse("scale", to_string(noise.scale.up()),
           noise.kind == NoiseKind::gaussian
               ? "must be positive and finite: the standard deviation of the noise"
               : "must be positive and finite; the scale of the noise is sensitivity / epsilon");
  }
  check_grid(noise.grid);
  if (noise.kind == NoiseKind::geometric && noise.grid != Grid(0)) {
    refuse("grid", to_string(noise.grid), "geometric noise gives integers: use 2^0");
  }
  for (const auto& [name, bound] : {std::pair("lower", noise.lower), std::pair("upper", noise.upper)}) {
    if (bound && !std::isfinite(*bound)) refuse(name, to_string(*bound), "must be a finite number");
  }
  if (noise.lower && noise.upper && !(*noise.lower < *noise.upper)) {
    refuse("lower", to_string(*noise.lower), "must be below upper = " + to_string(*noise.upper));
  }
}

void mechanism_internal::check_noise(const Noise& noise) {
  check_shape(noise);
  if (noise.lower) check_point(*noise.lower, noise, "lower");
  if (noise.upper) check_point(*noise.upper, noise, "upper");
  if (noise.kind == NoiseKind::notes && noise.origin().sign() != 0) {
    refuse("noise", "\"precision\"", "its law is about the middle of the bounds: take Noise::centered()");
  }
}

double mechanism_internal::checked_value(const Noise& noise, double value, const char* parameter) {
  if (!std::isfinite(value)) refuse(parameter, to_string(value), "must be a finite number");
  double clamped = value;
  if (noise.lower) clamped = std::max(clamped, *noise.lower);
  if (noise.upper) clamped = std::min(clamped, *noise.upper);
  check_point(clamped, noise, parameter);
  return clamped;
}

double middle_value(const Noise& noise) {
  if (!noise.lower || !noise.upper)
    return noise.lower ? std::max(*noise.lower, 0.0) : std::min(noise.upper.value_or(0), 0.0);
  const Rational middle = (Rational(*noise.lower) + Rational(*noise.upper)) / 2;
  const bool whole = noise.kind == NoiseKind::geometric;
  const double value = to_double_nearest(whole ? Rational(floor(middle)) : middle);
  return value == 0 ? 0.0 : value;
}

OutputLaw::OutputLaw(const Noise& noise, double value) : noise_(noise), value_(value), clamped_(0) {
  const FloatEnvironment environment;
  check_noise(noise);
  clamped_ = checked_value(noise, value, "value");
}

double OutputLaw::probability(double x) const {
  const FloatEnvironment environment;
  const bool at_lower = noise_.lower && x == *noise_.lower;
  const bool at_upper = noise_.upper && x == *noise_.upper;
  const double index = floor_index(x, noise_.grid);
  if (!at_lower && !at_upper) {
    const bool outside = (noise_.lower && x < *noise_.lower) || (noise_.upper && x > *noise_.upper);
    if (outside || !std::isfinite(x) || index != ceil_index(x, noise_.grid)) return 0.0;
  }
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const OutputTails<Real> tails(noise_, clamped_);
    if (at_lower) return round_nearest(tails.at_most(Real(index)), 0);
    if (at_upper) return round_nearest(tails.at_least(Real(ceil_index(x, noise_.grid))), 0);
    return round_nearest(tails.at(Real(index)), 0);
  });
}

double OutputLaw::cdf(double x) const {
  const FloatEnvironment environment;
  if (std::isnan(x)) refuse("x", "nan", "must be a number");
  if (x == infinity || (noise_.upper && x >= *noise_.upper)) return 1.0;
  if (x == -infinity || (noise_.lower && x < *noise_.lower)) return 0.0;
  return certify([&](auto zero) {
    using Real = decltype(zero);
    return round_nearest(OutputTails<Real>(noise_, clamped_).at_most(Real(floor_index(x, noise_.grid))), 0);
  });
}

double OutputLaw::at_least(double x) const {
  const FloatEnvironment environment;
  if (std::isnan(x)) refuse("x", "nan", "must be a number");
  if (x == -infinity || (noise_.lower && x <= *noise_.lower)) return 1.0;
  if (x == infinity || (noise_.upper && x > *noise_.upper)) return 0.0;
  return certify([&](auto zero) {
    using Real = decltype(zero);
    return round_nearest(OutputTails<Real>(noise_, clamped_).at_least(Real(ceil_index(x, noise_.grid))), 0);
  });
}

double OutputLaw::quantile(const Rational& p) const {
  const FloatEnvironment environment;
  if (!(p > 0 && p < 1)) refuse("p", to_string(p), "must lie strictly between 0 and 1");
  const double index = certify([&](auto zero) {
    using Real = decltype(zero);
    const OutputTails<Real> tails(noise_, clamped_);
    const Real one(1.0);
    const Real below = tails.below(one);
    if (sign(below - Real(p)) >= 0) {
      // Down to the last i with P(M <= m - i) >= p: the first n with P(M <= m - 1 - n) < p.
      const Real i = tails.steps_until_rare(below, {{}, one}, p, true);
      return round_nearest(tails.center() - i, 0);
    }
    // Up to the first i with P(M > m + i) <= 1 - p.
    const Real i = tails.steps_until_rare(tails.above(one), {one, {}}, Rational(1 - p));
    return round_nearest(tails.center() + i, 0);
  });
  double output = std::ldexp(index, static_cast<int>(noise_.grid.exponent()));
  if (noise_.lower) output = std::max(output, *noise_.lower);
  if (noise_.upper) output = std::min(output, *noise_.upper);
  return output;
}

bool mechanism_internal::is_symmetric(const Noise& noise, double clamped) {
  if (noise.lower.has_value() != noise.upper.has_value()) return false;
  const double twice = 2 * clamped;
  if (floor_index(twice, noise.grid) != ceil_index(twice, noise.grid)) return false;
  if (!noise.lower) return true;
  const certified::internal::Pair sum = certified::internal::two_sum(*noise.lower, *noise.upper);
  return sum.lo == 0 && sum.hi == twice;
}

double OutputLaw::mean() const {
  const FloatEnvironment environment;
  if (is_symmetric(noise_, clamped_)) return clamped_ == 0 ? 0.0 : clamped_;
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const Real moved = output_moments<Real>(noise_, clamped_, false).first;
    return round_nearest(moved + in_steps<Real>(clamped_, noise_.grid), noise_.grid.exponent());
  });
}

double OutputLaw::variance() const {
  const FloatEnvironment environment;
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const OutputMoments<Real> moments = output_moments<Real>(noise_, clamped_, true);
    return round_nearest(moments.second - moments.first * moments.first, 2 * noise_.grid.exponent());
  });
}

double OutputLaw::miss(const Rational& a) const {
  const FloatEnvironment environment;
  if (a < 0) refuse("a", to_string(a), "must not be negative");
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const OutputTails<Real> tails(noise_, clamped_);
    const Real distance(Rational(a / noise_.grid.spacing().rational()));
    const Real y = in_steps<Real>(value_, noise_.grid);
    const Real high = y + distance;
    const Real low = y - distance;
    const auto bound = [&](const std::optional<double>& b) { return in_steps<Real>(*b, noise_.grid); };
    // P(out > high): at or above the upper bound nothing is left, below the lower one everything is.
    Real above;
    if (noise_.lower && sign(high - bound(noise_.lower)) < 0) {
      above = Real(1.0);
    } else if (!noise_.upper || sign(high - bound(noise_.upper)) < 0) {
      above = tails.at_least(floor(high) + Real(1.0));
    }
    Real below;
    if (noise_.upper && sign(low - bound(noise_.upper)) > 0) {
      below = Real(1.0);
    } else if (!noise_.lower || sign(low - bound(noise_.lower)) > 0) {
      below = tails.at_most(-floor(-low) - Real(1.0));
    }
    return round_nearest(above + below, 0);
  });
}

// Without clamps the errors are |f|, 1 - |f|, 1 + |f|, 2 - |f| ..., on alternating sides. With A(j) = P(M >= m + j) and
// B(j) = P(M <= m - j),
//   P(error > n + |f|) = A(n+1) + B(n+1),   P(error > n + 1 - |f|) = A(n+2) + B(n+1) for f >= 0, B(n+2) + A(n+1) for f < 0.
// Up to the nearer bound clamping changes nothing; from there on only the other side can miss.
double OutputLaw::accuracy(const FailureRate& alpha) const {
  const FloatEnvironment environment;
  if (value_ != clamped_) {
    refuse("value", to_string(value_), "lies outside the bounds; an accuracy holds for values inside them");
  }
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const OutputTails<Real> tails(noise_, clamped_);
    const Real one(1.0);
    const Real limit(alpha.value());
    const Real& f = tails.fraction();
    const bool leans_up = sign(f) >= 0;
    const Real lean = leans_up ? f : -f;
    const Real above = tails.above(one);
    const Real below = tails.below(one);
    const Real two(2.0);
    const Real outer = tails.steps_until_rare(above + below, {one, one}, alpha.value()) + lean;
    const Real mixed = leans_up ? tails.above(two) + below : tails.below(two) + above;
    const Real inner =
        tails.steps_until_rare(mixed, {leans_up ? two : one, leans_up ? one : two}, alpha.value()) + one -
        lean;
    const auto lesser = [](const Real& a, const Real& b) { return sign(a - b) <= 0 ? a : b; };
    const auto greater = [](const Real& a, const Real& b) { return sign(a - b) >= 0 ? a : b; };
    Real a = lesser(outer, inner);

    const Real y = in_steps<Real>(clamped_, noise_.grid);
    Real to_upper;
    Real to_lower;
    if (noise_.upper) to_upper = in_steps<Real>(*noise_.upper, noise_.grid) - y;
    if (noise_.lower) to_lower = y - in_steps<Real>(*noise_.lower, noise_.grid);
    if (noise_.upper || noise_.lower) {
      const bool upper_first = noise_.upper && (!noise_.lower || sign(to_upper - to_lower) <= 0);
      const Real& nearer = upper_first ? to_upper : to_lower;
      if (sign(a - nearer) > 0) {
        const Real& near_tail = upper_first ? above : below;
        const Real& far_tail = upper_first ? below : above;
        const Real offset =
            upper_first ? f : -f;  // the outputs of the far side are at offset, offset + 1 ...
        a = nearer;
        // Unless even all of the far side is rare enough, the one at `offset` included.
        if (sign(offset) < 0 || sign(one - near_tail - limit) > 0) {
          const typename OutputTails<Real>::Sides far_side = upper_first
                                                                 ? typename OutputTails<Real>::Sides{{}, one}
                                                                 : typename OutputTails<Real>::Sides{one, {}};
          a = greater(a, tails.steps_until_rare(far_tail, far_side, alpha.value()) + offset);
        }
        if (noise_.upper && noise_.lower) a = lesser(a, upper_first ? to_lower : to_upper);
      }
    }
    return round_up(a, noise_.grid.exponent());
  });
}

OutputLaw::Table OutputLaw::table(double least) const {
  return table(least, least);
}

namespace {

// Indices of outputs, whole numbers of at most 2^53 in magnitude.
struct IndexRange {
  double first;
  double last;

  double size() const { return last - first + 1; }
};

// The `most` indices of a range that are nearest to its index `center`; fewer on one side leave more for the other.
IndexRange nearest_indices(const IndexRange& range, double center, double most) {
  const double more = most - 1;
  const double first = std::max(range.first, std::min(center - std::floor(more / 2), range.last - more));
  return {first, std::min(range.last, first + more)};
}

}  // namespace

OutputLaw::Table OutputLaw::table(double least_below, double least_above,
                                  std::optional<std::size_t> most) const {
  const FloatEnvironment environment;
  for (const double least : {least_below, least_above}) {
    if (!(least > 0) || !(least < 1)) refuse("least", to_string(least), "must lie strictly between 0 and 1");
  }
  if (most == 0) refuse("most", "0", "must be at least 1");
  const double center = round_index(clamped_, noise_.grid);
  const auto output = [&](double index) {
    double x = std::ldexp(index, static_cast<int>(noise_.grid.exponent()));
    if (noise_.lower) x = std::max(x, *noise_.lower);
    if (noise_.upper) x = std::min(x, *noise_.upper);
    return x == 0 ? 0.0 : x;
  };
  // About how far from the center the probability of an index falls below `least`; the exact end follows.
  const double ratio = certify([&](auto zero) {
    using Real = decltype(zero);
    return round_up(in_steps<Real>(noise_.scale.up(), noise_.grid), 0);
  });
  const auto reach = [&](double least) {
    // P(M = m + j) is below the density at j - 1/2, e^(-z^2/2) / (2.5 ratio), and below e^(-z^2/2).
    if (noise_.kind == NoiseKind::gaussian)
      return std::ceil(ratio * std::sqrt(2 * std::max(0.0, -std::log(least) -
                                                               std::log(std::max(2.5 * ratio, 1.0))))) +
             2;
    return std::ceil(ratio * std::max(0.0, -std::log(least) - std::log(std::max(ratio, 0.25)))) + 2;
  };
  // Beyond 2^53 the next index is no double, and no output.
  IndexRange range{std::max(center - reach(least_below), -greatest_index),
                   std::min(center + reach(least_above), greatest_index)};
  if (noise_.lower) range.first = std::max(range.first, floor_index(*noise_.lower, noise_.grid));
  if (noise_.upper) range.last = std::min(range.last, ceil_index(*noise_.upper, noise_.grid));
  if (!most && !(range.size() <= most_rows)) {
    refuse("grid", to_string(noise_.grid),
           "the law has more than ten million outputs of probability " +
               to_string(std::min(least_below, least_above)) +
               " or more; choose a coarser grid or raise the least probability");
  }
  const auto keep = [&](double index, double least) { return probability(output(index)) >= least; };
  while (range.first < center && !keep(range.first, least_below)) ++range.first;
  while (range.last > center && !keep(range.last, least_above)) --range.last;
  Table table{};
  if (most) {
    const double all = range.size();
    range = nearest_indices(range, center, static_cast<double>(*most));
    table.cut = all - range.size();
  }
  const auto rows = static_cast<std::size_t>(range.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const double x = output(range.first + static_cast<double>(row));
    table.outputs.push_back({x, probability(x)});
  }
  table.below = certify([&](auto zero) {
    using Real = decltype(zero);
    if (noise_.lower && table.outputs.front().output == *noise_.lower) return 0.0;
    return round_nearest(OutputTails<Real>(noise_, clamped_).at_most(Real(range.first) - Real(1.0)), 0);
  });
  table.above = certify([&](auto zero) {
    using Real = decltype(zero);
    if (noise_.upper && table.outputs.back().output == *noise_.upper) return 0.0;
    return round_nearest(OutputTails<Real>(noise_, clamped_).at_least(Real(range.last) + Real(1.0)), 0);
  });
  return table;
}

// On the half step of the grid that y lies in, at distances p and r from its ends, P(out <= x) is the probability of the
// continuous noise up to one end while x runs to the other: the difference is its mass. Any other half step has less, as
// the density falls on both sides of y.
double OutputLaw::distance_to_continuous() const {
  const FloatEnvironment environment;
  if (noise_.kind == NoiseKind::geometric) {
    refuse("noise", "geometric", "it is no continuous noise that is rounded to a grid");
  }
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const OutputTails<Real> tails(noise_, clamped_);
    const Real half(0.5);
    const Real p = sign(tails.fraction()) >= 0 ? tails.fraction() : tails.fraction() + half;
    return round_nearest(tails.mass(p) + tails.mass(half - p), 0);
  });
}

ReleaseLaw::ReleaseLaw(const Noise& noise, double value)
    : noise_(noise), value_(value), law_(noise.centered(), noise.centered(value)) {}

double ReleaseLaw::output(double centered) const {
  const FloatEnvironment environment;
  const Noise& noise = law_.noise();
  if (noise.lower && centered == *noise.lower) return *noise_.lower;
  if (noise.upper && centered == *noise.upper) return *noise_.upper;
  return (Dyadic(centered) + noise_.origin()).to_double_nearest() + 0.0;  // -0 becomes +0
}

double ReleaseLaw::mean() const {
  const FloatEnvironment environment;
  return to_double_nearest(Rational(law_.mean()) + noise_.origin().rational());
}

double ReleaseLaw::accuracy(const FailureRate& alpha) const {
  const FloatEnvironment environment;
  if (noise_.kind != NoiseKind::notes) return law_.accuracy(alpha);
  // Noise, or a value, that is off by at most `error` makes no output less or more likely than a factor
  // e^(error / scale) says, and e^-x >= 1 - x.
  const Dyadic exact = std::clamp(Dyadic(value_), Dyadic(*noise_.lower), Dyadic(*noise_.upper));
  const Rational shift = abs(exact - noise_.origin() - Dyadic(law_.value())).rational();
  const Rational error = noise_.arithmetic_error() + shift;
  const Rational rate = alpha.value() * (1 - error / Rational(noise_.scale.up()));
  const double range = to_double_up(Rational(*noise_.upper) - Rational(*noise_.lower));
  if (rate <= 0) return range;
  const Rational accuracy(law_.accuracy(FailureRate(rate)));
  return std::min(range, to_double_up(accuracy + shift + noise_.output_error()));
}

OutputLaw::Table ReleaseLaw::table(std::size_t most) const {
  constexpr double rarest = 1e-15;
  constexpr double rarest_clamped = 0x1p-1074;
  const Noise& noise = law_.noise();
  const OutputLaw::Table centered =
      law_.table(noise.lower ? rarest_clamped : rarest, noise.upper ? rarest_clamped : rarest, most);
  OutputLaw::Table table{{}, centered.below, centered.above, centered.cut};
  for (const OutputProbability& row : centered.outputs) {
    const double shown = output(row.output);
    if (!table.outputs.empty() && table.outputs.back().output == shown) {
      table.outputs.back().probability += row.probability;
    } else {
      table.outputs.push_back({shown, row.probability});
    }
  }
  return table;
}

}  // namespace snapdp
