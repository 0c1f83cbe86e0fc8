// Where rows come from. A Source reads a table and folds aggregations over it; engines implement it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "snapdp/framework/aggregation.h"
#include "snapdp/framework/chunk.h"
#include "snapdp/framework/domain.h"
#include "snapdp/framework/key_values.h"
#include "snapdp/framework/relation.h"

namespace snapdp {

// The limit on the rows of a privacy unit: what makes statistics of rows private for whole people.
//
//   const UnitLimit limit = make_unit_limit(2);              // at most two rows of each unit
//   limit.stability().forward(1);                            // one unit more or less: 2 rows at most
//   statistic >> make_snapping({.epsilon = "1/2", .distance = 2})   // 1/2 for a unit
//
//   // For statistics by groups: of those rows at most one in each of three groups.
//   make_unit_limit(10, GroupLimit{.max_groups = 3, .max_rows = 1}).stability().forward(1);   // 3
//
// It is a transformation of whole datasets, not of blocks: which rows of a unit are kept depends on all of
// them. Sources carry it out before the first fold (RowSelection::UnitLimit); kept() is its definition, for
// rows in memory.

// Of the rows that are kept of a unit, those in so many groups, and so many of each of these. Rows with equal
// cells in some column are one group. One of the two alone would take rows away and leave the unit as many as
// before.
struct GroupLimit {
  std::uint64_t max_groups = 1;
  std::uint64_t max_rows = 1;  // in one group

  friend bool operator==(const GroupLimit&, const GroupLimit&) = default;
};

class UnitLimit {
 public:
  Metric input_metric() const { return Metric::unit_distance; }
  Metric output_metric() const { return Metric::symmetric_distance; }
  // most_rows-stable.
  const Relation& stability() const { return stability_; }
  std::uint64_t max_rows() const { return max_rows_; }
  const std::optional<GroupLimit>& groups() const { return groups_; }
  // How many rows a unit contributes at most: max_rows, or max_groups * max_rows of the groups when that is
  // less.
  std::uint64_t most_rows() const { return most_rows_; }
  std::string description() const;

  // Of `rows` (row numbers, in any order) those that are kept, unit after unit. Rows with equal cells in
  // `unit` belong to one unit; of each unit the max_rows rows that come first by the hash of their content,
  // then by the content itself, are kept. Rows whose cell names no unit (null, NaN, blank
  // text) are dropped. The groups are left aside.
  std::vector<std::size_t> kept(const Column& unit, std::span<const Column> content,
                                const std::vector<std::size_t>& rows) const;
  // Of these, with a limit on groups, the rows in the max_groups groups (equal cells in `group`) that come
  // first by the hash of unit and group, then by the group's cell; and of each of these groups the max_rows
  // rows that come first by the hash of their content, then by the content. Null is a group as any other.
  std::vector<std::size_t> kept(const Column& unit, const Column& group, std::span<const Column> content,
                                const std::vector<std::size_t>& rows) const;

 private:
  friend UnitLimit make_unit_limit(std::uint64_t max_rows, const std::optional<GroupLimit>& groups);
  UnitLimit(std::uint64_t max_rows, const std::optional<GroupLimit>& groups);
  std::uint64_t max_rows_;
  std::optional<GroupLimit> groups_;
  std::uint64_t most_rows_;
  Relation stability_;
};

// Throws invalid_argument naming "max_rows" or "max_groups" when it is 0. Proof: proofs/make_unit_limit.md.
UnitLimit make_unit_limit(std::uint64_t max_rows, const std::optional<GroupLimit>& groups = std::nullopt);

// A column as the header or schema declares it, never as its cells look. A name may be empty or that of
// several columns, as long as nobody asks for it.
struct SourceColumn {
  std::string name;
  // The type the schema gives; absent when cells are text whose type the specification declares (CSV).
  std::optional<AtomType> type;
  // Why the column cannot be used ("a date", "a list"), in words; empty when it can.
  std::string unusable;
};

// Why there is no telling which column has this name, or it cannot be used: the rest of a sentence that
// begins with the column, "is a date, ...". Empty when there is nothing wrong. It tells no name but that one,
// as others may be cells: the first line of a file without a header.
inline std::string column_problem(const std::vector<SourceColumn>& columns, const std::string& name) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) places.push_back(i);
  }
  if (places.empty()) {
    return "is not in the header of the data; check the name and the delimiter (names match to the letter)";
  }
  if (places.size() > 1) {
    return "stands for columns " + std::to_string(places[0] + 1) + " and " + std::to_string(places[1] + 1) +
           " of the data, which have the same name; rename one of them";
  }
  const std::string& unusable = columns[places[0]].unusable;
  if (unusable.empty()) return "";
  return "cannot be used: it is " + unusable + "; choose another column or convert it to a number or text";
}

// Which rows count, chosen once for all requests, before any null handling of theirs. First the condition,
// then the limit.
struct RowSelection {
  // Column i of the predicate is columns[i], of type types[i]: cells are converted as for a FoldRequest.
  struct Condition {
    std::vector<std::string> columns;
    std::vector<AtomType> types;
    Predicate predicate;
  };
  // Rows with equal cells in `column` belong to one privacy unit; of its rows at most max_rows are kept,
  // those that come first by a fixed keyed hash of the row's own content (the columns that this fold reads).
  // Rows whose unit is null, blank or NaN are dropped. Adding or removing all rows of a unit then adds or
  // removes at most max_rows rows.
  struct UnitLimit {
    std::string column;
    std::uint64_t max_rows = 1;
  };
  std::optional<Condition> where;
  std::optional<UnitLimit> unit;
};

// One aggregation over the named columns, in their order. The aggregation's input domain is
// untrusted_domain() of the types wanted; the source converts cells to these types (text by make_parse, a
// real to the integer that it is or else null, an integer to the nearest double or to its digits).
struct FoldRequest {
  std::vector<std::string> columns;
  const Aggregation* aggregation;
  // Of the rows that a unit keeps, this request sees those in at most max_groups groups, the groups (equal
  // cells in `column`) that come first by a keyed hash of the unit and the group, and of each of these groups
  // at most max_rows, those that come first as UnitLimit says. Needs a unit limit. A unit then contributes at
  // most max_groups * max_rows rows.
  struct GroupLimit {
    std::string column;
    std::uint64_t max_groups = 1;
    std::uint64_t max_rows = 1;  // in one group
    friend bool operator==(const GroupLimit&, const GroupLimit&) = default;
  };
  std::optional<GroupLimit> groups = {};
};

struct FoldResult {
  std::vector<AggregateState> states;  // one a request
  std::uint64_t rows = 0;              // raw rows, before any selection
};

// Called with a percentage 0 to 100 from the folding thread; may be empty. It never learns a row count.
using Progress = std::function<void(double percent)>;

// The requests that the keys which occur give, one of `keys` a column.
using RequestsOfKeys = std::function<std::vector<FoldRequest>(const std::vector<KeyValues>& keys)>;

class Source {
 public:
  virtual ~Source() = default;
  // Reads the header or schema only. Throws io when the file cannot be read, bad_data when it is malformed.
  virtual std::vector<SourceColumn> columns() = 0;
  // Folds the selected rows for all requests. Errors carry no cell text and no row count.
  virtual FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                          const Progress& progress) = 0;
  // All rows.
  FoldResult fold(std::span<const FoldRequest> requests, const Progress& progress) {
    return fold({}, requests, progress);
  }
  // fold() of requests that depend on which keys these columns have in rows for which selection.where holds
  // (no limit on units applies to that). The rows are read twice, and must be the same: a source that can
  // read them once only throws invalid_argument, one that sees other rows bad_data, as far as it can tell.
  // Throws bad_data naming "keys" when a column has more than KeyValues::most.
  virtual FoldResult fold_by_keys(const RowSelection& selection, std::span<const KeyColumn> columns,
                                  const RequestsOfKeys& requests, const Progress& progress);
};

}  // namespace snapdp
