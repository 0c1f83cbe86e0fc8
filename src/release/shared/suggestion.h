// "Did you mean ...?" for names that people type: keys of a specification, columns, options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "snapdp/text.h"

namespace snapdp::release_internal {

// The known name nearest to `given` by edit distance (insertions, deletions, substitutions and swaps of
// neighbours; case counts half as much as a letter), or "" when none is near enough to be what was meant.
std::string nearest_name(std::string_view given, const std::vector<std::string>& known);

// "; did you mean "bounds"?", or "" when nothing is near.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

// "a, b or c".
std::string either_of(const std::vector<std::string>& names);

}  // namespace snapdp::release_internal
