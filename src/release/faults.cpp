#include "release/faults.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace snapdp::release_internal {

void Faults::add(const Error& fault) {
  const std::string_view message = fault.what();
  const bool known = std::any_of(faults_.begin(), faults_.end(),
                                 [&](const Error& other) { return other.what() == message; });
  if (!known) faults_.push_back(fault);
}

void Faults::refuse_any() const {
  if (faults_.empty()) return;
  std::string text;
  for (std::size_t i = 0; i < std::min(faults_.size(), most_lines); ++i)
    text += (i == 0 ? "" : "\n") + std::string(faults_[i].what());
  if (faults_.size() > most_lines)
    text += "\nand " + std::to_string(faults_.size() - most_lines) + " more faults";
  throw Error(ErrorCode::invalid_argument, faults_.front().parameter(), text);
}

}  // namespace snapdp::release_internal
