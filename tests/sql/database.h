// A database in memory, for running the queries of engines/sql as their users would.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "snapdp/engines/sql/sql_query.h"

namespace snapdp {

using DatabaseCell = std::variant<std::monostate, std::int64_t, double, std::string>;

struct DatabaseColumn {
  std::string name;
  std::string type;  // of SQL: BIGINT, DOUBLE, VARCHAR ...
  std::vector<DatabaseCell> cells;
};

class Database {
 public:
  virtual ~Database() = default;
  virtual SqlDialect dialect() const = 0;
  virtual SqlResult run(const std::string& sql) = 0;
  virtual void create(const std::string& table, const std::vector<DatabaseColumn>& columns) = 0;

 protected:
  static std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + "\"";
  }
  static std::string create_table(const std::string& table, const std::vector<DatabaseColumn>& columns) {
    std::string sql = "CREATE TABLE " + quoted(table) + " (";
    for (const DatabaseColumn& column : columns)
      sql += (&column == &columns.front() ? "" : ", ") + quoted(column.name) + " " + column.type;
    return sql + ")";
  }
};

}  // namespace snapdp
