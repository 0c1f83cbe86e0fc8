#include "release/shared/text_table.h"

#include <algorithm>
#include <utility>

#include "snapdp/error.h"
#include "snapdp/text.h"

namespace snapdp::release_internal {
namespace {

// Code points, which is what a terminal's columns are for the scripts that need one cell a letter.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.header = shown_text(column.header);
}

void TextTable::add(std::vector<std::string> cells) {
  if (cells.size() > columns_.size()) {
    throw Error(ErrorCode::invalid_argument, "cells", "cells: more than the table has columns");
  }
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = shown_text(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::to_string(const TableStyle& style) const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  const auto add_line = [&](const auto& cell) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (widths[i] == 0) continue;
      const std::string value = cell(i);
      const std::string padding(std::max(widths[i], width(columns_[i].header)) - width(value), ' ');
      line += "  " + (columns_[i].align == Align::left ? value + padding : padding + value);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  };
  const std::string header = add_line([&](std::size_t i) { return columns_[i].header; });
  text += (style.color ? "\x1b[1m" + header + "\x1b[0m" : header) + "\n";
  for (const auto& row : rows_) text += add_line([&](std::size_t i) { return row[i]; }) + "\n";
  return text;
}

}  // namespace snapdp::release_internal
