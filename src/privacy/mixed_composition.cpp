// Pure releases, Gaussian noise and deltas together.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "numeric/shared/float_environment.h"
#include "numeric/shared/normal_guess.h"
#include "privacy/composition_arguments.h"
#include "privacy/positive_interval.h"
#include "privacy/randomized_response.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/gaussian_loss.h"
#include "snapdp/privacy/composition_bounds.h"

namespace snapdp {

using namespace numeric_internal;
using namespace privacy_internal;

namespace {

using composition::Group;
using composition::require_delta;

// What is composed, by kinds.
struct Parts {
  std::vector<Group> pure;  // rising
  Rational epsilon = 0;     // their sum
  Rational rho = 0;
  Rational delta = 0;  // the sum
};

Parts parts_of(std::span<const ComposedLoss> losses) {
  Parts parts;
  std::map<Rational, std::int64_t> counts;
  std::vector<EqualReleases> pure;
  for (const auto& [loss, count] : losses) {
    if (loss.delta < 0 || loss.rho < 0)
      throw Error(ErrorCode::invalid_argument, "loss", "loss: its delta and its rho must be at least 0");
    if (loss.epsilon != 0) pure.push_back({loss.epsilon, count});
    counts[loss.epsilon] += count;
    parts.rho += loss.rho * count;
    parts.delta += loss.delta * count;
  }
  parts.epsilon = basic_composition(pure);  // checks them
  for (const auto& [epsilon, count] : counts)
    if (epsilon != 0) parts.pure.push_back({epsilon, count});
  return parts;
}

// The delta that is left for losses that are finite: delta = lost + (1 - lost) left, where `lost` is the probability that
// one of the releases loses everything, at most the sum of their deltas and at least that less half its square.
Enclosure left_of(const Rational& delta, const Rational& lost) {
  const auto left = [&](const Rational& certain) { return Rational((delta - certain) / (1 - certain)); };
  return {left(lost), left(Rational(lost - lost * lost / 2))};
}

constexpr mpfr_prec_t mass_bits = 160;

// A number of so many bits beside `value`.
Rational shortened(const Rational& value, mpfr_rnd_t direction) {
  Real rounded(mass_bits);
  mpfr_set_q(rounded.get(), value.get_mpq_t(), direction);
  return rounded.rational();
}

// What a sum of randomized responses loses, and how likely that is. What is left out may be anything.
struct Spectrum {
  std::map<Rational, PositiveInterval> masses;
  PositiveInterval left_out = PositiveInterval(mass_bits);
};

enum class Toward { more, less };

void add(std::map<Rational, PositiveInterval>& masses, const Rational& loss, const PositiveInterval& mass) {
  const auto [place, is_new] = masses.try_emplace(loss, mass);
  if (!is_new) place->second += mass;
}

// How many losses there may be of a group, on the way, and in the end: evaluations take time in proportion.
constexpr std::size_t most_of_group = 300;
constexpr std::size_t most_on_the_way = 2000;
constexpr std::size_t most_losses = 300;

// With losses moved, all in one direction and by less than that part of their range, until there are so few.
std::map<Rational, PositiveInterval> few(std::map<Rational, PositiveInterval> masses, Toward toward,
                                         std::size_t most) {
  if (masses.size() <= most) return masses;
  const Rational first = masses.begin()->first;
  const Rational width = (masses.rbegin()->first - first) / (most - 1);
  std::map<Rational, PositiveInterval> moved;
  for (const auto& [loss, mass] : masses) {
    const Rational place = (loss - first) / width;
    add(moved, first + Rational(toward == Toward::more ? ceil(place) : floor(place)) * width, mass);
  }
  return moved;
}

Spectrum spectrum_of(const std::vector<Group>& groups, const Rational& delta, Toward toward) {
  // All that is left out takes less than 2^-60 of delta.
  constexpr mp_bitcnt_t less_bits = 60;
  const WideExponents exponents;
  const PositiveInterval negligible(mass_bits,
                                    Rational(delta / Rational(Integer(4 * groups.size() + 4) << less_bits)));
  Spectrum spectrum;
  spectrum.masses.emplace(0, PositiveInterval(mass_bits, 1));
  for (const Group& group : groups) {
    const composition::PlusCounts counts = composition::plus_counts(group, negligible);
    std::map<Rational, PositiveInterval> own;
    for (std::size_t i = 0; i < counts.masses.size(); ++i) {
      const std::int64_t plus = counts.first + static_cast<std::int64_t>(i);
      own.emplace(Rational(group.epsilon * (2 * plus - group.count)), counts.masses[i]);
    }
    own = few(std::move(own), toward, most_of_group);
    std::map<Rational, PositiveInterval> sums;
    for (const auto& [loss, mass] : spectrum.masses) {
      for (const auto& [more, likely] : own) {
        PositiveInterval both = mass;
        both *= likely;
        add(sums, loss + more, both);
      }
    }
    spectrum.masses = few(std::move(sums), toward, most_on_the_way);
    spectrum.left_out += counts.left_out;
  }
  spectrum.masses = few(std::move(spectrum.masses), toward, most_losses);
  return spectrum;
}

// delta(epsilon) of a spectrum and Gaussian noise.
Enclosure delta_at(const Spectrum& spectrum, const Rational& rho, const Rational& epsilon) {
  const auto exactly = [](mpfr_srcptr value) {
    Rational result;
    mpfr_get_q(result.get_mpq_t(), value);
    return result;
  };
  Enclosure sum{0, exactly(spectrum.left_out.high())};
  for (const auto& [loss, mass] : spectrum.masses) {
    const Enclosure each = gaussian_delta(rho, Rational(epsilon - loss));
    sum.lower = shortened(sum.lower + exactly(mass.low()) * each.lower, MPFR_RNDD);
    sum.upper = shortened(sum.upper + exactly(mass.high()) * each.upper, MPFR_RNDU);
  }
  return sum;
}

// ln delta(epsilon) in double, to some ten digits: where to look.
class Guess {
 public:
  Guess(const Spectrum& spectrum, const Rational& rho) : mu_(std::sqrt(2 * to_double_nearest(rho))) {
    for (const auto& [loss, mass] : spectrum.masses)
      parts_.emplace_back(to_double_nearest(loss), mpfr_get_d(mass.high(), MPFR_RNDN));
  }

  double log_delta(double epsilon) const {
    double sum = 0;
    for (const auto& [loss, mass] : parts_) {
      const double beyond = epsilon - loss;
      const double near = guess_log_normal_tail(beyond / mu_ - mu_ / 2);
      const double far = beyond + guess_log_normal_tail(beyond / mu_ + mu_ / 2);
      sum -= mass * std::exp(near) * std::expm1(std::min(0.0, far - near));
    }
    return std::log(sum);
  }

  // Where ln delta is `target`, by halving [0, high]; it falls.
  double root(double target, double high) const {
    double low = 0;
    constexpr int most_halvings = 100;
    for (int i = 0; i < most_halvings && high - low > high * 1e-14; ++i) {
      const double middle = low + (high - low) / 2;
      (log_delta(middle) > target ? low : high) = middle;
    }
    return high;
  }

 private:
  double mu_;
  std::vector<std::pair<double, double>> parts_;
};

// About the epsilon in [0, high] at which delta(epsilon) is `delta`, to some 13 digits: the guess, and one of Newton's steps
// from the certain delta there.
Rational near_root(const Spectrum& spectrum, const Rational& rho, const Rational& delta, double high) {
  const Guess guess(spectrum, rho);
  const double target = guess_log(delta);
  const double root = guess.root(target, high);
  const Enclosure there = delta_at(spectrum, rho, Rational(root));
  const double step = root * 1e-5;
  const double slope = (guess.log_delta(root + step) - guess.log_delta(root - step)) / (2 * step);
  if (there.lower <= 0 || !(slope < 0)) return Rational(root);
  const double better = root - (guess_log(there.lower) - target) / slope;
  return Rational(better > 0 && better < 2 * high ? better : root);
}

// An epsilon that is enough for `delta`, rounded up, or that is not, rounded down; `high` is enough.
Rational certain_root(const Spectrum& spectrum, const Rational& rho, const Rational& delta,
                      const Rational& high, Toward toward) {
  const bool more = toward == Toward::more;
  const auto keeps = [&](const Rational& epsilon) {
    const Enclosure found = delta_at(spectrum, rho, epsilon);
    return more ? found.upper <= delta : found.lower > delta;
  };
  if (more ? keeps(0) : !keeps(0)) return 0;
  const Rational root = near_root(spectrum, rho, delta, to_double_up(high));
  constexpr int widenings = 40;
  Rational margin = root * Rational(1, Integer("1000000000000"));
  for (int i = 0; i < widenings; ++i, margin *= 4) {
    const Rational epsilon = more ? Rational(root + margin) : Rational(root - margin);
    if (more && epsilon >= high) return high;
    if (!more && epsilon <= 0) return 0;
    if (keeps(epsilon)) return shortened(epsilon, more ? MPFR_RNDU : MPFR_RNDD);
  }
  return more ? high : Rational(0);
}

}  // namespace

PrivacyAmount zcdp_composition(std::span<const ComposedLoss> losses) {
  PrivacyAmount sum;
  for (const auto& [loss, count] : losses) {
    const PrivacyAmount each = loss.in(PrivacyMeasure::zcdp);
    sum = sum + PrivacyAmount(each.value * count, each.delta * count);
  }
  return sum;
}

std::optional<Rational> basic_composition(std::span<const ComposedLoss> losses, const Rational& delta) {
  require_delta(delta);
  const Parts parts = parts_of(losses);
  if (parts.delta > delta || (parts.delta == delta && parts.rho != 0)) return std::nullopt;
  if (parts.rho == 0) return parts.epsilon;
  return parts.epsilon + gaussian_epsilon(parts.rho, Rational(delta - parts.delta)).upper;
}

std::optional<CompositionBound> optimal_composition(std::span<const ComposedLoss> losses,
                                                    const Rational& delta) {
  const FloatEnvironment environment;
  const std::optional<Rational> basic = basic_composition(losses, delta);
  if (!basic) return std::nullopt;
  const Parts parts = parts_of(losses);
  const Enclosure left = left_of(delta, parts.delta);
  if (parts.rho == 0) {
    std::vector<EqualReleases> pure;
    for (const Group& group : parts.pure) pure.push_back({group.epsilon, group.count});
    return CompositionBound{optimal_composition(pure, left.lower).epsilon,
                            optimal_composition(pure, left.upper).at_least};
  }
  const PrivacyAmount zcdp = zcdp_composition(losses);
  Rational most = *basic;
  if (const std::optional<Rational> epsilon = zcdp_to_epsilon(zcdp.value, Rational(delta - zcdp.delta)))
    most = std::min(most, *epsilon);
  // Convolutions of so many pairs take a few seconds.
  constexpr double most_pairs = 1e7;
  double pairs = 0;
  for (const Group& group : parts.pure)
    pairs += static_cast<double>(most_on_the_way) *
             static_cast<double>(std::min<std::int64_t>(group.count + 1, most_of_group));
  if (pairs > most_pairs) return CompositionBound{most, 0};
  const Rational& high = *basic;
  const Spectrum above = spectrum_of(parts.pure, left.lower, Toward::more);
  const Spectrum below = spectrum_of(parts.pure, left.upper, Toward::less);
  CompositionBound bound{certain_root(above, parts.rho, left.lower, high, Toward::more),
                         certain_root(below, parts.rho, left.upper, high, Toward::less)};
  bound.epsilon = std::min(bound.epsilon, most);
  bound.at_least = std::min(bound.at_least, bound.epsilon);
  return bound;
}

}  // namespace snapdp
