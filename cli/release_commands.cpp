// snapdp plan and snapdp release.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "commands.h"
#include "data_file.h"
#include "output.h"
#include "postgresql_data.h"
#include "release/shared/columns.h"
#include "release/shared/suggestion.h"
#include "report_files.h"
#include "signals.h"
#include "snapdp/engines/duckdb/file_cells.h"
#include "snapdp/engines/sql/sql_query.h"
#include "snapdp/engines/states/states.h"
#include "snapdp/error.h"
#include "snapdp/release/release.h"

namespace snapdp::cli {

using namespace release_internal;

namespace {

struct PlanArguments {
  QuestionFiles question;
  std::string html;
  bool utility = false;
  bool json = false;
};

struct ReleaseArguments {
  std::string specification;
  std::string ledger;
  std::string data;
  std::string aggregates;
  std::string states;
  PostgresqlData postgresql;
  std::string output;
  std::string label;
  ReportFiles files;
  bool json = false;
  bool yes = false;
  bool dry_run = false;
};

Files files_of(const PlanArguments& arguments) {
  Files files = files_of(arguments.question);
  files.written.push_back({"--html", arguments.html});
  return files;
}

// The plan is shown whether it fits or not; that it does not is an error all the same.
void show_plan(const PlanArguments& arguments) {
  const Plan plan(read_question(arguments.question));
  std::optional<Ledger> ledger;
  if (!arguments.question.ledger.empty()) ledger = Ledger::open(arguments.question.ledger);
  PlanView view{.style = report_style_of_standard_output(), .utility = arguments.utility};
  if (ledger) view.ledger = ledger->balance();
  if (!arguments.html.empty()) {
    write_file(arguments.html, plan.to_html(view.ledger), Readers::owner);
    write_standard_error("snapdp: wrote " + quoted_path(arguments.html) + "\n");
  } else {
    write_standard_output(arguments.json ? plan.to_json() : plan.to_table(view));
  }
  plan.require_affordable();
  if (ledger) check_ledger(plan, *ledger);
}

bool confirm(const Plan& plan, const Ledger& ledger) {
  write_standard_error(
      plan.to_table({.style = report_style_of_standard_error(), .ledger = ledger.balance()}) + "\n");
  if (plan.epsilon() == 0) return ask("Release?");
  const PrivacyMeasure measure = plan.specification().budget.measure;
  const PrivacyAmount left = ledger.balance().remaining;
  return ask(
      "Release, and debit " + in_words(measure, plan.cost()) + " from " +
      quoted_path(ledger.path().string()) + " (" +
      (measure == PrivacyMeasure::pure ? short_number_down(left.value) : in_words_down(measure, left)) +
      " remaining)?");
}

// Where the rows, or what became of them elsewhere, are: an option, or else what the declaration says.
NamedFile data_of(const ReleaseArguments& arguments, const Specification& specification,
                  const Ledger& ledger) {
  if (!arguments.aggregates.empty()) return {"--aggregates", arguments.aggregates};
  if (!arguments.states.empty()) return {"--states", arguments.states};
  if (arguments.postgresql.connection) return {"--postgres", ""};  // no file
  if (!arguments.data.empty()) return {"--data", arguments.data};
  const std::filesystem::path declared = declared_path(specification, ledger);
  if (!declared.empty()) return {"[data] path", declared};
  throw Error(ErrorCode::invalid_argument, "--data",
              "--data: is missing, and the declaration of " + quoted_path(ledger.path().string()) +
                  " has no path; name the file, --data FILE");
}

std::string file_content(const std::filesystem::path& path) {
  // Devices and pipes may have no end.
  std::error_code error;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, error)) file.open(path, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) {
    throw Error(ErrorCode::io, "--states",
                "--states: " + quoted_path(path.string()) +
                    " is no file that can be read; name what snapdp fold wrote, or a folder of nothing else");
  }
  return content;
}

// The files of a folder, or the one file.
std::vector<std::string> parts_in(const std::filesystem::path& path) {
  std::vector<std::string> parts;
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {file_content(path)};
  // Whatever else lies there is refused rather than passed over: it may be a part.
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    parts.push_back(file_content(entry->path()));
  if (error)
    throw Error(ErrorCode::io, "--states", "--states: " + quoted_path(path.string()) + " cannot be read");
  return parts;
}

// What folds: the rows themselves, or what has been folded elsewhere.
OpenSource source_of(const ReleaseArguments& arguments, const Specification& specification,
                     const NamedFile& data) {
  if (!arguments.aggregates.empty()) {
    return [&](const Declaration&) {
      FileCells cells = read_cells({.path = arguments.aggregates});
      return open_sql_result({std::move(cells.columns), std::move(cells.rows)}, columns_of(specification));
    };
  }
  if (!arguments.states.empty()) {
    return
        [&](const Declaration&) { return open_parts(parts_in(arguments.states), columns_of(specification)); };
  }
  if (arguments.postgresql.connection) return open_postgresql(arguments.postgresql);
  return open_declared(data.path);
}

Files files_of(const ReleaseArguments& arguments, const NamedFile& data) {
  std::vector<NamedFile> written = arguments.files.written();
  written.push_back({"--output", arguments.output});
  return {.read = {{"SPEC", arguments.specification}, data},
          .ledgers = {{"--ledger", arguments.ledger}},
          .written = std::move(written)};
}

// `hold` is filled before anything is paid.
Released run_release(const ReleaseArguments& arguments, const Specification& specification, Ledger& ledger,
                     std::optional<SignalHold>& hold) {
  const NamedFile data = data_of(arguments, specification, ledger);
  check_distinct(files_of(arguments, data));
  ProgressLine progress;
  ReleaseOptions options;
  options.progress = [&](double percent) { progress.update(percent); };
  if (!arguments.yes) options.confirm = [&](const Plan& plan) { return confirm(plan, ledger); };
  options.before_debit = [&] { hold.emplace(); };
  options.label = arguments.label;
  return release(specification, ledger, source_of(arguments, specification, data), options);
}

void run_dry(const ReleaseArguments& arguments) {
  if (arguments.files.any()) {
    throw Error(ErrorCode::invalid_argument, "--dry-run",
                "--dry-run: makes no report, so there is none to write; remove --html, --csv and --markdown");
  }
  const Ledger ledger = Ledger::open(arguments.ledger);
  const Specification specification = Specification::read(arguments.specification, Declaration::of(ledger));
  const NamedFile data = data_of(arguments, specification, ledger);
  check_distinct(files_of(arguments, data));
  const Plan plan = [&] {
    ProgressLine progress;
    ReleaseOptions options;
    options.progress = [&](double percent) { progress.update(percent); };
    options.label = arguments.label;
    return dry_run(specification, ledger, source_of(arguments, specification, data), options);
  }();
  const PlanView view{.style = report_style_of_standard_output(), .ledger = ledger.balance()};
  write_standard_output(arguments.json ? plan.to_json() : plan.to_table(view));
  write_standard_error("snapdp: a dry run: everything up to the debit went well; nothing was spent\n");
}

// As a table for standard output or, without marks, for a file; or as JSON.
std::string printed(const Released& released, const ReportProvenance& provenance,
                    const ReleaseArguments& arguments) {
  if (arguments.json) return released.report.json();
  if (arguments.output.empty()) return table_of(released.report, provenance, arguments.files.digits);
  return released.report.to_table({.all_digits = arguments.files.digits == "all"}, provenance);
}

void print(const Released& released, const ReportProvenance& provenance, const ReleaseArguments& arguments) {
  const std::string text = printed(released, provenance, arguments);
  if (arguments.output.empty()) {
    write_standard_output(text);
  } else {
    write_file(arguments.output, text, Readers::owner);
  }
  write_report_files(released.report, provenance, arguments.files);
}

std::string how_to_print_again(const std::string& release, const ReleaseArguments& arguments) {
  return "release " + release +
         " is paid for and kept: print it again, free of charge, with\n  snapdp ledger show " +
         shell_word(arguments.ledger) + " --release " + release;
}

// The statistics are paid for: whatever fails here, say where they still are.
[[noreturn]] void fail_to_print(const Released& released, const ReleaseArguments& arguments,
                                const std::string& why) {
  if (!released.release) throw Error(ErrorCode::io, "output", why);
  const std::string release = std::to_string(*released.release);
  if (released.not_stored.empty())
    throw Error(ErrorCode::io, "output", why + "; " + how_to_print_again(release, arguments));
  throw Error(ErrorCode::io, "output",
              why + "; release " + release +
                  " is paid for, and the ledger could not keep its report either: " + released.not_stored);
}

void show(const Released& released, const ReportProvenance& provenance, const ReleaseArguments& arguments) {
  try {
    print(released, provenance, arguments);
  } catch (const Error& error) {
    fail_to_print(released, arguments, error.what());
  } catch (const std::exception&) {
    fail_to_print(released, arguments, "the report could not be printed: too little memory is left");
  }
  if (!released.not_stored.empty()) {
    throw Error(
        ErrorCode::io, "ledger",
        "the report is printed but could not be kept in the ledger, so save it now: " + released.not_stored);
  }
  if (!arguments.output.empty())
    write_standard_error("snapdp: wrote " + quoted_path(arguments.output) + "\n");
}

// The ledger must be no other file of the run, and this is said before it is taken for none. Where the data lie is then
// known only if the specification itself says so.
void check_ledger_is_distinct(const ReleaseArguments& arguments) {
  NamedFile data{"--data", arguments.data};
  if (arguments.data.empty()) {
    try {
      data = {"[data] path", Specification::read(arguments.specification).stated_path};
    } catch (const Error&) {
      // What is wrong with it is told when it is read under the ledger's declaration.
    }
  }
  check_distinct(files_of(arguments, data));
}

void release_and_show(const ReleaseArguments& arguments) {
  if (!arguments.yes && !arguments.dry_run && !can_ask()) {
    throw Error(ErrorCode::invalid_argument, "--yes",
                "--yes: is required where nobody can be asked (no terminal), because a release "
                "spends budget; look at snapdp plan first");
  }
  if (arguments.output.empty()) {
    check_standard_output();
  } else {
    check_writable(arguments.output);
  }
  check_writable(arguments.files);
  check_ledger_is_distinct(arguments);
  if (arguments.dry_run) return run_dry(arguments);
  Ledger ledger = Ledger::open(arguments.ledger);
  const Specification specification = Specification::read(arguments.specification, Declaration::of(ledger));
  std::optional<SignalHold> hold;
  const Released released = run_release(arguments, specification, ledger, hold);
  const ReportProvenance provenance =
      released.release ? provenance_of(ledger, *released.release) : ReportProvenance{};
  if (released.not_stored.empty()) {
    // Kept: whoever wants the program to end may have it.
    if (hold && hold->caught() && released.release) {
      write_standard_error("snapdp: interrupted; " +
                           how_to_print_again(std::to_string(*released.release), arguments) + "\n");
    }
    hold.reset();
  }
  show(released, provenance, arguments);
  if (released.reprinted) {
    write_standard_error("snapdp: release " + std::to_string(*released.release) +
                         " bears this label and is printed again; nothing was read and nothing spent\n");
  }
}

}  // namespace

void add_plan(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command =
      tool.add_subcommand("plan", "Show what each statistic costs and how accurate it will be.");
  add_question(*command, arguments->question);
  command->add_flag("--utility", arguments->utility,
                    "Also the noise and bias of each number, and what other choices would give");
  command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  command
      ->add_option("--html", arguments->html,
                   "Write the plan there as a page instead, one file without scripts")
      ->type_name("FILE")
      ->excludes("--json");
  commands[command] = {[arguments] { show_plan(*arguments); },
                       "  snapdp plan people.toml\n"
                       "  snapdp plan question.toml --ledger people.ledger\n"
                       "  snapdp plan people.toml --ledger people.ledger --html plan.html\n"
                       "  snapdp plan people.toml --json | jq '.statistics[].accuracy'\n",
                       [arguments] { return files_of(*arguments); }};
  command->footer("Nothing is spent and no data file is opened. docs/specification.md describes SPEC.");
}

void add_explain(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command =
      tool.add_subcommand("explain", "Explain each statistic as its chain of steps, distances and losses.");
  add_question(*command, arguments->question);
  commands[command] = {
      [arguments] { write_standard_output(Plan(read_question(arguments->question)).explanation()); },
      "  snapdp explain people.toml\n", [arguments] { return files_of(*arguments); }};
  command->footer(
      "Nothing is spent and no data file is opened. Every step has a written proof, proofs/*.md.");
}

void add_release(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<ReleaseArguments>();
  CLI::App* command = tool.add_subcommand("release", "Release the statistics of a specification.");
  command->add_option("SPEC", arguments->specification, "The specification, a TOML file")->required();
  command->add_option("--ledger", arguments->ledger, "The ledger that pays (snapdp ledger create)")
      ->type_name("FILE")
      ->required();
  command->add_option("--data", arguments->data, "Where the data lie now, instead of the declaration's path")
      ->type_name("FILE");
  command
      ->add_option("--aggregates", arguments->aggregates,
                   "Instead of rows: what the query of snapdp pushdown gave, CSV with a header or Parquet")
      ->type_name("FILE")
      ->excludes("--data");
  command
      ->add_option("--states", arguments->states,
                   "Instead of rows: what snapdp fold made of all their parts, one file or a folder of them")
      ->type_name("PATH")
      ->excludes("--data")
      ->excludes("--aggregates");
  add_postgresql(*command, arguments->postgresql);
  for (const char* other : {"--data", "--aggregates", "--states"})
    command->get_option("--postgres")->excludes(other);
  command->add_flag("--json", arguments->json, "Write JSON instead of a table");
  command
      ->add_option("--output", arguments->output,
                   "Write there, at once and with mode 0600, not to standard output")
      ->type_name("FILE");
  command
      ->add_option(
          "--label", arguments->label,
          "A name for this release. Run again with the same name and SPEC, it is printed again, free "
          "of charge")
      ->type_name("NAME");
  command
      ->add_flag("--dry-run", arguments->dry_run,
                 "Do all that can be done before the debit, and print the plan; nothing is spent")
      ->excludes("--output");
  add_report_files(*command, arguments->files);
  add_digits(*command, arguments->files.digits);
  command->add_flag("--yes", arguments->yes, "Do not ask; required without a terminal");
  commands[command] = {
      [arguments] { release_and_show(*arguments); },
      "  snapdp release people.toml --ledger people.ledger\n"
      "  snapdp release people.toml --ledger people.ledger --yes --json --output report.json\n"
      "  snapdp release people.toml --ledger people.ledger --html report.html --csv values.csv\n"
      "  snapdp release people.toml --ledger people.ledger --data people-2024.parquet\n"
      "  snapdp release people.toml --ledger people.ledger --aggregates result.csv\n"
      "  snapdp release people.toml --ledger people.ledger --states states\n"
      "  snapdp release people.toml --ledger people.ledger --postgres service=hr --table hr.people\n"
      "  snapdp release people.toml --ledger people.ledger --dry-run\n"
      "  snapdp release people.toml --ledger people.ledger --yes --label 2026-Q4\n",
      [arguments] {
        return files_of(*arguments, {"--data", arguments->data});
      }};
  command->footer(
      "The debit is on disk before the first random bit is drawn and is never refunded. The report is kept "
      "in the ledger\n"
      "before it is printed: snapdp report FILE --release ID prints it again.");
}

}  // namespace snapdp::cli
