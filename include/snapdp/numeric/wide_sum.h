// The accumulators behind exact_sum.h and integer_sum.h: plain 128-bit counters, and a sum over the whole
// range of binary64 and of its products. Rows of a statistic go through ExactSum and its kin, which are much
// faster.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "snapdp/numeric/dyadic.h"

namespace snapdp {

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

}  // namespace snapdp
