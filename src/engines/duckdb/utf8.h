// Text that others wrote: whether it is UTF-8.
#pragma once

#include <string_view>

namespace snapdp::engines_internal {

// Whether all of `text` is well-formed (Unicode 15, table 3-7).
bool is_utf8(std::string_view text);
bool is_ascii(std::string_view text);

}  // namespace snapdp::engines_internal
