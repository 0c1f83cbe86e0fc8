#include "framework/shared/unit_store.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "framework/shared/group_limit.h"

namespace snapdp::framework_internal {
namespace {

using Row = FirstRows::Row;

// Cell number `place` of a record.
ContentCell cell_of(std::string_view record, std::size_t place) {
  ContentCell cell = take_cell(record);
  while (place-- > 0) cell = take_cell(record);
  return cell;
}

// Takes away the rows of one unit that the limit does not keep.
void keep_first_groups(const UnitStore::Groups& groups, std::string_view unit, std::vector<Row>& rows) {
  std::vector<GroupedRow> grouped;
  std::string content;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string_view group = cell_of(rows[i].record, groups.cell).bytes;
    content.assign(unit).append(group);
    grouped.push_back({hash_content(RowHashKey::groups, content), group, rows[i].hash, rows[i].record, i});
  }
  keep_first_groups(groups.limit, grouped);
  std::vector<Row> kept;
  for (const GroupedRow& row : grouped) kept.push_back(rows[row.number]);
  rows = std::move(kept);
}

}  // namespace

UnitStore::UnitStore(const Layout& layout) : layout_(layout) {
  for (std::size_t i = 0; i < shard_count; ++i) shards_.push_back(std::make_unique<Shard>(layout.max_rows));
}

std::size_t UnitStore::bytes() const {
  std::size_t sum = 0;
  for (const std::unique_ptr<Shard>& shard : shards_) sum += shard->rows.bytes();
  return sum;
}

// The rows of each shard come one after the other, so that each is locked once.
template <typename Action>
void UnitStore::for_shards(std::span<const Written> block, const Action& action) {
  std::array<std::uint32_t, block_rows> order;
  std::array<std::size_t, shard_count + 1> starts{};
  for (const Written& row : block) ++starts[shard_of(row.unit) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::array<std::size_t, shard_count + 1> next = starts;
  for (std::size_t row = 0; row < block.size(); ++row)
    order[next[shard_of(block[row].unit)]++] = static_cast<std::uint32_t>(row);
  for (std::size_t i = 0; i < shard_count; ++i) {
    if (starts[i] == starts[i + 1]) continue;
    const std::lock_guard lock(shards_[i]->mutex);
    const auto places = std::span<const std::uint32_t>(order).subspan(starts[i], starts[i + 1] - starts[i]);
    shards_[i]->fetch(block, places);
    action(*shards_[i], places);
  }
}

void UnitStore::add(std::span<const Column> columns, std::size_t count, const std::uint8_t* keeps) {
  std::string text;
  std::array<Written, block_rows> written;
  const std::span<const Written> block(written.data(), write(columns, count, keeps, text, written));
  for_shards(block, [&](Shard& shard, std::span<const std::uint32_t> places) { add(shard, block, places); });
}

void UnitStore::add(Shard& shard, std::span<const Written> block, std::span<const std::uint32_t> places) {
  const std::size_t before = shard.rows.bytes();
  if (reads_again_ && shard.rows.has_records()) shard.rows.forget_records();
  for (const std::uint32_t place : places) shard.rows.add(block[place].unit, block[place].row);
  bytes_ += shard.rows.bytes() - before;  // modulo 2^64
  if (bytes_ > layout_.most_bytes) reads_again_ = true;
}

void UnitStore::Shard::fetch(std::span<const Written> block, std::span<const std::uint32_t> places) const {
  for (const std::uint32_t place : places) rows.fetch_slot(block[place].unit);
  for (const std::uint32_t place : places) rows.fetch_unit(block[place].unit);
}

void UnitStore::settle() {
  for (const std::unique_ptr<Shard>& shard : shards_) shard->rows.settle();
}

bool UnitStore::choose(std::span<const Column> columns, std::size_t count, std::uint8_t* keeps) {
  std::string text;
  std::array<Written, block_rows> written;
  const std::span<const Written> block(written.data(), write(columns, count, nullptr, text, written));
  bool known = true;
  for_shards(block, [&](Shard& shard, std::span<const std::uint32_t> places) {
    known = shard.choose(block, places, keeps) && known;
  });
  return known;
}

bool UnitStore::Shard::choose(std::span<const Written> block, std::span<const std::uint32_t> places,
                              std::uint8_t* keeps) {
  bool known = true;
  for (const std::uint32_t place : places) {
    const auto& [unit, row] = block[place];
    const FirstRows::Taken taken = rows.take(unit, row);
    keeps[place] = taken == FirstRows::Taken::yes;
    known = known && taken != FirstRows::Taken::unknown;
  }
  return known;
}

bool UnitStore::has_ties() const {
  return std::any_of(shards_.begin(), shards_.end(),
                     [](const std::unique_ptr<Shard>& shard) { return shard->rows.has_ties(); });
}

std::size_t UnitStore::write(std::span<const Column> columns, std::size_t count, const std::uint8_t* keeps,
                             std::string& text, std::span<Written> written) const {
  const std::span<const Column> before = columns.first(layout_.unit);
  const std::span<const Column> unit = columns.subspan(layout_.unit, 1);
  const std::span<const Column> rest =
      columns.subspan(layout_.unit + 1, layout_.content_cells - layout_.unit - 1);
  const std::span<const Column> others = columns.subspan(layout_.content_cells);
  // All rows are written before the first is hashed: words that straddle writes are slow to read right after them.
  struct Place {
    std::size_t begin, unit, unit_end, content_end, end;
  };
  std::array<Place, block_rows> places;
  std::size_t rows = 0;
  for (std::size_t row = 0; row < count; ++row) {
    if (keeps != nullptr && keeps[row] == 0) continue;
    Place& place = places[rows++];
    place.begin = text.size();
    append_row_content(text, before, row);
    place.unit = text.size();
    append_row_content(text, unit, row);
    place.unit_end = text.size();
    append_row_content(text, rest, row);
    place.content_end = text.size();
    append_row_content(text, others, row);
    place.end = text.size();
  }
  const auto part = [&](std::size_t begin, std::size_t end) {
    return std::string_view(text).substr(begin, end - begin);
  };
  for (std::size_t row = 0; row < rows; ++row) {
    const Place& place = places[row];
    written[row].unit = FirstRows::named(part(place.unit, place.unit_end));
    written[row].row = {hash_content(RowHashKey::rows, part(place.begin, place.content_end)),
                        part(place.begin, place.end)};
  }
  return rows;
}

std::optional<std::string_view> UnitStore::Cursor::next() {
  while (next_ == of_unit_.size()) {
    if (!find_unit()) return std::nullopt;
  }
  return of_unit_[next_++].record;
}

// The next unit, if there is one.
bool UnitStore::Cursor::find_unit() {
  while (shard_ == nullptr || unit_ == shard_->units()) {
    const std::size_t shard = (*next_shard_)++;
    if (shard >= shard_count) return false;
    shard_ = &store_->shards_[shard]->rows;
    unit_ = 0;
  }
  of_unit_.clear();
  next_ = 0;
  shard_->list(unit_, of_unit_);
  if (groups_) keep_first_groups(*groups_, shard_->name(unit_), of_unit_);
  ++unit_;
  return true;
}

std::uint64_t stored_bits(const ContentCell& cell, AtomType stored) {
  if (stored != AtomType::real || *cell.type == AtomType::real) return cell.bits;
  return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(cell.bits)));
}

}  // namespace snapdp::framework_internal
