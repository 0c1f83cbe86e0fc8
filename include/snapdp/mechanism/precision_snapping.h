// The snapping mechanism, precision mode: the mechanism of the notes in floating-point arithmetic of p bits,
// for those who must have that very mechanism (precision = 53 is Mironov's). Exact mode (snapping.h) needs no
// condition on the bounds, loses less accuracy and has a simpler proof: choose it unless you must not.
//
//   PrecisionSnapping mechanism({.epsilon = Rational(1, 4), .sensitivity = 1, .lower = 0, .upper = 100});
//   Dyadic noisy = mechanism.release(value, thread_generator());
//
//     out = c + clamp_B(grid * floor((clamp_B(value - c) (+) S (x) scale (x) LN(U*)) / grid + 1/2))
//
// c = (lower + upper) / 2 and B = (upper - lower) / 2, exactly; clamp_B clamps to [-B, B]. (+), (x) and LN
// are addition, multiplication and natural logarithm rounded to the nearest number of p bits, ties to even,
// with an unbounded exponent; value - c, the rounding to the grid and the clamps are exact; "c +" rounds
// once, to the nearest double. S is a fair sign, U* = (1.m_1 ... m_{p-1})_2 2^-e with fair bits m_i and P(e =
// i) = 2^-i, i = 1, 2, ...: a real uniform U cut off after p significant bits. With eta = 2^-p and Delta the
// sensitivity,
//
//     epsilon' = (epsilon - 2 eta) / (1 + 12 (B / Delta) eta)  rounded down to p bits
//     scale    = Delta / epsilon'                              rounded up to p bits
//     grid     = the smallest power of two >= scale
//
// Source: C. Covington, "Snapping Mechanism Notes", after I. Mironov, "On Significance of the Least
// Significant Bits for Differential Privacy" (CCS 2012), with the corrections of docs/errata.md.
//
// Of a vector, every number is released like this by itself, with Delta the L1 sensitivity of the whole. The
// roundings cost eta anew in each number that differs, so `coordinates` says how many may, and the formula
// for epsilon' then has coordinates * eta for eta. The notes speak of one number; of several only what is
// proved counts, and epsilon' is lowered further until that is at most epsilon.
//
// Privacy loss, in two versions. The notes claim Delta/scale + 12 B eta / scale + 2 eta, which is at most
// epsilon; no proof of it is complete and no violation is known. What is proved (proofs/make_snapping.md) is
// loss_bound(), which may exceed epsilon by a few B eta / scale. epsilon_is_proved() tells whether it does.
// Both need the two conditions that the constructor checks, and what every mechanism needs: neighboring
// values differ by at most the sensitivity, exactly, and the bounds are public.
//
// Side channels are those of Snapping. Besides, samples leave the fast path within (40 + B / grid) eta steps
// of a rounding boundary, so that it serves precisions from about 30 bits up. With bounds more than 2^50
// steps of the grid from zero, or a center that takes more than two doubles, a batch does what single values
// do: its big-integer arithmetic takes a time that depends on the width of a value.
//
// Bits: as for Snapping (snapping.h): bit 0 of a sample's word is the sign, bits 63 to 1 are the first digits
// of U, and a sample that these do not decide takes further words, one at a time, each the next 64 digits.
// Digits behind the p-th significant one are ignored. The same words give the same outputs, and the same
// number of words is taken, on every instruction set.
//
// Threads: a PrecisionSnapping is immutable and may be shared; a generator may not.
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

namespace detail {

// The arithmetic of one evaluation; see src/mechanism/notes/precision_slow_path.h.
struct PrecisionArithmetic {
  long precision = 0;
  Dyadic scale = 0;     // at most `precision` bits
  Grid grid = Grid(0);  // any power of two
};

}  // namespace detail

class PrecisionSnapping {
 public:
  static constexpr long least_precision = 8;
  static constexpr long greatest_precision = 4096;
  // max(118, m + 2), 2^-m the smallest power of two >= epsilon > 0.
  static long default_precision(const Rational& epsilon);

  // Throws invalid_argument naming the offending option. Rules beyond those of MechanismOptions, all of the
  // notes' analysis: epsilon > 2 eta (coordinates times that), and scale < B < 2^(p-7) scale. `grid` and
  // `integer` are not about this mechanism.
  explicit PrecisionSnapping(const MechanismOptions& options);

  const Noise& noise() const noexcept { return noise_; }
  const Rational& epsilon() const noexcept { return epsilon_; }
  const Dyadic& sensitivity() const noexcept { return noise_.sensitivity; }
  double lower() const noexcept { return *noise_.lower; }
  double upper() const noexcept { return *noise_.upper; }
  long precision() const noexcept { return arithmetic_.precision; }
  // c and B, exactly.
  const Dyadic& center() const noexcept { return center_; }
  const Dyadic& half_width() const noexcept { return half_width_; }
  // epsilon', the epsilon of the Laplace noise inside.
  const Dyadic& inner_epsilon() const noexcept { return inner_epsilon_; }
  // The scale of the noise, a number of p bits; and the least double that is not below it, for display.
  const Dyadic& exact_scale() const noexcept { return arithmetic_.scale; }
  double scale() const noexcept { return noise_.scale.up(); }
  // Outputs are c plus multiples of this, rounded to doubles, or a bound.
  Grid grid() const noexcept { return arithmetic_.grid; }
  std::size_t coordinates() const noexcept { return noise_.coordinates; }

  // Proved upper bound on the privacy loss between values at most sensitivity() apart, of which coordinates()
  // differ.
  Rational loss_bound() const { return loss_bound(sensitivity().rational()); }
  // The same between values at most `distance` apart. Throws invalid_argument naming "distance" when it is
  // negative.
  Rational loss_bound(const Rational& distance) const { return loss_bound(distance, coordinates()); }
  // The same between vectors at most `distance` apart in L1 that differ in `differing` numbers at most.
  Rational loss_bound(const Rational& distance, std::size_t differing) const;
  // The notes' claim for one number, values at most sensitivity() apart, exactly; at most epsilon().
  Rational notes_claim() const;
  // True when loss_bound() <= epsilon(): no claim is needed. Always so for more than one coordinate.
  bool epsilon_is_proved() const { return loss_bound() <= epsilon_; }

  // A noisy value, which is a double. Throws io when the generator fails.
  Dyadic release(const Dyadic& value, SystemGenerator& generator) const;

  // out[i] = a release of values[i]; the two must have one length and must not overlap, or invalid_argument
  // is thrown before any bit is drawn. Throws, leaving zeros in `out`: invalid_argument when a value is NaN
  // or infinite; io when the generator fails.
  void release(std::span<const double> values, std::span<double> out, SystemGenerator& generator) const;

  // The same functions on recorded words, for auditors and tests.
  Dyadic replay(const Dyadic& value, WordSource& words, const ReplayOptions& options = {}) const;
  // Returns how many samples took the multiple-precision path.
  std::size_t replay(std::span<const double> values, std::span<double> out, WordSource& words,
                     const ReplayOptions& options = {}) const;

  // The notes as they stand: draws every digit of U*, then evaluates once, all in multiple precision. Gives
  // what replay() gives for the same digits and is there to be compared with; it takes more words.
  Dyadic reference(const Dyadic& value, WordSource& words) const;

  static constexpr std::size_t chunk = Snapping::chunk;

 private:
  Dyadic centered(const Dyadic& value) const;
  double output(const Integer& index) const;
  std::optional<Integer> sample_quickly(const Dyadic& x, std::uint64_t word, InstructionSet kernel) const;
  void choose_arithmetic(long precision);

  Rational epsilon_;
  Noise noise_;
  Dyadic center_;
  Dyadic half_width_;
  Dyadic inner_epsilon_;
  detail::PrecisionArithmetic arithmetic_;
  Rational excess_;  // what the roundings cost in each number that differs
  detail::SnapConstants constants_;
};

}  // namespace snapdp
