// Rules for the names of columns, whatever the format.
#pragma once

#include <string>
#include <vector>

namespace snapdp::engine {

// `name` between double quotes for a message: control characters as "?", and no more than 60 bytes.
std::string shown(const std::string& name);

// Throws bad_data, with `where` as its parameter, when a name is empty or occurs twice.
void check_column_names(const std::vector<std::string>& names, const std::string& where);

}  // namespace snapdp::engine
