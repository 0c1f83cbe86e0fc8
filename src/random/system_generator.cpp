#include "random/system_generator.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "snapdp/error.h"

namespace snapdp {
namespace {

[[noreturn]] void refuse() {
  ERR_clear_error();
  throw Error(
      ErrorCode::io, "random",
      "random: the system's random generator failed and nothing was released; check that OpenSSL can read "
      "the operating system's randomness (getrandom or /dev/urandom), then try again");
}

// OpenSSL's generator for secrets: one per thread, reseeded from the operating system, aware of the process
// id.
void draw(std::span<std::uint64_t> words) {
  auto* bytes = reinterpret_cast<unsigned char*>(words.data());
  std::size_t left = words.size_bytes();
  while (left > 0) {
    const std::size_t count = std::min(left, SystemGenerator::block_bytes);
    if (RAND_priv_bytes(bytes, static_cast<int>(count)) != 1) {
      wipe(words);
      refuse();
    }
    bytes += count;
    left -= count;
  }
}

}  // namespace

SystemGenerator::SystemGenerator() : wiped_on_fork_(false), owner_(getpid()) {
  static_assert(sizeof(Buffer) == Buffer::bytes);
  void* page = mmap(nullptr, sizeof(Buffer), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    throw Error(ErrorCode::io, "random",
                "random: no memory for the generator's buffer; free some and try again");
  }
#if defined(MADV_WIPEONFORK)
  wiped_on_fork_ = madvise(page, sizeof(Buffer), MADV_WIPEONFORK) == 0;
#endif
#if defined(MADV_DONTDUMP)
  madvise(page, sizeof(Buffer), MADV_DONTDUMP);
#endif
  buffer_ = new (page) Buffer;  // the pages arrive as zeros
  buffer_->ours = 1;
}

SystemGenerator::~SystemGenerator() {
  OPENSSL_cleanse(buffer_, sizeof(Buffer));
  munmap(buffer_, sizeof(Buffer));
}

void SystemGenerator::adopt_in_child() {
  OPENSSL_cleanse(buffer_, sizeof(Buffer));
  // OpenSSL notices a fork by the process id, which two processes in different namespaces may share.
  if (RAND_poll() != 1) refuse();
  owner_ = getpid();
  buffer_->ours = 1;
}

void SystemGenerator::refill() {
  draw(buffer_->words);
  buffer_->available = Buffer::capacity;
}

void SystemGenerator::make_ours() {
  if (buffer_->ours != 1 || (!wiped_on_fork_ && owner_ != getpid())) adopt_in_child();
}

void SystemGenerator::prepare() {
  make_ours();
  buffer_->available = 0;  // a refill that fails leaves zeros, which nobody shall be served
  refill();
}

void SystemGenerator::fill(std::span<std::uint64_t> words) {
  try {
    make_ours();
    if (words.size() >= Buffer::capacity) {
      draw(words);
      return;
    }
    for (std::span<std::uint64_t> rest = words; !rest.empty();) {
      if (buffer_->available == 0) refill();
      const std::size_t count = std::min<std::size_t>(rest.size(), buffer_->available);
      std::uint64_t* const fresh = buffer_->words.data() + (Buffer::capacity - buffer_->available);
      // A word leaves the buffer before it is used, so no failure in between can serve it twice.
      buffer_->available -= count;
      std::copy_n(fresh, count, rest.data());
      OPENSSL_cleanse(fresh, count * sizeof(std::uint64_t));
      rest = rest.subspan(count);
    }
  } catch (...) {
    wipe(words);
    throw;
  }
}

SystemGenerator& thread_generator() {
  thread_local SystemGenerator generator;
  return generator;
}

}  // namespace snapdp
