// The Arrow source and the DuckDB source give the same bits for the same table: Parquet files read by the one, and by the
// other as the Arrow arrays that DuckDB makes of them, in all of its forms.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "duckdb/query_stream.h"
#include "duckdb/source_testing.h"
#include "snapdp/engines/arrow/arrow_source.h"

namespace snapdp {
namespace {

constexpr AtomType real = AtomType::real;
constexpr AtomType integer = AtomType::integer;
constexpr AtomType text = AtomType::text;

// A decimal with at most `digits` digits, `scale` of them behind the point.
std::string random_decimal(std::mt19937_64& engine, std::size_t digits, std::size_t scale) {
  std::string number = engine() % 2 == 0 ? "-" : "";
  const std::size_t count = 1 + engine() % digits;
  std::string written(digits - count, '0');
  for (std::size_t i = 0; i < count; ++i) written += static_cast<char>('0' + engine() % 10);
  number += "0" + written.substr(0, digits - scale);
  return scale == 0 ? number : number + "." + written.substr(digits - scale);
}

std::string random_real(std::mt19937_64& engine) {
  const std::vector<double> special{
      0,      -0.0,  0.5,    1e22, 1e23, 5e-324, 1e-5,    0.0001,  0.00012345, 9007199254740993.0,
      0x1p63, 1e300, -1e300, 1e15, 1e16, 1e17,   123.456, 2.5e-310};
  double value = special[engine() % special.size()];
  if (engine() % 2 == 0) {
    const std::uint64_t bits = engine();
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) value = 1.0;
  }
  char written[64];
  std::snprintf(written, sizeof written, "%.17g", value);
  return written;
}

struct DecimalType {
  std::string name;
  std::size_t digits, scale;
};
const std::vector<DecimalType> decimals = {
    {"d4", 4, 1},   {"d2", 2, 2},   {"d8", 8, 2},   {"d9", 9, 0},      {"d18", 18, 0},  {"d188", 18, 8},
    {"d20", 20, 0}, {"d22", 22, 4}, {"d38", 38, 0}, {"d3812", 38, 12}, {"d30", 30, 30}, {"d3820", 38, 20}};

// Every stored type that both read, with values at its edges; u is a unit.
std::string write_types(const ScratchFolder& folder, std::uint64_t seed, std::size_t rows) {
  std::mt19937_64 engine(seed);
  const std::vector<std::string> texts{"a", "long enough to lie elsewhere", "", "7", " 1e3 "};
  std::string csv = "u,d,n,t", types = "u: 'BIGINT', d: 'DOUBLE', n: 'UBIGINT', t: 'VARCHAR'", cast;
  for (const DecimalType& each : decimals) {
    const std::string type =
        "DECIMAL(" + std::to_string(each.digits) + "," + std::to_string(each.scale) + ")";
    csv += "," + each.name;
    types += ", " + each.name + ": 'VARCHAR'";
    cast += ", " + each.name + "::" + type + " AS " + each.name;
  }
  csv += "\n";
  for (std::size_t i = 0; i < rows; ++i) {
    csv += std::to_string(engine() % (rows / 5 + 1)) + "," + random_real(engine) + "," +
           std::to_string(engine()) + "," + texts[engine() % texts.size()];
    for (const DecimalType& each : decimals)
      csv += engine() % 20 == 0 ? "," : "," + random_decimal(engine, each.digits, each.scale);
    csv += "\n";
  }
  const std::string path = folder.write("types.csv", csv);
  return write_parquet(
      folder,
      "SELECT u, CASE WHEN n % 11 = 0 THEN NULL ELSE d END AS d, try_cast(d AS FLOAT) AS f, CASE n % 7 WHEN "
      "0 "
      "THEN 'nan'::DOUBLE WHEN 1 THEN 'inf'::DOUBLE WHEN 2 THEN '-inf'::DOUBLE ELSE d END AS e, n AS u8, "
      "(n % 256)::UTINYINT AS u1, (n % 65536)::USMALLINT AS u2, (n % 4294967296)::UINTEGER AS u4, "
      "(n % 256)::INTEGER AS i4, ((n % 256)::INTEGER - 128)::TINYINT AS i1, CASE WHEN n % 3 = 0 THEN NULL "
      "ELSE "
      "((n % 65536)::INTEGER - 32768)::SMALLINT END AS i2, (n // 2)::BIGINT * (CASE WHEN n % 2 = 0 THEN 1 "
      "ELSE "
      "-1 END) AS i8, CASE WHEN n % 5 = 0 THEN NULL ELSE n % 2 = 0 END AS b, t, coalesce(t, '') AS t2, "
      "coalesce(t, 'a')::ENUM('a', 'long enough to lie elsewhere', '7', ' 1e3 ') AS en" +
          cast + " FROM read_csv(" + engines_internal::sql_text(path) + ", columns = {" + types + "})");
}

const std::vector<std::string> all_columns = [] {
  std::vector<std::string> names{"u",  "d",  "f",  "e",  "u8", "u1", "u2", "u4",
                                 "i4", "i1", "i2", "i8", "b",  "t",  "t2", "en"};
  for (const DecimalType& each : decimals) names.push_back(each.name);
  return names;
}();

const std::vector<std::vector<std::string>> settings = {
    {}, {"SET produce_arrow_string_view = true"}, {"SET arrow_large_buffer_size = true"}};

TEST(ArrowAndDuckdb, ConvertEveryCellAlikeParallel) {
  const ScratchFolder folder;
  const std::string path = write_types(folder, 1, 5000);
  const auto duckdb = open_duckdb_source({.path = path, .threads = 2});
  for (const std::vector<std::string>& setting : settings) {
    QueryStream query("SELECT * FROM read_parquet(" + engines_internal::sql_text(path) + ")", setting);
    ArrowArrayStream stream = query.open();
    ArrowSource arrow(&stream, {.threads = 3});
    const std::vector<SourceColumn> columns = arrow.columns();
    ASSERT_EQ(columns.size(), all_columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      EXPECT_EQ(columns[i].name, all_columns[i]);
      EXPECT_EQ(columns[i].type, duckdb->columns()[i].type) << columns[i].name;
      EXPECT_EQ(columns[i].unusable, "");
    }
    std::vector<Wanted> wanted;
    for (const std::string& column : all_columns) {
      for (const AtomType type : {real, integer, text}) wanted.push_back({{"u", column}, {integer, type}});
    }
    const Seen expected = see(*duckdb, {}, wanted, 5000);
    const Seen seen = see(arrow, {}, wanted, 5000);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_EQ(seen[i], expected[i]) << wanted[i].columns[1] << " as " << to_string(wanted[i].types[1]);
  }
}

// Every column is a unit, a group and part of the content once.
TEST(ArrowAndDuckdb, SelectTheSameRowsParallel) {
  const ScratchFolder folder;
  const std::string path = write_types(folder, 2, 3000);
  const auto duckdb = open_duckdb_source({.path = path, .threads = 2});
  std::size_t turn = 0;
  for (const std::string& column : all_columns) {
    const std::string other = all_columns[(turn + 7) % all_columns.size()];
    RowSelection selection;
    selection.unit = {turn % 3 == 0 ? column : "u", 1 + turn % 3};
    if (turn % 2 == 0)
      selection.where = {{other}, {real}, !Predicate::compare(0, real, Comparison::less, -3)};
    const std::vector<Wanted> wanted{{{column}, {real}},
                                     {{column, other}, {text, integer}},
                                     {{other, "u"}, {text, real}, FoldRequest::GroupLimit{column, 1, 1}},
                                     {{column}, {text}, FoldRequest::GroupLimit{other, 2, 2}}};
    const Seen expected = see(*duckdb, selection, wanted, 3000);
    QueryStream query("SELECT * FROM read_parquet(" + engines_internal::sql_text(path) + ")",
                      settings[turn % settings.size()]);
    ArrowArrayStream stream = query.open();
    ArrowSource arrow(&stream, {.threads = static_cast<unsigned>(1 + turn % 3)});
    EXPECT_EQ(see(arrow, selection, wanted, 3000), expected) << column << " and " << other;
    ++turn;
  }
}

}  // namespace
}  // namespace snapdp
