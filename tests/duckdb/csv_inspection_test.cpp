#include "snapdp/engines/duckdb/csv_inspection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "duckdb/source_testing.h"
#include "snapdp/error.h"

namespace snapdp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CsvInspection inspect(const std::string& text) {
  const ScratchFolder folder;
  return inspect_csv({.path = folder.write("people.csv", text)});
}

std::vector<std::uint64_t> lines_of(const CsvInspection& form) {
  std::vector<std::uint64_t> lines;
  for (const CsvInspection::Row& row : form.malformed) lines.push_back(row.line);
  return lines;
}

TEST(CsvInspection, ASoundFileHasNothingToTell) {
  const CsvInspection form = inspect("a,b\n1,2\n\"x\ny\",3\n4,5,\n");
  EXPECT_EQ(form.rows, 3U);
  EXPECT_EQ(form.malformed_rows, 0U);
  EXPECT_THAT(form.hints, IsEmpty());
}

TEST(CsvInspection, LinesAreThoseOfTheFile) {
  // Line 3 begins a row of two lines; a blank line is a row of one cell.
  const CsvInspection form = inspect("a,b\n1\n\"x\ny\",3\n1,2,3\n\n7,\"8\"9\n\xff,1\r\n1,2\n");
  EXPECT_EQ(form.rows, 7U);
  EXPECT_THAT(lines_of(form), ElementsAre(2, 5, 6, 7, 8));
  EXPECT_THAT(form.malformed[0].problem, HasSubstr("more or fewer cells"));
  EXPECT_THAT(form.malformed[3].problem, HasSubstr("quote"));
  EXPECT_THAT(form.malformed[4].problem, HasSubstr("UTF-8"));
  EXPECT_THAT(form.hints, ElementsAre(HasSubstr("iconv")));
}

TEST(CsvInspection, OldLineEnds) {
  const CsvInspection form = inspect("a,b\r1,2\r3\r4,5\n6\r");
  EXPECT_THAT(lines_of(form), ElementsAre(3, 4));
  EXPECT_THAT(form.malformed[1].problem, HasSubstr("line end of another kind"));
}

TEST(CsvInspection, ARowThatIsTooLongIsOneRow) {
  const CsvInspection form = inspect("a\n1\n" + std::string(2'500'000, 'x') + "\n3,4\n");
  EXPECT_EQ(form.rows, 3U);
  EXPECT_THAT(lines_of(form), ElementsAre(3, 4));
  EXPECT_THAT(form.malformed[0].problem, HasSubstr("longer than"));
}

TEST(CsvInspection, OnlyTheFirstAreTold) {
  std::string text = "a,b\n";
  for (int i = 0; i < 100'000; ++i) text += i % 2 == 0 ? "1,2\n" : "1\n";
  const CsvInspection form = inspect(text);
  EXPECT_EQ(form.rows, 100'000U);
  EXPECT_EQ(form.malformed_rows, 50'000U);
  ASSERT_EQ(form.malformed.size(), CsvInspection::most_rows_told);
  EXPECT_EQ(form.malformed.back().line, 41U);
}

TEST(CsvInspection, AHeaderSuggestsItsDelimiter) {
  EXPECT_THAT(inspect("a;b;c\n1;2;3\n").hints, ElementsAre(HasSubstr("delimiter = \";\"")));
  EXPECT_THAT(inspect("a\tb\n1\t2\n").hints, ElementsAre(HasSubstr("delimiter = \"\\t\"")));
  EXPECT_THAT(inspect("only one\n1\n").hints, IsEmpty());
}

TEST(CsvInspection, ParquetHasNoSuchRows) {
  const ScratchFolder folder;
  try {
    inspect_csv({.path = folder.write("people.parquet", "PAR1")});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace snapdp
