// Private choice: which of several public candidates has the highest score, without telling the scores.
//
//   const Choice choice({.epsilon = 1, .sensitivity = 1, .monotone = true});
//   std::size_t best = choice.choose(scores, thread_generator())[0];
//   const Choice top3({.epsilon = 1, .sensitivity = 1, .count = 3});
//   top3.choose(scores, thread_generator());          // three different candidates, the best first
//   ChoiceLaw(choice, scores).first();                // the probability of each, enclosed
//   choice.accuracy(20, 0.05);                        // how far the chosen score may be below the best
//
// Permute-and-flip (McKenna & Sheldon, "Permute-and-Flip", NeurIPS 2020): every candidate r tosses a coin
// that shows heads with probability p_r = e^(-rate (q* - q_r)), q* the highest score, and one of the heads
// is taken, each with the same probability. That is never worse than the exponential mechanism, and the
// same as adding exponential noise to every score and taking the highest (proofs/choice.md). For neighbors
// whose scores differ by at most `sensitivity` each, rate = epsilon / (2 sensitivity); where all of them
// move the same way, `monotone`, as counts do when a row is added, rate = epsilon / sensitivity.
//
// Several candidates are chosen one after the other, each among those that are left with epsilon / count: the
// losses of the rounds add up to epsilon.
//
// Exactly: e^-x is irrational, and nothing is rounded. A coin is a uniform on [0, 1), drawn digit by digit,
// and compared with an enclosure that gets narrower until the two are told apart.
//
// Side channels: the scores are exact rationals and their exponentials multiple-precision numbers, whose
// arithmetic takes a time that depends on them. An observer who times single choices may learn something of
// the scores: docs/timing.md.
//
// Bits: each round takes a word for each candidate that is left, in their order, and one more. Bits 63
// (first) to 0 (last) are the first 64 binary digits after the point of a uniform U. Heads is U < p_r; of h
// heads in their order, number floor(h U) of the last word's U is taken. An undecided U takes further
// words, each the next 64 digits: first the coins in order, then the last word.
//
// Threads: a Choice is immutable and may be shared; a generator may not.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/probability.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/random/system_generator.h"
#include "snapdp/random/word_source.h"

namespace snapdp {

struct ChoiceOptions {
  Rational epsilon = 0;      // privacy loss of the whole choice, > 0
  Rational sensitivity = 0;  // the most by which any one score differs between neighbors, > 0
  bool monotone = false;     // between neighbors no score rises while another falls
  std::size_t count = 1;     // how many candidates to choose, at least 1
};

class Choice {
 public:
  // Throws invalid_argument naming the option that breaks a rule.
  explicit Choice(const ChoiceOptions& options);

  const Rational& epsilon() const noexcept { return options_.epsilon; }
  const Rational& sensitivity() const noexcept { return options_.sensitivity; }
  bool monotone() const noexcept { return options_.monotone; }
  std::size_t count() const noexcept { return options_.count; }
  // A candidate whose score is d below the highest one's flips heads with probability e^(-rate() d).
  const Rational& rate() const noexcept { return rate_; }
  // The L1 distance between scores that loses 1, whatever the signs of the differences: of a monotone choice
  // scores at L1 distance d lose at most d / scale(). Throws mismatch when it is not monotone.
  Rational scale() const;
  // What is proved for scores that differ by at most `distance` each (and all the same way if monotone): at
  // most epsilon() at sensitivity(). Throws invalid_argument naming "distance" when it is negative.
  Rational loss_bound(const Rational& distance) const;

  // The indices of count() different candidates, in the order in which they were chosen. Throws
  // invalid_argument naming "scores" when there are fewer; io when the generator fails.
  std::vector<std::size_t> choose(std::span<const Rational> scores, SystemGenerator& generator) const {
    return replay(scores, generator);
  }
  // The same on recorded words, for auditors and tests.
  std::vector<std::size_t> replay(std::span<const Rational> scores, WordSource& words) const;

  // An a such that with probability 1 - alpha every candidate that is chosen among `candidates` has a score
  // at most a below the highest of those left; the least one for one candidate, whatever the scores,
  // rounded up. Known before any score is. Throws invalid_argument naming "candidates" when there are fewer
  // than count().
  double accuracy(std::size_t candidates, const FailureRate& alpha) const;

 private:
  ChoiceOptions options_;
  Rational rate_;
};

// One way in which a choice may come out.
struct ChosenList {
  std::vector<std::size_t> order;  // indices of candidates
  ProbabilityBounds probability;
};

// The law of a choice for given scores: a guess at them, nothing here looks at data. Every probability is
// enclosed within a relative 1e-25, or below 2^-65536.
class ChoiceLaw {
 public:
  // Throws invalid_argument naming "scores" when there are fewer than count(), or more than most_candidates.
  ChoiceLaw(const Choice& choice, std::vector<Rational> scores);

  // That each candidate is chosen first: of a choice of one, that it is chosen.
  const std::vector<ProbabilityBounds>& first() const noexcept { return first_; }

  // How many lists of count() candidates there are.
  Integer list_count() const;
  // All of them with their probabilities, ordered by their indices. Throws invalid_argument naming "count"
  // when there are more than most_lists.
  std::vector<ChosenList> lists() const;

  static constexpr std::size_t most_candidates = 4096;
  static constexpr std::size_t most_lists = 5040;

 private:
  Choice choice_;
  std::vector<Rational> scores_;
  std::vector<ProbabilityBounds> first_;
};

}  // namespace snapdp
