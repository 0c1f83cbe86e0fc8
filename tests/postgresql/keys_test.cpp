// Groups that nobody declared: the candidates of a server's rows, and how many of each, are those of the same rows in a file.
#include <gtest/gtest.h>

#include "postgresql/tables.h"
#include "snapdp/statistics/private_groups.h"

namespace snapdp {
namespace {

TextTable towns() {
  TextTable table;
  table.columns = {{"town", "text COLLATE any_case", "VARCHAR"},
                   {"code", "smallint", "SMALLINT"},
                   {"n", "bigint", "BIGINT"}};
  const std::vector<std::optional<std::string>> names = {"Ulm", "ulm", "ULM", "o'clock",   "Z\u00fcrich",
                                                         "",    "\n",  "-",   std::nullopt};
  for (std::size_t i = 0; i < 200; ++i)
    table.rows.push_back({names[(i * 7 + i / 11) % names.size()], std::to_string(static_cast<int>(i % 7) - 3),
                          std::to_string(i)});
  return table;
}

Plan by(const std::string& column, const std::string& data) {
  const std::string type = column == "code" ? "integer" : "text";
  return Plan(Specification::parse("[data]\ndataset = \"people\"\nneighbors = \"add-remove\"\n" + data +
                                       "[columns." + column + "]\ntype = \"" + type +
                                       "\"\n[budget]\nepsilon = 9\ndelta = \"1e-6\"\n[keys." + column +
                                       "]\nepsilon = 1\ndelta = \"1e-9\"\n[[statistic]]\nname = "
                                       "\"rows\"\nkind = \"count\"\nepsilon = 1\ngroup_by = \"" +
                                       column +
                                       "\"\nkeys = \"private\"\n[[statistic]]\nname = \"sum\"\nkind = "
                                       "\"sum\"\ntype = \"integer\"\ncolumn = "
                                       "\"n\"\nbounds = [0, 100]\nepsilon = 1\ngroup_by = \"" +
                                       column + "\"\nkeys = \"private\"\n",
                                   "people.toml"));
}

TEST(PostgresqlKeys, AreThoseOfTheSameRowsInAFile) {
  Server::shared();
  run_sql_there(Server::shared().connection(), {"DROP TABLE IF EXISTS towns",
                                                "CREATE COLLATION IF NOT EXISTS any_case (provider = icu, "
                                                "locale = 'und-u-ks-level2', deterministic = false)"});
  const ScratchFolder folder;
  const TextTable table = towns();
  make_table("towns", table);
  const std::string file = make_file(folder, table);
  for (const std::string column : {"town", "code"}) {
    for (const std::string data : {"", "where = \"n >= 50\"\n"}) {
      const Plan plan = by(column, data);
      const std::unique_ptr<Source> here = open_duckdb_source({.path = file});
      const PrivateGroups::Candidates expected = plan.private_groups().exact(*here);
      const PrivateGroups::Candidates found = plan.private_groups().exact(*open_table("towns"));
      EXPECT_GE(found.keys.at(0).size(), 5U);
      EXPECT_EQ(found.keys, expected.keys);
      EXPECT_EQ(found.units, expected.units);
      EXPECT_EQ(found.statistics, expected.statistics);
    }
  }
}

}  // namespace
}  // namespace snapdp
