#include "snapdp/statistics/grouped.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "snapdp/error.h"
#include "snapdp/framework/keyed_fold.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/statistics/moments.h"

namespace snapdp {
namespace {

Aggregation dropped_sum(const VectorDomain& rest, Metric metric) {
  const Transformation complete = make_drop(rest, metric);
  return complete >> make_clamp(complete.output_domain(), metric, Bounds(-3, 10)) >> make_sum();
}

struct Rows {
  std::vector<std::string> keys;
  std::vector<double> values;
  std::vector<std::uint8_t> validity;  // of the values

  std::size_t size() const { return keys.size(); }
  void fold(const Aggregation& aggregation, AggregateState& state, std::size_t first, std::size_t end) const {
    const std::vector<std::string_view> texts(keys.begin(), keys.end());
    const std::vector<Column> columns{{AtomType::text, texts.data()},
                                      {AtomType::real, values.data(), validity.data(), 0}};
    aggregation.update(state, Chunk(columns, size()).slice(first, end - first));
  }
};

Rows some_rows(std::mt19937_64& engine, std::size_t count) {
  static const std::vector<std::string> names{"CA",       "NY", "TX", "", "a name longer than fifteen bytes",
                                              "elsewhere"};
  Rows rows;
  rows.validity.assign(count / 8 + 1, 0);
  for (std::size_t row = 0; row < count; ++row) {
    rows.keys.push_back(names[engine() % names.size()]);
    rows.values.push_back(engine() % 11 == 0 ? std::nan("") : static_cast<double>(engine() % 1000) / 64 - 5);
    if (engine() % 5 != 0) rows.validity[row / 8] |= static_cast<std::uint8_t>(1U << (row % 8));
  }
  return rows;
}

const std::vector<std::string> keys{"NY", "never", "CA", "", "a name longer than fifteen bytes"};

Aggregation by_key() {
  return make_grouped(untrusted_domain({AtomType::text, AtomType::real}), symmetric_distance(),
                      Bins::texts(keys), dropped_sum);
}

// Each group alone, row by row.
std::vector<Dyadic> oracle(const Rows& rows) {
  std::vector<Dyadic> sums(keys.size(), Dyadic(0));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto key = std::find(keys.begin(), keys.end(), rows.keys[row]);
    const bool valid =
        ((unsigned{rows.validity[row / 8]} >> (row % 8)) & 1U) != 0 && !std::isnan(rows.values[row]);
    if (key == keys.end() || !valid) continue;
    sums[static_cast<std::size_t>(key - keys.begin())] += Dyadic(std::clamp(rows.values[row], -3.0, 10.0));
  }
  for (Dyadic& sum : sums) sum = by_key().output_domain().grid.round(sum);
  return sums;
}

TEST(Grouped, IsEachGroupAlone) {
  std::mt19937_64 engine(7);
  const Aggregation aggregation = by_key();
  for (const std::size_t count : {0U, 1U, 2U, 2047U, 2048U, 2049U, 10'000U}) {
    const Rows rows = some_rows(engine, count);
    AggregateState state = aggregation.start();
    rows.fold(aggregation, state, 0, count);
    EXPECT_EQ(aggregation.finish(state), oracle(rows)) << count;
    EXPECT_EQ(state.totals().rows, count);
    // In two pieces, merged in either order, and through bytes.
    for (int i = 0; i < 4; ++i) {
      const std::size_t middle = count == 0 ? 0 : engine() % count;
      AggregateState left = aggregation.start();
      AggregateState right = aggregation.start();
      rows.fold(aggregation, left, 0, middle);
      rows.fold(aggregation, right, middle, count);
      if (i % 2 == 0) std::swap(left, right);
      AggregateState kept = aggregation.from_bytes(aggregation.to_bytes(left));
      aggregation.merge(kept, right);
      EXPECT_EQ(aggregation.to_bytes(kept), aggregation.to_bytes(state)) << count;
    }
  }
}

// A row function of a user's that does not say which rows it keeps: those that are not negative, doubled.
class DoubleNonNegative final : public RowFunction {
 public:
  void transform(Chunk& rows, Scratch& scratch) const override {
    std::size_t kept = 0;
    double* const results = scratch.buffer(0).reals();
    for (std::size_t row = 0; row < rows.length; ++row) {
      const double value = rows.column[0].reals()[row];
      results[kept] = 2 * value;
      kept += value >= 0 ? 1 : 0;
    }
    rows.column[0] = {AtomType::real, results};
    rows.length = kept;
  }
  std::string description() const override { return "double what is not negative"; }
};

// Every way through a grouped fold: functions that run once for all groups and functions that run group by group, folds
// that take mixed rows and folds that do not; with keys found by the fold or before.
TEST(Grouped, EveryKindOfChainIsEachGroupAlone) {
  const VectorDomain real({AtomDomain{AtomType::real, false, false, Bounds(-3, 10)}});
  const auto double_positive = [&](const VectorDomain& domain, Metric metric) {
    return Transformation({domain, vector_domain<double>(), metric, metric, Relation::stable(1)},
                          std::make_shared<DoubleNonNegative>());
  };
  const auto chain = [&](int kind, const Partial<Aggregation>& statistic) {
    return [=](const VectorDomain& rest, Metric metric) {
      const Transformation complete =
          kind == 1 ? make_impute(rest, metric, {Dyadic(4)}) : make_drop(rest, metric);
      const Transformation first =
          kind == 2   ? complete >> double_positive(complete.output_domain(), metric)
          : kind == 3 ? complete >> make_select(complete.output_domain(), metric,
                                                Predicate::compare(0, AtomType::real, Comparison::greater, 1))
                      : complete;
      return first >> make_clamp(first.output_domain(), metric, Bounds(-3, 10)) >> statistic;
    };
  };
  const VectorDomain domain = untrusted_domain({AtomType::text, AtomType::real});
  const Bins bins = Bins::texts(keys);
  std::mt19937_64 engine(9);
  const Rows rows = some_rows(engine, 5000);
  const std::vector<std::string_view> texts(rows.keys.begin(), rows.keys.end());
  const Column key{AtomType::text, texts.data()};
  const Column value{AtomType::real, rows.values.data(), rows.validity.data(), 0};
  for (const Partial<Aggregation>& statistic :
       {Partial<Aggregation>(make_count()), Partial<Aggregation>(make_sum()),
        Partial<Aggregation>(make_centered_moment(2)),
        make_histogram(Bins::edges({Dyadic(-3), Dyadic(0), Dyadic(10)}))}) {
    for (int kind = 0; kind < 4; ++kind) {
      const Aggregation inner =
          chain(kind, statistic)(untrusted_domain({AtomType::real}), symmetric_distance());
      SCOPED_TRACE(inner.description());
      const Aggregation grouped = make_grouped(domain, symmetric_distance(), bins, chain(kind, statistic));
      std::vector<Dyadic> expected;
      for (const std::string& wanted : keys) {
        AggregateState alone = inner.start();
        for (std::size_t row = 0; row < rows.size(); ++row) {
          if (rows.keys[row] == wanted) inner.update(alone, Chunk({&value, 1}, rows.size()).slice(row, 1));
        }
        const std::vector<Dyadic> statistics = inner.finish(alone);
        expected.insert(expected.end(), statistics.begin(), statistics.end());
      }
      AggregateState state = grouped.start();
      rows.fold(grouped, state, 0, rows.size());
      EXPECT_EQ(grouped.finish(state), expected);

      ASSERT_NE(grouped.key_index(), nullptr);
      EXPECT_EQ(grouped.key_index()->keys(), keys.size());
      std::vector<std::uint32_t> places(rows.size());
      for (std::size_t first = 0; first < rows.size(); first += block_rows) {
        grouped.key_index()->find(key.from(first), std::min(block_rows, rows.size() - first),
                                  places.data() + first);
      }
      AggregateState placed = grouped.start();
      grouped.update_placed(placed, places.data(), Chunk({&value, 1}, rows.size()));
      EXPECT_EQ(grouped.to_bytes(placed), grouped.to_bytes(state));
      EXPECT_THROW(grouped.update_placed(placed, places.data(), Chunk({&key, 1}, rows.size())), Error);
    }
  }
  const Aggregation plain = chain(0, make_sum())(untrusted_domain({AtomType::real}), symmetric_distance());
  EXPECT_EQ(plain.key_index(), nullptr);
  AggregateState state = plain.start();
  EXPECT_THROW(plain.update_placed(state, nullptr, Chunk({&value, 1}, 1)), Error);
}

TEST(Grouped, GroupsMayHaveGroups) {
  std::mt19937_64 engine(10);
  const Rows rows = some_rows(engine, 4000);
  const std::vector<std::string_view> texts(rows.keys.begin(), rows.keys.end());
  std::vector<std::int64_t> years;
  for (std::size_t row = 0; row < rows.size(); ++row)
    years.push_back(static_cast<std::int64_t>(engine() % 4));
  std::vector<std::uint8_t> year_validity(rows.size() / 8 + 1);
  for (std::uint8_t& bits : year_validity) bits = static_cast<std::uint8_t>(engine() | engine());
  const std::vector<Column> columns{{AtomType::text, texts.data()},
                                    {AtomType::integer, years.data(), year_validity.data(), 0},
                                    {AtomType::real, rows.values.data(), rows.validity.data(), 0}};
  const std::vector<std::int64_t> wanted_years{0, 2, 3};
  const Bins year = Bins::numbers({Dyadic(0), Dyadic(2), Dyadic(3)});
  const auto clamped = [](const Partial<Aggregation>& statistic) -> Partial<Aggregation> {
    return [=](const VectorDomain& rest, Metric metric) {
      const Transformation complete = make_drop(rest, metric);
      return complete >> make_clamp(complete.output_domain(), metric, Bounds(-3, 10)) >> statistic;
    };
  };
  // The last two are folded from sorted rows, within rows that are sorted themselves.
  for (const Partial<Aggregation>& inner :
       {clamped(make_sum()), clamped(make_centered_moment(2)),
        make_histogram(Bins::edges({Dyadic(-3), Dyadic(0), Dyadic(10)}).with_other())}) {
    const Aggregation alone = inner(untrusted_domain({AtomType::real}), symmetric_distance());
    const Aggregation table =
        make_grouped(untrusted_domain({AtomType::text, AtomType::integer, AtomType::real}),
                     symmetric_distance(), Bins::texts(keys), make_grouped(year, inner));
    EXPECT_EQ(table.sensitivity(), alone.sensitivity());
    std::vector<Dyadic> expected;
    for (const std::string& key : keys) {
      for (const std::int64_t wanted : wanted_years) {
        AggregateState state = alone.start();
        for (std::size_t row = 0; row < rows.size(); ++row) {
          if (rows.keys[row] == key && columns[1].valid(row) && years[row] == wanted)
            alone.update(state, Chunk({&columns[2], 1}, rows.size()).slice(row, 1));
        }
        const std::vector<Dyadic> statistic = alone.finish(state);
        expected.insert(expected.end(), statistic.begin(), statistic.end());
      }
    }
    EXPECT_EQ(table(Chunk(columns, rows.size())), expected);
  }
}

TEST(Grouped, NeighborsDifferInOneGroup) {
  std::mt19937_64 engine(8);
  const Aggregation aggregation = by_key();
  const Rational claimed = aggregation.sensitivity();
  EXPECT_EQ(claimed, 10);
  for (int trial = 0; trial < 200; ++trial) {
    const Rows rows = some_rows(engine, 40);
    Rows fewer = rows;
    fewer.keys.pop_back();
    fewer.values.pop_back();
    AggregateState all = aggregation.start();
    AggregateState most = aggregation.start();
    rows.fold(aggregation, all, 0, 40);
    fewer.fold(aggregation, most, 0, 39);
    const std::vector<Dyadic> x = aggregation.finish(all);
    const std::vector<Dyadic> y = aggregation.finish(most);
    Dyadic distance;
    for (std::size_t i = 0; i < x.size(); ++i) distance += abs(x[i] - y[i]);
    EXPECT_LE(distance.rational(), claimed);
  }
}

TEST(Grouped, KeysMayBeNumbersBinsOrManyAndInnerAVector) {
  const std::vector<std::int64_t> key{3, 1, 3, 2, 3};
  const std::vector<double> value{0.5, 1.5, 2.5, 0.5, 0.5};
  const std::vector<Column> columns{{AtomType::integer, key.data()}, {AtomType::real, value.data()}};
  const VectorDomain domain = untrusted_domain({AtomType::integer, AtomType::real});
  const Aggregation table =
      make_grouped(domain, symmetric_distance(), Bins::numbers({Dyadic(1), Dyadic(3)}).with_other(),
                   make_histogram(Bins::edges({Dyadic(0), Dyadic(1), Dyadic(2)}).with_other()));
  EXPECT_EQ(table(Chunk(columns, 5)), (std::vector<Dyadic>{0, 1, 0, /* 3 */ 2, 0, 1, /* other */ 1, 0, 0}));
  EXPECT_EQ(table.sensitivity(), 1);
  EXPECT_EQ(table.sensitivity(4), 4);

  // A hundred thousand keys, most without rows: all of them appear.
  std::vector<Dyadic> many;
  for (long i = 0; i < 100'000; ++i) many.emplace_back(Integer(i), 0);
  const Aggregation counts = make_grouped(untrusted_domain({AtomType::integer}), symmetric_distance(),
                                          Bins::numbers(many), make_count());
  const std::vector<Dyadic> result = counts(Chunk(key));
  ASSERT_EQ(result.size(), 100'000U);
  EXPECT_EQ(result[3], Dyadic(3));
  EXPECT_EQ(result[99'999], Dyadic(0));
}

TEST(Grouped, RefusesWhatItCannotProve) {
  const VectorDomain domain = untrusted_domain({AtomType::text, AtomType::real});
  const auto error = [&](const VectorDomain& rows, Metric metric, const Bins& bins) {
    try {
      make_grouped(rows, metric, bins, dropped_sum);
    } catch (const Error& thrown) {
      return thrown.parameter();
    }
    return std::string("none");
  };
  EXPECT_EQ(error(domain, change_one(), Bins::texts(keys)), "metric");
  EXPECT_EQ(error(domain.of_size(4), hamming(), Bins::texts(keys)), "metric");
  EXPECT_EQ(error(untrusted_domain({}), symmetric_distance(), Bins::texts(keys)), "domain");
  EXPECT_EQ(error(domain, symmetric_distance(), Bins::numbers({Dyadic(1)})), "keys");

  // Totals that no rows have.
  const Aggregation aggregation = by_key();
  const auto refused = [&](Totals totals) { EXPECT_THROW(aggregation.fold().restore(totals), Error); };
  Totals totals = aggregation.start().totals();
  totals.values[0] = Dyadic(1);  // more rows than all
  refused(totals);
  totals.rows = 1;
  totals.values[1] = Dyadic(11);  // beyond the bounds
  refused(totals);
  totals.values[1] = Dyadic(4);
  EXPECT_EQ(aggregation.fold().restore(totals)->totals(), totals);
  totals.values.pop_back();
  refused(totals);
}

TEST(Grouped, CostsOneEpsilonForAllGroupsAndMoreForAUnit) {
  const Measurement row = by_key() >> make_snapping({.epsilon = "1/2"});
  EXPECT_LE(row.loss(), Rational(1, 2));
  EXPECT_GE(row.loss(), Rational(49, 100));
  const Measurement unit = by_key() >> make_snapping({.epsilon = "1/2", .distance = 4});
  EXPECT_EQ(unit.mechanism().sensitivity(), Dyadic(40));
  EXPECT_LE(unit.loss(unit.distance()), Rational(1, 2));
  EXPECT_LE(unit.loss(), Rational(1, 8));
  EXPECT_THROW((by_key() >> make_snapping({.epsilon = "1/2", .distance = 0})), Error);
}

}  // namespace
}  // namespace snapdp
