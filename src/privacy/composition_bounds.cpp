#include "snapdp/privacy/composition_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "numeric/shared/float_environment.h"
#include "privacy/composition_arguments.h"
#include "privacy/composition_grid.h"
#include "privacy/positive_interval.h"
#include "privacy/randomized_response.h"
#include "snapdp/error.h"
#include "snapdp/numeric/grid.h"

namespace snapdp {

using namespace numeric_internal;
using namespace privacy_internal;

namespace {

using composition::Group;
using composition::require_delta;

// As in a ledger: denominators that share nothing would multiply without end.
constexpr std::size_t most_sum_digits = 1024;

bool has_more_digits(const Rational& value, std::size_t digits) {
  // One too many at most for each of the two; writing the number takes far longer.
  const std::size_t about =
      mpz_sizeinbase(value.get_num_mpz_t(), 10) + mpz_sizeinbase(value.get_den_mpz_t(), 10) + 1;
  return about > digits && value.get_str().size() > digits;
}

// One group for each epsilon, the smaller counts first.
std::vector<Group> grouped(std::span<const EqualReleases> releases) {
  std::map<Rational, std::int64_t> counts;
  std::int64_t total = 0;
  Rational sum = 0;
  for (const EqualReleases& equal : releases) {
    if (equal.epsilon.get_den() == 0 || equal.epsilon <= 0) {
      throw Error(ErrorCode::invalid_argument, "epsilon",
                  "epsilon = " + (equal.epsilon.get_den() == 0 ? "?/0" : to_string(equal.epsilon)) +
                      ": must be greater than 0");
    }
    if (equal.count < 1 || equal.count > max_composed_releases ||
        (total += equal.count) > max_composed_releases) {
      throw Error(ErrorCode::invalid_argument, "count",
                  "count = " + std::to_string(equal.count) + ": must be 1 or more, and at most " +
                      std::to_string(max_composed_releases) + " in all");
    }
    counts[equal.epsilon] += equal.count;
    sum += equal.epsilon * equal.count;
    if (has_more_digits(sum, most_sum_digits)) {
      throw Error(ErrorCode::invalid_argument, "epsilon",
                  "epsilon = " + to_string(equal.epsilon) + ": the exact sum would need more than " +
                      std::to_string(most_sum_digits) + " digits; write the epsilons as short decimals");
    }
  }
  std::vector<Group> groups;
  for (const auto& [epsilon, count] : counts) groups.push_back({epsilon, count});
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.count < b.count; });
  return groups;
}

Rational sum_of(const std::vector<Group>& groups) {
  Rational sum = 0;
  for (const Group& group : groups) sum += group.epsilon * group.count;
  return sum;
}

// `value` to 20 significant digits, rounded in the given direction. value >= 0, finite.
Rational in_decimal(mpfr_srcptr value, mpfr_rnd_t direction) {
  if (mpfr_zero_p(value) != 0) return 0;
  constexpr std::size_t digits = 20;
  mpfr_exp_t point = 0;  // value = 0.DIGITS * 10^point
  char* const text = mpfr_get_str(nullptr, &point, 10, digits, value, direction);
  const std::string kept = text;
  mpfr_free_str(text);
  const mpfr_exp_t exponent = point - static_cast<mpfr_exp_t>(kept.size());
  Integer power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(std::abs(exponent)));
  Rational result = exponent >= 0 ? Rational(Integer(kept, 10) * power) : Rational(Integer(kept, 10), power);
  result.canonicalize();
  return result;
}

// ---- The distribution of the total loss
//
// Of all pure epsilon-DP mechanisms randomized response is the most revealing: with probability
// p = e^epsilon / (1 + e^epsilon) its loss is +epsilon, else -epsilon. So the composition is (x, delta)-DP for
// all mechanisms exactly when it is for randomized responses (Kairouz, Oh and Viswanath, "The composition
// theorem for differential privacy", IEEE Trans. Inf. Theory 63(6), 2017, Theorem 3.3; for unequal epsilons
// Murtagh and Vadhan, "The complexity of computing the optimal composition of differential privacy", Theory of
// Computing 14, 2018, Theorem 1.5). With P the probability of an outcome S, the set of the plus signs, and Q
// that under the neighbor, where all signs change:
//
//   delta(x) = sum over all outcomes of max(0, P - e^x Q),     P / Q = e^loss,  loss = +-epsilon_1 +- ...
//
// An outcome counts when its loss is larger than x, so with outcomes in falling order of their loss
// delta(x) = max over j of (A_j - e^x B_j), where A_j and B_j are the sums of P and Q over the first j. Hence
// delta(x) <= delta if and only if x >= log((A_j - delta) / B_j) for all j, and the least such x is the largest of
// these numbers, or 0. Outcomes of equal loss count as one; within n equal epsilons they are binomial.

// The sums of the weights of the plus signs, rising, each with its probabilities P and Q. What is left out has at most
// the probability `left_out` under P.
template <typename Key>
struct Outcomes {
  std::vector<Key> sums;
  std::vector<PositiveInterval> masses;
  std::vector<PositiveInterval> neighbors;
  PositiveInterval left_out;
};

// With one more group of this weight.
template <typename Key>
Outcomes<Key> convolved(const Outcomes<Key>& outcomes, const Key& weight,
                        const composition::PlusCounts& counts) {
  struct Pair {
    Key sum;
    std::uint32_t outcome;
    std::uint32_t plus;
  };
  std::vector<Pair> pairs;
  pairs.reserve(outcomes.sums.size() * counts.masses.size());
  for (std::uint32_t plus = 0; plus < counts.masses.size(); ++plus) {
    const Key more = weight * (counts.first + plus);
    for (std::uint32_t outcome = 0; outcome < outcomes.sums.size(); ++outcome) {
      pairs.push_back({outcomes.sums[outcome] + more, outcome, plus});
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.sum < b.sum; });
  Outcomes<Key> result{{}, {}, {}, outcomes.left_out};
  result.left_out += counts.left_out;
  for (const Pair& pair : pairs) {
    PositiveInterval mass = outcomes.masses[pair.outcome];
    PositiveInterval neighbor = outcomes.neighbors[pair.outcome];
    mass *= counts.masses[pair.plus];
    neighbor *= counts.neighbors[pair.plus];
    if (!result.sums.empty() && result.sums.back() == pair.sum) {
      result.masses.back() += mass;
      result.neighbors.back() += neighbor;
    } else {
      result.sums.push_back(pair.sum);
      result.masses.push_back(std::move(mass));
      result.neighbors.push_back(std::move(neighbor));
    }
  }
  return result;
}

// The bits of delta that outcomes left out may take: enough for the bits that the arithmetic has, and few enough for
// A_j - delta to lose some.
constexpr long spare_bits = 40;

// A probability to leave out at each end of a group.
PositiveInterval negligible_for(const std::vector<Group>& groups, const Rational& delta, mpfr_prec_t bits) {
  const Rational share(Integer(1), Integer(4 * groups.size()) << static_cast<mp_bitcnt_t>(bits - spare_bits));
  return {bits, Rational(delta * share)};
}

// The least epsilon, enclosed by arithmetic of so many bits. Outcomes that are left out may add all of their probability
// to delta(x) or nothing.
template <typename Key>
PositiveInterval least_epsilon(const std::vector<Group>& groups, const std::vector<Key>& weights,
                               const Rational& delta, mpfr_prec_t bits) {
  const WideExponents exponents;
  const PositiveInterval negligible = negligible_for(groups, delta, bits);
  const PositiveInterval one(bits, 1);
  Outcomes<Key> outcomes{{0}, {one}, {one}, PositiveInterval(bits)};
  Key total = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    outcomes = convolved(outcomes, weights[i], composition::plus_counts(groups[i], negligible));
    total += weights[i] * groups[i].count;
  }
  PositiveInterval allowed(bits, delta);
  allowed.lower_by(outcomes.left_out);
  PositiveInterval a(bits);
  PositiveInterval b(bits);
  PositiveInterval largest = one;  // of (A_j - delta) / B_j
  // The loss is positive where more than half of the weight has plus signs.
  for (std::size_t j = outcomes.sums.size(); j-- > 0 && outcomes.sums[j] * 2 > total;) {
    a += outcomes.masses[j];
    b += outcomes.neighbors[j];
    largest.raise_to(PositiveInterval::excess_ratio(a, allowed, b));
  }
  return largest.log();
}

// The epsilons as multiples of one number, in lowest terms; nothing when that takes monstrous integers.
std::optional<std::vector<Integer>> common_weights(const std::vector<Group>& groups) {
  constexpr std::size_t most_bits = 8192;
  Integer denominator = 1;
  for (const Group& group : groups) {
    denominator = lcm(denominator, group.epsilon.get_den());
    if (mpz_sizeinbase(denominator.get_mpz_t(), 2) > most_bits) return std::nullopt;
  }
  std::vector<Integer> weights;
  Integer divisor = 0;
  for (const Group& group : groups) {
    weights.push_back(group.epsilon.get_num() * (denominator / group.epsilon.get_den()));
    divisor = gcd(divisor, weights.back());
  }
  for (Integer& weight : weights) weight /= divisor;
  return weights;
}

// At most so many pairs of outcomes are multiplied, so that it takes about a second.
constexpr double most_pairs = 2.5e6;

// About how many pairs of outcomes are multiplied when n signs have at most sqrt(n spread) outcomes on each side of the
// mean, and n + 1 in all.
double pairs_of(const std::vector<Group>& groups, const std::vector<Integer>& weights, double spread) {
  double outcomes = 1;
  double pairs = 0;
  Integer total = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto count = static_cast<double>(groups[i].count);
    const double next = outcomes * std::min(count + 1, 2 * std::sqrt(count * spread) + 2);
    pairs += next;
    total += weights[i] * groups[i].count;
    outcomes = std::min(next, total.get_d() + 1);
  }
  return pairs;
}

bool is_affordable(const std::vector<Group>& groups, const std::vector<Integer>& weights) {
  return pairs_of(groups, weights, std::numeric_limits<double>::infinity()) <= most_pairs;
}

// By Hoeffding's inequality all but a share s of the probability lies within sqrt(n log(1/s) / 2) of the mean on each side.
double spread_of(const std::vector<Group>& groups, const Rational& delta, mpfr_prec_t bits) {
  const double doublings = static_cast<double>(bits - spare_bits - Grid::at_most(delta).exponent()) +
                           std::log2(4.0 * static_cast<double>(groups.size()));
  return doublings * std::log(2.0) / 2;
}

bool is_narrow(const CompositionBound& bound) {
  const Rational width = bound.epsilon - bound.at_least;
  return width <= Rational(1, 1'000'000'000'000) || width * (std::int64_t{1} << 60) <= bound.epsilon;
}

CompositionBound exact(const std::vector<Group>& groups, const std::vector<Integer>& weights,
                       const Rational& sum, const Rational& delta) {
  std::vector<std::int64_t> small;
  Integer total = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) total += weights[i] * groups[i].count;
  if (total <= std::int64_t{1} << 61) {
    for (const Integer& weight : weights) small.push_back(weight.get_si());
  }
  constexpr mpfr_prec_t least_bits = 128;
  constexpr mpfr_prec_t most_bits = 4096;
  CompositionBound bound{sum, 0};
  double work = 0;
  // More bits where A_j - delta lost too many, as long as that is affordable.
  for (mpfr_prec_t bits = least_bits; bits <= most_bits; bits *= 2) {
    work += pairs_of(groups, weights, spread_of(groups, delta, bits)) *
            (static_cast<double>(bits) / static_cast<double>(least_bits));
    if (bits > least_bits && work > 4 * most_pairs) break;
    const PositiveInterval least = small.empty() ? least_epsilon(groups, weights, delta, bits)
                                                 : least_epsilon(groups, small, delta, bits);
    bound.at_least = in_decimal(least.low(), MPFR_RNDD);
    bound.epsilon = mpfr_inf_p(least.high()) != 0 ? sum : in_decimal(least.high(), MPFR_RNDU);
    if (is_narrow(bound)) break;
  }
  return bound;
}

// Where nothing better is affordable: P(S) - e^x Q(S) <= P(S) (1 - e^(x - sum)) for every S, so that x = sum + log(1 - delta)
// holds; and the outcome without a minus needs sum + log(1 - delta / A_1).
CompositionBound of_one_outcome(const std::vector<Group>& groups, const Rational& sum,
                                const Rational& delta) {
  constexpr mpfr_prec_t bits = 256;
  PositiveInterval likeliest(bits, 1);
  for (const Group& group : groups) {
    likeliest *= PositiveInterval::exp_minus(bits, group.epsilon)
                     .one_plus_reciprocal()
                     .power(static_cast<unsigned long>(group.count));
  }
  Real logarithm(bits);
  mpfr_set_q(logarithm.get(), Rational(-delta).get_mpq_t(), MPFR_RNDU);
  mpfr_log1p(logarithm.get(), logarithm.get(), MPFR_RNDU);
  const auto exactly = [](mpfr_srcptr value) {
    Rational result;
    mpfr_get_q(result.get_mpq_t(), value);
    return result;
  };
  CompositionBound bound{std::max(Rational(0), Rational(sum + exactly(logarithm.get()))), 0};
  mpfr_set_q(logarithm.get(), delta.get_mpq_t(), MPFR_RNDU);
  mpfr_div(logarithm.get(), logarithm.get(), likeliest.low(), MPFR_RNDU);
  if (mpfr_cmp_ui(logarithm.get(), 1) < 0) {
    mpfr_neg(logarithm.get(), logarithm.get(), MPFR_RNDN);
    mpfr_log1p(logarithm.get(), logarithm.get(), MPFR_RNDD);
    bound.at_least = std::max(Rational(0), Rational(sum + exactly(logarithm.get())));
  }
  return bound;
}

// The intersection of two enclosures.
CompositionBound intersection(const CompositionBound& a, const CompositionBound& b) {
  return {std::min(a.epsilon, b.epsilon), std::max(a.at_least, b.at_least)};
}

// log(1 - 1/alpha) + (log(1/delta) - log(alpha)) / (alpha - 1) + alpha rho, rounded up. 0 < delta < 1.
Rational zcdp_epsilon_at(const Rational& rho, const Rational& delta, double alpha) {
  constexpr mpfr_prec_t bits = 256;
  const PositiveInterval order(bits, Rational(alpha));
  const PositiveInterval allowed(bits, delta);
  const PositiveInterval slope(bits, rho);
  Real sum(bits);
  Real term(bits);
  mpfr_log(term.get(), allowed.low(), MPFR_RNDD);
  mpfr_neg(sum.get(), term.get(), MPFR_RNDU);
  mpfr_log(term.get(), order.low(), MPFR_RNDD);
  mpfr_sub(sum.get(), sum.get(), term.get(), MPFR_RNDU);
  mpfr_sub_ui(term.get(), order.low(), 1, MPFR_RNDD);  // exact: alpha is a double
  mpfr_div(sum.get(), sum.get(), term.get(), MPFR_RNDU);
  mpfr_ui_div(term.get(), 1, order.high(), MPFR_RNDD);
  mpfr_neg(term.get(), term.get(), MPFR_RNDU);
  mpfr_log1p(term.get(), term.get(), MPFR_RNDU);
  mpfr_add(sum.get(), sum.get(), term.get(), MPFR_RNDU);
  mpfr_mul(term.get(), order.high(), slope.high(), MPFR_RNDU);
  mpfr_add(sum.get(), sum.get(), term.get(), MPFR_RNDU);
  return mpfr_sgn(sum.get()) <= 0 ? Rational(0) : in_decimal(sum.get(), MPFR_RNDU);
}

}  // namespace

void composition::require_delta(const Rational& delta) {
  if (delta.get_den() != 0 && delta >= 0 && delta < 1) return;
  throw Error(ErrorCode::invalid_argument, "delta",
              "delta = " + (delta.get_den() == 0 ? "?/0" : to_string(delta)) +
                  ": must be at least 0 and less than 1; it is the probability that the bound fails, so "
                  "choose one far below 1 / (number of people), such as 1e-9");
}

Rational basic_composition(std::span<const EqualReleases> releases) {
  return sum_of(grouped(releases));
}

CompositionBound optimal_composition(std::span<const EqualReleases> releases, const Rational& delta) {
  require_delta(delta);
  const std::vector<Group> groups = grouped(releases);
  const Rational sum = sum_of(groups);
  if (delta == 0 || groups.empty()) return {sum, sum};
  const std::optional<std::vector<Integer>> weights = common_weights(groups);
  CompositionBound bound{sum, 0};
  // Beyond 2^60 e^-sum leaves MPFR's exponents.
  const bool affordable = sum <= Rational(0x1p60) && weights && is_affordable(groups, *weights);
  if (affordable) bound = exact(groups, *weights, sum, delta);
  if (!affordable || !is_narrow(bound)) {
    bound = intersection(bound, composition::on_a_grid(groups, weights, sum, delta));
    bound = intersection(bound, of_one_outcome(groups, sum, delta));
    bound.epsilon = std::min(bound.epsilon, *zcdp_to_epsilon(zcdp_composition(releases), delta));
  }
  // The sum is a bound too, and an exact one, which rounding must not exceed.
  bound.epsilon = std::min(bound.epsilon, sum);
  bound.at_least = std::min(bound.at_least, bound.epsilon);
  return bound;
}

Rational zcdp_composition(std::span<const EqualReleases> releases) {
  Rational rho = 0;
  for (const Group& group : grouped(releases)) rho += group.epsilon * group.epsilon * group.count / 2;
  return rho;
}

std::optional<Rational> zcdp_to_epsilon(const Rational& rho, const Rational& delta) {
  require_delta(delta);
  if (rho.get_den() == 0 || rho < 0) {
    throw Error(ErrorCode::invalid_argument, "rho", "rho: must be at least 0");
  }
  if (delta == 0) return std::nullopt;
  // The bound holds at every order alpha > 1. It is minimised in plain doubles and then computed safely at the
  // order found. Its minimum is near alpha - 1 = sqrt(log(1/delta) / rho); golden-section search over the
  // logarithm of alpha - 1, whatever the rounding, ends after so many steps.
  const FloatEnvironment environment;
  constexpr mpfr_prec_t bits = 64;
  const PositiveInterval allowed(bits, delta);
  Real logarithm(bits);
  mpfr_log(logarithm.get(), allowed.high(), MPFR_RNDN);
  const double log_delta = mpfr_get_d(logarithm.get(), MPFR_RNDN);
  const double slope = std::clamp(rho.get_d(), 1e-300, 1e300);
  const auto at = [&](double t) {
    const double past_one = std::exp(t);
    return past_one * slope - std::log1p(1 / past_one) - (log_delta + std::log1p(past_one)) / past_one;
  };
  const double middle = 0.5 * std::log(std::max(-log_delta, 1e-300) / slope);
  double low = std::max(middle - 40, -30.0);
  double high = std::max(std::min(middle + 40, 300.0), low + 1);
  constexpr double golden = 0.6180339887498949;
  for (int step = 0; step < 120; ++step) {
    const double left = high - golden * (high - low);
    const double right = low + golden * (high - low);
    (at(left) < at(right) ? high : low) = at(left) < at(right) ? right : left;
  }
  const double alpha = std::max(1 + std::exp(low + (high - low) / 2), std::nextafter(1.0, 2.0));
  return zcdp_epsilon_at(rho, delta, alpha);
}

}  // namespace snapdp
