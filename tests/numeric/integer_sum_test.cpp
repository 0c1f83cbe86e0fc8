#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/numeric/exact_sum.h"

namespace snapdp {
namespace {

using Rows = std::vector<std::int64_t>;

static_assert(alignof(IntegerSum) == 8 && sizeof(IntegerProducts) <= 256);

std::vector<InstructionSet> all_kernels() {
  std::vector<InstructionSet> sets;
  for (const auto set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (is_supported(set)) sets.push_back(set);
  }
  return sets;
}

Integer gmp(std::int64_t value) {
  return Integer(static_cast<long>(value));
}

void check(const Rows& x, const Rows& y, const IntegerBounds& x_bounds, const IntegerBounds& y_bounds) {
  Integer sum_x, sum_y, sum_xx, sum_xy;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Integer a = gmp(std::clamp(x[i], x_bounds.lower(), x_bounds.upper()));
    const Integer b = gmp(std::clamp(y[i], y_bounds.lower(), y_bounds.upper()));
    sum_x += a;
    sum_y += b;
    sum_xx += a * a;
    sum_xy += a * b;
  }
  for (const InstructionSet kernel : all_kernels()) {
    SCOPED_TRACE(std::to_string(x.size()) + " rows on [" + std::to_string(x_bounds.lower()) + ", " +
                 std::to_string(x_bounds.upper()) + "], " + std::string(to_string(kernel)));
    IntegerSum sum(x_bounds.lower(), x_bounds.upper());
    sum.add(x, kernel);
    ASSERT_EQ(sum.total(), Dyadic(sum_x, 0));
    IntegerMoments moments(x_bounds.lower(), x_bounds.upper());
    moments.add(x, kernel);
    ASSERT_EQ(moments.sum(), Dyadic(sum_x, 0));
    ASSERT_EQ(moments.sum_of_squares(), Dyadic(sum_xx, 0));
    IntegerProducts products(x_bounds.lower(), x_bounds.upper(), y_bounds.lower(), y_bounds.upper());
    products.add(x, y, kernel);
    ASSERT_EQ(products.sum_x(), Dyadic(sum_x, 0));
    ASSERT_EQ(products.sum_y(), Dyadic(sum_y, 0));
    ASSERT_EQ(products.sum_xy(), Dyadic(sum_xy, 0));
  }
}

const std::vector<IntegerBounds>& all_bounds() {
  static const std::vector<IntegerBounds> bounds = {{0, 100},
                                                    {-1, 1},
                                                    {-7, -7},
                                                    {INT32_MIN, INT32_MAX},
                                                    {INT32_MIN, std::int64_t{INT32_MAX} + 1},
                                                    {std::int64_t{INT32_MIN} - 1, 0},
                                                    {-(std::int64_t{1} << 51), std::int64_t{1} << 51},
                                                    {-(std::int64_t{1} << 51) - 1, 5},
                                                    {5, (std::int64_t{1} << 51) + 1},
                                                    {-(std::int64_t{1} << 53), std::int64_t{1} << 53},
                                                    {INT64_MIN, INT64_MAX},
                                                    {INT64_MIN, INT64_MIN},
                                                    {INT64_MAX, INT64_MAX}};
  return bounds;
}

TEST(IntegerSum, RandomRowsEqualThePlainGmpSum) {
  std::mt19937_64 random(1);
  for (const std::size_t size : std::vector<std::size_t>{0, 1, 7, 63, 2048, 2049, 5000}) {
    for (const IntegerBounds& x_bounds : all_bounds()) {
      for (const IntegerBounds& y_bounds :
           {x_bounds, IntegerBounds(-3, 1000), IntegerBounds(INT64_MIN, INT64_MAX)}) {
        Rows x(size), y(size);
        for (auto& row : x) row = static_cast<std::int64_t>(random()) >> (random() % 64);
        for (auto& row : y) row = static_cast<std::int64_t>(random()) >> (random() % 64);
        check(x, y, x_bounds, y_bounds);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(IntegerSum, EveryPairOfExtremeValues) {
  Rows values;
  for (const int shift : {0, 1, 31, 32, 50, 51, 52, 62, 63}) {
    const std::uint64_t power = std::uint64_t{1} << shift;
    for (const std::uint64_t value : {power - 1, power, power + 1}) {
      values.push_back(static_cast<std::int64_t>(value));
      values.push_back(static_cast<std::int64_t>(0 - value));
    }
  }
  for (const std::int64_t x : values) {
    for (const std::int64_t y : values) {
      if (x < y) continue;
      Rows x_rows(9, x), y_rows(9, y);
      x_rows[8] = y;
      for (const IntegerBounds& bounds : all_bounds()) check(x_rows, y_rows, bounds, bounds);
      if (HasFatalFailure()) return;
    }
  }
}

// A full block of the largest magnitude that each path takes.
TEST(IntegerSum, FullBlocksAtTheBounds) {
  for (const IntegerBounds& bounds : all_bounds()) {
    for (const std::int64_t row : {bounds.lower(), bounds.upper()}) {
      for (const std::int64_t other : {bounds.lower(), bounds.upper()}) {
        check(Rows(4096, row), Rows(4096, other), bounds, bounds);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(IntegerSum, TwoTo63RowsNearTwoTo63DoNotWrap) {
  for (const std::int64_t row : {INT64_MIN, INT64_MIN + 1, INT64_MAX, std::int64_t{5}, std::int64_t{-1}}) {
    for (const InstructionSet kernel : all_kernels()) {
      const Rows rows(1 << 13, row);
      IntegerSum sum(INT64_MIN, INT64_MAX);
      IntegerMoments moments(INT64_MIN, INT64_MAX);
      IntegerProducts products(INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX);
      sum.add(rows, kernel);
      moments.add(rows, kernel);
      products.add(rows, Rows(1 << 13, INT64_MIN), kernel);
      for (int i = 13; i < 63; ++i) {
        sum.merge(sum);
        moments.merge(moments);
        products.merge(products);
      }
      const Integer count = Integer(1) << 63;
      EXPECT_EQ(sum.total(), Dyadic(gmp(row) * count, 0));
      EXPECT_EQ(moments.sum_of_squares(), Dyadic(gmp(row) * gmp(row) * count, 0));
      EXPECT_EQ(products.sum_xy(), Dyadic(gmp(row) * gmp(INT64_MIN) * count, 0));
      IntegerMoments restored(INT64_MIN, INT64_MAX);
      restored.add_totals(moments.sum(), moments.sum_of_squares());
      EXPECT_EQ(restored, moments);
    }
  }
}

TEST(IntegerSum, SixHundredMillionFives) {
  const Rows block(1'000'000, 5);
  IntegerSum million(0, 10);
  million.add(block);
  IntegerSum sum(0, 10);
  for (int i = 0; i < 600; ++i) sum.merge(million);
  EXPECT_EQ(sum.total(), Dyadic(std::int64_t{3'000'000'000}));
}

TEST(IntegerSum, OrderSplitsAndMergesDoNotMatter) {
  std::mt19937_64 random(2);
  for (const IntegerBounds& bounds : all_bounds()) {
    Rows rows(7000);
    for (auto& row : rows) row = static_cast<std::int64_t>(random()) >> (random() % 64);
    IntegerProducts whole(bounds.lower(), bounds.upper(), 0, 9);
    whole.add(rows, rows);
    for (int round = 0; round < 3; ++round) {
      std::shuffle(rows.begin(), rows.end(), random);
      std::vector<IntegerProducts> parts(1, IntegerProducts(bounds.lower(), bounds.upper(), 0, 9));
      std::span<const std::int64_t> rest = rows;
      while (!rest.empty()) {
        const std::size_t size = std::min<std::size_t>(rest.size(), random() % 2500);
        parts.emplace_back(bounds.lower(), bounds.upper(), 0, 9).add(rest.first(size), rest.first(size));
        rest = rest.subspan(size);
      }
      while (parts.size() > 1) {
        parts[random() % (parts.size() - 1)].merge(parts.back());
        parts.pop_back();
      }
      EXPECT_EQ(parts.front(), whole);
    }
  }
}

TEST(IntegerSum, RestoredTotalsContinueTheSum) {
  IntegerSum sum(-10, 10);
  sum.add(Rows{1, -20, 7});
  const Integer most = Integer(1) << 189;
  const Integer middle = Integer(1) << 126;
  for (const Integer& total : std::vector<Integer>{0, -1, 1, Integer(-middle), Integer(middle + 12345), most,
                                                   Integer(-most), Integer(most - 1), Integer(1 - most)}) {
    IntegerSum restored(-10, 10);
    restored.add_total(Dyadic(total, 0));
    EXPECT_EQ(restored.total(), Dyadic(total, 0));
    restored.merge(sum);
    EXPECT_EQ(restored.total(), Dyadic(total - 2, 0));
  }
}

TEST(IntegerSum, TotalsThatNoRowsCanGiveAreRefused) {
  IntegerSum sum(0, 1);
  for (const Dyadic& bad : {Dyadic(0.5), Dyadic((Integer(1) << 189) + 1, 0), Dyadic(Integer(-1), 190),
                            Dyadic(Integer(1), 2000000000)}) {
    try {
      sum.add_total(bad);
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.parameter(), "sum");
    }
  }
  EXPECT_EQ(sum.total(), Dyadic(0));
  IntegerMoments moments(0, 1);
  EXPECT_THROW(moments.add_totals(1, 0.5), Error);
  EXPECT_EQ(moments.sum(), Dyadic(0));  // all or nothing
  IntegerProducts products(0, 1, 0, 1);
  EXPECT_THROW(products.add_totals(1, 1, 0.5), Error);
  EXPECT_EQ(products.sum_x(), Dyadic(0));
}

TEST(IntegerSum, RefusesBadBoundsOtherBoundsAndUnequalColumns) {
  const auto code = [](auto&& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::io;
  };
  EXPECT_EQ(code([] { IntegerSum(1, 0).total(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code([] { IntegerSum(0, 1).merge(IntegerSum(0, 2)); }), ErrorCode::mismatch);
  EXPECT_EQ(code([] { IntegerMoments(0, 1).merge(IntegerMoments(-1, 1)); }), ErrorCode::mismatch);
  EXPECT_EQ(code([] { IntegerProducts(0, 1, 0, 1).merge(IntegerProducts(0, 1, 0, 2)); }),
            ErrorCode::mismatch);
  EXPECT_EQ(code([] {
              const Rows x(3), y(4);
              IntegerProducts(0, 1, 0, 1).add(x, y);
            }),
            ErrorCode::mismatch);
}

}  // namespace
}  // namespace snapdp
