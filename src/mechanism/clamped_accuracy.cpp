// The tight accuracy of a clamped release: the least a such that no y in [lower, upper] misses by more with
// probability above alpha, where a miss beyond a bound cannot happen.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "mechanism/clamped_search.h"
#include "mechanism/option_checks.h"
#include "mechanism/output_tails.h"
#include "numeric/shared/certified.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/accuracy.h"

namespace snapdp {

using namespace numeric_internal;
using namespace mechanism_internal;

namespace {

using certified::certify;

// Whether every probability that some l <= y <= u misses by more than a is rare, in units of the grid; in certified
// arithmetic or, for a first guess, in double.
//
// y misses above with S(p - 1/2), S the survival of the noise and p the distance to the first output above y + a,
// if y < u - a, and below with S(m - 1/2) if y > l + a. (That first output may be the bound itself: it is reached when
// the noisy value rounds to the next multiple of the grid, so p is the distance to that multiple.)
template <typename Real, typename IsRare>
class ClampedMiss {
 public:
  ClampedMiss(NoiseKind kind, const Real& ratio, const Real& l, const Real& u, IsRare is_rare)
      : kind_(kind), ratio_(ratio), l_(l), u_(u), is_rare_(is_rare) {}

  bool allows(const Real& a) const {
    using std::exp;
    using std::floor;
    const Real one(1.0);
    const Real half(0.5);
    const Real range = u_ - l_;
    if (sign(a - range) >= 0) return true;
    const Real both = range - ldexp(a, 1);  // width of the y that can miss on both sides
    if (sign(both - one) >= 0) {
      // Every fraction of y occurs among them: the unclamped formula; see Miss in accuracy.cpp.
      if (sign(a - half) < 0) return is_rare_(one);
      const Real twice = ldexp(a, 1);
      const Real d = floor(twice) + one - twice;
      if (kind_ == NoiseKind::gaussian) return is_rare_(survival(a - half) + survival(a - half + d));
      return is_rare_(ldexp(exp((half - a) / ratio_) * (one + exp(-d / ratio_)), -1));
    }
    return (sign(both) <= 0 || two_sided(a)) && one_sided(a, l_, u_) && one_sided(a, -u_, -l_);
  }

 private:
  Real survival(const Real& t) const { return survival_of(kind_, t, ratio_); }

  // The y that can miss above only: l <= y <= min(l + a, u - a). The miss is worst where y + a just falls short of an
  // integer, or else at the largest y.
  bool one_sided(const Real& a, const Real& l, const Real& u) const {
    using std::floor;
    const Real next = floor(l + a) + Real(1.0);
    const Real reach = sign(l + ldexp(a, 1) - u) <= 0 ? l + ldexp(a, 1) : u;  // the largest y + a
    const Real p = sign(next - reach) <= 0 ? a : next - reach + a;
    return is_rare_(survival(p - Real(0.5)));
  }

  // l + a < y < u - a, less than one unit wide. Between the points where y + a or y - a is an integer the outputs on
  // both sides stay the same, and the sum of the tails is 1 or grows as the two distances move apart: it is worst at an
  // end.
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
        if (!is_rare_(survival(up - y - half) + survival(y - down - half))) return false;
      }
    }
    return true;
  }

  NoiseKind kind_;
  Real ratio_;
  Real l_;
  Real u_;
  IsRare is_rare_;
};

// About the least a <= high with no miss above alpha, in units of the grid and in double: as good as its logarithms.
double approximate_accuracy(NoiseKind kind, double ratio, double l, double u, double alpha, double high) {
  double worst = 0;
  const auto record = [&](double miss) {
    worst = std::max(worst, miss);
    return true;
  };
  const ClampedMiss<double, decltype(record)> misses(kind, ratio, l, u, record);
  // ln(the worst miss / alpha).
  const auto excess = [&](double a) {
    worst = 0;
    misses.allows(a);
    return worst > 0 ? std::log(worst / alpha) : -1000.0;
  };
  // Below, no clamp matters, and `high` is at most the unclamped accuracy.
  double low = std::max(0.0, (u - l - 1) / 2);
  if (low >= high || excess(low) <= 0) low = 0;
  // Where an output moves into or out of reach the miss may jump, and at half the range, which `high` may be.
  const double inside = high * (1 - 0x1p-45);
  if (excess(inside) > 0) return high;
  high = inside;
  const std::array<double, 4> jumps = {std::ceil(l + low) - l, u - std::floor(u - low),
                                       (std::ceil(l + 2 * low) - l) / 2, (u - std::floor(u - 2 * low)) / 2};
  for (const double jump : jumps) {
    if (!(jump > low && jump < high)) continue;
    const double before = jump * (1 - 0x1p-45);
    const double after = jump * (1 + 0x1p-45);
    if (excess(before) <= 0) {
      high = before;
    } else if (excess(after) <= 0) {
      return jump;
    } else {
      low = after;
    }
  }
  // Elsewhere it is nearly exponential: the Illinois method, and now and then a bisection.
  double at_low = excess(low);
  double at_high = excess(high);
  int side = 0;
  for (int i = 1; i <= 100 && high - low > 0x1p-52 * high; ++i) {
    double middle = low + (high - low) * (at_low / (at_low - at_high));
    if (i % 8 == 0 || !(middle > low && middle < high)) middle = low + (high - low) / 2;
    const double at = excess(middle);
    if (std::fabs(at) < 0x1p-50) return middle;
    if (at > 0) {
      low = middle;
      at_low = at;
      if (side > 0) at_high /= 2;
      side = 1;
    } else {
      high = middle;
      at_high = at;
      if (side < 0) at_low /= 2;
      side = -1;
    }
  }
  return high;
}

// In integers. Both sides can miss by more than n when some y has l + n < y < u - n, one side when u - l > n.
double clamped_geometric(const AccuracyQuery& query, double lower, double upper) {
  return certify([&](auto zero) {
    using Real = decltype(zero);
    const Real ratio = Real::scaled(query.noise.scale.up(), 0);
    const Real alpha(query.alpha.value());
    const Real range = Real(upper) - Real(lower);
    const OutputTails<Real> tails(query.noise, 0);
    const Real one_tail = tails.above(Real(1.0));
    const Real both = steps_down_to(ldexp(one_tail, 1), alpha, ratio);
    const Real one = steps_down_to(one_tail, alpha, ratio);
    const Real half = floor(ldexp(range, -1));  // the least n without such a y
    const auto lesser = [](const Real& a, const Real& b) { return sign(a - b) <= 0 ? a : b; };
    const Real either = sign(one - half) >= 0 ? one : half;
    return round_up(lesser(lesser(both, either), range), 0);
  });
}

// A clamped release of continuous noise, in units of the grid.
template <typename Real>
struct Clamped {
  Clamped(const AccuracyQuery& query, double lower, double upper)
      : ratio(in_steps<Real>(query.noise.scale.up(), query.noise.grid)),
        l(in_steps<Real>(lower, query.noise.grid)),
        u(in_steps<Real>(upper, query.noise.grid)) {}

  Real ratio;
  Real l;
  Real u;
};

// The least a that is at least half the range and allowed, when smaller ones are not; otherwise none, and half the range
// is allowed.
//
// From half the range on no y can miss on both sides, and a miss above is rare when p >= t (see ClampedMiss::one_sided),
// with t where S(t - 1/2) = alpha. There p is a where l + a is below the last multiple of the grid up to u, that is a <
// floor(u) - l; from there on p is a + g, g the distance from u to the next multiple. So it is rare from min(t,
// max(floor(u) - l, t - g)) on, misses below likewise, and beyond the range there are none. Both together are rare from
//   min(t, max(c, t - g))
// on, with the larger c = floor(u) - l, u - ceil(l) and the smaller g.
std::optional<double> one_sided_accuracy(const AccuracyQuery& query, double lower, double upper) {
  const Rational& alpha = query.alpha.value();
  const bool low_rate = 2 * alpha.get_num() <= alpha.get_den();
  return certify([&](auto zero) -> std::optional<double> {
    using Real = decltype(zero);
    const auto lesser = [](const Real& a, const Real& b) { return sign(a - b) <= 0 ? a : b; };
    const auto greater = [](const Real& a, const Real& b) { return sign(a - b) >= 0 ? a : b; };
    const Real one(1.0);
    const Clamped<Real> release(query, lower, upper);
    const Real range = release.u - release.l;
    // S(t - 1/2) = alpha.
    const Real rate(alpha);
    const Real t = low_rate ? Real(0.5) - release.ratio * log(ldexp(rate, 1))
                            : Real(0.5) + release.ratio * log(ldexp(one - rate, 1));
    const Real last = floor(release.u);
    const Real first = -floor(-release.l);
    const Real c = greater(last - release.l, release.u - first);
    const Real g = lesser(last + one - release.u, release.l - first + one);
    const Real a = sign(t - g - c) >= 0 ? t - g : lesser(t, c);
    if (sign(a - ldexp(range, -1)) <= 0) return std::nullopt;
    return round_up(lesser(a, range), query.noise.grid.exponent());
  });
}

// The least double that is allowed, known to be at most `high`, which is allowed.
double search(const AccuracyQuery& query, double lower, double upper, double high) {
  const long exponent = query.noise.grid.exponent();
  const auto reached = [&](double a) {
    return certify([&](auto zero) {
      using Real = decltype(zero);
      const Clamped<Real> release(query, lower, upper);
      const Real alpha(query.alpha.value());
      const auto is_rare = [&](const Real& miss) { return sign(miss - alpha) <= 0; };
      const ClampedMiss<Real, decltype(is_rare)> misses(query.noise.kind, release.ratio, release.l, release.u,
                                                        is_rare);
      return misses.allows(Real::scaled(a, -exponent));
    });
  };
  if (reached(0.0)) return 0;
  if (high == 0 || !reached(std::nextafter(high, 0.0))) return high;

  const auto shift = static_cast<int>(-exponent);
  const double guess =
      std::ldexp(approximate_accuracy(query.noise.kind, std::ldexp(query.noise.scale.up(), shift),
                                      std::ldexp(lower, shift), std::ldexp(upper, shift),
                                      query.alpha.value().get_d(), std::ldexp(high, shift)),
                 -shift);
  return least_double(reached, guess, high);
}

// (upper - lower) / 2^halvings, rounded up.
double width(double lower, double upper, int halvings = 0) {
  return certify([&](auto zero) {
    using Real = decltype(zero);
    return round_up(Real(upper) - Real(lower), -halvings);
  });
}

// a + rounding_error, rounded up.
double with_rounding_error(double a, const AccuracyQuery& query) {
  if (query.rounding_error == 0) return a;
  return certify([&](auto zero) {
    using Real = decltype(zero);
    return round_up(Real(a) + Real(query.rounding_error), 0);
  });
}

// The bounds are wide enough for the worst y of the unclamped law to lie inside [lower + a, upper - a].
bool is_far(double unclamped, const AccuracyQuery& query, double lower, double upper) {
  return std::isfinite(unclamped) && certify([&](auto zero) {
           using Real = decltype(zero);
           const long exponent = query.noise.grid.exponent();
           const Real steps =
               in_steps<Real>(upper, query.noise.grid) - in_steps<Real>(lower, query.noise.grid);
           return sign(steps - Real::scaled(unclamped, 1 - exponent) - Real(1.0)) >= 0;
         });
}

void check(const AccuracyQuery& query) {
  check_noise(query.noise);
  if (query.noise.kind == NoiseKind::notes) {
    option_checks::refuse("noise", "\"precision\"", "only tight_accuracy() knows its arithmetic");
  }
  if (query.rounding_error < 0) tight_accuracy(query);  // refuses it
}

// Whether tight_accuracy is so far above what one_sided_accuracy gives, at most t, that it does not matter how their sums
// with the rounding error were rounded. From the worst miss of reals, whose gap is at most 1, for alpha <= 1/2:
//   tight - t >= ratio ln(1 + e^(-1/ratio)),
// where tight and t are in units of the grid and `a` >= 0 is the result in units of the statistic.
bool is_below_unclamped(double a, const AccuracyQuery& query) {
  if (query.rounding_error == 0) return true;
  const auto grid = static_cast<int>(query.noise.grid.exponent());
  const double ratio = std::ldexp(query.noise.scale.up(), -grid);
  const double gap = std::ldexp(ratio * std::log1p(std::exp(-1 / ratio)), grid);
  return query.alpha.value().get_d() < 0.5 && a > 0x1p-900 && gap > a * 0x1p-48;
}

}  // namespace

double mechanism_internal::searched_clamped_accuracy(const AccuracyQuery& query) {
  const FloatEnvironment environment;
  check(query);
  const double lower = *query.noise.lower;
  const double upper = *query.noise.upper;
  const double range = width(lower, upper);
  const double unclamped =
      unclamped_accuracy(query).in_all;  // with the rounding error: at least the a in question
  const double most = std::min(unclamped, range);
  if (is_far(unclamped, query, lower, upper) || query.rounding_error >= Rational(range)) return most;
  return std::min(with_rounding_error(search(query, lower, upper, most), query), most);
}

double clamped_accuracy(const AccuracyQuery& query) {
  const FloatEnvironment environment;
  check(query);
  if (!query.noise.lower || !query.noise.upper) return unclamped_accuracy(query).in_all;
  if (query.values) {
    AccuracyQuery reals = query;
    reals.values.reset();
    return std::min(clamped_accuracy(reals), unclamped_accuracy(query).in_all);
  }
  const double lower = *query.noise.lower;
  const double upper = *query.noise.upper;
  const double range = width(lower, upper);
  const bool continuous = query.noise.kind != NoiseKind::geometric;
  const bool one_sided_is_known = query.noise.kind == NoiseKind::exact;
  std::optional<double> one_sided;
  if (one_sided_is_known) one_sided = one_sided_accuracy(query, lower, upper);
  if (one_sided) {
    const double a = with_rounding_error(*one_sided, query);
    if (is_below_unclamped(a, query)) return std::min(a, range);
    return std::min({a, range, unclamped_accuracy(query).in_all});
  }
  // Far from the bounds nothing changes.
  const TightAccuracy tight = unclamped_accuracy(query);
  const double most = std::min(tight.in_all, range);
  if (is_far(tight.of_noise, query, lower, upper)) return most;
  // Of Laplace noise half the range is allowed here: see one_sided_accuracy.
  double most_of_noise = std::min(tight.of_noise, range);
  if (one_sided_is_known) most_of_noise = std::min(most_of_noise, width(lower, upper, 1));
  const double a =
      continuous ? search(query, lower, upper, most_of_noise) : clamped_geometric(query, lower, upper);
  return std::min(with_rounding_error(a, query), most);
}

}  // namespace snapdp
