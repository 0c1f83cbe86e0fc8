// Does the time of a release depend on the value or the noise? A statistical answer for every mechanism and kernel, after
// O. Reparaz, J. Balasch, I. Verbauwhede, "Dude, is my code constant time?", DATE 2017.
//
// Batches of recorded words are replayed, those of two classes in random order and from the same memory, and the means of
// their times are compared by Welch's t, over all measurements and over those below some percentiles (which a first
// tenth of the measurements fixes). |t| > 10 counts as a difference. The classes differ in the noise alone or in the value
// alone; all samples are decided by the fast path, except in the controls, where one sample of a class takes the slow path:
// the residual that docs/timing.md states, which must be seen. What is measured of single releases, whose big-integer
// arithmetic is not constant in time, is stated there too and does not count.
//
// Usage: soak_timing [--rounds N] [--json] [TEXT]
//
// N batches of each class a comparison, on average (100000, half a second or so); only comparisons whose name contains
// TEXT. The exit status is 1 when a difference is found that is not stated, or a control is not seen. Deterministic checks
// of the same claim: tests/secrets.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "snapdp/mechanism/geometric.h"
#include "snapdp/mechanism/precision_snapping.h"
#include "snapdp/mechanism/snapping.h"
#include "snapdp/random/word_source.h"

namespace {

using namespace snapdp;

constexpr std::size_t batch = 64;  // samples a measurement
constexpr double threshold = 10;

std::uint64_t ticks() {
#if defined(__x86_64__)
  unsigned processor = 0;
  _mm_lfence();
  const std::uint64_t result = __rdtscp(&processor);
  _mm_lfence();
  return result;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

// Serves the words of a batch without allocating, and further digits for undecided samples.
class Tape final : public WordSource {
 public:
  void fill(std::span<std::uint64_t> words) override {
    for (std::uint64_t& word : words) word = position_ < count_ ? words_[position_++] : 0x5555555555555555;
  }
  void load(const std::vector<std::uint64_t>& words) { load(words, words, 0); }
  // Those of the first or of the second class, by the mask; both are read.
  void load(const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& second,
            std::uint64_t mask) {
    count_ = first.size();
    position_ = 0;
    for (std::size_t i = 0; i < count_; ++i) words_[i] = (first[i] & ~mask) | (second[i] & mask);
  }

 private:
  std::array<std::uint64_t, 2 * batch> words_ = {};
  std::size_t count_ = 0;
  std::size_t position_ = 0;
};

struct Input {
  std::vector<double> values;
  std::vector<std::uint64_t> words;
};

using Random = std::mt19937_64;
using MakeInput = std::function<Input(Random&)>;
using Replay = std::function<std::size_t(std::span<const double>, std::span<double>, WordSource&)>;

enum class Expect { same, different, stated };

struct Comparison {
  std::string name;
  Expect expect;
  Replay replay;
  MakeInput first;
  MakeInput second;
};

struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;
  void add(double x) {
    count += 1;
    const double delta = x - mean;
    mean += delta / count;
    squares += delta * (x - mean);
  }
};

double welch(const Moments& a, const Moments& b) {
  if (a.count < 100 || b.count < 100) return 0;
  const double variance = a.squares / (a.count - 1) / a.count + b.squares / (b.count - 1) / b.count;
  return variance > 0 ? (a.mean - b.mean) / std::sqrt(variance) : 0;
}

struct Result {
  double t = 0;           // the one of largest magnitude
  double difference = 0;  // of the means of the measurements below the ninth decile, in ticks a batch
};

Result measure(const Comparison& comparison, std::size_t rounds) {
  Random random(1);
  // A pool of inputs, so that making them is no part of the loop. Both classes' are read before each measurement and one
  // is kept, by a mask: which class it is changes no address, and what is in the caches does not tell.
  constexpr std::size_t pool = 256;
  std::vector<std::array<Input, 2>> inputs;
  for (std::size_t i = 0; i < pool; ++i)
    inputs.push_back({comparison.first(random), comparison.second(random)});
  const std::size_t count = inputs[0][0].values.size();
  std::vector<double> values(batch);
  std::vector<double> out(batch);
  Tape tape;
  const auto one = [&](std::size_t which) {
    const auto& [first, second] = inputs[random() % pool];
    const std::uint64_t mask = 0 - std::uint64_t{which};
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = std::bit_cast<double>((std::bit_cast<std::uint64_t>(first.values[i]) & ~mask) |
                                        (std::bit_cast<std::uint64_t>(second.values[i]) & mask));
    }
    tape.load(first.words, second.words, mask);
    const std::uint64_t start = ticks();
    comparison.replay(std::span(values).first(count), std::span(out).first(count), tape);
    return static_cast<double>(ticks() - start);
  };
  std::vector<double> first_tenth;
  for (std::size_t i = 0; i < rounds / 5; ++i) first_tenth.push_back(one(random() % 2));
  std::sort(first_tenth.begin(), first_tenth.end());
  std::array<double, 6> crops;
  const std::array<double, 6> percentiles = {0.25, 0.5, 0.75, 0.9, 0.99, 1};
  for (std::size_t i = 0; i < crops.size(); ++i) {
    crops[i] =
        percentiles[i] == 1
            ? std::numeric_limits<double>::infinity()
            : first_tenth[static_cast<std::size_t>(percentiles[i] * static_cast<double>(first_tenth.size()))];
  }
  std::array<std::array<Moments, 2>, 6> moments;
  Result result;
  for (std::size_t i = 0; i < 2 * rounds; ++i) {
    const std::size_t which = random() % 2;
    const double time = one(which);
    for (std::size_t crop = 0; crop < crops.size(); ++crop) {
      if (time <= crops[crop]) moments[crop][which].add(time);
    }
  }
  for (const auto& [first, second] : moments) {
    const double t = welch(first, second);
    if (std::fabs(t) > std::fabs(result.t)) result.t = t;
  }
  result.difference = moments[3][0].mean - moments[3][1].mean;
  return result;
}

// --- classes

double unit(Random& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

// Inputs whose samples are all decided.
MakeInput decided(const Replay& replay, std::size_t words_per_value,
                  const std::function<double(Random&)>& value,
                  const std::function<std::uint64_t(Random&)>& word) {
  return [=](Random& random) {
    Input input;
    std::vector<double> out(batch);
    for (;;) {
      input.values.clear();
      input.words.clear();
      for (std::size_t i = 0; i < batch; ++i) input.values.push_back(value(random));
      for (std::size_t i = 0; i < batch * words_per_value; ++i) input.words.push_back(word(random));
      Tape tape;
      tape.load(input.words);
      if (replay(input.values, out, tape) == 0) return input;
    }
  };
}

std::uint64_t any_word(Random& random) {
  return random();
}
std::uint64_t small_noise(Random& random) {
  return random() | 0xff00000000000000;  // U > 1 - 2^-8
}
std::uint64_t large_noise(Random& random) {
  return random() >> 16 | 0x0000800000000000;  // 2^-17 < U < 2^-16
}
std::uint64_t plus(Random& random) {
  return random() & ~std::uint64_t{1};
}
std::uint64_t minus(Random& random) {
  return random() | 1;
}

void add(std::vector<Comparison>& all, const std::string& name, const Replay& replay,
         std::size_t words_per_value, double lower, double upper) {
  const auto inside = [=](Random& random) { return std::floor(lower + (upper - lower) * unit(random)); };
  const auto low = [=](Random&) { return lower; };
  const auto high = [=](Random&) { return upper; };
  const auto middle = [=](Random&) { return std::floor((lower + upper) / 2); };
  const auto beyond = [=](Random& random) { return std::floor(upper + 1 + 1e6 * unit(random)); };
  const auto make = [&](const std::function<double(Random&)>& value,
                        const std::function<std::uint64_t(Random&)>& word) {
    return decided(replay, words_per_value, value, word);
  };
  all.push_back({name + ": small or large noise", Expect::same, replay, make(middle, small_noise),
                 make(middle, large_noise)});
  all.push_back({name + ": noise up or down", Expect::same, replay, make(middle, plus), make(middle, minus)});
  const MakeInput any = make(inside, any_word);
  Random first(2);
  const Input fixed = any(first);
  all.push_back(
      {name + ": one fixed batch or any", Expect::same, replay, [fixed](Random&) { return fixed; }, any});
  all.push_back(
      {name + ": least or greatest value", Expect::same, replay, make(low, any_word), make(high, any_word)});
  all.push_back(
      {name + ": value inside or beyond the bounds", Expect::same, replay, any, make(beyond, any_word)});
  all.push_back({name + ": control, the same class twice", Expect::same, replay, any, any});
  const auto one_slow = [any](Random& random) {
    Input input = any(random);
    input.words[random() % batch] = 2 | (random() & 1);  // U < 2^-62
    return input;
  };
  all.push_back({name + ": control, an undecided sample", Expect::different, replay, any, one_slow});
}

std::vector<Comparison> comparisons() {
  std::vector<Comparison> all;
  const Snapping snapping({.epsilon = 1, .sensitivity = Dyadic(1), .lower = 0, .upper = 1000});
  const Geometric geometric({.epsilon = 1, .sensitivity = Dyadic(1), .lower = 0, .upper = 1000});
  const PrecisionSnapping precision({.epsilon = 1, .sensitivity = Dyadic(1), .lower = 0, .upper = 1000});
  for (const InstructionSet set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (!is_supported(set)) continue;
    const std::string suffix = ", " + std::string(to_string(set));
    const auto replay_of = [set](const auto& mechanism) {
      return [mechanism, set](std::span<const double> in, std::span<double> out, WordSource& words) {
        return mechanism.replay(in, out, words, {.kernel = set});
      };
    };
    add(all, "snapping" + suffix, replay_of(snapping), 1, 0, 1000);
    add(all, "geometric" + suffix, replay_of(geometric), 2, 0, 1000);
    add(all, "precision" + suffix, replay_of(precision), 1, 0, 1000);
  }
  // Single releases of exact numbers.
  const Replay single = [snapping](std::span<const double> in, std::span<double> out, WordSource& words) {
    for (std::size_t i = 0; i < in.size(); ++i)
      out[i] = snapping.replay(Dyadic(in[i]), words).to_double_nearest();
    return std::size_t{0};
  };
  std::vector<Comparison> of_single;
  add(of_single, "single releases", single, 1, 0, 1000);
  for (Comparison& comparison : of_single) {
    // Two sets of values differ even where they come from one distribution: no control.
    if (comparison.expect == Expect::same && comparison.name.find("control") == std::string::npos) {
      comparison.expect = Expect::stated;
      all.push_back(comparison);
    }
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t rounds = 100'000;
  bool json = false;
  std::string text;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      rounds = std::strtoul(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--json") == 0) {
      json = true;
    } else if (argv[i][0] != '-') {
      text = argv[i];
    } else {
      std::fprintf(stderr, "usage: soak_timing [--rounds N] [--json] [TEXT]\n");
      return 2;
    }
  }
  if (rounds < 1000 || rounds > 1'000'000'000) {
    std::fprintf(stderr, "soak_timing: --rounds must be from 1000 to 1000000000\n");
    return 2;
  }
  int faults = 0;
  const char* separator = "[";
  for (const Comparison& comparison : comparisons()) {
    if (comparison.name.find(text) == std::string::npos) continue;
    const Result result = measure(comparison, rounds);
    const bool differs = std::fabs(result.t) > threshold;
    const char* verdict = "same";
    if (comparison.expect == Expect::same && differs) verdict = "FAULT";
    if (comparison.expect == Expect::stated && differs) verdict = "differs, as stated";
    if (comparison.expect == Expect::different) verdict = differs ? "seen" : "FAULT";
    faults += std::strcmp(verdict, "FAULT") == 0 ? 1 : 0;
    if (json) {
      std::printf("%s\n  {\"comparison\": \"%s\", \"t\": %.2f, \"ticks\": %.2f, \"verdict\": \"%s\"}",
                  separator, comparison.name.c_str(), result.t, result.difference, verdict);
    } else {
      std::printf("%-58s t %9.2f  %9.2f ticks a batch  %s\n", comparison.name.c_str(), result.t,
                  result.difference, verdict);
    }
    std::fflush(stdout);
    separator = ",";
  }
  if (json) {
    std::printf("\n]\n");
  } else {
    std::printf("%d faults\n", faults);
  }
  return faults == 0 ? 0 : 1;
}
