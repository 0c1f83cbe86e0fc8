#include "snapdp/engines/duckdb/duckdb_source.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "engines/duckdb/column_names.h"
#include "engines/duckdb/connection.h"
#include "engines/duckdb/csv_file.h"
#include "engines/duckdb/fold_function.h"
#include "engines/duckdb/table.h"
#include "snapdp/error.h"

namespace snapdp {
namespace {

using engine::Connection;
using engine::EngineFailure;
using engine::FoldAggregation;
using engine::FoldFunction;
using engine::FoldInput;
using engine::Table;

[[noreturn]] void refuse_path(ErrorCode code, const std::string& path, const std::string& rule) {
  throw Error(code, "path", "path = \"" + path + "\": " + rule);
}

// The full name of the file, as DuckDB gets it: nothing in it means anything but itself.
std::string full_path(const std::string& path) {
  if (path.empty()) refuse_path(ErrorCode::invalid_argument, path, "name a CSV or Parquet file");
  if (path.find('\0') != std::string::npos)
    refuse_path(ErrorCode::invalid_argument, path.substr(0, path.find('\0')),
                "a zero byte follows; name one file");
  if (path.find("://") != std::string::npos)
    refuse_path(ErrorCode::invalid_argument, path, "addresses are not opened; download the file and name it");
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    if (path.find_first_of("*?[") != std::string::npos)
      refuse_path(ErrorCode::invalid_argument, path, "patterns are not expanded; name one file");
    refuse_path(ErrorCode::io, path, "there is no such file");
  }
  if (std::filesystem::is_directory(status))
    refuse_path(ErrorCode::invalid_argument, path, "it is a folder; name one file in it");
  if (!std::filesystem::is_regular_file(status))
    refuse_path(ErrorCode::invalid_argument, path, "it is not a regular file; copy the data into one");
  std::string full = std::filesystem::canonical(path, error).string();
  if (error) refuse_path(ErrorCode::io, path, "it cannot be found: " + error.message());
  if (full.find_first_of("*?[") != std::string::npos) {
    refuse_path(
        ErrorCode::invalid_argument, path,
        "its full name holds one of * ? [, which the engine takes for a pattern; rename or move the file");
  }
  if (access(full.c_str(), R_OK) != 0)
    refuse_path(ErrorCode::io, path, "it may not be read; check its permissions");
  return full;
}

FileFormat format_of(const DuckdbOptions& options) {
  if (options.format != FileFormat::by_extension) return options.format;
  std::string extension = std::filesystem::path(options.path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (extension == ".parquet" || extension == ".pq") return FileFormat::parquet;
  if (extension == ".csv" || extension == ".tsv" || extension == ".txt") return FileFormat::csv;
  throw Error(
      ErrorCode::invalid_argument, "format",
      "format: the name \"" + options.path +
          "\" does not tell it; name the file .csv, .tsv, .txt, .parquet or .pq, or say csv or parquet");
}

std::string word(AtomType type) {
  switch (type) {
    case AtomType::real:
      return "real";
    case AtomType::integer:
      return "integer";
    case AtomType::text:
      break;
  }
  return "text";
}

// How a column is read as the wanted type.
FoldInput input_of(const Table& table, const std::string& name, AtomType wanted) {
  const auto column = std::find_if(table.columns().begin(), table.columns().end(),
                                   [&](const SourceColumn& each) { return each.name == name; });
  if (column == table.columns().end()) {
    throw Error(ErrorCode::bad_data, "column",
                "column = " + engine::shown(name) + ": the data have no column of exactly this name");
  }
  if (!column->unusable.empty()) {
    throw Error(ErrorCode::bad_data, "column",
                "column = " + engine::shown(name) + ": it is " + column->unusable +
                    "; statistics take numbers and text");
  }
  const std::string sql = engine::sql_column(static_cast<std::size_t>(column - table.columns().begin()));
  if (!column->type) return {sql, true, wanted};
  if (*column->type != wanted && !(*column->type == AtomType::integer && wanted == AtomType::real)) {
    throw Error(ErrorCode::bad_data, "type",
                "type = \"" + word(wanted) + "\": column " + engine::shown(name) + " is " +
                    word(*column->type) +
                    " by the file's schema; declare it so, or leave its type to the schema");
  }
  return {"TRY_CAST(" + sql + " AS " + (wanted == AtomType::real ? "DOUBLE" : "BIGINT") + ")", false, wanted};
}

// Everything may come from a file, so the aggregation must take everything.
void check_domain(const FoldRequest& request) {
  const std::vector<AtomDomain>& columns = request.aggregation->input_domain().columns();
  std::vector<AtomType> types;
  for (const AtomDomain& column : columns) types.push_back(column.type);
  if (columns.size() != request.columns.size() || columns.size() > Chunk::max_columns ||
      columns != untrusted_domain(types).columns()) {
    throw Error(ErrorCode::mismatch, "aggregation",
                "aggregation: a source folds " + std::to_string(request.columns.size()) +
                    " untrusted columns, but this one takes " +
                    describe(Domain(request.aggregation->input_domain())) +
                    "; start its chain at untrusted_domain()");
  }
}

class DuckdbSource final : public Source {
 public:
  explicit DuckdbSource(const DuckdbOptions& options)
      : path_(full_path(options.path)),
        format_(format_of(options)),
        delimiter_(options.delimiter),
        connection_({path_, options.threads, options.temp_folder}) {}

  std::vector<SourceColumn> columns() override { return open_table()->columns(); }

  using Source::fold;
  FoldResult fold(const RowSelection&, std::span<const FoldRequest> requests,
                  const Progress& progress) override {
    const std::unique_ptr<const Table> table = open_table();
    std::vector<FoldInput> inputs;  // without repetition
    std::vector<FoldAggregation> aggregations;
    for (const FoldRequest& request : requests) {
      check_domain(request);
      FoldAggregation& aggregation = aggregations.emplace_back();
      aggregation.aggregation = request.aggregation;
      for (std::size_t i = 0; i < request.columns.size(); ++i) {
        const AtomType wanted = request.aggregation->input_domain().columns()[i].type;
        const FoldInput input = input_of(*table, request.columns[i], wanted);
        const auto known = std::find(inputs.begin(), inputs.end(), input);
        aggregation.inputs.push_back(static_cast<std::size_t>(known - inputs.begin()));
        if (known == inputs.end()) inputs.push_back(input);
      }
    }

    const Table::Scan scan = table->scan();
    FoldFunction function(connection_, std::move(inputs), std::move(aggregations));
    try {
      engine::Result result = connection_.run("SELECT " + function.call() + " FROM " + scan.from, progress);
      const engine::DataChunk chunk(duckdb_fetch_chunk(*result.out()));
      if (chunk.get() == nullptr) throw EngineFailure(EngineFailure::Kind::other);
      const auto* places = static_cast<const std::uint64_t*>(
          duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk.get(), 0)));
      engine::FoldedRows folded = function.take(places[0]);
      if (scan.rows && folded.rows != *scan.rows) table->malformed();
      return {std::move(folded.states), folded.rows};
    } catch (const EngineFailure& failure) {
      function.rethrow();
      engine::report(failure, *table);
    }
  }

 private:
  std::unique_ptr<const Table> open_table() const {
    return format_ == FileFormat::csv ? engine::open_csv(path_, delimiter_)
                                      : engine::open_parquet(connection_, path_);
  }

  std::string path_;
  FileFormat format_;
  char delimiter_;
  Connection connection_;
};

}  // namespace

std::unique_ptr<Source> open_duckdb_source(const DuckdbOptions& options) {
  engine::check_csv_delimiter(options.delimiter);
  return std::make_unique<DuckdbSource>(options);
}

}  // namespace snapdp
