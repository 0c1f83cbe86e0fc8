#include "snapdp/framework/composition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "snapdp/error.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/neighbor_tester.h"

namespace snapdp {
namespace {

using testing::HasSubstr;

// Counts what is asked of it.
class Counted final : public BudgetAccountant {
 public:
  explicit Counted(const Epsilon& budget) : budget_(budget) {}
  void debit(const Debit& debit) override {
    ++debits_;
    budget_.debit(debit);
  }
  Rational left() const { return budget_.remaining().value; }
  int debits() const { return debits_; }

 private:
  InMemoryAccountant budget_;
  int debits_ = 0;
};

VectorDomain ages(Metric metric) {
  const VectorDomain domain({{AtomType::integer, false, false, Bounds(0, 100)}});
  return preserves_size(metric) ? domain.of_size(4) : domain;
}
Measurement count(const Epsilon& epsilon) {
  return make_count(ages(symmetric_distance()), symmetric_distance()) >>
         make_snapping({.epsilon = epsilon, .noise = NoiseKind::geometric});
}
Measurement sum(const Epsilon& epsilon, Metric metric = symmetric_distance()) {
  return make_sum(ages(metric), metric) >> make_snapping({.epsilon = epsilon});
}
Predicate over(int age) {
  return Predicate::compare(0, AtomType::integer, Comparison::greater, age);
}

TEST(Sequential, LosesTheSumOfItsParts) {
  const Measurement a = sum("1/4");
  const Measurement b = count("1/8");
  const Composition both = make_sequential({a, b, a});
  EXPECT_EQ(both.loss(), 2 * a.loss() + b.loss());
  EXPECT_EQ(both.loss(3), 2 * a.loss(3) + b.loss(3));
  EXPECT_EQ(both.loss(0), 0);
  EXPECT_TRUE(both.privacy().holds(1, Rational(5, 8)));
  EXPECT_FALSE(both.privacy().holds(1, Rational(1, 2)));
  EXPECT_EQ(make_sequential({both, b}).loss(), both.loss() + b.loss());
  EXPECT_EQ(make_sequential({sum("1/4", change_one()), sum("1/2", change_one())}).input_metric(),
            change_one());
}

TEST(Parallel, LosesTheLargestOfItsPartsOnce) {
  const Composition split =
      make_parallel(ages(symmetric_distance()), symmetric_distance(),
                    {{over(65), sum("1/4")}, {over(17), count(1)}, {!over(17), count("1/2")}});
  EXPECT_EQ(split.loss(), count(1).loss());
  EXPECT_EQ(split.loss(3), 3 * count(1).loss());
  // Inside a sequence, and a sequence inside.
  EXPECT_EQ(make_sequential({split, sum("1/4")}).loss(), split.loss() + sum("1/4").loss());
  const Composition nested =
      make_parallel(ages(symmetric_distance()), symmetric_distance(),
                    {{over(65), make_sequential({count(1), count("1/2")})}, {over(17), split}});
  EXPECT_EQ(nested.loss(), count(1).loss() + count("1/2").loss());
}

TEST(Parallel, GivesEachRowToTheFirstPartThatTakesIt) {
  const VectorDomain domain = ages(symmetric_distance());
  const Composition inner =
      make_parallel(domain, symmetric_distance(), {{over(40), count(1)}, {over(20), sum(1)}});
  const Composition split = make_parallel(domain, symmetric_distance(),
                                          {{over(65), count(1)}, {over(17), inner}, {over(2), count(1)}});
  std::vector<std::int64_t> rows{1, 3, 18, 21, 30, 41, 64, 66, 99};
  while (rows.size() < 9 * 500) rows.insert(rows.end(), rows.begin(), rows.begin() + 9);
  std::vector<Dyadic> statistics;
  for (const ExactPart& part : split.exact(rows)) statistics.push_back(part.statistic.at(0));
  EXPECT_EQ(statistics, (std::vector<Dyadic>{2 * 500, 2 * 500, 51 * 500, 1 * 500}));
}

TEST(Parallel, RefusesWhatItsProofDoesNotCover) {
  const VectorDomain domain = ages(symmetric_distance());
  const auto message = [&](const VectorDomain& rows, Metric metric,
                           const std::vector<ParallelPart>& parts) -> std::string {
    try {
      make_parallel(rows, metric, parts);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message(domain, change_one(), {{over(1), count(1)}}),
              HasSubstr("a replaced row may leave one part"));
  EXPECT_THAT(message(domain, hamming(), {{over(1), count(1)}}), HasSubstr("make_sequential"));
  EXPECT_THAT(message(domain, symmetric_distance(), {}), HasSubstr("no parts"));
  EXPECT_THAT(message(vector_domain<std::int64_t>(), symmetric_distance(), {{over(1), count(1)}}),
              HasSubstr("build it on these"));
  const Measurement far =
      make_count(domain, symmetric_distance()) >> make_snapping({.epsilon = 1, .distance = 2});
  EXPECT_THAT(message(domain, symmetric_distance(), {{over(1), count(1)}, {over(0), far}}),
              HasSubstr("one distance"));
}

TEST(Sequential, RefusesPartsThatDoNotFit) {
  EXPECT_THROW(make_sequential({}), Error);
  EXPECT_THROW(make_sequential({count(1), sum(1, change_one())}), Error);
  EXPECT_THROW(make_sequential({sum(1, hamming()), sum(1, change_one())}), Error);
  const Measurement far = make_count(ages(symmetric_distance()), symmetric_distance()) >>
                          make_snapping({.epsilon = 1, .distance = 2});
  EXPECT_THROW(make_sequential({count(1), far}), Error);
}

TEST(Composition, PaysForAllAtOnceOrForNothing) {
  const Composition both = make_sequential({count("1/2"), sum("1/2"), count("1/4")});
  const std::vector<std::int64_t> rows{10, 20, 30};
  Counted poor(Rational(1));
  EXPECT_THROW(both.release(rows, poor), Error);
  EXPECT_EQ(poor.left(), 1);
  EXPECT_EQ(poor.debits(), 1);
  Counted rich(Rational(2));
  const Release release = both.release(rows, rich);
  EXPECT_EQ(release.values.size(), 3U);
  EXPECT_EQ(release.loss, both.loss());
  EXPECT_EQ(rich.left(), 2 - both.loss());
  EXPECT_EQ(rich.debits(), 1);
  // Another number of rows than the public one is found before anything is spent.
  EXPECT_THROW(make_sequential({sum(1, change_one())}).release(rows, rich), Error);
  EXPECT_EQ(rich.debits(), 1);
}

TEST(Composition, PostProcessingCostsNothing) {
  const Composition raw = make_sequential({count("1/2"), sum("1/2")});
  const Composition mean = make_postprocessing(
      raw,
      [](std::vector<Dyadic> values) {
        const double n = std::max(1.0, values[0].to_double_nearest());
        return std::vector<Dyadic>{Dyadic(values[1].to_double_nearest() / n)};
      },
      "mean", Trusted{});
  EXPECT_EQ(mean.loss(2), raw.loss(2));
  Counted budget(Rational(10));
  const std::vector<std::int64_t> rows(100'000, 50);
  const Composition twice = make_sequential({mean, count(1), mean});
  const Release release = twice.release(rows, budget);
  ASSERT_EQ(release.values.size(), 3U);
  // Off by more than 1 only if the count or the sum is off by 1000 or more scales: below e^-900.
  EXPECT_NEAR(release.values[0].to_double_nearest(), 50, 1);
  EXPECT_NEAR(release.values[1].to_double_nearest(), 100'000, 1000);
  EXPECT_NEAR(release.values[2].to_double_nearest(), 50, 1);
  EXPECT_THROW(make_postprocessing(raw, nullptr, "nothing", Trusted{}), Error);
}

// A false claim inside is found through the composition: a sum whose stability is half of what it should be.
TEST(Composition, TheNeighborTesterSeesThroughIt) {
  const Aggregation honest = make_sum(ages(symmetric_distance()), symmetric_distance());
  const Aggregation false_sum({honest.input_domain(), honest.output_domain(), honest.input_metric(),
                               honest.output_metric(), Relation::stable(50)},
                              std::shared_ptr<const Fold>(&honest.fold(), [](const Fold*) {}),
                              [&](const Totals& totals) { return honest.finish(totals); });
  const Composition both = make_sequential({count("1/64"), false_sum >> make_snapping({.epsilon = "1/4"})});
  const std::optional<Counterexample> found = find_counterexample(both);
  ASSERT_TRUE(found);
  EXPECT_EQ(to_string(found->rule), "loss");
  EXPECT_LE(found->first_rows.size() + found->second_rows.size(), 1U) << found->description();
  EXPECT_GT(*found->distance, *found->claimed);
}

}  // namespace
}  // namespace snapdp
