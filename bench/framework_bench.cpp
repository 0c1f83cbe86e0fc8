// chain/parts against chain/kernels: what a chain (impute >> clamp >> sum) costs beyond the kernels it calls, on chunks
// of 8 and of 2048 rows. The difference of the two times, for the same rows, is the overhead of one call.
//
// chain/release: a release of the sum of eight rows, which a budget in memory pays; chain/exact is all of it but the debit
// and the noise.
#include <benchmark/benchmark.h>

#include <vector>

#include "numeric/shared/row_kernels.h"
#include "snapdp/framework/accountant.h"
#include "snapdp/framework/composition.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/numeric/exact_sum.h"
#include "snapdp/statistics/statistics.h"

namespace {

using namespace snapdp;
using namespace snapdp::numeric_internal;  // NOLINT: the kernels themselves are measured

std::vector<double> some_rows(std::size_t count) {
  std::vector<double> rows(count);
  for (std::size_t i = 0; i < count; ++i) rows[i] = static_cast<double>(i % 129) - 10;
  return rows;
}

void kernels(benchmark::State& state) {
  const std::vector<double> rows = some_rows(static_cast<std::size_t>(state.range(0)));
  std::vector<double> imputed(rows.size());
  std::vector<double> clamped(rows.size());
  ExactSum sum(0, 100);
  for (auto _ : state) {
    impute_doubles(rows.data(), nullptr, 0, imputed.data(), rows.size(), 50);
    clamp_doubles(imputed.data(), clamped.data(), rows.size(), 0, 100);
    sum.add(clamped);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(kernels)->Name("chain/kernels")->Arg(8)->Arg(2048);

void parts(benchmark::State& state) {
  const std::vector<double> rows = some_rows(static_cast<std::size_t>(state.range(0)));
  const VectorDomain raw = untrusted_domain({AtomType::real});
  const Transformation complete = make_impute(raw, symmetric_distance(), {Dyadic(50)});
  const Aggregation chain =
      complete >> make_clamp(complete.output_domain(), symmetric_distance(), Bounds(0, 100)) >> make_sum();
  AggregateState sum = chain.start();
  for (auto _ : state) {
    chain.update(sum, Chunk(rows));
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(parts)->Name("chain/parts")->Arg(8)->Arg(2048);

Measurement noisy_sum() {
  const VectorDomain raw = untrusted_domain({AtomType::real});
  const Transformation complete = make_impute(raw, symmetric_distance(), {Dyadic(50)});
  return complete >> make_clamp(complete.output_domain(), symmetric_distance(), Bounds(0, 100)) >>
         make_sum() >> make_snapping({.epsilon = "1/4"});
}

void exact(benchmark::State& state) {
  const std::vector<double> rows = some_rows(8);
  const Composition sum(noisy_sum());
  for (auto _ : state) {
    const std::vector<ExactPart> found = sum.exact(Chunk(rows));
    benchmark::DoNotOptimize(found.data());
  }
}
BENCHMARK(exact)->Name("chain/exact");

void release(benchmark::State& state) {
  const std::vector<double> rows = some_rows(8);
  const Composition sum(noisy_sum());
  InMemoryAccountant budget("1e12");
  for (auto _ : state) {
    const Release released = sum.release(Chunk(rows), budget);
    benchmark::DoNotOptimize(released.values.data());
  }
}
BENCHMARK(release)->Name("chain/release");

}  // namespace
