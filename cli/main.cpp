// snapdp: the command-line tool. docs/cli.md is its manual.
#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <span>

#include "arguments.h"
#include "commands.h"
#include "files.h"
#include "output.h"
#include "signals.h"
#include "snapdp/error.h"
#include "snapdp/text.h"
#include "snapdp/version.h"

namespace snapdp::cli {
namespace {

enum ExitCode { ok = 0, usage = 2, refused = 3, bad_data = 4, io = 5 };

}  // namespace

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::mismatch:
      return usage;
    case ErrorCode::budget_refused:
      return refused;
    case ErrorCode::bad_data:
      return bad_data;
    case ErrorCode::io:
      break;
  }
  return io;
}

namespace {

int complain(const std::string& message, int code) {
  const bool color = style_of_standard_error().color;
  write_standard_error(std::string(color ? "\x1b[31m" : "") + "snapdp: error: " + (color ? "\x1b[0m" : "") +
                       shown_lines(message) + "\n");
  return code;
}

// Examples first: they answer most questions.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(const Commands& commands) : commands_(commands) {}

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const override {
    const auto command = commands_.find(app);
    std::string text = app->get_description() + "\n";
    if (command != commands_.end()) text += "\nExamples:\n" + command->second.examples;
    return text + "\n" + make_usage(app, full_name(app)) + make_positionals(app) + make_groups(app, mode) +
           make_subcommands(app, mode) + "\n" + app->get_footer() + (app->get_footer().empty() ? "" : "\n");
  }

 private:
  const Commands& commands_;
};

int run(int argc, char** argv) {
  CLI::App tool(
      "Differentially private statistics of a data file: see what they cost, release them, keep the ledger.",
      "snapdp");
  Commands commands;
  commands[&tool].examples =
      "  snapdp init people.csv                                   a first declaration and specification\n"
      "  snapdp plan people.toml                                  sensitivity, noise and accuracy; opens no "
      "data\n"
      "  snapdp ledger create people.ledger people.toml --epsilon 2\n"
      "  snapdp release people.toml --ledger people.ledger        asks, debits the ledger, prints the "
      "statistics\n"
      "  snapdp report people.ledger --release 1 --html report.html\n";
  tool.set_help_flag("-h,--help", "Print this help");
  tool.set_version_flag("--version", "snapdp " + std::string(version()), "Print the version");
  tool.require_subcommand(1);
  tool.footer(
      "Exit codes: 0 done, 1 a claim is refuted, 2 usage or specification, 3 budget or ledger "
      "refused,\n4 bad "
      "data, 5 input or output failed.");
  tool.formatter(std::make_shared<HelpFormatter>(commands));
  add_init(tool, commands);
  add_check(tool, commands);
  add_plan(tool, commands);
  add_explain(tool, commands);
  add_release(tool, commands);
  add_pushdown(tool, commands);
  add_fold(tool, commands);
  add_report(tool, commands);
  add_ledger(tool, commands);
  add_compose(tool, commands);
  add_accuracy(tool, commands);
  add_law(tool, commands);
  add_bias(tool, commands);
  add_bound(tool, commands);
  add_certify(tool, commands);
  add_plot(tool, commands);
  add_trace(tool, commands);
  add_audit(tool, commands);
  add_selection(tool, commands);
  add_select_top(tool, commands);
  add_ui(tool, commands);
  if (argc <= 1) {
    write_standard_error(tool.help());
    return usage;
  }
  check_words(tool, std::span<const char* const>(argv + 1, static_cast<std::size_t>(argc) - 1));
  try {
    tool.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    write_standard_output(deepest(&tool)->help());
    return ok;
  } catch (const CLI::CallForVersion&) {
    write_standard_output(tool.version() + "\n");
    return ok;
  } catch (const CLI::ParseError& error) {
    return complain(explain(tool, error), usage);
  }
  check_repetitions(tool);
  const Command& command = commands.at(deepest(&tool));
  if (command.files) {
    const Files files = command.files();
    check_distinct(files);
    check_outputs(files);
  }
  try {
    command.run();
  } catch (const ExitWith& answer) {
    return answer.exit_code;
  }
  return ok;
}

}  // namespace
}  // namespace snapdp::cli

int main(int argc, char** argv) {
  snapdp::cli::ignore_signals_of_writing();
  try {
    return snapdp::cli::run(argc, argv);
  } catch (const snapdp::Error& error) {
    return snapdp::cli::complain(error.what(), snapdp::cli::exit_code(error.code()));
  } catch (const std::bad_alloc&) {
    return snapdp::cli::complain("out of memory", snapdp::cli::io);
  } catch (const std::exception&) {
    // What other libraries say may quote data.
    return snapdp::cli::complain("an unexpected failure inside the program", snapdp::cli::io);
  }
}
