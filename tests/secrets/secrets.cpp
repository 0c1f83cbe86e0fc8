// Run under valgrind by tests/secrets/run: does the fast path branch on, or address memory by, a value or the noise?
//
// Values and random words are declared undefined, and memcheck then reports every branch and every address that depends
// on them (A. Langley's ctgrind, 2010). The mechanism's sources are compiled into this program with
// SNAPDP_CHECK_SECRETS, so that the few decisions of docs/timing.md, observable() in src/mechanism/secret.h, are declared
// defined. Words are chosen so that every sample is decided: what the slow path does is the stated residual.
//
// Usage: snapdp_secrets fast              every mechanism and kernel; memcheck must find nothing
//        snapdp_secrets branch|address    a kernel with a planted branch or table look-up; memcheck must find it
//        snapdp_secrets undecided         one sample of the slow path; memcheck must find it
#include <valgrind/memcheck.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "mechanism/batch.h"
#include "mechanism/snap_kernel.h"
#include "snapdp/mechanism/gaussian.h"
#include "snapdp/mechanism/geometric.h"
#include "snapdp/mechanism/precision_snapping.h"
#include "snapdp/mechanism/snapping.h"
#include "snapdp/random/word_source.h"

namespace snapdp {

using namespace mechanism_internal;

namespace {

template <typename Values>
void make_secret(Values& values) {
  VALGRIND_MAKE_MEM_UNDEFINED(values.data(), values.size() * sizeof(*values.data()));
}
template <typename Values>
void publish(Values& values) {
  VALGRIND_MAKE_MEM_DEFINED(values.data(), values.size() * sizeof(*values.data()));
}

// A tape whose words are secret from the moment they are served.
class SecretTape final : public WordSource {
 public:
  explicit SecretTape(const std::vector<std::uint64_t>& words) : words_(words) {}
  void fill(std::span<std::uint64_t> words) override {
    std::copy_n(words_.begin() + position_, words.size(), words.begin());
    position_ += static_cast<std::ptrdiff_t>(words.size());
    make_secret(words);
  }

 private:
  const std::vector<std::uint64_t>& words_;
  std::ptrdiff_t position_ = 0;
};

std::vector<InstructionSet> kernels() {
  std::vector<InstructionSet> sets = {InstructionSet::portable};
  // valgrind has no AVX-512 and says so by CPUID.
  if (is_supported(InstructionSet::avx2)) sets.push_back(InstructionSet::avx2);
  return sets;
}

// As many samples as a chunk and a bit, so that the rest of a batch is seen too.
template <typename Mechanism>
void check(const char* name, const Mechanism& mechanism, double middle, double width, bool integers,
           std::size_t words_per_value) {
  std::mt19937_64 engine(1);
  const auto draw = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
  const std::size_t count = Mechanism::chunk + 13;
  for (const InstructionSet set : kernels()) {
    std::vector<double> values(count);
    for (double& value : values) {
      value = middle + width * (2 * draw() - 1);
      if (integers) value = std::floor(value);
    }
    std::vector<std::uint64_t> words(count * words_per_value);
    std::vector<double> out(count);
    // Nothing is secret yet: find words that leave no sample to the slow path.
    for (int tries = 0;; ++tries) {
      if (tries == 1000) {
        std::puts("no batch without an undecided sample");
        std::exit(2);
      }
      for (std::uint64_t& word : words) word = engine();
      std::vector<std::uint64_t> more = words;
      more.insert(more.end(), 64, 0x5555555555555555);
      RecordedTape tape(more);
      if (mechanism.replay(values, out, tape, {.kernel = set}) == 0) break;
    }
    const std::vector<double> expected = out;
    make_secret(values);
    make_secret(out);
    SecretTape tape(words);
    mechanism.replay(values, out, tape, {.kernel = set});
    publish(out);
    publish(values);
    if (out != expected) {
      std::puts("the check changed the outputs");
      std::exit(2);
    }
    std::printf("%s, %s: %zu samples\n", name, std::string(to_string(set)).c_str(), count);
  }
}

void check_all() {
  check("snapping, bounds", Snapping({.epsilon = 1, .sensitivity = Dyadic(1), .lower = -8, .upper = 8}), 0,
        12, false, 1);
  check("snapping, no bounds", Snapping({.epsilon = Rational(1, 3), .sensitivity = Dyadic(1)}), 1e6, 1e6,
        false, 1);
  check(
      "snapping, far bounds",
      Snapping(
          {.epsilon = 1, .sensitivity = Dyadic(1), .lower = 0, .upper = 0x1p52, .grid = GridChoice::notes()}),
      0x1p51, 0x1p51, false, 1);
  check("snapping, integers", Snapping({.epsilon = 1, .sensitivity = Dyadic(7), .integer = true}), 0, 1e9,
        true, 1);
  check(
      "Gaussian, bounds",
      Gaussian({.sensitivity = Dyadic(1), .lower = -8, .upper = 8, .noise = NoiseKind::gaussian, .scale = 1}),
      0, 12, false, 1);
  check("Gaussian, no bounds", Gaussian({.sensitivity = Dyadic(1), .noise = NoiseKind::gaussian, .scale = 3}),
        1e6, 1e6, false, 1);
  check("geometric, bounds", Geometric({.epsilon = 1, .sensitivity = Dyadic(1), .lower = 0, .upper = 100}),
        50, 100, true, 2);
  check("geometric, no bounds", Geometric({.epsilon = Rational(1, 10), .sensitivity = Dyadic(1)}), 0, 1e12,
        true, 2);
  check("precision", PrecisionSnapping({.epsilon = 1, .sensitivity = Dyadic(1), .lower = 0, .upper = 100}),
        50, 60, false, 1);
  check("precision, odd center",
        PrecisionSnapping(
            {.epsilon = Rational(1, 7), .sensitivity = Dyadic(0.3), .lower = -0.1, .upper = 97.3}),
        50, 60, false, 1);

  // The noise of a single release: words and fraction are secret, the integer that comes out is not looked at.
  const Snapping single({.epsilon = 1, .sensitivity = Dyadic(1), .grid = GridChoice::notes()});
  for (const InstructionSet set : kernels()) {
    std::array<std::uint64_t, 1> word = {0x7123456789abcdef};
    std::array<double, 1> fraction = {0.25};
    make_secret(word);
    make_secret(fraction);
    detail::SnapConstants constants;
    constants.ratio = 1;
    constants.limit = 0.5 - snap_kernel::margin(1);
    const std::optional<long> steps =
        batch::steps(snap_kernel::kernel_for(set), constants, fraction[0], word[0]);
    std::printf("single release, %s: %s\n", std::string(to_string(set)).c_str(),
                steps ? "decided" : "undecided");
  }
}

// Kernels with a fault, for every kernel that a check must catch. Not inlined, so that nothing is known of their words.
__attribute__((noinline)) double planted_branch(std::uint64_t word, double noise) {
  if ((word & 1) != 0) {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // keeps the branch a branch
    return -noise;
  }
  return noise;
}

__attribute__((noinline)) double planted_address(std::uint64_t word, const double* table) {
  return table[word >> 56];
}

void plant(const std::string& fault) {
  std::array<std::uint64_t, 1> word = {0x7123456789abcdef};
  std::vector<double> table(256, 1.5);
  std::array<double, 1> out = {};
  make_secret(word);
  if (fault == "branch") out[0] = planted_branch(word[0], 1.5);
  if (fault == "address") out[0] = planted_address(word[0], table.data());
  if (fault == "undecided") {
    // 63 zeros: the fast path gives up, and MPFR branches on the digits.
    const Snapping mechanism({.epsilon = 1, .sensitivity = Dyadic(1), .lower = -8, .upper = 8});
    const std::vector<double> values(1, 0.0);
    const std::vector<std::uint64_t> words = {2, 0x5555555555555555, 0x5555555555555555};
    SecretTape tape(words);
    mechanism.replay(values, out, tape, {.kernel = InstructionSet::portable});
  }
  publish(out);
  std::printf("planted: %s\n", fault.c_str());
}

}  // namespace
}  // namespace snapdp

int main(int argc, char** argv) {
  const std::string what = argc == 2 ? argv[1] : "";
  if (what == "fast") {
    snapdp::check_all();
  } else if (what == "branch" || what == "address" || what == "undecided") {
    snapdp::plant(what);
  } else {
    std::puts("usage: snapdp_secrets fast|branch|address|undecided");
    return 2;
  }
  return 0;
}
