// Attributes for functions that are compiled for one instruction set and chosen at run time. A file's other
// functions keep the compiler's baseline, so that no inline function of a header is ever compiled for a
// larger machine.
#pragma once

// A body shared by several targets: it takes on the target of the function that it is inlined into.
#define SNAPDP_INLINE __attribute__((always_inline)) inline

#if defined(__x86_64__)
#define SNAPDP_HAS_X86_TARGETS 1
#define SNAPDP_TARGET_AVX2 __attribute__((target("avx2,fma")))
#if defined(__clang__)
#define SNAPDP_TARGET_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma")))
#else
#define SNAPDP_TARGET_AVX512 \
  __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma,prefer-vector-width=512")))
#endif
#endif
