// What a report says about many numbers at once holds for all of them together with probability at least 1 - alpha:
// every bin, every group, every quantile. Each test repeats releases with real noise.
//
// With T independent releases the misses are at most binomial(T, alpha); by Hoeffding P(misses >= alpha T + t) is at most
// exp(-2 t^2 / T), which is 1e-9 for t = sqrt(T ln(1e9) / 2): a false alarm is no likelier than that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "noisy.h"
#include "release/replace.h"
#include "snapdp/release/report.h"

namespace snapdp {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr int releases = 60;
constexpr int groups = 300;

double most_misses(double alpha) {
  return alpha * releases + std::sqrt(releases * std::log(1e9) / 2);
}

std::string keys() {
  std::string text;
  for (int key = 0; key < groups; ++key) text += (key == 0 ? "" : ", ") + std::to_string(key);
  return "group_by = \"key\"\nkeys = [" + text + "]\n";
}

// One statistic of rows (key, x) under add-remove, by groups.
class Repeated {
 public:
  explicit Repeated(const std::string& statistic)
      : plan_(Specification::parse(
            "[data]\ndataset = \"d\"\nneighbors = \"add-remove\"\n[budget]\nepsilon = 9\n"
            "[[statistic]]\nname = \"s\"\nalpha = 0.5\n" +
                keys() + statistic,
            "s.toml")) {}

  const PlannedStatistic& planned() const { return plan_.statistics().front(); }

  // How many of the reports `holds` is false for; it sees the JSON of the statistic.
  int misses(const std::vector<double>& cells, const std::function<bool(const Json&)>& holds) const {
    std::vector<double> key;
    std::vector<double> x;
    for (int group = 0; group < groups; ++group) {
      key.insert(key.end(), cells.size(), group);
      x.insert(x.end(), cells.begin(), cells.end());
    }
    const std::vector<Column> columns = {{AtomType::real, key.data()}, {AtomType::real, x.data()}};
    std::vector<std::vector<Dyadic>> exact;
    for (const PlannedMeasurement& part : planned().measurements) {
      const std::span<const Column> taken(columns.data(), part.columns.size());
      exact.push_back(part.measurement.aggregation()(Chunk(taken, x.size())));
    }
    int misses = 0;
    for (int i = 0; i < releases; ++i) {
      std::vector<std::vector<Dyadic>> released;
      for (std::size_t j = 0; j < exact.size(); ++j)
        released.push_back(noisy(planned().measurements[j].measurement, exact[j]));
      const Report report(plan_, {released}, 1, 9, 0);
      if (!holds(Json::parse(report.json()).at("statistics").at(0))) ++misses;
    }
    return misses;
  }

 private:
  Plan plan_;
};

TEST(Simultaneous, BinsOfGroups) {
  const Repeated histogram(
      "kind = \"histogram\"\ncolumn = \"x\"\ncategories = [0, 1, 2, 3, 4]\nepsilon = 0.01");
  const int misses = histogram.misses({0, 1, 1, 2}, [](const Json& statistic) {
    const double near = statistic.at("accuracy").at("simultaneous");
    const std::vector<int> exact{1, 2, 1, 0, 0};
    for (const Json& group : statistic.at("groups")) {
      for (std::size_t bin = 0; bin < exact.size(); ++bin) {
        if (std::abs(group.at("bins").at(bin).at("value").get<double>() - exact[bin]) > near) return false;
      }
    }
    return true;
  });
  EXPECT_LT(misses, most_misses(0.5));
}

TEST(Simultaneous, GroupsOfACount) {
  const Repeated counts("kind = \"count\"\nepsilon = 0.01");
  const int misses = counts.misses({0, 1, 1, 2}, [](const Json& statistic) {
    const double near = statistic.at("accuracy").at("simultaneous");
    for (const Json& group : statistic.at("groups")) {
      if (std::abs(group.at("value").get<double>() - 4) > near) return false;
    }
    return true;
  });
  EXPECT_LT(misses, most_misses(0.5));
}

// Each group has its own accuracy, as told after the release.
TEST(Simultaneous, GroupsOfWhatIsComposed) {
  const Repeated means("kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 100]\nepsilon = 0.5");
  std::vector<double> cells;
  for (int i = 0; i < 200; ++i) cells.push_back(i % 100);
  bool wider = true;
  const int misses = means.misses(cells, [&](const Json& statistic) {
    bool holds = true;
    for (const Json& group : statistic.at("groups")) {
      const Json& accuracy = group.at("accuracy");
      wider = wider && accuracy.at("simultaneous") > accuracy.at("tight");
      holds = holds && std::abs(group.at("value").get<double>() - 49.5) <= accuracy.at("simultaneous");
    }
    return holds;
  });
  EXPECT_TRUE(wider);
  EXPECT_LT(misses, most_misses(0.5));
}

// The rows below x when all 50 rows of a group are 15.
int rows_below(double x) {
  constexpr int rows = 50;
  return x > 15 ? rows : 0;
}

TEST(Simultaneous, QuantilesOfAllGroups) {
  const Repeated quantiles(
      "kind = \"quantiles\"\ncolumn = \"x\"\nedges = [0, 10, 20]\nquantiles = [0, 0.01]\nepsilon = 0.05");
  const std::vector<double> exact(50, 15);
  const int rank_misses = quantiles.misses(exact, [](const Json& statistic) {
    const double error = statistic.at("rank_error");
    for (const Json& group : statistic.at("groups")) {
      for (const Json& quantile : group.at("quantiles")) {
        const double value = quantile.at("value");
        const double rank = 50 * parse_rational(quantile.at("q").get<std::string>(), "q").get_d();
        bool at_edges = false;  // for a bin that holds the released value
        for (const double edge : {0.0, 10.0}) {
          if (value < edge || value > edge + 10) continue;
          at_edges = at_edges || (rows_below(edge) <= rank + error && rows_below(edge + 10) >= rank - error);
        }
        if (!at_edges) return false;
      }
    }
    return true;
  });
  EXPECT_LT(rank_misses, most_misses(0.5));
  const int interval_misses = quantiles.misses(exact, [](const Json& statistic) {
    for (const Json& group : statistic.at("groups")) {
      for (const Json& quantile : group.at("quantiles")) {
        if (quantile.at("interval").at(0) > 15 || quantile.at("interval").at(1) < 15) return false;
      }
    }
    return true;
  });
  EXPECT_LT(interval_misses, most_misses(0.5));
}

// Every row lies in one bin: the released median is the middle of that bin, thousands of rows away from the middle row
// whatever the noise. What is claimed is about the edges of the bin.
TEST(Simultaneous, RanksAreRightAtEdgesNotInsideWideBins) {
  constexpr int rows = 8'000;
  const Plan plan(Specification::parse(
      "[data]\ndataset = \"d\"\nneighbors = \"add-remove\"\n[budget]\nepsilon = 1000\n"
      "[[statistic]]\nname = \"m\"\nkind = \"median\"\ncolumn = \"x\"\nedges = [0, 1000, 2000]\n"
      "epsilon = 100\n",
      "s.toml"));
  const Measurement& measurement = plan.statistics().front().measurements.front().measurement;
  const std::vector<Dyadic> exact = measurement.aggregation()(std::vector<double>(rows, 1));
  const Report report(plan, {{noisy(measurement, exact)}}, 1, 100, 900);
  const Json median = Json::parse(report.json()).at("statistics").at(0);
  const double error = median.at("rank_error");
  EXPECT_LT(error, 3);
  EXPECT_NEAR(median.at("value").get<double>(), 500, 5);
  EXPECT_GT(rows - rows / 2, 1000 * error);  // all rows are below 500, half of them should be
  EXPECT_EQ(median.at("interval"), Json::parse("[0.0, 1000.0]"));
  const std::string table = one_line(report.to_table());
  EXPECT_THAT(table, HasSubstr("[0, 1,000]"));
  EXPECT_THAT(table, AllOf(HasSubstr("with the same probability ranks are right to "),
                           HasSubstr("at the edges around the released one"), HasSubstr("lie below its bin"),
                           HasSubstr("Inside a bin rows cannot be told apart."),
                           Not(HasSubstr("quantile is right to"))));
  EXPECT_THAT(plan.to_table(), HasSubstr("rows, in rank"));
}

// A table has one level in its header only when everything below it holds with that.
TEST(Simultaneous, EveryIntervalAndAccuracyHasItsLevel) {
  const std::string head = "[data]\ndataset = \"d\"\nneighbors = \"add-remove\"\n[budget]\nepsilon = 1000\n";
  const std::string count = "[[statistic]]\nname = \"n\"\nkind = \"count\"\nepsilon = 1\n";
  const std::string median =
      "[[statistic]]\nname = \"m\"\nkind = \"median\"\ncolumn = \"x\"\nedges = [0, 10]\nepsilon = 1\n";
  const std::string means =
      "[[statistic]]\nname = \"a\"\nkind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 10]\n"
      "epsilon = 1\ngroup_by = \"key\"\nkeys = [1]\n";
  const auto table = [&](const std::string& statistics) {
    const Plan plan(Specification::parse(head + statistics, "s.toml"));
    std::vector<std::vector<std::vector<Dyadic>>> values;
    for (const PlannedStatistic& statistic : plan.statistics()) {
      values.emplace_back();
      for (const PlannedMeasurement& part : statistic.measurements)
        values.back().emplace_back(part.measurement.aggregation().output_domain().dimension, Dyadic(4));
    }
    return Report(plan, values, 1, 9, 0).to_table();
  };
  EXPECT_THAT(table(median), HasSubstr("95 in 100 within"));
  EXPECT_THAT(table(means), HasSubstr("95%: each interval alone"));
  EXPECT_THAT(table(count + median), HasSubstr("95 in 100 within"));
  EXPECT_THAT(table(count + median + "alpha = 0.2\n"), HasSubstr("[0, 10] (80%)"));
  EXPECT_THAT(table(count + means + "alpha = 0.2\n"), HasSubstr("80%: each interval alone"));
}

}  // namespace
}  // namespace snapdp
