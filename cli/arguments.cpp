#include "arguments.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "release/shared/suggestion.h"
#include "snapdp/error.h"

namespace snapdp::cli {

using namespace release_internal;

namespace {

// The options of the tool and of all its commands as they are typed, and whether a value follows.
using OptionNames = std::map<std::string, bool, std::less<>>;

void add_options(const CLI::App& app, OptionNames& names) {
  for (const CLI::Option* option : app.get_options()) {
    const bool takes_value = option->get_items_expected_max() > 0;
    for (const std::string& name : option->get_lnames()) names["--" + name] |= takes_value;
    for (const std::string& name : option->get_snames()) names["-" + name] |= takes_value;
  }
}

// Those of all commands.
OptionNames all_options(const CLI::App& app) {
  OptionNames names;
  add_options(app, names);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.merge(all_options(*command));
  return names;
}

// Those of the command that the words lead to, and of the ones above it: what takes a value in one command may be a flag in
// another.
OptionNames options_of(const CLI::App& tool, std::span<const char* const> words) {
  OptionNames names;
  add_options(tool, names);
  const CLI::App* app = &tool;
  for (const std::string_view word : words) {
    const std::vector<const CLI::App*> found =
        app->get_subcommands([word](const CLI::App* command) { return command->get_name() == word; });
    if (found.empty()) break;
    app = found.front();
    add_options(*app, names);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// "--data", or "SPEC" for what has no dashes.
std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
}

// The first option of a command that was given more than once, or null.
const CLI::Option* find_repeated(const CLI::App* app) {
  for (const CLI::Option* option : app->get_options()) {
    if (option->count() > 1) return option;
  }
  return nullptr;
}

std::string repeated(const CLI::Option& option) {
  return "is given " + std::to_string(option.count()) + " times; give it once";
}

}  // namespace

std::string full_name(const CLI::App* app) {
  return app->get_parent() == nullptr ? app->get_name()
                                      : full_name(app->get_parent()) + " " + app->get_name();
}

const CLI::App* deepest(const CLI::App* app) {
  for (;;) {
    const std::vector<CLI::App*> next = app->get_subcommands();
    if (next.empty()) return app;
    app = next.front();
  }
}

void check_words(const CLI::App& tool, std::span<const char* const> words) {
  const OptionNames all = all_options(tool);
  const OptionNames own = options_of(tool, words);
  std::string_view before;  // the option whose value this word is
  bool only_values = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string option = before.empty() ? "argument " + std::to_string(i + 1) : std::string(before);
    if (word.empty()) refuse(option, ": is empty; give a value, or leave it out");
    const std::string_view name = word.substr(0, word.find('='));
    const bool known = !only_values && all.contains(name);
    if (known && name.size() + 1 == word.size())
      refuse(std::string(name), ": is empty; give a value behind the =, or leave the option out");
    if (known && !before.empty()) {
      refuse(option, ": is followed by " + std::string(name) + " where its value belongs; give one (./" +
                         std::string(name) + " names a file that is called so)");
    }
    only_values = only_values || word == "--";
    const auto found = own.find(name);
    const bool takes_value = found != own.end() && found->second;
    before = known && name.size() == word.size() && takes_value ? word : std::string_view();
  }
}

void check_repetitions(const CLI::App& tool) {
  for (const CLI::App* app = &tool;;) {
    if (const CLI::Option* option = find_repeated(app)) refuse(name_of(*option), ": " + repeated(*option));
    const std::vector<CLI::App*> next = app->get_subcommands();
    if (next.empty()) return;
    app = next.front();
  }
}

void refuse(const std::string& option, const std::string& message) {
  throw Error(ErrorCode::invalid_argument, option, option + message);
}

std::string explain(const CLI::App& tool, const CLI::ParseError& error) {
  const CLI::App* app = deepest(&tool);
  const std::string help = "; see " + full_name(app) + " --help";
  const std::vector<std::string> extra = tool.remaining(true);
  if (!extra.empty()) {
    const std::string& word = extra.front();
    const std::vector<std::string> commands = subcommand_names(app);
    if (word.size() > 1 && word[0] == '-') {
      const std::string given = word.substr(0, word.find('='));
      return full_name(app) + ": unknown option " + quoted_text(given) +
             did_you_mean(given, option_names(app)) + help;
    }
    if (!commands.empty()) {
      return full_name(app) + ": unknown command " + quoted_text(word) + did_you_mean(word, commands) + help;
    }
    return full_name(app) + ": unexpected argument " + quoted_text(word) + help;
  }
  if (const CLI::Option* option = find_repeated(app))
    return full_name(app) + ": " + name_of(*option) + ": " + repeated(*option) + help;
  return full_name(app) + ": " + shown_text(error.what()) + help;
}

}  // namespace snapdp::cli
