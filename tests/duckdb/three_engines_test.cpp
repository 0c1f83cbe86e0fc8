// One definition serves everywhere: every aggregation gives the same state, byte for byte, over spans in memory, over
// Arrow arrays and inside DuckDB, however the rows are split among chunks and threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <random>
#include <thread>

#include "duckdb/source_testing.h"
#include "framework/arrow_batch.h"
#include "rows.h"
#include "snapdp/statistics/quantiles.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {
namespace {

constexpr std::size_t count = 20'000;
const std::vector<std::string> names{"ulm", "bonn", "x", "a town with a long name", "elsewhere"};

struct Table {
  std::vector<double> x, y;
  std::vector<std::int64_t> n;
  std::vector<std::string> town;
  std::vector<bool> valid;  // of x; the other columns have no nulls
};

Table some_table() {
  std::mt19937_64 engine(11);
  Table table;
  table.x = adversarial_reals(engine, count);
  table.y = adversarial_reals(engine, count);
  for (std::size_t row = 0; row < count; ++row) {
    table.n.push_back(static_cast<std::int64_t>(engine() >> (engine() % 64)));
    table.town.push_back(names[engine() % (names.size() - 1)]);  // the last has no rows
    table.valid.push_back(engine() % 5 != 0);
    // Text has no NaN that is not null.
    if (std::isnan(table.x[row])) table.valid[row] = false;
    if (std::isnan(table.y[row])) table.y[row] = 0.5;
  }
  return table;
}

std::string csv_of(const Table& table) {
  std::string text = "x,y,n,town\n";
  for (std::size_t row = 0; row < count; ++row) {
    char cells[128];
    std::snprintf(cells, sizeof cells, ",%.17g,%lld,", table.y[row], static_cast<long long>(table.n[row]));
    char x[64] = "";
    if (table.valid[row]) std::snprintf(x, sizeof x, "%.17g", table.x[row]);
    text += x + std::string(cells) + "\"" + table.town[row] + "\"\n";
  }
  return text;
}

struct Case {
  std::string name;
  std::vector<std::string> columns;
  Aggregation aggregation;
};

std::vector<Case> every_aggregation() {
  const Bounds bounds(Dyadic(-2), Dyadic(3));
  const auto chain = [&](const std::vector<AtomType>& types, Metric metric,
                         const Partial<Aggregation>& statistic) {
    VectorDomain domain = untrusted_domain(types);
    if (preserves_size(metric)) domain = domain.of_size(count);
    const Transformation complete =
        preserves_size(metric) ? make_impute(domain, metric, std::vector<Dyadic>(types.size(), Dyadic(1)))
                               : make_drop(domain, metric);
    return complete >>
           make_clamp(complete.output_domain(), metric, std::vector<Bounds>(types.size(), bounds)) >>
           statistic;
  };
  constexpr AtomType real = AtomType::real;
  constexpr AtomType integer = AtomType::integer;
  constexpr AtomType text = AtomType::text;
  const Bins towns = Bins::texts(names);
  const HierarchyLayout layout({Dyadic(-2), Dyadic(-1), Dyadic(0), Dyadic(1), Dyadic(3)}, 2);
  const Partial<Aggregation> inner = [&](const VectorDomain& rest, Metric metric) {
    const Transformation complete = make_drop(rest, metric);
    return complete >> make_clamp(complete.output_domain(), metric, bounds) >> make_sum();
  };
  return {
      {"count", {"x"}, chain({real}, symmetric_distance(), make_count())},
      {"sum", {"x"}, chain({real}, symmetric_distance(), make_sum())},
      {"sum of integers", {"n"}, chain({integer}, symmetric_distance(), make_sum())},
      {"centered sum", {"x"}, chain({real}, symmetric_distance(), make_centered_sum())},
      {"centered moment 2", {"x"}, chain({real}, symmetric_distance(), make_centered_moment(2))},
      {"centered moment 3", {"x"}, chain({real}, symmetric_distance(), make_centered_moment(3))},
      {"centered moment 4", {"n"}, chain({integer}, symmetric_distance(), make_centered_moment(4))},
      {"centered product", {"y", "x"}, chain({real, real}, symmetric_distance(), make_centered_product())},
      {"hierarchy", {"x"}, chain({real}, symmetric_distance(), make_hierarchy(layout))},
      {"mean", {"x"}, chain({real}, change_one(), make_mean())},
      {"moment 3", {"x"}, chain({real}, change_one(), make_moment(3))},
      {"variance", {"n"}, chain({integer}, change_one(), make_variance())},
      {"covariance", {"x", "y"}, chain({real, real}, change_one(), make_covariance())},
      {"histogram",
       {"town"},
       make_histogram(untrusted_domain({text}), symmetric_distance(), towns.with_other())},
      {"histogram of reals",
       {"x"},
       make_histogram(untrusted_domain({real}), symmetric_distance(),
                      Bins::edges({Dyadic(0), Dyadic(1), Dyadic(2)}))},
      {"distinct", {"town"}, make_distinct_count(untrusted_domain({text}), symmetric_distance(), towns)},
      {"sum by town",
       {"town", "x"},
       make_grouped(untrusted_domain({text, real}), symmetric_distance(), towns, inner)},
  };
}

// Random pieces of [0, count), each folded by one of several threads into its own state, merged in random order.
std::string split_over_threads(const Aggregation& aggregation, std::mt19937_64& engine,
                               const std::function<void(AggregateState&, std::size_t, std::size_t)>& fold) {
  std::vector<std::size_t> cuts{0, count};
  for (int i = 0; i < 9; ++i) cuts.push_back(engine() % (count + 1));
  std::sort(cuts.begin(), cuts.end());
  std::vector<AggregateState> states;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) states.push_back(aggregation.start());
  std::vector<std::thread> threads;
  for (std::size_t worker = 0; worker < 3; ++worker) {
    threads.emplace_back([&, worker] {
      for (std::size_t i = worker; i < states.size(); i += 3) fold(states[i], cuts[i], cuts[i + 1]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  while (states.size() > 1) {
    const std::size_t from = engine() % (states.size() - 1);
    aggregation.merge(states.back(), states[from]);
    states.erase(states.begin() + static_cast<std::ptrdiff_t>(from));
  }
  return aggregation.to_bytes(states.front());
}

TEST(ThreeEngines, GiveTheSameBytesOnAnyNumberOfThreadsParallel) {
  const Table table = some_table();
  const std::vector<std::string_view> towns(table.town.begin(), table.town.end());
  std::vector<std::uint8_t> validity(count / 8 + 1);
  for (std::size_t row = 0; row < count; ++row) {
    if (table.valid[row])
      validity[row / 8] = static_cast<std::uint8_t>(validity[row / 8] | (1U << (row % 8)));
  }
  const std::map<std::string, Column> columns{{"x", {AtomType::real, table.x.data(), validity.data(), 0}},
                                              {"y", {AtomType::real, table.y.data()}},
                                              {"n", {AtomType::integer, table.n.data()}},
                                              {"town", {AtomType::text, towns.data()}}};
  const ScratchFolder folder;
  const std::string csv = folder.write("table.csv", csv_of(table));
  std::mt19937_64 engine(12);
  // Row groups are what DuckDB's threads share out: a random number of rows each, the last one a few.
  const std::string parquet = write_parquet(
      folder,
      "SELECT CAST(x AS DOUBLE) AS x, CAST(y AS DOUBLE) AS y, CAST(n AS BIGINT) AS n, town FROM read_csv(" +
          engines_internal::sql_text(csv) + ", all_varchar = true, header = true)",
      ", ROW_GROUP_SIZE " + std::to_string(2048 * (1 + engine() % 4)));
  for (const Case& each : every_aggregation()) {
    SCOPED_TRACE(each.name);
    const Aggregation& aggregation = each.aggregation;
    std::vector<Column> chosen;
    for (const std::string& name : each.columns) chosen.push_back(columns.at(name));
    const Chunk rows(chosen, count);
    AggregateState whole = aggregation.start();
    aggregation.update(whole, rows);
    const std::string expected = aggregation.to_bytes(whole);
    EXPECT_FALSE(expected == aggregation.to_bytes(aggregation.start()));

    EXPECT_TRUE(split_over_threads(aggregation, engine,
                                   [&](AggregateState& state, std::size_t first, std::size_t end) {
                                     aggregation.update(state, rows.slice(first, end - first));
                                   }) == expected);
    EXPECT_TRUE(split_over_threads(aggregation, engine,
                                   [&](AggregateState& state, std::size_t first, std::size_t end) {
                                     ArrowBatch batch(static_cast<std::int64_t>(end - first),
                                                      static_cast<std::int64_t>(first));
                                     batch.add("x", "g", table.x, table.valid);
                                     batch.add("y", "g", table.y);
                                     batch.add("n", "l", table.n);
                                     batch.add_texts<std::int32_t>("town", "u", table.town);
                                     const ArrowTable arrow(batch.schema, batch.array);
                                     aggregation.update(state, arrow.chunk(each.columns));
                                   }) == expected);
    for (const unsigned threads : {1U, 3U}) {
      for (const std::string& path : {csv, parquet}) {
        const auto source = open_duckdb_source({.path = path, .threads = threads});
        const FoldRequest request{each.columns, &aggregation};
        EXPECT_TRUE(aggregation.to_bytes(source->fold({&request, 1}, {}).states.at(0)) == expected)
            << threads << " threads, " << path;
      }
    }
  }
}

// DuckDB finds a key's place once for each entry of a column's dictionary, here of more entries than a vector has rows,
// and once for requests with the same keys.
TEST(ThreeEngines, FindTheSamePlacesOfKeysInDictionariesParallel) {
  const ScratchFolder folder;
  // 5,000 names, of which 4,000 are keys, and nulls; numbers as keys too.
  const std::string path = write_parquet(
      folder,
      "SELECT CASE WHEN i % 11 = 0 THEN NULL ELSE 'name ' || CAST(i * 7919 % 5000 AS VARCHAR) END AS name, "
      "i * 7919 % 5000 AS id, CASE WHEN i % 13 = 0 THEN NULL ELSE i % 100 END AS value FROM range(60000) AS "
      "t(i)",
      ", ROW_GROUP_SIZE 30000");
  std::vector<std::string> key_names;
  std::vector<Dyadic> ids;
  for (int i = 0; i < 4000; ++i) {
    key_names.push_back("name " + std::to_string(i));
    ids.emplace_back(i);
  }
  const auto inner = [](const VectorDomain& rest, Metric metric) {
    const Transformation complete = make_drop(rest, metric);
    return complete >> make_clamp(complete.output_domain(), metric, Bounds(0, 50)) >> make_sum();
  };
  const auto grouped = [&](AtomType key, const Bins& keys) {
    return make_grouped(untrusted_domain({key, AtomType::integer}), symmetric_distance(), keys, inner);
  };
  const Aggregation by_name = grouped(AtomType::text, Bins::texts(key_names).with_other());
  const Aggregation again = grouped(AtomType::text, Bins::texts(key_names).with_other());
  const Aggregation by_fewer = grouped(AtomType::text, Bins::texts({"name 17", "name 4999"}));
  const Aggregation by_id = grouped(AtomType::integer, Bins::numbers(ids));
  const Aggregation by_real_id =
      grouped(AtomType::real, Bins::edges({Dyadic(0), Dyadic(1000), Dyadic(4999)}));

  std::vector<std::string> owned;
  std::vector<std::int64_t> id, value;
  std::vector<double> real_id;
  std::vector<std::uint8_t> name_validity(60'000 / 8), value_validity(60'000 / 8);
  for (std::size_t i = 0; i < 60'000; ++i) {
    id.push_back(static_cast<std::int64_t>(i * 7919 % 5000));
    real_id.push_back(static_cast<double>(id.back()));
    owned.push_back("name " + std::to_string(id.back()));
    value.push_back(static_cast<std::int64_t>(i % 100));
    const auto bit = static_cast<std::uint8_t>(1U << (i % 8));
    if (i % 11 != 0) name_validity[i / 8] = static_cast<std::uint8_t>(name_validity[i / 8] | bit);
    if (i % 13 != 0) value_validity[i / 8] = static_cast<std::uint8_t>(value_validity[i / 8] | bit);
  }
  const std::vector<std::string_view> texts(owned.begin(), owned.end());
  const Column values{AtomType::integer, value.data(), value_validity.data(), 0};
  const Column name{AtomType::text, texts.data(), name_validity.data(), 0};
  const auto expected = [&](const Aggregation& aggregation, const Column& key) {
    AggregateState state = aggregation.start();
    const std::vector<Column> columns{key, values};
    aggregation.update(state, Chunk(columns, id.size()));
    return aggregation.to_bytes(state);
  };

  const std::vector<std::string> by_names{"name", "value"};
  const std::vector<std::string> by_ids{"id", "value"};
  const std::vector<FoldRequest> requests{{by_names, &by_name},
                                          {by_names, &by_fewer},
                                          {by_ids, &by_id},
                                          {by_names, &again},
                                          {by_ids, &by_real_id}};
  for (const unsigned threads : {1U, 3U}) {
    const auto source = open_duckdb_source({.path = path, .threads = threads});
    const FoldResult result = source->fold(requests, {});
    EXPECT_EQ(result.rows, id.size());
    EXPECT_TRUE(by_name.to_bytes(result.states[0]) == expected(by_name, name));
    EXPECT_TRUE(by_fewer.to_bytes(result.states[1]) == expected(by_fewer, name));
    EXPECT_TRUE(by_id.to_bytes(result.states[2]) == expected(by_id, {AtomType::integer, id.data()}));
    EXPECT_TRUE(again.to_bytes(result.states[3]) == expected(again, name));
    EXPECT_TRUE(by_real_id.to_bytes(result.states[4]) ==
                expected(by_real_id, {AtomType::real, real_id.data()}));
  }
}

}  // namespace
}  // namespace snapdp
