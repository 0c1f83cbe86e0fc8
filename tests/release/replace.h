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

}  // namespace snapdp
