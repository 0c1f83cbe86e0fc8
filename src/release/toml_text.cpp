#include "release/toml_text.h"

#include <algorithm>

namespace snapdp::release_internal {
namespace {

bool is_bare(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace

std::string toml_string(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += std::string("\\u00") + hex[byte >> 4U] + hex[byte & 15U];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string toml_key(std::string_view key) {
  return is_bare(key) ? std::string(key) : toml_string(key);
}

}  // namespace snapdp::release_internal
