// snapped/precision/<kernel>: batches in precision mode of 118 bits, secure bits included, otherwise as
// snapped/exact/<kernel>; .../off_grid with a center whose place between two grid points takes two doubles;
// .../53 with 53 bits. snapped/precision/mpfr: the notes in MPFR, plainly, one value at a time. geometric/<kernel>:
// batches of integers with two-sided geometric noise. The counter slow_path is the fraction of samples that took the
// multiple-precision path.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "snapdp/mechanism/geometric.h"
#include "snapdp/mechanism/precision_snapping.h"

namespace {

using snapdp::Dyadic;
using snapdp::Geometric;
using snapdp::InstructionSet;
using snapdp::MechanismOptions;
using snapdp::PrecisionSnapping;
using snapdp::Rational;

constexpr std::size_t samples = 1'000'000;

std::vector<double> values_up_to_100(bool integers) {
  std::mt19937_64 engine(1);
  std::vector<double> values(samples);
  for (double& value : values) {
    value =
        integers ? static_cast<double>(engine() % 101) : static_cast<double>(engine() >> 11) * 100 * 0x1p-53;
  }
  return values;
}

PrecisionSnapping precision_mechanism(double lower, long precision) {
  return PrecisionSnapping({.epsilon = Rational(1, 4),
                            .sensitivity = Dyadic(1),
                            .lower = lower,
                            .upper = 100,
                            .precision = precision});
}

template <typename Mechanism>
void sampled(benchmark::State& state, const Mechanism& mechanism, InstructionSet kernel, bool integers) {
  const std::vector<double> values = values_up_to_100(integers);
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

void plain_mpfr(benchmark::State& state) {
  const PrecisionSnapping mechanism = precision_mechanism(0, 118);
  const std::vector<double> values = values_up_to_100(false);
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(mechanism.reference(Dyadic(values[i]), snapdp::thread_generator()));
    i = (i + 1) % values.size();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(plain_mpfr)->Name("snapped/precision/mpfr");

const bool registered = [] {
  const auto add = [](const std::string& name, const auto& mechanism, InstructionSet kernel, bool integers) {
    benchmark::RegisterBenchmark(name.c_str(), [mechanism, kernel, integers](benchmark::State& state) {
      sampled(state, mechanism, kernel, integers);
    })->Unit(benchmark::kMillisecond);
  };
  const InstructionSet best = snapdp::best_instruction_set();
  const PrecisionSnapping precision = precision_mechanism(0, 118);
  const Geometric geometric({.epsilon = Rational(1, 4), .sensitivity = Dyadic(1), .lower = 0, .upper = 100});
  add("snapped/precision/best", precision, best, false);
  for (const InstructionSet kernel :
       {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (!snapdp::is_supported(kernel)) continue;
    add("snapped/precision/" + std::string(to_string(kernel)), precision, kernel, false);
  }
  add("snapped/precision/off_grid", precision_mechanism(0.1, 118), best, false);
  add("snapped/precision/53", precision_mechanism(0, 53), best, false);
  add("geometric/best", geometric, best, true);
  for (const InstructionSet kernel :
       {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (snapdp::is_supported(kernel))
      add("geometric/" + std::string(to_string(kernel)), geometric, kernel, true);
  }
  return true;
}();

}  // namespace
