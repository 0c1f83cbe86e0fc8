#include "statistics/power_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "snapdp/numeric/exact_sum.h"

namespace snapdp::statistics_internal {
namespace {

mp_bitcnt_t bit_count(long count) {
  return static_cast<mp_bitcnt_t>(count);
}

}  // namespace

PowerSums::PowerSums(const AtomDomain& column, int degree) : sums_(static_cast<std::size_t>(degree)) {
  const Bounds& bounds = column.bounds.value();
  if (column.type == AtomType::integer) {
    integer_lower_ = bounds.lower().to_int64();
    integer_upper_ = bounds.upper().to_int64();
  } else {
    real_lower_ = bounds.lower().to_double_nearest();
    real_upper_ = bounds.upper().to_double_nearest();
  }
}

void PowerSums::add(const Column& column, std::size_t rows) {
  if (column.type == AtomType::integer) {
    for (std::size_t row = 0; row < rows; ++row)
      add_row(std::clamp(column.integers()[row], integer_lower_, integer_upper_), 0);
    return;
  }
  const ClampBounds bounds(real_lower_, real_upper_);
  for (std::size_t row = 0; row < rows; ++row) {
    constexpr int digits = 53;
    int exponent = 0;
    const double fraction = std::frexp(bounds.clamp(column.reals()[row]), &exponent);
    const auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, digits));
    if (mantissa == 0) continue;
    const int zeros = std::countr_zero(static_cast<std::uint64_t>(mantissa));
    add_row(mantissa / (std::int64_t{1} << zeros), exponent - digits + zeros);
  }
}

void PowerSums::add_row(std::int64_t mantissa, long exponent) {
  if (exponent < exponent_) refine(exponent);
  const long shift = exponent - exponent_;
  power_ = mantissa;
  for (std::size_t j = 0; j < sums_.size(); ++j) {
    if (j > 0) power_ *= mantissa;
    mpz_mul_2exp(term_.get_mpz_t(), power_.get_mpz_t(), bit_count(static_cast<long>(j + 1) * shift));
    sums_[j] += term_;
  }
}

void PowerSums::refine(long exponent) {
  for (std::size_t j = 0; j < sums_.size(); ++j)
    sums_[j] <<= bit_count(static_cast<long>(j + 1) * (exponent_ - exponent));
  exponent_ = exponent;
}

void PowerSums::add_totals(const std::vector<Dyadic>& totals) {
  long finest = exponent_;
  for (std::size_t j = 0; j < sums_.size(); ++j) {
    const long power = static_cast<long>(j + 1);
    while (power * finest > totals[j].exponent()) --finest;
  }
  refine(finest);
  for (std::size_t j = 0; j < sums_.size(); ++j) {
    const long shift = totals[j].exponent() - static_cast<long>(j + 1) * exponent_;
    sums_[j] += Integer(totals[j].mantissa() << bit_count(shift));
  }
}

void PowerSums::merge(const PowerSums& other) {
  add_totals(other.totals());
}

std::vector<Dyadic> PowerSums::totals() const {
  std::vector<Dyadic> result;
  for (std::size_t j = 0; j < sums_.size(); ++j)
    result.emplace_back(sums_[j], static_cast<long>(j + 1) * exponent_);
  return result;
}

}  // namespace snapdp::statistics_internal
