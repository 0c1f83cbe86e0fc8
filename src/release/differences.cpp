#include "release/differences.h"

#include <algorithm>
#include <cmath>

#include "release/kinds/kind.h"
#include "release/kinds/population.h"

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
  const double shown = to_double_nearest(difference);
  if (std::isfinite(error))
    error = to_double_up(Rational(Rational(error) + abs(Rational(difference - Rational(shown)))));
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

// Of what is released itself: known beforehand.
double accuracy_of_noises(const PlannedStatistic& planned) {
  const PlannedMeasurement& measurement = planned.measurements.front();
  const Rational& alpha = planned.specification.alpha;
  const double each = measurement.measurement.accuracy(half_of(alpha)).tight;
  // Numbers that became 0 have another error, though none that is larger.
  if (planned.specification.nonnegative) return together(each, each);
  return std::min(together(each, each),
                  sum_accuracy(noisy_part(measurement, Dyadic(0)), public_values(planned), 2, alpha));
}

double accuracy_of_parts(const PlannedStatistic& planned, const ShownValues& values, const Groups& groups) {
  if (values.released() == nullptr) return longest_double;
  const auto each = [&](std::size_t group) {
    return kind_of(planned.specification)
        .joint_accuracy(noisy_parts_of(planned, values, group), planned.bounds,
                        half_of(planned.specification.alpha));
  };
  return together(each(groups.first), each(groups.second));
}

// Where the difference of two numbers lies that lie in these intervals.
ShownInterval less(const ShownInterval& first, const ShownInterval& second) {
  return {first.alpha, to_double_down(Rational(Rational(first.lower) - Rational(second.upper))),
          to_double_up(Rational(Rational(first.upper) - Rational(second.lower)))};
}

std::optional<ShownInterval> population_of(const PlannedStatistic& planned, const ShownValues& values,
                                           const Groups& groups) {
  const Rational& alpha = planned.specification.alpha;
  const auto each = [&](std::size_t group) {
    return population_mean_of(planned, values, group, half_of(alpha));
  };
  const std::optional<ShownInterval> first = each(groups.first);
  const std::optional<ShownInterval> second = each(groups.second);
  if (!first || !second) return std::nullopt;
  ShownInterval difference = values.released() == nullptr ? *first : less(*first, *second);
  difference.alpha = to_string(alpha);
  return difference;
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

void add_values(ShownStatistic& difference, const PlannedStatistic& planned, const ShownStatistic& shown,
                const ShownValues& values, const Groups& groups) {
  const std::string alpha = to_string(planned.specification.alpha);
  const ShownEntry& first = shown.groups.at(groups.first);
  const ShownEntry& second = shown.groups.at(groups.second);
  if (planned.hierarchy) {
    if (!values.any()) return;
    const bool stand_in = values.released() == nullptr;
    difference.all.quantiles = {
        stand_in ? first.quantiles.front()
                 : difference_of_medians(first.quantiles.front(), second.quantiles.front())};
    const double farthest = stand_in ? longest_double : farther_end(difference.all.quantiles.front());
    difference.accuracy = ShownAccuracy{alpha, farthest, farthest, {}};
    return;
  }
  const bool of_parts = !planned.specification.split.empty();
  if (of_parts && !values.any()) return;
  double error = of_parts ? accuracy_of_parts(planned, values, groups) : accuracy_of_noises(planned);
  if (values.any()) {
    difference.all.value = values.released() == nullptr
                               ? ShownNumber::of(longest_double)
                               : rounded(Rational(value_of(*first.value) - value_of(*second.value)), error);
    difference.all.population = population_of(planned, values, groups);
  }
  difference.accuracy = ShownAccuracy{alpha, error, error, {}};
}

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

std::vector<ShownStatistic> differences_of(const PlannedStatistic& planned, const ShownStatistic& shown,
                                           const ShownValues& values) {
  std::vector<ShownStatistic> differences;
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
    difference.difference = ShownDifference{shown.name, shown.kind, first.key, second.key};
    difference.bounds = bounds_of(planned);
    difference.noise.epsilon = ShownNumber::quote("0");
    difference.noise.loss_bound = "0";
    difference.noise.certificate = {
        Certificate{}.witness_text(), ShownNumber::quote(Certificate{}.bound_text()), {}, true};
    add_values(difference, planned, shown, values, groups);
  }
  return differences;
}

}  // namespace snapdp::release_internal
