// Privacy as dilation, checked in interval arithmetic.
//
// The noise of snapping is lambda ln V, V = U^S on (0, infinity). What V must be for an output of the value y
// is an interval, and moving y by t dilates it: multiplies it by e^(-t / lambda). So the mechanism is
// (epsilon, delta)-private when
//
//     Pr[V in E] <= e^epsilon Pr[V in e^s E] + delta
//
// for all |s| <= reach (the sensitivity over lambda) and all unions E of the intervals of outputs.
// dilation_divergence() encloses the least such delta; 0 means pure privacy. Shifts by reach alone are not
// enough: noise on a lattice passes them and fails between. Source: "Verifying Snapping Mechanism" (2019) as
// corrected in docs/errata.md; proofs/snapping.md has the definitions and the proof.
//
// Everything is written in x = ln V, where a dilation by e^s is a shift by s.
//
//   // The mechanism that runs, for one value and every neighbor of it:
//   const DilationCheck check = check_dilation({.noise = mechanism.noise(), .epsilon = 1}, 50);
//   check.delta;    // an enclosure: {0, 1.4e-11}
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "snapdp/mechanism/law.h"
#include "snapdp/numeric/enclosure.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

// { from <= ln V < to }; an absent end is infinite.
struct LogInterval {
  std::optional<Rational> from;
  std::optional<Rational> to;
};

// A law of ln V.
class DilationLaw {
 public:
  virtual ~DilationLaw() = default;
  // P(ln V in the interval); 0 when it is empty.
  virtual Enclosure probability(const LogInterval& interval) const = 0;
  // Whether ln V has a density that falls on both sides of one point. The probability of an interval that is
  // shifted then rises and falls once, so that between two shifts it is at least the smaller of those at the
  // two.
  virtual bool is_unimodal() const { return false; }
};

// V = U^S, U uniform on (0, 1), S a fair sign: the two signs give e^x / 2 below 0 and e^-x / 2 above.
class UniformPowerLaw : public DilationLaw {
 public:
  Enclosure probability(const LogInterval& interval) const override;
  bool is_unimodal() const override { return true; }
};

// ln V = step K, P(K = k) proportional to e^(-step |k|): noise on a lattice, which is private for values on
// that lattice and for no others.
class LatticePowerLaw : public DilationLaw {
 public:
  // Throws invalid_argument unless step > 0.
  explicit LatticePowerLaw(Rational step);
  Enclosure probability(const LogInterval& interval) const override;

 private:
  Rational step_;
};

// What ln V must be for each output of the statistic `value`, in order: indices from floor(lower / grid) on,
// the two ends collecting what is beyond the bounds. The indices go on until they reach a bound or |ln V|
// exceeds `depth`, and what is beyond is left out. Throws invalid_argument for depth <= 0 and for more than a
// million outputs.
std::vector<LogInterval> output_intervals(const Noise& noise, const Rational& value,
                                          const Rational& depth = 60);

// sup over |s| <= reach and unions E of `intervals` of Pr[E] - e^epsilon Pr[e^s E], at least 0. Of what the
// intervals leave out it is assumed that it may all be in E. The enclosure is at most `tolerance` wide, or as
// narrow as `most_pieces` pieces of the shifts make it. Throws invalid_argument for intervals that overlap,
// an epsilon outside [0, 10000], a negative reach or a tolerance that is not positive.
Enclosure dilation_divergence(const DilationLaw& law, const std::vector<LogInterval>& intervals,
                              const Rational& epsilon, const Rational& reach, const Rational& tolerance,
                              int most_pieces = 20'000);

// Shifts from <= s <= to.
struct Shifts {
  Rational from;
  Rational to;
};
// The same over these shifts. Throws for from > to.
Enclosure dilation_divergence(const DilationLaw& law, const std::vector<LogInterval>& intervals,
                              const Rational& epsilon, const Shifts& shifts, const Rational& tolerance,
                              int most_pieces = 20'000);

// The same between two output laws, those of `here` and `there`, which list the same outputs: sup over sets
// of outputs of P(here) - e^epsilon P(there). This is the lifting of equality: its witnesses are the two laws
// on the diagonal. Throws mismatch for lists of different lengths, invalid_argument for intervals of one list
// that overlap or an epsilon outside [0, 10000].
Enclosure lifting_divergence(const DilationLaw& law, const std::vector<LogInterval>& here,
                             const std::vector<LogInterval>& there, const Rational& epsilon);

// A mechanism with Laplace noise and what is claimed of it.
struct DilationQuestion {
  Noise noise;                                      // with a sensitivity > 0
  Rational epsilon = 0;                             // the loss that is claimed, > 0
  Rational tolerance = Rational(1, 1'000'000'000);  // how wide the enclosure of delta may be, 1e-30 to 1/10
};

// For one value y and every value y' at most the sensitivity from it between the bounds: the least delta such
// that P(out(y) in O) <= e^epsilon P(out(y') in O) + delta for every set O of outputs.
struct DilationCheck {
  Rational value;
  Shifts shifts;  // one for each y'
  // Of which O is any set; beyond them lies less than a quarter of the tolerance, counted as lost.
  std::size_t outputs;
  Enclosure delta;
};

// The limits of check_dilation(), so that it ends within seconds.
inline constexpr std::size_t most_dilated_outputs = 60'000;
inline constexpr long greatest_dilation = 1'000;  // of epsilon and of the shifts

// Throws invalid_argument naming the parameter: geometric noise, which is private for integers but not for
// the numbers between them, where dilation looks as well; a value beyond the bounds; more outputs, a larger
// epsilon or larger shifts than the limits; a tolerance that so much work does not reach.
DilationCheck check_dilation(const DilationQuestion& question, const Rational& value);

}  // namespace snapdp
