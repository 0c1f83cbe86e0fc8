#include "framework/shared/row_hash.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace snapdp {

using namespace framework_internal;

namespace {

Column column(const std::vector<double>& values) {
  return {AtomType::real, values.data(), nullptr, 0};
}
Column column(const std::vector<std::int64_t>& values) {
  return {AtomType::integer, values.data(), nullptr, 0};
}
Column column(const std::vector<std::string_view>& values) {
  return {AtomType::text, values.data(), nullptr, 0};
}

std::uint64_t hash(RowHashKey key, const std::vector<Column>& columns) {
  return hash_content(key, row_content(columns, 0));
}

TEST(RowHash, ContentIsWhatTheHeaderSays) {
  using namespace std::string_literals;
  const std::vector<double> reals{1.5, -0.0};
  const std::vector<std::int64_t> integers{-2, 258};
  const std::vector<std::string_view> texts{"ab", ""};
  std::vector<Column> columns{column(reals), column(integers), column(texts)};
  EXPECT_EQ(row_content(columns, 0),
            "\2\0\0\0\0\0\0\xf8\x3f\1\xfe\xff\xff\xff\xff\xff\xff\xff\3\2\0\0\0\0\0\0\0ab"s);
  EXPECT_EQ(row_content(columns, 1), "\1\0\0\0\0\0\0\0\0\1\2\1\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0"s);
  const std::uint8_t none = 0;
  for (Column& each : columns) each.validity = &none;
  EXPECT_EQ(row_content(columns, 0), "\0\0\0"s);
}

TEST(RowHash, EqualCellsAndOnlyTheyHaveEqualContent) {
  const double nan = std::nan("");
  const std::vector<double> reals{0.0, -0.0, nan, -nan, std::nan("7"), 1, 0x1p-1074};
  const Column cells = column(reals);
  std::vector<std::string> contents;
  for (std::size_t row = 0; row < reals.size(); ++row) contents.push_back(row_content({&cells, 1}, row));
  EXPECT_EQ(contents[0], contents[1]);
  EXPECT_EQ(contents[2], contents[3]);
  EXPECT_EQ(contents[2], contents[4]);
  EXPECT_EQ(std::set<std::string>(contents.begin(), contents.end()).size(), 4U);

  // Where one text ends and the next begins, and which of two cells is null, makes a difference.
  const std::vector<std::string_view> left{"ab", "a", "", "x"};
  const std::vector<std::string_view> right{"c", "bc", "abc", "x"};
  const std::uint8_t third_null = 0b0111;
  std::vector<Column> pair{column(left), column(right)};
  std::set<std::string> pairs;
  for (std::size_t row = 0; row < 4; ++row) pairs.insert(row_content(pair, row));
  pair[0].validity = &third_null;
  pairs.insert(row_content(pair, 3));
  std::swap(pair[0].validity, pair[1].validity);
  pairs.insert(row_content(pair, 3));
  EXPECT_EQ(pairs.size(), 6U);
}

// A file may hold doubles instead of integers because some other row has a null, which must not move the choice of rows.
TEST(RowHash, ARealThatIsAnIntegerHasTheContentOfThatInteger) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::vector<std::int64_t> integers{0,
                                           1,
                                           -1,
                                           2,
                                           3,
                                           255,
                                           std::int64_t{1} << 52,
                                           (std::int64_t{1} << 53) + 2,
                                           -(std::int64_t{1} << 62) - 1024,
                                           least};
  std::vector<double> reals;
  for (const std::int64_t value : integers) reals.push_back(static_cast<double>(value));
  const Column same_integers = column(integers);
  const Column same_reals = column(reals);
  for (std::size_t row = 0; row < integers.size(); ++row)
    EXPECT_EQ(row_content({&same_reals, 1}, row), row_content({&same_integers, 1}, row)) << integers[row];
  const std::vector<double> others{0.5,
                                   -0.5,
                                   1.5,
                                   0x1.8p51 + 0.5,
                                   0x1p63,
                                   -0x1.0000000000001p63,
                                   0x1p-1074,
                                   1e300,
                                   std::numeric_limits<double>::infinity(),
                                   std::nan("")};
  const Column none = column(others);
  for (std::size_t row = 0; row < others.size(); ++row)
    EXPECT_EQ(row_content({&none, 1}, row).front(), 2) << others[row];
}

// The choice of rows is part of a result, so these never change: XXH3 of the contents with the keys as seeds.
TEST(RowHash, ValuesAreFixed) {
  const std::vector<std::int64_t> integers{7};
  const std::vector<std::string_view> texts{"seven"};
  const std::vector<Column> columns{column(integers), column(texts)};
  EXPECT_EQ(hash(RowHashKey::rows, columns), 0x61ff312e415f6b7fU);
  EXPECT_EQ(hash(RowHashKey::groups, columns), 0xc329ee5bddd23823U);
}

TEST(RowHash, NullNanAndBlankTextNameNoUnit) {
  const std::vector<std::string_view> texts{"", " ", "\t\r\n\v\f ", "a", " a", "0"};
  const std::vector<double> reals{std::nan(""), 0, std::numeric_limits<double>::infinity()};
  const std::vector<std::int64_t> integers{0};
  for (std::size_t row = 0; row < texts.size(); ++row)
    EXPECT_EQ(names_unit(column(texts), row), row >= 3) << row;
  for (std::size_t row = 0; row < reals.size(); ++row)
    EXPECT_EQ(names_unit(column(reals), row), row >= 1) << row;
  EXPECT_TRUE(names_unit(column(integers), 0));
  const std::uint8_t none = 0;
  Column nulls = column(integers);
  nulls.validity = &none;
  EXPECT_FALSE(names_unit(nulls, 0));
}

}  // namespace
}  // namespace snapdp
