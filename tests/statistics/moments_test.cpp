#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "rows.h"
#include "snapdp/error.h"
#include "snapdp/statistics/statistics.h"
#include "statistics/exact_moments.h"

namespace snapdp {
namespace {

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

}  // namespace
}  // namespace snapdp
