// The tight accuracy of a clamped release: the least a such that no y in [lower, upper] misses by more with
// probability above alpha, where a miss beyond a bound cannot happen.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "mechanism/certified.h"
#include "mechanism/output_tails.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/numeric/float_environment.h"

namespace snapdp {
namespace {

using certified::certify;

int sign(double x) {
  return (x > 0) - (x < 0);
}
double ldexp(double x, int k) {
  return std::ldexp(x, k);
}

// Whether no l <= y <= u misses by more than a with probability above alpha, in units of the grid; in certified
// arithmetic or, for a first guess, in double.
//
// y misses above with S(p - 1/2), S the survival of Laplace noise and p the distance to the first output above y + a,
// if y < u - a, and below with S(m - 1/2) if y > l + a. (That first output may be the bound itself: it is reached when
// the noisy value rounds to the next multiple of the grid, so p is the distance to that multiple.)
template <typename Real>
class ClampedMiss {
 public:
  ClampedMiss(const Real& ratio, const Real& l, const Real& u, const Real& alpha)
      : ratio_(ratio), l_(l), u_(u), alpha_(alpha) {}

  bool allows(const Real& a) const {
    using std::exp;
    using std::floor;
    const Real one(1.0);
    const Real half(0.5);
    const Real range = u_ - l_;
    if (sign(a - range) >= 0) return true;
    const Real both = range - ldexp(a, 1);  // width of the y that can miss on both sides
    if (sign(both - one) >= 0) {
      // Every fraction of y occurs among them: the unclamped formula; see worst_miss_in_units.
      if (sign(a - half) < 0) return false;
      const Real twice = ldexp(a, 1);
      const Real d = floor(twice) + one - twice;
      return is_rare(ldexp(exp((half - a) / ratio_) * (one + exp(-d / ratio_)), -1));
    }
    return one_sided(a, l_, u_) && one_sided(a, -u_, -l_) && (sign(both) <= 0 || two_sided(a));
  }

 private:
  bool is_rare(const Real& miss) const { return sign(miss - alpha_) <= 0; }

  Real survival(const Real& t) const {
    using std::exp;
    if (sign(t) >= 0) return ldexp(exp(-t / ratio_), -1);
    return Real(1.0) - ldexp(exp(t / ratio_), -1);
  }

  // The y that can miss above only: l <= y <= min(l + a, u - a). The miss is worst where y + a just falls short of an
  // integer, or else at the largest y.
  bool one_sided(const Real& a, const Real& l, const Real& u) const {
    using std::floor;
    const Real next = floor(l + a) + Real(1.0);
    const Real reach = sign(l + ldexp(a, 1) - u) <= 0 ? l + ldexp(a, 1) : u;  // the largest y + a
    const Real p = sign(next - reach) <= 0 ? a : next - reach + a;
    return is_rare(survival(p - Real(0.5)));
  }

  // l + a < y < u - a, less than one unit wide. Between the points where y + a or y - a is an integer the outputs on
  // both sides stay the same, and the sum of the tails is convex or 1: it is worst at an end.
  bool two_sided(const Real& a) const {
    using std::floor;
    const Real one(1.0);
    const Real half(0.5);
    std::array<Real, 4> ends{l_ + a};
    std::size_t count = 1;
    const Real above = floor(l_ + ldexp(a, 1)) + one;  // the first integer that y + a reaches
    if (sign(above - u_) < 0) ends[count++] = above - a;
    const Real below = floor(l_) + one;  // the first integer that y - a reaches
    if (sign(below + ldexp(a, 1) - u_) < 0) ends[count++] = below + a;
    if (count == 3 && sign(ends[1] - ends[2]) > 0) std::swap(ends[1], ends[2]);
    ends[count] = u_ - a;
    for (std::size_t i = 0; i < count; ++i) {
      if (sign(ends[i + 1] - ends[i]) == 0) continue;
      const Real middle = ldexp(ends[i] + ends[i + 1], -1);
      const Real up = floor(middle + a) + one;
      const Real down = -floor(a - middle) - one;
      for (const Real& y : {ends[i], ends[i + 1]}) {
        if (!is_rare(survival(up - y - half) + survival(y - down - half))) return false;
      }
    }
    return true;
  }

  Real ratio_;
  Real l_;
  Real u_;
  Real alpha_;
};

// In integers. Both sides can miss by more than n when some y has l + n < y < u - n, one side when u - l > n.
double clamped_geometric(const AccuracyQuery& query, double lower, double upper) {
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const Real ratio = Real::scaled(query.scale, 0);
    const Real alpha(query.alpha.value());
    const Real range = Real(upper) - Real(lower);
    const OutputTails<Real> tails({.scale = query.scale, .kind = NoiseKind::geometric}, 0);
    const Real one_tail = tails.above(Real(1.0));
    const Real both = steps_down_to(ldexp(one_tail, 1), alpha, ratio);
    const Real one = steps_down_to(one_tail, alpha, ratio);
    const Real half = floor(ldexp(range, -1));  // the least n without such a y
    const auto lesser = [](const Real& a, const Real& b) { return sign(a - b) <= 0 ? a : b; };
    const Real either = sign(one - half) >= 0 ? one : half;
    return round_up(lesser(lesser(both, either), range), 0);
  });
}

}  // namespace

double clamped_accuracy(const AccuracyQuery& query, double lower, double upper) {
  const FloatEnvironment environment;
  check_noise(
      {.scale = query.scale, .grid = query.grid, .lower = lower, .upper = upper, .kind = query.noise});
  AccuracyQuery free = query;
  free.range.reset();
  const double range = certify([&](auto zero) {
    using Real = decltype(zero);
    return round_up(Real(upper) - Real(lower), 0);
  });
  // Far from the bounds nothing changes: the worst y of the unclamped law lies inside [lower + a, upper - a].
  const double unclamped = tight_accuracy(free);  // with the rounding error: at least the a in question
  const long exponent = query.grid.exponent();
  const bool far = std::isfinite(unclamped) && certify([&](auto zero) {
                     using Real = decltype(zero);
                     const Real width = Real::scaled(upper, -exponent) - Real::scaled(lower, -exponent);
                     return sign(width - Real::scaled(unclamped, 1 - exponent) - Real(1.0)) >= 0;
                   });
  if (far || query.rounding_error >= Rational(range)) return std::min(unclamped, range);
  const auto finish = [&](double a) {
    if (query.rounding_error != 0) a = to_double_up(Rational(a) + query.rounding_error);
    return std::min({a, unclamped, range});
  };
  if (query.noise == NoiseKind::geometric) return finish(clamped_geometric(query, lower, upper));

  const auto reached = [&](double a) {
    return certify([&](auto zero) {
      using Real = decltype(zero);
      const ClampedMiss<Real> miss(Real::scaled(query.scale, -exponent), Real::scaled(lower, -exponent),
                                   Real::scaled(upper, -exponent), Real(query.alpha.value()));
      return miss.allows(Real::scaled(a, -exponent));
    });
  };

  // Bisection in double, then certified steps away from where that ends, doubling.
  double low = 0;
  double high = std::min(unclamped, range);  // reached
  {
    const auto shift = static_cast<int>(-exponent);
    const ClampedMiss<double> miss(std::ldexp(query.scale, shift), std::ldexp(lower, shift),
                                   std::ldexp(upper, shift), to_double_nearest(query.alpha.value()));
    for (int i = 0; i < 60 && low < high; ++i) {
      const double middle = low + (high - low) / 2;
      (miss.allows(std::ldexp(middle, shift)) ? high : low) = middle;
    }
  }
  const auto bits = [](double x) { return std::bit_cast<std::int64_t>(x); };
  const auto value = [](std::int64_t b) { return std::bit_cast<double>(b); };
  if (reached(0.0)) return finish(0.0);
  std::int64_t below = 0;                                 // not reached
  std::int64_t above = bits(std::min(unclamped, range));  // reached
  std::int64_t probe = std::clamp(bits(high), below + 1, std::max(above - 1, below + 1));
  std::int64_t step = 1;
  bool down = false;
  bool up = false;
  while (above - below > 1) {
    if (reached(value(probe))) {
      above = probe;
      down = true;
    } else {
      below = probe;
      up = true;
    }
    if ((down && up) || step >= above - below) {
      probe = below + (above - below) / 2;
    } else {
      probe = down ? above - step : below + step;
      if (step < std::int64_t{1} << 58) step *= 4;
    }
  }
  return finish(value(above));
}

double clamped_accuracy(const AccuracyQuery& query, std::optional<double> lower,
                        std::optional<double> upper) {
  if (lower && upper) return clamped_accuracy(query, *lower, *upper);
  const FloatEnvironment environment;
  check_noise(
      {.scale = query.scale, .grid = query.grid, .lower = lower, .upper = upper, .kind = query.noise});
  AccuracyQuery free = query;
  free.range.reset();
  return tight_accuracy(free);
}

}  // namespace snapdp
