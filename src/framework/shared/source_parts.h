// What all sources do before they read a row: the checks of what is asked, and the function that makes of a cell as it is
// stored the one that is wanted.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "snapdp/framework/source.h"
#include "snapdp/framework/transformation.h"

namespace snapdp::framework_internal {

// Everything may come from a table, so the aggregation must take everything. Throws a mismatch naming "aggregation".
void check_domain(const FoldRequest& request);

// Throws invalid_argument for limits of nothing or groups without a unit, and mismatch for a condition that does not fit
// its columns.
void check_selection(const RowSelection& selection, std::span<const FoldRequest> requests);

// The columns that the fold reads, sorted, without repetition: what tells which rows of a unit come first.
std::vector<std::string> columns_read(const RowSelection& selection, std::span<const FoldRequest> requests);

// The place of a column that can be used. Throws bad_data when it is not there, not the only one of its name, or cannot be
// used.
std::size_t find_column(const std::vector<SourceColumn>& columns, const std::string& name);

// From cells of the type `stored` to cells of the type `wanted`: text is parsed as make_parse says, and a real is the
// integer that it is, or else null. Null where cells stay what they are.
std::shared_ptr<const RowFunction> cell_conversion(AtomType stored, AtomType wanted);

}  // namespace snapdp::framework_internal
