#include "engines/duckdb/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace snapdp::engine {
namespace {

// Of the bytes of a sequence after its first: how many there are, and between what the second lies. The others lie between
// 0x80 and 0xbf.
struct Tail {
  std::size_t length;
  unsigned lower = 0x80;
  unsigned upper = 0xbf;
};

// The tail that a first byte asks for; its length is npos where no sequence starts so.
Tail tail_of(unsigned first) {
  if (first < 0x80) return {0};
  if (first >= 0xc2 && first <= 0xdf) return {1};
  if (first == 0xe0) return {2, 0xa0};
  if (first == 0xed) return {2, 0x80, 0x9f};
  if (first >= 0xe1 && first <= 0xef) return {2};
  if (first == 0xf0) return {3, 0x90};
  if (first == 0xf4) return {3, 0x80, 0x8f};
  if (first >= 0xf1 && first <= 0xf3) return {3};
  return {std::string_view::npos};
}

// The length of the well-formed sequence that `text`, which is not empty, starts with, or 0.
std::size_t sequence_length(std::string_view text) {
  const Tail tail = tail_of(static_cast<unsigned char>(text[0]));
  if (tail.length >= text.size()) return 0;
  for (std::size_t i = 1; i <= tail.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < (i == 1 ? tail.lower : 0x80) || byte > (i == 1 ? tail.upper : 0xbf)) return 0;
  }
  return tail.length + 1;
}

// C0, DEL and, as UTF-8 writes them, C1.
bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  return first < 0x20 || first == 0x7f || (first == 0xc2 && static_cast<unsigned char>(sequence[1]) < 0xa0);
}

std::string shown(std::string_view text, std::size_t longest) {
  std::string result = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text.substr(i));
    if (i + std::max<std::size_t>(length, 1) > longest) return result + "...\"";
    const std::string_view sequence = text.substr(i, length);
    result += length == 0 || is_control(sequence) ? "?" : sequence;
    i += std::max<std::size_t>(length, 1);
  }
  return result + "\"";
}

}  // namespace

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
    const std::size_t length = sequence_length(text.substr(i));
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

std::string shown(std::string_view name) {
  constexpr std::size_t longest = 60;
  return shown(name, longest);
}

std::string shown_path(std::string_view path) {
  return shown(path, path.size());
}

}  // namespace snapdp::engine
