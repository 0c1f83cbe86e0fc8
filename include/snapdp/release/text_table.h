// Tables for terminals, and numbers with sensible digits to put in them.
#pragma once

#include <string>
#include <vector>

#include "snapdp/numeric/grid.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

struct TableStyle {
  bool color = false;  // bold headers, by ANSI escapes
};

// Columns as wide as their widest cell, two spaces apart, the first aligned to the left and the others as
// told.
class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string header;
    Align align;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // Missing cells are blank. Throws invalid_argument for more cells than columns.
  void add(std::vector<std::string> cells);
  // With a line break after each row. Columns without any cell are left out.
  std::string to_string(const TableStyle& style = {}) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// `value` with at most `digits` significant digits, rounded up (towards +infinity): "0.0523", "1240",
// "3.1e+25".
std::string round_up_to_digits(const Rational& value, int digits);
// A number exactly when that takes at most 12 characters, otherwise rounded up to 5 significant digits.
std::string short_number(const Rational& value);
// `value` with as many decimals as tell neighbours on the grid apart; in scientific form where that takes 30 or the value
// has more than 20 digits.
std::string at_grid_resolution(const Rational& value, const Rational& spacing);

}  // namespace snapdp
