// Rows that lie in a PostgreSQL server, for the commands that read rows.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "snapdp/release/release.h"

namespace snapdp::cli {

struct PostgresqlData {
  std::optional<std::string> connection;  // absent where the rows are elsewhere
  std::string table;
  std::optional<unsigned> statement_timeout_seconds;
};

// Declares --postgres, --table and --statement-timeout.
void add_postgresql(CLI::App& command, PostgresqlData& data);

// While it folds, a signal that would end the tool first cancels the query. Throws invalid_argument naming "--postgres"
// where the tool is built without PostgreSQL.
OpenSource open_postgresql(const PostgresqlData& data);

}  // namespace snapdp::cli
