// A release that has been paid for: the only key to noise on a statistic.
#pragma once

#include "framework/shared/memory_reserve.h"
#include "snapdp/framework/accountant.h"
#include "snapdp/random/system_generator.h"

namespace snapdp::framework_internal {

class Paid {
 public:
  // Tries whatever could fail after the debit, the generator and the `memory` that drawing takes, and then debits. Throws,
  // with nothing debited: io when the system's generator does not deliver a first block of words, std::bad_alloc, and
  // what the accountant throws.
  Paid(const Debit& debit, BudgetAccountant& accountant, std::size_t memory)
      : generator_(thread_generator()) {
    generator_.prepare();
    MemoryReserve reserve(memory);
    accountant.debit(debit);
  }
  Paid(const Paid&) = delete;
  Paid& operator=(const Paid&) = delete;

  SystemGenerator& generator() const { return generator_; }

 private:
  SystemGenerator& generator_;
};

}  // namespace snapdp::framework_internal
