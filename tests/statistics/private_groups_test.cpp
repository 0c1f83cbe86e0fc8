#include "snapdp/statistics/private_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "snapdp/error.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/memory_source.h"

namespace snapdp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Bins bins_of(const KeyValues& keys) {
  if (keys.type == AtomType::text) return Bins::texts(keys.texts);
  std::vector<Dyadic> numbers;
  for (const std::int64_t key : keys.integers) numbers.emplace_back(key);
  return Bins::numbers(numbers);
}

// Counts by city, whose noise is too little to be seen.
GroupsParts counts(std::uint64_t distance = 1, const Epsilon& epsilon = 1000) {
  return [=](const std::vector<KeyValues>& keys) {
    const Aggregation count =
        make_grouped(untrusted_domain({keys[0].type}), symmetric_distance(), bins_of(keys[0]), make_count());
    const Measurement noisy =
        count >> make_snapping({.epsilon = epsilon, .noise = NoiseKind::geometric, .distance = distance});
    return std::vector<GroupsPart>{{{{"city"}, noisy, {}}, 0}};
  };
}

PrivateKeys cities(const Epsilon& epsilon, const Epsilon& delta) {
  return {.column = {"city", AtomType::text}, .epsilon = epsilon, .delta = delta};
}

const PrivacyBudget plenty = PrivacyBudget::approximate(1'000'000, Rational(999, 1000));

// So many rows of each city.
struct Cities {
  explicit Cities(const std::map<std::string, int>& sizes) {
    for (const auto& [name, size] : sizes) {
      names.push_back(name);
      rows.insert(rows.end(), static_cast<std::size_t>(size), names.size() - 1);
    }
  }
  MemorySource table() const&& = delete;  // its cells are ours
  MemorySource table() const& {
    MemorySource::Texts cells;
    for (const std::size_t row : rows) cells.emplace_back(names[row]);
    MemorySource source;
    source.add("city", cells);
    return source;
  }
  std::vector<std::string> names;
  std::vector<std::size_t> rows;
};

TEST(PrivateGroups, ShowLargeGroupsInOrderAndNothingOfSmallOnes) {
  const Cities data({{"ulm", 400}, {"bonn", 300}, {"a village", 1}, {"aachen", 500}});
  MemorySource table = data.table();
  const PrivateGroups groups({}, {cities(1, "1e-9")}, counts());
  EXPECT_EQ(groups.price(), PrivacyLoss::approximate(1001, Rational(1, 1'000'000'000)));
  EXPECT_EQ(groups.price_of(0), PrivacyLoss::approximate(1, Rational(1, 1'000'000'000)));
  InMemoryAccountant accountant(plenty);
  const GroupsRelease release = groups.release(table, accountant);
  EXPECT_THAT(release.shown.at(0).texts, ElementsAre("aachen", "bonn", "ulm"));
  EXPECT_THAT(release.values.at(0), ElementsAre(500, 300, 400));
  EXPECT_THAT(release.cut, ElementsAre(false));
  EXPECT_EQ(accountant.spent(), PrivacyAmount(1001, Rational(1, 1'000'000'000)));
  EXPECT_EQ(release.loss, groups.price());
}

TEST(PrivateGroups, ThatAreAllTooSmallGiveNothingAndCostTheSame) {
  const Cities data({{"ulm", 1}, {"bonn", 2}});
  MemorySource table = data.table();
  const PrivateGroups groups({}, {cities(1, "1e-12")}, counts());
  InMemoryAccountant accountant(plenty);
  const GroupsRelease release = groups.release(table, accountant);
  EXPECT_TRUE(release.shown.at(0).empty());
  EXPECT_TRUE(release.values.at(0).empty());
  EXPECT_EQ(accountant.spent(), groups.price().in(PrivacyMeasure::approximate));

  const Cities nobody({});
  MemorySource none = nobody.table();
  EXPECT_TRUE(groups.release(none, accountant).shown.at(0).empty());
}

// Each group is shown with the probability of its size. The share of N groups that are is off by more than t with
// probability at most 2 exp(-2 N t^2) (Hoeffding 1963): 1e-9 for this t; the probabilities of neighboring sizes are
// farther apart.
TEST(PrivateGroups, AreShownWithTheOptimalProbability) {
  constexpr int many = 12'000;
  const double t = std::sqrt(std::log(2e9) / (2.0 * many));
  for (const std::uint64_t min_units : {1U, 2U}) {
    PrivateKeys keys = cities(1, "1/10");
    keys.min_units = min_units;
    keys.most = many;
    const PrivateGroups groups({}, {keys}, counts());
    for (const int size : {1, 2, 3}) {
      std::map<std::string, int> sizes;
      for (int i = 0; i < many; ++i) sizes["city " + std::to_string(i)] = size;
      const Cities data(sizes);
      MemorySource table = data.table();
      InMemoryAccountant accountant(plenty);
      const double shown = static_cast<double>(groups.release(table, accountant).shown.at(0).size()) / many;
      const long counted = size - static_cast<long>(min_units - 1);
      const double expected = groups.law(0).probability(Integer(counted)).low.get_d();
      EXPECT_NEAR(shown, expected, t) << size << " " << min_units;
      EXPECT_GT(std::abs(groups.law(0).probability(Integer(counted + 1)).low.get_d() - expected), 2 * t);
    }
  }
}

TEST(PrivateGroups, AreNoMoreThanThePublicMost) {
  const Cities data({{"a", 99}, {"b", 99}, {"c", 99}});
  MemorySource table = data.table();
  PrivateKeys keys = cities(1, "1e-9");
  keys.most = 2;
  InMemoryAccountant accountant(plenty);
  const GroupsRelease release = PrivateGroups({}, {keys}, counts()).release(table, accountant);
  EXPECT_THAT(release.shown.at(0).texts, ElementsAre("a", "b"));
  EXPECT_THAT(release.values.at(0), ElementsAre(99, 99));
  EXPECT_THAT(release.cut, ElementsAre(true));
}

// Keys that no view could show as they are count for nothing, whatever their number.
TEST(PrivateGroups, HaveKeysThatCanBeShown) {
  const std::string long_key(257, 'x');
  EXPECT_TRUE(is_group_key(std::string(256, 'x')));
  for (const std::string& key : {std::string(), std::string("  "), long_key, std::string("a\nb"),
                                 std::string("\x1b[2J"), std::string("\xff"),
                                 std::string("a\xe2\x80\xae"
                                             "b")})
    EXPECT_FALSE(is_group_key(key)) << key;
  std::map<std::string, int> sizes = {{long_key, 500}, {"a\nb", 500}, {"ulm", 500}, {"<b>", 500}};
  sizes[std::string(1 << 20, 'm')] = 3;
  const Cities data(sizes);
  MemorySource table = data.table();
  InMemoryAccountant accountant(plenty);
  const GroupsRelease release = PrivateGroups({}, {cities(1, "1e-9")}, counts()).release(table, accountant);
  EXPECT_THAT(release.shown.at(0).texts, ElementsAre("<b>", "ulm"));
  EXPECT_THAT(release.values.at(0), ElementsAre(500, 500));
}

TEST(PrivateGroups, OfIntegers) {
  MemorySource table;
  MemorySource::Integers codes(900, 7);
  codes.insert(codes.end(), 800, -3);
  codes.push_back(11);
  table.add("city", codes);
  PrivateKeys keys = cities(1, "1e-9");
  keys.column.type = AtomType::integer;
  InMemoryAccountant accountant(plenty);
  const GroupsRelease release = PrivateGroups({}, {keys}, counts()).release(table, accountant);
  EXPECT_THAT(release.shown.at(0).integers, ElementsAre(-3, 7));
  EXPECT_THAT(release.values.at(0), ElementsAre(800, 900));
}

// The number of units decides, not that of rows: a person with a thousand rows is one.
TEST(PrivateGroups, CountUnitsAndNotRows) {
  MemorySource::Texts cities_of;
  MemorySource::Integers persons;
  for (int i = 0; i < 1000; ++i) {
    cities_of.emplace_back("the town of one");
    persons.push_back(-1);
    cities_of.emplace_back("ulm");
    persons.push_back(i);
  }
  MemorySource table;
  table.add("city", cities_of).add("person", persons);
  const RowSelection selection{{}, RowSelection::UnitLimit{"person", 1000}};
  PrivateKeys keys = cities(1, "1e-9");
  keys.max_groups = 2;
  const PrivateGroups groups(selection, {keys}, counts(1000));
  EXPECT_EQ(groups.law(0).epsilon(), Rational(1, 2));
  EXPECT_EQ(groups.law(0).delta(), Rational(1, 2'000'000'000));
  const PrivateGroups::Candidates candidates = groups.exact(table);
  EXPECT_THAT(candidates.keys.at(0).texts, ElementsAre("the town of one", "ulm"));
  EXPECT_THAT(candidates.units.at(0), ElementsAre(1, 1000));
  EXPECT_THAT(candidates.statistics.at(0), ElementsAre(1000, 1000));
}

// Whoever has one row is in one group, however many are allowed.
TEST(PrivateGroups, OfAUnitAreNoMoreThanItsRows) {
  const RowSelection selection{{}, RowSelection::UnitLimit{"person", 1}};
  PrivateKeys keys = cities(1, "1e-9");
  keys.max_groups = 50;
  EXPECT_EQ(PrivateGroups(selection, {keys}, counts()).law(0).epsilon(), 1);
}

// Neighbors: all rows of one unit are there or not. What is counted moves in at most max_groups groups, by one unit each,
// and the statistics by no more than their claimed distance; no other group's candidate numbers move at all.
TEST(PrivateGroups, MoveAsClaimedBetweenNeighbors) {
  std::mt19937 random(20'260'101);  // NOLINT: a fixed seed
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f\n"};
  constexpr std::uint64_t max_rows = 4;
  constexpr std::uint64_t max_groups = 2;
  const RowSelection selection{{}, RowSelection::UnitLimit{"person", max_rows}};
  PrivateKeys keys = cities(1, "1e-9");
  keys.max_groups = max_groups;
  const PrivateGroups groups(selection, {keys}, counts(max_rows));
  std::size_t moved_often = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<std::pair<std::size_t, int>> rows;
    for (int row = 0; row < 30; ++row)
      rows.emplace_back(random() % names.size(), static_cast<int>(random() % 6));
    const auto table_without = [&](int person) {
      MemorySource::Texts cells;
      MemorySource::Integers persons;
      for (const auto& [city, whose] : rows) {
        if (whose == person) continue;
        cells.emplace_back(names[city]);
        persons.push_back(whose);
      }
      MemorySource table;
      table.add("city", cells).add("person", persons);
      return table;
    };
    const auto numbers = [&](int person) {
      MemorySource table = table_without(person);
      const PrivateGroups::Candidates exact = groups.exact(table);
      std::map<std::string, std::pair<std::int64_t, Dyadic>> found;
      for (std::size_t i = 0; i < exact.keys[0].size(); ++i)
        found[exact.keys[0].texts[i]] = {static_cast<std::int64_t>(exact.units[0][i]),
                                         exact.statistics[0][i]};
      return found;
    };
    auto all = numbers(-1);
    auto without = numbers(static_cast<int>(random() % 6));
    std::uint64_t moved = 0;
    Dyadic distance;
    for (const std::string& name : names) {
      const auto& [units, rows_of] = all[name];
      const auto& [fewer_units, fewer_rows] = without[name];
      const std::int64_t step = units - fewer_units;
      EXPECT_GE(step, 0);
      EXPECT_LE(step, 1);
      moved += static_cast<std::uint64_t>(step);
      distance += abs(rows_of - fewer_rows);
    }
    EXPECT_LE(moved, max_groups);
    EXPECT_LE(distance, Dyadic(static_cast<std::int64_t>(max_rows)));
    moved_often += moved == max_groups ? 1U : 0U;
  }
  EXPECT_GT(moved_often, 100U);
}

// What does not fit is refused before any row is read.
TEST(PrivateGroups, AreRefusedWhereNothingIsProved) {
  const auto refusal = [](PrivateKeys keys, const GroupsParts& parts, const RowSelection& selection = {}) {
    try {
      PrivateGroups(selection, {std::move(keys)}, parts);
    } catch (const Error& error) {
      return error.parameter() + ": " + error.what();
    }
    return std::string("was not refused");
  };
  EXPECT_THAT(refusal(cities(1, 1), counts()), HasSubstr("delta: delta = 1: must be less than 1"));
  EXPECT_THAT(refusal(cities(1, 0.0), counts()), HasSubstr("delta:"));
  EXPECT_THAT(refusal(cities(0.0, "1e-9"), counts()), HasSubstr("epsilon:"));
  PrivateKeys keys = cities(1, "1e-9");
  keys.max_groups = 0;
  EXPECT_THAT(refusal(keys, counts()), HasSubstr("max_groups = 0"));
  keys = cities(1, "1e-9");
  keys.min_units = 0;
  EXPECT_THAT(refusal(keys, counts()), HasSubstr("min_units = 0"));
  keys = cities(1, "1e-9");
  keys.most = 0;
  EXPECT_THAT(refusal(keys, counts()), HasSubstr("most = 0"));
  keys = cities(1, "1e-9");
  keys.column.type = AtomType::real;
  EXPECT_THAT(refusal(keys, counts()), HasSubstr("reals, which are no keys"));
  keys = cities(1, "1e-9");
  keys.column.name = "town";
  EXPECT_THAT(refusal(keys, counts()), HasSubstr("is not by the column of its keys"));
  EXPECT_THAT(refusal(cities(1, "1e-9"), nullptr), HasSubstr("parts: "));
  // A part about all rows alone.
  EXPECT_THAT(
      refusal(cities(1, "1e-9"),
              [](const std::vector<KeyValues>&) {
                return std::vector<GroupsPart>{
                    {{{},
                      make_count(untrusted_domain({}), symmetric_distance()) >> make_snapping({.epsilon = 1}),
                      {}},
                     {}}};
              }),
      HasSubstr("no part is by some of them"));
}

// Noise that depends on the keys would not be what was paid for.
TEST(PrivateGroups, HaveNoiseThatDoesNotDependOnTheKeys) {
  const Cities data({{"a", 50}, {"b", 50}});
  MemorySource table = data.table();
  const auto by_number = [](const std::vector<KeyValues>& keys) {
    return counts(1, static_cast<double>(keys[0].size()))(keys);
  };
  const PrivateGroups groups({}, {cities(1, "1e-9")}, by_number);
  InMemoryAccountant accountant(plenty);
  EXPECT_THROW(groups.release(table, accountant), std::logic_error);
  EXPECT_EQ(accountant.spent(), PrivacyAmount());
}

TEST(PrivateGroups, ABudgetThatIsTooSmallPaysNothing) {
  const Cities data({{"a", 50}});
  MemorySource table = data.table();
  const PrivateGroups groups({}, {cities(1, "1e-9")}, counts());
  InMemoryAccountant pure(5000);
  EXPECT_THROW(groups.release(table, pure), Error);
  InMemoryAccountant small(PrivacyBudget::approximate(1000, "1e-6"));
  EXPECT_THROW(groups.release(table, small), Error);
  EXPECT_EQ(small.spent(), PrivacyAmount());
}

}  // namespace
}  // namespace snapdp
