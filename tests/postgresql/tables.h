// The same rows as a table of the server and as a Parquet file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "duckdb/source_testing.h"
#include "postgresql/server.h"
#include "snapdp/engines/postgresql/postgresql_source.h"
#include "snapdp/release/plan.h"

namespace snapdp {

struct TableColumn {
  std::string name;
  std::string there;  // its type in PostgreSQL
  std::string here;   // and in DuckDB
};

using TextRow = std::vector<std::optional<std::string>>;  // null where there is none

struct TextTable {
  std::vector<TableColumn> columns;
  std::vector<TextRow> rows;
};

inline std::string quoted_name(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  return text + "\"";
}

inline std::string literal(const std::optional<std::string>& cell, const std::string& type) {
  if (!cell) return "CAST(NULL AS " + type + ")";
  return "CAST(" + engines_internal::sql_text(*cell) + " AS " + type + ")";
}

inline std::string values_of(const TextRow& row, const TextTable& table, std::string TableColumn::*type) {
  std::string values;
  for (std::size_t i = 0; i < row.size(); ++i)
    values += (i == 0 ? "" : ", ") + literal(row[i], table.columns[i].*type);
  return values;
}

// Makes the table there, whatever was there by this name.
inline void make_table(const std::string& name, const TextTable& table) {
  std::string columns;
  for (const TableColumn& column : table.columns)
    columns += (columns.empty() ? "" : ", ") + quoted_name(column.name) + " " + column.there;
  std::vector<std::string> statements = {"DROP TABLE IF EXISTS " + quoted_name(name) + " CASCADE",
                                         "CREATE TABLE " + quoted_name(name) + " (" + columns + ")"};
  for (const TextRow& row : table.rows) {
    std::string cells;
    for (const std::optional<std::string>& cell : row)
      cells += (cells.empty() ? "" : ", ") + (cell ? engines_internal::sql_text(*cell) : "NULL");
    statements.push_back("INSERT INTO " + quoted_name(name) + " VALUES (" + cells + ")");
  }
  statements.push_back("ANALYZE " + quoted_name(name));
  run_sql_there(Server::shared().connection(), statements);
}

// And a file of the same rows.
inline std::string make_file(const ScratchFolder& folder, const TextTable& table) {
  std::string columns;
  std::string nulls;
  for (const TableColumn& column : table.columns) {
    columns += (columns.empty() ? "" : ", ") + quoted_name(column.name);
    nulls += (nulls.empty() ? "" : ", ") + literal(std::nullopt, column.here);
  }
  std::string rows;
  for (const TextRow& row : table.rows)
    rows += (rows.empty() ? "(" : ", (") + values_of(row, table, &TableColumn::here) + ")";
  const std::string query = rows.empty()
                                ? "SELECT * FROM (VALUES (" + nulls + ")) AS t(" + columns + ") WHERE false"
                                : "SELECT * FROM (VALUES " + rows + ") AS t(" + columns + ")";
  return write_parquet(folder, query);
}

// One state, for people and as bytes.
struct State {
  std::string name;
  std::string numbers;
  std::string bytes;

  friend bool operator==(const State& a, const State& b) { return a.name == b.name && a.bytes == b.bytes; }
  friend std::ostream& operator<<(std::ostream& out, const State& state) {
    return out << state.name << ": " << state.numbers;
  }
};

// What a release would fold.
inline std::vector<State> states_of(Source& source, const Plan& plan, const Progress& progress = {}) {
  const std::vector<FoldRequest> requests = plan.requests();
  const FoldResult result = source.fold(plan.selection(), requests, progress);
  std::vector<State> states;
  std::size_t i = 0;
  for (const PlannedStatistic& statistic : plan.statistics()) {
    for (const PlannedMeasurement& measurement : statistic.measurements) {
      const AggregateState& state = result.states.at(i);
      const Totals totals = state.totals();
      std::string numbers = std::to_string(totals.rows) + " rows";
      for (const Dyadic& value : totals.values) numbers += " " + to_string(value);
      states.push_back({statistic.specification.name + "/" + measurement.part, numbers,
                        requests.at(i++).aggregation->to_bytes(state)});
    }
  }
  return states;
}

inline std::unique_ptr<Source> open_table(const std::string& table, const std::string& more = "",
                                          const std::string& role = "postgres") {
  return open_postgresql_source({.connection = Server::shared().connection(role, more), .table = table});
}

inline Plan plan_of(const std::string& data, const std::string& rest) {
  return Plan(Specification::parse(
      "[data]\ndataset = \"people\"\n" + data + "[budget]\nepsilon = 100000\n" + rest, "people.toml"));
}

}  // namespace snapdp
