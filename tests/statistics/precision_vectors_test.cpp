// Precision mode on vectors: the roundings cost something in each number that differs between neighbors, and what is
// stated, debited and certified counts all of them. The losses are computed from the exact law of small formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "mechanism/exact_precision_law.h"
#include "snapdp/error.h"
#include "snapdp/framework/composition.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/statistics/quantiles.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {
namespace {

double log_of(const Rational& x) {
  const Rational rest = x - 1;
  return std::log1p(rest.get_d());
}

const PrecisionSnapping& precision_of(const Measurement& measurement) {
  return std::get<PrecisionSnapping>(measurement.mechanism().variant());
}

// The largest loss of one count, 0 to n, that grows by 1, and of one that falls by 1.
struct Moves {
  double up = 0;
  double down = 0;
};
Moves largest_losses(const PrecisionSnapping& mechanism, long n) {
  const ExactPrecisionLaw law(mechanism.precision(), mechanism.exact_scale().rational(), mechanism.grid(),
                              mechanism.half_width().rational());
  Moves worst;
  std::vector<Rational> before = law(-mechanism.center().rational());
  for (long count = 1; count <= n; ++count) {
    const std::vector<Rational> after = law(count - mechanism.center().rational());
    for (std::size_t i = 0; i < after.size(); ++i) {
      worst.up = std::max(worst.up, log_of(before[i] / after[i]));
      worst.down = std::max(worst.down, log_of(after[i] / before[i]));
    }
    before = after;
  }
  return worst;
}

Measurement histogram(long n, std::size_t bins, const Epsilon& epsilon, long bits) {
  std::vector<Dyadic> categories;
  for (std::size_t i = 0; i < bins; ++i) categories.emplace_back(static_cast<std::int64_t>(i));
  return make_histogram(untrusted_domain({AtomType::real}).of_size(static_cast<std::uint64_t>(n)),
                        change_one(), Bins::numbers(std::move(categories))) >>
         make_snapping({.epsilon = epsilon, .noise = NoiseKind::notes, .precision = bits});
}

Measurement hierarchy(long n, std::size_t leaves, const Epsilon& epsilon, long bits) {
  std::vector<Dyadic> edges;
  for (std::size_t i = 0; i <= leaves; ++i) edges.emplace_back(static_cast<std::int64_t>(i));
  return make_hierarchy(vector_domain<double>().of_size(static_cast<std::uint64_t>(n)), change_one(),
                        HierarchyLayout(std::move(edges), 2)) >>
         make_snapping({.epsilon = epsilon, .noise = NoiseKind::notes, .precision = bits});
}

TEST(PrecisionVectors, CountTheNumbersThatDiffer) {
  // A replaced row leaves one bin and enters another; in a tree of eight leaves, on each of three levels.
  EXPECT_EQ(histogram(20, 5, 1, 118).mechanism().coordinates(), 2U);
  EXPECT_EQ(histogram(20, 2, 1, 118).mechanism().coordinates(), 2U);
  EXPECT_EQ(histogram(20, 1, 1, 118).mechanism().coordinates(), 1U);
  EXPECT_EQ(hierarchy(20, 8, 1, 118).mechanism().coordinates(), 6U);
  // Never more than there are.
  EXPECT_EQ(hierarchy(20, 2, 1, 118).mechanism().coordinates(), 2U);
  // Groups are disjoint; two rows of a unit may be in two.
  const auto distinct = make_distinct_count(Bins::numbers({1, 2, 3}));
  const Aggregation by_key = make_grouped(untrusted_domain({AtomType::real, AtomType::real}),
                                          symmetric_distance(), Bins::numbers({1, 2, 3, 4, 5}), distinct);
  NoiseOptions options{.epsilon = 3};
  options.noise = NoiseKind::notes;
  EXPECT_EQ((by_key >> make_snapping(options)).mechanism().coordinates(), 1U);
  options.distance = 2;
  EXPECT_EQ((by_key >> make_snapping(options)).mechanism().coordinates(), 2U);
  // Of reals a step of the grid is tiny, so that all may differ.
  const StatisticDomain reals{3, Grid(-40), false, Bounds(0, 100)};
  const Aggregation histogram_of_rows =
      make_histogram(untrusted_domain({AtomType::real}).of_size(5), change_one(), Bins::numbers({1, 2, 3}));
  const Aggregation finer({histogram_of_rows.input_domain(), reals, histogram_of_rows.input_metric(),
                           Metric::l1_distance, histogram_of_rows.stability()},
                          std::shared_ptr<const Fold>(&histogram_of_rows.fold(), [](const Fold*) {}),
                          [&](const Totals& totals) { return histogram_of_rows.finish(totals); });
  NoiseOptions real_options{.epsilon = 1};
  real_options.noise = NoiseKind::notes;
  EXPECT_EQ((finer >> make_snapping(real_options)).mechanism().coordinates(), 3U);
}

// The faulty statement that this replaces: one number's excess for all.
TEST(PrecisionVectors, LoseMoreThanOneNumbersExcess) {
  const Measurement tree = hierarchy(40, 8, "3/4", 11);
  const Moves worst = largest_losses(precision_of(tree), 40);
  const double lost = 3 * (worst.up + worst.down);
  const Rational one_excess = tree.mechanism().loss_bound(tree.mechanism().sensitivity().rational(), 1);
  EXPECT_GT(lost, one_excess.get_d());
  EXPECT_LE(lost, tree.loss().get_d());
}

TEST(PrecisionVectors, LoseAtMostWhatIsDebited) {
  struct Case {
    Measurement measurement;
    long n;
    int pairs;  // of numbers, one of which grows while the other falls
  };
  const Epsilon epsilon = "3/4";
  for (const Case& each :
       {Case{histogram(12, 4, epsilon, 9), 12, 1}, Case{histogram(12, 2, epsilon, 10), 12, 1},
        Case{histogram(28, 4, epsilon, 11), 28, 1}, Case{hierarchy(28, 8, epsilon, 9), 28, 3},
        Case{hierarchy(20, 8, epsilon, 10), 20, 3}, Case{hierarchy(40, 8, epsilon, 11), 40, 3}}) {
    const Measurement& measurement = each.measurement;
    const Moves worst = largest_losses(precision_of(measurement), each.n);
    const double lost = each.pairs * (worst.up + worst.down);
    EXPECT_LE(lost, measurement.loss().get_d()) << each.n << " " << each.pairs;
    EXPECT_LE(measurement.loss(), epsilon.value());
    EXPECT_TRUE(measurement.mechanism().loss_is_proved());
    EXPECT_EQ(measurement.mechanism().stated_loss(), measurement.loss());
    InMemoryAccountant budget(1);
    measurement.release(std::vector<double>(static_cast<std::size_t>(each.n), 1.0), budget);
    EXPECT_TRUE(measurement.privacy().holds(1, budget.spent().value));
  }
}

TEST(PrecisionVectors, OfAPracticalPrecisionCostNextToNothing) {
  for (const Measurement& measurement :
       {histogram(10'000, 100, "1/2", 118), hierarchy(10'000, 1024, "1/2", 118)}) {
    EXPECT_LE(measurement.loss(), Rational(1, 2));
    EXPECT_GT(measurement.loss(), Rational(1, 2) - Rational(0x1p-90));
    EXPECT_EQ(measurement.price(), Rational(1, 2));
    InMemoryAccountant budget("1/2");
    EXPECT_GT(measurement.release(std::vector<double>(10'000, 3.0), budget).values.size(), 90U);
    EXPECT_EQ(budget.remaining(), 0);
  }
}

// Compositions and larger distances count anew: at a distance of two rows four bins differ.
TEST(PrecisionVectors, AtOtherDistances) {
  const Measurement bins = histogram(20, 5, "3/4", 10);
  const PrecisionSnapping& mechanism = precision_of(bins);
  EXPECT_EQ(bins.loss(1), mechanism.loss_bound(2, 2));
  EXPECT_EQ(bins.loss(2), mechanism.loss_bound(4, 4));
  EXPECT_EQ(bins.loss(3), mechanism.loss_bound(6, 5));
  EXPECT_EQ(make_sequential({bins, bins}).loss(2), 2 * bins.loss(2));
}

TEST(PrecisionVectors, RefuseWhatTheRoundingsLeaveNoRoomFor) {
  try {
    hierarchy(20, 8, "3/4", 8);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parameter(), "precision");
    EXPECT_THAT(error.what(), testing::HasSubstr("bits"));
  }
  EXPECT_THROW(Mechanism({.epsilon = 1, .sensitivity = Dyadic(1), .coordinates = 0}), Error);
  // 2^20 numbers at 2^-118 each leave room; at 2^-20 each they do not.
  MechanismOptions options{.epsilon = 1,
                           .sensitivity = Dyadic(Integer(1), 20),
                           .lower = 0,
                           .upper = 0x1p23,
                           .precision = 118,
                           .coordinates = std::size_t{1} << 20};
  EXPECT_LE(PrecisionSnapping(options).loss_bound(), 1);
  options.precision = 20;
  EXPECT_THROW(PrecisionSnapping{options}, Error);
}

}  // namespace
}  // namespace snapdp
