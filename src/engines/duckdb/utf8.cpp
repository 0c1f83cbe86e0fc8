#include "engines/duckdb/utf8.h"

#include <cstdint>
#include <cstring>

#include "snapdp/text.h"

namespace snapdp::engines_internal {

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    std::uint64_t word = 0;
    if (text.size() - i >= sizeof word) {  // mostly ASCII, eight bytes at once
      std::memcpy(&word, text.data() + i, sizeof word);
      if ((word & 0x8080808080808080U) == 0) {
        i += sizeof word;
        continue;
      }
    }
    char32_t point = 0;
    const std::size_t length = decode_utf8(text.substr(i), point);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

// Written so that compilers vectorize it.
bool is_ascii(std::string_view text) {
  unsigned char all = 0;
  for (const char c : text) all = static_cast<unsigned char>(all | static_cast<unsigned char>(c));
  return all < 0x80;
}

}  // namespace snapdp::engines_internal
