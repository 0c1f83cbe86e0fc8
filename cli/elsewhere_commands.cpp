// snapdp pushdown and snapdp fold: for rows that are not where the noise is drawn.
#include <memory>
#include <optional>

#include "commands.h"
#include "data_file.h"
#include "output.h"
#include "release/shared/columns.h"
#include "release/shared/suggestion.h"
#include "snapdp/engines/sql/sql_query.h"
#include "snapdp/engines/states/states.h"
#include "snapdp/error.h"

namespace snapdp::cli {

using namespace release_internal;

namespace {

struct PushdownArguments {
  QuestionFiles question;
  std::string dialect;
  std::string table;
  std::string output;
};

struct FoldArguments {
  QuestionFiles question;
  std::string data;
  std::string output;
  bool whole_units = false;
};

Files files_of(const PushdownArguments& arguments) {
  Files files = files_of(arguments.question);
  files.written.push_back({"--output", arguments.output});
  return files;
}

Files files_of(const FoldArguments& arguments) {
  Files files = files_of(arguments.question);
  files.read.push_back({"--data", arguments.data});
  files.written.push_back({"--output", arguments.output});
  return files;
}

std::vector<std::string> dialect_names() {
  std::vector<std::string> names;
  for (const SqlDialect dialect : all_sql_dialects()) names.push_back(to_string(dialect));
  return names;
}

SqlDialect dialect_named(const std::string& name) {
  if (const std::optional<SqlDialect> dialect = find_sql_dialect(name)) return *dialect;
  std::string all;
  for (const std::string& known : dialect_names()) all += (all.empty() ? "" : ", ") + known;
  throw Error(ErrorCode::invalid_argument, "--dialect",
              "--dialect " + quoted_text(name) + ": is none of " + all + did_you_mean(name, dialect_names()));
}

// A plan with noise to draw: constants need no rows.
void require_requests(const Plan& plan) {
  plan.require_affordable();
  if (!plan.requests().empty()) return;
  throw Error(ErrorCode::invalid_argument, "statistic",
              plan.specification().name +
                  ": every statistic is a public constant, for which no row is read; "
                  "release it as it is");
}

void push_down(const PushdownArguments& arguments) {
  const SqlDialect dialect = dialect_named(arguments.dialect);
  const Plan plan(read_question(arguments.question));
  require_requests(plan);
  const SqlQuery query(dialect, {parse_table_name(arguments.table), {}}, plan.selection(), plan.requests());
  if (!is_tested(dialect)) {
    write_standard_error("snapdp: queries for " + to_string(dialect) +
                         " are written from its manual and were never run by SnapDP's tests; compare with "
                         "another way before you rely on one\n");
  }
  const std::string text =
      "-- " + plan.specification().data.dataset +
      ": exact statistics, for \"snapdp release --aggregates\".\n"
      "-- The result is as private as the rows: without noise, it tells of single people.\n" +
      query.text();
  if (arguments.output.empty()) {
    write_standard_output(text);
  } else {
    write_file(arguments.output, text, Readers::umask);
  }
}

void fold(const FoldArguments& arguments) {
  const Plan plan(read_question(arguments.question));
  require_requests(plan);
  check_writable(arguments.output);
  const std::unique_ptr<Source> source = open_declared(arguments.data)(plan.specification().data);
  require_columns(plan.specification(), source->columns());
  ProgressLine progress;
  const std::string part =
      fold_part(*source, plan.selection(), plan.requests(), {.whole_units = arguments.whole_units},
                [&](double percent) { progress.update(percent); });
  write_file(arguments.output, part, Readers::owner);
  write_standard_error("snapdp: wrote " + quoted_path(arguments.output) +
                       ", which is as private as the rows; nothing was spent\n");
}

}  // namespace

void add_pushdown(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<PushdownArguments>();
  CLI::App* command = tool.add_subcommand(
      "pushdown", "Write the query with which a database computes the exact statistics of a specification.");
  add_question(*command, arguments->question);
  command
      ->add_option(
          "--dialect", arguments->dialect,
          "duckdb, postgresql, spark, sqlite, datafusion; untested: bigquery, clickhouse, snowflake, trino")
      ->type_name("NAME")
      ->required();
  command
      ->add_option("--table", arguments->table,
                   "The table's name, schema.table too; a part between double quotes may hold dots")
      ->type_name("NAME")
      ->required();
  command->add_option("--output", arguments->output, "Write there, not to standard output")
      ->type_name("FILE");
  commands[command] = {
      [arguments] { push_down(*arguments); },
      "  snapdp pushdown people.toml --dialect spark --table db.people > query.sql\n"
      "  snapdp pushdown people.toml --dialect postgresql --table hr.people | psql --csv > result.csv\n"
      "  snapdp release people.toml --ledger people.ledger --aggregates result.csv\n",
      [arguments] { return files_of(*arguments); }};
  command->footer(
      "Nothing is spent and no data is opened. What the query gives, exact integers, is as private as the "
      "rows:\n"
      "keep it where they may be, and release it with snapdp release --aggregates. docs/engines.md has "
      "more.");
}

void add_fold(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<FoldArguments>();
  CLI::App* command = tool.add_subcommand(
      "fold", "Fold one part of the rows into exact states, to be released with other parts.");
  add_question(*command, arguments->question);
  command->add_option("--data", arguments->data, "The rows of this part")->type_name("FILE")->required();
  command->add_option("--output", arguments->output, "Where the states go, mode 0600")
      ->type_name("FILE")
      ->required();
  command->add_flag("--whole-units", arguments->whole_units,
                    "Every privacy unit that has a row in this part has all its rows in it");
  commands[command] = {[arguments] { fold(*arguments); },
                       "  snapdp fold people.toml --data part-3.parquet --output states/part-3.state\n"
                       "  snapdp release people.toml --ledger people.ledger --states states\n",
                       [arguments] { return files_of(*arguments); }};
  command->footer(
      "Nothing is spent. States are exact sums and counts, as private as the rows. A part that is folded "
      "twice is\n"
      "counted twice; one that is handed over twice is refused. docs/engines.md has more.");
}

}  // namespace snapdp::cli
