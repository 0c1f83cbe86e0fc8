// Queries about utility: what a plan asks before any row is read. Each is answered in closed form.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/law.h"

namespace snapdp {
namespace {

// Scales differ from query to query, so that nothing is answered from memory.
constexpr int scales = 1000;

double scale_of(int i) {
  return 1 + i * 0x1p-12;
}

Noise noise_of(int i, bool automatic) {
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
  return {.noise = {.scale = scale_of(i), .grid = Grid(automatic ? -9 : 1)},
          .alpha = alpha,
          .rounding_error = Rational(1, 1 << 20)};
}

double clamped(AccuracyQuery query, double lower, double upper) {
  query.noise.lower = lower;
  query.noise.upper = upper;
  return clamped_accuracy(query);
}

void register_all() {
  for (const bool automatic : {true, false}) {
    const auto add = [&](const std::string& name, const auto& query) {
      benchmark::RegisterBenchmark(("utility/" + name + (automatic ? "/auto" : "/notes")).c_str(),
                                   [query](benchmark::State& state) { run(state, query); });
    };
    add("accuracy/conservative", [=](int i) { return conservative_accuracy(accuracy_query(i, automatic)); });
    add("accuracy/tight", [=](int i) { return tight_accuracy(accuracy_query(i, automatic)); });
    add("accuracy/on_grid", [=](int i) {
      AccuracyQuery query = accuracy_query(i, automatic);
      query.values = Grid(0);
      return tight_accuracy(query);
    });
    add("accuracy/clamped", [=](int i) { return clamped(accuracy_query(i, automatic), 0, 100); });
    add("accuracy/clamped_narrow", [=](int i) { return clamped(accuracy_query(i, automatic), 0, 5); });
    // About twice the accuracy wide and off the grid: on a coarse grid the closed form does not reach that far.
    add("accuracy/clamped_twice", [=](int i) { return clamped(accuracy_query(i, automatic), 0.3, 6.8); });
    add("accuracy/for_value", [=](int i) { return OutputLaw(noise_of(i, automatic), 42.3).accuracy(alpha); });
    add("accuracy/to_epsilon", [=](int i) {
      return epsilon_for_accuracy({.sensitivity = 1,
                                   .accuracy = Rational(scale_of(i) * 4),
                                   .alpha = alpha,
                                   .grid = automatic ? GridChoice::automatic() : GridChoice::notes()});
    });
    // On the notes' grid every other target is met by a power of two alone: see scale_for_accuracy.
    add("accuracy/to_epsilon_wide", [=](int i) {
      return epsilon_for_accuracy({.sensitivity = 1,
                                   .accuracy = Rational(std::exp2(i % 40 - 20) * scale_of(i)),
                                   .alpha = alpha,
                                   .grid = automatic ? GridChoice::automatic() : GridChoice::notes()});
    });
    add("accuracy/laplace", [=](int i) { return continuous_accuracy(accuracy_query(i, automatic)); });
    add("accuracy/worst_miss", [=](int i) {
      return worst_miss({.scale = scale_of(i), .grid = Grid(automatic ? -9 : 1)}, Rational(7, 2));
    });
    add("law/cdf", [=](int i) { return OutputLaw(noise_of(i, automatic), 42.3).cdf(44); });
    add("law/mean", [=](int i) { return OutputLaw(noise_of(i, automatic), 42.3).mean(); });
    add("law/distance",
        [=](int i) { return OutputLaw(noise_of(i, automatic), 42.3).distance_to_continuous(); });
    add("law/miss", [=](int i) { return OutputLaw(noise_of(i, automatic), 42.3).miss(3); });
    add("law/probability", [=](int i) { return OutputLaw(noise_of(i, automatic), 42.3).probability(44); });
    add("law/quantile",
        [=](int i) { return OutputLaw(noise_of(i, automatic), 42.3).quantile(Rational(1, 4)); });
    add("law/variance", [=](int i) { return OutputLaw(noise_of(i, automatic), 42.3).variance(); });
    add("bias/guess", [=](int i) { return bias(noise_of(i, automatic), 98.3); });
    add("bias/worst", [=](int i) { return worst_bias(noise_of(i, automatic)).bias; });
    add("bias/uniform", [=](int i) {
      Noise noise = noise_of(i, automatic);
      noise.upper = 100.0 + 0x1p-12;
      return expected_bias_uniform(noise);
    });
    add("bound/minimal", [=](int i) {
      return minimal_bounds({.scale = scale_of(i), .grid = Grid(automatic ? -9 : 1)}, {0, 100}, alpha)
          .binding_probability;
    });
    add("bound/binding", [=](int i) { return binding_probability(noise_of(i, automatic), {10, 90}); });
    add("bound/notes", [=](int i) {
      return notes_half_width({.sensitivity = 1, .half_range = 50, .gamma = alpha},
                              Rational(1 / scale_of(i)));
    });
    add("bound/notes_accuracy", [=](int i) {
      return notes_half_width_for_accuracy({.sensitivity = 1, .half_range = 50, .gamma = alpha},
                                           Rational(scale_of(i) * 3), alpha);
    });
  }

  const auto geometric = [](const std::string& name, const auto& query) {
    benchmark::RegisterBenchmark(("utility/" + name + "/geometric").c_str(),
                                 [query](benchmark::State& state) { run(state, query); });
  };
  const auto noise = [](int i) {
    return Noise{.scale = scale_of(i), .lower = 0.0, .upper = 100.0, .kind = NoiseKind::geometric};
  };
  const auto query = [](int i) {
    return AccuracyQuery{.noise = {.scale = scale_of(i), .grid = Grid(0), .kind = NoiseKind::geometric},
                         .alpha = alpha};
  };
  geometric("accuracy/conservative", [=](int i) { return conservative_accuracy(query(i)); });
  geometric("accuracy/tight", [=](int i) { return tight_accuracy(query(i)); });
  geometric("accuracy/clamped", [=](int i) { return clamped(query(i), 0, 100); });
  geometric("accuracy/clamped_narrow", [=](int i) { return clamped(query(i), 0, 5); });
  geometric("accuracy/for_value", [=](int i) { return OutputLaw(noise(i), 42).accuracy(alpha); });
  geometric("accuracy/to_epsilon", [=](int i) {
    return epsilon_for_accuracy({.sensitivity = 1,
                                 .accuracy = Rational(scale_of(i) * 4),
                                 .alpha = alpha,
                                 .noise = NoiseKind::geometric});
  });
  geometric("law/miss", [=](int i) { return OutputLaw(noise(i), 42).miss(3); });
  geometric("law/probability", [=](int i) { return OutputLaw(noise(i), 42).probability(44); });
  geometric("law/cdf", [=](int i) { return OutputLaw(noise(i), 42).cdf(44); });
  geometric("law/quantile", [=](int i) { return OutputLaw(noise(i), 42).quantile(Rational(1, 4)); });
  geometric("law/mean", [=](int i) { return OutputLaw(noise(i), 42).mean(); });
  geometric("law/variance", [=](int i) { return OutputLaw(noise(i), 42).variance(); });
  geometric("bias/guess", [=](int i) { return bias(noise(i), 98); });
  geometric("bias/worst", [=](int i) { return worst_bias(noise(i)).bias; });
  geometric("bias/uniform", [=](int i) { return expected_bias_uniform(noise(i)); });
  geometric("bound/minimal", [=](int i) {
    return minimal_bounds({.scale = scale_of(i), .grid = Grid(0), .kind = NoiseKind::geometric}, {0, 100},
                          alpha)
        .binding_probability;
  });
  geometric("bound/binding", [=](int i) { return binding_probability(noise(i), {10, 90}); });
}

[[maybe_unused]] const bool registered = (register_all(), true);

}  // namespace
}  // namespace snapdp
