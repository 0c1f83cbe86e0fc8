// Which rows the Arrow source folds, and as what, held against the plain selection of MemorySource: random tables in random
// forms, cut into random batches, on one to four threads.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <random>
#include <set>

#include "arrow_producer.h"
#include "snapdp/engines/arrow/arrow_source.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/memory_source.h"
#include "source_rows.h"

namespace snapdp {
namespace {

constexpr AtomType real = AtomType::real;
constexpr AtomType integer = AtomType::integer;
constexpr AtomType text = AtomType::text;

// A table whose columns MemorySource reads as the stream's: u, a unit; k, integers; x, reals; s and t, texts, of which t has
// numbers in it. MemorySource has nulls in texts only, and NaN for those of reals.
struct Table {
  std::vector<std::string> units, ss, ts;  // empty ones are null
  std::vector<std::int64_t> ks;
  std::vector<double> xs;

  std::size_t rows() const { return ks.size(); }
};

Table random_table(std::mt19937_64& engine, std::size_t count) {
  const auto pick = [&](const std::vector<std::string>& from) { return from[engine() % from.size()]; };
  const std::vector<double> reals{0.0, 0.5, -7, 1e300, std::nan(""), 2.25, 1e-310};
  Table table;
  for (std::size_t i = 0; i < count; ++i) {
    table.units.push_back(engine() % 20 == 0 ? pick({"", " ", "\t ", "  x", "01", "1.0"})
                                             : std::to_string(engine() % (count / 6 + 1)));
    table.ks.push_back(static_cast<std::int64_t>(engine() % 5));
    table.xs.push_back(reals[engine() % reals.size()]);
    table.ss.push_back(pick({"a", "b", "", "c", "a ", "north west of the river"}));
    table.ts.push_back(pick({"1", "2.5", "", "n/a", "1e3", "-4"}));
    if (engine() % 4 == 0) {  // exact duplicates
      const std::size_t like = engine() % (i + 1);
      table.units[i] = table.units[like];
      table.ks[i] = table.ks[like];
      table.xs[i] = table.xs[like];
      table.ss[i] = table.ss[like];
      table.ts[i] = table.ts[like];
    }
  }
  return table;
}

MemorySource::Texts memory_texts(const std::vector<std::string>& texts) {
  MemorySource::Texts cells;
  for (const std::string& each : texts)
    cells.push_back(each.empty() ? std::string_view() : std::string_view(each));
  return cells;
}

MemorySource in_memory(const Table& table) {
  MemorySource source;
  source.add("u", memory_texts(table.units)).add({"k", integer, ""}, table.ks).add({"x", real, ""}, table.xs);
  source.add("s", memory_texts(table.ss)).add("t", memory_texts(table.ts));
  return source;
}

std::vector<ArrowCell> arrow_texts(const std::vector<std::string>& texts) {
  std::vector<ArrowCell> cells;
  for (const std::string& each : texts) cells.push_back(each.empty() ? ArrowCell() : ArrowCell(each));
  return cells;
}

// In forms that hold the same cells.
std::unique_ptr<ArrowProducer> as_stream(const Table& table, std::mt19937_64& engine) {
  const auto pick = [&](const std::vector<std::string>& from) { return from[engine() % from.size()]; };
  const auto index = [&] { return pick({"", "", "i", "S", "l"}); };
  const auto text_form = [&] { return pick({"u", "U", "vu"}); };
  std::vector<ArrowCell> ks(table.ks.begin(), table.ks.end()), xs;
  for (const double x : table.xs) xs.emplace_back(x);
  auto producer = std::make_unique<ArrowProducer>(std::vector<ArrowTestColumn>{
      {"not asked for", "tdD", std::vector<ArrowCell>(table.rows(), ArrowCell())},
      {"u", text_form(), arrow_texts(table.units), index()},
      {"k", pick({"c", "C", "s", "S", "i", "I", "l", "d:5,0", "d:9,0,32", "d:18,0,64"}), ks, index()},
      {"x", "g", xs, index()},
      {"s", text_form(), arrow_texts(table.ss), index()},
      {"t", text_form(), arrow_texts(table.ts), index()}});
  producer->seed = engine() % 4 == 0 ? 0 : engine();
  producer->cut(1 + engine() % 7, engine);
  return producer;
}

RowSelection::Condition some_condition() {
  return {
      {"x", "s"},
      {real, text},
      Predicate::compare(0, real, Comparison::at_least, 0) && !Predicate::compare(1, Comparison::equal, "a")};
}

// Both fold the same rows for all kinds of requests.
TEST(ArrowSelection, GivesTheRowsOfThePlainSelectionParallel) {
  std::mt19937_64 engine(31);
  for (const std::size_t count : std::vector<std::size_t>{0, 1, 40, 2050, 9000}) {
    for (int round = 0; round < 3; ++round) {
      const Table table = random_table(engine, count);
      MemorySource memory = in_memory(table);
      for (const std::string unit : {"", "u", "k", "x"}) {
        for (const bool filtered : {false, true}) {
          RowSelection selection;
          if (filtered) selection.where = some_condition();
          if (!unit.empty()) selection.unit = {unit, 1 + engine() % 4};
          std::vector<Wanted> wanted{{{"x"}, {real}},
                                     {{"k", "s"}, {integer, text}},
                                     {{}, {}},
                                     {{"t", "k", "t"}, {real, real, integer}},
                                     {{"k"}, {text}}};
          if (!unit.empty()) {
            wanted.push_back(
                {{"s", "x"}, {text, real}, FoldRequest::GroupLimit{"s", 1 + engine() % 2, 1 + engine() % 3}});
            wanted.push_back({{"k", "u"}, {integer, text}, FoldRequest::GroupLimit{"x", 2, 1}});
            wanted.push_back({{"t"}, {real}, wanted[5].groups});
          }
          const unsigned threads = 1 + engine() % 4;
          const std::unique_ptr<ArrowProducer> producer = as_stream(table, engine);
          {
            ArrowArrayStream stream = producer->open();
            ArrowSource source(&stream, {.threads = threads});
            ASSERT_EQ(see(source, selection, wanted, count), see(memory, selection, wanted, count))
                << "unit " << unit << ", " << count << " rows, " << threads << " threads";
          }
          ASSERT_EQ(producer->counts().live(), 0);
          ASSERT_FALSE(producer->counts().foreign());
        }
      }
    }
  }
}

// Units of thousands of rows, most of them equal to others, against limits on both sides of their sizes.
TEST(ArrowSelection, LimitsLargeUnitsAsThePlainSelectionDoesParallel) {
  std::mt19937_64 engine(36);
  for (const std::uint64_t units : {1U, 7U, 60U}) {
    for (const std::uint64_t values : {40U, 1'000'000U}) {
      Table table = random_table(engine, 6000);
      for (std::size_t i = 0; i < table.rows(); ++i) {
        table.units[i] = std::to_string(engine() % units);
        table.ks[i] = static_cast<std::int64_t>(engine() % values % 100);
        table.ts[i] = std::to_string(engine() % values);
      }
      MemorySource memory = in_memory(table);
      for (const std::uint64_t most :
           {std::uint64_t{1}, std::uint64_t{30}, std::uint64_t{1500}, ~std::uint64_t{0}}) {
        const RowSelection selection{std::nullopt, RowSelection::UnitLimit{"u", most}};
        const std::vector<Wanted> wanted{{{"u", "t"}, {text, integer}},
                                         {{"t", "s"}, {text, text}, FoldRequest::GroupLimit{"s", 2, 25}}};
        const std::unique_ptr<ArrowProducer> producer = as_stream(table, engine);
        ArrowArrayStream stream = producer->open();
        ArrowSource source(&stream, {.threads = 2});
        ASSERT_EQ(see(source, selection, wanted, table.rows()), see(memory, selection, wanted, table.rows()))
            << units << " units, " << values << " values, at most " << most << " rows";
      }
    }
  }
}

// Statistics as they are released, by their states' bytes: any cut and any number of threads gives the same.
TEST(ArrowSelection, StatesAreTheSameToTheBitParallel) {
  std::mt19937_64 engine(37);
  const Table table = random_table(engine, 150'000);
  MemorySource memory = in_memory(table);
  const Transformation complete = make_drop(untrusted_domain({real}), symmetric_distance());
  const Aggregation sum =
      complete >> make_clamp(complete.output_domain(), symmetric_distance(), Bounds(-10, 10)) >> make_sum();
  const auto inner = [](const VectorDomain& rest, Metric metric) {
    const Transformation clean = make_drop(rest, metric);
    return clean >> make_clamp(clean.output_domain(), metric, Bounds(-10, 10)) >> make_sum();
  };
  const Bins towns = Bins::texts({"a", "c", "x"});
  const auto grouped = [&](AtomType key, const Bins& keys) {
    return make_grouped(untrusted_domain({key, real}), symmetric_distance(), keys, inner);
  };
  const std::vector<Aggregation> aggregations{
      sum,
      make_count(untrusted_domain({}), symmetric_distance()),
      make_histogram(untrusted_domain({text}), symmetric_distance(), towns.with_other()),
      grouped(text, towns),
      grouped(text, towns.with_other()),
      grouped(integer, Bins::numbers({Dyadic(1), Dyadic(3)}).with_other()),
      grouped(real, Bins::edges({Dyadic(-4), Dyadic(1), Dyadic(1000)}))};
  const std::vector<FoldRequest> plain{
      {{"x"}, &aggregations[0]},      {{}, &aggregations[1]},         {{"s"}, &aggregations[2]},
      {{"t"}, &aggregations[0]},      {{"s", "x"}, &aggregations[3]}, {{"s", "x"}, &aggregations[4]},
      {{"k", "t"}, &aggregations[5]}, {{"t", "k"}, &aggregations[6]}, {{"s", "k"}, &aggregations[4]}};
  std::vector<FoldRequest> limited = plain;
  limited.push_back({{"s"}, &aggregations[2], FoldRequest::GroupLimit{"s", 1, 1}});
  limited.push_back({{"t", "x"}, &aggregations[6], FoldRequest::GroupLimit{"k", 1, 2}});
  const auto bytes = [](Source& source, const RowSelection& selection,
                        const std::vector<FoldRequest>& requests) {
    const FoldResult result = source.fold(selection, requests, {});
    std::string all;
    for (std::size_t i = 0; i < requests.size(); ++i)
      all += requests[i].aggregation->to_bytes(result.states.at(i));
    return all;
  };
  for (const bool filtered : {false, true}) {
    for (const bool units : {false, true}) {
      RowSelection selection;
      if (filtered) selection.where = some_condition();
      if (units) selection.unit = {"u", 2};
      const std::vector<FoldRequest>& requests = units ? limited : plain;
      const std::string expected = bytes(memory, selection, requests);
      for (const unsigned threads : {1U, 2U, 5U}) {
        const std::unique_ptr<ArrowProducer> producer = as_stream(table, engine);
        ArrowArrayStream stream = producer->open();
        ArrowSource source(&stream, {.threads = threads});
        EXPECT_EQ(bytes(source, selection, requests), expected) << threads;
      }
    }
  }
}

}  // namespace
}  // namespace snapdp
