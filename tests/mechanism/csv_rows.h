// The rows of a comma-separated file under tests/data, without its header.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "snapdp/numeric/rational.h"

namespace snapdp {

// As texts; a cell may be empty.
inline std::vector<std::vector<std::string>> csv_texts(const std::string& name, std::size_t columns) {
  std::ifstream file(std::string(SNAPDP_TEST_DATA) + "/" + name);
  std::string line;
  std::getline(file, line);
  std::vector<std::vector<std::string>> rows;
  while (std::getline(file, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::istringstream cells(line + ",");
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    EXPECT_EQ(row.size(), columns) << line;
    rows.push_back(row);
  }
  EXPECT_FALSE(rows.empty()) << name << " is missing or empty";
  return rows;
}

// As exact rationals.
inline std::vector<std::vector<Rational>> csv_rows(const std::string& name, std::size_t columns) {
  std::vector<std::vector<Rational>> rows;
  for (const std::vector<std::string>& cells : csv_texts(name, columns)) {
    std::vector<Rational> row;
    for (const std::string& cell : cells) row.push_back(parse_rational(cell, name));
    rows.push_back(row);
  }
  return rows;
}

}  // namespace snapdp
