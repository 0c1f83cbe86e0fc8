#include "snapdp/engines/duckdb/file_cells.h"

#include "engines/duckdb/data_file.h"
#include "engines/duckdb/table.h"

namespace snapdp {

using namespace engines_internal;

namespace {

void take(const DataChunk& chunk, std::size_t columns, FileCells& cells) {
  const std::size_t first = cells.rows.size();
  const idx_t rows = duckdb_data_chunk_get_size(chunk.get());
  cells.rows.resize(first + rows, std::vector<std::string>(columns));
  for (std::size_t column = 0; column < columns; ++column) {
    auto* const vector = duckdb_data_chunk_get_vector(chunk.get(), column);
    const auto* texts = static_cast<const duckdb_string_t*>(duckdb_vector_get_data(vector));
    std::uint64_t* validity = duckdb_vector_get_validity(vector);
    for (idx_t row = 0; row < rows; ++row) {
      if (validity == nullptr || duckdb_validity_row_is_valid(validity, row))
        cells.rows[first + row][column] = view(texts[row]);
    }
  }
}

FileCells read(const Connection& connection, const Table& table, const Scan& scan) {
  FileCells cells;
  std::string sql;
  for (const SourceColumn& column : table.columns()) {
    cells.columns.push_back(column.name);
    sql += (sql.empty() ? "SELECT CAST(" : ", CAST(") + exact_cell_input(table, column.name).sql +
           " AS VARCHAR)";
  }
  Result result = connection.run(sql + " FROM " + scan.from());
  while (true) {
    const DataChunk chunk(duckdb_fetch_chunk(*result.out()));
    if (chunk.get() == nullptr) break;
    take(chunk, cells.columns.size(), cells);
  }
  scan.finish();
  return cells;
}

}  // namespace

FileCells read_cells(const DuckdbOptions& options) {
  const DataFile file = find_data_file(options);
  const Connection connection({readable_path(file), options.threads});
  const std::unique_ptr<const Table> table = open_table(connection, file);
  const std::unique_ptr<const Scan> scan = table->scan(connection);
  try {
    return read(connection, *table, *scan);
  } catch (const EngineFailure& failure) {
    scan->rethrow();
    report(failure, *table);
  }
}

}  // namespace snapdp
