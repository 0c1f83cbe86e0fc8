// secure_bits: 8 bytes a sample from the system generator, drawn as the batch kernels draw them.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "snapdp/random/system_generator.h"

namespace {

constexpr std::size_t samples = 1'000'000;

void secure_bits(benchmark::State& state) {
  snapdp::SystemGenerator& generator = snapdp::thread_generator();
  std::vector<std::uint64_t> words(snapdp::SystemGenerator::block_bytes / sizeof(std::uint64_t));
  for (auto _ : state) {
    for (std::size_t left = samples; left > 0;) {
      const std::span<std::uint64_t> part(words.data(), std::min(left, words.size()));
      generator.fill(part);
      benchmark::DoNotOptimize(words.data());
      benchmark::ClobberMemory();
      left -= part.size();
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(samples));
}
BENCHMARK(secure_bits)->Unit(benchmark::kMillisecond);

}  // namespace
