// A ledger that Python's threads may share.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "snapdp/privacy/ledger.h"

namespace snapdp::python {

class HeldLedger {
 public:
  explicit HeldLedger(Ledger ledger);
  HeldLedger(const HeldLedger&) = delete;
  HeldLedger& operator=(const HeldLedger&) = delete;
  ~HeldLedger();

  // Ledger::lies_at(), for files too that this process has open: to close such a file would end its locks, so it is
  // known by its identity and not opened.
  static bool lies_at(const std::filesystem::path& path);

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
  using FileId = std::pair<dev_t, ino_t>;
  static std::optional<FileId> file_at(const std::filesystem::path& path);

  Ledger ledger_;
  std::optional<FileId> file_ = file_at(ledger_.path());
  mutable std::recursive_mutex mutex_;  // a progress function may look at the ledger that is to pay
  pid_t owner_ = getpid();
};

}  // namespace snapdp::python
