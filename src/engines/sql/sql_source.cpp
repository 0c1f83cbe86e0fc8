#include <utility>

#include "engines/sql/dialect.h"
#include "framework/shared/source_parts.h"
#include "snapdp/engines/sql/sql_query.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace engines_internal;
using namespace framework_internal;

namespace {

// What the schema says, if it does.
std::optional<AtomType> atom_type_of(SqlType type) {
  switch (type) {
    case SqlType::integer:
    case SqlType::boolean:
      return AtomType::integer;
    case SqlType::real:
    case SqlType::decimal:
      return AtomType::real;
    case SqlType::text:
      return AtomType::text;
    case SqlType::unknown:
    case SqlType::unusable:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::vector<SourceColumn> engines_internal::source_columns(const SqlTable& table) {
  std::vector<SourceColumn> columns;
  for (const SqlColumn& column : table.columns) {
    columns.push_back(
        {column.name, atom_type_of(column.type),
         column.type == SqlType::unusable ? "stored as something that is neither a number nor text" : ""});
  }
  return columns;
}

namespace {

class SqlSource final : public Source {
 public:
  SqlSource(SqlDialect dialect, SqlTable table, RunQuery run)
      : dialect_(dialect), table_(std::move(table)), run_(std::move(run)) {}

  std::vector<SourceColumn> columns() override { return source_columns(table_); }
  using Source::fold;
  FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                  const Progress&) override {
    return ask(selection, requests, {});
  }
  FoldResult fold_by_keys(const RowSelection& selection, std::span<const KeyColumn> columns,
                          const RequestsOfKeys& requests, const Progress&) override {
    std::vector<KeyValues> keys;
    for (const KeyColumn& column : columns) {
      if (!table_.columns.empty()) static_cast<void>(find_column(this->columns(), column.name));
      const KeyQuery query(dialect_, table_, selection.where, column);
      keys.push_back(query.read(run_(query.text())));
    }
    return ask(selection, requests(keys), columns);
  }

 private:
  FoldResult ask(const RowSelection& selection, std::span<const FoldRequest> requests,
                 std::span<const KeyColumn> found) {
    check_selection(selection, requests);
    for (const FoldRequest& request : requests) check_domain(request);
    // A database may take a name that it does not know for a text.
    if (!table_.columns.empty()) {
      const std::vector<SourceColumn> header = columns();
      for (const std::string& name : columns_read(selection, requests))
        static_cast<void>(find_column(header, name));
    }
    const SqlQuery query(dialect_, table_, selection, requests, found);
    return query.read(run_(query.text()));
  }

  SqlDialect dialect_;
  SqlTable table_;
  RunQuery run_;
};

[[noreturn]] void refuse_keys() {
  throw Error(ErrorCode::invalid_argument, "keys",
              "keys: which keys there are must be asked where the rows are, and a result of a query has been "
              "asked already; release where the database is connected, or list the keys");
}

class ResultSource final : public Source {
 public:
  ResultSource(SqlResult result, const std::vector<std::string>& columns) : result_(std::move(result)) {
    for (const std::string& column : columns) columns_.push_back({column, {}, ""});
  }

  std::vector<SourceColumn> columns() override { return columns_; }
  using Source::fold;
  FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                  const Progress&) override {
    check_selection(selection, requests);
    // Sums are told in one column or, where 64 bits are all there is, in words, and those of all rows come by themselves or
    // with the groups.
    const SqlTable table{{"table"}, {}};
    for (const SqlDialect dialect : {SqlDialect::datafusion, SqlDialect::spark}) {
      const SqlQuery query(dialect, table, selection, requests);
      if (query.is_asked_by(result_)) return query.read(result_);
    }
    return SqlQuery(SqlDialect::duckdb, table, selection, requests).read(result_);
  }
  FoldResult fold_by_keys(const RowSelection&, std::span<const KeyColumn>, const RequestsOfKeys&,
                          const Progress&) override {
    refuse_keys();
  }

 private:
  SqlResult result_;
  std::vector<SourceColumn> columns_;
};

}  // namespace

std::vector<std::string> parse_table_name(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "table", "table = " + quoted_text(text) + ": " + why);
  };
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool twice = i + 1 < text.size() && text[i + 1] == '"';
    if (text[i] == '"' && quoted && twice) {
      parts.back() += text[++i];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == '.' && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  if (quoted) refuse("has no second quote; write \"a name\".people");
  for (const std::string& part : parts) {
    if (part.empty()) refuse("has an empty part; write people, or schema.people");
    if (shown_text(part) != part) refuse("has a control character; rename the table, or make a view of it");
  }
  return parts;
}

std::unique_ptr<Source> open_sql_source(SqlDialect dialect, SqlTable table, RunQuery run) {
  if (!run) throw Error(ErrorCode::invalid_argument, "run", "run: is missing; give what runs a query");
  return std::make_unique<SqlSource>(dialect, std::move(table), std::move(run));
}

std::unique_ptr<Source> open_sql_result(SqlResult result, const std::vector<std::string>& columns) {
  return std::make_unique<ResultSource>(std::move(result), columns);
}

}  // namespace snapdp
