#include "engines/duckdb/csv_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "duckdb/source_testing.h"

namespace snapdp::engines_internal {

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> names(std::string_view text, char delimiter = ',') {
  const ScratchFolder folder;
  return CsvFile(folder.write("x.csv", text), delimiter).names();
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
    const CsvFile file(folder.write("x.csv", text), ',');
    EXPECT_EQ(file.format().line_end, line_end) << text;
    EXPECT_EQ(file.first_row(), size) << text;
  };
  check("a,b\n1,2\r\n", LineEnd::lf, 4);
  check("a,b\r\n1,2\n", LineEnd::lf, 5);
  check("a,b\r1,2\n", LineEnd::cr, 4);
  check("a,b\r", LineEnd::cr, 4);
  check(
      "\xef\xbb\xbf"
      "a,b",
      LineEnd::lf, 6);
  // Where a first, short look at the file may end.
  for (std::size_t length = (1U << 14) - 3; length <= (1U << 14) + 1; ++length) {
    check(std::string(length, 'a') + "\r\n1\n", LineEnd::lf, length + 2);
    check(std::string(length, 'a') + "\r1\r", LineEnd::cr, length + 1);
  }
}

// Nameless columns (the index of pandas and R) and names that occur twice do no harm until somebody asks for them.
TEST(CsvHeader, KeepsEmptyAndRepeatedNames) {
  EXPECT_THAT(names(",a\n"), ElementsAre("", "a"));
  EXPECT_THAT(names("a,\"\",c\n"), ElementsAre("a", "", "c"));
  EXPECT_THAT(names("a,b,a,\"a\"\n"), ElementsAre("a", "b", "a", "a"));
  const ScratchFolder folder;
  EXPECT_FALSE(CsvFile(folder.write("x.csv", ",a\n"), ',').format().last_may_lack);
  EXPECT_TRUE(CsvFile(folder.write("x.csv", "a,b,\n"), ',').format().last_may_lack);
}

// Error and parameter of the file, and whether the message holds `problem` and nothing of the file.
void expect_refused(std::string_view text, const char* parameter, const char* problem) {
  const Error error = error_of([&] { names(text); });
  EXPECT_EQ(error.code(), ErrorCode::bad_data) << text;
  EXPECT_EQ(error.parameter(), parameter) << text;
  EXPECT_THAT(error.what(), AllOf(HasSubstr(problem), Not(HasSubstr("5ecret")))) << text;
}

TEST(CsvHeader, RefusesWhatIsNone) {
  const auto check = [](std::string_view text, const char* problem) {
    expect_refused(text, "header", problem);
  };
  check("\n1,5ecret\n", "first line is blank");
  check(",,\n1,2,3\n", "first line is blank");
  check("\xef\xbb\xbf\n", "first line is blank");
  check("5ecret,b\"c\n", "a quote inside a name");
  check("5ecret, \"b\"\n", "a quote inside a name");
  check("\"5ecret\nb\",c\n", "stays open");
  check("\"5ecret", "stays open");
  check("\"5ecret\"b,c\n", "text follows a closing quote");
  check("a,b\r\r\n", "several carriage returns");
  check("5ecret\xff\xfe,b\n", "not UTF-8");
  check(
      "Gr\xf6\xdf"
      "e,5ecret\n",
      "iconv -f WINDOWS-1252 -t UTF-8");
  check("\xc0\xaf\n", "not UTF-8");          // overlong
  check("\xed\xa0\x80\n", "not UTF-8");      // a surrogate
  check("\xf4\x90\x80\x80\n", "not UTF-8");  // beyond U+10FFFF
  check("ab\xe2\x82", "not UTF-8");          // cut short
  check(std::string(max_row_bytes + 1, 'a'), "longer than");
}

TEST(CsvHeader, TellsOtherFormatsByTheirFirstBytes) {
  using namespace std::string_view_literals;
  const auto check = [](std::string_view text, const char* problem) {
    expect_refused(text, "data", problem);
  };
  check("", "the file is empty");
  check("PAR1\x15\x04", "Parquet file; let its name end in .parquet");
  check("PK\x03\x04\x14\0\x06\0"sv, "Excel workbooks (.xlsx) are; save the sheet as \"CSV UTF-8\"");
  check("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0"sv, "Excel workbook (.xls)");
  check("\x1f\x8b\x08\0"sv, "gzip; decompress it");
  check("BZh91AY&SY\x01", "bzip2");
  check(
      "\xfd"
      "7zXZ\0\0"sv,
      "xz");
  check("\x28\xb5\x2f\xfd\x04", "zstd");
  check("SQLite format 3\0\x10"sv, "SQLite database; export the table");
  check("ARROW1\0\0"sv, "Arrow");
  check("%PDF-1.7\n", "PDF");
  check("<?xml version=\"1.0\"?>\n", "XML");
  check("<!DOCTYPE html>\n", "web page");
  check("{\"a\": \"5ecret\"}\n", "JSON");
  check("[\n  {\"a\": 1}\n]\n", "JSON");
  check("[[1, 2], [3, 4]]\n", "JSON");
  check(
      "\xff\xfe"
      "a\0,\0b\0\n\0"sv,
      "UTF-16LE text; save it as \"CSV UTF-8\", or convert it: iconv -f UTF-16LE");
  check("\xfe\xff\0a\0,\0b"sv, "UTF-16BE");
  check("\xff\xfe\0\0a\0\0\0"sv, "UTF-32LE");
  check("a\0,\0b\0\n\0"sv, "UTF-16LE");
  check("\0a\0,\0b\0\n"sv, "UTF-16BE");
  check("sep=;\na;b\n", "only Excel reads");
  // What only looks like one of these.
  for (const std::string_view text : {"PK,a\n"sv, "{a},[b]\n"sv, "[a],b\n"sv, "sep=ab,c\n"sv, "BZh,a\n"sv})
    EXPECT_EQ(names(text).size(), 2U) << text;
}

TEST(CsvHeader, MayBeAsLongAsALine) {
  EXPECT_EQ(names(std::string(max_row_bytes, 'a') + "\r\n").at(0).size(), max_row_bytes);
}

// Whether a file is one tells its first line, whatever ends it: a zero byte in a row turns no error.
TEST(CsvHeader, IsJudgedWithoutTheRows) {
  using namespace std::string_view_literals;
  const ScratchFolder folder;
  for (const std::string_view text : {"age\n4\0\n"sv, "age\r\n4\0\r\n"sv, "age\r4\0\r"sv})
    EXPECT_EQ(CsvFile(folder.write("x.csv", text), ',').names(), std::vector<std::string>{"age"});
}

TEST(CsvFile, SeesThatItChanged) {
  const ScratchFolder folder;
  const std::string path = folder.write("x.csv", "a\n1\n");
  const CsvFile file(path, ',');
  EXPECT_NO_THROW(file.require_unchanged());
  folder.write("x.csv", "a\n1\n2\n");
  EXPECT_EQ(error_of([&] { file.require_unchanged(); }).code(), ErrorCode::io);
}

TEST(CsvDelimiter, IsATabOrAPunctuationMarkThatNumbersDoNotUse) {
  for (const char good : std::string(",;|\t:!#$%&()*/<=>?@[\\]^`{}~'"))
    EXPECT_NO_THROW(check_csv_delimiter(good)) << good;
  for (const char bad : std::string("\"\n\r .+-_09azAZ\x7f\x80\xff") + '\0') {
    EXPECT_EQ(error_of([&] { check_csv_delimiter(bad); }).code(), ErrorCode::invalid_argument) << bad;
  }
}

}  // namespace
}  // namespace snapdp::engines_internal
