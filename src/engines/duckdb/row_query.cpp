#include "engines/duckdb/row_query.h"

#include <algorithm>
#include <limits>

#include "framework/shared/source_parts.h"
#include "snapdp/error.h"

namespace snapdp::engines_internal {

using namespace framework_internal;

RowQuery::RowQuery(const Connection& connection, const Table& table, const RowSelection& selection,
                   std::span<const FoldRequest> requests, std::size_t most_bytes)
    : connection_(connection), table_(table), unit_(selection.unit), most_bytes_(most_bytes) {
  check_selection(selection, requests);
  // A limit on groups must see a unit's rows together.
  if (std::any_of(requests.begin(), requests.end(),
                  [](const FoldRequest& request) { return request.groups.has_value(); }))
    most_bytes_ = std::numeric_limits<std::size_t>::max();
  content_ = columns_read(selection, requests);
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
  // The same cell may be wanted as it is stored and as something else.
  CellInput cell = of_table;
  cell.wanted = cell.stored;
  return {"x" + std::to_string(place_of(cell, cells_)), of_table.stored, of_table.wanted};
}

CellInput RowQuery::input(CellInput of_table) {
  return filter_ ? column(of_table) : std::move(of_table);
}

std::string RowQuery::filtered(const Scan& scan) {
  std::string columns;
  for (std::size_t i = 0; i < cells_.size(); ++i)
    columns += cells_[i].sql + " AS x" + std::to_string(i) + ", ";
  return "(SELECT * FROM (SELECT " + columns + filter_->call() + " AS selected FROM " + scan.from() +
         ") WHERE selected)";
}

void RowQuery::select(const Scan& scan, const Run& run) {
  if (!unit_) return;
  UnitLimits limits;
  for (const std::string& name : content_) limits.cells.push_back(exact_column(name));
  limits.content_cells = limits.cells.size();
  const CellInput unit = exact_column(unit_->column);
  for (std::size_t i = 0; i < cells_.size(); ++i) place_of(column(cells_[i]), limits.cells);
  limits.unit = place_of(unit, limits.cells);
  limits.max_rows = unit_->max_rows;
  limits.most_bytes = most_bytes_;
  kept_cells_ = limits.cells;
  rows_ = std::make_unique<UnitRows>(connection_, std::move(limits));
  run("SELECT " + rows_->keep().call() + " FROM " + filtered(scan));
  if (!rows_->reads_again()) return;
  rows_->settle();
  raw_rows_ = filter_->rows();
}

std::string RowQuery::chosen(const Scan& scan) {
  of_rows_.push_back(rows_->choose());
  return "(SELECT * FROM (SELECT *, " + of_rows_.back().call() + " AS kept FROM " + filtered(scan) +
         ") WHERE kept)";
}

std::optional<std::string> RowQuery::ties() {
  if (!rows_->has_ties()) return std::nullopt;
  of_rows_.push_back(rows_->rows(std::nullopt));
  return of_rows_.back().call();
}

std::string RowQuery::from(const Scan& scan, const std::optional<FoldRequest::GroupLimit>& groups) {
  if (!filter_) return scan.from();
  if (!unit_) return filtered(scan);
  if (reads_again()) return chosen(scan);
  std::optional<GroupLimits> limits;
  if (groups)
    limits = {.group = place_of(exact_column(groups->column), kept_cells_),
              .limit = {.max_groups = groups->max_groups, .max_rows = groups->max_rows}};
  of_rows_.push_back(rows_->rows(limits));
  return of_rows_.back().call();
}

std::optional<std::uint64_t> RowQuery::raw_rows() const {
  if (!filter_) return std::nullopt;
  if (!reads_again()) return filter_->rows();
  if (filter_->rows() != 2 * raw_rows_) refuse_changed_file();
  return raw_rows_;
}

void RowQuery::rethrow() const {
  if (filter_) filter_->rethrow();
  if (rows_) rows_->keep().rethrow();
  for (const RegisteredFunction& each : of_rows_) each.rethrow();
}

}  // namespace snapdp::engines_internal
