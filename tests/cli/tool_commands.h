// Every command of the tool with its options, as the tool's own help tells them, and for each a line that works: so that a
// test can try something on all options there are, those that are added later included.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/tool.h"

namespace snapdp {

struct ToolOption {
  std::string name;  // "--data"
  bool takes_value = false;
};

struct ToolCommand {
  std::vector<std::string> words;  // "ledger", "show"
  std::vector<ToolOption> options;
  std::vector<std::string> positionals;

  std::string name() const {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
  }
};

// What stands behind a command's words: its positionals in order, and options with their values.
struct WorkingLine {
  std::vector<std::string> positionals;
  std::vector<std::pair<std::string, std::optional<std::string>>> options;

  // With the option's value replaced, or the option added.
  WorkingLine with(const std::string& option, const std::string& value) const {
    WorkingLine line = *this;
    for (auto& [name, given] : line.options) {
      if (name != option) continue;
      given = value;
      return line;
    }
    line.options.emplace_back(option, value);
    return line;
  }
  std::vector<std::string> words_of(const ToolCommand& command) const {
    std::vector<std::string> words = command.words;
    words.insert(words.end(), positionals.begin(), positionals.end());
    for (const auto& [name, value] : options) {
      words.push_back(name);
      if (value) words.push_back(*value);
    }
    return words;
  }
};

class AllCommandsTest : public ToolTest {
 protected:
  AllCommandsTest() {
    write("people.csv", "age,income\n10,100\n20,200\n30,300\n40,400\n");
    write("people.toml",
          "[data]\npath = \"people.csv\"\ndataset = \"people\"\nneighbors = \"change-one\"\nsize = 4\n"
          "row_grid = \"auto\"\n"
          "[budget]\nepsilon = 1\n"
          "[[statistic]]\nname = \"mean_age\"\nkind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\n"
          "epsilon = \"0.25\"\n");
    create_ledger();
    succeed({"release", "people.toml", "--ledger", "people.ledger", "--yes"});
    std::istringstream vectors(read_text(std::string(SNAPDP_TEST_DATA) + "/snap_exact.csv"));
    std::string few;
    std::string line;
    for (int i = 0; i < 3 && std::getline(vectors, line); ++i) few += line + "\n";
    write("vectors.csv", few);
    collect({});
  }

  const std::vector<ToolCommand>& commands() const { return commands_; }

  // The line of a command that works on the files of this test; none for those that only hold others.
  static const WorkingLine& working_line(const ToolCommand& command) {
    static const std::map<std::string, WorkingLine> lines = {
        {"init",
         {{"people.csv"},
          {{"--declaration", "new.toml"}, {"--specification", "asked.toml"}, {"--yes", std::nullopt}}}},
        {"ui", {{"."}, {}}},
        {"check", {{"people.toml"}, {}}},
        {"plan", {{"people.toml"}, {}}},
        {"explain", {{"people.toml"}, {}}},
        {"release", {{"people.toml"}, {{"--ledger", "people.ledger"}, {"--yes", std::nullopt}}}},
        {"pushdown", {{"people.toml"}, {{"--dialect", "duckdb"}, {"--table", "people"}}}},
        {"fold", {{"people.toml"}, {{"--data", "people.csv"}, {"--output", "part.state"}}}},
        {"report", {{"people.ledger"}, {{"--release", "1"}}}},
        {"ledger create", {{"new.ledger", "people.toml"}, {{"--epsilon", "1"}}}},
        {"ledger show", {{"people.ledger"}, {}}},
        {"ledger anchor", {{"people.ledger"}, {}}},
        {"ledger verify", {{"people.ledger"}, {}}},
        {"compose", {{}, {{"--epsilons", "0.1x10"}, {"--delta", "1e-6"}}}},
        {"accuracy", {{}, {{"--epsilon", "1"}, {"--sensitivity", "1"}}}},
        {"law", {{}, {{"--epsilon", "1"}, {"--sensitivity", "1"}, {"--grid", "notes"}}}},
        {"bias", {{}, {{"--epsilon", "1"}, {"--sensitivity", "1"}}}},
        {"bound", {{}, {{"--epsilon", "1"}, {"--sensitivity", "1"}, {"--lower", "0"}, {"--upper", "8"}}}},
        {"certify", {{}, {{"--epsilon", "1"}, {"--sensitivity", "1"}}}},
        {"plot accuracy", {{}, {{"--output", "plot.svg"}, {"--epsilon", "1"}, {"--sensitivity", "1"}}}},
        {"plot bias", {{}, {{"--output", "plot.svg"}, {"--epsilon", "1"}, {"--sensitivity", "1"}}}},
        {"plot law", {{}, {{"--output", "plot.svg"}, {"--epsilon", "1"}, {"--sensitivity", "1"}}}},
        {"selection", {{}, {{"--epsilon", "1"}, {"--delta", "1e-5"}, {"--units", "3"}}}},
        {"select-top", {{}, {{"--epsilon", "1"}, {"--scores", "3,1,2"}}}},
        {"trace", {{}, {{"--vectors", "vectors.csv"}}}},
        {"audit",
         {{}, {{"--epsilon", "1"}, {"--sensitivity", "1"}, {"--values", "0,1"}, {"--samples", "100"}}}}};
    static const WorkingLine none;
    const auto found = lines.find(command.name());
    if (found != lines.end()) return found->second;
    ADD_FAILURE() << "no line that works is known for snapdp " << command.name() << "; add one";
    return none;
  }

  // The bytes of every file in the test's folder, but for what the tool printed.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(""))) {
      const std::string name = entry.path().lexically_relative(path("")).string();
      if (name == "out" || name == "error" || entry.is_directory()) continue;
      found[name] = entry.is_symlink() ? "-> " + std::filesystem::read_symlink(entry.path()).string()
                                       : read_text(entry.path());
    }
    return found;
  }

 private:
  // The commands below these words.
  void collect(const std::vector<std::string>& words) {
    std::vector<std::string> asked = words;
    asked.emplace_back("--help");
    std::istringstream help(succeed(asked));
    ToolCommand command{words, {}, {}};
    std::vector<std::string> below;
    std::string section;
    for (std::string line; std::getline(help, line);) {
      if (line.empty()) section.clear();
      if (line.size() < 3 || line[0] != ' ' || line[1] != ' ' || line[2] == ' ') {
        if (!line.empty() && line.back() == ':') section = line;
        continue;
      }
      std::istringstream left(line.substr(2, line.find("  ", 2) - 2));
      std::string names;
      std::string type;
      left >> names >> type;
      if (section == "Subcommands:") below.push_back(names);
      if (section == "Positionals:") command.positionals.push_back(names);
      if (section == "Options:") {
        // What a flag has behind its name is a list of other options, "Excludes: --delta".
        const bool takes_value = !type.empty() && type.back() != ':';
        command.options.push_back({names.substr(names.find("--")), takes_value});
      }
    }
    for (const std::string& name : below) {
      std::vector<std::string> next = words;
      next.push_back(name);
      collect(next);
    }
    if (below.empty()) commands_.push_back(command);
  }

  std::vector<ToolCommand> commands_;
};

}  // namespace snapdp
