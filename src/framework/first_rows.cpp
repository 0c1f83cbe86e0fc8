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

std::string_view FirstRows::record_at(const char* place) {
  if (place == nullptr) return {};
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
  of.rows[of.count] = {row.hash, has_records_ ? write(row.record) : nullptr};
  if (++of.count == most_waiting()) trim(of);
}

bool FirstRows::comes_too_late(Unit& unit, const Row& row) const {
  if (!unit.trimmed || row.hash < unit.last) return false;
  if (row.hash > unit.last) return true;
  unit.tied = true;
  return !has_records_ || row.record >= unit.rows[max_rows_ - 1].record();
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
  if (!settled_) return list(*units_[unit], rows);
  if (!units_[unit]->tied) return;
  const Ties& ties = *units_[unit]->ties;
  std::uint64_t wanted = ties.wanted;
  for (const Tied* tied = ties.first; tied != ties.first + ties.count; ++tied) {
    for (std::uint64_t more = std::min(wanted, tied->times); more > 0; --more, --wanted)
      rows.push_back({units_[unit]->last, record_at(tied->place)});
  }
}

void FirstRows::list(const Unit& unit, std::vector<Row>& rows) const {
  const std::size_t before = rows.size();
  for (std::size_t i = 0; i < unit.count; ++i) rows.push_back(unit.rows[i].row());
  if (rows.size() - before <= max_rows_) return;
  const auto first = rows.begin() + static_cast<std::ptrdiff_t>(before);
  std::nth_element(first, first + static_cast<std::ptrdiff_t>(max_rows_), rows.end());
  rows.resize(before + static_cast<std::size_t>(max_rows_));
}

std::size_t FirstRows::bytes() const {
  const std::size_t pointers = (units_.capacity() + index_.capacity()) * sizeof(void*);
  return names_.bytes() + rows_.bytes() + pointers;
}

// Null where there is none. The index is not empty.
FirstRows::Unit* FirstRows::find(const Name& name) const {
  std::size_t slot = slot_of(name.hash);
  while (index_[slot] != nullptr && (index_[slot]->hash != name.hash || index_[slot]->name() != name.text))
    slot = (slot + 1) & (index_.size() - 1);
  return index_[slot];
}

FirstRows::Unit& FirstRows::unit(const Name& name) {
  if (index_.size() <= 2 * units_.size()) enlarge_index();
  std::size_t slot = slot_of(name.hash);
  for (; index_[slot] != nullptr; slot = (slot + 1) & (index_.size() - 1)) {
    if (index_[slot]->hash == name.hash && index_[slot]->name() == name.text) return *index_[slot];
  }
  char* const place = names_.allocate(sizeof(Unit) + name.text.size());
  std::copy(name.text.begin(), name.text.end(), place + sizeof(Unit));
  Unit* const added = ::new (static_cast<void*>(place)) Unit(name.hash, name.text.size());
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
  const std::uint64_t last = behind[-1].hash;
  bool tied = false;  // if the last hash remains the last, all that are taken away have it
  for (const Waiting* taken = behind; taken != end; ++taken) {
    if (has_records_) live_ -= room_of(taken->record().size());
    tied = tied || taken->hash == last;
  }
  unit.count = static_cast<std::size_t>(max_rows_);
  unit.trimmed = true;
  unit.tied = tied;
  unit.last = last;
  if (rows_.used() - live_ > live_ / 2 + idle_bytes) compact();
}

void FirstRows::forget_records() {
  has_records_ = false;
  live_ = 0;
  for (const Unit* const unit : units_) live_ += unit->capacity * sizeof(Waiting);
  compact();
}

void FirstRows::settle() {
  if (has_records_) forget_records();
  for (Unit* const unit : units_) {
    if (unit->count > max_rows_) trim(*unit);
  }
  Arena ties;
  for (Unit* const unit : units_) settle(*unit, ties);
  rows_ = std::move(ties);
  settled_ = true;
}

void FirstRows::settle(Unit& unit, Arena& ties) {
  if (!unit.tied) return;
  const auto wanted = static_cast<std::size_t>(std::count_if(
      unit.rows, unit.rows + unit.count, [&](const Waiting& row) { return row.hash == unit.last; }));
  unit.count -= wanted;
  unit.ties = ::new (static_cast<void*>(ties.allocate(sizeof(Ties)))) Ties{wanted};
  has_ties_ = true;
}

FirstRows::Taken FirstRows::take(const Name& name, const Row& row) {
  Unit* const of = index_.empty() ? nullptr : find(name);
  if (of == nullptr) return Taken::unknown;
  if (of->trimmed && row.hash > of->last) return Taken::no;
  if (of->tied && row.hash == of->last) {
    add_tie(*of->ties, row.record);
    return Taken::tied;
  }
  if (of->count == 0) return Taken::unknown;
  --of->count;
  return Taken::yes;
}

void FirstRows::add_tie(Ties& ties, std::string_view record) {
  const Tied* const at = std::lower_bound(
      ties.first, ties.first + ties.count, record,
      [](const Tied& tied, std::string_view wanted) { return record_at(tied.place) < wanted; });
  const auto before = static_cast<std::size_t>(at - ties.first);
  if (before < ties.count && record_at(at->place) == record) {
    ++ties.first[before].times;
    return;
  }
  // Each of the records comes once at least, so no more of them than are wanted need to be known.
  if (before == ties.wanted) return;
  if (ties.count == ties.wanted) --ties.count;
  if (ties.count == ties.capacity) enlarge(ties);
  Tied* const behind = ties.first + ties.count++;
  std::copy_backward(ties.first + before, behind, behind + 1);
  ties.first[before] = {write(record), 1};
}

void FirstRows::enlarge(Ties& ties) {
  ties.capacity = std::max(std::size_t{1}, 2 * ties.count);
  auto* const larger = reinterpret_cast<Tied*>(rows_.allocate(ties.capacity * sizeof(Tied)));
  std::copy(ties.first, ties.first + ties.count, larger);
  ties.first = larger;
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
    for (; unit->count < old.count; ++unit->count) {
      const Waiting& row = old.rows[unit->count];
      unit->rows[unit->count] = {row.hash, has_records_ ? write(row.record()) : nullptr};
    }
  }
}

}  // namespace snapdp::framework_internal
