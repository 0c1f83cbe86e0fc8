#include "snapdp/engines/postgresql/postgresql_source.h"

#include <algorithm>
#include <utility>

#include "engines/postgresql/snapshot.h"
#include "engines/sql/dialect.h"
#include "framework/shared/source_parts.h"
#include "snapdp/engines/sql/sql_query.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace engines_internal;
using namespace framework_internal;

namespace {

// The columns that this fold reads must be there, whatever columns() said earlier.
void require_column(const SqlTable& table, const std::string& name) {
  const std::string problem = column_problem(source_columns(table), name);
  if (!problem.empty())
    throw Error(ErrorCode::bad_data, "columns", "columns: " + quoted_text(name) + " " + problem);
}

void require_columns(const SqlTable& table, const RowSelection& selection,
                     std::span<const FoldRequest> requests) {
  for (const std::string& name : columns_read(selection, requests)) require_column(table, name);
}

class PostgresqlSource final : public Source {
 public:
  explicit PostgresqlSource(PostgresqlOptions options)
      : options_(std::move(options)), name_(parse_table_name(options_.table)) {}

  std::vector<SourceColumn> columns() override {
    Snapshot snapshot(options_, name_, {});
    std::vector<SourceColumn> columns = source_columns(snapshot.table());
    snapshot.finish();
    return columns;
  }

  using Source::fold;
  FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                  const Progress& progress) override {
    Session::Waiting waiting;
    if (progress) waiting = [&] { progress(0); };
    return fold_together(requests.size(), [&](std::size_t together) {
      Snapshot snapshot(options_, name_, waiting);
      return fold(snapshot, selection, requests, together);
    });
  }

  // The keys and the sums are of one snapshot.
  FoldResult fold_by_keys(const RowSelection& selection, std::span<const KeyColumn> columns,
                          const RequestsOfKeys& requests, const Progress& progress) override {
    Session::Waiting waiting;
    if (progress) waiting = [&] { progress(0); };
    std::optional<std::vector<KeyValues>> known;
    std::vector<FoldRequest> asked;
    const auto attempt = [&](std::size_t together) {
      Snapshot snapshot(options_, name_, waiting);
      std::vector<KeyValues> keys;
      for (const KeyColumn& column : columns) {
        require_column(snapshot.table(), column.name);
        const KeyQuery query(SqlDialect::postgresql, snapshot.table(), selection.where, column);
        keys.push_back(query.read(snapshot.run(query.text())));
      }
      if (!known) {
        asked = requests(keys);
      } else if (*known != keys) {
        throw Error(ErrorCode::bad_data, "rows", "rows: the keys changed while they were read; try again");
      }
      known = std::move(keys);
      return fold(snapshot, selection, asked, together, columns);
    };
    return fold_together(most_together, attempt);
  }

 private:
  static constexpr std::size_t most_together = 1'024;

  // A row of a result has at most 1,664 columns: what is too wide for one query is asked by several, of one snapshot.
  template <typename Attempt>
  static FoldResult fold_together(std::size_t requests, const Attempt& attempt) {
    for (std::size_t together = std::max<std::size_t>(requests, 1);; together = (together + 1) / 2) {
      try {
        return attempt(together);
      } catch (const TooWide&) {
        if (together == 1) refuse_too_wide();
      }
    }
  }

  static FoldResult fold(Snapshot& snapshot, const RowSelection& selection,
                         std::span<const FoldRequest> requests, std::size_t together,
                         std::span<const KeyColumn> found = {}) {
    require_columns(snapshot.table(), selection, requests);
    FoldResult result;
    std::size_t first = 0;
    do {
      const SqlQuery query(SqlDialect::postgresql, snapshot.table(), selection,
                           requests.subspan(first, std::min(together, requests.size() - first)), found);
      FoldResult part = query.read(snapshot.run(query.text()));
      std::move(part.states.begin(), part.states.end(), std::back_inserter(result.states));
      result.rows = part.rows;
      first += together;
    } while (first < requests.size());
    snapshot.finish();
    return result;
  }

  [[noreturn]] static void refuse_too_wide() {
    throw Error(
        ErrorCode::io, "statistic",
        "statistic: one of them is too large for a query that PostgreSQL accepts; ask for fewer columns, "
        "bins or groups at once");
  }

  PostgresqlOptions options_;
  std::vector<std::string> name_;
};

}  // namespace

std::unique_ptr<Source> open_postgresql_source(const PostgresqlOptions& options) {
  check_connection(options.connection);
  constexpr unsigned most_seconds = 2147483;  // the server counts milliseconds in 31 bits
  if (options.statement_timeout_seconds &&
      (*options.statement_timeout_seconds == 0 || *options.statement_timeout_seconds > most_seconds)) {
    throw Error(ErrorCode::invalid_argument, "statement_timeout",
                "statement_timeout = " + std::to_string(*options.statement_timeout_seconds) +
                    ": is not between 1 and 2147483 seconds; leave it out to wait as long as it takes");
  }
  return std::make_unique<PostgresqlSource>(options);
}

}  // namespace snapdp
