#include "snapdp/privacy/audit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "numeric/shared/float_environment.h"
#include "numeric/shared/real.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t most_trials = std::uint64_t{1} << 40;
constexpr std::size_t least_samples = 100;

[[noreturn]] void refuse(const std::string& parameter, const std::string& rule) {
  throw Error(ErrorCode::invalid_argument, parameter, parameter + ": " + rule);
}

// `alpha` rounded down.
double checked_rate(const Rational& alpha) {
  const double rate = to_double_down(alpha);
  if (!(alpha < 1 && rate >= 1e-300)) refuse("alpha", "must be at least 1e-300 and less than 1");
  return rate;
}

void check_count(std::uint64_t hits, std::uint64_t trials) {
  if (trials < 1 || trials > most_trials) refuse("trials", "must be from 1 to 2^40");
  if (hits > trials) refuse("hits", "must not be more than the trials");
}

// Leaves more than 2^-90 of ln C(n, k), which is less than 2^47.
constexpr mpfr_prec_t bits = 160;

// Tails of a binomial distribution, compared with a rate. What is computed of a tail is never below it.
class BinomialTail {
 public:
  BinomialTail(std::uint64_t hits, std::uint64_t trials, double rate)
      : hits_(hits), trials_(trials), rate_(rate) {
    // ln C(n, k)
    subtract_ln_factorial(trials_ - hits_);
    subtract_ln_factorial(hits_);
    mpfr_neg(ln_choose_.get(), ln_choose_.get(), MPFR_RNDN);
    ln_factorial(trials_);
    mpfr_add(ln_choose_.get(), ln_choose_.get(), term_.get(), MPFR_RNDN);
  }

  // P(X >= hits) <= rate, for 0 < p <= hits / trials.
  bool upper_is_rare(double p) {
    const double odds = p / (1 - p);
    return is_rare(p, trials_ - hits_, [&](std::uint64_t i) {
      return static_cast<double>(trials_ - hits_ - i) / static_cast<double>(hits_ + i + 1) * odds;
    });
  }
  // P(X <= hits) <= rate, for hits / trials <= p < 1.
  bool lower_is_rare(double p) {
    const double odds = (1 - p) / p;
    return is_rare(p, hits_, [&](std::uint64_t i) {
      return static_cast<double>(hits_ - i) / static_cast<double>(trials_ - hits_ + i + 1) * odds;
    });
  }

 private:
  void ln_factorial(std::uint64_t n) {
    mpfr_set_ui(term_.get(), static_cast<unsigned long>(n + 1), MPFR_RNDN);
    mpfr_lngamma(term_.get(), term_.get(), MPFR_RNDN);
  }
  void subtract_ln_factorial(std::uint64_t n) {
    ln_factorial(n);
    if (started_) {
      mpfr_add(ln_choose_.get(), ln_choose_.get(), term_.get(), MPFR_RNDN);
    } else {
      mpfr_set(ln_choose_.get(), term_.get(), MPFR_RNDN);
    }
    started_ = true;
  }

  // P(X = hits), above it by a relative 2^-40 at most.
  double first_term(double p) {
    mpfr_set_d(ln_p_.get(), p, MPFR_RNDN);
    mpfr_log(ln_p_.get(), ln_p_.get(), MPFR_RNDN);
    mpfr_mul_ui(ln_p_.get(), ln_p_.get(), static_cast<unsigned long>(hits_), MPFR_RNDN);
    mpfr_set_d(term_.get(), -p, MPFR_RNDN);
    mpfr_log1p(term_.get(), term_.get(), MPFR_RNDN);
    mpfr_mul_ui(term_.get(), term_.get(), static_cast<unsigned long>(trials_ - hits_), MPFR_RNDN);
    mpfr_add(term_.get(), term_.get(), ln_p_.get(), MPFR_RNDN);
    mpfr_add(term_.get(), term_.get(), ln_choose_.get(), MPFR_RNDN);
    mpfr_add_d(term_.get(), term_.get(), 0x1p-42, MPFR_RNDU);
    mpfr_exp(term_.get(), term_.get(), MPFR_RNDU);
    return mpfr_get_d(term_.get(), MPFR_RNDU);
  }

  // The tail is first_term (1 + r_0 + r_0 r_1 + ...) with `count` ratios r_i, which fall; each is computed with a
  // relative error of at most 4 u, u = 2^-53, and costs 2 u more when it is multiplied and added.
  template <typename Ratio>
  bool is_rare(double p, std::uint64_t count, const Ratio& ratio) {
    const double first = first_term(p);
    double sum = 1;
    double product = 1;
    double rest = 0;
    std::uint64_t i = 0;
    for (; i < count; ++i) {
      const double r = ratio(i);
      product *= r;
      sum += product;
      if (first * sum > rate_) return false;
      // What follows is less than a geometric series with the ratio r.
      rest = product * r / (1 - r);
      if (r < 1 && rest < 0x1p-40 * sum) break;
    }
    if (i == count) rest = 0;
    const double rounding = 1 + (static_cast<double>(i) + 8) * 0x1p-49;
    return first * (sum + rest) * rounding <= rate_;
  }

  std::uint64_t hits_;
  std::uint64_t trials_;
  double rate_;
  bool started_ = false;
  Real ln_choose_{bits};
  Real ln_p_{bits};
  Real term_{bits};
};

// The last double from `yes` on towards `no` that still has the property; `yes` has it, `no` need not be asked.
template <typename Property>
double bisect(double yes, double no, const Property& has) {
  auto inside = std::bit_cast<std::uint64_t>(yes);
  auto outside = std::bit_cast<std::uint64_t>(no);
  // Doubles of one sign are ordered like their bits. 34 bits of the significand are more than the tails are good for.
  constexpr std::uint64_t enough = std::uint64_t{1} << 18;
  while (std::max(inside, outside) - std::min(inside, outside) > enough) {
    const std::uint64_t middle =
        std::min(inside, outside) + (std::max(inside, outside) - std::min(inside, outside)) / 2;
    (has(std::bit_cast<double>(middle)) ? inside : outside) = middle;
  }
  return std::bit_cast<double>(inside);
}

}  // namespace

double binomial_lower_bound(std::uint64_t hits, std::uint64_t trials, const Rational& alpha) {
  const FloatEnvironment environment;
  const double rate = checked_rate(alpha);
  check_count(hits, trials);
  if (hits == 0) return 0;
  BinomialTail tail(hits, trials, rate);
  const double observed = static_cast<double>(hits) / static_cast<double>(trials);
  return bisect(0, std::min(observed, 1 - 0x1p-53), [&](double p) { return tail.upper_is_rare(p); });
}

double binomial_upper_bound(std::uint64_t hits, std::uint64_t trials, const Rational& alpha) {
  const FloatEnvironment environment;
  const double rate = checked_rate(alpha);
  check_count(hits, trials);
  if (hits == trials) return 1;
  BinomialTail tail(hits, trials, rate);
  const double observed = static_cast<double>(hits) / static_cast<double>(trials);
  return bisect(1, observed, [&](double p) { return tail.lower_is_rare(p); });
}

double loss_lower_bound(const EventCount& likelier, const EventCount& rarer, const Rational& alpha) {
  const double least = binomial_lower_bound(likelier.hits, likelier.trials, alpha / 2);
  const double most = binomial_upper_bound(rarer.hits, rarer.trials, alpha / 2);
  if (!(least > most)) return 0;
  const FloatEnvironment environment;
  // The quotient and the logarithm are off by less than a unit in the last place each.
  const double loss = std::log(least / most);
  return std::max(0.0, loss - (1 + loss) * 0x1p-50);
}

// --- events

namespace {

double feature_of(AuditEvent::Feature feature, double output) {
  if (feature == AuditEvent::Feature::value) return output;
  if (output == 0 || !std::isfinite(output)) return infinity;
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(output), &exponent);  // in [1/2, 1)
  const auto digits = static_cast<std::uint64_t>(std::ldexp(mantissa, 53));
  return exponent - 53 + std::countr_zero(digits);
}

std::string shown(double value) {
  return to_string(value == 0 ? 0.0 : value);
}

std::string power_of_two(double exponent) {
  return std::isinf(exponent) ? "0" : "2^" + std::to_string(static_cast<long>(exponent));
}

std::string in_words(AuditEvent::Feature feature, const AuditEvent::Interval& interval) {
  const auto& [from, to] = interval;
  if (feature == AuditEvent::Feature::value) {
    if (from == -infinity && to == infinity) return "all outputs";
    if (from == to) return "outputs equal to " + shown(from);
    if (from == -infinity) return "outputs <= " + shown(to);
    if (to == infinity) return "outputs >= " + shown(from);
    return "outputs in [" + shown(from) + ", " + shown(to) + "]";
  }
  if (from == -infinity && to == infinity) return "all outputs";
  if (from == infinity) return "outputs equal to 0";
  if (from == to) return "odd multiples of " + power_of_two(from);
  if (to == infinity) return "multiples of " + power_of_two(from);
  if (from == -infinity) return "outputs that are no multiples of " + power_of_two(to + 1);
  return "multiples of " + power_of_two(from) + " that are none of " + power_of_two(to + 1);
}

// The feature's values, cut into cells: cell i begins at begins[i] (the first one at -infinity) and ends before the next.
struct Cells {
  AuditEvent::Feature feature = AuditEvent::Feature::value;
  std::vector<double> begins = {};

  std::size_t of(double output) const {
    const double x = feature_of(feature, output);
    return static_cast<std::size_t>(std::upper_bound(begins.begin() + 1, begins.end(), x) - begins.begin() -
                                    1);
  }
};

constexpr std::size_t most_cells = 1024;

// Every value a cell when there are few, otherwise cells of about equal numbers and single values towards both ends.
Cells cells_of(AuditEvent::Feature feature, std::span<const double> first, std::span<const double> second) {
  std::vector<double> values;
  values.reserve(first.size() + second.size());
  for (const std::span<const double> outputs : {first, second}) {
    for (const double output : outputs) values.push_back(feature_of(feature, output));
  }
  std::sort(values.begin(), values.end());
  Cells cells{feature};
  std::vector<double> distinct = values;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() <= most_cells) {
    cells.begins = std::move(distinct);
  } else {
    // Steps that grow by a tenth from either end, up to the middle's.
    const std::size_t widest = values.size() / (most_cells / 2);
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < values.size() / 2;
         place += std::clamp(place / 10, std::size_t{1}, widest)) {
      places.push_back(place);
      places.push_back(values.size() - 1 - place);
    }
    std::sort(places.begin(), places.end());
    for (const std::size_t place : places) {
      if (cells.begins.empty() || values[place] > cells.begins.back()) cells.begins.push_back(values[place]);
    }
  }
  cells.begins.front() = -infinity;
  return cells;
}

std::vector<std::uint64_t> counts_of(const Cells& cells, std::span<const double> outputs) {
  std::vector<std::uint64_t> counts(cells.begins.size());
  for (const double output : outputs) ++counts[cells.of(output)];
  return counts;
}

// Roughly what loss_lower_bound gives, from Chernoff's bound: n KL(hits / n, p) = budget.
double chernoff_bound(double hits, double n, double budget, bool lower) {
  const double q = hits / n;
  double inside = lower ? 0 : 1;
  double outside = q;
  for (int i = 0; i < 40; ++i) {
    // Geometrically towards 0, where it matters.
    const double p = lower && inside == 0 ? outside / 16 : (inside + outside) / 2;
    const double divergence =
        (q > 0 ? q * std::log(q / p) : 0) + (q < 1 ? (1 - q) * std::log((1 - q) / (1 - p)) : 0);
    (n * divergence >= budget ? inside : outside) = p;
  }
  return inside;
}

double rough_bound(std::uint64_t likelier, std::uint64_t rarer, double n_likelier, double n_rarer,
                   double budget) {
  if (likelier == 0) return -infinity;
  const double least = chernoff_bound(static_cast<double>(likelier), n_likelier, budget, true);
  const double most = chernoff_bound(static_cast<double>(rarer), n_rarer, budget, false);
  return least > 0 ? std::log(least / most) : -infinity;
}

struct Choice {
  double score = -infinity;
  Cells cells = {};
  std::vector<bool> chosen = {};
  bool likelier_is_first = true;
};

// The best union of cells: a cell, a range towards one end, or the cells with the largest ratio of counts among the
// `learned`. Which of them is best is decided by other outputs, the `judged`, or single rare outputs would always win.
class EventSearch {
 public:
  EventSearch(Cells cells, std::span<const double> learned_first, std::span<const double> learned_second,
              std::span<const double> judged_first, std::span<const double> judged_second, double budget)
      : cells_(std::move(cells)),
        learned_{counts_of(cells_, learned_first), counts_of(cells_, learned_second)},
        judged_{counts_of(cells_, judged_first), counts_of(cells_, judged_second)},
        sizes_{static_cast<double>(judged_first.size()), static_cast<double>(judged_second.size())},
        budget_(budget) {}

  void try_intervals(Choice& best) const {
    std::vector<std::size_t> order = all_cells();
    for (const std::size_t cell : order) try_set(best, std::span(&cell, 1));
    try_beginnings(best, order, 0);
    std::reverse(order.begin(), order.end());
    try_beginnings(best, order, 0);
  }
  // Scattered sets must be worth their while: they are hard to read, and their small parts mostly chance.
  void try_scattered(Choice& best) const {
    constexpr double least_gain = 0.05;
    std::vector<std::size_t> order = all_cells();
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ratio(a) > ratio(b); });
    try_beginnings(best, order, least_gain);
    std::reverse(order.begin(), order.end());
    try_beginnings(best, order, least_gain);
  }

 private:
  std::vector<std::size_t> all_cells() const {
    std::vector<std::size_t> order(cells_.begins.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
  }

  double ratio(std::size_t cell) const {
    return (static_cast<double>(learned_[0][cell]) + 0.5) / (static_cast<double>(learned_[1][cell]) + 0.5);
  }

  void try_set(Choice& best, std::span<const std::size_t> set) const {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    for (const std::size_t cell : set) {
      first += judged_[0][cell];
      second += judged_[1][cell];
    }
    consider(best, first, second, set, best.score);
  }

  void try_beginnings(Choice& best, std::span<const std::size_t> order, double least_gain) const {
    const double target = best.score + least_gain;
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      first += judged_[0][order[i]];
      second += judged_[1][order[i]];
      consider(best, first, second, order.first(i + 1), target);
    }
  }

  void consider(Choice& best, std::uint64_t first, std::uint64_t second, std::span<const std::size_t> set,
                double target) const {
    for (const bool likelier_is_first : {true, false}) {
      const double score = likelier_is_first ? rough_bound(first, second, sizes_[0], sizes_[1], budget_)
                                             : rough_bound(second, first, sizes_[1], sizes_[0], budget_);
      if (!(score > std::max(best.score, target))) continue;
      best.score = score;
      best.cells = cells_;
      best.likelier_is_first = likelier_is_first;
      best.chosen.assign(cells_.begins.size(), false);
      for (const std::size_t cell : set) best.chosen[cell] = true;
    }
  }

  Cells cells_;
  std::vector<std::uint64_t> learned_[2];
  std::vector<std::uint64_t> judged_[2];
  double sizes_[2];
  double budget_;
};

// Neighboring cells become one interval, whose finite ends are features that were seen.
AuditEvent event_of(const Choice& choice, std::span<const double> first, std::span<const double> second) {
  const std::size_t count = choice.chosen.size();
  std::vector<double> least(count, infinity);
  std::vector<double> most(count, -infinity);
  for (const std::span<const double> outputs : {first, second}) {
    for (const double output : outputs) {
      const std::size_t cell = choice.cells.of(output);
      const double x = feature_of(choice.cells.feature, output);
      least[cell] = std::min(least[cell], x);
      most[cell] = std::max(most[cell], x);
    }
  }
  AuditEvent event{choice.cells.feature};
  for (std::size_t begin = 0; begin < count; ++begin) {
    if (!choice.chosen[begin]) continue;
    std::size_t end = begin + 1;
    while (end < count && choice.chosen[end]) ++end;
    double from = infinity;
    double to = -infinity;
    for (std::size_t cell = begin; cell < end; ++cell) {
      from = std::min(from, least[cell]);
      to = std::max(to, most[cell]);
    }
    if (begin == 0 && end > 1) from = -infinity;
    if (end == count && begin + 1 < count) to = infinity;
    if (from <= to) event.intervals.push_back({from, to});
    begin = end;
  }
  return event;
}

EventCount count_of(const AuditEvent& event, std::span<const double> outputs) {
  const auto hits =
      std::count_if(outputs.begin(), outputs.end(), [&](double x) { return event.contains(x); });
  return {static_cast<std::uint64_t>(hits), outputs.size()};
}

void check_samples(const char* parameter, std::span<const double> outputs) {
  if (outputs.size() < least_samples) refuse(parameter, "an audit needs at least 100 outputs of each value");
  if (std::any_of(outputs.begin(), outputs.end(), [](double x) { return std::isnan(x); })) {
    refuse(parameter, "NaN is no output; give the numbers that were answered");
  }
}

}  // namespace

bool AuditEvent::contains(double output) const {
  const double x = feature_of(feature, output);
  const auto after =
      std::upper_bound(intervals.begin(), intervals.end(), x,
                       [](double value, const Interval& interval) { return value < interval.from; });
  return after != intervals.begin() && x <= std::prev(after)->to;
}

std::string AuditEvent::description() const {
  constexpr std::size_t most_shown = 3;
  if (intervals.empty()) return "no outputs";
  std::string text;
  for (std::size_t i = 0; i < std::min(intervals.size(), most_shown); ++i) {
    text += (i == 0 ? "" : ", or ") + in_words(feature, intervals[i]);
  }
  if (intervals.size() > most_shown) {
    text += ", or in " + std::to_string(intervals.size() - most_shown) + " more intervals";
  }
  return text;
}

AuditResult audit(std::span<const double> first, std::span<const double> second, const Rational& alpha) {
  const FloatEnvironment environment;
  const double rate = checked_rate(alpha);
  check_samples("first", first);
  check_samples("second", second);
  const auto quarter = [](std::span<const double> outputs, std::size_t index) {
    const std::size_t size = outputs.size() / 4;
    return outputs.subspan(index * size, size);
  };
  const auto first_half = [](std::span<const double> outputs) {
    return outputs.first(outputs.size() / 4 * 2);
  };
  const auto second_half = [](std::span<const double> outputs) {
    return outputs.subspan(outputs.size() / 4 * 2);
  };

  const double budget = std::log(2 / rate);
  std::vector<EventSearch> searches;
  for (const AuditEvent::Feature feature : {AuditEvent::Feature::value, AuditEvent::Feature::last_bit}) {
    searches.emplace_back(cells_of(feature, quarter(first, 0), quarter(second, 0)), quarter(first, 0),
                          quarter(second, 0), quarter(first, 1), quarter(second, 1), budget);
  }
  Choice best;
  for (const EventSearch& search : searches) search.try_intervals(best);
  for (const EventSearch& search : searches) search.try_scattered(best);
  AuditResult result{.event = event_of(best, first_half(first), first_half(second)),
                     .likelier_is_first = best.likelier_is_first,
                     .likelier = {},
                     .rarer = {},
                     .loss_lower_bound = 0};
  const EventCount of_first = count_of(result.event, second_half(first));
  const EventCount of_second = count_of(result.event, second_half(second));
  result.likelier = result.likelier_is_first ? of_first : of_second;
  result.rarer = result.likelier_is_first ? of_second : of_first;
  result.loss_lower_bound = loss_lower_bound(result.likelier, result.rarer, alpha);
  return result;
}

}  // namespace snapdp
