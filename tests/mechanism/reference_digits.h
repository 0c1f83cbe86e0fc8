// Numbers that a reference table gives as 30 significant digits, correctly rounded.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "snapdp/mechanism/probability.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

// The cells of a comma-separated file under tests/data as they stand, without its header.
inline std::vector<std::vector<std::string>> csv_texts(const std::string& name, std::size_t columns) {
  std::ifstream file(std::string(SNAPDP_TEST_DATA) + "/" + name);
  std::string line;
  std::getline(file, line);
  std::vector<std::vector<std::string>> rows;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    EXPECT_EQ(row.size(), columns) << line;
    rows.push_back(row);
  }
  EXPECT_FALSE(rows.empty()) << name << " is missing or empty";
  return rows;
}

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
