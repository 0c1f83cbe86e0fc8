// Words from a list, and after its end the same word again and again: so a sample takes the same further words alone as
// in a batch.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "snapdp/random/word_source.h"

namespace snapdp {

class EndlessTape final : public WordSource {
 public:
  EndlessTape(std::vector<std::uint64_t> words, std::uint64_t rest) : words_(std::move(words)), rest_(rest) {}
  void fill(std::span<std::uint64_t> words) override {
    for (std::uint64_t& word : words) {
      word = consumed < words_.size() ? words_[consumed] : rest_;
      ++consumed;
    }
  }
  std::size_t consumed = 0;

 private:
  std::vector<std::uint64_t> words_;
  std::uint64_t rest_;
};

}  // namespace snapdp
