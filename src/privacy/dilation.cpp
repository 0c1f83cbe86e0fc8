#include "snapdp/privacy/dilation.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <queue>

#include "numeric/shared/certified.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

using certified::Wide;

constexpr mpfr_prec_t bits = 160;
constexpr long most_epsilon = 10'000;
constexpr long most_outputs = 1'000'000;

[[noreturn]] void refuse(const char* parameter, const std::string& message) {
  throw Error(ErrorCode::invalid_argument, parameter, parameter + message);
}

Enclosure ends(const Wide& value) {
  return {lower_end(value), upper_end(value)};
}

Enclosure operator+(const Enclosure& a, const Enclosure& b) {
  return {a.lower + b.lower, a.upper + b.upper};
}

bool is_empty(const LogInterval& interval) {
  return interval.from && interval.to && *interval.from >= *interval.to;
}

// What is counted twice would be missing from what the intervals leave out.
void require_disjoint(const char* parameter, std::vector<LogInterval> intervals) {
  std::erase_if(intervals, is_empty);
  std::sort(intervals.begin(), intervals.end(), [](const LogInterval& a, const LogInterval& b) {
    return b.from && (!a.from || *a.from < *b.from);
  });
  for (std::size_t i = 1; i < intervals.size(); ++i) {
    const std::optional<Rational>& end = intervals[i - 1].to;
    if (!end || !intervals[i].from || *end > *intervals[i].from)
      refuse(parameter, ": two of them overlap; an outcome of V is one output's only");
  }
}

void require_epsilon(const Rational& epsilon) {
  if (epsilon < 0) refuse("epsilon", " = " + to_string(epsilon) + ": must not be negative");
  if (epsilon > most_epsilon) {
    refuse("epsilon", " = " + to_string(epsilon) + ": must be at most " + std::to_string(most_epsilon) +
                          "; more protects nobody");
  }
}

Enclosure operator-(const Enclosure& a, const Enclosure& b) {
  return {a.lower - b.upper, a.upper - b.lower};
}

// P(ln V < x) for x <= 0, by U^S < e^x with S = 1. Far out an enclosure of one size will do: numbers there have as many
// digits as x is large.
Enclosure lower_tail(const Rational& x) {
  constexpr long far = 4'000;
  if (x < -far) return {0, upper_end(exp(Wide(Rational(-far))))};
  return ends(ldexp(exp(Wide(x)), -1));
}

// Where the ends lie on one side of 0, a difference of tails has full relative accuracy.
Enclosure uniform_power(const LogInterval& interval) {
  const auto& [from, to] = interval;
  if (to && *to <= 0) return from ? lower_tail(*to) - lower_tail(*from) : lower_tail(*to);
  if (from && *from >= 0) {
    return to ? lower_tail(Rational(-*from)) - lower_tail(Rational(-*to)) : lower_tail(Rational(-*from));
  }
  Enclosure rest{1, 1};
  if (from) rest = rest - lower_tail(*from);
  if (to) rest = rest - lower_tail(Rational(-*to));
  return rest;
}

// e^epsilon Pr[e^s E] for the whole cell of shifts, from below: every dilation of E in it contains the intersection of the
// first and the last.
LogInterval intersection(const LogInterval& interval, const Rational& first, const Rational& last) {
  LogInterval result = interval;
  if (result.from) *result.from += last;
  if (result.to) *result.to += first;
  return result;
}

std::optional<Integer> index_of(const std::optional<double>& bound, const Rational& step,
                                Integer (*round)(const Rational&)) {
  if (!bound) return std::nullopt;
  return round(Rational(Rational(*bound) / step));
}

Enclosure power_of_e(const Rational& x) {
  const Wide::Precision precision(bits, false);
  return ends(exp(Wide(x)));
}

// The divergence over shifts, from above on pieces of them and from below at single ones.
class ShiftSearch {
 public:
  ShiftSearch(const DilationLaw& law, const std::vector<LogInterval>& intervals, const Rational& epsilon)
      : law_(law), intervals_(intervals), growth_(power_of_e(epsilon)) {
    for (const LogInterval& interval : intervals) {
      own_.push_back(law.probability(interval));
      left_out_ -= own_.back().lower;
    }
    left_out_ = std::max(Rational(0), left_out_);
  }

  Enclosure enclosure(const Shifts& shifts, const Rational& tolerance, int most_pieces) const {
    // Intervals have most where they lie next to 0, and shifts move them away from it: begin with the two directions.
    std::vector<Rational> cuts{shifts.from};
    if (shifts.from < 0 && shifts.to > 0) cuts.emplace_back(0);
    cuts.push_back(shifts.to);
    std::priority_queue<Piece> pieces;
    std::shared_ptr<const Moved> first = moved(cuts.front());
    Rational lower = first->divergence;
    int count = 0;
    for (std::size_t i = 1; i < cuts.size(); ++i, ++count) {
      const std::shared_ptr<const Moved> last = moved(cuts[i]);
      lower = std::max(lower, last->divergence);
      pieces.push(piece(first, last));
      first = last;
    }
    for (; count < most_pieces && pieces.top().upper - lower > tolerance; ++count) {
      const Piece worst = pieces.top();
      pieces.pop();
      const std::shared_ptr<const Moved> middle =
          moved(Rational((worst.first->shift + worst.last->shift) / 2));
      lower = std::max(lower, middle->divergence);
      pieces.push(piece(worst.first, middle));
      pieces.push(piece(middle, worst.last));
    }
    return {lower, std::max(lower, pieces.top().upper)};
  }

 private:
  struct Moved {
    Rational shift;
    Rational divergence;          // from below
    std::vector<Rational> least;  // what each interval has at least; of unimodal laws
  };
  struct Piece {
    std::shared_ptr<const Moved> first;
    std::shared_ptr<const Moved> last;
    Rational upper;
    bool operator<(const Piece& other) const { return upper < other.upper; }
  };

  std::shared_ptr<const Moved> moved(const Rational& shift) const {
    auto result = std::make_shared<Moved>();
    result->shift = shift;
    for (std::size_t i = 0; i < intervals_.size(); ++i) {
      const Enclosure there = law_.probability(intersection(intervals_[i], shift, shift));
      result->divergence += std::max(Rational(0), Rational(own_[i].lower - growth_.upper * there.upper));
      if (law_.is_unimodal()) result->least.push_back(std::max(Rational(0), there.lower));
    }
    return result;
  }

  Piece piece(const std::shared_ptr<const Moved>& first, const std::shared_ptr<const Moved>& last) const {
    Rational upper = left_out_;
    for (std::size_t i = 0; i < intervals_.size(); ++i)
      upper += std::max(Rational(0), Rational(own_[i].upper - growth_.lower * least(i, *first, *last)));
    return {first, last, upper};
  }

  // What interval i has at least, wherever between the two it is moved.
  Rational least(std::size_t i, const Moved& first, const Moved& last) const {
    if (law_.is_unimodal()) return std::min(first.least[i], last.least[i]);
    return std::max(Rational(0),
                    law_.probability(intersection(intervals_[i], first.shift, last.shift)).lower);
  }

  const DilationLaw& law_;
  const std::vector<LogInterval>& intervals_;
  Enclosure growth_;  // e^epsilon
  std::vector<Enclosure> own_;
  Rational left_out_ = 1;
};

void check_question(const DilationQuestion& question, const Rational& value) {
  const Noise& noise = question.noise;
  if (noise.kind == NoiseKind::geometric) {
    refuse("noise",
           " = \"geometric\": dilation looks at all numbers up to the sensitivity apart, and geometric noise "
           "is private for integers only");
  }
  if (noise.kind == NoiseKind::gaussian) {
    refuse("noise", " = \"gaussian\": dilation is about Laplace noise; gaussian_delta() gives delta exactly");
  }
  if (noise.kind == NoiseKind::notes) {
    refuse(
        "noise",
        " = \"precision\": arithmetic of p bits takes finitely many values, which a dilation may miss; use "
        "exact mode");
  }
  if (!(noise.scale.up() > 0) || !std::isfinite(noise.scale.up()))
    refuse("scale", " = " + to_string(noise.scale.up()) + ": must be positive and finite");
  if (noise.lower && noise.upper && *noise.lower >= *noise.upper) {
    refuse("lower",
           " = " + to_string(*noise.lower) + ": must be less than upper = " + to_string(*noise.upper));
  }
  const Rational sensitivity = noise.sensitivity.rational();
  if (sensitivity <= 0) {
    refuse("sensitivity", " = " + to_string(sensitivity) + ": must be greater than 0");
  }
  if (question.epsilon <= 0)
    refuse("epsilon", " = " + to_string(question.epsilon) + ": must be greater than 0");
  const std::string limit = std::to_string(greatest_dilation);
  if (question.epsilon > greatest_dilation) {
    refuse("epsilon", " = " + to_string(question.epsilon) + ": dilations are checked for losses up to " +
                          limit + ", because e^epsilon has as many digits");
  }
  if (sensitivity > greatest_dilation * noise.scale.exact()) {
    refuse("sensitivity", " = " + to_string(sensitivity) + ": dilations are checked up to e^" + limit +
                              ", a sensitivity of " + limit + " noise scales");
  }
  if (question.tolerance < Rational(1e-30) || question.tolerance > Rational(1, 10)) {
    refuse("tolerance", " = " + to_string(question.tolerance) + ": must lie between 1e-30 and 0.1");
  }
  const bool below = noise.lower && value < Rational(*noise.lower);
  if (below || (noise.upper && value > Rational(*noise.upper))) {
    refuse("value", " = " + to_string(value) + ": lies beyond the bounds, where values are clamped to " +
                        to_string(below ? *noise.lower : *noise.upper) + "; check that one");
  }
}

// e^-depth is less than a quarter of the tolerance, with room to spare for the doubles.
Rational depth_for(const Rational& tolerance) {
  return Rational(std::ceil(-std::log(tolerance.get_d() / 4)) + 1);
}

void check_outputs(const Noise& noise, const Rational& value, const Rational& depth) {
  const Rational step = noise.grid.spacing().rational();
  const Rational farthest = depth * noise.scale.exact();
  const Rational below =
      noise.lower ? std::min(farthest, Rational(value - Rational(*noise.lower))) : farthest;
  const Rational above =
      noise.upper ? std::min(farthest, Rational(Rational(*noise.upper) - value)) : farthest;
  const Rational width = below + above;
  const Integer outputs = ceil(Rational(width / step)) + 2;
  if (outputs <= most_dilated_outputs) return;
  const Rational coarser = width / static_cast<unsigned long>(most_dilated_outputs - 2);
  refuse("grid", " = " + to_string(noise.grid) + ": there are " + outputs.get_str() + " outputs within " +
                     to_string(depth) + " noise scales of the value, and at most " +
                     std::to_string(most_dilated_outputs) +
                     " are checked; every grid is equally private, so take " +
                     to_string(Grid::at_least(coarser)) + " or a coarser one");
}

}  // namespace

Enclosure UniformPowerLaw::probability(const LogInterval& interval) const {
  if (is_empty(interval)) return {0, 0};
  const Wide::Precision precision(bits, false);
  return uniform_power(interval);
}

LatticePowerLaw::LatticePowerLaw(Rational step) : step_(std::move(step)) {
  if (step_ <= 0) refuse("step", " = " + to_string(step_) + ": must be greater than 0");
}

Enclosure LatticePowerLaw::probability(const LogInterval& interval) const {
  if (is_empty(interval)) return {0, 0};
  const Wide::Precision precision(bits, false);
  // The first and the last k inside.
  std::optional<Integer> first;
  std::optional<Integer> last;
  if (interval.from) first = ceil(Rational(*interval.from / step_));
  if (interval.to) last = ceil(Rational(*interval.to / step_)) - 1;
  if (first && last && *first > *last) return {0, 0};
  const Wide q = exp(Wide(Rational(-step_)));
  // P(K >= k) = q^k / (1 + q) for k >= 0.
  const auto tail = [&](const Integer& k) { return exp(Wide(Rational(-step_ * k))) / (Wide(1.0) + q); };
  const Integer one = 1;
  if (first && *first >= 0) return ends(last ? tail(*first) - tail(*last + one) : tail(*first));
  if (last && *last <= 0) return ends(first ? tail(-*last) - tail(one - *first) : tail(-*last));
  Wide rest(1.0);
  if (first) rest = rest - tail(one - *first);
  if (last) rest = rest - tail(*last + one);
  return ends(rest);
}

std::vector<LogInterval> output_intervals(const Noise& noise, const Rational& value, const Rational& depth) {
  if (depth <= 0) refuse("depth", " = " + to_string(depth) + ": must be greater than 0");
  const Rational scale = noise.scale.exact();
  const Rational step = noise.grid.spacing().rational();
  Rational y = value;
  if (noise.lower) y = std::max(y, Rational(*noise.lower));
  if (noise.upper) y = std::min(y, Rational(*noise.upper));
  Integer first = floor(Rational((y - depth * scale) / step));
  Integer last = ceil(Rational((y + depth * scale) / step));
  const std::optional<Integer> bottom = index_of(noise.lower, step, floor);
  const std::optional<Integer> top = index_of(noise.upper, step, ceil);
  if (bottom) first = std::max(first, *bottom);
  if (top) last = std::min(last, *top);
  if (last - first >= most_outputs) {
    throw Error(ErrorCode::invalid_argument, "grid",
                "grid = " + to_string(noise.grid) + ": there are more than " + std::to_string(most_outputs) +
                    " outputs; take a coarser grid, nearer bounds or less depth");
  }
  const auto boundary = [&](const Integer& k) {
    return Rational(((Rational(k) - Rational(1, 2)) * step - y) / scale);
  };
  std::vector<LogInterval> intervals;
  for (Integer k = first; k <= last; ++k) {
    LogInterval interval{boundary(k), boundary(k + 1)};
    if (k == bottom) interval.from.reset();
    if (k == top) interval.to.reset();
    intervals.push_back(std::move(interval));
  }
  return intervals;
}

Enclosure lifting_divergence(const DilationLaw& law, const std::vector<LogInterval>& here,
                             const std::vector<LogInterval>& there, const Rational& epsilon) {
  if (here.size() != there.size()) {
    throw Error(ErrorCode::mismatch, "there", "there: must list the same outputs as here");
  }
  require_epsilon(epsilon);
  require_disjoint("here", here);
  require_disjoint("there", there);
  const Enclosure growth = power_of_e(epsilon);
  Enclosure sum{0, 0};
  for (std::size_t i = 0; i < here.size(); ++i) {
    const Enclosure p = law.probability(here[i]);
    const Enclosure q = law.probability(there[i]);
    sum = sum +
          Enclosure{std::max(Rational(0), Rational(p.lower - growth.upper * q.upper)),
                    std::max(Rational(0), Rational(p.upper - growth.lower * std::max(Rational(0), q.lower)))};
  }
  return sum;
}

Enclosure dilation_divergence(const DilationLaw& law, const std::vector<LogInterval>& intervals,
                              const Rational& epsilon, const Rational& reach, const Rational& tolerance,
                              int most_pieces) {
  if (reach < 0) refuse("reach", " = " + to_string(reach) + ": must not be negative");
  return dilation_divergence(law, intervals, epsilon, Shifts{-reach, reach}, tolerance, most_pieces);
}

Enclosure dilation_divergence(const DilationLaw& law, const std::vector<LogInterval>& intervals,
                              const Rational& epsilon, const Shifts& shifts, const Rational& tolerance,
                              int most_pieces) {
  require_epsilon(epsilon);
  require_disjoint("intervals", intervals);
  if (shifts.from > shifts.to) {
    refuse("shifts", " from " + to_string(shifts.from) + " to " + to_string(shifts.to) +
                         ": must not end before they begin");
  }
  if (tolerance <= 0) refuse("tolerance", " = " + to_string(tolerance) + ": must be greater than 0");
  return ShiftSearch(law, intervals, epsilon).enclosure(shifts, tolerance, most_pieces);
}

DilationCheck check_dilation(const DilationQuestion& question, const Rational& value) {
  const FloatEnvironment environment;
  check_question(question, value);
  const Noise& noise = question.noise;
  const Rational scale = noise.scale.exact();
  const Rational depth = depth_for(question.tolerance);
  check_outputs(noise, value, depth);
  // y' = value - s scale.
  Rational down = noise.sensitivity.rational();
  Rational up = down;
  if (noise.lower) down = std::min(down, Rational(value - Rational(*noise.lower)));
  if (noise.upper) up = std::min(up, Rational(Rational(*noise.upper) - value));
  const std::vector<LogInterval> intervals = output_intervals(noise, value, depth);
  DilationCheck check{value, {Rational(-up / scale), Rational(down / scale)}, intervals.size(), {}};
  constexpr int most_pieces = 24;  // two are enough, unless the claim is false
  check.delta = dilation_divergence(UniformPowerLaw(), intervals, question.epsilon, check.shifts,
                                    question.tolerance, most_pieces);
  if (check.delta.lower == 0 && check.delta.upper > question.tolerance) {
    refuse("tolerance", " = " + to_string(question.tolerance) + ": not reached: delta may be as large as " +
                            to_string(to_double_up(check.delta.upper)) + "; raise it");
  }
  return check;
}

}  // namespace snapdp
