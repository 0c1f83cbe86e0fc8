#include "snapdp/statistics/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "framework/state_bytes.h"
#include "rows.h"
#include "snapdp/error.h"
#include "snapdp/statistics/from_parts.h"

namespace snapdp {

using namespace framework_internal;

namespace {

using testing::HasSubstr;
constexpr std::int64_t int_min = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t int_max = std::numeric_limits<std::int64_t>::max();

template <typename Value>
VectorDomain bounded(const Bounds& bounds, std::optional<std::uint64_t> size = std::nullopt) {
  AtomDomain column = atom_domain<Value>();
  column.bounds = bounds;
  const VectorDomain domain({column});
  return size ? domain.of_size(*size) : domain;
}

VectorDomain bounded_pair(const Bounds& x, const Bounds& y, std::uint64_t size) {
  return VectorDomain({{AtomType::real, false, false, x}, {AtomType::real, false, false, y}}).of_size(size);
}

Rational one(const Aggregation& aggregation, const Chunk& rows) {
  return aggregation(rows).at(0).rational();
}

std::vector<double> clamped(std::vector<double> rows, const Bounds& bounds) {
  for (double& x : rows) {
    if (std::isnan(x)) x = 0;
    x = std::clamp(x, bounds.lower().to_double_nearest(), bounds.upper().to_double_nearest());
  }
  return rows;
}

// The slow obvious statistics, in rationals.
Rational exact_mean(const std::vector<double>& rows) {
  Rational sum = 0;
  for (const double x : rows) sum += Rational(x);
  return sum / Rational(static_cast<double>(rows.size()));
}

Rational exact_covariance(const std::vector<double>& x, const std::vector<double>& y) {
  const Rational mean_x = exact_mean(x);
  const Rational mean_y = exact_mean(y);
  Rational sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (Rational(x[i]) - mean_x) * (Rational(y[i]) - mean_y);
  return sum / Rational(static_cast<double>(x.size() - 1));
}

TEST(Statistics, AreTheRationalOnesRoundedOnceToTheirGrid) {
  std::mt19937_64 engine(11);
  const std::vector<Bounds> all_bounds{
      Bounds(0, 1), Bounds(Dyadic(-0.1), Dyadic(0.3)), Bounds(Dyadic(-0x1p53), Dyadic(0x1p53)),
      Bounds(Dyadic(1e-300), Dyadic(3e-300)), Bounds(Dyadic(-1e150), Dyadic(1e150))};
  for (int round = 0; round < 300; ++round) {
    const Bounds& bounds = all_bounds[engine() % all_bounds.size()];
    const Bounds& other = all_bounds[engine() % all_bounds.size()];
    const std::size_t n = 2 + engine() % 30;
    const std::vector<double> x = clamped(adversarial_reals(engine, n), bounds);
    const std::vector<double> y = clamped(adversarial_reals(engine, n), other);
    const VectorDomain domain = bounded<double>(bounds, n);

    const auto check = [](const Aggregation& aggregation, const Chunk& rows, const Rational& expected) {
      const Grid grid = aggregation.output_domain().grid;
      ASSERT_EQ(aggregation(rows).at(0), grid.round(expected)) << aggregation.description();
      // The grid is fine: 40 bits below the sensitivity.
      ASSERT_LE(grid.spacing().rational() * (Integer(1) << 40), aggregation.sensitivity());
    };
    check(make_sum(domain, change_one()), x, exact_mean(x) * Rational(static_cast<double>(n)));
    check(make_mean(domain, change_one()), x, exact_mean(x));
    check(make_variance(domain, change_one()), x, exact_covariance(x, x));
    check(make_centered_sum(bounded<double>(bounds), symmetric_distance()), x,
          (exact_mean(x) - (bounds.lower() + bounds.upper()).rational() / 2) *
              Rational(static_cast<double>(n)));
    const std::vector<Column> columns{{AtomType::real, x.data()}, {AtomType::real, y.data()}};
    check(make_covariance(bounded_pair(bounds, other, n), change_one()), Chunk(columns, n),
          exact_covariance(x, y));
  }
}

TEST(Statistics, SensitivitiesAndRangesOfTheTable) {
  const VectorDomain reals = bounded<double>(Bounds(-2, 6), 8);
  EXPECT_EQ(make_sum(reals, change_one()).sensitivity(), 8);
  EXPECT_EQ(make_sum(reals, change_one()).output_domain().range, Bounds(-16, 48));
  EXPECT_EQ(make_sum(bounded<double>(Bounds(-2, 6)), symmetric_distance()).sensitivity(), 6);
  EXPECT_EQ(make_sum(bounded<double>(Bounds(-7, 6)), symmetric_distance()).sensitivity(), 7);
  EXPECT_FALSE(make_sum(bounded<double>(Bounds(-2, 6)), symmetric_distance()).output_domain().range);
  EXPECT_EQ(make_mean(reals, change_one()).sensitivity(), 1);
  EXPECT_EQ(make_mean(reals, change_one()).output_domain().range, Bounds(-2, 6));
  EXPECT_EQ(make_centered_sum(bounded<double>(Bounds(-2, 6)), symmetric_distance()).sensitivity(), 4);
  EXPECT_EQ(make_variance(reals, change_one()).sensitivity(), 8);
  EXPECT_EQ(make_count(reals, change_one()).sensitivity(), 0);
  EXPECT_EQ(make_count(bounded<double>(Bounds(-2, 6)), symmetric_distance()).sensitivity(), 1);
  EXPECT_FALSE(make_count(bounded<double>(Bounds(-2, 6)), symmetric_distance()).output_domain().range);
  const Bins bins = Bins::numbers({1, 2, 3});
  EXPECT_EQ(make_histogram(reals, change_one(), bins).sensitivity(), 2);
  // A row that leaves the only bin enters no other.
  EXPECT_EQ(make_histogram(reals, change_one(), Bins::numbers({1})).sensitivity(), 1);
  EXPECT_EQ(make_histogram(reals, change_one(), Bins::edges({0, 1})).sensitivity(), 1);
  EXPECT_EQ(make_histogram(reals, change_one(), Bins::numbers({1}).with_other()).sensitivity(), 2);
  EXPECT_EQ(make_histogram(reals, change_one(), bins).output_domain().range, Bounds(0, 8));
  EXPECT_EQ(make_histogram(bounded<double>(Bounds(-2, 6)), symmetric_distance(), bins).sensitivity(), 1);
  EXPECT_FALSE(
      make_histogram(bounded<double>(Bounds(-2, 6)), symmetric_distance(), bins).output_domain().range);
  // A third has no finite binary expansion: raised to the statistic's grid, never lowered.
  const Aggregation third = make_mean(bounded<double>(Bounds(0, 1), 3), change_one());
  EXPECT_GE(third.sensitivity(), Rational(1, 3));
  EXPECT_LE(third.sensitivity(), Rational(1, 3) + third.output_domain().grid.spacing().rational());
  // Integer statistics keep integral sensitivities.
  const Aggregation integers = make_sum(bounded<std::int64_t>(Bounds(0, 3)), symmetric_distance());
  EXPECT_TRUE(integers.output_domain().integer);
  EXPECT_EQ(integers.output_domain().grid, Grid(0));
  EXPECT_EQ(integers.sensitivity(), 3);
}

TEST(Statistics, RangesHoldAndAreReached) {
  for (const std::uint64_t n : {2U, 3U, 4U, 5U, 9U}) {
    Rational largest = 0;
    Rational largest_covariance = 0;
    for (unsigned mask = 0; mask < (1U << n); ++mask) {
      std::vector<double> rows;
      for (unsigned i = 0; i < n; ++i) rows.push_back((mask >> i) & 1U ? 1.0 : 0.0);
      largest = std::max(largest, exact_covariance(rows, rows));
      std::vector<double> opposite;
      for (const double x : rows) opposite.push_back(1 - x);
      largest_covariance = std::min(largest_covariance, exact_covariance(rows, opposite));
    }
    const Bounds range = *make_variance(bounded<double>(Bounds(0, 1), n), change_one()).output_domain().range;
    EXPECT_EQ(range.lower(), Dyadic(0));
    EXPECT_EQ(range.upper(), Dyadic(to_double_up(largest))) << n;
    const Bounds both =
        *make_covariance(bounded_pair(Bounds(0, 1), Bounds(0, 1), n), change_one()).output_domain().range;
    EXPECT_EQ(both.lower(), -Dyadic(to_double_up(-largest_covariance)));
    EXPECT_EQ(both.upper(), range.upper());
  }
}

// The neighbour test of every statistic: no two neighbours are farther apart than the stability relation
// claims.
TEST(Statistics, NeighborsAreNeverFartherApartThanClaimed) {
  std::mt19937_64 engine(13);
  const std::vector<Bounds> all_bounds{Bounds(0, 1),
                                       Bounds(Dyadic(-0.1), Dyadic(0.3)),
                                       Bounds(Dyadic(0), Dyadic(0x1p53)),
                                       Bounds(Dyadic(0x1p50), Dyadic(0x1p50 + 1)),
                                       Bounds(-3, 1),
                                       Bounds(0, 3)};
  Rational closest = 0;  // the largest part of a claim that a pair uses up: the search is not blunt
  for (int round = 0; round < 3000; ++round) {
    const Bounds& bounds = all_bounds[engine() % all_bounds.size()];
    const std::size_t n = 2 + engine() % 8;
    std::vector<double> x = clamped(adversarial_reals(engine, n), bounds);
    if (engine() % 2 == 0) {
      for (double& value : x)
        value = (engine() % 2 == 0 ? bounds.lower() : bounds.upper()).to_double_nearest();
    }
    std::vector<double> changed = x;
    const std::size_t where = engine() % n;
    changed[where] =
        engine() % 2 == 0
            ? clamped(adversarial_reals(engine, 1), bounds)[0]
            : (changed[where] == bounds.lower().to_double_nearest() ? bounds.upper() : bounds.lower())
                  .to_double_nearest();
    std::vector<double> added = x;
    added.push_back(changed[where]);
    const auto check = [&](const Aggregation& aggregation, const Chunk& a, const Chunk& b) {
      Rational distance = 0;
      const std::vector<Dyadic> left = aggregation(a);
      const std::vector<Dyadic> right = aggregation(b);
      for (std::size_t i = 0; i < left.size(); ++i) distance += abs(left[i] - right[i]).rational();
      ASSERT_LE(distance, aggregation.sensitivity()) << aggregation.description();
      if (aggregation.sensitivity() > 0)
        closest = std::max(closest, Rational(distance / aggregation.sensitivity()));
    };
    const VectorDomain sized = bounded<double>(bounds, n);
    const VectorDomain any = bounded<double>(bounds);
    check(make_count(sized, change_one()), x, changed);
    check(make_sum(sized, change_one()), x, changed);
    check(make_mean(sized, change_one()), x, changed);
    check(make_variance(sized, change_one()), x, changed);
    check(make_count(any, symmetric_distance()), x, added);
    check(make_sum(any, symmetric_distance()), x, added);
    check(make_centered_sum(any, symmetric_distance()), x, added);
    const Bins bins = Bins::edges({bounds.lower(), bounds.upper()});
    for (const Bins& choice : {bins, bins.with_other(), Bins::numbers({0, 1, 3}).with_other()}) {
      check(make_histogram(sized, change_one(), choice), x, changed);
      check(make_histogram(any, symmetric_distance(), choice), x, added);
    }
    const Bounds& other = all_bounds[engine() % all_bounds.size()];
    std::vector<double> y = clamped(adversarial_reals(engine, n), other);
    std::vector<double> changed_y = y;
    changed_y[where] = (engine() % 2 == 0 ? other.lower() : other.upper()).to_double_nearest();
    const std::vector<Column> pair{{AtomType::real, x.data()}, {AtomType::real, y.data()}};
    const std::vector<Column> changed_pair{{AtomType::real, changed.data()},
                                           {AtomType::real, changed_y.data()}};
    check(make_covariance(bounded_pair(bounds, other, n), change_one()), Chunk(pair, n),
          Chunk(changed_pair, n));
  }
  EXPECT_EQ(closest, 1);
}

// An addition that uses ties-to-even, or ties away from zero, would exceed the sensitivity here.
TEST(Statistics, TieRuleKeepsTheSensitivity) {
  const Aggregation mean = make_mean(bounded<double>(Bounds(0, 1), 3), change_one());
  const Grid grid = mean.output_domain().grid;
  const Rational half = grid.spacing().rational() / 2;
  for (int k = -4; k < 4; ++k) {
    const Rational tie = half * (2 * k + 1);
    EXPECT_EQ(grid.index(tie), k + 1);
  }
}

TEST(Statistics, VarianceOnFarAwayNarrowBounds) {
  const Bounds bounds(Dyadic(0x1p50), Dyadic(0x1p50 + 1));
  const Aggregation variance = make_variance(bounded<double>(bounds, 1024), change_one());
  const std::vector<double> rows(1024, 0x1p50 + 0.25);
  std::vector<double> neighbor = rows;
  neighbor[500] = 0x1p50 + 0.5;
  EXPECT_EQ(one(variance, rows), 0);
  EXPECT_LE(one(variance, neighbor), variance.sensitivity());
  EXPECT_GT(one(variance, neighbor), 0);
}

TEST(Statistics, IntegersNeverWrapNorPassThroughADouble) {
  const Bounds all(Dyadic{int_min}, Dyadic{int_max});
  const std::vector<std::int64_t> rows{int_max, int_max, int_max, int_min, 1};
  const Aggregation sum = make_sum(bounded<std::int64_t>(all), symmetric_distance());
  Integer expected = Integer(int_max) * 3 + Integer(int_min) + 1;
  EXPECT_EQ(one(sum, rows), Rational(expected));
  EXPECT_EQ(sum.sensitivity(), -Rational(Integer(int_min)));
  const std::vector<std::int64_t> fine{9007199254740993, 9007199254740993};
  EXPECT_EQ(one(make_sum(bounded<std::int64_t>(all), symmetric_distance()), fine),
            Rational(Integer("18014398509481986")));
  const Aggregation variance = make_variance(bounded<std::int64_t>(all, 2), change_one());
  const std::vector<std::int64_t> ends{int_min, int_max};
  const Integer width = Integer(int_max) - Integer(int_min);
  EXPECT_EQ(one(variance, ends), variance.output_domain().grid.round(Rational(width * width) / 2).rational());
}

TEST(Statistics, SixHundredMillionFives) {
  const Aggregation mean = make_mean(bounded<std::int64_t>(Bounds(0, 10), 600'000'000), change_one());
  const std::vector<std::int64_t> block(600'000, 5);
  AggregateState part = mean.start();
  mean.update(part, block);
  AggregateState total = mean.start();
  for (int i = 0; i < 1000; ++i) mean.merge(total, part);
  EXPECT_EQ(mean.finish(total).at(0), Dyadic(5));
}

TEST(Statistics, FloatExtremesAreExact) {
  std::vector<double> rows(4, static_cast<double>(1e38F));
  rows.insert(rows.end(), 7, -static_cast<double>(1e38F));
  const Bounds bounds(Dyadic(-0x1p128), Dyadic(0x1p128));
  const Rational expected = Rational(static_cast<double>(1e38F)) * -3;
  EXPECT_EQ(one(make_sum(bounded<double>(bounds), symmetric_distance()), rows), expected);
}

TEST(Statistics, AnySplitOrderAndMergeGivesTheSameBytes) {
  std::mt19937_64 engine(17);
  const Bounds bounds(Dyadic(-0.7), Dyadic(0x1p53));
  const Transformation impute =
      make_impute(untrusted_domain({AtomType::real}), symmetric_distance(), {Dyadic(0.5)});
  const Transformation clean = impute >> make_clamp(impute.output_domain(), symmetric_distance(), bounds);
  const std::vector<Aggregation> aggregations{
      clean >> make_sum(), clean >> make_centered_sum(), clean >> make_count(),
      make_histogram(untrusted_domain({AtomType::real}), symmetric_distance(),
                     Bins::edges({0, 1, 5}).with_other())};
  std::vector<double> rows = adversarial_reals(engine, 9000);
  // 2^53 and a thousand 1.0: added one after the other in doubles, the ones would be lost in one order.
  rows.insert(rows.begin(), 0x1p53);
  rows.insert(rows.begin() + 1, 1000, 1.0);
  for (const Aggregation& aggregation : aggregations) {
    AggregateState whole = aggregation.start();
    aggregation.update(whole, rows);
    const std::string expected = aggregation.to_bytes(whole);
    for (int round = 0; round < 5; ++round) {
      std::shuffle(rows.begin(), rows.end(), engine);
      std::vector<AggregateState> parts;
      std::size_t first = 0;
      while (first < rows.size()) {
        const std::size_t count = std::min<std::size_t>(rows.size() - first, 1 + engine() % 4000);
        parts.push_back(aggregation.start());
        aggregation.update(parts.back(), Chunk(std::span<const double>(rows).subspan(first, count)));
        first += count;
      }
      while (parts.size() > 1) {
        const std::size_t victim = engine() % (parts.size() - 1);
        aggregation.merge(parts[victim], parts.back());
        parts.pop_back();
      }
      ASSERT_EQ(aggregation.to_bytes(parts[0]), expected) << aggregation.description();
      const AggregateState restored = aggregation.from_bytes(expected);
      ASSERT_EQ(aggregation.to_bytes(restored), expected);
      ASSERT_EQ(aggregation.finish(restored), aggregation.finish(whole));
    }
  }
}

TEST(Statistics, EmptyDataHaveStatisticsToo) {
  const std::vector<double> none;
  EXPECT_EQ(one(make_sum(bounded<double>(Bounds(1, 2)), symmetric_distance()), none), 0);
  EXPECT_EQ(one(make_count(bounded<double>(Bounds(1, 2)), symmetric_distance()), none), 0);
  EXPECT_EQ(one(make_centered_sum(bounded<double>(Bounds(1, 2)), symmetric_distance()), none), 0);
  EXPECT_EQ(mean_from_parts(Bounds(1, 2), Dyadic(0), Dyadic(100)), 1.5);
  EXPECT_EQ(mean_from_parts(Bounds(1, 2), Dyadic(-5), Dyadic(100)), 1.5);
  EXPECT_EQ(mean_from_parts(Bounds(1, 2), Dyadic(10), Dyadic(100)), 2);
  EXPECT_EQ(mean_from_parts(Bounds(1, 2), Dyadic(4), Dyadic(1)), 1.75);
}

TEST(Statistics, ConstantsAreExact) {
  const std::vector<double> rows(3, 0.1);
  const Aggregation mean = make_mean(bounded<double>(Bounds(Dyadic(0.1), Dyadic(0.1)), 3), change_one());
  EXPECT_EQ(mean.sensitivity(), 0);
  EXPECT_EQ(mean(rows).at(0), Dyadic(0.1));
}

TEST(Statistics, RefuseWhatBreaksTheirProofs) {
  const VectorDomain reals = bounded<double>(Bounds(0, 1), 10);
  const auto message = [](auto&& make) -> std::string {
    try {
      make();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message([&] { make_mean(vector_domain<double>().of_size(5), change_one()); }),
              HasSubstr("make_clamp"));
  EXPECT_THAT(message([&] { make_mean(untrusted_domain({AtomType::real}).of_size(5), change_one()); }),
              HasSubstr("make_impute"));
  EXPECT_THAT(message([&] { make_mean(bounded<double>(Bounds(0, 1)), symmetric_distance()); }),
              HasSubstr("change_one"));
  EXPECT_THAT(message([&] { make_sum(bounded<double>(Bounds(0, 1)), change_one()); }), HasSubstr("of_size"));
  EXPECT_THAT(message([&] { make_variance(reals.of_size(1), change_one()); }), HasSubstr("at least 2"));
  EXPECT_THAT(message([&] { make_covariance(reals, change_one()); }), HasSubstr("2 columns"));
  const VectorDomain wide = bounded<double>(Bounds(Dyadic(-1e300), Dyadic(1e300)), 10);
  EXPECT_THAT(message([&] { make_variance(wide, change_one()); }), HasSubstr("narrower bounds"));
  EXPECT_THAT(message([&] { make_centered_sum(reals, change_one()); }), HasSubstr("make_mean"));
  EXPECT_THAT(message([&] { make_sum(reals, Metric::l1_distance); }), HasSubstr("L1"));
  EXPECT_THAT(message([&] { make_sum(vector_domain<std::string_view>(), symmetric_distance()); }),
              HasSubstr("make_parse"));
}

std::vector<long> counts(const Aggregation& histogram, const Chunk& rows) {
  std::vector<long> result;
  for (const Dyadic& count : histogram(rows)) result.push_back(count.rational().get_num().get_si());
  return result;
}

TEST(Histogram, OfCategoriesAndEdges) {
  const VectorDomain reals = untrusted_domain({AtomType::real});
  const std::vector<double> rows{3, 1, 1, 2.5, -0.0, std::nan(""), HUGE_VAL};
  EXPECT_EQ(counts(make_histogram(reals, symmetric_distance(), Bins::numbers({3, 1, 0})), rows),
            (std::vector<long>{1, 2, 1}));
  EXPECT_EQ(counts(make_histogram(reals, symmetric_distance(), Bins::numbers({3, 1, 0}).with_other()), rows),
            (std::vector<long>{1, 2, 1, 3}));
  const Bins edges = Bins::edges({0, 1, 3});
  EXPECT_EQ(counts(make_histogram(reals, symmetric_distance(), edges), rows), (std::vector<long>{1, 4}));
  EXPECT_EQ(counts(make_histogram(reals, symmetric_distance(), edges.with_other()), rows),
            (std::vector<long>{1, 4, 2}));
  EXPECT_EQ(edges.with_other().labels(), (std::vector<std::string>{"[0, 1)", "[1, 3]", "other"}));
}

TEST(Histogram, OfIntegersAtTheirLimits) {
  const VectorDomain integers = untrusted_domain({AtomType::integer});
  const std::vector<std::int64_t> rows{int_min, -1, 0, 60, 61, int_max};
  const Bins all = Bins::edges({Dyadic{int_min}, Dyadic(0.5), Dyadic(60.5), Dyadic{int_max}});
  EXPECT_EQ(counts(make_histogram(integers, symmetric_distance(), all), rows), (std::vector<long>{3, 1, 2}));
  EXPECT_EQ(
      counts(make_histogram(integers, symmetric_distance(), Bins::edges({Dyadic(0.2), Dyadic(0.8)})), rows),
      (std::vector<long>{0}));
  EXPECT_EQ(counts(make_histogram(integers, symmetric_distance(),
                                  Bins::numbers({Dyadic{int_max}, Dyadic(0.5), Dyadic(60)})),
                   rows),
            (std::vector<long>{1, 0, 1}));
  EXPECT_THROW(make_histogram(integers, symmetric_distance(), Bins::edges({0, Dyadic(Integer(1), 63)})),
               Error);
}

TEST(Histogram, OfTexts) {
  const VectorDomain texts = untrusted_domain({AtomType::text});
  const std::vector<std::string_view> rows{"b", "a", "a ", "", "b", "c"};
  const Bins bins = Bins::texts({"b", "a"}).with_other();
  EXPECT_EQ(counts(make_histogram(texts, symmetric_distance(), bins), rows), (std::vector<long>{2, 1, 3}));
  EXPECT_THROW(make_histogram(texts, symmetric_distance(), Bins::numbers({1})), Error);
  EXPECT_THROW(make_histogram(untrusted_domain({AtomType::real}), symmetric_distance(), bins), Error);
  // Descriptions, which identify states, cannot be confused.
  EXPECT_NE(Bins::texts({"a b"}).description(), Bins::texts({"a", "b"}).description());
}

TEST(Histogram, RefusesBadBins) {
  EXPECT_THROW(Bins::numbers({}), Error);
  EXPECT_THROW(Bins::numbers({1, 2, 1}), Error);
  EXPECT_THROW(Bins::texts({"a", "a"}), Error);
  EXPECT_THROW(Bins::edges({1}), Error);
  EXPECT_THROW(Bins::edges({1, 1}), Error);
  EXPECT_THROW(Bins::edges({2, 1}), Error);
}

TEST(States, ThatAreForeignOrImpossibleAreRefused) {
  const Aggregation sum = make_sum(bounded<double>(Bounds(0, 1)), symmetric_distance());
  const Aggregation other = make_sum(bounded<double>(Bounds(0, 2)), symmetric_distance());
  const std::vector<double> rows{0.25, 1, 0.5};
  AggregateState state = sum.start();
  sum.update(state, rows);
  AggregateState foreign = other.start();
  EXPECT_THROW(sum.merge(state, foreign), Error);
  EXPECT_THROW(other.finish(state), Error);

  const std::string bytes = sum.to_bytes(state);
  EXPECT_THROW(other.from_bytes(bytes), Error);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_THROW(sum.from_bytes(bytes.substr(0, length)), Error) << length;
  }
  EXPECT_THROW(sum.from_bytes(bytes + "x"), Error);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_THROW(sum.from_bytes(flipped), Error) << bit;
  }
}

// Otherwise two states of 2^63 rows would merge into one of none.
TEST(States, NeverCountMoreRowsThanTheirSumsHave) {
  const std::vector<double> row{1};
  const VectorDomain reals = VectorDomain({{AtomType::real, false, false, Bounds(0, 1)}});
  const VectorDomain keyed = untrusted_domain({AtomType::real});
  const std::vector<Aggregation> aggregations{
      make_count(reals, symmetric_distance()), make_sum(reals, symmetric_distance()),
      make_histogram(keyed, symmetric_distance(), Bins::edges({0, 2})),
      make_grouped(keyed, symmetric_distance(), Bins::edges({0, 2}), make_count())};
  for (const Aggregation& aggregation : aggregations) {
    const Totals none = aggregation.start().totals();
    AggregateState state =
        aggregation.from_bytes(write_state(aggregation.description(), {std::uint64_t{1} << 63, none.values}));
    const std::string before = aggregation.to_bytes(state);
    AggregateState one = aggregation.start();
    aggregation.update(one, Chunk(row));
    for (const AggregateState* other : {&one, &state}) {
      EXPECT_THROW(aggregation.merge(state, *other), Error) << aggregation.description();
    }
    EXPECT_THROW(aggregation.update(state, Chunk(row)), Error) << aggregation.description();
    EXPECT_EQ(aggregation.to_bytes(state), before) << aggregation.description();
  }
}

}  // namespace
}  // namespace snapdp
