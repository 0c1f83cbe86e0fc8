// The page behind a SystemGenerator. Private to the room and its tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "snapdp/random/system_generator.h"

namespace snapdp {

// All zeros in a child process: not `ours`, and no word available.
struct SystemGenerator::Buffer {
  static constexpr std::size_t bytes = std::size_t{1} << 14;
  static constexpr std::size_t capacity = bytes / sizeof(std::uint64_t) - 2;

  std::uint64_t ours;       // 1 in the process that made or adopted the generator
  std::uint64_t available;  // the last so many words are fresh, the ones before them are wiped
  std::array<std::uint64_t, capacity> words;
};

}  // namespace snapdp
