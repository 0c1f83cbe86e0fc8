// Which rows the DuckDB source selects, held against the plain selection of MemorySource and against counting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "duckdb/source_testing.h"
#include "engines/duckdb/table.h"
#include "engines/duckdb/unit_rows.h"
#include "framework/shared/row_hash.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/memory_source.h"

namespace snapdp {

using namespace framework_internal;
using namespace engines_internal;

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
constexpr AtomType real = AtomType::real;
constexpr AtomType integer = AtomType::integer;
constexpr AtomType text = AtomType::text;

// A table of text: columns pid, k (an integer), x (a number) and s.
using Row = std::array<std::string, 4>;

std::vector<Row> random_rows(std::mt19937_64& engine, std::size_t count) {
  const auto pick = [&](const std::vector<std::string>& from) { return from[engine() % from.size()]; };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string unit = engine() % 20 == 0 ? pick({"", " ", "\t ", "  x", "01", "1.0"})
                                                : std::to_string(engine() % (count / 6 + 1));
    rows.push_back({unit, std::to_string(engine() % 5),
                    pick({"-0", "0", "0.5", "-7", "1e300", "nan", "2.25", ""}),
                    pick({"a", "b", "", "c", "a ", "north west"})});
    if (engine() % 4 == 0) rows.back() = rows[engine() % rows.size()];  // exact duplicates
  }
  return rows;
}

std::string csv_of(const std::vector<Row>& rows) {
  std::string csv = "pid,k,x,s\n";
  for (const Row& row : rows) csv += row[0] + "," + row[1] + "," + row[2] + "," + row[3] + "\n";
  return csv;
}

// An empty cell is null.
std::string_view cell(const std::string& written) {
  return written.empty() ? std::string_view() : std::string_view(written);
}

MemorySource::Texts texts_of(const std::vector<Row>& rows, std::size_t column) {
  MemorySource::Texts texts;
  for (const Row& row : rows) texts.push_back(cell(row[column]));
  return texts;
}

MemorySource memory_csv(const std::vector<Row>& rows) {
  MemorySource source;
  source.add("pid", texts_of(rows, 0)).add("k", texts_of(rows, 1)).add("x", texts_of(rows, 2));
  source.add("s", texts_of(rows, 3));
  return source;
}

// The same with k a BIGINT and x a DOUBLE in which what is missing is NaN.
MemorySource memory_parquet(const std::vector<Row>& rows) {
  MemorySource::Integers integers;
  MemorySource::Reals reals;
  for (const Row& row : rows) {
    integers.push_back(std::stoll(row[1]));
    reals.push_back(row[2].empty() ? std::nan("") : std::stod(row[2]));
  }
  MemorySource source;
  source.add("pid", texts_of(rows, 0)).add({"k", integer, ""}, integers).add({"x", real, ""}, reals);
  source.add("s", texts_of(rows, 3));
  return source;
}

std::string write_both(const ScratchFolder& folder, const std::vector<Row>& rows) {
  const std::string csv = folder.write("t.csv", csv_of(rows));
  const std::string parquet = (folder.path() / "t.parquet").string();
  run_sql(
      {"COPY (SELECT pid, k::BIGINT AS k, coalesce(x, 'nan')::DOUBLE AS x, s FROM read_csv(" +
       engines_internal::sql_text(csv) +
       ", all_varchar = true, auto_detect = false, header = true, delim = ',', " +
       "quote = '', escape = '', columns = {pid: 'VARCHAR', k: 'VARCHAR', x: 'VARCHAR', s: 'VARCHAR'})) TO " +
       engines_internal::sql_text(parquet) + " (FORMAT parquet, ROW_GROUP_SIZE 4096)"});
  return csv;
}

RowSelection::Condition some_condition() {
  return {
      {"x", "s"},
      {real, text},
      Predicate::compare(0, real, Comparison::at_least, 0) && !Predicate::compare(1, Comparison::equal, "a")};
}

TEST(DuckdbSelection, GivesTheRowsOfThePlainSelectionParallel) {
  std::mt19937_64 engine(11);
  const ScratchFolder folder;
  for (const std::size_t count : std::vector<std::size_t>{0, 1, 40, 2050, 8000}) {
    std::vector<Row> rows = random_rows(engine, count);
    write_both(folder, rows);
    const std::vector<std::pair<std::string, MemorySource>> sources{{"t.csv", memory_csv(rows)},
                                                                    {"t.parquet", memory_parquet(rows)}};
    for (const auto& [file, plain] : sources) {
      MemorySource memory = plain;
      for (const std::string unit : {"", "pid", "k", "x"}) {
        for (const bool filtered : {false, true}) {
          RowSelection selection;
          if (filtered) selection.where = some_condition();
          if (!unit.empty()) selection.unit = {unit, 1 + engine() % 4};
          std::vector<Wanted> wanted{{{"x"}, {real}}, {{"k", "s"}, {integer, text}}, {{}, {}}};
          if (!unit.empty()) {
            wanted.push_back(
                {{"s", "x"}, {text, real}, FoldRequest::GroupLimit{"s", 1 + engine() % 2, 1 + engine() % 3}});
            wanted.push_back({{"k", "pid"}, {integer, text}, FoldRequest::GroupLimit{"x", 2, 1}});
            wanted.push_back({{"s"}, {text}, wanted[3].groups});
          }
          const Seen expected = see(memory, selection, wanted, count);
          const unsigned threads = std::array{1U, 2U, 8U}.at(engine() % 3);
          const auto source =
              open_duckdb_source({.path = (folder.path() / file).string(), .threads = threads});
          ASSERT_EQ(see(*source, selection, wanted, count), expected)
              << file << ", unit " << unit << ", " << count << " rows, " << threads << " threads";
        }
      }
    }
  }
}

// The same when the rows are more than may be held, from the first on or from somewhere in the middle.
TEST(DuckdbSelection, GivesTheSameRowsWhenItReadsTwiceParallel) {
  std::mt19937_64 engine(18);
  const ScratchFolder folder;
  for (const std::size_t count : std::vector<std::size_t>{0, 1, 40, 2050, 8000}) {
    std::vector<Row> rows = random_rows(engine, count);
    write_both(folder, rows);
    const std::vector<std::pair<std::string, MemorySource>> sources{{"t.csv", memory_csv(rows)},
                                                                    {"t.parquet", memory_parquet(rows)}};
    for (const auto& [file, plain] : sources) {
      MemorySource memory = plain;
      for (const std::string unit : {"pid", "k", "x"}) {
        for (const std::size_t most_bytes : {0U, 100'000U}) {
          RowSelection selection;
          if (engine() % 2 == 0) selection.where = some_condition();
          selection.unit = {unit, std::array{1U, 2U, 4U, 300U}.at(engine() % 4)};
          std::vector<Wanted> wanted{{{"x"}, {real}}, {{"k", "s"}, {integer, text}}, {{}, {}}};
          if (engine() % 3 == 0) wanted.resize(1);  // most rows of a unit are alike
          const unsigned threads = std::array{1U, 2U, 8U}.at(engine() % 3);
          const auto source = open_duckdb_source(
              {.path = (folder.path() / file).string(), .threads = threads, .unit_memory = most_bytes});
          ASSERT_EQ(see(*source, selection, wanted, count), see(memory, selection, wanted, count))
              << file << ", unit " << unit << ", at most " << selection.unit->max_rows << " of " << count
              << " rows, " << most_bytes << " bytes, " << threads << " threads";
        }
      }
    }
  }
}

// Limits on groups are carried out in one reading, whatever it takes.
TEST(DuckdbSelection, LimitsGroupsWithoutReadingTwice) {
  std::mt19937_64 engine(19);
  const ScratchFolder folder;
  const std::vector<Row> rows = random_rows(engine, 3000);
  MemorySource memory = memory_csv(rows);
  const RowSelection selection{std::nullopt, RowSelection::UnitLimit{"pid", 3}};
  const std::vector<Wanted> wanted{{{"x"}, {real}}, {{"s"}, {text}, FoldRequest::GroupLimit{"s", 2, 1}}};
  const auto source = open_duckdb_source({.path = folder.write("t.csv", csv_of(rows)), .unit_memory = 0});
  EXPECT_EQ(see(*source, selection, wanted, rows.size()), see(memory, selection, wanted, rows.size()));
}

// Units of thousands of rows, most of them equal to others, against limits on both sides of their sizes.
TEST(DuckdbSelection, LimitsLargeUnitsAsThePlainSelectionDoesParallel) {
  std::mt19937_64 engine(16);
  const ScratchFolder folder;
  for (const std::uint64_t units : {1U, 7U, 60U}) {
    for (const std::uint64_t values : {40U, 1'000'000U}) {
      std::vector<Row> rows(6000);
      for (Row& row : rows) {
        row = {std::to_string(engine() % units), std::to_string(engine() % values), "0.5",
               "s" + std::to_string(engine() % 3)};
      }
      const std::string path = folder.write("t.csv", csv_of(rows));
      MemorySource memory = memory_csv(rows);
      for (const std::uint64_t most :
           {std::uint64_t{1}, std::uint64_t{30}, std::uint64_t{1500}, ~std::uint64_t{0}}) {
        const RowSelection selection{std::nullopt, RowSelection::UnitLimit{"pid", most}};
        const std::vector<Wanted> wanted{{{"pid", "k"}, {text, integer}},
                                         {{"k", "s"}, {text, text}, FoldRequest::GroupLimit{"s", 2, 25}}};
        const auto threads = static_cast<unsigned>(units % 4);
        const auto source = open_duckdb_source({.path = path, .threads = threads});
        const Seen expected = see(memory, selection, wanted, rows.size());
        ASSERT_EQ(see(*source, selection, wanted, rows.size()), expected)
            << units << " units, " << values << " values, at most " << most << " rows";
        const auto twice = open_duckdb_source({.path = path, .threads = threads, .unit_memory = 0});
        ASSERT_EQ(see(*twice, selection, {wanted[0]}, rows.size()),
                  see(memory, selection, {wanted[0]}, rows.size()))
            << units << " units, " << values << " values, at most " << most << " rows";
      }
    }
  }
}

// Two rows with one hash, found by a walk over its values that ran into a cycle: which of them a unit keeps is told by
// their content, whichever comes first.
TEST(DuckdbSelection, BreaksTiesOfHashesByContent) {
  const std::vector<std::int64_t> unit{1, 1};
  const std::vector<std::int64_t> values{-4129107194162439035, -6541892557903667496};
  const std::array<Column, 2> columns{Column{integer, unit.data()}, Column{integer, values.data()}};
  ASSERT_EQ(hash_content(RowHashKey::rows, row_content(columns, 0)),
            hash_content(RowHashKey::rows, row_content(columns, 1)));
  MemorySource memory;
  memory.add({"u", integer, ""}, unit).add({"v", integer, ""}, values);
  const RowSelection selection{std::nullopt, RowSelection::UnitLimit{"u", 1}};
  const Seen expected = see(memory, selection, {{{"v"}, {integer}}}, 2);
  ASSERT_EQ(expected.at(0).size(), 1U);
  const ScratchFolder folder;
  for (const std::size_t first : {0U, 1U}) {
    const std::string path = write_parquet(folder, "SELECT 1 AS u, unnest([" + std::to_string(values[first]) +
                                                       ", " + std::to_string(values[1 - first]) + "]) AS v");
    for (const std::size_t most_bytes : {0U, 1U << 20}) {
      const auto source = open_duckdb_source({.path = path, .unit_memory = most_bytes});
      EXPECT_EQ(see(*source, selection, {{{"v"}, {integer}}}, 2), expected) << most_bytes;
    }
  }
}

TEST(DuckdbSelection, TotalsDoNotDependOnTheOrderOfRowsParallel) {
  std::mt19937_64 engine(12);
  const ScratchFolder folder;
  std::vector<Row> rows = random_rows(engine, 30'000);
  const Transformation complete = make_drop(untrusted_domain({real}), symmetric_distance());
  const Aggregation sum =
      complete >> make_clamp(complete.output_domain(), symmetric_distance(), Bounds(-10, 10)) >> make_sum();
  const std::vector<FoldRequest> requests{{{"x"}, &sum}, {{"x"}, &sum, FoldRequest::GroupLimit{"s", 2, 1}}};
  const RowSelection selection{some_condition(), RowSelection::UnitLimit{"pid", 4}};
  std::set<std::string> bytes[2];
  for (int round = 0; round < 4; ++round) {
    write_both(folder, rows);
    for (const std::string file : {"t.csv", "t.parquet"}) {
      // In CSV and Parquet the cells of x, and so the choice of rows, differ.
      const std::string path = (folder.path() / file).string();
      const auto source = open_duckdb_source({.path = path, .threads = 4});
      const FoldResult result = source->fold(selection, requests, {});
      const std::string first = sum.to_bytes(result.states.at(0));
      bytes[file == "t.csv"].insert(first + sum.to_bytes(result.states.at(1)));
      // The content is the same, as s is in the condition.
      const auto twice = open_duckdb_source({.path = path, .threads = 4, .unit_memory = 10'000});
      const FoldResult again = twice->fold(selection, {requests.data(), 1}, {});
      EXPECT_EQ(sum.to_bytes(again.states.at(0)), first);
      EXPECT_EQ(again.rows, result.rows);
    }
    std::shuffle(rows.begin(), rows.end(), engine);
  }
  EXPECT_EQ(bytes[0].size(), 1U);
  EXPECT_EQ(bytes[1].size(), 1U);
}

// Taking one unit's rows away leaves the choice for all others as it was.
TEST(DuckdbSelection, AUnitChangesOnlyItsOwnRows) {
  std::mt19937_64 engine(13);
  const ScratchFolder folder;
  std::vector<Row> rows = random_rows(engine, 3000);
  const RowSelection selection{std::nullopt, RowSelection::UnitLimit{"pid", 3}};
  const std::vector<Wanted> wanted{
      {{"pid", "x", "s"}, {text, text, text}},
      {{"pid", "x", "s"}, {text, text, text}, FoldRequest::GroupLimit{"s", 2, 1}}};
  const auto seen = [&] {
    const auto source = open_duckdb_source({.path = folder.write("t.csv", csv_of(rows)), .threads = 2});
    return see(*source, selection, wanted, rows.size());
  };
  Seen expected = seen();
  std::erase_if(rows, [](const Row& row) { return row[0] == "17"; });
  for (std::vector<std::string>& each : expected) {
    const auto taken = std::erase_if(each, [](const std::string& row) { return row.starts_with("'17'|"); });
    EXPECT_GT(taken, 0U);
    EXPECT_LE(taken, 3U);
  }
  EXPECT_EQ(seen(), expected);
}

TEST(DuckdbSelection, KeepsAsManyRowsAndGroupsAsTheLimitsSay) {
  std::mt19937_64 engine(14);
  const ScratchFolder folder;
  const std::vector<Row> rows = random_rows(engine, 20'000);
  const auto source = open_duckdb_source({.path = folder.write("t.csv", csv_of(rows)), .threads = 2});
  std::map<std::string, std::uint64_t> available;
  for (const Row& row : rows) {
    if (row[0].find_first_not_of(" \t") != std::string::npos) ++available[row[0]];
  }
  for (const std::uint64_t most : {1U, 3U, 1000U}) {
    const Seen seen = see(
        *source, {std::nullopt, RowSelection::UnitLimit{"pid", most}},
        {{{"pid"}, {text}}, {{"pid", "s"}, {text, text}, FoldRequest::GroupLimit{"s", 2, 3}}}, rows.size());
    std::map<std::string, std::uint64_t> kept;
    for (const std::string& unit : seen[0]) ++kept[unit.substr(1, unit.size() - 2)];
    ASSERT_EQ(kept.size(), available.size());
    for (const auto& [unit, count] : available) ASSERT_EQ(kept[unit], std::min(count, most));
    std::map<std::string, std::set<std::string>> groups;
    std::map<std::string, std::uint64_t> in_group;
    std::size_t two = 0;
    for (const std::string& row : seen[1]) {
      std::set<std::string>& mine = groups[row.substr(0, row.find('|'))];
      mine.insert(row.substr(row.find('|')));
      two += mine.size() == 2;
      ASSERT_LE(mine.size(), 2U);
      ASSERT_LE(++in_group[row], 3U);  // a row tells its unit and its group
    }
    const bool some_full =
        std::any_of(in_group.begin(), in_group.end(), [](const auto& group) { return group.second == 3; });
    EXPECT_EQ(some_full, most >= 3);
    EXPECT_EQ(groups.size(), available.size());
    EXPECT_EQ(two > 0, most > 1);
  }
}

TEST(DuckdbSelection, MissingCellsFailComparisonsAndPassTheirNegation) {
  const ScratchFolder folder;
  const auto source = open_duckdb_source({.path = folder.write("t.csv", "a,b\n1,x\n,y\nn/a,z\n5,\n")});
  const auto kept = [&](const std::string& column, AtomType type, const Predicate& predicate) {
    return see(*source, {RowSelection::Condition{{column}, {type}, predicate}, std::nullopt},
               {{{"b"}, {text}}}, 4)
        .at(0);
  };
  const Predicate large = Predicate::compare(0, real, Comparison::at_least, 2);
  EXPECT_THAT(kept("a", real, large), ElementsAre("null"));
  EXPECT_THAT(kept("a", real, !large), ElementsAre("'x'", "'y'", "'z'"));
  EXPECT_THAT(kept("a", integer, Predicate::one_of(0, integer, {1, 5})), ElementsAre("'x'", "null"));
  EXPECT_THAT(kept("a", text, Predicate::compare(0, Comparison::equal, "n/a")), ElementsAre("'z'"));
  EXPECT_THAT(kept("b", text, Predicate::compare(0, Comparison::not_equal, "x")), ElementsAre("'y'", "'z'"));
  EXPECT_THAT(kept("a", real, Predicate::compare(0, real, Comparison::greater, 100)), ElementsAre());
}

TEST(DuckdbSelection, UnitsAreToldApartToTheLastDigit) {
  const ScratchFolder folder;
  const auto kept = [&](const std::string& units, std::uint64_t rows) {
    const auto source = open_duckdb_source(
        {.path = write_parquet(folder, "SELECT unnest([" + units + "]) AS u, 1 AS v"), .threads = 2});
    return see(*source, {std::nullopt, RowSelection::UnitLimit{"u", 1}}, {{{"v"}, {integer}}}, rows)
        .at(0)
        .size();
  };
  EXPECT_EQ(kept("18446744073709551615::UBIGINT, 18446744073709551614, 18446744073709551615, 3", 4), 3U);
  EXPECT_EQ(kept("0.10000000000000000001::DECIMAL(38, 20), 0.10000000000000000002", 2), 2U);
  EXPECT_EQ(kept("9007199254740993::BIGINT, 9007199254740992, NULL", 3), 2U);
  EXPECT_EQ(kept("0.0::DOUBLE, '-0'::DOUBLE, 'nan'::DOUBLE, 'inf'::DOUBLE, '-inf'::DOUBLE, NULL", 6), 3U);
  EXPECT_EQ(kept("'a', 'A', 'a ', ' ', '', NULL, 'a'", 7), 3U);
  EXPECT_EQ(kept("true, false, true", 3), 2U);
}

// A group column whose values merge as 64-bit integers but not as reals.
TEST(DuckdbSelection, GroupsAreToldApartToTheLastDigit) {
  const ScratchFolder folder;
  const auto source = open_duckdb_source(
      {.path = write_parquet(folder, "SELECT 1 AS u, unnest([1e19, 1.2e19, 1.4e19, 1.4e19])::UBIGINT AS g")});
  EXPECT_EQ(see(*source, {std::nullopt, RowSelection::UnitLimit{"u", 4}},
                {{{"g"}, {real}, FoldRequest::GroupLimit{"g", 3, 2}}}, 4)
                .at(0)
                .size(),
            4U);
  const Seen one = see(*source, {std::nullopt, RowSelection::UnitLimit{"u", 4}},
                       {{{"g"}, {real}, FoldRequest::GroupLimit{"g", 1, 2}}}, 4);
  EXPECT_EQ(std::set<std::string>(one[0].begin(), one[0].end()).size(), 1U);
  // One row of each.
  EXPECT_EQ(see(*source, {std::nullopt, RowSelection::UnitLimit{"u", 4}},
                {{{"g"}, {real}, FoldRequest::GroupLimit{"g", 3, 1}}}, 4)
                .at(0)
                .size(),
            3U);
}

// Rows that the selection drops are rows of the file nonetheless.
TEST(DuckdbSelection, CountsRawRowsSoThatNoneGoesMissing) {
  const ScratchFolder folder;
  const Predicate none = Predicate::compare(0, real, Comparison::greater, 100);
  const std::vector<RowSelection> selections{
      {RowSelection::Condition{{"a"}, {real}, none}, std::nullopt},
      {std::nullopt, RowSelection::UnitLimit{"b", 1}},
      {RowSelection::Condition{{"a"}, {real}, none}, RowSelection::UnitLimit{"a", 2}}};
  std::string content = "a,b\n";
  while (content.size() < 1'000'000) content += "1,2\n";
  const std::uint64_t rows = (content.size() - 4) / 4;
  const std::string good = folder.write("good.csv", content);
  // Ten malformed rows take the place of nine.
  content.replace(content.size() / 8 * 4, 4 * 9, "7\n\n,,,\n\"\n\"x\"y\n8\n\xff,\n9\n,\r,\n1,\"\n");
  const std::string bad = folder.write("bad.csv", content);
  const std::string parquet = (folder.path() / "good.parquet").string();
  run_sql({"COPY (SELECT a::DOUBLE AS a, b FROM read_csv(" + engines_internal::sql_text(good) + ")) TO " +
           engines_internal::sql_text(parquet) + " (FORMAT parquet)"});
  for (const RowSelection& selection : selections) {
    for (const std::string& path : {good, parquet}) {
      const auto source = open_duckdb_source({.path = path, .threads = 2});
      EXPECT_EQ(source->fold(selection, {}, {}).rows, rows) << path;
    }
    const auto source = open_duckdb_source({.path = bad, .threads = 2});
    EXPECT_EQ(source->fold(selection, {}, {}).rows, rows + 1);
  }
}

// A malformed row is a row of nulls to conditions, units and groups: as if it said ",,".
TEST(DuckdbSelection, TakesMalformedRowsForRowsOfNulls) {
  const ScratchFolder folder;
  const std::string before = "u,g,x\n1,a,10\n1,b,20\n2,a,30\n";
  const std::string after = "2,b,40\n3,c,50\n";
  const Predicate large = Predicate::compare(0, real, Comparison::at_least, 25);
  const RowSelection::UnitLimit unit{"u", 1};
  const std::vector<RowSelection> selections{{},
                                             {RowSelection::Condition{{"x"}, {real}, large}, std::nullopt},
                                             {RowSelection::Condition{{"x"}, {real}, !large}, std::nullopt},
                                             {std::nullopt, unit},
                                             {RowSelection::Condition{{"x"}, {real}, !large}, unit}};
  for (const RowSelection& selection : selections) {
    std::vector<Wanted> wanted{{{"x"}, {integer}}, {{"g", "u"}, {text, integer}}, {{}, {}}};
    if (selection.unit) wanted.push_back({{"x", "g"}, {real, text}, FoldRequest::GroupLimit{"g", 1}});
    const auto seen = [&](const std::string& row) {
      const auto source =
          open_duckdb_source({.path = folder.write("t.csv", before + row + "\n" + after), .threads = 2});
      return see(*source, selection, wanted, 6);
    };
    const Seen nulls = seen(",,");
    for (const std::string row :
         {"4", "4,a,5,6", "", "\xff,a,5", "4,\xff,5", "4,a,\"5", "4,\"a\"b,5", "4\r,a,5"})
      EXPECT_EQ(seen(row), nulls) << testing::PrintToString(row);
  }
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

// The bytes that the engine holds for the rows of a file whose first column is the unit.
std::size_t bytes_held(const std::string& path, std::uint64_t max_rows, unsigned threads,
                       std::size_t most_bytes = ~std::size_t{0}) {
  const engines_internal::Connection connection({.threads = threads});
  const std::unique_ptr<const engines_internal::Table> table = engines_internal::open_csv(path, ',');
  const std::unique_ptr<const engines_internal::Scan> scan = table->scan(connection);
  engines_internal::UnitLimits limits;
  for (const SourceColumn& column : table->columns())
    limits.cells.push_back(engines_internal::exact_cell_input(*table, column.name));
  limits.content_cells = limits.cells.size();
  limits.max_rows = max_rows;
  limits.most_bytes = most_bytes;
  const engines_internal::UnitRows rows(connection, limits);
  connection.run("SELECT " + rows.keep().call() + " FROM " + scan->from());
  EXPECT_EQ(rows.reads_again(), most_bytes < ~std::size_t{0});
  return rows.bytes();
}

// Rows of (unit, value) as CSV.
std::string pairs_csv(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::string csv = "u,v\n";
  for (const auto& [unit, value] : rows) csv += unit + "," + value + "\n";
  return csv;
}

// One unit whose every row comes before all that came earlier.
TEST(DuckdbSelection, HoldsNoMoreMemoryInAnyOrder) {
  constexpr std::size_t count = 200'000;
  std::vector<std::pair<std::uint64_t, std::string>> hashed;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string value = "a value of some length " + std::to_string(i);
    const std::array<std::string_view, 2> cells{"1", value};
    const std::array<Column, 2> columns{Column{text, &cells[0]}, Column{text, &cells[1]}};
    hashed.emplace_back(hash_content(RowHashKey::rows, row_content(columns, 0)), value);
  }
  std::sort(hashed.begin(), hashed.end());
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [hash, value] : hashed) rows.emplace_back("1", value);
  const ScratchFolder folder;
  const std::size_t ascending = bytes_held(folder.write("t.csv", pairs_csv(rows)), 1000, 1);
  std::reverse(rows.begin(), rows.end());
  const std::size_t descending = bytes_held(folder.write("t.csv", pairs_csv(rows)), 1000, 1);
  EXPECT_LT(ascending, 1'000'000U);
  EXPECT_LT(descending, 1'000'000U);
}

// Units that occur all over the file, on more threads than DuckDB's own hash tables would keep them together on.
TEST(DuckdbSelection, HoldsNoMoreMemoryWhenUnitsAreScatteredParallel) {
  constexpr std::size_t units = 50'000;
  constexpr std::size_t rows_each = 8;
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::size_t i = 0; i < units * rows_each; ++i)
    rows.emplace_back(std::to_string(i / rows_each), std::to_string(i));
  const ScratchFolder folder;
  const std::size_t sorted = bytes_held(folder.write("t.csv", pairs_csv(rows)), 1, 8);
  std::shuffle(rows.begin(), rows.end(), std::mt19937_64(33));
  const std::size_t scattered = bytes_held(folder.write("t.csv", pairs_csv(rows)), 1, 8);
  EXPECT_LT(sorted, units * 400);
  EXPECT_LT(scattered, units * 400);
}

TEST(DuckdbSelection, HoldsHashesWhereRowsAreTooMuchParallel) {
  constexpr std::size_t units = 2000;
  constexpr std::size_t rows_each = 20;
  constexpr std::size_t length = 300;
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::size_t i = 0; i < units * rows_each; ++i)
    rows.emplace_back(std::to_string(i % units), std::to_string(i) + std::string(length, 'x'));
  const ScratchFolder folder;
  const std::string path = folder.write("t.csv", pairs_csv(rows));
  EXPECT_GT(bytes_held(path, rows_each, 4), units * rows_each * length);
  // Of each unit an array with room for twice as many hashes, its name and its place; of each of 64 shards some idle room.
  EXPECT_LT(bytes_held(path, rows_each, 4, 1'000'000), units * (rows_each * 2 * 16 + 500) + 64 * 32'768);
}

// ---- Refusals -------------------------------------------------------------------------------------------------------

TEST(DuckdbSelection, RefusesWhatCannotBeSelected) {
  const ScratchFolder folder;
  const auto source =
      open_duckdb_source({.path = write_parquet(folder, "SELECT 1 AS a, DATE '2020-02-29' AS d")});
  const RowRecorder recorder({integer});
  const auto check = [&](const RowSelection& selection, const std::optional<FoldRequest::GroupLimit>& groups,
                         ErrorCode code, const char* parameter, const char* why) {
    const FoldRequest request{{"a"}, recorder.aggregation(), groups};
    const Error error = error_of([&] { source->fold(selection, {&request, 1}, {}); });
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(error.parameter(), parameter) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(why));
  };
  const auto unit = [](const char* column, std::uint64_t rows) {
    return RowSelection{std::nullopt, RowSelection::UnitLimit{column, rows}};
  };
  const auto where = [](const char* column, std::vector<AtomType> types, const Predicate& predicate) {
    return RowSelection{RowSelection::Condition{{column}, std::move(types), predicate}, std::nullopt};
  };
  check(unit("pid", 1), {}, ErrorCode::bad_data, "column", "\"pid\"");
  check(unit("A", 1), {}, ErrorCode::bad_data, "column", "\"A\"");
  check(unit("d", 1), {}, ErrorCode::bad_data, "column", "a date");
  check(unit("a", 0), {}, ErrorCode::invalid_argument, "max_rows_per_unit", "at least 1");
  using Groups = FoldRequest::GroupLimit;
  check(unit("a", 1), Groups{"a", 0}, ErrorCode::invalid_argument, "max_groups_per_unit", "at least 1");
  check(unit("a", 1), Groups{"a", 1, 0}, ErrorCode::invalid_argument, "max_rows_per_group_per_unit",
        "at least 1");
  check(unit("a", 1), Groups{"g", 1}, ErrorCode::bad_data, "column", "\"g\"");
  check({}, Groups{"a", 1}, ErrorCode::invalid_argument, "max_groups_per_unit", "name the unit");
  const Predicate positive = Predicate::compare(0, integer, Comparison::greater, 0);
  check(where("none", {integer}, positive), {}, ErrorCode::bad_data, "column", "\"none\"");
  check(where("a", {real}, positive), {}, ErrorCode::invalid_argument, "where", "compared");
  check(where("a", {}, positive), {}, ErrorCode::mismatch, "where", "types");
}

TEST(DuckdbSelection, ProgressRisesOverAllPasses) {
  std::mt19937_64 engine(15);
  const ScratchFolder folder;
  const std::string path = folder.write("t.csv", csv_of(random_rows(engine, 50'000)));
  const Aggregation count = make_count(untrusted_domain({}), symmetric_distance());
  const std::vector<FoldRequest> requests{{{}, &count}, {{}, &count, FoldRequest::GroupLimit{"s", 1}}};
  for (const std::size_t passes : {1U, 2U}) {  // the first request alone may be read twice
    const auto source = open_duckdb_source({.path = path, .threads = 2, .unit_memory = 0});
    std::vector<double> percents;
    source->fold({std::nullopt, RowSelection::UnitLimit{"pid", 1}}, {requests.data(), passes},
                 [&](double percent) { percents.push_back(percent); });
    EXPECT_TRUE(std::is_sorted(percents.begin(), percents.end()));
    for (const double percent : percents) EXPECT_TRUE(percent >= 0 && percent <= 100) << percent;
  }
}

// A file that is read twice must be the same both times.
TEST(DuckdbSelection, RefusesFilesThatChangeBetweenReadings) {
  const ScratchFolder folder;
  const std::string path = write_parquet(folder, "SELECT 1 AS u, unnest([1, 2, 3]) AS v");
  const engines_internal::Connection connection({.file = path});
  const std::unique_ptr<const engines_internal::Table> table =
      engines_internal::open_parquet(connection, path);
  const std::unique_ptr<const engines_internal::Scan> scan = table->scan(connection);
  scan->finish();
  std::filesystem::last_write_time(path,
                                   std::filesystem::last_write_time(path) + std::chrono::milliseconds(1));
  const Error error = error_of([&] { scan->finish(); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_EQ(error.parameter(), "path");
  EXPECT_THAT(error.what(), HasSubstr("changed while it was read"));
}

// Rows that were not there the first time, of a new unit or more of an old one, are refused, not kept.
TEST(DuckdbSelection, RefusesRowsThatTheFirstReadingDidNotSee) {
  const engines_internal::Connection connection({.threads = 1});
  for (const std::string second : {"unnest([1, 2])", "unnest([1, 1])"}) {
    engines_internal::UnitLimits limits;
    limits.cells = {{"u", integer, integer}};
    limits.content_cells = 1;
    limits.most_bytes = 0;
    engines_internal::UnitRows rows(connection, limits);
    connection.run("SELECT " + rows.keep().call() + " FROM (SELECT 1::BIGINT AS u)");
    ASSERT_TRUE(rows.reads_again());
    rows.settle();
    const engines_internal::RegisteredFunction choose = rows.choose();
    EXPECT_THROW(
        connection.run("SELECT count(*) FROM (SELECT " + second + "::BIGINT AS u) WHERE " + choose.call()),
        engines_internal::EngineFailure);
    EXPECT_THAT(error_of([&] { choose.rethrow(); }).what(), HasSubstr("changed while it was read"));
  }
}

// The callback throws when the query may be finished already; the next one must not find it open.
TEST(DuckdbSelection, CanFoldAgainAfterACallbackThrows) {
  std::mt19937_64 engine(17);
  const ScratchFolder folder;
  const auto source =
      open_duckdb_source({.path = folder.write("t.csv", csv_of(random_rows(engine, 20'000))), .threads = 2});
  const Aggregation count = make_count(untrusted_domain({}), symmetric_distance());
  const FoldRequest request{{}, &count};
  const RowSelection selection{std::nullopt, RowSelection::UnitLimit{"pid", 1}};
  for (int round = 0; round < 4; ++round) {
    bool called = false;  // a quick query may end before there is progress to tell
    const auto late = [&](double) {
      called = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      throw std::runtime_error("stop");
    };
    bool thrown = false;
    try {
      source->fold(selection, {&request, 1}, late);
    } catch (const std::runtime_error& error) {
      thrown = error.what() == std::string("stop");
    }
    EXPECT_EQ(thrown, called);
    EXPECT_EQ(source->fold(selection, {&request, 1}, {}).rows, 20'000U);
  }
}

// ---- Real data: people who occur up to four times, and files with blanks ---------------------------------------------

// The last column, by splitting lines at commas.
std::map<std::string, std::uint64_t> rows_by_unit(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::map<std::string, std::uint64_t> rows;
  while (std::getline(file, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    ++rows[line.substr(line.rfind(',') + 1)];
  }
  return rows;
}

TEST(DuckdbSelection, LimitsRowsOfRealPeople) {
  for (const std::string path :
       {SNAPDP_SHARED_DATA "/smartnoise_PUMS_dup.csv", SNAPDP_SHARED_DATA "/smartnoise_PUMS_null.csv"}) {
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
    std::map<std::string, std::uint64_t> available = rows_by_unit(path);
    std::uint64_t all = 0;
    for (const auto& [unit, count] : available) all += count;
    available.erase("");
    const auto source = open_duckdb_source({.path = path, .threads = 2});
    for (const std::uint64_t most : {1U, 2U, 3U, 4U}) {
      const Seen seen = see(
          *source, {std::nullopt, RowSelection::UnitLimit{"pid", most}},
          {{{"pid"}, {text}}, {{"educ", "pid"}, {integer, integer}, FoldRequest::GroupLimit{"educ", 1, 4}}},
          all);
      std::uint64_t expected = 0;
      for (const auto& [unit, count] : available) expected += std::min(count, most);
      EXPECT_EQ(seen[0].size(), expected) << path;
      EXPECT_LE(seen[1].size(), expected) << path;
      EXPECT_GE(seen[1].size(), available.size()) << path;
    }
  }
}

}  // namespace
}  // namespace snapdp
