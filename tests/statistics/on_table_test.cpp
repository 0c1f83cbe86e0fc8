// Compositions on tables: what release() releases. Neighbors are whole privacy units here, not rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "snapdp/error.h"
#include "snapdp/framework/composition.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/memory_source.h"

namespace snapdp {
namespace {

using testing::HasSubstr;

struct Person {
  std::int64_t unit;
  std::int64_t group;
  double value;
};
using People = std::vector<Person>;

MemorySource table(const People& people) {
  MemorySource::Integers units;
  MemorySource::Integers groups;
  MemorySource::Reals values;
  for (const Person& row : people) {
    units.push_back(row.unit);
    groups.push_back(row.group);
    values.push_back(row.value);
  }
  MemorySource source;
  source.add({"unit", AtomType::integer, ""}, units).add({"group", AtomType::integer, ""}, groups);
  source.add({"value", AtomType::real, ""}, values);
  return source;
}

constexpr Metric symmetric = Metric::symmetric_distance;

// [0, 4] of one real column as it comes, nulls and all.
Aggregation sum_of_values(Metric metric = symmetric, std::optional<std::uint64_t> size = std::nullopt) {
  VectorDomain rows = untrusted_domain({AtomType::real});
  if (size) rows = rows.of_size(*size);
  const Transformation whole = make_impute(rows, metric, {Dyadic(0)});
  return whole >> make_clamp(whole.output_domain(), metric, {Bounds(0, 4)}) >> make_sum();
}
Measurement sum(std::uint64_t distance, const Epsilon& epsilon = 1) {
  return sum_of_values() >> make_snapping({.epsilon = epsilon, .distance = distance});
}
Measurement counts_by_group(std::uint64_t distance) {
  return make_grouped(untrusted_domain({AtomType::integer}), symmetric, Bins::numbers({0, 1, 2}),
                      make_count()) >>
         make_snapping({.epsilon = "1/3", .distance = distance});
}

RowSelection units_of(std::uint64_t rows) {
  RowSelection selection;
  selection.unit = RowSelection::UnitLimit{"unit", rows};
  return selection;
}

// At most 3 rows of a person, of which the counts see at most one in each of two groups.
Composition limited() {
  return make_on_table(units_of(3), {{{"value"}, sum(3)},
                                     {{"group"}, counts_by_group(2), FoldRequest::GroupLimit{"group", 2, 1}},
                                     {{"value"}, sum(3, "1/4")}});
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.parameter() + ": " + error.what();
  }
  return "";
}

TEST(OnTable, LosesTheSumOfItsPartsForAUnit) {
  const Composition all = limited();
  EXPECT_EQ(all.input_metric(), Metric::unit_distance);
  EXPECT_EQ(all.distance(), 1);
  EXPECT_EQ(all.loss(), sum(3).loss(3) + counts_by_group(2).loss(2) + sum(3, "1/4").loss(3));
  EXPECT_EQ(all.loss(2), sum(3).loss(6) + counts_by_group(2).loss(4) + sum(3, "1/4").loss(6));
  EXPECT_EQ(all.price(), Rational(19, 12));
  EXPECT_TRUE(all.privacy().holds(1, all.price().epsilon));
  EXPECT_FALSE(all.privacy().holds(1, 1));
  const Composition rows = make_on_table({}, {{{"value"}, sum(1)}, {{"group"}, counts_by_group(1)}});
  EXPECT_EQ(rows.input_metric(), symmetric);
  EXPECT_EQ(rows.price(), Rational(4, 3));
}

// The loss between two tables of exact snapping: what the exact statistics differ by, in scales of the noise.
Rational loss_between(const Composition& all, const People& first, const People& second) {
  MemorySource one = table(first);
  MemorySource other = table(second);
  const std::vector<ExactPart> a = all.exact(one);
  const std::vector<ExactPart> b = all.exact(other);
  Rational loss = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[i].statistic.size(); ++j)
      loss += abs(a[i].statistic[j] - b[i].statistic[j]).rational() /
              Rational(a[i].measurement->mechanism().scale());
  }
  return loss;
}

TEST(OnTable, AUnitLosesNoMoreThanIsClaimed) {
  std::mt19937_64 engine(20);
  const Composition all = limited();
  Rational most = 0;
  for (int trial = 0; trial < 400; ++trial) {
    People people(engine() % 12);
    for (Person& row : people) {
      row.unit = static_cast<std::int64_t>(engine() % 3);
      row.group = static_cast<std::int64_t>(engine() % 4);
      row.value = engine() % 4 == 0 ? 9 : static_cast<double>(engine() % 5);
    }
    for (std::int64_t unit = 0; unit < 3; ++unit) {
      People without;
      std::copy_if(people.begin(), people.end(), std::back_inserter(without),
                   [&](const Person& row) { return row.unit != unit; });
      std::shuffle(without.begin(), without.end(), engine);
      most = std::max(most, loss_between(all, people, without));
    }
  }
  EXPECT_LE(most, all.loss());
  // No less could be claimed.
  EXPECT_GT(most * Rational(1001, 1000), all.loss());
}

TEST(OnTable, ReleasesEverythingForOneDebit) {
  MemorySource people = table({{1, 0, 4}, {1, 0, 4}, {1, 1, 4}, {1, 2, 4}, {2, 2, 1}});
  InMemoryAccountant budget("19/12");
  const Release release = limited().release(people, budget);
  EXPECT_EQ(people.folds, 1);
  EXPECT_EQ(release.values.size(), 5U);
  EXPECT_EQ(release.loss, Rational(19, 12));
  EXPECT_EQ(budget.remaining(), 0);
  EXPECT_THAT(message([&] { limited().release(people, budget); }), HasSubstr("epsilon"));
}

TEST(OnTable, WorksInsideOtherCompositions) {
  MemorySource people = table({{1, 0, 4}, {2, 1, 4}});
  const Composition doubled = make_postprocessing(
      limited(), [](const std::vector<Dyadic>& values) { return std::vector<Dyadic>{values[0] + values[0]}; },
      "twice the first", Trusted{});
  const Composition both = make_sequential({limited(), doubled});
  EXPECT_EQ(both.price(), Rational(19, 6));
  EXPECT_EQ(both.exact(people).size(), 6U);
  InMemoryAccountant budget(4);
  EXPECT_EQ(both.release(people, budget).values.size(), 6U);
  EXPECT_EQ(budget.spent(), Rational(19, 6));
  EXPECT_THAT(message([&] { make_sequential({limited(), sum(1)}); }), HasSubstr("domain"));
}

TEST(OnTable, APublicNumberOfRowsIsCheckedBeforeTheDebit) {
  const Measurement three = sum_of_values(change_one(), 3) >> make_snapping({.epsilon = 1});
  const Composition all = make_on_table({}, {{{"value"}, three}});
  InMemoryAccountant budget(1);
  MemorySource two = table({{1, 0, 4}, {2, 1, 4}});
  EXPECT_THAT(message([&] { all.release(two, budget); }), HasSubstr("3 rows"));
  EXPECT_EQ(budget.spent(), 0);
  MemorySource right = table({{1, 0, 4}, {2, 1, 4}, {3, 1, 1}});
  EXPECT_EQ(all.release(right, budget).values.size(), 1U);
}

TEST(OnTable, RefusesPartsThatDoNotFit) {
  const auto refusal = [](const RowSelection& selection, const std::vector<TablePart>& parts) {
    return message([&] { make_on_table(selection, parts); });
  };
  EXPECT_THAT(refusal({}, {}), HasSubstr("parts: "));
  EXPECT_THAT(refusal({}, {{{"value", "group"}, sum(1)}}), HasSubstr("2 columns are named"));
  EXPECT_THAT(refusal({}, {{{"value"}, sum(3)}}), HasSubstr("distance = 1"));
  EXPECT_THAT(refusal(units_of(3), {{{"value"}, sum(1)}}), HasSubstr("distance = 3"));
  EXPECT_THAT(refusal(units_of(3), {{{"value"}, sum(3), FoldRequest::GroupLimit{"group", 2, 1}}}),
              HasSubstr("distance = 2"));
  EXPECT_THAT(refusal({}, {{{"value"}, sum(1), FoldRequest::GroupLimit{"group", 1, 1}}}),
              HasSubstr("groups: "));
  const Measurement replaced = sum_of_values(change_one(), 3) >> make_snapping({.epsilon = 1});
  EXPECT_THAT(refusal({}, {{{"value"}, replaced}, {{"value"}, sum(1)}}), HasSubstr("one metric"));
  RowSelection some;
  some.where = RowSelection::Condition{
      {"value"}, {AtomType::real}, Predicate::compare(0, AtomType::real, Comparison::greater, 1)};
  EXPECT_EQ(refusal(some, {{{"value"}, sum(1)}}), "");
  EXPECT_THAT(refusal(some, {{{"value"}, replaced}}), HasSubstr("symmetric distance"));
}

// Losses for persons and losses for households do not add up.
TEST(OnTable, PrivacyUnitsAreToldApart) {
  RowSelection households = units_of(3);
  households.unit->column = "group";
  const Composition other = make_on_table(households, {{{"value"}, sum(3)}});
  EXPECT_THAT(message([&] { make_sequential({limited(), other}); }), HasSubstr("unit: make_sequential"));
  EXPECT_EQ(make_sequential({other, other}).price(), 2);
  MemorySource people = table({{1, 0, 4}});
  InMemoryAccountant budget(9);
  other.release(people, budget);
  EXPECT_THAT(message([&] { limited().release(people, budget); }), HasSubstr("use one unit"));
  EXPECT_THAT(message([&] {
                make_postprocessing(
                    limited(), [](std::vector<Dyadic> values) { return values; }, "same", Trusted{})
                    .release(people, budget);
              }),
              HasSubstr("use one unit"));
  EXPECT_EQ(budget.spent(), 1);
}

// Nothing keeps cells of a table within bounds, and a number of rows that a neighbor does not share is not public.
TEST(OnTable, TakesWhatATableMayHold) {
  const Measurement trusting =
      make_sum(VectorDomain({{AtomType::real, false, false, Bounds(0, 4)}}), symmetric) >>
      make_snapping({.epsilon = 1});
  const Measurement sized = sum_of_values(symmetric, 4) >> make_snapping({.epsilon = 1});
  for (const Measurement& measurement : {trusting, sized}) {
    EXPECT_THAT(message([&] {
                  make_on_table({}, {{{"value"}, measurement}});
                }),
                HasSubstr("domain: make_on_table"));
  }
  RowSelection some;
  some.where =
      RowSelection::Condition{{"value"}, {}, Predicate::compare(0, AtomType::real, Comparison::less, 1)};
  EXPECT_THAT(message([&] { make_on_table(some, {{{"value"}, sum(1)}}); }), HasSubstr("one type a column"));
  some.where->types = {AtomType::text};
  EXPECT_NE(message([&] { make_on_table(some, {{{"value"}, sum(1)}}); }), "");
}

TEST(OnTable, RowsAndTablesAreToldApart) {
  MemorySource people = table({{1, 0, 4}});
  InMemoryAccountant budget(9);
  const std::vector<double> rows{1};
  EXPECT_THAT(message([&] { make_sequential({sum(1)}).release(people, budget); }),
              HasSubstr("make_on_table"));
  EXPECT_THAT(message([&] { limited().exact(rows); }), HasSubstr("Source"));
  EXPECT_NE(message([&] { limited().release(rows, budget); }), "");
  EXPECT_EQ(budget.spent(), 0);
}

}  // namespace
}  // namespace snapdp
