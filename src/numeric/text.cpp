#include "snapdp/text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace snapdp {
namespace {

constexpr std::array<std::pair<char32_t, char32_t>, 6> hidden = {{
    {0x00, 0x1f},      // C0
    {0x7f, 0x9f},      // DEL and C1
    {0x61c, 0x61c},    // Arabic letter mark
    {0x200e, 0x200f},  // left-to-right and right-to-left mark
    {0x2028, 0x202e},  // line and paragraph separator; embeddings and overrides of direction
    {0x2066, 0x2069},  // isolates
}};

// Calls `take(bytes, point)` for each character; the point of a byte that is no UTF-8 is the byte itself, `valid` false.
template <typename Take>
void for_each_character(std::string_view text, const Take& take) {
  while (!text.empty()) {
    char32_t point = 0;
    const std::size_t length = decode_utf8(text, point);
    if (length == 0) {
      take(text.substr(0, 1), static_cast<char32_t>(static_cast<unsigned char>(text[0])), false);
    } else {
      take(text.substr(0, length), point, true);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

std::string shown(std::string_view text, bool lines) {
  std::string result;
  result.reserve(text.size());
  for_each_character(text, [&](std::string_view bytes, char32_t point, bool valid) {
    if ((valid && is_displayable(point)) || (lines && point == '\n')) {
      result += bytes;
    } else {
      result += '?';
    }
  });
  return result;
}

void append_hex(std::string& text, std::string_view prefix, char32_t value, int digits) {
  constexpr int bits_of_a_digit = 4;
  text += prefix;
  for (int i = digits - 1; i >= 0; --i)
    text += "0123456789abcdef"[value >> static_cast<unsigned>(i * bits_of_a_digit) & 0xfU];
}

// Characters that no shell reads as anything but themselves, anywhere in a word.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./,:+@%").find(c) != std::string_view::npos;
}

// bash, zsh, ksh and POSIX 2024.
std::string dollar_quoted(std::string_view text) {
  std::string word = "$'";
  for_each_character(text, [&](std::string_view bytes, char32_t point, bool valid) {
    if (point == '\'' || point == '\\') {
      word += '\\';
      word += bytes;
    } else if (valid && is_displayable(point)) {
      word += bytes;
    } else {
      for (const char byte : bytes) append_hex(word, "\\x", static_cast<unsigned char>(byte), 2);
    }
  });
  return word + "'";
}

}  // namespace

std::size_t decode_utf8(std::string_view text, char32_t& point) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    point = first;
    return 1;
  }
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  point = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3fU);
  }
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return overlong || surrogate || point > 0x10ffff ? 0 : length;
}

bool is_displayable(char32_t point) {
  return std::none_of(hidden.begin(), hidden.end(),
                      [point](const auto& range) { return point >= range.first && point <= range.second; });
}

std::string shown_text(std::string_view text) {
  return shown(text, false);
}
std::string shown_lines(std::string_view text) {
  return shown(text, true);
}

std::string quoted_text(std::string_view text, std::size_t longest) {
  std::size_t length = std::min(text.size(), longest);
  // Never cut a UTF-8 sequence in two.
  while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U)
    --length;
  return "\"" + shown_text(text.substr(0, length)) + (length < text.size() ? "...\"" : "\"");
}

std::string quoted_path(std::string_view path) {
  return quoted_text(path, std::string_view::npos);
}

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  if (shown_text(text) != text) return dollar_quoted(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string escape_json(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for_each_character(json, [&](std::string_view bytes, char32_t point, bool valid) {
    if (point == '\n' || (valid && is_displayable(point))) {
      result += bytes;
    } else if (point == '\t' || point == '\r') {
      result += ' ';  // strings hold these as escapes only
    } else if (valid) {
      append_hex(result, "\\u", point, 4);  // no hidden character lies beyond U+FFFF
    } else {
      result += "\\ufffd";
    }
  });
  return result;
}

}  // namespace snapdp
