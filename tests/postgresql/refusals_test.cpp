// What goes wrong between here and a server: said in words that quote no row, no server and no password.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "postgresql/tables.h"

namespace snapdp {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* add_remove = "neighbors = \"add-remove\"\nrow_grid = \"auto\"\n";

Plan sum_of_n(const std::string& data = add_remove) {
  return plan_of(data,
                 "[[statistic]]\nname = \"a\"\nkind = \"sum\"\ntype = \"integer\"\ncolumn = \"n\"\nbounds = "
                 "[0, 10]\nepsilon = 1\n");
}

// Ten rows in `rows`, and views of it: one that takes a second a row, one that fails and one that talks.
void make_views() {
  run_sql_there(
      Server::shared().connection(),
      {"DROP TABLE IF EXISTS rows CASCADE",
       "CREATE TABLE rows AS SELECT CAST(i AS integer) AS n, 'secret ' || i AS word FROM generate_series(1, "
       "10) AS t(i)",
       "CREATE VIEW slow AS SELECT * FROM rows WHERE CAST(pg_sleep(1) AS text) = ''",
       "CREATE VIEW failing AS SELECT CASE WHEN n = 7 THEN CAST(word AS integer) ELSE n END AS n FROM rows",
       "CREATE OR REPLACE FUNCTION tell(word text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE WARNING "
       "'told %', word; RETURN true; END$$",
       "CREATE VIEW talking AS SELECT * FROM rows WHERE tell(word)"});
}

Error error_there(const std::string& table, const std::string& more = "",
                  const std::string& role = "postgres") {
  const Plan plan = sum_of_n();
  return error_of([&] { states_of(*open_table(table, more, role), plan); });
}

std::string queries_of_ours(const std::string& what) {
  return run_sql_there(Server::shared().connection(),
                       {"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'snapdp' AND state = "
                        "'active' AND query LIKE '%" +
                        what + "%'"})
      .at(0)
      .at(0);
}

// Waits for half a minute at most.
bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 600; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

TEST(Options, AreChecked) {
  for (const char* connection : {"", "hr", "host", "hots=db", "password='x"}) {
    const Error error =
        error_of([&] { open_postgresql_source({.connection = connection, .table = "people"}); });
    EXPECT_EQ(error.parameter(), "connection") << connection;
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
  EXPECT_THAT(
      error_of([] { open_postgresql_source({.connection = "pasword=hunter2", .table = "people"}); }).what(),
      Not(HasSubstr("hunter2")));
  for (const char* table : {"", "a.", "\"a", "a..b"}) {
    EXPECT_EQ(
        error_of([&] { open_postgresql_source({.connection = "service=hr", .table = table}); }).parameter(),
        "table");
  }
  for (const unsigned seconds : {0U, 2147484U}) {
    EXPECT_EQ(error_of([&] {
                open_postgresql_source(
                    {.connection = "service=hr", .table = "people", .statement_timeout_seconds = seconds});
              }).parameter(),
              "statement_timeout");
  }
}

TEST(Refusals, OfTheConnection) {
  run_sql_there(Server::shared().connection(),
                {"DROP ROLE IF EXISTS locked", "CREATE ROLE locked LOGIN PASSWORD 'open sesame'",
                 "DROP ROLE IF EXISTS shut", "CREATE ROLE shut NOLOGIN"});
  const auto error_with = [](const std::string& connection) {
    const Error error =
        error_of([&] { open_postgresql_source({.connection = connection, .table = "people"})->columns(); });
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_EQ(error.parameter(), "connection");
    return std::string(error.what());
  };
  const std::string as_locked = Server::shared().connection("locked", "passfile=/nonexistent ");
  EXPECT_THAT(error_with(as_locked), HasSubstr("none was found"));
  EXPECT_THAT(
      error_with(as_locked + "password=wrong"),
      AllOf(HasSubstr("does not let this role in"), Not(HasSubstr("wrong")), Not(HasSubstr("locked"))));
  EXPECT_THAT(error_with(Server::shared().connection("nobody_there")),
              HasSubstr("does not let this role in"));
  EXPECT_THAT(error_with(Server::shared().connection("shut")), HasSubstr("does not let this role in"));
  EXPECT_THAT(error_with(Server::shared().connection("postgres", "dbname=elsewhere")),
              HasSubstr("no such database"));
  EXPECT_THAT(error_with("host=/nonexistent dbname=hr"), HasSubstr("no PostgreSQL server to talk to"));
  EXPECT_THAT(error_with("service=nonexistent"), HasSubstr("service"));
}

TEST(Refusals, OfTheTable) {
  make_views();
  run_sql_there(Server::shared().connection(),
                {"DROP SCHEMA IF EXISTS hidden CASCADE", "CREATE SCHEMA hidden",
                 "CREATE TABLE hidden.rows AS SELECT * FROM rows", "DROP ROLE IF EXISTS auditor",
                 "CREATE ROLE auditor LOGIN", "CREATE INDEX rows_n ON rows (n)",
                 "DROP TABLE IF EXISTS r" + std::string(62, 'x'),
                 "CREATE TABLE r" + std::string(62, 'x') + " AS SELECT * FROM rows"});
  for (const std::string& table :
       {std::string("missing"), std::string("ROWS"), std::string("nowhere.rows"), std::string("rows_n"),
        "r" + std::string(70, 'x'), std::string("pg_catalog.rows")}) {
    const Error error = error_there(table);
    EXPECT_EQ(error.parameter(), "table") << table;
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    EXPECT_THAT(error.what(), HasSubstr("is no table or view"));
  }
  EXPECT_EQ(open_table("r" + std::string(62, 'x'))->columns().size(), 2U);
  for (const char* table : {"rows", "hidden.rows"}) {
    const Error error = error_there(table, "", "auditor");
    EXPECT_EQ(error.parameter(), "table") << table;
    EXPECT_THAT(error.what(), HasSubstr("may not be read by this role"));
  }
  const Plan plan =
      plan_of(add_remove,
              "[[statistic]]\nname = \"a\"\nkind = \"sum\"\ncolumn = \"N\"\nbounds = [0, 10]\nepsilon = 1\n");
  const Error error = error_of([&] { states_of(*open_table("rows"), plan); });
  EXPECT_EQ(error.parameter(), "columns");
  EXPECT_THAT(error.what(), HasSubstr("\"N\""));
}

// A role that may read one column needs no more, and of a view that it may read not what lies below.
TEST(Rights, OfOneColumnAreEnough) {
  make_views();
  run_sql_there(
      Server::shared().connection(),
      {"DROP ROLE IF EXISTS one_column", "CREATE ROLE one_column LOGIN",
       "GRANT SELECT (n) ON rows TO one_column", "DROP ROLE IF EXISTS of_a_view",
       "CREATE ROLE of_a_view LOGIN", "CREATE VIEW part_of_rows AS SELECT n FROM rows",
       "GRANT SELECT ON part_of_rows TO of_a_view", "CREATE MATERIALIZED VIEW matter AS SELECT n FROM rows"});
  const std::vector<State> expected = states_of(*open_table("rows"), sum_of_n());
  EXPECT_EQ(states_of(*open_table("rows", "", "one_column"), sum_of_n()), expected);
  EXPECT_EQ(states_of(*open_table("part_of_rows", "", "of_a_view"), sum_of_n()), expected);
  EXPECT_EQ(states_of(*open_table("matter"), sum_of_n()), expected);
  const Plan words = plan_of(add_remove,
                             "[[statistic]]\nname = \"a\"\nkind = \"histogram\"\ncolumn = "
                             "\"word\"\ncategories = [\"x\"]\nepsilon = 1\n");
  EXPECT_EQ(error_of([&] { states_of(*open_table("rows", "", "one_column"), words); }).parameter(), "table");
  run_sql_there(Server::shared().connection(), {"DROP OWNED BY one_column", "DROP OWNED BY of_a_view"});
}

TEST(Messages, QuoteNothingOfTheServers) {
  make_views();
  testing::internal::CaptureStderr();
  const Error error = error_there("failing");
  const std::vector<State> talked = states_of(*open_table("talking"), sum_of_n());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(error.parameter(), "connection");
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("refused the query"), Not(HasSubstr("secret")), Not(HasSubstr("7"))));
  EXPECT_EQ(talked, states_of(*open_table("rows"), sum_of_n()));
}

TEST(Time, EndsAQuery) {
  make_views();
  const auto source = open_postgresql_source(
      {.connection = Server::shared().connection(), .table = "slow", .statement_timeout_seconds = 1});
  const Plan plan = sum_of_n();
  EXPECT_THAT(error_of([&] { states_of(*source, plan); }).what(), HasSubstr("statement_timeout"));
  EXPECT_THAT(error_there("slow", "options='-c statement_timeout=200'").what(),
              HasSubstr("statement_timeout"));
}

TEST(Interrupts, CancelTheQueryParallel) {
  make_views();
  const Plan plan = sum_of_n();
  const auto source = open_table("slow");
  EXPECT_THROW(states_of(*source, plan,
                         [](double percent) {
                           EXPECT_EQ(percent, 0);
                           if (queries_of_ours("snapdp_plan") == "1") throw std::logic_error("stop");
                         }),
               std::logic_error);
  EXPECT_TRUE(comes_true([] { return queries_of_ours("snapdp_plan") == "0"; }));
  EXPECT_EQ(source->columns().size(), 2U);  // on another connection
}

TEST(Crashes, OfTheServerAreToldParallel) {
  make_views();
  std::thread crash([] {
    EXPECT_TRUE(comes_true([] { return queries_of_ours("snapdp_plan") == "1"; }));
    Server::shared().stop("immediate");
  });
  const Error error = error_there("slow");
  crash.join();
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_EQ(error.parameter(), "connection");
  EXPECT_THAT(error.what(), HasSubstr("try again"));
  EXPECT_THAT(error_there("rows").what(), HasSubstr("no PostgreSQL server to talk to"));
  Server::shared().start();
  EXPECT_FALSE(states_of(*open_table("rows"), sum_of_n()).empty());
}

// Two queries of one fold, because its sums are too many for one, and a row that comes in between.
TEST(Snapshots, AreOneForAllQueriesParallel) {
  make_views();
  run_sql_there(Server::shared().connection(),
                {"CREATE VIEW slowly AS SELECT * FROM rows WHERE CAST(pg_sleep(0.1) AS text) = ''"});
  std::string many;
  for (int i = 0; i < 1000; ++i) {
    many += "[[statistic]]\nname = \"" + std::to_string(i) +
            "\"\nkind = \"variance\"\ntype = \"integer\"\ncolumn = \"n\"\nbounds = [0, " +
            std::to_string(1000 + i) + "]\nepsilon = 1\n";
  }
  const Plan plan = plan_of(add_remove, many);
  std::thread change([] {
    // Not the query that is refused before it runs.
    EXPECT_TRUE(comes_true([] {
      return run_sql_there(Server::shared().connection(),
                           {"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'snapdp' AND "
                            "query LIKE '%snapdp_plan%' AND "
                            "state = 'active' AND now() - query_start > '0.3 s'"})
                 .at(0)
                 .at(0) == "1";
    }));
    run_sql_there(Server::shared().connection(), {"INSERT INTO rows VALUES (11, '')"});
  });
  const auto source = open_table("slowly");
  const std::vector<FoldRequest> requests = plan.requests();
  const FoldResult result = source->fold(plan.selection(), requests, {});
  change.join();
  for (const AggregateState& state : result.states)
    ASSERT_EQ(state.totals().rows, result.states.front().totals().rows);
}

// TRUNCATE makes a table empty for transactions that are older: the table is locked before they look.
TEST(Snapshots, AreTakenBehindTheLockParallel) {
  make_views();
  PGconn* const other = PQconnectdb(Server::shared().connection().c_str());
  const auto there = [&](const char* sql) { PQclear(PQexec(other, sql)); };
  there("BEGIN");
  there("TRUNCATE rows");
  there("INSERT INTO rows VALUES (1, ''), (2, ''), (3, '')");
  std::thread commit([&] {
    EXPECT_TRUE(comes_true([] {
      return run_sql_there(Server::shared().connection(),
                           {"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'snapdp' AND "
                            "wait_event_type = 'Lock'"})
                 .at(0)
                 .at(0) == "1";
    }));
    there("COMMIT");
  });
  const auto source = open_table("rows");
  const Plan plan = sum_of_n();
  const FoldResult result = source->fold(plan.selection(), plan.requests(), {});
  commit.join();
  PQfinish(other);
  EXPECT_EQ(result.rows, 3U);
}

TEST(Columns, AreThoseOfTheCatalog) {
  run_sql_there(Server::shared().connection(),
                {"DROP TABLE IF EXISTS typed", "DROP DOMAIN IF EXISTS words", "CREATE DOMAIN words AS text[]",
                 "CREATE TABLE typed (a integer, gone integer, d date, b bytea, j json, m money, w words, t "
                 "interval, \"A\" text, n name)",
                 "ALTER TABLE typed DROP COLUMN gone"});
  std::string all;
  for (const SourceColumn& column : open_table("typed")->columns())
    all += column.name + (column.unusable.empty() ? " " : "! ");
  EXPECT_EQ(all, "a d! b! j! m! w! t! A n ");
  run_sql_there(Server::shared().connection(),
                {"DROP DATABASE IF EXISTS west",
                 "CREATE DATABASE west ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"});
  run_sql_there(Server::shared().connection("postgres", "dbname=west"), {"CREATE TABLE typed (a integer)"});
  EXPECT_THAT(error_of([] { open_table("typed", "dbname=west")->columns(); }).what(), HasSubstr("LATIN1"));
}

}  // namespace
}  // namespace snapdp
