#include "engines/duckdb/column_names.h"

#include <set>
#include <string_view>

#include "snapdp/error.h"

namespace snapdp::engine {

std::string shown(const std::string& name) {
  constexpr std::size_t limit = 60;
  std::string text = name.substr(0, limit);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return '"' + text + (name.size() > limit ? "..." : "") + '"';
}

void check_column_names(const std::vector<std::string>& names, const std::string& where) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) {
      throw Error(ErrorCode::bad_data, where,
                  where + ": column " + std::to_string(i + 1) + " of " + std::to_string(names.size()) +
                      " has no name; name every column");
    }
    if (!seen.insert(names[i]).second) {
      throw Error(
          ErrorCode::bad_data, where,
          where + ": two columns are named " + shown(names[i]) + "; give every column a name of its own");
    }
  }
}

}  // namespace snapdp::engine
