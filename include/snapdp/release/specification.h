// A specification: what is public about the data, which statistics are wanted, and what they may cost. It is
// read from TOML; docs/specification.md describes every key.
//
//   Specification specification = Specification::read("people.toml");
//   Plan plan(specification);                    // sensitivities, noise and accuracy; opens no data file
//
// Numbers are read from the source text, so 0.1 is one tenth. Whatever is wrong is an Error
// (invalid_argument, except io for a file that cannot be read) that names the file, the line, the key, the
// value, the rule and the next step. Unknown keys are refused with a suggestion. Nothing here opens the data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdp/framework/chunk.h"
#include "snapdp/framework/metric.h"
#include "snapdp/mechanism/grid_choice.h"
#include "snapdp/mechanism/mechanism.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/privacy/ledger.h"
#include "snapdp/release/where.h"

namespace snapdp {

// Which two datasets an observer must not be able to tell apart.
enum class Neighbors {
  change_one,  // one row is replaced; the number of rows is public
  add_remove,  // one row is added or removed; the number of rows is private
};

// "change-one", "add-remove".
std::string to_string(Neighbors neighbors);
// "change-one" and "add-remove" only; invalid_argument, with a suggestion, for anything else.
Neighbors parse_neighbors(std::string_view text, std::string_view parameter);
Metric metric_of(Neighbors neighbors);

enum class StatisticKind {
  count,
  sum,
  mean,
  variance,
  covariance,
  histogram,
  distinct,
  standard_deviation,
  correlation,
  moment,
  median,
  quantiles,
};

std::string to_string(StatisticKind kind);

// The noisy parts that a statistic is computed from ("sum" and "count" of a mean under add-remove), in the order of
// `split`; none when it is released itself.
std::vector<std::string> parts_of(StatisticKind kind, Neighbors neighbors);

// As written, lower <= upper. A plan rounds them outward to what the column's type can hold.
struct DecimalBounds {
  Rational lower;
  Rational upper;
};

// One [[statistic]].
struct StatisticSpecification {
  std::string name;
  StatisticKind kind = StatisticKind::count;
  std::vector<std::string> columns;   // none for a count, two for a covariance or correlation, else one
  std::optional<AtomType> type;       // as declared
  std::vector<DecimalBounds> bounds;  // one a column, except for counts, histograms and distinct
  std::optional<Rational>
      epsilon;  // exactly one of epsilon, accuracy and weight, or none when the statistic is a
  std::optional<Rational> accuracy;  // public constant
  // Instead of both: the share of what the run's budget leaves over.
  std::optional<Rational> weight;
  Rational alpha = Rational(1, 20);  // the probability with which the accuracy may be missed
  GridChoice grid;
  Mode mode = Mode::exact;
  std::optional<long> precision;         // bits, in precision mode
  NoiseKind noise = NoiseKind::laplace;  // geometric: counts, histograms and sums of integers
  // Histograms have exactly one of these, a distinct count one of the first two: the public set.
  std::vector<Rational> categories;
  std::vector<std::string> texts;
  std::vector<Rational> edges;
  std::vector<Rational>
      quantiles;                // 0 to 1, of quantiles and the median, whose edges are those of the hierarchy
  bool other = false;           // a last bin for everything else
  int order = 1;                // of a moment: 1 to 4
  std::vector<Rational> split;  // weights of the parts, if any
  bool nonnegative = false;     // negative results become 0, after the release
  // One statistic for each key of a column, in their order: numbers or texts.
  std::optional<std::string> group_by;
  std::vector<Rational> key_numbers;
  std::vector<std::string> key_texts;
  std::optional<std::uint64_t> max_groups_per_unit;
  int line = 0;  // where it stands in the file, for messages
};

struct Specification {
  // The longest file, and limits on what is in it.
  static constexpr std::size_t max_bytes = std::size_t{1} << 20;
  static constexpr std::size_t max_statistics = 1000;
  static constexpr std::size_t max_bins = 100'000;

  std::string text;            // as read
  std::string name;            // how messages call the file
  std::filesystem::path data;  // relative paths are taken from the folder of the specification; may be empty
  std::optional<char> delimiter;  // by the name of the file unless given
  std::string dataset;
  Neighbors neighbors = Neighbors::change_one;
  std::optional<std::uint64_t> size;           // change-one: the public number of rows
  std::optional<std::uint64_t> expected_size;  // add-remove: a public guess, used for planning only
  bool drop_nulls = false;                     // add-remove only
  std::optional<Rational> impute;              // what nulls become; absent: the midpoint of the bounds
  // add-remove only: neighbors differ by all rows of one unit, of which max_rows_per_unit are kept.
  std::optional<std::string> privacy_unit;
  std::uint64_t max_rows_per_unit = 1;
  std::optional<Where> where;  // add-remove only: the rows that count
  Rational budget;             // caps the run
  std::vector<StatisticSpecification> statistics;

  static Specification read(const std::filesystem::path& path);
  // `name` is how messages call the text; `folder` is where relative data paths start.
  static Specification parse(std::string_view text, std::string name,
                             const std::filesystem::path& folder = {});

  // What the ledger must agree to.
  LedgerIdentity identity() const { return {dataset, to_string(neighbors), privacy_unit.value_or("")}; }
  // Whether public facts alone determine the statistic, which is then released exactly and costs nothing: the
  // count under change-one, and what is computed from a column whose bounds are equal.
  bool is_constant(const StatisticSpecification& statistic) const;
  // "people.toml:14: statistic "age": ", the opening of messages about a statistic.
  std::string place(const StatisticSpecification& statistic) const;
};

}  // namespace snapdp
