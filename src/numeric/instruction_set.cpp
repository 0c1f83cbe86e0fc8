#include "snapdp/numeric/instruction_set.h"

#include <cstdint>
#include <string>

#include "snapdp/error.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace snapdp {
namespace {

#if defined(__x86_64__)
// The registers that the system saves when it changes threads: XCR0 (Intel's manual, volume 1, section 13.3).
std::uint64_t saved_registers() noexcept {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

// By hand: __builtin_cpu_supports() asks the compiler's run-time library, and zig's says no to everything.
InstructionSet detect() noexcept {
  constexpr std::uint64_t ymm = 0b110;              // of XCR0: SSE and AVX
  constexpr std::uint64_t zmm = 0b1110'0000 | ymm;  // and the masks and both halves of AVX-512
  constexpr unsigned avx512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return InstructionSet::portable;
  const bool fma = (c & bit_FMA) != 0;
  const std::uint64_t saved = (c & bit_OSXSAVE) != 0 ? saved_registers() : 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return InstructionSet::portable;
  if (!fma || (b & bit_AVX2) == 0 || (saved & ymm) != ymm) return InstructionSet::portable;
  return (b & avx512) == avx512 && (saved & zmm) == zmm ? InstructionSet::avx512 : InstructionSet::avx2;
}
#else
InstructionSet detect() noexcept {
  return InstructionSet::portable;
}
#endif

}  // namespace

InstructionSet best_instruction_set() noexcept {
  static const InstructionSet best = detect();
  return best;
}

std::string_view to_string(InstructionSet set) noexcept {
  switch (set) {
    case InstructionSet::avx512:
      return "avx512";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::portable:
      break;
  }
  return "portable";
}

void require_supported(InstructionSet set) {
  if (is_supported(set)) return;
  throw Error(ErrorCode::invalid_argument, "kernel",
              "kernel = " + std::string(to_string(set)) +
                  ": this machine has no such instructions; the best here is " +
                  std::string(to_string(best_instruction_set())));
}

}  // namespace snapdp
