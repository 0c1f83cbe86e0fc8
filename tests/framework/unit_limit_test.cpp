#include "snapdp/framework/unit_limit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "snapdp/error.h"
#include "snapdp/framework/transformation.h"

namespace snapdp {
namespace {

struct People {
  std::vector<std::string> unit;
  std::vector<std::int64_t> value;

  // The kept rows as unit and value, sorted: a multiset.
  std::vector<std::pair<std::string, std::int64_t>> kept(const UnitLimit& limit) const {
    const std::vector<std::string_view> texts(unit.begin(), unit.end());
    const std::vector<Column> content{{AtomType::text, texts.data()}, {AtomType::integer, value.data()}};
    std::vector<std::size_t> all(unit.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<std::pair<std::string, std::int64_t>> rows;
    for (const std::size_t row : limit.kept(content[0], content, all))
      rows.emplace_back(unit[row], value[row]);
    std::sort(rows.begin(), rows.end());
    return rows;
  }
};

People some_people(std::mt19937_64& engine) {
  static const std::vector<std::string> names{"ann", "bob", "eve", "", "  ", "zoe"};
  People people;
  const std::size_t rows = engine() % 25;
  for (std::size_t row = 0; row < rows; ++row) {
    people.unit.push_back(names[engine() % names.size()]);
    people.value.push_back(static_cast<std::int64_t>(engine() % 4));  // many repeated rows
  }
  return people;
}

People without(const People& people, const std::string& unit) {
  People rest;
  for (std::size_t row = 0; row < people.unit.size(); ++row) {
    if (people.unit[row] == unit) continue;
    rest.unit.push_back(people.unit[row]);
    rest.value.push_back(people.value[row]);
  }
  return rest;
}

// Neighbors: one unit removed with all its rows. Everything that is kept of the others stays, whatever the order.
TEST(UnitLimit, AUnitChangesAtMostItsLimit) {
  std::mt19937_64 engine(5);
  for (int trial = 0; trial < 2000; ++trial) {
    const UnitLimit limit = make_unit_limit(1 + engine() % 3);
    const People people = some_people(engine);
    const auto kept = people.kept(limit);
    for (const std::string unit : {"ann", "bob", "", "nobody"}) {
      People neighbor = without(people, unit);
      // In another order.
      for (std::size_t row = neighbor.unit.size(); row > 1; --row) {
        const std::size_t other = engine() % row;
        std::swap(neighbor.unit[row - 1], neighbor.unit[other]);
        std::swap(neighbor.value[row - 1], neighbor.value[other]);
      }
      const auto fewer = neighbor.kept(limit);
      std::vector<std::pair<std::string, std::int64_t>> apart;
      std::set_symmetric_difference(kept.begin(), kept.end(), fewer.begin(), fewer.end(),
                                    std::back_inserter(apart));
      ASSERT_LE(Rational(apart.size()), limit.stability().forward(1)) << unit;
      for (const auto& [name, value] : apart) ASSERT_EQ(name, unit);
    }
    std::map<std::string, std::uint64_t> rows;
    for (const std::string& unit : people.unit) ++rows[unit];
    std::size_t expected = 0;
    for (const auto& [unit, count] : rows) {
      if (unit.find_first_not_of(' ') != std::string::npos) expected += std::min(count, limit.max_rows());
    }
    ASSERT_EQ(kept.size(), expected);
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
