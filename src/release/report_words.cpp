#include "release/report_words.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "release/report_numbers.h"

namespace snapdp::release_internal {
namespace {

std::string rows(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " row" : " rows");
}

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

}  // namespace

std::string guess_note(const ShownStatistic& statistic) {
  const auto joined = [](const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : " and ") + text;
    return all;
  };
  const auto& expected = *statistic.expected;
  return "the accuracy is for about such data as are guessed, " + std::to_string(expected.rows) + " rows" +
         (expected.deviations.empty() ? "" : ", deviation " + joined(expected.deviations)) + ", mean " +
         (expected.means.empty() ? "in the middle of the bounds" : joined(expected.means)) +
         "; the report tells the one that is proved.";
}

std::string release_name(const Presentation& shown) {
  return shown.release ? "Release " + std::to_string(*shown.release) : "Statistics";
}

std::string hidden_text(const Presentation& shown) {
  if (!shown.hides_presence)
    return "what one row says" + (shown.size ? ", one of " + *shown.size : std::string());
  if (!shown.privacy_unit) return "whether a row is in the data at all";
  return "whether a person is in the data at all (column " + *shown.privacy_unit + ", at most " +
         rows(shown.max_rows_per_unit) + " each)";
}

std::string description(const PresentedStatistic& statistic) {
  std::string kind = statistic.kind;
  for (char& c : kind) c = c == '_' ? ' ' : c;
  if (statistic.is_coefficients && !statistic.columns.empty()) {
    kind += " of " + statistic.columns.front() + " on " +
            joined({statistic.columns.begin() + 1, statistic.columns.end()}, " and ");
    return kind + (statistic.group_by.empty() ? "" : " by " + statistic.group_by);
  }
  return kind + (statistic.columns.empty() ? "" : " of " + joined(statistic.columns, " and ")) +
         (statistic.group_by.empty() ? "" : " by " + statistic.group_by);
}

std::string list_note(const PresentedStatistic& statistic) {
  if (statistic.level.empty()) return "";
  return statistic.together ? statistic.level + ": all intervals at once"
                            : statistic.level + ": each interval alone";
}

std::string common_level(const Presentation& shown) {
  std::string common;
  for (const PresentedStatistic& statistic : shown.statistics) {
    if (statistic.shape != PresentedStatistic::Shape::number || statistic.level.empty()) continue;
    if (!common.empty() && common != statistic.level) return "";
    common = statistic.level;
  }
  return common;
}

std::string titles(const Presentation& shown, const PresentedWarning& warning) {
  constexpr std::size_t most = 6;
  std::vector<std::string> titles;
  for (const std::size_t statistic : warning.statistics) {
    if (titles.size() < most) titles.push_back(shown.statistics[statistic].title);
  }
  const std::size_t more = warning.statistics.size() - titles.size();
  return joined(titles, ", ") + (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

std::string warning_text(const PresentedWarning& warning) {
  const bool lists =
      std::any_of(warning.numbers.begin(), warning.numbers.end(),
                  [](const std::string& number) { return number.find(',') != std::string::npos; });
  std::string which = joined(warning.numbers, lists ? "; " : ", ");
  if (warning.more > 0) which += " and " + std::to_string(warning.more) + " more";
  return (which.empty() ? "" : which + ": ") + advice(warning.what);
}

std::string date_text(std::string_view time) {
  constexpr std::array<const char*, 12> months = {"January",   "February", "March",    "April",
                                                  "May",       "June",     "July",     "August",
                                                  "September", "October",  "November", "December"};
  constexpr std::size_t length_of_date = 10;
  const auto number = [&](std::size_t from, std::size_t length) {
    std::size_t value = 0;
    const char* begin = time.data() + from;
    const auto [end, status] = std::from_chars(begin, begin + length, value);
    return status == std::errc() && end == begin + length ? value : 0;
  };
  if (time.size() < length_of_date || time[4] != '-' || time[7] != '-') return std::string(time);
  const std::size_t month = number(5, 2);
  if (number(0, 4) == 0 || number(8, 2) == 0 || month == 0 || month > months.size()) return std::string(time);
  return std::to_string(number(8, 2)) + " " + months.at(month - 1) + " " + std::to_string(number(0, 4));
}

std::string interval_note(const Presentation& shown) {
  if (!shown.tells_of_population())
    return "Intervals hold the noise only: not sampling, not what bounds cut off.";
  return "Intervals hold the noise only, those of the population sampling too; none holds what bounds cut "
         "off.";
}

std::string population_note() {
  return "Besides the noise these intervals include the error of sampling, which those above do not. They "
         "presume "
         "that the rows are a random sample of the population, drawn independently of each other or without "
         "replacement: clusters, weights and non-response are not in them. Each holds by itself, not all of "
         "them "
         "together.";
}

}  // namespace snapdp::release_internal
