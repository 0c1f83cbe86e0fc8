// Numbers that a reference table gives as 30 significant digits, correctly rounded.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "mechanism/csv_rows.h"
#include "snapdp/mechanism/probability.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

// Half a unit of the last of the 30 digits of "d.ddd...e-05"; 0 for "0" and "1", which are exact.
inline Rational half_a_unit(const std::string& digits) {
  if (digits == "0" || digits == "1") return 0;
  EXPECT_EQ(digits.find('e'), 31) << digits;
  return parse_rational("5e" + std::to_string(std::stol(digits.substr(32)) - 30), "unit");
}

// Whether both ends round to those digits.
inline bool rounds_to(const ProbabilityBounds& bounds, const std::string& digits) {
  const Rational value = parse_rational(digits, "digits");
  const Rational half = half_a_unit(digits);
  return bounds.low <= bounds.high && bounds.low >= value - half && bounds.high <= value + half;
}

}  // namespace snapdp
