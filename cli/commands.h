// The subcommands. Each add_ function declares one with its options; running it throws Error on failure.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>

#include "files.h"
#include "snapdp/error.h"

namespace snapdp::cli {

// A subcommand's action, the examples that its help begins with, and the files that its arguments name, of which none is
// written that is another one too: that is checked before it runs.
struct Command {
  std::function<void()> run;
  std::string examples;
  std::function<Files()> files = {};
};

using Commands = std::map<const CLI::App*, Command>;

// What the tool exits with after an error.
int exit_code(ErrorCode code);

// Thrown by a command that has printed its answer, for an exit code that carries it too.
struct ExitWith {
  int exit_code;
};

void add_init(CLI::App& tool, Commands& commands);
void add_ui(CLI::App& tool, Commands& commands);
void add_check(CLI::App& tool, Commands& commands);
void add_plan(CLI::App& tool, Commands& commands);
void add_explain(CLI::App& tool, Commands& commands);
void add_release(CLI::App& tool, Commands& commands);
void add_pushdown(CLI::App& tool, Commands& commands);
void add_fold(CLI::App& tool, Commands& commands);
void add_report(CLI::App& tool, Commands& commands);
void add_ledger(CLI::App& tool, Commands& commands);
void add_compose(CLI::App& tool, Commands& commands);
void add_accuracy(CLI::App& tool, Commands& commands);
void add_law(CLI::App& tool, Commands& commands);
void add_bias(CLI::App& tool, Commands& commands);
void add_bound(CLI::App& tool, Commands& commands);
void add_certify(CLI::App& tool, Commands& commands);
void add_plot(CLI::App& tool, Commands& commands);
void add_trace(CLI::App& tool, Commands& commands);
void add_audit(CLI::App& tool, Commands& commands);
void add_selection(CLI::App& tool, Commands& commands);
void add_select_top(CLI::App& tool, Commands& commands);

}  // namespace snapdp::cli
