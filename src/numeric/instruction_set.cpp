#include "snapdp/numeric/instruction_set.h"

#include <string>

#include "snapdp/error.h"

namespace snapdp {
namespace {

InstructionSet detect() noexcept {
#if defined(__x86_64__)
  // The compiler's run-time library asks CPUID and, through XGETBV, whether the system saves the registers.
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return InstructionSet::portable;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl")) {
    return InstructionSet::avx2;
  }
  return InstructionSet::avx512;
#else
  return InstructionSet::portable;
#endif
}

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
