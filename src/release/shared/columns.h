// The columns that a specification needs of its data.
#pragma once

#include <string>
#include <vector>

#include "snapdp/framework/source.h"
#include "snapdp/release/specification.h"

namespace snapdp::release_internal {

// The columns that a specification and its declaration read.
std::vector<std::string> columns_of(const Specification& specification);

// Throws bad_data, at its place in the specification, for a column that is not in the header, to the letter, or cannot be
// used. Only names of the specification are suggested: without a header the file's first line is a row.
void require_columns(const Specification& specification, const std::vector<SourceColumn>& header);

}  // namespace snapdp::release_internal
