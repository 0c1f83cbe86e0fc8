#include "snapdp/statistics/rounding.h"

#include "snapdp/error.h"

namespace snapdp {
namespace {

[[noreturn]] void refuse(const Rational& sensitivity, const char* rule) {
  throw Error(ErrorCode::invalid_argument, "sensitivity", "sensitivity = " + to_string(sensitivity) + rule);
}

}  // namespace

Grid statistic_grid(const Rational& sensitivity) {
  if (sensitivity <= 0) {
    refuse(sensitivity, ": must be greater than 0; a statistic that is a public constant needs no grid");
  }
  constexpr long relative_places = 40;
  return Grid(Grid::at_most(sensitivity).exponent() - relative_places);
}

Rational rounded_sensitivity(const Rational& sensitivity, Grid grid, std::size_t dimension) {
  if (sensitivity < 0) refuse(sensitivity, ": a distance is at least 0");
  if (sensitivity == 0) return 0;
  const Integer more(static_cast<unsigned long>(dimension - 1));
  return (grid.round_up(sensitivity) + grid.value(more)).rational();
}

}  // namespace snapdp
