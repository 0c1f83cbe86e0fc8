// The limit on the rows of a privacy unit: what makes statistics of rows private for whole people.
//
//   const UnitLimit limit = make_unit_limit(2);              // at most two rows of each unit
//   limit.stability().forward(1);                            // one unit more or less: 2 rows at most
//   statistic >> make_snapping({.epsilon = "1/2", .distance = 2})   // 1/2 for a unit
//
//   // For statistics by groups: of those rows at most one in each of three groups.
//   make_unit_limit(10, GroupLimit{.max_groups = 3, .max_rows = 1}).stability().forward(1);   // 3
//
// It is a transformation of whole datasets, not of blocks: which rows of a unit are kept depends on all of them. Sources
// carry it out before the first fold (RowSelection::UnitLimit); kept() is its definition, for rows in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "snapdp/framework/chunk.h"
#include "snapdp/framework/metric.h"
#include "snapdp/framework/relation.h"

namespace snapdp {

// Of the rows that are kept of a unit, those in so many groups, and so many of each of these. Rows with equal cells in some
// column are one group. One of the two alone would take rows away and leave the unit as many as before.
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
  // How many rows a unit contributes at most: max_rows, or max_groups * max_rows of the groups when that is less.
  std::uint64_t most_rows() const { return most_rows_; }
  std::string description() const;

  // Of `rows` (row numbers, in any order) those that are kept, unit after unit. Rows with equal cells in `unit` belong to
  // one unit; of each unit the max_rows rows that come first by the hash of their content, then by the content itself
  // (see row_hash.h), are kept. Rows whose cell names no unit (null, NaN, blank text) are dropped. The groups are left
  // aside.
  std::vector<std::size_t> kept(const Column& unit, std::span<const Column> content,
                                const std::vector<std::size_t>& rows) const;
  // Of these, with a limit on groups, the rows in the max_groups groups (equal cells in `group`) that come first by the
  // hash of unit and group, then by the group's cell; and of each of these groups the max_rows rows that come first by the
  // hash of their content, then by the content. Null is a group as any other.
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

}  // namespace snapdp
