// Exact sums of doubles clamped to public bounds: the value does not depend on the order of the rows, on how
// they are split among threads, or on the machine.
//
//   ExactSum sum(0.0, 100.0);    // one a thread or a group: small, nothing allocated
//   sum.add(ages);               // a span of doubles; below 0 counts as 0, above 100 as 100
//   sum.merge(other);            // the same bounds
//   Dyadic total = sum.total();  // the exact sum of the clamped values
//
// Rows. Any double: infinities clamp, zeros of both signs, subnormals and all mixtures of exponents are
// exact. A NaN is the caller's mistake (impute or drop first); it counts as `lower`, on every instruction
// set, so that a total never leaves rows * bounds. At most 2^63 rows may go into one total.
//
// Speed. Most rows take a vectorised path that adds integers on two nested grids below the larger bound (four
// for products). A block with a row that has bits below 2^-95 times the larger bound is added in a full-range
// accumulator instead, at a few nanoseconds a row, and so is everything when that bound is above 2^1021 (sum)
// or 2^510 (moments and products). The result is the same.
//
// Every `add` of rows takes an InstructionSet; another than the default is for tests and audits, and one that
// this machine lacks is refused (invalid_argument). Objects are values: copy and move them. They are not
// shared between threads while one of them writes.
#pragma once

#include <span>

#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/instruction_set.h"
#include "snapdp/numeric/wide_sum.h"

namespace snapdp {

// Bounds that rows are clamped to, with the binary exponent that holds them.
class ClampBounds {
 public:
  // Throws invalid_argument naming "lower" or "upper" unless both are finite and lower <= upper. Zero becomes
  // +0.
  ClampBounds(double lower, double upper);

  double lower() const noexcept { return lower_; }
  double upper() const noexcept { return upper_; }
  // The least k with |lower|, |upper| <= 2^k; the least int when both are 0.
  int exponent() const noexcept { return exponent_; }
  double clamp(double row) const noexcept {
    const double raised = row > lower_ ? row : lower_;  // a NaN gives lower
    return raised < upper_ ? raised : upper_;
  }
  friend bool operator==(const ClampBounds&, const ClampBounds&) = default;

 private:
  double lower_;
  double upper_;
  int exponent_;
};

// Sum of x.
class ExactSum {
 public:
  // Throws as ClampBounds.
  ExactSum(double lower, double upper) : bounds_(lower, upper) {}

  double lower() const noexcept { return bounds_.lower(); }
  double upper() const noexcept { return bounds_.upper(); }

  void add(std::span<const double> rows, InstructionSet kernel = best_instruction_set());
  // Adds a total as it is, for example one read back from a stored state. Throws invalid_argument for a
  // number that no sum of doubles can be (see WideSum).
  void add_total(const Dyadic& sum);
  // Throws mismatch unless the bounds are equal.
  void merge(const ExactSum& other);

  Dyadic total() const;
  // Equal bounds and equal totals.
  friend bool operator==(const ExactSum& a, const ExactSum& b);

 private:
  ClampBounds bounds_;
  Int128 units_[2];
  WideSum wide_;
};

// Sum of x and sum of x^2, in one pass.
class ExactMoments {
 public:
  ExactMoments(double lower, double upper) : bounds_(lower, upper) {}

  double lower() const noexcept { return bounds_.lower(); }
  double upper() const noexcept { return bounds_.upper(); }

  void add(std::span<const double> rows, InstructionSet kernel = best_instruction_set());
  void add_totals(const Dyadic& sum, const Dyadic& sum_of_squares);
  void merge(const ExactMoments& other);

  Dyadic sum() const;
  Dyadic sum_of_squares() const;
  friend bool operator==(const ExactMoments& a, const ExactMoments& b);

 private:
  ClampBounds bounds_;
  Int128 units_[2];
  Int128 square_units_[4];
  WideSum wide_;
  WideSum wide_squares_;
};

// Sums of x, of y and of x y, in one pass over two columns.
class ExactProducts {
 public:
  ExactProducts(double lower_x, double upper_x, double lower_y, double upper_y)
      : x_bounds_(lower_x, upper_x), y_bounds_(lower_y, upper_y) {}

  const ClampBounds& x_bounds() const noexcept { return x_bounds_; }
  const ClampBounds& y_bounds() const noexcept { return y_bounds_; }

  // Throws mismatch unless both columns have the same length.
  void add(std::span<const double> x, std::span<const double> y,
           InstructionSet kernel = best_instruction_set());
  void add_totals(const Dyadic& sum_x, const Dyadic& sum_y, const Dyadic& sum_xy);
  void merge(const ExactProducts& other);

  Dyadic sum_x() const;
  Dyadic sum_y() const;
  Dyadic sum_xy() const;
  friend bool operator==(const ExactProducts& a, const ExactProducts& b);

 private:
  ClampBounds x_bounds_;
  ClampBounds y_bounds_;
  Int128 x_units_[2];
  Int128 y_units_[2];
  Int128 product_units_[4];
  WideSum wide_x_;
  WideSum wide_y_;
  WideSum wide_products_;
};

}  // namespace snapdp
