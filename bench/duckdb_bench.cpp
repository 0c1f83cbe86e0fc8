// duckdb/own, duckdb/snapdp: count, mean and variance of the delay of three million flights in a Parquet file
// (SNAPDP_FLIGHTS), by DuckDB's own count, avg and var_samp and by the exact, clamped aggregations inside DuckDB.
// With /1 on one thread, else on all cores. Opening the engine is not measured, binding the file is.
//
// duckdb/grouped/...: the mean delay of each of the 229 airports that flights leave from, by avg and GROUP BY and by
// the exact, clamped sum and the count of each of 229 public keys. duckdb/limited/...: the same of at most 500 flights
// of each distance, which stands for a privacy unit, chosen by a hash of the row: DuckDB's own hash or SnapDP's.
//
// duckdb/csv/..., duckdb/quoted/...: as the first, from the same flights as CSV, without quotes and with every cell between
// quotes. DuckDB reads all cells as text too, and casts delays.
//
// What is compared are times within one run. On a machine with other work let the pairs take turns:
//
//   ./dev bench duckdb/grouped --benchmark_enable_random_interleaving=true --benchmark_repetitions=9
//
// peak_MiB is the process's peak so far; for the memory of one of them run it alone.
#include <benchmark/benchmark.h>
#include <duckdb.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

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

// The flights as a file of another form, made when it is first asked for and removed in the end.
class Written {
 public:
  Written(const char* name, const char* options) : name_(name), options_(options) {}
  ~Written() {
    if (!path_.empty()) std::filesystem::remove(path_);
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;

  const std::string& path(const char* flights_in_parquet) {
    if (!path_.empty()) return path_;
    path_ = std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name_);
    duckdb_database database = nullptr;
    duckdb_connection connection = nullptr;
    duckdb_open(nullptr, &database);
    duckdb_connect(database, &connection);
    duckdb_query(
        connection,
        ("COPY (FROM read_parquet('" + std::string(flights_in_parquet) + "')) TO '" + path_ + "' " + options_)
            .c_str(),
        nullptr);
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    return path_;
  }

 private:
  const char* name_;
  const char* options_;
  std::string path_;
};

Written csv("flights.csv", "(FORMAT csv)");
Written quoted_csv("quoted.csv", "(FORMAT csv, FORCE_QUOTE *)");

// DuckDB on `sql`, in which @ stands for the table.
void run_own(benchmark::State& state, const char* threads, std::string sql, Written* text = nullptr) {
  const char* path = flights_path(state);
  if (path == nullptr) return;
  sql.replace(sql.find('@'), 1,
              text == nullptr ? "read_parquet('" + std::string(path) + "')"
                              : "read_csv('" + text->path(path) + "', all_varchar = true)");
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

void own(benchmark::State& state, const char* threads) {
  run_own(state, threads, "SELECT count(*), avg(delay), var_samp(delay) FROM @");
}

void own_csv(benchmark::State& state, const char* threads) {
  run_own(state, threads, "SELECT count(*), avg(delay::DOUBLE), var_samp(delay::DOUBLE) FROM @", &csv);
}

void own_quoted(benchmark::State& state, const char* threads) {
  run_own(state, threads, "SELECT count(*), avg(delay::DOUBLE), var_samp(delay::DOUBLE) FROM @", &quoted_csv);
}

void own_grouped(benchmark::State& state, const char* threads) {
  run_own(state, threads, "SELECT origin, avg(delay) FROM @ GROUP BY origin");
}

void own_limited(benchmark::State& state, const char* threads) {
  run_own(state, threads,
          "SELECT origin, avg(delay) FROM (SELECT origin, delay FROM @ QUALIFY row_number() OVER "
          "(PARTITION BY distance ORDER BY hash(distance, delay, origin)) <= 500) GROUP BY origin");
}

// The origins, as a public list would give them.
std::vector<std::string> origins(const char* path) {
  duckdb_database database = nullptr;
  duckdb_connection connection = nullptr;
  duckdb_result result;
  duckdb_open(nullptr, &database);
  duckdb_connect(database, &connection);
  duckdb_query(connection,
               ("SELECT DISTINCT origin FROM read_parquet('" + std::string(path) + "') ORDER BY 1").c_str(),
               &result);
  std::vector<std::string> names;
  for (idx_t row = 0; row < duckdb_row_count(&result); ++row) {
    char* name = duckdb_value_varchar(&result, 0, row);
    names.emplace_back(name);
    duckdb_free(name);
  }
  duckdb_destroy_result(&result);
  duckdb_disconnect(&connection);
  duckdb_close(&database);
  return names;
}

void grouped(benchmark::State& state, unsigned threads, const RowSelection& selection) {
  const char* path = flights_path(state);
  if (path == nullptr) return;
  const auto source = open_duckdb_source({.path = path, .threads = threads});
  const Bins keys = Bins::texts(origins(path));
  const VectorDomain domain = untrusted_domain({AtomType::text, AtomType::integer});
  const Aggregation sum =
      make_grouped(domain, symmetric_distance(), keys, [](const VectorDomain& rest, Metric metric) {
        const Transformation complete = make_drop(rest, metric);
        return complete >> make_clamp(complete.output_domain(), metric, Bounds(-100, 500)) >> make_sum();
      });
  const Aggregation count = make_grouped(
      domain, symmetric_distance(), keys,
      [](const VectorDomain& rest, Metric metric) { return make_drop(rest, metric) >> make_count(); });
  const std::vector<FoldRequest> requests{{{"origin", "delay"}, &sum}, {{"origin", "delay"}, &count}};
  for (auto _ : state) {
    const FoldResult result = source->fold(selection, requests, {});
    benchmark::DoNotOptimize(sum.finish(result.states[0]));
    benchmark::DoNotOptimize(count.finish(result.states[1]));
  }
  report(state);
}

void exact_grouped(benchmark::State& state, unsigned threads) {
  grouped(state, threads, {});
}

void exact_limited(benchmark::State& state, unsigned threads) {
  grouped(state, threads, {.where = {}, .unit = RowSelection::UnitLimit{"distance", 500}});
}

void exact_of(benchmark::State& state, const std::string& path, unsigned threads) {
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

void exact(benchmark::State& state, unsigned threads) {
  if (const char* path = flights_path(state)) exact_of(state, path, threads);
}

void exact_csv(benchmark::State& state, unsigned threads) {
  if (const char* path = flights_path(state)) exact_of(state, csv.path(path), threads);
}

void exact_quoted(benchmark::State& state, unsigned threads) {
  if (const char* path = flights_path(state)) exact_of(state, quoted_csv.path(path), threads);
}

// The pair `name`: DuckDB alone and SnapDP.
#define SNAPDP_PAIR(name, theirs, ours)                                                                    \
  BENCHMARK_CAPTURE(theirs, all, nullptr)->Name(name "own")->Unit(benchmark::kMillisecond)->UseRealTime(); \
  BENCHMARK_CAPTURE(ours, all, 0)->Name(name "snapdp")->Unit(benchmark::kMillisecond)->UseRealTime();      \
  BENCHMARK_CAPTURE(theirs, one, "1")->Name(name "own/1")->Unit(benchmark::kMillisecond)->UseRealTime();   \
  BENCHMARK_CAPTURE(ours, one, 1)->Name(name "snapdp/1")->Unit(benchmark::kMillisecond)->UseRealTime()

SNAPDP_PAIR("duckdb/", own, exact);
SNAPDP_PAIR("duckdb/grouped/", own_grouped, exact_grouped);
SNAPDP_PAIR("duckdb/limited/", own_limited, exact_limited);
SNAPDP_PAIR("duckdb/csv/", own_csv, exact_csv);
SNAPDP_PAIR("duckdb/quoted/", own_quoted, exact_quoted);

}  // namespace
