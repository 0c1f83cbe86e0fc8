// Text that others wrote: whether it is UTF-8, and how messages show it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace snapdp::engine {

// Whether all of `text` is well-formed (Unicode 15, table 3-7).
bool is_utf8(std::string_view text);
bool is_ascii(std::string_view text);

// `name` between double quotes, no more than 60 bytes of it. What a terminal may take for a command (control characters,
// those of C1 too) and what is not UTF-8 shows as "?".
std::string shown(std::string_view name);
// The same of a path, all of it.
std::string shown_path(std::string_view path);

}  // namespace snapdp::engine
