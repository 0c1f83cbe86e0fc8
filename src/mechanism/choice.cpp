#include "snapdp/mechanism/choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "mechanism/enclosed.h"
#include "mechanism/lazy_uniform.h"
#include "mechanism/option_checks.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;
using namespace mechanism_internal;

namespace {

using certified::Undecided;
using certified::Wide;
using option_checks::checked_distance;
using option_checks::checked_epsilon;
using option_checks::refuse;
using option_checks::shown;

ChoiceOptions checked(ChoiceOptions options) {
  options.epsilon = checked_epsilon(std::move(options.epsilon));
  if (options.sensitivity.get_den() == 0)
    refuse("sensitivity", options.sensitivity.get_num().get_str() + "/0", "must be a positive number");
  options.sensitivity.canonicalize();
  if (options.sensitivity <= 0) {
    refuse("sensitivity", shown(options.sensitivity),
           "must be positive: the most by which a score differs between neighbors");
  }
  if (options.count == 0) refuse("count", "0", "must be at least 1: how many candidates to choose");
  return options;
}

void check_candidates(std::size_t candidates, std::size_t count, const std::string& parameter) {
  if (candidates >= count && candidates > 0) return;
  refuse(parameter, std::to_string(candidates),
         "must be at least " + std::to_string(count) + ", as that many different candidates are chosen");
}

std::vector<Rational> checked(std::vector<Rational> scores, std::size_t count) {
  check_candidates(scores.size(), count, "scores");
  for (Rational& score : scores) {
    if (score.get_den() == 0) refuse("scores", score.get_num().get_str() + "/0", "must be numbers");
    score.canonicalize();
  }
  return scores;
}

// e^-exponent within a relative 2^-bits; exponent >= 0.
ProbabilityBounds heads(const Rational& exponent, long bits) {
  if (exponent == 0) return ProbabilityBounds::exactly(1);
  return with_enough_bits(64 + bits, [&] {
    ProbabilityBounds bounds = probability_bounds(exp(Wide(Rational(-exponent))));
    if (!is_narrow(bounds, bits)) throw Undecided();
    return bounds;
  });
}

// Of one round, for each of these scores.
std::vector<Rational> exponents_of(std::span<const Rational> scores, const Rational& rate) {
  const Rational& best = *std::max_element(scores.begin(), scores.end());
  std::vector<Rational> exponents;
  exponents.reserve(scores.size());
  for (const Rational& score : scores) exponents.emplace_back(rate * (best - score));
  return exponents;
}

// The place of the candidate that is taken.
std::size_t play_round(std::span<const Rational> scores, const Rational& rate, WordSource& words) {
  const std::vector<Rational> exponents = exponents_of(scores, rate);
  std::vector<std::uint64_t> drawn(scores.size() + 1);
  try {
    words.fill(drawn);
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      LazyUniform uniform(drawn[i], words);
      if (uniform.is_below([&](long bits) { return heads(exponents[i], bits); })) shown.push_back(i);
    }
    // The best always shows heads.
    LazyUniform uniform(drawn.back(), words);
    const Integer index = uniform.index_below(Integer(static_cast<unsigned long>(shown.size())));
    wipe(drawn);
    return shown[index.get_ui()];
  } catch (...) {
    wipe(drawn);
    throw;
  }
}

// ---- The law ----
//
// A candidate is taken with probability p_r E[1 / (1 + K)], K the number of heads among the others: independent coins, so
// that its law is a product of (1 - p_s) + p_s v, all of whose coefficients are probabilities. Fixed-point numbers of
// `places` binary places enclose them; nothing cancels in the products, and in the quotients by one factor the errors of
// all coefficients add up to at most twice their number.

constexpr mp_bitcnt_t places = 224;

struct Fixed {
  Integer low;
  Integer high;
};

Integer fixed_one() {
  Integer one = 1;
  one <<= places;
  return one;
}

Fixed fixed(const ProbabilityBounds& bounds) {
  const Rational one(fixed_one());
  return {floor(bounds.low * one), ceil(bounds.high * one)};
}

Fixed rest_of(const Fixed& p) {
  return {fixed_one() - p.high, fixed_one() - p.low};
}

// into += a b, for a >= 0 and b >= 0.
void add_product(Fixed& into, const Fixed& a, const Fixed& b, Integer& scratch) {
  scratch = a.low * b.low;
  mpz_fdiv_q_2exp(scratch.get_mpz_t(), scratch.get_mpz_t(), places);
  into.low += scratch;
  scratch = a.high * b.high;
  mpz_cdiv_q_2exp(scratch.get_mpz_t(), scratch.get_mpz_t(), places);
  into.high += scratch;
}

// (a - b c) / d where that is known to lie in [0, 1]; d > 0.
Fixed quotient(const Fixed& a, const Fixed& b, const Fixed& c, const Fixed& d, Integer& scratch) {
  Fixed result;
  scratch = b.high * c.high;
  mpz_cdiv_q_2exp(scratch.get_mpz_t(), scratch.get_mpz_t(), places);
  result.low = a.low - scratch;
  if (result.low < 0) result.low = 0;
  mpz_mul_2exp(result.low.get_mpz_t(), result.low.get_mpz_t(), places);
  mpz_fdiv_q(result.low.get_mpz_t(), result.low.get_mpz_t(), d.high.get_mpz_t());
  scratch = b.low * c.low;
  mpz_fdiv_q_2exp(scratch.get_mpz_t(), scratch.get_mpz_t(), places);
  result.high = a.high - scratch;
  mpz_mul_2exp(result.high.get_mpz_t(), result.high.get_mpz_t(), places);
  mpz_cdiv_q(result.high.get_mpz_t(), result.high.get_mpz_t(), d.low.get_mpz_t());
  return result;
}

// The law of the number of heads: of a coin more, and of a coin less.
class HeadCount {
 public:
  HeadCount() : law_{{fixed_one(), fixed_one()}} {}

  void add(const Fixed& p) {
    const Fixed q = rest_of(p);
    Integer scratch;
    law_.push_back({0, 0});
    for (std::size_t k = law_.size(); k-- > 0;) {
      Fixed sum{0, 0};
      add_product(sum, law_[k], q, scratch);
      if (k > 0) add_product(sum, law_[k - 1], p, scratch);
      law_[k] = std::move(sum);
    }
  }

  // E[1 / (1 + K)] without a coin that was added: from the end at which the divisor is at least 1/2, so that errors do not
  // grow.
  ProbabilityBounds mean_share_without(const Fixed& p) const {
    const Fixed q = rest_of(p);
    const std::size_t size = law_.size() - 1;
    std::vector<Fixed> law(size);
    const Fixed none{0, 0};
    Integer scratch;
    if (2 * p.high <= fixed_one()) {
      for (std::size_t k = 0; k < size; ++k)
        law[k] = quotient(law_[k], k > 0 ? law[k - 1] : none, p, q, scratch);
    } else {
      for (std::size_t k = size; k-- > 0;)
        law[k] = quotient(law_[k + 1], k + 1 < size ? law[k + 1] : none, q, p, scratch);
    }
    Rational low = 0;
    Rational high = 0;
    Integer low_sum = 0;
    Integer high_sum = 0;
    for (std::size_t k = 0; k < size; ++k) {
      mpz_fdiv_q_ui(scratch.get_mpz_t(), law[k].low.get_mpz_t(), k + 1);
      low_sum += scratch;
      mpz_cdiv_q_ui(scratch.get_mpz_t(), law[k].high.get_mpz_t(), k + 1);
      high_sum += scratch;
    }
    const Rational one(fixed_one());
    return {Rational(low_sum) / one, std::min(Rational(1), Rational(Rational(high_sum) / one))};
  }

 private:
  std::vector<Fixed> law_;
};

std::vector<ProbabilityBounds> law_of_round(std::span<const Rational> scores, const Rational& rate) {
  constexpr long bits = 160;
  // Of equal scores once.
  struct Coin {
    ProbabilityBounds heads;
    Fixed p;
    ProbabilityBounds chosen;
  };
  std::map<Rational, Coin> coins;
  const std::vector<Rational> exponents = exponents_of(scores, rate);
  HeadCount count;
  for (const Rational& exponent : exponents) {
    const auto [coin, is_new] = coins.try_emplace(exponent);
    if (is_new) {
      coin->second.heads = heads(exponent, bits);
      coin->second.p = fixed(coin->second.heads);
    }
    count.add(coin->second.p);
  }
  for (auto& [exponent, coin] : coins) {
    const ProbabilityBounds share = count.mean_share_without(coin.p);
    coin.chosen = {coin.heads.low * share.low, coin.heads.high * share.high};
  }
  std::vector<ProbabilityBounds> law;
  law.reserve(scores.size());
  for (const Rational& exponent : exponents) law.push_back(coins.at(exponent).chosen);
  return law;
}

template <typename Value>
std::vector<Value> without(const std::vector<Value>& values, std::size_t place) {
  std::vector<Value> rest = values;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(place));
  return rest;
}

std::vector<std::size_t> all_indices(std::size_t count) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

// Adds every list that begins with `begun`.
void add_lists(const ChosenList& begun, const std::vector<std::size_t>& left,
               const std::vector<Rational>& scores, const Choice& choice, std::vector<ChosenList>& lists) {
  if (begun.order.size() == choice.count()) {
    lists.push_back(begun);
    return;
  }
  const std::vector<ProbabilityBounds> law = law_of_round(scores, choice.rate());
  for (std::size_t i = 0; i < left.size(); ++i) {
    ChosenList longer = begun;
    longer.order.push_back(left[i]);
    longer.probability.low *= law[i].low;
    longer.probability.high *= law[i].high;
    add_lists(longer, without(left, i), without(scores, i), choice, lists);
  }
}

}  // namespace

Choice::Choice(const ChoiceOptions& options)
    : options_(checked(options)),
      rate_(options_.epsilon / Rational(Integer(static_cast<unsigned long>(options_.count))) /
            options_.sensitivity) {
  if (!monotone()) rate_ /= 2;
}

Rational Choice::loss_bound(const Rational& distance) const {
  return epsilon() * checked_distance(distance) / sensitivity();
}

Rational Choice::scale() const {
  if (!monotone()) {
    throw Error(ErrorCode::mismatch, "monotone",
                "monotone: losses in terms of the L1 distance are those of a monotone choice");
  }
  return sensitivity() / epsilon();
}

std::vector<std::size_t> Choice::replay(std::span<const Rational> scores, WordSource& words) const {
  std::vector<Rational> left = checked({scores.begin(), scores.end()}, count());
  std::vector<std::size_t> indices = all_indices(scores.size());
  std::vector<std::size_t> chosen;
  for (std::size_t round = 0; round < count(); ++round) {
    const std::size_t place = play_round(left, rate_, words);
    chosen.push_back(indices[place]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(place));
    indices.erase(indices.begin() + static_cast<std::ptrdiff_t>(place));
  }
  return chosen;
}

// A round takes a candidate that is a or more below the highest of n with probability E[B / (B + G)], B and G the heads of
// those and of the others: at most that of n - 1 candidates exactly a below one, 1 - (1 - (1 - p)^n) / (n p) with
// p = e^(-rate a), which grows with p and with n. Rounds miss with alpha / count each.
double Choice::accuracy(std::size_t candidates, const FailureRate& alpha) const {
  check_candidates(candidates, count(), "candidates");
  const Integer n(static_cast<unsigned long>(candidates));
  const Rational limit = alpha.value() / Rational(Integer(static_cast<unsigned long>(count())));
  if (limit >= 1 - Rational(1) / Rational(n)) return 0;
  // Whether p misses rarely enough, for sure.
  const auto suffices = [&](const Rational& p) {
    // (1 - (1 - p)^n) / (n p) lies within p n of 1: as many bits more as that has zeros.
    const auto zeros = static_cast<mpfr_prec_t>(mpz_sizeinbase(p.get_den_mpz_t(), 2));
    const FloatEnvironment environment;
    const Wide::Precision precision(128 + 2 * zeros, false);
    const Wide some = -expm1(Wide(Rational(n)) * log1p(-Wide(p)));
    return upper_end(Wide(1.0) - some / Wide(Rational(Rational(n) * p))) <= limit;
  };
  // The greatest p, to 60 bits: the miss is below n p / 2, and so this one suffices.
  Rational low = limit / Rational(n);
  Rational high = 1;
  while (high - low > low * Rational(Integer(1), Integer(1) << 60)) {
    // Few digits: a multiple of a power of two below the difference.
    Rational middle = (low + high) / 2;
    const long shift = 70 + static_cast<long>(mpz_sizeinbase(low.get_den_mpz_t(), 2)) -
                       std::min(70L, static_cast<long>(mpz_sizeinbase(low.get_num_mpz_t(), 2)));
    mpq_mul_2exp(middle.get_mpq_t(), middle.get_mpq_t(), static_cast<mp_bitcnt_t>(shift));
    middle = Rational(floor(middle));
    mpq_div_2exp(middle.get_mpq_t(), middle.get_mpq_t(), static_cast<mp_bitcnt_t>(shift));
    if (middle <= low || middle >= high) break;
    (suffices(middle) ? low : high) = middle;
  }
  const FloatEnvironment environment;
  const Wide::Precision precision(256, false);
  return pinned(to_double_up(upper_end(-log(Wide(low)) / Wide(rate_))));
}

ChoiceLaw::ChoiceLaw(const Choice& choice, std::vector<Rational> scores)
    : choice_(choice), scores_(checked(std::move(scores), choice.count())) {
  if (scores_.size() > most_candidates) {
    refuse("scores", std::to_string(scores_.size()),
           "the law is told of at most " + std::to_string(most_candidates) + " candidates");
  }
  first_ = law_of_round(scores_, choice_.rate());
}

Integer ChoiceLaw::list_count() const {
  Integer lists = 1;
  for (std::size_t i = 0; i < choice_.count(); ++i) lists *= static_cast<unsigned long>(scores_.size() - i);
  return lists;
}

std::vector<ChosenList> ChoiceLaw::lists() const {
  if (list_count() > Integer(static_cast<unsigned long>(most_lists))) {
    refuse("count", std::to_string(choice_.count()),
           "there are " + list_count().get_str() + " lists of so many of " + std::to_string(scores_.size()) +
               " candidates, and at most " + std::to_string(most_lists) +
               " are told one by one; ask for fewer candidates");
  }
  std::vector<ChosenList> lists;
  add_lists({{}, ProbabilityBounds::exactly(1)}, all_indices(scores_.size()), scores_, choice_, lists);
  return lists;
}

}  // namespace snapdp
