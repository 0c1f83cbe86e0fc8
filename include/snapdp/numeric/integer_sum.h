// Exact sums of 64-bit integers clamped to public bounds. Nothing wraps and nothing passes through a double:
// the totals of 2^63 rows near +-2^63, and of their squares and products, are exact.
//
//   IntegerSum sum(0, 100);
//   sum.add(ages);                   // std::span<const std::int64_t>
//   Dyadic total = sum.total();      // an integer
//
// As for ExactSum, totals do not depend on order, splits, merges or instruction set; every integer is a valid
// row; objects are values of 100 to 250 bytes that allocate nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/instruction_set.h"
#include "snapdp/numeric/wide_sum.h"

namespace snapdp {

// Integer bounds that rows are clamped to.
class IntegerBounds {
 public:
  // Throws invalid_argument naming "lower" unless lower <= upper.
  IntegerBounds(std::int64_t lower, std::int64_t upper);

  std::int64_t lower() const noexcept { return lower_; }
  std::int64_t upper() const noexcept { return upper_; }
  friend bool operator==(const IntegerBounds&, const IntegerBounds&) = default;

 private:
  std::int64_t lower_;
  std::int64_t upper_;
};

// A total of up to 2^63 integers of up to 127 bits each: low + 2^64 high.
struct IntegerTotal {
  Int128 low;
  Int128 high;

  // Throws invalid_argument naming `parameter` unless `total` is an integer of magnitude at most 2^189, which
  // is what 2^63 squares of -2^63 give.
  void add(const Dyadic& total, std::string_view parameter);
  void merge(const IntegerTotal& other) noexcept;
  Dyadic value() const;
};

// Sum of x.
class IntegerSum {
 public:
  // Throws as IntegerBounds.
  IntegerSum(std::int64_t lower, std::int64_t upper) : bounds_(lower, upper) {}

  const IntegerBounds& bounds() const noexcept { return bounds_; }

  void add(std::span<const std::int64_t> rows, InstructionSet kernel = best_instruction_set());
  // Adds a total as it is, for example one read back from a stored state. Throws invalid_argument for a
  // number that no total can be (see IntegerTotal).
  void add_total(const Dyadic& sum);
  // Throws mismatch unless the bounds are equal.
  void merge(const IntegerSum& other);

  Dyadic total() const { return sum_.value(); }
  // Equal bounds and equal totals.
  friend bool operator==(const IntegerSum& a, const IntegerSum& b);

 private:
  IntegerBounds bounds_;
  IntegerTotal sum_;
};

// Sum of x and sum of x^2, in one pass.
class IntegerMoments {
 public:
  IntegerMoments(std::int64_t lower, std::int64_t upper) : bounds_(lower, upper) {}

  const IntegerBounds& bounds() const noexcept { return bounds_; }

  void add(std::span<const std::int64_t> rows, InstructionSet kernel = best_instruction_set());
  void add_totals(const Dyadic& sum, const Dyadic& sum_of_squares);
  void merge(const IntegerMoments& other);

  Dyadic sum() const { return sum_.value(); }
  Dyadic sum_of_squares() const { return squares_.value(); }
  friend bool operator==(const IntegerMoments& a, const IntegerMoments& b);

 private:
  IntegerBounds bounds_;
  IntegerTotal sum_;
  IntegerTotal squares_;
};

// Sums of x, of y and of x y, in one pass over two columns.
class IntegerProducts {
 public:
  IntegerProducts(std::int64_t lower_x, std::int64_t upper_x, std::int64_t lower_y, std::int64_t upper_y)
      : x_bounds_(lower_x, upper_x), y_bounds_(lower_y, upper_y) {}

  const IntegerBounds& x_bounds() const noexcept { return x_bounds_; }
  const IntegerBounds& y_bounds() const noexcept { return y_bounds_; }

  // Throws mismatch unless both columns have the same length.
  void add(std::span<const std::int64_t> x, std::span<const std::int64_t> y,
           InstructionSet kernel = best_instruction_set());
  void add_totals(const Dyadic& sum_x, const Dyadic& sum_y, const Dyadic& sum_xy);
  void merge(const IntegerProducts& other);

  Dyadic sum_x() const { return sum_x_.value(); }
  Dyadic sum_y() const { return sum_y_.value(); }
  Dyadic sum_xy() const { return products_.value(); }
  friend bool operator==(const IntegerProducts& a, const IntegerProducts& b);

 private:
  IntegerBounds x_bounds_;
  IntegerBounds y_bounds_;
  IntegerTotal sum_x_;
  IntegerTotal sum_y_;
  IntegerTotal products_;
};

}  // namespace snapdp
