#include "framework/shared/source_parts.h"

#include <algorithm>
#include <set>

#include "snapdp/error.h"

namespace snapdp::framework_internal {
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

void check_domain(const FoldRequest& request) {
  const std::vector<AtomDomain>& columns = request.aggregation->input_domain().columns();
  std::vector<AtomType> types;
  for (const AtomDomain& column : columns) types.push_back(column.type);
  if (columns.size() != request.columns.size() || columns.size() > Chunk::max_columns ||
      columns != untrusted_domain(types).columns()) {
    throw Error(ErrorCode::mismatch, "aggregation",
                "aggregation: a source folds " + std::to_string(request.columns.size()) +
                    " untrusted columns, but this one takes " +
                    describe(Domain(request.aggregation->input_domain())) +
                    "; start its chain at untrusted_domain()");
  }
}

void check_selection(const RowSelection& selection, std::span<const FoldRequest> requests) {
  if (selection.unit) check_limit("max_rows_per_unit", selection.unit->max_rows);
  if (selection.where) check_condition(*selection.where);
  for (const FoldRequest& request : requests) {
    if (!request.groups) continue;
    check_limit("max_groups_per_unit", request.groups->max_groups);
    check_limit("max_rows_per_group_per_unit", request.groups->max_rows);
    if (!selection.unit) {
      throw Error(
          ErrorCode::invalid_argument, "max_groups_per_unit",
          "max_groups_per_unit: groups are limited for each privacy unit; name the unit's column too");
    }
  }
}

std::vector<std::string> columns_read(const RowSelection& selection, std::span<const FoldRequest> requests) {
  std::set<std::string> read;
  for (const FoldRequest& request : requests) {
    read.insert(request.columns.begin(), request.columns.end());
    if (request.groups) read.insert(request.groups->column);
  }
  if (selection.where) read.insert(selection.where->columns.begin(), selection.where->columns.end());
  if (selection.unit) read.insert(selection.unit->column);
  return {read.begin(), read.end()};
}

std::size_t find_column(const std::vector<SourceColumn>& columns, const std::string& name) {
  if (const std::string problem = column_problem(columns, name); !problem.empty())
    throw Error(ErrorCode::bad_data, "column", "column " + quoted_text(name) + " " + problem);
  const auto column = std::find_if(columns.begin(), columns.end(),
                                   [&](const SourceColumn& each) { return each.name == name; });
  return static_cast<std::size_t>(column - columns.begin());
}

// A row-wise function is the same under every metric.
std::shared_ptr<const RowFunction> cell_conversion(AtomType stored, AtomType wanted) {
  if (stored == wanted) return nullptr;
  const VectorDomain domain = untrusted_domain({stored});
  const Transformation converted = stored == AtomType::text
                                       ? make_parse(domain, symmetric_distance(), {wanted})
                                       : make_cast(domain, symmetric_distance(), {wanted}, CastFailure::null);
  return converted.functions().at(0);
}

}  // namespace snapdp::framework_internal
