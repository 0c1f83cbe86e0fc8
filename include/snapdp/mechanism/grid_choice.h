// The grid that outputs are rounded to. Every power of two is equally private in exact mode: a finer grid is
// nearer to the Laplace mechanism, a coarser one publishes fewer digits.
//
//   GridChoice::automatic()     nearly Laplace accuracy: 1/1024 of the smallest power of two >= scale, and at
//                               least 1 for integer statistics
//   GridChoice::notes()         the smallest power of two >= scale, as in the notes on the snapping mechanism
//   GridChoice(Grid(-10))       2^-10
//   GridChoice::parse("2^-10")  any of "auto", "notes", "2^k"
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "snapdp/numeric/grid.h"

namespace snapdp {

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

  // For a text that parse() refuses: how the number it holds is written as a power of two, "; write "2^10"" for "1024",
  // and between which powers it lies otherwise; "" when it is no number.
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

}  // namespace snapdp
