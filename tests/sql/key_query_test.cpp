// Groups that nobody declared, where the rows are in a database: the candidates and what is counted of them are those of the
// same rows in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "snapdp/error.h"
#include "snapdp/statistics/private_groups.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/memory_source.h"
#include "sql/duckdb_database.h"
#include "sql/sqlite_database.h"

namespace snapdp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::unique_ptr<Database>> databases() {
  std::vector<std::unique_ptr<Database>> all;
  all.push_back(std::make_unique<SqliteDatabase>());
  all.push_back(std::make_unique<DuckdbDatabase>());
  return all;
}

std::unique_ptr<Source> source_of(Database& database) {
  const SqlTable table{{"people"},
                       {{"city", SqlType::text}, {"code", SqlType::integer}, {"person", SqlType::integer}}};
  return open_sql_source(database.dialect(), table,
                         [&database](const std::string& query) { return database.run(query); });
}

// Cities that are easily taken for one another, codes of every size, and no cell at all.
struct People {
  explicit People(unsigned seed) {
    std::mt19937 random(seed);
    const std::vector<std::string> cities = {"Ulm",       "ulm",  "ULM", "Ulm ", "Z\u00fcrich",
                                             "o'clock",   "a\"b", "",    "\n",   "-",
                                             "\u202eUlm", "100%", "0"};
    const std::vector<std::int64_t> codes = {0, -1, 7, std::numeric_limits<std::int64_t>::max(),
                                             std::numeric_limits<std::int64_t>::min()};
    for (int i = 0; i < 300; ++i) {
      city.push_back(cities[random() % cities.size()]);
      code.push_back(codes[random() % codes.size()]);
      person.push_back(static_cast<std::int64_t>(random() % 40));
    }
  }
  MemorySource memory() const {
    MemorySource source;
    source.add({"city", AtomType::text, ""}, MemorySource::Texts(city.begin(), city.end()));
    source.add({"code", AtomType::integer, ""}, code).add({"person", AtomType::integer, ""}, person);
    return source;
  }
  void create(Database& database) const {
    std::vector<DatabaseColumn> columns = {
        {"city", "VARCHAR", {}}, {"code", "BIGINT", {}}, {"person", "BIGINT", {}}};
    for (std::size_t i = 0; i < city.size(); ++i) {
      columns[0].cells.emplace_back(city[i]);
      columns[1].cells.emplace_back(code[i]);
      columns[2].cells.emplace_back(person[i]);
    }
    database.create("people", columns);
  }
  std::vector<std::string> city;
  MemorySource::Integers code;
  MemorySource::Integers person;
};

PrivateGroups groups_by(const std::string& column, AtomType type, const RowSelection& selection,
                        std::uint64_t distance) {
  PrivateKeys keys{.column = {column, type}, .epsilon = 1, .delta = "1e-6"};
  keys.max_groups = 2;
  return PrivateGroups(selection, {keys}, [=](const std::vector<KeyValues>& values) {
    std::vector<Dyadic> numbers;
    for (const std::int64_t key : values[0].integers) numbers.emplace_back(key);
    const Bins bins = type == AtomType::text ? Bins::texts(values[0].texts) : Bins::numbers(numbers);
    const Aggregation count =
        make_grouped(untrusted_domain({type}), symmetric_distance(), bins, make_count());
    return std::vector<GroupsPart>{
        {{{column}, count >> make_snapping({.epsilon = 1, .distance = distance}), {}}, 0}};
  });
}

TEST(KeyQuery, OfTheSameRowsGivesTheSameCandidates) {
  const RowSelection all;
  const RowSelection units{{}, RowSelection::UnitLimit{"person", 5}};
  RowSelection some;
  some.where = RowSelection::Condition{
      {"person"}, {AtomType::integer}, Predicate::compare(0, AtomType::integer, Comparison::at_least, 20)};
  for (const unsigned seed : {1U, 2U, 3U}) {
    const People people(seed);
    for (const std::unique_ptr<Database>& database : databases()) {
      people.create(*database);
      const std::unique_ptr<Source> there = source_of(*database);
      for (const RowSelection* selection : std::vector<const RowSelection*>{&all, &some, &units}) {
        for (const AtomType type : {AtomType::text, AtomType::integer}) {
          const PrivateGroups groups =
              groups_by(type == AtomType::text ? "city" : "code", type, *selection, selection->unit ? 5 : 1);
          MemorySource memory = people.memory();
          const PrivateGroups::Candidates expected = groups.exact(memory);
          const PrivateGroups::Candidates found = groups.exact(*there);
          EXPECT_EQ(found.keys, expected.keys);
          if (selection->unit) continue;  // which rows of a unit are kept is each engine's own choice
          EXPECT_EQ(found.units, expected.units);
          EXPECT_EQ(found.statistics, expected.statistics);
        }
      }
    }
  }
}

// A unit that brings a key which comes before all others moves nobody else's rows, though all places of keys move by one.
TEST(KeyQuery, ANewKeyMovesNoRowOfOtherUnits) {
  constexpr std::int64_t others = 400;
  const RowSelection selection{{}, RowSelection::UnitLimit{"person", 1}};
  PrivateKeys keys{.column = {"city", AtomType::text}, .epsilon = 1, .delta = "1e-6"};
  const PrivateGroups groups(selection, {keys}, [](const std::vector<KeyValues>& values) {
    const Aggregation sum = make_grouped(
        untrusted_domain({AtomType::text, AtomType::integer}), symmetric_distance(),
        Bins::texts(values[0].texts), [](const VectorDomain& domain, Metric metric) {
          const Transformation present = make_drop(domain, metric);
          return present >> make_clamp(present.output_domain(), metric, Bounds(0, 1'000'000)) >> make_sum();
        });
    return std::vector<GroupsPart>{{{{"city", "code"}, sum >> make_snapping({.epsilon = 1}), {}}, 0}};
  });
  const auto exact = [&](Database& database, bool with_newcomer) {
    std::vector<DatabaseColumn> columns = {
        {"city", "VARCHAR", {}}, {"code", "BIGINT", {}}, {"person", "BIGINT", {}}};
    const auto add = [&](const std::string& city, std::int64_t code, std::int64_t person) {
      columns[0].cells.emplace_back(city);
      columns[1].cells.emplace_back(code);
      columns[2].cells.emplace_back(person);
    };
    for (std::int64_t i = 0; i < others; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) add("m" + std::to_string((i + j * 7) % 40), 1000 * i + 37 * j, i);
    }
    if (with_newcomer) add("a", 1, others);
    database.create("people", columns);
    std::map<std::string, std::pair<std::uint64_t, Dyadic>> found;
    const PrivateGroups::Candidates candidates = groups.exact(*source_of(database));
    for (std::size_t i = 0; i < candidates.keys[0].size(); ++i)
      found[candidates.keys[0].texts[i]] = {candidates.units[0][i], candidates.statistics[0][i]};
    return found;
  };
  std::vector<std::unique_ptr<Database>> before = databases();
  std::vector<std::unique_ptr<Database>> after = databases();
  for (std::size_t i = 0; i < before.size(); ++i) {
    auto with = exact(*after[i], true);
    EXPECT_EQ(with.erase("a"), 1U);
    EXPECT_EQ(with, exact(*before[i], false));
  }
}

TEST(KeyQuery, ReadsNothingElse) {
  const SqlTable table{{"people"}, {{"city", SqlType::text}, {"code", SqlType::integer}}};
  const KeyQuery texts(SqlDialect::duckdb, table, {}, {"city", AtomType::text});
  EXPECT_THAT(texts.read({{"snapdp_key"}, {{"b"}, {"a"}, {"b"}, {""}, {"x\ny"}}}).texts,
              ElementsAre("a", "b"));
  EXPECT_THROW(texts.read({{"a", "b"}, {}}), Error);
  EXPECT_THROW(texts.read({{"a"}, {{"a", "b"}}}), Error);
  const KeyQuery integers(SqlDialect::duckdb, table, {}, {"code", AtomType::integer});
  EXPECT_THAT(integers.read({{"snapdp_key"}, {{"7"}, {"-3"}}}).integers, ElementsAre(-3, 7));
  EXPECT_THROW(integers.read({{"snapdp_key"}, {{"seven"}}}), Error);
  EXPECT_THROW(integers.read({{"snapdp_key"}, {{"9223372036854775808"}}}), Error);
  EXPECT_THROW(KeyQuery(SqlDialect::duckdb, table, {}, {"code", AtomType::text}), Error);
  EXPECT_THROW(KeyQuery(SqlDialect::bigquery, table, {}, {"city", AtomType::text}), Error);
  const KeyQuery bytes(SqlDialect::sqlite, table, {}, {"city", AtomType::text});
  EXPECT_THAT(bytes.read({{"snapdp_key"}, {{"62"}, {"C3BC"}, {"FF"}, {"0A"}}}).texts,
              ElementsAre("b", "\u00fc"));
  EXPECT_THROW(bytes.read({{"snapdp_key"}, {{"6"}}}), Error);
  EXPECT_THROW(bytes.read({{"snapdp_key"}, {{"zz"}}}), Error);
}

// A result that was computed before nobody asked which keys there are.
TEST(KeyQuery, AResultOfAQueryHasNoKeys) {
  const std::unique_ptr<Source> result = open_sql_result({{"a"}, {{"1"}}}, {"city"});
  try {
    groups_by("city", AtomType::text, {}, 1).exact(*result);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("must be asked where the rows are"));
  }
}

}  // namespace
}  // namespace snapdp
