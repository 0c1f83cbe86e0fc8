// The snapping mechanism, exact mode: Laplace noise on an exact statistic, rounded to a fixed grid.
//
//   Snapping mechanism({.epsilon = Rational(1, 4), .sensitivity = Dyadic(1), .lower = 0, .upper = 100});
//   Dyadic noisy = mechanism.release(value, thread_generator());
//
//     out = clamp(grid * floor((clamp(value) + S * scale * ln U) / grid + 1/2))
//
// S is a fair sign and U a real uniform on (0, 1): a string of random bits that is extended until the integer
// floor(.) is decided, so the output is a data-independent function of the true Laplace mechanism and its
// privacy loss is at most sensitivity / scale <= epsilon, whatever the grid. Outputs are multiples of the
// grid or a bound.
//
// What must hold for that promise: two neighbouring values differ by at most `sensitivity`, exactly; and the
// bounds are public. A range that depends on a private number of rows must not be used as bounds.
//
// Side channels: the fast path has no branch and no memory address that depends on the value or the noise. A
// sample leaves it, for an evaluation in multiple precision, with probability below 2^-15 when scale / grid
// is between 2^-36 and 2^28; the notes' grid and the automatic one of a real statistic always are. The
// big-integer arithmetic around a Dyadic value takes a time that depends on its width in machine words.
//
// Bits: a sample takes one word from the generator. Bit 0 is the sign: 0 for S = +1, 1 for S = -1. Bits 63
// (first) to 1 (last) are the first 63 binary digits of U after the point. A sample that these do not decide
// takes further words, each the next 64 digits, bit 63 first. A batch goes chunk by chunk of `chunk` values:
// first the one word of each value in order, drawn in one block; then, for each undecided sample in order,
// its further words one at a time. The same words give the same outputs, and the same number of words is
// taken, on every instruction set.
//
// Threads: a Snapping is immutable and may be shared; a generator may not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "snapdp/mechanism/noise.h"
#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/grid.h"
#include "snapdp/numeric/instruction_set.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/random/system_generator.h"
#include "snapdp/random/word_source.h"

namespace snapdp {

// How a replay computes; the result is the same for every choice.
struct ReplayOptions {
  InstructionSet kernel = best_instruction_set();
  bool slow_only = false;  // every sample takes the multiple-precision path
};

namespace detail {

// Constants of the fast path; see src/mechanism/snap_kernel.h.
struct SnapConstants {
  double ratio = 0;         // scale / grid
  double grid = 0;          // spacing
  double inverse_grid = 0;  // 1 / spacing
  double limit = 0;         // farthest accepted distance from an integer; not positive: nothing is accepted
  double lower = 0;         // -infinity when absent
  double upper = 0;         // +infinity when absent
  bool narrow = false;      // both bounds are within 2^50 grid steps of zero
  bool normal = false;      // the noise is Gaussian
  // Precision mode, narrow only: center + center_rest is c / grid less the nearest integer, exactly.
  double center = 0;
  double center_rest = 0;
};

}  // namespace detail

class Snapping {
 public:
  // Throws invalid_argument naming the offending option. Rules beyond those of MechanismOptions: the scale
  // sensitivity / epsilon and the grid are normal doubles; |bound| / grid <= 2^53, so that outputs are
  // doubles; integer outputs have a grid >= 1 and integral bounds. `precision` is not about this mechanism.
  explicit Snapping(const MechanismOptions& options);

  const Noise& noise() const noexcept { return noise_; }
  const Rational& epsilon() const noexcept { return epsilon_; }
  const Dyadic& sensitivity() const noexcept { return noise_.sensitivity; }
  // The scale of the Laplace noise: sensitivity / epsilon, rounded up to a double.
  double scale() const noexcept { return noise_.scale.up(); }
  Grid grid() const noexcept { return noise_.grid; }
  const std::optional<double>& lower() const noexcept { return noise_.lower; }
  const std::optional<double>& upper() const noexcept { return noise_.upper; }
  bool integer() const noexcept { return integer_; }
  // Upper bound on the privacy loss between values at most sensitivity() apart: sensitivity / scale, exactly;
  // at most epsilon().
  Rational loss_bound() const { return loss_bound(sensitivity().rational()); }
  // The same between values at most `distance` apart. Throws invalid_argument naming "distance" when it is
  // negative.
  Rational loss_bound(const Rational& distance) const;

  // A noisy value, exact: never wraps and never rounds beyond the grid. Throws io when the generator fails.
  Dyadic release(const Dyadic& value, SystemGenerator& generator) const;

  // out[i] = the double nearest to a release of values[i]; the two must have one length and must not overlap,
  // or invalid_argument is thrown before any bit is drawn. Throws, leaving zeros in `out`: invalid_argument
  // when a value is NaN or infinite or an output is beyond the largest double (never between bounds); io when
  // the generator fails.
  void release(std::span<const double> values, std::span<double> out, SystemGenerator& generator) const;

  // The same functions on recorded words, for auditors and tests.
  Dyadic replay(const Dyadic& value, WordSource& words, const ReplayOptions& options = {}) const;
  // Returns how many samples took the multiple-precision path.
  std::size_t replay(std::span<const double> values, std::span<double> out, WordSource& words,
                     const ReplayOptions& options = {}) const;

  static constexpr std::size_t chunk = 4096;

 private:
  Rational epsilon_;
  Noise noise_;
  bool integer_ = false;
  std::optional<Dyadic> exact_lower_;
  std::optional<Dyadic> exact_upper_;
  detail::SnapConstants constants_;
};

}  // namespace snapdp
