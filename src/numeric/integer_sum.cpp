#include <algorithm>
#include <limits>
#include <string>

#include "numeric/shared/targets.h"
#include "snapdp/error.h"
#include "snapdp/numeric/exact_sum.h"

namespace snapdp {
namespace {

__extension__ using SignedWide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

// Rows in a block: sums of 2048 numbers below 2^32, or 2^51 in magnitude, stay below 2^63.
constexpr std::size_t block_rows = 2048;
constexpr std::int64_t small_magnitude = std::int64_t{1} << 51;
constexpr std::uint64_t low_half = 0xffffffff;

SNAPDP_INLINE std::int64_t clamp(std::int64_t row, std::int64_t lower, std::int64_t upper) {
  const std::int64_t raised = row < lower ? lower : row;
  return raised > upper ? upper : raised;
}

Int128 to_int128(SignedWide value) {
  return {static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(value >> 64)};
}

// The sum of a block of numbers given as unsigned ones that are larger by `bias`, in two halves of 32 bits
// each.
SNAPDP_INLINE void add_halves(std::uint64_t low, std::uint64_t high, std::uint64_t bias, std::size_t rows,
                              IntegerTotal& total) {
  const UnsignedWide sum = (static_cast<UnsignedWide>(high) << 32) + low;
  total.low += to_int128(static_cast<SignedWide>(sum - static_cast<UnsignedWide>(bias) * rows));
}

// |lower|, |upper| <= 2^51.
SNAPDP_INLINE void small_sum_body(const std::int64_t* x, std::size_t rows, const IntegerBounds& bounds,
                                  IntegerTotal& total) {
  const std::int64_t lower = bounds.lower();
  const std::int64_t upper = bounds.upper();
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < rows; ++i) sum += clamp(x[i], lower, upper);
  total.low += sum;
}

SNAPDP_INLINE void large_sum_body(const std::int64_t* x, std::size_t rows, const IntegerBounds& bounds,
                                  IntegerTotal& total) {
  constexpr std::uint64_t bias = std::uint64_t{1} << 63;
  const std::int64_t lower = bounds.lower();
  const std::int64_t upper = bounds.upper();
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t biased = static_cast<std::uint64_t>(clamp(x[i], lower, upper)) + bias;
    low += biased & low_half;
    high += biased >> 32;
  }
  add_halves(low, high, bias, rows, total);
}

// Bounds within 32 bits: |x y| <= 2^62.
SNAPDP_INLINE void small_product_body(const std::int64_t* x, const std::int64_t* y, std::size_t rows,
                                      const IntegerBounds& x_bounds, const IntegerBounds& y_bounds,
                                      IntegerTotal& total) {
  constexpr std::uint64_t bias = std::uint64_t{1} << 62;
  const std::int64_t x_lower = x_bounds.lower();
  const std::int64_t x_upper = x_bounds.upper();
  const std::int64_t y_lower = y_bounds.lower();
  const std::int64_t y_upper = y_bounds.upper();
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    // Narrowed, so that compilers may use the vector instructions that multiply 32 bits by 32.
    const auto x_row = static_cast<std::int32_t>(clamp(x[i], x_lower, x_upper));
    const auto y_row = static_cast<std::int32_t>(clamp(y[i], y_lower, y_upper));
    const std::int64_t product = static_cast<std::int64_t>(x_row) * y_row;
    const std::uint64_t biased = static_cast<std::uint64_t>(product) + bias;
    low += biased & low_half;
    high += biased >> 32;
  }
  add_halves(low, high, bias, rows, total);
}

// Any bounds: |x y| <= 2^126.
void large_products(const std::int64_t* x, const std::int64_t* y, std::size_t rows,
                    const IntegerBounds& x_bounds, const IntegerBounds& y_bounds, IntegerTotal& total) {
  UnsignedWide low = 0;
  SignedWide high = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const SignedWide product = static_cast<SignedWide>(clamp(x[i], x_bounds.lower(), x_bounds.upper())) *
                               clamp(y[i], y_bounds.lower(), y_bounds.upper());
    low += static_cast<std::uint64_t>(product);
    high += static_cast<std::int64_t>(product >> 64);
  }
  total.low += to_int128(static_cast<SignedWide>(low));
  total.high += to_int128(high);
}

// One block of at most block_rows rows.
struct Kernels {
  void (*small_sum)(const std::int64_t* x, std::size_t rows, const IntegerBounds& bounds,
                    IntegerTotal& total);
  void (*large_sum)(const std::int64_t* x, std::size_t rows, const IntegerBounds& bounds,
                    IntegerTotal& total);
  void (*small_products)(const std::int64_t* x, const std::int64_t* y, std::size_t rows,
                         const IntegerBounds& x_bounds, const IntegerBounds& y_bounds, IntegerTotal& total);
};

void small_sum(const std::int64_t* x, std::size_t rows, const IntegerBounds& bounds, IntegerTotal& total) {
  small_sum_body(x, rows, bounds, total);
}
void large_sum(const std::int64_t* x, std::size_t rows, const IntegerBounds& bounds, IntegerTotal& total) {
  large_sum_body(x, rows, bounds, total);
}
void small_products(const std::int64_t* x, const std::int64_t* y, std::size_t rows,
                    const IntegerBounds& x_bounds, const IntegerBounds& y_bounds, IntegerTotal& total) {
  small_product_body(x, y, rows, x_bounds, y_bounds, total);
}

#if defined(SNAPDP_HAS_X86_TARGETS)
SNAPDP_TARGET_AVX2 void small_sum_avx2(const std::int64_t* x, std::size_t rows, const IntegerBounds& bounds,
                                       IntegerTotal& total) {
  small_sum_body(x, rows, bounds, total);
}
SNAPDP_TARGET_AVX2 void large_sum_avx2(const std::int64_t* x, std::size_t rows, const IntegerBounds& bounds,
                                       IntegerTotal& total) {
  large_sum_body(x, rows, bounds, total);
}
SNAPDP_TARGET_AVX2 void small_products_avx2(const std::int64_t* x, const std::int64_t* y, std::size_t rows,
                                            const IntegerBounds& x_bounds, const IntegerBounds& y_bounds,
                                            IntegerTotal& total) {
  small_product_body(x, y, rows, x_bounds, y_bounds, total);
}
SNAPDP_TARGET_AVX512 void small_sum_avx512(const std::int64_t* x, std::size_t rows,
                                           const IntegerBounds& bounds, IntegerTotal& total) {
  small_sum_body(x, rows, bounds, total);
}
SNAPDP_TARGET_AVX512 void large_sum_avx512(const std::int64_t* x, std::size_t rows,
                                           const IntegerBounds& bounds, IntegerTotal& total) {
  large_sum_body(x, rows, bounds, total);
}
SNAPDP_TARGET_AVX512 void small_products_avx512(const std::int64_t* x, const std::int64_t* y,
                                                std::size_t rows, const IntegerBounds& x_bounds,
                                                const IntegerBounds& y_bounds, IntegerTotal& total) {
  small_product_body(x, y, rows, x_bounds, y_bounds, total);
}
#endif

const Kernels& kernels(InstructionSet set) {
  static constexpr Kernels table[] = {
    {small_sum, large_sum, small_products},
#if defined(SNAPDP_HAS_X86_TARGETS)
    {small_sum_avx2, large_sum_avx2, small_products_avx2},
    {small_sum_avx512, large_sum_avx512, small_products_avx512},
#endif
  };
  require_supported(set);
  return table[static_cast<std::size_t>(set)];
}

bool within(const IntegerBounds& bounds, std::int64_t least, std::int64_t most) {
  return bounds.lower() >= least && bounds.upper() <= most;
}

bool fits_32_bits(const IntegerBounds& bounds) {
  return within(bounds, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
}

void add_sum(const Kernels& kernel, const std::int64_t* x, std::size_t rows, const IntegerBounds& bounds,
             IntegerTotal& total) {
  const bool small = within(bounds, -small_magnitude, small_magnitude);
  (small ? kernel.small_sum : kernel.large_sum)(x, rows, bounds, total);
}

void add_products(const Kernels& kernel, const std::int64_t* x, const std::int64_t* y, std::size_t rows,
                  const IntegerBounds& x_bounds, const IntegerBounds& y_bounds, IntegerTotal& total) {
  const bool small = fits_32_bits(x_bounds) && fits_32_bits(y_bounds);
  (small ? kernel.small_products : large_products)(x, y, rows, x_bounds, y_bounds, total);
}

void require_equal(const IntegerBounds& a, const IntegerBounds& b) {
  if (a == b) return;
  throw Error(ErrorCode::mismatch, "bounds",
              "bounds: sums on [" + std::to_string(a.lower()) + ", " + std::to_string(a.upper()) +
                  "] and on [" + std::to_string(b.lower()) + ", " + std::to_string(b.upper()) +
                  "] cannot be merged; use the same bounds for both");
}

}  // namespace

IntegerBounds::IntegerBounds(std::int64_t lower, std::int64_t upper) : lower_(lower), upper_(upper) {
  if (lower > upper) {
    throw Error(
        ErrorCode::invalid_argument, "lower",
        "lower = " + std::to_string(lower) + " is above upper = " + std::to_string(upper) + ": swap them");
  }
}

void IntegerTotal::add(const Dyadic& total, std::string_view parameter) {
  // The exponent first: it bounds the shift.
  const bool possible =
      total.exponent() >= 0 && total.exponent() <= 189 && abs(total) <= scale_by_power_of_two(1, 189);
  if (!possible) {
    throw Error(ErrorCode::invalid_argument, std::string(parameter),
                std::string(parameter) +
                    ": the number given is no sum of integers or of their products: it must be "
                    "an integer of magnitude at most 2^189; pass a total that a sum returned");
  }
  const Integer value = total.mantissa() << static_cast<mp_bitcnt_t>(total.exponent());
  Integer rest;
  Integer quotient;
  mpz_fdiv_r_2exp(rest.get_mpz_t(), value.get_mpz_t(), 64);
  mpz_fdiv_q_2exp(quotient.get_mpz_t(), value.get_mpz_t(), 64);
  low += Int128{rest.get_ui(), 0};
  Integer quotient_rest;
  mpz_fdiv_r_2exp(quotient_rest.get_mpz_t(), quotient.get_mpz_t(), 64);
  mpz_fdiv_q_2exp(quotient.get_mpz_t(), quotient.get_mpz_t(), 64);
  high += Int128{quotient_rest.get_ui(), static_cast<std::uint64_t>(quotient.get_si())};
}

void IntegerTotal::merge(const IntegerTotal& other) noexcept {
  low += other.low;
  high += other.high;
}

Dyadic IntegerTotal::value() const {
  return {to_integer(low) + (to_integer(high) << 64), 0};
}

void IntegerSum::add(std::span<const std::int64_t> rows, InstructionSet kernel) {
  const Kernels& kernels_of_set = kernels(kernel);
  for (std::size_t i = 0; i < rows.size(); i += block_rows) {
    add_sum(kernels_of_set, rows.data() + i, std::min(block_rows, rows.size() - i), bounds_, sum_);
  }
}

void IntegerSum::add_total(const Dyadic& sum) {
  sum_.add(sum, "sum");
}

void IntegerSum::merge(const IntegerSum& other) {
  require_equal(bounds_, other.bounds_);
  sum_.merge(other.sum_);
}

bool operator==(const IntegerSum& a, const IntegerSum& b) {
  return a.bounds_ == b.bounds_ && a.total() == b.total();
}

void IntegerMoments::add(std::span<const std::int64_t> rows, InstructionSet kernel) {
  const Kernels& kernels_of_set = kernels(kernel);
  for (std::size_t i = 0; i < rows.size(); i += block_rows) {
    const std::int64_t* block = rows.data() + i;
    const std::size_t size = std::min(block_rows, rows.size() - i);
    add_sum(kernels_of_set, block, size, bounds_, sum_);
    add_products(kernels_of_set, block, block, size, bounds_, bounds_, squares_);
  }
}

void IntegerMoments::add_totals(const Dyadic& sum, const Dyadic& sum_of_squares) {
  IntegerTotal restored;
  restored.add(sum, "sum");
  squares_.add(sum_of_squares, "sum_of_squares");
  sum_.merge(restored);
}

void IntegerMoments::merge(const IntegerMoments& other) {
  require_equal(bounds_, other.bounds_);
  sum_.merge(other.sum_);
  squares_.merge(other.squares_);
}

bool operator==(const IntegerMoments& a, const IntegerMoments& b) {
  return a.bounds_ == b.bounds_ && a.sum() == b.sum() && a.sum_of_squares() == b.sum_of_squares();
}

void IntegerProducts::add(std::span<const std::int64_t> x, std::span<const std::int64_t> y,
                          InstructionSet kernel) {
  const Kernels& kernels_of_set = kernels(kernel);
  if (x.size() != y.size()) {
    throw Error(ErrorCode::mismatch, "y",
                "y: both columns must have the same number of rows; pass rows in pairs");
  }
  for (std::size_t i = 0; i < x.size(); i += block_rows) {
    const std::size_t size = std::min(block_rows, x.size() - i);
    add_sum(kernels_of_set, x.data() + i, size, x_bounds_, sum_x_);
    add_sum(kernels_of_set, y.data() + i, size, y_bounds_, sum_y_);
    add_products(kernels_of_set, x.data() + i, y.data() + i, size, x_bounds_, y_bounds_, products_);
  }
}

void IntegerProducts::add_totals(const Dyadic& sum_x, const Dyadic& sum_y, const Dyadic& sum_xy) {
  IntegerTotal restored_x;
  restored_x.add(sum_x, "sum_x");
  IntegerTotal restored_y;
  restored_y.add(sum_y, "sum_y");
  products_.add(sum_xy, "sum_xy");
  sum_x_.merge(restored_x);
  sum_y_.merge(restored_y);
}

void IntegerProducts::merge(const IntegerProducts& other) {
  require_equal(x_bounds_, other.x_bounds_);
  require_equal(y_bounds_, other.y_bounds_);
  sum_x_.merge(other.sum_x_);
  sum_y_.merge(other.sum_y_);
  products_.merge(other.products_);
}

bool operator==(const IntegerProducts& a, const IntegerProducts& b) {
  return a.x_bounds_ == b.x_bounds_ && a.y_bounds_ == b.y_bounds_ && a.sum_x() == b.sum_x() &&
         a.sum_y() == b.sum_y() && a.sum_xy() == b.sum_xy();
}

}  // namespace snapdp
