// A probability that no number of digits writes down: enclosed.
#pragma once

#include "snapdp/numeric/rational.h"

namespace snapdp {

// 0 <= low <= the probability <= high <= 1; low = high when it is a rational number and known to be.
struct ProbabilityBounds {
  Rational low;
  Rational high;

  static ProbabilityBounds exactly(const Rational& value) { return {value, value}; }
};

}  // namespace snapdp
