#include "engines/duckdb/csv_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "duckdb/source_testing.h"

namespace snapdp::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(std::string_view text, char delimiter = ',') {
  const ScratchFolder folder;
  return read_csv_header(folder.write("x.csv", text), delimiter).names;
}

TEST(CsvHeader, SplitsTheFirstLineAndKeepsNamesToTheLetter) {
  EXPECT_THAT(names("a,B, c ,d"), ElementsAre("a", "B", " c ", "d"));
  EXPECT_THAT(names("a;\"x;y\";\"say \"\"hi\"\"\"\n1;2;3\n", ';'), ElementsAre("a", "x;y", "say \"hi\""));
  EXPECT_THAT(names("\"a\""), ElementsAre("a"));
  EXPECT_THAT(names("\"\"\"\",b"), ElementsAre("\"", "b"));
  EXPECT_THAT(names("a\tb\n", '\t'), ElementsAre("a", "b"));
  EXPECT_THAT(names("\xef\xbb\xbfna\xc3\xafve,\xe2\x82\xac,\xf0\x9f\x98\x80\r\n"),
              ElementsAre("na\xc3\xafve", "\xe2\x82\xac", "\xf0\x9f\x98\x80"));
  EXPECT_THAT(names("id,ID,Id\n"), ElementsAre("id", "ID", "Id"));
}

TEST(CsvHeader, TellsTheLineEndAndWhereRowsBegin) {
  const ScratchFolder folder;
  const auto check = [&](std::string_view text, LineEnd line_end, std::uint64_t size) {
    const CsvHeader header = read_csv_header(folder.write("x.csv", text), ',');
    EXPECT_EQ(header.line_end, line_end) << text;
    EXPECT_EQ(header.size, size) << text;
  };
  check("a,b\n1,2\r\n", LineEnd::lf, 4);
  check("a,b\r\n1,2\n", LineEnd::cr_lf, 5);
  check("a,b\r1,2\n", LineEnd::cr, 4);
  check("a,b\r", LineEnd::cr, 4);
  check(
      "\xef\xbb\xbf"
      "a,b",
      LineEnd::lf, 6);
}

TEST(CsvHeader, RefusesWhatIsNone) {
  const auto check = [](std::string_view text, const char* problem) {
    const Error error = error_of([&] { names(text); });
    EXPECT_EQ(error.code(), ErrorCode::bad_data) << text;
    EXPECT_EQ(error.parameter(), "header") << text;
    EXPECT_THAT(error.what(), HasSubstr(problem)) << text;
  };
  check("", "empty");
  check("\n1,2\n", "column 1 of 1 has no name");
  check("a,,c\n", "column 2 of 3 has no name");
  check("a,b,\n", "column 3 of 3 has no name");
  check("a,\"\"\n", "column 2 of 2 has no name");
  check("\xef\xbb\xbf\n", "has no name");
  check("a,b,a\n", "two columns are named \"a\"");
  check("a,\"a\"\n", "two columns are named \"a\"");
  check("a,b\"c\n", "a quote inside a name");
  check("a, \"b\"\n", "a quote inside a name");
  check("\"a\nb\",c\n", "stays open");
  check("\"a", "stays open");
  check("\"a\"b,c\n", "text follows a closing quote");
  check("a\xff\xfe,b\n", "not UTF-8");
  check("\xff\xfe\x61\n", "not UTF-8");
  check(std::string_view("a\0,b\n", 5), "not UTF-8");
  check("\xc0\xaf\n", "not UTF-8");          // overlong
  check("\xed\xa0\x80\n", "not UTF-8");      // a surrogate
  check("\xf4\x90\x80\x80\n", "not UTF-8");  // beyond U+10FFFF
  check("ab\xe2\x82", "not UTF-8");          // cut short
  check(std::string(max_line_bytes + 1, 'a'), "longer than");
}

TEST(CsvHeader, MayBeAsLongAsALine) {
  EXPECT_EQ(names(std::string(max_line_bytes, 'a') + "\r\n").at(0).size(), max_line_bytes);
}

TEST(CsvDelimiter, IsATabOrAPunctuationMarkThatNumbersDoNotUse) {
  for (const char good : std::string(",;|\t:!#$%&()*/<=>?@[\\]^`{}~'"))
    EXPECT_NO_THROW(check_csv_delimiter(good)) << good;
  for (const char bad : std::string("\"\n\r .+-_09azAZ\x7f\x80\xff") + '\0') {
    EXPECT_EQ(error_of([&] { check_csv_delimiter(bad); }).code(), ErrorCode::invalid_argument) << bad;
  }
}

// Rows of text below a header, by the letter of RFC 4180 and one character at a time; nullopt when malformed. As in
// DuckDB spaces around quotes do not matter.
std::optional<std::uint64_t> slow_count(std::string_view text, std::string_view line_end, bool one_column) {
  std::uint64_t rows = 0;
  std::size_t i = 0;
  const auto at = [&](std::string_view what) { return text.substr(i, what.size()) == what; };
  while (i < text.size()) {
    const std::size_t line = i;
    while (true) {
      std::size_t cell = i;
      while (cell < text.size() && text[cell] == ' ') ++cell;
      if (cell < text.size() && text[cell] == '"') {
        for (i = cell + 1; true; ++i) {
          if (i >= text.size()) return std::nullopt;
          if (text[i] != '"') continue;
          if (i + 1 < text.size() && text[i + 1] == '"') {
            ++i;
          } else {
            break;
          }
        }
        ++i;
        while (i < text.size() && text[i] == ' ') ++i;
        if (i < text.size() && text[i] != ',' && !at(line_end)) return std::nullopt;
      } else {
        while (i < text.size() && text[i] != ',' && !at(line_end)) {
          if (text[i] == '\r' || text[i] == '\n') return std::nullopt;
          ++i;
        }
      }
      if (i >= text.size() || text[i] != ',') break;
      ++i;
    }
    if (i > line || one_column) ++rows;
    i += line_end.size();
  }
  return rows;
}

TEST(CsvCounter, AgreesWithASlowReaderOnEveryShortText) {
  // All texts of up to 6 of these, cut in two somewhere.
  constexpr std::string_view alphabet = "1,\" \r\n";
  std::size_t counted = 0;
  std::size_t refused = 0;
  for (const auto& [line_end, text_end] :
       {std::pair{LineEnd::lf, "\n"}, {LineEnd::cr, "\r"}, {LineEnd::cr_lf, "\r\n"}}) {
    for (std::size_t length = 0; length <= 6; ++length) {
      std::size_t texts = 1;
      for (std::size_t k = 0; k < length; ++k) texts *= alphabet.size();
      for (std::size_t number = 0; number < texts; ++number) {
        std::string text;
        for (std::size_t rest = number, k = 0; k < length; ++k, rest /= alphabet.size())
          text += alphabet[rest % alphabet.size()];
        const std::size_t columns = number % 2 + 1;
        const std::optional<std::uint64_t> expected = slow_count(text, text_end, columns == 1);
        const std::size_t cut = length == 0 ? 0 : number % length;
        CsvCounter counter(line_end, ',', columns);
        counter.add(std::string_view(text).substr(0, cut));
        counter.add(std::string_view(text).substr(cut));
        try {
          const CsvShape shape = counter.finish();
          ASSERT_TRUE(expected) << testing::PrintToString(text);
          ASSERT_EQ(shape.rows, *expected) << testing::PrintToString(text) << " cut at " << cut;
          ASSERT_EQ(shape.quotes, text.find('"') != std::string::npos);
          ++counted;
        } catch (const Error& error) {
          ASSERT_EQ(error.code(), ErrorCode::bad_data);
          ASSERT_FALSE(expected) << testing::PrintToString(text) << " for "
                                 << testing::PrintToString(text_end);
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(counted, 10'000U);
  EXPECT_GT(refused, 10'000U);
}

TEST(CsvCounter, ReadsFilesLongerThanItsBuffer) {
  const ScratchFolder folder;
  std::string text = "a,b\r\n";
  for (int i = 0; i < 50'000; ++i) text += "\"x,\r\n\"\"y\"," + std::to_string(i) + "\r\n";
  const std::string path = folder.write("x.csv", text);
  const CsvShape shape = read_csv_shape(path, read_csv_header(path, ','), ',');
  EXPECT_EQ(shape.rows, 50'000U);
  EXPECT_TRUE(shape.quotes);
}

}  // namespace
}  // namespace snapdp::engine
