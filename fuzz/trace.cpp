// Vectors for snapdp trace: a table of recorded draws.
#include "snapdp/mechanism/trace.h"

#include "fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using snapdp::fuzz::refuses;
  const std::string_view vectors = snapdp::fuzz::text_of(data, size);
  std::string first;
  if (refuses([&] { first = snapdp::trace(vectors); })) return 0;
  // The same draws give the same outputs, and more slowly too.
  SNAPDP_FUZZ_CHECK(snapdp::trace(vectors) == first);
  SNAPDP_FUZZ_CHECK(snapdp::trace(vectors, {.slow_only = true}) == first);
  return 0;
}
