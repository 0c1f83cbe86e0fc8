// A kind of statistic: all that sets it apart from others, in one file of this folder. What all kinds share (price,
// groups, mechanism, composition ...) is in specification.cpp, plan.cpp and report_model.cpp, which ask here. A new
// kind is a file, its name in StatisticKind and, in the same order, two lines in kind.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "release/report_model.h"
#include "release/toml_document.h"
#include "snapdp/framework/aggregation.h"
#include "snapdp/release/plan.h"
#include "snapdp/statistics/from_parts.h"
#include "snapdp/statistics/noisy_parts.h"

namespace snapdp::release_internal {

// One [[statistic]] that is being read, and what is declared of the data.
struct StatisticText {
  const TomlDocument& document;
  const TomlTable& table;
  const Declaration& data;
};

// The rows of a statistic on their way to it. What they give may outlive them, but not the plan of the statistic.
class StatisticRows {
 public:
  StatisticRows(const Declaration& data, const PlannedStatistic& planned);
  // Columns order[0], order[1] ... of these rows; all of them when nothing is given.
  StatisticRows ordered(const std::vector<std::size_t>& order) const;

  const PlannedStatistic& planned() const { return *planned_; }
  // The statistic of the rows without nulls, which are dropped or imputed.
  Partial<Aggregation> complete(Partial<Aggregation> statistic) const;
  // And clamped to the bounds, and put on a grid if that is wanted.
  Partial<Aggregation> clamped(Partial<Aggregation> statistic) const;

 private:
  Transformation without_nulls(const VectorDomain& rows, Metric metric) const;

  const Declaration* data_;
  const PlannedStatistic* planned_;
  std::vector<Bounds> bounds_;
  std::vector<Grid> grids_;  // that cells are put on, if any
};

// A noisy part that a statistic is computed from, or the only one of what is released itself.
struct KindPart {
  std::string name;  // empty when the statistic is released itself
  std::function<Partial<Aggregation>(const StatisticRows&)> aggregation;
  // Of parts that sum distances from the middle of the bounds: of which columns, as the specification names them.
  std::vector<std::size_t> centers = {};
  // The columns as the part sees them; as the specification names them when empty.
  std::vector<std::size_t> order = {};
};

// For KindPart::aggregation.
std::function<Partial<Aggregation>(const StatisticRows&)> of_complete_rows(Partial<Aggregation> statistic);
std::function<Partial<Aggregation>(const StatisticRows&)> of_clamped_rows(Partial<Aggregation> statistic);

// From 0 to the number of rows, where that is public.
NumberRange range_of_count(std::optional<std::uint64_t> size);

// The largest 1/(n-1) covariance of columns between these bounds (of equal columns: variance), which half the rows at either
// end have: (b-a)(d-c) n/(n-1)/4 for even n, (b-a)(d-c) (n+1)/(4n) for odd n. Of a private number of rows that of two.
Rational greatest_second_moment(const DecimalBounds& x, const DecimalBounds& y,
                                std::optional<std::uint64_t> size);

// By the names of the parts.
using ReleasedParts = std::map<std::string, ReleasedPart>;
using PartAccuracies = std::map<std::string, double>;
using NoisyParts = std::map<std::string, NoisyPart>;

// A part with its noise, when `value` is what it came out as.
NoisyPart noisy_part(const PlannedMeasurement& planned, const Dyadic& value);
// The parts of all rows, or of group `group`, as they were released.
NoisyParts noisy_parts_of(const PlannedStatistic& planned, const ShownValues& values, std::size_t group);

// What is guessed of the data that a statistic is computed from: numbers of the columns less the middles of their
// bounds.
struct ExpectedRows {
  Rational rows;
  std::vector<Rational> means;       // one a column
  std::vector<Rational> deviations;  // likewise, or none
};
// The exact part of this name that such rows have, columns correlated as given.
Dyadic expected_part(const std::string& part, const ExpectedRows& expected, const Rational& correlation);

struct Composed {
  double value;
  double accuracy;
};

class Kind {
 public:
  // `keys` are those that it has besides those of every kind.
  Kind(StatisticKind id, std::string name, std::vector<std::string> keys);
  virtual ~Kind() = default;
  Kind(const Kind&) = delete;
  Kind& operator=(const Kind&) = delete;

  StatisticKind id() const { return id_; }
  // As specifications and reports call it.
  const std::string& name() const { return name_; }
  bool has_key(const std::string& key) const;
  bool has_two_columns() const { return has_key("columns"); }
  // The key that names column `column` of a statistic.
  const char* key_of_column(std::size_t column) const {
    if (has_key("y")) return column == 0 ? "y" : "x";
    return has_two_columns() ? "columns" : "column";
  }
  bool takes_texts() const { return has_key("categories"); }

  // What to use instead of a key that it does not have; may be empty.
  virtual std::string instead_of(const std::string&) const { return ""; }
  // Why a key that every kind has does not apply; empty when it does.
  virtual std::string why_not(const std::string&) const { return ""; }
  // The public facts about the values: bounds, unless a kind has other ones. Columns and type are known.
  virtual void read_values(const StatisticText& text, StatisticSpecification& statistic) const;
  // Other keys of its own.
  virtual void read_more(const StatisticText&, StatisticSpecification&) const {}

  // Its noisy parts of so many columns, in the order of `split`.
  virtual std::vector<KindPart> parts(Neighbors neighbors, std::size_t columns) const = 0;
  // Whether it is several numbers that are computed from its parts together: add_values() then has them.
  virtual bool has_coefficients() const { return false; }
  // Whether it names the greatest of the numbers of its only part, instead of adding noise to them.
  virtual bool is_choice() const { return false; }
  // Built of squares or products and divided by the rows less one: needs two rows, and numbers whose products are
  // doubles.
  virtual bool is_second_moment() const { return false; }
  // Built of sums of cells or of products of them.
  bool sums_cells() const { return has_key("bounds") && !is_count() && !has_key("resolution"); }
  // Whether the released numbers are integers.
  virtual bool is_integer(const StatisticSpecification&) const { return false; }

  // Whether public facts alone determine it; by default, when the bounds of a column are equal.
  virtual bool is_constant(Neighbors neighbors, const StatisticSpecification& statistic) const;
  // What it then is: nothing varies, or nothing varies together.
  virtual Dyadic constant(const Declaration&, const PlannedStatistic&) const { return Dyadic(0); }

  // The public facts as the plan has them, before anything is built of them.
  virtual void prepare(const Declaration& data, PlannedStatistic& planned) const;
  // What values and outputs of a statistic that is released itself are clamped to: what its author chose, unless a kind
  // has no use for that.
  virtual RangeChoice range(const Declaration&, const StatisticSpecification& statistic) const {
    return statistic.range;
  }
  // What its accuracy is with this noise, where it is not that of the noisy numbers themselves but of what is read off
  // them; and the one that the specification asks for, in the same unit.
  virtual std::optional<double> accuracy_of_noise(const PlannedStatistic&, const Noise&) const {
    return std::nullopt;
  }
  virtual Rational accuracy_asked(const Declaration&, const StatisticSpecification& statistic) const {
    return *statistic.accuracy;
  }
  // What follows from the noise of a statistic that is released itself.
  virtual void conclude(PlannedStatistic&) const {}

  // The value that parts give, and how far it may be off: post-processing. The value does not depend on the accuracies.
  virtual Composed compose(const ReleasedParts& parts, const std::vector<Bounds>& bounds) const;
  // How far that value may be off but for a probability of alpha, from the joint law of the parts' noises.
  virtual double joint_accuracy(const NoisyParts& parts, const std::vector<Bounds>& bounds,
                                const FailureRate& alpha) const;
  // How far it may be off for every dataset of `size` rows, if that can be told beforehand: from the parts' accuracies,
  // and from the joint law of their noises but for a probability of alpha.
  virtual std::optional<double> planned_accuracy(const PartAccuracies&, const std::vector<Bounds>&,
                                                 std::uint64_t) const {
    return std::nullopt;
  }
  virtual std::optional<double> planned_joint_accuracy(const NoisyParts&, const std::vector<Bounds>&,
                                                       std::uint64_t, const FailureRate&) const {
    return std::nullopt;
  }
  // Why it cannot, whatever is known of the size, unless deviations are guessed; empty when it can.
  virtual std::string no_planned_accuracy() const { return ""; }

  // Where its exact numbers lie, whatever the rows are; `size` where the number of rows is public.
  virtual NumberRange public_range(const std::vector<DecimalBounds>& bounds,
                                   std::optional<std::uint64_t> size, int order) const;
  // Whether it is one number, of all rows or of each group.
  virtual bool is_one_number() const { return true; }
  // Whether its numbers count rows, or values: none is below 0 without noise.
  virtual bool is_count() const { return false; }
  // Whether its sign is what is asked for.
  virtual bool has_sign() const { return false; }
  // Whether its numbers are in the unit of its column.
  virtual bool has_unit_of_column() const { return false; }

  // What is released itself, or the coefficients, of all rows or of group `group`.
  virtual void add_values(ShownEntry& entry, const PlannedStatistic& planned, const ShownValues& values,
                          std::size_t group) const;

 private:
  StatisticKind id_;
  std::string name_;
  std::vector<std::string> keys_;
};

// In the order of StatisticKind.
const std::vector<const Kind*>& all_kinds();
const Kind& kind_of(StatisticKind kind);
inline const Kind& kind_of(const StatisticSpecification& statistic) {
  return kind_of(statistic.kind);
}
// Null for a name that no kind has: a report may come from a later version.
const Kind* find_kind(const std::string& name);

// Each part misses its accuracy with this probability, so that all hold together except with the statistic's alpha.
Rational part_alpha(const StatisticSpecification& statistic);

}  // namespace snapdp::release_internal
