// One read-only transaction, which sees the table and its columns at one moment.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "engines/postgresql/session.h"
#include "snapdp/engines/postgresql/postgresql_source.h"
#include "snapdp/engines/sql/sql_query.h"

namespace snapdp::engines_internal {

// A query that has more columns, or is longer, than the server takes: which the query alone decides, and no row.
class TooWide : public std::exception {};

class Snapshot {
 public:
  // Connects, begins the transaction and finds the table. Throws Error as open_postgresql_source() says. `waiting` is called
  // while the server works.
  Snapshot(const PostgresqlOptions& options, const std::vector<std::string>& name, Session::Waiting waiting);

  // With its schema, and all its columns.
  const SqlTable& table() const { return table_; }
  // Throws TooWide, and Error.
  SqlResult run(const std::string& query);
  // Ends the transaction.
  void finish();

 private:
  PgResult ask(const std::string& sql, const std::vector<std::string>& parameters = {});
  void begin(const PostgresqlOptions& options);
  void lock();
  std::string find();
  void describe(const std::string& oid);

  std::vector<std::string> name_;
  Session::Waiting waiting_;
  Session session_;
  SqlTable table_;
};

}  // namespace snapdp::engines_internal
