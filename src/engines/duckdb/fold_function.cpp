#include "engines/duckdb/fold_function.h"

#include <atomic>
#include <cstdint>
#include <mutex>

#include "engines/duckdb/kept_exception.h"
#include "snapdp/error.h"

namespace snapdp::engine {
namespace {

using Function = Handle<duckdb_aggregate_function, duckdb_destroy_aggregate_function>;

}  // namespace

class FoldFunction::Pass {
 public:
  Pass(std::vector<CellInput> inputs, std::vector<FoldAggregation> aggregations,
       std::vector<std::string> places)
      : reader_(std::move(inputs)), aggregations_(std::move(aggregations)), places_(std::move(places)) {}

  const CellReader& reader() const { return reader_; }
  const std::vector<std::string>& places() const { return places_; }

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

  void update(duckdb_data_chunk chunk, duckdb_aggregate_state* states) const {
    const std::vector<Column> columns = reader_.read(chunk);
    const std::size_t length = duckdb_data_chunk_get_size(chunk);
    const auto places = [&](std::size_t i) {
      return static_cast<const std::uint32_t*>(
          duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, columns.size() + i)));
    };
    // Without GROUP BY all rows have the same state; with it, rows of one group often follow each other.
    std::uintptr_t differences = 0;
    for (std::size_t row = 0; row < length; ++row)
      differences |=
          reinterpret_cast<std::uintptr_t>(states[row]) ^ reinterpret_cast<std::uintptr_t>(states[0]);
    for (std::size_t first = 0; first < length;) {
      std::size_t end = differences == 0 ? length : first + 1;
      while (end < length && states[end] == states[first]) ++end;
      FoldedRows& folded = of(states[first]);
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

  // A state of DuckDB's holds a pointer that is null until the first row.
  FoldedRows& of(duckdb_aggregate_state state) const {
    if (state->internal_ptr == nullptr) state->internal_ptr = new FoldedRows(start());
    return *static_cast<FoldedRows*>(state->internal_ptr);
  }

  // The place of a copy: DuckDB may go on to use the state.
  std::uint64_t keep(duckdb_aggregate_state state) {
    FoldedRows copy = start();
    if (state->internal_ptr != nullptr) merge(copy, *static_cast<const FoldedRows*>(state->internal_ptr));
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(copy));
    return kept_.size() - 1;
  }

  FoldedRows take(std::uint64_t place) {
    const std::lock_guard lock(mutex_);
    return std::move(kept_.at(place));
  }

  KeptException& exception() { return exception_; }

 private:
  CellReader reader_;
  std::vector<FoldAggregation> aggregations_;
  std::vector<std::string> places_;
  std::mutex mutex_;  // of kept_
  std::vector<FoldedRows> kept_;
  KeptException exception_;
};

namespace {

FoldFunction::Pass& pass_of(duckdb_function_info info) {
  return **static_cast<std::shared_ptr<FoldFunction::Pass>*>(duckdb_aggregate_function_get_extra_info(info));
}

// Nothing throws through DuckDB's C interface: the exception is kept, and the query fails.
template <typename Action>
void guarded(duckdb_function_info info, const Action& action) noexcept {
  FoldFunction::Pass& pass = pass_of(info);
  try {
    action(pass);
  } catch (...) {
    pass.exception().keep(std::current_exception());
    duckdb_aggregate_function_set_error(info, "the fold failed");
  }
}

idx_t state_size(duckdb_function_info) {
  return sizeof(_duckdb_aggregate_state);
}

void init(duckdb_function_info, duckdb_aggregate_state state) {
  state->internal_ptr = nullptr;
}

void update(duckdb_function_info info, duckdb_data_chunk chunk, duckdb_aggregate_state* states) {
  guarded(info, [&](FoldFunction::Pass& pass) { pass.update(chunk, states); });
}

void combine(duckdb_function_info info, duckdb_aggregate_state* from, duckdb_aggregate_state* into,
             idx_t count) {
  guarded(info, [&](FoldFunction::Pass& pass) {
    for (idx_t i = 0; i < count; ++i) {
      if (from[i]->internal_ptr != nullptr) pass.merge(pass.of(into[i]), pass.of(from[i]));
    }
  });
}

void finalize(duckdb_function_info info, duckdb_aggregate_state* states, duckdb_vector result, idx_t count,
              idx_t offset) {
  guarded(info, [&](FoldFunction::Pass& pass) {
    auto* places = static_cast<std::uint64_t*>(duckdb_vector_get_data(result));
    for (idx_t i = 0; i < count; ++i) places[offset + i] = pass.keep(states[i]);
  });
}

void destroy(duckdb_aggregate_state* states, idx_t count) {
  for (idx_t i = 0; i < count; ++i) {
    delete static_cast<FoldedRows*>(states[i]->internal_ptr);
    states[i]->internal_ptr = nullptr;
  }
}

}  // namespace

FoldFunction::FoldFunction(const Connection& connection, std::vector<CellInput> inputs,
                           std::vector<FoldAggregation> aggregations, std::vector<std::string> places)
    : pass_(std::make_shared<Pass>(std::move(inputs), std::move(aggregations), std::move(places))) {
  static std::atomic<std::uint64_t> next{0};
  name_ = "snapdp_fold_" + std::to_string(next++);

  const Function function(duckdb_create_aggregate_function());
  duckdb_aggregate_function_set_name(function.get(), name_.c_str());
  for (std::size_t i = 0; i < pass_->reader().inputs().size(); ++i)
    duckdb_aggregate_function_add_parameter(function.get(), pass_->reader().type(i).get());
  const LogicalType place_of_key(duckdb_create_logical_type(DUCKDB_TYPE_UINTEGER));
  for (std::size_t i = 0; i < pass_->places().size(); ++i)
    duckdb_aggregate_function_add_parameter(function.get(), place_of_key.get());
  const LogicalType place(duckdb_create_logical_type(DUCKDB_TYPE_UBIGINT));
  duckdb_aggregate_function_set_return_type(function.get(), place.get());
  duckdb_aggregate_function_set_functions(function.get(), state_size, init, update, combine, finalize);
  duckdb_aggregate_function_set_destructor(function.get(), destroy);
  duckdb_aggregate_function_set_special_handling(function.get());  // rows with nulls are rows too
  duckdb_aggregate_function_set_extra_info(function.get(), new std::shared_ptr<Pass>(pass_), [](void* pass) {
    delete static_cast<std::shared_ptr<Pass>*>(pass);
  });
  if (duckdb_register_aggregate_function(connection.get(), function.get()) == DuckDBError)
    throw Error(ErrorCode::io, "engine", "engine: DuckDB does not accept the fold as an aggregate function");
}

FoldFunction::~FoldFunction() = default;

std::string FoldFunction::call() const {
  std::string arguments = pass_->reader().arguments();
  for (const std::string& place : pass_->places()) arguments += (arguments.empty() ? "" : ", ") + place;
  return name_ + "(" + arguments + ")";
}

void FoldFunction::rethrow() const {
  pass_->exception().rethrow();
}

FoldedRows FoldFunction::take(std::uint64_t value) {
  return pass_->take(value);
}

}  // namespace snapdp::engine
