// Runs the tool in a folder of its own, as a script would: output to files, no terminal.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "release/replace.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

using Json = nlohmann::json;

struct Outcome {
  int code = -1;  // the exit code; -1 after a signal
  std::string out;
  std::string error;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

class ToolTest : public testing::Test {
 protected:
  ToolTest() {
    std::string pattern = (std::filesystem::path(testing::TempDir()) / "snapdp_cli_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
  }
  ~ToolTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream file(path(name), std::ios::binary);
    file << text;
  }

  // The process id of the tool, started in the folder. `out` receives standard output: a file of the folder or, when it
  // starts with "/", any file.
  pid_t start(std::vector<std::string> arguments, const std::string& out, const std::string& error) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    const int input = ::open("/dev/null", O_RDONLY);
    const int output = ::open(path(out).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int messages = ::open(path(error).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (::chdir(folder_.c_str()) != 0 || ::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 ||
        ::dup2(messages, 2) < 0) {
      ::_exit(127);
    }
    execute(std::move(arguments));
  }

  [[noreturn]] static void execute(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), SNAPDP_TOOL);
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    ::execv(SNAPDP_TOOL, pointers.data());
    ::_exit(127);
  }

  static int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
      if (errno != EINTR) return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  Outcome run(std::vector<std::string> arguments, const std::string& out = "out") const {
    Outcome outcome;
    outcome.code = wait_for(start(std::move(arguments), out, "error"));
    if (out == "out") outcome.out = read_text(path(out));
    outcome.error = read_text(path("error"));
    return outcome;
  }

  // The tool on a terminal whose user types `typed`: what the terminal shows, and the exit code.
  Outcome on_terminal(std::vector<std::string> arguments, const std::string& typed) const {
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
      if (::chdir(path("").c_str()) != 0) ::_exit(127);
      ::setenv("TERM", "xterm", 1);
      execute(std::move(arguments));
    }
    if (::write(terminal, typed.data(), typed.size()) != static_cast<ssize_t>(typed.size())) ADD_FAILURE();
    Outcome outcome;
    char buffer[4096];
    for (ssize_t count = 0; (count = ::read(terminal, buffer, sizeof buffer)) > 0;) {
      outcome.out.append(buffer, static_cast<std::size_t>(count));
    }
    ::close(terminal);
    outcome.code = wait_for(child);
    return outcome;
  }

  // Runs that must succeed.
  std::string succeed(std::vector<std::string> arguments) const {
    const std::string command = arguments.at(0);
    const Outcome outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.error;
    return outcome.out;
  }
  Json json_of(std::vector<std::string> arguments) const {
    const std::string text = succeed(std::move(arguments));
    return text.empty() ? Json() : Json::parse(text);
  }

  // people.ledger, for what people.toml declares.
  void create_ledger(const std::string& epsilon = "1000000") const {
    succeed({"ledger", "create", "people.ledger", "people.toml", "--epsilon", epsilon});
  }
  Outcome release(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"release", "people.toml", "--ledger", "people.ledger", "--yes"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(std::move(arguments));
  }
  std::string ledger() const { return succeed({"ledger", "show", "people.ledger", "--json"}); }

 private:
  std::filesystem::path folder_;
};

}  // namespace snapdp
