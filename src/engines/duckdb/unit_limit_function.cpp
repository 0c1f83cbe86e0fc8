#include "engines/duckdb/unit_limit_function.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory_resource>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "engines/duckdb/registration.h"
#include "snapdp/error.h"
#include "snapdp/framework/row_hash.h"

namespace snapdp::engine {
namespace {

// Memory of one thread that is given back all at once.
using Arena = std::pmr::monotonic_buffer_resource;

// One row in an arena: its size and its bytes. Nothing writes to it again, so states may share it.
class Record {
 public:
  Record(std::string_view bytes, Arena& arena)
      : bytes_(static_cast<char*>(arena.allocate(sizeof(std::size_t) + bytes.size(), alignof(std::size_t)))) {
    const std::size_t size = bytes.size();
    std::memcpy(bytes_, &size, sizeof size);
    std::memcpy(bytes_ + sizeof size, bytes.data(), size);
  }
  std::string_view bytes() const {
    std::size_t size = 0;
    std::memcpy(&size, bytes_, sizeof size);
    return {bytes_ + sizeof size, size};
  }

 private:
  char* bytes_;
};

// The first rows of one unit, by the hash of their content and then the content itself, which every record starts with.
// Up to twice as many rows wait until the first half is told from the second, so that a row costs little more than its
// bytes. What is dropped stays in the arena: as hashes come in no order, that is few rows.
class UnitRows {
 public:
  void add(std::uint64_t hash, std::string_view record, std::uint64_t max_rows, Arena& arena) {
    if (!comes_after_all(hash, record, max_rows)) push({hash, Record(record, arena)}, max_rows, arena);
  }

  void merge(const UnitRows& other, std::uint64_t max_rows, Arena& arena) {
    for (std::size_t i = 0; i < other.size_; ++i) {
      const Row& row = other.rows_[i];
      if (!comes_after_all(row.hash, row.record.bytes(), max_rows)) push(row, max_rows, arena);
    }
  }

  // Appends the records of at most max_rows rows.
  void list(std::uint64_t max_rows, std::vector<std::string_view>& records) {
    if (size_ > max_rows) trim(max_rows);
    for (std::size_t i = 0; i < size_; ++i) records.push_back(rows_[i].record.bytes());
  }

 private:
  struct Row {
    std::uint64_t hash;
    Record record;
  };

  bool comes_after_all(std::uint64_t hash, std::string_view record, std::uint64_t max_rows) const {
    if (!trimmed_) return false;
    const Row& last = rows_[max_rows - 1];
    return hash > last.hash || (hash == last.hash && record >= last.record.bytes());
  }

  void push(const Row& row, std::uint64_t max_rows, Arena& arena) {
    if (size_ == capacity_) {
      const std::size_t capacity = std::max<std::size_t>(2, 2 * capacity_);
      auto* rows = static_cast<Row*>(arena.allocate(capacity * sizeof(Row), alignof(Row)));
      std::uninitialized_copy_n(rows_, size_, rows);
      rows_ = rows;
      capacity_ = capacity;
    }
    std::construct_at(rows_ + size_++, row);
    if (size_ / 2 >= max_rows) trim(max_rows);
  }

  // Of more than max_rows rows, the first max_rows, of which the last lies behind the others.
  void trim(std::uint64_t max_rows) {
    std::nth_element(rows_, rows_ + max_rows - 1, rows_ + size_, [](const Row& a, const Row& b) {
      return a.hash != b.hash ? a.hash < b.hash : a.record.bytes() < b.record.bytes();
    });
    size_ = static_cast<std::size_t>(max_rows);
    trimmed_ = true;
  }

  Row* rows_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool trimmed_ = false;  // then no row comes after rows_[max_rows - 1] any more
};

// Cell number `place` of a record.
ContentCell cell_of(std::string_view record, std::size_t place) {
  ContentCell cell = take_cell(record);
  while (place-- > 0) cell = take_cell(record);
  return cell;
}

// Takes away the records of one unit, which start at number `first`, that are not in the groups that come first.
void keep_first_groups(const UnitLimits::Groups& limit, std::vector<std::string_view>& records,
                       std::size_t first) {
  const std::span<std::string_view> of_unit = std::span(records).subspan(first);
  if (of_unit.size() <= limit.max_groups) return;
  using Group = std::pair<std::uint64_t, std::string_view>;  // hash, cell
  std::vector<Group> group_of;
  std::string content;
  for (const std::string_view record : of_unit) {
    const std::string_view group = cell_of(record, limit.group).bytes;
    content.assign(cell_of(record, limit.unit).bytes).append(group);
    group_of.emplace_back(hash_content(RowHashKey::groups, content), group);
  }
  std::vector<Group> groups = group_of;
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  if (groups.size() <= limit.max_groups) return;
  const Group& last = groups[static_cast<std::size_t>(limit.max_groups) - 1];
  std::size_t kept = 0;
  for (std::size_t i = 0; i < of_unit.size(); ++i) {
    if (group_of[i] <= last) of_unit[kept++] = of_unit[i];
  }
  records.resize(first + kept);
}

// Writes the cells of structures, of row `row` of their vectors.
class CellWriter {
 public:
  CellWriter(duckdb_vector vector)  // NOLINT
      : vector_(vector), values_(static_cast<char*>(duckdb_vector_get_data(vector))) {}

  void write(std::size_t row, const ContentCell& cell) {
    if (!cell.type) {
      duckdb_vector_ensure_validity_writable(vector_);
      duckdb_validity_set_row_invalid(duckdb_vector_get_validity(vector_), row);
    } else if (*cell.type == AtomType::text) {
      duckdb_vector_assign_string_element_len(vector_, row, cell.text.data(), cell.text.size());
    } else {
      std::memcpy(values_ + row * sizeof cell.bits, &cell.bits, sizeof cell.bits);
    }
  }

 private:
  duckdb_vector vector_;
  char* values_;
};

}  // namespace

class UnitLimitFunction::Calls {
 public:
  using State = UnitRows;

  explicit Calls(UnitLimits limits) : limits_(std::move(limits)), reader_(limits_.cells) {}

  const CellReader& reader() const { return reader_; }

  void update(duckdb_data_chunk chunk, const States<Calls>& states) {
    const std::vector<Column> columns = reader_.read(chunk);
    const std::span<const Column> content = std::span(columns).first(limits_.content_cells);
    const std::span<const Column> others = std::span(columns).subspan(limits_.content_cells);
    // All rows are written before the first is hashed: words that straddle writes are slow to read right after them.
    struct Place {
      std::size_t first, content_size, size;
    };
    std::array<Place, block_rows> placed;
    std::string records;
    for (std::size_t row = 0; row < states.count(); ++row) {
      const std::size_t first = records.size();
      append_row_content(records, content, row);
      const std::size_t end = records.size();
      append_row_content(records, others, row);
      placed[row] = {first, end - first, records.size() - first};
    }
    const std::string_view all = records;
    Arena& arena = arena_of_thread();
    for (std::size_t row = 0; row < states.count(); ++row) {
      const auto [first, content_size, size] = placed[row];
      states[row].add(hash_content(RowHashKey::rows, all.substr(first, content_size)),
                      all.substr(first, size), limits_.max_rows, arena);
    }
  }

  void merge(const States<Calls>& into, const States<Calls>& from) {
    Arena& arena = arena_of_thread();
    for (std::size_t i = 0; i < into.count(); ++i) into[i].merge(from[i], limits_.max_rows, arena);
  }

  void finish(const States<Calls>& states, duckdb_vector result, std::size_t first_row) const {
    auto* lists = static_cast<duckdb_list_entry*>(duckdb_vector_get_data(result)) + first_row;
    std::vector<std::string_view> records;
    const std::size_t before = duckdb_list_vector_get_size(result);
    for (std::size_t i = 0; i < states.count(); ++i) {
      const std::size_t first = records.size();
      states[i].list(limits_.max_rows, records);
      if (limits_.groups) keep_first_groups(*limits_.groups, records, first);
      lists[i] = {before + first, records.size() - first};
    }
    try {
      write(records, result, before);
    } catch (...) {
      // DuckDB throws its own exceptions where it has no room, and what they say depends on the rows.
      throw Error(
          ErrorCode::io, "engine",
          "engine: there is no memory for the rows that units keep; lower max_rows_per_unit, use fewer "
          "threads or a machine with more memory");
    }
  }

  // The rows that the query kept.
  void forget() {
    const std::lock_guard lock(mutex_);
    arenas_.clear();
  }

  KeptException& exception() { return exception_; }

 private:
  // At the end of the list's vector, which has `before` elements.
  void write(const std::vector<std::string_view>& records, duckdb_vector list, std::size_t before) const {
    duckdb_list_vector_reserve(list, before + records.size());
    duckdb_list_vector_set_size(list, before + records.size());
    auto* structures = duckdb_list_vector_get_child(list);
    std::vector<CellWriter> writers;
    for (std::size_t i = 0; i < limits_.cells.size(); ++i)
      writers.emplace_back(duckdb_struct_vector_get_child(structures, i));
    for (std::size_t i = 0; i < records.size(); ++i) {
      std::string_view record = records[i];
      for (CellWriter& writer : writers) writer.write(before + i, take_cell(record));
    }
  }

  Arena& arena_of_thread() {
    const std::lock_guard lock(mutex_);
    return arenas_[std::this_thread::get_id()];
  }

  std::mutex mutex_;  // of the map, not of the arenas
  std::map<std::thread::id, Arena> arenas_;
  UnitLimits limits_;
  CellReader reader_;
  KeptException exception_;
};

namespace {

// A list of structures of the arguments.
LogicalType list_of(std::span<const Argument> arguments) {
  std::vector<duckdb_logical_type> types;
  std::vector<const char*> names;
  for (const Argument& argument : arguments) {
    types.push_back(argument.type.get());
    names.push_back(argument.sql.c_str());
  }
  const LogicalType structure(duckdb_create_struct_type(types.data(), names.data(), types.size()));
  return LogicalType(duckdb_create_list_type(structure.get()));
}

}  // namespace

UnitLimitFunction::UnitLimitFunction(const Connection& connection, std::shared_ptr<Calls> calls)
    : RegisteredFunction(register_aggregate(connection, "snapdp_unit", calls->reader().arguments(),
                                            list_of(calls->reader().arguments()), calls)),
      calls_(std::move(calls)) {}

UnitLimitFunction::UnitLimitFunction(const Connection& connection, UnitLimits limits)
    : UnitLimitFunction(connection, std::make_shared<Calls>(std::move(limits))) {}

UnitLimitFunction::~UnitLimitFunction() {
  calls_->forget();
}

}  // namespace snapdp::engine
