// What a plan prints is what a release debits, and what is released does not depend on how a file stores its cells: the
// same rows as CSV, as Parquet with integers, and as Parquet whose integers are reals because one of them is null.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "duckdb/query_stream.h"
#include "duckdb/source_testing.h"
#include "release/replace.h"
#include "snapdp/engines/arrow/arrow_source.h"
#include "snapdp/release/release.h"

namespace snapdp {
namespace {

constexpr const char* head = R"([data]
dataset = "people"
neighbors = "add-remove"
privacy_unit = "pid"
max_rows_per_unit = 3
expected_size = 6
where = "age < 99 or age > 0"
[columns.visits]
type = "integer"
bounds = [0, 10]
[columns.city]
keys = ["ulm", "bonn"]
[columns.code]
type = "text"
categories = ["7", "8"]
[budget]
epsilon = "1e9"
)";

const std::vector<std::string> kinds = {
    "kind = \"count\"",
    "kind = \"sum\"\ncolumn = \"visits\"",
    "kind = \"sum\"\ncolumn = \"age\"\nbounds = [0, 100]",
    "kind = \"sum\"\ncolumn = \"age\"\ntype = \"integer\"\nbounds = [0, 100]",
    "kind = \"mean\"\ncolumn = \"visits\"",
    "kind = \"variance\"\ncolumn = \"age\"\nbounds = [0, 100]",
    "kind = \"covariance\"\ncolumns = [\"age\", \"visits\"]\nbounds = [[0, 100], [0, 10]]",
    "kind = \"histogram\"\ncolumn = \"code\"",
    "kind = \"histogram\"\ncolumn = \"age\"\nedges = [0, 30, 100]",
    "kind = \"histogram\"\ncolumn = \"visits\"\ncategories = [1, 2]\nother = \"bin\"",
    "kind = \"distinct\"\ncolumn = \"city\"",
    "kind = \"median\"\ncolumn = \"visits\"\nedges = [0, 2, 4, 8]",
    "kind = \"count\"\ngroup_by = \"city\"",
    "kind = \"sum\"\ncolumn = \"visits\"\ngroup_by = \"age\"\nkeys = [10, 20]",
    "kind = \"count\"\ngroup_by = \"visits\"\nkeys = [1, 2]",
};

// Rows without nulls and, behind them, one that has nothing but a unit.
const std::vector<std::string> integers = {"(1, 10, 1, 'ulm', 7)", "(1, 20, 2, 'bonn', 8)",
                                           "(2, 30, 3, 'ulm', 7)", "(3, 40, 20, 'x', 9)",
                                           "(3, 40, 20, 'x', 9)",  "(4, 50, -5, 'ulm', 8)"};

std::string table(bool null_row, const std::string& number) {
  std::string values;
  for (const std::string& row : integers) values += (values.empty() ? "" : ", ") + row;
  if (null_row) values += ", (9, NULL, NULL, NULL, NULL)";
  return "SELECT CAST(pid AS " + number + ") AS pid, CAST(age AS " + number + ") AS age, CAST(visits AS " +
         number + ") AS visits, city, CAST(code AS " + number + ") AS code FROM (VALUES " + values +
         ") AS rows(pid, age, visits, city, code)";
}

class DeclaredTypesTest : public testing::Test {
 protected:
  // The released values without noise that could be seen: the exact statistics, as the report shows them.
  nlohmann::json release_of(const std::string& text, const std::string& file) {
    const std::filesystem::path book = folder_.path() / "people.ledger";
    std::filesystem::remove(book);
    Ledger ledger =
        Ledger::create(book, {"people", Neighbors::add_remove, "pid"}, Rational(Integer(1'000'000'000)));
    const Released released = release(Specification::parse(text, "s.toml"), ledger,
                                      [&](const Declaration&) { return open_duckdb_source({.path = file}); });
    spent_ = ledger.balance().spent.value;
    return nlohmann::json::parse(released.report.json());
  }

  ScratchFolder folder_;
  Rational spent_;
};

TEST_F(DeclaredTypesTest, PlansAreWhatReleasesDebitHoweverCellsAreStored) {
  const std::string csv = folder_.write("people.csv",
                                        "pid,age,visits,city,code\n1,10,1,ulm,7\n1,20,2,bonn,8\n2,30,3,ulm,"
                                        "7\n3,40,20,x,9\n3,40,20,x,9\n4,50,-5,ulm,8\n");
  const auto parquet = [&](const std::string& name, const std::string& query) {
    const std::string written = write_parquet(folder_, query);
    const std::filesystem::path file = folder_.path() / name;
    std::filesystem::rename(written, file);
    return file.string();
  };
  const std::vector<std::string> files = {csv,
                                          parquet("integers.parquet", table(false, "BIGINT")),
                                          parquet("small.parquet", table(false, "SMALLINT")),
                                          parquet("reals.parquet", table(true, "DOUBLE")),
                                          parquet("floats.parquet", table(false, "FLOAT")),
                                          parquet("texts.parquet", table(false, "VARCHAR"))};
  for (const std::string& kind : kinds) {
    const std::string text =
        head + std::string("[[statistic]]\nname = \"x\"\nepsilon = \"1e8\"\nalpha = \"1e-12\"\n") + kind +
        "\n";
    SCOPED_TRACE(kind);
    const Plan plan(Specification::parse(text, "s.toml"));
    const nlohmann::json planned = nlohmann::json::parse(plan.to_json()).at("statistics").at(0);
    std::optional<nlohmann::json> first;
    for (const std::string& file : files) {
      SCOPED_TRACE(file);
      const nlohmann::json released = release_of(text, file).at("statistics").at(0);
      EXPECT_EQ(spent_, plan.epsilon());
      for (const char* key : {"epsilon", "sensitivity", "scale", "grid", "noise", "loss_bound", "accuracy"}) {
        // How far a number that is computed from noisy parts may be off follows from these, once released.
        const bool follows = std::string(key) == "accuracy" && planned.contains("parts");
        if (!follows && planned.contains(key) && released.contains(key) && !planned.at(key).is_null()) {
          EXPECT_EQ(released.at(key), planned.at(key)) << key;
        }
      }
      // With so little noise equal statistics are numbers this near: a scale is at most 3 · 7500 · 3 / 1e8 < 1e-3, and
      // a tenth is a hundred of them.
      const auto numbers = [](const nlohmann::json& statistic) {
        std::vector<double> all;
        for (const nlohmann::json& leaf : statistic.flatten()) {
          if (leaf.is_number()) all.push_back(leaf.get<double>());
        }
        return all;
      };
      const bool null_row = file.ends_with("reals.parquet");
      if (null_row && (kind == kinds[0] || kind.find("other = ") != std::string::npos))
        continue;  // it counts there
      if (!first) first = released;
      ASSERT_EQ(numbers(released).size(), numbers(*first).size());
      for (std::size_t i = 0; i < numbers(released).size(); ++i)
        EXPECT_NEAR(numbers(released)[i], numbers(*first)[i], 1e-1);
    }
  }
}

// The exact statistics of a release are the same for every engine.
TEST_F(DeclaredTypesTest, ArrowStreamsGiveTheStatisticsOfFiles) {
  const std::string csv = folder_.write("people.csv",
                                        "pid,age,visits,city,code\n1,10,1,ulm,7\n1,20,2,bonn,8\n2,30,3,ulm,"
                                        "7\n3,40,20,x,9\n3,40,20,x,9\n4,50,-5,ulm,8\n9,,,,\n");
  std::string text = head;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    text += "[[statistic]]\nname = \"x" + std::to_string(i) + "\"\nepsilon = \"1\"\n" + kinds[i] + "\n";
  const Plan plan(Specification::parse(text, "s.toml"));
  const Composition composition = plan.composition();
  const auto statistics = [&](Source& source) {
    std::vector<std::vector<Dyadic>> all;
    for (const ExactPart& part : composition.exact(source)) all.push_back(part.statistic);
    return all;
  };
  const auto compare = [&](const std::string& file, const std::string& query) {
    SCOPED_TRACE(query);
    const std::vector<std::vector<Dyadic>> expected =
        statistics(*open_duckdb_source({.path = file, .threads = 2}));
    QueryStream stream(query, {});
    ArrowArrayStream opened = stream.open();
    ArrowSource arrow(&opened, {.threads = 2});
    EXPECT_EQ(statistics(arrow), expected);
    EXPECT_GT(expected.size(), kinds.size());  // some kinds have several parts
  };
  compare(csv, "SELECT * FROM read_csv(" + engines_internal::sql_text(csv) + ", all_varchar = true)");
  for (const std::string type :
       {"BIGINT", "TINYINT", "DOUBLE", "FLOAT", "VARCHAR", "DECIMAL(9,2)", "UBIGINT"}) {
    // The unit is not the same as a text of other digits.
    const bool negative = type != "UBIGINT";
    std::string query = table(true, type);
    if (!negative) query.replace(query.find("-5"), 2, "5");
    const std::string file = write_parquet(folder_, query);
    compare(file, "SELECT * FROM read_parquet(" + engines_internal::sql_text(file) + ")");
  }
}

TEST_F(DeclaredTypesTest, StoredNumbersAreReadAsWhatIsWanted) {
  const std::string file =
      write_parquet(folder_,
                    "SELECT x, try_cast(x AS DECIMAL(9, 2)) AS d, try_cast(x AS BIGINT) AS i, x > 2 AS b "
                    "FROM (VALUES (1.5::DOUBLE), "
                    "(-0.0::DOUBLE), (1e300::DOUBLE), ('nan'::DOUBLE), (7::DOUBLE), (NULL)) AS rows(x)");
  const auto read = [&](const std::string& column, AtomType type) {
    const RowRecorder recorder({type});
    const std::vector<FoldRequest> requests = {{{column}, recorder.aggregation()}};
    open_duckdb_source({.path = file})->fold(requests, {});
    return recorder.rows();
  };
  using testing::ElementsAre;
  EXPECT_THAT(read("x", AtomType::integer), ElementsAre("0", "7", "null", "null", "null", "null"));
  EXPECT_THAT(read("x", AtomType::text), ElementsAre("'0'", "'1.5'", "'1e+300'", "'7'", "null", "null"));
  EXPECT_THAT(read("d", AtomType::integer), ElementsAre("0", "7", "null", "null", "null", "null"));
  EXPECT_THAT(read("d", AtomType::text), ElementsAre("'0.00'", "'1.50'", "'7.00'", "null", "null", "null"));
  EXPECT_THAT(read("i", AtomType::text), ElementsAre("'0'", "'2'", "'7'", "null", "null", "null"));
  EXPECT_THAT(read("i", AtomType::real), ElementsAre("0x0p+0", "0x1.cp+2", "0x1p+1", "null", "null", "null"));
  EXPECT_THAT(read("b", AtomType::text),
              ElementsAre("'false'", "'false'", "'true'", "'true'", "'true'", "null"));
  EXPECT_THAT(read("b", AtomType::integer), ElementsAre("0", "0", "1", "1", "1", "null"));
}

}  // namespace
}  // namespace snapdp
