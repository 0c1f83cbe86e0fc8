// Options whose value may be @FILE: what the file holds is taken for the value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace snapdp::cli {

// The lines of the file that `argument`, "@FILE", names, without blank ones. Throws io when it cannot be read and
// invalid_argument when it is longer than 16 MiB, naming `option`; `content` says what belongs there: "anchors".
std::vector<std::string> lines_of_file(const std::string& option, const std::string& argument,
                                       const std::string& content);

// A line, or a part of one, without the blanks around it.
std::string_view trimmed(std::string_view text);

}  // namespace snapdp::cli
