// snapdp check: whether a release would go through, and, for whoever holds the rows, what they hold.
#include <memory>
#include <optional>

#include "commands.h"
#include "data_file.h"
#include "output.h"
#include "release/shared/columns.h"
#include "snapdp/engines/duckdb/csv_inspection.h"
#include "snapdp/release/check.h"
#include "snapdp/release/release.h"

namespace snapdp::cli {

using namespace release_internal;

namespace {

struct CheckArguments {
  QuestionFiles question;
  std::string data;
  bool show_private = false;
  bool json = false;
};

// ---- Without reading a row -------------------------------------------------------------------------------------------

// One line for each thing that must be right.
class Readiness {
 public:
  explicit Readiness(const CheckArguments& arguments) : files_(arguments.question) {}

  void check() {
    std::optional<Ledger> ledger;
    if (!files_.ledger.empty()) step(files_.ledger, [&] { return open_ledger(ledger); });
    std::optional<Specification> specification;
    step(files_.specification, [&] { return read(specification, ledger); });
    std::optional<Plan> plan;
    if (specification) step("plan", [&] { return make_plan(plan, *specification); });
    if (plan) {
      step("certificate", [&] { return "a loss of at most " + short_number(plan->certificate().bound); });
      step("report", [&] { return keep(*plan); });
      step("budget of the run", [&] { return afford(*plan); });
      if (ledger) step("ledger", [&] { return pay(*plan, *ledger); });
    }
    if (specification) check_columns(*specification, ledger);
  }

  // Ends with the exit code of the first thing that is wrong.
  void conclude() const {
    write_standard_output(lines_ + "\n" +
                          (faults_ == 0 ? "Ready."
                                        : "Not ready: " + std::to_string(faults_) +
                                              (faults_ == 1 ? " thing" : " things") + " to mend.") +
                          " No row was read, nothing was spent.\n");
    if (faults_ > 0) throw ExitWith{code_};
  }

 private:
  template <typename Action>
  void step(const std::string& name, Action action) {
    try {
      line("\xe2\x9c\x93", name, action());
    } catch (const Error& error) {
      if (faults_++ == 0) code_ = exit_code(error.code());
      line("\xe2\x9c\x97", name, error.what());
    }
  }

  void line(const std::string& mark, const std::string& name, const std::string& text) {
    constexpr std::size_t width = 18;
    const std::string shown = shown_text(name);
    lines_ += mark + " " + shown + std::string(shown.size() < width ? width - shown.size() : 1, ' ') +
              shown_lines(text) + "\n";
  }

  std::string open_ledger(std::optional<Ledger>& ledger) const {
    ledger = Ledger::open(files_.ledger);
    const LedgerIdentity& identity = ledger->identity();
    return identity.dataset + ", " + to_string(identity.neighbors) +
           (identity.privacy_unit.empty() ? "" : ", unit " + identity.privacy_unit);
  }

  std::string read(std::optional<Specification>& specification, const std::optional<Ledger>& ledger) const {
    specification =
        ledger ? Specification::read(files_.specification, Declaration::of(*ledger)) : read_question(files_);
    const std::size_t count = specification->statistics.size();
    return std::to_string(count) + (count == 1 ? " statistic" : " statistics");
  }

  static std::string make_plan(std::optional<Plan>& plan, const Specification& specification) {
    plan.emplace(specification);
    return "every type, bound and edge is right";
  }

  static std::string afford(const Plan& plan) {
    plan.require_affordable();
    const PrivacyBudget& budget = plan.specification().budget;
    return in_words(budget.measure, plan.cost()) + " of " + short_number_down(budget.amount.value);
  }

  static std::string pay(const Plan& plan, const Ledger& ledger) {
    check_ledger(plan, ledger);
    return in_words(plan.specification().budget.measure, plan.cost()) + " of the " +
           short_number_down(ledger.balance().remaining.value) + " left";
  }

  void check_columns(const Specification& specification, const std::optional<Ledger>& ledger) {
    step("data", [&]() -> std::string {
      const std::filesystem::path path =
          ledger ? declared_path(specification, *ledger) : specification.data.path;
      if (path.empty()) return "the declaration has no path: not looked at";
      require_columns(specification, open_declared(path)(specification.data)->columns());
      return path.filename().string() + " has every column that is asked for in its header";
    });
  }

  static std::string keep(const Plan& plan) {
    if (plan.epsilon() > 0) static_cast<void>(Report::rehearse(plan));
    return "can be kept, whatever is drawn";
  }

  const QuestionFiles& files_;
  std::string lines_;
  int faults_ = 0;
  int code_ = 0;
};

// ---- Of the rows -----------------------------------------------------------------------------------------------------

std::vector<std::string> form_of(const DuckdbOptions& file) {
  std::vector<std::string> lines;
  CsvInspection form;
  try {
    form = inspect_csv(file);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) return lines;  // Parquet
    throw;
  }
  for (const std::string& hint : form.hints) lines.push_back(hint);
  if (form.malformed_rows == 0) return lines;
  lines.push_back(std::to_string(form.malformed_rows) +
                  (form.malformed_rows == 1 ? " malformed row, which counts as one"
                                            : " malformed rows, which count as rows") +
                  " of empty cells:");
  for (const CsvInspection::Row& row : form.malformed)
    lines.push_back("  line " + std::to_string(row.line) + " " + row.problem);
  if (form.malformed_rows > form.malformed.size()) lines.emplace_back("  ...");
  return lines;
}

void show_rows(const CheckArguments& arguments) {
  if (!arguments.show_private && !standard_output_is_terminal()) {
    throw Error(ErrorCode::invalid_argument, "--private",
                "--private: is required to write to a file or a pipe, because what the rows hold is not "
                "protected; give it if nobody else reads what is written");
  }
  const Plan plan(read_question(arguments.question));
  const DuckdbOptions file = declared_options(arguments.data, plan.specification().data);
  const std::vector<std::string> form = form_of(file);
  const DataCheck check = [&] {
    ProgressLine progress;
    return check_data(plan, *open_duckdb_source(file), [&](double percent) { progress.update(percent); });
  }();
  write_standard_output(arguments.json ? check.to_json(form) : check.to_text(form));
}

}  // namespace

void add_check(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<CheckArguments>();
  CLI::App* command = tool.add_subcommand(
      "check", "Check whether a release would go through; for the custodian's eyes, what the rows hold.");
  add_question(*command, arguments->question);
  CLI::Option* data =
      command
          ->add_option("--data", arguments->data,
                       "Read the rows of this file, and say what is not as it was declared: private, "
                       "not protected")
          ->type_name("FILE");
  command
      ->add_flag("--private", arguments->show_private,
                 "Write what the rows hold to a file or a pipe too: nobody else reads it")
      ->needs(data);
  command->add_flag("--json", arguments->json, "Print JSON instead of text")->needs(data);
  commands[command] = {[arguments] {
                         if (!arguments->data.empty()) return show_rows(*arguments);
                         Readiness readiness(*arguments);
                         readiness.check();
                         readiness.conclude();
                       },
                       "  snapdp check people.toml --ledger people.ledger\n"
                       "  snapdp check people.toml --data people.csv\n",
                       [arguments] {
                         Files files = files_of(arguments->question);
                         files.read.push_back({"--data", arguments->data});
                         return files;
                       }};
  command->footer(
      "Nothing is spent. Without --data no row is read, and what is printed may be shared. With --data every "
      "number\n"
      "is exact: look, mend the file or the declaration, and keep it to yourself.");
}

}  // namespace snapdp::cli
