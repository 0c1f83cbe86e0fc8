#include "snapdp/engines/duckdb/duckdb_source.h"

#include <algorithm>

#include "engines/duckdb/connection.h"
#include "engines/duckdb/data_file.h"
#include "engines/duckdb/fold_function.h"
#include "engines/duckdb/key_function.h"
#include "engines/duckdb/row_query.h"
#include "engines/duckdb/table.h"
#include "framework/shared/source_parts.h"

namespace snapdp {

using namespace engines_internal;

namespace {

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
    for (const Key& key : keys_) functions.push_back(key_function(connection, key.input, *key.index));
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

// Requests that see the same rows, and the query that folds them.
class Pass {
 public:
  Pass(const std::optional<FoldRequest::GroupLimit>& groups, std::span<const FoldRequest> requests)
      : groups_(groups) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].groups == groups) places_.push_back(i);
    }
  }

  const std::optional<FoldRequest::GroupLimit>& groups() const { return groups_; }
  // The requests' numbers.
  const std::vector<std::size_t>& places() const { return places_; }

  // Announces what the query reads.
  void prepare(const Connection& connection, const Table& table, std::span<const FoldRequest> requests,
               RowQuery& query) {
    std::vector<CellInput> inputs;  // without repetition
    std::vector<FoldAggregation> aggregations;
    PlacedKeys keys;
    for (const std::size_t place : places_) {
      const FoldRequest& request = requests[place];
      FoldAggregation& aggregation = aggregations.emplace_back();
      aggregation.aggregation = request.aggregation;
      for (std::size_t i = 0; i < request.columns.size(); ++i) {
        const AtomType wanted = request.aggregation->input_domain().columns()[i].type;
        const CellInput input = query.input(cell_input(table, request.columns[i], wanted));
        const KeyIndex* const index = i == 0 ? request.aggregation->key_index() : nullptr;
        if (index != nullptr) {
          aggregation.places = keys.place_of(input, *index);
          continue;
        }
        aggregation.inputs.push_back(place_of(input, inputs));
      }
    }
    keys_ = keys.functions(connection);
    std::vector<std::string> calls;
    for (const RegisteredFunction& each : keys_) calls.push_back(each.call());
    function_ = std::make_unique<FoldFunction>(connection, std::move(inputs), std::move(aggregations), calls);
  }

  std::string sql(const std::string& from) const { return "SELECT " + function_->call() + " FROM " + from; }

  FoldedRows take(Result& result) {
    const DataChunk chunk(duckdb_fetch_chunk(*result.out()));
    if (chunk.get() == nullptr) throw EngineFailure(EngineFailure::Kind::other);
    const auto* places = static_cast<const std::uint64_t*>(
        duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk.get(), 0)));
    return function_->take(places[0]);
  }

  void rethrow() const {
    for (const RegisteredFunction& each : keys_) each.rethrow();
    function_->rethrow();
  }

 private:
  std::optional<FoldRequest::GroupLimit> groups_;
  std::vector<std::size_t> places_;
  std::vector<RegisteredFunction> keys_;
  std::unique_ptr<FoldFunction> function_;
};

// The readings of a table's rows. There may be two.
class Scans {
 public:
  Scans(const Connection& connection, const Table& table) : connection_(connection), table_(table) {
    scans_.push_back(table_.scan(connection_));
  }
  const Scan& last() const { return *scans_.back(); }
  void start_again() { scans_.push_back(table_.scan(connection_)); }
  // Of the readings before the last.
  double finished_percent() const { return 100 * static_cast<double>(scans_.size() - 1); }
  void rethrow() const {
    for (const std::unique_ptr<const Scan>& scan : scans_) scan->rethrow();
  }
  void finish() const {
    for (const std::unique_ptr<const Scan>& scan : scans_) scan->finish();
  }

 private:
  const Connection& connection_;
  const Table& table_;
  std::vector<std::unique_ptr<const Scan>> scans_;
};

class DuckdbSource final : public Source {
 public:
  DuckdbSource(const DataFile& file, const DuckdbOptions& options)
      : file_(file), connection_({readable_path(file), options.threads}), unit_memory_(options.unit_memory) {}

  std::vector<SourceColumn> columns() override { return open_table()->columns(); }

  using Source::fold;
  FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                  const Progress& progress) override {
    for (const FoldRequest& request : requests) check_domain(request);
    const std::unique_ptr<const Table> table = open_table();
    RowQuery query(connection_, *table, selection, requests, unit_memory_);
    std::vector<Pass> passes = passes_of(requests);
    for (Pass& pass : passes) pass.prepare(connection_, *table, requests, query);

    Scans scans(connection_, *table);
    try {
      return fold(passes, requests, scans, query, progress);
    } catch (const EngineFailure& failure) {
      scans.rethrow();
      query.rethrow();
      for (const Pass& pass : passes) pass.rethrow();
      report(failure, *table);
    }
  }

 private:
  static std::vector<Pass> passes_of(std::span<const FoldRequest> requests) {
    std::vector<Pass> passes;
    for (const FoldRequest& request : requests) {
      const bool known = std::any_of(passes.begin(), passes.end(),
                                     [&](const Pass& pass) { return pass.groups() == request.groups; });
      if (!known) passes.emplace_back(request.groups, requests);
    }
    // The rows are counted, and checked, all the same.
    if (passes.empty()) passes.emplace_back(std::nullopt, requests);
    return passes;
  }

  FoldResult fold(std::vector<Pass>& passes, std::span<const FoldRequest> requests, Scans& scans,
                  RowQuery& query, const Progress& progress) {
    double most = -1;  // told so far, in whichever query
    const auto tell = [&](double percent) {
      if (query.reads_again()) percent = (percent + scans.finished_percent()) / 2;
      if (percent > most) progress(percent);
      most = std::max(most, percent);
    };
    const auto run = [&](const std::string& sql) {
      return connection_.run(sql, progress ? Progress(tell) : Progress(),
                             [&] { return scans.last().percent(); });
    };
    query.select(scans.last(), run);
    if (query.reads_again()) scans.start_again();
    FoldResult result;
    std::vector<std::optional<AggregateState>> states(requests.size());
    for (Pass& pass : passes) {
      Result rows = run(pass.sql(query.from(scans.last(), pass.groups())));
      FoldedRows folded = pass.take(rows);
      if (query.reads_again()) add_ties(query, pass, requests, folded);
      result.rows = query.raw_rows().value_or(folded.rows);
      for (std::size_t k = 0; k < folded.states.size(); ++k)
        states[pass.places()[k]] = std::move(folded.states[k]);
    }
    scans.finish();
    for (std::optional<AggregateState>& state : states) result.states.push_back(std::move(state.value()));
    return result;
  }

  void add_ties(RowQuery& query, Pass& pass, std::span<const FoldRequest> requests, FoldedRows& folded) {
    const std::optional<std::string> ties = query.ties();
    if (!ties) return;
    Result rows = connection_.run(pass.sql(*ties));
    const FoldedRows more = pass.take(rows);
    for (std::size_t k = 0; k < folded.states.size(); ++k)
      requests[pass.places()[k]].aggregation->merge(folded.states[k], more.states[k]);
  }

  std::unique_ptr<const Table> open_table() const { return engines_internal::open_table(connection_, file_); }

  DataFile file_;
  Connection connection_;
  std::size_t unit_memory_;
};

}  // namespace

std::unique_ptr<Source> open_duckdb_source(const DuckdbOptions& options) {
  return std::make_unique<DuckdbSource>(find_data_file(options), options);
}

}  // namespace snapdp
