// Memory for what follows a debit, held until the debit stands.
//
//   {
//     MemoryReserve reserve(bytes);
//     ledger.debit(...);
//   }
#pragma once

#include <cstddef>
#include <vector>

#include "snapdp/framework/measurement.h"

namespace snapdp::framework_internal {

// Had and touched, so that a system which has too little says so (std::bad_alloc) before anything is paid. So is some of
// the stack, which the system gives page by page, too.
class MemoryReserve {
 public:
  explicit MemoryReserve(std::size_t bytes) : memory_(bytes, std::byte{1}) { touch_stack(); }

 private:
  static void touch_stack();
  std::vector<std::byte> memory_;
};

// No output is more grid steps from 0. Without a public range the value changes by at most the sensitivity with each row,
// of which there are at most 2^63; and the noise is scale |ln U|, where |ln U| <= 2^64 unless the generator gives 2^58
// words of zeros in a row. What clamps moves nothing beyond its own bounds.
Integer most_steps(const Measurement& measurement);

// How many bytes the noisy values may take beyond the exact ones in whose places they come.
std::size_t memory_to_draw(const Measurement& measurement);

// How many bytes it takes to decide one of them, which is given back before the next: in multiple precision, when the fast
// path does not tell.
std::size_t memory_to_decide(const Measurement& measurement);

}  // namespace snapdp::framework_internal
