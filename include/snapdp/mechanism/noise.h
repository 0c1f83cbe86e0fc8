// Noise: what is asked for, and what is then added.
//
//   const Mechanism mechanism({.epsilon = Rational(1, 4), .sensitivity = 1, .lower = 0, .upper = 100});
//   const Noise& noise = mechanism.noise();
//   accuracy_of({noise, 0.05});  // accuracy.h
//   OutputLaw(noise, 42);        // law.h; bounds.h takes it too
//   certify(noise);              // privacy/certificate.h
//
// A Noise may also be written down: worst_bias({.scale = 1, .lower = -5, .upper = 5}) needs no mechanism.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/grid.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

// The grid that outputs are rounded to. Every power of two is equally private in exact mode: a finer grid is
// nearer to the Laplace mechanism, a coarser one publishes fewer digits.
//
//   GridChoice::automatic()     nearly Laplace accuracy: 1/1024 of the smallest power of two >= scale, and at
//                               least 1 for integer statistics
//   GridChoice::notes()         the smallest power of two >= scale, as in the notes on the snapping mechanism
//   GridChoice(Grid(-10))       2^-10
//   GridChoice::parse("2^-10")  any of "auto", "notes", "2^k"
class GridChoice {
 public:
  // Exponents of explicit grids: the powers of two that are normal doubles.
  static constexpr long least_exponent = -1022;
  static constexpr long greatest_exponent = 1023;

  GridChoice() = default;  // automatic
  // Throws invalid_argument when the exponent is out of range.
  explicit GridChoice(Grid grid);
  static GridChoice automatic() { return GridChoice(); }
  static GridChoice notes();
  // "auto", "notes" or "2^k"; throws invalid_argument naming `parameter`.
  static GridChoice parse(std::string_view text, std::string_view parameter = "grid");

  // For a text that parse() refuses: how the number it holds is written as a power of two, "; write "2^10""
  // for "1024", and between which powers it lies otherwise; "" when it is no number.
  static std::string hint(std::string_view text);

  bool is_automatic() const noexcept { return kind_ == Kind::automatic; }
  bool is_notes() const noexcept { return kind_ == Kind::notes; }
  bool is_explicit() const noexcept { return kind_ == Kind::fixed; }

  // The grid for Laplace scale `scale` > 0. Throws invalid_argument when it is out of range, or finer than 1
  // for an integer statistic.
  Grid resolve(const Rational& scale, bool integer) const;
  // The same for all scales in (2^(octave-1), 2^octave]; none where resolve throws.
  std::optional<Grid> for_octave(long octave, bool integer) const;

  friend bool operator==(const GridChoice&, const GridChoice&) = default;

 private:
  enum class Kind { automatic, notes, fixed };
  long exponent(long octave, bool integer) const;
  Kind kind_ = Kind::automatic;
  Grid grid_ = Grid(0);  // of Kind::fixed
};

// Reads back with parse: "auto", "notes" or "2^k".
std::string to_string(const GridChoice& choice);

enum class NoiseKind {
  exact,  // Snapping: out = clamp(grid floor((clamp(y) + Laplace(scale)) / grid + 1/2)); the default
  notes,  // PrecisionSnapping: the same in the notes' arithmetic of p bits, about the middle of the bounds
  geometric,  // Geometric: integers clamp(clamp(y) + K), P(K = k) = (1-q)/(1+q) q^|k|, q = e^(-1/scale)
  gaussian,   // out = clamp(grid floor((clamp(y) + N(0, scale^2)) / grid + 1/2)), exactly: scale is sigma
};

// What the keys `mode` and `noise` of specifications, reports and options say of a kind: "exact" or
// "precision", and "laplace", "geometric" or "gaussian".
std::string mode_name(NoiseKind kind);
std::string noise_name(NoiseKind kind);

// What is asked for. Each mechanism says what it refuses and which options are not about it.
struct MechanismOptions {
  Rational epsilon = 0;              // requested privacy loss, > 0; not of Gaussian noise
  Dyadic sensitivity = 0;            // largest distance between neighboring values, > 0, in their unit
  std::optional<double> lower = {};  // public bounds on value and output; either may be absent, but for notes
  std::optional<double> upper = {};  // lower < upper
  GridChoice grid = {};              // spacing of the outputs, of exact noise; the others have their own grid
  bool integer = false;              // outputs must be integers; geometric noise needs integer values
  NoiseKind noise = NoiseKind::exact;  // which mechanism a Mechanism is
  // Of notes, p in bits, 8 to 4096; by default enough: PrecisionSnapping::default_precision.
  std::optional<long> precision = {};
  // Of a vector: how many of its numbers may differ between neighbors. Notes lose something in each of them.
  std::size_t coordinates = 1;
  // Of Gaussian noise alone, its standard deviation, in place of epsilon; sensitivity is then that in L2.
  std::optional<double> scale = {};
};

// The scale of noise, exactly.
class NoiseScale {
 public:
  NoiseScale(double value) : up_(value) {}  // NOLINT: written in place
  NoiseScale(Rational value);               // NOLINT

  // The least double that is not below it: that of exact and of geometric noise is one itself.
  double up() const noexcept { return up_; }
  // Throws invalid_argument when it was given as an infinity or NaN.
  Rational exact() const;

 private:
  double up_;
  std::optional<Rational> exact_;  // when it is no double
};

// What is added, in the unit of the value.
struct Noise {
  NoiseScale scale = 0.0;            // > 0; of notes a number of `precision` bits
  Dyadic sensitivity = 0;            // > 0, in L1 of several coordinates; only the loss depends on it
  Grid grid = Grid(0);               // spacing of the outputs; 1 for geometric noise
  std::optional<double> lower = {};  // bounds on value and output; notes need both
  std::optional<double> upper = {};
  NoiseKind kind = NoiseKind::exact;
  long precision = 53;          // of notes, in bits
  std::size_t coordinates = 1;  // numbers with independent noise that may differ

  // The law of the outputs for a value y is that of centered() for y - origin(), shifted by origin(). The
  // origin is 0 but for notes, whose grid is anchored at the middle of the bounds. See arithmetic_error() for
  // what that leaves out.
  Dyadic origin() const;
  Noise centered() const;
  // y - origin(), to the nearest double; and the grid that it lies on, exactly, for y on the grid `values`.
  double centered(double y) const;
  Grid centered(Grid values) const;
  // How far the noise of p-bit arithmetic may be from that of real arithmetic on the same digits, and how far
  // the last rounding to a double may move an output: both 0 but for notes.
  Rational arithmetic_error() const;
  Rational output_error() const;
};

}  // namespace snapdp
