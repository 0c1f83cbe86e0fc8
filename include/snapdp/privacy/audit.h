// A black-box audit: a lower bound on the privacy loss of a sampler, from outputs that it gave for two
// neighboring values. Nothing is assumed of the sampler but that its outputs for one value are independent
// and identically distributed.
//
//   const AuditResult result = audit(outputs_for_0, outputs_for_1, Rational(1, 1000));
//   result.loss_lower_bound;         // the loss is at least this, except with probability 1/1000
//   result.refutes(Rational(1));     // epsilon = 1 is false, with the same confidence
//
// A sampler with loss epsilon gives every set E of outputs a probability under one value that is at most
// e^epsilon times that under the other. The audit looks for a telling E in the first halves of the samples
// and counts the second halves only for that E, so that no correction for the number of sets tried is needed.
// Its bound follows from exact (Clopper-Pearson) bounds of the two probabilities, each at half of the failure
// rate, rounded outward.
//
// What it can find: outputs that lie too far out or are too likely, and outputs that only one of the values
// can give, where they are told apart by their size or by the place of their last binary digit (integers of
// one parity, outputs of a finer lattice). That it finds nothing proves nothing: differences of single rare
// outputs, such as the low-order digits of a naive sampler, are out of reach of any number of samples.
//
// Functions throw invalid_argument naming the parameter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "snapdp/numeric/rational.h"

namespace snapdp {

// For an event seen `hits` times in `trials` independent trials: its probability is at least (at most) the
// result, except with probability `alpha`. Clopper and Pearson, Biometrika 26 (1934), rounded outward by a
// relative 1e-9 at most. 0 <= hits <= trials, 1 <= trials <= 2^40, 1e-300 <= alpha < 1.
double binomial_lower_bound(std::uint64_t hits, std::uint64_t trials, const Rational& alpha);
double binomial_upper_bound(std::uint64_t hits, std::uint64_t trials, const Rational& alpha);

// How often an event was seen among independent outputs for one value.
struct EventCount {
  std::uint64_t hits;
  std::uint64_t trials;
};

// A lower bound, >= 0, on ln(P(event | likelier) / P(event | rarer)), wrong with probability at most `alpha`.
// The event must have been chosen without looking at these trials.
double loss_lower_bound(const EventCount& likelier, const EventCount& rarer, const Rational& alpha);

// A set of outputs.
struct AuditEvent {
  enum class Feature {
    value,     // the output itself
    last_bit,  // the k for which it is an odd multiple of 2^k; infinity for 0
  };
  struct Interval {
    double from;  // both ends belong to it
    double to;
    friend bool operator==(const Interval&, const Interval&) = default;
  };

  Feature feature = Feature::value;
  std::vector<Interval> intervals = {};  // of the feature, in order and apart

  bool contains(double output) const;
  // In words: "outputs >= 3", "odd multiples of 2^-54 or finer".
  std::string description() const;
};

struct AuditResult {
  AuditEvent event;
  bool likelier_is_first;  // the event is likelier under the first value
  EventCount likelier;     // in the second halves
  EventCount rarer;
  double loss_lower_bound;

  bool refutes(const Rational& epsilon) const { return Rational(loss_lower_bound) > epsilon; }
};

// At least 100 outputs of each value, in the order in which they came; not NaN. `alpha` as above.
AuditResult audit(std::span<const double> first, std::span<const double> second, const Rational& alpha);

}  // namespace snapdp
