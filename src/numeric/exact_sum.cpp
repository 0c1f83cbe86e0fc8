#include "snapdp/numeric/exact_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "numeric/shared/float_environment.h"
#include "numeric/sum_kernels.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

double checked_bound(double bound, const char* name) {
  const FloatEnvironment environment;
  bound = pinned(bound);
  if (!std::isfinite(bound)) {
    throw Error(
        ErrorCode::invalid_argument, name,
        std::string(name) + " = " + to_string(bound) + ": bounds must be finite; clamp to a finite range");
  }
  return pinned(bound + 0.0);  // -0 becomes +0
}

// The least k with magnitude <= 2^k.
int exponent_of(double magnitude) {
  const FloatEnvironment environment;
  magnitude = pinned(magnitude);
  if (magnitude == 0) return std::numeric_limits<int>::min();
  int exponent = 0;
  return std::frexp(magnitude, &exponent) == 0.5 ? exponent - 1 : exponent;
}

void require_equal(const ClampBounds& a, const ClampBounds& b) {
  if (a == b) return;
  throw Error(ErrorCode::mismatch, "bounds",
              "bounds: sums on [" + to_string(a.lower()) + ", " + to_string(a.upper()) + "] and on [" +
                  to_string(b.lower()) + ", " + to_string(b.upper()) +
                  "] cannot be merged; use the same bounds for both");
}

template <std::size_t levels>
void merge_units(Int128 (&into)[levels], const Int128 (&from)[levels]) {
  for (std::size_t i = 0; i < levels; ++i) into[i] += from[i];
}

Dyadic sum_total(const ClampBounds& bounds, int least, const Int128 (&units)[2], const WideSum& wide) {
  const int k = std::max(bounds.exponent(), least);
  Dyadic total = wide.total();
  for (int level = 0; level < 2; ++level) total += Dyadic(to_integer(units[level]), sum_unit(k, level));
  return total;
}

Dyadic product_total(int k, const Int128 (&units)[4], const WideSum& wide) {
  Dyadic total = wide.total();
  for (int level = 0; level < 4; ++level) total += Dyadic(to_integer(units[level]), product_unit(k, level));
  return total;
}

// The k of the products of two columns.
int product_exponent(const ClampBounds& x, const ClampBounds& y) {
  return std::max(x.exponent(), least_product_exponent) + std::max(y.exponent(), least_product_exponent);
}

}  // namespace

ClampBounds::ClampBounds(double lower, double upper)
    : lower_(checked_bound(lower, "lower")), upper_(checked_bound(upper, "upper")) {
  const FloatEnvironment environment;
  if (pinned(lower) > pinned(upper)) {
    throw Error(ErrorCode::invalid_argument, "lower",
                "lower = " + to_string(lower) + " is above upper = " + to_string(upper) + ": swap them");
  }
  exponent_ = exponent_of(pinned(std::max(std::fabs(pinned(lower_)), std::fabs(pinned(upper_)))));
}

void ExactSum::add(std::span<const double> rows, InstructionSet kernel) {
  require_supported(kernel);
  const FloatEnvironment environment;
  const bool fast = bounds_.exponent() <= largest_sum_exponent;
  while (!rows.empty()) {
    if (fast) {
      const ClampGrid grid(bounds_, least_sum_exponent);
      rows = rows.subspan(sum_kernels(kernel).sum(rows.data(), rows.size(), grid, units_));
    }
    const std::span<const double> block = rows.first(std::min(rows.size(), sum_block));
    for (const double row : block) wide_.add(bounds_.clamp(row));
    rows = rows.subspan(block.size());
  }
}

void ExactSum::add_total(const Dyadic& sum) {
  wide_.add(sum, "sum");
}

void ExactSum::merge(const ExactSum& other) {
  require_equal(bounds_, other.bounds_);
  merge_units(units_, other.units_);
  wide_.merge(other.wide_);
}

Dyadic ExactSum::total() const {
  return sum_total(bounds_, least_sum_exponent, units_, wide_);
}

bool operator==(const ExactSum& a, const ExactSum& b) {
  return a.bounds_ == b.bounds_ && a.total() == b.total();
}

void ExactMoments::add(std::span<const double> rows, InstructionSet kernel) {
  require_supported(kernel);
  const FloatEnvironment environment;
  const bool fast = bounds_.exponent() <= largest_product_exponent;
  while (!rows.empty()) {
    if (fast) {
      const ClampGrid grid(bounds_, least_product_exponent);
      const ProductGrid squares(product_exponent(bounds_, bounds_));
      rows = rows.subspan(
          sum_kernels(kernel).moments(rows.data(), rows.size(), grid, squares, units_, square_units_));
    }
    const std::span<const double> block = rows.first(std::min(rows.size(), product_block));
    for (const double row : block) {
      const double clamped = bounds_.clamp(row);
      wide_.add(clamped);
      wide_squares_.add_product(clamped, clamped);
    }
    rows = rows.subspan(block.size());
  }
}

void ExactMoments::add_totals(const Dyadic& sum, const Dyadic& sum_of_squares) {
  WideSum restored;
  restored.add(sum, "sum");
  wide_squares_.add(sum_of_squares, "sum_of_squares");
  wide_.merge(restored);
}

void ExactMoments::merge(const ExactMoments& other) {
  require_equal(bounds_, other.bounds_);
  merge_units(units_, other.units_);
  merge_units(square_units_, other.square_units_);
  wide_.merge(other.wide_);
  wide_squares_.merge(other.wide_squares_);
}

Dyadic ExactMoments::sum() const {
  return sum_total(bounds_, least_product_exponent, units_, wide_);
}

Dyadic ExactMoments::sum_of_squares() const {
  return product_total(product_exponent(bounds_, bounds_), square_units_, wide_squares_);
}

bool operator==(const ExactMoments& a, const ExactMoments& b) {
  return a.bounds_ == b.bounds_ && a.sum() == b.sum() && a.sum_of_squares() == b.sum_of_squares();
}

void ExactProducts::add(std::span<const double> x, std::span<const double> y, InstructionSet kernel) {
  require_supported(kernel);
  if (x.size() != y.size()) {
    throw Error(ErrorCode::mismatch, "y",
                "y: both columns must have the same number of rows; pass rows in pairs");
  }
  const FloatEnvironment environment;
  const bool fast =
      x_bounds_.exponent() <= largest_product_exponent && y_bounds_.exponent() <= largest_product_exponent;
  while (!x.empty()) {
    if (fast) {
      const ClampGrid x_grid(x_bounds_, least_product_exponent);
      const ClampGrid y_grid(y_bounds_, least_product_exponent);
      const ProductGrid products(product_exponent(x_bounds_, y_bounds_));
      const std::size_t done = sum_kernels(kernel).products(x.data(), y.data(), x.size(), x_grid, y_grid,
                                                            products, x_units_, y_units_, product_units_);
      x = x.subspan(done);
      y = y.subspan(done);
    }
    const std::size_t block = std::min(x.size(), product_block);
    for (std::size_t i = 0; i < block; ++i) {
      const double x_row = x_bounds_.clamp(x[i]);
      const double y_row = y_bounds_.clamp(y[i]);
      wide_x_.add(x_row);
      wide_y_.add(y_row);
      wide_products_.add_product(x_row, y_row);
    }
    x = x.subspan(block);
    y = y.subspan(block);
  }
}

void ExactProducts::add_totals(const Dyadic& sum_x, const Dyadic& sum_y, const Dyadic& sum_xy) {
  WideSum restored_x;
  restored_x.add(sum_x, "sum_x");
  WideSum restored_y;
  restored_y.add(sum_y, "sum_y");
  wide_products_.add(sum_xy, "sum_xy");
  wide_x_.merge(restored_x);
  wide_y_.merge(restored_y);
}

void ExactProducts::merge(const ExactProducts& other) {
  require_equal(x_bounds_, other.x_bounds_);
  require_equal(y_bounds_, other.y_bounds_);
  merge_units(x_units_, other.x_units_);
  merge_units(y_units_, other.y_units_);
  merge_units(product_units_, other.product_units_);
  wide_x_.merge(other.wide_x_);
  wide_y_.merge(other.wide_y_);
  wide_products_.merge(other.wide_products_);
}

Dyadic ExactProducts::sum_x() const {
  return sum_total(x_bounds_, least_product_exponent, x_units_, wide_x_);
}

Dyadic ExactProducts::sum_y() const {
  return sum_total(y_bounds_, least_product_exponent, y_units_, wide_y_);
}

Dyadic ExactProducts::sum_xy() const {
  return product_total(product_exponent(x_bounds_, y_bounds_), product_units_, wide_products_);
}

bool operator==(const ExactProducts& a, const ExactProducts& b) {
  return a.x_bounds_ == b.x_bounds_ && a.y_bounds_ == b.y_bounds_ && a.sum_x() == b.sum_x() &&
         a.sum_y() == b.sum_y() && a.sum_xy() == b.sum_xy();
}

}  // namespace snapdp
