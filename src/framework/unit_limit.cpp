#include "snapdp/framework/unit_limit.h"

#include <algorithm>
#include <numeric>

#include "framework/first_rows.h"
#include "snapdp/error.h"
#include "snapdp/framework/row_hash.h"

namespace snapdp {
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
