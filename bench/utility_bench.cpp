// Queries about utility: what a plan asks before any row is read. Each is answered in closed form.
#include <benchmark/benchmark.h>

#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/bias.h"
#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/law.h"

namespace snapdp {
namespace {

// Scales differ from query to query, so that nothing is answered from memory.
constexpr int scales = 1000;

double scale_of(int i) {
  return 1 + i * 0x1p-12;
}

OutputNoise noise_of(int i, bool automatic) {
  return {.scale = scale_of(i), .grid = Grid(automatic ? -9 : 1), .lower = 0.0, .upper = 100.0};
}

// Runs query(i) for i = 0, 1, ...
template <typename Query>
void run(benchmark::State& state, const Query& query) {
  int i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(query(i));
    i = (i + 1) % scales;
  }
  state.SetItemsProcessed(state.iterations());
}

const FailureRate alpha = 0.05;

AccuracyQuery accuracy_query(int i, bool automatic) {
  return {.scale = scale_of(i),
          .grid = Grid(automatic ? -9 : 1),
          .alpha = alpha,
          .rounding_error = Rational(1, 1 << 20)};
}

void register_all() {
  for (const bool automatic : {true, false}) {
    const auto add = [&](const std::string& name, const auto& query) {
      benchmark::RegisterBenchmark(("utility/" + name + (automatic ? "/auto" : "/notes")).c_str(),
                                   [query](benchmark::State& state) { run(state, query); });
    };
    add("accuracy/conservative", [=](int i) { return conservative_accuracy(accuracy_query(i, automatic)); });
    add("accuracy/tight", [=](int i) { return tight_accuracy(accuracy_query(i, automatic)); });
    add("accuracy/on_grid", [=](int i) { return accuracy_on_grid(accuracy_query(i, automatic), Grid(0)); });
    add("accuracy/clamped", [=](int i) { return clamped_accuracy(accuracy_query(i, automatic), 0, 100); });
    add("accuracy/clamped_narrow",
        [=](int i) { return clamped_accuracy(accuracy_query(i, automatic), 0, 5); });
    add("accuracy/for_value", [=](int i) { return OutputLaw(noise_of(i, automatic), 42.3).accuracy(alpha); });
    add("accuracy/to_epsilon", [=](int i) {
      return epsilon_for_accuracy({.sensitivity = 1,
                                   .accuracy = Rational(scale_of(i) * 4),
                                   .alpha = alpha,
                                   .grid = automatic ? GridChoice::automatic() : GridChoice::notes()});
    });
    add("law/miss", [=](int i) { return OutputLaw(noise_of(i, automatic), 42.3).miss(3); });
    add("law/probability", [=](int i) { return OutputLaw(noise_of(i, automatic), 42.3).probability(44); });
    add("law/quantile",
        [=](int i) { return OutputLaw(noise_of(i, automatic), 42.3).quantile(Rational(1, 4)); });
    add("law/variance", [=](int i) { return OutputLaw(noise_of(i, automatic), 42.3).variance(); });
    add("bias/guess", [=](int i) { return bias(noise_of(i, automatic), 98.3); });
    add("bias/worst", [=](int i) { return worst_bias(noise_of(i, automatic)).bias; });
    add("bias/uniform", [=](int i) {
      OutputNoise noise = noise_of(i, automatic);
      noise.upper = 100.0 + 0x1p-12;
      return expected_bias_uniform(noise);
    });
    add("bound/minimal", [=](int i) {
      return minimal_bounds(scale_of(i), Grid(automatic ? -9 : 1), {0, 100}, alpha).binding_probability;
    });
    add("bound/binding", [=](int i) { return binding_probability(noise_of(i, automatic), {10, 90}); });
    add("bound/notes", [=](int i) {
      return notes_half_width({.sensitivity = 1, .half_range = 50, .gamma = alpha},
                              Rational(1 / scale_of(i)));
    });
  }
}

[[maybe_unused]] const bool registered = (register_all(), true);

}  // namespace
}  // namespace snapdp
