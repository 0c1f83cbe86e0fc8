#include "engines/duckdb/unit_rows.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <string_view>
#include <utility>

#include "engines/duckdb/cell_writer.h"
#include "engines/duckdb/registration.h"
#include "engines/duckdb/table.h"
#include "framework/shared/row_hash.h"
#include "framework/shared/unit_store.h"
#include "snapdp/error.h"

namespace snapdp::engines_internal {

using namespace framework_internal;

class UnitRows::Store {
 public:
  struct State {};  // the rows lie here, not in the engine's states

  explicit Store(UnitLimits limits)
      : limits_(std::move(limits)),
        reader_(limits_.cells),
        rows_({.content_cells = limits_.content_cells,
               .unit = limits_.unit,
               .max_rows = limits_.max_rows,
               .most_bytes = limits_.most_bytes}) {}

  const UnitLimits& limits() const { return limits_; }
  const CellReader& reader() const { return reader_; }
  UnitStore& rows() { return rows_; }
  const UnitStore& rows() const { return rows_; }

  void update(duckdb_data_chunk chunk, const States<Store>& states) {
    try {
      rows_.add(reader_.read(chunk), states.count());
    } catch (const std::bad_alloc&) {
      refuse_memory();
    }
  }
  bool choose(duckdb_data_chunk chunk, std::uint8_t* keeps) {
    try {
      return rows_.choose(reader_.read(chunk), duckdb_data_chunk_get_size(chunk), keeps);
    } catch (const std::bad_alloc&) {
      refuse_memory();
    }
  }
  void merge(const States<Store>&, const States<Store>&) const {}
  void finish(const States<Store>& states, duckdb_vector result, std::size_t first_row) const {
    auto* values = static_cast<std::int64_t*>(duckdb_vector_get_data(result)) + first_row;
    std::fill_n(values, states.count(), 0);
  }

  KeptException& exception() { return exception_; }

 private:
  [[noreturn]] static void refuse_memory() {
    throw Error(ErrorCode::io, "engine",
                "engine: there is no memory for the rows that units keep; lower max_rows_per_unit or use a "
                "machine with more memory");
  }

  UnitLimits limits_;
  CellReader reader_;
  UnitStore rows_;
  KeptException exception_;
};

namespace {

// Which rows are kept, when they come again.
class Choice {
 public:
  explicit Choice(std::shared_ptr<UnitRows::Store> store) : store_(std::move(store)) {}

  void call(duckdb_data_chunk chunk, duckdb_vector result) {
    std::array<std::uint8_t, block_rows> keeps;
    if (!store_->choose(chunk, keeps.data())) refuse_changed_file();
    std::copy_n(keeps.begin(), duckdb_data_chunk_get_size(chunk),
                static_cast<bool*>(duckdb_vector_get_data(result)));
  }

  KeptException& exception() { return exception_; }

 private:
  std::shared_ptr<UnitRows::Store> store_;
  KeptException exception_;
};

// The rows of a store as a table.
class Kept {
 public:
  Kept(std::shared_ptr<const UnitRows::Store> store, const std::optional<GroupLimits>& groups)
      : store_(std::move(store)) {
    if (groups) groups_ = {.cell = groups->group, .limit = groups->limit};
  }

  std::vector<TableColumn> columns() const {
    std::vector<TableColumn> columns;
    for (const CellInput& cell : store_->limits().cells)
      columns.push_back({cell.sql, duckdb_type_of(cell.stored)});
    return columns;
  }

  // Of one thread.
  struct Rows {
    std::vector<std::size_t> wanted;
    UnitStore::Cursor kept;
  };
  std::unique_ptr<Rows> start(const std::vector<std::size_t>& wanted) {
    return std::make_unique<Rows>(Rows{wanted, UnitStore::Cursor(store_->rows(), groups_, next_shard_)});
  }

  void read(Rows& rows, duckdb_data_chunk chunk) {
    std::vector<std::optional<CellWriter>> writers(
        store_->limits().cells.size());  // of each cell, if it is wanted
    for (std::size_t i = 0; i < rows.wanted.size(); ++i)
      writers[rows.wanted[i]].emplace(duckdb_data_chunk_get_vector(chunk, i));
    const idx_t most = duckdb_vector_size();
    idx_t row = 0;
    while (row < most) {
      const std::optional<std::string_view> record = rows.kept.next();
      if (!record) break;
      write(*record, row++, writers);
    }
    duckdb_data_chunk_set_size(chunk, row);
  }

  KeptException& exception() { return exception_; }

 private:
  void write(std::string_view record, idx_t row, std::vector<std::optional<CellWriter>>& writers) const {
    for (std::size_t i = 0; i < writers.size(); ++i) {
      const ContentCell cell = take_cell(record);
      if (!writers[i]) continue;
      if (!cell.type) {
        writers[i]->write_null(row);
      } else if (*cell.type == AtomType::text) {
        writers[i]->write_text(row, cell.text);
      } else {
        writers[i]->write_bits(row, stored_bits(cell, store_->limits().cells[i].stored));
      }
    }
  }

  std::shared_ptr<const UnitRows::Store> store_;
  std::optional<UnitStore::Groups> groups_;
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
  store_->rows().forget();
}

RegisteredFunction UnitRows::rows(const std::optional<GroupLimits>& groups) const {
  return register_table(connection_, "snapdp_kept", std::make_shared<Kept>(store_, groups));
}

bool UnitRows::reads_again() const {
  return store_->rows().reads_again();
}

void UnitRows::settle() {
  store_->rows().settle();
}

RegisteredFunction UnitRows::choose() const {
  return register_scalar(connection_, "snapdp_chosen", store_->reader().arguments(), DUCKDB_TYPE_BOOLEAN,
                         CallRate::once_a_row, std::make_shared<Choice>(store_));
}

bool UnitRows::has_ties() const {
  return store_->rows().has_ties();
}

std::size_t UnitRows::bytes() const {
  return store_->rows().bytes();
}

}  // namespace snapdp::engines_internal
