// The words of a command line, whatever the command: what is wrong with them, and how to say so.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "snapdp/error.h"

namespace snapdp::cli {

// "snapdp ledger create".
std::string full_name(const CLI::App* app);

// The command that the arguments reached, for example `snapdp ledger`.
const CLI::App* deepest(const CLI::App* app);

// Before anything is parsed. Throws invalid_argument for an empty word and for --option= with nothing behind it, because
// an empty value would be taken for an option that was not given; and for an option whose value was forgotten, so that
// the next option is taken for it (--output --yes).
void check_words(const CLI::App& tool, std::span<const char* const> words);

// Throws invalid_argument: the option, then the message (": is missing", " = x: must be ...").
[[noreturn]] void refuse(const std::string& option, const std::string& message);

// Runs `action`; an error that it throws of the parameter `name`, and that begins with it, names `option` instead.
template <typename Action>
auto naming_option(const std::string& name, const std::string& option, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (error.parameter() != name || !message.starts_with(name)) throw;
    throw Error(error.code(), option, option + message.substr(name.size()));
  }
}

// After parsing. Throws invalid_argument for an option that was given twice: which of them is meant is not for the tool
// to guess.
void check_repetitions(const CLI::App& tool);

// What is wrong with the arguments: unknown words get a suggestion.
std::string explain(const CLI::App& tool, const CLI::ParseError& error);

}  // namespace snapdp::cli
