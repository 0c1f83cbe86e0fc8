// The Gaussian mechanism, exact: normal noise on an exact statistic, rounded to a fixed grid.
//
//   Gaussian mechanism({.sensitivity = Dyadic(1), .lower = 0, .upper = 100, .scale = 4});
//   Dyadic noisy = mechanism.release(value, thread_generator());
//
//     out = clamp(grid * floor((clamp(value) + N) / grid + 1/2)),  N of the normal law N(0, scale^2)
//     N = S * scale * Phi^-1(U / 2)
//
// S is a fair sign and U a real uniform on (0, 1): a string of random bits that is extended until the integer
// floor(.) is decided. So the output is a data-independent function of the true Gaussian mechanism, and what
// is known of that holds as it stands, whatever the grid: it is rho-zCDP with rho() = sensitivity^2 / (2
// scale^2), and (epsilon, delta)-private with the least delta of privacy/gaussian.h; see
// proofs/make_gaussian.md.
// No epsilon holds at delta = 0, so options.epsilon is not about this mechanism: it takes its scale directly.
//
// What must hold for that promise: two neighbouring values differ by at most `sensitivity`, exactly, of
// vectors in L2; and the bounds are public.
//
// Side channels are those of Snapping. A sample leaves the fast path, for an evaluation in multiple
// precision, with probability below 2^-15 when scale / grid is between 2^-36 and 2^20.
//
// Bits: as for Snapping (snapping.h): bit 0 of a sample's word is the sign, bits 63 to 1 are the first digits
// of U, and a sample that these do not decide takes further words, one at a time, each the next 64 digits.
// The same words give the same outputs, and the same number of words is taken, on every instruction set.
//
// Threads: a Gaussian is immutable and may be shared; a generator may not.
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

class Gaussian {
 public:
  // Throws invalid_argument naming the offending option. Rules beyond those of MechanismOptions: there is a
  // scale, and it and the grid are normal doubles; |bound| / grid <= 2^53, so that outputs are doubles;
  // integer outputs have a grid >= 1 and integral bounds. `epsilon` and `precision` are not about this
  // mechanism.
  explicit Gaussian(const MechanismOptions& options);

  const Noise& noise() const noexcept { return noise_; }
  const Dyadic& sensitivity() const noexcept { return noise_.sensitivity; }
  // The standard deviation of the noise before it is rounded.
  double scale() const noexcept { return noise_.scale.up(); }
  Grid grid() const noexcept { return noise_.grid; }
  const std::optional<double>& lower() const noexcept { return noise_.lower; }
  const std::optional<double>& upper() const noexcept { return noise_.upper; }
  bool integer() const noexcept { return integer_; }
  // Of zero-concentrated privacy, exactly, for values at most sensitivity() apart.
  Rational rho() const { return rho(sensitivity().rational()); }
  // The same for values at most `distance` apart. Throws invalid_argument naming "distance" when it is
  // negative.
  Rational rho(const Rational& distance) const;

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

  static constexpr std::size_t chunk = Snapping::chunk;

 private:
  Noise noise_;
  bool integer_ = false;
  std::optional<Dyadic> exact_lower_;
  std::optional<Dyadic> exact_upper_;
  detail::SnapConstants constants_;
};

}  // namespace snapdp
