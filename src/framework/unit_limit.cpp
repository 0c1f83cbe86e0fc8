#include <algorithm>
#include <map>
#include <numeric>

#include "framework/shared/first_rows.h"
#include "framework/shared/group_limit.h"
#include "framework/shared/row_hash.h"
#include "snapdp/error.h"
#include "snapdp/framework/source.h"

namespace snapdp {

using namespace framework_internal;

namespace {

// Most significant byte first, so that records order as numbers do.
void append_number(std::string& record, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) record.push_back(static_cast<char>(number >> shift & 0xffU));
}

std::size_t number_at_end(std::string_view record) {
  std::uint64_t number = 0;
  for (const char byte : record.substr(record.size() - sizeof number))
    number = number << 8U | static_cast<unsigned char>(byte);
  return static_cast<std::size_t>(number);
}

}  // namespace

namespace {

void require_some(const char* parameter, std::uint64_t limit, const char* rule) {
  if (limit > 0) return;
  throw Error(ErrorCode::invalid_argument, parameter,
              std::string(parameter) + " = 0: no rows would be left; keep at least one " + rule);
}

// min(max_rows, groups * rows of each), without overflow.
std::uint64_t most_rows_of(std::uint64_t max_rows, const std::optional<GroupLimit>& groups) {
  if (!groups || groups->max_groups > max_rows / groups->max_rows) return max_rows;
  return groups->max_groups * groups->max_rows;
}

std::string counted(std::uint64_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

}  // namespace

UnitLimit::UnitLimit(std::uint64_t max_rows, const std::optional<GroupLimit>& groups)
    : max_rows_(max_rows),
      groups_(groups),
      most_rows_(most_rows_of(max_rows, groups)),
      stability_(Relation::stable(Rational(Integer(static_cast<unsigned long>(most_rows_))))) {}

UnitLimit make_unit_limit(std::uint64_t max_rows, const std::optional<GroupLimit>& groups) {
  require_some("max_rows", max_rows, "row of each unit");
  if (groups) {
    require_some("max_groups", groups->max_groups, "group of each unit");
    require_some("max_rows", groups->max_rows, "row of each group");
  }
  return UnitLimit(max_rows, groups);
}

std::string UnitLimit::description() const {
  std::string text = "at most " + counted(max_rows_, "row") + " of each unit";
  if (groups_)
    text += ", " + counted(groups_->max_rows, "row") + " in each of " + counted(groups_->max_groups, "group");
  return text;
}

std::vector<std::size_t> UnitLimit::kept(const Column& unit, const Column& group,
                                         std::span<const Column> content,
                                         const std::vector<std::size_t>& rows) const {
  std::vector<std::size_t> of_units = kept(unit, content, rows);
  if (!groups_) return of_units;
  struct Texts {
    std::string group, content;
  };
  std::vector<Texts> texts;
  texts.reserve(of_units.size());  // views of them stay valid
  std::map<std::string, std::vector<GroupedRow>> units;
  for (const std::size_t row : of_units) {
    const std::string name = row_content({&unit, 1}, row);
    const Texts& text = texts.emplace_back(Texts{row_content({&group, 1}, row), row_content(content, row)});
    units[name].push_back({hash_content(RowHashKey::groups, name + text.group), text.group,
                           hash_content(RowHashKey::rows, text.content), text.content, row});
  }
  std::vector<std::size_t> result;
  for (auto& [name, of_unit] : units) {
    keep_first_groups(*groups_, of_unit);
    for (const GroupedRow& row : of_unit) result.push_back(row.number);
  }
  return result;
}

std::vector<std::size_t> UnitLimit::kept(const Column& unit, std::span<const Column> content,
                                         const std::vector<std::size_t>& rows) const {
  // A record is the content and the number of the row, which tells rows of equal content apart.
  FirstRows first(max_rows_);
  std::string record;
  for (const std::size_t row : rows) {
    if (!names_unit(unit, row)) continue;
    record.clear();
    append_row_content(record, content, row);
    const std::uint64_t hash = hash_content(RowHashKey::rows, record);
    append_number(record, row);
    first.add(row_content({&unit, 1}, row), {hash, record});
  }
  std::vector<std::size_t> units(first.units());
  std::iota(units.begin(), units.end(), std::size_t{0});
  std::sort(units.begin(), units.end(),
            [&](std::size_t a, std::size_t b) { return first.name(a) < first.name(b); });
  std::vector<std::size_t> result;
  std::vector<FirstRows::Row> kept;
  for (const std::size_t each : units) {
    kept.clear();
    first.list(each, kept);
    std::sort(kept.begin(), kept.end());
    for (const FirstRows::Row& row : kept) result.push_back(number_at_end(row.record));
  }
  return result;
}

}  // namespace snapdp
