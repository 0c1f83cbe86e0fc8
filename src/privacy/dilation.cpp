#include "snapdp/privacy/dilation.h"

#include <algorithm>
#include <queue>

#include "mechanism/certified.h"
#include "snapdp/error.h"

namespace snapdp {
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

// e^epsilon, 0 <= epsilon <= most_epsilon.
Enclosure growth_of(const Rational& epsilon) {
  const Wide::Precision precision(bits, false);
  return ends(exp(Wide(epsilon)));
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

// P(ln V < x) for x <= 0, by U^S < e^x with S = 1.
Wide lower_tail(const Rational& x) {
  return ldexp(exp(Wide(x)), -1);
}

// Exactly where the ends lie on one side of 0: a difference of tails has full relative accuracy there.
Wide uniform_power(const LogInterval& interval) {
  const auto& [from, to] = interval;
  if (to && *to <= 0) return from ? lower_tail(*to) - lower_tail(*from) : lower_tail(*to);
  if (from && *from >= 0) {
    return to ? lower_tail(Rational(-*from)) - lower_tail(Rational(-*to)) : lower_tail(Rational(-*from));
  }
  Wide rest(1.0);
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

}  // namespace

Enclosure UniformPowerLaw::probability(const LogInterval& interval) const {
  if (is_empty(interval)) return {0, 0};
  const Wide::Precision precision(bits, false);
  return ends(uniform_power(interval));
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

std::vector<LogInterval> output_intervals(const OutputNoise& noise, const Rational& value,
                                          const Rational& depth) {
  if (depth <= 0) refuse("depth", " = " + to_string(depth) + ": must be greater than 0");
  const Rational scale(noise.scale);
  const Rational step = noise.grid.spacing().rational();
  Rational y = value;
  if (noise.lower) y = std::max(y, Rational(*noise.lower));
  if (noise.upper) y = std::min(y, Rational(*noise.upper));
  const Integer first = noise.lower ? floor(Rational(Rational(*noise.lower) / step))
                                    : floor(Rational((y - depth * scale) / step));
  const Integer last = noise.upper ? ceil(Rational(Rational(*noise.upper) / step))
                                   : ceil(Rational((y + depth * scale) / step));
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
    if (k == first && noise.lower) interval.from.reset();
    if (k == last && noise.upper) interval.to.reset();
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
  const Enclosure growth = growth_of(epsilon);
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
  require_epsilon(epsilon);
  require_disjoint("intervals", intervals);
  if (reach < 0) refuse("reach", " = " + to_string(reach) + ": must not be negative");
  if (tolerance <= 0) refuse("tolerance", " = " + to_string(tolerance) + ": must be greater than 0");
  const Enclosure growth = growth_of(epsilon);
  std::vector<Enclosure> own;
  Rational left_out = 1;
  for (const LogInterval& interval : intervals) {
    own.push_back(law.probability(interval));
    left_out -= own.back().lower;
  }
  left_out = std::max(Rational(0), left_out);

  // The shifts from `first` to `last`, and what the divergence is at most there.
  struct Piece {
    Rational first;
    Rational last;
    Rational upper;
    bool operator<(const Piece& other) const { return upper < other.upper; }
  };
  const auto piece = [&](const Rational& first, const Rational& last) {
    Rational upper = left_out;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      const Rational moved = law.probability(intersection(intervals[i], first, last)).lower;
      upper += std::max(Rational(0), Rational(own[i].upper - growth.lower * std::max(Rational(0), moved)));
    }
    return Piece{first, last, upper};
  };
  const auto at = [&](const Rational& shift) {
    Rational lower = 0;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      const Rational moved = law.probability(intersection(intervals[i], shift, shift)).upper;
      lower += std::max(Rational(0), Rational(own[i].lower - growth.upper * moved));
    }
    return lower;
  };

  std::priority_queue<Piece> pieces;
  pieces.push(piece(-reach, 0));
  pieces.push(piece(0, reach));
  Rational lower = std::max({at(-reach), at(0), at(reach)});
  for (int count = 2; count < most_pieces; ++count) {
    const Piece worst = pieces.top();
    if (worst.upper - lower <= tolerance) break;
    pieces.pop();
    const Rational middle = (worst.first + worst.last) / 2;
    lower = std::max(lower, at(middle));
    pieces.push(piece(worst.first, middle));
    pieces.push(piece(middle, worst.last));
  }
  return {lower, std::max(lower, pieces.top().upper)};
}

}  // namespace snapdp
