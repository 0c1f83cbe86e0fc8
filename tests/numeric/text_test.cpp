#include "snapdp/text.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "snapdp/error.h"

namespace snapdp {
namespace {

// UTF-8 by the definition of its four lengths, for code points that have one.
std::string utf8(char32_t point) {
  const auto byte = [](char32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xc0 | point >> 6), byte(0x80 | (point & 0x3f))};
  if (point < 0x10000)
    return {byte(0xe0 | point >> 12), byte(0x80 | (point >> 6 & 0x3f)), byte(0x80 | (point & 0x3f))};
  return {byte(0xf0 | point >> 18), byte(0x80 | (point >> 12 & 0x3f)), byte(0x80 | (point >> 6 & 0x3f)),
          byte(0x80 | (point & 0x3f))};
}

// Unicode 15: category Cc, Zl, Zp and the property Bidi_Control.
bool must_hide(char32_t point) {
  static const std::vector<char32_t> others = {0x61c,  0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b,
                                               0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069};
  return point < 0x20 || (point >= 0x7f && point < 0xa0) ||
         std::find(others.begin(), others.end(), point) != others.end();
}

TEST(Text, EveryCodePointIsShownOrHidden) {
  for (char32_t point = 0; point <= 0x10ffff; ++point) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const std::string bytes = utf8(point);
    char32_t decoded = 0;
    ASSERT_EQ(decode_utf8(bytes, decoded), bytes.size())
        << "U+" << std::hex << static_cast<std::uint32_t>(point);
    ASSERT_TRUE(decoded == point);
    ASSERT_EQ(is_displayable(point), !must_hide(point))
        << "U+" << std::hex << static_cast<std::uint32_t>(point);
    const std::string text = "a" + bytes + "b";
    ASSERT_EQ(shown_text(text), must_hide(point) ? "a?b" : text)
        << "U+" << std::hex << static_cast<std::uint32_t>(point);
    ASSERT_EQ(shown_lines(text), must_hide(point) && point != '\n' ? "a?b" : text)
        << "U+" << std::hex << static_cast<std::uint32_t>(point);
    ASSERT_EQ(Error(ErrorCode::io, "x", text).what(), shown_lines(text));
  }
}

TEST(Text, BytesThatAreNoUtf8AreHidden) {
  for (int byte = 0x80; byte < 0x100; ++byte) {
    const std::string alone = {'a', static_cast<char>(byte), 'b'};
    EXPECT_EQ(shown_text(alone), "a?b");
  }
  EXPECT_EQ(shown_text("\xc0\xaf"), "??");                // an overlong slash
  EXPECT_EQ(shown_text("\xed\xa0\x80"), "???");           // a surrogate
  EXPECT_EQ(shown_text("\xf4\x90\x80\x80"), "????");      // beyond U+10FFFF
  EXPECT_EQ(shown_text("\xe2\x82"), "??");                // cut off
  EXPECT_EQ(shown_text("\xe2\x82\xac"), "\xe2\x82\xac");  // the euro sign
  EXPECT_EQ(shown_text(""), "");
  // Every two bytes: what comes out is well-formed and hidden nowhere.
  for (int first = 0; first < 0x100; ++first) {
    for (int second = 0; second < 0x100; ++second) {
      const std::string shown = shown_text(std::string{static_cast<char>(first), static_cast<char>(second)});
      EXPECT_EQ(shown_text(shown), shown);
    }
  }
}

TEST(Text, QuotesAreSafeToPrintAndCutBetweenCharacters) {
  EXPECT_EQ(quoted_text("a\x1b\n"), "\"a??\"");
  EXPECT_EQ(quoted_text(std::string(59, 'a') + "\xc3\xa4\xc3\xa4"), "\"" + std::string(59, 'a') + "...\"");
  EXPECT_EQ(quoted_text("abc", 3), "\"abc\"");
  EXPECT_EQ(quoted_text("abcd", 3), "\"abc...\"");
  EXPECT_EQ(quoted_path(std::string(200, 'a') + "\x9b"), "\"" + std::string(200, 'a') + "?\"");
}

// What bash makes of the word, or nothing without a bash.
std::string read_by_bash(const std::string& word) {
  const std::string command = "printf %s " + word;
  int ends[2];
  if (::pipe(ends) != 0) return "";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    ::execlp("bash", "bash", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t count = 0; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

TEST(TextFork, ShellsReadWordsBack) {
  EXPECT_EQ(shell_word("people.ledger"), "people.ledger");
  EXPECT_EQ(shell_word("/a/b-c_d.e"), "/a/b-c_d.e");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("x; rm -rf ~"), "'x; rm -rf ~'");
  EXPECT_EQ(shell_word("a\x1b[2J"), "$'a\\x1b[2J'");
  for (const std::string word :
       {"a", "", "a b", "it's", "x; rm *", "$HOME", "`id`", "\\", "a\nb", "\x1b[2J'\\", "\xc2\x9b",
        "\xe2\x80\xae", "\x9b", "~", "-x", "#", "!", "\xc3\xa4\x01\xc3\xa4"}) {
    EXPECT_EQ(shown_text(shell_word(word)), shell_word(word));
    EXPECT_EQ(read_by_bash(shell_word(word)), word);
  }
}

TEST(Text, JsonIsTheSameDocumentWithEscapes) {
  EXPECT_EQ(escape_json("{\n  \"a\": \"b\"\n}"), "{\n  \"a\": \"b\"\n}");
  EXPECT_EQ(escape_json("\"\x7f\xc2\x9b\xe2\x80\xae\xc3\xa4\""), "\"\\u007f\\u009b\\u202e\xc3\xa4\"");
  EXPECT_EQ(escape_json("{\r\n\t\"a\": 1}"), "{ \n \"a\": 1}");
  EXPECT_EQ(escape_json("\"\x9b\""), "\"\\ufffd\"");
}

}  // namespace
}  // namespace snapdp
