// Telling questions apart: what a selection and its requests ask of a table.
#pragma once

#include <span>
#include <string>

#include "snapdp/framework/source.h"

namespace snapdp::framework_internal {

// A text that two questions have in common only when they are the same: columns, conditions, limits and aggregations, in
// order.
std::string question_text(const RowSelection& selection, std::span<const FoldRequest> requests);

}  // namespace snapdp::framework_internal
