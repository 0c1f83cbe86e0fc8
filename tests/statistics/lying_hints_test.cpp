// Maps of relations that say less than their predicates: nothing that is debited, and no noise, rests on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/framework/composition.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {
namespace {

// d_out >= 2 d_in, with a forward map that says d_in and a backward map that says d_out.
Relation lying() {
  const auto same = [](const Rational& distance) { return distance; };
  return Relation([](const Rational& d_in, const Rational& d_out) { return d_out >= 2 * d_in; }, same, same);
}

const VectorDomain integers({{AtomType::integer, false, false, Bounds(0, 1)}});

// Twice the number of rows, whose author takes it for 1-stable in the maps alone.
Aggregation doubled_count() {
  const Aggregation count = make_count(integers, symmetric_distance());
  return Aggregation(
      {count.input_domain(), count.output_domain(), count.input_metric(), count.output_metric(), lying()},
      std::shared_ptr<const Fold>(std::make_shared<Aggregation>(count), &count.fold()),
      [](const Totals& totals) {
        return std::vector<Dyadic>{Dyadic(2 * static_cast<std::int64_t>(totals.rows))};
      });
}

class Same final : public RowFunction {
 public:
  void transform(Chunk&, Scratch&) const override {}
  KeptRows kept(const Chunk&, std::uint8_t*) const override { return KeptRows::all; }
  std::string description() const override { return "as they are"; }
};
Transformation lying_transformation() {
  return {{integers, integers, symmetric_distance(), symmetric_distance(), lying()},
          std::make_shared<Same>()};
}

// The loss that is stated, debited and paid for by the noise is one that the relation holds for.
void expect_honest(const Measurement& measurement, const Rational& sensitivity) {
  for (const Rational& d_in : std::vector<Rational>{1, 2, 5})
    EXPECT_TRUE(measurement.privacy().holds(d_in, measurement.loss(d_in)));
  EXPECT_GE(measurement.mechanism().sensitivity().rational(), sensitivity);
  EXPECT_GE(measurement.loss() * Rational(measurement.mechanism().scale()), sensitivity);
  InMemoryAccountant budget(100);
  EXPECT_EQ(measurement.release(std::vector<std::int64_t>{0, 1}, budget).loss.epsilon, budget.spent().value);
  EXPECT_TRUE(measurement.privacy().holds(measurement.distance(), budget.spent().value));
}

TEST(LyingHints, OfAnAggregation) {
  EXPECT_GE(doubled_count().sensitivity(), 2);
  const Measurement measurement = doubled_count() >> make_snapping({.epsilon = "1/2"});
  expect_honest(measurement, 2);
  EXPECT_EQ(measurement.mechanism().scale(), 4);
  NoiseOptions of_units{.epsilon = "1/2"};
  of_units.distance = 3;
  expect_honest(doubled_count() >> make_snapping(of_units), 2);
  EXPECT_GE((doubled_count() >> make_snapping(of_units)).mechanism().sensitivity().rational(), 6);
}

TEST(LyingHints, OfTransformationsBeforeIt) {
  const Aggregation count = make_count(integers, symmetric_distance());
  expect_honest(lying_transformation() >> count >> make_snapping({.epsilon = "1/2"}), 2);
  const Transformation twice = lying_transformation() >> lying_transformation();
  EXPECT_GE(twice.stability().forward(1), 4);
  EXPECT_FALSE(twice.stability().holds(1, 1));
  EXPECT_LE(twice.stability().backward(4), 1);
  expect_honest(twice >> doubled_count() >> make_snapping({.epsilon = "1/2"}), 8);
}

TEST(LyingHints, OfTheStatisticOfAGroup) {
  const VectorDomain keyed({AtomDomain{AtomType::integer, true, false, std::nullopt}, integers.columns()[0]});
  const Aggregation grouped = make_grouped(keyed, symmetric_distance(), Bins::numbers({1, 2}),
                                           [](const VectorDomain&, Metric) { return doubled_count(); });
  EXPECT_GE(grouped.sensitivity(), 2);
  EXPECT_FALSE(grouped.stability().holds(1, 1));
}

TEST(LyingHints, OfThePartsOfCompositions) {
  const Measurement part = doubled_count() >> make_snapping({.epsilon = "1/2"});
  const Composition sequential = make_sequential({part, part});
  const Composition parallel =
      make_parallel(integers, symmetric_distance(),
                    {{Predicate::compare(0, AtomType::integer, Comparison::less, 1), part},
                     {Predicate::compare(0, AtomType::integer, Comparison::at_least, 1), sequential}});
  const Composition post = make_postprocessing(
      parallel, [](std::vector<Dyadic> values) { return values; }, "as they are", Trusted{});
  for (const Composition& composition : {sequential, parallel, post}) {
    EXPECT_EQ(composition.loss(), 1);
    EXPECT_TRUE(composition.privacy().holds(1, composition.loss()));
    EXPECT_TRUE(composition.privacy().holds(composition.distance(), composition.price().epsilon));
    EXPECT_FALSE(composition.privacy().holds(1, Rational(99, 100)));
    InMemoryAccountant budget(1);
    composition.release(std::vector<std::int64_t>{0, 1}, budget);
    EXPECT_EQ(budget.remaining(), 0);
  }
}

// A part without any map can be measured too; its noise is for a distance that its predicate holds for.
TEST(LyingHints, OrNone) {
  const Aggregation count = make_count(integers, symmetric_distance());
  const Aggregation bare(
      {count.input_domain(), count.output_domain(), count.input_metric(), count.output_metric(),
       Relation([](const Rational& d_in, const Rational& d_out) { return d_out >= d_in; })},
      std::shared_ptr<const Fold>(std::make_shared<Aggregation>(count), &count.fold()),
      [](const Totals& totals) {
        return std::vector<Dyadic>{Dyadic(static_cast<std::int64_t>(totals.rows))};
      });
  expect_honest(bare >> make_snapping({.epsilon = "1/2"}), 1);
}

}  // namespace
}  // namespace snapdp
