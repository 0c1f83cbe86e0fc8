#include "snapdp/engines/duckdb/duckdb_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cfenv>
#include <cmath>
#include <random>
#include <thread>

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
  check((folder.path() / "*.csv").string(), ErrorCode::invalid_argument, "patterns");
  check((folder.path() / "[t].csv").string(), ErrorCode::invalid_argument, "patterns");
  check((folder.path() / "?.csv").string(), ErrorCode::invalid_argument, "patterns");
  check(folder.path().string(), ErrorCode::invalid_argument, "folder");
  for (const char* address : {"https://example.com/t.csv", "http://example.com/t.parquet",
                              "s3://bucket/t.csv", "file:///etc/passwd"})
    check(address, ErrorCode::invalid_argument, "addresses");
  check(good + std::string("\0.csv", 5), ErrorCode::invalid_argument, "zero byte");
  check("/dev/null", ErrorCode::invalid_argument, "regular");
  ASSERT_EQ(mkfifo((folder.path() / "pipe.csv").c_str(), 0600), 0);
  check((folder.path() / "pipe.csv").string(), ErrorCode::invalid_argument, "regular");

  // A file whose name the engine would take for a pattern that matches another file too.
  const std::string pattern = folder.write("[t].csv", "a\n2\n");
  check(pattern, ErrorCode::invalid_argument, "rename or move");
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
  for (const char* name : {"t.csv", "t.CSV", "t.tsv", "t.txt"})
    EXPECT_EQ(open_duckdb_source({.path = folder.write(name, "a\n1\n")})->columns().size(), 1U) << name;
  const std::string plain = folder.write("t", "a\n1\n");
  EXPECT_EQ(error_of([&] { open_duckdb_source({.path = plain}); }).parameter(), "format");
  EXPECT_EQ(open_duckdb_source({.path = plain, .format = FileFormat::csv})->columns().size(), 1U);

  const std::string parquet = write_parquet(folder, "SELECT 1 AS a");
  const std::string odd = (folder.path() / "parquet.csv").string();
  std::filesystem::copy_file(parquet, odd);
  EXPECT_EQ(error_of([&] { open_duckdb_source({.path = odd})->columns(); }).code(), ErrorCode::bad_data);
  EXPECT_EQ(open_duckdb_source({.path = odd, .format = FileFormat::parquet})->columns().size(), 1U);
  const std::string fake = folder.write("fake.parquet", "a\n1\n");
  EXPECT_EQ(error_of([&] { open_duckdb_source({.path = fake})->columns(); }).code(), ErrorCode::bad_data);
}

TEST(DuckdbSource, IsLockedToItsFile) {
  const ScratchFolder folder;
  const std::string mine = folder.write("mine.csv", "a\n1\n");
  const std::string other = folder.write("other.csv", "a\n1\n");
  const engine::Connection connection({.file = std::filesystem::canonical(mine).string()});
  const auto runs = [&](const std::string& sql) {
    try {
      connection.run(sql);
      return true;
    } catch (const engine::EngineFailure&) {
      return false;
    }
  };
  EXPECT_TRUE(runs("SELECT * FROM read_csv(" + engine::sql_text(std::filesystem::canonical(mine)) + ")"));
  EXPECT_FALSE(runs("SELECT * FROM read_csv(" + engine::sql_text(other) + ")"));
  EXPECT_FALSE(runs("SELECT * FROM read_text('/etc/passwd')"));
  EXPECT_FALSE(runs("SELECT * FROM read_csv('https://example.com/a.csv')"));
  EXPECT_FALSE(runs("COPY (SELECT 1) TO " + engine::sql_text((folder.path() / "out.csv").string())));
  EXPECT_FALSE(runs("ATTACH " + engine::sql_text((folder.path() / "x.db").string())));
  EXPECT_FALSE(runs("INSTALL httpfs"));
  EXPECT_FALSE(runs("LOAD httpfs"));
  EXPECT_FALSE(runs("SET enable_external_access = true"));
  EXPECT_FALSE(runs("SET threads = 1"));
  EXPECT_FALSE(runs("RESET allowed_paths"));
}

TEST(DuckdbSource, TemporaryFilesGoIntoAPrivateFolderThatIsRemoved) {
  const ScratchFolder folder;
  const std::string path = folder.write("t.csv", "a\n1\n");
  const std::filesystem::path temp = folder.path() / "temp";
  const auto entries = [&] {
    return std::distance(std::filesystem::directory_iterator(temp), std::filesystem::directory_iterator());
  };
  std::filesystem::create_directory(temp);
  {
    const auto source = open_duckdb_source({.path = path, .temp_folder = temp.string()});
    EXPECT_THAT(read_rows(*source, {"a"}, {integer}), ElementsAre("1"));
    ASSERT_EQ(entries(), 1);
    struct stat status {};
    ASSERT_EQ(stat(std::filesystem::directory_iterator(temp)->path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
  }
  EXPECT_EQ(entries(), 0);
  EXPECT_EQ(error_of([&] { open_duckdb_source({.path = path, .temp_folder = path}); }).parameter(),
            "temp_folder");
}

TEST(DuckdbSource, WritesNothingUnlessAsked) {
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

TEST(DuckdbCsv, RefusesMixedLineEnds) {
  for (const char* content :
       {"a,b\n1,x\r\n", "a,b\r\n1,x\n", "a,b\r\n1,x\r", "a,b\r1,x\n", "a,b\n1,\r\n", "a,b\n\r\n1,2\n",
        "a,b\n1,x\ry\n", "a,b\r\n1,\"x\"\n", "a,b\n1,\"x\"\r\n", "a\n1\r\n"}) {
    EXPECT_EQ(error_of([&] { csv_rows(content, {"a"}, {text}); }).code(), ErrorCode::bad_data)
        << testing::PrintToString(content);
  }
}

TEST(DuckdbCsv, ReadsQuotedCells) {
  const std::string content =
      "a,b\n\"1,5\",\"line\nbreak\"\n\"say \"\"hi\"\"\",\"\r\n\"\n\"\"\"\",plain\n5\" disk,\"x\" \n "
      "\"y\",z\n";
  EXPECT_THAT(
      csv_rows(content, {"a", "b"}, {text, text}),
      ElementsAre("'\"'|'plain'", "'1,5'|'line\nbreak'", "'5\" disk'|'x'", "'say \"hi\"'|'\r\n'", "'y'|'z'"));
}

TEST(DuckdbCsv, BlankLinesAreNoRowsUnlessThereIsOneColumn) {
  EXPECT_THAT(csv_rows("a,b\n1,2\n\n3,4\n\n\n", {"a", "b"}, {text, text}), ElementsAre("'1'|'2'", "'3'|'4'"));
  EXPECT_THAT(csv_rows("a,b\r\n\r\n1,2\r\n\r\n", {"a"}, {text}), ElementsAre("'1'"));
  EXPECT_THAT(csv_rows("a\n1\n\n3\n", {"a"}, {text}), ElementsAre("'1'", "'3'", "null"));
  EXPECT_THAT(csv_rows("a\r\n1\r\n\r\n", {"a"}, {text}), ElementsAre("'1'", "null"));
}

TEST(DuckdbCsv, ReadsFilesWithoutRows) {
  for (const char* content : {"a,b", "a,b\n", "a,b\r\n", "a,b\r", "\xef\xbb\xbf\"a\",b\n", "a,b\n\n\n"})
    EXPECT_THAT(csv_rows(content, {"a", "b"}, {real, text}), ElementsAre())
        << testing::PrintToString(content);
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

TEST(DuckdbCsv, RefusesMalformedRowsWithoutRepeatingThem) {
  const std::string secret = "5ecret";
  for (const std::string& rows : {secret + "\n", "1,2," + secret + "\n", "1,2\n" + secret + ",2,3,4\n",
                                  "1,\"" + secret + "\n", "1,\"x\"" + secret + "\n", secret + "\xff,2\n",
                                  "1," + secret + std::string(2'100'000, 'x') + "\n", "\"" + secret}) {
    for (const std::vector<std::string>& columns : {std::vector<std::string>{"a"}, {"b"}, {"a", "b"}}) {
      if (rows.find('\xff') != std::string::npos && columns == std::vector<std::string>{"b"}) continue;
      const Error error =
          error_of([&] { csv_rows("a,b\n" + rows, columns, std::vector<AtomType>(columns.size(), text)); });
      EXPECT_EQ(error.code(), ErrorCode::bad_data) << rows.substr(0, 50);
      EXPECT_EQ(error.parameter(), "data") << rows.substr(0, 50);
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("not well-formed CSV"), Not(HasSubstr(secret)), Not(HasSubstr("ine:"))));
    }
  }
}

// DuckDB 1.4.4 drops the last chunk of 8 MB in silence when the first row in it is too long.
TEST(DuckdbCsv, MissesNoRowBehindAMalformedOne) {
  const ScratchFolder folder;
  std::string content = "a,b\n";
  while (content.size() < 8'200'000) content += "1,2\n";
  content.replace(8'000'004, 4, "1,2,3,4\n");
  const auto source = open_duckdb_source({.path = folder.write("t.csv", content), .threads = 2});
  EXPECT_EQ(error_of([&] { source->fold({}, {}); }).code(), ErrorCode::bad_data);
}

// DuckDB 1.4.4's parallel reader takes the second line of this quoted cell for a row's beginning.
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
      // Whatever can be used is read as what is wanted.
      const bool fits =
          types[i].second == "none" || types[i].second == "real" || types[i].second == "integer";
      if (fits) {
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
    run_sql({"COPY (SELECT i::BIGINT AS i, x::DOUBLE AS x FROM read_csv(" + engine::sql_text(csv_path) +
             ", all_varchar = true)) TO " + engine::sql_text(parquet_path) +
             " (FORMAT parquet, ROW_GROUP_SIZE 20000)"});
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
