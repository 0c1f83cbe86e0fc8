#include "numeric/shared/row_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "numeric/shared/float_environment.h"
#include "numeric/shared/targets.h"
#if defined(SNAPDP_HAS_X86_TARGETS)
#include <immintrin.h>
#endif

namespace snapdp::numeric_internal {
namespace {

static_assert(std::endian::native == std::endian::little, "bitmaps are read in 64-bit words");

// How many validity bits are looked at together.
constexpr std::size_t word_rows = 64;

// Bit i says whether row i of at most 64 is not null; the first row has bit `first_bit`. Bits beyond the
// last row are 0.
SNAPDP_INLINE std::uint64_t valid_rows(const std::uint8_t* validity, std::size_t first_bit,
                                       std::size_t rows) {
  const std::uint64_t all = rows >= word_rows ? ~std::uint64_t{0} : (std::uint64_t{1} << rows) - 1;
  if (validity == nullptr) return all;
  const std::uint8_t* bytes = validity + first_bit / 8;
  const std::size_t shift = first_bit % 8;
  const std::size_t used = (shift + std::min(rows, word_rows) + 7) / 8;  // at most 9
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, std::min<std::size_t>(used, sizeof(word)));
  word >>= shift;
  if (used > sizeof(word)) word |= static_cast<std::uint64_t>(bytes[8]) << (64 - shift);
  return word & all;
}

// 1 unless the value is NaN, from its bits: 64-bit integers throughout are what compilers turn into vector
// code.
SNAPDP_INLINE std::uint64_t is_present(double value) {
  constexpr std::int64_t infinity = 0x7ff0000000000000;
  return (__builtin_bit_cast(std::int64_t, value) & INT64_MAX) <= infinity ? 1 : 0;
}
SNAPDP_INLINE std::uint64_t is_present(std::int64_t) {
  return 1;
}
SNAPDP_INLINE double with_positive_zero(double value) {
  return value + 0.0;
}
SNAPDP_INLINE std::int64_t with_positive_zero(std::int64_t value) {
  return value;
}

template <typename Value>
SNAPDP_INLINE void clamp_body(const Value* in, Value* out, std::size_t rows, Value lower, Value upper) {
  for (std::size_t i = 0; i < rows; ++i) {
    const Value raised = in[i] > lower ? in[i] : lower;  // a NaN gives lower
    out[i] = with_positive_zero(raised < upper ? raised : upper);
  }
}

template <typename Value>
SNAPDP_INLINE void impute_body(const Value* in, const std::uint8_t* validity, std::size_t offset, Value* out,
                               std::size_t rows, Value value) {
  for (std::size_t first = 0; first < rows; first += word_rows) {
    const std::size_t count = std::min(word_rows, rows - first);
    const std::uint64_t valid = valid_rows(validity, offset + first, count);
    for (std::size_t i = 0; i < count; ++i) {
      const Value row = in[first + i];
      const std::uint64_t keep = (valid >> i) & is_present(row);  // is_present() leaves bit 0
      out[first + i] = keep != 0 ? row : value;
    }
  }
}

template <typename Value>
SNAPDP_INLINE std::size_t drop_body(const Value* in, const std::uint8_t* validity, std::size_t offset,
                                    Value* out, std::size_t rows) {
  std::size_t kept = 0;
  for (std::size_t first = 0; first < rows; first += word_rows) {
    const std::size_t count = std::min(word_rows, rows - first);
    const std::uint64_t valid = valid_rows(validity, offset + first, count);
    for (std::size_t i = 0; i < count; ++i) {
      const Value row = in[first + i];
      out[kept] = row;  // kept <= first + i: in place, only rows that were read are overwritten
      kept += (valid >> i) & is_present(row);
    }
  }
  return kept;
}

template <typename Value>
struct Kernels {
  void (*clamp)(const Value* in, Value* out, std::size_t rows, Value lower, Value upper);
  void (*impute)(const Value* in, const std::uint8_t* validity, std::size_t offset, Value* out,
                 std::size_t rows, Value value);
  std::size_t (*drop)(const Value* in, const std::uint8_t* validity, std::size_t offset, Value* out,
                      std::size_t rows);
};

template <typename Value>
struct Portable {
  static void clamp(const Value* in, Value* out, std::size_t rows, Value lower, Value upper) {
    clamp_body(in, out, rows, lower, upper);
  }
  static void impute(const Value* in, const std::uint8_t* validity, std::size_t offset, Value* out,
                     std::size_t rows, Value value) {
    impute_body(in, validity, offset, out, rows, value);
  }
  static std::size_t drop(const Value* in, const std::uint8_t* validity, std::size_t offset, Value* out,
                          std::size_t rows) {
    return drop_body(in, validity, offset, out, rows);
  }
};

#if defined(SNAPDP_HAS_X86_TARGETS)

template <typename Value>
struct Avx2 {
  SNAPDP_TARGET_AVX2 static void clamp(const Value* in, Value* out, std::size_t rows, Value lower,
                                       Value upper) {
    clamp_body(in, out, rows, lower, upper);
  }
  SNAPDP_TARGET_AVX2 static void impute(const Value* in, const std::uint8_t* validity, std::size_t offset,
                                        Value* out, std::size_t rows, Value value) {
    impute_body(in, validity, offset, out, rows, value);
  }
  SNAPDP_TARGET_AVX2 static std::size_t drop(const Value* in, const std::uint8_t* validity,
                                             std::size_t offset, Value* out, std::size_t rows) {
    return drop_body(in, validity, offset, out, rows);
  }
};

SNAPDP_TARGET_AVX512 SNAPDP_INLINE __mmask8 present_lanes(__m512i lanes, double) {
  const __m512d values = _mm512_castsi512_pd(lanes);
  return _mm512_cmp_pd_mask(values, values, _CMP_ORD_Q);
}
SNAPDP_TARGET_AVX512 SNAPDP_INLINE __mmask8 present_lanes(__m512i, std::int64_t) {
  return 0xff;
}

template <typename Value>
struct Avx512 {
  SNAPDP_TARGET_AVX512 static void clamp(const Value* in, Value* out, std::size_t rows, Value lower,
                                         Value upper) {
    clamp_body(in, out, rows, lower, upper);
  }
  SNAPDP_TARGET_AVX512 static void impute(const Value* in, const std::uint8_t* validity, std::size_t offset,
                                          Value* out, std::size_t rows, Value value) {
    impute_body(in, validity, offset, out, rows, value);
  }
  SNAPDP_TARGET_AVX512 static std::size_t drop(const Value* in, const std::uint8_t* validity,
                                               std::size_t offset, Value* out, std::size_t rows) {
    std::size_t kept = 0;
    for (std::size_t first = 0; first < rows; first += word_rows) {
      const std::size_t count = std::min(word_rows, rows - first);
      std::uint64_t valid = valid_rows(validity, offset + first, count);
      for (std::size_t i = 0; i < count; i += 8, valid >>= 8) {
        const auto lanes_left = static_cast<__mmask8>(count - i >= 8 ? 0xff : (1U << (count - i)) - 1);
        const __m512i lanes = _mm512_maskz_loadu_epi64(lanes_left, in + first + i);
        const auto keep = static_cast<__mmask8>(static_cast<__mmask8>(valid) & present_lanes(lanes, Value{}));
        const auto size = static_cast<unsigned>(__builtin_popcount(keep));
        // Compressed in the register and stored up to `size`: nothing beyond the rows read so far is written,
        // which is what makes in == out work.
        _mm512_mask_storeu_epi64(out + kept, static_cast<__mmask8>((1U << size) - 1),
                                 _mm512_maskz_compress_epi64(keep, lanes));
        kept += size;
      }
    }
    return kept;
  }
};

#endif

template <typename Value>
const Kernels<Value>& kernels(InstructionSet set) {
  static constexpr Kernels<Value> table[] = {
    {Portable<Value>::clamp, Portable<Value>::impute, Portable<Value>::drop},
#if defined(SNAPDP_HAS_X86_TARGETS)
    {Avx2<Value>::clamp, Avx2<Value>::impute, Avx2<Value>::drop},
    {Avx512<Value>::clamp, Avx512<Value>::impute, Avx512<Value>::drop},
#endif
  };
  require_supported(set);
  return table[static_cast<std::size_t>(set)];
}

}  // namespace

// Comparisons depend on the caller's denormals-are-zero bit, so those of doubles open a FloatEnvironment.

void clamp_doubles(const double* in, double* out, std::size_t rows, double lower, double upper,
                   InstructionSet kernel) {
  const FloatEnvironment environment;
  kernels<double>(kernel).clamp(in, out, rows, lower, upper);
}

void clamp_integers(const std::int64_t* in, std::int64_t* out, std::size_t rows, std::int64_t lower,
                    std::int64_t upper, InstructionSet kernel) {
  kernels<std::int64_t>(kernel).clamp(in, out, rows, lower, upper);
}

void impute_doubles(const double* in, const std::uint8_t* validity, std::size_t offset, double* out,
                    std::size_t rows, double value, InstructionSet kernel) {
  kernels<double>(kernel).impute(in, validity, offset, out, rows, value);
}

void impute_integers(const std::int64_t* in, const std::uint8_t* validity, std::size_t offset,
                     std::int64_t* out, std::size_t rows, std::int64_t value, InstructionSet kernel) {
  kernels<std::int64_t>(kernel).impute(in, validity, offset, out, rows, value);
}

std::size_t drop_doubles(const double* in, const std::uint8_t* validity, std::size_t offset, double* out,
                         std::size_t rows, InstructionSet kernel) {
  return kernels<double>(kernel).drop(in, validity, offset, out, rows);
}

std::size_t drop_integers(const std::int64_t* in, const std::uint8_t* validity, std::size_t offset,
                          std::int64_t* out, std::size_t rows, InstructionSet kernel) {
  return kernels<std::int64_t>(kernel).drop(in, validity, offset, out, rows);
}

bool has_nulls(const std::uint8_t* validity, std::size_t offset, std::size_t rows) {
  if (validity == nullptr) return false;
  for (std::size_t first = 0; first < rows; first += word_rows) {
    const std::size_t count = std::min(word_rows, rows - first);
    if (valid_rows(validity, offset + first, count) != valid_rows(nullptr, 0, count)) return true;
  }
  return false;
}

std::size_t mark_nulls(const std::uint8_t* validity, std::size_t offset, std::size_t rows,
                       std::uint8_t* keeps) {
  if (validity == nullptr) return 0;
  std::size_t nulls = 0;
  for (std::size_t first = 0; first < rows; first += word_rows) {
    const std::size_t count = std::min(word_rows, rows - first);
    const std::uint64_t valid = valid_rows(validity, offset + first, count);
    const std::size_t here = count - static_cast<std::size_t>(std::popcount(valid));
    if (here == 0) continue;
    nulls += here;
    for (std::size_t i = 0; i < count; ++i)
      keeps[first + i] = static_cast<std::uint8_t>(keeps[first + i] & ((valid >> i) & 1));
  }
  return nulls;
}

std::size_t mark_missing_doubles(const double* in, const std::uint8_t* validity, std::size_t offset,
                                 std::size_t rows, std::uint8_t* keeps) {
  std::size_t missing = 0;
  for (std::size_t first = 0; first < rows; first += word_rows) {
    const std::size_t count = std::min(word_rows, rows - first);
    const std::uint64_t valid = valid_rows(validity, offset + first, count);
    std::uint64_t present = 0;
    for (std::size_t i = 0; i < count; ++i) present += is_present(in[first + i]) & (valid >> i) & 1;
    if (present == count) continue;
    missing += count - static_cast<std::size_t>(present);
    for (std::size_t i = 0; i < count; ++i) {
      keeps[first + i] =
          static_cast<std::uint8_t>(keeps[first + i] & (is_present(in[first + i]) & (valid >> i) & 1));
    }
  }
  return missing;
}

}  // namespace snapdp::numeric_internal
