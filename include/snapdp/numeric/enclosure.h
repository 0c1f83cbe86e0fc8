// What is known of a real number: the two rationals that it lies between.
#pragma once

#include "snapdp/numeric/rational.h"

namespace snapdp {

// A number between lower and upper.
struct Enclosure {
  Rational lower;
  Rational upper;
};

}  // namespace snapdp
