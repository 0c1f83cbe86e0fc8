// The structs of the Arrow C interfaces as objects that release what they hold, and a stream that tells of failures as the
// library does: without the stream's own words.
#pragma once

#include <optional>
#include <utility>

#include "snapdp/framework/arrow.h"

namespace snapdp::engines_internal {

// A struct of the ABI, which is empty when it has no release callback.
template <typename Struct>
class ArrowOwned {
 public:
  ArrowOwned() = default;
  ~ArrowOwned() { release(); }
  ArrowOwned(ArrowOwned&& other) noexcept : struct_(std::exchange(other.struct_, Struct{})) {}
  ArrowOwned& operator=(ArrowOwned&& other) noexcept {
    if (this != &other) {
      release();
      struct_ = std::exchange(other.struct_, Struct{});
    }
    return *this;
  }

  // Moves the struct out of `from`.
  static ArrowOwned take(Struct* from) {
    ArrowOwned owned;
    owned.struct_ = *from;
    from->release = nullptr;
    return owned;
  }

  bool empty() const { return struct_.release == nullptr; }
  // For a callback that fills it; what it held is released.
  Struct* out() {
    release();
    return &struct_;
  }
  // Lets what it holds go unreleased: what a failed callback left behind is nobody's.
  void forget() noexcept { struct_ = Struct{}; }
  Struct* get() { return &struct_; }
  const Struct& operator*() const { return struct_; }
  const Struct* operator->() const { return &struct_; }

 private:
  void release() noexcept {
    if (struct_.release != nullptr) struct_.release(&struct_);
    struct_ = Struct{};
  }

  Struct struct_{};
};

class ArrowStream {
 public:
  explicit ArrowStream(ArrowOwned<ArrowArrayStream> stream) : stream_(std::move(stream)) {}

  // Both throw io when the stream says that it failed, and bad_data for a stream that lacks its callbacks.
  ArrowOwned<ArrowSchema> schema();
  // The next array, or none at the end.
  std::optional<ArrowOwned<ArrowArray>> next();

 private:
  ArrowOwned<ArrowArrayStream> stream_;
};

}  // namespace snapdp::engines_internal
