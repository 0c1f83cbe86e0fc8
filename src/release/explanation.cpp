// Plan::explanation(): each statistic as its chain, in plain words.
#include <algorithm>

#include "release/shared/suggestion.h"
#include "snapdp/release/plan.h"

namespace snapdp {

using namespace release_internal;

namespace {

std::string plural(const std::string& number, const std::string& noun) {
  return number + " " + noun + (number == "1" ? "" : "s");
}

// What neighbors are, and how far apart their rows are once the rows are chosen.
std::string rows_text(const Specification& specification) {
  std::string text = "Dataset " + quoted_text(specification.data.dataset) + ", neighbors " +
                     to_string(specification.data.neighbors) + ".\n";
  if (specification.data.privacy_unit) {
    const std::string rows = std::to_string(specification.data.max_rows_per_unit);
    text += "Two datasets are neighbors when one of them has all the rows of one " +
            quoted_text(*specification.data.privacy_unit) + " more than the other.\n";
    if (specification.data.where)
      text += "  Rows are kept where " + shown_text(specification.data.where->text()) +
              "; neighbors stay neighbors.\n";
    text +=
        "  Of the rows of each " + quoted_text(*specification.data.privacy_unit) + " at most " + rows +
        " are kept, by a fixed hash of their content; rows without one are dropped.\n  So neighbors are " +
        plural(rows, "row") + " apart at most (symmetric distance <= " + rows + ").\n";
  } else if (specification.data.neighbors == Neighbors::add_remove) {
    text +=
        "Two datasets are neighbors when one of them has one row more than the other (symmetric distance "
        "1).\n";
    if (specification.data.where)
      text += "  Rows are kept where " + shown_text(specification.data.where->text()) +
              "; neighbors stay neighbors.\n";
  } else {
    text += "Two datasets are neighbors when they have the same number of rows, " +
            std::to_string(*specification.data.size) + ", and one row differs (change-one distance 1).\n";
  }
  return text;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A step as people read it. Descriptions hold bounds exactly, and what takes more than 40 digits as a fraction of powers of
// two; that is shown as the decimal of the double it is.
std::string shown_step(const std::string& description) {
  constexpr std::size_t least_digits = 13;  // of the denominator of such a fraction: it is 2^41 or more
  std::string text;
  for (std::size_t i = 0; i < description.size();) {
    std::size_t bar = i;
    while (bar < description.size() && is_digit(description[bar])) ++bar;
    std::size_t end = bar;
    if (bar > i && end < description.size() && description[end] == '/') ++end;
    while (end > bar && end < description.size() && is_digit(description[end])) ++end;
    if (end > bar + least_digits) {
      const Rational fraction(Integer(description.substr(i, bar - i), 10),
                              Integer(description.substr(bar + 1, end - bar - 1), 10));
      text += to_string(to_double_nearest(fraction));
    } else {
      end = std::max(bar, i + 1);
      text += description.substr(i, end - i);
    }
    i = end;
  }
  return shown_text(text);
}

// What outputs are clamped to, and why where that was chosen.
std::string clamp_text(const Mechanism& mechanism, const RangeChoice& range) {
  const auto& lower = mechanism.lower();
  const auto& upper = mechanism.upper();
  if (!lower && !upper) return range.kind() == RangeChoice::Kind::none ? ", not clamped, as declared" : "";
  std::string text = ", clamped to ";
  if (lower && upper) {
    text += "[" + short_number_down(Rational(*lower)) + ", " + short_number(Rational(*upper)) + "]";
  } else {
    text += lower ? short_number_down(Rational(*lower)) + " or more"
                  : short_number(Rational(*upper)) + " or less";
  }
  if (range.kind() == RangeChoice::Kind::fixed) text += ", as declared; so are the values";
  if (range.gamma())
    text += ", where a clamp binds with probability <= " + short_number(range.gamma()->value());
  return text;
}

// Rounded up, a loss may look larger than what is debited although it is not.
std::string loss_text(const Rational& loss, const Rational& debited) {
  const std::string text = short_number(loss);
  return loss <= debited && parse_exact(text, "loss") > debited ? short_number(debited) : text;
}

std::string words_of(NoiseKind kind) {
  if (kind == NoiseKind::gaussian) return "Gaussian";
  return kind == NoiseKind::geometric ? "two-sided geometric" : "Laplace";
}

// What is proved of it, in the run's measure, and what it costs.
std::string loss_line(const PlannedMeasurement& planned, const std::string& unit, const std::string& basis) {
  return "\n     loss: " + unit + " <= " + loss_text(planned.loss_bound, planned.epsilon) +
         (planned.delta != 0 ? " but for delta " + short_number(planned.delta) : "") + " for neighbors, " +
         basis + "; " + short_number(planned.epsilon) + " is debited\n";
}

std::string choice_text(const PlannedMeasurement& planned, const std::string& unit) {
  const Choice& choice = planned.measurement.choice();
  const std::string candidates =
      std::to_string(planned.measurement.aggregation().output_domain().dimension) + " candidates";
  return "     permute-and-flip: of " + candidates + " " + std::to_string(choice.count()) +
         (choice.count() == 1 ? " is named" : " are named, one after the other") +
         "; nothing of the numbers is released" + loss_line(planned, unit, "proved");
}

std::string noise_text(const PlannedMeasurement& planned, const RangeChoice& range, const std::string& unit) {
  const Mechanism& mechanism = planned.measurement.mechanism();
  std::string text =
      "     " + words_of(mechanism.kind()) + " noise of scale " + short_number(Rational(mechanism.scale()));
  if (mechanism.kind() != NoiseKind::geometric)
    text += ", rounded to multiples of " + short_number(mechanism.grid().spacing().rational());
  return text + clamp_text(mechanism, range) +
         loss_line(planned, unit, mechanism.loss_is_proved() ? "proved" : "claimed by the notes");
}

std::string chain_text(const PlannedMeasurement& planned, const RangeChoice& range, const std::string& unit) {
  std::string text;
  Rational distance = planned.measurement.distance();
  int number = 0;
  const Aggregation& aggregation = planned.measurement.aggregation();
  text += "  0. " + shown_step(describe(Domain(aggregation.input_domain()))) + "\n     neighbors at " +
          to_string(aggregation.input_metric()) + " " + short_number(distance) + "\n";
  for (const ChainStep& step : aggregation.steps()) {
    text += "  " + std::to_string(++number) + ". " + shown_step(step.function) + "\n     -> " +
            shown_step(step.output) + "\n";
    const std::optional<Rational> next = step.relation.tightest(distance);
    if (next) distance = *next;
    text += "     neighbors at " + step.metric + " <= " + (next ? short_number(distance) : "unknown") + "\n";
  }
  const bool chooses = planned.measurement.is_choice();
  text += "  " + std::to_string(++number) + (chooses ? ". choice\n" : ". noise\n");
  return text + (chooses ? choice_text(planned, unit) : noise_text(planned, range, unit));
}

std::string statistic_text(const PlannedStatistic& planned, const std::string& unit) {
  const StatisticSpecification& statistic = planned.specification;
  std::string text = shown_text(statistic.name) + ": " + to_string(statistic.kind);
  for (std::size_t i = 0; i < statistic.columns.size(); ++i)
    text += (i == 0                                                  ? " of "
             : i == 1 && statistic.kind == StatisticKind::regression ? " on "
                                                                     : " and ") +
            quoted_text(statistic.columns[i]);
  if (statistic.group_by) {
    text += " by " + quoted_text(*statistic.group_by) + ", " +
            (statistic.private_keys ? "with private keys; told for one of them"
                                    : plural(std::to_string(planned.groups), "public key"));
    if (const std::optional<GroupLimit>& limit = statistic.groups_per_unit) {
      text += "; of the rows of a unit those in at most " +
              plural(std::to_string(limit->max_groups), "group") + ", at most " +
              plural(std::to_string(limit->max_rows), "row") + " in each";
    }
  }
  text += "\n";
  if (planned.constant) {
    return text + "  a public constant, " + short_number(planned.constant->rational()) +
           ": neighbors agree in it, so it is released exactly and costs nothing\n";
  }
  for (const PlannedMeasurement& measurement : planned.measurements) {
    if (!measurement.part.empty()) text += "  part " + measurement.part + ":\n";
    text += chain_text(measurement, statistic.range, unit);
  }
  if (!statistic.split.empty())
    text += "  then the parts are put together: post-processing, which costs nothing\n";
  if (statistic.nonnegative)
    text += "  then negative results become 0: post-processing, which costs nothing\n";
  if (!statistic.differences.empty())
    text += "  then " + plural(std::to_string(statistic.differences.size()), "difference") +
            " of groups: post-processing, which costs nothing\n";
  return text;
}

std::string keys_text(const PlannedKeys& planned, const Specification& specification) {
  const KeysSpecification& keys = planned.specification;
  const std::string units = specification.data.privacy_unit ? "privacy units" : "rows";
  std::string text = "keys of " + quoted_text(keys.column) +
                     ": which groups are shown, chosen before their noise is drawn\n";
  text += "  1. how many " + units + " each group has";
  if (specification.data.privacy_unit)
    text += "; a unit counts in at most " + plural(std::to_string(keys.max_groups), "group");
  text += "\n  2. partition selection: shown with the greatest probability that the loss allows, from " +
          planned.likely.get_str() + " " + units + " on at least one half, from " +
          planned.certain.get_str() + " on 1\n";
  if (keys.min_units > 1)
    text += "     never with fewer than " + std::to_string(keys.min_units) + " " + units + "\n";
  return text + "     loss at most epsilon " + short_number(keys.epsilon) + ", delta " +
         short_number(keys.delta) + " for a " + (specification.data.privacy_unit ? "unit" : "row") +
         " (proved)\n";
}

}  // namespace

std::string Plan::explanation() const {
  std::string text = rows_text(specification_) + "\n";
  const PrivacyBudget& budget = specification_.budget;
  const std::string unit = unit_of(budget.measure);
  for (const PlannedStatistic& statistic : statistics_) text += statistic_text(statistic, unit) + "\n";
  for (const PlannedKeys& keys : private_keys_) text += keys_text(keys, specification_) + "\n";
  return text + "Together (sequential composition): " + in_words(budget.measure, cost_) + " of the " +
         (budget.measure == PrivacyMeasure::pure ? short_number_down(budget.amount.value)
                                                 : in_words_down(budget.measure, budget.limit())) +
         " that [budget] allows.\n";
}

}  // namespace snapdp
