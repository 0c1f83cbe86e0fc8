// Prints new rows for the theorems of proofs/coq: parameters, a value, the bits of U that a sample took, and the output. Coq
// accepts a row only when every real U with these bits gives this output (tools/check-coq rows).
//
//   snapdp_dump_rows COUNT SEED
//
// A third of the values lies within some units in the last place of a rounding boundary. Epsilons are fractions or doubles;
// either bound, both or none are given; the grid is the default, the notes' (an empty cell) or another. Half of the samples come from the batch, with each
// kernel in turn.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/mechanism/snapping.h"
#include "snapdp/random/recorded_tape.h"

namespace snapdp {
namespace {

constexpr std::size_t words_of_a_sample = 6;
constexpr int digits_of_a_word = 63;  // bit 0 is the sign

class Rows {
 public:
  explicit Rows(std::uint64_t seed) : engine_(seed) {}

  // One row, or none when the constructor refuses the parameters.
  std::optional<std::string> next() {
    SnappingOptions options{.epsilon = epsilon(), .sensitivity = Dyadic(real(-30, 30))};
    if (one_in(3)) options.grid = GridChoice::notes();
    if (one_in(3)) options.grid = GridChoice(Grid(static_cast<long>(engine_() % 60) - 40));
    try {
      const Snapping wide(options);
      const std::vector<std::uint64_t> words = sample_words();
      const double value = one_in(3) ? near_boundary(wide, words.front()) : signed_real(-20, 40);
      set_bounds(value, wide.scale(), options);
      return row(Snapping(options), options, value, words);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

 private:
  bool one_in(std::uint64_t n) { return engine_() % n == 0; }

  // Uniform significands, exponents between the two.
  double real(int least, int greatest) {
    const double significand = 1 + std::ldexp(static_cast<double>(engine_() >> 12), -52);
    return std::ldexp(one_in(4) ? 1 : significand,
                      least + static_cast<int>(engine_() % static_cast<std::uint64_t>(greatest - least + 1)));
  }
  double signed_real(int least, int greatest) {
    return one_in(2) ? real(least, greatest) : -real(least, greatest);
  }

  Rational epsilon() {
    if (one_in(2)) return real(-10, 6);
    return parse_rational(std::to_string(1 + engine_() % 20) + "/" + std::to_string(1 + engine_() % 999),
                          "epsilon");
  }

  std::vector<std::uint64_t> sample_words() {
    std::vector<std::uint64_t> words(words_of_a_sample);
    for (std::uint64_t& word : words) word = engine_();
    if (one_in(10)) words.front() >>= engine_() % 50;  // far out in the tail
    return words;
  }

  // A value that this sample takes next to a boundary of a cell.
  double near_boundary(const Snapping& mechanism, std::uint64_t word) {
    const long double u = std::ldexp(static_cast<long double>(word >> 1) + 0.5L, -digits_of_a_word);
    const long double noise =
        ((word & 1) != 0 ? -1 : 1) * static_cast<long double>(mechanism.scale()) * std::log(u);
    const long double grid = std::ldexp(1.0L, static_cast<int>(mechanism.grid().exponent()));
    const auto cell = static_cast<long double>(engine_() % 2001) - 1000;
    auto value = static_cast<double>((cell + 0.5L) * grid - noise);
    for (std::uint64_t steps = engine_() % 4; steps > 0; --steps) {
      value = std::nextafter(value, one_in(2) ? std::numeric_limits<double>::infinity()
                                              : -std::numeric_limits<double>::infinity());
    }
    return value;
  }

  void set_bounds(double value, double scale, SnappingOptions& options) {
    const std::uint64_t kind = engine_() % 4;
    if (kind % 2 == 1) options.lower = value - scale * real(-3, 5) * (one_in(8) ? -1 : 1);
    if (kind >= 2) options.upper = value + scale * real(-3, 5) * (one_in(8) ? -1 : 1);
  }

  std::string row(const Snapping& mechanism, const SnappingOptions& options, double value,
                  const std::vector<std::uint64_t>& words) {
    RecordedTape tape(words);
    Dyadic output = mechanism.replay(Dyadic(value), tape);
    const std::size_t consumed = tape.consumed();
    static constexpr InstructionSet kernels[] = {InstructionSet::portable, InstructionSet::avx2,
                                                 InstructionSet::avx512};
    const InstructionSet kernel = kernels[engine_() % 3];
    double batch = 0;
    if (is_supported(kernel) && one_in(2)) {
      tape.rewind();
      mechanism.replay(std::vector<double>{value}, {&batch, 1}, tape, {.kernel = kernel});
      if (Dyadic(output.to_double_nearest()) == output) output = Dyadic(batch);
    }
    Integer digits(static_cast<unsigned long>(words.front() >> 1));
    for (std::size_t i = 1; i < consumed; ++i) digits = (digits << 64) + static_cast<unsigned long>(words[i]);
    const auto bound = [](const std::optional<double>& x) {
      return x ? to_string(Rational(*x)) : std::string();
    };
    return to_string(options.epsilon) + "," + to_string(options.sensitivity.rational()) + "," +
           bound(options.lower) + "," + bound(options.upper) + "," + to_string(Rational(value)) + "," +
           (options.grid.is_notes() ? "" : std::to_string(mechanism.grid().exponent())) + "," +
           ((words.front() & 1) != 0 ? "-1" : "1") + "," + digits.get_str() + "," +
           std::to_string(digits_of_a_word + 64 * (consumed - 1)) + "," + to_string(output.rational());
  }

  std::mt19937_64 engine_;
};

int dump(std::size_t count, std::uint64_t seed) {
  Rows rows(seed);
  std::cout << "epsilon,sensitivity,lower,upper,value,grid,sign,bits,bit_count,output\n";
  while (count > 0) {
    if (const std::optional<std::string> row = rows.next()) {
      std::cout << *row << "\n";
      --count;
    }
  }
  return 0;
}

}  // namespace
}  // namespace snapdp

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: snapdp_dump_rows COUNT SEED\n";
    return 2;
  }
  return snapdp::dump(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10));
}
