// The vectorised inner loops of exact_sum.h.
//
// Grids. Let |x| <= 2^k for all clamped rows. Adding the constant 3 * 2^k ("1.5 * 2^(k+1)") to x leaves a
// double whose last place is g1 = 2^(k-51), in one binade whatever x is: the bit pattern of the sum, read as
// an integer, is that of the constant plus rint(x / g1). Integer additions of bit patterns therefore sum
// multiples of g1 exactly. What was rounded off, r = x - g1 rint(x / g1), is a double (Sterbenz; |r| <=
// 2^(k-52)) and goes through the same step on the grid g2 = 2^(k-103). A block in which something is left
// below the last grid is not added at all.
//
// Squares and products. p = fl(x y) and e = x y - p are both doubles when nothing underflows. With |x y| <=
// 2^k and x and y multiples of their own second grids, 2^(kx-103) and 2^(ky-103), x y is a multiple of G =
// 2^(k-206), so are p and e, and |e| <= 2^(k-54). On the grids g1, g2, g3 = 2^(k-51), 2^(k-103), 2^(k-155), p
// leaves a residual of at most g3 / 2 after three steps and e after two (g2, g3); both are multiples of G,
// hence their sum has at most 51 bits, is exact, and is counted on the last grid, G itself, with nothing
// left. So the test that x and y have no bits below their second grids serves the products too. kx, ky >=
// -400 keeps G above 2^-1007: no product underflows.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "numeric/shared/targets.h"
#include "snapdp/numeric/exact_sum.h"
#include "snapdp/numeric/instruction_set.h"

namespace snapdp::numeric_internal {

// Bounds of one column and the constants of its grids.
struct ClampGrid {
  double lower;
  double upper;
  int exponent;   // k
  double magic1;  // the constant of g1
  double magic2;

  // The grids for k = max(bounds.exponent(), least).
  ClampGrid(const ClampBounds& bounds, int least);
};

// The constants for products whose magnitude is at most 2^k.
struct ProductGrid {
  double magic[4];

  explicit ProductGrid(int k);
};

// g2 of the least k, and G of twice the least product k, are still doubles.
inline constexpr int least_sum_exponent = -971;
inline constexpr int least_product_exponent = -400;
// 3 * 2^k and, for products, 3 * 2^(2k) are still doubles.
inline constexpr int largest_sum_exponent = 1021;
inline constexpr int largest_product_exponent = 510;

// Exponents of the units that the kernels count in.
constexpr int sum_unit(int k, int level) {
  return k - 51 - 52 * level;
}
constexpr int product_unit(int k, int level) {
  return level == 3 ? k - 206 : k - 51 - 52 * level;
}

// How many rows a block has at most, and how many are given back when it is inexact. One lane counts at most
// 2^51 units a step and two steps a level, so that 64 bits hold any block.
inline constexpr std::size_t sum_block = 2048;
inline constexpr std::size_t product_block = 1024;

// Each adds blocks of rows to the counters until the end, or until a block has bits below the last grid, and
// returns how many rows it added. They need round-to-nearest and subnormals (FloatEnvironment).
struct SumKernels {
  std::size_t (*sum)(const double* x, std::size_t rows, const ClampGrid& grid, Int128 units[2]);
  std::size_t (*moments)(const double* x, std::size_t rows, const ClampGrid& grid, const ProductGrid& squares,
                         Int128 units[2], Int128 square_units[4]);
  std::size_t (*products)(const double* x, const double* y, std::size_t rows, const ClampGrid& x_grid,
                          const ClampGrid& y_grid, const ProductGrid& products, Int128 x_units[2],
                          Int128 y_units[2], Int128 product_units[4]);
};

SNAPDP_INLINE double clamp(double row, const ClampGrid& grid) {
  const double raised = row > grid.lower ? row : grid.lower;  // a NaN gives lower
  return raised < grid.upper ? raised : grid.upper;
}

// One row alone, clamped, in units of both grids, offset by 2^51 so that they are no less than 0 and at most 2^52; or false
// when it has bits below the last grid.
SNAPDP_INLINE bool count_row(double row, const ClampGrid& grid, std::uint64_t units[2]) {
  constexpr std::uint64_t offset = std::uint64_t{1} << 51;
  row = clamp(row, grid);
  const double first = row + grid.magic1;
  const double residual = row + (grid.magic1 - first);
  const double second = residual + grid.magic2;
  units[0] = std::bit_cast<std::uint64_t>(first) - (std::bit_cast<std::uint64_t>(grid.magic1) - offset);
  units[1] = std::bit_cast<std::uint64_t>(second) - (std::bit_cast<std::uint64_t>(grid.magic2) - offset);
  return second - grid.magic2 == residual;
}

// `set` is supported on this machine.
const SumKernels& sum_kernels(InstructionSet set);

}  // namespace snapdp::numeric_internal
