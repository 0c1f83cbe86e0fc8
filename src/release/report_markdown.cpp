// Reports as GitHub's Markdown.
#include <algorithm>
#include <string_view>

#include "release/presentation.h"
#include "release/report_model.h"
#include "release/report_words.h"
#include "snapdp/text.h"

namespace snapdp::release_internal {
namespace {

using Shape = PresentedStatistic::Shape;

// Text that Markdown takes for nothing else, in a table's cell too. Any ASCII punctuation may stand behind a backslash.
std::string plain(const std::string& text) {
  constexpr std::string_view marks = "\\`*_{}[]<>()#+-!|~&$^=:@";
  std::string result;
  for (const char c : shown_text(text)) {
    if (marks.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string interval(const std::string& lower, const std::string& upper) {
  return (lower.empty() ? "no lower end" : lower) + " to " + (upper.empty() ? "no upper end" : upper);
}

std::string cell(const PresentedNumber& number) {
  const std::string flag = number.bewares.empty() ? "" : " ▲";
  return (number.tells_nothing() ? "not told" : number.value) + flag + " | " +
         interval(number.lower, number.upper);
}

std::string named(const std::string& code, const std::string& words) {
  return words.empty() ? plain(code) : plain(words) + " (" + plain(code) + ")";
}

std::string label_of(const PresentedNumber& number) {
  const std::string group = number.group.empty() ? "" : named(number.group, number.group_words);
  const std::string part = number.part.empty() ? "" : named(number.part, number.part_words);
  return group + (group.empty() || part.empty() ? "" : ", ") + part;
}

std::string single_numbers(const Presentation& shown) {
  std::string text;
  for (const PresentedStatistic& statistic : shown.statistics) {
    if (statistic.shape != Shape::number) continue;
    text += "| " + plain(statistic.title) + (statistic.unit.empty() ? "" : ", " + plain(statistic.unit)) +
            " | " + cell(statistic.numbers.front()) + " | " +
            (statistic.level.empty() ? "exact" : statistic.level) + " | " + statistic.epsilon + " |\n";
  }
  if (text.empty()) return "";
  return "\n| statistic | released | interval | level | " + shown.measure.letter() +
         " |\n|---|--:|--:|--:|--:|\n" + text;
}

// What was chosen, without a number but its rank.
std::string ranking(const PresentedStatistic& statistic, const std::string& letter) {
  std::string text = "\n## " + plain(statistic.title) + "\n\n" + plain(description(statistic)) + "; " +
                     letter + " " + statistic.epsilon + "\n\n| rank | |\n|--:|---|\n";
  for (const PresentedNumber& number : statistic.numbers)
    text += "| " + number.part + " | " + named(number.value, number.value_words) + " |\n";
  return text + "\n" + plain(statistic.choice_note.substr(0, statistic.choice_note.size() - 1)) + "\n";
}

std::string list(const PresentedStatistic& statistic, const std::string& letter) {
  if (statistic.shape == Shape::choices) return ranking(statistic, letter);
  std::string text = "\n## " + plain(statistic.title) + "\n\n" + plain(description(statistic)) +
                     (statistic.unit.empty() ? "" : ", " + plain(statistic.unit)) + "; " +
                     list_note(statistic) + "; " + letter + " " + statistic.epsilon +
                     " for all\n\n| | released | interval |\n|---|--:|--:|\n";
  for (const PresentedNumber& number : statistic.numbers)
    text += "| " + label_of(number) + " | " + cell(number) + " |\n";
  return text;
}

// Apart from the intervals beside the numbers, which are about the noise alone.
std::string population(const Presentation& shown) {
  if (!shown.tells_of_population()) return "";
  std::string text =
      "\n## In the population\n\n" + population_note() + "\n\n| | interval | level |\n|---|--:|--:|\n";
  for (const PresentedStatistic& statistic : shown.statistics) {
    for (const PresentedNumber& number : statistic.numbers) {
      if (!number.population) continue;
      const std::string label = label_of(number);
      text += "| " + plain(statistic.title) + (label.empty() ? "" : ", " + label) + ": " +
              statistic.population_of + " | " + interval(number.population->lower, number.population->upper) +
              " | " + statistic.population_level + " |\n";
    }
  }
  return text;
}

}  // namespace

std::string report_markdown(const ReportModel& model) {
  const Presentation shown = present(model);
  std::string text = "# " + release_name(shown) + " of " + plain(shown.title) + "\n\n";
  if (!shown.headline.empty()) text += "**" + plain(shown.headline) + "**\n\n";
  const bool numbers =
      shown.statistics.empty() ||
      std::any_of(shown.statistics.begin(), shown.statistics.end(),
                  [](const PresentedStatistic& statistic) { return statistic.shape != Shape::choices; });
  text += std::string(numbers ? "Random noise was added to each number."
                              : "What is named was chosen with random noise.") +
          " Hidden: " + plain(hidden_text(shown)) + ".\n";
  if (shown.where) text += "\nRows that count: where " + plain(*shown.where) + "\n";
  for (const std::string& note : shown.keys_notes) text += "\n" + plain(note) + "\n";
  for (const PresentedWarning& warning : shown.warnings) {
    text += "\n> ▲ **" + plain(titles(shown, warning)) + "**: " + plain(warning_text(warning)) + ".\n";
  }
  text += single_numbers(shown);
  for (const PresentedStatistic& statistic : shown.statistics) {
    if (statistic.shape != Shape::number) text += list(statistic, shown.measure.letter());
  }
  text += population(shown);
  const ShownMeasure& measure = shown.measure;
  const Belief belief = belief_after(measure.as_epsilon(shown.epsilon), 50);
  text += "\n" + measure.letter() + " " + short_number(shown.epsilon) +
          measure.epsilon_beside(shown.epsilon) + " was spent by this release, " + short_number(shown.spent) +
          " by all so far; " + short_number_down(shown.remaining) +
          " is left. Even chances (50%) become at most " + belief.most + "% by reading this release" +
          measure.reservation() + ".\n\n" + interval_note(shown) + "\n";
  return text;
}

}  // namespace snapdp::release_internal
