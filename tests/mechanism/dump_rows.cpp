// Prints new rows for the theorems of proofs/coq: parameters, a value, the bits of U that a sample took, and the output. Coq
// accepts a row only when every real U with these bits gives this output (tools/check-coq rows).
//
//   snapdp_dump_rows exact|precision COUNT SEED
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
#include <type_traits>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/mechanism/precision_snapping.h"
#include "snapdp/mechanism/snapping.h"
#include "snapdp/random/word_source.h"

namespace snapdp {
namespace {

constexpr std::size_t words_of_a_sample = 6;
constexpr int digits_of_a_word = 63;  // bit 0 is the sign

class Rows {
 public:
  explicit Rows(std::uint64_t seed) : engine_(seed) {}

  static constexpr const char* exact_columns =
      "epsilon,sensitivity,lower,upper,value,grid,sign,bits,bit_count,output";
  static constexpr const char* precision_columns =
      "epsilon,sensitivity,lower,upper,value,precision,sign,bits,bit_count,output";

  // One row, or none when the constructor refuses the parameters.
  std::optional<std::string> next_exact() {
    MechanismOptions options{.epsilon = epsilon(), .sensitivity = Dyadic(real(-30, 30))};
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

  std::optional<std::string> next_precision() {
    MechanismOptions options{.epsilon = epsilon(), .sensitivity = Dyadic(real(-20, 20))};
    const double scale = Rational(options.sensitivity.rational() / options.epsilon).get_d();
    const double center = one_in(2) ? 0 : signed_real(-10, 20);
    const double half = scale * real(0, 12);
    options.lower = center - half;
    options.upper = center + half;
    if (one_in(2)) options.precision = 8 + static_cast<long>(engine_() % 120);
    try {
      const PrecisionSnapping mechanism(options);
      const std::vector<std::uint64_t> words = sample_words();
      const double value =
          one_in(3) ? near_boundary(mechanism, words.front()) : center + half * (real(-4, 0) - 1);
      RecordedTape tape(words);
      Dyadic output = mechanism.replay(Dyadic(value), tape);
      const std::size_t consumed = tape.consumed();
      if (one_in(2)) output = of_batch(mechanism, value, tape);
      if (output.sign() != 0 && std::fabs(output.to_double_nearest()) < std::numeric_limits<double>::min()) {
        return std::nullopt;  // the theorem is of normal doubles
      }
      return parameters(options, value) + std::to_string(mechanism.precision()) +
             sample(words, consumed, output);
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

  // A value that this sample takes next to a boundary of a cell; precision mode's cells begin at the center.
  template <typename Mechanism>
  double near_boundary(const Mechanism& mechanism, std::uint64_t word) {
    const long double u = std::ldexp(static_cast<long double>(word >> 1) + 0.5L, -digits_of_a_word);
    const long double noise =
        ((word & 1) != 0 ? -1 : 1) * static_cast<long double>(mechanism.scale()) * std::log(u);
    const long double grid = std::ldexp(1.0L, static_cast<int>(mechanism.grid().exponent()));
    const auto cell = static_cast<long double>(engine_() % 2001) - 1000;
    long double center = 0;
    if constexpr (std::is_same_v<Mechanism, PrecisionSnapping>)
      center = mechanism.center().to_double_nearest();
    auto value = static_cast<double>(center + (cell + 0.5L) * grid - noise);
    for (std::uint64_t steps = engine_() % 4; steps > 0; --steps) {
      constexpr double infinity = std::numeric_limits<double>::infinity();
      value = std::nextafter(value, one_in(2) ? infinity : -infinity);
    }
    return value;
  }

  void set_bounds(double value, double scale, MechanismOptions& options) {
    const std::uint64_t kind = engine_() % 4;
    if (kind % 2 == 1) options.lower = value - scale * real(-3, 5) * (one_in(8) ? -1 : 1);
    if (kind >= 2) options.upper = value + scale * real(-3, 5) * (one_in(8) ? -1 : 1);
  }

  // The same sample from the batch, with one kernel or another.
  template <typename Mechanism>
  Dyadic of_batch(const Mechanism& mechanism, double value, RecordedTape& tape) {
    static constexpr InstructionSet kernels[] = {InstructionSet::portable, InstructionSet::avx2,
                                                 InstructionSet::avx512};
    const InstructionSet kernel = kernels[engine_() % 3];
    tape.rewind();
    double output = 0;
    mechanism.replay(std::vector<double>{value}, {&output, 1}, tape,
                     {.kernel = is_supported(kernel) ? kernel : InstructionSet::portable});
    return output;
  }

  std::string row(const Snapping& mechanism, const MechanismOptions& options, double value,
                  const std::vector<std::uint64_t>& words) {
    RecordedTape tape(words);
    Dyadic output = mechanism.replay(Dyadic(value), tape);
    const std::size_t consumed = tape.consumed();
    if (one_in(2) && Dyadic(output.to_double_nearest()) == output) output = of_batch(mechanism, value, tape);
    const std::string grid = options.grid.is_notes() ? "" : std::to_string(mechanism.grid().exponent());
    return parameters(options, value) + grid + sample(words, consumed, output);
  }

  template <typename Options>
  static std::string parameters(const Options& options, double value) {
    const auto bound = [](const std::optional<double>& x) {
      return x ? to_string(Rational(*x)) : std::string();
    };
    return to_string(options.epsilon) + "," + to_string(options.sensitivity.rational()) + "," +
           bound(options.lower) + "," + bound(options.upper) + "," + to_string(Rational(value)) + ",";
  }

  // The sign, the digits of U that the sample took, and the output.
  static std::string sample(const std::vector<std::uint64_t>& words, std::size_t consumed,
                            const Dyadic& output) {
    Integer digits(static_cast<unsigned long>(words.front() >> 1));
    for (std::size_t i = 1; i < consumed; ++i) digits = (digits << 64) + static_cast<unsigned long>(words[i]);
    return std::string((words.front() & 1) != 0 ? ",-1," : ",1,") + digits.get_str() + "," +
           std::to_string(digits_of_a_word + 64 * (consumed - 1)) + "," + to_string(output.rational());
  }

  std::mt19937_64 engine_;
};

int dump(bool precision, std::size_t count, std::uint64_t seed) {
  Rows rows(seed);
  std::cout << (precision ? Rows::precision_columns : Rows::exact_columns) << "\n";
  while (count > 0) {
    if (const std::optional<std::string> row = precision ? rows.next_precision() : rows.next_exact()) {
      std::cout << *row << "\n";
      --count;
    }
  }
  return 0;
}

}  // namespace
}  // namespace snapdp

int main(int argc, char** argv) {
  const std::string mode = argc == 4 ? argv[1] : "";
  if (mode != "exact" && mode != "precision") {
    std::cerr << "usage: snapdp_dump_rows exact|precision COUNT SEED\n";
    return 2;
  }
  return snapdp::dump(mode == "precision", std::strtoull(argv[2], nullptr, 10),
                      std::strtoull(argv[3], nullptr, 10));
}
