#include "mechanism/snap_kernel.h"

#include <cstring>

#include "snapdp/numeric/float_environment.h"

namespace snapdp::snap_kernel {
namespace {

constexpr std::uint64_t sign_bit = 0x8000000000000000;
constexpr std::uint64_t exponent_bits = 0x7ff0000000000000;

enum class Range {
  narrow,  // |value| / grid <= 2^50 within the bounds
  wide,    // anything finite
};

// `lanes` samples a turn with the compiler's vector extension. Everything is in one function: vectors passed
// between functions would have a calling convention that depends on the instruction set.
template <std::size_t lanes, Range range>
__attribute__((always_inline)) inline bool snap(const detail::SnapConstants& constants,
                                                const std::uint64_t* words, const double* values, double* out,
                                                std::size_t count) {
  typedef double Real __attribute__((vector_size(8 * lanes)));
  typedef std::uint64_t Word __attribute__((vector_size(8 * lanes)));
  static_assert(stride % lanes == 0);

  const Real ratio = Real{} + constants.ratio;
  const Real grid = Real{} + constants.grid;
  const Real inverse_grid = Real{} + constants.inverse_grid;
  const Real limit = Real{} + constants.limit;
  const Real lower = Real{} + constants.lower;
  const Real upper = Real{} + constants.upper;
  Word any = {};
  for (std::size_t i = 0; i < count; i += lanes) {
    Word w;
    Real x;
    std::memcpy(&w, words + i, sizeof w);
    std::memcpy(&x, values + i, sizeof x);

    // V = RN(w | 1), from its halves: 2^84 + 2^32 high and 2^52 + low are exact, and so is the difference.
    const Word high = (w >> 32) | std::uint64_t{0x4530000000000000};
    const Word low = (w & std::uint64_t{0xffffffff}) | std::uint64_t{0x4330000000000001};
    const Real v = ((Real)high - 0x1.00000001p84) + (Real)low;

    // V = 2^e m with m in [sqrt(1/2), sqrt(2)): subtracting the bits of sqrt(1/2) leaves e in the exponent
    // field.
    const Word excess = (((Word)v - std::uint64_t{0x3fe6a09e667f3bcd}) & exponent_bits);
    const Real m = (Real)((Word)v - excess);
    const Real e = (Real)((excess >> 52) | std::uint64_t{0x4330000000000000}) - (0x1p52 + 64);

    const Real s = (m - 1.0) / (m + 1.0);
    const Real z = s * s;
    const Real p =
        ((((ln_polynomial[5] * z + ln_polynomial[4]) * z + ln_polynomial[3]) * z + ln_polynomial[2]) * z +
         ln_polynomial[1]) *
            z +
        ln_polynomial[0];
    const Real ln = e * ln2 + s * p;
    const Real noise = (Real)((Word)(ratio * ln) ^ (w << 63));

    x = lower > x ? lower : x;
    x = upper < x ? upper : x;
    const Real scaled = x * inverse_grid;
    Real rounded;   // the integer nearest to it
    Real fraction;  // scaled - rounded
    Word large;     // all bits set where |scaled| >= 2^52: then it is an integer, or an infinity
    if constexpr (range == Range::narrow) {
      rounded = (scaled + 0x1.8p52) - 0x1.8p52;
      fraction = scaled - rounded;
    } else {
      const Real magnitude = (Real)((Word)scaled & ~sign_bit);
      large = (Word)(magnitude >= 0x1p52);
      rounded = (Real)((Word)((magnitude + 0x1p52) - 0x1p52) | ((Word)scaled & sign_bit));
      fraction = (Real)((Word)(scaled - rounded) & ~large);
    }

    const Real y = fraction + noise;
    const Real k = (y + 0x1.8p52) - 0x1.8p52;
    const Real distance = (Real)((Word)(y - k) & ~sign_bit);
    const Word undecided = (Word)(distance > limit) | (Word)(v < least_uniform);

    Real result;
    if constexpr (range == Range::narrow) {
      result = (rounded + k) * grid;  // exact
    } else {
      const Real base = (Real)(((Word)(rounded * grid) & ~large) | ((Word)x & large));  // exact
      result = base + k * grid;
    }
    result = lower > result ? lower : result;
    result = upper < result ? upper : result;
    // All bits set is a NaN.
    const Word bits = (Word)result | undecided;
    std::memcpy(out + i, &bits, sizeof bits);
    any |= undecided;
  }
  std::uint64_t found = 0;
  std::uint64_t parts[lanes];
  std::memcpy(parts, &any, sizeof parts);
  for (const std::uint64_t part : parts) found |= part;
  return found != 0;
}

template <std::size_t lanes>
__attribute__((always_inline)) inline bool snap(const detail::SnapConstants& constants,
                                                const std::uint64_t* words, const double* values, double* out,
                                                std::size_t count) {
  return constants.narrow ? snap<lanes, Range::narrow>(constants, words, values, out, count)
                          : snap<lanes, Range::wide>(constants, words, values, out, count);
}

bool portable(const detail::SnapConstants& constants, const std::uint64_t* words, const double* values,
              double* out, std::size_t count) {
  return snap<2>(constants, words, values, out, count);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) bool avx2(const detail::SnapConstants& constants, const std::uint64_t* words,
                                          const double* values, double* out, std::size_t count) {
  return snap<4>(constants, words, values, out, count);
}

__attribute__((target("avx512f,avx512dq"))) bool avx512(const detail::SnapConstants& constants,
                                                        const std::uint64_t* words, const double* values,
                                                        double* out, std::size_t count) {
  return snap<8>(constants, words, values, out, count);
}
#endif

}  // namespace

Kernel kernel_for(InstructionSet set) {
  require_supported(set);
#if defined(__x86_64__)
  if (set == InstructionSet::avx512) return avx512;
  if (set == InstructionSet::avx2) return avx2;
#endif
  return portable;
}

}  // namespace snapdp::snap_kernel
