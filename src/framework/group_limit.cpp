#include "framework/shared/group_limit.h"

#include <algorithm>
#include <tuple>

namespace snapdp::framework_internal {

void keep_first_groups(const GroupLimit& limit, std::vector<GroupedRow>& rows) {
  if (rows.size() <= std::min(limit.max_groups, limit.max_rows)) return;
  std::sort(rows.begin(), rows.end(), [](const GroupedRow& a, const GroupedRow& b) {
    return std::tie(a.group_hash, a.group, a.hash, a.content) <
           std::tie(b.group_hash, b.group, b.hash, b.content);
  });
  std::vector<GroupedRow> kept;
  std::uint64_t groups = 0;
  auto next = rows.begin();
  while (next != rows.end() && groups++ < limit.max_groups) {
    const auto end = std::find_if(next, rows.end(), [&](const GroupedRow& row) {
      return row.group_hash != next->group_hash || row.group != next->group;
    });
    const auto size = static_cast<std::uint64_t>(end - next);
    kept.insert(kept.end(), next, next + static_cast<std::ptrdiff_t>(std::min(size, limit.max_rows)));
    next = end;
  }
  rows = std::move(kept);
}

}  // namespace snapdp::framework_internal
