// A recorded sequence of words: replays a sample from its random bits, for tests and auditors.
//
// Release code does not accept it: it takes SystemGenerator& by type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "snapdp/random/word_source.h"

namespace snapdp {

class RecordedTape final : public WordSource {
 public:
  explicit RecordedTape(std::vector<std::uint64_t> words) : words_(std::move(words)) {}

  // Serves the next words in order. Throws bad_data, and serves nothing, when fewer than words.size() are
  // left.
  void fill(std::span<std::uint64_t> words) override;

  std::size_t consumed() const noexcept { return position_; }
  std::size_t remaining() const noexcept { return words_.size() - position_; }
  void rewind() noexcept { position_ = 0; }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t position_ = 0;
};

}  // namespace snapdp
