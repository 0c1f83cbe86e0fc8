#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "rows.h"
#include "snapdp/error.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {
namespace {

Rational distinct(const Aggregation& aggregation, const Chunk& rows) {
  return aggregation(rows).at(0).rational();
}

TEST(DistinctCount, CountsTheValuesOfTheSetThatOccur) {
  const VectorDomain reals = untrusted_domain({AtomType::real});
  const Aggregation numbers =
      make_distinct_count(reals, symmetric_distance(), Bins::numbers({0, Dyadic(2.5), 7, 9}));
  EXPECT_EQ(distinct(numbers, std::vector<double>{}), 0);
  EXPECT_EQ(distinct(numbers, std::vector<double>{-0.0, 0.0, 2.5, 3, std::nan(""), HUGE_VAL}), 2);
  EXPECT_EQ(numbers.sensitivity(), 1);
  EXPECT_EQ(numbers.sensitivity(3), 3);
  EXPECT_EQ(numbers.sensitivity(5), 4);  // no two counts of four values are farther apart
  EXPECT_EQ(numbers.output_domain().range, Bounds(0, 4));
  EXPECT_TRUE(numbers.output_domain().integer);

  const std::vector<std::string_view> words{"b", "a", "a", "", "z"};
  EXPECT_EQ(distinct(make_distinct_count(untrusted_domain({AtomType::text}), change_one(),
                                         Bins::texts({"a", "", "c", "b"})),
                     words),
            3);
  // A null is no value, whatever its cell holds.
  const std::vector<std::int64_t> integers{1, 2, 3};
  const std::uint8_t validity = 0b101;
  const std::vector<Column> columns{{AtomType::integer, integers.data(), &validity, 0}};
  EXPECT_EQ(distinct(make_distinct_count(untrusted_domain({AtomType::integer}), hamming(),
                                         Bins::numbers({1, 2, Dyadic(0.5)})),
                     Chunk(columns, 3)),
            1);
  EXPECT_EQ(distinct(make_distinct_count(reals, change_one(), Bins::edges({0, 1, 2})),
                     std::vector<double>{0.5, 0.75, 2.0, 5}),
            2);
}

// Every dataset of up to four rows over five values, two of them in no bin, and every neighbor of each.
TEST(DistinctCount, EveryPairOfNeighborsIsAtMostOneApart) {
  const std::vector<double> alphabet{0, 1, 2, 8, std::nan("")};
  const VectorDomain reals = untrusted_domain({AtomType::real});
  const Bins set = Bins::numbers({2, 0, 1});
  const Aggregation any = make_distinct_count(reals, symmetric_distance(), set);
  Rational farthest = 0;
  for (std::size_t n = 1; n <= 4; ++n) {
    std::size_t datasets = 1;
    for (std::size_t i = 0; i < n; ++i) datasets *= alphabet.size();
    const Aggregation sized = make_distinct_count(reals.of_size(n), change_one(), set);
    const Aggregation in_place = make_distinct_count(reals.of_size(n), hamming(), set);
    for (std::size_t code = 0; code < datasets; ++code) {
      std::vector<double> rows;
      for (std::size_t i = 0, rest = code; i < n; ++i, rest /= alphabet.size())
        rows.push_back(alphabet[rest % alphabet.size()]);
      // The oracle.
      std::set<double> seen;
      for (const double x : rows) {
        if (x == 0 || x == 1 || x == 2) seen.insert(x);
      }
      const Rational value = distinct(any, rows);
      ASSERT_EQ(value, Rational(static_cast<long>(seen.size())));
      ASSERT_EQ(distinct(sized, rows), value);
      std::vector<double> fewer(rows.begin() + 1, rows.end());
      ASSERT_LE(abs(value - distinct(any, fewer)), any.sensitivity());
      for (const double other : alphabet) {
        std::vector<double> changed = rows;
        changed[0] = other;
        const Rational distance = abs(value - distinct(sized, changed));
        ASSERT_LE(distance, sized.sensitivity());
        ASSERT_LE(abs(value - distinct(in_place, changed)), in_place.sensitivity());
        farthest = std::max(farthest, distance);
      }
    }
  }
  EXPECT_EQ(farthest, 1);
}

TEST(DistinctCount, SplitsMergesAndBytesAgree) {
  std::mt19937_64 engine(3);
  const Aggregation aggregation =
      make_distinct_count(untrusted_domain({AtomType::real}), symmetric_distance(),
                          Bins::numbers({0, 1, Dyadic(0.25), 30, Dyadic(0x1p53)}));
  for (int round = 0; round < 50; ++round) {
    const std::vector<double> rows = adversarial_reals(engine, 1 + engine() % 40);
    const std::size_t middle = engine() % rows.size();
    AggregateState left = aggregation.start();
    AggregateState right = aggregation.start();
    aggregation.update(left, Chunk(rows).slice(0, middle));
    aggregation.update(right, Chunk(rows).slice(middle, rows.size() - middle));
    aggregation.merge(right, aggregation.from_bytes(aggregation.to_bytes(left)));
    AggregateState whole = aggregation.start();
    aggregation.update(whole, rows);
    EXPECT_EQ(aggregation.to_bytes(whole), aggregation.to_bytes(right));
    EXPECT_EQ(aggregation.finish(right), aggregation(rows));
  }
}

TEST(DistinctCount, RefusesWhatHasNoProof) {
  const VectorDomain reals = untrusted_domain({AtomType::real});
  EXPECT_THROW(make_distinct_count(reals, symmetric_distance(), Bins::numbers({1}).with_other()), Error);
  EXPECT_THROW(make_distinct_count(reals, symmetric_distance(), Bins::texts({"1"})), Error);
  EXPECT_THROW(make_distinct_count(reals, Metric::l1_distance, Bins::numbers({1})), Error);
  EXPECT_THROW(make_distinct_count(untrusted_domain({AtomType::text}), change_one(), Bins::numbers({1})),
               Error);
  EXPECT_THROW(make_distinct_count(untrusted_domain({AtomType::real, AtomType::real}), change_one(),
                                   Bins::numbers({1})),
               Error);
  // Totals that no rows have.
  const Aggregation two = make_distinct_count(reals, symmetric_distance(), Bins::numbers({1, 2}));
  EXPECT_THROW(two.fold().restore({1, {Dyadic(1), Dyadic(1)}}), Error);
  EXPECT_THROW(two.fold().restore({1, {Dyadic(-1), Dyadic(0)}}), Error);
  EXPECT_THROW(two.fold().restore({1, {Dyadic(0.5), Dyadic(0)}}), Error);
  EXPECT_THROW(two.fold().restore({1, {Dyadic(1)}}), Error);
}

}  // namespace
}  // namespace snapdp
