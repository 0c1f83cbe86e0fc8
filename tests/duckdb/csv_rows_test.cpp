// How CSV text is split into rows and cells, held against the rules of csv_rows.h read by the letter.
#include "engines/duckdb/csv_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "duckdb/csv_reading.h"

namespace snapdp::engines_internal {

namespace {

Rows read(std::string_view text, const CsvFormat& format, std::size_t piece_bytes, std::size_t window_bytes,
          const std::vector<std::size_t>& wanted = {}) {
  return read_rows(TextBytes(text), text.size(), format, 0, piece_bytes, window_bytes, wanted);
}

void expect_as_slow(const std::string& text, const CsvFormat& format, std::size_t piece_bytes,
                    std::size_t window_bytes) {
  ASSERT_EQ(without_fault_names(read(text, format, piece_bytes, window_bytes)),
            without_fault_names(SlowReader(text, format).rows()))
      << testing::PrintToString(text) << ", " << format.columns << " columns, lines end in "
      << (format.line_end == LineEnd::lf ? "LF" : "CR") << ", pieces of " << piece_bytes << ", windows of "
      << window_bytes;
}

TEST(CsvRows, AgreeWithASlowReaderOnEveryShortText) {
  // All texts of up to 7 of these.
  constexpr std::string_view alphabet = "1,\" \r\n";
  for (std::size_t length = 0; length <= 7; ++length) {
    std::size_t texts = 1;
    for (std::size_t k = 0; k < length; ++k) texts *= alphabet.size();
    for (std::size_t number = 0; number < texts; ++number) {
      std::string text;
      for (std::size_t rest = number, k = 0; k < length; ++k, rest /= alphabet.size())
        text += alphabet[rest % alphabet.size()];
      const CsvFormat format{',', number % 3 == 0 ? LineEnd::cr : LineEnd::lf, 1 + number % 4 % 3,
                             number % 5 == 0};
      expect_as_slow(text, format, 1 + number % 7, 1 + number % 11 % 4);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(CsvRows, AgreeWithASlowReaderOnLongTexts) {
  std::mt19937_64 engine(21);
  const std::vector<std::string> parts{
      "1",    "x",  ",",       ",",      ",",        "\"",   "\"\"", " ",   "\n",  "\n",
      "\r\n", "\r", "\"a,b\"", "\"\n\"", "\xc3\xa4", "\xff", "\n\"", "\",", ",\"", std::string(1, '\0')};
  for (int trial = 0; trial < 30'000; ++trial) {
    std::string text;
    for (std::size_t k = engine() % 60; k > 0; --k) text += parts[engine() % parts.size()];
    const CsvFormat format{',', engine() % 4 == 0 ? LineEnd::cr : LineEnd::lf, 1 + engine() % 3,
                           engine() % 4 == 0};
    expect_as_slow(text, format, 1 + engine() % 30, 1 + engine() % 20);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// ---- What the rules say ---------------------------------------------------------------------------------------------------

Rows rows_of(std::string_view text, std::size_t columns = 2) {
  return read(text, {',', LineEnd::lf, columns, false}, 8, 4);
}

using testing::ElementsAre;

TEST(CsvRows, AreNullsWhereTheyAreMalformed) {
  const std::map<std::string, std::string> malformed{
      {"1", "!cells"},          {"1,2,3", "!cells"},        {"1,2,,", "!cells"},     {"1,2,\"\"", "!cells"},
      {"", "!cells"},           {"1,\"2", "!quote"},        {"1,\"x\" y", "!quote"}, {"\"x\"y,2", "!quote"},
      {"1\r,2", "!line_break"}, {"1,2\r\r", "!line_break"}, {"1,\xff", "!encoding"}, {"\xc3,2", "!encoding"},
  };
  for (const auto& [row, fault] : malformed)
    EXPECT_THAT(rows_of("a,b\n" + row + "\nc,d\n"), ElementsAre("a|b", fault, "c|d")) << row;
  EXPECT_THAT(rows_of("a,b\n1,\"2"), ElementsAre("a|b", "!quote"));
}

TEST(CsvRows, TakeWhatIsOnlyUnusual) {
  EXPECT_THAT(rows_of("1,2,\n3,\n,4\r\n\"\",5"), ElementsAre("1|2", "3|null", "null|4", "null|5"));
  EXPECT_THAT(rows_of("5\" disk,x\"\n \"a\" , \"b\"\n"), ElementsAre("5\" disk|x\"", "a|b"));
  EXPECT_THAT(rows_of("\"a\"\"\n,\",\"\"\"\"\r\n"), ElementsAre("a\"\n,|\""));
  EXPECT_THAT(rows_of("1\n\n3\r\n\r\n", 1), ElementsAre("1", "null", "3", "null"));
  EXPECT_THAT(rows_of(std::string_view("a\0b,c\n", 6)), ElementsAre(std::string("a\0b|c", 5)));
  // The header ends in a delimiter: rows may or may not.
  EXPECT_THAT(read("1,2\n1,2,\n1,2,x\n1\n1,2,x,y\n", {',', LineEnd::lf, 3, true}, 8, 4),
              ElementsAre("1|2|null", "1|2|null", "1|2|x", "!cells", "!cells"));
  EXPECT_THAT(read("1\r2\r\n\r3", {',', LineEnd::cr, 1, false}, 8, 4),
              ElementsAre("1", "2", "!line_break", "3"));
}

TEST(CsvRows, GiveTheColumnsWanted) {
  const CsvFormat format{',', LineEnd::lf, 4, false};
  EXPECT_THAT(read("1,2,3,4\n,\"b\"\"\",,\"\"\n", format, 8, 4, {3, 1}), ElementsAre("4|2", "null|b\""));
}

// The limit is a row's length without its line's end, in whatever piece it lies.
TEST(CsvRows, AreNullsWhereTheyAreTooLong) {
  const std::string fits = "1," + std::string(max_row_bytes - 2, 'x');
  for (const std::string end : {"\n", "\r\n"}) {
    for (const std::size_t window : {std::size_t{1} << 18, std::size_t{999}}) {
      const std::string text = "a,b" + end + fits + end + fits + "x" + end + "c,d" + end + "\"" + fits + end +
                               "\",e" + end + "f,g" + end + fits + std::string(1'000'000, 'y');
      const Rows rows = read(text, {',', LineEnd::lf, 2, false}, std::size_t{1} << 20, window);
      EXPECT_EQ(rows.size(), 7U);
      EXPECT_EQ(rows.at(1).size(), max_row_bytes);
      const Rows others{rows.at(0), rows.at(2), rows.at(3), rows.at(4), rows.at(5), rows.at(6)};
      EXPECT_THAT(others, ElementsAre("a|b", "!length", "c|d", "!length", "f|g", "!length"));
    }
  }
}

// A row is replaced by any other text without line breaks. Nothing else changes, unless that text starts a cell with a
// quote that it does not close.
TEST(CsvRows, ChangeAloneParallel) {
  std::mt19937_64 engine(22);
  const auto pick = [&](const std::vector<std::string>& from) { return from[engine() % from.size()]; };
  const auto any_row = [&] {
    std::string row;
    for (std::size_t k = engine() % 12; k > 0; --k)
      row += pick(
          {"1", ",", ",", "\"", "\"\"", " ", "\xff", "\xc3\xa4", "\r", "x", "\"a\"", std::string(1, '\0')});
    return row;
  };
  const auto closed_row = [&] {
    return pick({"1,2", "\"a,b\",3", "\"x\ny\",\"\"", "5\",z", "7,\"q\"\"r\"", "8,", "9"});
  };
  std::size_t spoiled = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string before;
    std::string after;
    for (std::size_t k = engine() % 6; k > 0; --k) before += closed_row() + "\n";
    for (std::size_t k = engine() % 6; k > 0; --k) after += closed_row() + "\n";
    std::string row = any_row();
    if (engine() % 2 == 0) row = "1,\"" + row;
    const Rows other = rows_of(before + row + "\n" + after);
    const Rows alone = rows_of(row + "\n");
    ASSERT_EQ(alone.size(), 1U);
    Rows expected = rows_of(before);
    expected.push_back(alone[0]);
    const Rows last = rows_of(after);
    expected.insert(expected.end(), last.begin(), last.end());
    if (other == expected) continue;
    // A later row closed a quote.
    ++spoiled;
    ASSERT_TRUE(alone[0].starts_with('!') && row.find('"') != std::string::npos &&
                after.find('"') != std::string::npos)
        << testing::PrintToString(before + row + "\n" + after);
  }
  EXPECT_GT(spoiled, 0U);
  EXPECT_LT(spoiled, 4000U);
}

}  // namespace
}  // namespace snapdp::engines_internal
