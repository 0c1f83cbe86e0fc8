// The style sheet of every page, as it stands in the page to the letter: its policy allows this text and no
// other.
#pragma once

#include <string>

namespace snapdp::release_internal {

const std::string& page_style();

}  // namespace snapdp::release_internal
