#include "engines/duckdb/table.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "engines/duckdb/csv_scan.h"
#include "engines/duckdb/file_kind.h"
#include "engines/duckdb/utf8.h"
#include "framework/shared/source_parts.h"
#include "snapdp/error.h"
#include "snapdp/text.h"

namespace snapdp::engines_internal {

using namespace framework_internal;

namespace {

class CsvTable final : public Table {
 public:
  explicit CsvTable(std::shared_ptr<const CsvFile> file)
      : Table(text_columns(*file), std::vector<Storage>(file->names().size(), Storage::text)),
        file_(std::move(file)) {}

  std::unique_ptr<const Scan> scan(const Connection& connection) const override {
    return std::make_unique<CsvScan>(connection, file_);
  }

 private:
  static std::vector<SourceColumn> text_columns(const CsvFile& file) {
    std::vector<SourceColumn> columns;
    for (const std::string& name : file.names()) columns.push_back({name, std::nullopt, ""});
    return columns;
  }

  std::shared_ptr<const CsvFile> file_;
};

[[noreturn]] void bad_parquet(const std::string& problem) {
  throw Error(ErrorCode::bad_data, "data", "data: " + problem);
}

// What a file's folder says of it.
class FileState {
 public:
  explicit FileState(std::string path) : path_(std::move(path)), is_there_(look(was_)) {}
  bool is_as_it_was() const {
    struct stat now {};
    return is_there_ && look(now) && now.st_dev == was_.st_dev && now.st_ino == was_.st_ino &&
           now.st_size == was_.st_size && now.st_mtim.tv_sec == was_.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == was_.st_mtim.tv_nsec;
  }

 private:
  bool look(struct stat& status) const { return stat(path_.c_str(), &status) == 0; }

  std::string path_;
  struct stat was_ {};
  bool is_there_;
};

class ParquetScan final : public Scan {
 public:
  ParquetScan(std::string from, const std::string& path) : from_(std::move(from)), file_(path) {}
  const std::string& from() const override { return from_; }
  void finish() const override {
    if (!file_.is_as_it_was()) refuse_changed_file();
  }

 private:
  std::string from_;
  FileState file_;
};

class ParquetTable final : public Table {
 public:
  ParquetTable(const std::string& path, std::vector<SourceColumn> columns, std::vector<Storage> storage)
      : Table(std::move(columns), std::move(storage)), path_(path) {}

  std::unique_ptr<const Scan> scan(const Connection&) const override {
    std::string names;
    for (std::size_t i = 0; i < columns().size(); ++i) names += (i == 0 ? "" : ", ") + sql_column(i);
    return std::make_unique<ParquetScan>(
        "read_parquet(" + sql_text(path_) + ", hive_partitioning = false) AS data(" + names + ")", path_);
  }

  void refuse_content() const override {
    bad_parquet("the Parquet file is damaged, or uses a feature that DuckDB does not read; write it anew");
  }

 private:
  std::string path_;
};

// Enough to tell what the file is.
std::string first_bytes(const std::string& path) {
  std::string bytes(512, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

// ---- The schema of a Parquet file -----------------------------------------------------------------------------------------

// A top-level column as the file has it.
struct ParquetColumn {
  std::string name;
  std::string physical;  // "INT64", "DOUBLE" ...; empty for one that has children
};

// How a column is stored, or why it cannot be used.
struct StoredAs {
  Storage storage = Storage::none;
  const char* unusable = "";
};

StoredAs decimal(duckdb_logical_type type) {
  constexpr unsigned digits_of_int64 = 18;
  return {duckdb_decimal_scale(type) == 0 && duckdb_decimal_width(type) <= digits_of_int64
              ? Storage::integer
              : Storage::decimal};
}

// DuckDB gives decimals of more than 38 digits as doubles that are not what they hold.
StoredAs double_precision(const ParquetColumn& column) {
  if (column.physical == "DOUBLE") return {Storage::real};
  return {Storage::none, "a decimal of more than 38 digits"};
}

StoredAs stored_as(const ParquetColumn& column, duckdb_logical_type type) {
  const auto unusable = [](const char* why) { return StoredAs{Storage::none, why}; };
  switch (duckdb_get_type_id(type)) {
    case DUCKDB_TYPE_BOOLEAN:
      return {Storage::boolean};
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
      return {Storage::integer};
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_UHUGEINT:
      return {Storage::large_integer};
    case DUCKDB_TYPE_DECIMAL:
      return decimal(type);
    case DUCKDB_TYPE_FLOAT:
      return {Storage::real};
    case DUCKDB_TYPE_DOUBLE:
      return double_precision(column);
    case DUCKDB_TYPE_VARCHAR:
    case DUCKDB_TYPE_ENUM:
      return {Storage::text};
    case DUCKDB_TYPE_DATE:
      return unusable("a date");
    case DUCKDB_TYPE_TIME:
    case DUCKDB_TYPE_TIME_NS:
    case DUCKDB_TYPE_TIME_TZ:
      return unusable("a time of day");
    case DUCKDB_TYPE_TIMESTAMP:
    case DUCKDB_TYPE_TIMESTAMP_S:
    case DUCKDB_TYPE_TIMESTAMP_MS:
    case DUCKDB_TYPE_TIMESTAMP_NS:
    case DUCKDB_TYPE_TIMESTAMP_TZ:
      return unusable("a timestamp");
    case DUCKDB_TYPE_INTERVAL:
      return unusable("an interval of time");
    case DUCKDB_TYPE_LIST:
    case DUCKDB_TYPE_ARRAY:
      return unusable("a list");
    case DUCKDB_TYPE_STRUCT:
    case DUCKDB_TYPE_MAP:
    case DUCKDB_TYPE_UNION:
      return unusable("a nested structure");
    case DUCKDB_TYPE_BLOB:
    case DUCKDB_TYPE_BIT:
      return unusable("binary data, not marked as text");
    case DUCKDB_TYPE_UUID:
      return unusable("a UUID");
    default:
      return unusable("of a type that SnapDP does not know");
  }
}

SourceColumn schema_column(const ParquetColumn& column, const StoredAs& stored) {
  switch (stored.storage) {
    case Storage::boolean:
    case Storage::integer:
    case Storage::large_integer:
      return {column.name, AtomType::integer, ""};
    case Storage::decimal:
    case Storage::real:
      return {column.name, AtomType::real, ""};
    case Storage::text:
    case Storage::none:
      break;
  }
  return {column.name, std::nullopt, stored.unusable};
}

// parquet_schema() lists the tree depth first, root first.
std::vector<ParquetColumn> parquet_columns(const Connection& connection, const std::string& path) {
  Result result =
      connection.run("SELECT name, coalesce(type, ''), coalesce(num_children, 0) FROM parquet_schema(" +
                     sql_text(path) + ")");
  std::vector<ParquetColumn> columns;
  std::uint64_t deeper = 0;  // nodes still to come below the current top-level column
  bool root = true;
  while (true) {
    const DataChunk chunk(duckdb_fetch_chunk(*result.out()));
    if (chunk.get() == nullptr) return columns;
    const auto texts = [&](idx_t column) {
      return static_cast<const duckdb_string_t*>(
          duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk.get(), column)));
    };
    const auto* children = static_cast<const std::int64_t*>(
        duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk.get(), 2)));
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(chunk.get()); ++row) {
      if (root) {
        root = false;
        continue;
      }
      if (deeper == 0) {
        columns.push_back({std::string(view(texts(0)[row])), std::string(view(texts(1)[row]))});
      } else {
        --deeper;
      }
      deeper += static_cast<std::uint64_t>(children[row]);
    }
  }
}

// ---- How cells are read ---------------------------------------------------------------------------------------------------

CellInput as_real(const std::string& sql, AtomType wanted) {
  return {"TRY_CAST(" + sql + " AS DOUBLE)", AtomType::real, wanted};
}

CellInput as_integer(const std::string& sql) {
  return {"TRY_CAST(" + sql + " AS BIGINT)", AtomType::integer, AtomType::integer};
}

CellInput as_text(const std::string& sql, AtomType wanted) {
  return {"CAST(" + sql + " AS VARCHAR)", AtomType::text, wanted};
}

// Whether a file stores integers or reals may hang on whether a row has a null, so both are written alike.
CellInput real_as_text(const std::string& sql) {
  const std::string real = "CAST(" + sql + " AS DOUBLE)";
  const std::string limit = "CAST(9223372036854775808 AS DOUBLE)";
  return {"CASE WHEN isnan(" + real + ") THEN NULL WHEN " + real + " = trunc(" + real + ") AND " + real +
              " >= -" + limit + " AND " + real + " < " + limit + " THEN CAST(CAST(" + real +
              " AS BIGINT) AS VARCHAR) ELSE CAST(" + real + " AS VARCHAR) END",
          AtomType::text, AtomType::text};
}

}  // namespace

std::string sql_column(std::size_t place) {
  return "c" + std::to_string(place);
}

CellInput cell_input(const Table& table, const std::string& name, AtomType wanted) {
  const std::size_t place = find_column(table.columns(), name);
  const std::string sql = sql_column(place);
  const Storage storage = table.storage(place);
  if (storage == Storage::text) return {sql, AtomType::text, wanted};
  switch (wanted) {
    case AtomType::real:
      return as_real(sql, wanted);
    case AtomType::integer:
      if (storage == Storage::decimal) return as_text(sql, wanted);
      return storage == Storage::real ? as_real(sql, wanted) : as_integer(sql);
    case AtomType::text:
      break;
  }
  return storage == Storage::real ? real_as_text(sql) : as_text(sql, wanted);
}

CellInput exact_cell_input(const Table& table, const std::string& name) {
  const std::size_t place = find_column(table.columns(), name);
  const std::string sql = sql_column(place);
  switch (table.storage(place)) {
    case Storage::boolean:
    case Storage::integer:
      return as_integer(sql);
    case Storage::real:
      return as_real(sql, AtomType::real);
    case Storage::large_integer:
    case Storage::decimal:
      return as_text(sql, AtomType::text);
    case Storage::text:
    case Storage::none:
      break;
  }
  return {sql, AtomType::text, AtomType::text};
}

std::unique_ptr<const Table> open_csv(const std::string& path, char delimiter) {
  return std::make_unique<CsvTable>(std::make_shared<CsvFile>(path, delimiter));
}

std::unique_ptr<const Table> open_parquet(const Connection& connection, const std::string& path) {
  if (const std::string problem = not_parquet(first_bytes(path)); !problem.empty())
    bad_parquet("the file " + problem);
  std::vector<SourceColumn> columns;
  std::vector<Storage> storage;
  try {
    const std::vector<ParquetColumn> stored = parquet_columns(connection, path);
    const Statement statement =
        connection.prepare("SELECT * FROM read_parquet(" + sql_text(path) + ", hive_partitioning = false)");
    if (duckdb_prepared_statement_column_count(statement.get()) != stored.size())
      bad_parquet("the schema of the Parquet file is one that SnapDP does not read");
    for (std::size_t i = 0; i < stored.size(); ++i) {
      // DuckDB renames what it takes for a duplicate by adding to the name. Otherwise the two lists must agree.
      const Text renamed(duckdb_prepared_statement_column_name(statement.get(), i));
      if (renamed.get() == nullptr || !std::string_view(renamed.get()).starts_with(stored[i].name))
        bad_parquet("the schema of the Parquet file is one that SnapDP does not read");
      const LogicalType type(duckdb_prepared_statement_column_logical_type(statement.get(), i));
      const StoredAs as = stored_as(stored[i], type.get());
      columns.push_back(schema_column(stored[i], as));
      storage.push_back(as.storage);
    }
  } catch (const EngineFailure&) {
    bad_parquet("the file is not a Parquet file that DuckDB reads; write it anew");
  }
  return std::make_unique<ParquetTable>(path, std::move(columns), std::move(storage));
}

void refuse_changed_file() {
  throw Error(ErrorCode::io, "path",
              "path: the file changed while it was read; try again when nothing writes to it");
}

std::unique_ptr<const Table> open_table(const Connection& connection, const DataFile& file) {
  return file.format == FileFormat::csv ? open_csv(file.path, file.delimiter)
                                        : open_parquet(connection, file.path);
}

// DuckDB itself reads no CSV.
std::string readable_path(const DataFile& file) {
  return file.format == FileFormat::parquet ? file.path : "";
}

void report(const EngineFailure& failure, const Table& table) {
  switch (failure.kind()) {
    case EngineFailure::Kind::content:
      table.refuse_content();
      break;
    case EngineFailure::Kind::reading:
      throw Error(ErrorCode::io, "path", "path: the file could not be read to its end");
    case EngineFailure::Kind::memory:
      throw Error(ErrorCode::io, "engine", "engine: DuckDB ran out of memory; use a machine with more of it");
    case EngineFailure::Kind::other:
      break;
  }
  throw Error(ErrorCode::io, "engine", "engine: DuckDB failed to read the data");
}

}  // namespace snapdp::engines_internal
