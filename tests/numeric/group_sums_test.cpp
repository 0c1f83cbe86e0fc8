#include "numeric/shared/group_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

using Groups = std::vector<std::uint32_t>;

constexpr std::int64_t two_to(int k) {
  return std::int64_t{1} << k;
}

// The oracle: an addition a row of exact numbers, with comparisons where the sums clamp.
template <typename Value>
class Oracle {
 public:
  Oracle(Value lower, Value upper, std::size_t groups)
      : lower_(lower), upper_(upper), rows_(groups), totals_(groups) {}

  void add(Value row, std::size_t group) {
    ++rows_[group];
    totals_[group] += row > upper_ ? Dyadic(upper_) : row > lower_ ? Dyadic(row) : Dyadic(lower_);
  }
  template <typename Sums>
  void check(const Sums& sums) const {
    ASSERT_EQ(sums.groups(), rows_.size());
    for (std::size_t group = 0; group < rows_.size(); ++group) {
      ASSERT_EQ(sums.rows(group), rows_[group]) << group;
      ASSERT_EQ(sums.total(group), totals_[group]) << group;
    }
  }

 private:
  Value lower_;
  Value upper_;
  std::vector<std::uint64_t> rows_;
  std::vector<Dyadic> totals_;
};

const std::vector<IntegerBounds>& all_bounds() {
  static const std::vector<IntegerBounds> bounds = [] {
    std::vector<IntegerBounds> all{
        {0, 0}, {INT64_MIN, INT64_MAX}, {INT64_MIN, INT64_MIN}, {INT64_MAX, INT64_MAX}};
    for (const std::int64_t magnitude :
         {std::int64_t{1}, std::int64_t{500}, two_to(51), two_to(55), two_to(62)}) {
      for (const auto& [lower, upper] :
           std::vector<std::pair<std::int64_t, std::int64_t>>{{-magnitude, magnitude},
                                                              {0, magnitude},
                                                              {-magnitude, 0},
                                                              {magnitude, magnitude},
                                                              {-magnitude, 1}}) {
        all.emplace_back(lower, upper);
      }
    }
    // Distances of 2^k - 1, where rows and sum fill a word to the last bit, and of 2^k.
    for (const int k : {1, 2, 10, 30, 40, 41, 50, 56, 60, 61, 62, 63}) {
      const auto distance = static_cast<std::int64_t>((std::uint64_t{1} << k) - 1);
      all.emplace_back(0, distance);
      all.emplace_back(-distance, 0);
      all.emplace_back(-3, distance - 3);
      all.emplace_back(-distance - 1, 0);
    }
    // Distances of 2^63 and of 2^64 - 2.
    all.emplace_back(INT64_MIN, 0);
    all.emplace_back(-1, INT64_MAX);
    all.emplace_back(INT64_MIN, INT64_MAX - 1);
    return all;
  }();
  return bounds;
}

// Rows at, within and beyond any bounds, of all magnitudes.
std::int64_t some_row(std::mt19937_64& random, const IntegerBounds& bounds) {
  switch (random() % 6) {
    case 0:
      return bounds.lower();
    case 1:
      return bounds.upper();
    case 2:
      return random() % 2 == 0 ? INT64_MIN : INT64_MAX;
    default:
      return static_cast<std::int64_t>(random()) >> (random() % 64);
  }
}

// Few groups with many rows, and many groups with few.
struct Shape {
  std::size_t groups;
  std::size_t rows;
};
const std::vector<Shape> shapes{{1, 0}, {1, 5000}, {3, 4000}, {300, 2500}, {4000, 300}};

template <typename Sums, typename Value, typename Limits>
void check_splits(const Limits& bounds, const std::vector<Value>& rows, const Groups& group,
                  std::size_t groups, std::mt19937_64& random) {
  Oracle<Value> oracle(bounds.lower(), bounds.upper(), groups);
  for (std::size_t i = 0; i < rows.size(); ++i) oracle.add(rows[i], group[i]);
  Sums whole(bounds, groups);
  whole.add(rows, group.data());
  oracle.check(whole);
  // Dealt to four sums in pieces, of which one goes through its totals on the way, merged in any order.
  std::vector<Sums> parts(4, Sums(bounds, groups));
  for (std::size_t first = 0; first < rows.size();) {
    const std::size_t size = std::min(rows.size() - first, random() % 900 + 1);
    parts[random() % 4].add(std::span(rows).subspan(first, size), group.data() + first);
    first += size;
    if (random() % 3 != 0) continue;
    Sums& old = parts[random() % 4];
    Sums restored(bounds, groups);
    for (std::size_t i = 0; i < groups; ++i) restored.add_total(i, old.rows(i), old.total(i));
    old = restored;
  }
  std::shuffle(parts.begin(), parts.end(), random);
  parts[1].merge(parts[0]);
  parts[2].merge(parts[3]);
  parts[2].merge(parts[1]);
  oracle.check(parts[2]);
  // The rows of each group by themselves, in few groups.
  if (groups > 100) return;
  Sums apart(bounds, groups);
  for (std::size_t one = 0; one < groups; ++one) {
    std::vector<Value> alone;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (group[i] == one) alone.push_back(rows[i]);
    }
    apart.add_to(one, alone);
  }
  oracle.check(apart);
}

Groups some_groups(std::mt19937_64& random, const Shape& shape) {
  Groups group(shape.rows);
  for (std::uint32_t& place : group) place = static_cast<std::uint32_t>(random() % shape.groups);
  return group;
}

TEST(IntegerSums, AreTheSumsOfEachGroupHoweverSplitMergedOrStored) {
  std::mt19937_64 random(1);
  for (const IntegerBounds& bounds : all_bounds()) {
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(std::to_string(shape.groups) + " groups on [" + std::to_string(bounds.lower()) + ", " +
                   std::to_string(bounds.upper()) + "]");
      std::vector<std::int64_t> rows(shape.rows);
      for (std::int64_t& row : rows) row = some_row(random, bounds);
      check_splits<IntegerSums>(bounds, rows, some_groups(random, shape), shape.groups, random);
      if (HasFatalFailure()) return;
    }
  }
}

// As many rows at a bound as fill the word of a group, and more, all of one group.
TEST(IntegerSums, RowsThatFillAWord) {
  constexpr std::size_t block = 1000;  // no divisor of any capacity, nor a multiple
  for (const IntegerBounds& bounds : all_bounds()) {
    for (const std::int64_t row : {bounds.lower(), bounds.upper()}) {
      for (const std::uint32_t groups : {1U, 2U, 3U}) {
        const std::vector<std::int64_t> rows(block, row);
        const Groups group(block, groups - 1);
        IntegerSums sums(bounds, groups);
        for (int blocks = 1; blocks <= 140; ++blocks) {
          sums.add(rows, group.data());
          ASSERT_EQ(sums.total(groups - 1), Dyadic(blocks * 1000) * Dyadic(row))
              << blocks << " blocks, " << groups << " groups on [" << bounds.lower() << ", " << bounds.upper()
              << "]";
        }
        EXPECT_EQ(sums.rows(groups - 1), 140 * block);
        EXPECT_EQ(sums.total(0), groups > 1 ? Dyadic(0) : Dyadic(140 * 1000) * Dyadic(row));
      }
    }
  }
}

// Every addition carries as far as it can, and the lower half of the sum goes through zero exactly.
TEST(IntegerSums, CarryAtEveryDistance) {
  for (const IntegerBounds& bounds : all_bounds()) {
    const Integer distance =
        Integer(static_cast<long>(bounds.upper())) - Integer(static_cast<long>(bounds.lower()));
    if (distance == 0) continue;
    SCOPED_TRACE("[" + std::to_string(bounds.lower()) + ", " + std::to_string(bounds.upper()) + "]");
    // So many rows at `upper` that one more reaches 2^64, as a stored total.
    const Integer fit = ((Integer(1) << 64) - 1) / distance;
    const std::uint64_t most = fit < (Integer(1) << 62) ? fit.get_ui() : std::uint64_t{1} << 62;
    for (std::uint64_t rows = most - std::min<std::uint64_t>(most, 2); rows <= most; ++rows) {
      IntegerSums sums(bounds, 2);
      const auto times = [](std::uint64_t count, std::int64_t value) {
        return Dyadic(Integer(static_cast<unsigned long>(count)), 0) * Dyadic(value);
      };
      sums.add_total(1, rows, times(rows, bounds.upper()));
      Dyadic expected = times(rows, bounds.upper());
      for (int more = 0; more < 6; ++more) {
        const std::int64_t row = more % 3 == 2 ? bounds.lower() + 1 : bounds.upper();
        const std::uint32_t group = 1;
        sums.add({&row, 1}, &group);
        expected += Dyadic(row);
        ASSERT_EQ(sums.total(1), expected) << rows << " rows and " << more;
      }
      EXPECT_EQ(sums.rows(1), rows + 6);
      EXPECT_EQ(sums.total(0), Dyadic(0));
    }
  }
}

TEST(IntegerSums, TwoTo63RowsDoNotWrap) {
  for (const IntegerBounds& bounds : all_bounds()) {
    for (const std::int64_t row : {INT64_MIN, std::int64_t{-1}, INT64_MAX}) {
      const std::vector<std::int64_t> rows(1 << 13, row);
      IntegerSums sums(bounds, 2);
      sums.add_to(1, rows);
      for (int i = 13; i < 63; ++i) sums.merge(IntegerSums(sums));
      EXPECT_EQ(sums.rows(1), std::uint64_t{1} << 63);
      const std::int64_t clamped = std::clamp(row, bounds.lower(), bounds.upper());
      EXPECT_EQ(sums.total(1), scale_by_power_of_two(Dyadic(clamped), 63));
      EXPECT_EQ(sums.total(0), Dyadic(0));
      IntegerSums restored(bounds, 1);
      restored.add_total(0, sums.rows(1), sums.total(1));
      EXPECT_EQ(restored.total(0), sums.total(1));
    }
  }
}

TEST(ExactSums, AreTheSumsOfEachGroupHoweverSplitMergedOrStored) {
  constexpr double largest = std::numeric_limits<double>::max();
  constexpr double least = std::numeric_limits<double>::denorm_min();
  std::mt19937_64 random(2);
  const std::vector<ClampBounds> all{{-1, 1},
                                     {-100, 500},
                                     {0, 0},
                                     {3, 3},
                                     {-0x1p-1000, 0x1p-1000},
                                     {-least, least},
                                     {-largest, largest},
                                     {-0x1p1021, 0x1p1021},
                                     {0, 0x1.8p1021}};
  for (const ClampBounds& bounds : all) {
    for (const Shape& shape : shapes) {
      // How many rows of a hundred have bits that the grids do not hold.
      for (const unsigned fine : {0U, 3U, 100U}) {
        std::vector<double> rows(shape.rows);
        for (double& row : rows) {
          const double unit = static_cast<double>(static_cast<std::int64_t>(random()) >> 11) * 0x1p-52;
          row = random() % 100 < fine ? std::ldexp(unit, static_cast<int>(random() % 2000) - 1000)
                : random() % 9 == 0   ? (random() % 2 == 0 ? -largest : largest)
                                      : unit * std::max(-bounds.lower(), bounds.upper());
        }
        SCOPED_TRACE(std::to_string(shape.groups) + " groups on [" + to_string(bounds.lower()) + ", " +
                     to_string(bounds.upper()) + "], " + std::to_string(fine) + " % fine");
        check_splits<ExactSums>(bounds, rows, some_groups(random, shape), shape.groups, random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ExactSums, CarryAndTwoTo63RowsDoNotWrap) {
  for (const double row : {-1.0, 1.0, 1.0 - 0x1p-53, -0x1p-95}) {
    const std::vector<double> rows(1 << 13, row);  // twice as many as carry once
    ExactSums sums(ClampBounds(-1, 1), 2);
    sums.add_to(1, rows);
    for (int i = 13; i < 63; ++i) {
      ASSERT_EQ(sums.total(1), scale_by_power_of_two(Dyadic(row), i));
      sums.merge(ExactSums(sums));
    }
    EXPECT_EQ(sums.rows(1), std::uint64_t{1} << 63);
    EXPECT_EQ(sums.total(1), scale_by_power_of_two(Dyadic(row), 63));
    EXPECT_EQ(sums.total(0), Dyadic(0));
  }
}

TEST(ExactSums, ANanCountsAsTheLowerBound) {
  const std::vector<double> rows{std::numeric_limits<double>::quiet_NaN(), 2,
                                 -std::numeric_limits<double>::infinity()};
  const Groups group{1, 1, 0};
  ExactSums sums(ClampBounds(-3, 5), 2);
  sums.add(rows, group.data());
  EXPECT_EQ(sums.total(0), Dyadic(-3));
  EXPECT_EQ(sums.total(1), Dyadic(-1));
}

#if defined(__SSE2__)
TEST(ExactSums, TheCallersFloatingPointModeNeitherMattersNorChanges) {
  const std::vector<double> rows{0.1, 3e-320, -0.3, 1e-300, 5};
  const Groups group(rows.size(), 0);
  ExactSum alone(-1, 1);
  alone.add(rows);
  const unsigned before = _mm_getcsr();
  ExactSums sums(ClampBounds(-1, 1), 1);
  _mm_setcsr(0xffc0);  // rounds toward zero, flushes subnormals and takes them for zeros
  sums.add(rows, group.data());
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after & ~0x3fU, 0xffc0U);
  EXPECT_EQ(sums.total(0), alone.total());
}
#endif

template <typename Act>
ErrorCode code_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::io;  // nothing was thrown
}

TEST(GroupSums, RefuseOtherSumsAndImpossibleTotals) {
  IntegerSums sums(IntegerBounds(-2, 5), 3);
  EXPECT_EQ(code_of([&] { sums.merge(IntegerSums(IntegerBounds(-2, 6), 3)); }), ErrorCode::mismatch);
  EXPECT_EQ(code_of([&] { sums.merge(IntegerSums(IntegerBounds(-2, 5), 4)); }), ErrorCode::mismatch);
  const std::uint64_t too_many = (std::uint64_t{1} << 63) + 1;
  struct Total {
    std::uint64_t rows;
    Dyadic sum;
  };
  const std::vector<Total> impossible{
      {2, Dyadic(11)}, {2, Dyadic(-5)}, {0, Dyadic(1)}, {3, Dyadic(1, -1)}, {too_many, Dyadic(0)}};
  for (const Total& total : impossible) {
    EXPECT_EQ(code_of([&] { sums.add_total(0, total.rows, total.sum); }), ErrorCode::invalid_argument)
        << to_string(total.sum);
  }
  EXPECT_EQ(sums.rows(0), 0U);
  EXPECT_EQ(sums.total(0), Dyadic(0));

  ExactSums reals(ClampBounds(-2, 5), 3);
  EXPECT_EQ(code_of([&] { reals.merge(ExactSums(ClampBounds(-2, 6), 3)); }), ErrorCode::mismatch);
  EXPECT_EQ(code_of([&] { reals.merge(ExactSums(ClampBounds(-2, 5), 2)); }), ErrorCode::mismatch);
  EXPECT_EQ(code_of([&] { reals.add_total(0, 1, Dyadic(1, -2149)); }), ErrorCode::invalid_argument);
  EXPECT_EQ(reals.rows(0), 0U);
}

}  // namespace
}  // namespace snapdp
