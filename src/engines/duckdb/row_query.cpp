#include "engines/duckdb/row_query.h"

#include <set>

#include "engines/duckdb/column_names.h"
#include "snapdp/error.h"

namespace snapdp::engine {
namespace {

void check_limit(const char* parameter, std::uint64_t limit) {
  if (limit > 0) return;
  throw Error(ErrorCode::invalid_argument, parameter,
              std::string(parameter) + " = 0: nothing would be left; allow at least 1");
}

void check_condition(const RowSelection::Condition& where) {
  if (where.columns.size() != where.types.size() || where.columns.size() > Chunk::max_columns) {
    throw Error(ErrorCode::mismatch, "where",
                "where: it has " + std::to_string(where.columns.size()) + " columns and " +
                    std::to_string(where.types.size()) + " types; give one type a column, for at most " +
                    std::to_string(Chunk::max_columns) + " columns");
  }
  where.predicate.require_fits(untrusted_domain(where.types));
}

}  // namespace

RowQuery::RowQuery(const Connection& connection, const Table& table, const RowSelection& selection,
                   std::span<const FoldRequest> requests)
    : connection_(connection), table_(table), unit_(selection.unit) {
  if (unit_) check_limit("max_rows_per_unit", unit_->max_rows);
  if (selection.where) check_condition(*selection.where);
  std::set<std::string> read;
  for (const FoldRequest& request : requests) {
    read.insert(request.columns.begin(), request.columns.end());
    if (!request.groups) continue;
    check_limit("max_groups_per_unit", request.groups->max_groups);
    if (!unit_) {
      throw Error(
          ErrorCode::invalid_argument, "max_groups_per_unit",
          "max_groups_per_unit: groups are limited for each privacy unit; name the unit's column too");
    }
    read.insert(request.groups->column);
  }
  if (selection.where) read.insert(selection.where->columns.begin(), selection.where->columns.end());
  if (unit_) read.insert(unit_->column);
  content_.assign(read.begin(), read.end());
  if (!selection.where && !unit_) return;

  RowFilter filter;
  if (selection.where) {
    filter.where = selection.where->predicate;
    for (std::size_t i = 0; i < selection.where->columns.size(); ++i) {
      filter.where_columns.push_back(
          place_of(cell_input(table, selection.where->columns[i], selection.where->types[i]), filter.inputs));
    }
  }
  if (unit_) filter.unit = place_of(exact_cell_input(table, unit_->column), filter.inputs);
  filter_ = std::make_unique<RowFilterFunction>(connection, std::move(filter));
}

CellInput RowQuery::column(const CellInput& of_table) {
  // The same text may be wanted as text and as numbers.
  CellInput cell = of_table;
  if (cell.text) cell.wanted = AtomType::text;
  return {"x" + std::to_string(place_of(cell, cells_)), of_table.text, of_table.wanted};
}

CellInput RowQuery::input(CellInput of_table) {
  return filter_ ? column(of_table) : std::move(of_table);
}

std::string RowQuery::from(const std::string& scan, const std::optional<FoldRequest::GroupLimit>& groups) {
  if (!filter_) return scan;
  const auto exact = [&](const std::string& name) { return column(exact_cell_input(table_, name)); };
  UnitLimits limits;
  if (unit_) {
    for (const std::string& name : content_) limits.cells.push_back(exact(name));
    limits.content_cells = limits.cells.size();
  }
  std::string columns;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const CellInput cell = column(cells_[i]);
    columns += cells_[i].sql + " AS " + cell.sql + ", ";
    place_of(cell, limits.cells);
  }
  std::string selected = "(SELECT * FROM (SELECT " + columns + filter_->call() + " AS selected FROM " + scan +
                         ") WHERE selected)";
  if (!unit_) return selected;
  const CellInput unit = exact(unit_->column);
  limits.max_rows = unit_->max_rows;
  if (groups) {
    limits.groups = {.unit = place_of(unit, limits.cells),
                     .group = place_of(exact(groups->column), limits.cells),
                     .max_groups = groups->max_groups};
  }
  limit_.reset();  // before another takes room
  limit_ = std::make_unique<UnitLimitFunction>(connection_, std::move(limits));
  return "(SELECT unnest(kept, recursive := true) FROM (SELECT " + limit_->call() + " AS kept FROM " +
         selected + " GROUP BY " + unit.sql + "))";
}

std::optional<std::uint64_t> RowQuery::take_raw_rows() {
  if (!filter_) return std::nullopt;
  return filter_->take_rows();
}

void RowQuery::rethrow() const {
  if (filter_) filter_->rethrow();
  if (limit_) limit_->rethrow();
}

}  // namespace snapdp::engine
