// SnapDP's own entry beside its peers: the measurements of harness.py, as JSON on standard output.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/precision_snapping.h"
#include "snapdp/mechanism/snapping.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/version.h"

namespace {

using snapdp::Bounds;
using snapdp::Dyadic;
using snapdp::GridChoice;
using snapdp::InstructionSet;

constexpr double value = 41.73;
constexpr double alpha = 0.05;
constexpr double epsilons[] = {1.0, 0.1};
constexpr std::size_t batch = 1'000'000;
constexpr std::size_t rows = 10'000'000;
constexpr std::size_t shuffled_rows = 100'000;
constexpr int orders = 10;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The median of five runs of at least a fifth of a second, a warm-up aside. `each` is what one call makes.
double nanoseconds_each(const std::function<void()>& call, std::size_t each) {
  const double start = cpu_seconds();
  call();
  const int calls = std::max(1, static_cast<int>(0.2 / std::max(cpu_seconds() - start, 1e-9)));
  double runs[5];
  for (double& run : runs) {
    const double begin = cpu_seconds();
    for (int i = 0; i < calls; ++i) call();
    run = (cpu_seconds() - begin) / (static_cast<double>(calls) * static_cast<double>(each));
  }
  std::nth_element(runs, runs + 2, runs + 5);
  return runs[2] * 1e9;
}

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

// What one mechanism does, for one epsilon.
struct Mechanism {
  std::function<void(std::span<const double>, std::span<double>)> release_batch;
  std::function<void()> release_one;
  double stated = 0;  // accuracy at rate alpha, for every value
};

std::string noise(const std::string& name, const std::string& note,
                  const std::function<Mechanism(double epsilon)>& make) {
  const std::vector<double> values(batch, value);
  std::vector<double> out(batch);
  std::string measured;
  std::string stated;
  for (const double epsilon : epsilons) {
    const Mechanism mechanism = make(epsilon);
    mechanism.release_batch(values, out);
    for (double& x : out) x = std::abs(x - value);
    const auto place = static_cast<std::size_t>(static_cast<double>(batch) * (1 - alpha));
    std::nth_element(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(place), out.end());
    const std::string key =
        (measured.empty() ? "" : ", ") + std::string("\"") + (epsilon == 1 ? "1.0" : "0.1") + "\": ";
    measured += key + number(out[place]);
    stated += key + number(mechanism.stated);
  }
  const Mechanism mechanism = make(1.0);
  return "{\"mechanism\": \"" + name + "\", \"batch_note\": \"" + note +
         "\", \"one_ns\": " + number(nanoseconds_each(mechanism.release_one, 1)) +
         ", \"batch\": " + std::to_string(batch) +
         ", \"batch_ns\": " + number(nanoseconds_each([&] { mechanism.release_batch(values, out); }, batch)) +
         ", \"samples\": " + std::to_string(batch) + ", \"measured\": {" + measured + "}, \"stated\": {" +
         stated + "}}";
}

Mechanism exact(double epsilon, const GridChoice& grid, InstructionSet kernel) {
  const snapdp::Snapping mechanism({.epsilon = snapdp::shortest_decimal(epsilon, "epsilon"),
                                    .sensitivity = Dyadic(1),
                                    .lower = -1000,
                                    .upper = 1000,
                                    .grid = grid});
  return {.release_batch =
              [=](std::span<const double> values, std::span<double> out) {
                mechanism.replay(values, out, snapdp::thread_generator(), {.kernel = kernel});
              },
          .release_one =
              [=, exact_value = Dyadic(value)] {
                (void)mechanism.release(exact_value, snapdp::thread_generator());
              },
          .stated = snapdp::tight_accuracy({.noise = mechanism.noise(), .alpha = alpha})};
}

// `reference`: the notes as they stand, in multiple precision throughout.
Mechanism precision(double epsilon, bool reference) {
  const snapdp::PrecisionSnapping mechanism({.epsilon = snapdp::shortest_decimal(epsilon, "epsilon"),
                                             .sensitivity = Dyadic(1),
                                             .lower = -1000,
                                             .upper = 1000});
  return {.release_batch =
              [=](std::span<const double> values, std::span<double> out) {
                if (!reference) return mechanism.release(values, out, snapdp::thread_generator());
                for (std::size_t i = 0; i < values.size(); ++i) {
                  out[i] = mechanism.reference(values[i], snapdp::thread_generator()).to_double_nearest();
                }
              },
          .release_one =
              [=, exact_value = Dyadic(value)] {
                snapdp::SystemGenerator& generator = snapdp::thread_generator();
                (void)(reference ? mechanism.reference(exact_value, generator)
                                 : mechanism.release(exact_value, generator));
              },
          .stated = snapdp::tight_accuracy({.noise = mechanism.noise(), .alpha = alpha})};
}

std::vector<double> log_normal(std::size_t count, bool with_signs) {
  std::mt19937_64 engine(1);
  std::lognormal_distribution<double> distribution(1.0, 2.0);
  std::vector<double> values(count);
  for (double& x : values) {
    x = std::min(100.0, distribution(engine));
    if (with_signs && (engine() & 1) != 0) x = -x;
  }
  return values;
}

snapdp::Transformation clamped(std::size_t size, double lower) {
  return snapdp::make_clamp(snapdp::vector_domain<double>().of_size(size), snapdp::change_one(),
                            Bounds(Dyadic(lower), Dyadic(100)));
}

std::string sums() {
  const std::vector<double> values = log_normal(rows, false);
  const snapdp::Aggregation sum = clamped(rows, 0) >> snapdp::make_sum();
  const snapdp::Aggregation mean = clamped(rows, 0) >> snapdp::make_mean();
  return "{\"sum_ns\": " + number(nanoseconds_each([&] { (void)sum(values); }, rows)) +
         ", \"mean_ns\": " + number(nanoseconds_each([&] { (void)mean(values); }, rows)) +
         ", \"how\": \"make_clamp >> make_sum or make_mean, exact\"}";
}

std::size_t distinct_sums() {
  std::vector<double> values = log_normal(shuffled_rows, true);
  const snapdp::Aggregation sum = clamped(shuffled_rows, -100) >> snapdp::make_sum();
  std::mt19937_64 engine(2);
  std::set<std::string> seen;
  for (int i = 0; i < orders; ++i) {
    std::shuffle(values.begin(), values.end(), engine);
    seen.insert(to_string(sum(values)[0]));
  }
  return seen.size();
}

}  // namespace

int main() {
  const InstructionSet best = snapdp::best_instruction_set();
  const std::string entries[] = {
      noise("exact, automatic grid (recommended)", std::string("kernel ") + std::string(to_string(best)),
            [&](double e) { return exact(e, GridChoice::automatic(), best); }),
      noise("exact, automatic grid, portable kernel", "kernel portable",
            [&](double e) { return exact(e, GridChoice::automatic(), InstructionSet::portable); }),
      noise("exact, the notes' grid", std::string("kernel ") + std::string(to_string(best)),
            [&](double e) { return exact(e, GridChoice::notes(), best); }),
      noise("precision 118 (the notes)", std::string("kernel ") + std::string(to_string(best)),
            [](double e) { return precision(e, false); }),
      noise("precision 118, plain MPFR", "one call a value", [](double e) { return precision(e, true); }),
  };
  std::cout << "{\"library\": \"SnapDP\", \"version\": \"" << snapdp::version() << "\", \"noise\": [\n";
  for (const std::string& entry : entries) std::cout << (&entry == entries ? "" : ",\n") << entry;
  std::cout << "],\n\"sums\": " << sums() << ",\n\"shuffles\": " << distinct_sums() << ", \"remarks\": []}\n";
  return std::cout.good() ? 0 : 1;
}
