// A specification: which statistics an analyst asks of a dataset, and what they may cost. It is read from
// TOML; docs/specification.md describes every key.
//
//   Specification specification = Specification::read("people.toml");
//   Plan plan(specification);                    // sensitivities, noise and accuracy; opens no data file
//
// What is public about the data is the custodian's declaration (declaration.h). The file may hold it too, or
// leave it to the one that the ledger keeps:
//
//   const std::optional<Declaration> declared = Declaration::of(ledger);
//   Specification specification = Specification::read("question.toml", declared);
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
#include <utility>
#include <vector>

#include "snapdp/framework/chunk.h"
#include "snapdp/framework/loss.h"
#include "snapdp/framework/source.h"
#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/mechanism.h"
#include "snapdp/mechanism/noise.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/release/declaration.h"

namespace snapdp {

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
  range_count,
  top,
  regression,
};

std::string to_string(StatisticKind kind);

// The noisy parts that a statistic is computed from ("sum" and "count" of a mean under add-remove), in the
// order of `split`; none when it is released itself. Those of a regression depend on the number of its
// columns, y and at least one x.
std::vector<std::string> parts_of(StatisticKind kind, Neighbors neighbors, std::size_t columns = 2);

// One [[statistic]].
struct StatisticSpecification {
  std::string name;
  std::string title;  // words for people; may be empty
  StatisticKind kind = StatisticKind::count;
  // None for a count, two for a covariance or correlation, of a regression y and then each x, else one.
  std::vector<std::string> columns;
  std::optional<AtomType> type;       // as stated or declared; absent: real
  std::vector<DecimalBounds> bounds;  // one a column, except for counts, histograms and distinct
  std::optional<Rational>
      epsilon;  // exactly one of epsilon, rho, accuracy and weight, or none when the statistic is a
  std::optional<Rational> accuracy;  // public constant
  // Instead of both: the share of what the run's budget leaves over.
  std::optional<Rational> weight;
  // Of Gaussian noise: its rho, instead of an epsilon; or the delta that goes with its epsilon or accuracy.
  std::optional<Rational> rho;
  std::optional<Rational> delta;
  Rational alpha = Rational(1, 20);  // the probability with which the accuracy may be missed
  GridChoice grid;
  NoiseKind noise = NoiseKind::exact;  // geometric: counts, histograms and sums of integers
  std::optional<long> precision;       // bits, in precision mode
  RowGridChoice row_grid;              // as stated or declared
  RangeChoice range;                   // what values and outputs are clamped to
  // Public guesses at the statistic with their weights, for the expected bias in a plan; nothing else depends
  // on them.
  std::vector<Rational> guesses;
  std::vector<Rational> guess_weights;
  // Public guesses at the data, for planning only: no interval and no noise depends on them but through the
  // epsilon that is planned for an accuracy. Means and deviations have one number a column.
  std::vector<Rational> expected_means;
  std::vector<Rational> expected_deviations;
  std::optional<std::uint64_t> expected_group_size;
  // Histograms have exactly one of these, a distinct count one of the first two: the public set.
  std::vector<Rational> categories;
  std::vector<std::string> texts;
  std::vector<Rational> edges;
  std::vector<Rational>
      quantiles;                // 0 to 1, of quantiles and the median, whose edges are those of the hierarchy
  bool other = false;           // a last bin for everything else
  int order = 1;                // of a moment: 1 to 4
  std::size_t top_count = 1;    // of top: how many categories are named
  std::vector<Rational> split;  // weights of the parts, if any
  bool nonnegative = false;     // negative results become 0, after the release
  // One statistic for each key of a column, in their order: numbers or texts.
  std::optional<std::string> group_by;
  std::vector<Rational> key_numbers;
  std::vector<std::string> key_texts;
  AtomType key_type = AtomType::real;  // of the column of the groups
  // The keys are not declared: Specification::private_keys says how those that are shown are chosen. Both
  // lists of keys are empty, but in what a release is told by.
  bool private_keys = false;
  std::optional<GroupLimit> groups_per_unit;  // what of a unit's rows counts
  // Pairs of groups, by their places among the keys, whose difference is told: the first less the second.
  std::vector<std::pair<std::size_t, std::size_t>> differences;
  int line = 0;  // where it stands in the file, for messages

  // A key as it is written, "a" or "1/3".
  std::string key_text(std::size_t group) const;
  // What a report calls a difference: "income: a - b".
  std::string name_of_difference(const std::pair<std::size_t, std::size_t>& groups) const;
};

// One [keys.NAME]: which groups are shown where nobody declared them, see statistics/private_groups.h.
struct KeysSpecification {
  std::string column;
  AtomType type = AtomType::text;  // as declared
  Rational epsilon;
  Rational delta;
  std::uint64_t max_groups = 1;  // of a privacy unit
  std::uint64_t min_units = 1;
  std::size_t most = 1'000;
  int line = 0;
};

struct Specification {
  static constexpr std::size_t max_statistics = 1000;
  static constexpr std::size_t max_bins = Declaration::max_values;

  std::string text;                   // as read
  std::string name;                   // how messages call the file
  std::filesystem::path folder;       // of the file; relative paths start there
  std::filesystem::path stated_path;  // where the file itself says that the data lie; may be empty
  Declaration data;                   // what is in force of the dataset
  std::string headline;               // words for people, of the whole release; may be empty
  PrivacyBudget budget;               // caps the run, and says in which measure it counts
  std::string label;                  // of the release (ReleaseOptions::label), or ""
  std::vector<StatisticSpecification> statistics;
  // By column; each is used by a statistic.
  std::vector<KeysSpecification> private_keys;

  // With `declared`, what a ledger keeps, the file needs no [data], and throws budget_refused when it says
  // something else there. `name` is how messages call the text; `folder` is where relative data paths start.
  static Specification read(const std::filesystem::path& path,
                            const std::optional<Declaration>& declared = std::nullopt);
  static Specification parse(std::string_view text, const std::string& name,
                             const std::filesystem::path& folder = {},
                             const std::optional<Declaration>& declared = std::nullopt);
  // The same text under what a ledger keeps.
  Specification under(const Declaration& declared) const { return parse(text, name, folder, declared); }

  // What the ledger must agree to.
  LedgerIdentity identity() const { return data.identity(); }
  // Whether public facts alone determine the statistic, which is then released exactly and costs nothing: the
  // count under change-one, and what is computed from a column whose bounds are equal.
  bool is_constant(const StatisticSpecification& statistic) const;
  // How many rows neighbors are apart in what the statistic sees: 1, or what a unit may contribute to it.
  std::uint64_t rows_apart(const StatisticSpecification& statistic) const;
  // "people.toml:14: statistic "age": ", the opening of messages about a statistic.
  std::string place(const StatisticSpecification& statistic) const;
  std::string place(const KeysSpecification& keys) const;
};

}  // namespace snapdp
