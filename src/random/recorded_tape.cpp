#include <algorithm>

#include "snapdp/error.h"
#include "snapdp/random/word_source.h"

namespace snapdp {

void RecordedTape::fill(std::span<std::uint64_t> words) {
  if (words.size() > remaining()) {
    std::fill(words.begin(), words.end(), std::uint64_t{0});
    throw Error(ErrorCode::bad_data, "tape",
                "tape: the recorded words end before the sample is decided; record more of them");
  }
  std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(position_), words.size(), words.begin());
  position_ += words.size();
}

}  // namespace snapdp
