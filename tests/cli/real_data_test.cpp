// Statistics of real people, compared with the true ones. Every released number must lie within its stated accuracy at
// alpha = 1e-12; there are fewer than a hundred of them, so the tests fail by chance with probability below 1e-10.
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <sstream>

#include "cli/tool.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using Columns = std::map<std::string, std::vector<double>>;

// A file without quotes; blank cells are NaN.
Columns read_columns(const std::string& file) {
  std::istringstream lines(read_text(file));
  std::string line;
  std::vector<std::string> names;
  Columns columns;
  while (std::getline(lines, line)) {
    std::erase_if(line, [](char c) { return c == '\r' || c == '"'; });
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == ',') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    if (names.empty()) {
      names = cells;
      continue;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      columns[names[i]].push_back(cells[i].empty() ? std::nan("") : std::stod(cells[i]));
    }
  }
  return columns;
}

std::vector<long double> clamped(const std::vector<double>& values, double lower, double upper) {
  std::vector<long double> result;
  for (const double value : values) {
    if (!std::isnan(value)) result.push_back(std::min(std::max(value, lower), upper));
  }
  return result;
}

long double mean_of(const std::vector<long double>& values) {
  long double sum = 0;
  for (const long double value : values) sum += value;
  return sum / static_cast<long double>(values.size());
}

long double covariance_of(const std::vector<long double>& x, const std::vector<long double>& y) {
  const long double mean_x = mean_of(x);
  const long double mean_y = mean_of(y);
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - mean_x) * (y[i] - mean_y);
  return sum / static_cast<long double>(x.size() - 1);
}

class RealDataTest : public ToolTest {
 protected:
  // The statistics of a release of people.toml, by name.
  std::map<std::string, Json> statistics(const std::string& toml, const std::string& data) {
    write("people.toml", toml);
    std::filesystem::remove(path("people.ledger"));
    create_ledger();
    const Outcome outcome = release({"--json", "--data", data});
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    std::map<std::string, Json> all;
    if (outcome.code != 0) return all;
    const Json report = Json::parse(outcome.out);
    for (const Json& statistic : report.at("statistics")) all[statistic.at("name")] = statistic;
    return all;
  }

  static void expect_near(const Json& statistic, const Json& value, long double truth) {
    const double tight = statistic.at("accuracy").at("tight");
    EXPECT_EQ(statistic.at("accuracy").at("alpha"), "0.000000000001");
    EXPECT_LE(std::fabs(static_cast<long double>(value.get<double>()) - truth), tight)
        << statistic.dump(1) << "\n"
        << truth;
    EXPECT_LE(tight, statistic.at("accuracy").at("conservative"));
  }
  static void expect_near(const Json& statistic, long double truth) {
    expect_near(statistic, statistic.at("value"), truth);
  }

  static void expect_histogram(const Json& statistic, const std::vector<double>& values) {
    for (const Json& bin : statistic.at("bins")) {
      const double category = std::stod(bin.at("bin").get<std::string>());
      expect_near(statistic, bin.at("value"),
                  static_cast<long double>(std::count(values.begin(), values.end(), category)));
      EXPECT_TRUE(bin.at("value").is_number_integer());
    }
  }
};

const std::string price = "epsilon = \"0.5\"\nalpha = \"1e-12\"\n";
const std::string statistics_of_people =
    "[budget]\nepsilon = 10\n"
    "[[statistic]]\nname = \"age\"\nkind = \"mean\"\ncolumn = \"age\"\ntype = \"integer\"\nbounds = [0, "
    "100]\n" +
    price +
    "[[statistic]]\nname = \"income\"\nkind = \"mean\"\ncolumn = \"income\"\nbounds = [-10000, 250000]\n" +
    price +
    "[[statistic]]\nname = \"total\"\nkind = \"sum\"\ncolumn = \"income\"\ntype = \"integer\"\nbounds = "
    "[-10000, 250000]\n" +
    price +
    "[[statistic]]\nname = \"education\"\nkind = \"histogram\"\ncolumn = \"educ\"\ntype = \"integer\"\n"
    "categories = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]\n" +
    price;

class PumsTest : public RealDataTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(file_)) GTEST_SKIP() << "not here: " << file_;
    columns_ = read_columns(file_);
    ASSERT_EQ(columns_.at("age").size(), 10000U);
    ASSERT_LT(*std::min_element(columns_.at("income").begin(), columns_.at("income").end()), 0);
    ASSERT_THAT(read_text(file_), HasSubstr("1.00E+05"));
  }

  void expect_people(std::map<std::string, Json>& released) {
    expect_near(released["age"], mean_of(clamped(columns_.at("age"), 0, 100)));
    const std::vector<long double> income = clamped(columns_.at("income"), -10000, 250000);
    expect_near(released["income"], mean_of(income));
    expect_near(released["total"], mean_of(income) * 10000);
    expect_histogram(released["education"], columns_.at("educ"));
  }

  const std::string file_ = SNAPDP_SHARED_DATA "/PUMS5extract10000.csv";
  Columns columns_;
};

TEST_F(PumsTest, UnderChangeOne) {
  std::map<std::string, Json> released = statistics(
      "[data]\ndataset = \"people\"\nneighbors = \"change-one\"\nsize = 10000\n" + statistics_of_people +
          "[[statistic]]\nname = \"together\"\nkind = \"covariance\"\ncolumns = [\"age\", \"income\"]\n"
          "bounds = [[0, 100], [-10000, 250000]]\n" +
          price +
          "[[statistic]]\nname = \"spread\"\nkind = \"variance\"\ncolumn = \"age\"\nbounds = [0, 100]\n" +
          price,
      file_);
  ASSERT_EQ(released.size(), 6U);
  expect_people(released);
  const std::vector<long double> age = clamped(columns_.at("age"), 0, 100);
  expect_near(released["together"], covariance_of(age, clamped(columns_.at("income"), -10000, 250000)));
  expect_near(released["spread"], covariance_of(age, age));
  // The accuracies say something: half a year, two thousand dollars.
  EXPECT_LT(released["age"].at("accuracy").at("tight"), 1);
  EXPECT_LT(released["income"].at("accuracy").at("tight"), 2000);
}

TEST_F(PumsTest, UnderAddRemove) {
  std::map<std::string, Json> released =
      statistics("[data]\ndataset = \"people\"\nneighbors = \"add-remove\"\nexpected_size = 10000\n" +
                     statistics_of_people + "[[statistic]]\nname = \"count\"\nkind = \"count\"\n" + price,
                 file_);
  ASSERT_EQ(released.size(), 5U);
  expect_people(released);
  expect_near(released["count"], 10000);
  EXPECT_LT(released["age"].at("accuracy").at("tight"), 2);
}

TEST_F(PumsTest, ByGroupsOfTheRowsThatCount) {
  const std::string of_two = "columns = [\"age\", \"educ\"]\nbounds = [[0, 100], [0, 16]]\n";
  std::map<std::string, Json> released = statistics(
      "[data]\ndataset = \"people\"\nneighbors = \"add-remove\"\nwhere = \"age >= 18 and not educ in (1, "
      "2)\"\n"
      "[budget]\nepsilon = 10\n"
      "[[statistic]]\nname = \"n\"\nkind = \"count\"\n" +
          price +
          "[[statistic]]\nname = \"age\"\nkind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\n"
          "group_by = \"sex\"\nkeys = [1, 0, 7]\n" +
          price +
          "[[statistic]]\nname = \"spread\"\nkind = \"standard_deviation\"\ncolumn = \"age\"\nbounds = [0, "
          "100]\n" +
          price + "[[statistic]]\nname = \"r\"\nkind = \"correlation\"\n" + of_two + price +
          "[[statistic]]\nname = \"educ\"\nkind = \"distinct\"\ncolumn = \"educ\"\ncategories = [1, 2, 3, "
          "16, 99]\n" +
          price +
          "[[statistic]]\nname = \"m\"\nkind = \"median\"\ncolumn = \"age\"\n"
          "edges = [0, 10, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 80, 100]\n" +
          price,
      file_);
  ASSERT_EQ(released.size(), 6U);
  std::vector<double> age;
  std::vector<double> educ;
  std::map<double, std::vector<double>> age_by_sex;
  for (std::size_t row = 0; row < columns_.at("age").size(); ++row) {
    if (columns_.at("age")[row] < 18 || columns_.at("educ")[row] <= 2) continue;
    age.push_back(columns_.at("age")[row]);
    educ.push_back(columns_.at("educ")[row]);
    age_by_sex[columns_.at("sex")[row]].push_back(age.back());
  }
  expect_near(released["n"], static_cast<long double>(age.size()));
  const Json& groups = released["age"].at("groups");
  EXPECT_EQ(groups.at(0).at("key"), 1);
  expect_near(groups.at(0), mean_of(clamped(age_by_sex.at(1), 0, 100)));
  expect_near(groups.at(1), mean_of(clamped(age_by_sex.at(0), 0, 100)));
  EXPECT_EQ(groups.at(2).at("key"), 7);
  const std::vector<long double> x = clamped(age, 0, 100);
  const std::vector<long double> y = clamped(educ, 0, 16);
  expect_near(released["spread"], std::sqrt(covariance_of(x, x)));
  expect_near(released["r"], covariance_of(x, y) / std::sqrt(covariance_of(x, x) * covariance_of(y, y)));
  expect_near(released["educ"], 2);
  std::nth_element(age.begin(), age.begin() + static_cast<std::ptrdiff_t>(age.size() / 2), age.end());
  EXPECT_LE(released["m"].at("interval").at(0), age[age.size() / 2]);
  EXPECT_GE(released["m"].at("interval").at(1), age[age.size() / 2]);
}

// A thousand people with up to four rows each, some without a name.
TEST_F(RealDataTest, PeopleWithSeveralRows) {
  for (const char* name : {"/smartnoise_PUMS_dup.csv", "/smartnoise_PUMS_null.csv"}) {
    const std::string file = std::string(SNAPDP_SHARED_DATA) + name;
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "not here: " << file;
    const Columns columns = read_columns(file);
    std::map<double, int> rows;
    for (const double pid : columns.at("pid")) {
      if (!std::isnan(pid)) ++rows[pid];
    }
    const std::string toml =
        "[data]\ndataset = \"people\"\nneighbors = \"add-remove\"\nprivacy_unit = \"pid\"\nmax_rows_per_unit "
        "= 2\n"
        "[budget]\nepsilon = 10\n"
        "[[statistic]]\nname = \"n\"\nkind = \"count\"\n" +
        price +
        "[[statistic]]\nname = \"income\"\nkind = \"mean\"\ncolumn = \"income\"\nbounds = [0, 200000]\n" +
        price;
    std::map<std::string, Json> released = statistics(toml, file);
    long double kept = 0;
    for (const auto& [pid, count] : rows) kept += std::min(count, 2);
    expect_near(released["n"], kept);
    EXPECT_EQ(released["n"].at("sensitivity"), "2");
    // Which two rows of a person count does not matter this much.
    EXPECT_NEAR(released["income"].at("value").get<double>(),
                static_cast<double>(mean_of(clamped(columns.at("income"), 0, 200000))), 40000);
  }
}

// The example of this repository: the plan's accuracies, and the truth within those of a release at a smaller alpha.
TEST_F(RealDataTest, TheExampleOfTheRepository) {
  const std::string file = SNAPDP_SOURCE "/examples/rand_hie.csv";
  const Columns columns = read_columns(file);
  std::string toml = read_text(SNAPDP_SOURCE "/examples/rand_hie.toml");
  const Json plan = json_of({"plan", SNAPDP_SOURCE "/examples/rand_hie.toml", "--json"});
  EXPECT_LE(plan.at("statistics").at(0).at("accuracy").at("tight"), 0.25);
  for (std::size_t at = 0; (at = toml.find("epsilon = \"0.", at)) != std::string::npos; at += 10) {
    toml.insert(at, "alpha = \"1e-12\"\n");
    at += 16;
  }
  toml = replaced(toml, "accuracy = \"0.25\"", "accuracy = \"2.5\"");
  toml = replaced(toml, "alpha = \"0.05\"", "alpha = \"1e-12\"");
  toml = replaced(toml, "\"rand-hie\"", "\"people\"");
  std::map<std::string, Json> released = statistics(toml, file);
  ASSERT_EQ(released.size(), 6U);
  expect_near(released["mean_age"], mean_of(clamped(columns.at("age"), 0, 65)));
  expect_near(released["mean_income"], mean_of(clamped(columns.at("income"), 0, 30000)));
  const std::vector<long double> visits = clamped(columns.at("visits"), 0, 50);
  expect_near(released["visits"], mean_of(visits) * static_cast<long double>(visits.size()));
  expect_near(released["variance_visits"], covariance_of(visits, visits));
  expect_near(released["age_and_income"],
              covariance_of(clamped(columns.at("age"), 0, 65), clamped(columns.at("income"), 0, 30000)));
  const std::vector<double> edges = {0, 12, 13, 16, 26};
  std::vector<long double> counts(edges.size());
  for (const double years : columns.at("education")) {
    std::size_t bin = 0;
    while (bin + 1 < edges.size() &&
           !(years >= edges[bin] && (years < edges[bin + 1] || (bin == 3 && years <= 26))))
      ++bin;
    ++counts[bin];  // the last counts everything else
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    expect_near(released["education"], released["education"].at("bins").at(i).at("value"), counts[i]);
  }
}

TEST_F(RealDataTest, ThreeMillionRowsOfParquet) {
  if (!std::filesystem::exists(SNAPDP_FLIGHTS)) GTEST_SKIP() << "not here: " << SNAPDP_FLIGHTS;
  const std::string head =
      "[data]\ndataset = \"people\"\nneighbors = \"change-one\"\nsize = 3000000\n[budget]\nepsilon = 10\n";
  const std::string origin =
      "[[statistic]]\nname = \"from\"\nkind = \"histogram\"\ncolumn = \"origin\"\ncategories = "
      "[\"ATL\", \"no such place\"]\n" +
      price;
  const std::string delay =
      "[[statistic]]\nname = \"delay\"\nkind = \"mean\"\ncolumn = \"delay\"\nbounds = [-60, 180]\n" + price;
  std::map<std::string, Json> released = statistics(head + origin + delay, SNAPDP_FLIGHTS);
  ASSERT_EQ(released.size(), 2U);
  EXPECT_LT(released["delay"].at("accuracy").at("tight"), 0.01);
  EXPECT_GT(released["from"].at("bins").at(0).at("value"), 100'000);
  EXPECT_LT(std::fabs(released["from"].at("bins").at(1).at("value").get<double>()), 500);

  write("people.toml", head + replaced(delay, "\"delay\"\nbounds", "\"date\"\nbounds"));
  const Outcome date = release({"--data", SNAPDP_FLIGHTS});
  EXPECT_EQ(date.code, 4);
  EXPECT_THAT(date.error, HasSubstr("column \"date\" cannot be used"));
}

}  // namespace
}  // namespace snapdp
