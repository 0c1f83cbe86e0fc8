// Tests change one thing in a text that is right.
#pragma once

#include <stdexcept>
#include <string>

namespace snapdp {

// `text` with the first `from` replaced, which must be there.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("the text lacks " + from);
  return text.replace(at, from.size(), to);
}

// A text that was broken into lines for a terminal, on one line.
inline std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const char blank = c == '\n' ? ' ' : c;
    if (blank != ' ' || (!line.empty() && line.back() != ' ')) line += blank;
  }
  return line;
}

}  // namespace snapdp
