// What a PostgreSQL server sums is, bit for bit, what the embedded engine folds of the same rows.
#include <gtest/gtest.h>

#include <random>

#include "postgresql/tables.h"
#include "rows.h"

namespace snapdp {
namespace {

constexpr const char* parallel =
    "options='-c force_parallel_mode=on -c max_parallel_workers_per_gather=2 -c "
    "min_parallel_table_scan_size=0 "
    "-c parallel_setup_cost=0 -c parallel_tuple_cost=0'";

const std::vector<std::string> towns = {
    "Ulm", "ulm", "ULM", "o'clock", "back\\slash", "a\"b", "Z\u00fcrich", "\u65e5\u672c", "", "\n", "Ulm\t"};

// Every kind of column, with everything in it that is easily misread.
TextTable nasty(std::size_t rows) {
  TextTable table;
  table.columns = {{"x", "double precision", "DOUBLE"},
                   {"small", "real", "FLOAT"},
                   {"n", "bigint", "BIGINT"},
                   {"order", "smallint", "SMALLINT"},
                   {"select", "integer", "INTEGER"},
                   {"flag", "boolean", "BOOLEAN"},
                   {"amount", "numeric", "DOUBLE"},
                   {"a \"b\" c", "numeric(20, 1)", "DECIMAL(20, 1)"},
                   {"St\u00e4dte", "text COLLATE nocase", "VARCHAR"},
                   {"code", "char(6)", "VARCHAR"},
                   {"mood", "mood", "VARCHAR"},
                   {"years", "years", "SMALLINT"},
                   {"born", "date", "DATE"}};
  std::mt19937_64 engine(rows);
  const std::vector<double> reals = adversarial_reals(engine, rows);
  const auto of = [&](const std::vector<std::optional<std::string>>& all) {
    return all[engine() % all.size()];
  };
  const std::optional<std::string> null;
  for (std::size_t i = 0; i < rows; ++i) {
    char real[64];
    std::snprintf(real, sizeof real, "%.17g", reals[i]);
    table.rows.push_back(
        {of({real, real, real, null, "5e-324", "-5e-324", "-0", "NaN", "Infinity", "-Infinity", "1e-310"}),
         of({"0.1", "-0", "NaN", "3", "16777216", "-7.5", "Infinity", "1e-45", null}),
         of({"9223372036854775807", "-9223372036854775808", "0", "-1", "4611686018427387904", "7", null}),
         of({"-32768", "32767", "0", "5", null}), of({"1", "2", "3", "-2147483648", null}),
         of({"true", "false", null}), of({"0.1", "-12345.678901", "1e-7", "99999999999999999999", null}),
         of({"9223372036854775807.0", "-9223372036854775808.0", "9223372036854775808.0", "0.5", "-3.0",
             "9223372036854775807.4", null}),
         of({towns[engine() % towns.size()], towns[engine() % towns.size()], null}),
         of({"ab", "AB", "a", null}), of({"happy", "sad", null}), of({"17", "18", "99", null}),
         of({"2020-02-29", null})});
  }
  return table;
}

const char* const statistics = R"(
[[statistic]]
name = "rows"
kind = "count"
epsilon = 1
[[statistic]]
name = "sum x"
kind = "sum"
column = "x"
bounds = [-3, 5]
epsilon = 1
[[statistic]]
name = "tiny bounds"
kind = "sum"
column = "x"
bounds = [-1e-200, 1e-200]
epsilon = 1
[[statistic]]
name = "huge bounds"
kind = "mean"
column = "x"
bounds = [-1e300, 1.5e300]
epsilon = 1
[[statistic]]
name = "mean small"
kind = "mean"
column = "small"
bounds = [-8, 1000]
epsilon = 1
[[statistic]]
name = "small as integers"
kind = "sum"
type = "integer"
column = "small"
bounds = [-10, 100000000]
epsilon = 1
[[statistic]]
name = "variance n"
kind = "variance"
type = "integer"
column = "n"
bounds = [-4611686018427387903, 0]
epsilon = 1
[[statistic]]
name = "n as reals"
kind = "mean"
column = "n"
bounds = [-1e10, 1e18]
epsilon = 1
[[statistic]]
name = "covariance"
kind = "covariance"
columns = ["x", "amount"]
bounds = [[-1, 1], [-20000, 20000]]
epsilon = 1
[[statistic]]
name = "regression"
kind = "regression"
y = "x"
x = ["amount", "small"]
bounds = [[-1, 1], [-20000, 20000], [-3, 50]]
epsilon = 1
[[statistic]]
name = "variance of words"
kind = "variance"
type = "integer"
column = "order"
bounds = [-40000, 40000]
epsilon = 1
[[statistic]]
name = "x as integers"
kind = "sum"
type = "integer"
column = "x"
bounds = [-1000, 1000]
epsilon = 1
[[statistic]]
name = "decimals"
kind = "mean"
column = 'a "b" c'
bounds = [-4, 1]
epsilon = 1
[[statistic]]
name = "decimals as integers"
kind = "histogram"
type = "integer"
column = 'a "b" c'
categories = [-9223372036854775808, -3, 0, 9223372036854775807]
other = "bin"
epsilon = 1
[[statistic]]
name = "towns"
kind = "histogram"
column = "Städte"
categories = ["ulm", "Ulm", "o'clock", "back\\slash", "a\"b", "Zürich", "日本", "nowhere"]
other = "bin"
epsilon = 1
[[statistic]]
name = "codes"
kind = "distinct"
column = "code"
categories = ["ab", "AB", "c"]
epsilon = 1
[[statistic]]
name = "moods"
kind = "histogram"
column = "mood"
categories = ["happy", "sad"]
epsilon = 1
[[statistic]]
name = "histogram x"
kind = "histogram"
column = "x"
edges = [-1e300, -1, 0, 0.1, 0.5, 1, 1e308]
other = "bin"
epsilon = 1
[[statistic]]
name = "quantiles"
kind = "quantiles"
column = "x"
quantiles = [0.25, 0.5]
bounds = [-2, 2]
resolution = 0.125
epsilon = 1
[[statistic]]
name = "years"
kind = "range_count"
type = "integer"
column = "years"
bounds = [18, 98]
epsilon = 1
[[statistic]]
name = "by flag"
kind = "mean"
column = "x"
bounds = [-1, 1]
group_by = "flag"
keys = [0, 1]
epsilon = 1
[[statistic]]
name = "by town"
kind = "variance"
column = "select"
bounds = [0, 4]
group_by = "Städte"
keys = ["Ulm", "ULM", "Zürich"]
epsilon = 1
[[statistic]]
name = "histograms by select"
kind = "histogram"
column = "code"
categories = ["ab", "a"]
group_by = "select"
keys = [1, 2, 7]
epsilon = 1
)";

constexpr const char* add_remove = "neighbors = \"add-remove\"\nrow_grid = \"auto\"\n";

class SameStates : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    run_sql_there(
        Server::shared().connection(),
        {"CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
         "CREATE TYPE mood AS ENUM ('sad', 'happy')", "CREATE DOMAIN age AS smallint CHECK (value > 0)",
         "CREATE DOMAIN years AS age CHECK (value < 200)"});
  }

  void expect_same(const TextTable& table, const std::string& data, const std::string& rest) {
    make_table("People", table);
    const ScratchFolder folder;
    const auto file = open_duckdb_source({.path = make_file(folder, table)});
    const Plan plan = plan_of(data, rest);
    const std::vector<State> expected = states_of(*file, plan);
    for (const char* more : {"", parallel}) {
      const auto there = open_table("People", more);
      const std::vector<State> found = states_of(*there, plan);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], expected[i]) << data;
    }
  }
};

TEST_F(SameStates, OfNastyRowsParallel) {
  for (const std::size_t rows : {0U, 1U, 300U}) {
    SCOPED_TRACE(rows);
    expect_same(nasty(rows), add_remove, statistics);
  }
}

TEST_F(SameStates, UnderConditionsParallel) {
  const TextTable table = nasty(200);
  for (const char* where :
       {"x >= -0.0", "not x < 0.1", "small = 0.1 or small > 1e30", R"(\"Städte\" in ('Ulm', 'back\\slash'))",
        R"(not \"Städte\" = 'ulm' and order <= 5)", "flag = 1 and not select in (1, 2)", "code = 'ab'",
        "amount > 0.1", "n > 4611686018427387904 or n = -9223372036854775808", "mood != 'sad'"}) {
    expect_same(table, add_remove + std::string("where = \"") + where + "\"\n", statistics);
  }
}

// Under change-one, where missing cells are imputed.
TEST_F(SameStates, WithImputedCellsParallel) {
  expect_same(nasty(150), "neighbors = \"change-one\"\nsize = 150\nrow_grid = \"auto\"\n",
              "[[statistic]]\nname = \"a\"\nkind = \"mean\"\ncolumn = \"x\"\nbounds = [-1, 4]\nepsilon = 1\n"
              "[[statistic]]\nname = \"b\"\nkind = \"covariance\"\ncolumns = [\"small\", \"amount\"]\n"
              "bounds = [[0, 2], [-2, 5]]\nepsilon = 1\n"
              "[[statistic]]\nname = \"c\"\nkind = \"moment\"\norder = 4\ncolumn = \"select\"\nbounds = [-3, "
              "3]\nepsilon = 1\n");
}

// Cells between 0 and a step are no error, however small.
TEST_F(SameStates, OnGridsOfLongStepsParallel) {
  for (const char* grid : {"2^4", "2^-30", "2^1"}) {
    const std::string row_grid = "row_grid = \"" + std::string(grid) + "\"\n";
    expect_same(nasty(200), add_remove,
                "[[statistic]]\nname = \"a\"\nkind = \"mean\"\ncolumn = \"x\"\nbounds = [-1000, "
                "5000]\nepsilon = 1\n" +
                    row_grid +
                    "[[statistic]]\nname = \"b\"\nkind = \"variance\"\ncolumn = \"small\"\nbounds = [-100, "
                    "500]\nepsilon = 1\n" +
                    row_grid);
  }
}

// What DuckDB's decimals do not hold: the same numbers as doubles.
TEST_F(SameStates, OfNumericsBeyondDoublesParallel) {
  TextTable table;
  table.columns = {{"v", "numeric", "DOUBLE"}};
  for (const char* cell : {"NaN", "1", "-2.5"}) table.rows.push_back({cell});
  table.rows.push_back({std::nullopt});
  TextTable there = table;
  for (const auto& [numeric, real] :
       std::vector<std::pair<std::string, std::string>>{{"1" + std::string(400, '0'), "Infinity"},
                                                        {"-1" + std::string(400, '0'), "-Infinity"},
                                                        {"0." + std::string(400, '0') + "1", "0"},
                                                        {"-0." + std::string(400, '0') + "1", "0"},
                                                        {"0." + std::string(323, '0') + "5", "5e-324"},
                                                        {"1.7976931348623157e308", "1.7976931348623157e308"},
                                                        {"Infinity", "Infinity"},
                                                        {"-Infinity", "-Infinity"}}) {
    table.rows.push_back({real});
    there.rows.push_back({numeric});
  }
  make_table("numerics", there);
  const ScratchFolder folder;
  const auto file = open_duckdb_source({.path = make_file(folder, table)});
  for (const char* where : {"", "where = \"v > 0\"\n", "where = \"v <= 0\"\n"}) {
    const Plan plan = plan_of(
        add_remove + std::string(where),
        "[[statistic]]\nname = \"a\"\nkind = \"mean\"\ncolumn = \"v\"\nbounds = [-3, 4]\nepsilon = 1\n"
        "[[statistic]]\nname = \"b\"\nkind = \"histogram\"\ncolumn = \"v\"\nedges = [0, 1e-323, 1, 1e308, "
        "1.7e308]\n"
        "other = \"bin\"\nepsilon = 1\n");
    EXPECT_EQ(states_of(*open_table("numerics"), plan), states_of(*file, plan)) << where;
  }
}

// More statistics than one query has room for.
TEST_F(SameStates, OfAThousandStatisticsParallel) {
  std::string many;
  for (int i = 0; i < 1000; ++i) {
    many += "[[statistic]]\nname = \"" + std::to_string(i) +
            "\"\nkind = \"variance\"\ncolumn = \"x\"\nbounds = [0, " + std::to_string(i + 1) +
            "]\nepsilon = 1\n";
  }
  expect_same(nasty(20), add_remove, many);
}

// Functions that fit the types better than pg_catalog's, in a schema that the connection looks into first.
TEST_F(SameStates, WhateverTheSearchPathHoldsParallel) {
  const TextTable table = nasty(100);
  make_table("People", table);
  run_sql_there(
      Server::shared().connection(),
      {"CREATE SCHEMA trap",
       "CREATE FUNCTION trap.floor(real) RETURNS double precision LANGUAGE sql AS 'SELECT 7.0::double "
       "precision'",
       "CREATE FUNCTION trap.less(double precision, real) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
       "CREATE FUNCTION trap.more(real, double precision) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
       "CREATE OPERATOR trap.< (LEFTARG = real, RIGHTARG = double precision, FUNCTION = trap.more)",
       "CREATE FUNCTION trap.one(smallint) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'"});
  const ScratchFolder folder;
  const auto file = open_duckdb_source({.path = make_file(folder, table)});
  const Plan plan = plan_of(add_remove, statistics);
  EXPECT_TRUE(states_of(*open_table("People", "options='-c search_path=trap,pg_catalog,public'"), plan) ==
              states_of(*file, plan));
}

}  // namespace
}  // namespace snapdp
