// Plans for terminals, and as plain text: what is hidden, what each statistic costs and how accurate it will be, and whether
// it fits. Bars are an addition: every row reads the same without them.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "release/report_model.h"
#include "release/report_numbers.h"
#include "release/report_words.h"
#include "release/shared/text_table.h"
#include "release/shown_digits.h"
#include "release/terminal.h"
#include "snapdp/text.h"

namespace snapdp::release_internal {
namespace {

using Marks = TerminalStyle::Marks;

std::string three_digits(double value) {
  return round_up_to_digits(ShownNumber::of(value).rational(), 3);
}

// Two digits, upward: what is planned may be off by that much.
std::string accuracy_text(double accuracy) {
  if (!std::isfinite(accuracy)) return "unbounded";
  const Rational exact = ShownNumber::of(accuracy).rational();
  return "\xc2\xb1" + (exact > 0 ? decimal_text(exact, exponent_of(exact) - 1, Toward::above) : "0");
}

// What readers cannot find out.
std::string hidden(const ReportModel& model) {
  if (!hides_presence(model)) return "what any one row says";
  if (!model.privacy_unit) return "whether any one row is in the data";
  return "whether any one person (column " + *model.privacy_unit + ", up to " +
         std::to_string(model.max_rows_per_unit) + (model.max_rows_per_unit == 1 ? " row" : " rows") +
         ") is in the data";
}

class PlanTable {
 public:
  PlanTable(const ReportModel& model, const PlanView& view)
      : model_(model), view_(view), style_(view.style), marks_(marks_of(view.style.marks)) {
    for (const ShownStatistic& statistic : model.statistics) {
      const std::optional<std::string> alpha = alpha_of(statistic);
      if (!alpha) continue;
      same_alpha_ = same_alpha_ && (alpha_.empty() || *alpha == alpha_);
      alpha_ = *alpha;
    }
  }

  std::string text() const {
    return heading() + "\n" + costs() + "\n" + budget() + "\n" + belief() + warnings() + notes() +
           (view_.utility ? "\n" + noise() + "\n" + utility() + savings() : "");
  }

 private:
  bool has_bars() const { return style_.marks != Marks::none; }
  std::string epsilon() const {
    return style_.marks == Marks::utf8 ? model_.measure.letter() : model_.measure.unit();
  }
  std::string paragraph(const std::string& text) const {
    return wrapped(shown_text(text), style_.width, "  ");
  }

  std::string heading() const {
    const std::string first = "Plan for " + shown_text(model_.title.empty() ? model_.dataset : model_.title);
    const std::string said = "no data read, nothing spent";
    const std::size_t used = width_of(first) + said.size();
    std::string text = painted(first, Paint::bold, style_) +
                       std::string(used + 2 < style_.width ? style_.width - used : 2, ' ') + said + "\n";
    text += paragraph("Nobody can tell, beyond a factor e^" +
                      short_number(model_.measure.as_epsilon(model_.planned)) +
                      (model_.measure.is_pure() ? ", " : model_.measure.reservation() + ", ") +
                      hidden(model_) + ". Neighbors: " + model_.neighbors + ".");
    if (model_.where) text += paragraph("Rows that count: where " + *model_.where);
    return text;
  }

  // ---- What each costs, and how accurate it is ------------------------------------------------------------------------

  std::string level(const std::string& alpha) const {
    return same_alpha_ ? "" : " (" + confidence(parse_exact(alpha, "alpha")) + ")";
  }

  std::string accuracy_cell(const ShownStatistic& statistic) const {
    if (statistic.constant) return "exact, a public constant";
    if (statistic.hierarchy) {
      const double error = statistic.hierarchy->rank_error;
      return (std::isfinite(error) ? accuracy_text(error) + " rows, in rank" : "unbounded") +
             level(statistic.hierarchy->alpha);
    }
    if (statistic.choice) {
      const double gap = statistic.choice->gap;
      return (std::isfinite(gap)
                  ? "at most " + decimal_text(ShownNumber::of(gap).rational(), 0, Toward::above) +
                        " rows below the best"
                  : "unbounded") +
             level(statistic.choice->alpha);
    }
    if (!statistic.accuracy) return "told with the release";
    std::string text = accuracy_text(statistic.accuracy->tight);
    if (!statistic.unit.empty()) text += " " + statistic.unit;
    const std::size_t many = std::max<std::size_t>(1, statistic.groups.size()) *
                             std::max<std::size_t>(1, statistic.all.bins.size());
    if (statistic.accuracy->simultaneous && many > 1) {
      text +=
          ", all " + std::to_string(many) + " at once " + accuracy_text(*statistic.accuracy->simultaneous);
    }
    return text + level(statistic.accuracy->alpha);
  }

  // Bars take what the other columns leave, if that is enough to see something.
  std::string costs() const {
    if (!has_bars()) return cost_table(0, style_.color);
    std::size_t widest = 0;
    std::istringstream lines(cost_table(0, false));
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, width_of(line));
    constexpr std::size_t least = 6;
    constexpr std::size_t most = 16;
    const std::size_t room = style_.width > widest + 2 ? style_.width - widest - 2 : 0;
    return cost_table(room < least ? 0 : std::min(room, most), style_.color);
  }

  std::string cost_table(std::size_t bar, bool color) const {
    std::vector<TextTable::Column> columns = {
        {"statistic", TextTable::Align::left},
        {epsilon(), TextTable::Align::right},
        {"share", TextTable::Align::right},
        {"accuracy" + (same_alpha_ && !alpha_.empty() ? " " + confidence(parse_exact(alpha_, "alpha")) : ""),
         TextTable::Align::left}};
    if (bar > 0) columns.push_back({"", TextTable::Align::left});
    TextTable table(std::move(columns));
    for (const ShownStatistic& statistic : model_.statistics) {
      const Rational cost = statistic.noise.epsilon.rational();
      add_row(table, statistic.name, cost, accuracy_cell(statistic), bar);
    }
    for (const ShownKeys& keys : model_.keys)
      add_row(table, "keys of " + keys.column, keys.epsilon.rational(), "which groups are shown", bar);
    for (const std::string& name : model_.unpaid) table.add({name, "-", "-", "nothing is left for it"});
    add_row(table, "this run", model_.planned, "", 0);
    return table.to_string({color});
  }

  // A name that is too long for its column has lines of its own.
  void add_row(TextTable& table, const std::string& name, const Rational& cost, const std::string& accuracy,
               std::size_t bar) const {
    constexpr std::size_t longest = 26;
    std::string rest = shown_text(name);
    while (width_of(rest) > longest) {
      std::size_t cut = longest;
      while ((static_cast<unsigned char>(rest[cut]) & 0xc0U) == 0x80U) --cut;
      table.add({rest.substr(0, cut)});
      rest.erase(0, cut);
    }
    const bool any = model_.planned > 0;
    const Rational share = any ? Rational(cost / model_.planned) : Rational(0);
    std::vector<std::string> cells = {rest, short_number(cost),
                                      any ? percent_text(Rational(share * 100), Toward::nearest) + "%" : "",
                                      accuracy};
    if (bar > 0) {
      const double length = to_double_nearest(share) * static_cast<double>(bar);
      cells.push_back(repeated(marks_.interval, static_cast<std::size_t>(std::lround(length))));
    }
    table.add(std::move(cells));
  }

  // ---- Whether it fits ------------------------------------------------------------------------------------------------

  // What the run may cost: what [budget] allows, and the ledger has.
  Rational allowed() const {
    const Rational& most = model_.budget.amount.value;
    return view_.ledger ? std::min(most, view_.ledger->remaining.value) : most;
  }

  Rational allowed_delta() const {
    const Rational most = model_.budget.limit().delta;
    return view_.ledger ? std::min(most, view_.ledger->remaining.delta) : most;
  }

  std::string budget() const {
    const Rational total = view_.ledger ? view_.ledger->budget.amount.value : model_.budget.amount.value;
    const Rational spent = view_.ledger ? view_.ledger->spent.value : Rational(0);
    std::string text;
    if (has_bars()) {
      text += "  budget  0 " +
              budget_bar(total,
                         {{spent, marks_.spent, Paint::dim}, {model_.planned, marks_.interval, Paint::cyan}},
                         40, style_) +
              " " + short_number_down(total) + "   " +
              (view_.ledger ? std::string(marks_.spent) + " spent " : "") + marks_.interval + " plan " +
              marks_.left + " left\n";
    }
    const bool over =
        model_.planned > allowed() || model_.planned_delta > allowed_delta() || !model_.unpaid.empty();
    std::string line = "This run costs " + epsilon() + " " + short_number(model_.planned) + " of the " +
                       short_number_down(model_.budget.amount.value) + " that [budget] allows";
    if (view_.ledger)
      line += " and the " + short_number_down(view_.ledger->remaining.value) + " that the ledger has left";
    if (model_.measure.measure == PrivacyMeasure::zcdp)
      line += "; that is epsilon " + short_number(model_.measure.as_epsilon(model_.planned)) + " at delta " +
              short_number(model_.measure.delta);
    if (model_.planned_delta > 0)
      line += "; and delta " + short_number(model_.planned_delta) + " of the " +
              short_number_down(allowed_delta());
    text += paragraph(line + (over ? ": it does not fit." : "."));
    return over ? text + what_would_fit() : text;
  }

  // The noise is in proportion to 1 / epsilon, or to 1 / sqrt(rho).
  std::string wider_by(const Rational& factor) const {
    if (model_.measure.measure != PrivacyMeasure::zcdp) return round_up_to_digits(factor, 2);
    return round_up_to_digits(Rational(std::sqrt(to_double_up(factor))), 2);
  }

  std::string what_would_fit() const {
    if (allowed() <= 0)
      return paragraph("Nothing is left to spend: no further release of these data is possible.");
    std::string text;
    if (model_.planned > allowed()) {
      const Rational factor = Rational(allowed() / model_.planned);
      text += paragraph("It would fit with every " + model_.measure.unit() + " times " +
                        round_down_to_digits(factor, 2) + ", and accuracies about " +
                        wider_by(Rational(1 / factor)) + " times as wide" + without_some() + ".");
    }
    if (!model_.unpaid.empty())
      text += paragraph(
          "Statistics with a weight share what the others leave: ask for less there, or allow more.");
    return text;
  }

  // The fewest that can be left out, the dearest first.
  std::string without_some() const {
    std::vector<const ShownStatistic*> dearest;
    for (const ShownStatistic& statistic : model_.statistics) dearest.push_back(&statistic);
    std::stable_sort(dearest.begin(), dearest.end(), [](const ShownStatistic* a, const ShownStatistic* b) {
      return a->noise.epsilon.rational() > b->noise.epsilon.rational();
    });
    Rational cost = model_.planned;
    std::string names;
    for (const ShownStatistic* statistic : dearest) {
      if (cost <= allowed()) break;
      cost -= statistic->noise.epsilon.rational();
      names += (names.empty() ? "" : ", ") + quoted_text(statistic->name);
    }
    return cost > 0 ? ", or without " + names : "";
  }

  // ---- What it gives away ---------------------------------------------------------------------------------------------

  std::string belief() const {
    if (model_.planned <= 0) return "";
    const Belief now = belief_after(model_.measure.as_epsilon(model_.planned), 50);
    const std::string what = hides_presence(model_) ? "that it is so" : "between two values of one row";
    std::string text = "Even chances (50%) " + what + " become at most " + now.most + "%";
    if (view_.ledger && view_.ledger->spent.value > 0) {
      const Rational all = view_.ledger->spent.value + model_.planned;
      text += ", and " + belief_after(model_.measure.as_epsilon(all), 50).most +
              "% together with what was released before";
    }
    return paragraph(text + model_.measure.reservation() + ".") +
           (model_.certificate ? paragraph("Certificate: the loss of these statistics together is at most " +
                                           short_number(model_.certificate->bound.rational()) + ".")
                               : "");
  }

  std::string warnings() const {
    std::string text;
    for (const PlanWarning& warning : model_.plan_warnings) {
      const std::string name = warning.statistic.empty() ? "" : warning.statistic + ": ";
      const std::string line = std::string(marks_.beware) + " " + name + warning.message + ".";
      text += wrapped(shown_text(line), style_.width, "  ");
    }
    if (text.empty()) return "";
    text.pop_back();
    return "\n" + painted(text, Paint::yellow, style_) + "\n";
  }

  std::string notes() const {
    std::string text;
    for (const ShownKeys& keys : model_.keys) text += wrapped(keys_note(model_, keys), style_.width, "  ");
    for (const ShownStatistic& statistic : model_.statistics) {
      if (statistic.expected) text += paragraph(statistic.name + ": " + guess_note(statistic));
      if (const std::string note = range_note(statistic); !note.empty())
        text += wrapped(note, style_.width, "  ");
      if (const std::string note = row_grid_note(statistic); !note.empty())
        text += wrapped(note, style_.width, "  ");
    }
    if (!alpha_.empty())
      text += paragraph(
          "Accuracy: the released value lies this near the exact one" +
          std::string(same_alpha_ ? " with probability " + confidence(parse_exact(alpha_, "alpha")) : "") +
          (model_.measure.measure == PrivacyMeasure::zcdp ? ". Half of it costs four times as much."
                                                          : ". Half of it costs twice as much."));
    return text.empty() ? "" : "\n" + text;
  }

  // ---- The second table -----------------------------------------------------------------------------------------------

  std::string noise() const {
    TextTable table({{"noise", TextTable::Align::left},
                     {"kind", TextTable::Align::left},
                     {"sensitivity", TextTable::Align::right},
                     {"scale", TextTable::Align::right},
                     {"grid", TextTable::Align::right}});
    const auto row = [&](const std::string& name, const std::string& kind, const ShownNoise& noise) {
      std::vector<std::string> cells = {name, kind};
      for (const std::optional<ShownNumber>* number : {&noise.sensitivity, &noise.scale, &noise.grid})
        cells.push_back(*number ? short_number((*number)->rational()) : "");
      table.add(std::move(cells));
    };
    for (const ShownStatistic& statistic : model_.statistics) {
      const auto counted = [](std::size_t count, const std::string& noun) {
        return count == 0 ? "" : ", " + std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
      };
      row(statistic.name,
          statistic.kind + counted(statistic.all.bins.size(), "bin") +
              counted(statistic.groups.size(), "group"),
          statistic.noise);
      for (const ShownPart& part : statistic.parts) row("  " + part.name, "", part.noise);
    }
    return table.to_string({style_.color});
  }

  // What the noise does to each number, in the unit of the statistic.
  std::string utility() const {
    TextTable table({{"utility", TextTable::Align::left},
                     {"tight", TextTable::Align::right},
                     {"Covington's", TextTable::Align::right},
                     {"Laplace", TextTable::Align::right},
                     {"worst bias", TextTable::Align::right},
                     {"expected bias", TextTable::Align::right},
                     {"P(clamped)", TextTable::Align::right}});
    bool empty = true;
    bool expected = false;
    const auto row = [&](const std::string& name, const std::optional<ShownUtility>& utility) {
      if (!utility) return;
      constexpr double unknown = std::numeric_limits<double>::infinity();
      const ShownUtility::Law law = utility->law.value_or(ShownUtility::Law{});
      expected = expected || utility->expected_bias;
      std::vector<std::string> cells = {name};
      for (const double number : {utility->tight, utility->conservative, utility->laplace, law.worst_bias,
                                  utility->expected_bias.value_or(unknown), law.binding_probability}) {
        cells.push_back(std::isfinite(number) ? three_digits(number) : "");
      }
      table.add(std::move(cells));
      empty = false;
    };
    for (const ShownStatistic& statistic : model_.statistics) {
      row(statistic.name, statistic.utility);
      if (!statistic.parts.empty() && !statistic.utility) table.add({statistic.name});
      for (const ShownPart& part : statistic.parts) row("  " + part.name, part.utility);
    }
    if (empty) return "";
    return table.to_string({style_.color}) +
           paragraph(
               "tight: the accuracy above; Covington's: that of Covington's notes, which bounds it; Laplace: "
               "that of "
               "unrounded noise. Worst bias and P(clamped), that a bound binds, are for the worst value that "
               "the "
               "statistic may have.") +
           (expected ? paragraph("expected bias: the mean of E[out] - value over the guesses, which nothing "
                                 "else depends on.")
                     : "") +
           "\n";
  }

  // One line for each change that would save something. An epsilon that stays as it is goes without saying.
  std::string savings() const {
    std::string text;
    for (const Saving& saving : model_.savings) {
      std::string line =
          saving.statistic + ": " + saving.change + " would give \xc2\xb1" + three_digits(saving.accuracy);
      for (const ShownStatistic& statistic : model_.statistics) {
        if (statistic.name != saving.statistic) continue;
        if (const std::optional<std::string> alpha = alpha_of(statistic))
          line += " (" + confidence(parse_exact(*alpha, "alpha")) + ")";
        if (statistic.noise.epsilon.rational() != saving.epsilon)
          line += " for " + model_.measure.unit() + " " + short_number(saving.epsilon);
      }
      if (saving.exact)
        line += ", exact with probability " + three_digits(*saving.exact) + " instead of " +
                three_digits(*saving.exact_now);
      text += paragraph(line + ".");
    }
    return text.empty() ? "" : "What other choices would give:\n" + text;
  }

  const ReportModel& model_;
  const PlanView& view_;
  const TerminalStyle& style_;
  const MarkSet& marks_;
  std::string alpha_;
  bool same_alpha_ = true;
};

}  // namespace

std::string plan_table(const ReportModel& model, const PlanView& view) {
  return PlanTable(model, view).text();
}

}  // namespace snapdp::release_internal
