// Exact sums of doubles, or integers, clamped to public bounds: the value does not depend on the order of the
// rows, on how they are split among threads, or on the machine.
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

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/instruction_set.h"

namespace snapdp {

// The accumulators behind the sums: plain 128-bit counters, and a sum over the whole range of binary64 and of
// its products. Rows of a statistic go through ExactSum and its kin, which are much faster.

// A signed 128-bit integer in two's complement. Its alignment is 8, so states may live in any engine's
// memory.
struct Int128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  constexpr Int128& operator+=(Int128 other) noexcept {
    low += other.low;
    high += other.high + (low < other.low ? 1 : 0);
    return *this;
  }
  constexpr Int128& operator+=(std::int64_t other) noexcept {
    return *this += Int128{static_cast<std::uint64_t>(other), other < 0 ? ~std::uint64_t{0} : 0};
  }
  friend constexpr bool operator==(const Int128&, const Int128&) = default;
};

Integer to_integer(Int128 value);

// An exact sum of up to 2^63 doubles and products of two doubles, whatever their exponents: a fixed-point
// number that reaches from 2^-2148 (the square of the least subnormal) up to 2^2111 and beyond (2^63 squares
// of the largest double), in 32-bit digits that are carried lazily. It allocates its kilobyte when the first
// number arrives.
class WideSum {
 public:
  // value is finite.
  void add(double value);
  // x * y, exactly; both finite.
  void add_product(double x, double y);
  // Throws invalid_argument naming `parameter` for a number that no such sum can be: one that has bits below
  // 2^-2148, or is 2^2140 or more in magnitude.
  void add(const Dyadic& value, std::string_view parameter);
  void merge(const WideSum& other);
  Dyadic total() const;

 private:
  void add_bits(std::uint64_t high, std::uint64_t low, unsigned position, bool negative);
  void carry();

  std::vector<std::int64_t> digits_;  // empty, or the value is the sum of digits_[i] * 2^(32 i - 2148)
  std::uint32_t pending_ = 0;         // additions since the last carry
};

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

// The same of 64-bit integers. Nothing wraps and nothing passes through a double: the totals of 2^63 rows
// near +-2^63, and of their squares and products, are exact. Every integer is a valid row.
//
//   IntegerSum sum(0, 100);
//   sum.add(ages);                   // std::span<const std::int64_t>
//   Dyadic total = sum.total();      // an integer

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
