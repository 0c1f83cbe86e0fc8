// A scope in which binary64 arithmetic is IEEE 754 round-to-nearest with subnormals, whatever the host set.
//
// Every kernel that relies on double arithmetic opens one; the caller's rounding mode, flush-to-zero and
// denormals-are-zero bits come back when the scope ends.
#pragma once

#include <cfenv>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "snapdp/numeric/rational.h"

namespace snapdp::numeric_internal {

class FloatEnvironment {
 public:
#if defined(__SSE2__)
  FloatEnvironment() noexcept : saved_(_mm_getcsr()) {
    if (changed()) _mm_setcsr(standard);
  }
  ~FloatEnvironment() {
    if (changed()) _mm_setcsr(saved_);
  }
#else
  FloatEnvironment() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() {
    std::fesetenv(&saved_);
  }
#endif
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr unsigned standard = 0x1f80;    // all exceptions masked, round to nearest, no FTZ, no DAZ
  static constexpr unsigned sticky_flags = 0x3f;  // record past exceptions and change no result
  bool changed() const noexcept {
    return (saved_ & ~sticky_flags) != standard;
  }
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

// `value`, computed here. Compilers do not know that arithmetic depends on the control register: they may move what is
// computed from arguments before the scope, or what is returned after it (clang does). Numbers that enter or leave a
// FloatEnvironment in registers pass through this.
inline double pinned(double value) noexcept {
#if defined(__SSE2__)
  asm volatile("" : "+x"(value));
#else
  asm volatile("" : "+m"(value));
#endif
  return value;
}

}  // namespace snapdp::numeric_internal
