// Which rows of a unit a query keeps (sql_query.h), against a plain selection written here: the first by a public hash of
// the integers that the statistics see of them, then by these themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "postgresql/tables.h"

namespace snapdp {
namespace {

// A row as the query sees it: the place of its key among the group's keys, -1 for none, and its value as a step above the
// lower bound, -3 where it is missing.
struct Seen {
  std::string unit;
  std::int64_t key;
  std::int64_t value;
};

constexpr std::int64_t missing = -3;

std::vector<std::int64_t> order_of(const std::vector<std::int64_t>& cells) {
  constexpr std::int64_t prime = 2147483647;
  std::int64_t hash = 1;
  for (const std::int64_t cell : cells) hash = (hash + (cell + 3) % prime) * 48271 % prime;
  std::vector<std::int64_t> order = {hash};
  order.insert(order.end(), cells.begin(), cells.end());
  return order;
}

std::map<std::string, std::vector<Seen>> by_unit(const std::vector<Seen>& rows) {
  std::map<std::string, std::vector<Seen>> units;
  for (const Seen& row : rows) {
    if (!row.unit.empty()) units[row.unit].push_back(row);
  }
  for (auto& [unit, own] : units) {
    std::sort(own.begin(), own.end(), [](const Seen& a, const Seen& b) {
      return order_of({a.key, a.value}) < order_of({b.key, b.value});
    });
  }
  return units;
}

// Of each unit the first `most`.
std::vector<Seen> kept(const std::vector<Seen>& rows, std::size_t most) {
  std::vector<Seen> all;
  for (const auto& [unit, own] : by_unit(rows))
    all.insert(all.end(), own.begin(), own.begin() + static_cast<std::ptrdiff_t>(std::min(most, own.size())));
  return all;
}

// Of these, in the order of their first rows, so many groups and so many rows of each.
std::vector<Seen> kept_groups(const std::vector<Seen>& rows, std::size_t groups, std::size_t most) {
  std::vector<Seen> all;
  for (const auto& [unit, own] : by_unit(rows)) {
    std::vector<std::int64_t> found;
    std::map<std::int64_t, std::size_t> counts;
    for (const Seen& row : own) {
      if (row.key < 0) continue;
      if (std::find(found.begin(), found.end(), row.key) == found.end()) found.push_back(row.key);
      const auto place = std::find(found.begin(), found.end(), row.key) - found.begin();
      if (static_cast<std::size_t>(place) < groups && ++counts[row.key] <= most) all.push_back(row);
    }
  }
  return all;
}

TEST(UnitRows, AreTheFirstByTheirContentParallel) {
  TextTable table;
  table.columns = {{"who", "text", "VARCHAR"}, {"town", "text", "VARCHAR"}, {"n", "integer", "INTEGER"}};
  const std::array<std::string, 4> towns = {"Ulm", "Bonn", "Linz", "elsewhere"};
  const std::vector<std::optional<std::string>> units = {"a", "A",  " a",         "b",         "c",
                                                         "",  "  ", "\t\n\v\f\r", std::nullopt};
  std::mt19937_64 engine(5);
  std::vector<Seen> rows;
  for (int i = 0; i < 400; ++i) {
    const std::optional<std::string>& unit = units[engine() % units.size()];
    const std::size_t town = engine() % towns.size();
    const bool known = engine() % 5 != 0;
    const auto n = static_cast<std::int64_t>(engine() % 9) - 2;
    table.rows.push_back({unit, towns[town], known ? std::optional(std::to_string(n)) : std::nullopt});
    const bool is_unit = unit && unit->find_first_not_of(" \t\n\v\f\r") != std::string::npos;
    rows.push_back({is_unit ? *unit : "", town < 3 ? static_cast<std::int64_t>(town) : -1,
                    known ? std::clamp<std::int64_t>(n, 0, 5) : missing});
  }
  make_table("visits", table);
  for (const std::size_t most : {1U, 3U, 20U, 1000U}) {
    for (const std::size_t groups : {1U, 2U}) {
      constexpr std::size_t per_group = 2;
      const Plan plan = plan_of(
          "neighbors = \"add-remove\"\nrow_grid = \"auto\"\nprivacy_unit = \"who\"\nmax_rows_per_unit = " +
              std::to_string(most) + "\n",
          "[[statistic]]\nname = \"all\"\nkind = \"sum\"\ntype = \"integer\"\ncolumn = \"n\"\nbounds = [0, "
          "5]\n"
          "group_by = \"town\"\nkeys = [\"Ulm\", \"Bonn\", \"Linz\"]\nepsilon = 1\n"
          "[[statistic]]\nname = \"limited\"\nkind = \"sum\"\ntype = \"integer\"\ncolumn = \"n\"\nbounds = "
          "[0, 5]\n"
          "group_by = \"town\"\nkeys = [\"Ulm\", \"Bonn\", \"Linz\"]\nmax_groups_per_unit = " +
              std::to_string(groups) + "\nmax_rows_per_group_per_unit = " + std::to_string(per_group) +
              "\nepsilon = 1\n");
      const std::vector<Seen> all = kept(rows, most);
      const std::array<std::vector<Seen>, 2> expected = {all, kept_groups(all, groups, per_group)};
      const auto source = open_table("visits");
      const std::vector<FoldRequest> requests = plan.requests();
      const FoldResult result = source->fold(plan.selection(), requests, {});
      ASSERT_EQ(result.states.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        std::array<std::int64_t, 3> sums{};
        for (const Seen& row : expected[i]) {
          if (row.key >= 0 && row.value != missing) sums[static_cast<std::size_t>(row.key)] += row.value;
        }
        const std::vector<Dyadic> found = requests[i].aggregation->finish(result.states[i].totals());
        EXPECT_EQ(found, (std::vector<Dyadic>{Dyadic(sums[0]), Dyadic(sums[1]), Dyadic(sums[2])}))
            << most << " rows, " << groups << " groups, statistic " << i;
      }
    }
  }
}

// NaN names nobody, and 1 and 1.0 are one.
TEST(UnitRows, AreThoseOfNumbersParallel) {
  for (const char* type : {"numeric", "double precision", "real"}) {
    TextTable table;
    table.columns = {{"who", type, "DOUBLE"}, {"n", "integer", "INTEGER"}};
    for (const std::optional<std::string> who : {"NaN", "NaN", "1", "1.0", "-0", "0", "Infinity"})
      table.rows.push_back({who, "1"});
    table.rows.push_back({std::nullopt, "1"});
    make_table("visits", table);
    const Plan plan = plan_of(
        "neighbors = \"add-remove\"\nrow_grid = \"auto\"\nprivacy_unit = \"who\"\nmax_rows_per_unit = 1\n",
        "[[statistic]]\nname = \"a\"\nkind = \"sum\"\ntype = \"integer\"\ncolumn = \"n\"\nbounds = [0, "
        "5]\nepsilon = 1\n");
    const std::vector<State> states = states_of(*open_table("visits"), plan);
    EXPECT_EQ(states.at(0).numbers, "3 rows 3") << type;
  }
}

}  // namespace
}  // namespace snapdp
