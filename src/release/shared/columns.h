// The columns that a specification needs of its data.
#pragma once

#include <vector>

#include "snapdp/framework/source.h"
#include "snapdp/release/specification.h"

namespace snapdp::release_internal {

// Throws bad_data, at its place in the specification, for a column that is not in the header, to the letter, or cannot be
// used. Only names of the specification are suggested: without a header the file's first line is a row.
void require_columns(const Specification& specification, const std::vector<SourceColumn>& header);

}  // namespace snapdp::release_internal
