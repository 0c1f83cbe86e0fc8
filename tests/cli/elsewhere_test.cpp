// Rows that are elsewhere: pushdown, fold, and releases of what these give.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>

#include "cli/tool.h"
#include "sql/sqlite_database.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* people = R"([data]
path = "people.csv"
dataset = "people"
neighbors = "add-remove"
where = "age >= 18"
row_grid = "auto"
expected_size = 100
[columns.age]
type = "integer"
bounds = [0, 100]
[columns.income]
bounds = [0, 1000]
[columns.city]
type = "text"
keys = ["A", "it's"]
[budget]
epsilon = 3000000
[[statistic]]
name = "rows"
kind = "count"
epsilon = 1000000
[[statistic]]
name = "income"
kind = "mean"
column = "income"
epsilon = 1000000
[[statistic]]
name = "by city"
kind = "count"
group_by = "city"
epsilon = 1000000
)";

class ElsewhereTest : public ToolTest {
 protected:
  ElsewhereTest() {
    std::vector<DatabaseColumn> columns = {
        {"age", "INTEGER", {}}, {"income", "REAL", {}}, {"city", "TEXT", {}}};
    std::string csv = "age,income,city\n";
    for (int i = 0; i < 100; ++i) {
      const double income = i * 10.25;
      const std::string city = i % 3 == 0 ? "A" : i % 3 == 1 ? "it's" : "elsewhere";
      csv += std::to_string(i) + "," + std::to_string(income) + "," + city + "\n";
      columns[0].cells.emplace_back(std::int64_t{i});
      columns[1].cells.emplace_back(income);
      columns[2].cells.emplace_back(city);
    }
    write("people.csv", csv);
    write("people.toml", people);
    database_.create("people", columns);
    succeed({"ledger", "create", "people.ledger", "people.toml", "--epsilon", "30000000"});
  }
  std::string query() const {
    return succeed({"pushdown", "people.toml", "--dialect", "sqlite", "--table", "people"});
  }
  static std::string csv_of(const SqlResult& result) {
    const auto line = [](const std::vector<std::string>& cells) {
      std::string text;
      for (const std::string& cell : cells) text += (text.empty() ? "" : ",") + cell;
      return text + "\n";
    };
    std::string text = line(result.columns);
    for (const std::vector<std::string>& row : result.rows) text += line(row);
    return text;
  }
  // With so much epsilon the released counts are the exact ones.
  Json released(const std::vector<std::string>& options) const {
    std::vector<std::string> words = {"release",       "people.toml", "--ledger",
                                      "people.ledger", "--yes",       "--json"};
    words.insert(words.end(), options.begin(), options.end());
    return Json::parse(succeed(words))["statistics"];
  }
  static void expect_exact(const Json& statistics) {
    EXPECT_EQ(statistics[0]["value"], 82);
    EXPECT_NEAR(statistics[1]["value"].get<double>(), 599.625 - 25.0 / 82 * 0.25, 1);
    EXPECT_EQ(statistics[2]["groups"][0]["value"], 28);
    EXPECT_EQ(statistics[2]["groups"][1]["value"], 27);
  }
  double spent() const {
    return std::stod(
        Json::parse(succeed({"ledger", "show", "people.ledger", "--json"}))["spent"].dump().substr(1));
  }

  SqliteDatabase database_;
};

TEST_F(ElsewhereTest, AQueryOfPushdownIsReleasedFromItsResult) {
  write("result.csv", csv_of(database_.run(query())));
  const double before = spent();
  succeed({"release", "people.toml", "--ledger", "people.ledger", "--aggregates", "result.csv", "--dry-run"});
  EXPECT_EQ(spent(), before);
  expect_exact(released({"--aggregates", "result.csv"}));
  expect_exact(released({"--data", "people.csv"}));
}

TEST_F(ElsewhereTest, PartsAreReleasedTogether) {
  const std::string csv = read_text(path("people.csv"));
  const std::size_t half = csv.find("\n50,") + 1;
  write("first.csv", csv.substr(0, half));
  write("second.csv", csv.substr(0, csv.find('\n') + 1) + csv.substr(half));
  std::filesystem::create_directory(path("states"));
  for (const std::string part : {"first", "second"}) {
    const Outcome outcome =
        run({"fold", "people.toml", "--data", part + ".csv", "--output", "states/" + part + ".state"});
    EXPECT_THAT(outcome.error, HasSubstr("as private as the rows"));
    struct stat status {};
    ASSERT_EQ(::stat(path("states/" + part + ".state").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
  }
  expect_exact(released({"--states", "states"}));
  std::filesystem::copy_file(path("states/first.state"), path("states/again.state"));
  const Outcome twice =
      run({"release", "people.toml", "--ledger", "people.ledger", "--yes", "--states", "states"});
  EXPECT_EQ(twice.code, 4);
  EXPECT_THAT(twice.error, HasSubstr("there twice"));
}

TEST_F(ElsewhereTest, WhatIsNoResultCostsNothing) {
  const double before = spent();
  SqlResult result = database_.run(query());
  result.rows[0][4] = "7";
  write("edited.csv", csv_of(result));
  write("other.csv", "a,b\n1,2\n");
  write("rows.state", "rows");
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--aggregates", "edited.csv"}, {"--aggregates", "other.csv"}, {"--states", "rows.state"}}) {
    const Outcome outcome = [&] {
      std::vector<std::string> words = {"release", "people.toml", "--ledger", "people.ledger", "--yes"};
      words.insert(words.end(), options.begin(), options.end());
      return run(words);
    }();
    EXPECT_EQ(outcome.code, 4) << options[1];
    EXPECT_THAT(outcome.error, HasSubstr(options[0].substr(2))) << options[1];
  }
  EXPECT_EQ(run({"release", "people.toml", "--ledger", "people.ledger", "--yes", "--states", "absent"}).code,
            5);
  EXPECT_EQ(
      run({"release", "people.toml", "--ledger", "people.ledger", "--yes", "--states", "/dev/zero"}).code, 5);
  std::filesystem::create_directories(path("states/deeper"));
  EXPECT_EQ(run({"release", "people.toml", "--ledger", "people.ledger", "--yes", "--states", "states"}).code,
            5);
  EXPECT_EQ(spent(), before);
}

TEST_F(ElsewhereTest, PushdownRefusesWhatItCannotWrite) {
  const Outcome dialect = run({"pushdown", "people.toml", "--dialect", "postgres", "--table", "people"});
  EXPECT_EQ(dialect.code, 2);
  EXPECT_THAT(dialect.error, HasSubstr("did you mean \"postgresql\""));
  EXPECT_EQ(run({"pushdown", "people.toml", "--dialect", "spark", "--table", "a..b"}).code, 2);
  write("people.toml", replaced(people, "row_grid = \"auto\"\n", ""));
  const Outcome grid = run({"pushdown", "people.toml", "--dialect", "spark", "--table", "people"});
  EXPECT_EQ(grid.code, 2);
  EXPECT_THAT(grid.error, HasSubstr("row_grid = \"auto\""));
}

TEST_F(ElsewhereTest, UntestedDialectsSaySo) {
  EXPECT_THAT(run({"pushdown", "people.toml", "--dialect", "trino", "--table", "p"}).error,
              HasSubstr("never run by SnapDP's tests"));
  EXPECT_THAT(run({"pushdown", "people.toml", "--dialect", "spark", "--table", "p"}).error,
              Not(HasSubstr("never run")));
}

TEST_F(ElsewhereTest, LimitedUnitsMustBeWholeInTheirPart) {
  write("people.toml",
        replaced(people, "row_grid", "privacy_unit = \"income\"\nmax_rows_per_unit = 1\nrow_grid"));
  const Outcome outcome = run({"fold", "people.toml", "--data", "people.csv", "--output", "part.state"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("whole_units"));
  succeed({"fold", "people.toml", "--data", "people.csv", "--output", "part.state", "--whole-units"});
}

}  // namespace
}  // namespace snapdp
