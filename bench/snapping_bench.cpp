// snapped/exact/<kernel>: batches of snapped values, secure bits included, with both bounds and the automatic
// grid; snapped/gaussian/<kernel> the same of Gaussian noise. release/one: one release from a prepared mechanism. The counter slow_path is the fraction of samples
// that took the multiple-precision path.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "snapdp/mechanism/gaussian.h"
#include "snapdp/mechanism/snapping.h"

namespace {

using snapdp::Dyadic;
using snapdp::InstructionSet;
using snapdp::Rational;
using snapdp::Snapping;

constexpr std::size_t samples = 1'000'000;

std::vector<double> values_between(double lower, double upper) {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> distribution(lower, upper);
  std::vector<double> values(samples);
  for (double& value : values) value = distribution(engine);
  return values;
}

template <typename Mechanism>
void snapped(benchmark::State& state, const Mechanism& mechanism, InstructionSet kernel) {
  const std::vector<double> values = values_between(0, 100);
  std::vector<double> out(samples);
  std::size_t slow = 0;
  for (auto _ : state) {
    slow += mechanism.replay(values, out, snapdp::thread_generator(), {.kernel = kernel});
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(samples));
  state.counters["slow_path"] = static_cast<double>(slow) / static_cast<double>(state.items_processed());
}

void release_one(benchmark::State& state) {
  const Snapping mechanism({.epsilon = Rational(1, 4), .sensitivity = Dyadic(1), .lower = 0, .upper = 100});
  snapdp::SystemGenerator& generator = snapdp::thread_generator();
  const Dyadic value(41.73);
  for (auto _ : state) benchmark::DoNotOptimize(mechanism.release(value, generator));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(release_one)->Name("release/one");

// One benchmark for every instruction set of this machine, known only at run time.
const bool registered = [] {
  const Snapping bounded({.epsilon = Rational(1, 4), .sensitivity = Dyadic(1), .lower = 0, .upper = 100});
  const Snapping unbounded({.epsilon = Rational(1, 4), .sensitivity = Dyadic(1)});
  const snapdp::Gaussian gaussian(
      {.sensitivity = Dyadic(1), .lower = 0, .upper = 100, .noise = snapdp::NoiseKind::gaussian, .scale = 4});
  const auto add = [](const std::string& name, const auto& mechanism, InstructionSet kernel) {
    benchmark::RegisterBenchmark(name.c_str(), [mechanism, kernel](benchmark::State& state) {
      snapped(state, mechanism, kernel);
    })->Unit(benchmark::kMillisecond);
  };
  add("snapped/exact/best", bounded, snapdp::best_instruction_set());
  for (const InstructionSet kernel :
       {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (!snapdp::is_supported(kernel)) continue;
    add("snapped/exact/" + std::string(to_string(kernel)), bounded, kernel);
    add("snapped/gaussian/" + std::string(to_string(kernel)), gaussian, kernel);
  }
  add("snapped/unbounded/best", unbounded, snapdp::best_instruction_set());
  return true;
}();

}  // namespace
