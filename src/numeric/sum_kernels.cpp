#include "numeric/sum_kernels.h"

#include <algorithm>

#include "numeric/shared/targets.h"
#if defined(SNAPDP_HAS_X86_TARGETS)
#include <immintrin.h>
#if !defined(__clang__)
// GCC 12 takes the deliberately undefined operands inside its AVX-512 intrinsics for a mistake (GCC bug
// 105593), and at -O0, where they are macros, their masks of (unsigned char)-1 too.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
#endif

namespace snapdp::numeric_internal {
namespace {

using Bits = std::uint64_t;

SNAPDP_INLINE Bits bits_of(double value) {
  return __builtin_bit_cast(Bits, value);
}

// 1.5 * 2^k for k in [-1022, 1023].
double magic_constant(int k) {
  return __builtin_bit_cast(double, (static_cast<Bits>(k + 1023) << 52) | (Bits{1} << 51));
}

// One step: counts rint(value / grid) and leaves the residual. Written so that a residual of zero is +0.
SNAPDP_INLINE double count(double value, double magic, Bits& units) {
  const double shifted = value + magic;
  units += bits_of(shifted);
  return value + (magic - shifted);
}

// The same on the grid where nothing may be left; `left` becomes nonzero if something is.
SNAPDP_INLINE void count_last(double value, double magic, Bits& units, Bits& left) {
  const double shifted = value + magic;
  units += bits_of(shifted);
  left |= bits_of(value) ^ bits_of(shifted - magic);  // value is no -0: it is what count() left
}

// The units of `steps` additions of bit patterns, each offset by that of `magic`.
SNAPDP_INLINE std::int64_t units_of(Bits sum, double magic, std::size_t steps) {
  return static_cast<std::int64_t>(sum - steps * bits_of(magic));
}

// x y - product exactly, product = fl(x y); see the header for why nothing underflows where it matters.
template <bool fused>
SNAPDP_INLINE double product_error(double x, double y, double product) {
  if constexpr (fused) return __builtin_fma(x, y, -product);
  // Dekker, "A floating-point technique for extending the available precision", 1971, with Veltkamp's
  // splitting.
  const double split = 0x1p27 + 1;
  const double x_scaled = split * x;
  const double x_high = x_scaled - (x_scaled - x);
  const double x_low = x - x_high;
  const double y_scaled = split * y;
  const double y_high = y_scaled - (y_scaled - y);
  const double y_low = y - y_high;
  return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low;
}

// Counts the product of two clamped rows.
template <bool fused>
SNAPDP_INLINE void count_product(double x, double y, const ProductGrid& grid, Bits units[4]) {
  const double product = x * y;
  const double error = product_error<fused>(x, y, product);
  double residual = count(product, grid.magic[0], units[0]);
  residual = count(residual, grid.magic[1], units[1]);
  residual = count(residual, grid.magic[2], units[2]);
  double error_residual = count(error, grid.magic[1], units[1]);
  error_residual = count(error_residual, grid.magic[2], units[2]);
  units[3] += bits_of(residual + error_residual + grid.magic[3]);
}

// On the product grids, how many additions a row makes on each level.
constexpr std::size_t product_steps[4] = {1, 2, 2, 1};

SNAPDP_INLINE void add_product_units(const Bits sums[4], const ProductGrid& grid, std::size_t rows,
                                     Int128 units[4]) {
  for (int level = 0; level < 4; ++level) {
    units[level] += units_of(sums[level], grid.magic[level], product_steps[level] * rows);
  }
}

SNAPDP_INLINE void add_units(const Bits sums[2], const ClampGrid& grid, std::size_t rows, Int128 units[2]) {
  units[0] += units_of(sums[0], grid.magic1, rows);
  units[1] += units_of(sums[1], grid.magic2, rows);
}

SNAPDP_INLINE std::size_t sum_rows(const double* x, std::size_t rows, const ClampGrid& clamp_grid,
                                   Int128 units[2]) {
  const ClampGrid grid = clamp_grid;
  std::size_t done = 0;
  while (done < rows) {
    const std::size_t block = std::min(rows - done, sum_block);
    Bits first = 0;
    Bits second = 0;
    Bits left = 0;
    for (std::size_t i = 0; i < block; ++i) {
      count_last(count(clamp(x[done + i], grid), grid.magic1, first), grid.magic2, second, left);
    }
    if (left != 0) break;
    const Bits sums[2] = {first, second};
    add_units(sums, grid, block, units);
    done += block;
  }
  return done;
}

template <bool fused>
SNAPDP_INLINE std::size_t moment_rows(const double* x, std::size_t rows, const ClampGrid& clamp_grid,
                                      const ProductGrid& squares, Int128 units[2], Int128 square_units[4]) {
  const ClampGrid grid = clamp_grid;
  const ProductGrid square_grid = squares;
  std::size_t done = 0;
  while (done < rows) {
    const std::size_t block = std::min(rows - done, product_block);
    Bits sums[2] = {};
    Bits square_sums[4] = {};
    Bits left = 0;
    for (std::size_t i = 0; i < block; ++i) {
      const double row = clamp(x[done + i], grid);
      count_last(count(row, grid.magic1, sums[0]), grid.magic2, sums[1], left);
      count_product<fused>(row, row, square_grid, square_sums);
    }
    if (left != 0) break;
    add_units(sums, grid, block, units);
    add_product_units(square_sums, square_grid, block, square_units);
    done += block;
  }
  return done;
}

template <bool fused>
SNAPDP_INLINE std::size_t product_rows(const double* x, const double* y, std::size_t rows,
                                       const ClampGrid& x_clamp_grid, const ClampGrid& y_clamp_grid,
                                       const ProductGrid& products, Int128 x_units[2], Int128 y_units[2],
                                       Int128 product_units[4]) {
  const ClampGrid x_grid = x_clamp_grid;
  const ClampGrid y_grid = y_clamp_grid;
  const ProductGrid grid = products;
  std::size_t done = 0;
  while (done < rows) {
    const std::size_t block = std::min(rows - done, product_block);
    Bits x_sums[2] = {};
    Bits y_sums[2] = {};
    Bits product_sums[4] = {};
    Bits left = 0;
    for (std::size_t i = 0; i < block; ++i) {
      const double x_row = clamp(x[done + i], x_grid);
      const double y_row = clamp(y[done + i], y_grid);
      count_last(count(x_row, x_grid.magic1, x_sums[0]), x_grid.magic2, x_sums[1], left);
      count_last(count(y_row, y_grid.magic1, y_sums[0]), y_grid.magic2, y_sums[1], left);
      count_product<fused>(x_row, y_row, grid, product_sums);
    }
    if (left != 0) break;
    add_units(x_sums, x_grid, block, x_units);
    add_units(y_sums, y_grid, block, y_units);
    add_product_units(product_sums, grid, block, product_units);
    done += block;
  }
  return done;
}

std::size_t sum_portable(const double* x, std::size_t rows, const ClampGrid& grid, Int128 units[2]) {
  return sum_rows(x, rows, grid, units);
}

std::size_t moments_portable(const double* x, std::size_t rows, const ClampGrid& grid,
                             const ProductGrid& squares, Int128 units[2], Int128 square_units[4]) {
  return moment_rows<false>(x, rows, grid, squares, units, square_units);
}

std::size_t products_portable(const double* x, const double* y, std::size_t rows, const ClampGrid& x_grid,
                              const ClampGrid& y_grid, const ProductGrid& products, Int128 x_units[2],
                              Int128 y_units[2], Int128 product_units[4]) {
  return product_rows<false>(x, y, rows, x_grid, y_grid, products, x_units, y_units, product_units);
}

#if defined(SNAPDP_HAS_X86_TARGETS)

SNAPDP_TARGET_AVX2 std::size_t sum_avx2(const double* x, std::size_t rows, const ClampGrid& grid,
                                        Int128 units[2]) {
  return sum_rows(x, rows, grid, units);
}

SNAPDP_TARGET_AVX2 std::size_t moments_avx2(const double* x, std::size_t rows, const ClampGrid& grid,
                                            const ProductGrid& squares, Int128 units[2],
                                            Int128 square_units[4]) {
  return moment_rows<true>(x, rows, grid, squares, units, square_units);
}

SNAPDP_TARGET_AVX2 std::size_t products_avx2(const double* x, const double* y, std::size_t rows,
                                             const ClampGrid& x_grid, const ClampGrid& y_grid,
                                             const ProductGrid& products, Int128 x_units[2],
                                             Int128 y_units[2], Int128 product_units[4]) {
  return product_rows<true>(x, y, rows, x_grid, y_grid, products, x_units, y_units, product_units);
}

SNAPDP_TARGET_AVX512 std::size_t moments_avx512(const double* x, std::size_t rows, const ClampGrid& grid,
                                                const ProductGrid& squares, Int128 units[2],
                                                Int128 square_units[4]) {
  return moment_rows<true>(x, rows, grid, squares, units, square_units);
}

SNAPDP_TARGET_AVX512 std::size_t products_avx512(const double* x, const double* y, std::size_t rows,
                                                 const ClampGrid& x_grid, const ClampGrid& y_grid,
                                                 const ProductGrid& products, Int128 x_units[2],
                                                 Int128 y_units[2], Int128 product_units[4]) {
  return product_rows<true>(x, y, rows, x_grid, y_grid, products, x_units, y_units, product_units);
}

SNAPDP_TARGET_AVX512 Bits sum_of_lanes(__m512i lanes) {
  Bits lane[8];
  _mm512_storeu_si512(lane, lanes);
  Bits sum = 0;
  for (const Bits bits : lane) sum += bits;
  return sum;
}

// The sum of one column is bound by the two vector ports, so this kernel differs from sum_rows() in what it
// does with the residuals r: it adds them up in double arithmetic and lets the processor say whether that was
// exact. With at most 256 of them in a lane, |sum| <= 2^(k-44); the sums go to the grid 2^(k-95) once a
// block. If no row has bits below that grid, everything is exact; otherwise some addition may be inexact,
// which raises the sticky inexact flag (IEEE 754-2019, 7.6), and the block is given back. The rounding of x
// to g1, inexact on purpose, suppresses the flag.
SNAPDP_TARGET_AVX512 std::size_t sum_avx512(const double* x, std::size_t rows, const ClampGrid& grid,
                                            Int128 units[2]) {
  constexpr std::size_t step = 16;
  constexpr int quietly = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  constexpr unsigned inexact = 0x20;
  constexpr std::size_t prefetch_bytes = 4096;  // the gain is flat from 2 KiB to 6 KiB
  if (rows < step) return sum_rows(x, rows, grid, units);

  const double residual_magic = magic_constant(grid.exponent - 43);
  const __m512d lower = _mm512_set1_pd(grid.lower);
  const __m512d upper = _mm512_set1_pd(grid.upper);
  const __m512d magic = _mm512_set1_pd(grid.magic1);
  const unsigned before = _mm_getcsr();
  const unsigned cleared = before & ~inexact;
  unsigned after = 0;
  std::size_t done = 0;
  // `start` is zero. It passes through the statement that clears the flag, and the sums of the residuals
  // through the one that reads it, so no addition that may raise the flag can be moved across either.
  __m512d start = _mm512_setzero_pd();
  __asm__ volatile("ldmxcsr %[mode]" : [start] "+v"(start) : [mode] "m"(cleared));
  while (rows - done >= step) {
    const std::size_t block = std::min((rows - done) / step * step, sum_block);
    __m512i first = _mm512_setzero_si512();
    __m512d residuals[2] = {start, start};
    for (std::size_t i = 0; i < block; i += step) {
      for (std::size_t half = 0; half < 2; ++half) {
        const double* from = x + done + i + 8 * half;
        _mm_prefetch(reinterpret_cast<const char*>(from) + prefetch_bytes, _MM_HINT_T0);
        const __m512d raised = _mm512_max_pd(_mm512_loadu_pd(from), lower);  // a NaN gives lower
        const __m512d row = _mm512_min_pd(raised, upper);
        const __m512d shifted = _mm512_add_round_pd(row, magic, quietly);
        first = _mm512_add_epi64(first, _mm512_castpd_si512(shifted));
        residuals[half] = _mm512_add_pd(residuals[half], _mm512_add_pd(row, _mm512_sub_pd(magic, shifted)));
      }
    }
    __m512d second = _mm512_add_pd(residuals[0], residuals[1]);
    second = _mm512_add_pd(second, _mm512_set1_pd(residual_magic));
    __asm__ volatile("stmxcsr %[mode]" : [mode] "=m"(after), [second] "+v"(second));
    if ((after & inexact) != 0) break;
    units[0] += units_of(sum_of_lanes(first), grid.magic1, block);
    const std::int64_t coarse = units_of(sum_of_lanes(_mm512_castpd_si512(second)), residual_magic, 8);
    units[1] += coarse * 256;  // from 2^(k-95) to 2^(k-103)
    done += block;
  }
  _mm_setcsr(before | _mm_getcsr());
  if (rows - done >= step) return done;
  return done + sum_rows(x + done, rows - done, grid, units);
}

#endif  // SNAPDP_HAS_X86_TARGETS

}  // namespace

ClampGrid::ClampGrid(const ClampBounds& bounds, int least)
    : lower(bounds.lower()),
      upper(bounds.upper()),
      exponent(std::max(bounds.exponent(), least)),
      magic1(magic_constant(exponent + 1)),
      magic2(magic_constant(exponent - 51)) {}

ProductGrid::ProductGrid(int k)
    : magic{magic_constant(k + 1), magic_constant(k - 51), magic_constant(k - 103), magic_constant(k - 154)} {
}

const SumKernels& sum_kernels(InstructionSet set) {
  static constexpr SumKernels kernels[] = {
    {sum_portable, moments_portable, products_portable},
#if defined(SNAPDP_HAS_X86_TARGETS)
    {sum_avx2, moments_avx2, products_avx2},
    {sum_avx512, moments_avx512, products_avx512},
#endif
  };
  return kernels[static_cast<std::size_t>(set)];
}

}  // namespace snapdp::numeric_internal
