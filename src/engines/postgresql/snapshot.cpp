#include "engines/postgresql/snapshot.h"

#include <string_view>

#include "engines/sql/dialect.h"
#include "snapdp/error.h"

namespace snapdp::engines_internal {
namespace {

[[noreturn]] void fail_query(const std::string& problem) {
  throw Error(ErrorCode::io, "connection", "connection: " + problem);
}

[[noreturn]] void refuse_table(const std::vector<std::string>& name, const std::string& problem) {
  std::string shown;
  for (const std::string& part : name) shown += (shown.empty() ? "" : ".") + part;
  throw Error(ErrorCode::bad_data, "table", "table = " + quoted_text(shown) + ": " + problem);
}

[[noreturn]] void refuse_missing(const std::vector<std::string>& name) {
  refuse_table(
      name,
      "is no table or view that this role finds; check the database, the schema and the letters (PostgreSQL "
      "makes names lower case unless they are quoted)");
}

// What the server refused, in words that depend on the SQLSTATE alone and quote nothing.
[[noreturn]] void explain(const std::string& state, const std::vector<std::string>& name) {
  if (state == "42P01" || state == "3F000") refuse_missing(name);
  if (state == "42501") {
    refuse_table(
        name,
        "may not be read by this role; grant it USAGE of the schema and SELECT on the columns that are "
        "asked for");
  }
  if (state == "57014") {
    fail_query(
        "the PostgreSQL server gave the query up, by its statement_timeout or because somebody cancelled it; "
        "allow "
        "more time or ask for fewer statistics");
  }
  if (state == "55P03")
    fail_query("the table is locked by somebody else for longer than lock_timeout allows; try again later");
  if (state.starts_with("57P") || state.starts_with("08"))
    fail_query("the PostgreSQL server ended the connection; nothing was read of it, try again");
  if (state.starts_with("53"))
    fail_query(
        "the PostgreSQL server lacks memory, disk space or connections for the query; try again later");
  fail_query(
      "the PostgreSQL server refused the query; its log says why. Where the table is a view, an error in the "
      "view "
      "itself does this");
}

std::string quoted(const std::vector<std::string>& name) {
  return quoted_name(dialect_of(SqlDialect::postgresql), name);
}

SqlType type_of(std::string_view base) {
  if (base == "bool") return SqlType::boolean;
  if (base == "int2" || base == "int4" || base == "int8") return SqlType::integer;
  if (base == "float4" || base == "float8") return SqlType::real;
  if (base == "numeric") return SqlType::decimal;
  if (base == "text" || base == "varchar" || base == "bpchar" || base == "name" || base == "enum")
    return SqlType::text;
  return SqlType::unusable;
}

// The columns with the types that their domains are made of, by name; types out of pg_catalog alone.
constexpr const char* columns_query = R"(
WITH RECURSIVE base(place, name, type) AS (
  SELECT attnum, attname, atttypid FROM pg_catalog.pg_attribute
  WHERE attrelid = CAST($1 AS pg_catalog.oid) AND attnum > 0 AND NOT attisdropped
UNION ALL
  SELECT place, name, typbasetype FROM base JOIN pg_catalog.pg_type ON oid = type WHERE typtype = 'd'
)
SELECT name, CASE WHEN typtype = 'e' THEN 'enum' WHEN nspname = 'pg_catalog' THEN CAST(typname AS pg_catalog.text) ELSE '' END
FROM base JOIN pg_catalog.pg_type AS t ON t.oid = type JOIN pg_catalog.pg_namespace AS n ON n.oid = typnamespace
WHERE typtype <> 'd'
ORDER BY place)";

// The name as the connection's search_path finds it. Everything else is named in full.
constexpr const char* table_query = R"(
SELECT c.oid, n.nspname, c.relname, pg_catalog.getdatabaseencoding()
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass($1)
  AND c.relkind OPERATOR(pg_catalog.=) ANY (CAST('{r,p,v,m,f}' AS "char"[])))";

}  // namespace

Snapshot::Snapshot(const PostgresqlOptions& options, const std::vector<std::string>& name,
                   Session::Waiting waiting)
    : name_(name), waiting_(std::move(waiting)), session_(options.connection) {
  begin(options);
  lock();
  describe(find());
}

PgResult Snapshot::ask(const std::string& sql, const std::vector<std::string>& parameters) {
  try {
    return session_.run(sql, parameters, waiting_);
  } catch (const ServerRefusal& refusal) {
    const std::string& state = refusal.state();
    if (state == "54011" || state == "54001" || state == "54000") throw TooWide();
    explain(state, name_);
  }
}

void Snapshot::begin(const PostgresqlOptions& options) {
  ask("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
  if (options.statement_timeout_seconds)
    ask("SET LOCAL statement_timeout = '" + std::to_string(*options.statement_timeout_seconds) + "s'");
}

// Before the first query, which takes the snapshot: what TRUNCATE or ALTER TABLE do between the two would make an older
// snapshot see an empty table. Tables of which the role may read some columns only, materialized views and foreign tables
// cannot be locked; they are read all the same.
void Snapshot::lock() {
  ask("SAVEPOINT snapdp");
  try {
    session_.run("LOCK TABLE " + quoted(name_) + " IN ACCESS SHARE MODE", {}, waiting_);
  } catch (const ServerRefusal& refusal) {
    if (refusal.state() != "42501" && refusal.state() != "42809") explain(refusal.state(), name_);
    ask("ROLLBACK TO SAVEPOINT snapdp");
  }
}

std::string Snapshot::find() {
  const std::vector<std::vector<std::string>> found = rows_of(*ask(table_query, {quoted(name_)}));
  if (found.empty()) refuse_missing(name_);
  const std::vector<std::string>& row = found.front();
  // Names that are too long are cut by the server, and would then be others.
  if (row[2] != name_.back() || (name_.size() > 1 && row[1] != name_.front())) refuse_missing(name_);
  if (row[3] != "UTF8" && row[3] != "SQL_ASCII") {
    refuse_table(name_, "lies in a database whose encoding is " + row[3] +
                            ", in which texts have another order; only UTF8 is read");
  }
  table_.name = {row[1], row[2]};
  return row[0];
}

void Snapshot::describe(const std::string& oid) {
  ask("SET LOCAL search_path = pg_catalog, pg_temp");
  for (const std::vector<std::string>& row : rows_of(*ask(columns_query, {oid})))
    table_.columns.push_back({row[0], type_of(row[1])});
}

SqlResult Snapshot::run(const std::string& query) {
  const PgResult answer = ask(query);
  SqlResult result;
  for (int column = 0; column < PQnfields(answer.get()); ++column)
    result.columns.emplace_back(PQfname(answer.get(), column));
  result.rows = rows_of(*answer);
  return result;
}

void Snapshot::finish() {
  ask("COMMIT");
}

}  // namespace snapdp::engines_internal
