// snapdp release --postgres, as a user runs it.
#include "cli/tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "postgresql/server.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::Not;

class PostgresqlTool : public ToolTest {
 protected:
  PostgresqlTool() {
    write("people.toml",
          "[data]\ndataset = \"people\"\nneighbors = \"change-one\"\nsize = 500\nrow_grid = "
          "\"auto\"\n[budget]\nepsilon = 10\n"
          "[[statistic]]\nname = \"mean\"\nkind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\nepsilon = "
          "10\n");
    create_ledger();
    run_sql_there(Server::shared().connection(),
                  {"DROP TABLE IF EXISTS people CASCADE", "DROP VIEW IF EXISTS slow",
                   "CREATE TABLE people AS SELECT CAST(i % 100 AS double precision) + 0.25 AS age FROM "
                   "generate_series(1, 500) AS t(i)",
                   "CREATE VIEW fewer AS SELECT * FROM people WHERE age < 90",
                   "CREATE VIEW slow AS SELECT * FROM people WHERE CAST(pg_sleep(1) AS text) = ''"});
  }

  std::vector<std::string> of_table(const std::string& table) const {
    return {"--postgres", Server::shared().connection(), "--table", table};
  }
  std::vector<std::string> of_table(const std::string& table, const std::vector<std::string>& more) const {
    std::vector<std::string> words = of_table(table);
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(PostgresqlTool, ReleasesATable) {
  const Outcome dry = release(of_table("people", {"--dry-run"}));
  EXPECT_EQ(dry.code, 0) << dry.error;
  EXPECT_THAT(ledger(), Not(HasSubstr("\"mean\"")));
  const Outcome outcome = release(of_table("public.people", {"--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  const Json report = Json::parse(outcome.out);
  // The noise of a mean of 500 at epsilon 10 has a scale of .02: more than 1 has probability e^-50.
  EXPECT_NEAR(report.at("statistics").at(0).at("value").get<double>(), 49.75, 1);
}

TEST_F(PostgresqlTool, SpendsNothingOnWhatCannotBeRead) {
  const std::string before = ledger();
  EXPECT_EQ(release(of_table("missing")).code, 4);
  EXPECT_EQ(release(of_table("fewer")).code, 4);  // another size than the declared one
  const Outcome timeout = release(of_table("slow", {"--statement-timeout", "1"}));
  EXPECT_EQ(timeout.code, 5);
  EXPECT_THAT(timeout.error, HasSubstr("statement_timeout"));
  EXPECT_EQ(release({"--postgres", "host=/nonexistent password=hunter2", "--table", "people"}).code, 5);
  EXPECT_THAT(release({"--postgres", "host=/nonexistent passwort=hunter2", "--table", "people"}).error,
              Not(HasSubstr("hunter2")));
  EXPECT_EQ(release({"--table", "people"}).code, 2);
  EXPECT_EQ(release({"--postgres", "service=hr"}).code, 2);
  EXPECT_EQ(release({"--postgres", "", "--table", "people"}).code, 2);
  for (const char* other : {"--data", "--aggregates", "--states"})
    EXPECT_EQ(release(of_table("people", {other, "people.csv"})).code, 2) << other;
  EXPECT_EQ(ledger(), before);
}

TEST_F(PostgresqlTool, CancelsTheQueryWhenItIsInterruptedParallel) {
  const auto running = [] {
    return run_sql_there(Server::shared().connection(),
                         {"SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%snapdp_plan%' AND "
                          "state = 'active' AND application_name = 'snapdp'"})
        .at(0)
        .at(0);
  };
  const auto comes = [&](const std::string& count) {
    for (int i = 0; i < 600 && running() != count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return running() == count;
  };
  const std::string before = ledger();
  std::vector<std::string> words = of_table("slow", {"--yes"});
  words.insert(words.begin(), {"release", "people.toml", "--ledger", "people.ledger"});
  const pid_t tool = start(words, "out", "error");
  EXPECT_TRUE(comes("1"));
  ASSERT_EQ(::kill(tool, SIGINT), 0);
  EXPECT_EQ(wait_for(tool), -1);  // by the signal
  EXPECT_TRUE(comes("0"));
  EXPECT_EQ(ledger(), before);
}

}  // namespace
}  // namespace snapdp
