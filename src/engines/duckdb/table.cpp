#include "engines/duckdb/table.h"

#include <algorithm>

#include "engines/duckdb/column_names.h"
#include "engines/duckdb/csv_file.h"
#include "snapdp/error.h"

namespace snapdp::engine {
namespace {

class CsvTable final : public Table {
 public:
  CsvTable(const std::string& path, const CsvHeader& header, char delimiter)
      : Table(text_columns(header), std::vector<bool>(header.names.size())),
        path_(path),
        header_(header),
        delimiter_(delimiter) {}

  Scan scan() const override {
    const CsvShape shape = read_csv_shape(path_, header_, delimiter_);
    // See csv_file.h for what DuckDB's parallel reader cannot be trusted with.
    const bool parallel = !shape.quotes && columns().size() > 1;
    std::string names;
    for (std::size_t i = 0; i < columns().size(); ++i)
      names += (i == 0 ? "" : ", ") + sql_text(sql_column(i)) + ": 'VARCHAR'";
    const char* line_end = header_.line_end == LineEnd::lf   ? R"(\n)"
                           : header_.line_end == LineEnd::cr ? R"(\r)"
                                                             : R"(\r\n)";
    return {"read_csv(" + sql_text(path_) + ", auto_detect = false, header = true, columns = {" + names +
                "}, delim = " + sql_text(std::string(1, delimiter_)) +
                R"(, quote = '"', escape = '"', new_line = ')" + line_end +
                "', compression = 'none', hive_partitioning = false, max_line_size = " +
                std::to_string(max_line_bytes) + ", parallel = " + (parallel ? "true" : "false") + ")",
            shape.rows};
  }

  [[noreturn]] void malformed() const override {
    throw Error(
        ErrorCode::bad_data, "data",
        "data: the file is not well-formed CSV: every row needs " + std::to_string(columns().size()) +
            " cells like the header, quotes must be closed, the text be UTF-8 and no row longer than " +
            std::to_string(max_line_bytes) + " bytes; check the file, and the delimiter");
  }

 private:
  static std::vector<SourceColumn> text_columns(const CsvHeader& header) {
    std::vector<SourceColumn> columns;
    for (const std::string& name : header.names) columns.push_back({name, std::nullopt, ""});
    return columns;
  }

  std::string path_;
  CsvHeader header_;
  char delimiter_;
};

[[noreturn]] void bad_parquet(const std::string& problem) {
  throw Error(ErrorCode::bad_data, "data", "data: " + problem);
}

class ParquetTable final : public Table {
 public:
  ParquetTable(const std::string& path, std::vector<SourceColumn> columns, std::vector<bool> wide)
      : Table(std::move(columns), std::move(wide)), path_(path) {}

  Scan scan() const override {
    std::string names;
    for (std::size_t i = 0; i < columns().size(); ++i) names += (i == 0 ? "" : ", ") + sql_column(i);
    return {"read_parquet(" + sql_text(path_) + ", hive_partitioning = false) AS data(" + names + ")",
            std::nullopt};
  }

  [[noreturn]] void malformed() const override {
    bad_parquet("the Parquet file is damaged, or uses a feature that DuckDB does not read; write it anew");
  }

 private:
  std::string path_;
};

// The type by the schema, or why there is none.
SourceColumn schema_column(std::string name, duckdb_logical_type type) {
  const auto usable = [&](std::optional<AtomType> atom) { return SourceColumn{std::move(name), atom, ""}; };
  const auto unusable = [&](const char* why) { return SourceColumn{std::move(name), std::nullopt, why}; };
  switch (duckdb_get_type_id(type)) {
    case DUCKDB_TYPE_BOOLEAN:
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_UHUGEINT:
      return usable(AtomType::integer);
    case DUCKDB_TYPE_DECIMAL:
      return usable(duckdb_decimal_scale(type) == 0 && duckdb_decimal_width(type) <= 18 ? AtomType::integer
                                                                                        : AtomType::real);
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
      return usable(AtomType::real);
    case DUCKDB_TYPE_VARCHAR:
    case DUCKDB_TYPE_ENUM:
      return usable(std::nullopt);
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

bool is_wide(duckdb_logical_type type) {
  switch (duckdb_get_type_id(type)) {
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UHUGEINT:
      return true;
    case DUCKDB_TYPE_DECIMAL:
      return duckdb_decimal_scale(type) > 0 || duckdb_decimal_width(type) > 18;
    default:
      return false;
  }
}

// The names of the top-level columns as the file has them. parquet_schema() lists the tree depth first, root first.
std::vector<std::string> parquet_names(const Connection& connection, const std::string& path) {
  Result result =
      connection.run("SELECT name, coalesce(num_children, 0) FROM parquet_schema(" + sql_text(path) + ")");
  std::vector<std::string> names;
  std::uint64_t deeper = 0;  // nodes still to come below the current top-level column
  bool root = true;
  while (true) {
    const DataChunk chunk(duckdb_fetch_chunk(*result.out()));
    if (chunk.get() == nullptr) return names;
    const auto* texts = static_cast<const duckdb_string_t*>(
        duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk.get(), 0)));
    const auto* children = static_cast<const std::int64_t*>(
        duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk.get(), 1)));
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(chunk.get()); ++row) {
      if (root) {
        root = false;
        continue;
      }
      if (deeper == 0) {
        names.emplace_back(view(texts[row]));
      } else {
        --deeper;
      }
      deeper += static_cast<std::uint64_t>(children[row]);
    }
  }
}

// The place of a column that can be used.
std::size_t find_column(const Table& table, const std::string& name) {
  const auto column = std::find_if(table.columns().begin(), table.columns().end(),
                                   [&](const SourceColumn& each) { return each.name == name; });
  if (column == table.columns().end()) {
    throw Error(ErrorCode::bad_data, "column",
                "column = " + shown(name) + ": the data have no column of exactly this name");
  }
  if (!column->unusable.empty()) {
    throw Error(
        ErrorCode::bad_data, "column",
        "column = " + shown(name) + ": it is " + column->unusable + "; statistics take numbers and text");
  }
  return static_cast<std::size_t>(column - table.columns().begin());
}

CellInput number_input(const std::string& sql, AtomType type) {
  return {"TRY_CAST(" + sql + " AS " + (type == AtomType::real ? "DOUBLE" : "BIGINT") + ")", false, type};
}

// Whether a stored number is whole. A cast to an integer type would round others.
std::string is_whole(const std::string& sql) {
  return sql + " = floor(" + sql + ")";
}

// How a cell of a stored number is read as the wanted type, whatever the schema calls it: a program that writes a column
// of integers with one null as reals changes no cell.
CellInput converted_number(const std::string& sql, AtomType stored, AtomType wanted) {
  if (wanted == AtomType::text) {
    // Whole numbers in the same way however they are stored.
    constexpr const char* exactly_representable = "9007199254740992";  // 2^53
    const std::string text = "CAST(" + sql + " AS VARCHAR)";
    if (stored == AtomType::integer) return {text, true, wanted};
    return {"CASE WHEN " + is_whole(sql) + " AND abs(" + sql + ") < " + exactly_representable +
                " THEN CAST(TRY_CAST(" + sql + " AS BIGINT) AS VARCHAR) ELSE " + text + " END",
            true, wanted};
  }
  if (stored == AtomType::real && wanted == AtomType::integer)
    return {"CASE WHEN " + is_whole(sql) + " THEN TRY_CAST(" + sql + " AS BIGINT) END", false, wanted};
  return number_input(sql, wanted);
}

}  // namespace

std::string sql_column(std::size_t place) {
  return "c" + std::to_string(place);
}

CellInput cell_input(const Table& table, const std::string& name, AtomType wanted) {
  const std::size_t place = find_column(table, name);
  const std::optional<AtomType> type = table.columns()[place].type;
  if (!type) return {sql_column(place), true, wanted};
  return converted_number(sql_column(place), *type, wanted);
}

CellInput exact_cell_input(const Table& table, const std::string& name) {
  const std::size_t place = find_column(table, name);
  const std::optional<AtomType> type = table.columns()[place].type;
  if (!type) return {sql_column(place), true, AtomType::text};
  if (table.wide(place)) return {"CAST(" + sql_column(place) + " AS VARCHAR)", true, AtomType::text};
  return number_input(sql_column(place), *type);
}

std::unique_ptr<const Table> open_csv(const std::string& path, char delimiter) {
  return std::make_unique<CsvTable>(path, read_csv_header(path, delimiter), delimiter);
}

std::unique_ptr<const Table> open_parquet(const Connection& connection, const std::string& path) {
  std::vector<SourceColumn> columns;
  std::vector<bool> wide;
  try {
    const std::vector<std::string> names = parquet_names(connection, path);
    const Statement statement =
        connection.prepare("SELECT * FROM read_parquet(" + sql_text(path) + ", hive_partitioning = false)");
    if (duckdb_prepared_statement_column_count(statement.get()) != names.size())
      bad_parquet("the schema of the Parquet file is one that SnapDP does not read");
    check_column_names(names, "schema");
    for (std::size_t i = 0; i < names.size(); ++i) {
      // DuckDB renames what it takes for a duplicate by adding to the name. Otherwise the two lists must agree.
      const Text renamed(duckdb_prepared_statement_column_name(statement.get(), i));
      if (renamed.get() == nullptr || !std::string_view(renamed.get()).starts_with(names[i]))
        bad_parquet("the schema of the Parquet file is one that SnapDP does not read");
      const LogicalType type(duckdb_prepared_statement_column_logical_type(statement.get(), i));
      columns.push_back(schema_column(names[i], type.get()));
      wide.push_back(is_wide(type.get()));
    }
  } catch (const EngineFailure&) {
    bad_parquet("the file is not a Parquet file that DuckDB reads; check it, or say that it is CSV");
  }
  return std::make_unique<ParquetTable>(path, std::move(columns), std::move(wide));
}

void report(const EngineFailure& failure, const Table& table) {
  switch (failure.kind()) {
    case EngineFailure::Kind::content:
      table.malformed();
      break;
    case EngineFailure::Kind::reading:
      throw Error(ErrorCode::io, "path", "path: the file could not be read to its end");
    case EngineFailure::Kind::memory:
      throw Error(ErrorCode::io, "engine",
                  "engine: DuckDB ran out of memory; let it use fewer threads or give it a temp_folder");
    case EngineFailure::Kind::other:
      break;
  }
  throw Error(ErrorCode::io, "engine", "engine: DuckDB failed to read the data");
}

}  // namespace snapdp::engine
