// Measurements: an exact statistic, snapped once, paid for first.
//
//   auto ages = vector_domain<double>().of_size(10'000);
//   auto clamped = make_clamp(ages, change_one(), Bounds(0, 100));
//   auto mean_age = clamped >> make_mean() >> make_snapping({.epsilon = "1/4"});
//   mean_age.loss();                                   // at most 1/4 at distance 1, exact
//   mean_age.accuracy(0.05);                           // known before any row is read
//   InMemoryAccountant budget(1);                      // or a LedgerAccountant, see privacy/ledger.h
//   Release r = mean_age.release(rows, budget);        // debit, then draw
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "snapdp/framework/accountant.h"
#include "snapdp/framework/aggregation.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/choice.h"
#include "snapdp/mechanism/mechanism.h"
#include "snapdp/mechanism/noise.h"
#include "snapdp/random/system_generator.h"

namespace snapdp {

namespace framework_internal {
class Paid;  // that the debit stands
}
class PrivateGroups;  // statistics/private_groups.h

struct NoiseOptions {
  // The privacy loss at `distance` of the input metric: an epsilon, of Gaussian noise with a delta; or a rho
  // in their place.
  Epsilon epsilon = Rational(0);
  std::optional<Rational> delta = {};
  std::optional<Rational> rho = {};
  GridChoice grid = {};
  NoiseKind noise = NoiseKind::exact;  // geometric: for integer statistics
  std::optional<long> precision = {};  // bits, of notes
  // How far apart neighboring datasets are, at least 1: 1, or the rows that one privacy unit may contribute.
  std::uint64_t distance = 1;
  // What values and outputs are clamped to: the statistic's public range unless something else is chosen.
  RangeChoice range = {};
};

// Instead of noise: which of the numbers are the greatest.
struct TopOptions {
  Epsilon epsilon;        // of the whole list, at `distance` of the input metric
  std::size_t count = 1;  // how many of the numbers to name, at least 1
  // How far apart neighboring datasets are, as NoiseOptions have it.
  std::uint64_t distance = 1;
};

// What was released and what was debited for it.
struct Release {
  std::vector<Dyadic> values;  // multiples of the grid, or a bound; of a choice the indices of what is chosen
  PrivacyLoss loss;
};

// The public range of a statistic as it is rounded to its grid, before a mechanism clamps it: ends rounded
// outward to doubles. Absent where the range depends on private data.
std::optional<StatisticRange> public_range(const StatisticDomain& statistic);

class Measurement {
 public:
  // Throws invalid_argument when the sensitivity is 0 (the statistic is a public constant: release it as
  // such) or the mechanism cannot be built; see Snapping. Of a vector at most sensitivity / spacing of the
  // statistic's grid numbers differ between neighbors, and never more than there are: that many are the
  // mechanism's coordinates().
  Measurement(Aggregation aggregation, const NoiseOptions& options);
  // A private choice (mechanism/choice.h): the indices of the greatest numbers of the statistic, the greatest
  // first, and nothing of the numbers. The L1 sensitivity of the statistic says how far they move. Throws
  // invalid_argument when that is 0, or when there are fewer numbers than options.count. Proof:
  // proofs/make_top.md.
  Measurement(Aggregation aggregation, const TopOptions& options);

  const Aggregation& aggregation() const { return aggregation_; }
  // Whether it is a choice; the other of the two functions throws mismatch.
  bool is_choice() const { return std::holds_alternative<Choice>(mechanism_); }
  const Mechanism& mechanism() const;
  const Choice& choice() const;
  // How many values a release has.
  std::size_t released_count() const;
  Metric input_metric() const { return aggregation_.input_metric(); }
  // In what privacy() counts: pure, or zcdp for Gaussian noise.
  PrivacyMeasure measure() const;
  // holds(d_in, epsilon): inputs at distance d_in are told apart with loss at most epsilon (pure differential
  // privacy); for Gaussian noise it is a rho. What is proved: see Mechanism::loss_bound, and gaussian_loss.h.
  const Relation& privacy() const { return privacy_; }
  // The distance of neighboring datasets, as the options gave it.
  const Rational& distance() const { return distance_; }
  // The loss at distance d_in, exact; at most the requested epsilon at distance().
  Rational loss(const Rational& d_in = 1) const { return privacy_.forward(d_in); }
  // What a release debits: the requested rho, or epsilon and delta, of Gaussian noise; else the requested
  // epsilon, as privacy() holds for it at distance(); in precision mode, where only the notes' claim may be
  // that low, loss(distance()). privacy().holds(distance(), price().in(measure()).value) is always true.
  const PrivacyLoss& price() const { return price_; }
  // The epsilon that was asked for.
  const Rational& epsilon() const;
  // See accuracy_of(); of a choice all three are how far what is chosen may be below the greatest that is
  // left, see Choice::accuracy(), on the grid of the statistic. Between constants narrower than the public
  // range it is that of the clamped statistic.
  Accuracy accuracy(const FailureRate& alpha) const;

  // Folds the rows, debits price(), then draws. Throws before the debit: bad_data naming "rows" when they are
  // not in the input domain, for which nothing is proved (this depends on the rows: a chain that starts at an
  // untrusted_domain() takes everything); what Aggregation::finish, check() and the accountant throw; io when
  // the system's generator does not deliver a first block of words; std::bad_alloc when there is too little
  // memory for what follows.
  Release release(const Chunk& rows, BudgetAccountant& accountant) const;
  // Throws mismatch naming "statistic" unless it is in the aggregation's output domain, on which the proof of
  // the noise rests; if the aggregation gave it, its author is wrong about it.
  void check(const std::vector<Dyadic>& statistic) const;

 private:
  friend class Composition;    // whose release() is the only one
  friend class PrivateGroups;  // but for groups that are chosen when it is paid
  PrivacyLoss price_for(const NoiseOptions& options) const;
  // The noisy statistic, in the place of the exact one.
  std::vector<Dyadic> draw(std::vector<Dyadic> statistic, const framework_internal::Paid& paid) const;

  Aggregation aggregation_;
  Rational distance_;
  std::variant<Mechanism, Choice> mechanism_;
  Relation privacy_;
  PrivacyLoss price_;
};

inline NoiseOptions make_snapping(NoiseOptions options) {
  return options;
}
inline Measurement operator>>(const Aggregation& aggregation, const NoiseOptions& options) {
  return Measurement(aggregation, options);
}

// counts >> make_top({.epsilon = 1, .count = 3})
inline TopOptions make_top(TopOptions options) {
  return options;
}
inline Measurement operator>>(const Aggregation& aggregation, const TopOptions& options) {
  return Measurement(aggregation, options);
}

// Chains that lack a step: said in one line, where compilers would list every operator there is.
namespace framework_internal {
template <typename Part>
Part never();
}  // namespace framework_internal
template <std::same_as<NoiseOptions> Noise>
Measurement operator>>(const Transformation&, const Noise&) {
  static_assert(sizeof(Noise) == 0,
                "the chain has no statistic: make_sum(), make_mean() ... before make_snapping()");
  return framework_internal::never<Measurement>();
}
template <std::same_as<NoiseOptions> Noise>
Measurement operator>>(const Partial<Aggregation>&, const Noise&) {
  static_assert(sizeof(Noise) == 0,
                "the chain has no rows: give the statistic a domain and a metric, or rows >> statistic");
  return framework_internal::never<Measurement>();
}
template <std::same_as<VectorDomain> Rows, typename Step>
Aggregation operator>>(const Rows&, const Step&) {
  static_assert(sizeof(Rows) == 0,
                "a chain starts with a step, not a domain: make_clamp(domain, metric, bounds) >> ...");
  return framework_internal::never<Aggregation>();
}

}  // namespace snapdp
