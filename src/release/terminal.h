// What tables of reports and of plans have in common on a terminal: marks, widths and lines. Text is UTF-8, and a column is a
// code point, which is right for the scripts that need one cell a letter.
#pragma once

#include <cstddef>
#include <string>

#include "snapdp/release/plan.h"

namespace snapdp::release_internal {

// The characters that bars are made of.
struct MarkSet {
  const char* solid;
  const char* interval;
  const char* tick;
  const char* nothing;
  const char* line;
  const char* left_end;
  const char* right_end;
  const char* no_left_end;
  const char* no_right_end;
  const char* spent;
  const char* left;
  const char* beware;
};
const MarkSet& marks_of(TerminalStyle::Marks marks);

std::size_t width_of(const std::string& text);
std::string repeated(const char* mark, std::size_t count);
std::string padded(const std::string& text, std::size_t width, bool right);
std::string without_blanks_at_the_end(std::string line);
// Words broken into lines of `width` columns, all but the first indented; the last line ends too.
std::string wrapped(const std::string& text, std::size_t width, const std::string& indent);

enum class Paint { bold = 1, dim = 2, yellow = 33, blue = 34, cyan = 36 };
// By ANSI escapes, where the style has color.
std::string painted(const std::string& text, Paint paint, const TerminalStyle& style);

// A bar of a budget in `room` columns: `parts` are amounts with their marks, one after the other.
struct BudgetPart {
  Rational amount;
  const char* mark;
  Paint paint;
};
std::string budget_bar(const Rational& budget, const std::vector<BudgetPart>& parts, std::size_t room,
                       const TerminalStyle& style);

}  // namespace snapdp::release_internal
