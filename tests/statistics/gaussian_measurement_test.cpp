#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/framework/composition.h"
#include "snapdp/mechanism/gaussian_loss.h"
#include "snapdp/statistics/quantiles.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/neighbor_tester.h"

namespace snapdp {
namespace {

using testing::HasSubstr;

const Rational delta = parse_rational("1e-6", "delta");

NoiseOptions by_rho(const Rational& rho) {
  NoiseOptions options;
  options.noise = NoiseKind::gaussian;
  options.rho = rho;
  return options;
}

NoiseOptions by_epsilon(const Rational& epsilon) {
  return {.epsilon = epsilon, .delta = delta, .noise = NoiseKind::gaussian};
}

Aggregation histogram_of(std::uint64_t rows) {
  return make_histogram(vector_domain<double>().of_size(rows), change_one(), Bins::numbers({1, 2, 3}));
}

TEST(GaussianMeasurement, HasItsRho) {
  const Measurement count =
      make_count(vector_domain<double>(), symmetric_distance()) >> make_snapping(by_rho(Rational(1, 32)));
  EXPECT_EQ(count.measure(), PrivacyMeasure::zcdp);
  EXPECT_EQ(count.mechanism().scale(), 4);
  EXPECT_EQ(count.loss(), Rational(1, 32));
  EXPECT_EQ(count.loss(3), Rational(9, 32));  // group privacy: by the square
  EXPECT_EQ(count.price(), PrivacyLoss::gaussian(Rational(1, 32)));
  EXPECT_TRUE(count.privacy().holds(1, Rational(1, 32)));
  EXPECT_FALSE(count.privacy().holds(1, Rational(1, 33)));
}

TEST(GaussianMeasurement, OfAnEpsilonAndADeltaIsTheLeastNoise) {
  const Measurement count =
      make_count(vector_domain<double>(), symmetric_distance()) >> make_snapping(by_epsilon(1));
  const Rational scale(count.mechanism().scale());
  EXPECT_LE(gaussian_delta(gaussian_rho(1, scale), 1).upper, delta);
  const Rational less(std::nextafter(count.mechanism().scale(), 0.0));
  EXPECT_GT(gaussian_delta(gaussian_rho(1, less), 1).lower, delta * (1 - parse_rational("1e-12", "x")));
  EXPECT_EQ(*count.price().gaussian_cost, PrivacyAmount(1, delta));
  EXPECT_GE(count.price().rho, count.loss());
}

// What vectors gain: a row that moves between bins is at L1 distance 2, and at L2 distance sqrt(2).
TEST(GaussianMeasurement, KnowsTheDistanceOfVectors) {
  const Aggregation histogram = histogram_of(100);
  EXPECT_EQ(histogram.sensitivity(), 2);
  EXPECT_EQ(histogram.squared_sensitivity(), 2);
  EXPECT_EQ(histogram.squared_sensitivity(3), 18);
  const Measurement noisy = histogram >> make_snapping(by_rho(Rational(1, 4)));
  EXPECT_EQ(noisy.mechanism().scale(), 2);
  const HierarchyLayout layout({0, 1, 2, 3, 4, 5, 6, 7, 8});
  const Aggregation tree = make_hierarchy(vector_domain<double>(), symmetric_distance(), layout);
  EXPECT_EQ(tree.squared_sensitivity(), tree.sensitivity());
  EXPECT_EQ(tree.squared_sensitivity(2), 4 * tree.sensitivity());
}

TEST(GaussianMeasurement, ComposesInRho) {
  const auto rows = vector_domain<double>();
  const Measurement a = make_count(rows, symmetric_distance()) >> make_snapping(by_rho(Rational(1, 32)));
  const Measurement b = make_count(rows, symmetric_distance()) >> make_snapping({.epsilon = "1/2"});
  const Composition both = make_sequential({a, b, a});
  EXPECT_EQ(both.measure(), PrivacyMeasure::zcdp);
  EXPECT_EQ(both.loss(), Rational(1, 16) + pure_to_zcdp(b.loss()));
  EXPECT_EQ(both.price().rho, Rational(1, 16));
  EXPECT_EQ(both.price().epsilon, Rational(1, 2));
  const Composition split = make_parallel(rows, symmetric_distance(),
                                          {{Predicate::compare(0, AtomType::real, Comparison::less, 5), a}});
  EXPECT_EQ(split.loss(2), 4 * a.loss());
}

TEST(GaussianMeasurement, IsPaidForInItsMeasure) {
  const std::vector<double> rows(100, 1.0);
  const Measurement noisy = histogram_of(100) >> make_snapping(by_rho(Rational(1, 4)));
  InMemoryAccountant pure(1000);
  EXPECT_THROW(noisy.release(rows, pure), Error);
  EXPECT_EQ(pure.spent(), 0);
  InMemoryAccountant budget(PrivacyBudget::zcdp("1/2", "1e-6"));
  const Release release = noisy.release(rows, budget);
  EXPECT_EQ(release.values.size(), 3U);
  EXPECT_EQ(budget.spent(), Rational(1, 4));
  const Measurement priced = histogram_of(100) >> make_snapping(by_epsilon(1));
  InMemoryAccountant both(PrivacyBudget::approximate(2, "1e-5"));
  priced.release(rows, both);
  EXPECT_EQ(both.spent(), PrivacyAmount(1, delta));
  priced.release(rows, budget);
  EXPECT_EQ(budget.spent().delta, 0);
}

TEST(GaussianMeasurement, RefusesAPriceThatIsNone) {
  const auto count = make_count(vector_domain<double>(), symmetric_distance());
  const auto parameter = [&](const NoiseOptions& options) {
    try {
      static_cast<void>(count >> make_snapping(options));
    } catch (const Error& error) {
      return error.parameter();
    }
    return std::string("none");
  };
  EXPECT_EQ(parameter({.epsilon = 1, .noise = NoiseKind::gaussian}), "delta");
  EXPECT_EQ(parameter({.epsilon = 1, .rho = Rational(1)}), "rho");
  EXPECT_EQ(parameter({.epsilon = 1, .delta = Rational(1, 2)}), "delta");
  NoiseOptions both = by_rho(1);
  both.delta = delta;
  EXPECT_EQ(parameter(both), "rho");
  EXPECT_EQ(parameter(by_rho(0)), "rho");
  NoiseOptions certain = by_epsilon(1);
  certain.delta = Rational(1);
  EXPECT_EQ(parameter(certain), "delta");
}

// The neighbor tester finds an L2 distance that is claimed too small.
TEST(GaussianMeasurement, AWrongL2DistanceIsFound) {
  const Aggregation lying = histogram_of(5).with_l2(1);
  const auto found = find_counterexample(lying, {.trials = 200});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rule, BrokenRule::stability);
  EXPECT_THAT(found->explanation, HasSubstr("L2"));
  EXPECT_FALSE(find_counterexample(histogram_of(5), {.trials = 200}));
}

}  // namespace
}  // namespace snapdp
