#include "release/presentation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "release/kinds/kind.h"
#include "release/report_numbers.h"
#include "release/shared/chart.h"
#include "release/shown_digits.h"
#include "snapdp/text.h"

namespace snapdp::release_internal {
namespace {

using Shape = PresentedStatistic::Shape;

// The least of 1, 1.5, 2, 3, 4, 5, 6, 8 and 10 times a power of ten that is no less than `value` > 0.
Rational round_above(const Rational& value) {
  const Rational power = power_of_ten(exponent_of(value));
  for (const int tenths : {10, 15, 20, 30, 40, 50, 60, 80}) {
    Rational round = Rational(power * tenths / 10);
    if (round >= value) return round;
  }
  return Rational(power * 10);
}

// What a row's bar is drawn on.
class Scale {
 public:
  Scale(Rational from, Rational to)
      : from_(std::move(from)), width_(Rational(to - from_)), to_(std::move(to)) {}

  bool is_drawable() const { return width_ > 0; }
  double at(const Rational& value) const {
    if (value <= from_) return 0;
    if (value >= to_) return 1;
    return to_double_nearest(Rational((value - from_) / width_));
  }
  const Rational& from() const { return from_; }
  const Rational& to() const { return to_; }

 private:
  Rational from_;
  Rational width_;
  Rational to_;
};

// The public range; where it has no end, as far as the intervals reach, rounded up. Bars start at 0, which is on the
// scale then.
Scale scale_of(const NumberRange& range, const std::optional<Rational>& least,
               const std::optional<Rational>& greatest, bool with_zero, bool fit_upper) {
  const auto away = [](const Rational& value) {
    return value > 0   ? round_above(value)
           : value < 0 ? Rational(-round_above(Rational(-value)))
                       : Rational(0);
  };
  const bool ends_below = range.lower.has_value();
  const bool ends_above = range.upper && !fit_upper;
  Rational from = ends_below ? *range.lower : least ? std::min(Rational(0), away(*least)) : Rational(0);
  Rational to = ends_above ? *range.upper : greatest ? std::max(Rational(0), away(*greatest)) : Rational(0);
  if (with_zero) {
    from = std::min(from, Rational(0));
    to = std::max(to, Rational(0));
  }
  if (to <= from && !ends_above) to = Rational(from + 1);
  return {std::move(from), std::move(to)};
}

Bar bar_of(const ReportedNumber& number, const Scale& scale, bool has_solid) {
  const Rational& lower = number.interval.lower ? *number.interval.lower : scale.from();
  const Rational& upper = number.interval.upper ? *number.interval.upper : scale.to();
  Bar bar{.from = scale.at(lower), .to = scale.at(upper), .tick = scale.at(number.value)};
  if (!has_solid) return bar;
  const double zero = scale.at(Rational(0));
  if (lower > 0) {
    bar.solid_from = zero;
    bar.solid_to = bar.from;
  } else if (upper < 0) {
    bar.solid_from = bar.to;
    bar.solid_to = zero;
  }
  return bar;
}

// An end of a range as it was declared; one that was computed has few digits, outward.
std::string end_of_axis(const Rational& end, Toward toward) {
  constexpr std::size_t longest = 9;
  constexpr long digits = 4;
  const std::string text = declared_text(end);
  return text.size() <= longest || end == 0
             ? text
             : decimal_text(end, exponent_of(Rational(::abs(end))) - digits + 1, toward);
}

PresentedAxis axis_of(const Scale& scale, const NumberRange& range) {
  PresentedAxis axis{end_of_axis(scale.from(), Toward::below),
                     end_of_axis(scale.to(), Toward::above),
                     !range.lower,
                     !range.upper,
                     {}};
  const double from = to_double_nearest(scale.from());
  const double to = to_double_nearest(scale.to());
  if (!std::isfinite(to - from) || !(to > from)) return axis;
  constexpr int about = 4;
  for (const auto& [value, text] : chart::round_ticks(from, to, about))
    axis.ticks.emplace_back(scale.at(Rational(value)), declared_text(parse_exact(text, "report")));
  return axis;
}

// The texts of a number.
class Writer {
 public:
  Writer(const ShownStatistic& statistic, NumberRange range, Digits digits)
      : range_(std::move(range)), digits_(digits) {
    whole_ = is_whole(statistic);
  }

  void write(const ReportedNumber& number, PresentedNumber& shown) const {
    const bool nothing = std::find(number.bewares.begin(), number.bewares.end(), Beware::tells_nothing) !=
                         number.bewares.end();
    const std::optional<Rational> error = has_ends(number) ? farther_end(number) : number.accuracy;
    Rational moved = 0;  // by rounding the value that is shown
    if (digits_ == Digits::all || !error || *error <= 0) {
      if (!nothing)
        shown.value = digits_ == Digits::all ? released_text(number) : declared_text(number.value);
      shown.lower = full_end(number.interval.lower, Toward::below);
      shown.upper = full_end(number.interval.upper, Toward::above);
    } else {
      const long place = whole_ ? std::max(0L, last_place(*error)) : last_place(*error);
      if (!nothing) shown.value = decimal_text(number.value, place, Toward::nearest);
      moved = abs(Rational(number.value - round_at(number.value, place, Toward::nearest)));
      shown.lower = end_text(number, number.interval.lower, place, Toward::below);
      shown.upper = end_text(number, number.interval.upper, place, Toward::above);
    }
    if (number.accuracy) shown.half_width = half_width(Rational(*number.accuracy + moved));
    if (number.population != nullptr) shown.population = population(*number.population);
  }

  bool writes_counts() const { return whole_; }

  // Two digits, upward.
  std::string half_width(const Rational& accuracy) const {
    if (accuracy == 0) return "0";
    const long place = exponent_of(accuracy) - 1;
    return decimal_text(accuracy, whole_ ? std::max(0L, place) : place, Toward::above);
  }

 private:
  // Told by its ends rather than by half a width; nothing where both are open.
  static bool has_ends(const ReportedNumber& number) {
    if (number.coefficient != nullptr) return number.interval.lower || number.interval.upper;
    return number.quantile != nullptr;
  }

  static Rational farther_end(const ReportedNumber& number) {
    Rational farther;
    if (number.interval.lower) farther = Rational(number.value - *number.interval.lower);
    if (number.interval.upper) farther = std::max(farther, Rational(*number.interval.upper - number.value));
    return farther < 0 ? Rational(0) : farther;
  }

  // Its digits end where its own half width begins, which holds the error of sampling too. A count tells of a share.
  PresentedInterval population(const ShownInterval& interval) const {
    const NumberRange range = whole_ ? NumberRange{Rational(0), Rational(1)} : range_;
    const NumberRange ends{finite_number(interval.lower), finite_number(interval.upper)};
    const bool round = digits_ == Digits::meaningful && ends.lower && ends.upper && *ends.lower < *ends.upper;
    const long place = round ? last_place(Rational((*ends.upper - *ends.lower) / 2)) : 0;
    const auto text = [&](const std::optional<Rational>& end, const std::optional<Rational>& bound,
                          Toward toward) {
      return round ? outward_text(*end, bound, place, toward) : full_end(end, toward);
    };
    return {text(ends.lower, range.lower, Toward::below), text(ends.upper, range.upper, Toward::above)};
  }

  static std::optional<Rational> finite_number(double number) {
    if (!std::isfinite(number)) return std::nullopt;
    return ShownNumber::of(number).rational();
  }

  static std::string full_end(const std::optional<Rational>& end, Toward toward) {
    if (!end) return "";
    const double rounded = toward == Toward::below ? to_double_down(*end) : to_double_up(*end);
    return std::isfinite(rounded) ? declared_text(Rational(rounded)) : decimal_text(*end, 0, toward);
  }

  // Public ends, and the edges that intervals of quantiles run between, as they were declared; others outward, but not
  // beyond the range.
  std::string end_text(const ReportedNumber& number, const std::optional<Rational>& end, long place,
                       Toward toward) const {
    if (!end) return "";
    const std::optional<Rational>& bound = toward == Toward::below ? range_.lower : range_.upper;
    constexpr std::size_t short_enough = 8;
    if (number.quantile != nullptr) {
      std::string text = declared_text(*end);
      if (text.size() <= short_enough) return text;
    }
    return outward_text(*end, bound, place, toward);
  }

  static std::string outward_text(const Rational& end, const std::optional<Rational>& bound, long place,
                                  Toward toward) {
    if (bound && *bound == end) return declared_text(end);
    if (bound) {
      const Rational rounded = round_at(end, place, toward);
      if (toward == Toward::below ? rounded < *bound : rounded > *bound) return declared_text(*bound);
    }
    return decimal_text(end, place, toward);
  }

  NumberRange range_;
  Digits digits_;
  bool whole_ = false;
};

Shape shape_of(const ShownStatistic& statistic) {
  if (!statistic.groups.empty()) return Shape::groups;
  if (!statistic.all.bins.empty()) return Shape::bins;
  if (statistic.choice) return Shape::choices;
  if (statistic.coefficient_alpha) return Shape::coefficients;
  return statistic.all.quantiles.empty() || statistic.all.is_median() ? Shape::number : Shape::quantiles;
}

// "25% are at most".
std::string quantile_words(const std::string& q) {
  const Rational share = parse_exact(q, "report");
  if (share == 0) return "the smallest";
  if (share == 1) return "the largest";
  if (share == Rational(1, 2)) return "half are at most";
  return declared_text(Rational(share * 100)) + "% are at most";
}

PresentedNumber named_number(const ShownStatistic& statistic, const ReportedNumber& number) {
  PresentedNumber shown;
  if (number.entry != &statistic.all) {
    shown.group = number.entry->key.text;
    shown.group_words = number.entry->words;
  }
  if (number.bin != nullptr) {
    shown.part = number.bin->label;
    shown.part_words = number.bin->words;
  }
  if (number.quantile != nullptr && !number.quantile->q.empty()) {
    shown.part = number.quantile->q;
    shown.part_words = quantile_words(shown.part);
  }
  if (number.coefficient != nullptr) shown.part = number.coefficient->name;
  if (number.chosen != nullptr) {
    shown.part = to_string(number.value);
    shown.value = number.chosen->label;
    shown.value_words = number.chosen->words;
  }
  shown.bewares = number.bewares;
  return shown;
}

// How far the intervals of a statistic reach together.
struct Reach {
  std::optional<Rational> least;
  std::optional<Rational> greatest;

  void add(const NumberRange& interval) {
    if (interval.lower && (!least || *interval.lower < *least)) least = interval.lower;
    if (interval.upper && (!greatest || *interval.upper > *greatest)) greatest = interval.upper;
  }
};

void present_numbers(const ReportModel& model, const ShownStatistic& statistic, Digits digits,
                     PresentedStatistic& shown) {
  const NumberRange range = range_of(model, statistic);
  Reach reach;
  for_each_number(model, statistic, [&](const ReportedNumber& number) { reach.add(number.interval); });
  const bool is_list = shown.shape != Shape::number;
  const bool amounts = is_list && !statistic.hierarchy;  // bars from 0; quantiles are places
  const ShownEntry& any = statistic.groups.empty() ? statistic.all : statistic.groups.front();
  const bool bins = !any.bins.empty();
  const Scale scale = scale_of(range, reach.least, reach.greatest, amounts, bins);
  const Writer writer(statistic, range, digits);
  shown.axis = axis_of(scale, range);
  for_each_number(model, statistic, [&](const ReportedNumber& number) {
    PresentedNumber one = named_number(statistic, number);
    writer.write(number, one);
    // Coefficients have units of their own, and so no axis together.
    if (!statistic.constant && !shown.is_coefficients && scale.is_drawable())
      one.bar = bar_of(number, scale, amounts);
    if (number.population != nullptr && shown.population_of.empty()) {
      shown.population_of = statistic.difference      ? "difference"
                            : !writer.writes_counts() ? "mean"
                            : model.size              ? "share"
                                                      : "share of what is in a bin";
      shown.population_level = confidence(parse_exact(number.population->alpha, "report"));
    }
    shown.numbers.push_back(std::move(one));
  });
  if (statistic.accuracy && statistic.accuracy->simultaneous && bins) {
    const auto half = [&](double accuracy) {
      return accuracy >= 0 && std::isfinite(accuracy)
                 ? writer.half_width(ShownNumber::of(accuracy).rational())
                 : "";
    };
    shown.half_together = half(*statistic.accuracy->simultaneous);
    shown.half_alone = half(statistic.accuracy->tight);
  }
}

PresentedStatistic present_statistic(const ReportModel& model, const ShownStatistic& statistic,
                                     Digits digits) {
  PresentedStatistic shown;
  shown.shape = shape_of(statistic);
  shown.name = statistic.name;
  shown.title = statistic.title.empty() ? statistic.name : statistic.title;
  shown.kind = statistic.kind;
  shown.unit = statistic.unit;
  shown.columns = statistic.columns;
  shown.group_by = statistic.group_by.value_or("");
  shown.epsilon = short_number(statistic.noise.epsilon.rational());
  if (const std::optional<std::string> alpha = alpha_of(statistic))
    shown.level = confidence(parse_exact(*alpha, "report"));
  shown.together = hold_together(statistic);
  shown.range_note = range_note(statistic);
  shown.row_grid_note = row_grid_note(statistic);
  shown.constant = statistic.constant;
  shown.is_coefficients = statistic.coefficient_alpha.has_value();
  if (statistic.hierarchy) {
    shown.is_quantiles = true;
    const double error = statistic.hierarchy->rank_error;
    if (std::isfinite(error))
      shown.rank_error = decimal_text(ShownNumber::of(error).rational(), 0, Toward::above);
    shown.edges = statistic.hierarchy->edges;
    shown.quantile_note = quantile_note(statistic);
  }
  if (statistic.choice) {
    shown.choice_note = choice_note(statistic);
    for_each_number(model, statistic, [&](const ReportedNumber& number) {
      shown.numbers.push_back(named_number(statistic, number));
    });
    return shown;
  }
  present_numbers(model, statistic, digits, shown);
  if (!shown.together && !shown.level.empty()) {
    const Rational rate = parse_exact(*alpha_of(statistic), "report");
    const Rational misses = Rational(rate * Rational(static_cast<double>(shown.numbers.size())));
    shown.misses = misses < 1 ? "fewer than 1" : "about " + decimal_text(misses, 0, Toward::nearest);
  }
  return shown;
}

// "9", or "2, [0, 20)".
std::string which(const ReportWarning& warning) {
  std::string text = warning.group ? warning.group->text : "";
  const std::string part = warning.bin.value_or(warning.quantile.value_or(warning.coefficient.value_or("")));
  return text + (text.empty() || part.empty() ? "" : ", ") + part;
}

// One for each statistic and kind of warning; of warnings of whole statistics one for each kind.
std::vector<PresentedWarning> present_warnings(const ReportModel& model) {
  std::map<std::string, std::size_t> indices;
  for (std::size_t i = 0; i < model.statistics.size(); ++i) indices.emplace(model.statistics[i].name, i);
  std::vector<PresentedWarning> shown;
  std::map<Beware, std::size_t> of_wholes;
  for (const ReportWarning& warning : model.warnings) {
    const std::size_t statistic = indices.at(warning.statistic);
    const std::string number = which(warning);
    if (number.empty() && warning.more == 0) {
      const auto [known, is_new] = of_wholes.emplace(warning.what, shown.size());
      if (is_new) {
        shown.push_back({{statistic}, warning.what, {}, 0});
      } else {
        shown[known->second].statistics.push_back(statistic);
      }
      continue;
    }
    const bool goes_on = !shown.empty() && shown.back().what == warning.what &&
                         shown.back().statistics.front() == statistic && !shown.back().numbers.empty();
    if (!goes_on) shown.push_back({{statistic}, warning.what, {}, 0});
    if (!number.empty()) shown.back().numbers.push_back(number);
    shown.back().more += warning.more;
  }
  return shown;
}

PresentedNoise present_mechanism(const std::string& name, const ShownNoise& noise) {
  const auto number = [](const std::optional<ShownNumber>& value) {
    return value ? short_number(value->rational()) : "";
  };
  return {name,
          number(noise.scale),
          number(noise.grid),
          number(noise.sensitivity),
          noise.noise + (noise.mode == "exact" || noise.mode.empty() ? "" : ", " + noise.mode),
          short_number(noise.epsilon.rational()),
          noise.loss_bound.empty() ? "" : short_number(parse_exact(noise.loss_bound, "report")),
          noise.loss_basis};
}

std::vector<PresentedNoise> present_noise(const ReportModel& model) {
  std::vector<PresentedNoise> shown;
  for (const ShownStatistic& statistic : model.statistics) {
    if (statistic.constant || statistic.difference) continue;
    for (const ShownPart& part : statistic.parts)
      shown.push_back(present_mechanism(statistic.name + ", " + part.name, part.noise));
    if (statistic.parts.empty()) shown.push_back(present_mechanism(statistic.name, statistic.noise));
  }
  return shown;
}

}  // namespace

bool Presentation::tells_of_population() const {
  return std::any_of(statistics.begin(), statistics.end(),
                     [](const PresentedStatistic& statistic) { return !statistic.population_of.empty(); });
}

Belief belief_after(const Rational& epsilon, int percent_before) {
  const double before = percent_before / 100.0;
  const double odds_against = (1 - before) / before;
  const double loss = to_double_up(epsilon);
  const double most = 1 / (1 + odds_against * std::exp(-loss));
  const double least = std::exp(-loss) / (std::exp(-loss) + odds_against);
  // exp is right to a few units in the last place.
  constexpr double slack = 1e-12;
  const auto percent = [](double share) { return Rational(100 * std::clamp(share, 0.0, 1.0)); };
  return {std::to_string(percent_before),
          percent_text(percent(least * (1 - slack)), Toward::below),
          percent_text(percent(most * (1 + slack)), Toward::above),
          before,
          least,
          most};
}

Presentation present(const ReportModel& model, Digits digits) {
  Presentation shown;
  shown.dataset = model.dataset;
  shown.title = model.title.empty() ? model.dataset : model.title;
  shown.headline = model.headline;
  shown.version = model.version;
  shown.measure = model.measure;
  shown.neighbors = model.neighbors;
  shown.hides_presence = hides_presence(model);
  shown.privacy_unit = model.privacy_unit;
  shown.max_rows_per_unit = model.max_rows_per_unit;
  shown.where = model.where;
  if (model.size)
    shown.size = decimal_text(Rational(Integer(static_cast<unsigned long>(*model.size))), 0, Toward::nearest);
  shown.release = model.release;
  for (const ShownStatistic& statistic : model.statistics) {
    shown.statistics.push_back(present_statistic(model, statistic, digits));
    shown.epsilon += statistic.noise.epsilon.rational();
  }
  for (const ShownKeys& keys : model.keys) {
    shown.keys_notes.push_back(keys_note(model, keys));
    shown.keys_notes.back().pop_back();
    shown.epsilon += keys.epsilon.rational();
    if (keys.left_out) shown.epsilon += keys.left_out->rational();
  }
  shown.warnings = present_warnings(model);
  shown.noise = present_noise(model);
  if (model.certificate) shown.certificate = to_string(model.certificate->bound.rational());
  shown.spent = model.spent.rational();
  shown.remaining = model.remaining.rational();
  return shown;
}

}  // namespace snapdp::release_internal
