// A source of independent uniform 64-bit words.
//
// Release code takes SystemGenerator& (system_generator.h) by type, so that nothing else can feed a release.
// Replay and tests take any WordSource, for example a RecordedTape (recorded_tape.h).
#pragma once

#include <cstdint>
#include <span>

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

}  // namespace snapdp
