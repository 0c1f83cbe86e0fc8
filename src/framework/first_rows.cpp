#include "framework/shared/first_rows.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "framework/shared/row_hash.h"

namespace snapdp::framework_internal {
namespace {

// Blocks double up to the last size: few rows take little, and many waste little.
constexpr std::size_t first_block = std::size_t{1} << 10;
constexpr std::size_t last_block = std::size_t{1} << 18;
// As much may always lie idle before rows are moved.
constexpr std::size_t idle_bytes = std::size_t{1} << 14;

std::size_t aligned(std::size_t size) {
  constexpr std::size_t unit = alignof(std::uint64_t);
  return (size + unit - 1) / unit * unit;
}

// What a record takes in the arena.
std::size_t room_of(std::size_t record_size) {
  return aligned(sizeof(std::size_t) + record_size);
}

}  // namespace

void FirstRows::Arena::add_block(std::size_t size) {
  blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
  next_ = blocks_.back().get();
  left_ = size;
  bytes_ += size;
}

char* FirstRows::Arena::allocate(std::size_t size) {
  const std::size_t room = aligned(size);
  if (room > left_) add_block(std::max(room, std::clamp(bytes_, first_block, last_block)));
  char* const start = next_;
  next_ += room;
  left_ -= room;
  used_ += room;
  return start;
}

std::string_view FirstRows::Waiting::record() const {
  std::size_t size = 0;
  std::memcpy(&size, place, sizeof size);
  return {place + sizeof size, size};
}

FirstRows::Name FirstRows::named(std::string_view text) {
  return {text, hash_content(RowHashKey::groups, text)};
}

void FirstRows::add(const Name& name, const Row& row) {
  Unit& of = unit(name);
  if (comes_too_late(of, row)) return;
  if (of.count == of.capacity) enlarge(of, std::max(of.count + 1, std::min(2 * of.count, most_waiting())));
  of.rows[of.count] = {row.hash, write(row.record)};
  if (++of.count == most_waiting()) trim(of);
}

bool FirstRows::comes_too_late(const Unit& unit, const Row& row) const {
  if (!unit.trimmed || row.hash < unit.last) return false;
  return row.hash > unit.last || row.record >= unit.rows[max_rows_ - 1].record();
}

void FirstRows::fetch_slot(const Name& name) const {
  if (!index_.empty()) __builtin_prefetch(&index_[slot_of(name.hash)]);
}

void FirstRows::fetch_unit(const Name& name) const {
  const Unit* const unit = index_.empty() ? nullptr : index_[slot_of(name.hash)];
  if (unit == nullptr) return;
  __builtin_prefetch(unit);
  __builtin_prefetch(unit + 1);  // its name
}

void FirstRows::list(std::size_t unit, std::vector<Row>& rows) const {
  const std::size_t before = rows.size();
  for (std::size_t i = 0; i < units_[unit]->count; ++i) rows.push_back(units_[unit]->rows[i].row());
  if (rows.size() - before <= max_rows_) return;
  const auto first = rows.begin() + static_cast<std::ptrdiff_t>(before);
  std::nth_element(first, first + static_cast<std::ptrdiff_t>(max_rows_), rows.end());
  rows.resize(before + static_cast<std::size_t>(max_rows_));
}

std::size_t FirstRows::bytes() const {
  const std::size_t pointers = (units_.capacity() + index_.capacity()) * sizeof(void*);
  return names_.bytes() + rows_.bytes() + pointers;
}

FirstRows::Unit& FirstRows::unit(const Name& name) {
  if (index_.size() <= 2 * units_.size()) enlarge_index();
  std::size_t slot = slot_of(name.hash);
  for (; index_[slot] != nullptr; slot = (slot + 1) & (index_.size() - 1)) {
    if (index_[slot]->hash == name.hash && index_[slot]->name() == name.text) return *index_[slot];
  }
  char* const place = names_.allocate(sizeof(Unit) + name.text.size());
  std::copy(name.text.begin(), name.text.end(), place + sizeof(Unit));
  Unit* const added = ::new (static_cast<void*>(place)) Unit{name.hash, name.text.size()};
  units_.push_back(added);
  index_[slot] = added;
  return *added;
}

void FirstRows::enlarge_index() {
  constexpr std::size_t smallest = 16;
  std::vector<Unit*> larger(std::max(smallest, 2 * index_.size()));
  for (Unit* const each : units_) {
    std::size_t slot = each->hash & (larger.size() - 1);
    while (larger[slot] != nullptr) slot = (slot + 1) & (larger.size() - 1);
    larger[slot] = each;
  }
  index_ = std::move(larger);
}

const char* FirstRows::write(std::string_view record) {
  char* const place = rows_.allocate(room_of(record.size()));
  const std::size_t size = record.size();
  std::memcpy(place, &size, sizeof size);
  std::copy(record.begin(), record.end(), place + sizeof size);
  live_ += room_of(size);
  return place;
}

std::size_t FirstRows::most_waiting() const {
  constexpr std::uint64_t never = std::uint64_t{1} << 48;  // rows of one unit
  const std::uint64_t limit = std::min(max_rows_, never);
  return static_cast<std::size_t>(limit + limit / 4 + 1);
}

void FirstRows::enlarge(Unit& unit, std::size_t capacity) {
  char* const place = rows_.allocate(capacity * sizeof(Waiting));
  std::copy(unit.rows, unit.rows + unit.count, reinterpret_cast<Waiting*>(place));
  live_ += (capacity - unit.capacity) * sizeof(Waiting);
  unit.rows = reinterpret_cast<Waiting*>(place);
  unit.capacity = capacity;
}

void FirstRows::trim(Unit& unit) {
  Waiting* const end = unit.rows + unit.count;
  Waiting* const behind = unit.rows + max_rows_;
  std::nth_element(unit.rows, behind - 1, end, [](const Waiting& a, const Waiting& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.record() < b.record();
  });
  for (const Waiting* taken = behind; taken != end; ++taken) live_ -= room_of(taken->record().size());
  unit.count = static_cast<std::size_t>(max_rows_);
  unit.trimmed = true;
  unit.last = behind[-1].hash;
  if (rows_.used() - live_ > live_ / 2 + idle_bytes) compact();
}

void FirstRows::compact() {
  Arena fresh;
  fresh.add_block(live_);  // all that is needed: from here on nothing throws
  const Arena before = std::exchange(rows_, std::move(fresh));
  live_ = 0;
  for (Unit* const unit : units_) {
    const Unit old = *unit;
    unit->capacity = 0;
    unit->count = 0;
    enlarge(*unit, old.capacity);
    for (; unit->count < old.count; ++unit->count)
      unit->rows[unit->count] = {old.rows[unit->count].hash, write(old.rows[unit->count].record())};
  }
}

}  // namespace snapdp::framework_internal
