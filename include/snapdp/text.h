// Foreign text in messages, tables and JSON: arguments, paths and names out of files, which may hold
// anything. What a terminal would obey is never passed on to it.
//
//   quoted_text("a\x1b[2Jb");       // "a?[2Jb" in double quotes
//   shell_word("it's mine.db");     // 'it'\''s mine.db'
//   escape_json("{\"a\": \"\u009b\"}");  // the same document, with \u009b written out
//
// Hidden are: control characters (C0, DEL and C1, as bytes and as U+0080 to U+009F), the controls of writing
// direction (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), which show a text in another order
// than it has, the separators of lines and paragraphs (U+2028, U+2029), and bytes that are no UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace snapdp {

// The code point at the front of `text`, which is not empty, in `point`; returns the number of its bytes, or
// 0 when no well-formed UTF-8 sequence (Table 3-7 of the Unicode Standard) stands there.
std::size_t decode_utf8(std::string_view text, char32_t& point);

// Whether a terminal may show the code point as it is.
bool is_displayable(char32_t point);

// The text on one line, with "?" for each character that is not to be shown.
std::string shown_text(std::string_view text);
// The same, but lines may end. Every message of an Error is such a text.
std::string shown_lines(std::string_view text);

// shown_text() between double quotes, cut to `longest` bytes and "...".
std::string quoted_text(std::string_view text, std::size_t longest = 60);
// The same in full: a path that is cut would be another one.
std::string quoted_path(std::string_view path);

// `text` as one word of a shell's command line, for commands that a message proposes: bare where that is
// safe, else between single quotes; what may not be shown is written as escapes in bash's $'...'.
std::string shell_word(std::string_view text);

// A JSON document, with every character that shown_lines() would hide inside its strings written as \uXXXX:
// the same document. `json` is UTF-8, as nlohmann's dump() writes it.
std::string escape_json(std::string_view json);

// How tables and messages look.
struct TableStyle {
  bool color = false;  // bold headers, by ANSI escapes
};

}  // namespace snapdp
