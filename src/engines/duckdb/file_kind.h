// What a data file is by its first bytes, where it is not what it was taken for.
#pragma once

#include <string>
#include <string_view>

namespace snapdp::engines_internal {

// What is wrong with a file that is to be CSV and starts so, and the next step: "is compressed by gzip; ...". Empty when
// nothing speaks against it.
std::string not_csv(std::string_view start);
// The same of a file that is to be Parquet.
std::string not_parquet(std::string_view start);

}  // namespace snapdp::engines_internal
