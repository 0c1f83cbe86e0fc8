#include "release/terminal.h"

#include <algorithm>
#include <cmath>

namespace snapdp::release_internal {

const MarkSet& marks_of(TerminalStyle::Marks marks) {
  static const MarkSet utf8 = {"█", "▒", "┃", "░", "─", "├", "┤", "←", "→", "▓", "·", "▲"};
  static const MarkSet ascii = {"#", "-", "|", ".", " ", "[", "]", "<", ">", "=", ".", "!"};
  return marks == TerminalStyle::Marks::utf8 ? utf8 : ascii;
}

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string repeated(const char* mark, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += mark;
  return text;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return right ? blanks + text : text + blanks;
}

std::string without_blanks_at_the_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string wrapped(const std::string& text, std::size_t width, const std::string& indent) {
  std::string result;
  std::string line;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.empty() && line != indent && width_of(line) + 1 + width_of(word) > width) {
      result += line + "\n";
      line = indent;
    }
    line += (line.empty() || line == indent ? "" : " ") + word;
  }
  return result + line + "\n";
}

std::string painted(const std::string& text, Paint paint, const TerminalStyle& style) {
  if (!style.color || text.empty()) return text;
  return "\x1b[" + std::to_string(static_cast<int>(paint)) + "m" + text + "\x1b[0m";
}

std::string budget_bar(const Rational& budget, const std::vector<BudgetPart>& parts, std::size_t room,
                       const TerminalStyle& style) {
  std::string bar;
  std::size_t drawn = 0;
  Rational sum = 0;
  for (const BudgetPart& part : parts) {
    sum += part.amount;
    const double end = std::min(1.0, to_double_nearest(Rational(sum / budget)));
    const std::size_t until =
        std::max(drawn, static_cast<std::size_t>(std::lround(end * static_cast<double>(room))));
    bar += painted(repeated(part.mark, until - drawn), part.paint, style);
    drawn = until;
  }
  return bar + painted(repeated(marks_of(style.marks).left, room - drawn), Paint::dim, style);
}

}  // namespace snapdp::release_internal
