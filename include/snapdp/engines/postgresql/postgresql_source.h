// A Source over a table or view of a PostgreSQL server: the server sums exact integers (sql_query.h), and
// only these leave it.
//
//   std::unique_ptr<Source> people = open_postgresql_source({.connection = "service=hr", .table = "people"});
//   people->columns();                          // what the server's catalog says; no row is read
//   people->fold(requests, {});                 // one read-only transaction that sees one snapshot
//
// The connection is libpq's: service files, PGPASSWORD and the other variables, .pgpass and TLS are as its
// manual says. Each of the two calls connects anew, so that no connection is idle while somebody is asked.
// The role needs CONNECT, USAGE of the schema and SELECT on the columns that are read.
//
// How cells are read:
//   boolean                      1 or 0
//   smallint, integer, bigint    the integer, or the nearest double
//   real, double precision       the double; as an integer if it is whole and of 64 bits, else null
//   numeric                      the nearest double; as an integer if it is whole and of 64 bits, else null
//   text, varchar, char(n),      the text, compared byte by byte whatever the column's collation; blanks at
//   name, enum                   the end of a char(n) do not count
//   domains                      as the type that they are made of
// NaN is missing. Other types cannot be used: make a view with a CAST. The database's encoding must be UTF8
// (or SQL_ASCII, whose bytes are taken for UTF-8), because texts in other encodings have another order.
//
// While the query runs, names stand for what pg_catalog has, whatever the connection's search_path: nobody's
// function takes the place of FLOOR or SUM. A view is as safe as the functions it calls.
//
// The server's messages are never passed on, as they may quote rows; neither are passwords.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "snapdp/framework/source.h"

namespace snapdp {

struct PostgresqlOptions {
  // As libpq takes it: "service=hr", "host=db.example dbname=hr user=auditor",
  // "postgresql://auditor@db.example/hr".
  std::string connection;
  // people or hr.people, found by the connection's search_path, to the letter: what CREATE TABLE People makes
  // is people. Parts may be quoted (parse_table_name).
  std::string table;
  // How long the server may work on one statement and wait for locks. Without it, what the server, the role
  // or the connection says, which is usually: as long as it takes.
  std::optional<unsigned> statement_timeout_seconds = {};
};

// Throws invalid_argument naming "connection", "table" or "statement_timeout" for options outside these
// rules; it does not connect yet. columns() and fold() throw io naming "connection" when there is no
// connection or it is lost, when the server does not let the role in, or refuses or gives up the query; and
// bad_data naming "table" or "columns" when there is no such table or column, or the role may not read it.
// `progress` is called with 0 about five times a second while the server works, as that does not tell how far
// it is; what it throws cancels the query. A Source serves one thread at a time.
std::unique_ptr<Source> open_postgresql_source(const PostgresqlOptions& options);

}  // namespace snapdp
