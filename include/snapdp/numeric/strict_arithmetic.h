// Refuses compilers that were told to change arithmetic. The proofs need IEEE 754 doubles: -ffast-math, -Ofast, and parts of
// these such as -ffinite-math-only or -funsafe-math-optimizations drop NaN, infinities, signs of zeros or the order of
// additions, and x87 registers (-mfpmath=387) round twice. Code that uses SnapDP is compiled without them too, because
// inline functions of these headers become part of it.
//
// What a host does at run time is another matter, which float_environment.h sees to: a rounding mode, flush-to-zero, and
// -ffast-math among the options of the linker, which switches the latter on at the start.
#pragma once

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "SnapDP must not be compiled with -ffast-math or a part of it: its proofs need IEEE 754 arithmetic."
#endif

#if defined(__FLT_EVAL_METHOD__) && (__FLT_EVAL_METHOD__ < 0 || __FLT_EVAL_METHOD__ == 2)
#error "SnapDP must not be compiled for x87 arithmetic, which rounds twice: use SSE2 (-msse2 -mfpmath=sse)."
#endif
