// The two-sided geometric mechanism: integer noise on an exact integer statistic.
//
//   Geometric mechanism({.epsilon = Rational(1), .sensitivity = Dyadic(1), .lower = 0});
//   Dyadic noisy = mechanism.release(count, thread_generator());
//
//     out = clamp(clamp(value) + K),  P(K = k) = (1 - q) / (1 + q) q^|k|,  q = e^(-1 / scale)
//
// Against Laplace noise rounded to integers it puts more mass on the exact value (.462 against .393 at
// epsilon 1) for the same loss. The noise is the difference of two independent floor(scale |ln U|), U real
// uniforms on (0, 1): strings of random bits that are extended until the integers are decided, so the law is
// exactly the one above.
//
// What must hold for the promise: values are integers, two neighboring values differ by at most
// `sensitivity`, and the bounds are public.
//
// Side channels: the fast path has no branch and no memory address that depends on the value or the noise. A
// sample leaves it, for an evaluation in multiple precision, with probability below 2^-16 when scale is below
// 2^26.
//
// Bits: a sample takes two words from the generator. Bits 63 (first) to 1 (last) of each are the first 63
// binary digits after the point of one U; bit 0 is not used. The first word is for the part that is added,
// the second for the part that is subtracted. An undecided U takes further words, each the next 64 digits,
// bit 63 first. A batch goes chunk by chunk of `chunk` values, each drawn in one block: the first word of
// each value in order, then the second word of each; then, for each undecided sample in order, further words
// one at a time, for its first U and then for its second. The same words give the same outputs, and the same
// number of words is taken, on every instruction set.
//
// Threads: a Geometric is immutable and may be shared; a generator may not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "snapdp/mechanism/snapping.h"
#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/grid.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/random/system_generator.h"
#include "snapdp/random/word_source.h"

namespace snapdp {

class Geometric {
 public:
  // Throws invalid_argument naming the offending option. Rules beyond those of MechanismOptions: the
  // sensitivity is an integer, and so are the bounds, up to 2^53 in magnitude; the scale is a normal double.
  // `grid`, `integer` and `precision` are not about this mechanism.
  explicit Geometric(const MechanismOptions& options);

  const Noise& noise() const noexcept { return noise_; }
  const Rational& epsilon() const noexcept { return epsilon_; }
  const Dyadic& sensitivity() const noexcept { return noise_.sensitivity; }
  // sensitivity / epsilon, rounded up to a double.
  double scale() const noexcept { return noise_.scale.up(); }
  Grid grid() const noexcept { return noise_.grid; }
  const std::optional<double>& lower() const noexcept { return noise_.lower; }
  const std::optional<double>& upper() const noexcept { return noise_.upper; }
  bool integer() const noexcept { return true; }
  // Upper bound on the privacy loss between values at most sensitivity() apart: sensitivity / scale, exactly;
  // at most epsilon().
  Rational loss_bound() const { return loss_bound(sensitivity().rational()); }
  // The same between values at most `distance` apart. Throws invalid_argument naming "distance" when it is
  // negative.
  Rational loss_bound(const Rational& distance) const;

  // A noisy integer, exact: never wraps. Throws invalid_argument when the value is no integer, io when the
  // generator fails.
  Dyadic release(const Dyadic& value, SystemGenerator& generator) const;

  // out[i] = the double nearest to a release of values[i]; the two must have one length and must not overlap,
  // or invalid_argument is thrown before any bit is drawn. Throws, leaving zeros in `out`: invalid_argument
  // when a value is no integer or an output is beyond the largest double; io when the generator fails.
  void release(std::span<const double> values, std::span<double> out, SystemGenerator& generator) const;

  // The same functions on recorded words, for auditors and tests.
  Dyadic replay(const Dyadic& value, WordSource& words, const ReplayOptions& options = {}) const;
  // Returns how many samples took the multiple-precision path.
  std::size_t replay(std::span<const double> values, std::span<double> out, WordSource& words,
                     const ReplayOptions& options = {}) const;

  static constexpr std::size_t chunk = 2048;

 private:
  Dyadic clamp(const Dyadic& value) const;
  Integer noise_slowly(std::uint64_t first, std::uint64_t second, WordSource& words) const;

  Rational epsilon_;
  Noise noise_;
  detail::SnapConstants constants_;
};

}  // namespace snapdp
