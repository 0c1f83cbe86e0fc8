// What the proofs of proofs/ take for granted is refused where it does not hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/framework/composition.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/neighbor_tester.h"

namespace snapdp {
namespace {

using testing::HasSubstr;

template <typename Call>
std::string refused(const std::string& parameter, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.parameter(), parameter) << error.what();
    return error.what();
  }
  return "not refused";
}

class Same final : public RowFunction {
 public:
  void transform(Chunk&, Scratch&) const override {}
  std::string description() const override { return "as they are"; }
};

// An aggregation of one real column in [0, 1] with another finish, domain or metric than a count's.
Aggregation part(Metric in, Metric out, const StatisticDomain& domain, std::vector<Dyadic> statistic) {
  const VectorDomain rows({{AtomType::real, false, false, Bounds(0, 1)}});
  const auto count = std::make_shared<Aggregation>(make_count(rows, symmetric_distance()));
  return Aggregation({rows, domain, in, out, Relation::stable(1)},
                     std::shared_ptr<const Fold>(count, &count->fold()),
                     [statistic](const Totals&) { return statistic; });
}

constexpr Metric add_remove = Metric::symmetric_distance;

TEST(Preconditions, PartsMeasureWhatTheyAreOn) {
  const StatisticDomain one{1, Grid(0), true, std::nullopt};
  const StatisticDomain two{2, Grid(0), true, std::nullopt};
  const auto statistic = [&](Metric in, Metric out, const StatisticDomain& domain) {
    return [=] { part(in, out, domain, {}); };
  };
  EXPECT_THAT(refused("metric", statistic(add_remove, Metric::change_one, one)),
              HasSubstr("works on a statistic"));
  EXPECT_THAT(refused("metric", statistic(Metric::l1_distance, Metric::l1_distance, one)),
              HasSubstr("works on rows"));
  EXPECT_THAT(refused("metric", statistic(Metric::unit_distance, Metric::l1_distance, one)),
              HasSubstr("make_unit_limit"));
  EXPECT_THAT(refused("domain", statistic(add_remove, Metric::absolute_distance, two)),
              HasSubstr("use the L1 distance"));
  EXPECT_THAT(refused("domain", statistic(add_remove, Metric::l1_distance, {0, Grid(0), true, std::nullopt})),
              HasSubstr("not 0"));
  const VectorDomain rows = vector_domain<double>();
  EXPECT_THAT(refused("metric",
                      [&] {
                        Transformation(
                            {rows, rows, add_remove, Metric::absolute_distance, Relation::stable(1)},
                            std::make_shared<Same>());
                      }),
              HasSubstr("works on rows"));
}

// The noise's proof is about members of the output domain: precision mode counts on the grid, geometric noise on
// integers, bounds on the range. Nothing is debited for anything else.
TEST(Preconditions, StatisticsAreInTheirDomain) {
  const StatisticDomain integers{1, Grid(0), true, Bounds(0, 10)};
  const StatisticDomain pair{2, Grid(-1), false, std::nullopt};
  struct Case {
    StatisticDomain domain;
    std::vector<Dyadic> statistic;
    std::string why;
  };
  const std::vector<Case> cases = {{integers, {Dyadic(0.5)}, "not a multiple of the grid"},
                                   {integers, {Dyadic(11)}, "outside the public range"},
                                   {integers, {Dyadic(-1)}, "outside the public range"},
                                   {integers, {1, 2}, "it has 2 numbers, the domain 1"},
                                   {{1, Grid(-1), true, std::nullopt}, {Dyadic(0.5)}, "not an integer"},
                                   {pair, {Dyadic(0.25), 1}, "not a multiple of the grid"},
                                   {pair, {1}, "it has 1 numbers"}};
  for (const Case& each : cases) {
    const Measurement measurement =
        part(add_remove, Metric::l1_distance, each.domain, each.statistic) >> make_snapping({.epsilon = 1});
    InMemoryAccountant budget(10);
    const std::vector<double> rows{0.5};
    EXPECT_THAT(refused("statistic", [&] { measurement.release(rows, budget); }), HasSubstr(each.why));
    EXPECT_THAT(refused("statistic", [&] { make_sequential({measurement}).release(rows, budget); }),
                HasSubstr(each.why));
    EXPECT_THAT(refused("statistic", [&] { measurement.check(each.statistic); }), HasSubstr(each.why));
    EXPECT_EQ(budget.spent(), 0);
  }
  const Measurement good =
      part(add_remove, Metric::l1_distance, pair, {Dyadic(0.5), -3}) >> make_snapping({.epsilon = 1});
  InMemoryAccountant budget(10);
  EXPECT_EQ(good.release(std::vector<double>{0.5}, budget).values.size(), 2U);
  EXPECT_EQ(budget.spent(), 1);
}

// Stability is claimed for rows of the input domain.
TEST(Preconditions, RowsAreInTheInputDomain) {
  const VectorDomain reals({{AtomType::real, false, false, Bounds(0, 1)}});
  const Measurement sum = make_sum(reals, add_remove) >> make_snapping({.epsilon = 1});
  InMemoryAccountant budget(10);
  const Composition both = make_sequential({sum, sum});
  for (const std::vector<double>& rows : std::vector<std::vector<double>>{
           {0.5, std::nan("")}, {2}, {-0.25, 0.5}, {INFINITY}, std::vector<double>(5000, 1.5)}) {
    EXPECT_THAT(refused("rows", [&] { sum.release(rows, budget); }), HasSubstr("untrusted_domain"));
    EXPECT_THAT(refused("rows", [&] { both.release(rows, budget); }), HasSubstr("real in [0, 1]"));
  }
  EXPECT_THAT(refused("rows", [&] { sum.release(std::vector<std::int64_t>{1}, budget); }),
              HasSubstr("another type"));
  const double cells[] = {0.5, 0.25};
  const std::uint8_t second_is_null = 0b01;
  const Column column{AtomType::real, cells, &second_is_null, 0};
  EXPECT_THAT(refused("rows", [&] { sum.release(Chunk({&column, 1}, 2), budget); }), HasSubstr("null"));
  EXPECT_EQ(budget.spent(), 0);
  sum.release(std::vector<double>{0, 1, -0.0}, budget);
  // A number of rows that is not the public one is told as before.
  const Measurement mean = make_mean(reals.of_size(3), change_one()) >> make_snapping({.epsilon = 1});
  EXPECT_THAT(refused("size", [&] { mean.release(std::vector<double>{0.5}, budget); }),
              HasSubstr("size = 3"));
  // Everything is a member of an untrusted domain.
  const Measurement count =
      make_count(untrusted_domain({AtomType::real}), add_remove) >> make_snapping({.epsilon = 1});
  count.release(std::vector<double>{std::nan(""), INFINITY, 1e300}, budget);
  EXPECT_EQ(budget.spent(), 2);
}

// What a group's statistic is built on is what its rows are.
TEST(Preconditions, TheStatisticOfAGroupIsOnItsRows) {
  const VectorDomain keyed = untrusted_domain({AtomType::integer, AtomType::real});
  const Bins keys = Bins::numbers({1, 2});
  const VectorDomain bounded({{AtomType::real, false, false, Bounds(0, 1)}});
  for (const Partial<Aggregation>&inner : std::vector<Partial<Aggregation>>{
           [&](const VectorDomain&, Metric) { return make_sum(bounded, add_remove); },
           // A bound that is proved for replaced rows says nothing of rows that come or go.
           [&](const VectorDomain&rest, Metric) { return make_distinct_count(rest, change_one(), keys); },
           [&](const VectorDomain&, Metric metric) {
             return make_count(untrusted_domain({AtomType::integer}), metric);
           }}) {
    EXPECT_THAT(refused("domain", [&] { make_grouped(keyed, add_remove, keys, inner); }),
                HasSubstr("build it on the domain and metric that it is given"));
  }
}

// Functions of one cell see equal cells alike, whatever their author does with them.
TEST(Preconditions, MapsSeeCellsAsTheyAreCompared) {
  const AtomDomain output{AtomType::real, true, false, std::nullopt};
  const Transformation sign = make_map(
      untrusted_domain({AtomType::real}), change_one(), output,
      [](double x) {
        std::uint64_t bits = 0;
        static_assert(sizeof bits == sizeof x);
        std::memcpy(&bits, &x, sizeof bits);
        return static_cast<double>(bits >> 48);
      },
      "the first sixteen bits", Trusted{});
  const double payload = std::nan("0x7ff");
  const std::vector<double> cells{0.0, -0.0, std::nan(""), -std::nan(""), payload, 1.0};
  Scratch scratch;
  const Chunk result = sign.functions()[0]->apply(Chunk(cells), scratch);
  const double* const values = result.column[0].reals();
  EXPECT_EQ(values[0], values[1]);
  EXPECT_EQ(values[2], values[3]);
  EXPECT_EQ(values[2], values[4]);
  EXPECT_FALSE(find_counterexample(sign));
}

}  // namespace
}  // namespace snapdp
