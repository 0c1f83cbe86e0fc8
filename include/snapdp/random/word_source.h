// A source of independent uniform 64-bit words.
//
// Release code takes SystemGenerator& (system_generator.h) by type, so that nothing else can feed a release.
// Replay and tests take any WordSource, for example a RecordedTape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace snapdp {

class WordSource {
 public:
  virtual ~WordSource() = default;

  // Fills all of `words` or throws; when it throws, `words` holds zeros.
  virtual void fill(std::span<std::uint64_t> words) = 0;

  std::uint64_t next() {
    std::uint64_t word = 0;
    fill(std::span(&word, 1));
    return word;
  }

 protected:
  WordSource() = default;
  WordSource(const WordSource&) = delete;
  WordSource& operator=(const WordSource&) = delete;
};

// Overwrites secret words with zeros; the compiler cannot leave it out.
void wipe(std::span<std::uint64_t> words) noexcept;

// A recorded sequence of words: replays a sample from its random bits, for tests and auditors.
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
