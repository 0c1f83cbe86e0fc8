// The table of plans.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "release/kinds/kind.h"
#include "release/report_model.h"
#include "release/report_numbers.h"
#include "release/shared/text_table.h"
#include "snapdp/text.h"

namespace snapdp::release_internal {
namespace {

std::string three_digits(double value) {
  return round_up_to_digits(ShownNumber::of(value).rational(), 3);
}

std::string plus_minus(double accuracy) {
  return "\xc2\xb1" + (std::isfinite(accuracy) ? three_digits(accuracy) : "unbounded");
}

bool is_simultaneous(const std::optional<ShownAccuracy>& accuracy) {
  return accuracy && accuracy->simultaneous;
}

// Why there is no accuracy, in plans.
std::string accuracy_note(const ShownStatistic& statistic) {
  const ShownEntry& any = statistic.groups.empty() ? statistic.all : statistic.groups.front();
  if (statistic.accuracy || any.value) return "";
  bool by_size = statistic.groups.empty();
  for (const Kind* kind : all_kinds())
    by_size = by_size && (kind->name() != statistic.kind || kind->no_planned_accuracy().empty());
  return shown_text(statistic.name) +
         ": how far it may be off depends on its noisy parts and is told with the release" +
         (by_size ? ", or here with expected_size.\n" : ".\n");
}

// Plans have no values, but show the noise instead.
class StatisticTable {
 public:
  StatisticTable(const ReportModel& model, const TableStyle& style) : model_(model), style_(style) {
    for (const ShownStatistic& statistic : model.statistics) {
      const std::optional<std::string> alpha = alpha_of(statistic);
      if (!alpha) continue;
      same_alpha_ = same_alpha_ && (alpha_.empty() || *alpha == alpha_);
      alpha_ = *alpha;
      shows_accuracy_ = shows_accuracy_ || !statistic.hierarchy;
    }
  }

  std::string plan() const {
    TextTable table({{"statistic", TextTable::Align::left},
                     {"kind", TextTable::Align::left},
                     {"epsilon", TextTable::Align::right},
                     {"sensitivity", TextTable::Align::right},
                     {"noise scale", TextTable::Align::right},
                     {"grid", TextTable::Align::right},
                     {header("accuracy"), TextTable::Align::right},
                     {header("all at once"), TextTable::Align::right}});
    const auto row = [&](const std::string& name, const std::string& kind, const ShownNoise& noise,
                         const std::optional<ShownAccuracy>& accuracy) {
      std::vector<std::string> cells = {name, kind, short_number(noise.epsilon.rational())};
      for (const std::optional<ShownNumber>* number : {&noise.sensitivity, &noise.scale, &noise.grid})
        cells.push_back(*number ? short_number((*number)->rational()) : "");
      cells.push_back(accuracy_cell(accuracy));
      cells.push_back(simultaneous_cell(accuracy));
      table.add(std::move(cells));
    };
    for (const ShownStatistic& statistic : model_.statistics) {
      const auto counted = [](std::size_t count, const std::string& noun) {
        return count == 0 ? "" : ", " + std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
      };
      row(statistic.name,
          statistic.kind + counted(statistic.all.bins.size(), "bin") +
              counted(statistic.groups.size(), "group"),
          statistic.noise, statistic.accuracy);
      // Their accuracies are at another alpha.
      for (const ShownPart& part : statistic.parts) row("  " + part.name, "", part.noise, std::nullopt);
    }
    return table.to_string(style_);
  }

  // What the noise does to each number, in the unit of the statistic.
  std::string utility() const {
    TextTable table({{"utility", TextTable::Align::left},
                     {"tight", TextTable::Align::right},
                     {"conservative", TextTable::Align::right},
                     {"Laplace", TextTable::Align::right},
                     {"worst bias", TextTable::Align::right},
                     {"expected bias", TextTable::Align::right},
                     {"P(clamped)", TextTable::Align::right}});
    bool empty = true;
    const auto row = [&](const std::string& name, const std::optional<ShownUtility>& utility) {
      if (!utility) return;
      constexpr double unknown = std::numeric_limits<double>::infinity();
      const ShownUtility::Law law = utility->law.value_or(ShownUtility::Law{});
      std::vector<std::string> cells = {name};
      for (const double number : {utility->tight, utility->conservative, utility->laplace, law.worst_bias,
                                  utility->expected_bias.value_or(unknown), law.binding_probability}) {
        cells.push_back(std::isfinite(number) ? round_up_to_digits(Rational(number), 3) : "");
      }
      table.add(std::move(cells));
      empty = false;
    };
    for (const ShownStatistic& statistic : model_.statistics) {
      row(statistic.name, statistic.utility);
      if (!statistic.parts.empty() && !statistic.utility) table.add({statistic.name});
      for (const ShownPart& part : statistic.parts) row("  " + part.name, part.utility);
    }
    return empty ? "" : table.to_string(style_) + "\n";
  }

  // What the columns mean, one line for each thing that occurs.
  std::string notes() const {
    const auto any = [&](const auto& holds) {
      return std::any_of(model_.statistics.begin(), model_.statistics.end(), holds);
    };
    std::string text;
    if (shows_accuracy_) {
      text += "accuracy: the released value lies this near the exact one with probability " +
              (same_alpha_ ? confidence(parse_exact(alpha_, "alpha")) : "as shown") + ".\n";
    }
    if (any([](const ShownStatistic& statistic) {
          return is_simultaneous(statistic.accuracy) || is_simultaneous(statistic.all.accuracy) ||
                 (!statistic.groups.empty() && is_simultaneous(statistic.groups.front().accuracy));
        })) {
      text += "all at once: with the same probability all bins and groups of a statistic are this near.\n";
    }
    if (any([](const ShownStatistic& statistic) { return statistic.utility.has_value(); })) {
      text +=
          "utility: tight is the accuracy above, conservative that of the notes, Laplace that of unrounded "
          "noise;\n"
          "  worst bias and P(clamped), that a bound binds, are for the worst value that the statistic may "
          "have.\n";
    }
    if (any([](const ShownStatistic& statistic) {
          return statistic.utility && statistic.utility->expected_bias;
        }))
      text += "expected bias: the mean of E[out] - value over the guesses, which nothing else depends on.\n";
    if (model_.certificate) {
      text += "certificate: the privacy loss of these statistics together is at most " +
              short_number(model_.certificate->bound.rational()) + ".\n";
    }
    for (const ShownStatistic& statistic : model_.statistics) {
      text += range_note(statistic);
      if (statistic.constant) {
        text += shown_text(statistic.name) +
                ": a public constant; released exactly, without noise and without cost.\n";
      } else {
        text += statistic.hierarchy ? quantile_note(statistic) : accuracy_note(statistic);
      }
    }
    return text;
  }

 private:
  // No "\xc2\xb1" stands without its level: in the header when it is the same everywhere, else behind each number.
  std::string header(const std::string& title) const {
    return same_alpha_ && !alpha_.empty() ? title + " " + confidence(parse_exact(alpha_, "alpha")) : title;
  }

  std::string accuracy_cell(const std::optional<ShownAccuracy>& accuracy) const {
    return accuracy ? plus_minus(accuracy->tight) + level(accuracy->alpha) : "";
  }

  std::string simultaneous_cell(const std::optional<ShownAccuracy>& accuracy) const {
    return is_simultaneous(accuracy) ? plus_minus(*accuracy->simultaneous) + level(accuracy->alpha) : "";
  }

  // The probability that a cell holds with, where the header does not tell it for all.
  std::string level(const std::string& alpha) const {
    return same_alpha_ ? "" : " (" + confidence(parse_exact(alpha, "report")) + ")";
  }

  const ReportModel& model_;
  const TableStyle& style_;
  std::string alpha_;
  bool same_alpha_ = true;
  bool shows_accuracy_ = false;  // not intervals of quantiles alone
};

std::string data_line(const ReportModel& model) {
  return shown_text(model.dataset + " (" + model.neighbors + " neighbors" +
                    (model.privacy_unit ? ", unit " + *model.privacy_unit + ", at most " +
                                              std::to_string(model.max_rows_per_unit) + " rows each"
                                        : "") +
                    (model.where ? ", where " + *model.where : "") +
                    (model.size ? ", " + std::to_string(*model.size) + " rows" : "") + ")");
}

// One line for each change that would save something. An epsilon that stays as it is goes without saying.
std::string savings_text(const ReportModel& model) {
  std::string text;
  for (const Saving& saving : model.savings) {
    text +=
        shown_text(saving.statistic) + ": " + saving.change + " would give " + plus_minus(saving.accuracy);
    for (const ShownStatistic& statistic : model.statistics) {
      if (statistic.name != saving.statistic) continue;
      if (const std::optional<std::string> alpha = alpha_of(statistic))
        text += " (" + confidence(parse_exact(*alpha, "alpha")) + ")";
      if (statistic.noise.epsilon.rational() != saving.epsilon)
        text += " for epsilon " + short_number(saving.epsilon);
    }
    if (saving.exact) {
      text += ", exact with probability " + three_digits(*saving.exact) + " instead of " +
              three_digits(*saving.exact_now);
    }
    text += ".\n";
  }
  return text.empty() ? "" : "What other choices would give:\n" + text + "\n";
}

}  // namespace

std::string plan_table(const ReportModel& model, const TableStyle& style) {
  const StatisticTable table(model, style);
  return "Plan for " + data_line(model) + "\n\n" + table.plan() + "\n" + table.utility() +
         savings_text(model) + table.notes() + "This run costs epsilon " + short_number(model.planned) +
         " of the " + short_number_down(model.budget) + " that [budget] allows.\n";
}

}  // namespace snapdp::release_internal
