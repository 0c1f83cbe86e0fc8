// What the mechanisms have in common when they work on many values: chunks, words drawn ahead, the fast path with its
// vectors, and the slow path for what that leaves undecided.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "mechanism/secret.h"
#include "mechanism/snap_kernel.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"
#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/grid.h"
#include "snapdp/random/word_source.h"

namespace snapdp::mechanism_internal::batch {

using namespace numeric_internal;

inline bool is_finite(std::span<const double> values) {
  // Adding one to the exponent field carries into the sign exactly for NaN and infinities.
  std::uint64_t carries = 0;
  for (const double value : values) {
    carries |= (std::bit_cast<std::uint64_t>(value) & 0x7ff0000000000000) + 0x0010000000000000;
  }
  return carries >> 63 == 0;
}

inline bool overlap(std::span<const double> a, std::span<double> b) {
  const std::less<const double*> before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) &&
         before(b.data(), a.data() + a.size());
}

// The kernel on any number of samples.
inline snap_kernel::Outcome run(snap_kernel::Kernel kernel, const detail::SnapConstants& constants,
                                std::span<const std::uint64_t> words, std::span<const double> values,
                                std::span<double> out) {
  constexpr std::size_t stride = snap_kernel::stride;
  const std::size_t rest = words.size() % stride;
  const std::size_t whole = words.size() - rest;
  snap_kernel::Outcome outcome = kernel(constants, words.data(), values.data(), out.data(), whole);
  if (rest == 0) return outcome;
  SecretWords<stride> last_words;
  last_words.fill(std::uint64_t{1} << 63);  // U = 1/2: the filling is decided
  std::array<double, stride> last_values = {};
  std::array<double, stride> last_out;
  std::copy_n(words.data() + whole, rest, last_words.data());
  std::copy_n(values.data() + whole, rest, last_values.data());
  const snap_kernel::Outcome last =
      kernel(constants, last_words.data(), last_values.data(), last_out.data(), stride);
  std::copy_n(last_out.data(), rest, out.data() + whole);
  outcome.undecided |= last.undecided;  // without a branch
  outcome.finite &= last.finite;
  return outcome;
}

// The same noise around a fraction of the grid: integers come out.
inline detail::SnapConstants unit_constants(const detail::SnapConstants& constants) {
  return {.ratio = constants.ratio,
          .grid = 1,
          .inverse_grid = 1,
          .limit = constants.limit,
          .lower = -1 - snap_kernel::narrow_steps,
          .upper = 1 + snap_kernel::narrow_steps,
          .narrow = true,
          .normal = constants.normal};
}

// value / spacing - index, in [-1/2, 1/2), without the digits that do not fit a double: less than 2^-54 too small in
// magnitude.
inline double fraction_of(const Dyadic& value, const Integer& index, Grid grid) {
  const long places = grid.exponent() - value.exponent();
  if (places <= 0) return 0;  // a multiple of the spacing
  const Integer rest = value.mantissa() - (index << static_cast<unsigned long>(places));
  long exponent = 0;
  const double digits = mpz_get_d_2exp(&exponent, rest.get_mpz_t());
  return std::ldexp(digits, static_cast<int>(std::max(exponent - places, -2000L)));
}

// floor(fraction + S (scale / grid) ln U + 1/2) for the S and U of `word`; nothing when undecided.
inline std::optional<long> steps(snap_kernel::Kernel kernel, const detail::SnapConstants& constants,
                                 double fraction, std::uint64_t word) {
  SecretWords<1> words;
  words[0] = word;
  double result = 0;
  const snap_kernel::Outcome outcome =
      run(kernel, unit_constants(constants), words, std::span(&fraction, 1), std::span(&result, 1));
  if (observable(outcome.undecided)) return std::nullopt;
  return static_cast<long>(result);
}

// out[i] = a sample for values[i], chunk by chunk: draws words_per_value words for each value, lets
//
//   Outcome fast(std::span<std::uint64_t> drawn, std::span<const double> in, std::span<double> result)
//
// decide what it can (NaN for the rest; Outcome as of a kernel; `drawn` are the words of the chunk) and asks
//
//   double slow(double value, std::span<const std::uint64_t> drawn, std::size_t i, WordSource& words)
//
// for the rest, the i-th of the chunk, or for all when `slow_only`. Returns how many samples were slow. Throws as Snapping::replay does;
// finite outputs are checked unless they are `bounded`.
template <std::size_t chunk, std::size_t words_per_value, typename Fast, typename Slow>
std::size_t sample(std::span<const double> values, std::span<double> out, WordSource& words, bool slow_only,
                   bool bounded, const Fast& fast, const Slow& slow) {
  if (values.size() != out.size()) {
    throw Error(ErrorCode::invalid_argument, "out", "out: must have as many elements as values; resize it");
  }
  if (overlap(values, out)) {
    throw Error(ErrorCode::invalid_argument, "out", "out: must not overlap values; use memory of its own");
  }
  std::size_t slow_samples = 0;
  const FloatEnvironment environment;
  try {
    SecretWords<chunk * words_per_value> buffer;
    for (std::size_t begin = 0; begin < values.size(); begin += chunk) {
      const std::size_t count = std::min(chunk, values.size() - begin);
      const std::span<std::uint64_t> drawn(buffer.data(), count * words_per_value);
      const std::span<const double> in = values.subspan(begin, count);
      const std::span<double> result = out.subspan(begin, count);
      words.fill(drawn);
      const snap_kernel::Outcome outcome =
          slow_only ? snap_kernel::Outcome{.undecided = true, .finite = is_finite(in)}
                    : fast(drawn, in, result);
      if (!observable(outcome.finite)) {
        throw Error(ErrorCode::invalid_argument, "values",
                    "values: must be finite numbers; impute or drop NaN and clamp infinities first");
      }
      if (observable(outcome.undecided)) {
        for (std::size_t i = 0; i < count; ++i) {
          if (!slow_only && !observable(std::isnan(result[i]))) continue;
          result[i] = slow(in[i], drawn, i, words);
          ++slow_samples;
        }
      }
      if (!bounded && !observable(is_finite(result))) {
        throw Error(ErrorCode::invalid_argument, "values",
                    "values: an output lies beyond the largest double; give bounds, or release exact values");
      }
    }
  } catch (...) {
    std::fill(out.begin(), out.end(), 0.0);
    throw;
  }
  return slow_samples;
}

}  // namespace snapdp::mechanism_internal::batch
