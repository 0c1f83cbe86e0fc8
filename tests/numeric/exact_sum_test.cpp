#include "snapdp/numeric/exact_sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "numeric/shared/group_sums.h"
#include "numeric/sum_kernels.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

using Rows = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double least = std::numeric_limits<double>::denorm_min();

static_assert(alignof(ExactSum) == 8 && alignof(ExactMoments) == 8 && alignof(ExactProducts) == 8);
static_assert(sizeof(ExactSum) <= 128 && sizeof(ExactMoments) <= 256 && sizeof(ExactProducts) <= 320);

std::vector<InstructionSet> all_kernels() {
  std::vector<InstructionSet> sets;
  for (const auto set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (is_supported(set)) sets.push_back(set);
  }
  return sets;
}

// The oracle: one GMP addition a row, of integers that count 2^-2148.
class Oracle {
 public:
  void add(const Dyadic& value) {
    sum_ += value.mantissa() << static_cast<mp_bitcnt_t>(value.exponent() + 2148);
  }
  Dyadic total() const { return {sum_, -2148}; }

 private:
  Integer sum_;
};

double clamped(double row, double lower, double upper) {
  return std::min(std::max(row, lower), upper);
}

struct Expected {
  Dyadic sum_x, sum_y, sum_xx, sum_xy;
};

Expected expected(const Rows& x, const Rows& y, double lower, double upper, double lower_y, double upper_y) {
  Oracle sum_x, sum_y, sum_xx, sum_xy;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Dyadic a(clamped(x[i], lower, upper));
    const Dyadic b(clamped(y[i], lower_y, upper_y));
    sum_x.add(a);
    sum_y.add(b);
    sum_xx.add(a * a);
    sum_xy.add(a * b);
  }
  return {sum_x.total(), sum_y.total(), sum_xx.total(), sum_xy.total()};
}

// All classes, on all kernels, against the oracle.
void check(const Rows& x, const Rows& y, double lower, double upper, double lower_y, double upper_y,
           const std::string& what) {
  const Expected right = expected(x, y, lower, upper, lower_y, upper_y);
  ExactSums parts(ClampBounds(lower, upper), 3);
  std::vector<std::uint32_t> part_of_row;
  for (std::size_t i = 0; i < x.size(); ++i) part_of_row.push_back(static_cast<std::uint32_t>(i * i % 3));
  parts.add(x, part_of_row.data());
  Dyadic sum_of_parts;
  for (std::uint32_t part = 0; part < 3; ++part) {
    Rows rows;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (part_of_row[i] == part) rows.push_back(x[i]);
    }
    ExactSum alone(lower, upper);
    alone.add(rows);
    ASSERT_EQ(parts.rows(part), rows.size()) << what;
    ASSERT_EQ(parts.total(part), alone.total()) << what;
    sum_of_parts += parts.total(part);
  }
  ASSERT_EQ(sum_of_parts, right.sum_x) << what;
  for (const InstructionSet kernel : all_kernels()) {
    SCOPED_TRACE(what + ", " + std::to_string(x.size()) + " rows on [" + to_hex(lower) + ", " +
                 to_hex(upper) + "], " + std::string(to_string(kernel)));
    ExactSum sum(lower, upper);
    sum.add(x, kernel);
    ASSERT_EQ(sum.total(), right.sum_x);
    ExactMoments moments(lower, upper);
    moments.add(x, kernel);
    ASSERT_EQ(moments.sum(), right.sum_x);
    ASSERT_EQ(moments.sum_of_squares(), right.sum_xx);
    ExactProducts products(lower, upper, lower_y, upper_y);
    products.add(x, y, kernel);
    ASSERT_EQ(products.sum_x(), right.sum_x);
    ASSERT_EQ(products.sum_y(), right.sum_y);
    ASSERT_EQ(products.sum_xy(), right.sum_xy);
  }
}

void check(const Rows& x, double lower, double upper, const std::string& what) {
  Rows y = x;
  std::reverse(y.begin(), y.end());
  check(x, y, lower, upper, lower, upper, what);
}

template <typename Generate>
Rows rows_of(std::size_t size, Generate generate) {
  Rows rows(size);
  for (double& row : rows) row = generate();
  return rows;
}

double any_finite(std::mt19937_64& random) {
  for (;;) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) return value;
  }
}

struct Kind {
  std::string name;
  Rows rows;
};

std::vector<Kind> kinds(std::size_t size) {
  std::mt19937_64 random(20240501);
  std::uniform_real_distribution<double> unit(0, 1);
  std::lognormal_distribution<double> log_normal(0, 3);
  std::vector<Kind> result;
  const auto make = [&](const char* name, auto generate) {
    result.push_back({name, rows_of(size, generate)});
  };
  make("uniform", [&] { return 100 * unit(random); });
  make("signed", [&] { return 200 * unit(random) - 100; });
  make("cents", [&] { return std::floor(1e7 * unit(random)) / 100; });
  make("log-normal", [&] { return log_normal(random); });
  make("integers", [&] { return std::floor(1e6 * unit(random)) - 5e5; });
  make("exponents near 1",
       [&] { return std::ldexp(unit(random) - 0.5, static_cast<int>(random() % 60) - 50); });
  make("all exponents", [&] { return any_finite(random); });
  make("subnormals",
       [&] { return std::copysign(least * static_cast<double>(random() >> 12), unit(random) - .5); });
  make("zeros", [&] { return random() % 2 == 0 ? 0.0 : -0.0; });
  make("infinities", [&] {
    return random() % 3 == 0 ? infinity : random() % 2 == 0 ? -infinity : unit(random);
  });
  make("one tiny value in a thousand", [&] { return random() % 1000 == 0 ? 1e-40 : unit(random); });
  make("floats", [&] { return static_cast<double>(static_cast<float>(1e38 * (2 * unit(random) - 1))); });
  make("2^53 and 1 in turns", [&, i = 0]() mutable { return ++i % 2 == 0 ? 0x1p53 : 1.0; });
  return result;
}

TEST(ExactSum, EveryKindOfRowsEqualsThePlainGmpSum) {
  const std::pair<double, double> bounds[] = {{0, 100},
                                              {-100, 100},
                                              {0, 1},
                                              {-1e6, 1e6},
                                              {0, 0x1p53},
                                              {-1e39, 1e39},
                                              {1, 1},
                                              {0, 0},
                                              {-5, -3},
                                              {0, 1e-300},
                                              {-least, 100 * least},
                                              {-largest, largest},
                                              {0x1p-1022, 1e9},
                                              {0.1, 0x1p512},
                                              {-0x1p510, 0x1p510}};
  for (const std::size_t size : std::vector<std::size_t>{0, 1, 15, 16, 37, 2048, 2085}) {
    for (const Kind& kind : kinds(size)) {
      for (const auto& [lower, upper] : bounds) {
        if (size > 1000 && kind.name == "zeros") continue;
        check(kind.rows, lower, upper, kind.name);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ExactSum, EveryPairOfExtremeValues) {
  Rows values;
  for (const double x : {0.0,
                         least,
                         0x1p-1022 - least,
                         0x1p-1022,
                         0x1p-600,
                         0x1p-537,
                         0x1p-503,
                         0x1p-504,
                         0x1p-53,
                         1 - 0x1p-53,
                         1.0,
                         1 + 0x1p-52,
                         0x1.fffffffffffffp25,
                         0x1.5555555555555p0,
                         0x1p53,
                         0x1p510,
                         0x1.fffffffffffffp509,
                         0x1p1021,
                         largest,
                         infinity}) {
    values.push_back(x);
    values.push_back(-x);
  }
  const std::pair<double, double> bounds[] = {
      {-largest, largest}, {-0x1p1021, 0x1p1021}, {-0x1p510, 0x1p510},
      {-0x1p511, 0x1p511}, {-0x1p1022, 0x1p1022}, {-1, 1},
      {-0x1p26, 0x1p26},   {0, 0x1p-400},         {-0x1p-1022, least}};
  for (const double x : values) {
    for (const double y : values) {
      if (x < y) continue;
      Rows rows(17, x);  // 16 rows are the AVX-512 step
      rows[3] = rows[16] = y;
      for (const auto& [lower, upper] : bounds) check(rows, lower, upper, to_hex(x) + " and " + to_hex(y));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ExactSum, RandomBitPatternsAndBounds) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 1500; ++round) {
    const auto near = [&](int center, int spread) {  // a random number with an exponent near `center`
      const int exponent =
          std::clamp(center - static_cast<int>(random() % static_cast<unsigned>(spread)), -1074, 1023);
      return std::ldexp(
          std::bit_cast<double>((random() >> 12) | 0x3ff0000000000000) * (random() % 2 == 0 ? 1 : -1),
          exponent);
    };
    const int center = static_cast<int>(random() % 2090) - 1070;
    const int center_y = static_cast<int>(random() % 2090) - 1070;
    const int spread = 1 << (random() % 8);
    double lower = clamped(near(center, 4), -largest, largest);
    double upper = clamped(near(center, 4), -largest, largest);
    double lower_y = clamped(near(center_y, 4), -largest, largest);
    double upper_y = clamped(near(center_y, 4), -largest, largest);
    if (lower > upper) std::swap(lower, upper);
    if (lower_y > upper_y) std::swap(lower_y, upper_y);
    const std::size_t size = random() % 100;
    const Rows x = rows_of(size, [&] { return near(center, spread); });
    const Rows y = rows_of(size, [&] { return near(center_y, spread); });
    check(x, y, lower, upper, lower_y, upper_y, "round " + std::to_string(round));
    if (HasFatalFailure()) return;
  }
}

// The grids' edges: values that need exactly the last unit, one bit less and one bit more.
TEST(ExactSum, ValuesAroundTheLastUnitOfTheGrids) {
  for (const int k : {-3, 0, 1, 100}) {
    const double upper = std::ldexp(1.0, k);
    for (int below = 40; below <= 110; ++below) {
      const double tiny = std::ldexp(1.0, k - below);
      Rows rows(40, std::nextafter(upper, 0));
      for (std::size_t i = 0; i < rows.size(); i += 3) rows[i] = tiny;
      for (std::size_t i = 1; i < rows.size(); i += 3) rows[i] = -3 * tiny;
      rows[5] = std::ldexp(0x1.fffffffffffffp0, k - below);
      check(rows, -upper, upper, "2^-" + std::to_string(below));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(SumKernels, TakeTheFastPathWhereTheyShouldAndStopBeforeAnInexactBlock) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  Rows rows = rows_of(10000, [&] { return 100 * unit(random); });
  rows[17] = -0.0;
  rows[18] = -infinity;
  const ClampBounds bounds(-1, 100);
  const ClampGrid grid(bounds, least_sum_exponent);
  const ClampGrid product_grid(bounds, least_product_exponent);
  const ProductGrid squares(2 * bounds.exponent());
  for (const std::size_t bad : {std::size_t{10000}, std::size_t{0}, std::size_t{5000}, std::size_t{9999}}) {
    Rows with_bad = rows;
    if (bad < rows.size()) with_bad[bad] = 0x1p-200;
    for (const InstructionSet kernel : all_kernels()) {
      SCOPED_TRACE(to_string(kernel));
      const SumKernels& kernels = sum_kernels(kernel);
      const auto stop = [&](std::size_t block) { return bad == rows.size() ? bad : bad / block * block; };
      Int128 units[2], square_units[4], y_units[2];
      ASSERT_EQ(kernels.moments(with_bad.data(), with_bad.size(), product_grid, squares, units, square_units),
                stop(product_block));
      ASSERT_EQ(kernels.products(rows.data(), with_bad.data(), rows.size(), product_grid, product_grid,
                                 squares, units, y_units, square_units),
                stop(product_block));
      Int128 sum_units[2];
      const std::size_t done = kernels.sum(with_bad.data(), with_bad.size(), grid, sum_units);
      ASSERT_EQ(done, stop(sum_block));
      const Dyadic sum = Dyadic(to_integer(sum_units[0]), sum_unit(bounds.exponent(), 0)) +
                         Dyadic(to_integer(sum_units[1]), sum_unit(bounds.exponent(), 1));
      const Rows added(with_bad.begin(), with_bad.begin() + static_cast<std::ptrdiff_t>(done));
      ASSERT_EQ(sum, expected(added, added, -1, 100, -1, 100).sum_x);
    }
  }
}

TEST(ExactSum, OrderSplitsAndMergesDoNotMatter) {
  std::mt19937_64 random(11);
  for (Kind& kind : kinds(6000)) {
    SCOPED_TRACE(kind.name);
    ExactSum whole(-1e9, 1e9);
    ExactMoments whole_moments(-1e9, 1e9);
    whole.add(kind.rows);
    whole_moments.add(kind.rows);
    for (int round = 0; round < 5; ++round) {
      std::shuffle(kind.rows.begin(), kind.rows.end(), random);
      std::vector<ExactSum> sums(1, ExactSum(-1e9, 1e9));
      std::vector<ExactMoments> moments(1, ExactMoments(-1e9, 1e9));
      std::span<const double> rest = kind.rows;
      while (!rest.empty()) {
        const std::size_t size = std::min<std::size_t>(rest.size(), random() % 3000);
        const auto kernels = all_kernels();
        const InstructionSet kernel = kernels[random() % kernels.size()];
        sums.emplace_back(-1e9, 1e9).add(rest.first(size), kernel);
        moments.emplace_back(-1e9, 1e9).add(rest.first(size), kernel);
        rest = rest.subspan(size);
      }
      while (sums.size() > 1) {
        const std::size_t into = random() % (sums.size() - 1);
        sums[into].merge(sums.back());
        moments[into].merge(moments.back());
        sums.pop_back();
        moments.pop_back();
      }
      EXPECT_EQ(sums.front(), whole);
      EXPECT_EQ(moments.front(), whole_moments);
    }
  }
}

// Floating-point sums give 2^53 or 2^53 + 1000 here, by the order.
TEST(ExactSum, TwoTo53AndAThousandOnesInAnyOrderOverAnyThreads) {
  Rows rows(1001, 1.0);
  rows.front() = 0x1p53;
  for (const bool last : {false, true}) {
    if (last) std::reverse(rows.begin(), rows.end());
    for (std::size_t threads = 1; threads <= 7; ++threads) {
      std::vector<ExactSum> parts(threads, ExactSum(0, 0x1p53));
      std::vector<std::thread> workers;
      const std::size_t share = rows.size() / threads + 1;
      for (std::size_t i = 0; i < threads; ++i) {
        workers.emplace_back([&, i] {
          const std::size_t first = std::min(rows.size(), i * share);
          parts[i].add(std::span(rows).subspan(first, std::min(share, rows.size() - first)));
        });
      }
      for (std::thread& worker : workers) worker.join();
      for (std::size_t i = 1; i < threads; ++i) parts[0].merge(parts[i]);
      EXPECT_EQ(parts[0].total(), Dyadic(std::int64_t{(1LL << 53) + 1000}));
    }
  }
}

TEST(ExactSum, LargeFloatsCancelExactly) {
  const auto big = static_cast<double>(1e38F);
  Rows rows(4, big);
  rows.insert(rows.end(), 7, -big);
  const double bound = std::numeric_limits<float>::max();
  ExactSum sum(-bound, bound);
  sum.add(rows);
  EXPECT_EQ(sum.total(), Dyadic(-3) * Dyadic(big));
  check(rows, -bound, bound, "1e38 and -1e38");
}

TEST(ExactMoments, VarianceFarFromZeroMovesByNoMoreThanItsSensitivity) {
  const double m = 0x1p50;
  const auto variance = [&](const Rows& rows) {
    ExactMoments moments(m, m + 1);
    moments.add(rows);
    const Rational n(static_cast<unsigned long>(rows.size()));
    const Rational sum = moments.sum().rational();
    return Rational((moments.sum_of_squares().rational() - sum * sum / n) / (n - 1));
  };
  Rows rows(1024, m + 0.25);
  EXPECT_EQ(variance(rows), 0);
  rows[77] = m + 0.5;
  EXPECT_EQ(variance(rows), Rational(1, 16) / 1024);  // d^2 / n for one row off by d
  rows[77] = m + 1;
  EXPECT_LE(variance(rows), Rational(1, 1024));
}

// As many rows as there may be, by merging a sum with itself.
TEST(ExactSum, TwoTo63RowsDoNotOverflow) {
  const Dyadic rows_in_total(Integer(1), 63);
  for (const double bound :
       {5.0, 0x1.fffffffffffffp99, 0x1.fffffffffffffp1020, largest, least, 0x1.5p-1000}) {
    for (const double row : {bound, -bound, 0x1.0000000000001p-60 * bound}) {
      SCOPED_TRACE(to_hex(row) + " on +-" + to_hex(bound));
      for (const InstructionSet kernel : all_kernels()) {
        const Rows rows(1 << 13, row);
        ExactSum sum(-bound, bound);
        sum.add(rows, kernel);
        ExactMoments moments(-bound, bound);
        moments.add(rows, kernel);
        ExactProducts products(-bound, bound, -largest, bound);
        products.add(rows, Rows(1 << 13, -largest), kernel);
        for (int i = 13; i < 63; ++i) {
          sum.merge(sum);
          moments.merge(moments);
          products.merge(products);
        }
        EXPECT_EQ(sum.total(), Dyadic(row) * rows_in_total);
        EXPECT_EQ(moments.sum(), Dyadic(row) * rows_in_total);
        EXPECT_EQ(moments.sum_of_squares(), Dyadic(row) * Dyadic(row) * rows_in_total);
        EXPECT_EQ(products.sum_xy(), Dyadic(row) * Dyadic(-largest) * rows_in_total);
      }
    }
  }
}

TEST(ExactSum, SixHundredMillionFives) {
  const Rows block(1'000'000, 5.0);
  ExactSum million(0, 10);
  million.add(block);
  ExactSum sum(0, 10);
  for (int i = 0; i < 600; ++i) sum.merge(million);
  EXPECT_EQ(sum.total(), Dyadic(std::int64_t{3'000'000'000}));
}

TEST(ExactSum, ANanCountsAsTheLowerBoundOnEveryKernel) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const InstructionSet kernel : all_kernels()) {
    Rows rows(4100, 2.0);
    rows[0] = rows[2048] = rows[4099] = nan;
    rows[1] = -nan;
    ExactSum sum(-3, 7);
    sum.add(rows, kernel);
    EXPECT_EQ(sum.total(), Dyadic(2 * 4096 - 3 * 4));
    ExactMoments moments(-3, largest);  // the full-range path
    moments.add(rows, kernel);
    EXPECT_EQ(moments.sum_of_squares(), Dyadic(4 * 4096 + 9 * 4));
  }
}

TEST(ExactSum, RestoredTotalsContinueTheSum) {
  for (const Kind& kind : kinds(3000)) {
    SCOPED_TRACE(kind.name);
    ExactSum sum(-largest, 1e9);
    sum.add(kind.rows);
    ExactSum restored(-largest, 1e9);
    restored.add_total(sum.total());
    EXPECT_EQ(restored, sum);
    restored.add(kind.rows);
    sum.merge(sum);
    EXPECT_EQ(restored, sum);

    ExactProducts products(-1, 1, -largest, largest);
    products.add(kind.rows, kind.rows);
    ExactProducts restored_products(-1, 1, -largest, largest);
    restored_products.add_totals(products.sum_x(), products.sum_y(), products.sum_xy());
    EXPECT_EQ(restored_products, products);

    ExactMoments moments(-1, 1);
    moments.add(kind.rows);
    ExactMoments restored_moments(-1, 1);
    restored_moments.add_totals(moments.sum(), moments.sum_of_squares());
    EXPECT_EQ(restored_moments, moments);
  }
}

TEST(ExactSum, TotalsThatNoRowsCanGiveAreRefused) {
  ExactSum sum(0, 1);
  for (const Dyadic& bad :
       {Dyadic(Integer(1), -2149), Dyadic(Integer(-1), 2141), Dyadic(Integer(1), 2000000000),
        Dyadic(Integer(1), -2000000000), Dyadic((Integer(1) << 4300) + 1, -2148)}) {
    try {
      sum.add_total(bad);
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.parameter(), "sum");
    }
  }
  EXPECT_EQ(sum.total(), Dyadic(0));
  ExactMoments moments(0, 1);
  EXPECT_THROW(moments.add_totals(1, Dyadic(Integer(1), -2149)), Error);
  EXPECT_EQ(moments.sum(), Dyadic(0));  // all or nothing
  ExactProducts products(0, 1, 0, 1);
  EXPECT_THROW(products.add_totals(1, 1, Dyadic(Integer(1), -2149)), Error);
  EXPECT_EQ(products.sum_x(), Dyadic(0));
}

TEST(ExactSum, RefusesOtherBoundsAndUnequalColumns) {
  const auto mismatch = [](auto&& action) {
    try {
      action();
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::mismatch);
    }
  };
  mismatch([] { ExactSum(0, 1).merge(ExactSum(0, 2)); });
  mismatch([] { ExactMoments(0, 1).merge(ExactMoments(-1, 1)); });
  mismatch([] { ExactProducts(0, 1, 0, 1).merge(ExactProducts(0, 1, 0, 2)); });
  mismatch([] { ExactProducts(0, 1, 0, 1).merge(ExactProducts(0, 2, 0, 1)); });
  mismatch([] {
    const Rows x(3), y(4);
    ExactProducts(0, 1, 0, 1).add(x, y);
  });
  EXPECT_FALSE(ExactSum(0, 1) == ExactSum(0, 2));
  EXPECT_EQ(ExactSum(-0.0, 1), ExactSum(0, 1));
}

TEST(ExactSum, BadBoundsAreErrorsThatNameTheBound) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto parameter = [](double lower, double upper) {
    try {
      ExactSum(lower, upper).total();
    } catch (const Error& error) {
      return error.parameter();
    }
    return std::string();
  };
  EXPECT_EQ(parameter(1, 0), "lower");
  EXPECT_EQ(parameter(nan, 0), "lower");
  EXPECT_EQ(parameter(0, nan), "upper");
  EXPECT_EQ(parameter(-infinity, 0), "lower");
  EXPECT_EQ(parameter(0, infinity), "upper");
  EXPECT_EQ(parameter(1, 1), "");
}

TEST(ExactSum, CopiesAndMovesAreIndependent) {
  ExactSum sum(-largest, largest);
  sum.add(Rows{1e300, 1e-300});
  ExactSum copy = sum;
  copy.add(Rows{1.0});
  EXPECT_EQ(sum.total(), Dyadic(1e300) + Dyadic(1e-300));
  EXPECT_EQ(copy.total(), sum.total() + Dyadic(1));
  const ExactSum moved = std::move(copy);
  EXPECT_EQ(moved.total(), sum.total() + Dyadic(1));
}

#if defined(__SSE2__)
TEST(ExactSum, TheCallersFloatingPointModeNeitherMattersNorChanges) {
  const Rows rows = kinds(5000)[5].rows;
  const Expected right = expected(rows, rows, -1, 1, -1, 1);
  const Rows tiny(100, least);
  const unsigned before = _mm_getcsr();
  for (const unsigned mode : {0x3f80U, 0x5f80U, 0x7f80U, 0x9fc0U, 0xffc0U, 0x1fa0U}) {
    for (const InstructionSet kernel : all_kernels()) {
      ExactSum sum(-1, 1), tiny_sum(0, 3 * least);
      ExactMoments moments(-1, 1);
      ExactProducts products(-1, 1, -1, 1);
      _mm_setcsr(mode);
      sum.add(rows, kernel);
      tiny_sum.add(tiny, kernel);
      moments.add(rows, kernel);
      products.add(rows, rows, kernel);
      const unsigned after = _mm_getcsr();
      _mm_setcsr(before);
      EXPECT_EQ(after & ~0x3fU, mode & ~0x3fU);
      EXPECT_EQ(after & mode & 0x3fU, mode & 0x3fU) << "flags that were set stay set";
      EXPECT_EQ(sum.total(), right.sum_x);
      EXPECT_EQ(tiny_sum.total(), Dyadic(100) * Dyadic(least));
      EXPECT_EQ(moments.sum_of_squares(), right.sum_xx);
      EXPECT_EQ(products.sum_xy(), right.sum_xy);
    }
  }
}

// The AVX-512 kernel reads and clears the inexact flag.
TEST(ExactSum, AnInexactFlagOfTheCallerStaysSet) {
  const Rows rows(5000, 1.0);
  for (const InstructionSet kernel : all_kernels()) {
    ExactSum sum(0, 1);
    const unsigned before = _mm_getcsr();
    _mm_setcsr(0x1fa0);
    sum.add(rows, kernel);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after & 0x20U, 0x20U) << to_string(kernel);
    EXPECT_EQ(sum.total(), Dyadic(5000));
  }
}
#endif

TEST(WideSum, CarriesAcrossAllDigitsAndSigns) {
  std::mt19937_64 random(5);
  WideSum a, b;
  Oracle right;
  for (int i = 0; i < 20000; ++i) {
    const double x = any_finite(random);
    const double y = any_finite(random);
    WideSum& sum = random() % 2 == 0 ? a : b;
    sum.add(x);
    right.add(Dyadic(x));
    sum.add_product(x, y);
    right.add(Dyadic(x) * Dyadic(y));
    if (i % 1000 == 0) {
      const Dyadic total(Integer(static_cast<unsigned long>(random())),
                         static_cast<long>(random() % 4000) - 2148);
      sum.add(total, "total");
      right.add(total);
    }
  }
  a.merge(b);
  EXPECT_EQ(a.total(), right.total());
  WideSum negative;
  negative.add(-a.total(), "total");
  a.merge(negative);
  EXPECT_EQ(a.total(), Dyadic(0));
}

// More pending additions than fit without a carry: merging doubles them each time.
TEST(WideSum, CarriesBeforeDigitsOverflow) {
  for (const double value : {largest, -largest, -least, 0x1.fffffffffffffp0}) {
    WideSum sum;
    sum.add(value);
    for (int i = 0; i < 45; ++i) {
      sum.merge(sum);
      sum.add_product(value, value);
      sum.add_product(-value, value);
    }
    EXPECT_EQ(sum.total(), scale_by_power_of_two(Dyadic(value), 45));
  }
}

TEST(InstructionSet, NamesAndRefusal) {
  EXPECT_EQ(to_string(InstructionSet::portable), "portable");
  EXPECT_EQ(to_string(InstructionSet::avx2), "avx2");
  EXPECT_EQ(to_string(InstructionSet::avx512), "avx512");
  EXPECT_TRUE(is_supported(InstructionSet::portable));
  EXPECT_TRUE(is_supported(best_instruction_set()));
  if (!is_supported(InstructionSet::avx512)) {
    EXPECT_THROW(ExactSum(0, 1).add(Rows{1}, InstructionSet::avx512), Error);
  }
}

}  // namespace
}  // namespace snapdp
