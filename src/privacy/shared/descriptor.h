// An open file of the operating system's, closed when its owner goes.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace snapdp::privacy_internal {

class Descriptor {
 public:
  // What open() returned: negative when it failed.
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  // The error number, or 0: some file systems report a full disk only now.
  int close() { return ::close(std::exchange(value_, -1)) == 0 ? 0 : errno; }

 private:
  int value_;
};

}  // namespace snapdp::privacy_internal
