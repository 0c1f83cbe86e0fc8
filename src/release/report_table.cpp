// The tables of plans and reports.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "release/kinds/kind.h"
#include "release/report_model.h"
#include "release/shared/text_table.h"
#include "snapdp/text.h"

namespace snapdp::release_internal {
namespace {

// How an accuracy with its probability is written.
std::string confidence(const Rational& alpha) {
  const std::string percent = to_string(Rational((1 - alpha) * 100));
  constexpr std::size_t longest = 7;
  if (percent.size() <= longest) return percent + "%";
  return "1 - " + short_number(alpha);
}

std::string three_digits(double value) {
  return round_up_to_digits(ShownNumber::of(value).rational(), 3);
}

std::string plus_minus(double accuracy) {
  return "\xc2\xb1" + (std::isfinite(accuracy) ? three_digits(accuracy) : "unbounded");
}

// A number with the digits that the grid or, for a quotient of two parts, the accuracy tells apart.
std::string value_cell(const std::optional<ShownNumber>& grid, const std::optional<ShownAccuracy>& accuracy,
                       const ShownNumber& value) {
  const Rational number = value.rational();
  if (grid) return grid->rational() == 0 ? to_string(number) : at_grid_resolution(number, grid->rational());
  if (!accuracy) throw std::invalid_argument("a value with neither grid nor accuracy");
  if (!std::isfinite(accuracy->tight)) return to_string(number);
  return at_grid_resolution(number, ShownNumber::of(accuracy->tight).rational() / 100);
}

// The rate at which what is said about the errors of a statistic may fail; nothing when nothing is said.
std::optional<std::string> alpha_of(const ShownStatistic& statistic) {
  if (statistic.hierarchy) return statistic.hierarchy->alpha;
  const std::vector<ShownEntry>& groups = statistic.groups;
  for (const std::optional<ShownAccuracy>* accuracy :
       {groups.empty() ? &statistic.all.accuracy : &groups.front().accuracy, &statistic.accuracy}) {
    if (*accuracy) return (*accuracy)->alpha;
  }
  return std::nullopt;
}

bool is_simultaneous(const std::optional<ShownAccuracy>& accuracy) {
  return accuracy && accuracy->simultaneous;
}

// An end of an interval of values, as exactly as the JSON has it.
std::string end_text(double end) {
  std::string text = ShownNumber::of(end).text;
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

// A quantile, with the digits that the farther end of its interval makes worth showing.
std::string quantile_cell(const ShownQuantile& quantile) {
  const auto exact = [](double number) { return ShownNumber::of(number).rational(); };
  const Rational value = exact(quantile.value);
  const Rational farther =
      std::max(Rational(value - exact(quantile.lower)), Rational(exact(quantile.upper) - value));
  return at_grid_resolution(value, Rational(farther / 100));
}

// What was chosen as the range of a statistic; its own public range goes without saying.
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

// What is certain of quantiles: nothing about ranks inside a bin, where rows cannot be told apart.
std::string quantile_note(const ShownStatistic& statistic) {
  const double error = statistic.hierarchy->rank_error;
  const std::string rows = std::isfinite(error) ? three_digits(error) : "any number of";
  const std::string every = statistic.groups.empty() ? "every quantile" : "every quantile of every group";
  return shown_text(statistic.name) + ": with probability " +
         confidence(parse_exact(statistic.hierarchy->alpha, "report")) + ", for " + every +
         " at once, the exact one lies in the interval [lower, upper] told with the\n  release; with the "
         "same "
         "probability ranks are right to " +
         rows + " rows at the edges around the released one: of N rows,\n  at most q N + " + rows +
         " lie below its bin and at least q N - " + rows +
         " below the end of its bin. Inside a bin rows cannot be told apart.\n";
}

// What the rows say of the population that they are a sample of: another interval, apart from that of the rows.
std::string population_note(const ShownStatistic& statistic) {
  constexpr int digits = 4;
  std::string text;
  const auto add = [&](const std::string& what, const std::optional<ShownInterval>& interval) {
    if (!interval) return;
    text += (text.empty() ? "" : "; ") + what + "[" +
            round_down_to_digits(Rational(interval->lower), digits) + ", " +
            round_up_to_digits(Rational(interval->upper), digits) + "]";
  };
  const auto add_entry = [&](const std::string& key, const ShownEntry& entry) {
    add(key, entry.population);
    for (const ShownBin& bin : entry.bins) add(key + shown_text(bin.label) + " ", bin.population);
  };
  add_entry("", statistic.all);
  for (const ShownEntry& group : statistic.groups) add_entry(shown_text(group.key.text) + " ", group);
  if (text.empty()) return "";
  return shown_text(statistic.name) + ": in the population that the rows are a sample of, the " +
         (statistic.kind == "mean" ? "mean" : "share") + " lies in " + text +
         ", each with the same probability;\n  that includes the error of sampling.\n";
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " and ") + text;
  return all;
}

// Of which data an accuracy is, in plans, or why there is none.
std::string accuracy_note(const ShownStatistic& statistic) {
  if (const auto& expected = statistic.expected) {
    return shown_text(statistic.name) + ": the accuracy is for about such data as are guessed, " +
           std::to_string(expected->rows) + " rows" +
           (expected->deviations.empty() ? "" : ", deviation " + joined(expected->deviations)) + ", mean " +
           (expected->means.empty() ? "in the middle of the bounds" : joined(expected->means)) +
           "; the report tells the one that is proved.\n";
  }
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

  std::string report() const {
    TextTable table({{"statistic", TextTable::Align::left},
                     {"value", TextTable::Align::right},
                     {header("accuracy"), TextTable::Align::right},
                     {header("all at once"), TextTable::Align::right},
                     {"epsilon", TextTable::Align::right}});
    for (const ShownStatistic& statistic : model_.statistics) {
      add_entry(table, statistic, statistic.all, statistic.name, "  ",
                short_number(statistic.noise.epsilon.rational()));
      for (const ShownEntry& group : statistic.groups)
        add_entry(table, statistic, group, "  " + group.key.text, "    ", "");
    }
    return table.to_string(style_);
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
      text += population_note(statistic);
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
  // The row of a statistic or a group, and those of its bins or quantiles.
  void add_entry(TextTable& table, const ShownStatistic& statistic, const ShownEntry& entry,
                 const std::string& label, const std::string& indent, const std::string& epsilon) const {
    const std::optional<ShownNumber>& grid = statistic.noise.grid;
    // What is computed from parts has an accuracy of its own, in each group; others have that of the statistic.
    const bool is_group = &entry != &statistic.all;
    const std::optional<ShownAccuracy>& accuracy =
        entry.accuracy || is_group ? entry.accuracy : statistic.accuracy;
    std::string value;
    const ShownQuantile* median = entry.is_median() ? &entry.quantiles.front() : nullptr;
    if (median != nullptr) value = quantile_cell(*median);
    if (entry.value) value = value_cell(grid, accuracy, *entry.value);
    table.add({label, value, median != nullptr ? interval_cell(statistic, *median) : accuracy_cell(accuracy),
               simultaneous_cell(accuracy), epsilon});
    for (const ShownQuantile& quantile : entry.quantiles) {
      if (median == nullptr)
        table.add({indent + quantile.q, quantile_cell(quantile), interval_cell(statistic, quantile)});
    }
    for (const ShownBin& bin : entry.bins)
      table.add({indent + bin.label, value_cell(grid, statistic.accuracy, bin.value.value())});
  }

  std::string interval_cell(const ShownStatistic& statistic, const ShownQuantile& quantile) const {
    return "[" + end_text(quantile.lower) + ", " + end_text(quantile.upper) + "]" +
           level(statistic.hierarchy.value().alpha);
  }

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

std::string report_table(const ReportModel& model, const TableStyle& style) {
  const StatisticTable table(model, style);
  return (model.release ? "Release " + std::to_string(*model.release) : "Statistics") + " of " +
         data_line(model) + "\n\n" + table.report() + "\n" + table.notes() + "Ledger: epsilon " +
         short_number(model.spent.rational()) + " spent, " + short_number_down(model.remaining.rational()) +
         " remaining.\n";
}

}  // namespace snapdp::release_internal
