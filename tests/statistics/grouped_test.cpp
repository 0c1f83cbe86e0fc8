#include <gtest/gtest.h>

#include <map>
#include <random>

#include "framework/shared/keyed_fold.h"
#include "snapdp/error.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {

using namespace framework_internal;

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

// The states of all groups, side by side or not, end in the totals of one state a group, bit for bit, also when they are
// stored half way, continued and merged.
TEST(Grouped, TotalsAreThoseOfEachStateAlone) {
  std::mt19937_64 engine(12);
  const std::size_t count = 9000;
  std::vector<std::int64_t> key(count);
  std::vector<std::int64_t> value(count);
  std::vector<double> real(count);
  for (std::size_t row = 0; row < count; ++row) {
    key[row] = static_cast<std::int64_t>(engine() % 7);
    value[row] = static_cast<std::int64_t>(engine()) >> (engine() % 64);
    real[row] = std::ldexp(static_cast<double>(value[row]), -static_cast<int>(engine() % 120));
  }
  const std::vector<std::int64_t> wanted{5, 0, 99, 3};
  const Bins bins = Bins::numbers({Dyadic(5), Dyadic(0), Dyadic(99), Dyadic(3)});
  const Dyadic least(std::int64_t{INT64_MIN});
  const Dyadic most(std::int64_t{INT64_MAX});
  const auto complete = [](AtomType type) { return AtomDomain{type, false, false, {}}; };
  const auto check = [&](AtomType type, const void* cells, const Partial<Aggregation>& inner) {
    const Aggregation grouped = make_grouped(VectorDomain({complete(AtomType::integer), complete(type)}),
                                             symmetric_distance(), bins, inner);
    const Aggregation alone = inner(VectorDomain({complete(type)}), symmetric_distance());
    SCOPED_TRACE(alone.description());
    const std::vector<Column> columns{{AtomType::integer, key.data()}, {type, cells}};
    const Chunk rows(columns, count);
    Totals expected{count, {}};
    for (const std::int64_t one : wanted) {
      AggregateState state = alone.start();
      for (std::size_t row = 0; row < count; ++row) {
        if (key[row] == one) alone.update(state, Chunk({&columns[1], 1}, count).slice(row, 1));
      }
      const Totals totals = state.totals();
      expected.values.emplace_back(Integer(static_cast<unsigned long>(totals.rows)), 0);
      expected.values.insert(expected.values.end(), totals.values.begin(), totals.values.end());
    }
    AggregateState whole = grouped.start();
    grouped.update(whole, rows);
    EXPECT_EQ(whole.totals(), expected);
    const std::size_t first = 1 + engine() % (count / 2);
    const std::size_t second = first + 1 + engine() % (count / 3);
    AggregateState left = grouped.start();
    grouped.update(left, rows.slice(0, first));
    left = grouped.from_bytes(grouped.to_bytes(left));
    grouped.update(left, rows.slice(first, second - first));
    AggregateState right = grouped.start();
    grouped.update(right, rows.slice(second, count - second));
    grouped.merge(right, left);
    EXPECT_EQ(right.totals(), expected);
    EXPECT_EQ(grouped.to_bytes(right), grouped.to_bytes(whole));
  };
  const auto clamped = [](const Bounds& bounds,
                          const Partial<Aggregation>& statistic) -> Partial<Aggregation> {
    return [=](const VectorDomain& domain, Metric metric) {
      return make_clamp(domain, metric, bounds) >> statistic;
    };
  };
  for (const Bounds& bounds : {Bounds(0, 0), Bounds(-1, 1), Bounds(0, 500), Bounds(-500, -1),
                               Bounds(least, most), Bounds(least, 0), Bounds(0, most)}) {
    check(AtomType::integer, value.data(), clamped(bounds, make_sum()));
  }
  for (const Bounds& bounds : {Bounds(0, 0), Bounds(-1, 1), Bounds(-500, 500)})
    check(AtomType::real, real.data(), clamped(bounds, make_sum()));
  check(AtomType::integer, value.data(), make_count());
  check(AtomType::integer, value.data(), clamped(Bounds(-9, 9), make_centered_moment(2)));
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

// Rows are sorted by group in room that a thread's states share, whatever their keys.
TEST(Grouped, StatesOfOtherKeysLeaveNothingBehind) {
  const std::vector<std::int64_t> key{4, 1, 2, 4, 3, 3, 9, 9, 9};
  const std::vector<double> value(key.size(), 0.5);
  const std::vector<Column> columns{{AtomType::integer, key.data()}, {AtomType::real, value.data()}};
  const auto counts = [&](const std::vector<Dyadic>& wanted) {
    return make_grouped(untrusted_domain({AtomType::integer, AtomType::real}), symmetric_distance(),
                        Bins::numbers(wanted),
                        make_histogram(Bins::edges({Dyadic(0), Dyadic(1)})))(Chunk(columns, key.size()));
  };
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(counts({Dyadic(3)}), (std::vector<Dyadic>{2}));
    EXPECT_EQ(counts({Dyadic(4), Dyadic(5), Dyadic(3), Dyadic(1)}), (std::vector<Dyadic>{2, 0, 2, 1}));
    EXPECT_EQ(counts({Dyadic(9), Dyadic(2)}), (std::vector<Dyadic>{3, 1}));
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
