// What a plan or a report says: one model, built of a plan and what was released, or read from what a ledger keeps, and
// written as JSON and as a table. Numbers that JSON has as null, because nothing bounds them, are infinite here.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdp/release/plan.h"
#include "snapdp/release/report.h"

namespace snapdp::release_internal {

// The values that a statistic is shown with.
class ShownValues {
 public:
  // A plan has none.
  static ShownValues none() { return ShownValues(Kind::none, nullptr); }
  // Of a report: one vector a measurement, which must outlive this.
  static ShownValues of(const std::vector<std::vector<Dyadic>>& released) {
    return ShownValues(Kind::released, &released);
  }
  // Stand-ins that are at least as long as whatever may be drawn, to know before paying how long a report can become.
  static ShownValues longest() { return ShownValues(Kind::longest, nullptr); }

  bool any() const { return kind_ != Kind::none; }
  bool are_stand_ins() const { return kind_ == Kind::longest; }
  // Nothing for stand-ins.
  const std::vector<std::vector<Dyadic>>* released() const { return released_; }

 private:
  enum class Kind { none, released, longest };
  ShownValues(Kind kind, const std::vector<std::vector<Dyadic>>* released)
      : kind_(kind), released_(released) {}

  Kind kind_;
  const std::vector<std::vector<Dyadic>>* released_;
};

// A number, or a key, as JSON has it.
struct ShownNumber {
  std::string text;
  bool quoted = false;  // a text, or what a reader's double might not hold

  static ShownNumber of(double value);
  static ShownNumber quote(std::string text) { return {std::move(text), true}; }
  Rational rational() const { return parse_exact(text, "report"); }
};

struct ShownAccuracy {
  std::string alpha;
  double conservative = 0;
  double tight = 0;
  std::optional<double> simultaneous;
};

struct ShownRange {
  std::string choice;
  std::optional<ShownNumber> lower;
  std::optional<ShownNumber> upper;
  std::optional<ShownNumber> gamma;
};

struct ShownCertificate {
  std::string witness;
  ShownNumber bound;
  std::optional<std::string> notes_claim;
  bool notes_claim_holds = true;
};

// What is known beforehand about noisy numbers.
struct ShownUtility {
  double conservative = 0;
  double tight = 0;
  double laplace = 0;
  // For the worst value that the statistic may have; not of what is computed from parts.
  struct Law {
    double worst_bias = std::numeric_limits<double>::infinity();
    double binding_probability = std::numeric_limits<double>::infinity();
  };
  std::optional<Law> law;
  std::optional<double> expected_bias;
};

// A mechanism, or what parts have together.
struct ShownNoise {
  ShownNumber epsilon;                     // what it costs: of a run that counts in rho, that
  Rational delta = 0;                      // likewise
  std::optional<ShownNumber> sensitivity;  // of several parts each has its own, as it has its scale and grid
  std::optional<ShownNumber> scale;
  std::optional<ShownNumber> grid;
  std::string mode;
  std::optional<long> precision;
  std::string noise;
  std::optional<ShownRange> range;
  std::string loss_bound;
  std::string loss_basis;
  ShownCertificate certificate;
};

// Where a number of the population lies that the rows are a random sample of, but for a probability of alpha.
struct ShownInterval {
  std::string alpha;
  double lower = 0;
  double upper = 0;
};

struct ShownBin {
  std::string label;
  std::optional<ShownNumber> value;
  std::string words;                        // what people call it; may be empty
  std::optional<ShownInterval> population;  // of its share
};

struct ShownQuantile {
  std::string q;  // empty for a median
  double value = 0;
  double lower = 0;
  double upper = 0;
};

// A category that was chosen.
struct ShownChosen {
  std::string label;
  std::string words;  // what people call it; may be empty
};

// Of a regression.
struct ShownCoefficient {
  std::string name;  // of its column, or the intercept
  double value = 0;
  double lower = 0;
  double upper = 0;
};
inline const std::string intercept_name = "intercept";

struct ShownPart {
  std::string name;
  std::optional<ShownNumber> value;
  std::vector<std::string> centers;
  ShownNoise noise;
  std::optional<ShownAccuracy> accuracy;
  std::optional<ShownUtility> utility;
};

// What is released: of one group, or of all rows. There may be many.
struct ShownEntry {
  ShownNumber key;    // of a group
  std::string words;  // what people call the group; may be empty
  std::optional<ShownNumber> value;
  std::optional<ShownAccuracy> accuracy;  // of what is computed from parts
  std::optional<ShownInterval> population;
  std::vector<ShownBin> bins;
  std::vector<ShownQuantile> quantiles;  // or the median
  std::vector<ShownChosen> chosen;       // of top: the most frequent first
  std::vector<ShownCoefficient> coefficients;
  std::vector<ShownNumber> parts;  // of a group: their values
  bool is_median() const { return quantiles.size() == 1 && quantiles.front().q.empty(); }
};

// What holds of all that is read off hierarchies of counts.
struct ShownHierarchy {
  std::size_t edges = 0;
  std::size_t nodes = 0;
  double rank_error = 0;
  std::string alpha;
};

// What holds of what is chosen, see PlannedStatistic::gap.
struct ShownChoice {
  std::size_t count = 0;
  std::size_t candidates = 0;
  double gap = 0;
  std::string alpha;
};

// What a difference is of: two groups of a statistic, of this kind.
struct ShownDifference {
  std::string of;
  std::string kind;
  ShownNumber first;
  ShownNumber second;
  bool beware = false;  // there is something to beware of in the number of one of them
};

struct ShownStatistic {
  std::string name;
  std::string title;  // words for people, like the unit; may be empty
  std::string unit;   // of the values
  std::string kind;
  std::vector<std::string> columns;
  std::optional<int> order;
  std::optional<std::string> group_by;
  bool private_keys = false;  // whose keys nobody declared
  std::optional<GroupLimit> groups_per_unit;
  std::optional<ShownDifference> difference;  // then it is read off that statistic, at no cost
  std::vector<std::pair<std::string, std::string>> bounds;
  std::vector<std::string> row_grids;  // spacings that cells are put on first, one a column, if any
  bool constant = false;
  std::optional<ShownHierarchy> hierarchy;
  std::optional<ShownChoice> choice;
  // Of a regression: all its coefficients lie in their intervals but for this probability.
  std::optional<std::string> coefficient_alpha;
  ShownNoise noise;
  std::optional<ShownAccuracy> accuracy;
  // Of a plan whose accuracy is for about such data: what is guessed of them.
  struct Expected {
    std::uint64_t rows = 0;
    std::vector<std::string> means;
    std::vector<std::string> deviations;
  };
  std::optional<Expected> expected;
  std::optional<ShownUtility> utility;
  std::vector<ShownPart> parts;
  ShownEntry all;                  // unless there are groups
  std::vector<ShownEntry> groups;  // empty without group_by
};

// How the groups of a column are chosen that nobody declared.
struct ShownKeys {
  std::string column;
  ShownNumber epsilon;  // what that costs: of a run that counts in rho, that
  Rational delta = 0;
  std::optional<std::uint64_t> max_groups_per_unit;
  std::uint64_t min_units = 1;
  std::uint64_t most = 0;
  std::string likely;   // from so many privacy units on a group is shown at least every second time,
  std::string certain;  // and from so many on always
  std::vector<std::string> statistics;
  // Of a report.
  std::optional<std::uint64_t> shown;
  bool cut = false;  // others could be shown but for `most`
  // What the statistics cost that are not there, because no group is shown.
  std::optional<ShownNumber> left_out;
};

// Where a number may lie, whatever the rows are; nothing where there is no end.
struct NumberRange {
  std::optional<Rational> lower;
  std::optional<Rational> upper;
};

// What to beware of in a released number. All follow from released and public numbers, and hence cost nothing.
enum class Beware {
  tells_nothing,  // the interval is the whole range
  placeholder,    // no rows were told from none: the value stands for none
  few_rows,       // the noisy number of rows is below its own error
  at_bound,       // the value lies at an end of the range, where noise was cut off
  reaches_lower,  // the interval reaches the lower end of the range
  reaches_upper,  // the upper end
  outer_edge,     // the interval of a quantile ends at an outer edge
  sign_not_told,  // the interval of a covariance, correlation or difference holds 0
  below_zero,     // a count below 0
  in_a_group,     // of a difference: something of one of its groups
  rows_missing,   // all bins together hold far fewer rows than there are
};

struct ReportWarning {
  std::string statistic;
  std::optional<ShownNumber> group = {};
  std::optional<std::string> bin = {};
  std::optional<std::string> quantile = {};
  std::optional<std::string> coefficient = {};
  Beware what = Beware::tells_nothing;
  std::uint64_t more = 0;  // instead of one number: so many more of the statistic
};

// In what a run and its ledger count, and the delta that goes with it: as much may fail.
struct ShownMeasure {
  PrivacyMeasure measure = PrivacyMeasure::pure;
  Rational delta = 0;

  bool is_pure() const { return measure == PrivacyMeasure::pure; }
  // "epsilon" or "rho"; "ε" or "ρ".
  std::string unit() const { return unit_of(measure); }
  std::string letter() const { return measure == PrivacyMeasure::zcdp ? "\u03c1" : "\u03b5"; }
  // The epsilon that so much of it is, except with probability delta: the amount itself but for rho, which at most half of
  // delta is left for.
  Rational as_epsilon(const Rational& amount) const;
  // "", or ", except with probability 1e-06".
  std::string reservation() const;
  // " (epsilon 3.4)" of a rho; else "".
  std::string epsilon_beside(const Rational& amount) const;
};

struct ReportModel {
  ShownMeasure measure;
  std::string dataset;
  std::string title;  // words for people; may be empty
  std::string headline;
  std::string neighbors;
  std::optional<std::uint64_t> size;
  std::optional<std::string> privacy_unit;
  std::uint64_t max_rows_per_unit = 1;
  std::optional<std::string> where;
  std::vector<ShownStatistic> statistics;
  std::vector<ShownKeys> keys;
  std::optional<ShownCertificate> certificate;  // reports of older versions have none

  // Of a report.
  std::string version;  // of the program that made it
  std::optional<std::int64_t> release;
  std::vector<ReportWarning> warnings;
  ShownNumber spent;  // an epsilon, or a rho
  ShownNumber remaining;
  Rational spent_delta = 0;
  Rational remaining_delta = 0;
  // Of a plan.
  PrivacyBudget budget;
  Rational planned;  // an epsilon, or a rho
  Rational planned_delta = 0;
  std::vector<std::string> unpaid;
  std::vector<PlanWarning> plan_warnings;
  std::vector<Saving> savings;
};

// With `savings` what other choices would give, which takes longer than all the rest.
ReportModel model_of_plan(const Plan& plan, bool savings, const std::optional<LedgerBalance>& ledger = {});
// One of `values` a statistic.
// Whether readers cannot find out who is in the data; else what one row says.
inline bool hides_presence(const ReportModel& model) {
  return model.neighbors == to_string(Neighbors::add_remove);
}
ReportModel model_of_report(const Plan& plan, const std::vector<ShownValues>& values,
                            std::optional<std::int64_t> release, const PrivacyAmount& spent,
                            const PrivacyAmount& remaining);

// Value `index` of a statistic that is released itself, or the stand-in for it.
ShownNumber released_number(const PlannedStatistic& planned, const ShownValues& values, std::size_t index);
// The stand-in for a double: one of the most characters that a double takes.
constexpr double longest_double = std::numeric_limits<double>::lowest();

std::string plan_json(const ReportModel& model);
std::string report_json(const ReportModel& model);
// What the writers below need of what report_json() wrote, now or in an older version. Throws some std::exception when `text`
// is something else.
ReportModel read_report(std::string_view text);

// The same plan with every epsilon so many times as large.
struct PlanVariant {
  double factor = 1;
  ReportModel model;
};

std::string plan_table(const ReportModel& model, const PlanView& view);
std::string plan_html(const ReportModel& model, const std::vector<PlanVariant>& variants,
                      const std::optional<LedgerBalance>& ledger);
std::string report_table(const ReportModel& model, const TerminalStyle& style,
                         const ReportProvenance& provenance);
std::string report_html(const ReportModel& model, const ReportProvenance& provenance,
                        std::string_view record);
std::string report_csv(const ReportModel& model);
std::string report_markdown(const ReportModel& model);

}  // namespace snapdp::release_internal
