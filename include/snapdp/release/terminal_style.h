// How plans and reports look on a terminal.
#pragma once

#include <cstddef>

namespace snapdp {

// Without marks, for files and pipes, every row reads the same: bars are an addition.
struct TerminalStyle {
  enum class Marks { none, ascii, utf8 };  // bars

  bool color = false;  // by ANSI escapes; no color says anything that words do not
  Marks marks = Marks::none;
  bool all_digits = false;  // of values and intervals, not only those that the noise allows
  std::size_t width = 80;   // in columns; bars fill what is left, and go first
};

}  // namespace snapdp
