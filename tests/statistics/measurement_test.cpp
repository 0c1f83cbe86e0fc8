#include "snapdp/framework/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "snapdp/error.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {
namespace {

// The example of measurement.h.
Measurement mean_age(const Epsilon& epsilon) {
  const auto ages = vector_domain<double>().of_size(1000);
  return make_clamp(ages, change_one(), Bounds(0, 100)) >> make_mean() >> make_snapping({.epsilon = epsilon});
}

TEST(Measurement, KnowsItsLossAndAccuracyBeforehand) {
  const Measurement measurement = mean_age("1/4");
  EXPECT_LE(measurement.loss(), Rational(1, 4));
  EXPECT_GT(measurement.loss(), Rational(1, 4) * (1 - Rational(0x1p-50)));
  EXPECT_EQ(measurement.loss(2), 2 * measurement.loss());
  EXPECT_EQ(measurement.loss(0), 0);
  EXPECT_TRUE(measurement.privacy().holds(1, Rational(1, 4)));
  EXPECT_FALSE(measurement.privacy().holds(2, Rational(1, 4)));
  EXPECT_EQ(measurement.input_metric(), change_one());
  const Accuracy accuracy = measurement.accuracy(0.05);
  EXPECT_NEAR(accuracy.laplace, 0.4 * std::log(20), 1e-9);
  EXPECT_LE(accuracy.laplace, accuracy.tight);
  EXPECT_LE(accuracy.tight, accuracy.conservative);
  EXPECT_LE(accuracy.tight, 1.001 * accuracy.laplace);
}

TEST(Measurement, PaysBeforeItDrawsAndReleasesNothingUnpaid) {
  const Measurement measurement = mean_age(0.1);
  const std::vector<double> rows(1000, 30.0);
  InMemoryAccountant budget(1);
  int releases = 0;
  for (int i = 0; i < 10; ++i) {
    const Release release = measurement.release(rows, budget);
    ASSERT_EQ(release.values.size(), 1U);
    ++releases;
  }
  EXPECT_EQ(releases, 10);
  EXPECT_THROW(measurement.release(rows, budget), Error);
  EXPECT_GE(budget.remaining().value, 0);
  // A wrong size fails before the debit.
  InMemoryAccountant untouched(1);
  EXPECT_THROW(measurement.release(std::vector<double>(999, 30.0), untouched), Error);
  EXPECT_EQ(untouched.remaining(), 1);
}

TEST(Measurement, LandsWithinItsAccuracy) {
  // One failure in 10^9 for each of the 64 draws: a false alarm of at most 6.4e-8 a run would be too much, so
  // alpha is 1e-11.
  const Measurement measurement = mean_age("1/2");
  const double accuracy = measurement.accuracy(FailureRate(Rational(1, 100'000'000'000))).tight;
  const std::vector<double> rows(1000, 30.0);
  InMemoryAccountant budget(1000);
  for (int i = 0; i < 64; ++i) {
    const double value = measurement.release(rows, budget).values.at(0).to_double_nearest();
    ASSERT_LE(std::fabs(value - 30.0), accuracy);
  }
}

TEST(Measurement, OutputsStayInThePublicRangeAndOnTheGrid) {
  const Measurement measurement = mean_age("1/1000");
  const std::vector<double> rows(1000, 99.0);
  InMemoryAccountant budget(1000);
  for (int i = 0; i < 200; ++i) {
    const Dyadic value = measurement.release(rows, budget).values.at(0);
    ASSERT_GE(value, Dyadic(0));
    ASSERT_LE(value, Dyadic(100));
    ASSERT_TRUE(value == Dyadic(100) || measurement.mechanism().grid().round(value) == value);
  }
}

TEST(Measurement, IntegerStatisticsComeOutAsIntegers) {
  AtomDomain column = atom_domain<std::int64_t>();
  column.bounds = Bounds(0, 3);
  const Measurement sum =
      make_sum(VectorDomain({column}), symmetric_distance()) >> make_snapping({.epsilon = "3"});
  const std::vector<std::int64_t> rows{1, 2, 3};
  InMemoryAccountant budget(1000);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(sum.release(rows, budget).values.at(0).is_integer());
  EXPECT_FALSE(sum.mechanism().lower().has_value());
}

TEST(Measurement, HistogramsShareOneLoss) {
  const Measurement histogram =
      make_histogram(untrusted_domain({AtomType::real}).of_size(6), change_one(), Bins::numbers({1, 2})) >>
      make_snapping({.epsilon = "1"});
  EXPECT_EQ(histogram.mechanism().scale(), 2);
  EXPECT_EQ(histogram.loss(), 1);
  InMemoryAccountant budget(1);
  EXPECT_EQ(histogram.release(std::vector<double>{1, 2, 1, 1, 7, 2}, budget).values.size(), 2U);
  EXPECT_EQ(budget.remaining(), 0);
}

TEST(Measurement, ConstantsNeedNoMechanism) {
  try {
    make_count(vector_domain<double>().of_size(5), change_one()) >> make_snapping({.epsilon = "1"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("public constant"));
  }
  for (const char* epsilon : {"0", "-1"}) EXPECT_THROW(mean_age(epsilon), Error);
  EXPECT_THROW(mean_age(std::nan("")), Error);
  EXPECT_THROW(mean_age(HUGE_VAL), Error);
}

TEST(Measurement, InPrecisionMode) {
  const auto ages = vector_domain<double>().of_size(1000);
  const Aggregation mean = make_clamp(ages, change_one(), Bounds(0, 100)) >> make_mean();
  const Measurement exact = mean >> make_snapping({.epsilon = "1/4", .grid = GridChoice::notes()});
  const Measurement precise = mean >> make_snapping({.epsilon = "1/4", .noise = NoiseKind::notes});
  EXPECT_EQ(precise.mechanism().kind(), NoiseKind::notes);
  EXPECT_LE(precise.mechanism().stated_loss(), Rational(1, 4));
  EXPECT_GT(precise.mechanism().stated_loss(), Rational(1, 4) - Rational(0x1p-100));
  EXPECT_GE(precise.loss(2), precise.loss());
  EXPECT_NEAR(precise.accuracy(0.05).conservative, exact.accuracy(0.05).conservative, 0.5);
  EXPECT_LE(precise.accuracy(0.05).tight, precise.accuracy(0.05).conservative);
  InMemoryAccountant budget(1000);
  const std::vector<double> rows(1000, 30.0);
  for (int i = 0; i < 50; ++i) {
    const Dyadic value = precise.release(rows, budget).values.at(0);
    ASSERT_TRUE(value.is_double());
    ASSERT_GE(value, Dyadic(0));
    ASSERT_LE(value, Dyadic(100));
  }
  // A statistic without a public range has no bounds to center on.
  AtomDomain column = atom_domain<double>();
  column.bounds = Bounds(0, 3);
  EXPECT_THROW(make_sum(VectorDomain({column}), symmetric_distance()) >>
                   make_snapping({.epsilon = "1", .noise = NoiseKind::notes}),
               Error);
  EXPECT_THROW(mean >> make_snapping({.epsilon = "1/4", .precision = 118}), Error);
  EXPECT_THROW(
      mean >> make_snapping({.epsilon = "1/4", .grid = GridChoice(Grid(-10)), .noise = NoiseKind::notes}),
      Error);
}

TEST(Measurement, WithGeometricNoise) {
  const Aggregation histogram =
      make_histogram(untrusted_domain({AtomType::real}).of_size(6), change_one(), Bins::numbers({1, 2}));
  const Measurement geometric = histogram >> make_snapping({.epsilon = "1", .noise = NoiseKind::geometric});
  EXPECT_EQ(geometric.mechanism().kind(), NoiseKind::geometric);
  EXPECT_EQ(geometric.loss(), 1);
  EXPECT_TRUE(geometric.mechanism().loss_is_proved());
  InMemoryAccountant budget(1000);
  for (int i = 0; i < 50; ++i) {
    for (const Dyadic& value : geometric.release(std::vector<double>{1, 2, 1, 1, 7, 2}, budget).values) {
      ASSERT_TRUE(value.is_integer());
      ASSERT_GE(value, Dyadic(0));
      ASSERT_LE(value, Dyadic(6));
    }
  }
  const auto ages = vector_domain<double>().of_size(1000);
  const Aggregation mean = make_clamp(ages, change_one(), Bounds(0, 100)) >> make_mean();
  EXPECT_THROW(mean >> make_snapping({.epsilon = "1", .noise = NoiseKind::geometric}), Error);
}

}  // namespace
}  // namespace snapdp
