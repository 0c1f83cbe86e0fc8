#include "engines/duckdb/connection.h"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <string_view>
#include <thread>

#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp::engines_internal {

using namespace numeric_internal;

namespace {

using Config = Handle<duckdb_config, duckdb_destroy_config>;
using Pending = Handle<duckdb_pending_result, duckdb_destroy_pending>;

// The interface tells an error's type only as the beginning of its message, "IO Error: ...".
EngineFailure failure(const char* message) {
  const std::string_view text(message == nullptr ? "" : message);
  const auto is = [text](std::initializer_list<std::string_view> types) {
    return std::any_of(types.begin(), types.end(),
                       [text](std::string_view type) { return text.starts_with(type); });
  };
  if (is({"IO Error", "Permission Error"})) return EngineFailure(EngineFailure::Kind::reading);
  if (is({"Out of Memory Error"})) return EngineFailure(EngineFailure::Kind::memory);
  // "Invalid Error" stands for exceptions of the libraries that read Parquet.
  if (is({"Invalid Input Error", "Invalid Error", "Conversion Error", "Out of Range Error",
          "Not implemented Error", "Serialization Error", "Binder Error"}))
    return EngineFailure(EngineFailure::Kind::content);
  return EngineFailure(EngineFailure::Kind::other);
}

[[noreturn]] void does_not_start(const std::string& what) {
  throw Error(ErrorCode::io, "engine",
              "engine: DuckDB " + std::string(duckdb_library_version()) + " " + what +
                  "; SnapDP is made for version 1.4");
}

}  // namespace

std::string sql_text(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result.append(c == '\'' ? 2 : 1, c);
  return result + "'";
}

Connection::Connection(const ConnectionOptions& options) {
  // DuckDB's threads inherit rounding mode and flush-to-zero from the thread that starts them.
  const FloatEnvironment standard;

  Config config;
  if (duckdb_create_config(config.out()) == DuckDBError) does_not_start("gives no configuration");
  const auto set = [&config](const char* name, const std::string& value) {
    if (duckdb_set_config(config.get(), name, value.c_str()) == DuckDBError)
      does_not_start("has no option " + std::string(name));
  };
  if (options.threads > 0) set("threads", std::to_string(options.threads));
  set("autoinstall_known_extensions", "false");
  set("autoload_known_extensions", "false");
  set("allow_community_extensions", "false");
  set("allow_persistent_secrets", "false");
  set("temp_directory", "");
  set("max_temp_directory_size", "0KiB");
  set("preserve_insertion_order", "false");
  if (duckdb_open_ext(nullptr, database_.out(), config.get(), nullptr) == DuckDBError ||
      duckdb_connect(database_.get(), connection_.out()) == DuckDBError) {
    does_not_start("does not start");
  }
  try {
    run("SET allowed_paths = [" + (options.file.empty() ? "" : sql_text(options.file)) + "]");
    run("SET enable_external_access = false");
    // The percentage is kept up to date only while the progress bar is on; it prints nothing.
    run("SET enable_progress_bar = true");
    run("SET enable_progress_bar_print = false");
    run("SET lock_configuration = true");
  } catch (const EngineFailure&) {
    does_not_start("cannot be locked to one file");
  }
}

Connection::~Connection() = default;

Statement Connection::prepare(const std::string& sql) const {
  Statement statement;
  if (duckdb_prepare(connection_.get(), sql.c_str(), statement.out()) == DuckDBError)
    throw failure(duckdb_prepare_error(statement.get()));
  return statement;
}

Result Connection::run(const std::string& sql, const std::function<void(double)>& progress,
                       const std::function<std::optional<double>()>& percent) const {
  const FloatEnvironment standard;
  const Statement statement = prepare(sql);
  Pending pending;
  if (duckdb_pending_prepared(statement.get(), pending.out()) == DuckDBError)
    throw failure(duckdb_pending_error(pending.get()));

  double shown = -1;
  std::exception_ptr stop;  // what `progress` threw
  while (true) {
    // This thread works too.
    const duckdb_pending_state state = duckdb_pending_execute_task(pending.get());
    if (state == DUCKDB_PENDING_ERROR || duckdb_pending_execution_is_finished(state)) break;
    if (state == DUCKDB_PENDING_NO_TASKS_AVAILABLE)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (!progress || stop) continue;
    // The other fields are row counts, which nobody is to see.
    const std::optional<double> told = percent ? percent() : std::nullopt;
    const double done = told ? *told : duckdb_query_progress(connection_.get()).percentage;
    if (done < shown + 1 || done > 100) continue;
    shown = done;
    try {
      progress(done);
    } catch (...) {
      // The threads must be done with the query before anything it uses goes away.
      stop = std::current_exception();
      duckdb_interrupt(connection_.get());
    }
  }
  if (stop) {
    // A query that was finished all the same is still open, and what is registered next would go down with it. DuckDB
    // ends it before it prepares another.
    Statement next;
    duckdb_prepare(connection_.get(), "SELECT 1", next.out());
    std::rethrow_exception(stop);
  }
  if (const char* message = duckdb_pending_error(pending.get()); message != nullptr && *message != '\0')
    throw failure(message);
  Result result;
  if (duckdb_execute_pending(pending.get(), result.out()) == DuckDBError)
    throw failure(duckdb_result_error(result.out()));
  return result;
}

}  // namespace snapdp::engines_internal
