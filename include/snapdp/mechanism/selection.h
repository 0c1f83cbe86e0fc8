// Which groups may be shown when nobody declared them: optimal partition selection.
//
//   const SelectionLaw law(1, Rational("1/100000"));   // epsilon, delta
//   law.probability(11);                               // of a group of 11 privacy units: enclosed
//   law.first_certain();                               // 23: groups from there on are always shown
//   const Selection selection(law);
//   if (selection.select(units, thread_generator())) show(group);
//
// Group names that come from the data are data: one person may be the only reason why a name is there. A
// group of n units is shown with the probability
//
//   pi(0) = 0,  pi(n + 1) = min(e^epsilon pi(n) + delta,  1 - e^-epsilon (1 - pi(n) - delta),  1),
//
// and no rule that is (epsilon, delta)-differentially private shows any group more often (Desfontaines, Voss,
// Gipson, Mandayam, "Differentially private partition selection", PoPETs 2022). A group of one unit is shown
// with probability delta, an empty one never. Proof: proofs/selection.md.
//
// What must hold for the promise: neighbors differ by one privacy unit, which is in at most one group and
// counts there for 1. Of a unit in at most g groups each takes per_group(epsilon, delta, g). Each group is
// decided once.
//
// Exactly: pi(n) is irrational, and nothing is rounded. A uniform on [0, 1) is drawn digit by digit and
// compared with an enclosure of pi(n) that gets narrower until the two are told apart.
//
// Side channels: what is looked up depends on the number of units, and an undecided group (probability about
// 2^-63) takes longer; an observer of single decisions may learn something of the groups that are not shown.
// docs/timing.md.
//
// Bits: a decision takes one word from the generator, whose bits 63 (first) to 0 (last) are the first 64
// binary digits after the point of the uniform; while that does not decide, another word, the next 64 digits.
//
// Threads: SelectionLaw and Selection are immutable and may be shared; a generator may not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "snapdp/mechanism/probability.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/random/system_generator.h"
#include "snapdp/random/word_source.h"

namespace snapdp {

class SelectionLaw {
 public:
  // epsilon > 0 and 0 < delta <= 1, exactly as given. Throws invalid_argument naming the one that is not.
  // With delta = 1 every group of a unit is shown, and nothing is promised.
  SelectionLaw(Rational epsilon, Rational delta);

  const Rational& epsilon() const noexcept { return epsilon_; }
  const Rational& delta() const noexcept { return delta_; }

  // pi(n) and 1 - pi(n), each enclosed within a relative 1e-30, the latter also where it is as small as
  // delta, and absolutely where it is below 2^-65536; 0, delta and 1 are exact. In constant time: by the
  // closed form, see proofs/selection.md. Throws invalid_argument naming "units" when n is negative.
  ProbabilityBounds probability(const Integer& units) const { return probability(units, least_bits); }
  ProbabilityBounds hidden(const Integer& units) const { return hidden(units, least_bits); }
  // Within a relative 2^-bits.
  ProbabilityBounds probability(const Integer& units, long bits) const { return both(units, bits).shown; }
  ProbabilityBounds hidden(const Integer& units, long bits) const { return both(units, bits).hidden; }

  // The number of units up to which the first of the three bounds is the least: n1 of the paper.
  const Integer& turn() const noexcept { return turn_; }
  // The least n with pi(n) = 1.
  const Integer& first_certain() const noexcept { return first_certain_; }

  static constexpr long least_bits = 110;

 private:
  struct Both {
    ProbabilityBounds shown;
    ProbabilityBounds hidden;
  };
  Both both(const Integer& units, long bits) const;

  Rational epsilon_;
  Rational delta_;
  Integer turn_;
  Integer first_certain_;
};

class Selection {
 public:
  // Makes a table of the first 2^16 probabilities; those of larger groups are computed when they are asked
  // for, some tens of microseconds each.
  explicit Selection(SelectionLaw law);
  Selection(const Rational& epsilon, const Rational& delta) : Selection(SelectionLaw(epsilon, delta)) {}

  const SelectionLaw& law() const noexcept { return law_; }

  // Whether a group of so many privacy units is shown. Throws io when the generator fails.
  bool select(std::uint64_t units, SystemGenerator& generator) const { return replay(units, generator); }
  // shown[i] = whether the group of units[i] is: the words of all are drawn in blocks of `chunk`, and then,
  // for each undecided group in order, further ones. Throws invalid_argument when the two differ in length,
  // and io when the generator fails; `shown` is then all false.
  void select(std::span<const std::uint64_t> units, std::span<bool> shown, SystemGenerator& generator) const {
    replay(units, shown, generator);
  }

  // The same on recorded words, for auditors and tests.
  bool replay(std::uint64_t units, WordSource& words) const;
  void replay(std::span<const std::uint64_t> units, std::span<bool> shown, WordSource& words) const;

  static constexpr std::size_t chunk = 2048;
  static constexpr std::size_t table_size = std::size_t{1} << 16;

 private:
  // 2^64 pi(n): words below `surely` are below it, words above `open` are not, and those between are
  // undecided.
  struct Thresholds {
    std::uint64_t surely;
    std::uint64_t open;
  };
  static std::vector<Thresholds> table_of(const SelectionLaw& law);
  bool is_certain(std::uint64_t units) const { return certain_fits_ && units >= certain_; }
  bool decide(std::uint64_t units, std::uint64_t word, WordSource& words) const;
  bool decide_slowly(std::uint64_t units, std::uint64_t word, WordSource& words) const;

  SelectionLaw law_;
  std::vector<Thresholds> table_;
  std::uint64_t certain_ = 0;  // first_certain() when it fits
  bool certain_fits_ = false;
};

// What each group may take when a privacy unit is in at most `groups` of them: epsilon / groups and delta /
// groups. As the losses and the deltas of decisions add up (basic composition), that is epsilon and delta for
// the unit. Exact, so nothing is rounded. Throws invalid_argument naming "groups" for none, and what
// SelectionLaw throws.
SelectionLaw per_group(const Rational& epsilon, const Rational& delta, std::uint64_t groups);

}  // namespace snapdp
