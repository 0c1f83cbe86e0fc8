// SHA-256 of bytes, for telling accidents and mix-ups apart.
#pragma once

#include <string>
#include <string_view>

namespace snapdp::framework_internal {

inline constexpr std::size_t digest_bytes = 32;
// Throws io naming `parameter` when OpenSSL fails.
std::string sha256(std::string_view bytes, const char* parameter);

}  // namespace snapdp::framework_internal
