#include "postgresql_data.h"

#include <memory>
#include <utility>

#include "signals.h"
#include "snapdp/error.h"
#ifdef SNAPDP_WITH_POSTGRESQL
#include "snapdp/engines/postgresql/postgresql_source.h"
#endif

namespace snapdp::cli {
namespace {

#ifdef SNAPDP_WITH_POSTGRESQL

// A server would go on with the query of a client that is no more.
class InterruptibleSource final : public Source {
 public:
  explicit InterruptibleSource(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  std::vector<SourceColumn> columns() override { return source_->columns(); }
  using Source::fold;
  FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                  const Progress& progress) override {
    const SignalHold hold;
    return source_->fold(selection, requests, [&](double percent) {
      // Nobody sees this: the signal ends the tool as soon as it is no longer held.
      if (hold.caught())
        throw Error(ErrorCode::io, "--postgres", "--postgres: interrupted; nothing was spent");
      if (progress) progress(percent);
    });
  }

 private:
  std::unique_ptr<Source> source_;
};

std::unique_ptr<Source> open(const PostgresqlData& data) {
  return std::make_unique<InterruptibleSource>(
      open_postgresql_source({.connection = data.connection.value_or(""),
                              .table = data.table,
                              .statement_timeout_seconds = data.statement_timeout_seconds}));
}

#else

std::unique_ptr<Source> open(const PostgresqlData&) {
  throw Error(ErrorCode::invalid_argument, "--postgres",
              "--postgres: this snapdp was built without PostgreSQL; build it with "
              "-DSNAPDP_WITH_POSTGRESQL=ON, or go by snapdp pushdown and --aggregates");
}

#endif

}  // namespace

void add_postgresql(CLI::App& command, PostgresqlData& data) {
  CLI::Option* const connection =
      command
          .add_option(
              "--postgres", data.connection,
              "Instead of a file: the PostgreSQL server with the rows, \"service=hr\" or whatever else "
              "libpq takes; "
              "keep passwords out of it, in ~/.pgpass")
          ->type_name("CONNINFO");
  CLI::Option* const table =
      command.add_option("--table", data.table, "The table or view there: people, or schema.people")
          ->type_name("NAME")
          ->needs(connection);
  connection->needs(table);
  command
      .add_option("--statement-timeout", data.statement_timeout_seconds,
                  "How long that server may work on a query before it gives it up")
      ->type_name("SECONDS")
      ->needs(connection);
}

OpenSource open_postgresql(const PostgresqlData& data) {
  return [data](const Declaration&) { return open(data); };
}

}  // namespace snapdp::cli
