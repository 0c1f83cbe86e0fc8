#include "release/differences.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "framework/shared/memory_reserve.h"
#include "release/kinds/cells.h"
#include "release/kinds/kind.h"
#include "release/kinds/population.h"
#include "release/report_numbers.h"

namespace snapdp::release_internal {
namespace {

using Groups = std::pair<std::size_t, std::size_t>;

// Each of the two groups gets half of alpha, unless what is released of them holds together anyway.
Rational half_of(const Rational& alpha) {
  return Rational(alpha / 2);
}

Rational value_of(const ShownNumber& number) {
  const Rational value = number.rational();
  return number.quoted ? value : Rational(to_double_nearest(value));  // the text is the double's shortest one
}

// As a reader's double has it; what rounding moves it by is added to `error`.
ShownNumber rounded(const Rational& difference, double& error) {
  static const Rational largest(Integer(1) << 53);
  if (difference.get_den() == 1 && abs(difference) <= largest) return {difference.get_num().get_str()};
  const double shown = to_double_nearest(difference);  // finite: see check_differences()
  const Rational moved = abs(Rational(difference - Rational(shown)));
  if (std::isfinite(error)) error = to_double_up(Rational(Rational(error) + moved));
  return ShownNumber::of(shown);
}

// How far the difference of two groups may be off, with what a group's own accuracy is except with half of alpha.
double together(double first, double second) {
  if (!std::isfinite(first) || !std::isfinite(second)) return std::numeric_limits<double>::infinity();
  return to_double_up(Rational(Rational(first) + Rational(second)));
}

OutputRange public_values(const PlannedStatistic& planned) {
  OutputRange values;
  if (planned.least) values.lower = to_double_down(*planned.least);
  if (planned.greatest) values.upper = to_double_up(*planned.greatest);
  return values;
}

// Of what is released itself: known beforehand, the same for all pairs.
double accuracy_of_noises(const PlannedStatistic& planned) {
  const PlannedMeasurement& measurement = planned.measurements.front();
  const Rational& alpha = planned.specification.alpha;
  const double each = measurement.measurement.accuracy(half_of(alpha)).tight;
  // Numbers that became 0 have another error, though none that is larger.
  if (planned.specification.nonnegative) return together(each, each);
  return std::min(together(each, each),
                  sum_accuracy(noisy_part(measurement, Dyadic(0)), public_values(planned), 2, alpha));
}

// Where the difference of two numbers lies that lie in these intervals.
ShownInterval less(const ShownInterval& first, const ShownInterval& second) {
  return {first.alpha, to_double_down(Rational(Rational(first.lower) - Rational(second.upper))),
          to_double_up(Rational(Rational(first.upper) - Rational(second.lower)))};
}

// The intervals of all groups' medians hold together, except with alpha.
ShownQuantile difference_of_medians(const ShownQuantile& first, const ShownQuantile& second) {
  const ShownInterval interval = less({"", first.lower, first.upper}, {"", second.lower, second.upper});
  return {"", to_double_nearest(Rational(Rational(first.value) - Rational(second.value))), interval.lower,
          interval.upper};
}

double farther_end(const ShownQuantile& quantile) {
  const Rational value(quantile.value);
  return to_double_up(
      std::max(Rational(Rational(quantile.upper) - value), Rational(value - Rational(quantile.lower))));
}

// What is computed for groups, each once however many pairs it is in.
class Comparison {
 public:
  Comparison(const PlannedStatistic& planned, const ShownStatistic& shown, const ShownValues& values)
      : planned_(planned), shown_(shown), values_(values), of_parts_(!planned.specification.split.empty()) {
    if (!planned.hierarchy && !of_parts_) accuracy_ = accuracy_of_noises(planned);
  }

  void add_values(ShownStatistic& difference, const Groups& groups) {
    const std::string alpha = to_string(planned_.specification.alpha);
    const ShownEntry& first = shown_.groups.at(groups.first);
    const ShownEntry& second = shown_.groups.at(groups.second);
    if (stand_ins()) {
      if (planned_.hierarchy) {
        difference.all.quantiles = {first.quantiles.front()};
      } else {
        difference.all.value = ShownNumber::of(longest_double);
      }
      difference.all.population = first.population;
      difference.accuracy = ShownAccuracy{alpha, longest_double, longest_double, {}};
    } else if (planned_.hierarchy) {
      if (!values_.any()) return;
      const ShownQuantile median = difference_of_medians(first.quantiles.front(), second.quantiles.front());
      difference.all.quantiles = {median};
      difference.accuracy = ShownAccuracy{alpha, farther_end(median), farther_end(median), {}};
    } else {
      if (of_parts_ && !values_.any()) return;
      double error = of_parts_ ? together(of(groups.first).accuracy, of(groups.second).accuracy) : accuracy_;
      if (values_.any()) {
        difference.all.value = rounded(Rational(value_of(*first.value) - value_of(*second.value)), error);
        difference.all.population = population(groups);
      }
      difference.accuracy = ShownAccuracy{alpha, error, error, {}};
    }
  }

 private:
  // Each except with half of alpha.
  struct Group {
    double accuracy = 0;  // of what is computed from parts
    std::optional<ShownInterval> population;
  };

  bool stand_ins() const { return values_.are_stand_ins(); }

  const Group& of(std::size_t group) {
    const auto [known, is_new] = groups_.try_emplace(group);
    if (!is_new) return known->second;
    const Rational alpha = half_of(planned_.specification.alpha);
    if (of_parts_)
      known->second.accuracy =
          kind_of(planned_.specification)
              .joint_accuracy(noisy_parts_of(planned_, values_, group), planned_.bounds, alpha);
    known->second.population = population_mean_of(planned_, values_, group, alpha);
    return known->second;
  }

  std::optional<ShownInterval> population(const Groups& groups) {
    const std::optional<ShownInterval>& first = of(groups.first).population;
    const std::optional<ShownInterval>& second = of(groups.second).population;
    if (!first || !second) return std::nullopt;
    ShownInterval difference = less(*first, *second);
    difference.alpha = to_string(planned_.specification.alpha);
    return difference;
  }

  const PlannedStatistic& planned_;
  const ShownStatistic& shown_;
  const ShownValues& values_;
  bool of_parts_;
  double accuracy_ = 0;  // of what is released itself
  std::map<std::size_t, Group> groups_;
};

// The width of the range that one group's number lies in, on either side of 0.
std::vector<std::pair<std::string, std::string>> bounds_of(const PlannedStatistic& planned) {
  std::optional<Rational> width;
  if (planned.hierarchy) {
    width = planned.bounds.front().width().rational();
  } else if (planned.least && planned.greatest) {
    width = *planned.greatest - *planned.least;
  }
  if (!width) return {};
  return {{to_string(Rational(-*width)), to_string(*width)}};
}

std::string words_of(const ShownEntry& group) {
  return group.words.empty() ? group.key.text : group.words;
}

}  // namespace

void check_differences(const PlannedStatistic& planned) {
  if (planned.specification.differences.empty()) return;
  Rational largest;
  if (planned.hierarchy) {
    largest = planned.bounds.front().width().rational();
  } else if (!planned.specification.split.empty()) {
    largest = *planned.greatest - *planned.least;
  } else {
    const Measurement& measurement = planned.measurements.front().measurement;
    const Grid grid = measurement.mechanism().grid();
    largest = Rational(framework_internal::most_steps(measurement)) * grid.spacing().rational();
  }
  constexpr unsigned most = 1000;
  if (largest <= Rational(Integer(1) << most)) return;
  refuse("differences",
         ": the numbers of the groups may be beyond 2^1000, and their differences beyond the largest "
         "double; declare tighter bounds, or another unit");
}

void mark_differences(ReportModel& model) {
  const ShownStatistic* of = nullptr;
  std::set<std::string> groups;
  for (ShownStatistic& statistic : model.statistics) {
    if (!statistic.difference) {
      of = &statistic;
      groups.clear();
      continue;
    }
    if (of != nullptr) {
      for_each_number(model, *of, [&](const ReportedNumber& number) {
        const auto& bewares = number.bewares;
        const bool of_value = std::any_of(bewares.begin(), bewares.end(), [](Beware what) {
          return what != Beware::sign_not_told && what != Beware::below_zero;
        });
        if (of_value) groups.insert(number.entry->key.text);
      });
      of = nullptr;
    }
    ShownDifference& difference = *statistic.difference;
    difference.beware = groups.contains(difference.first.text) || groups.contains(difference.second.text);
  }
}

std::vector<ShownStatistic> differences_of(const PlannedStatistic& planned, const ShownStatistic& shown,
                                           const ShownValues& values) {
  std::vector<ShownStatistic> differences;
  if (planned.specification.differences.empty()) return differences;
  Comparison comparison(planned, shown, values);
  for (const Groups& groups : planned.specification.differences) {
    ShownStatistic& difference = differences.emplace_back();
    const ShownEntry& first = shown.groups.at(groups.first);
    const ShownEntry& second = shown.groups.at(groups.second);
    difference.name = planned.specification.name_of_difference(groups);
    if (!shown.title.empty())
      difference.title = shown.title + ": " + words_of(first) + " less " + words_of(second);
    difference.kind = difference_kind;
    difference.columns = shown.columns;
    difference.unit = shown.unit;
    difference.difference =
        ShownDifference{shown.name, shown.kind, first.key, second.key, values.are_stand_ins()};
    difference.bounds = bounds_of(planned);
    difference.noise.epsilon = ShownNumber::quote("0");
    difference.noise.loss_bound = "0";
    difference.noise.certificate = {
        Certificate{}.witness_text(), ShownNumber::quote(Certificate{}.bound_text()), {}, true};
    comparison.add_values(difference, groups);
  }
  return differences;
}

}  // namespace snapdp::release_internal
