#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "framework/shared/row_hash.h"
#include "snapdp/error.h"
#include "snapdp/framework/source.h"
#include "snapdp/framework/transformation.h"

namespace snapdp {

using namespace framework_internal;

namespace {

using Row = std::tuple<std::string, std::int64_t, std::int64_t>;  // unit, group, value

struct People {
  std::vector<std::string> unit;
  std::vector<std::int64_t> group;
  std::vector<std::int64_t> value;

  std::size_t rows() const { return unit.size(); }
  void add(const Row& row) {
    unit.push_back(std::get<0>(row));
    group.push_back(std::get<1>(row));
    value.push_back(std::get<2>(row));
  }
  Row row(std::size_t i) const { return {unit[i], group[i], value[i]}; }
};

// The rows that a limit keeps, sorted: a multiset.
using Keep = std::function<std::vector<std::size_t>(const Column& unit, const Column& group,
                                                    std::span<const Column> content,
                                                    const std::vector<std::size_t>& rows)>;
std::vector<Row> kept(const People& people, const Keep& keep) {
  const std::vector<std::string_view> texts(people.unit.begin(), people.unit.end());
  const std::vector<Column> content{{AtomType::text, texts.data()},
                                    {AtomType::integer, people.group.data()},
                                    {AtomType::integer, people.value.data()}};
  std::vector<std::size_t> all(people.rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<Row> rows;
  for (const std::size_t row : keep(content[0], content[1], content, all)) rows.push_back(people.row(row));
  std::sort(rows.begin(), rows.end());
  return rows;
}

Keep of(const UnitLimit& limit) {
  return [limit](const Column& unit, const Column& group, std::span<const Column> content,
                 const std::vector<std::size_t>& rows) { return limit.kept(unit, group, content, rows); };
}

People some_people(std::mt19937_64& engine) {
  static const std::vector<std::string> names{"ann", "bob", "eve", "", "  ", "zoe"};
  People people;
  const std::size_t rows = engine() % 25;
  for (std::size_t row = 0; row < rows; ++row) {
    // Many repeated rows.
    people.add({names[engine() % names.size()], static_cast<std::int64_t>(engine() % 3),
                static_cast<std::int64_t>(engine() % 3)});
  }
  return people;
}

People shuffled_without(const People& people, const std::string& unit, std::mt19937_64& engine) {
  std::vector<Row> rows;
  for (std::size_t row = 0; row < people.rows(); ++row) {
    if (people.unit[row] != unit) rows.push_back(people.row(row));
  }
  std::shuffle(rows.begin(), rows.end(), engine);
  People rest;
  for (const Row& row : rows) rest.add(row);
  return rest;
}

// The neighbor test of a limit: one unit removed with all its rows, the others in another order. Says what is wrong.
std::string counterexample(const UnitLimit& limit, const Keep& keep) {
  std::mt19937_64 engine(5);
  for (int trial = 0; trial < 500; ++trial) {
    const People people = some_people(engine);
    const std::vector<Row> before = kept(people, keep);
    for (const std::string unit : {"ann", "bob", "", "nobody"}) {
      const std::vector<Row> after = kept(shuffled_without(people, unit, engine), keep);
      std::vector<Row> apart;
      std::set_symmetric_difference(before.begin(), before.end(), after.begin(), after.end(),
                                    std::back_inserter(apart));
      if (Rational(apart.size()) > limit.stability().forward(1)) {
        return "a unit changes " + std::to_string(apart.size()) + " rows";
      }
      for (const Row& row : apart) {
        if (std::get<0>(row) != unit) return "another unit's rows change";
      }
    }
  }
  return "";
}

std::vector<UnitLimit> limits() {
  std::vector<UnitLimit> all;
  for (const std::uint64_t rows : {1U, 2U, 3U, 100U}) {
    all.push_back(make_unit_limit(rows));
    for (const GroupLimit& groups :
         {GroupLimit{1, 1}, GroupLimit{1, 2}, GroupLimit{2, 1}, GroupLimit{2, 2}, GroupLimit{5, 9}})
      all.push_back(make_unit_limit(rows, groups));
  }
  return all;
}

TEST(UnitLimit, AUnitChangesAtMostItsLimit) {
  for (const UnitLimit& limit : limits())
    EXPECT_EQ(counterexample(limit, of(limit)), "") << limit.description();
}

// Limits that a hasty author could write, each told apart from the claim.
TEST(UnitLimit, TheNeighborTestFindsPlantedFaults) {
  const UnitLimit two_of_one = make_unit_limit(100, GroupLimit{.max_groups = 2, .max_rows = 1});
  const auto by_unit = [](const Column& unit, const std::vector<std::size_t>& rows) {
    std::map<std::string_view, std::vector<std::size_t>> units;
    for (const std::size_t row : rows) {
      if (names_unit(unit, row)) units[unit.texts()[row]].push_back(row);
    }
    return units;
  };
  // Groups limited, and rows not.
  const Keep groups_alone = [&](const Column& unit, const Column& group, std::span<const Column> content,
                                const std::vector<std::size_t>& rows) {
    return make_unit_limit(100, GroupLimit{2, 100}).kept(unit, group, content, rows);
  };
  // Rows of each group limited, and groups not.
  const Keep rows_alone = [&](const Column& unit, const Column& group, std::span<const Column> content,
                              const std::vector<std::size_t>& rows) {
    return make_unit_limit(100, GroupLimit{100, 1}).kept(unit, group, content, rows);
  };
  // The first rows as they lie in the file.
  const Keep in_order_of_the_file = [&](const Column& unit, const Column& group, std::span<const Column>,
                                        const std::vector<std::size_t>& rows) {
    std::vector<std::size_t> result;
    for (const auto& [name, own] : by_unit(unit, rows)) {
      std::set<std::int64_t> seen;
      for (const std::size_t row : own) {
        if (seen.size() < 2 && seen.insert(group.integers()[row]).second) result.push_back(row);
      }
    }
    return result;
  };
  // The largest groups of all units together.
  const Keep largest_groups = [&](const Column& unit, const Column& group, std::span<const Column> content,
                                  const std::vector<std::size_t>& rows) {
    std::map<std::int64_t, int> sizes;
    for (const std::size_t row : rows) ++sizes[group.integers()[row]];
    std::vector<std::pair<int, std::int64_t>> order;
    for (const auto& [key, size] : sizes) order.emplace_back(-size, key);
    std::sort(order.begin(), order.end());
    std::vector<std::size_t> of_largest;
    for (const std::size_t row : rows) {
      for (std::size_t i = 0; i < std::min<std::size_t>(2, order.size()); ++i) {
        if (order[i].second == group.integers()[row]) of_largest.push_back(row);
      }
    }
    return two_of_one.kept(unit, group, content, of_largest);
  };
  // One row of each group, whoever's.
  const Keep one_of_everybody = [&](const Column& unit, const Column& group, std::span<const Column> content,
                                    const std::vector<std::size_t>& rows) {
    std::set<std::int64_t> seen;
    std::vector<std::size_t> result;
    for (const std::size_t row : two_of_one.kept(unit, group, content, rows)) {
      if (seen.insert(group.integers()[row]).second) result.push_back(row);
    }
    return result;
  };
  EXPECT_EQ(counterexample(two_of_one, of(two_of_one)), "");
  for (const Keep& fault : {groups_alone, rows_alone, in_order_of_the_file, largest_groups, one_of_everybody})
    EXPECT_NE(counterexample(two_of_one, fault), "");
  // The claim itself.
  EXPECT_NE(counterexample(make_unit_limit(100, GroupLimit{1, 1}), of(two_of_one)), "");
}

// Nothing is dropped that the limits leave room for.
TEST(UnitLimit, KeepsAsManyRowsAsTheLimitsLeaveRoomFor) {
  std::mt19937_64 engine(6);
  for (int trial = 0; trial < 300; ++trial) {
    const People people = some_people(engine);
    for (const UnitLimit& limit : limits()) {
      std::map<std::string, std::map<std::int64_t, std::uint64_t>> available;
      for (std::size_t row = 0; row < people.rows(); ++row) ++available[people.unit[row]][people.group[row]];
      std::map<std::string, std::map<std::int64_t, std::uint64_t>> seen;
      for (const auto& [unit, group, value] : kept(people, of(limit))) ++seen[unit][group];
      for (const auto& [unit, groups] : available) {
        std::uint64_t all = 0;
        std::uint64_t mine = 0;
        for (const auto& [group, rows] : groups) all += rows;
        for (const auto& [group, rows] : seen[unit]) {
          mine += rows;
          EXPECT_LE(rows, std::min(groups.at(group), limit.groups() ? limit.groups()->max_rows : rows));
        }
        if (unit.find_first_not_of(' ') == std::string::npos) {
          ASSERT_EQ(mine, 0U);
          continue;
        }
        ASSERT_LE(mine, limit.most_rows());
        if (!limit.groups()) {
          ASSERT_EQ(mine, std::min(all, limit.max_rows()));
          continue;
        }
        ASSERT_LE(seen[unit].size(), limit.groups()->max_groups);
        // With room for all rows before the groups are looked at, every chosen group is full.
        if (limit.max_rows() < 100) continue;
        ASSERT_EQ(seen[unit].size(), std::min<std::uint64_t>(groups.size(), limit.groups()->max_groups));
        for (const auto& [group, rows] : seen[unit])
          ASSERT_EQ(rows, std::min(groups.at(group), limit.groups()->max_rows));
      }
    }
  }
}

TEST(UnitLimit, ClaimsWhatItLimits) {
  const UnitLimit limit = make_unit_limit(3);
  EXPECT_EQ(limit.input_metric(), Metric::unit_distance);
  EXPECT_FALSE(is_dataset_metric(limit.input_metric()));  // so that no statistic of rows can skip the limit
  EXPECT_EQ(limit.stability().forward(2), 6);
  EXPECT_FALSE(limit.stability().holds(1, 2));
  EXPECT_EQ(limit.description(), "at most 3 rows of each unit");
  EXPECT_THROW(make_unit_limit(0), Error);
  const UnitLimit grouped = make_unit_limit(10, GroupLimit{.max_groups = 3, .max_rows = 2});
  EXPECT_EQ(grouped.most_rows(), 6U);
  EXPECT_EQ(grouped.stability().forward(2), 12);
  EXPECT_EQ(grouped.description(), "at most 10 rows of each unit, 2 rows in each of 3 groups");
  EXPECT_EQ(make_unit_limit(5, GroupLimit{3, 2}).most_rows(), 5U);
  EXPECT_EQ(make_unit_limit(6, GroupLimit{3, 2}).most_rows(), 6U);
  constexpr std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(make_unit_limit(most, GroupLimit{most, most}).most_rows(), most);
  EXPECT_EQ(make_unit_limit(most, GroupLimit{most, 1}).most_rows(), most);
  EXPECT_EQ(make_unit_limit(7, GroupLimit{std::uint64_t{1} << 32, std::uint64_t{1} << 32}).most_rows(), 7U);
  EXPECT_THROW(make_unit_limit(1, GroupLimit{0, 1}), Error);
  EXPECT_THROW(make_unit_limit(1, GroupLimit{1, 0}), Error);
}

// Distances in units belong to whole datasets: parts that work on rows say what to do first.
TEST(UnitLimit, IsWhatRowsNeedUnderTheDistanceInUnits) {
  try {
    make_impute(untrusted_domain({AtomType::real}), Metric::unit_distance, {Dyadic(0)});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::mismatch);
    EXPECT_NE(std::string(error.what()).find("make_unit_limit()"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace snapdp
