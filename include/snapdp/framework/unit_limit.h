// The limit on the rows of a privacy unit: what makes statistics of rows private for whole people.
//
//   const UnitLimit limit = make_unit_limit(2);              // at most two rows of each unit
//   limit.stability().forward(1);                            // one unit more or less: 2 rows at most
//   statistic >> make_snapping({.epsilon = "1/2", .distance = 2})   // 1/2 for a unit
//
// It is a transformation of whole datasets, not of blocks: which rows of a unit are kept depends on all of them. Sources
// carry it out before the first fold (RowSelection::UnitLimit); kept() is its definition, for rows in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "snapdp/framework/chunk.h"
#include "snapdp/framework/metric.h"
#include "snapdp/framework/relation.h"

namespace snapdp {

class UnitLimit {
 public:
  Metric input_metric() const { return Metric::unit_distance; }
  Metric output_metric() const { return Metric::symmetric_distance; }
  // max_rows-stable.
  const Relation& stability() const { return stability_; }
  std::uint64_t max_rows() const { return max_rows_; }
  std::string description() const;

  // Of `rows` (row numbers, in any order) those that are kept, unit after unit. Rows with equal cells in `unit` belong to
  // one unit; of each unit the max_rows rows that come first by the hash of their content, then by the content itself
  // (see row_hash.h), are kept. Rows whose cell names no unit (null, NaN, blank text) are dropped.
  std::vector<std::size_t> kept(const Column& unit, std::span<const Column> content,
                                const std::vector<std::size_t>& rows) const;

 private:
  friend UnitLimit make_unit_limit(std::uint64_t max_rows);
  explicit UnitLimit(std::uint64_t max_rows);
  std::uint64_t max_rows_;
  Relation stability_;
};

// Throws invalid_argument naming "max_rows" when it is 0. Proof: proofs/make_unit_limit.md.
UnitLimit make_unit_limit(std::uint64_t max_rows);

}  // namespace snapdp
