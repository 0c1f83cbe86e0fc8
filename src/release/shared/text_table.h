// Tables for terminals. Nothing in a cell or a header may steer one: what would is shown as "?" (text.h).
#pragma once

#include <string>
#include <vector>

#include "snapdp/text.h"

namespace snapdp::release_internal {

// Columns as wide as their widest cell, two spaces apart, the first aligned to the left and the others as
// told.
class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string header;
    Align align;
  };

  explicit TextTable(std::vector<Column> columns);
  // Missing cells are blank. Throws invalid_argument for more cells than columns.
  void add(std::vector<std::string> cells);
  // With a line break after each row. Columns without any cell are left out.
  std::string to_string(const TableStyle& style = {}) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace snapdp::release_internal
