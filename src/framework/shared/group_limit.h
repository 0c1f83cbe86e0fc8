// Which rows of one privacy unit a GroupLimit keeps: for whoever holds the rows, in memory or in an engine.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "snapdp/framework/source.h"

namespace snapdp::framework_internal {

// A row of the unit. Its views belong to the caller.
struct GroupedRow {
  std::uint64_t group_hash;  // of the unit's cell and the group's, keyed by RowHashKey::groups
  std::string_view group;    // the group's cell
  std::uint64_t hash;        // of the content, keyed by RowHashKey::rows
  std::string_view content;  // or what starts with it
  std::size_t number;        // the caller's
};

// Leaves of `rows`, all of one unit, those in the max_groups groups that come first by hash and then by their cell, and of
// each of these groups the max_rows rows that come first by hash and then by content.
void keep_first_groups(const GroupLimit& limit, std::vector<GroupedRow>& rows);

}  // namespace snapdp::framework_internal
