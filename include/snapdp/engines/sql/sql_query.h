// Statistics of rows that stay in a database: one query that gives nothing but exact integers, and their way
// back into states. Whoever runs the query is trusted with the rows; the noise is drawn where the states are.
//
//   const SqlQuery query(SqlDialect::postgresql, {{"public", "people"}}, selection, requests);
//   query.text();                               // SELECT ... UNION ALL SELECT ...
//   FoldResult result = query.read(rows);       // what the database answered, as texts
//
// Real columns must be on a grid (make_grid_rows) before they are summed: then the query sums integers, which
// every database does exactly and in any order, and the states are bit for bit those of the other engines.
// Which rows of a privacy unit are kept is decided by the integers that the statistics see of them, not by
// the hash that other engines use: other rows may be kept, no more of them. docs/engines.md says how each
// database reads cells.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "snapdp/framework/source.h"

namespace snapdp {

enum class SqlDialect {
  duckdb,
  postgresql,
  spark,
  sqlite,
  datafusion,
  // Written from their manuals and never run by the tests.
  bigquery,
  clickhouse,
  snowflake,
  trino,
};

const std::vector<SqlDialect>& all_sql_dialects();
std::string to_string(SqlDialect dialect);  // "duckdb", "postgresql" ...
std::optional<SqlDialect> find_sql_dialect(std::string_view name);
bool is_tested(SqlDialect dialect);

// How a database stores a column.
enum class SqlType {
  unknown,  // a number where one is wanted, text where text is
  integer,
  real,
  decimal,
  boolean,
  text,
  unusable,
};

struct SqlColumn {
  std::string name;  // to the letter
  SqlType type = SqlType::unknown;
};

struct SqlTable {
  std::vector<std::string> name;        // {"people"}, {"public", "people"}; each part is quoted
  std::vector<SqlColumn> columns = {};  // where they are known; others are SqlType::unknown
};

// "people", "hr.people", "\"a.b\".people": parts between dots, or between double quotes, of which two in a
// row stand for one. Throws invalid_argument naming "table".
std::vector<std::string> parse_table_name(std::string_view text);

// A query that gives no row and the names of the table's columns.
std::string header_query(SqlDialect dialect, const std::vector<std::string>& table);

// The rows of a result, whatever they are: each cell the text of an integer.
struct SqlResult {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

class SqlQuery {
 public:
  // No fold of a query counts more rows: sums of so many words of 22 bits are 64-bit integers.
  static constexpr std::uint64_t most_rows = std::uint64_t{1} << 40;

  // Throws invalid_argument naming "row_grid" for a sum of reals that are on no grid, "bounds" for integers
  // whose bounds are 2^62 or more apart, "statistic" for a part that cannot be written as SQL, "columns"
  // for a column that is stored as something else than is wanted of it, and "table" for a table without a
  // name. `found` are columns whose keys come from the rows (Source::fold_by_keys): which rows of a unit are
  // kept must not depend on the place of a key among those of others.
  SqlQuery(SqlDialect dialect, const SqlTable& table, const RowSelection& selection,
           std::span<const FoldRequest> requests, std::span<const KeyColumn> found = {});
  SqlQuery(SqlQuery&&) noexcept;
  SqlQuery& operator=(SqlQuery&&) noexcept;
  ~SqlQuery();

  // One statement, so that all of it sees the rows at one moment. Its result tells of the rows: it is as
  // private as they are.
  const std::string& text() const;
  // The names of the result's columns.
  const std::vector<std::string>& columns() const;
  // Whether this is the result of such a query: of these requests, its sums told in as many columns.
  bool is_asked_by(const SqlResult& result) const;
  // The states of the requests, from the result's rows, in any order. They are untrusted: throws bad_data
  // naming "aggregates" for the result of another query or another plan, for missing, double or unknown rows,
  // for counts that do not add up, and for sums that no rows within the bounds have.
  FoldResult read(const SqlResult& result) const;

 private:
  friend class KeyQuery;  // which selects rows the same way
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// A query of the keys that a column has in the rows for which a condition holds.
class KeyQuery {
 public:
  // Throws what SqlQuery throws for the table and the column, and invalid_argument naming "dialect" for
  // texts in a dialect that is not tested: the database might take different texts for equal.
  KeyQuery(SqlDialect dialect, const SqlTable& table, const std::optional<RowSelection::Condition>& where,
           KeyColumn column);

  // Its result is the keys themselves, one column and a row each, at most one more than KeyValues::most.
  const std::string& text() const { return text_; }
  // The keys; what is_group_key() refuses is left out. Throws bad_data naming "keys" when there are too many,
  // and "aggregates" for another result.
  KeyValues read(const SqlResult& result) const;

 private:
  KeyColumn column_;
  bool hexadecimal_ = false;  // texts come as the digits of their bytes
  std::string text_;
};

// A source whose fold() calls `run` with the query and reads what it gives: once, whatever the requests are.
// `columns` are those of the table, for checks before.
using RunQuery = std::function<SqlResult(const std::string& query)>;
std::unique_ptr<Source> open_sql_source(SqlDialect dialect, SqlTable table, RunQuery run);

// A source that reads the result of a query that has been run elsewhere, of whatever dialect. It takes for
// granted that the table has all columns, as they were there when the query ran.
std::unique_ptr<Source> open_sql_result(SqlResult result, const std::vector<std::string>& columns);

}  // namespace snapdp
