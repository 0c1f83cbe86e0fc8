// Queries that databases run give the states of the same rows in memory, to the bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "snapdp/error.h"
#include "snapdp/framework/composition.h"
#include "snapdp/statistics/quantiles.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/memory_source.h"
#include "sql/duckdb_database.h"
#include "sql/sqlite_database.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Metric symmetric = Metric::symmetric_distance;

std::vector<std::unique_ptr<Database>> all_databases() {
  std::vector<std::unique_ptr<Database>> all;
  all.push_back(std::make_unique<SqliteDatabase>());
  all.push_back(std::make_unique<DuckdbDatabase>());
  return all;
}

// ---- Tables ---------------------------------------------------------------------------------------------------------

// A column as rows in memory and as databases have it. In memory all is text, as in a CSV file: any cell may be missing.
struct TestColumn {
  std::string name;
  std::string type;
  std::vector<DatabaseCell> cells;
  std::vector<std::string> texts;

  void add(double value) {
    cells.emplace_back(value);
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%.17g", value);
    texts.emplace_back(text.data());
  }
  void add(std::int64_t value) {
    cells.emplace_back(value);
    texts.push_back(std::to_string(value));
  }
  void add(const std::string& value) {
    cells.emplace_back(value);
    texts.push_back(value);
  }
  void add_null() {
    cells.emplace_back();
    texts.emplace_back();
    nulls.insert(texts.size() - 1);
  }
  std::set<std::size_t> nulls = {};
};

struct TestTable {
  std::vector<TestColumn> columns;

  MemorySource memory() const {
    MemorySource source;
    for (const TestColumn& column : columns) {
      MemorySource::Texts texts;
      for (std::size_t i = 0; i < column.texts.size(); ++i)
        texts.push_back(column.nulls.contains(i) ? std::string_view() : std::string_view(column.texts[i]));
      source.add(column.name, texts);
    }
    return source;
  }
  void create(Database& database, const std::string& name) const {
    std::vector<DatabaseColumn> stored;
    for (const TestColumn& column : columns) stored.push_back({column.name, column.type, column.cells});
    database.create(name, stored);
  }
};

// Numbers that break sums: "order" is a reserved word, the last name has every kind of quote.
TestTable nasty_table(std::size_t rows, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> reals = {infinity,
                                     -infinity,
                                     -0.0,
                                     0.0,
                                     5e-324,
                                     -5e-324,
                                     2.2250738585072014e-308,
                                     1.7976931348623157e308,
                                     0.1,
                                     99.999999999999986,
                                     100,
                                     -1e-300,
                                     50,
                                     1.0 / 3};
  const std::vector<std::int64_t> integers = {std::numeric_limits<std::int64_t>::min(),
                                              std::numeric_limits<std::int64_t>::max(),
                                              0,
                                              -1,
                                              1,
                                              std::int64_t{1} << 53,
                                              (std::int64_t{1} << 53) + 1};
  const std::vector<std::string> texts = {"CA",     "ca",   "Ca", "CA ", "O'Hare", "a\\b",
                                          "Zürich", "x\"y", "%",  "--",  "\n"};
  TestTable table{
      {{"order", "DOUBLE", {}, {}}, {"n", "BIGINT", {}, {}}, {"it's \"quoted\" `too`", "VARCHAR", {}, {}}}};
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint64_t kind = below(10);
    if (kind == 0) {
      table.columns[0].add_null();
    } else if (kind < 4) {
      table.columns[0].add(reals[below(reals.size())]);
    } else {
      table.columns[0].add(static_cast<double>(random()) * 0x1p-57 - 10);
    }
    if (below(10) == 0) {
      table.columns[1].add_null();
    } else if (below(4) == 0) {
      table.columns[1].add(integers[below(integers.size())]);
    } else {
      table.columns[1].add(static_cast<std::int64_t>(below(2000)) - 1000);
    }
    if (below(10) == 0) {
      table.columns[2].add_null();
    } else {
      table.columns[2].add(texts[below(texts.size())]);
    }
  }
  return table;
}

const std::string text_name = "it's \"quoted\" `too`";

// ---- Statistics -----------------------------------------------------------------------------------------------------

Partial<Aggregation> clamped(const Bounds& bounds, const std::optional<Grid>& grid,
                             Partial<Aggregation> statistic, bool drop = true) {
  return [=](const VectorDomain& rows, Metric metric) {
    const std::size_t columns = rows.columns().size();
    const Transformation complete =
        drop ? make_drop(rows, metric)
             : make_impute(rows, metric, std::vector<Dyadic>(columns, bounds.upper()));
    const Transformation bounded =
        complete >> make_clamp(complete.output_domain(), metric, std::vector<Bounds>(columns, bounds));
    if (!grid) return bounded >> statistic;
    return bounded >> make_grid_rows(bounded.output_domain(), metric, std::vector<Grid>(columns, *grid)) >>
           statistic;
  };
}

Aggregation of(const std::vector<AtomType>& types, const Partial<Aggregation>& statistic) {
  return statistic(untrusted_domain(types), symmetric);
}

struct Question {
  std::vector<std::string> columns;
  Aggregation aggregation;
};

std::vector<Question> questions() {
  constexpr AtomType real = AtomType::real;
  constexpr AtomType integer = AtomType::integer;
  constexpr AtomType text = AtomType::text;
  const Bounds percent(0, 100);
  const Bounds crooked(Dyadic(0.1), Dyadic(99.9));
  const Bounds wide(Dyadic(-(std::int64_t{1} << 45)), Dyadic(std::int64_t{1} << 45));
  const Bounds whole(Dyadic(-(std::int64_t{1} << 61)), Dyadic((std::int64_t{1} << 61) - 1));
  const Bins cities = Bins::texts({"CA", "O'Hare", "a\\b", "Zürich", "x\"y", "none", "\n"});
  const Bins ages = Bins::edges({0, 10, 50, 100});
  const auto grid = [](long exponent) { return std::optional<Grid>(Grid(exponent)); };
  std::vector<Question> all;
  all.push_back({{"n"}, of({integer}, make_count())});
  all.push_back({{"n"}, of({integer}, clamped(percent, {}, make_sum()))});
  all.push_back({{"n"}, of({integer}, clamped(whole, {}, make_sum()))});
  all.push_back({{"n"}, of({integer}, clamped(wide, {}, make_centered_moment(2)))});
  all.push_back({{"n"}, of({integer}, clamped(percent, {}, make_centered_moment(4)))});
  all.push_back({{"n", "n"}, of({integer, integer}, clamped(wide, {}, make_centered_product()))});
  all.push_back({{"order"}, of({real}, clamped(percent, grid(-20), make_sum()))});
  all.push_back({{"order"}, of({real}, clamped(percent, grid(-44), make_centered_sum(), false))});
  all.push_back({{"order"}, of({real}, clamped(crooked, grid(-40), make_centered_moment(2)))});
  all.push_back({{"order"}, of({real}, clamped(percent, grid(-20), make_centered_moment(3)))});
  all.push_back({{"order"}, of({real}, clamped(percent, grid(3), make_sum()))});
  all.push_back({{"order", "order"}, of({real, real}, clamped(crooked, grid(-30), make_centered_product()))});
  // Of several columns without a missing cell the first ones alone.
  const auto first = [](std::size_t columns, Partial<Aggregation> statistic) -> Partial<Aggregation> {
    return [columns, statistic = std::move(statistic)](const VectorDomain& rows, Metric metric) {
      return make_project(rows, metric, columns) >> statistic;
    };
  };
  all.push_back({{"order", "n", "order"},
                 of({real, real, real}, clamped(percent, grid(-20), first(2, make_centered_product())))});
  all.push_back({{text_name, "n", "order"},
                 of({text, real, real},
                    make_grouped(cities, clamped(percent, grid(-20), first(1, make_centered_moment(2)))))});
  all.push_back({{text_name}, of({text}, make_histogram(cities))});
  all.push_back({{text_name}, of({text}, make_histogram(cities.with_other()))});
  all.push_back({{"order"}, of({real}, make_histogram(ages))});
  all.push_back({{"n"}, of({integer}, make_histogram(ages.with_other()))});
  // Who counts sees what is on a grid as the reals that they are.
  all.push_back(
      {{"order"}, of({real}, clamped(percent, grid(4), make_histogram(Bins::edges({0, 8, 9, 100}))))});
  all.push_back(
      {{"order"}, of({real}, clamped(percent, grid(4), clamped(Bounds(0, 50), grid(2), make_sum())))});
  all.push_back({{"n"}, of({integer}, make_histogram(Bins::numbers({-1, 0, 1, 7, Dyadic(Integer(1), -1)})))});
  all.push_back({{"order"}, of({real}, make_histogram(Bins::numbers({0, Dyadic(0.1), 50})))});
  all.push_back({{text_name}, of({text}, make_distinct_count(cities))});
  all.push_back({{"order"}, of({real}, [](const VectorDomain& rows, Metric metric) {
                   return make_drop(rows, metric) >>
                          make_hierarchy(HierarchyLayout({0, 1, 2, 3, 5, 8, 13, 21, 34, 55}, 3));
                 })});
  all.push_back({{text_name, "order"},
                 of({text, real}, make_grouped(cities, clamped(percent, grid(-30), make_centered_sum())))});
  all.push_back(
      {{text_name, "n"}, of({text, integer}, make_grouped(cities, clamped(percent, {}, make_count())))});
  all.push_back(
      {{text_name, "n"}, of({text, integer}, make_grouped(cities.with_other(), make_histogram(ages)))});
  all.push_back({{"n", "order"},
                 of({integer, real}, make_grouped(Bins::numbers({0, 1}),
                                                  clamped(percent, grid(-30), make_centered_moment(2))))});
  return all;
}

std::vector<FoldRequest> requests_of(const std::vector<Question>& questions) {
  std::vector<FoldRequest> requests;
  for (const Question& question : questions) requests.push_back({question.columns, &question.aggregation});
  return requests;
}

void expect_equal_states(const FoldResult& found, const FoldResult& expected,
                         const std::vector<Question>& questions, const std::string& where) {
  EXPECT_EQ(found.rows, expected.rows) << where;
  ASSERT_EQ(found.states.size(), expected.states.size());
  for (std::size_t i = 0; i < found.states.size(); ++i) {
    EXPECT_EQ(questions[i].aggregation.to_bytes(found.states[i]),
              questions[i].aggregation.to_bytes(expected.states[i]))
        << where << ": " << questions[i].aggregation.description();
  }
}

RowSelection condition() {
  RowSelection selection;
  const Predicate holds =
      (!Predicate::compare(0, AtomType::real, Comparison::less, Rational(1, 10)) ||
       Predicate::compare(1, AtomType::integer, Comparison::at_least, Rational(1, 2))) &&
      !Predicate::one_of(2, {"ca", "O'Hare", "a\\b"}) &&
      Predicate::compare(1, AtomType::integer, Comparison::not_equal, Rational("99999999999999999999"));
  selection.where = RowSelection::Condition{
      {"order", "n", text_name}, {AtomType::real, AtomType::integer, AtomType::text}, holds};
  return selection;
}

// ---- Tests ----------------------------------------------------------------------------------------------------------

TEST(SqlQuery, GivesTheStatesOfTheSameRowsInMemory) {
  const std::vector<Question> asked = questions();
  for (const std::size_t rows : {0U, 1U, 2U, 50U, 3000U}) {
    const TestTable table = nasty_table(rows, static_cast<unsigned>(rows) + 1);
    MemorySource memory = table.memory();
    for (const std::unique_ptr<Database>& database : all_databases()) {
      table.create(*database, "people");
      const std::unique_ptr<Source> source = open_sql_source(
          database->dialect(), {{"people"}, {}}, [&](const std::string& sql) { return database->run(sql); });
      const std::string where = to_string(database->dialect()) + ", " + std::to_string(rows) + " rows";
      expect_equal_states(source->fold({}, requests_of(asked), {}), memory.fold({}, requests_of(asked), {}),
                          asked, where);
      FoldResult selected = memory.fold(condition(), requests_of(asked), {});
      FoldResult found = source->fold(condition(), requests_of(asked), {});
      selected.rows = found.rows;  // of a selection: that of the selected rows, or of all
      expect_equal_states(found, selected, asked, where + ", selected");
    }
  }
}

// Grids of one number, the finest of which alone is computed: bounds on no grid of them, negative ones, and groups.
TEST(SqlQuery, GridsOfOneNumberAreComputedOnce) {
  std::vector<Question> asked;
  for (const Bounds& bounds : {Bounds(Dyadic(0.1), Dyadic(99.9)), Bounds(Dyadic(-7.3), Dyadic(5.1)),
                               Bounds(Dyadic(-1e-3), Dyadic(1e-3)), Bounds(Dyadic(-50), Dyadic(-1))}) {
    for (const bool drop : {true, false}) {
      for (const long exponent : {-30L, -19L, -33L, -32L}) {
        asked.push_back(
            {{"order"},
             of({AtomType::real}, clamped(bounds, Grid(exponent), make_centered_moment(2), drop))});
        asked.push_back({{text_name, "order"},
                         of({AtomType::text, AtomType::real},
                            make_grouped(Bins::texts({"CA", "ca"}),
                                         clamped(bounds, Grid(exponent - 1), make_centered_sum(), drop)))});
      }
    }
  }
  for (const std::size_t rows : {0U, 3000U}) {
    const TestTable table = nasty_table(rows, 5);
    MemorySource memory = table.memory();
    for (const std::unique_ptr<Database>& database : all_databases()) {
      table.create(*database, "people");
      const std::string text = SqlQuery(database->dialect(), {{"people"}, {}}, {}, requests_of(asked)).text();
      std::size_t floors = 0;
      const std::string floor = database->dialect() == SqlDialect::sqlite ? " AS INTEGER) >" : "FLOOR(";
      for (std::size_t at = text.find(floor); at != std::string::npos; at = text.find(floor, at + 1))
        ++floors;
      const std::size_t readings = database->dialect() == SqlDialect::sqlite ? 2 : 1;
      EXPECT_LE(floors, 8 * readings) << text;
      const std::unique_ptr<Source> source = open_sql_source(
          database->dialect(), {{"people"}, {}}, [&](const std::string& sql) { return database->run(sql); });
      expect_equal_states(source->fold({}, requests_of(asked), {}), memory.fold({}, requests_of(asked), {}),
                          asked, to_string(database->dialect()));
    }
  }
}

// More values than a tree of comparisons is made for, those of the table among them: all odd ones.
TEST(SqlQuery, ManyValuesAreLookedUp) {
  std::vector<std::string> texts = {"CA",   "ca", "CA ",  "O'Hare", "a\\b",     "Zürich",
                                    "x\"y", "%",  "--",   "\n",     "\x01\x1f", "{",
                                    "}",    ",",  "null", "NULL",   "\\u0041",  "${a}"};
  std::vector<Dyadic> numbers = {Dyadic(std::numeric_limits<std::int64_t>::min()),
                                 Dyadic(std::numeric_limits<std::int64_t>::max())};
  for (int i = 0; i < 400; ++i) {
    texts.push_back("'" + std::to_string(i * 7919 % 1000));
    numbers.emplace_back(i - 200);
  }
  constexpr AtomType text = AtomType::text;
  constexpr AtomType integer = AtomType::integer;
  const Bounds percent(0, 100);
  std::vector<Question> asked;
  for (const Bins& bins : {Bins::texts(texts), Bins::texts(texts).with_other()}) {
    asked.push_back({{text_name}, of({text}, make_histogram(bins))});
    asked.push_back(
        {{text_name, "n"}, of({text, integer}, make_grouped(bins, clamped(percent, {}, make_sum())))});
  }
  asked.push_back({{"n"}, of({integer}, make_histogram(Bins::numbers(numbers)))});
  asked.push_back(
      {{"n", "order"},
       of({integer, AtomType::real},
          make_grouped(Bins::numbers(numbers), clamped(percent, Grid(-20), make_centered_moment(2))))});
  for (const std::size_t rows : {0U, 3000U}) {
    TestTable table = nasty_table(rows, 8);
    for (const char* odd : {"\x01\x1f", "{", "}", ",", "null", "NULL", "\\u0041", "A", "${a}", "'7"}) {
      table.columns[0].add(1.0);
      table.columns[1].add(std::int64_t{7});
      table.columns[2].add(std::string(odd));
    }
    MemorySource memory = table.memory();
    for (const std::unique_ptr<Database>& database : all_databases()) {
      table.create(*database, "people");
      const std::string query =
          SqlQuery(database->dialect(), {{"people"}, {}}, {}, requests_of(asked)).text();
      EXPECT_THAT(query, HasSubstr("LEFT JOIN"));
      const std::unique_ptr<Source> source = open_sql_source(
          database->dialect(), {{"people"}, {}}, [&](const std::string& sql) { return database->run(sql); });
      expect_equal_states(source->fold({}, requests_of(asked), {}), memory.fold({}, requests_of(asked), {}),
                          asked, to_string(database->dialect()));
      FoldResult selected = memory.fold(condition(), requests_of(asked), {});
      FoldResult found = source->fold(condition(), requests_of(asked), {});
      selected.rows = found.rows;
      expect_equal_states(found, selected, asked, to_string(database->dialect()) + ", selected");
    }
  }
}

TEST(SqlQuery, KnownTypesAreReadAsTheyAreStored) {
  TestTable table{{{"flag", "BOOLEAN", {}, {}}, {"half", "DOUBLE", {}, {}}}};
  DuckdbDatabase database;
  database.run("CREATE TABLE t (flag BOOLEAN, half DOUBLE, cents DECIMAL(9, 2))");
  database.run(
      "INSERT INTO t VALUES (true, 2.0, 1.25), (false, 2.5, 3), (NULL, 'NaN', NULL), (true, 'inf', 7.00), "
      "(true, 9.3e18, -1)");
  const SqlTable known{{"t"},
                       {{"flag", SqlType::boolean}, {"half", SqlType::real}, {"cents", SqlType::decimal}}};
  const Aggregation sum = of({AtomType::integer}, clamped(Bounds(-5, 10), {}, make_sum()));
  const std::vector<FoldRequest> requests = {{{"flag"}, &sum}, {{"half"}, &sum}, {{"cents"}, &sum}};
  const std::unique_ptr<Source> source =
      open_sql_source(SqlDialect::duckdb, known, [&](const std::string& sql) { return database.run(sql); });
  const FoldResult result = source->fold({}, requests, {});
  // What is no whole number of 64 bits is null, and dropped.
  EXPECT_EQ(result.states[0].totals(), (Totals{4, {3}}));
  EXPECT_EQ(result.states[1].totals(), (Totals{1, {2}}));
  EXPECT_EQ(result.states[2].totals(), (Totals{3, {9}}));
}

// ---- What no single row may do ----

TEST(SqlQuery, NoCellOfAnUnknownColumnFailsTheQuery) {
  DuckdbDatabase database;
  database.run("CREATE TABLE reals (x DOUBLE)");
  database.run("INSERT INTO reals VALUES (1), (2.5), ('NaN'), (1e300), ('-inf'), (NULL), (9.3e18), (3)");
  database.run("CREATE TABLE texts (x VARCHAR)");
  database.run("INSERT INTO texts VALUES ('1'), ('2.5'), ('n/a'), ('1e999'), (''), (NULL), ('3')");
  const Aggregation integers = of({AtomType::integer}, clamped(Bounds(0, 10), {}, make_sum()));
  const Aggregation reals = of({AtomType::real}, clamped(Bounds(0, 10), Grid(0), make_count()));
  const std::vector<FoldRequest> requests = {{{"x"}, &integers}, {{"x"}, &reals}};
  for (const std::string table : {"reals", "texts"}) {
    const std::unique_ptr<Source> source = open_sql_source(
        SqlDialect::duckdb, {{table}, {}}, [&](const std::string& sql) { return database.run(sql); });
    EXPECT_EQ(source->fold({}, requests, {}).states[0].totals(), (Totals{2, {4}})) << table;
  }
}

TEST(SqlQuery, AMisspeltColumnIsNoTextOfSqlites) {
  SqliteDatabase database;
  nasty_table(3, 1).create(database, "people");
  const Aggregation counts = of({AtomType::text}, make_histogram(Bins::texts({"nope"})));
  const std::vector<FoldRequest> requests = {{{"nope"}, &counts}};
  EXPECT_THROW(database.run(SqlQuery(SqlDialect::sqlite, {{"people"}, {}}, {}, requests).text()),
               std::runtime_error);
}

// ---- Limits on units ------------------------------------------------------------------------------------------------

struct UnitRow {
  std::optional<std::int64_t> unit;
  std::int64_t group;
  std::int64_t value;
};

std::vector<UnitRow> unit_rows(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<UnitRow> rows;
  for (int i = 0; i < 600; ++i) {
    UnitRow row{static_cast<std::int64_t>(random() % 60), static_cast<std::int64_t>(random() % 5),
                static_cast<std::int64_t>(random() % 12)};
    if (random() % 20 == 0) row.unit.reset();
    rows.push_back(row);
  }
  return rows;
}

TestTable table_of(const std::vector<UnitRow>& rows) {
  TestTable table{{{"unit", "BIGINT", {}, {}}, {"g", "BIGINT", {}, {}}, {"v", "BIGINT", {}, {}}}};
  for (const UnitRow& row : rows) {
    row.unit ? table.columns[0].add(*row.unit) : table.columns[0].add_null();
    table.columns[1].add(row.group);
    table.columns[2].add(row.value);
  }
  return table;
}

// The order of a unit's rows, as sql_query.cpp writes it.
std::int64_t order_hash(const std::vector<std::int64_t>& cells) {
  constexpr std::int64_t prime = 2147483647;
  std::int64_t hash = 1;
  for (const std::int64_t cell : cells) hash = (hash + (cell + 3) % prime) * 48271 % prime;
  return hash;
}

TEST(SqlQuery, KeepsTheFirstRowsOfAUnitInTheOrderOfTheirCells) {
  const std::vector<UnitRow> rows = unit_rows(3);
  const TestTable table = table_of(rows);
  const Aggregation sum = of({AtomType::integer}, clamped(Bounds(1, 10), {}, make_sum()));
  const Aggregation counts =
      of({AtomType::integer, AtomType::integer}, make_grouped(Bins::numbers({0, 1, 2, 3}), make_count()));
  constexpr std::uint64_t most = 3;
  const std::vector<FoldRequest> requests = {
      {{"v"}, &sum}, {{"g", "v"}, &counts}, {{"g", "v"}, &counts, FoldRequest::GroupLimit{"g", 2, 1}}};
  RowSelection selection;
  selection.unit = RowSelection::UnitLimit{"unit", most};

  std::map<std::int64_t, std::vector<std::vector<std::int64_t>>>
      by_unit;  // cells: the value less 1, the group's place
  for (const UnitRow& row : rows) {
    if (row.unit)
      by_unit[*row.unit].push_back(
          {std::clamp<std::int64_t>(row.value, 1, 10) - 1, row.group < 4 ? row.group : -1});
  }
  Integer expected_sum = 0;
  std::uint64_t expected_rows = 0;
  std::vector<std::uint64_t> expected_counts(4);
  std::vector<std::uint64_t> limited_counts(4);
  for (auto& [unit, cells] : by_unit) {
    std::sort(cells.begin(), cells.end(), [](const auto& a, const auto& b) {
      return std::pair(order_hash(a), a) < std::pair(order_hash(b), b);
    });
    if (cells.size() > most) cells.resize(most);
    std::vector<std::int64_t> groups;
    for (const std::vector<std::int64_t>& row : cells) {
      ++expected_rows;
      expected_sum += static_cast<long>(row[0] + 1);
      if (row[1] < 0) continue;
      ++expected_counts[static_cast<std::size_t>(row[1])];
      if (groups.size() < 2 && std::find(groups.begin(), groups.end(), row[1]) == groups.end()) {
        groups.push_back(row[1]);
        ++limited_counts[static_cast<std::size_t>(row[1])];
      }
    }
  }
  for (const std::unique_ptr<Database>& database : all_databases()) {
    table.create(*database, "people");
    const std::unique_ptr<Source> source = open_sql_source(
        database->dialect(), {{"people"}, {}}, [&](const std::string& sql) { return database->run(sql); });
    const FoldResult result = source->fold(selection, requests, {});
    EXPECT_EQ(result.states[0].totals(), (Totals{expected_rows, {Dyadic(expected_sum, 0)}}))
        << to_string(database->dialect());
    for (std::size_t group = 0; group < 4; ++group) {
      EXPECT_EQ(result.states[1].totals().values[group],
                Dyadic(static_cast<std::int64_t>(expected_counts[group])));
      EXPECT_EQ(result.states[2].totals().values[group],
                Dyadic(static_cast<std::int64_t>(limited_counts[group])));
    }
  }
}

// Cells of few bits all of them: their hash has 64.
TEST(SqlQuery, OrdersRowsOfTextsAlone) {
  TestTable table{{{"unit", "BIGINT", {}, {}}, {"a", "VARCHAR", {}, {}}, {"b", "VARCHAR", {}, {}}}};
  for (int i = 0; i < 200; ++i) {
    table.columns[0].add(std::int64_t{i % 20});
    table.columns[1].add(std::string(1, static_cast<char>('a' + i % 7)));
    table.columns[2].add(std::string(1, static_cast<char>('a' + i % 5)));
  }
  const Aggregation counts =
      of({AtomType::text}, make_histogram(Bins::texts({"a", "b", "c", "d"}).with_other()));
  const std::vector<FoldRequest> requests = {{{"a"}, &counts}, {{"b"}, &counts}};
  RowSelection selection;
  selection.unit = RowSelection::UnitLimit{"unit", 2};
  for (const std::unique_ptr<Database>& database : all_databases()) {
    table.create(*database, "people");
    const FoldResult result =
        open_sql_source(database->dialect(), {{"people"}, {}}, [&](const std::string& sql) {
          return database->run(sql);
        })->fold(selection, requests, {});
    EXPECT_EQ(result.states[0].totals().rows, 40U) << to_string(database->dialect());
  }
}

// However a number is written or signed, it is one unit.
TEST(SqlQuery, EqualNumbersAreOneUnit) {
  const Aggregation counts = of({AtomType::integer}, make_count());
  const std::vector<FoldRequest> requests = {{{"v"}, &counts}};
  RowSelection selection;
  selection.unit = RowSelection::UnitLimit{"unit", 1};
  SqliteDatabase sqlite;
  sqlite.run("CREATE TABLE t (unit, v INTEGER)");
  sqlite.run("INSERT INTO t VALUES (1, 1), (1.0, 2), (NULL, 3), ('  ', 4), ('b', 5), (2.5, 6), (2.5, 7)");
  EXPECT_EQ(open_sql_source(SqlDialect::sqlite, {{"t"}, {}},
                            [&](const std::string& sql) { return sqlite.run(sql); })
                ->fold(selection, requests, {})
                .rows,
            3U);
  DuckdbDatabase duckdb;
  duckdb.run("CREATE TABLE t (unit DOUBLE, v INTEGER)");
  duckdb.run("INSERT INTO t VALUES (0.0, 1), (-0.0, 2), (NULL, 3), ('NaN', 4), (7, 5)");
  const SqlTable known{{"t"}, {{"unit", SqlType::real}, {"v", SqlType::integer}}};
  EXPECT_EQ(
      open_sql_source(SqlDialect::duckdb, known, [&](const std::string& sql) { return duckdb.run(sql); })
          ->fold(selection, requests, {})
          .rows,
      2U);
}

// The claim itself: all rows of a unit more or less change the exact statistics by no more than the limits allow.
TEST(SqlQuery, AUnitChangesNoMoreThanItsLimits) {
  const std::vector<UnitRow> rows = unit_rows(4);
  const Aggregation counts =
      of({AtomType::integer, AtomType::integer}, make_grouped(Bins::numbers({0, 1, 2, 3, 4}), make_count()));
  const std::vector<FoldRequest> requests = {{{"g", "v"}, &counts},
                                             {{"g", "v"}, &counts, FoldRequest::GroupLimit{"g", 2, 2}}};
  RowSelection selection;
  selection.unit = RowSelection::UnitLimit{"unit", 5};
  const auto counted = [&](const std::vector<UnitRow>& of_rows) {
    SqliteDatabase database;
    table_of(of_rows).create(database, "people");
    return open_sql_source(SqlDialect::sqlite, {{"people"}, {}},
                           [&](const std::string& sql) { return database.run(sql); })
        ->fold(selection, requests, {});
  };
  const FoldResult all = counted(rows);
  for (std::int64_t unit = 0; unit < 60; ++unit) {
    std::vector<UnitRow> without;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(without),
                 [&](const UnitRow& row) { return row.unit != unit; });
    const FoldResult rest = counted(without);
    for (const std::size_t request : {0U, 1U}) {
      Dyadic distance;
      for (std::size_t group = 0; group < 5; ++group)
        distance +=
            abs(all.states[request].totals().values[group] - rest.states[request].totals().values[group]);
      EXPECT_LE(distance, Dyadic(request == 0 ? 5 : 4)) << "unit " << unit;
    }
  }
}

// ---- Results that are not to be trusted -----------------------------------------------------------------------------

class SqlResultTest : public testing::Test {
 protected:
  SqlResultTest() {
    table_.create(database_, "people");
    result_ = database_.run(query().text());
  }
  SqlQuery query() const { return query(dialect_); }
  SqlQuery query(SqlDialect dialect) const { return SqlQuery(dialect, {{"people"}, {}}, {}, requests_); }
  void expect_refused(const SqlResult& result, const std::string& why) const {
    try {
      query().read(result);
      FAIL() << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data) << why;
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  }
  // The place of the row of the part's first group, or of all its rows.
  std::size_t row_of(int part) const {
    for (std::size_t i = 0; i < result_.rows.size(); ++i) {
      if (result_.rows[i][1] == std::to_string(part) && result_.rows[i][2] == "0") return i;
    }
    throw std::logic_error("no such part");
  }

  TestTable table_ = nasty_table(500, 9);
  SqlDialect dialect_ = SqlDialect::duckdb;
  DuckdbDatabase database_;
  std::vector<Question> questions_ = {
      {{"order"}, of({AtomType::real}, clamped(Bounds(0, 100), Grid(-20), make_centered_moment(2)))},
      {{text_name, "n"},
       of({AtomType::text, AtomType::integer},
          make_grouped(Bins::texts({"CA", "ca"}), clamped(Bounds(0, 9), {}, make_sum())))}};
  std::vector<FoldRequest> requests_ = requests_of(questions_);
  SqlResult result_;
};

TEST_F(SqlResultTest, ReadsItAsItIsInAnyOrderOfRowsAndColumns) {
  const FoldResult expected = table_.memory().fold({}, requests_, {});
  expect_equal_states(query().read(result_), expected, questions_, "as it is");
  SqlResult other = result_;
  std::reverse(other.rows.begin(), other.rows.end());
  std::swap(other.columns[2], other.columns[5]);
  for (std::vector<std::string>& row : other.rows) std::swap(row[2], row[5]);
  for (std::string& name : other.columns)
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  expect_equal_states(query().read(other), expected, questions_, "another order, capitals");
}

TEST(SqlQuery, ResultsAreReadWhateverTheDialectWas) {
  const TestTable table = nasty_table(500, 9);
  const std::vector<Question> asked = questions();
  const FoldResult expected = table.memory().fold({}, requests_of(asked), {});
  for (const std::unique_ptr<Database>& database : all_databases()) {
    table.create(*database, "people");
    const SqlQuery query(database->dialect(), {{"people"}, {}}, {}, requests_of(asked));
    const std::unique_ptr<Source> source =
        open_sql_result(database->run(query.text()), {"order", "n", text_name});
    EXPECT_EQ(source->columns().size(), 3U);
    expect_equal_states(source->fold({}, requests_of(asked), {}), expected, asked,
                        to_string(database->dialect()));
  }
}

// One whose sums of all rows come by themselves, in words of 22 bits.
TEST_F(SqlResultTest, RefusesWhatNoRowsGive) {
  dialect_ = SqlDialect::sqlite;
  SqliteDatabase sqlite;
  table_.create(sqlite, "people");
  result_ = sqlite.run(query().text());
  const auto changed = [&](std::size_t row, std::size_t column, const std::string& cell) {
    SqlResult result = result_;
    result.rows[row][column] = cell;
    return result;
  };
  constexpr std::size_t count = 4;  // the column n_0
  const std::size_t all = row_of(0);
  const std::size_t group = row_of(1);
  expect_refused(changed(all, 0, "7"), "another question");
  expect_refused(changed(all, count, "-1"), "negative");
  expect_refused(changed(all, count, "1099511627777"), "2^40");
  expect_refused(changed(all, count, "12x"), "no integer");
  expect_refused(changed(all, count, "1.5"), "no integer");
  expect_refused(changed(all, count, ""), "no integer");
  expect_refused(changed(all, count, "100000"), "add up");
  expect_refused(changed(group, count, "0"), "add up");
  expect_refused(changed(group, count + 6, "1"), "stands for no sum");
  expect_refused(changed(all, count + 1, "501"), "more rows than there are");
  expect_refused(changed(all, count + 2, "999999999999999"),
                 "within the bounds");                                // a sum beyond rows times bounds
  expect_refused(changed(all, count + 6, "0"), "within the bounds");  // squares too small for their sum
  expect_refused(changed(group, 1, "9"), "out of range");
  expect_refused(changed(all, 2, "1"), "out of range");
  expect_refused(changed(group, count + 1, "500"), "more rows than it has");
  SqlResult result = result_;
  result.rows.push_back(result.rows[group]);
  expect_refused(result, "twice");
  result = result_;
  result.rows.erase(result.rows.begin() + static_cast<std::ptrdiff_t>(group));
  expect_refused(result, "add up");
  result = result_;
  result.rows.erase(result.rows.begin() + static_cast<std::ptrdiff_t>(all));
  expect_refused(result, "missing");
  result = result_;
  result.columns.back() = "other";
  expect_refused(result, "missing");
  result = result_;
  result.columns.emplace_back("more");
  expect_refused(result, "other columns");
  result.columns = result_.columns;
  result.rows[all].emplace_back("1");
  expect_refused(result, "cells");
  expect_refused({}, "missing");
}

// One whose sums of all rows come with the groups: then every sum is there twice.
TEST_F(SqlResultTest, RefusesGroupsThatDoNotAddUpToTheirTotal) {
  EXPECT_EQ(query().text().find("\"people\""), query().text().rfind("\"people\""))
      << "the table is read twice";
  const std::size_t all = row_of(0);
  const std::size_t group = row_of(1);
  query().read(result_);
  for (std::size_t column = 4; column < result_.columns.size(); ++column) {
    for (const std::size_t row : {all, group}) {
      SqlResult result = result_;
      result.rows[row][column] = std::to_string(std::stoll(result.rows[row][column]) + 1);
      expect_refused(result, "add up");
    }
  }
  SqlResult result = result_;
  result.rows.erase(result.rows.begin() + static_cast<std::ptrdiff_t>(group));
  expect_refused(result, "add up");
  result = result_;
  result.rows.erase(result.rows.begin() + static_cast<std::ptrdiff_t>(all));
  expect_refused(result, "missing");
}

TEST_F(SqlResultTest, RefusesTheResultOfAnotherDialectsWords) {
  SqliteDatabase sqlite;
  table_.create(sqlite, "people");
  expect_refused(sqlite.run(query(SqlDialect::sqlite).text()), "aggregates");
}

// ---- Refusals -------------------------------------------------------------------------------------------------------

void expect_query_refused(const Aggregation& aggregation, const std::vector<std::string>& columns,
                          const std::string& parameter, const SqlTable& table = {{"t"}, {}}) {
  const std::vector<FoldRequest> requests = {{columns, &aggregation}};
  try {
    SqlQuery(SqlDialect::duckdb, table, {}, requests);
    FAIL() << parameter;
  } catch (const Error& error) {
    EXPECT_EQ(error.parameter(), parameter) << error.what();
  }
}

TEST(SqlQuery, RefusesWhatADatabaseDoesNotSumExactly) {
  constexpr AtomType real = AtomType::real;
  expect_query_refused(of({real}, clamped(Bounds(0, 1), {}, make_sum())), {"x"}, "row_grid");
  expect_query_refused(
      of({AtomType::integer},
         clamped(Bounds(Dyadic(std::numeric_limits<std::int64_t>::min()), Dyadic(0)), {}, make_sum())),
      {"x"}, "bounds");
  const auto mapped = [](const VectorDomain& rows, Metric metric) {
    const Transformation complete = make_drop(rows, metric);
    return complete >> make_map(
                           complete.output_domain(), metric, AtomDomain{AtomType::real, true, false, {}},
                           [](double x) { return x; }, "identity", Trusted{}) >>
           make_count();
  };
  expect_query_refused(of({real}, mapped), {"x"}, "statistic");
  expect_query_refused(of({real}, make_count()), {"x"}, "table", {{}, {}});
  expect_query_refused(of({real}, make_count()), {"x"}, "columns", {{"t"}, {{"x", SqlType::text}}});
  expect_query_refused(of({real}, make_count()), {"x"}, "columns", {{"t"}, {{"x", SqlType::unusable}}});
  expect_query_refused(of({real}, make_count()), {std::string("x\0y", 3)}, "columns");
}

TEST(SqlQuery, NamesAndConstantsStayWhatTheyAre) {
  const Aggregation counts = of({AtomType::text}, make_histogram(Bins::texts({"'; DROP TABLE t; --\\' \\"})));
  const std::vector<FoldRequest> requests = {{{"a\"`b"}, &counts}};
  const auto text = [&](SqlDialect dialect) {
    return SqlQuery(dialect, {{"s.x", "t"}, {}}, {}, requests).text();
  };
  EXPECT_THAT(text(SqlDialect::duckdb), HasSubstr("'''; DROP TABLE t; --\\'' \\'"));
  EXPECT_THAT(text(SqlDialect::duckdb), HasSubstr("\"a\"\"`b\""));
  EXPECT_THAT(text(SqlDialect::duckdb), HasSubstr("\"s.x\".\"t\""));
  EXPECT_THAT(text(SqlDialect::postgresql), HasSubstr("E'''; DROP TABLE t; --\\\\'' \\\\'"));
  EXPECT_THAT(text(SqlDialect::spark), HasSubstr("'\\'; DROP TABLE t; --\\\\\\' \\\\'"));
  EXPECT_THAT(text(SqlDialect::spark), HasSubstr("`a\"``b`"));
}

TEST(SqlQuery, TableNamesHavePartsBetweenDots) {
  EXPECT_EQ(parse_table_name("people"), (std::vector<std::string>{"people"}));
  EXPECT_EQ(parse_table_name("hr.people"), (std::vector<std::string>{"hr", "people"}));
  EXPECT_EQ(parse_table_name("\"a.b\".\"say \"\"hi\"\"\""), (std::vector<std::string>{"a.b", "say \"hi\""}));
  for (const char* bad : {"", ".", "a.", ".a", "\"a"}) EXPECT_THROW(parse_table_name(bad), Error) << bad;
}

TEST(SqlQuery, AThousandStatisticsAreOneQuery) {
  const TestTable table = nasty_table(100, 2);
  std::vector<Question> asked;
  for (int i = 0; i < 1000; ++i)
    asked.push_back({{"n"}, of({AtomType::integer}, clamped(Bounds(0, i + 1), {}, make_sum()))});
  MemorySource memory = table.memory();
  const FoldResult expected = memory.fold({}, requests_of(asked), {});
  for (const std::unique_ptr<Database>& database : all_databases()) {
    table.create(*database, "people");
    const std::unique_ptr<Source> source = open_sql_source(
        database->dialect(), {{"people"}, {}}, [&](const std::string& sql) { return database->run(sql); });
    expect_equal_states(source->fold({}, requests_of(asked), {}), expected, asked,
                        to_string(database->dialect()));
  }
}

}  // namespace
}  // namespace snapdp
