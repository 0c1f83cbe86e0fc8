// Reports for terminals, and as plain text. Bars are an addition: every row reads the same without them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "release/presentation.h"
#include "release/report_model.h"
#include "release/report_numbers.h"
#include "release/report_words.h"
#include "release/shown_digits.h"
#include "release/terminal.h"
#include "snapdp/text.h"

namespace snapdp::release_internal {
namespace {

using Marks = TerminalStyle::Marks;
using Shape = PresentedStatistic::Shape;

class TerminalReport {
 public:
  TerminalReport(const Presentation& shown, const TerminalStyle& style, const ReportProvenance& provenance)
      : shown_(shown), style_(style), provenance_(provenance), marks_(marks_of(style.marks)) {}

  std::string text() const {
    std::string text = heading() + "\n";
    text += single_numbers();
    for (const PresentedStatistic& statistic : shown_.statistics) {
      if (statistic.shape != Shape::number) text += list(statistic);
    }
    return text + warnings() + notes() + budget() + closing();
  }

 private:
  using enum Paint;

  std::string painted(const std::string& text, Paint paint) const {
    return release_internal::painted(text, paint, style_);
  }

  bool has_bars() const { return style_.marks != Marks::none; }
  bool is_utf8() const { return style_.marks == Marks::utf8; }
  // In plain ASCII outside UTF-8 terminals.
  std::string number(const std::string& text) const { return is_utf8() ? text : ascii_number(text); }
  std::string epsilon() const { return is_utf8() ? shown_.measure.letter() : shown_.measure.unit(); }

  std::string heading() const {
    const std::string name = release_name(shown_) + " of " + shown_text(shown_.title);
    const std::string date = date_text(provenance_.time);
    const std::size_t used = width_of(name) + width_of(date);
    const std::string gap(date.empty() ? 0 : used + 2 < style_.width ? style_.width - used : 2, ' ');
    std::string text = painted(name, bold) + gap + shown_text(date) + "\n";
    if (shown_.title != shown_.dataset) text += "Dataset: " + shown_text(shown_.dataset) + "\n";
    text += wrapped("Hidden: " + shown_text(hidden_text(shown_)) + ". Neighbors: " + shown_.neighbors + ".",
                    style_.width, "  ");
    if (shown_.where)
      text += wrapped("Rows that count: where " + shown_text(*shown_.where), style_.width, "  ");
    return text;
  }

  std::string interval(const std::string& lower, const std::string& upper) const {
    const auto end = [](const std::string& text) { return text.empty() ? std::string("no end") : text; };
    return number("[" + end(lower) + ", " + end(upper) + "]");
  }
  std::string interval(const PresentedNumber& number) const { return interval(number.lower, number.upper); }

  std::string value(const PresentedNumber& number) const {
    return number.tells_nothing() ? "-" : this->number(number.value);
  }

  std::string beware(const PresentedNumber& number) const {
    return number.bewares.empty() ? "" : painted(marks_.beware, yellow);
  }

  // Columns of one table, as wide as their widest cell.
  struct Widths {
    std::size_t label = 0;
    std::size_t value = 0;
    std::size_t interval = 0;
    std::size_t used() const { return 2 + label + 2 + value + 2 + interval; }
  };

  void widen(Widths& widths, const std::string& label, const PresentedNumber& number) const {
    widths.label = std::max(widths.label, width_of(label));
    widths.value = std::max(widths.value, width_of(value(number)));
    widths.interval = std::max(widths.interval, width_of(interval(number)));
  }

  std::string cells(const Widths& widths, const std::string& label, const PresentedNumber& number) const {
    return "  " + padded(label, widths.label, false) + "  " +
           painted(padded(value(number), widths.value, true), bold) + "  " +
           padded(interval(number), widths.interval, true);
  }

  // Marks of one kind, cell after cell, painted in one go.
  std::string strip(const std::vector<const char*>& cells) const {
    std::string text;
    for (std::size_t begin = 0; begin < cells.size();) {
      std::size_t end = begin;
      while (end < cells.size() && cells[end] == cells[begin]) ++end;
      const char* mark = cells[begin];
      const std::string run = repeated(mark, end - begin);
      if (mark == marks_.solid || mark == marks_.tick) {
        text += painted(run, blue);
      } else if (mark == marks_.interval) {
        text += painted(run, cyan);
      } else {
        text += mark == marks_.line || mark == marks_.nothing ? painted(run, dim) : run;
      }
      begin = end;
    }
    return text;
  }

  static std::size_t cell_at(double place, std::size_t width) {
    const auto cell = static_cast<std::size_t>(place * static_cast<double>(width));
    return std::min(cell, width - 1);
  }

  std::vector<const char*> bar(const PresentedNumber& number, std::size_t width, const char* ground) const {
    std::vector<const char*> cells(width, number.tells_nothing() ? marks_.nothing : ground);
    if (number.tells_nothing()) return cells;
    const Bar& bar = *number.bar;
    const auto fill = [&](double from, double to, const char* mark) {
      for (std::size_t i = cell_at(from, width); i <= cell_at(to, width); ++i) cells[i] = mark;
    };
    if (bar.solid_to > bar.solid_from) fill(bar.solid_from, bar.solid_to, marks_.solid);
    fill(bar.from, bar.to, marks_.interval);
    cells[cell_at(bar.tick, width)] = marks_.tick;
    return cells;
  }

  // What the rows of single numbers have in common.
  struct SingleTable {
    std::vector<const PresentedStatistic*> rows;
    Widths widths;
    std::string level;     // of all intervals; empty where it stands behind each
    std::size_t left = 0;  // widths of the ends of the ranges
    std::size_t right = 0;
    std::size_t room = 0;  // for a bar
  };

  SingleTable single_table() const {
    SingleTable table;
    table.level = common_level(shown_);
    Widths& widths = table.widths;
    widths = {width_of("statistic"), width_of("released"), width_of(within_text(table.level))};
    for (const PresentedStatistic& statistic : shown_.statistics) {
      if (statistic.shape != Shape::number) continue;
      table.rows.push_back(&statistic);
      widen(widths, shown_text(statistic.title), statistic.numbers.front());
      table.left = std::max(table.left, width_of(number(statistic.axis.from)));
      if (!statistic.axis.open_above)
        table.right = std::max(table.right, width_of(number(statistic.axis.to)));
    }
    constexpr std::size_t ends_and_gaps = 6;
    constexpr std::size_t flag = 3;
    const std::size_t level = table.level.empty() ? std::string_view(" (99.9%)").size() : 0;
    const std::size_t around = widths.used() + level + table.left + table.right + ends_and_gaps + flag;
    if (has_bars() && around + least_bar <= style_.width) table.room = style_.width - around;
    return table;
  }

  // Single numbers, each on its own range, whose ends stand beside it; units stand below names.
  std::string single_numbers() const {
    const SingleTable table = single_table();
    if (table.rows.empty()) return "";
    const Widths& widths = table.widths;
    std::string head = "  " + padded("statistic", widths.label, false) + "  " +
                       padded("released", widths.value, true) + "  " +
                       padded(within_text(table.level), widths.interval, true);
    if (table.room > 0) head += "  " + std::string(table.left + 1, ' ') + "on its public range";
    std::string text = painted(without_blanks_at_the_end(head), bold) + "\n";
    for (const PresentedStatistic* statistic : table.rows) text += single_number(table, *statistic);
    return text + "\n";
  }

  std::string single_number(const SingleTable& table, const PresentedStatistic& statistic) const {
    const PresentedNumber& number = statistic.numbers.front();
    std::string line = cells(table.widths, shown_text(statistic.title), number);
    if (table.level.empty() && !statistic.level.empty()) line += " (" + statistic.level + ")";
    if (table.room > 0 && number.bar) {
      const PresentedAxis& axis = statistic.axis;
      line += "  " + padded(this->number(axis.from), table.left, true) + " " +
              (axis.open_below ? marks_.no_left_end : marks_.left_end) +
              strip(bar(number, table.room, marks_.line)) +
              (axis.open_above ? std::string(marks_.no_right_end)
                               : marks_.right_end + (" " + this->number(axis.to)));
    }
    const std::string flag = beware(number);
    line += (flag.empty() ? "" : "  " + flag) + "\n";
    if (!statistic.unit.empty()) line += painted("    " + shown_text(statistic.unit), dim) + "\n";
    return line;
  }

  // A statistic of many numbers, whose bars have one axis.
  std::string list(const PresentedStatistic& statistic) const {
    if (statistic.shape == Shape::choices) return ranking(statistic);
    Widths widths;
    for (const PresentedNumber& number : statistic.numbers)
      widen(widths, label_of(statistic, number), number);
    const std::size_t around = widths.used() + 2 + 3;
    const bool drawn = has_bars() && !statistic.is_coefficients;
    const std::size_t room = drawn && around + least_bar <= style_.width ? style_.width - around : 0;
    std::string note = list_note(statistic);
    if (room > 0) note += "; bars from " + number(statistic.axis.from) + " to " + number(statistic.axis.to);
    std::string text = list_head(statistic, note);
    for (const PresentedNumber& number : statistic.numbers) {
      std::string line = cells(widths, label_of(statistic, number), number);
      if (room > 0 && number.bar) line += "  " + strip(bar(number, room, " "));
      const std::string flag = beware(number);
      text += without_blanks_at_the_end(line) + (flag.empty() ? "" : "  " + flag) + "\n";
    }
    return text + "\n";
  }

  // What was chosen, without a number but its rank.
  std::string ranking(const PresentedStatistic& statistic) const {
    std::string text = list_head(statistic, "the most frequent first");
    std::size_t widest = 0;
    for (const PresentedNumber& number : statistic.numbers) widest = std::max(widest, width_of(number.part));
    for (const PresentedNumber& number : statistic.numbers) {
      const std::string words = number.value_words.empty() ? "" : ": " + number.value_words;
      text += "  " + padded(number.part, widest, true) + "  " +
              painted(shown_text(number.value + words), bold) + "\n";
    }
    return text + "\n";
  }

  // Title, description and note, on as few lines as they need.
  std::string list_head(const PresentedStatistic& statistic, const std::string& note) const {
    std::string title = shown_text(statistic.title);
    if (statistic.title != statistic.name) title += " (" + shown_text(statistic.name) + ")";
    const std::string what =
        shown_text(description(statistic) + (statistic.unit.empty() ? "" : ", " + statistic.unit));
    const std::size_t used = width_of(title) + 2 + width_of(what);
    if (used > style_.width) return painted(title, bold) + "\n  " + what + "\n  " + note + "\n";
    const std::string head = painted(title, bold) + ", " + what;
    if (used + 2 + width_of(note) > style_.width) return head + "\n  " + note + "\n";
    return head + std::string(style_.width - used - width_of(note), ' ') + note + "\n";
  }

  static std::string label_of(const PresentedStatistic& statistic, const PresentedNumber& number) {
    const auto named = [](const std::string& code, const std::string& words) {
      return words.empty() ? code : code + ": " + words;
    };
    std::string label = named(number.group, number.group_words);
    const std::string part =
        statistic.is_quantiles ? number.part_words : named(number.part, number.part_words);
    if (!part.empty()) label += (label.empty() ? "" : ", ") + part;
    return shown_text(label);
  }

  static std::string within_text(const std::string& level) {
    if (level.empty()) return "within";
    if (!level.ends_with('%')) return level + " within";
    return level.substr(0, level.size() - 1) + " in 100 within";
  }

  std::string warnings() const {
    std::string text;
    for (const PresentedWarning& warning : shown_.warnings) {
      const std::string line =
          std::string(marks_.beware) + " " + titles(shown_, warning) + ": " + warning_text(warning) + ".";
      text += painted(wrapped(shown_text(line), style_.width, "  "), yellow);
    }
    return text.empty() ? "" : text + "\n";
  }

  std::string notes() const {
    std::string text;
    for (const std::string& note : shown_.keys_notes) text += wrapped(note, style_.width, "  ");
    for (const PresentedStatistic& statistic : shown_.statistics) {
      text += paragraph(statistic.range_note) + paragraph(statistic.row_grid_note);
      if (statistic.constant)
        text += paragraph(shown_text(statistic.name) +
                          ": a public constant; released exactly, without noise and without cost.\n");
      text += paragraph(statistic.quantile_note) + paragraph(statistic.choice_note);
      text += population(statistic);
    }
    return text.empty() ? "" : text + "\n";
  }

  // Apart from the numbers and their intervals, which are about the noise alone: a sentence, or of many numbers a row
  // each.
  std::string population(const PresentedStatistic& statistic) const {
    const std::vector<LabeledInterval> intervals = population_intervals(statistic);
    if (intervals.empty()) return "";
    constexpr std::size_t most_in_a_sentence = 4;
    const bool rows = intervals.size() > most_in_a_sentence;
    std::string where;
    for (const auto& [label, ends] : intervals) {
      if (!where.empty()) where += "; ";
      if (!label.empty()) where.append(label).append(": ");
      where += ends;
    }
    const std::string level =
        " (" + statistic.population_level + (intervals.size() > 1 ? ", each alone)" : ")");
    return wrapped(shown_text(statistic.name) + ": in the population that the rows are a sample of, the " +
                       statistic.population_of + " lies in " + (rows ? "these intervals" : where) + level +
                       "; that includes the error of sampling" + (rows ? ":" : "."),
                   style_.width, "  ") +
           (rows ? rows_of(intervals) : "");
  }

  using LabeledInterval = std::pair<std::string, std::string>;

  std::vector<LabeledInterval> population_intervals(const PresentedStatistic& statistic) const {
    std::vector<LabeledInterval> intervals;
    for (const PresentedNumber& number : statistic.numbers) {
      if (number.population)
        intervals.emplace_back(label_of(statistic, number),
                               interval(number.population->lower, number.population->upper));
    }
    return intervals;
  }

  static std::string rows_of(const std::vector<LabeledInterval>& intervals) {
    std::size_t label_width = 0;
    std::size_t ends_width = 0;
    for (const auto& [label, ends] : intervals) {
      label_width = std::max(label_width, width_of(label));
      ends_width = std::max(ends_width, width_of(ends));
    }
    std::string text;
    for (const auto& [label, ends] : intervals)
      text += "    " + padded(label, label_width, false) + "  " + padded(ends, ends_width, true) + "\n";
    return text;
  }

  // A line, or several that belong together, broken anew.
  std::string paragraph(std::string lines) const {
    if (lines.empty()) return "";
    lines.pop_back();
    for (std::size_t at = lines.find("\n  "); at != std::string::npos; at = lines.find("\n  "))
      lines.replace(at, 3, " ");
    return wrapped(lines, style_.width, "  ");
  }

  // Spent before, now, and left.
  std::string budget() const {
    const Rational total = Rational(shown_.spent + shown_.remaining);
    const Rational before = Rational(shown_.spent - shown_.epsilon);
    std::string text;
    if (has_bars() && shown_.release && total > 0 && before >= 0) {
      text =
          "  budget  0 " +
          budget_bar(total, {{before, marks_.spent, dim}, {shown_.epsilon, marks_.solid, blue}}, 40, style_) +
          " " + short_number_down(total) + "   " + marks_.spent + " before " + marks_.solid + " now " +
          marks_.left + " left\n";
    }
    text += "  " + epsilon() + " " + short_number(shown_.epsilon) + " spent now, " +
            short_number(shown_.spent) + " in all, " + short_number_down(shown_.remaining) + " left.";
    if (!shown_.measure.is_pure())
      text += "  In all epsilon " + short_number(shown_.measure.as_epsilon(shown_.spent)) + " at delta " +
              short_number(shown_.measure.delta) + " at most.";
    if (shown_.certificate) {
      text += "  Loss at most " + short_number(parse_exact(*shown_.certificate, "report")) +
              ": the certificate of these statistics together.";
    }
    return wrapped_keeping(text);
  }

  // The last line may be too long.
  std::string wrapped_keeping(const std::string& text) const {
    const std::size_t last = text.rfind('\n');
    const std::size_t begin = last == std::string::npos ? 0 : last + 1;
    return text.substr(0, begin) + "  " + wrapped(text.substr(begin + 2), style_.width - 2, "  ");
  }

  std::string closing() const {
    std::string text = "\n  " + wrapped(interval_note(shown_), style_.width - 2, "  ");
    if (provenance_.ledger.empty() || !shown_.release) return text;
    const std::string ledger = shell_word(provenance_.ledger);
    return text + "  Note where nobody can change it: snapdp ledger anchor " + ledger +
           "\n  As a page: snapdp report " + ledger + " --release " + std::to_string(*shown_.release) +
           " --html report.html\n";
  }

  static constexpr std::size_t least_bar = 10;

  const Presentation& shown_;
  const TerminalStyle& style_;
  const ReportProvenance& provenance_;
  const MarkSet& marks_;
};

}  // namespace

std::string report_table(const ReportModel& model, const TerminalStyle& style,
                         const ReportProvenance& provenance) {
  const Presentation shown = present(model, style.all_digits ? Digits::all : Digits::meaningful);
  return TerminalReport(shown, style, provenance).text();
}

}  // namespace snapdp::release_internal
