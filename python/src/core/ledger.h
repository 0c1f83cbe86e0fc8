// A ledger that Python's threads may share.
#pragma once

#include <unistd.h>

#include <memory>
#include <mutex>
#include <utility>

#include "snapdp/privacy/ledger.h"

namespace snapdp::python {

class HeldLedger {
 public:
  explicit HeldLedger(Ledger ledger) : ledger_(std::move(ledger)) {}

  // One thread at a time; not to be called with the interpreter's lock, which `action` may want. In a child process the
  // mutex may be held by a thread that is not there, and the ledger refuses every call anyway.
  template <typename Action>
  auto with(const Action& action) const {
    std::unique_lock<std::recursive_mutex> lock(mutex_, std::defer_lock);
    if (getpid() == owner_) lock.lock();
    return action(ledger_);
  }
  template <typename Action>
  auto with(const Action& action) {
    std::unique_lock<std::recursive_mutex> lock(mutex_, std::defer_lock);
    if (getpid() == owner_) lock.lock();
    return action(ledger_);
  }

 private:
  Ledger ledger_;
  mutable std::recursive_mutex mutex_;  // a progress function may look at the ledger that is to pay
  pid_t owner_ = getpid();
};

}  // namespace snapdp::python
