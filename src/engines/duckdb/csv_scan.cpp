#include "engines/duckdb/csv_scan.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "engines/duckdb/cell_writer.h"
#include "engines/duckdb/registration.h"
#include "snapdp/error.h"

namespace snapdp::engines_internal {

class CsvScan::Reader {
 public:
  explicit Reader(std::shared_ptr<const CsvFile> file)
      : file_(std::move(file)), splitter_(std::in_place, *file_, file_->format(), file_->first_row()) {}

  std::vector<TableColumn> columns() const {
    std::vector<TableColumn> columns;
    for (std::size_t i = 0; i < file_->names().size(); ++i)
      columns.push_back({sql_column(i), duckdb_type_of(AtomType::text)});
    return columns;
  }

  using Rows = CsvRowReader;
  std::unique_ptr<Rows> start(const std::vector<std::size_t>& wanted) const {
    return std::make_unique<Rows>(file_->format(), wanted);
  }

  void read(Rows& rows, duckdb_data_chunk chunk) {
    std::vector<CellWriter> writers;
    for (std::size_t i = 0; i < rows.cells().size(); ++i)
      writers.emplace_back(duckdb_data_chunk_get_vector(chunk, i));
    const idx_t most = duckdb_vector_size();
    idx_t row = 0;
    while (row < most) {
      if (rows.next()) {
        write(rows.cells(), row++, writers);
        continue;
      }
      const std::optional<CsvSplitter::Piece> piece = next_piece();
      if (!piece) break;
      if (piece->too_long) {
        for (CellWriter& writer : writers) writer.write_null(row);
        ++row;
      } else {
        load(*piece, rows);
      }
    }
    duckdb_data_chunk_set_size(chunk, row);
  }

  // Of a file that may have grown since.
  double percent() const {
    return std::min(100.0, 100 * static_cast<double>(read_) / static_cast<double>(file_->size()));
  }

  const CsvFile& file() const { return *file_; }

  void close() {
    splitter_.reset();
    file_.reset();
  }

  KeptException& exception() { return exception_; }

 private:
  static void write(std::span<const std::string_view> cells, idx_t row, std::vector<CellWriter>& writers) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].data() == nullptr) {
        writers[i].write_null(row);
      } else {
        writers[i].write_text(row, cells[i]);
      }
    }
  }

  std::optional<CsvSplitter::Piece> next_piece() {
    const std::lock_guard lock(mutex_);
    std::optional<CsvSplitter::Piece> piece = splitter_->next();
    if (piece) read_ = piece->end;
    return piece;
  }

  void load(const CsvSplitter::Piece& piece, Rows& rows) const {
    const std::span<char> room = rows.room(static_cast<std::size_t>(piece.end - piece.begin));
    // A file that has become shorter, finish() tells.
    if (file_->read(piece.begin, room) == room.size()) {
      rows.start();
    } else {
      rows.room(0);
    }
  }

  std::shared_ptr<const CsvFile> file_;
  std::mutex mutex_;  // of the splitter
  std::optional<CsvSplitter> splitter_;
  std::atomic<std::uint64_t> read_{0};
  KeptException exception_;
};

CsvScan::CsvScan(const Connection& connection, const std::shared_ptr<Reader>& reader)
    : reader_(reader), function_(register_table(connection, "snapdp_csv", reader)) {}

CsvScan::CsvScan(const Connection& connection, std::shared_ptr<const CsvFile> file)
    : CsvScan(connection, std::make_shared<Reader>(std::move(file))) {}

CsvScan::~CsvScan() {
  reader_->close();
}

std::optional<double> CsvScan::percent() const {
  return reader_->percent();
}

void CsvScan::finish() const {
  reader_->file().require_unchanged();
}

}  // namespace snapdp::engines_internal
