// The only source of randomness that a release accepts: OpenSSL's cryptographic generator, seeded by the
// operating system. There is no seed to set.
//
//   SystemGenerator& generator = thread_generator();
//   Dyadic noisy = mechanism.release(value, generator);
//
// Threads: a generator belongs to one thread at a time; thread_generator() gives each thread its own.
// Fork: the buffer and its fill level live in memory that the kernel clears in a child process, whichever way
// the child was made (fork, clone without the C library). A child therefore finds an empty buffer, has
// OpenSSL reseed from the operating system, and continues with a stream of its own. Where the kernel cannot
// do that (before Linux 4.14), the process id is compared before every draw. Secrecy: served words are wiped
// from the buffer as they are used, the rest when the generator ends; the buffer is kept out of core dumps.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "snapdp/random/word_source.h"

namespace snapdp {

class SystemGenerator final : public WordSource {
 public:
  // Throws io when no memory can be had for the buffer. Draws nothing yet.
  SystemGenerator();
  ~SystemGenerator() override;

  // Fills `words` with fresh words. Requests of a block and more are drawn straight into `words`, smaller
  // ones come from the buffer. Throws io when the generator fails; `words` then holds zeros and no word was
  // delivered.
  void fill(std::span<std::uint64_t> words) override;

  // Fills the buffer anew, so that a generator which does not work is known before anything depends on it.
  // Delivers no word; throws io as fill() does.
  void prepare();

  // Bytes per call to OpenSSL when drawing in bulk (the most that its generator gives between two key
  // updates).
  static constexpr std::size_t block_bytes = std::size_t{1} << 16;

 private:
  friend class SystemGeneratorPeer;  // tests look into the buffer

  struct Buffer;  // lives in the page that a child process sees cleared

  void make_ours();
  void adopt_in_child();
  void refill();

  Buffer* buffer_;
  bool wiped_on_fork_;  // false: compare process ids instead
  pid_t owner_;
};

// The generator of the calling thread, made at first use and wiped when the thread ends.
SystemGenerator& thread_generator();

}  // namespace snapdp
