#include "engines/duckdb/row_query.h"

#include <algorithm>
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

std::size_t place_of(const CellInput& input, std::vector<CellInput>& inputs) {
  const auto known = std::find(inputs.begin(), inputs.end(), input);
  const auto place = static_cast<std::size_t>(known - inputs.begin());
  if (known == inputs.end()) inputs.push_back(input);
  return place;
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

  RowKey key;
  if (selection.where) {
    key.where = selection.where->predicate;
    for (std::size_t i = 0; i < selection.where->columns.size(); ++i) {
      key.where_columns.push_back(
          place_of(cell_input(table, selection.where->columns[i], selection.where->types[i]), key.inputs));
    }
  }
  if (unit_) {
    key.unit = place_of(exact_cell_input(table, unit_->column), key.inputs);
    for (const std::string& name : content_)
      key.content.push_back(place_of(exact_cell_input(table, name), key.inputs));
  }
  key_ = std::make_unique<RowKeyFunction>(connection, std::move(key));
}

std::string RowQuery::column(const std::string& sql) {
  const auto known = std::find(expressions_.begin(), expressions_.end(), sql);
  const auto place = known - expressions_.begin();
  if (known == expressions_.end()) expressions_.push_back(sql);
  return "x" + std::to_string(place);
}

CellInput RowQuery::input(CellInput of_table) {
  if (key_) of_table.sql = column(of_table.sql);
  return of_table;
}

std::string RowQuery::from(const std::string& scan, const std::optional<FoldRequest::GroupLimit>& groups) {
  if (!key_) return scan;
  std::string limits;
  if (unit_) {
    const CellInput unit = input(exact_cell_input(table_, unit_->column));
    // Rows with equal hashes are ordered by their content.
    limits = " QUALIFY row_number() OVER (PARTITION BY " + unit.sql + " ORDER BY row_key";
    for (const std::string& name : content_) {
      if (name == unit_->column) continue;  // equal in all of them
      limits += ", " + column(exact_cell_input(table_, name).sql) + " NULLS FIRST";
    }
    limits += ") <= " + std::to_string(unit_->max_rows);
    if (groups) {
      const CellInput group = input(exact_cell_input(table_, groups->column));
      const auto& key = group_keys_.emplace_back(std::make_unique<RowKeyFunction>(
          connection_, RowKey{.inputs = {unit, group}, .content = {0, 1}, .hash = RowHashKey::groups}));
      limits += ") QUALIFY dense_rank() OVER (PARTITION BY " + unit.sql + " ORDER BY " + key->call() + ", " +
                group.sql + " NULLS FIRST) <= " + std::to_string(groups->max_groups);
    }
  }
  std::string columns;
  for (const std::string& sql : expressions_) columns += sql + " AS " + column(sql) + ", ";
  const std::string keyed = "SELECT " + columns + key_->call() + " AS row_key FROM " + scan;
  return std::string(groups ? "(SELECT * FROM " : "") + "(SELECT * FROM (" + keyed +
         ") WHERE row_key IS NOT NULL" + limits + ")";
}

std::optional<std::uint64_t> RowQuery::take_raw_rows() {
  if (!key_) return std::nullopt;
  return key_->take_rows();
}

void RowQuery::rethrow() const {
  if (key_) key_->rethrow();
  for (const auto& key : group_keys_) key->rethrow();
}

}  // namespace snapdp::engine
