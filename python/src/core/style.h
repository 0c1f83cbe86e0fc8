// How tables look, as Python says it.
#pragma once

#include <cstddef>
#include <string>

#include "snapdp/release/terminal_style.h"

namespace snapdp::python {

// `marks`: "none", "ascii" or "utf8".
inline TerminalStyle style_of(std::size_t width, const std::string& marks, bool color,
                              bool all_digits = false) {
  TerminalStyle style{.color = color, .all_digits = all_digits, .width = width};
  if (marks == "ascii") style.marks = TerminalStyle::Marks::ascii;
  if (marks == "utf8") style.marks = TerminalStyle::Marks::utf8;
  return style;
}

}  // namespace snapdp::python
