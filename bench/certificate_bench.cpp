// certify: what a certificate costs.
#include <benchmark/benchmark.h>

#include "snapdp/privacy/certificate.h"

namespace snapdp {
namespace {

void exact(benchmark::State& state) {
  const Mechanism mechanism({.epsilon = Rational(1, 3), .sensitivity = Dyadic(1), .lower = 0, .upper = 100});
  for ([[maybe_unused]] auto iteration : state) benchmark::DoNotOptimize(certify(mechanism));
}
BENCHMARK(exact)->Name("certify/exact")->Unit(benchmark::kMicrosecond);

// Bounds nearer than the sensitivity: the logarithms of tails are needed.
void narrow(benchmark::State& state) {
  const Mechanism mechanism({.epsilon = Rational(1, 3), .sensitivity = Dyadic(9), .lower = 0, .upper = 5});
  for ([[maybe_unused]] auto iteration : state) benchmark::DoNotOptimize(certify(mechanism));
}
BENCHMARK(narrow)->Name("certify/narrow")->Unit(benchmark::kMicrosecond);

void precision(benchmark::State& state) {
  const Mechanism mechanism({.epsilon = Rational(1, 3),
                             .sensitivity = Dyadic(1),
                             .lower = 0,
                             .upper = 100,
                             .noise = NoiseKind::notes,
                             .precision = state.range(0)});
  for ([[maybe_unused]] auto iteration : state) benchmark::DoNotOptimize(certify(mechanism));
}
BENCHMARK(precision)
    ->Name("certify/precision")
    ->Arg(53)
    ->Arg(118)
    ->Arg(1000)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace snapdp
