// Exact sums of the first powers of the rows of a bounded column, for powers that the vectorised accumulators of the
// numeric room do not reach. Some tenths of a microsecond a row.
#pragma once

#include <vector>

#include "snapdp/framework/chunk.h"
#include "snapdp/framework/domain.h"

namespace snapdp::statistics_internal {

// The sums of x, x^2, ..., x^degree in fixed point: the j-th is sums_[j - 1] * 2^(j exponent_), exponent_ being that of
// the finest row so far. A double is m 2^e with e >= -1074, so no sum is finer than 2^(-1074 j).
class PowerSums {
 public:
  static constexpr long finest_exponent = -1074;

  // The column has bounds and is real or integer.
  PowerSums(const AtomDomain& column, int degree);

  // Rows outside the bounds count as the nearer bound, and NaN as the lower one, so that no total leaves rows * bounds.
  void add(const Column& column, std::size_t rows);
  // `totals` has `degree` numbers, the j-th with an exponent of at least j * finest_exponent.
  void add_totals(const std::vector<Dyadic>& totals);
  void merge(const PowerSums& other);
  std::vector<Dyadic> totals() const;

 private:
  void add_row(std::int64_t mantissa, long exponent);
  void refine(long exponent);

  double real_lower_ = 0;
  double real_upper_ = 0;
  std::int64_t integer_lower_ = 0;
  std::int64_t integer_upper_ = 0;
  std::vector<Integer> sums_;
  long exponent_ = 0;
  Integer power_;  // kept between rows for their memory
  Integer term_;
};

}  // namespace snapdp::statistics_internal
