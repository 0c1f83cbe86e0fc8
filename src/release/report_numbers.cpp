#include "release/report_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "release/kinds/kind.h"
#include "snapdp/text.h"

namespace snapdp::release_internal {
namespace {

constexpr std::size_t beware_count = static_cast<std::size_t>(Beware::rows_missing) + 1;
// Of one statistic and kind of warning.
constexpr std::size_t most_listed = 10;

std::vector<DecimalBounds> bounds_of(const ShownStatistic& statistic) {
  std::vector<DecimalBounds> bounds;
  for (const auto& [lower, upper] : statistic.bounds)
    bounds.push_back({parse_exact(lower, "report"), parse_exact(upper, "report")});
  return bounds;
}

// What the kind alone says.
NumberRange range_of_kind(const ReportModel& model, const ShownStatistic& statistic) {
  const std::vector<DecimalBounds> bounds = bounds_of(statistic);
  if (statistic.hierarchy || statistic.difference)
    return bounds.empty() ? NumberRange{} : NumberRange{bounds.front().lower, bounds.front().upper};
  const Kind* kind = find_kind(statistic.kind);
  if (kind == nullptr) return {};
  if (kind->has_coefficients()) return {};
  const std::size_t needed = !kind->has_key("bounds") ? 0 : kind->has_two_columns() ? 2 : 1;
  if (bounds.size() < needed) return {};
  return kind->public_range(bounds, model.size, statistic.order.value_or(1));
}

bool is_count(const std::string& kind_name) {
  const Kind* kind = find_kind(kind_name);
  return kind != nullptr && kind->is_count();
}

bool is_count(const ShownStatistic& statistic) {
  return is_count(statistic.kind);
}

std::optional<Rational> finite(double number) {
  if (!std::isfinite(number)) return std::nullopt;
  return ShownNumber::of(number).rational();
}

// What bounds an error; a negative number, as a foreign text may have, bounds none.
std::optional<Rational> error_bound(double accuracy) {
  return accuracy >= 0 ? finite(accuracy) : std::nullopt;
}

// [value - accuracy, value + accuracy], cut at the range.
NumberRange interval_around(const Rational& value, const std::optional<Rational>& accuracy,
                            const NumberRange& range) {
  if (!accuracy) return range;
  const auto inside = [&](Rational end) {
    if (range.lower) end = std::max(end, *range.lower);
    if (range.upper) end = std::min(end, *range.upper);
    return end;
  };
  return {inside(Rational(value - *accuracy)), inside(Rational(value + *accuracy))};
}

// Ends of ranges are computed in more than one way, and differ in their last digits.
class Ends {
 public:
  explicit Ends(const NumberRange& range) : range_(range) {
    if (range.lower && range.upper) tolerance_ = Rational((*range.upper - *range.lower) / 1'000'000'000);
  }
  bool at_lower(const std::optional<Rational>& number) const {
    if (!number || !range_.lower) return !number && !range_.lower;
    return Rational(*number - *range_.lower) <= tolerance_;
  }
  bool at_upper(const std::optional<Rational>& number) const {
    if (!number || !range_.upper) return !number && !range_.upper;
    return Rational(*range_.upper - *number) <= tolerance_;
  }

 private:
  NumberRange range_;
  Rational tolerance_;
};

// The noisy number of rows of an entry that is computed from parts, and how far it may be off.
struct NoisyRows {
  Rational value;
  std::optional<Rational> accuracy;
};

std::optional<NoisyRows> noisy_rows(const ShownStatistic& statistic, const ShownEntry& entry) {
  for (std::size_t i = 0; i < statistic.parts.size(); ++i) {
    const ShownPart& part = statistic.parts[i];
    if (part.name != "count") continue;
    const bool of_group = i < entry.parts.size();
    if (!of_group && !part.value) return std::nullopt;
    NoisyRows rows{(of_group ? entry.parts[i] : *part.value).rational(), {}};
    if (part.accuracy) rows.accuracy = error_bound(part.accuracy->tight);
    return rows;
  }
  return std::nullopt;
}

// The bewares of single numbers.
class Judge {
 public:
  Judge(const ShownStatistic& statistic, const NumberRange& range)
      : statistic_(statistic), range_(range), ends_(range), is_count_(is_count(statistic)) {
    const Kind* kind = find_kind(statistic.kind);
    has_sign_ = statistic.difference || (kind != nullptr && kind->has_sign());
    // Of fewer rows there is no such statistic (from_parts.h).
    if (kind != nullptr) least_rows_ = kind->is_second_moment() ? 2 : 1;
  }

  std::vector<Beware> of(const ReportedNumber& number) const {
    std::vector<Beware> bewares;
    if (statistic_.constant || statistic_.choice) return bewares;
    const auto add = [&](Beware what, bool holds) {
      if (holds) bewares.push_back(what);
    };
    const bool lowest = ends_.at_lower(number.interval.lower);
    const bool highest = ends_.at_upper(number.interval.upper);
    const bool nothing = lowest && highest;
    add(Beware::tells_nothing, nothing);
    const bool in_a_group = statistic_.difference && statistic_.difference->beware;
    if (const std::optional<NoisyRows> rows = noisy_rows(statistic_, *number.entry)) {
      const bool placeholder = rows->value < least_rows_;
      add(Beware::placeholder, placeholder);
      add(Beware::few_rows, !placeholder && rows->accuracy && rows->value < *rows->accuracy);
    }
    if (nothing) {
      add(Beware::in_a_group, in_a_group);
      return bewares;
    }
    const auto& [from, to] = number.interval;
    // Nobody asks for the sign of an intercept.
    const bool has_sign =
        has_sign_ && (number.coefficient == nullptr || number.coefficient->name != intercept_name);
    const bool sign_not_told = has_sign && from && to && *from < 0 && *to > 0;
    if (number.quantile != nullptr) {
      add(Beware::outer_edge, statistic_.hierarchy && (lowest || highest));
      add(Beware::sign_not_told, sign_not_told);
      add(Beware::in_a_group, in_a_group);
      return bewares;
    }
    const bool below_zero = is_count_ && number.value < 0;
    const bool at_lower_bound = range_.lower && number.value == *range_.lower;
    const bool at_upper_bound = range_.upper && number.value == *range_.upper;
    const bool cut_off = (at_lower_bound || at_upper_bound) && !is_count_;  // counts are 0 without noise too
    add(Beware::at_bound, cut_off);
    add(Beware::reaches_lower, lowest && range_.lower && !cut_off && !below_zero);
    add(Beware::reaches_upper, highest && range_.upper && !cut_off);
    add(Beware::sign_not_told, sign_not_told);
    add(Beware::below_zero, below_zero);
    add(Beware::in_a_group, in_a_group);
    return bewares;
  }

 private:
  const ShownStatistic& statistic_;
  NumberRange range_;
  Ends ends_;
  bool is_count_;
  bool has_sign_ = false;
  int least_rows_ = 1;
};

// The least number of rows that there are, from what is public or released: the declared size, or the lower end of a
// count of all rows.
std::optional<Rational> least_rows(const ReportModel& model) {
  if (model.size) return Rational(Integer(static_cast<unsigned long>(*model.size)));
  std::optional<Rational> least;
  for (const ShownStatistic& statistic : model.statistics) {
    if (statistic.kind != "count" || !statistic.all.value || !statistic.accuracy) continue;
    const std::optional<Rational> accuracy = error_bound(statistic.accuracy->tight);
    if (accuracy) least = Rational(statistic.all.value->rational() - *accuracy);
  }
  return least;
}

// How far the sum of the bins may be below the sum of the exact ones, except with probability alpha. The moment
// generating function of Laplace noise of scale b, and of geometric noise, is at most exp(2 b^2 s^2) for s <= 1 / (b
// sqrt 2); hence P(sum of k < -t) <= exp(-t^2 / (8 k b^2)), which is alpha for t = b sqrt(8 k ln(1/alpha)), if k >=
// ln(1/alpha). Rounding to the grid adds half a step a bin.
Rational error_of_sum(const ShownStatistic& statistic, const Rational& of_each) {
  const auto bins = static_cast<double>(statistic.all.bins.size());
  Rational all_off = Rational(of_each * bins);
  const double alpha = to_double_nearest(parse_exact(statistic.accuracy->alpha, "report"));
  const double nats = -std::log(alpha);
  if (!statistic.noise.scale || !statistic.noise.grid || !(bins >= nats)) return all_off;
  const double root = std::sqrt(8 * bins * nats);
  if (!std::isfinite(root)) return all_off;
  const Rational grid = Rational(statistic.noise.grid->rational() * bins / 2);
  return std::min(all_off, Rational(statistic.noise.scale->rational() * Rational(root) + grid));
}

// Whether the bins together hold less than nine tenths of the rows, beyond what noise explains. With a bin for
// everything else none can be missing, and then this never is so.
bool misses_rows(const ShownStatistic& statistic, const std::optional<Rational>& rows) {
  if (statistic.kind != "histogram" || statistic.all.bins.empty() || !rows || !statistic.accuracy)
    return false;
  const std::optional<Rational> of_each =
      error_bound(statistic.accuracy->simultaneous.value_or(statistic.accuracy->tight));
  if (!of_each) return false;
  Rational sum;
  for (const ShownBin& bin : statistic.all.bins) sum += bin.value.value().rational();
  const Rational most = Rational(sum + error_of_sum(statistic, *of_each));
  return most < Rational(*rows * Rational(9, 10));
}

ReportWarning warning_of(const ShownStatistic& statistic, const ReportedNumber& number, Beware what) {
  ReportWarning warning{.statistic = statistic.name, .what = what};
  if (number.entry != &statistic.all) warning.group = number.entry->key;
  if (number.bin != nullptr) warning.bin = number.bin->label;
  if (number.quantile != nullptr && !number.quantile->q.empty()) warning.quantile = number.quantile->q;
  if (number.coefficient != nullptr) warning.coefficient = number.coefficient->name;
  return warning;
}

std::size_t longest_text(const ShownStatistic& statistic,
                         const std::function<std::size_t(const ShownEntry&)>& length) {
  std::size_t longest = length(statistic.all);
  for (const ShownEntry& group : statistic.groups) longest = std::max(longest, length(group));
  return longest;
}

std::size_t numbers_of(const ShownEntry& entry) {
  return std::max({entry.bins.size(), entry.quantiles.size(), entry.chosen.size(), entry.coefficients.size(),
                   std::size_t{1}});
}

// What the kind of the statistic can give cause for.
std::vector<Beware> possible(const ShownStatistic& statistic) {
  if (statistic.constant || statistic.choice) return {};
  std::vector<Beware> bewares;
  for (std::size_t i = 0; i < beware_count; ++i) bewares.push_back(static_cast<Beware>(i));
  std::erase_if(bewares, [&](Beware what) {
    switch (what) {
      case Beware::placeholder:
      case Beware::few_rows:
        return statistic.parts.empty();
      case Beware::outer_edge:
        return !statistic.hierarchy;
      case Beware::at_bound:
      case Beware::reaches_lower:
      case Beware::reaches_upper:
        return statistic.hierarchy.has_value();
      case Beware::rows_missing:
      case Beware::below_zero:
        return !is_count(statistic);
      case Beware::in_a_group:
        return !statistic.difference;
      default:
        return false;
    }
  });
  return bewares;
}

}  // namespace

NumberRange range_of(const ReportModel& model, const ShownStatistic& statistic) {
  NumberRange range = range_of_kind(model, statistic);
  if (statistic.hierarchy || !statistic.noise.range) return range;
  const ShownRange& clamped = *statistic.noise.range;
  // Of the others one is the range of the kind, and one is wider.
  const bool narrows = clamped.choice == "declared" || clamped.choice == "public";
  if (!narrows) return range;
  if (clamped.lower) range.lower = clamped.lower->rational();
  if (clamped.upper) range.upper = clamped.upper->rational();
  // A range may be declared beyond what the kind can be, at one of its ends.
  if (range.lower && range.upper && *range.lower > *range.upper) {
    if (!clamped.lower) range.lower.reset();
    if (!clamped.upper) range.upper.reset();
  }
  return range;
}

bool is_whole(const ShownStatistic& statistic) {
  return is_count(statistic.difference ? statistic.difference->kind : statistic.kind);
}

void for_each_number(const ReportModel& model, const ShownStatistic& statistic,
                     const std::function<void(const ReportedNumber&)>& visit) {
  const NumberRange range = range_of(model, statistic);
  const Judge judge(statistic, range);
  const auto tell = [&](ReportedNumber number) {
    number.bewares = judge.of(number);
    visit(number);
  };
  const auto tell_value = [&](const ShownEntry& entry, const ShownBin* bin, const ShownNumber& value) {
    const std::optional<ShownAccuracy>& accuracy = entry.accuracy ? entry.accuracy : statistic.accuracy;
    ReportedNumber number{.entry = &entry, .bin = bin, .value = value.rational()};
    if (accuracy) {
      number.accuracy =
          error_bound(bin != nullptr ? accuracy->simultaneous.value_or(accuracy->tight) : accuracy->tight);
    }
    number.interval = interval_around(number.value, number.accuracy, range);
    const std::optional<ShownInterval>& population = bin != nullptr ? bin->population : entry.population;
    if (population) number.population = &*population;
    tell(std::move(number));
  };
  const auto tell_entry = [&](const ShownEntry& entry) {
    for (const ShownQuantile& quantile : entry.quantiles) {
      tell({.entry = &entry,
            .quantile = &quantile,
            .value = ShownNumber::of(quantile.value).rational(),
            .interval = {finite(quantile.lower), finite(quantile.upper)}});
    }
    for (const ShownCoefficient& coefficient : entry.coefficients) {
      tell({.entry = &entry,
            .coefficient = &coefficient,
            .value = ShownNumber::of(coefficient.value).rational(),
            .interval = {finite(coefficient.lower), finite(coefficient.upper)}});
    }
    for (std::size_t i = 0; i < entry.chosen.size(); ++i) {
      tell({.entry = &entry,
            .chosen = &entry.chosen[i],
            .value = Rational(Integer(static_cast<unsigned long>(i + 1)))});
    }
    for (const ShownBin& bin : entry.bins) tell_value(entry, &bin, bin.value.value());
    if (entry.value) tell_value(entry, nullptr, *entry.value);
  };
  if (statistic.groups.empty()) tell_entry(statistic.all);
  for (const ShownEntry& group : statistic.groups) tell_entry(group);
}

std::string released_text(const ReportedNumber& number) {
  if (number.quantile != nullptr) return to_string(number.quantile->value);
  if (number.chosen != nullptr) return number.chosen->label;
  if (number.coefficient != nullptr) return to_string(number.coefficient->value);
  return (number.bin != nullptr ? *number.bin->value : *number.entry->value).text;
}

std::optional<std::string> alpha_of(const ShownStatistic& statistic) {
  if (statistic.hierarchy) return statistic.hierarchy->alpha;
  if (statistic.choice) return statistic.choice->alpha;
  if (statistic.coefficient_alpha) return statistic.coefficient_alpha;
  if (statistic.constant) return std::nullopt;
  const ShownEntry& entry = statistic.groups.empty() ? statistic.all : statistic.groups.front();
  if (entry.accuracy) return entry.accuracy->alpha;
  if (statistic.accuracy) return statistic.accuracy->alpha;
  return std::nullopt;
}

bool hold_together(const ShownStatistic& statistic) {
  const ShownEntry& entry = statistic.groups.empty() ? statistic.all : statistic.groups.front();
  return statistic.hierarchy || statistic.choice || statistic.coefficient_alpha || !entry.bins.empty();
}

std::string confidence(const Rational& alpha) {
  const std::string percent = to_string(Rational((1 - alpha) * 100));
  constexpr std::size_t longest = 7;
  if (percent.size() <= longest) return percent + "%";
  return "1 - " + short_number(alpha);
}

std::string keys_note(const ReportModel& model, const ShownKeys& keys) {
  const std::string units = model.privacy_unit ? "privacy units" : "rows";
  std::string names;
  for (const std::string& name : keys.statistics) names += (names.empty() ? "" : ", ") + shown_text(name);
  const std::string price = "for " + model.measure.unit() + " " + short_number(keys.epsilon.rational()) +
                            " and delta " + short_number(keys.delta);
  const std::string law = "by the number of its " + units + ", from " + keys.likely +
                          " on at least every second time, from " + keys.certain + " on always";
  const std::string column = shown_text(keys.column);
  if (!keys.shown) {
    return column + ": a group of " + names + " is shown " + law + ", and at most " +
           std::to_string(keys.most) + " are; " + price + ".\n";
  }
  if (*keys.shown == 0) {
    return column + ": no group is shown, and so nothing of " + names + ". A group is shown " + law + "; " +
           price + ".\n";
  }
  return column + ": " + std::to_string(*keys.shown) + (*keys.shown == 1 ? " group is" : " groups are") +
         " shown of " + names + (keys.cut ? ", the first in order of those that might be" : "") +
         ". A group is shown " + law + "; " + price + ".\n";
}

std::string row_grid_note(const ShownStatistic& statistic) {
  if (statistic.row_grids.empty()) return "";
  std::string spacings;
  for (const std::string& spacing : statistic.row_grids)
    spacings +=
        (spacings.empty() ? "" : " and ") + short_number(Rational(parse_exact(spacing, "row_grid") / 2));
  return shown_text(statistic.name) + ": each cell is put on a grid first, at most " + spacings +
         " from where it was" + (statistic.kind == "mean" ? ", and so is the mean.\n" : ".\n");
}

std::string range_note(const ShownStatistic& statistic) {
  if (!statistic.noise.range) return "";  // reports of older versions, and what has no number of its own
  const ShownRange& range = *statistic.noise.range;
  const std::string name = shown_text(statistic.name) + ": ";
  if (range.choice == "public") return "";
  if (range.choice == "none") return name + "values and outputs are not clamped.\n";
  const auto end = [](const std::optional<ShownNumber>& bound) {
    return to_string(to_double_nearest(bound.value().rational()));
  };
  const std::string ends = !range.lower   ? end(range.upper) + " or less"
                           : !range.upper ? end(range.lower) + " or more"
                                          : "[" + end(range.lower) + ", " + end(range.upper) + "]";
  const std::string clamped = name + "values and outputs are clamped to " + ends;
  if (range.choice == "declared")
    return clamped + ", as declared; accuracies are about the exact value clamped to it.\n";
  const bool many = !statistic.all.bins.empty() || !statistic.groups.empty();
  return clamped + ", the public range widened so that a clamp binds with probability at most " +
         short_number(range.gamma.value().rational()) + (many ? ", each number for itself.\n" : ".\n");
}

std::string choice_note(const ShownStatistic& statistic) {
  const ShownChoice& choice = *statistic.choice;
  const std::string rows = std::isfinite(choice.gap)
                               ? round_up_to_digits(ShownNumber::of(choice.gap).rational(), 3)
                               : "any number of";
  return shown_text(statistic.name) + ": with probability " +
         confidence(parse_exact(choice.alpha, "report")) +
         (choice.count == 1 ? ", the category that is named has at most "
                            : ", each category that is named has at most ") +
         rows + " rows fewer than the most frequent one" +
         (choice.count == 1 ? "" : " that is not named before it") +
         "; how many rows any of them has is not released.\n";
}

std::string quantile_note(const ShownStatistic& statistic) {
  const double error = statistic.hierarchy->rank_error;
  const std::string rows =
      std::isfinite(error) ? round_up_to_digits(ShownNumber::of(error).rational(), 3) : "any number of";
  const std::string every = statistic.groups.empty() ? "every quantile" : "every quantile of every group";
  return shown_text(statistic.name) + ": with probability " +
         confidence(parse_exact(statistic.hierarchy->alpha, "report")) + ", for " + every +
         " at once, the exact one lies in the interval [lower, upper] told with the release; with the same "
         "probability ranks are right to " +
         rows + " rows at the edges around the released one: of N rows, at most q N + " + rows +
         " lie below its bin and at least q N - " + rows +
         " below the end of its bin. Inside a bin rows cannot be told apart.\n";
}

std::vector<ReportWarning> warnings_of(const ReportModel& model) {
  std::vector<ReportWarning> warnings;
  const std::optional<Rational> rows = least_rows(model);
  for (const ShownStatistic& statistic : model.statistics) {
    std::array<std::vector<ReportWarning>, beware_count> found;
    std::array<std::uint64_t, beware_count> more = {};
    for_each_number(model, statistic, [&](const ReportedNumber& number) {
      for (const Beware what : number.bewares) {
        const auto index = static_cast<std::size_t>(what);
        if (found.at(index).size() < most_listed) {
          found.at(index).push_back(warning_of(statistic, number, what));
        } else {
          ++more.at(index);
        }
      }
    });
    if (misses_rows(statistic, rows)) {
      found.at(static_cast<std::size_t>(Beware::rows_missing))
          .push_back({.statistic = statistic.name, .what = Beware::rows_missing});
    }
    for (std::size_t i = 0; i < beware_count; ++i) {
      std::move(found.at(i).begin(), found.at(i).end(), std::back_inserter(warnings));
      if (more.at(i) > 0)
        warnings.push_back({.statistic = statistic.name, .what = static_cast<Beware>(i), .more = more.at(i)});
    }
  }
  return warnings;
}

std::vector<ReportWarning> longest_warnings(const ReportModel& model) {
  // No character is longer in JSON than one that must be written as an escape.
  const auto stand_in = [](std::size_t length) { return std::string(length, '\x01'); };
  std::vector<ReportWarning> warnings;
  for (const ShownStatistic& statistic : model.statistics) {
    ReportWarning longest{.statistic = statistic.name};
    if (!statistic.groups.empty()) {
      longest.group = ShownNumber::quote(
          stand_in(longest_text(statistic, [](const ShownEntry& entry) { return entry.key.text.size(); })));
    }
    const std::size_t bin = longest_text(statistic, [](const ShownEntry& entry) {
      std::size_t length = 0;
      for (const ShownBin& one : entry.bins) length = std::max(length, one.label.size());
      return length;
    });
    const std::size_t quantile = longest_text(statistic, [](const ShownEntry& entry) {
      std::size_t length = 0;
      for (const ShownQuantile& one : entry.quantiles) length = std::max(length, one.q.size());
      return length;
    });
    const std::size_t coefficient = longest_text(statistic, [](const ShownEntry& entry) {
      std::size_t length = 0;
      for (const ShownCoefficient& one : entry.coefficients) length = std::max(length, one.name.size());
      return length;
    });
    if (coefficient > 0) longest.coefficient = stand_in(coefficient);
    if (bin > 0) longest.bin = stand_in(bin);
    if (quantile > 0) longest.quantile = stand_in(quantile);
    const std::size_t entries = std::max(statistic.groups.size(), std::size_t{1});
    const std::size_t numbers =
        entries * numbers_of(statistic.groups.empty() ? statistic.all : statistic.groups.front());
    for (const Beware what : possible(statistic)) {
      longest.what = what;
      warnings.insert(warnings.end(), std::min(numbers, most_listed), longest);
      if (numbers > most_listed)
        warnings.push_back({.statistic = statistic.name, .what = what, .more = numbers});
    }
  }
  return warnings;
}

std::string name_of(Beware what) {
  switch (what) {
    case Beware::tells_nothing:
      return "tells_nothing";
    case Beware::placeholder:
      return "placeholder";
    case Beware::few_rows:
      return "few_rows";
    case Beware::at_bound:
      return "at_bound";
    case Beware::reaches_lower:
      return "reaches_lower";
    case Beware::reaches_upper:
      return "reaches_upper";
    case Beware::outer_edge:
      return "outer_edge";
    case Beware::sign_not_told:
      return "sign_not_told";
    case Beware::below_zero:
      return "below_zero";
    case Beware::in_a_group:
      return "in_a_group";
    case Beware::rows_missing:
      break;
  }
  return "rows_missing";
}

std::string advice(Beware what) {
  switch (what) {
    case Beware::tells_nothing:
      return "the interval is all that was possible beforehand; this tells nothing, so do not quote a number";
    case Beware::placeholder:
      return "too few rows, or none; what was released is a placeholder and no finding";
    case Beware::few_rows:
      return "the noisy number of rows is below its own error; there may be few rows or none";
    case Beware::at_bound:
      return "lies at a bound, where noise was cut off; read \"near the bound\"";
    case Beware::reaches_lower:
      return "the interval reaches the lower bound; read \"at most\" its upper end";
    case Beware::reaches_upper:
      return "the interval reaches the upper bound; read \"at least\" its lower end";
    case Beware::outer_edge:
      return "the interval ends at an outer edge; values beyond the edges count as the edge";
    case Beware::sign_not_told:
      return "the interval holds 0; whether it is above or below is not told";
    case Beware::below_zero:
      return "below 0 because of the noise; left as it is, so that sums stay right";
    case Beware::in_a_group:
      return "the number of one of the two groups has a warning; what it says holds of the difference too";
    case Beware::rows_missing:
      break;
  }
  return "all bins together hold far fewer rows than there are; look for a mistyped category, values outside "
         "the "
         "bins, or a column that was read as another type";
}

std::string message(const ReportWarning& warning) {
  if (warning.more == 0) return advice(warning.what);
  return std::to_string(warning.more) + " more: " + advice(warning.what);
}

}  // namespace snapdp::release_internal
