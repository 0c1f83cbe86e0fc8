// snapdp report.
#include <memory>

#include "commands.h"
#include "output.h"
#include "report_files.h"
#include "snapdp/error.h"
#include "snapdp/privacy/ledger.h"
#include "snapdp/release/report.h"
#include "snapdp/text.h"

namespace snapdp::cli {
namespace {

struct ReportArguments {
  std::string ledger;
  std::int64_t release = 0;
  ReportFiles files;
};

void show_report(const ReportArguments& arguments) {
  const Ledger ledger = Ledger::open(arguments.ledger);
  const std::optional<std::string> text = ledger.report(arguments.release);
  const std::string option = "--release " + std::to_string(arguments.release);
  if (!text) {
    throw Error(ErrorCode::bad_data, "--release",
                option +
                    ": was debited, but the program ended before it had a report; nothing was shown, and "
                    "the debit stands");
  }
  const Report report = [&] {
    try {
      return Report::from_json(*text);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::bad_data) throw;
      throw Error(
          ErrorCode::bad_data, "--release",
          option +
              ": the ledger keeps a text that this version cannot show; print it as it is with: snapdp "
              "ledger show " +
              shell_word(arguments.ledger) + " " + option + " --json");
    }
  }();
  const ReportProvenance provenance = provenance_of(ledger, arguments.release);
  if (arguments.files.any()) {
    write_report_files(report, provenance, arguments.files);
  } else {
    write_standard_output(table_of(report, provenance, arguments.files.digits));
  }
}

}  // namespace

void add_report(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = tool.add_subcommand(
      "report", "Show a release again: as a table, a page, values or Markdown, free of charge.");
  command->add_option("LEDGER", arguments->ledger, "The ledger that paid for it")->required();
  command->add_option("--release", arguments->release, "Which release")->type_name("ID")->required();
  add_report_files(*command, arguments->files);
  command->add_option("--json", arguments->files.json, "Write the record there, to the letter as it is kept")
      ->type_name("FILE");
  add_digits(*command, arguments->files.digits);
  commands[command] = {
      [arguments] { show_report(*arguments); },
      "  snapdp report people.ledger --release 1\n"
      "  snapdp report people.ledger --release 1 --html report.html\n"
      "  snapdp report people.ledger --release 1 --csv values.csv --markdown report.md\n",
      [arguments] {
        return Files{.ledgers = {{"LEDGER", arguments->ledger}}, .written = arguments->files.written()};
      }};
  command->footer(
      "Without a file the table goes to standard output. Files are replaced at once and have mode 0600.");
}

}  // namespace snapdp::cli
