#include "snapdp/mechanism/selection.h"

#include <algorithm>
#include <utility>

#include "mechanism/enclosed.h"
#include "mechanism/lazy_uniform.h"
#include "mechanism/option_checks.h"
#include "numeric/shared/real.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;
using namespace mechanism_internal;

namespace {

using certified::Undecided;
using certified::Wide;
using option_checks::checked_epsilon;
using option_checks::refuse;
using option_checks::shown;

Rational checked_delta(Rational delta) {
  if (delta.get_den() == 0) refuse("delta", delta.get_num().get_str() + "/0", "must be a number");
  delta.canonicalize();
  if (delta <= 0) {
    refuse("delta", shown(delta),
           "must be greater than 0: without it no group whose name comes from the data may be shown; declare "
           "public groups instead");
  }
  if (delta > 1) refuse("delta", shown(delta), "must be at most 1, as it is a probability");
  return delta;
}

// Enough for the digits of the result beside those that delta takes: 1 - pi is as small as it.
mpfr_prec_t first_bits(const Rational& delta, long bits) {
  const auto length = [](const Integer& x) {
    return static_cast<mpfr_prec_t>(mpz_sizeinbase(x.get_mpz_t(), 2));
  };
  return 82 + bits + std::max<mpfr_prec_t>(0, length(delta.get_den()) - length(delta.get_num()));
}

// The closed form, at the precision in scope; see proofs/selection.md. With x = e^-epsilon and n units,
//
//   pi(n) = delta e^((n - 1) epsilon) (1 - x^n) / (1 - x)                      for n <= n1
//   1 - pi(n1 + m) = x^m (1 - pi(n1)) - (1 - x^m) delta x / (1 - x)            from there to 1
//
// Every power is one of e^-epsilon, or bounded by 1 / delta: nothing overflows, however large epsilon is.
class ClosedForm {
 public:
  ClosedForm(const Rational& epsilon, const Rational& delta)
      : epsilon_(epsilon), delta_(delta), decay_(exp(-Wide(epsilon))), rise_(-expm1(-Wide(epsilon))) {}

  // n1 = 1 + floor(ln((e^epsilon + 2 delta - 1) / (delta (e^epsilon + 1))) / epsilon), where the fraction less 1 is
  // (1 - delta) (1 - x) / (delta (1 + x)).
  Integer turn() const {
    const Wide excess = Wide(Rational(1 - delta_)) * rise_ / (Wide(delta_) * (Wide(1.0) + decay_));
    return whole(log1p(excess) / Wide(epsilon_)) + 1;
  }

  // n1 + ceil(ln(1 + (e^epsilon - 1) (1 - pi(n1)) / delta) / epsilon), of which epsilon is taken out: the rest of the
  // logarithm's argument less 1 is ((1 - pi(n1)) / delta - 1) (1 - x).
  Integer first_certain(const Integer& turn) const {
    const Wide left = Wide(1.0) - rising(turn);
    const Wide excess = (left / Wide(delta_) - Wide(1.0)) * rise_;
    return turn + whole(log1p(excess) / Wide(epsilon_)) + 2;
  }

  // pi(n), 1 <= n <= n1.
  Wide rising(const Integer& units) const {
    return Wide(delta_) * exp(Wide(Rational(epsilon_ * Rational(Integer(units - 1))))) *
           -expm1(-Wide(Rational(epsilon_ * Rational(units)))) / rise_;
  }

  // 1 - pi(n1 + m), 0 <= m < first_certain - n1.
  Wide falling(const Integer& turn, const Integer& more) const {
    const Wide exponent(Rational(-epsilon_ * Rational(more)));
    return exp(exponent) * (Wide(1.0) - rising(turn)) + expm1(exponent) * Wide(delta_) * decay_ / rise_;
  }

 private:
  static Integer whole(const Wide& value) { return lower_end(floor(value)).get_num(); }

  Rational epsilon_;
  Rational delta_;
  Wide decay_;  // x
  Wide rise_;   // 1 - x
};

}  // namespace

// The two floors are decided by enough bits: their arguments are integers for no rational epsilon and delta but
// delta = 1/2 (n2 = 2) and delta = 1 (n1 = 1, and pi(1) = 1), as e^epsilon is transcendental. See proofs/selection.md.
SelectionLaw::SelectionLaw(Rational epsilon, Rational delta)
    : epsilon_(checked_epsilon(std::move(epsilon))), delta_(checked_delta(std::move(delta))) {
  if (delta_ == 1 || delta_ == Rational(1, 2)) {
    turn_ = 1;
    first_certain_ = delta_ == 1 ? 1 : 2;
    return;
  }
  const mpfr_prec_t bits = first_bits(delta_, least_bits);
  turn_ = with_enough_bits(bits, [&] { return ClosedForm(epsilon_, delta_).turn(); });
  first_certain_ = with_enough_bits(bits, [&] { return ClosedForm(epsilon_, delta_).first_certain(turn_); });
}

SelectionLaw::Both SelectionLaw::both(const Integer& units, long bits) const {
  if (units < 0) refuse("units", units.get_str(), "must not be negative: how many privacy units a group has");
  const auto exactly = [](const Rational& value) {
    return Both{ProbabilityBounds::exactly(value), ProbabilityBounds::exactly(1 - value)};
  };
  if (units == 0) return exactly(0);
  if (units >= first_certain_) return exactly(1);
  if (units == 1) return exactly(delta_);
  return with_enough_bits(first_bits(delta_, bits), [&] {
    const ClosedForm form(epsilon_, delta_);
    const Wide one(1.0);
    const bool rises = units <= turn_;
    const Wide value = rises ? form.rising(units) : form.falling(turn_, units - turn_);
    const ProbabilityBounds itself = probability_bounds(value);
    const ProbabilityBounds rest = probability_bounds(one - value);
    if (!is_narrow(itself, bits) || !is_narrow(rest, bits)) throw Undecided();
    return rises ? Both{itself, rest} : Both{rest, itself};
  });
}

SelectionLaw per_group(const Rational& epsilon, const Rational& delta, std::uint64_t groups) {
  if (groups == 0) refuse("groups", "0", "must be at least 1: how many groups one privacy unit may be in");
  const SelectionLaw whole(epsilon, delta);
  const Integer count(static_cast<unsigned long>(groups));
  return {whole.epsilon() / Rational(count), whole.delta() / Rational(count)};
}

Selection::Selection(SelectionLaw law) : law_(std::move(law)), table_(table_of(law_)) {
  const Integer& certain = law_.first_certain();
  certain_fits_ = mpz_fits_ulong_p(certain.get_mpz_t()) != 0;
  if (certain_fits_) certain_ = certain.get_ui();
}

// By the recursion, rounded downward for one end and upward for the other: 192 bits lose at most two a step and leave far
// more than the 64 that a word has. Not the closed form: tests compare the two.
std::vector<Selection::Thresholds> Selection::table_of(const SelectionLaw& law) {
  const FloatEnvironment environment;
  constexpr mpfr_prec_t bits = 192;
  const Integer& certain = law.first_certain();
  const std::size_t size =
      certain < Integer(static_cast<unsigned long>(table_size)) ? certain.get_ui() : table_size;
  // Both ends of each, [0] rounded downward and [1] upward.
  struct Ends {
    Real ends[2] = {Real(bits), Real(bits)};  // NOLINT(modernize-avoid-c-arrays)
    mpfr_ptr operator[](int end) { return ends[end].get(); }
  };
  const auto direction = [](int end) { return end == 0 ? MPFR_RNDD : MPFR_RNDU; };
  Ends growth;
  Ends decay;
  Ends delta;
  Ends value;
  Real first(bits);
  Real second(bits);
  for (const int end : {0, 1}) {
    mpfr_set_q(growth[end], law.epsilon().get_mpq_t(), direction(end));
    mpfr_exp(growth[end], growth[end], direction(end));
    mpfr_set_q(decay[end], law.epsilon().get_mpq_t(), direction(1 - end));
    mpfr_neg(decay[end], decay[end], MPFR_RNDN);
    mpfr_exp(decay[end], decay[end], direction(end));
    mpfr_set_q(delta[end], law.delta().get_mpq_t(), direction(end));
    mpfr_set(value[end], delta[end], MPFR_RNDN);
  }
  std::vector<Thresholds> table = {{0, 0}};  // of none: decided slowly when the word is 0, as "no"
  table.reserve(size);
  while (table.size() < size) {
    Thresholds entry{};
    mpfr_mul_2ui(first.get(), value[0], 64, MPFR_RNDD);
    entry.surely = mpfr_get_ui(first.get(), MPFR_RNDD);
    // Of a number below 1 that was rounded up to it, all words up to the last one are left.
    mpfr_mul_2ui(first.get(), value[1], 64, MPFR_RNDU);
    mpfr_ceil(first.get(), first.get());
    mpfr_sub_ui(first.get(), first.get(), 1, MPFR_RNDN);
    entry.open = mpfr_get_ui(first.get(), MPFR_RNDU);
    table.push_back(entry);
    for (const int end : {0, 1}) {
      mpfr_mul(first.get(), growth[end], value[end], direction(end));
      mpfr_add(first.get(), first.get(), delta[end], direction(end));
      mpfr_ui_sub(second.get(), 1, value[end], direction(1 - end));
      mpfr_sub(second.get(), second.get(), delta[end], direction(1 - end));
      mpfr_mul(second.get(), second.get(), decay[1 - end], direction(1 - end));
      mpfr_ui_sub(second.get(), 1, second.get(), direction(end));
      mpfr_min(value[end], first.get(), second.get(), direction(end));
      if (mpfr_cmp_ui(value[end], 1) > 0) mpfr_set_ui(value[end], 1, MPFR_RNDN);
    }
  }
  return table;
}

bool Selection::decide_slowly(std::uint64_t units, std::uint64_t word, WordSource& words) const {
  LazyUniform uniform(word, words);
  const Integer count(static_cast<unsigned long>(units));
  return uniform.is_below([&](long bits) { return law_.probability(count, bits); });
}

bool Selection::decide(std::uint64_t units, std::uint64_t word, WordSource& words) const {
  if (is_certain(units)) return true;
  if (units < table_.size()) {
    const Thresholds& entry = table_[units];
    if (word < entry.surely) return true;
    if (word > entry.open) return false;
  }
  return decide_slowly(units, word, words);
}

bool Selection::replay(std::uint64_t units, WordSource& words) const {
  SecretWords<1> drawn;
  words.fill(drawn);
  return decide(units, drawn[0], words);
}

void Selection::replay(std::span<const std::uint64_t> units, std::span<bool> shown, WordSource& words) const {
  std::fill(shown.begin(), shown.end(), false);
  if (units.size() != shown.size()) {
    throw Error(ErrorCode::invalid_argument, "shown",
                "shown: has room for " + std::to_string(shown.size()) + " decisions on " +
                    std::to_string(units.size()) + " groups; give one for each");
  }
  try {
    SecretWords<chunk> drawn;
    for (std::size_t begin = 0; begin < units.size(); begin += chunk) {
      const std::size_t size = std::min(chunk, units.size() - begin);
      words.fill(std::span(drawn).first(size));
      for (std::size_t i = 0; i < size; ++i) shown[begin + i] = decide(units[begin + i], drawn[i], words);
    }
  } catch (...) {
    std::fill(shown.begin(), shown.end(), false);
    throw;
  }
}

}  // namespace snapdp
