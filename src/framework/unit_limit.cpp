#include "snapdp/framework/unit_limit.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "snapdp/error.h"
#include "snapdp/framework/row_hash.h"

namespace snapdp {

UnitLimit::UnitLimit(std::uint64_t max_rows)
    : max_rows_(max_rows),
      stability_(Relation::stable(Rational(Integer(static_cast<unsigned long>(max_rows))))) {}

UnitLimit make_unit_limit(std::uint64_t max_rows) {
  if (max_rows == 0) {
    throw Error(ErrorCode::invalid_argument, "max_rows",
                "max_rows = 0: no rows would be left; keep at least one row of each unit");
  }
  return UnitLimit(max_rows);
}

std::string UnitLimit::description() const {
  return "at most " + std::to_string(max_rows_) + (max_rows_ == 1 ? " row" : " rows") + " of each unit";
}

std::vector<std::size_t> UnitLimit::kept(const Column& unit, std::span<const Column> content,
                                         const std::vector<std::size_t>& rows) const {
  // Of each unit, its rows in the order in which they are kept.
  struct Ranked {
    std::uint64_t hash;
    std::string content;
    std::size_t row;
  };
  std::map<std::string, std::vector<Ranked>> units;
  for (const std::size_t row : rows) {
    if (!names_unit(unit, row)) continue;
    std::string cells = row_content(content, row);
    const std::uint64_t hash = hash_content(RowHashKey::rows, cells);
    units[row_content({&unit, 1}, row)].push_back({hash, std::move(cells), row});
  }
  std::vector<std::size_t> result;
  for (auto& [name, of_unit] : units) {
    std::sort(of_unit.begin(), of_unit.end(), [](const Ranked& a, const Ranked& b) {
      return std::tie(a.hash, a.content) < std::tie(b.hash, b.content);
    });
    for (std::size_t i = 0; i < of_unit.size() && i < max_rows_; ++i) result.push_back(of_unit[i].row);
  }
  return result;
}

}  // namespace snapdp
