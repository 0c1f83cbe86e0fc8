// The range that a release clamps values and outputs to: a public choice, made before any row is read.
//
//   RangeChoice::fixed(0, 100)                  these constants; an end that is left out does not clamp
//   RangeChoice::none()                         no clamps
//   RangeChoice::widened(FailureRate(0.01))     the statistic's public range, widened so that an output is clamped with
//                                               probability at most gamma
//   RangeChoice()                               the statistic's own public range, where it has one
//
// Constants come first because they are known to be public. A range that follows from the rows, from their private
// number say, moves the support of the outputs, and the loss is infinite: so only a range that is public may be widened.
// Clamping to a range narrower than the statistic's costs bias, and every accuracy is then that of the exact statistic
// clamped to it.
#pragma once

#include <optional>
#include <string>

#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/mechanism.h"

namespace snapdp {

class RangeChoice {
 public:
  enum class Kind { own, fixed, none, widened };

  RangeChoice() = default;  // own
  // Throws invalid_argument naming "range" unless one end is given and lower < upper. Ends are rounded outward: to
  // doubles, or to whole numbers for integer statistics.
  static RangeChoice fixed(std::optional<Rational> lower, std::optional<Rational> upper);
  static RangeChoice none();
  static RangeChoice widened(FailureRate gamma);

  Kind kind() const noexcept { return kind_; }
  // Of Kind::fixed.
  const std::optional<Rational>& lower() const noexcept { return lower_; }
  const std::optional<Rational>& upper() const noexcept { return upper_; }
  // Of Kind::widened.
  const std::optional<FailureRate>& gamma() const noexcept { return gamma_; }

 private:
  Kind kind_ = Kind::own;
  std::optional<Rational> lower_;
  std::optional<Rational> upper_;
  std::optional<FailureRate> gamma_;
};

// "public", "declared", "none", "gamma".
std::string to_string(RangeChoice::Kind kind);

struct OutputRange {
  std::optional<double> lower;
  std::optional<double> upper;
  friend bool operator==(const OutputRange&, const OutputRange&) = default;
};

// What `choice` clamps to when the exact statistic lies in `own`, its public range if it has one, for the mechanism
// that `options` describe (whose own bounds do not matter). A range is widened
//
//   in exact mode       by the least whole steps of the grid: minimal_bounds();
//   in precision mode   by the formula of the notes, about the middle: notes_half_width(), for 118 bits or more.
//
// Throws invalid_argument naming "range" when nothing of `own` is left between constants, when there is no public range
// to widen, or for an end that is no double; otherwise what these functions and the mechanism throw.
OutputRange resolve(const RangeChoice& choice, const std::optional<StatisticRange>& own,
                    const MechanismOptions& options);

// The constants that widen `own` in precision mode when an accuracy at rate alpha is given instead of epsilon, by
// notes_half_width_for_accuracy(): the range must be known before epsilon is. `options.epsilon` does not matter.
RangeChoice widened_for_accuracy(const FailureRate& gamma, const StatisticRange& own,
                                 const MechanismOptions& options, const Rational& accuracy,
                                 const FailureRate& alpha);

}  // namespace snapdp
