// The rows of a comma-separated file of numbers under tests/data, without its header, as exact rationals.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "snapdp/numeric/rational.h"

namespace snapdp {

inline std::vector<std::vector<Rational>> csv_rows(const std::string& name, std::size_t columns) {
  std::ifstream file(std::string(SNAPDP_TEST_DATA) + "/" + name);
  std::string line;
  std::getline(file, line);
  std::vector<std::vector<Rational>> rows;
  while (std::getline(file, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::istringstream cells(line);
    std::vector<Rational> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(parse_rational(cell, name));
    EXPECT_EQ(row.size(), columns) << line;
    rows.push_back(row);
  }
  EXPECT_FALSE(rows.empty()) << name << " is missing or empty";
  return rows;
}

}  // namespace snapdp
