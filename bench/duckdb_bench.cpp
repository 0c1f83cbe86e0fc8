// duckdb/own, duckdb/snapdp: count, mean and variance of the delay of three million flights in a Parquet file
// (SNAPDP_FLIGHTS), by DuckDB's own count, avg and var_samp and by the exact, clamped aggregations inside DuckDB.
// With /1 on one thread, else on all cores. Opening the engine is not measured, binding the file is.
//
// peak_MiB is the process's peak so far; for the memory of one of them run it alone.
#include <benchmark/benchmark.h>
#include <duckdb.h>
#include <sys/resource.h>

#include <cstdlib>
#include <string>

#include "snapdp/engines/duckdb/duckdb_source.h"
#include "snapdp/error.h"
#include "snapdp/statistics/statistics.h"

namespace {

using namespace snapdp;  // NOLINT: this file is about its names

constexpr std::uint64_t flights = 3'000'000;

// The path of the data, or null once the benchmark has been skipped.
const char* flights_path(benchmark::State& state) {
  const char* path = std::getenv("SNAPDP_FLIGHTS");
  if (path == nullptr)
    state.SkipWithError("SNAPDP_FLIGHTS names no flights-3m.parquet; tools/fetch-deps vega fetches it");
  return path;
}

void report(benchmark::State& state) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(flights));
}

void own(benchmark::State& state, const char* threads) {
  const char* path = flights_path(state);
  if (path == nullptr) return;
  duckdb_config config = nullptr;
  duckdb_database database = nullptr;
  duckdb_connection connection = nullptr;
  duckdb_create_config(&config);
  if (threads != nullptr) duckdb_set_config(config, "threads", threads);
  if (duckdb_open_ext(nullptr, &database, config, nullptr) == DuckDBError ||
      duckdb_connect(database, &connection) == DuckDBError) {
    state.SkipWithError("DuckDB does not start");
    return;
  }
  const std::string sql =
      "SELECT count(*), avg(delay), var_samp(delay) FROM read_parquet('" + std::string(path) + "')";
  for (auto _ : state) {
    duckdb_result result;
    if (duckdb_query(connection, sql.c_str(), &result) == DuckDBError)
      state.SkipWithError("the query failed");
    duckdb_destroy_result(&result);
  }
  report(state);
  duckdb_disconnect(&connection);
  duckdb_close(&database);
  duckdb_destroy_config(&config);
}

void exact(benchmark::State& state, unsigned threads) {
  const char* path = flights_path(state);
  if (path == nullptr) return;
  const auto source = open_duckdb_source({.path = path, .threads = threads});
  const VectorDomain domain = untrusted_domain({AtomType::integer});
  const Transformation impute = make_impute(domain.of_size(flights), change_one(), {Dyadic(0)});
  const Transformation clamp = impute >> make_clamp(impute.output_domain(), change_one(), Bounds(-100, 500));
  const Aggregation count = make_count(domain, symmetric_distance());
  const Aggregation mean = clamp >> make_mean();
  const Aggregation variance = clamp >> make_variance();
  const std::vector<FoldRequest> requests{{{"delay"}, &count}, {{"delay"}, &mean}, {{"delay"}, &variance}};
  for (auto _ : state) {
    const FoldResult result = source->fold(requests, {});
    benchmark::DoNotOptimize(count.finish(result.states[0]));
    benchmark::DoNotOptimize(mean.finish(result.states[1]));
    benchmark::DoNotOptimize(variance.finish(result.states[2]));
  }
  report(state);
}

BENCHMARK_CAPTURE(own, all, nullptr)->Name("duckdb/own")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(exact, all, 0)->Name("duckdb/snapdp")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(own, one, "1")->Name("duckdb/own/1")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(exact, one, 1)->Name("duckdb/snapdp/1")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
