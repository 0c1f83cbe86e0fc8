// Nothing throws through DuckDB's C interface: a callback's exception is kept, and thrown again once the query has failed.
#pragma once

#include <exception>
#include <mutex>
#include <utility>

namespace snapdp::engines_internal {

// The first exception of a query's callbacks, which run on several threads.
class KeptException {
 public:
  void keep(std::exception_ptr error) noexcept {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  // Does nothing when there is none.
  void rethrow() const {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  mutable std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace snapdp::engines_internal
