// Rows that stay where they are: queries for databases, their results, and the states of parts.
#include "core/elsewhere.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/chain.h"
#include "core/plan.h"
#include "core/source.h"
#include "snapdp/engines/sql/sql_query.h"
#include "snapdp/engines/states/states.h"
#include "snapdp/error.h"

namespace snapdp::python {
namespace {

using Rows = std::vector<std::vector<std::string>>;

SqlDialect dialect_named(const std::string& name) {
  if (const std::optional<SqlDialect> dialect = find_sql_dialect(name)) return *dialect;
  std::string all;
  for (const SqlDialect dialect : all_sql_dialects()) all += (all.empty() ? "" : ", ") + to_string(dialect);
  throw Error(ErrorCode::invalid_argument, "dialect",
              "dialect = " + quoted_text(name) + ": must be one of " + all);
}

SqlType type_named(const std::string& name) {
  if (name == "integer") return SqlType::integer;
  if (name == "real") return SqlType::real;
  if (name == "decimal") return SqlType::decimal;
  if (name == "boolean") return SqlType::boolean;
  if (name == "text") return SqlType::text;
  return name == "unknown" ? SqlType::unknown : SqlType::unusable;
}

SqlTable table_of(const std::vector<std::string>& name,
                  const std::vector<std::pair<std::string, std::string>>& columns) {
  SqlTable table{name, {}};
  for (const auto& [column, type] : columns) table.columns.push_back({column, type_named(type)});
  return table;
}

// `run` takes a query and returns (names, rows of texts, which are asked for one by one). It is the typed side that owns it.
HeldSource* open_table(const std::string& dialect, const std::vector<std::string>& name,
                       const std::vector<std::pair<std::string, std::string>>& columns,
                       const nb::object& run) {
  const PythonFunction function(run);
  return new HeldSource(
      open_sql_source(dialect_named(dialect), table_of(name, columns), [function](const std::string& query) {
        const nb::gil_scoped_acquire locked;
        const auto [names, rows] = nb::cast<std::pair<std::vector<std::string>, nb::object>>(function(query));
        SqlResult result{names, {}};
        for (const nb::handle row : rows) result.rows.push_back(nb::cast<std::vector<std::string>>(row));
        return result;
      }));
}

std::string query_of(const HeldPlan& plan, const std::string& dialect, const std::vector<std::string>& name) {
  return SqlQuery(dialect_named(dialect), {name, {}}, plan.plan.selection(), plan.plan.requests()).text();
}

HeldSource* open_result(std::vector<std::string> names, Rows rows, const std::vector<std::string>& columns) {
  return new HeldSource(open_sql_result({std::move(names), std::move(rows)}, columns));
}

HeldSource* open_states(const std::vector<nb::bytes>& parts, const std::vector<std::string>& columns) {
  std::vector<std::string> states;
  for (const nb::bytes& part : parts) states.emplace_back(part.c_str(), part.size());
  return new HeldSource(open_parts(std::move(states), columns));
}

nb::bytes fold(const HeldPlan& plan, nb::object open, nb::object progress, bool whole_units) {
  const Callbacks callbacks{std::move(open), std::move(progress)};
  std::string part;
  {
    const nb::gil_scoped_release unlocked;
    plan.plan.require_affordable();
    const std::unique_ptr<Source> source = open_for(plan.plan, callbacks);
    part = fold_part(*source, plan.plan.selection(), plan.plan.requests(), {.whole_units = whole_units},
                     progress_of(callbacks));
  }
  return nb::bytes(part.data(), part.size());
}

}  // namespace

void bind_elsewhere(nb::module_& module) {
  module.def("parse_table_name", &parse_table_name, nb::arg("table"));
  // Whether SnapDP's tests run the queries of this dialect.
  module.def(
      "is_tested_dialect", [](const std::string& dialect) { return is_tested(dialect_named(dialect)); },
      nb::arg("dialect"));
  module.def(
      "header_query",
      [](const std::string& dialect, const std::vector<std::string>& table) {
        return header_query(dialect_named(dialect), table);
      },
      nb::arg("dialect"), nb::arg("table"));
  module.def("sql_query", &query_of, nb::arg("plan"), nb::arg("dialect"), nb::arg("table"));
  module.def("sql_source", &open_table, nb::arg("dialect"), nb::arg("table"), nb::arg("columns"),
             nb::arg("run"), nb::rv_policy::take_ownership);
  module.def("result_source", &open_result, nb::arg("names"), nb::arg("rows"), nb::arg("columns"),
             nb::rv_policy::take_ownership);
  module.def("states_source", &open_states, nb::arg("states"), nb::arg("columns"),
             nb::rv_policy::take_ownership);
  module.def("fold", &fold, nb::arg("plan"), nb::arg("open"), nb::arg("progress").none(),
             nb::arg("whole_units"));
}

}  // namespace snapdp::python
