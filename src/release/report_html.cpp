// Reports as pages: the first screen for whoever decides, tables and captions for a statistician, the end for an
// auditor.
#include <algorithm>
#include <array>
#include <cmath>

#include "release/html.h"
#include "release/page_parts.h"
#include "release/presentation.h"
#include "release/report_model.h"
#include "release/report_numbers.h"
#include "release/report_words.h"
#include "release/shown_digits.h"
#include "snapdp/text.h"

namespace snapdp::release_internal {
namespace {

using Shape = PresentedStatistic::Shape;

// A list of more numbers is folded, of still more has no bars, so that a page of a hundred thousand groups opens.
constexpr std::size_t most_open = 60;
constexpr std::size_t most_bars = 300;
constexpr std::size_t most_bars_of_page = 3000;
// A longer record is not repeated in the page.
constexpr std::size_t longest_record = 100'000;

// An interval that is too narrow to see is drawn wider, around its middle.
std::pair<double, double> visible(double from, double to) {
  constexpr double least = 0.02;
  if (to - from >= least) return {from, to};
  const double begin = std::clamp((from + to - least) / 2, 0.0, 1 - least);
  return {begin, begin + least};
}

// The public range, the interval and the released number, with the ends of the range below.
Html range_strip(const PresentedNumber& number, const PresentedAxis& axis) {
  Strip strip(36);
  strip.level(0, 1, 11, "r");
  if (!axis.open_below) strip.line(0, 5, 17, "r");
  if (!axis.open_above) strip.line(1, 5, 17, "r");
  if (number.tells_nothing()) {
    strip.box(0, 1, 3, 16, "x");
  } else {
    const auto [from, to] = visible(number.bar->from, number.bar->to);
    strip.box(from, to, 3, 16, "d").line(from, 3, 19, "e").line(to, 3, 19, "e");
    strip.line(std::clamp(number.bar->tick, from, to), 0, 22, "t2");
  }
  strip.text(0, 34, "start", axis.open_below ? "← no lower end" : axis.from);
  strip.text(1, 34, "end", axis.open_above ? "no upper end →" : axis.to);
  return strip.finish();
}

// A bar from 0, solid as far as the exact number reaches for certain.
Html bar_strip(const PresentedNumber& number, const std::string& grid) {
  Strip strip(18);
  strip.use(grid);
  if (number.tells_nothing()) return strip.box(0, 1, 1, 16, "x").finish();
  const Bar& bar = *number.bar;
  if (bar.solid_to > bar.solid_from) strip.box(bar.solid_from, bar.solid_to, 1, 16, "b");
  strip.box(bar.from, bar.to, 1, 16, "d");
  const bool solid_below = bar.solid_to > bar.solid_from && bar.solid_to == bar.from;
  const bool solid_above = bar.solid_to > bar.solid_from && bar.solid_from == bar.to;
  if (!solid_below) strip.line(bar.from, 1, 17, "e");
  if (!solid_above) strip.line(bar.to, 1, 17, "e");
  return strip.line(bar.tick, -2, 20, "t").finish();
}

// The ticks that have room: the first, the last, and of those between as many as do not touch.
Html axis_strip(const PresentedAxis& axis) {
  Strip strip(16);
  constexpr double of_character = 0.031;  // of a chart on paper, the narrowest
  constexpr double gap = 0.02;
  double taken = -gap;
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const auto& [at, text] = axis.ticks[i];
    const double half = of_character * static_cast<double>(text.size()) / 2;
    const bool first = at < half;
    const bool last = i + 1 == axis.ticks.size();
    const double begin = first ? at : at - half;
    const double end = begin + 2 * half;
    const double room =
        last ? 1.0
             : axis.ticks.back().first - of_character * static_cast<double>(axis.ticks.back().second.size());
    if (!last && (begin < taken + gap || end > room - gap)) continue;
    strip.text(at, 12, first ? "start" : at > 1 - half ? "end" : "middle", text);
    taken = end;
  }
  return strip.finish();
}

// The lines of an axis, which every bar of a table uses.
Html grid_definition(const std::string& id, const PresentedAxis& axis) {
  Html html;
  html << "<svg class=\"defs\" aria-hidden=\"true\"><defs><g id=\"" << id << "\">";
  for (const auto& [at, text] : axis.ticks) {
    const std::string place = place_text(at);
    html << "<line class=\"g\" x1=\"" << place << "\" x2=\"" << place << "\" y1=\"-8\" y2=\"26\"/>";
  }
  return html << "</g></defs></svg>";
}

Html swatch(const char* shapes) {
  Html html;
  return html << "<svg aria-hidden=\"true\">" << shapes << "</svg>";
}

constexpr const char* swatch_of_interval =
    "<rect class=\"d\" width=\"22\" height=\"14\"/><line class=\"e\" x1=\"0\" x2=\"0\" y1=\"0\" "
    "y2=\"14\"/><line class=\"e\" x1=\"22\" x2=\"22\" y1=\"0\" y2=\"14\"/>";
constexpr const char* swatch_of_tick = "<line class=\"t\" x1=\"11\" x2=\"11\" y1=\"-2\" y2=\"16\"/>";

std::string number_word(std::size_t number) {
  constexpr std::array<const char*, 10> words = {"no",   "one", "two",   "three", "four",
                                                 "five", "six", "seven", "eight", "nine"};
  return number < words.size() ? words.at(number) : std::to_string(number);
}

std::string count_text(std::size_t count) {
  return decimal_text(Rational(Integer(static_cast<unsigned long>(count))), 0, Toward::nearest);
}

// "27,600 to 29,500".
Html interval_text(const std::string& lower, const std::string& upper) {
  Html html;
  return html << (lower.empty() ? std::string("no lower end") : lower) << " to "
              << (upper.empty() ? std::string("no upper end") : upper);
}
Html interval_text(const PresentedNumber& number) {
  return interval_text(number.lower, number.upper);
}

// A few words about the worst of what is to beware of.
const char* short_warning(Beware what) {
  switch (what) {
    case Beware::tells_nothing:
      return "tells nothing: the interval is the whole range";
    case Beware::placeholder:
      return "too few rows, or none";
    case Beware::few_rows:
      return "few rows, or none";
    case Beware::at_bound:
      return "lies at a bound";
    case Beware::reaches_lower:
      return "reaches the lower bound: “at most”";
    case Beware::reaches_upper:
      return "reaches the upper bound: “at least”";
    case Beware::outer_edge:
      return "ends at an outer edge";
    case Beware::sign_not_told:
      return "the sign is not told";
    case Beware::below_zero:
      return "below 0 by noise";
    case Beware::in_a_group:
      return "a group has a warning";
    case Beware::rows_missing:
      break;
  }
  return "rows are missing";
}

Html flags(const PresentedNumber& number) {
  Html html;
  for (const Beware what : number.bewares)
    html << "<span class=\"flag\">▲ " << short_warning(what) << "</span>";
  return html;
}

class ReportPage {
 public:
  ReportPage(const Presentation& shown, const ReportProvenance& provenance, std::string_view record)
      : shown_(shown), provenance_(provenance), record_(record) {
    for (const PresentedStatistic& statistic : shown.statistics) {
      if (statistic.shape == Shape::number) singles_.push_back(&statistic);
    }
    ledger_ = shell_word(provenance.ledger.empty() ? "people.ledger" : provenance.ledger);
  }

  std::string text() const {
    Html body;
    body << "<a class=\"skip\" href=\"#numbers\">Skip to the numbers</a>\n"
         << header() << "<main>\n"
         << warnings();
    body << "<div id=\"numbers\">" << groups_shown() << single_numbers() << lists() << population()
         << "</div>\n";
    body << protection() << cost() << how_to_read() << how_to_check() << how_to_cite();
    body << "</main>\n<footer><p>Made by <code>snapdp</code> " << shown_.version << " from " << lower_name()
         << ". This page runs no script, loads nothing and reports to nobody.</p></footer>\n";
    return html_page(release_name(shown_) + " of " + shown_.title, body);
  }

 private:
  std::string lower_name() const {
    return shown_.release ? "release " + std::to_string(*shown_.release) : "public constants";
  }
  // Whom the promise is about.
  std::string person() const { return shown_.privacy_unit ? "a certain person" : "a certain row"; }
  const ShownMeasure& measure() const { return shown_.measure; }
  std::string letter() const { return measure().letter(); }
  std::string total() const { return short_number_down(Rational(shown_.spent + shown_.remaining)); }

  // The first single number that tells something.
  const PresentedStatistic* leading() const {
    for (const PresentedStatistic* statistic : singles_) {
      if (!statistic->numbers.front().tells_nothing() && !statistic->constant) return statistic;
    }
    return nullptr;
  }

  Html headline() const {
    Html html;
    if (!shown_.headline.empty()) return html << shown_.headline;
    const PresentedStatistic* first = leading();
    if (first == nullptr) return html << release_name(shown_) << " of " << shown_.title;
    const PresentedNumber& number = first->numbers.front();
    html << first->title << ": ";
    if (number.half_width.empty()) {
      html << "between " << number.lower << " and " << number.upper;
    } else {
      html << number.value;
    }
    if (!first->unit.empty()) html << " " << first->unit;
    if (!number.half_width.empty()) html << ", give or take " << number.half_width;
    return html;
  }

  Html header() const {
    Html html;
    html << "<header>\n<p class=\"kick\">" << release_name(shown_) << " of <b>" << shown_.title << "</b>";
    if (!provenance_.time.empty()) html << " · " << date_text(provenance_.time);
    html << " · statistics with a privacy guarantee</p>\n<h1>" << headline() << "</h1>\n<p class=\"lede\">"
         << lede() << "</p>\n"
         << figures() << contents() << "</header>\n";
    return html;
  }

  Html lede() const {
    const std::size_t count = shown_.statistics.size();
    Html html;
    html << "Here " << (count == 1 ? "is " : "are ") << number_word(count)
         << (count == 1 ? " statistic" : " statistics") << " about the people in <i>" << shown_.dataset
         << "</i>";
    if (shown_.where) html << ", counting the rows where <code>" << *shown_.where << "</code>";
    html << ". Random noise was added to each, so that this page says little about any one person: a "
            "reader who, from all else they know, gives even chances (50&#8239;%) ";
    if (shown_.hides_presence) {
      html << "that " << person() << " is in the data";
    } else {
      html << "to two things that a certain row may say";
    }
    html << " can be at most " << percent(belief_after(measure().as_epsilon(shown_.epsilon), 50).most + "%")
         << " sure after reading it" << measure().reservation() << ".";
    return html;
  }

  Html figures() const {
    Html html;
    html << "<ul class=\"big\">\n";
    std::size_t count = 0;
    constexpr std::size_t most_figures = 2;
    for (const PresentedStatistic* statistic : singles_) {
      const PresentedNumber& number = statistic->numbers.front();
      if (number.tells_nothing() || count++ >= most_figures) continue;
      html << "<li><b>" << number.value;
      if (!statistic->unit.empty()) html << " " << statistic->unit;
      html << "</b> " << statistic->title;
      if (!number.half_width.empty() && !statistic->constant) html << ", ±" << number.half_width;
      html << "</li>\n";
    }
    html << "<li><b>" << letter() << " " << short_number(shown_.epsilon) << " of " << total()
         << "</b> spent by this release; " << short_number_down(shown_.remaining) << " remains</li>\n</ul>\n";
    return html;
  }

  static Html contents() {
    Html html;
    return html << "<nav aria-label=\"Contents\"><ul class=\"toc\"><li><a href=\"#numbers\">The "
                   "numbers</a></li><li><a href=\"#protected\">What is protected</a></li><li><a "
                   "href=\"#cost\">The cost</a></li><li><a href=\"#accuracy\">How to read ±</a></li><li><a "
                   "href=\"#check\">How to check it</a></li><li><a href=\"#cite\">How to cite "
                   "it</a></li></ul></nav>\n";
  }

  Html warnings() const {
    Html html;
    if (shown_.warnings.empty()) return html;
    html << "<section class=\"warn\" aria-labelledby=\"w\"><h2 id=\"w\">▲ Read these with care</h2>\n<ul>\n";
    for (const PresentedWarning& warning : shown_.warnings) {
      html << "<li><a href=\"#s" << std::to_string(warning.statistics.front()) << "\">"
           << titles(shown_, warning) << "</a>: " << warning_text(warning) << ".</li>\n";
    }
    return html << "</ul></section>\n";
  }

  // "95 % interval", or "interval" where the levels differ.
  static Html interval_head(const std::string& level) {
    Html html;
    html << "<th role=\"columnheader\" scope=\"col\" class=\"n\">" << percent(level);
    return html << (level.empty() ? "" : " ") << "interval</th>";
  }

  // Of those that nobody declared.
  Html groups_shown() const {
    Html html;
    for (const std::string& note : shown_.keys_notes) html << "<p class=\"note\">" << note << "</p>\n";
    return html;
  }

  Html single_numbers() const {
    Html html;
    if (singles_.empty()) return html;
    const std::string level = common_level(shown_);
    html << "<section aria-labelledby=\"singles\"><h2 id=\"singles\">The numbers</h2>\n"
            "<div class=\"f\"><table role=\"table\"><caption>Tick: the released number. Band: where the "
            "exact number lies, as often as the interval says. Line: all that it could have been, as "
            "declared beforehand. Bands too narrow to see are drawn wider.</caption><thead "
            "role=\"rowgroup\"><tr role=\"row\">"
         << column_head("statistic", "") << column_head("released", " class=\"n\"") << interval_head(level)
         << column_head("on its public range", " class=\"c\"")
         << column_head(("cost, " + letter()).c_str(), " class=\"n\"")
         << "</tr></thead><tbody role=\"rowgroup\">\n";
    for (std::size_t i = 0; i < shown_.statistics.size(); ++i) {
      if (shown_.statistics[i].shape == Shape::number)
        html << single_number(shown_.statistics[i], i, level.empty());
    }
    html << "</tbody></table></div>\n";
    for (const PresentedStatistic* statistic : singles_) html << range_notes(*statistic);
    return html << "</section>\n";
  }

  static Html single_number(const PresentedStatistic& statistic, std::size_t index, bool with_level) {
    const PresentedNumber& number = statistic.numbers.front();
    Html html;
    html << "<tr role=\"row\" id=\"s" << std::to_string(index) << "\"><th role=\"rowheader\" scope=\"row\">"
         << statistic.title << "<small>" << (statistic.unit.empty() ? description(statistic) : statistic.unit)
         << "</small>" << flags(number) << "</th><td role=\"cell\" class=\"n v\">" << value_text(number)
         << "</td><td role=\"cell\" class=\"n\">";
    if (statistic.constant) {
      html << "<span class=\"exact\">exact, public</span>";
    } else {
      html << interval_text(number);
      if (with_level) html << "<small>" << percent(statistic.level) << "</small>";
    }
    html << "</td><td role=\"cell\" class=\"c\">";
    if (number.bar) html << range_strip(number, statistic.axis);
    return html << "</td><td role=\"cell\" class=\"n h\">" << statistic.epsilon << "</td></tr>\n";
  }

  // A range that was chosen, and a grid of cells, without the ends of the lines.
  static Html range_notes(const PresentedStatistic& statistic) {
    Html html;
    for (const std::string& note : {statistic.range_note, statistic.row_grid_note}) {
      if (!note.empty()) html << "<p class=\"note\">" << note.substr(0, note.size() - 1) << "</p>\n";
    }
    return html;
  }

  Html caption(const PresentedStatistic& statistic) const {
    Html html;
    std::string what = description(statistic);
    if (!what.empty() && what[0] >= 'a' && what[0] <= 'z') what[0] = static_cast<char>(what[0] - 'a' + 'A');
    html << what;
    if (!statistic.unit.empty()) html << ", in " << statistic.unit;
    html << ". ";
    if (statistic.is_quantiles) {
      html << "Intervals run from one public edge to another: they are as fine as the "
           << std::to_string(statistic.edges)
           << " edges declared beforehand, and all hold at once with probability " << percent(statistic.level)
           << ". ";
      if (!statistic.rank_error.empty()) {
        html << "With the same probability ranks are right to " << statistic.rank_error
             << " rows at the edges around each. ";
      }
    } else if (statistic.together) {
      html << "With probability " << percent(statistic.level) << " all intervals hold at once";
      if (!statistic.half_together.empty() && !statistic.half_alone.empty())
        html << " (±" << statistic.half_together << "; one alone ±" << statistic.half_alone << ")";
      html << ". ";
    } else {
      html << "Each interval holds with probability " << percent(statistic.level) << "; of "
           << count_text(statistic.numbers.size()) << ", expect " << statistic.misses << " to miss. ";
    }
    return html << "Cost: " << letter() << " " << statistic.epsilon << " for all.";
  }

  static Html legend(const PresentedStatistic& statistic) {
    Html html;
    html << "<ul class=\"key\" aria-label=\"How to read the bars\">";
    if (!statistic.is_quantiles)
      html << "<li>" << swatch("<rect class=\"b\" width=\"22\" height=\"14\"/>")
           << "solid: at least this much</li>";
    return html << "<li>" << swatch(swatch_of_interval) << "framed: the interval</li><li>"
                << swatch(swatch_of_tick) << "tick: the released number</li></ul>\n";
  }

  static Html words_and_code(const std::string& code, const std::string& words) {
    Html html;
    if (words.empty()) return html << code;
    return html << words << " <small>code " << code << "</small>";
  }

  // "25% are at most" with the sign where it belongs.
  static Html percent_inside(const std::string& words) {
    const std::size_t end = words.find('%') == std::string::npos ? 0 : words.find('%') + 1;
    Html html;
    return html << percent(words.substr(0, end)) << words.substr(end);
  }

  static Html label(const PresentedStatistic& statistic, const PresentedNumber& number) {
    Html html;
    if (!number.group.empty()) html << words_and_code(number.group, number.group_words);
    if (!number.group.empty() && !number.part.empty()) html << ", ";
    if (!statistic.is_quantiles) return html << words_and_code(number.part, number.part_words);
    return html << percent_inside(number.part_words);
  }

  Html lists() const {
    Html html;
    std::size_t drawn = 0;
    for (std::size_t i = 0; i < shown_.statistics.size(); ++i) {
      const PresentedStatistic& statistic = shown_.statistics[i];
      if (statistic.shape == Shape::number) continue;
      const std::size_t count = statistic.numbers.size();
      const bool bars =
          !statistic.is_coefficients && count <= most_bars && drawn + count <= most_bars_of_page;
      if (bars) drawn += count;
      html << list(statistic, i, bars);
    }
    return html;
  }

  // What was chosen, without a number but its rank.
  Html ranking(const PresentedStatistic& statistic, std::size_t index) const {
    const std::string id = "s" + std::to_string(index);
    Html html;
    html << "<section aria-labelledby=\"" << id << "\"><h2 id=\"" << id << "\">" << statistic.title
         << "</h2>\n<table><caption>The most frequent of " << description(statistic).substr(7)
         << ", the first the most. Cost: " << letter() << " " << statistic.epsilon
         << " for all.</caption><thead><tr><th scope=\"col\">rank</th><th scope=\"col\">"
         << first_head(statistic) << "</th></tr></thead><tbody>\n";
    for (const PresentedNumber& number : statistic.numbers) {
      html << "<tr><th scope=\"row\">" << number.part << "</th><td class=\"v\">"
           << words_and_code(number.value, number.value_words) << "</td></tr>\n";
    }
    return html << "</tbody></table>\n<p class=\"note\">"
                << statistic.choice_note.substr(0, statistic.choice_note.size() - 1) << "</p>\n</section>\n";
  }

  Html list(const PresentedStatistic& statistic, std::size_t index, bool bars) const {
    if (statistic.shape == Shape::choices) return ranking(statistic, index);
    const std::string id = "s" + std::to_string(index);
    const std::string grid = "x" + std::to_string(index);
    const bool folded = statistic.numbers.size() > most_open;
    Html html;
    html << "<section aria-labelledby=\"" << id << "\"><h2 id=\"" << id << "\">" << statistic.title
         << "</h2>\n";
    if (bars) html << legend(statistic) << grid_definition(grid, statistic.axis);
    if (folded) {
      html << "<p>" << caption(statistic) << "</p>\n<details><summary>All "
           << count_text(statistic.numbers.size()) << " numbers</summary>\n";
    }
    html << (bars ? "<div class=\"f\"><table role=\"table\">" : "<table>");
    if (!folded) html << "<caption>" << caption(statistic) << "</caption>";
    html << (bars ? list_with_bars(statistic, grid) : plain_list(statistic)) << "</table>"
         << (bars ? "</div>" : "") << (folded ? "</details>" : "");
    return html << range_notes(statistic) << "</section>\n";
  }

  // A table of its own, as the intervals beside the numbers are about the noise alone.
  Html population() const {
    Html html;
    if (!shown_.tells_of_population()) return html;
    std::size_t count = 0;
    Html rows;
    for (const PresentedStatistic& statistic : shown_.statistics) {
      for (const PresentedNumber& number : statistic.numbers) {
        if (!number.population) continue;
        rows << population_row(statistic, number);
        ++count;
      }
    }
    const bool folded = count > most_open;
    html << "<section aria-labelledby=\"population\"><h2 id=\"population\">In the population</h2>\n";
    if (folded) {
      html << "<p>" << population_note() << "</p>\n<details><summary>All " << count_text(count)
           << " intervals</summary>\n";
    }
    html << "<table>";
    if (!folded) html << "<caption>" << population_note() << "</caption>";
    return html << "<thead><tr><th scope=\"col\">in the population</th><th scope=\"col\" "
                   "class=\"n\">interval</th></tr></thead><tbody>\n"
                << rows << "</tbody></table>" << (folded ? "</details>" : "") << "</section>\n";
  }

  static Html population_row(const PresentedStatistic& statistic, const PresentedNumber& number) {
    Html html;
    html << "<tr><th scope=\"row\">" << statistic.title;
    if (statistic.shape != Shape::number) html << ", " << label(statistic, number);
    html << "<small>" << statistic.population_of;
    // A share has no unit: that of the statistic is of counts.
    if (!statistic.population_of.starts_with("share") && !statistic.unit.empty())
      html << ", " << statistic.unit;
    html << "</small>";
    return html << "</th><td class=\"n\">"
                << interval_text(number.population->lower, number.population->upper) << "<small>"
                << percent(statistic.population_level) << "</small></td></tr>\n";
  }

  // What the numbers are about: the column of the groups or of the bins.
  static std::string first_head(const PresentedStatistic& statistic) {
    if (!statistic.group_by.empty()) return statistic.group_by;
    if (statistic.is_coefficients) return "coefficient";
    return statistic.columns.empty() ? "part" : statistic.columns.front();
  }

  static std::string value_text(const PresentedNumber& number) {
    return number.tells_nothing() ? "not told" : number.value;
  }

  // Rows become blocks on narrow screens: roles keep the table one.
  static Html list_with_bars(const PresentedStatistic& statistic, const std::string& grid) {
    Html html;
    html << "<thead role=\"rowgroup\"><tr role=\"row\"><th role=\"columnheader\" scope=\"col\">"
         << first_head(statistic) << "</th>" << column_head("released", " class=\"n\"")
         << interval_head(statistic.level)
         << "<th role=\"columnheader\" scope=\"col\" class=\"c\"><span class=\"vh\">chart</span>"
         << axis_strip(statistic.axis) << "</th></tr></thead><tbody role=\"rowgroup\">\n";
    for (const PresentedNumber& number : statistic.numbers) {
      html << "<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">" << label(statistic, number)
           << flags(number) << "</th><td role=\"cell\" class=\"n v\">" << value_text(number)
           << "</td><td role=\"cell\" class=\"n\">" << interval_text(number)
           << "</td><td role=\"cell\" class=\"c\">";
      if (number.bar) html << bar_strip(number, grid);
      html << "</td></tr>\n";
    }
    return html << "</tbody>";
  }

  // As little as a row can be: there are many.
  static Html plain_list(const PresentedStatistic& statistic) {
    Html html;
    html << "<thead><tr><th scope=\"col\">" << first_head(statistic)
         << "</th><th scope=\"col\" class=\"n\">released</th><th scope=\"col\" class=\"n\">"
         << percent(statistic.level) << " interval</th></tr></thead><tbody>\n";
    for (const PresentedNumber& number : statistic.numbers) {
      html << "<tr><th scope=\"row\">" << label(statistic, number) << flags(number)
           << "</th><td class=\"n v\">" << value_text(number) << "</td><td class=\"n\">"
           << interval_text(number) << "</td></tr>\n";
    }
    return html << "</tbody>";
  }

  Html protection() const {
    Html html;
    html << "<section aria-labelledby=\"protected\"><h2 id=\"protected\">What is protected, and against "
            "whom</h2>\n<p><b>";
    if (shown_.hides_presence) {
      html << "Whether a person is in the data at all</b>, with everything recorded about them";
    } else {
      html << "Which values one person’s row has</b>; that a row of theirs is there is public";
    }
    html << ". The numbers above would have come out much the same "
         << (shown_.hides_presence ? "without that person" : "with other values")
         << "; how much the same is what " << letter() << " says. With " << letter() << " "
         << short_number(shown_.epsilon) << measure().epsilon_beside(shown_.epsilon)
         << measure().reservation() << ", no conclusion that anyone draws from this page becomes more than "
         << factor(measure().as_epsilon(shown_.epsilon))
         << " times as likely, or as unlikely, because of one person.</p>\n"
         << belief_table(measure().as_epsilon(shown_.epsilon),
                         shown_.hides_presence ? "that " + person() + " is in the data"
                                               : std::string("of one of two things that a row may say"),
                         "this release")
         << cumulative()
         << "<div class=\"two\"><div><h3>It holds against</h3><ul><li>everybody who reads this page, now "
            "or later;</li><li>whatever they know already, even about everybody else in the "
            "data;</li><li>any amount of computing.</li></ul></div>\n<div><h3>It does not "
            "cover</h3><ul><li>the custodian, who holds the data;</li><li>what is true of people in "
            "general, which can be learned, and may be held against somebody who took part or not;</li><li>";
    if (shown_.privacy_unit) {
      html << "people with more than one value in column <code>" << *shown_.privacy_unit
           << "</code>, and families";
    } else {
      html << "people with more than one row, and families";
    }
    return html << " as a whole: each member is protected, together less so;</li><li>what is published "
                   "from these data outside this ledger.</li></ul></div></div>\n</section>\n";
  }

  // e^epsilon, upward.
  static std::string factor(const Rational& epsilon) {
    const double most = std::exp(to_double_up(epsilon)) * (1 + 1e-12);
    // ln 10 is above 2.3, so that e^epsilon is below 10^(epsilon / 2.3).
    if (!std::isfinite(most)) return "10^" + Integer(ceil(Rational(epsilon * 10 / 23))).get_str();
    return decimal_text(Rational(most), exponent_of(Rational(most)) - 1, Toward::above);
  }

  Html cumulative() const {
    Html html;
    html << "<p>Even chances, 50&#8239;%, can become at most "
         << percent(belief_after(measure().as_epsilon(shown_.spent), 50).most + "%")
         << " by reading all releases up to this one (" << letter() << " " << short_number(shown_.spent)
         << "), and at most "
         << percent(belief_after(measure().as_epsilon(shown_.spent + shown_.remaining), 50).most + "%")
         << " once all of " << letter() << " " << total() << " is spent.</p>\n";
    return html;
  }

  Html cost() const {
    const Rational before = Rational(shown_.spent - shown_.epsilon);
    Html html;
    html << "<section class=\"keep\" aria-labelledby=\"cost\"><h2 id=\"cost\">What it cost</h2>\n<p>Every "
            "release makes the protection a little weaker. The custodian allowed "
         << letter() << " " << total() << " in all, once and for all; what is spent never comes back.</p>\n";
    html << budget_bar(before, shown_.epsilon, shown_.remaining, "this release", false) << "</section>\n";
    return html;
  }

  Html how_to_read() const {
    Html html;
    html << "<section aria-labelledby=\"accuracy\"><h2 id=\"accuracy\">How to read ±</h2>\n<p><b>The "
            "intervals are about the noise.</b> ";
    if (const PresentedStatistic* first = leading();
        first != nullptr && !first->numbers.front().half_width.empty()) {
      const PresentedNumber& number = first->numbers.front();
      html << "“" << number.value << " ± " << number.half_width
           << "” means: the number that would come out without noise, from exactly these rows, is within "
           << number.half_width << " of the released one. That is so with probability "
           << percent(first->level) << ". ";
    }
    return html << "It does not depend on the rows being a good sample or following any curve: it follows "
                   "from the noise, whose law is public.</p>\n<div class=\"two\"><div><h3>They "
                   "include</h3><ul><li>the noise, and the rounding to a grid;</li><li>for means, the "
                   "noise of sum and count together.</li></ul></div>\n<div><h3>They do not "
                   "include</h3><ul><li>sampling: the people in the data may not be all "
                   "people"
                << (shown_.tells_of_population()
                        ? "; the intervals <a href=\"#population\">in the population</a> include it"
                        : "")
                << ";</li><li>errors in the answers;</li><li>values outside the declared bounds, "
                   "which were moved to the nearer bound.</li></ul></div></div>\n<p><b>To compare two "
                   "numbers</b>, add their ±: if they differ by more than that, noise does not explain the "
                   "difference. <b>Digits:</b> numbers are rounded where the noise begins, intervals "
                   "outward; the record has every digit. Counts may come out below 0. They are left so, "
                   "because correcting them would bias sums.</p>\n</section>\n";
  }

  Html how_to_check() const {
    Html html;
    html << "<section aria-labelledby=\"check\"><h2 id=\"check\">How to check it</h2>\n<p>For auditors. ";
    if (shown_.certificate) {
      html << "The certificate: the privacy loss of this whole report, computed for the mechanisms that "
              "ran, is <b>at most "
           << *shown_.certificate << "</b>, and " << letter() << " " << short_number(shown_.epsilon)
           << " was paid. ";
    }
    html << "Whoever holds the ledger can repeat all of this; none of it costs budget.</p>\n<pre "
            "class=\"wrap\">"
         << preformatted(commands()) << "</pre>\n<p class=\"note\">Neighboring data: " << neighbors() << " "
         << (measure().is_pure()
                 ? "Pure ε, no δ"
                 : "Counted in " + in_words(measure().measure, {shown_.epsilon, measure().delta}))
         << "; the costs of statistics add up. SnapDP " << shown_.version << ".</p>\n"
         << mechanisms() << record() << "</section>\n";
    return html;
  }

  std::string commands() const {
    std::string text =
        "# the ledger: every sum, every link, nothing rolled back\nsnapdp ledger verify " + ledger_;
    if (!provenance_.anchor.empty()) text += " --anchor " + shell_word(provenance_.anchor);
    if (!shown_.release) return text;
    const std::string release = ledger_ + " --release " + std::to_string(*shown_.release);
    return text + "\n# this release again: as a table, and the record to the letter\nsnapdp report " +
           release + "\nsnapdp ledger show " + release + " --json";
  }

  std::string neighbors() const {
    if (!shown_.hides_presence)
      return "one row has other values, of " + shown_.size.value_or("a public number of") + " rows.";
    if (!shown_.privacy_unit) return "with or without one row.";
    return "with or without all rows of one value of " + *shown_.privacy_unit + ", of which " +
           std::to_string(shown_.max_rows_per_unit) +
           (shown_.max_rows_per_unit == 1 ? " counts." : " count.");
  }

  Html mechanisms() const {
    Html html;
    if (shown_.noise.empty()) return html;
    html << "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Noise of every "
            "number\"><table class=\"mech\"><caption>Every noisy number: noise of this law and scale, "
            "drawn exactly and rounded to multiples of the grid. Loss: the most that one person changes "
            "the log-probability of any output, rounded up. The record has all digits.</caption><thead><tr>";
    const std::vector<std::string> heads = {"number",      "noise",  "scale", "grid",
                                            "sensitivity", letter(), "loss"};
    for (const std::string& head : heads)
      html << "<th scope=\"col\"" << (head == "number" || head == "noise" ? "" : " class=\"n\"") << ">"
           << head << "</th>";
    html << "</tr></thead><tbody>\n";
    for (const PresentedNoise& noise : shown_.noise) {
      html << "<tr><th scope=\"row\">" << noise.number << "</th><td>" << noise.law << "</td>";
      for (const std::string* cell :
           {&noise.scale, &noise.grid, &noise.sensitivity, &noise.epsilon, &noise.loss})
        html << "<td class=\"n\">" << *cell << "</td>";
      html << "</tr>\n";
    }
    return html << "</tbody></table></div>\n";
  }

  Html record() const {
    Html html;
    if (record_.size() > longest_record) {
      return html
             << "<p class=\"note\">The record, JSON as the ledger keeps it, is too long for a page.</p>\n";
    }
    return html << "<details class=\"screen\"><summary>The exact record (JSON, as the ledger keeps "
                   "it)</summary><pre tabindex=\"0\">"
                << preformatted(std::string(record_)) << "</pre></details>\n";
  }

  Html how_to_cite() const {
    Html html;
    html << "<section aria-labelledby=\"cite\"><h2 id=\"cite\">How to cite it</h2>\n<p>Name the release "
            "and the ±; a number without its ± is not this number.</p>\n<pre class=\"wrap\">"
         << shown_.title << ", " << lower_name();
    if (!provenance_.time.empty()) html << " (" << date_text(provenance_.time) << ")";
    html << ". Differentially private statistics,\n"
         << letter() << " = " << short_number(shown_.epsilon) << ", " << shown_.neighbors;
    if (shown_.privacy_unit) html << ", unit " << *shown_.privacy_unit;
    html << "; SnapDP " << shown_.version << ".";
    if (!provenance_.anchor.empty()) html << " Anchor " << provenance_.anchor << ".";
    return html << "</pre>\n</section>\n";
  }

  const Presentation& shown_;
  const ReportProvenance& provenance_;
  std::string_view record_;
  std::vector<const PresentedStatistic*> singles_;
  std::string ledger_;
};

}  // namespace

std::string report_html(const ReportModel& model, const ReportProvenance& provenance,
                        std::string_view record) {
  const Presentation shown = present(model);
  return ReportPage(shown, provenance, record).text();
}

}  // namespace snapdp::release_internal
