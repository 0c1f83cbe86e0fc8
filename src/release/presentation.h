// What every writer of a report shows, whatever its marks: numbers rounded to what the noise allows, each
// with its interval, its place on the public range, and what to beware of. Names and words are as the
// specification has them: a writer escapes them. Everything that can fail has failed when there is a
// presentation: writers only put texts together.
//
//   const Presentation shown = present(model);
//   for (const PresentedStatistic& statistic : shown.statistics)
//     for (const PresentedNumber& number : statistic.numbers) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "release/report_model.h"

namespace snapdp::release_internal {

// Digits that the noise allows, or all that were released.
enum class Digits { meaningful, all };

// Positions on an axis, from 0 to 1.
struct Bar {
  double solid_from = 0;  // from 0 as far as the exact number reaches for certain; empty when equal
  double solid_to = 0;
  double from = 0;  // the interval
  double to = 0;
  double tick = 0;  // the released number
};

struct PresentedAxis {
  std::string from;  // its ends
  std::string to;
  bool open_below = false;  // the public range goes on
  bool open_above = false;
  std::vector<std::pair<double, std::string>> ticks;  // places from 0 to 1
};

// Ends are empty where nothing bounds them.
struct PresentedInterval {
  std::string lower;
  std::string upper;
};

struct PresentedNumber {
  std::string group;  // the key; empty without groups
  std::string group_words;
  std::string part;  // the bin, or which quantile or coefficient; empty for a number that stands alone
  std::string part_words;
  std::string value;        // empty when it tells nothing; of a choice the category
  std::string value_words;  // what people call that
  std::string lower;        // of the interval; empty where nothing bounds it
  std::string upper;
  std::string half_width;  // of the interval before it is cut; empty where it has no middle
  std::optional<Bar> bar;
  std::optional<PresentedInterval> population;  // of where the rows come from, with the error of sampling
  std::vector<Beware> bewares;

  bool tells_nothing() const { return value.empty(); }
};

struct PresentedStatistic {
  enum class Shape { number, bins, groups, quantiles, choices, coefficients };
  Shape shape = Shape::number;
  std::string name;
  std::string title;  // words for people, or the name
  std::string kind;
  std::string unit;  // empty where there is none
  std::vector<std::string> columns;
  std::string group_by;
  std::string epsilon;
  std::string level;          // the probability of each interval, "95%"; empty for a constant
  bool together = false;      // or that of all intervals at once
  std::string misses;         // how many of the intervals, one by one, miss the exact number: "about 1"
  std::string half_together;  // of bins: half the width of their intervals, and that of one alone
  std::string half_alone;
  bool is_quantiles = false;     // or a median
  bool is_coefficients = false;  // each in a unit of its own; also by groups
  std::string rank_error;        // in rows; empty when nothing bounds it
  std::size_t edges = 0;
  std::string quantile_note;
  std::string choice_note;    // of a choice, whose numbers are categories
  std::string range_note;     // a range that is not the kind's own
  std::string row_grid_note;  // that cells are put on a grid
  std::string population_of;  // what may be told of the population: "mean" or "share"; empty where nothing is
  std::string population_level;  // the probability of each such interval, one by one
  bool constant = false;
  PresentedAxis axis;
  std::vector<PresentedNumber> numbers;
};

struct PresentedWarning {
  std::vector<std::size_t> statistics;  // their indices: one with numbers, or several as a whole
  Beware what = Beware::tells_nothing;
  std::vector<std::string> numbers;  // "9", "2, [0, 20)": which of them; empty for the statistic as a whole
  std::uint64_t more = 0;            // and how many more
};

// What somebody may be sure of a person, in percent, before and at most (or at least) after reading.
struct Belief {
  std::string before;
  std::string least;
  std::string most;
  double before_at = 0;  // places from 0 to 1
  double least_at = 0;
  double most_at = 0;
};
Belief belief_after(const Rational& epsilon, int percent_before);

struct PresentedNoise {
  std::string number;  // "mean_age, sum"
  std::string scale;
  std::string grid;
  std::string sensitivity;
  std::string law;
  std::string epsilon;
  std::string loss;
  std::string basis;
};

struct Presentation {
  std::string dataset;
  std::string title;     // words for people, or the dataset
  std::string headline;  // may be empty
  std::string version;   // of the program that made the release
  std::string neighbors;
  bool hides_presence = false;  // whether a person is there at all; else what one row says
  std::optional<std::string> privacy_unit;
  std::uint64_t max_rows_per_unit = 1;
  std::optional<std::string> where;
  std::optional<std::string> size;
  std::optional<std::int64_t> release;
  std::vector<PresentedStatistic> statistics;
  std::vector<PresentedWarning> warnings;
  std::vector<std::string> keys_notes;     // of groups that nobody declared, without ends of lines
  std::vector<PresentedNoise> noise;       // of every mechanism
  std::optional<std::string> certificate;  // the bound on the loss of the report, all digits
  ShownMeasure measure;
  Rational epsilon;  // of this release, in that measure
  Rational spent;    // of all so far
  Rational remaining;

  bool tells_of_population() const;
};

// Throws some std::exception when a number of the model, read from a foreign text, is none.
Presentation present(const ReportModel& model, Digits digits = Digits::meaningful);

}  // namespace snapdp::release_internal
