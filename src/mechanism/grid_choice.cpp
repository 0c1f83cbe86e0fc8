#include <algorithm>
#include <charconv>

#include "mechanism/option_checks.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/noise.h"

namespace snapdp {

using mechanism_internal::option_checks::refuse;

namespace {

bool in_range(long exponent) {
  return exponent >= GridChoice::least_exponent && exponent <= GridChoice::greatest_exponent;
}

constexpr const char* range_rule = "a grid must lie between 2^-1022 and 2^1023";

}  // namespace

GridChoice::GridChoice(Grid grid) : kind_(Kind::fixed), grid_(grid) {
  if (!in_range(grid.exponent())) refuse("grid", snapdp::to_string(grid), range_rule);
}

GridChoice GridChoice::notes() {
  GridChoice choice;
  choice.kind_ = Kind::notes;
  return choice;
}

GridChoice GridChoice::parse(std::string_view text, std::string_view parameter) {
  if (text == "auto") return automatic();
  if (text == "notes") return notes();
  const std::string shown = quoted_text(text);
  long exponent = 0;
  const char* const end = text.data() + text.size();
  const bool power = text.starts_with("2^");
  const auto [stop, status] = std::from_chars(text.data() + (power ? 2 : 0), end, exponent);
  if (!power || stop != end || (status != std::errc() && status != std::errc::result_out_of_range)) {
    refuse(std::string(parameter), shown,
           "must be \"auto\", \"notes\" or a power of two such as \"2^-10\"" + hint(text));
  }
  if (status == std::errc::result_out_of_range || !in_range(exponent))
    refuse(std::string(parameter), shown, range_rule);
  return GridChoice(Grid(exponent));
}

std::string GridChoice::hint(std::string_view text) {
  Rational spacing;
  try {
    spacing = parse_rational(text, "grid");
  } catch (const Error&) {
    return "";
  }
  if (spacing <= 0) return "";
  const long above = Grid::at_least(spacing).exponent();
  const long below = Grid::at_most(spacing).exponent();
  if (!in_range(below) || !in_range(above)) return "";
  const auto power = [](long exponent) { return "\"2^" + std::to_string(exponent) + "\""; };
  return above == below ? "; write " + power(above)
                        : "; it lies between " + power(below) + " and " + power(above);
}

long GridChoice::exponent(long octave, bool integer) const {
  switch (kind_) {
    case Kind::automatic:
      return integer ? std::max(octave - 10, 0L) : octave - 10;
    case Kind::notes:
      return octave;
    case Kind::fixed:
      break;
  }
  return grid_.exponent();
}

std::optional<Grid> GridChoice::for_octave(long octave, bool integer) const {
  const long result = exponent(octave, integer);
  if (!in_range(result) || (integer && result < 0)) return std::nullopt;
  return Grid(result);
}

Grid GridChoice::resolve(const Rational& scale, bool integer) const {
  const long exponent = this->exponent(Grid::at_least(scale).exponent(), integer);
  if (!in_range(exponent)) {
    refuse("grid", to_string(*this),
           "the grid would be 2^" + std::to_string(exponent) + "; " + range_rule +
               ": express the statistic in another unit, or choose the grid as a power of two in that range");
  }
  if (integer && exponent < 0) {
    refuse("grid", to_string(*this),
           "the grid would be 2^" + std::to_string(exponent) +
               ", and the outputs of an integer statistic must be integers: use \"auto\" or \"2^0\"");
  }
  return Grid(exponent);
}

std::string to_string(const GridChoice& choice) {
  if (choice.is_automatic()) return "auto";
  if (choice.is_notes()) return "notes";
  return to_string(choice.resolve(Rational(1), false));
}

}  // namespace snapdp
