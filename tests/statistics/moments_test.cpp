#include "snapdp/statistics/moments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "rows.h"
#include "snapdp/error.h"

namespace snapdp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

AtomDomain column(const Bounds& bounds, AtomType type = AtomType::real) {
  return {type, false, false, bounds};
}

VectorDomain bounded(const Bounds& bounds, std::optional<std::uint64_t> size = std::nullopt) {
  const VectorDomain domain({column(bounds)});
  return size ? domain.of_size(*size) : domain;
}

std::vector<double> clamped(std::vector<double> rows, const Bounds& bounds) {
  for (double& x : rows) {
    if (std::isnan(x)) x = 0;
    x = std::clamp(x, bounds.lower().to_double_nearest(), bounds.upper().to_double_nearest());
  }
  return rows;
}

Rational power(const Rational& base, int k) {
  Rational result = 1;
  for (int i = 0; i < k; ++i) result *= base;
  return result;
}

Rational center(const Bounds& bounds) {
  return (bounds.lower().rational() + bounds.upper().rational()) / 2;
}

// The slow obvious statistic: sum of (x - c)^k.
Rational power_sum(const std::vector<double>& rows, const Rational& c, int k) {
  Rational sum = 0;
  for (const double x : rows) sum += power(Rational(x) - c, k);
  return sum;
}

Rational product_sum(const std::vector<double>& x, const std::vector<double>& y, const Rational& c,
                     const Rational& d) {
  Rational sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (Rational(x[i]) - c) * (Rational(y[i]) - d);
  return sum;
}

Rational size_of(const std::vector<double>& rows) {
  return Rational(static_cast<double>(rows.size()));
}

Rational exact_covariance(const std::vector<double>& x, const std::vector<double>& y) {
  const Rational n = size_of(x);
  return product_sum(x, y, Rational(power_sum(x, 0, 1) / n), Rational(power_sum(y, 0, 1) / n)) / (n - 1);
}

const std::vector<Bounds> all_bounds{Bounds(0, 1),
                                     Bounds(Dyadic(-0.1), Dyadic(0.3)),
                                     Bounds(Dyadic(-0x1p53), Dyadic(0x1p53)),
                                     Bounds(Dyadic(1e-70), Dyadic(3e-70)),
                                     Bounds(Dyadic(-1e70), Dyadic(1e70)),
                                     Bounds(-7, -2),
                                     Bounds(Dyadic(0x1p50), Dyadic(0x1p50 + 1))};

TEST(Moments, AreTheRationalOnesRoundedOnceToTheirGrid) {
  std::mt19937_64 engine(21);
  for (int round = 0; round < 150; ++round) {
    const Bounds& bounds = all_bounds[engine() % all_bounds.size()];
    const Bounds& other = all_bounds[engine() % all_bounds.size()];
    const std::size_t n = 1 + engine() % 30;
    const std::vector<double> x = clamped(adversarial_reals(engine, n), bounds);
    const std::vector<double> y = clamped(adversarial_reals(engine, n), other);
    const auto check = [](const Aggregation& aggregation, const Chunk& rows, const Rational& expected) {
      const Grid grid = aggregation.output_domain().grid;
      ASSERT_EQ(aggregation(rows).at(0), grid.round(expected)) << aggregation.description();
      ASSERT_LE(grid.spacing().rational() * (Integer(1) << 40), aggregation.sensitivity());
    };
    for (int k = 1; k <= 4; ++k) {
      check(make_centered_moment(bounded(bounds), symmetric_distance(), k), x,
            power_sum(x, center(bounds), k));
      check(make_moment(bounded(bounds, n), change_one(), k), x, power_sum(x, 0, k) / size_of(x));
    }
    const std::vector<Column> columns{{AtomType::real, x.data()}, {AtomType::real, y.data()}};
    check(make_centered_product(VectorDomain({column(bounds), column(other)}), symmetric_distance()),
          Chunk(columns, n), product_sum(x, y, center(bounds), center(other)));
  }
}

TEST(Moments, OfIntegersNeverWrapNorPassThroughADouble) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const VectorDomain domain({column(Bounds(Dyadic{least}, Dyadic{most}), AtomType::integer)});
  const std::vector<std::int64_t> rows{most, least, most - 1, 9007199254740993, -1, 0};
  const std::vector<std::int64_t> y{1, most, least, least, 3, most};
  for (int k = 2; k <= 4; ++k) {
    Rational moment = 0;
    Rational from_middle = 0;
    for (const std::int64_t x : rows) {
      moment += power(Rational(Integer(x)), k);
      from_middle += power(Rational(Integer(x)) + Rational(1, 2), k);
    }
    const Aggregation mean = make_moment(domain.of_size(rows.size()), hamming(), k);
    EXPECT_EQ(mean(rows).at(0), mean.output_domain().grid.round(Rational(moment / 6)));
    const Aggregation sum = make_centered_moment(domain, symmetric_distance(), k);
    EXPECT_EQ(sum(rows).at(0), sum.output_domain().grid.round(from_middle));
  }
  Rational products = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    products += (Rational(Integer(rows[i])) + Rational(1, 2)) * (Rational(Integer(y[i])) + Rational(1, 2));
  const AtomDomain integers = domain.columns().front();
  const Aggregation product = make_centered_product(VectorDomain({integers, integers}), symmetric_distance());
  const std::vector<Column> columns{{AtomType::integer, rows.data()}, {AtomType::integer, y.data()}};
  EXPECT_EQ(product(Chunk(columns, rows.size())).at(0), product.output_domain().grid.round(products));
}

TEST(Moments, SensitivitiesAndRangesOfTheTable) {
  EXPECT_EQ(make_centered_moment(bounded(Bounds(-2, 6)), symmetric_distance(), 1).sensitivity(), 4);
  EXPECT_EQ(make_centered_moment(bounded(Bounds(-2, 6)), symmetric_distance(), 2).sensitivity(), 16);
  EXPECT_EQ(make_centered_moment(bounded(Bounds(-2, 6)), symmetric_distance(), 3).sensitivity(), 64);
  EXPECT_EQ(make_centered_moment(bounded(Bounds(-2, 6)), symmetric_distance(), 4).sensitivity(3), 768);
  EXPECT_FALSE(make_centered_moment(bounded(Bounds(-2, 6)), symmetric_distance(), 4).output_domain().range);
  EXPECT_EQ(
      make_centered_product(VectorDomain({column(Bounds(-2, 6)), column(Bounds(0, 1))}), symmetric_distance())
          .sensitivity(),
      2);
  EXPECT_EQ(make_moment(bounded(Bounds(-2, 6), 4), change_one(), 2).sensitivity(), 9);
  EXPECT_EQ(make_moment(bounded(Bounds(-2, 6), 4), change_one(), 2).output_domain().range, Bounds(0, 36));
  EXPECT_EQ(make_moment(bounded(Bounds(-2, 6), 4), change_one(), 3).sensitivity(), 56);
  EXPECT_EQ(make_moment(bounded(Bounds(-2, 6), 4), change_one(), 3).output_domain().range, Bounds(-8, 216));
  EXPECT_EQ(make_moment(bounded(Bounds(-3, -1), 4), hamming(), 4).sensitivity(), 20);
  EXPECT_EQ(make_moment(bounded(Bounds(-3, -1), 4), hamming(), 4).output_domain().range, Bounds(1, 81));
  // A point: the statistic is a public constant, and exact.
  const Aggregation point = make_moment(bounded(Bounds(Dyadic(0.375), Dyadic(0.375)), 2), change_one(), 3);
  EXPECT_EQ(point.sensitivity(), 0);
  EXPECT_EQ(point(std::vector<double>{0.375, 0.375}).at(0), Dyadic(0.375 * 0.375 * 0.375));
}

// Every dataset of up to three rows over values with ties to the grid, and every neighbor of each.
TEST(Moments, EveryPairOfNeighborsIsAsCloseAsClaimed) {
  Rational closest_sum = 0;
  Rational closest_product = 0;
  Rational closest_mean = 0;
  for (const Bounds& bounds : {Bounds(-2, 1), Bounds(0, 3), Bounds(Dyadic(-0.1), Dyadic(0.3))}) {
    const double a = bounds.lower().to_double_nearest();
    const double b = bounds.upper().to_double_nearest();
    const std::vector<double> alphabet =
        clamped({a, b, 0, a + (b - a) / 3, a + (b - a) / 2, 0x1p-41}, bounds);
    const Bounds other(-1, 4);
    const std::vector<double> others{-1, 4, 0.3, 1.5, 0, 2};
    const Aggregation product =
        make_centered_product(VectorDomain({column(bounds), column(other)}), symmetric_distance());
    for (std::size_t n = 1; n <= 3; ++n) {
      std::size_t datasets = 1;
      for (std::size_t i = 0; i < n; ++i) datasets *= alphabet.size();
      std::vector<Aggregation> sums;
      std::vector<Aggregation> means;
      for (int k = 1; k <= 4; ++k) {
        sums.push_back(make_centered_moment(bounded(bounds), symmetric_distance(), k));
        means.push_back(make_moment(bounded(bounds, n), k % 2 == 0 ? change_one() : hamming(), k));
      }
      for (std::size_t code = 0; code < datasets; ++code) {
        std::vector<double> rows;
        std::vector<double> y;
        for (std::size_t i = 0, rest = code; i < n; ++i, rest /= alphabet.size()) {
          rows.push_back(alphabet[rest % alphabet.size()]);
          y.push_back(others[(rest + 2 * i) % others.size()]);
        }
        const auto apart = [](const Aggregation& aggregation, const Chunk& left, const Chunk& right) {
          const Rational part =
              abs(aggregation(left).at(0) - aggregation(right).at(0)).rational() / aggregation.sensitivity();
          EXPECT_LE(part, 1) << aggregation.description();
          return part;
        };
        const std::vector<double> fewer(rows.begin() + 1, rows.end());
        for (const Aggregation& sum : sums) closest_sum = std::max(closest_sum, apart(sum, rows, fewer));
        for (const double value : others) {
          y[0] = value;
          const std::vector<Column> both{{AtomType::real, rows.data()}, {AtomType::real, y.data()}};
          const Chunk chunk(both, n);
          closest_product = std::max(closest_product, apart(product, chunk, chunk.slice(1, n - 1)));
        }
        for (const double value : alphabet) {
          std::vector<double> changed = rows;
          changed[0] = value;
          for (const Aggregation& mean : means)
            closest_mean = std::max(closest_mean, apart(mean, rows, changed));
        }
      }
    }
  }
  // The search reaches the claims.
  EXPECT_EQ(closest_sum, 1);
  EXPECT_EQ(closest_product, 1);
  EXPECT_EQ(closest_mean, 1);
}

TEST(Moments, AnySplitOrderAndMergeGivesTheSameBytes) {
  std::mt19937_64 engine(23);
  for (const Bounds& bounds : {Bounds(0, 1), Bounds(Dyadic(-1e100), Dyadic(1e100))}) {
    for (int k = 2; k <= 4; ++k) {
      const Aggregation aggregation = make_centered_moment(bounded(bounds), symmetric_distance(), k);
      // The least subnormal: its fourth power is 2^-4296.
      std::vector<double> rows = clamped(adversarial_reals(engine, 3000), bounds);
      rows.push_back(0x1p-1074);
      AggregateState whole = aggregation.start();
      aggregation.update(whole, rows);
      const std::string expected = aggregation.to_bytes(whole);
      std::shuffle(rows.begin(), rows.end(), engine);
      const std::size_t middle = 1 + engine() % 2900;
      AggregateState left = aggregation.start();
      AggregateState right = aggregation.start();
      aggregation.update(left, Chunk(rows).slice(0, middle));
      aggregation.update(right, Chunk(rows).slice(middle, rows.size() - middle));
      aggregation.merge(right, aggregation.from_bytes(aggregation.to_bytes(left)));
      EXPECT_EQ(aggregation.to_bytes(right), expected) << k;
      EXPECT_EQ(aggregation.finish(right), aggregation(rows));
    }
  }
}

TEST(Moments, RefuseImpossibleTotals) {
  const Aggregation fourth = make_centered_moment(bounded(Bounds(0, 2)), symmetric_distance(), 4);
  const auto restore = [&](std::vector<Dyadic> values) { fourth.fold().restore({2, std::move(values)}); };
  EXPECT_NO_THROW(restore({2, 2, 2, 2}));
  EXPECT_THROW(restore({2, 2, 2}), Error);
  EXPECT_THROW(restore({5, 16, 16, 32}), Error);  // above rows * bounds
  EXPECT_THROW(restore({2, 1, 2, 2}), Error);     // (sum x)^2 > n sum x^2
  EXPECT_THROW(restore({2, 2, 2, 1}), Error);     // (sum x^2)^2 > n sum x^4
  EXPECT_THROW(restore({1, 1, 3, 2}), Error);     // (sum x^3)^2 > sum x^2 sum x^4
  EXPECT_THROW(restore({Dyadic(Integer(1), -1075), 1, 1, 1}), Error);
  const VectorDomain integers({column(Bounds(0, 2), AtomType::integer)});
  EXPECT_THROW(
      make_centered_moment(integers, symmetric_distance(), 3).fold().restore({2, {2, Dyadic(2.5), 4}}),
      Error);
}

TEST(Moments, RefuseWhatHasNoProof) {
  const VectorDomain reals = bounded(Bounds(0, 1), 10);
  const VectorDomain pairs({column(Bounds(0, 1)), column(Bounds(0, 1))});
  EXPECT_THROW(make_centered_moment(reals, symmetric_distance(), 0), Error);
  EXPECT_THROW(make_centered_moment(reals, symmetric_distance(), 5), Error);
  EXPECT_THROW(make_centered_moment(reals, change_one(), 2), Error);
  EXPECT_THROW(make_centered_moment(reals, Metric::absolute_distance, 2), Error);
  EXPECT_THROW(make_centered_moment(pairs, symmetric_distance(), 2), Error);
  EXPECT_THROW(make_centered_moment(vector_domain<double>(), symmetric_distance(), 2), Error);
  EXPECT_THROW(make_centered_moment(untrusted_domain({AtomType::real}), symmetric_distance(), 2), Error);
  EXPECT_THROW(make_centered_product(pairs.of_size(3), hamming()), Error);
  EXPECT_THROW(make_centered_product(bounded(Bounds(0, 1)), symmetric_distance()), Error);
  EXPECT_THROW(make_moment(reals, symmetric_distance(), 2), Error);
  EXPECT_THROW(make_moment(bounded(Bounds(0, 1)), change_one(), 2), Error);
  EXPECT_THROW(make_moment(bounded(Bounds(Dyadic(-1e100), Dyadic(1e100)), 5), change_one(), 4), Error);
}

TEST(MomentParts, GiveTheExactStatisticsFromExactParts) {
  std::mt19937_64 engine(29);
  for (int round = 0; round < 100; ++round) {
    const Bounds bounds(-2, 6);
    const std::size_t n = 2 + engine() % 10;
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(static_cast<double>(engine() % 33) / 4 - 2);
      y.push_back(static_cast<double>(engine() % 33) / 4 - 2);
    }
    const auto sum = [&](const std::vector<double>& rows, int k) {
      return to_dyadic(power_sum(rows, center(bounds), k), "sum");
    };
    const Dyadic count(static_cast<std::int64_t>(n));
    const Dyadic products = to_dyadic(product_sum(x, y, center(bounds), center(bounds)), "sum");
    const double variance = variance_from_parts(bounds, count, sum(x, 1), sum(x, 2));
    EXPECT_EQ(variance, to_double_nearest(exact_covariance(x, x)));
    EXPECT_EQ(covariance_from_parts(bounds, bounds, count, sum(x, 1), sum(y, 1), products),
              to_double_nearest(exact_covariance(x, y)));
    EXPECT_NEAR(standard_deviation_from_variance(variance), std::sqrt(variance), 1e-15 * (1 + variance));
    // Exact parts: what is left is the rounding to a double.
    EXPECT_LE(variance_accuracy(bounds, {count, 0}, {sum(x, 1), 0}, {sum(x, 2), 0}), 1e-15 * (1 + variance));
  }
}

TEST(MomentParts, StayInTheirRanges) {
  const Bounds bounds(-2, 6);
  EXPECT_EQ(variance_from_parts(bounds, Dyadic(1), Dyadic(3), Dyadic(9)), 16);
  EXPECT_EQ(variance_from_parts(bounds, Dyadic(-5), Dyadic(3), Dyadic(9)), 16);
  EXPECT_EQ(variance_from_parts(bounds, Dyadic(10), Dyadic(0), Dyadic(-9)), 0);
  EXPECT_EQ(variance_from_parts(bounds, Dyadic(2), Dyadic(0), Dyadic(1000)), 32);
  EXPECT_EQ(covariance_from_parts(bounds, bounds, Dyadic(1), Dyadic(3), Dyadic(9), Dyadic(7)), 0);
  EXPECT_EQ(covariance_from_parts(bounds, bounds, Dyadic(2), Dyadic(0), Dyadic(0), Dyadic(-1000)), -32);
  EXPECT_EQ(standard_deviation_from_variance(Dyadic(-4)), 0);
  EXPECT_EQ(standard_deviation_from_variance(Dyadic(2)), std::sqrt(2.0));
  EXPECT_EQ(standard_deviation_from_variance(Dyadic(0x1p-1074)), std::sqrt(0x1p-1074));
  EXPECT_EQ(correlation_from_parts(Dyadic(3), Dyadic(4), Dyadic(9)), 0.5);
  EXPECT_EQ(correlation_from_parts(Dyadic(-3), Dyadic(1), Dyadic(1)), -1);
  EXPECT_EQ(correlation_from_parts(Dyadic(3), Dyadic(0), Dyadic(1)), 0);
  EXPECT_EQ(correlation_from_parts(Dyadic(3), Dyadic(1), Dyadic(-1)), 0);
  // Parts that say nothing leave the range.
  EXPECT_EQ(variance_accuracy(bounds, {Dyadic(10), infinity}, {Dyadic(0), 1}, {Dyadic(9), 1}), 31);
  EXPECT_EQ(correlation_accuracy({Dyadic(3), 1}, {Dyadic(4), 5}, {Dyadic(9), 1}), 1.5);
  EXPECT_EQ(standard_deviation_accuracy({Dyadic(4), infinity}), infinity);
}

// Parts anywhere within their accuracies, at their ends above all: the exact statistics are where the accuracies say.
TEST(MomentParts, AccuraciesHoldForEveryErrorOfTheParts) {
  std::mt19937_64 engine(31);
  const Bounds bounds(-2, 6);
  const Bounds other(0, 1);
  int informative = 0;
  for (int round = 0; round < 600; ++round) {
    const std::size_t n = 2 + engine() % (round % 2 == 0 ? 6 : 400);
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(engine() % 3 == 0 ? 6 : static_cast<double>(engine() % 17) / 2 - 2);
      y.push_back(engine() % 3 == 0 ? x.back() / 8 + 0.25 : static_cast<double>(engine() % 5) / 4);
    }
    const auto noisy = [&](const Rational& exact, double most) {
      const double accuracy = std::ldexp(static_cast<double>(engine() % 1024), -10) * most;
      const double error =
          engine() % 2 == 0 ? accuracy : accuracy * std::ldexp(static_cast<double>(engine() % 1024), -10);
      return ReleasedPart{to_dyadic(exact, "exact") + Dyadic(engine() % 2 == 0 ? error : -error), accuracy};
    };
    const double most = round % 3 == 0 ? 8 : 1;
    const Rational c = center(bounds);
    const Rational d = center(other);
    const ReleasedPart count = noisy(size_of(x), most);
    const ReleasedPart sum_x = noisy(power_sum(x, c, 1), 4 * most);
    const ReleasedPart sum_y = noisy(power_sum(y, d, 1), most);
    const ReleasedPart squares_x = noisy(power_sum(x, c, 2), 16 * most);
    const ReleasedPart squares_y = noisy(power_sum(y, d, 2), most);
    const ReleasedPart products = noisy(product_sum(x, y, c, d), 2 * most);
    const auto check = [](double released, double accuracy, const Rational& exact) {
      ASSERT_LE(abs(Rational(released) - exact), Rational(accuracy));
    };
    const ReleasedPart variance_x{
        Dyadic(variance_from_parts(bounds, count.value, sum_x.value, squares_x.value)),
        variance_accuracy(bounds, count, sum_x, squares_x)};
    const ReleasedPart variance_y{
        Dyadic(variance_from_parts(other, count.value, sum_y.value, squares_y.value)),
        variance_accuracy(other, count, sum_y, squares_y)};
    const ReleasedPart covariance{
        Dyadic(covariance_from_parts(bounds, other, count.value, sum_x.value, sum_y.value, products.value)),
        covariance_accuracy(bounds, other, count, sum_x, sum_y, products)};
    const Rational exact_xx = exact_covariance(x, x);
    const Rational exact_yy = exact_covariance(y, y);
    const Rational exact_xy = exact_covariance(x, y);
    check(variance_x.value.to_double_nearest(), variance_x.accuracy, exact_xx);
    check(variance_y.value.to_double_nearest(), variance_y.accuracy, exact_yy);
    check(covariance.value.to_double_nearest(), covariance.accuracy, exact_xy);
    // |s - sqrt(v)| <= a if and only if max(s - a, 0)^2 <= v <= (s + a)^2.
    const Rational deviation(standard_deviation_from_variance(variance_x.value));
    const Rational a(standard_deviation_accuracy(variance_x));
    ASSERT_LE(exact_xx, (deviation + a) * (deviation + a));
    if (deviation > a) {
      ASSERT_GE(exact_xx, (deviation - a) * (deviation - a));
    }
    // The exact correlation, to about 2^-500.
    const double correlation = correlation_from_parts(covariance.value, variance_x.value, variance_y.value);
    const double correlation_half = correlation_accuracy(covariance, variance_x, variance_y);
    Rational exact = 0;
    if (exact_xx > 0 && exact_yy > 0) {
      exact = exact_xy * exact_xy / (exact_xx * exact_yy);
      const Rational root = Rational(sqrt(floor(Rational(exact * (Integer(1) << 1000)))), Integer(1) << 500);
      exact = exact_xy < 0 ? Rational(-root) : root;
      exact.canonicalize();
    }
    ASSERT_LE(abs(Rational(correlation) - exact),
              Rational(correlation_half) + Rational(1, Integer(1) << 400));
    if (correlation_half < 0.5) ++informative;
  }
  EXPECT_GT(informative, 50);
}

// The same for accuracies that are known beforehand: no data of that many rows and no errors of the parts are worse.
TEST(MomentParts, PlannedAccuraciesHoldForEveryDatasetAndError) {
  std::mt19937_64 engine(37);
  const Bounds bounds(-2, 6);
  const Bounds other(0, 1);
  double closest_variance = 0;
  double closest_covariance = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::size_t n = 4 + engine() % (round % 2 == 0 ? 6 : 60);
    // At the ends above all, where the statistics are largest; the columns alike, opposite or unrelated.
    const std::size_t low = engine() % (n + 1);
    const std::uint64_t shape = engine() % 4;
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(shape == 3 ? static_cast<double>(engine() % 17) / 2 - 2 : i < low ? -2 : 6);
      y.push_back(shape == 0   ? (x.back() + 2) / 8
                  : shape == 1 ? 1 - (x.back() + 2) / 8
                               : static_cast<double>(engine() % 2));
    }
    // One accuracy at a time, or all.
    const auto accuracy = [&](double most) {
      return engine() % 2 == 0 ? 0 : std::ldexp(static_cast<double>(engine() % 1025), -10) * most;
    };
    const double a_count = static_cast<double>(engine() % 3);
    const double a_x = accuracy(4);
    const double a_y = accuracy(1);
    const double a_squares = accuracy(16);
    const double a_products = accuracy(2);
    const auto noisy = [&](const Rational& exact, double most) {
      return to_dyadic(exact, "exact") + Dyadic(engine() % 2 == 0 ? most : -most);
    };
    const Rational c = center(bounds);
    const Rational d = center(other);
    const Dyadic count = noisy(size_of(x), a_count);
    const Dyadic sum_x = noisy(power_sum(x, c, 1), a_x);
    const Dyadic sum_y = noisy(power_sum(y, d, 1), a_y);
    const Dyadic squares = noisy(power_sum(x, c, 2), a_squares);
    const Dyadic products = noisy(product_sum(x, y, c, d), a_products);
    const double variance = variance_from_parts(bounds, count, sum_x, squares);
    const double covariance = covariance_from_parts(bounds, other, count, sum_x, sum_y, products);
    const double planned_variance = planned_variance_accuracy(bounds, n, a_count, a_x, a_squares);
    const double planned_covariance =
        planned_covariance_accuracy(bounds, other, n, a_count, a_x, a_y, a_products);
    const Rational exact_variance = exact_covariance(x, x);
    const Rational error = abs(Rational(variance) - exact_variance);
    const Rational error_xy = abs(Rational(covariance) - exact_covariance(x, y));
    ASSERT_LE(error, Rational(planned_variance)) << round;
    ASSERT_LE(error_xy, Rational(planned_covariance)) << round;
    // |s - sqrt(v)| <= a if and only if max(s - a, 0)^2 <= v <= (s + a)^2.
    const Rational deviation(standard_deviation_from_variance(Dyadic(variance)));
    const Rational a(planned_standard_deviation_accuracy(bounds, planned_variance));
    ASSERT_LE(exact_variance, (deviation + a) * (deviation + a)) << round;
    if (deviation > a) {
      ASSERT_GE(exact_variance, (deviation - a) * (deviation - a)) << round;
    }
    if (n > 20) {
      closest_variance = std::max(closest_variance, Rational(error / Rational(planned_variance)).get_d());
      closest_covariance =
          std::max(closest_covariance, Rational(error_xy / Rational(planned_covariance)).get_d());
    }
  }
  // And no wild overestimates.
  EXPECT_GT(closest_variance, 0.9);
  EXPECT_GT(closest_covariance, 0.9);
}

TEST(MomentParts, PlannedAccuraciesAreAtMostThePublicRange) {
  const Bounds bounds(-2, 6);
  const Bounds other(0, 1);
  EXPECT_EQ(planned_variance_accuracy(bounds, 100, infinity, 1, 1), 32);
  EXPECT_EQ(planned_variance_accuracy(bounds, 100, 98.5, 0, 0), 32);  // too few rows may be left
  EXPECT_EQ(planned_variance_accuracy(bounds, 1, 0, 0, 0), 32);
  EXPECT_EQ(planned_covariance_accuracy(bounds, other, 100, 1, 1, infinity, 1), 8);
  EXPECT_EQ(planned_covariance_accuracy(bounds, other, 100, 1, 1, 1, 1e300), 8);
  const double largest = std::sqrt(32.0);
  EXPECT_GE(planned_standard_deviation_accuracy(bounds, infinity), largest);
  EXPECT_LE(planned_standard_deviation_accuracy(bounds, 32), largest * (1 + 0x1p-51));
  EXPECT_NEAR(planned_standard_deviation_accuracy(bounds, 0.25), 0.5, 0x1p-48);
}

}  // namespace
}  // namespace snapdp
