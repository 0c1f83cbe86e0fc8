// The numbers of a report one by one: what was released, where the exact number lies, and what to beware of.
// Everything here is a function of released values and of public facts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "release/report_model.h"

namespace snapdp::release_internal {

// A released number.
struct ReportedNumber {
  const ShownEntry* entry = nullptr;  // of all rows, or a group
  const ShownBin* bin = nullptr;
  const ShownQuantile* quantile = nullptr;
  const ShownChosen* chosen = nullptr;  // a category, whose value is its rank
  const ShownCoefficient* coefficient = nullptr;
  Rational value;
  // Where the exact number lies, except with the probability alpha of the statistic: as far as it is public
  // that it may.
  NumberRange interval = {};
  // Half the width of the interval before it is cut; absent for quantiles, coefficients and where nothing bounds the error.
  std::optional<Rational> accuracy = {};
  const ShownInterval* population = nullptr;  // what it says of where the rows come from, if it does
  std::vector<Beware> bewares = {};           // in the order of the enumeration
};

// Where the exact numbers of a statistic lie whatever the rows are: what follows from its kind and, where the
// statistic is clamped to a range that was declared, from that.
NumberRange range_of(const ReportModel& model, const ShownStatistic& statistic);

// Whether its numbers count, so that nothing is shown behind the point.
bool is_whole(const ShownStatistic& statistic);

// Calls `visit` for each released number, in the order of the report. Throws some std::exception when a
// number of the model, read from a foreign text, is none.
void for_each_number(const ReportModel& model, const ShownStatistic& statistic,
                     const std::function<void(const ReportedNumber&)>& visit);

// All digits of it, as the JSON has them.
std::string released_text(const ReportedNumber& number);

// The alpha of the intervals of a statistic; nothing for what has none.
std::optional<std::string> alpha_of(const ShownStatistic& statistic);

// Whether the intervals hold for all numbers of the statistic at once.
bool hold_together(const ShownStatistic& statistic);

// How the probability 1 - alpha is written: "95%", or "1 - 1e-12".
std::string confidence(const Rational& alpha);

// What was chosen as the range of a statistic, as a line; empty for its own public range, which goes without
// saying.
std::string range_note(const ShownStatistic& statistic);
// That cells are put on a grid before they are summed; a line, or "".
std::string row_grid_note(const ShownStatistic& statistic);

// How the groups of a column are chosen that nobody declared and, in a report, how many are shown; a line.
std::string keys_note(const ReportModel& model, const ShownKeys& keys);

// How far below the most frequent ones a category may be that is named, as a line.
std::string choice_note(const ShownStatistic& statistic);

// What is certain of quantiles, as a line: where the exact ones lie, and how far ranks are off at edges,
// two claims, each with the probability that it tells. Nothing about ranks inside a bin, where rows cannot be
// told apart.
std::string quantile_note(const ShownStatistic& statistic);

// The warnings of a report: of each statistic and kind of warning the first few one by one, then how many
// more.
std::vector<ReportWarning> warnings_of(const ReportModel& model);
// As many as may come of whatever is drawn, and as long.
std::vector<ReportWarning> longest_warnings(const ReportModel& model);

// "tells_nothing".
std::string name_of(Beware what);
// What to do about it, as a sentence without a subject: "the interval is the whole range, so this number
// tells nothing".
std::string advice(Beware what);
// The text of the JSON.
std::string message(const ReportWarning& warning);

}  // namespace snapdp::release_internal
