// Texts and keys as TOML writes them.
#pragma once

#include <string>
#include <string_view>

namespace snapdp::release_internal {

// Between double quotes, controls escaped. The text is UTF-8.
std::string toml_string(std::string_view text);
// Bare where TOML allows it, else as toml_string().
std::string toml_key(std::string_view key);

}  // namespace snapdp::release_internal
