#include "privacy/composition_grid.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "numeric/shared/float_environment.h"

namespace snapdp::privacy_internal::composition {

using namespace numeric_internal;

namespace {

constexpr double unit = 0x1p-53;

// Rounded releases: `count` of them with epsilon = weight * step.
struct Lattice {
  Rational step;
  std::vector<std::pair<std::int64_t, std::int64_t>> counts;  // weight and count, rising, without repetition

  void add(std::int64_t weight, std::int64_t count) {
    if (!counts.empty() && counts.back().first == weight) {
      counts.back().second += count;
    } else {
      counts.emplace_back(weight, count);
    }
  }

  double plus_weights() const {
    double total = 0;
    for (const auto& [weight, count] : counts)
      total += static_cast<double>(weight) * static_cast<double>(count);
    return total;
  }
};

// What is rarer than this at an end of a distribution is cut off, and counted as if its loss were infinite.
double cut_of(const Lattice& lattice, double delta) {
  return delta * 0x1p-42 / static_cast<double>(4 * lattice.counts.size() + 4);
}

// About what convolving takes: multiplications, and entries of the result. By Hoeffding's inequality n signs
// have all but a share `cut` of their probability within sqrt(n log(1/cut) / 2) of the mean on each side;
// likewise weighted sums.
struct Work {
  double products;
  double entries;
};

Work work_of(const Lattice& lattice, double delta) {
  const double tail = -std::log(cut_of(lattice, delta)) / 2;
  double squares = 0;
  double range = 0;
  double work = 0;
  for (const auto& [weight, count] : lattice.counts) {
    const auto w = static_cast<double>(weight);
    const auto n = static_cast<double>(count);
    const double width = std::min(n + 1, 2 * std::sqrt(n * tail) + 2);
    work += width * (std::min(range, 2 * std::sqrt(squares * tail)) + 1);
    squares += n * w * w;
    range += n * w;
  }
  return {work, std::min(range, 2 * std::sqrt(squares * tail)) + 1};
}

constexpr double most_work = 2e8;        // a fraction of a second
constexpr double most_entries = 0x1p20;  // 8 MiB
constexpr double most_range = 0x1p52;

bool is_affordable(const Lattice& lattice, double delta) {
  const Work work = work_of(lattice, delta);
  return work.products <= most_work && work.entries <= most_entries;
}

// Probabilities of the sums first, first + 1 ... of the weights of plus signs.
struct Distribution {
  std::int64_t first = 0;
  std::vector<double> mass = {1.0};
  // What holds of every entry: |mass - true| <= error * true + absolute. `dropped` bounds what was cut off.
  double error = 0;
  double absolute = 0;
  double dropped = 0;
};

// Cuts off what is rarer than `cut` at each end.
void trim(Distribution& distribution, double cut) {
  std::vector<double>& mass = distribution.mass;
  double below = 0;
  std::size_t begin = 0;
  while (begin + 1 < mass.size() && below + mass[begin] <= cut) below += mass[begin++];
  double above = 0;
  std::size_t end = mass.size();
  while (end > begin + 1 && above + mass[end - 1] <= cut) above += mass[--end];
  mass.erase(mass.begin() + static_cast<std::ptrdiff_t>(end), mass.end());
  mass.erase(mass.begin(), mass.begin() + static_cast<std::ptrdiff_t>(begin));
  distribution.first += static_cast<std::int64_t>(begin);
  // Generously: the true masses are a little different, but nowhere near twice as large.
  distribution.dropped += 2 * (below + above) + static_cast<double>(begin) * 0x1p-1000;
}

Distribution signs(const Group& group, double cut) {
  constexpr mpfr_prec_t bits = 128;
  const PlusCounts counts = plus_counts(group, PositiveInterval(bits, Rational(cut * 0x1p-20)));
  Distribution result;
  result.first = counts.first;
  result.mass.clear();
  for (const PositiveInterval& mass : counts.masses) {
    result.mass.push_back(mpfr_get_d(mass.high(), MPFR_RNDN));
  }
  result.dropped = mpfr_get_d(counts.left_out.high(), MPFR_RNDU);
  result.error = 2 * unit;
  result.absolute = 0x1p-1074;
  trim(result, cut);
  return result;
}

Distribution convolved(const Distribution& all, const Distribution& signs, std::int64_t weight, double cut) {
  Distribution result;
  result.first = all.first + weight * signs.first;
  const auto stride = static_cast<std::size_t>(weight);
  const std::size_t size = all.mass.size();
  result.mass.assign(size + stride * (signs.mass.size() - 1), 0.0);
  for (std::size_t plus = 0; plus < signs.mass.size(); ++plus) {
    const double factor = signs.mass[plus];
    double* const to = result.mass.data() + stride * plus;
    const double* const from = all.mass.data();
    for (std::size_t i = 0; i < size; ++i) to[i] += factor * from[i];
  }
  // Each entry is a sum of at most `terms` products of positive numbers: (1 + u)^(terms + 1), with the
  // errors of the factors; and underflow loses at most 2^-1074 a product.
  const auto terms = static_cast<double>(std::min(size, signs.mass.size()));
  const double rounding = (terms + 2) * unit;
  result.error = (1 + all.error) * (1 + signs.error) * (1 + rounding * (1 + 0x1p-20)) - 1 + 4 * unit;
  result.absolute = 2 * (all.absolute + signs.absolute + terms * 0x1p-1074);
  result.dropped = all.dropped + signs.dropped;
  trim(result, cut);
  return result;
}

// The composition of all releases of a lattice, and what delta is at an epsilon.
class GridComposition {
 public:
  GridComposition(const Lattice& lattice, double delta)
      : step_(to_double_nearest(lattice.step)), middle_(lattice.plus_weights()) {
    const double cut = cut_of(lattice, delta);
    for (const auto& [weight, count] : lattice.counts) {
      all_ = convolved(all_, signs({weight * lattice.step, count}, cut), weight, cut);
    }
  }

  // A number near the least epsilon, without a promise.
  double guess(double delta) const {
    const double shrink = std::exp(-2 * step_);
    double a = 0;
    double b = 0;  // of Q, times e^(the loss of the entry at hand)
    for (std::size_t i = all_.mass.size(); i-- > 0;) {
      const double loss = loss_at(i);
      b = b * shrink + all_.mass[i];
      a += all_.mass[i];
      if (loss <= 0) break;
      // The largest (A - delta) / B is where the next entry, whose P / Q is e^loss, is below it.
      if (a > delta && (a - delta) >= b * shrink) return std::max(0.0, loss + std::log((a - delta) / b));
    }
    return 0;
  }

  // delta(epsilon) lies between: sums of mass * (1 - e^(epsilon - loss)) over larger losses, with the losses as
  // doubles rounded in the named direction. Positive terms, so relative errors do not grow; libm's expm1 is taken
  // to be good to 8 units in the last place.
  double delta_up(double epsilon) const {
    const double sum = partial(epsilon, 1 + 8 * unit);
    return (sum * (1 + all_.error) + all_.absolute * static_cast<double>(all_.mass.size()) + all_.dropped) *
           (1 + terms());
  }
  double delta_down(double epsilon) const {
    const double sum = partial(epsilon, 1 - 8 * unit);
    return (sum * (1 - all_.error) - all_.absolute * static_cast<double>(all_.mass.size())) * (1 - terms());
  }

 private:
  // (2 s - total) * step: the plus signs' weights count up, the minus signs' down.
  double loss_at(std::size_t i) const {
    return (2.0 * static_cast<double>(all_.first + static_cast<std::int64_t>(i)) - middle_) * step_;
  }
  double partial(double epsilon, double factor) const {
    double sum = 0;
    for (std::size_t i = all_.mass.size(); i-- > 0;) {
      const double loss = loss_at(i) * factor;
      if (!(loss > epsilon)) break;
      sum += all_.mass[i] * -std::expm1(epsilon - loss);
    }
    return sum;
  }
  double terms() const { return (static_cast<double>(all_.mass.size()) + 20) * unit * (1 + 0x1p-20); }

  Distribution all_;
  double step_;
  double middle_;
};

// The i-th attempt at a bound beside the guess is this far from it.
double distance(double guess, int i) {
  return std::ldexp(std::max(1.0, guess), 2 * i - 43);
}
constexpr int attempts = 40;

double upper_end(const GridComposition& composed, double delta, double sum) {
  const double guess = composed.guess(delta);
  for (int i = 0; i < attempts; ++i) {
    const double epsilon = guess + distance(guess, i);
    if (epsilon >= sum) break;
    if (composed.delta_up(epsilon) <= delta) return epsilon;
  }
  return sum;
}

double lower_end(const GridComposition& composed, double delta) {
  const double guess = composed.guess(delta);
  for (int i = 0; i < attempts; ++i) {
    const double epsilon = guess - distance(guess, i);
    if (epsilon <= 0) break;
    if (composed.delta_down(epsilon) > delta) return epsilon;
  }
  return 0;
}

// Epsilons as doubles, rising, with their counts.
using RoundedGroups = std::vector<std::pair<double, std::int64_t>>;

RoundedGroups in_doubles(const std::vector<Group>& groups, double (*round)(const Rational&)) {
  RoundedGroups result;
  for (const Group& group : groups) result.emplace_back(round(group.epsilon), group.count);
  std::sort(result.begin(), result.end());
  return result;
}

// As multiples of 2^exponent, rounded by std::ceil or std::floor. Scaling by a power of two is exact.
Lattice on_multiples(const RoundedGroups& groups, int exponent, double (*round)(double)) {
  Lattice lattice{exact_rational(std::ldexp(1.0, exponent), "step"), {}};
  for (const auto& [epsilon, count] : groups) {
    const double weight = round(std::ldexp(epsilon, -exponent));
    if (weight > 0) lattice.add(static_cast<std::int64_t>(weight), count);
  }
  return lattice;
}

// The epsilons themselves, if they are affordable as they are.
std::optional<Lattice> unrounded(const std::vector<Group>& groups, const std::vector<Integer>& weights,
                                 const Rational& sum, double delta) {
  const Rational step = groups[0].epsilon / weights[0];
  if (sum / step > Rational(most_range)) return std::nullopt;
  Lattice lattice{step, {}};
  std::vector<std::pair<Integer, std::int64_t>> sorted;
  for (std::size_t i = 0; i < groups.size(); ++i) sorted.emplace_back(weights[i], groups[i].count);
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [weight, count] : sorted) lattice.add(weight.get_si(), count);
  if (!is_affordable(lattice, delta)) return std::nullopt;
  return lattice;
}

}  // namespace

CompositionBound on_a_grid(const std::vector<Group>& groups,
                           const std::optional<std::vector<Integer>>& weights, const Rational& sum,
                           const Rational& delta) {
  // Beyond these doubles would underflow or overflow. The sum remains.
  if (sum > Rational(1e6) || sum < Rational(1e-100) || delta < Rational(0x1p-800)) return {sum, 0};
  const FloatEnvironment environment;
  const double delta_below = to_double_down(delta);
  const double delta_above = to_double_up(delta);
  const double sum_above = to_double_up(sum);
  if (weights) {
    if (const std::optional<Lattice> lattice = unrounded(groups, *weights, sum, delta_below)) {
      const GridComposition composed(*lattice, delta_below);
      return {Rational(upper_end(composed, delta_below, sum_above)),
              Rational(lower_end(composed, delta_above))};
    }
  }
  // The finest step that is affordable, among the powers of two.
  const RoundedGroups up = in_doubles(groups, to_double_up);
  const RoundedGroups down = in_doubles(groups, to_double_down);
  const auto up_on = [&](int exponent) {
    return on_multiples(up, exponent, [](double x) { return std::ceil(x); });
  };
  int exponent = std::ilogb(sum_above) - 40;
  while (!is_affordable(up_on(exponent), delta_below)) ++exponent;
  const GridComposition above(up_on(exponent), delta_below);
  const GridComposition below(on_multiples(down, exponent, [](double x) { return std::floor(x); }),
                              delta_below);
  return {Rational(upper_end(above, delta_below, sum_above)), Rational(lower_end(below, delta_above))};
}

}  // namespace snapdp::privacy_internal::composition
