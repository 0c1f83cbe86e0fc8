#include "snapdp/engines/duckdb/duckdb_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cfenv>
#include <cmath>
#include <random>
#include <thread>

#include "duckdb/parquet_bytes.h"
#include "duckdb/source_testing.h"
#include "rows.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
constexpr AtomType real = AtomType::real;
constexpr AtomType integer = AtomType::integer;
constexpr AtomType text = AtomType::text;

std::vector<std::string> csv_rows(std::string_view content, const std::vector<std::string>& columns,
                                  const std::vector<AtomType>& types, char delimiter = ',') {
  const ScratchFolder folder;
  const auto source = open_duckdb_source({.path = folder.write("t.csv", content), .delimiter = delimiter});
  return read_rows(*source, columns, types);
}

std::vector<std::string> parquet_rows(const std::string& query, const std::vector<std::string>& columns,
                                      const std::vector<AtomType>& types) {
  const ScratchFolder folder;
  const auto source = open_duckdb_source({.path = write_parquet(folder, query)});
  return read_rows(*source, columns, types);
}

// The column a of a file, as integers.
std::vector<std::string> csv_file_rows(const std::string& path) {
  return read_rows(*open_duckdb_source({.path = path}), {"a"}, {integer});
}

// ---- The path -----------------------------------------------------------------------------------------------------

TEST(DuckdbSource, OpensOnePlainFileAndNothingElse) {
  const ScratchFolder folder;
  const std::string good = folder.write("t.csv", "a\n1\n");
  const auto check = [](const std::string& path, ErrorCode code, const char* why) {
    const Error error = error_of([&] { open_duckdb_source({.path = path}); });
    EXPECT_EQ(error.code(), code) << path;
    EXPECT_EQ(error.parameter(), "path") << path;
    EXPECT_THAT(error.what(), HasSubstr(why)) << path;
  };
  check("", ErrorCode::invalid_argument, "name a CSV");
  check((folder.path() / "none.csv").string(), ErrorCode::io, "no such file");
  check((folder.path() / "*.csv").string(), ErrorCode::io, "patterns");
  check((folder.path() / "[t].csv").string(), ErrorCode::io, "patterns");
  check((folder.path() / "?.csv").string(), ErrorCode::io, "patterns");
  check(folder.path().string(), ErrorCode::invalid_argument, "folder");
  for (const char* address : {"https://example.com/t.csv", "http://example.com/t.parquet",
                              "s3://bucket/t.csv", "file:///etc/passwd"})
    check(address, ErrorCode::invalid_argument, "addresses");
  check(good + std::string("\0.csv", 5), ErrorCode::invalid_argument, "zero byte");
  check("/dev/null", ErrorCode::invalid_argument, "regular");
  ASSERT_EQ(mkfifo((folder.path() / "pipe.csv").c_str(), 0600), 0);
  check((folder.path() / "pipe.csv").string(), ErrorCode::invalid_argument, "regular");

  const auto link = [&](const char* name, const char* to) {
    std::filesystem::create_symlink(to, folder.path() / name);
    return (folder.path() / name).string();
  };
  check(link("loop.csv", "loop.csv"), ErrorCode::io, "links lead in a circle");
  check(link("dangling.csv", "none"), ErrorCode::io, "link to a file that is not there");
  check(good + "/t.csv", ErrorCode::io, "is no folder");
  check((folder.path() / (std::string(300, 'x') + ".csv")).string(), ErrorCode::io,
        "cannot be found (File name too long");

  // Files whose names DuckDB would not take as they are, which only matters where it opens them.
  const std::string parquet = write_parquet(folder, "SELECT 1 AS a");
  for (const auto& [name, why] : {std::pair{"[t]", "rename or move"}, {"\xff", "is not UTF-8"}}) {
    EXPECT_THAT(csv_file_rows(folder.write(name + std::string(".csv"), "a\n7\n")), ElementsAre("7"));
    const std::string copy = (folder.path() / (name + std::string(".parquet"))).string();
    std::filesystem::copy_file(parquet, copy);
    check(copy, ErrorCode::invalid_argument, why);
  }
}

// What a terminal takes for commands does not reach it.
TEST(DuckdbSource, ShowsPathsWithoutControlCharacters) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "a\x1b]2J\x7f\xc2\x9b\xff\xc3\xa4.csv").string();
  const Error error = error_of([&] { open_duckdb_source({.path = path}); });
  EXPECT_THAT(error.what(), HasSubstr("/a?]2J???\xc3\xa4.csv\": there is no such file"));
  const std::string odd = folder.write("x.\x1b", "a\n1\n");
  EXPECT_THAT(error_of([&] { open_duckdb_source({.path = odd}); }).what(), HasSubstr("/x.?\" does not tell"));
}

TEST(DuckdbSource, ReadsFilesWithHostileNames) {
  const ScratchFolder folder;
  for (const std::string name :
       {"o'clock.csv", "a\"b.csv", "a;b -- c.csv", "a b.csv", "{a,b}.csv", "\\.csv", "a\nb.csv", "~.csv",
        "%s$1.csv", "na\xc3\xafve.csv", "file:x.csv", "-.csv", "read_csv('x').csv"}) {
    const auto source = open_duckdb_source({.path = folder.write(name, "a\n7\n")});
    EXPECT_THAT(read_rows(*source, {"a"}, {integer}), ElementsAre("7")) << name;
  }
}

TEST(DuckdbSource, FollowsLinksAndRelativePaths) {
  const ScratchFolder folder;
  folder.write("t.csv", "a\n7\n");
  std::filesystem::create_symlink("t.csv", folder.path() / "link.csv");
  const auto linked = open_duckdb_source({.path = (folder.path() / "link.csv").string()});
  EXPECT_THAT(read_rows(*linked, {"a"}, {integer}), ElementsAre("7"));
  const auto relative =
      open_duckdb_source({.path = std::filesystem::relative(folder.path() / "t.csv").string()});
  EXPECT_THAT(read_rows(*relative, {"a"}, {integer}), ElementsAre("7"));
}

TEST(DuckdbSource, TellsTheFormatByTheNameUnlessToldOtherwise) {
  const ScratchFolder folder;
  for (const char* name : {"t.csv", "t.CSV", "t.tsv", "t.tab", "t.txt"})
    EXPECT_EQ(open_duckdb_source({.path = folder.write(name, "a\n1\n")})->columns().size(), 1U) << name;
  const std::string plain = folder.write("t", "a\n1\n");
  EXPECT_EQ(error_of([&] { open_duckdb_source({.path = plain}); }).parameter(), "format");
  EXPECT_EQ(open_duckdb_source({.path = plain, .format = FileFormat::csv})->columns().size(), 1U);
  // A name that does not tell, of a file that does.
  const Error workbook =
      error_of([&] { open_duckdb_source({.path = folder.write("people.xlsx", "PK\x03\x04 and more")}); });
  EXPECT_EQ(workbook.code(), ErrorCode::bad_data);
  EXPECT_THAT(workbook.what(), HasSubstr("Excel workbooks (.xlsx) are; save the sheet as \"CSV UTF-8\""));

  const std::string parquet = write_parquet(folder, "SELECT 1 AS a");
  const std::string odd = (folder.path() / "parquet.csv").string();
  std::filesystem::copy_file(parquet, odd);
  EXPECT_EQ(error_of([&] { open_duckdb_source({.path = odd})->columns(); }).code(), ErrorCode::bad_data);
  EXPECT_EQ(open_duckdb_source({.path = odd, .format = FileFormat::parquet})->columns().size(), 1U);
  const std::string fake = folder.write("fake.parquet", "a\n1\n");
  EXPECT_EQ(error_of([&] { open_duckdb_source({.path = fake})->columns(); }).code(), ErrorCode::bad_data);
}

// Files named for their tabs have them, unless another delimiter is given.
TEST(DuckdbSource, TellsTheDelimiterByTheNameUnlessToldOtherwise) {
  const ScratchFolder folder;
  for (const char* name : {"t.tsv", "t.tab", "t.TSV"}) {
    const std::string path = folder.write(name, "a,b\tc;d\n");
    const auto columns = [&](const DuckdbOptions& options) { return open_duckdb_source(options)->columns(); };
    EXPECT_EQ(columns({.path = path}).at(1).name, "c;d") << name;
    EXPECT_EQ(columns({.path = path, .format = FileFormat::csv}).at(1).name, "c;d") << name;
    EXPECT_EQ(columns({.path = path, .delimiter = ','}).at(1).name, "b\tc;d") << name;
    EXPECT_EQ(columns({.path = path, .delimiter = ';'}).at(1).name, "d") << name;
  }
  EXPECT_EQ(open_duckdb_source({.path = folder.write("t.txt", "a,b\tc\n")})->columns().at(1).name, "b\tc");
}

TEST(DuckdbSource, IsLockedToItsFile) {
  const ScratchFolder folder;
  const std::string mine = folder.write("mine.csv", "a\n1\n");
  const std::string other = folder.write("other.csv", "a\n1\n");
  const engines_internal::Connection connection({.file = std::filesystem::canonical(mine).string()});
  const auto runs = [&](const std::string& sql) {
    try {
      connection.run(sql);
      return true;
    } catch (const engines_internal::EngineFailure&) {
      return false;
    }
  };
  EXPECT_TRUE(
      runs("SELECT * FROM read_csv(" + engines_internal::sql_text(std::filesystem::canonical(mine)) + ")"));
  EXPECT_FALSE(runs("SELECT * FROM read_csv(" + engines_internal::sql_text(other) + ")"));
  EXPECT_FALSE(runs("SELECT * FROM read_text('/etc/passwd')"));
  EXPECT_FALSE(runs("SELECT * FROM read_csv('https://example.com/a.csv')"));
  EXPECT_FALSE(
      runs("COPY (SELECT 1) TO " + engines_internal::sql_text((folder.path() / "out.csv").string())));
  EXPECT_FALSE(runs("ATTACH " + engines_internal::sql_text((folder.path() / "x.db").string())));
  EXPECT_FALSE(runs("INSTALL httpfs"));
  EXPECT_FALSE(runs("LOAD httpfs"));
  EXPECT_FALSE(runs("SET enable_external_access = true"));
  EXPECT_FALSE(runs("SET threads = 1"));
  EXPECT_FALSE(runs("RESET allowed_paths"));
}

TEST(DuckdbSource, WritesNothing) {
  const ScratchFolder folder;
  const std::string path = folder.write("t.csv", "a\n1\n");
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const auto source = open_duckdb_source({.path = path});
  read_rows(*source, {"a"}, {integer});
  std::filesystem::current_path(here);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

// ---- CSV ----------------------------------------------------------------------------------------------------------

TEST(DuckdbCsv, ReadsCellsAsTextOfTheDeclaredType) {
  const std::string content = "id,income,name\n1,1.00E+05,Ann\n2,-7.5,\"Lee, Bo\"\n3,,\"\"\n4,n/a,NULL\n";
  EXPECT_THAT(csv_rows(content, {"income"}, {real}), ElementsAre("-0x1.ep+2", "0x1.86ap+16", "null", "null"));
  EXPECT_THAT(csv_rows(content, {"income"}, {integer}), ElementsAre("100000", "null", "null", "null"));
  EXPECT_THAT(csv_rows(content, {"income"}, {text}), ElementsAre("'-7.5'", "'1.00E+05'", "'n/a'", "null"));
  EXPECT_THAT(csv_rows(content, {"name"}, {text}), ElementsAre("'Ann'", "'Lee, Bo'", "'NULL'", "null"));
  EXPECT_THAT(csv_rows(content, {"id", "income", "id"}, {integer, real, text}),
              ElementsAre("1|0x1.86ap+16|'1'", "2|-0x1.ep+2|'2'", "3|null|'3'", "4|null|'4'"));
}

TEST(DuckdbCsv, NamesAreExact) {
  const std::string content = "id,ID, id\n1,2,3\n";
  EXPECT_THAT(csv_rows(content, {"ID", "id", " id"}, {integer, integer, integer}), ElementsAre("2|1|3"));
  const ScratchFolder folder;
  const auto source = open_duckdb_source({.path = folder.write("t.csv", content)});
  for (const char* name : {"Id", "c0", "", "rowid", "filename", "id_1", "*"}) {
    const RowRecorder recorder({integer});
    const FoldRequest request{{name}, recorder.aggregation()};
    const Error error = error_of([&] { source->fold({&request, 1}, {}); });
    EXPECT_EQ(error.code(), ErrorCode::bad_data) << name;
    EXPECT_EQ(error.parameter(), "column") << name;
  }
}

TEST(DuckdbCsv, HostileNamesAreOnlyNames) {
  const std::string content =
      "\"a\"\"b\",\"x'y\",\"); DROP TABLE t; --\",\"SELECT\",c0,\xe2\x82\xac\n1,2,3,4,5,6\n";
  EXPECT_THAT(csv_rows(content, {"a\"b", "x'y", "); DROP TABLE t; --", "SELECT"}, {text, text, text, text}),
              ElementsAre("'1'|'2'|'3'|'4'"));
  EXPECT_THAT(csv_rows(content, {"c0", "\xe2\x82\xac"}, {text, text}), ElementsAre("'5'|'6'"));
}

TEST(DuckdbCsv, ReadsEveryUniformLineEnd) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    for (const std::string start : {"", "\xef\xbb\xbf"}) {
      for (const std::string last : {"", end.c_str()}) {
        const std::string content = start + "a,b" + end + "1,x" + end + "2,\"y\"" + end + "3," + last;
        EXPECT_THAT(csv_rows(content, {"a", "b"}, {integer, text}), ElementsAre("1|'x'", "2|'y'", "3|null"))
            << testing::PrintToString(content);
      }
    }
  }
}

TEST(DuckdbCsv, ReadsMixedLineEnds) {
  EXPECT_THAT(csv_rows("a,b\n1,x\r\n2,y\n", {"a", "b"}, {integer, text}), ElementsAre("1|'x'", "2|'y'"));
  EXPECT_THAT(csv_rows("a,b\r\n1,x\n2,\"y\"\r\n", {"a", "b"}, {integer, text}),
              ElementsAre("1|'x'", "2|'y'"));
  // A stray one is one row's affair.
  EXPECT_THAT(csv_rows("a,b\n1,x\ry\n2,z\n", {"a", "b"}, {integer, text}), ElementsAre("2|'z'", "null|null"));
  EXPECT_THAT(csv_rows("a,b\r1,x\n\r2,z", {"a", "b"}, {integer, text}), ElementsAre("2|'z'", "null|null"));
}

TEST(DuckdbCsv, ReadsQuotedCells) {
  const std::string content =
      "a,b\n\"1,5\",\"line\nbreak\"\n\"say \"\"hi\"\"\",\"\r\n\"\n\"\"\"\",plain\n5\" disk,\"x\" \n "
      "\"y\",z\n";
  EXPECT_THAT(
      csv_rows(content, {"a", "b"}, {text, text}),
      ElementsAre("'\"'|'plain'", "'1,5'|'line\nbreak'", "'5\" disk'|'x'", "'say \"hi\"'|'\r\n'", "'y'|'z'"));
}

TEST(DuckdbCsv, BlankLinesAreRowsOfNulls) {
  EXPECT_THAT(csv_rows("a,b\n1,2\n\n3,4\n\n\n", {"a", "b"}, {text, text}),
              ElementsAre("'1'|'2'", "'3'|'4'", "null|null", "null|null", "null|null"));
  EXPECT_THAT(csv_rows("a,b\r\n\r\n1,2\r\n\r\n", {"a"}, {text}), ElementsAre("'1'", "null", "null"));
  EXPECT_THAT(csv_rows("a\n1\n\n3\n", {"a"}, {text}), ElementsAre("'1'", "'3'", "null"));
  EXPECT_THAT(csv_rows("a\r\n1\r\n\r\n", {"a"}, {text}), ElementsAre("'1'", "null"));
}

TEST(DuckdbCsv, ReadsFilesWithoutRows) {
  for (const char* content : {"a,b", "a,b\n", "a,b\r\n", "a,b\r", "\xef\xbb\xbf\"a\",b\n"})
    EXPECT_THAT(csv_rows(content, {"a", "b"}, {real, text}), ElementsAre())
        << testing::PrintToString(content);
}

// An index that pandas or R wrote, and columns of one name, until somebody asks for them.
TEST(DuckdbCsv, ReadsFilesWithNamelessAndRepeatedColumns) {
  EXPECT_THAT(csv_rows(",a,b,b\n1,2,3,4\n", {"a"}, {integer}), ElementsAre("2"));
  EXPECT_THAT(csv_rows("a,b,\n1,2,\n3,4\n", {"b"}, {integer}), ElementsAre("2", "4"));
  const Error error = error_of([] { csv_rows("a,4711,c,4711,4711\n1,2,3,4,5\n", {"4711"}, {integer}); });
  EXPECT_EQ(error.code(), ErrorCode::bad_data);
  EXPECT_THAT(error.what(), HasSubstr("columns 2 and 4 of the data, which have the same name"));
  // A message about one column names no other.
  EXPECT_THAT(error_of([] { csv_rows("Alice Smith,5ecret\n1,2\n", {"Alice Smit"}, {text}); }).what(),
              AllOf(HasSubstr("not in the header"), Not(HasSubstr("Smith")), Not(HasSubstr("5ecret"))));
}

TEST(DuckdbCsv, ReadsOtherDelimiters) {
  EXPECT_THAT(csv_rows("a;b\n1,5;2\n", {"a", "b"}, {text, integer}, ';'), ElementsAre("'1,5'|2"));
  EXPECT_THAT(csv_rows("a\tb\n x\t2\n", {"a", "b"}, {text, integer}, '\t'), ElementsAre("' x'|2"));
  EXPECT_THAT(csv_rows("a|b\n#|'\n", {"a", "b"}, {text, text}, '|'), ElementsAre("'#'|'''"));
  EXPECT_THAT(csv_rows("a\\b\n1\\2\n", {"a", "b"}, {text, text}, '\\'), ElementsAre("'1'|'2'"));
  EXPECT_THAT(csv_rows("a'b\n1'2\n", {"a", "b"}, {text, text}, '\''), ElementsAre("'1'|'2'"));
  const ScratchFolder folder;
  const std::string path = folder.write("t.csv", "a\n1\n");
  EXPECT_EQ(error_of([&] { open_duckdb_source({.path = path, .delimiter = '\n'}); }).parameter(),
            "delimiter");
}

// Whatever one row says, there is one row of nulls for it, and all others are what they were, on any number of threads.
TEST(DuckdbCsv, AMalformedRowIsOneRowOfNullsParallel) {
  const ScratchFolder folder;
  const std::vector<std::string> malformed{
      "5",                                 // too few cells
      "5,x,7",                             // too many
      "",                                  // a blank line
      "\xff,x",                            // no UTF-8
      "5,\xff",                            //
      "5,\"x",                             // a quote that stays open
      "5,\"x\"y",                          // text after a closing quote
      "5\r,x",                             // a stray CR
      "5," + std::string(3'000'000, 'x'),  // longer than rows may be
      "5,\"" + std::string(3'000'000, 'x') + "\"",
      "5,\"" + std::string(1'500'000, 'x') + "\n" + std::string(1'500'000, 'x') + "\"",
  };
  // Enough for several pieces.
  std::string before;
  std::string after;
  std::size_t rows = 0;
  while (before.size() < 1'500'000) before += "3,\"three\"\n", ++rows;
  while (after.size() < 1'500'000) after += "4,four\n", ++rows;
  const Aggregation numbers = make_histogram(untrusted_domain({integer}), symmetric_distance(),
                                             Bins::numbers({3, 4, 5}).with_other());
  const Aggregation texts = make_histogram(untrusted_domain({text}), symmetric_distance(),
                                           Bins::texts({"three", "four"}).with_other());
  const std::vector<FoldRequest> requests{{{"a"}, &numbers}, {{"b"}, &texts}};
  const auto threes = static_cast<double>(before.size() / 10);
  const auto fours = static_cast<double>(after.size() / 7);
  for (const std::string& row : malformed) {
    for (const unsigned threads : {1U, 4U}) {
      for (const bool last : {false, true}) {
        const std::string content =
            "a,b\n" + (last ? before + after + row + "\n" : before + row + "\n" + after);
        const auto source = open_duckdb_source({.path = folder.write("t.csv", content), .threads = threads});
        const FoldResult result = source->fold(requests, {});
        ASSERT_EQ(result.rows, rows + 1) << row.substr(0, 20);
        ASSERT_THAT(numbers.finish(result.states[0]),
                    ElementsAre(Dyadic(threes), Dyadic(fours), Dyadic(0), Dyadic(1)))
            << row.substr(0, 20);
        ASSERT_THAT(texts.finish(result.states[1]), ElementsAre(Dyadic(threes), Dyadic(fours), Dyadic(1)))
            << row.substr(0, 20);
      }
    }
  }
}

// What is odd but tells what it means is read.
TEST(DuckdbCsv, ReadsOddRows) {
  using namespace std::string_literals;
  EXPECT_THAT(csv_rows("a,b\n5,x\0y\n6,\0\n"s, {"a", "b"}, {integer, text}),
              ElementsAre("5|'x\0y'"s, "6|'\0'"s));
  EXPECT_THAT(csv_rows("a,b\n5,x,\n6,y", {"a", "b"}, {integer, text}), ElementsAre("5|'x'", "6|'y'"));
  EXPECT_THAT(csv_rows("a,b\n5,6\" pipe\n", {"a", "b"}, {integer, text}), ElementsAre("5|'6\" pipe'"));
}

// DuckDB 1.4.4's own reader drops the last chunk of 8 MB in silence when the first row in it is too long.
TEST(DuckdbCsv, MissesNoRowBehindAMalformedOne) {
  const ScratchFolder folder;
  std::string content = "a,b\n";
  while (content.size() < 8'200'000) content += "1,2\n";
  content.replace(8'000'004, 8, "1,2,3,4\n");
  const auto source = open_duckdb_source({.path = folder.write("t.csv", content), .threads = 2});
  EXPECT_EQ(source->fold({}, {}).rows, (content.size() - 4) / 4 - 1);
}

// DuckDB 1.4.4's own parallel reader takes the second line of this quoted cell for a row's beginning.
TEST(DuckdbCsv, ReadsQuotedCellsWhereChunksMeet) {
  const ScratchFolder folder;
  std::string content = "a,b\n1,22\n";
  while (content.size() < 8'000'001) content += "1,2\n";
  ASSERT_EQ(content.size(), 8'000'001U);
  content += "\"\na\",w\n";
  for (int i = 0; i < 50'000; ++i) content += "1,2\n";
  const auto source = open_duckdb_source({.path = folder.write("t.csv", content), .threads = 2});
  const Aggregation cells =
      make_histogram(untrusted_domain({text}), symmetric_distance(), Bins::texts({"\na", "1"}).with_other());
  const FoldRequest request{{"a"}, &cells};
  EXPECT_THAT(cells.finish(source->fold({&request, 1}, {}).states.at(0)),
              ElementsAre(Dyadic(1), Dyadic(1 + (8'000'001 - 9) / 4 + 50'000), Dyadic(0)));
}

// What the test generates is well-formed, so that it must be read to the letter.
TEST(DuckdbCsv, ReadsWhatWasWrittenParallel) {
  std::mt19937_64 engine(7);
  const ScratchFolder folder;
  const auto pick = [&](std::initializer_list<const char*> from) {
    return from.begin()[engine() % from.size()];
  };
  for (int round = 0; round < 40; ++round) {
    const std::string end = pick({"\n", "\r\n", "\r"});
    const std::size_t columns = 1 + engine() % 4;
    const std::size_t rows = std::vector<std::size_t>{0, 1, 2, 50, 2048, 5000}.at(engine() % 6);
    const bool quoting = engine() % 2 == 0;
    std::string content;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < columns; ++i) names.push_back("h" + std::to_string(i));
    for (std::size_t i = 0; i < columns; ++i) content += (i == 0 ? "" : ",") + names[i];
    content += end;
    std::vector<std::string> expected;
    for (std::size_t row = 0; row < rows; ++row) {
      std::string line;
      for (std::size_t i = 0; i < columns; ++i) {
        std::string cell;
        for (std::size_t k = engine() % 20; k > 0; --k)
          cell += pick({"1", "22", "x", " ", "#", "\\", "'", "\xe2\x82\xac", ".", "-", "NA"});
        std::string written = cell;
        if (quoting && engine() % 3 == 0) {
          for (std::size_t k = engine() % 6; k > 0; --k) cell += pick({"\"", ",", "\n", "\r", "\r\n", "a"});
          written = "\"";
          for (const char c : cell) written.append(c == '"' ? 2 : 1, c);
          written += "\"";
        }
        line += (i == 0 ? "" : "|") + (cell.empty() ? "null" : "'" + cell + "'");
        content += (i == 0 ? "" : ",") + written;
      }
      expected.push_back(line);
      content += end;
    }
    std::sort(expected.begin(), expected.end());
    const unsigned threads = std::vector<unsigned>{1, 2, 8}.at(engine() % 3);
    const auto source = open_duckdb_source({.path = folder.write("t.csv", content), .threads = threads});
    ASSERT_EQ(read_rows(*source, names, std::vector<AtomType>(columns, text)), expected)
        << "round " << round << ", " << testing::PrintToString(content.substr(0, 2000));
  }
}

// ---- Parquet ------------------------------------------------------------------------------------------------------

std::string schema_word(const SourceColumn& column) {
  if (!column.unusable.empty()) return column.unusable;
  if (!column.type) return "none";
  return *column.type == real ? "real" : "integer";
}

TEST(DuckdbParquet, TakesTypesFromTheSchema) {
  const std::vector<std::pair<std::string, std::string>> types{
      {"true", "integer"},
      {"1::TINYINT", "integer"},
      {"1::SMALLINT", "integer"},
      {"1::INTEGER", "integer"},
      {"1::BIGINT", "integer"},
      {"1::UTINYINT", "integer"},
      {"1::USMALLINT", "integer"},
      {"1::UINTEGER", "integer"},
      {"1::UBIGINT", "integer"},
      {"1::FLOAT", "real"},
      {"1::DOUBLE", "real"},
      {"1::DECIMAL(10, 2)", "real"},
      {"1::DECIMAL(18, 0)", "integer"},
      {"1::DECIMAL(38, 0)", "real"},
      {"'x'", "none"},
      {"'a'::ENUM('a', 'b')", "none"},
      {"DATE '2020-02-29'", "a date"},
      {"TIME '10:00'", "a time of day"},
      {"TIMESTAMP '2020-01-01'", "a timestamp"},
      {"TIMESTAMPTZ '2020-01-01'", "a timestamp"},
      {"TIMESTAMP_NS '2020-01-01'", "a timestamp"},
      {"TIMESTAMP_MS '2020-01-01'", "a timestamp"},
      {"INTERVAL 1 DAY", "an interval of time"},
      {"[1, 2]", "a list"},
      {"{'a': 1, 'b': [{'c': 2}]}", "a nested structure"},
      {"MAP {1: 2}", "a nested structure"},
      {"'x'::BLOB", "binary data, not marked as text"},
      {"'6d3d0b4e-9f0c-4c5b-8d0e-2f6f7b0d9d11'::UUID", "a UUID"},
      {"2::BIGINT", "integer"},
  };
  std::string query;
  for (std::size_t i = 0; i < types.size(); ++i)
    query += (i == 0 ? "SELECT " : ", ") + types[i].first + " AS x" + std::to_string(i);
  const ScratchFolder folder;
  const auto source = open_duckdb_source({.path = write_parquet(folder, query)});
  const std::vector<SourceColumn> columns = source->columns();
  ASSERT_EQ(columns.size(), types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    EXPECT_EQ(columns[i].name, "x" + std::to_string(i));
    EXPECT_EQ(schema_word(columns[i]), types[i].second) << types[i].first;
    for (const AtomType wanted : {real, integer, text}) {
      const RowRecorder recorder({wanted});
      const FoldRequest request{{columns[i].name}, recorder.aggregation()};
      if (columns[i].unusable.empty()) {
        EXPECT_EQ(source->fold({&request, 1}, {}).rows, 1U) << types[i].first;
      } else {
        EXPECT_EQ(error_of([&] {
                    source->fold({&request, 1}, {});
                  }).code(),
                  ErrorCode::bad_data)
            << types[i].first;
      }
    }
  }
}

// The table of docs/specification.md: what a stored cell becomes as a real, as an integer and as a text.
TEST(DuckdbParquet, ReadsEveryStoredTypeAsEveryDeclaredType) {
  struct Case {
    const char* sql;
    const char* as_real;
    const char* as_integer;
    const char* as_text;
  };
  const std::vector<Case> cases{
      {"true", "0x1p+0", "1", "'true'"},
      {"false", "0x0p+0", "0", "'false'"},
      {"NULL::BOOLEAN", "null", "null", "null"},
      {"(-7)::TINYINT", "-0x1.cp+2", "-7", "'-7'"},
      {"7::SMALLINT", "0x1.cp+2", "7", "'7'"},
      {"7::INTEGER", "0x1.cp+2", "7", "'7'"},
      {"9007199254740993::BIGINT", "0x1p+53", "9007199254740993", "'9007199254740993'"},
      {"255::UTINYINT", "0x1.fep+7", "255", "'255'"},
      {"65535::USMALLINT", "0x1.fffep+15", "65535", "'65535'"},
      {"4294967295::UINTEGER", "0x1.fffffffep+31", "4294967295", "'4294967295'"},
      {"9223372036854775807::UBIGINT", "0x1p+63", "9223372036854775807", "'9223372036854775807'"},
      {"9223372036854775808::UBIGINT", "0x1p+63", "null", "'9223372036854775808'"},
      {"18446744073709551615::UBIGINT", "0x1p+64", "null", "'18446744073709551615'"},
      {"1.5::DECIMAL(4, 2)", "0x1.8p+0", "null", "'1.50'"},
      {"(-2)::DECIMAL(4, 2)", "-0x1p+1", "-2", "'-2.00'"},
      {"1.5::DECIMAL(38, 1)", "0x1.8p+0", "null", "'1.5'"},
      {"1.00000000000000000001::DECIMAL(38, 20)", "0x1p+0", "null", "'1.00000000000000000001'"},
      {"9223372036854775808::DECIMAL(38, 0)", "0x1p+63", "null", "'9223372036854775808'"},
      {"(-9223372036854775808)::DECIMAL(38, 0)", "-0x1p+63", "-9223372036854775808",
       "'-9223372036854775808'"},
      {"0.1::FLOAT", "0x1.99999ap-4", "null", "'0.10000000149011612'"},
      {"3::FLOAT", "0x1.8p+1", "3", "'3'"},
      {"0.1::DOUBLE", "0x1.999999999999ap-4", "null", "'0.1'"},
      {"(-3)::DOUBLE", "-0x1.8p+1", "-3", "'-3'"},
      {"'-0'::DOUBLE", "-0x0p+0", "0", "'0'"},
      {"9007199254740994::DOUBLE", "0x1.0000000000001p+53", "9007199254740994", "'9007199254740994'"},
      {"9223372036854775808::DOUBLE", "0x1p+63", "null", "'9.223372036854776e+18'"},
      {"(-9223372036854775808)::DOUBLE", "-0x1p+63", "-9223372036854775808", "'-9223372036854775808'"},
      {"1e300::DOUBLE", "0x1.7e43c8800759cp+996", "null", "'1e+300'"},
      {"'nan'::DOUBLE", "nan", "null", "null"},
      {"'inf'::DOUBLE", "inf", "null", "'inf'"},
      {"NULL::DOUBLE", "null", "null", "null"},
      {"'1.00E+05'", "0x1.86ap+16", "100000", "'1.00E+05'"},
      {"' 7 '", "0x1.cp+2", "7", "' 7 '"},
      {"'1.5'", "0x1.8p+0", "null", "'1.5'"},
      {"'inf'", "inf", "null", "'inf'"},
      {"'nan'", "null", "null", "'nan'"},
      {"'x'", "null", "null", "'x'"},
      {"''", "null", "null", "''"},
      {"'7'::ENUM('7', 'b')", "0x1.cp+2", "7", "'7'"},
  };
  for (const Case& each : cases) {
    const std::string query = std::string("SELECT ") + each.sql + " AS a";
    const ScratchFolder folder;
    const auto source = open_duckdb_source({.path = write_parquet(folder, query)});
    EXPECT_THAT(read_rows(*source, {"a"}, {real}), ElementsAre(each.as_real)) << each.sql;
    EXPECT_THAT(read_rows(*source, {"a"}, {integer}), ElementsAre(each.as_integer)) << each.sql;
    EXPECT_THAT(read_rows(*source, {"a"}, {text}), ElementsAre(each.as_text)) << each.sql;
  }
}

// Where all rows are there a column may hold integers, and doubles when one is missing: no statistic may tell.
TEST(DuckdbParquet, IntegersAndTheSameAsDoublesAreReadAlike) {
  const std::string numbers = "[0, -1, 7, 9007199254740992, -9007199254740992, 1000000, 255]";
  for (const AtomType wanted : {real, integer, text}) {
    const std::vector<std::string> integers =
        parquet_rows("SELECT unnest(" + numbers + "::BIGINT[]) AS a", {"a"}, {wanted});
    for (const char* stored : {"DOUBLE", "DECIMAL(18, 0)"}) {
      EXPECT_EQ(parquet_rows("SELECT unnest(" + numbers + "::" + stored + "[]) AS a", {"a"}, {wanted}),
                integers)
          << stored;
    }
  }
}

TEST(DuckdbParquet, RefusesWhatDuckdbMisreads) {
  using namespace parquet;
  const ScratchFolder folder;
  const auto decimal = [](int precision, Physical type, std::size_t bytes) {
    const std::string cell = type == int32 ? little_endian(15, 4) : big_endian(15, bytes);
    return parquet::Column{.name = "d" + std::to_string(precision) + "_" + std::to_string(type),
                           .type = type,
                           .cells = {cell},
                           .type_length = static_cast<int>(bytes),
                           .converted = converted_decimal,
                           .scale = 1,
                           .precision = precision};
  };
  const std::string bytes = file({decimal(38, fixed, 16),
                                  decimal(38, byte_array, 16),
                                  decimal(20, byte_array, 9),
                                  decimal(9, int32, 4),
                                  decimal(39, fixed, 17),
                                  decimal(40, fixed, 16),
                                  decimal(76, fixed, 32),
                                  decimal(40, byte_array, 17),
                                  {.name = "n", .type = int32, .cells = {little_endian(7, 4)}}});
  const auto source = open_duckdb_source({.path = folder.write("t.parquet", bytes)});
  for (const SourceColumn& column : source->columns()) {
    SCOPED_TRACE(column.name);
    if (column.name == "n") {
      EXPECT_THAT(read_rows(*source, {"n"}, {integer}), ElementsAre("7"));
      continue;
    }
    const bool usable = std::stoi(column.name.substr(1)) <= 38;
    EXPECT_THAT(column.unusable, usable ? HasSubstr("") : HasSubstr("a decimal of more than 38 digits"));
    if (usable) {
      EXPECT_THAT(read_rows(*source, {column.name}, {real}), ElementsAre("0x1.8p+0"));
      EXPECT_THAT(read_rows(*source, {column.name}, {text}), ElementsAre("'1.5'"));
    } else {
      const RowRecorder recorder({real});
      const FoldRequest request{{column.name}, recorder.aggregation()};
      EXPECT_EQ(error_of([&] { source->fold({&request, 1}, {}); }).parameter(), "column");
    }
  }
}

// Names that are empty or occur twice, and a column of nothing but nulls, which has no type.
TEST(DuckdbParquet, ReadsFilesWithNamelessAndRepeatedColumns) {
  using namespace parquet;
  const ScratchFolder folder;
  const auto number = [](const char* name, std::uint64_t value) {
    return parquet::Column{.name = name, .type = int64, .cells = {little_endian(value, 8)}};
  };
  const Struct unknown = Struct().nested(11, Struct());
  const std::string bytes =
      file({number("", 1),
            number("a", 2),
            number("b", 3),
            number("a", 4),
            number("A", 5),
            {.name = "none", .type = int32, .cells = {""}, .logical = unknown, .null = true}});
  const auto source = open_duckdb_source({.path = folder.write("t.parquet", bytes)});
  EXPECT_THAT(read_rows(*source, {"b", "A"}, {integer, integer}), ElementsAre("3|5"));
  for (const AtomType wanted : {real, integer, text})
    EXPECT_THAT(read_rows(*source, {"none"}, {wanted}), ElementsAre("null"));
  const RowRecorder recorder({integer});
  const FoldRequest request{{"a"}, recorder.aggregation()};
  EXPECT_THAT(error_of([&] { source->fold({&request, 1}, {}); }).what(), HasSubstr("columns 2 and 4"));
}

TEST(DuckdbParquet, ReadsFloatsOf16Bits) {
  using namespace parquet;
  const ScratchFolder folder;
  std::vector<std::string> cells;
  for (const std::uint64_t bits : {0x3e00U, 0xc500U, 0x7bffU, 0x0001U, 0xfc00U, 0x7e00U})
    cells.push_back(little_endian(bits, 2));
  const Struct half = Struct().nested(15, Struct());
  const std::string bytes =
      file({{.name = "a", .type = fixed, .cells = cells, .type_length = 2, .logical = half}});
  const auto source = open_duckdb_source({.path = folder.write("t.parquet", bytes)});
  EXPECT_THAT(read_rows(*source, {"a"}, {real}),
              ElementsAre("-0x1.4p+2", "-inf", "0x1.8p+0", "0x1.ffcp+15", "0x1p-24", "nan"));
}

TEST(DuckdbParquet, SaysWhatOtherFilesAre) {
  const ScratchFolder folder;
  for (const auto& [bytes, what] : {std::pair{"", "is empty"},
                                    {"a,b\n1,2\n", "if it is CSV, let its name end in .csv"},
                                    {"PK\x03\x04", "zip archive"},
                                    {"PARE....", "encrypted"},
                                    {"PAR1", "not a Parquet file that DuckDB reads"}}) {
    const auto source = open_duckdb_source({.path = folder.write("t.parquet", bytes)});
    const Error error = error_of([&] { source->columns(); });
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    EXPECT_THAT(error.what(), HasSubstr(what));
  }
}

TEST(DuckdbParquet, ReadsValuesOfEveryType) {
  EXPECT_THAT(parquet_rows("SELECT unnest([true, false, NULL]) AS a", {"a"}, {integer}),
              ElementsAre("0", "1", "null"));
  EXPECT_THAT(
      parquet_rows("SELECT unnest([-9223372036854775808, 9223372036854775807, NULL]) AS a", {"a"}, {integer}),
      ElementsAre("-9223372036854775808", "9223372036854775807", "null"));
  // An integer column wanted as real: the nearest double, ties to even.
  EXPECT_THAT(parquet_rows("SELECT unnest([9007199254740993, 9007199254740995, -9223372036854775807]) AS a",
                           {"a"}, {real}),
              ElementsAre("-0x1p+63", "0x1.0000000000002p+53", "0x1p+53"));
  // Beyond 64 signed bits.
  EXPECT_THAT(
      parquet_rows("SELECT unnest([5::UBIGINT, 18446744073709551615::UBIGINT]) AS a", {"a"}, {integer}),
      ElementsAre("5", "null"));
  EXPECT_THAT(parquet_rows("SELECT unnest([5::UBIGINT, 18446744073709551615::UBIGINT]) AS a", {"a"}, {real}),
              ElementsAre("0x1.4p+2", "0x1p+64"));
  EXPECT_THAT(
      parquet_rows("SELECT unnest([0.1, -999999999999999.9, NULL]::DECIMAL(16, 1)[]) AS a", {"a"}, {real}),
      ElementsAre("-0x1.c6bf52633ffffp+49", "0x1.999999999999ap-4", "null"));
  EXPECT_THAT(
      parquet_rows("SELECT unnest([999999999999999999, -1]::DECIMAL(18, 0)[]) AS a", {"a"}, {integer}),
      ElementsAre("-1", "999999999999999999"));
  EXPECT_THAT(
      parquet_rows("SELECT unnest(['inf', '-inf', 'nan', '1e38', '1e-45']::FLOAT[]) AS a", {"a"}, {real}),
      ElementsAre("-inf", "0x1.2ced32p+126", "0x1p-149", "inf", "nan"));
  EXPECT_THAT(
      parquet_rows("SELECT unnest(['-0', '5e-324', '1.7976931348623157e308']::DOUBLE[]) AS a", {"a"}, {real}),
      ElementsAre("-0x0p+0", "0x0.0000000000001p-1022", "0x1.fffffffffffffp+1023"));
  // Text is read like a cell of a CSV file.
  EXPECT_THAT(parquet_rows("SELECT unnest(['1.00E+05', ' 7 ', '', 'x', NULL]) AS a", {"a"}, {integer}),
              ElementsAre("100000", "7", "null", "null", "null"));
  EXPECT_THAT(
      parquet_rows("SELECT unnest(['', 'twelve chars', 'more than twelve', NULL]) AS a", {"a"}, {text}),
      ElementsAre("''", "'more than twelve'", "'twelve chars'", "null"));
  EXPECT_THAT(parquet_rows("SELECT unnest(['b', 'a', NULL]::ENUM('a', 'b')[]) AS a", {"a"}, {text}),
              ElementsAre("'a'", "'b'", "null"));
}

TEST(DuckdbParquet, HugeTimestampsDoNoHarm) {
  const ScratchFolder folder;
  const auto source = open_duckdb_source(
      {.path = write_parquet(folder, "SELECT make_timestamp(9000000000000000000) AS t, 1 AS a")});
  EXPECT_EQ(schema_word(source->columns().at(0)), "a timestamp");
  EXPECT_THAT(read_rows(*source, {"a"}, {integer}), ElementsAre("1"));
  const RowRecorder recorder({real});
  const FoldRequest request{{"t"}, recorder.aggregation()};
  const Error error = error_of([&] { source->fold({&request, 1}, {}); });
  EXPECT_EQ(error.code(), ErrorCode::bad_data);
  EXPECT_THAT(error.what(), HasSubstr("it is a timestamp"));
}

TEST(DuckdbParquet, NamesAreExact) {
  const ScratchFolder folder;
  const std::string path = write_parquet(
      folder,
      "SELECT {'A': 9, 'b': [8]} AS s, 1 AS a, 2 AS \"x\"\"y;'\", 3 AS A_1, 4 AS c0, 5 AS \"\xe2\x82\xac\"");
  const auto source = open_duckdb_source({.path = path});
  const std::vector<SourceColumn> columns = source->columns();
  ASSERT_EQ(columns.size(), 6U);
  EXPECT_EQ(columns[2].name, "x\"y;'");
  EXPECT_THAT(read_rows(*source, {"a", "x\"y;'", "A_1"}, {integer, integer, integer}), ElementsAre("1|2|3"));
  EXPECT_THAT(read_rows(*source, {"c0", "\xe2\x82\xac"}, {integer, integer}), ElementsAre("4|5"));
  const RowRecorder recorder({integer});
  for (const char* name : {"A", "a_1", "b", "file_row_number", "filename"}) {
    const FoldRequest request{{name}, recorder.aggregation()};
    EXPECT_EQ(error_of([&] { source->fold({&request, 1}, {}); }).parameter(), "column") << name;
  }
}

TEST(DuckdbParquet, RefusesDamagedFiles) {
  const ScratchFolder folder;
  const std::string path = write_parquet(folder, "SELECT i AS a, 'secret' || i AS b FROM range(100000) t(i)");
  std::ifstream file(path, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(file)), {});
  const RowRecorder recorder({integer, text});
  const FoldRequest request{{"a", "b"}, recorder.aggregation()};
  const auto outcome = [&](const std::string& bytes) {
    const auto source = open_duckdb_source({.path = folder.write("damaged.parquet", bytes)});
    return error_of([&] { source->fold({&request, 1}, {}); });
  };
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{4}, std::size_t{11}, good.size() / 2, good.size() - 1}) {
    const Error error = outcome(good.substr(0, length));
    EXPECT_EQ(error.code(), ErrorCode::bad_data) << length;
    EXPECT_THAT(error.what(), Not(HasSubstr("secret")));
  }
  std::string damaged = good;
  std::fill(damaged.begin() + 100, damaged.begin() + 5000, '\xee');
  const Error error = outcome(damaged);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("damaged"), Not(HasSubstr("secret"))));
}

// ---- Folding ------------------------------------------------------------------------------------------------------

const Bounds unit_bounds(Dyadic(-2), Dyadic(2));

// impute 0, clamp and `statistic` over one column of anything.
Aggregation chain(AtomType type, const Partial<Aggregation>& statistic, std::optional<std::uint64_t> size) {
  VectorDomain domain = untrusted_domain({type});
  if (size) domain = domain.of_size(*size);
  const Metric metric = size ? change_one() : symmetric_distance();
  const Transformation impute = make_impute(domain, metric, {Dyadic(0)});
  return impute >> make_clamp(impute.output_domain(), metric, unit_bounds) >> statistic;
}

// What the engine and the in-memory path make of the same rows, as bytes.
void expect_same_bits(Source& source, const std::string& column, const Aggregation& aggregation,
                      const Chunk& rows) {
  AggregateState expected = aggregation.start();
  aggregation.update(expected, rows);
  const FoldRequest request{{column}, &aggregation};
  const FoldResult result = source.fold({&request, 1}, {});
  ASSERT_EQ(result.rows, rows.length);
  ASSERT_EQ(aggregation.to_bytes(result.states.at(0)), aggregation.to_bytes(expected));
}

TEST(DuckdbFold, GivesTheBitsOfTheInMemoryPathParallel) {
  std::mt19937_64 engine(3);
  const ScratchFolder folder;
  for (const std::size_t count : std::vector<std::size_t>{0, 1, 2, 2047, 2049, 100'000}) {
    // Nulls are where the divisor says; their values in memory must not matter.
    std::vector<double> reals = adversarial_reals(engine, count);
    std::vector<std::uint8_t> validity(count / 8 + 1);
    std::string csv = "i,x\n";
    for (std::size_t row = 0; row < count; ++row) {
      char cell[64];
      std::snprintf(cell, sizeof cell, "%zu,%.17g\n", row, reals[row]);
      csv += engine() % 5 == 0 ? std::to_string(row) + ",\n" : std::string(cell);
      if (csv[csv.size() - 2] != ',')
        validity[row / 8] = static_cast<std::uint8_t>(validity[row / 8] | (1U << row % 8));
      // In text NaN is null.
      if (std::isnan(reals[row]))
        validity[row / 8] = static_cast<std::uint8_t>(validity[row / 8] & ~(1U << row % 8));
    }
    const Column column{real, reals.data(), validity.data(), 0};
    const Chunk rows(std::span<const Column>(&column, 1), count);
    const std::string csv_path = folder.write("t.csv", csv);
    const std::string parquet_path = (folder.path() / "t.parquet").string();
    run_sql({"COPY (SELECT i::BIGINT AS i, x::DOUBLE AS x FROM read_csv(" +
             engines_internal::sql_text(csv_path) + ", all_varchar = true)) TO " +
             engines_internal::sql_text(parquet_path) + " (FORMAT parquet, ROW_GROUP_SIZE 20000)"});
    for (const unsigned threads : {1U, 2U, 8U}) {
      for (const std::string& path : {csv_path, parquet_path}) {
        const auto source = open_duckdb_source({.path = path, .threads = threads});
        expect_same_bits(*source, "x", chain(real, make_sum(), std::nullopt), rows);
        if (count >= 2) expect_same_bits(*source, "x", chain(real, make_variance(), count), rows);
        if (count >= 1) expect_same_bits(*source, "x", chain(real, make_mean(), count), rows);
        expect_same_bits(*source, "x", chain(real, make_count(), std::nullopt), rows);
      }
    }
  }
}

TEST(DuckdbFold, FoldsManyRequestsInOnePass) {
  const ScratchFolder folder;
  std::string csv = "a,b,c\n";
  for (int i = 0; i < 5000; ++i)
    csv += std::to_string(i % 7) + "," + std::to_string(i % 3) + ".5," + (i % 2 == 0 ? "yes" : "no") + "\n";
  const auto source = open_duckdb_source({.path = folder.write("t.csv", csv), .threads = 2});
  const Aggregation sum = chain(integer, make_sum(), std::nullopt);
  const Aggregation real_sum = chain(real, make_sum(), std::nullopt);
  const Aggregation words =
      make_histogram(untrusted_domain({text}), symmetric_distance(), Bins::texts({"yes", "no", "maybe"}));
  const Aggregation numbers = make_histogram(untrusted_domain({integer}), symmetric_distance(),
                                             Bins::numbers({0, 1, 6}).with_other());
  const std::vector<FoldRequest> requests{{{"a"}, &sum},   {{"a"}, &real_sum}, {{"b"}, &real_sum},
                                          {{"c"}, &words}, {{"a"}, &numbers},  {{"a"}, &sum}};
  const FoldResult result = source->fold(requests, {});
  ASSERT_EQ(result.states.size(), requests.size());
  EXPECT_EQ(result.rows, 5000U);
  // 5000 = 714 * 7 + 2: the remainders 0 and 1 come once more. Sums are clamped to [-2, 2].
  EXPECT_EQ(sum.finish(result.states[0]).at(0), Dyadic(715 + 714 * 5 * 2));
  EXPECT_EQ(real_sum.finish(result.states[1]).at(0), Dyadic(715 + 714 * 5 * 2));
  EXPECT_EQ(real_sum.finish(result.states[2]).at(0), Dyadic((1667 * 1 + 1667 * 3 + 1666 * 4) / 2.0));
  EXPECT_THAT(words.finish(result.states[3]), ElementsAre(Dyadic(2500), Dyadic(2500), Dyadic(0)));
  EXPECT_THAT(numbers.finish(result.states[4]),
              ElementsAre(Dyadic(715), Dyadic(715), Dyadic(714), Dyadic(5000 - 715 * 2 - 714)));
  EXPECT_EQ(sum.finish(result.states[5]), sum.finish(result.states[0]));
}

TEST(DuckdbFold, CountsRowsWithoutAnyColumn) {
  const ScratchFolder folder;
  const auto csv = open_duckdb_source({.path = folder.write("t.csv", "a,b\n1,2\n,\n3,\n")});
  EXPECT_EQ(csv->fold({}, {}).rows, 3U);
  const auto parquet = open_duckdb_source({.path = write_parquet(folder, "SELECT * FROM range(100000)")});
  EXPECT_EQ(parquet->fold({}, {}).rows, 100'000U);
  EXPECT_TRUE(parquet->fold({}, {}).states.empty());
}

TEST(DuckdbFold, FloatsOverflowNothing) {
  // In single precision, and in double precision summed in one order, this is not exact.
  const ScratchFolder folder;
  const auto source = open_duckdb_source(
      {.path =
           write_parquet(folder,
                         "SELECT unnest([1e38, 1e38, 1e38, 1e38, -1e38, -1e38, -1e38, -1e38, -1e38, -1e38, "
                         "-1e38]::FLOAT[]) AS x")});
  const Transformation impute = make_impute(untrusted_domain({real}), symmetric_distance(), {Dyadic(0)});
  const Aggregation sum = impute >> make_clamp(impute.output_domain(), symmetric_distance(),
                                               Bounds(Dyadic(-0x1p127), Dyadic(0x1p127))) >>
                          make_sum();
  const FoldRequest request{{"x"}, &sum};
  const Dyadic cell(static_cast<double>(1e38F));
  EXPECT_EQ(sum.finish(source->fold({&request, 1}, {}).states.at(0)).at(0), -(cell + cell + cell));
}

TEST(DuckdbFold, DoesNotDependOnTheCallersRounding) {
  const ScratchFolder folder;
  const std::string path = write_parquet(folder, "SELECT unnest([9007199254740993, 9007199254740995]) AS a");
  std::vector<std::string> rows;
  std::fesetround(FE_UPWARD);
  rows = read_rows(*open_duckdb_source({.path = path}), {"a"}, {real});
  std::fesetround(FE_TONEAREST);
  EXPECT_THAT(rows, ElementsAre("0x1.0000000000002p+53", "0x1p+53"));
}

TEST(DuckdbFold, RefusesAggregationsThatTrustTheirRows) {
  const ScratchFolder folder;
  const auto source = open_duckdb_source({.path = folder.write("t.csv", "a,b\n1,2\n")});
  const Aggregation trusting = make_count(vector_domain<double>(), symmetric_distance());
  const FoldRequest one{{"a"}, &trusting};
  EXPECT_EQ(error_of([&] { source->fold({&one, 1}, {}); }).code(), ErrorCode::mismatch);
  const RowRecorder recorder({real, real});
  const FoldRequest two{{"a"}, recorder.aggregation()};
  EXPECT_EQ(error_of([&] { source->fold({&two, 1}, {}); }).code(), ErrorCode::mismatch);
}

TEST(DuckdbFold, ProgressIsPercentOnTheCallingThread) {
  const ScratchFolder folder;
  std::string csv = "a,b\n";
  while (csv.size() < 20'000'000) csv += "1234567,abcdefgh\n";
  const auto source = open_duckdb_source({.path = folder.write("t.csv", csv), .threads = 2});
  const RowRecorder recorder({real});
  std::vector<double> percents;
  const std::thread::id here = std::this_thread::get_id();
  const Aggregation count = make_count(untrusted_domain({real}), symmetric_distance());
  const FoldRequest request{{"a"}, &count};
  source->fold({&request, 1}, [&](double percent) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    percents.push_back(percent);
  });
  ASSERT_GE(percents.size(), 2U);
  EXPECT_TRUE(std::is_sorted(percents.begin(), percents.end()));
  EXPECT_GE(percents.front(), 0);
  EXPECT_LE(percents.back(), 100);
  EXPECT_GT(percents.back(), 10);
}

TEST(DuckdbFold, AProgressCallbackMayThrow) {
  const ScratchFolder folder;
  std::string csv = "a,b\n";
  while (csv.size() < 20'000'000) csv += "1234567,abcdefgh\n";
  const auto source = open_duckdb_source({.path = folder.write("t.csv", csv), .threads = 2});
  EXPECT_THROW(source->fold({}, [](double) { throw std::runtime_error("stop"); }), std::runtime_error);
  EXPECT_GT(source->fold({}, {}).rows, 0U);
}

TEST(DuckdbFold, ASourceCanBeUsedAgainAndSeesNewRows) {
  const ScratchFolder folder;
  const auto source = open_duckdb_source({.path = folder.write("t.csv", "a,b\n1,2\n")});
  EXPECT_THAT(read_rows(*source, {"a"}, {integer}), ElementsAre("1"));
  folder.write("t.csv", "b,a\n1,2\n3,4\n");
  EXPECT_THAT(read_rows(*source, {"a"}, {integer}), ElementsAre("2", "4"));
  std::filesystem::remove(folder.path() / "t.csv");
  EXPECT_EQ(error_of([&] { source->columns(); }).code(), ErrorCode::io);
}

TEST(DuckdbFold, ReadsThreeMillionFlightsParallel) {
  if (!std::filesystem::exists(SNAPDP_FLIGHTS))
    GTEST_SKIP() << "no " SNAPDP_FLIGHTS "; tools/fetch-deps vega fetches it";
  std::vector<std::string> bytes;
  for (const unsigned threads : {1U, 2U, 8U}) {
    const auto source = open_duckdb_source({.path = SNAPDP_FLIGHTS, .threads = threads});
    const Transformation impute =
        make_impute(untrusted_domain({integer}).of_size(3'000'000), change_one(), {Dyadic(0)});
    const Aggregation mean =
        impute >> make_clamp(impute.output_domain(), change_one(), Bounds(-100, 500)) >> make_mean();
    const FoldRequest request{{"delay"}, &mean};
    const FoldResult result = source->fold({&request, 1}, {});
    EXPECT_EQ(result.rows, 3'000'000U);
    bytes.push_back(mean.to_bytes(result.states.at(0)));
  }
  EXPECT_EQ(bytes[0], bytes[1]);
  EXPECT_EQ(bytes[0], bytes[2]);
}

}  // namespace
}  // namespace snapdp
