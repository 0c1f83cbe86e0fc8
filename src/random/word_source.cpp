#include "snapdp/random/word_source.h"

#include <string.h>  // explicit_bzero

namespace snapdp {

void wipe(std::span<std::uint64_t> words) noexcept {
  if (!words.empty()) explicit_bzero(words.data(), words.size_bytes());
}

}  // namespace snapdp
