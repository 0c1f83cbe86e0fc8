// Which vector instructions this machine has. Kernels exist once per instruction set and all of them give the
// same bits: the choice is a matter of speed, made once per process.
#pragma once

#include <string_view>

namespace snapdp {

// Ordered: a machine that has one of them has those before it too.
enum class InstructionSet {
  portable,  // what the compiler's baseline allows; the only one outside x86-64
  avx2,      // AVX2 and FMA
  avx512,    // AVX-512 F, DQ, BW and VL
};

// The best one that the processor and the operating system support. Constant for the life of the process.
InstructionSet best_instruction_set() noexcept;

// True when kernels for `set` may be called on this machine.
inline bool is_supported(InstructionSet set) noexcept {
  return set <= best_instruction_set();
}

// "portable", "avx2" or "avx512".
std::string_view to_string(InstructionSet set) noexcept;

// Throws invalid_argument when `set` is not supported here.
void require_supported(InstructionSet set);

}  // namespace snapdp
