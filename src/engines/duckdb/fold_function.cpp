#include "engines/duckdb/fold_function.h"

#include <cstdint>
#include <mutex>

#include "engines/duckdb/registration.h"

namespace snapdp::engines_internal {

class FoldFunction::Pass {
 public:
  using State = FoldedRows;

  Pass(std::vector<CellInput> inputs, std::vector<FoldAggregation> aggregations)
      : reader_(std::move(inputs)), aggregations_(std::move(aggregations)) {}

  const CellReader& reader() const { return reader_; }

  FoldedRows start() const {
    FoldedRows empty;
    for (const FoldAggregation& each : aggregations_) empty.states.push_back(each.aggregation->start());
    return empty;
  }

  void merge(FoldedRows& into, const FoldedRows& from) const {
    into.rows += from.rows;
    for (std::size_t i = 0; i < aggregations_.size(); ++i)
      aggregations_[i].aggregation->merge(into.states[i], from.states[i]);
  }

  void merge(const States<Pass>& into, const States<Pass>& from) const {
    for (std::size_t i = 0; i < into.count(); ++i) {
      if (from.started(i)) merge(into[i], from[i]);
    }
  }

  void update(duckdb_data_chunk chunk, const States<Pass>& states) const {
    const std::vector<Column> columns = reader_.read(chunk);
    const auto places = [&](std::size_t i) {
      return static_cast<const std::uint32_t*>(
          duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, columns.size() + i)));
    };
    for (std::size_t first = 0; first < states.count();) {
      const std::size_t end = states.end_of_run(first);
      FoldedRows& folded = states[first];
      folded.rows += end - first;
      for (std::size_t k = 0; k < aggregations_.size(); ++k) {
        const FoldAggregation& each = aggregations_[k];
        Chunk rows;
        rows.length = end - first;
        for (const std::size_t input : each.inputs)
          rows.column[rows.column_count++] = columns[input].from(first);
        if (each.places) {
          each.aggregation->update_placed(folded.states[k], places(*each.places) + first, rows);
        } else {
          each.aggregation->update(folded.states[k], rows);
        }
      }
      first = end;
    }
  }

  // Keeps copies, for take(): DuckDB may go on to use the states.
  void finish(const States<Pass>& states, duckdb_vector result, std::size_t first_row) {
    auto* places = static_cast<std::uint64_t*>(duckdb_vector_get_data(result)) + first_row;
    for (std::size_t i = 0; i < states.count(); ++i) {
      FoldedRows copy = start();
      if (states.started(i)) merge(copy, states[i]);
      const std::lock_guard lock(mutex_);
      places[i] = kept_.size();
      kept_.push_back(std::move(copy));
    }
  }

  FoldedRows take(std::uint64_t place) {
    const std::lock_guard lock(mutex_);
    return std::move(kept_.at(place));
  }

  KeptException& exception() { return exception_; }

 private:
  CellReader reader_;
  std::vector<FoldAggregation> aggregations_;
  std::mutex mutex_;  // of kept_
  std::vector<FoldedRows> kept_;
  KeptException exception_;
};

namespace {

std::vector<Argument> with_places(std::vector<Argument> arguments, const std::vector<std::string>& places) {
  for (const std::string& place : places)
    arguments.push_back({place, LogicalType(duckdb_create_logical_type(DUCKDB_TYPE_UINTEGER))});
  return arguments;
}

}  // namespace

FoldFunction::FoldFunction(const Connection& connection, std::shared_ptr<Pass> pass,
                           const std::vector<std::string>& places)
    : RegisteredFunction(
          register_aggregate(connection, "snapdp_fold", with_places(pass->reader().arguments(), places),
                             LogicalType(duckdb_create_logical_type(DUCKDB_TYPE_UBIGINT)), pass)),
      pass_(std::move(pass)) {}

FoldFunction::FoldFunction(const Connection& connection, std::vector<CellInput> inputs,
                           std::vector<FoldAggregation> aggregations, const std::vector<std::string>& places)
    : FoldFunction(connection, std::make_shared<Pass>(std::move(inputs), std::move(aggregations)), places) {}

FoldedRows FoldFunction::take(std::uint64_t value) {
  return pass_->take(value);
}

}  // namespace snapdp::engines_internal
