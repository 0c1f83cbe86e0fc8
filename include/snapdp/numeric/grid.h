// Grids of spacing 2^k anchored at zero, and the one rounding rule of SnapDP: index(x) = floor(x / 2^k +
// 1/2).
//
// Ties go towards +infinity. This is not IEEE rounding and must not be: it is the only common tie rule under
// which two numbers at distance d round to grid points at distance at most d raised to the next grid
// multiple.
#pragma once

#include <string>

#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

class Grid {
 public:
  constexpr explicit Grid(long exponent) : exponent_(exponent) {}

  // The grid of the smallest power of two >= scale > 0 (powers of two stay themselves).
  static Grid at_least(const Rational& scale);
  // The grid of the largest power of two <= scale, scale > 0.
  static Grid at_most(const Rational& scale);

  constexpr long exponent() const noexcept { return exponent_; }
  Dyadic spacing() const { return Dyadic(Integer(1), exponent_); }

  // floor(x / spacing + 1/2), exactly.
  Integer index(const Dyadic& x) const;
  Integer index(const Rational& x) const;
  Dyadic value(const Integer& index) const { return Dyadic(index, exponent_); }
  // value(index(x)).
  template <typename Number>
  Dyadic round(const Number& x) const {
    return value(index(x));
  }
  // The smallest grid point >= x.
  Dyadic round_up(const Rational& x) const;

  friend constexpr bool operator==(Grid a, Grid b) { return a.exponent_ == b.exponent_; }

 private:
  long exponent_;
};

// "2^-10".
std::string to_string(Grid grid);

}  // namespace snapdp
