#include "mechanism/snap_kernel.h"

#include <cstring>
#include <iterator>

#include "numeric/shared/float_environment.h"
#include "numeric/shared/targets.h"

#if defined(SNAPDP_HAS_X86_TARGETS)
#include <immintrin.h>
#endif

namespace snapdp::mechanism_internal::snap_kernel {

using namespace numeric_internal;

namespace {

// Half a page further on: processors fetch ahead by themselves, but only within a page of memory. Asking for
// an address beyond the array does no harm; forming a pointer to it would.
inline const void* ahead(const double* place) {
  return reinterpret_cast<const void*>(  // NOLINT(performance-no-int-to-ptr): see above
      reinterpret_cast<std::uintptr_t>(place) + 2048);
}

constexpr std::uint64_t sign_bit = 0x8000000000000000;

// RN(w) from the halves of w: 2^84 + 2^32 high and 2^52 + low are exact, and so is the difference.
#define SNAPDP_TO_REAL(w)                                                        \
  (((Real)(((w) >> 32) | std::uint64_t{0x4530000000000000}) - 0x1.00000001p84) + \
   (Real)(((w)&std::uint64_t{0xffffffff}) | std::uint64_t{0x4330000000000000}))

namespace portable {
#define SNAPDP_KERNEL
typedef double Real __attribute__((vector_size(16)));
typedef std::uint64_t Word __attribute__((vector_size(16)));
SNAPDP_KERNEL inline Real to_real(Word w) {
  return SNAPDP_TO_REAL(w);
}
SNAPDP_KERNEL inline Real multiply_add(Real a, Real b, Real c) {
  return a * b + c;
}
#include "mechanism/snap_kernel_body.inc"
#undef SNAPDP_KERNEL
}  // namespace portable

#if defined(SNAPDP_HAS_X86_TARGETS)
namespace avx2 {
#define SNAPDP_KERNEL SNAPDP_TARGET_AVX2
typedef double Real __attribute__((vector_size(32)));
typedef std::uint64_t Word __attribute__((vector_size(32)));
SNAPDP_KERNEL inline Real to_real(Word w) {
  return SNAPDP_TO_REAL(w);
}
SNAPDP_KERNEL inline Real multiply_add(Real a, Real b, Real c) {
  return _mm256_fmadd_pd(a, b, c);
}
#include "mechanism/snap_kernel_body.inc"
#undef SNAPDP_KERNEL
}  // namespace avx2

namespace avx512 {
#define SNAPDP_KERNEL SNAPDP_TARGET_AVX512
typedef double Real __attribute__((vector_size(64)));
typedef std::uint64_t Word __attribute__((vector_size(64)));
SNAPDP_KERNEL inline Real to_real(Word w) {
  return __builtin_convertvector(w, Real);
}
SNAPDP_KERNEL inline Real multiply_add(Real a, Real b, Real c) {
  return _mm512_fmadd_pd(a, b, c);
}
#include "mechanism/snap_kernel_body.inc"
#undef SNAPDP_KERNEL
}  // namespace avx512
#endif

}  // namespace

Kernel kernel_for(InstructionSet set) {
  require_supported(set);
#if defined(SNAPDP_HAS_X86_TARGETS)
  if (set == InstructionSet::avx512) return avx512::kernel;
  if (set == InstructionSet::avx2) return avx2::kernel;
#endif
  return portable::kernel;
}

}  // namespace snapdp::mechanism_internal::snap_kernel
