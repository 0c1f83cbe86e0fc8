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
  ShownNumber epsilon;
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
  std::optional<ShownInterval> population;  // of its share
};

struct ShownQuantile {
  std::string q;  // empty for a median
  double value = 0;
  double lower = 0;
  double upper = 0;
};

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
  ShownNumber key;  // of a group
  std::optional<ShownNumber> value;
  std::optional<ShownAccuracy> accuracy;  // of what is computed from parts
  std::optional<ShownInterval> population;
  std::vector<ShownBin> bins;
  std::vector<ShownQuantile> quantiles;  // or the median
  std::vector<ShownNumber> parts;        // of a group: their values
  bool is_median() const { return quantiles.size() == 1 && quantiles.front().q.empty(); }
};

// What holds of all that is read off hierarchies of counts.
struct ShownHierarchy {
  std::size_t edges = 0;
  std::size_t nodes = 0;
  double rank_error = 0;
  std::string alpha;
};

struct ShownStatistic {
  std::string name;
  std::string kind;
  std::vector<std::string> columns;
  std::optional<int> order;
  std::optional<std::string> group_by;
  std::optional<GroupLimit> groups_per_unit;
  std::vector<std::pair<std::string, std::string>> bounds;
  bool constant = false;
  std::optional<ShownHierarchy> hierarchy;
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

struct ReportModel {
  std::string dataset;
  std::string neighbors;
  std::optional<std::uint64_t> size;
  std::optional<std::string> privacy_unit;
  std::uint64_t max_rows_per_unit = 1;
  std::optional<std::string> where;
  std::vector<ShownStatistic> statistics;
  std::optional<ShownCertificate> certificate;  // reports of older versions have none

  // Of a report.
  std::optional<std::int64_t> release;
  ShownNumber spent;
  ShownNumber remaining;
  // Of a plan.
  Rational budget;
  Rational planned;
  std::vector<Saving> savings;
};

ReportModel model_of_plan(const Plan& plan);
// One of `values` a statistic.
ReportModel model_of_report(const Plan& plan, const std::vector<ShownValues>& values,
                            std::optional<std::int64_t> release, const Rational& spent,
                            const Rational& remaining);

// Value `index` of a statistic that is released itself, or the stand-in for it.
ShownNumber released_number(const PlannedStatistic& planned, const ShownValues& values, std::size_t index);
// The stand-in for a double: one of the most characters that a double takes.
constexpr double longest_double = std::numeric_limits<double>::lowest();

std::string plan_json(const ReportModel& model);
std::string report_json(const ReportModel& model);
// What the table of a report needs of what report_json() wrote, now or in an older version. Throws some std::exception
// when `text` is something else.
ReportModel read_report(std::string_view text);

std::string plan_table(const ReportModel& model, const TableStyle& style);
std::string report_table(const ReportModel& model, const TableStyle& style);

}  // namespace snapdp::release_internal
