// Memory for what follows a debit, held until the debit stands.
//
//   MemoryReserve reserve(MemoryReserve::to_draw(values.size()));
//   accountant.debit(...);
//   reserve.release();
#pragma once

#include <cstddef>
#include <vector>

namespace snapdp::framework_internal {

// Had and touched, so that a system which has too little says so (std::bad_alloc) before anything is paid.
class MemoryReserve {
 public:
  explicit MemoryReserve(std::size_t bytes) : memory_(bytes, std::byte{1}) {}
  void release() { std::vector<std::byte>().swap(memory_); }

  // What drawing so many values takes at most, as long as the grid's spacing and the values lie among the doubles: the
  // values are copied twice, and each has some 2100 bits at most.
  static std::size_t to_draw(std::size_t values) {
    constexpr std::size_t of_value = 1024;
    constexpr std::size_t small_things = std::size_t{1} << 20;
    return values * of_value + small_things;
  }

 private:
  std::vector<std::byte> memory_;
};

}  // namespace snapdp::framework_internal
