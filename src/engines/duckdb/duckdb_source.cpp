#include "snapdp/engines/duckdb/duckdb_source.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "engines/duckdb/column_names.h"
#include "engines/duckdb/connection.h"
#include "engines/duckdb/csv_file.h"
#include "engines/duckdb/fold_function.h"
#include "engines/duckdb/key_function.h"
#include "engines/duckdb/row_query.h"
#include "engines/duckdb/table.h"
#include "snapdp/error.h"

namespace snapdp {
namespace {

using engine::CellInput;
using engine::Connection;
using engine::EngineFailure;
using engine::FoldAggregation;
using engine::FoldFunction;
using engine::RegisteredFunction;
using engine::RowQuery;
using engine::Table;

[[noreturn]] void refuse_path(ErrorCode code, const std::string& path, const std::string& rule) {
  throw Error(code, "path", "path = " + quoted_path(path) + ": " + rule);
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
      "format: the name " + quoted_path(options.path) +
          " does not tell it; name the file .csv, .tsv, .txt, .parquet or .pq, or say csv or parquet");
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

// The key columns of grouped aggregations, without repetition.
class PlacedKeys {
 public:
  std::size_t place_of(const CellInput& input, const KeyIndex& index) {
    std::string description = index.description();
    const auto known = std::find_if(keys_.begin(), keys_.end(), [&](const Key& key) {
      return key.input == input && key.description == description;
    });
    const auto place = static_cast<std::size_t>(known - keys_.begin());
    if (known == keys_.end()) keys_.push_back({input, &index, std::move(description)});
    return place;
  }
  std::vector<RegisteredFunction> functions(const Connection& connection) const {
    std::vector<RegisteredFunction> functions;
    for (const Key& key : keys_) functions.push_back(engine::key_function(connection, key.input, *key.index));
    return functions;
  }

 private:
  struct Key {
    CellInput input;
    const KeyIndex* index;
    std::string description;
  };
  std::vector<Key> keys_;
};

class DuckdbSource final : public Source {
 public:
  explicit DuckdbSource(const DuckdbOptions& options)
      : path_(full_path(options.path)),
        format_(format_of(options)),
        delimiter_(options.delimiter),
        connection_({path_, options.threads, options.temp_folder}) {}

  std::vector<SourceColumn> columns() override { return open_table()->columns(); }

  using Source::fold;
  FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                  const Progress& progress) override {
    for (const FoldRequest& request : requests) check_domain(request);
    const std::unique_ptr<const Table> table = open_table();
    RowQuery query(connection_, *table, selection, requests);
    const std::vector<Pass> passes = passes_of(requests);
    const Table::Scan scan = table->scan();

    std::vector<std::optional<AggregateState>> states(requests.size());
    FoldResult result;
    for (std::size_t i = 0; i < passes.size(); ++i) {
      Progress progress_of_pass;
      if (progress) {
        progress_of_pass = [&, i](double percent) {
          progress((100 * static_cast<double>(i) + percent) / static_cast<double>(passes.size()));
        };
      }
      engine::FoldedRows folded = fold(passes[i], requests, *table, scan, query, progress_of_pass);
      if (i > 0 && folded.rows != result.rows) table->malformed();  // the file changed meanwhile
      result.rows = folded.rows;
      for (std::size_t k = 0; k < folded.states.size(); ++k)
        states[passes[i].requests[k]] = std::move(folded.states[k]);
    }
    for (std::optional<AggregateState>& state : states) result.states.push_back(std::move(state.value()));
    return result;
  }

 private:
  // Requests that see the same rows.
  struct Pass {
    std::optional<FoldRequest::GroupLimit> groups;
    std::vector<std::size_t> requests;
  };

  static std::vector<Pass> passes_of(std::span<const FoldRequest> requests) {
    std::vector<Pass> passes;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      auto pass = std::find_if(passes.begin(), passes.end(),
                               [&](const Pass& each) { return each.groups == requests[i].groups; });
      if (pass == passes.end()) pass = passes.insert(pass, Pass{requests[i].groups, {}});
      pass->requests.push_back(i);
    }
    if (passes.empty()) passes.emplace_back();  // the rows are counted, and checked, all the same
    return passes;
  }

  // The states of the pass's requests, and the number of raw rows.
  engine::FoldedRows fold(const Pass& pass, std::span<const FoldRequest> requests, const Table& table,
                          const Table::Scan& scan, RowQuery& query, const Progress& progress) {
    std::vector<CellInput> inputs;  // without repetition
    std::vector<FoldAggregation> aggregations;
    PlacedKeys keys;
    for (const std::size_t place : pass.requests) {
      const FoldRequest& request = requests[place];
      FoldAggregation& aggregation = aggregations.emplace_back();
      aggregation.aggregation = request.aggregation;
      for (std::size_t i = 0; i < request.columns.size(); ++i) {
        const AtomType wanted = request.aggregation->input_domain().columns()[i].type;
        const CellInput input = query.input(engine::cell_input(table, request.columns[i], wanted));
        const KeyIndex* const index = i == 0 ? request.aggregation->key_index() : nullptr;
        if (index != nullptr) {
          aggregation.places = keys.place_of(input, *index);
          continue;
        }
        aggregation.inputs.push_back(engine::place_of(input, inputs));
      }
    }
    const std::string from = query.from(scan.from, pass.groups);
    const std::vector<RegisteredFunction> found = keys.functions(connection_);
    std::vector<std::string> calls;
    for (const RegisteredFunction& each : found) calls.push_back(each.call());
    FoldFunction function(connection_, std::move(inputs), std::move(aggregations), calls);
    try {
      engine::Result result = connection_.run("SELECT " + function.call() + " FROM " + from, progress);
      const engine::DataChunk chunk(duckdb_fetch_chunk(*result.out()));
      if (chunk.get() == nullptr) throw EngineFailure(EngineFailure::Kind::other);
      const auto* places = static_cast<const std::uint64_t*>(
          duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk.get(), 0)));
      engine::FoldedRows folded = function.take(places[0]);
      folded.rows = query.take_raw_rows().value_or(folded.rows);
      if (scan.rows && folded.rows != *scan.rows) table.malformed();
      return folded;
    } catch (const EngineFailure& failure) {
      query.rethrow();
      for (const RegisteredFunction& each : found) each.rethrow();
      function.rethrow();
      engine::report(failure, table);
    }
  }

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
