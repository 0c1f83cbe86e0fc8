// Exact sums of many groups side by side, for rows of mixed groups as they come.
//
//   IntegerSums sums(IntegerBounds(-100, 500), airports);   // ExactSums for doubles
//   sums.add(delays, airport);                              // airport[i] < airports for each row i
//   sums.total(7);                                          // an integer, exact, of rows(7) clamped rows
//
// The totals are those of an IntegerSum or ExactSum a group: they do not depend on order, splits or merges, every
// integer is a valid row, and a NaN counts as the lower bound. At most 2^63 rows may go into the groups together.
//
// Speed. Nothing is counted in signed numbers: each row is added as its distance from the least that a row can be, which
// times rows() is given back when a total is asked for. So there is no sign to extend, a group's rows and sum lie in one
// place, and those of integers within moderate bounds even in one word, so that a row costs one addition there. See
// bench/sum_bench.cpp, groups/...
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "snapdp/numeric/exact_sum.h"

namespace snapdp::numeric_internal {

// Sum of x of each group, of 64-bit integers.
class IntegerSums {
 public:
  IntegerSums(const IntegerBounds& bounds, std::size_t groups);

  const IntegerBounds& bounds() const noexcept { return bounds_; }
  std::size_t groups() const noexcept { return groups_.size(); }

  // Adds rows[i] to group[i], which is less than groups().
  void add(std::span<const std::int64_t> rows, const std::uint32_t* group) noexcept;
  // Adds all rows to one group.
  void add_to(std::size_t group, std::span<const std::int64_t> rows) noexcept;
  // Adds a total of so many rows to a group, for example one read back from a stored state. Throws invalid_argument
  // unless it is an integer within rows * bounds, and rows at most 2^63.
  void add_total(std::size_t group, std::uint64_t rows, const Dyadic& sum);
  // Throws mismatch unless bounds and groups() are equal.
  void merge(const IntegerSums& other);

  std::uint64_t rows(std::size_t group) const { return group_of(group).rows; }
  Dyadic total(std::size_t group) const;

 private:
  // The total is rows * lower + offset. 0 <= offset <= rows * (upper - lower) < 2^63 * 2^64.
  struct Group {
    std::uint64_t rows = 0;
    Int128 offset;
  };
  Group group_of(std::size_t group) const;
  void unpack();

  IntegerBounds bounds_;
  std::vector<Group> groups_;
  // Up to capacity_ rows more, in one word a group: rows * 2^offset_bits_ + offset. Let w be the bits of upper - lower.
  // With c = floor((64 - w) / 2), capacity_ = 2^c - 1 and offset_bits_ = 64 - c, rows fit into c bits and offset, less than
  // 2^c * 2^w, into the 64 - c others, even if all rows are of one group. It is empty where capacity_ is less than groups():
  // unpacking would cost more than an addition a row.
  std::vector<std::uint64_t> packed_;
  unsigned offset_bits_;
  std::uint64_t capacity_;
  std::uint64_t pending_ = 0;  // rows in packed_
};

// Sum of x of each group, of doubles.
class ExactSums {
 public:
  ExactSums(const ClampBounds& bounds, std::size_t groups) : bounds_(bounds), groups_(groups) {}

  const ClampBounds& bounds() const noexcept { return bounds_; }
  std::size_t groups() const noexcept { return groups_.size(); }

  // As for IntegerSums.
  void add(std::span<const double> rows, const std::uint32_t* group);
  void add_to(std::size_t group, std::span<const double> rows);
  // Adds a total of so many rows to a group as it is. Throws invalid_argument for a number that no sum of doubles can be
  // (see WideSum).
  void add_total(std::size_t group, std::uint64_t rows, const Dyadic& sum);
  // Throws mismatch unless bounds and groups() are equal.
  void merge(const ExactSums& other);

  std::uint64_t rows(std::size_t group) const { return groups_[group].rows; }
  Dyadic total(std::size_t group) const;

 private:
  // Rows on the two grids of sum_kernels.h, each counted in units of its grid from -2^51, the least there is: 0 <=
  // units[i] <= 2^52 * rows.
  struct Group {
    std::uint64_t rows = 0;
    Int128 units[2];
  };
  // Rows that have bits below the grids, or bounds above them, and stored totals.
  struct Others {
    std::uint64_t rows = 0;
    WideSum sum;
  };
  template <typename GroupOf>
  void add_rows(std::span<const double> rows, GroupOf group_of);
  Others& others(std::size_t group);

  ClampBounds bounds_;
  std::vector<Group> groups_;   // rows are all rows of the group
  std::vector<Others> others_;  // empty until there are any, then one a group
};

}  // namespace snapdp::numeric_internal
