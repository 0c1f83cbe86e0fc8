#include "framework/shared/first_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <string>

namespace snapdp {

using namespace framework_internal;

namespace {

struct Given {
  std::string unit;
  std::uint64_t hash;
  std::string record;
};

// Unit, hash and record of what is kept, sorted.
using Kept = std::vector<std::tuple<std::string, std::uint64_t, std::string>>;

Kept kept(const FirstRows& rows) {
  Kept all;
  for (std::size_t unit = 0; unit < rows.units(); ++unit) {
    std::vector<FirstRows::Row> of_unit;
    rows.list(unit, of_unit);
    for (const FirstRows::Row& row : of_unit) all.emplace_back(rows.name(unit), row.hash, row.record);
  }
  std::sort(all.begin(), all.end());
  return all;
}

FirstRows filled(const std::vector<Given>& given, std::uint64_t max_rows) {
  FirstRows rows(max_rows);
  for (const Given& row : given) rows.add(row.unit, {row.hash, row.record});
  return rows;
}

// By sorting all rows of each unit.
Kept slowly_kept(const std::vector<Given>& given, std::uint64_t max_rows) {
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::string>>> units;
  for (const Given& row : given) units[row.unit].emplace_back(row.hash, row.record);
  Kept all;
  for (auto& [unit, rows] : units) {
    std::sort(rows.begin(), rows.end());
    rows.resize(std::min<std::size_t>(rows.size(), static_cast<std::size_t>(max_rows)));
    for (const auto& [hash, record] : rows) all.emplace_back(unit, hash, record);
  }
  return all;
}

TEST(FirstRows, AreThoseThatComeFirst) {
  std::mt19937_64 engine(31);
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<Given> given;
    for (std::size_t k = engine() % 300; k > 0; --k) {
      // Some hashes tie, some rows are equal, some names and records empty.
      given.push_back({std::string(engine() % 4, 'u'), engine() % (trial % 2 == 0 ? 5 : 1'000'000),
                       std::string(engine() % 3, static_cast<char>('a' + engine() % 2))});
    }
    for (const std::uint64_t max_rows :
         {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7}, std::uint64_t{100}, ~std::uint64_t{0}}) {
      ASSERT_EQ(kept(filled(given, max_rows)), slowly_kept(given, max_rows)) << max_rows;
    }
  }
}

// What is kept when the records are forgotten, after `forget` rows, and all rows come a second time, in another order.
Kept kept_by_reading_again(std::vector<Given> given, std::uint64_t max_rows, std::size_t forget,
                           std::mt19937_64& engine) {
  FirstRows rows(max_rows);
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (i == forget) rows.forget_records();
    rows.add(given[i].unit, {given[i].hash, given[i].record});
  }
  rows.settle();
  std::shuffle(given.begin(), given.end(), engine);
  Kept all;
  std::size_t tied = 0;
  for (const Given& row : given) {
    const FirstRows::Taken taken = rows.take(FirstRows::named(row.unit), {row.hash, row.record});
    EXPECT_NE(taken, FirstRows::Taken::unknown);
    if (taken == FirstRows::Taken::yes) all.emplace_back(row.unit, row.hash, row.record);
    tied += taken == FirstRows::Taken::tied;
  }
  const Kept first_tied = kept(rows);
  EXPECT_EQ(rows.has_ties(), tied > 0);
  EXPECT_TRUE(first_tied.size() < tied || tied == 0) << "all are kept: they need not be set aside";
  all.insert(all.end(), first_tied.begin(), first_tied.end());
  std::sort(all.begin(), all.end());
  return all;
}

TEST(FirstRows, AreTheSameWhenRowsComeTwice) {
  std::mt19937_64 engine(34);
  for (std::size_t trial = 0; trial < 600; ++trial) {
    std::vector<Given> given;
    for (std::size_t k = engine() % 300; k > 0; --k) {
      given.push_back({std::string(engine() % 4, 'u'),
                       engine() % std::array{1U, 5U, 40U, 1'000'000U}.at(trial % 4),
                       std::string(engine() % 3, static_cast<char>('a' + engine() % 2))});
    }
    for (const std::uint64_t max_rows :
         {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7}, std::uint64_t{100}, ~std::uint64_t{0}}) {
      ASSERT_EQ(kept_by_reading_again(given, max_rows, engine() % 300, engine), slowly_kept(given, max_rows))
          << max_rows;
    }
  }
}

// Whatever comes the second time, no unit gets more rows than it may have.
TEST(FirstRows, KnowRowsThatWereNotThere) {
  FirstRows rows(2);
  EXPECT_EQ(FirstRows(2).take(FirstRows::named("u"), {1, ""}), FirstRows::Taken::unknown);
  rows.add("few", {5, "a"});
  for (const std::uint64_t hash : {9U, 7U, 8U}) rows.add("many", {hash, "a"});
  rows.settle();
  using enum FirstRows::Taken;
  const auto take = [&](const char* name, std::uint64_t hash) {
    return rows.take(FirstRows::named(name), {hash, "a"});
  };
  EXPECT_EQ(take("none", 1), unknown);
  EXPECT_EQ(take("few", 5), yes);
  EXPECT_EQ(take("few", 6), unknown);
  EXPECT_EQ(take("many", 9), no);
  EXPECT_EQ(take("many", 1), yes);
  EXPECT_EQ(take("many", 8), yes);
  EXPECT_EQ(take("many", 7), unknown);
}

TEST(FirstRows, ForgetRecordsAndTheirMemory) {
  FirstRows rows(100);
  for (std::uint64_t i = 0; i < 10'000; ++i)
    rows.add(std::to_string(i % 100), {i * 0x9e3779b97f4a7c15, std::string(1000, 'r')});
  EXPECT_GT(rows.bytes(), 100U * 100 * 1000);
  rows.forget_records();
  EXPECT_LT(rows.bytes(), 100U * 126 * 16 * 2 + 100'000);
  rows.settle();
  EXPECT_LT(rows.bytes(), 50'000U);
}

// The memory held follows from what is kept: the same rows in an order in which each comes before all that came before it,
// in the reverse order and in none.
TEST(FirstRows, TakeNoMoreMemoryInAnyOrder) {
  constexpr std::uint64_t rows = 200'000;
  constexpr std::size_t record_size = 50;
  for (const std::uint64_t units : {1U, 100U}) {
    for (const std::uint64_t max_rows : {1U, 3U, 200U}) {
      std::vector<std::uint64_t> hashes(rows);
      std::iota(hashes.begin(), hashes.end(), std::uint64_t{0});
      const auto bytes = [&] {
        FirstRows first(max_rows);
        std::size_t most = 0;
        std::string record(record_size, 'r');
        for (const std::uint64_t hash : hashes) {
          first.add(std::to_string(hash % units), {hash, record});
          most = std::max(most, first.bytes());
        }
        EXPECT_EQ(kept(first).size(), units * max_rows);
        return most;
      };
      // Of each unit a quarter more rows and one, each its record, its size, its hash and its place, in an array with room
      // for twice as many at most; half as much again and 16 KiB idle; an unfilled block of up to 256 KiB; names and index.
      const std::uint64_t waiting = units * (max_rows + max_rows / 4 + 1) * (record_size + 8 + 6 + 2 * 16);
      const std::uint64_t most =
          waiting + waiting / 2 + (std::uint64_t{1} << 14) + (std::uint64_t{1} << 18) + units * 200;
      EXPECT_LE(bytes(), most) << "ascending";
      std::reverse(hashes.begin(), hashes.end());
      EXPECT_LE(bytes(), most) << "descending";
      std::shuffle(hashes.begin(), hashes.end(), std::mt19937_64(32));
      EXPECT_LE(bytes(), most) << "in no order";
      EXPECT_LT(most, rows * record_size / 2) << "the bound would allow for keeping everything";
    }
  }
}

}  // namespace
}  // namespace snapdp
