#include "engines/duckdb/unit_rows.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <new>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "engines/duckdb/cell_writer.h"
#include "engines/duckdb/registration.h"
#include "framework/shared/first_rows.h"
#include "framework/shared/group_limit.h"
#include "framework/shared/row_hash.h"
#include "snapdp/error.h"

namespace snapdp::engines_internal {

using namespace framework_internal;

namespace {

// Units are spread over so many stores, so that threads seldom wait for each other.
constexpr std::size_t shard_count = 64;

using Row = FirstRows::Row;

// Cell number `place` of a record.
ContentCell cell_of(std::string_view record, std::size_t place) {
  ContentCell cell = take_cell(record);
  while (place-- > 0) cell = take_cell(record);
  return cell;
}

// Takes away the rows of one unit that the limit does not keep.
void keep_first_groups(const GroupLimits& limits, std::string_view unit, std::vector<Row>& rows) {
  std::vector<GroupedRow> grouped;
  std::string content;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string_view group = cell_of(rows[i].record, limits.group).bytes;
    content.assign(unit).append(group);
    grouped.push_back({hash_content(RowHashKey::groups, content), group, rows[i].hash, rows[i].record, i});
  }
  framework_internal::keep_first_groups(limits.limit, grouped);
  std::vector<Row> kept;
  for (const GroupedRow& row : grouped) kept.push_back(rows[row.number]);
  rows = std::move(kept);
}

}  // namespace

class UnitRows::Store {
 public:
  struct State {};  // the rows lie here, not in the engine's states

  explicit Store(UnitLimits limits) : limits_(std::move(limits)), reader_(limits_.cells) {
    for (std::size_t i = 0; i < shard_count; ++i)
      shards_.push_back(std::make_unique<Shard>(limits_.max_rows));
  }

  const UnitLimits& limits() const { return limits_; }
  const CellReader& reader() const { return reader_; }
  const FirstRows& rows(std::size_t shard) const { return shards_[shard]->rows; }

  void update(duckdb_data_chunk chunk, const States<Store>& states) {
    try {
      add(reader_.read(chunk), states.count());
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::io, "engine",
                  "engine: there is no memory for the rows that units keep; lower max_rows_per_unit or use a "
                  "machine with "
                  "more memory");
    }
  }
  void merge(const States<Store>&, const States<Store>&) const {}
  void finish(const States<Store>& states, duckdb_vector result, std::size_t first_row) const {
    auto* values = static_cast<std::int64_t*>(duckdb_vector_get_data(result)) + first_row;
    std::fill_n(values, states.count(), 0);
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const std::unique_ptr<Shard>& shard : shards_) sum += shard->rows.bytes();
    return sum;
  }

  void forget() { shards_.clear(); }

  KeptException& exception() { return exception_; }

 private:
  struct Shard {
    explicit Shard(std::uint64_t max_rows) : rows(max_rows) {}
    std::mutex mutex;
    FirstRows rows;
  };

  // A row of a block.
  struct Written {
    std::string_view unit;
    Row row;
    std::size_t shard;
  };

  void add(const std::vector<Column>& columns, std::size_t count) {
    std::string text;
    std::array<Written, block_rows> written;
    write(columns, count, text, written);
    // The rows of each shard, one after the other, so that each is locked once.
    std::array<std::uint32_t, block_rows> order;
    std::array<std::size_t, shard_count + 1> starts{};
    for (std::size_t row = 0; row < count; ++row) ++starts[written[row].shard + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::array<std::size_t, shard_count + 1> next = starts;
    for (std::size_t row = 0; row < count; ++row)
      order[next[written[row].shard]++] = static_cast<std::uint32_t>(row);
    for (std::size_t i = 0; i < shard_count; ++i) {
      if (starts[i] == starts[i + 1]) continue;
      const std::lock_guard lock(shards_[i]->mutex);
      for (std::size_t k = starts[i]; k < starts[i + 1]; ++k)
        shards_[i]->rows.add(written[order[k]].unit, written[order[k]].row);
    }
  }

  void write(const std::vector<Column>& columns, std::size_t count, std::string& text,
             std::array<Written, block_rows>& written) const {
    const std::span<const Column> before = std::span(columns).first(limits_.unit);
    const std::span<const Column> unit = std::span(columns).subspan(limits_.unit, 1);
    const std::span<const Column> rest =
        std::span(columns).subspan(limits_.unit + 1, limits_.content_cells - limits_.unit - 1);
    const std::span<const Column> others = std::span(columns).subspan(limits_.content_cells);
    // All rows are written before the first is hashed: words that straddle writes are slow to read right after them.
    struct Place {
      std::size_t begin, unit, unit_end, content_end, end;
    };
    std::array<Place, block_rows> places;
    for (std::size_t row = 0; row < count; ++row) {
      Place& place = places[row];
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
    for (std::size_t row = 0; row < count; ++row) {
      const Place& place = places[row];
      written[row].unit = part(place.unit, place.unit_end);
      written[row].row = {hash_content(RowHashKey::rows, part(place.begin, place.content_end)),
                          part(place.begin, place.end)};
      written[row].shard = hash_content(RowHashKey::groups, written[row].unit) % shard_count;
    }
  }

  UnitLimits limits_;
  CellReader reader_;
  std::vector<std::unique_ptr<Shard>> shards_;
  KeptException exception_;
};

namespace {

// The rows of a store as a table.
class Kept {
 public:
  Kept(std::shared_ptr<const UnitRows::Store> store, const std::optional<GroupLimits>& groups)
      : store_(std::move(store)), groups_(groups) {}

  std::vector<TableColumn> columns() const {
    std::vector<TableColumn> columns;
    for (const CellInput& cell : store_->limits().cells)
      columns.push_back({cell.sql, duckdb_type_of(cell.stored)});
    return columns;
  }

  // A thread gives the rows of one shard after the other.
  struct Rows {
    std::vector<std::size_t> wanted;
    const FirstRows* shard = nullptr;
    std::size_t unit = 0;  // of the shard, the next one
    std::vector<Row> of_unit;
    std::size_t next = 0;  // of the unit's rows
  };
  std::unique_ptr<Rows> start(const std::vector<std::size_t>& wanted) const {
    return std::make_unique<Rows>(Rows{.wanted = wanted, .of_unit = {}});
  }

  void read(Rows& rows, duckdb_data_chunk chunk) {
    std::vector<std::optional<CellWriter>> writers(
        store_->limits().cells.size());  // of each cell, if it is wanted
    for (std::size_t i = 0; i < rows.wanted.size(); ++i)
      writers[rows.wanted[i]].emplace(duckdb_data_chunk_get_vector(chunk, i));
    const idx_t most = duckdb_vector_size();
    idx_t row = 0;
    while (row < most && (rows.next < rows.of_unit.size() || find_unit(rows)))
      write(rows.of_unit[rows.next++].record, row++, writers);
    duckdb_data_chunk_set_size(chunk, row);
  }

  KeptException& exception() { return exception_; }

 private:
  // The next unit, if there is one. It has rows.
  bool find_unit(Rows& rows) {
    while (rows.shard == nullptr || rows.unit == rows.shard->units()) {
      const std::size_t shard = next_shard_++;
      if (shard >= shard_count) return false;
      rows.shard = &store_->rows(shard);
      rows.unit = 0;
    }
    rows.of_unit.clear();
    rows.next = 0;
    rows.shard->list(rows.unit, rows.of_unit);
    if (groups_) keep_first_groups(*groups_, rows.shard->name(rows.unit), rows.of_unit);
    ++rows.unit;
    return true;
  }

  void write(std::string_view record, idx_t row, std::vector<std::optional<CellWriter>>& writers) const {
    for (std::size_t i = 0; i < writers.size(); ++i) {
      const ContentCell cell = take_cell(record);
      if (!writers[i]) continue;
      if (!cell.type) {
        writers[i]->write_null(row);
      } else if (*cell.type == AtomType::text) {
        writers[i]->write_text(row, cell.text);
      } else {
        writers[i]->write_bits(row, bits_of(cell, store_->limits().cells[i].stored));
      }
    }
  }

  // As the column stores it: in a content a real that is an integer stands as one.
  static std::uint64_t bits_of(const ContentCell& cell, AtomType stored) {
    if (stored != AtomType::real || *cell.type == AtomType::real) return cell.bits;
    return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(cell.bits)));
  }

  std::shared_ptr<const UnitRows::Store> store_;
  std::optional<GroupLimits> groups_;
  std::atomic<std::size_t> next_shard_{0};
  KeptException exception_;
};

}  // namespace

UnitRows::UnitRows(const Connection& connection, std::shared_ptr<Store> store)
    : connection_(connection),
      store_(std::move(store)),
      keep_(register_aggregate(connection, "snapdp_keep", store_->reader().arguments(),
                               duckdb_type_of(AtomType::integer), store_)) {}

UnitRows::UnitRows(const Connection& connection, UnitLimits limits)
    : UnitRows(connection, std::make_shared<Store>(std::move(limits))) {}

UnitRows::~UnitRows() {
  store_->forget();
}

RegisteredFunction UnitRows::rows(const std::optional<GroupLimits>& groups) const {
  return register_table(connection_, "snapdp_kept", std::make_shared<Kept>(store_, groups));
}

std::size_t UnitRows::bytes() const {
  return store_->bytes();
}

}  // namespace snapdp::engines_internal
