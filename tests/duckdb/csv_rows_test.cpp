// How CSV text is split into rows and cells, held against the rules of csv_rows.h read by the letter.
#include "engines/duckdb/csv_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "engines/duckdb/utf8.h"

namespace snapdp::engine {

using namespace engines_internal;

namespace {

class TextBytes final : public ByteSource {
 public:
  explicit TextBytes(std::string_view text) : text_(text) {}
  std::size_t read(std::uint64_t offset, std::span<char> into) const override {
    const std::string_view rest = text_.substr(std::min<std::uint64_t>(offset, text_.size()), into.size());
    std::copy(rest.begin(), rest.end(), into.begin());
    return rest.size();
  }

 private:
  std::string_view text_;
};

// Cells between |, "null" for what is null; "!" and the fault for a malformed row.
using Rows = std::vector<std::string>;

std::string fault_name(RowFault fault) {
  const char* names[] = {"", "cells", "quote", "line_break", "encoding", "length"};
  return std::string("!") + names[static_cast<int>(fault)];
}

// All columns, or those at the places in `wanted`.
Rows read(std::string_view text, const CsvFormat& format, std::size_t piece_bytes, std::size_t window_bytes,
          std::vector<std::size_t> wanted = {}) {
  if (wanted.empty()) {
    for (std::size_t i = 0; i < format.columns; ++i) wanted.push_back(i);
  }
  const TextBytes bytes(text);
  CsvSplitter splitter(bytes, format, 0, piece_bytes, window_bytes);
  CsvRowReader reader(format, wanted);
  Rows rows;
  std::uint64_t end = 0;
  while (const auto piece = splitter.next()) {
    EXPECT_EQ(piece->begin, end);
    EXPECT_GT(piece->end, end);
    end = piece->end;
    if (piece->too_long) {
      rows.push_back("!length");
      continue;
    }
    const std::span<char> room = reader.room(static_cast<std::size_t>(piece->end - piece->begin));
    EXPECT_EQ(bytes.read(piece->begin, room), room.size());
    reader.start();
    while (reader.next()) {
      std::string row;
      for (const std::string_view cell : reader.cells()) {
        EXPECT_EQ(cell.empty(), cell.data() == nullptr);
        row += (row.empty() ? "" : "|") + (cell.empty() ? "null" : std::string(cell));
      }
      rows.push_back(reader.fault() == RowFault::none ? row : fault_name(reader.fault()));
    }
  }
  EXPECT_EQ(end, text.size());
  return rows;
}

// ---- The rules, one character at a time -----------------------------------------------------------------------------------

class SlowReader {
 public:
  SlowReader(std::string_view text, const CsvFormat& format) : text_(text), format_(format) {}

  Rows rows() {
    Rows rows;
    while (at_ < text_.size()) rows.push_back(row());
    return rows;
  }

 private:
  // The length of a line's end that stands here, or 0.
  std::size_t line_end(std::size_t at) const {
    if (format_.line_end == LineEnd::cr) return at < text_.size() && text_[at] == '\r' ? 1 : 0;
    if (text_.substr(at, 1) == "\n") return 1;
    return text_.substr(at, 2) == "\r\n" ? 2 : 0;
  }
  bool ends_cell(std::size_t at) const {
    return at >= text_.size() || text_[at] == format_.delimiter || line_end(at) > 0;
  }

  std::string row() {
    const std::size_t begin = at_;
    faults_.clear();
    std::vector<std::string> cells;
    bool last_is_bare = false;  // empty and not between quotes
    while (true) {
      std::string cell = quoted_cell();
      last_is_bare = !quoted_ && cell.empty();
      cells.push_back(cell);
      if (at_ >= text_.size() || text_[at_] != format_.delimiter) break;
      ++at_;
    }
    const std::string_view row = text_.substr(begin, at_ - begin);
    at_ += line_end(at_);
    const bool one_more = cells.size() == format_.columns + 1 && last_is_bare;
    const bool one_less = cells.size() + 1 == format_.columns && format_.last_may_lack;
    if (cells.size() != format_.columns && !one_more && !one_less) faults_.push_back("!cells");
    if (!is_utf8(row)) faults_.push_back("!encoding");
    if (!faults_.empty()) return faults_.front();
    cells.resize(format_.columns);
    std::string shown;
    for (const std::string& cell : cells)
      shown += (shown.empty() ? "" : "|") + (cell.empty() ? "null" : cell);
    return shown;
  }

  // The cell that starts here.
  std::string quoted_cell() {
    const std::size_t begin = at_;
    std::size_t at = at_;
    while (text_.substr(at, 1) == " ") ++at;
    quoted_ = false;
    if (text_.substr(at, 1) == "\"") {
      std::string cell;
      for (++at; at < text_.size(); ++at) {
        if (text_[at] == '"' && text_.substr(at + 1, 1) != "\"") break;
        if (text_[at] == '"') ++at;
        cell += text_[at];
      }
      std::size_t after = at + 1;
      while (text_.substr(std::min(after, text_.size()), 1) == " ") ++after;
      if (at < text_.size() && ends_cell(after)) {
        quoted_ = true;
        at_ = std::min(after, text_.size());
        return cell;
      }
      faults_.push_back("!quote");
    }
    for (at_ = begin; !ends_cell(at_); ++at_) {
      if (text_[at_] == '\r' || text_[at_] == '\n') faults_.push_back("!line_break");
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  CsvFormat format_;
  std::size_t at_ = 0;
  bool quoted_ = false;
  std::vector<std::string> faults_;
};

// Only whether a row is malformed must agree: of several faults a reader may name any.
Rows without_fault_names(Rows rows) {
  for (std::string& row : rows) {
    if (row.starts_with('!')) row = "!";
  }
  return rows;
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
}  // namespace snapdp::engine
