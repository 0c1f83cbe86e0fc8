#include "foreign_sampler.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "release/shared/suggestion.h"
#include "snapdp/error.h"
#include "snapdp/numeric/rational.h"

extern char** environ;

namespace snapdp::cli {

using namespace release_internal;

namespace {

[[noreturn]] void fail(ErrorCode code, const std::string& what) {
  throw Error(code, "--command", "--command: " + what);
}
[[noreturn]] void fail_to_start(int error) {
  fail(ErrorCode::io, std::string("cannot be started: ") + std::strerror(error));
}

class End {
 public:
  End() = default;
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  ~End() { close(); }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  void set(int descriptor) { descriptor_ = descriptor; }
  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

struct Pipe {
  End reader;
  End writer;
  Pipe() {
    std::array<int, 2> ends = {};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail_to_start(errno);
    reader.set(ends[0]);
    writer.set(ends[1]);
  }
};

// The command, in a process group of its own, so that what it starts ends with it.
class Process {
 public:
  explicit Process(const std::string& command) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&actions, questions_.reader.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, answers_.writer.get(), STDOUT_FILENO);
    // The tool ignores SIGPIPE; programs expect not to.
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGPIPE);
    ::sigaddset(&signals, SIGXFSZ);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::string shell = "sh";
    std::string option = "-c";
    std::string text = command;
    std::array<char*, 4> arguments = {shell.data(), option.data(), text.data(), nullptr};
    const int error = ::posix_spawn(&child_, "/bin/sh", &actions, &attributes, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) {
      child_ = 0;
      fail_to_start(error);
    }
    questions_.reader.close();
    answers_.writer.close();
    for (const int end : {questions_.writer.get(), answers_.reader.get()}) ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (child_ == 0) return;
    ::kill(-child_, SIGKILL);
    wait(0);
  }

  End& questions() { return questions_.writer; }
  End& answers() { return answers_.reader; }

  // How it ended; nothing when it has not after `patience`.
  std::optional<int> status_within(std::chrono::seconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
      if (const std::optional<int> status = wait(WNOHANG)) return status;
      if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  std::optional<int> wait(int options) {
    int status = 0;
    pid_t ended = 0;
    do {
      ended = ::waitpid(child_, &status, options);
    } while (ended < 0 && errno == EINTR);
    if (ended == 0) return std::nullopt;
    child_ = 0;
    return status;
  }

  Pipe questions_;
  Pipe answers_;
  pid_t child_ = 0;
};

std::string ending(const std::optional<int>& status) {
  if (!status) return "closed its output";
  if (WIFSIGNALED(*status)) return "was ended by signal " + std::to_string(WTERMSIG(*status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(*status));
}

// What was answered may be long or odd.
std::string shown(std::string_view line) {
  constexpr std::size_t most = 40;
  return quoted_text(std::string(line.substr(0, most)) + (line.size() > most ? "..." : ""));
}

double number_in(std::string_view line, std::size_t index) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error == std::errc() && end == line.data() + line.size() && !std::isnan(value)) return value;
  try {
    // Also beyond the range of doubles, hexadecimal, or a fraction.
    return to_double_nearest(parse_rational(line, "--command"));
  } catch (const Error&) {
    fail(ErrorCode::bad_data, "answered line " + std::to_string(index + 1) + " with " + shown(line) +
                                  "; every line must be one number");
  }
}

// A line may be as long as this; a program that prints no line ends is found out.
constexpr std::size_t longest_line = 4096;

class Conversation {
 public:
  Conversation(Process& process, std::span<const double> questions, std::chrono::seconds patience)
      : process_(process), questions_(questions), patience_(patience) {
    answers_.reserve(questions.size());
  }

  std::vector<double> run() {
    while (process_.answers().is_open()) {
      if (process_.questions().is_open() && pending().empty()) process_.questions().close();
      std::array<pollfd, 2> ends = {pollfd{process_.answers().get(), POLLIN, 0},
                                    pollfd{process_.questions().get(), POLLOUT, 0}};
      const int ready =
          ::poll(ends.data(), ends.size(), static_cast<int>(std::chrono::milliseconds(patience_).count()));
      if (ready < 0 && errno != EINTR)
        fail(ErrorCode::io, std::string("cannot be read: ") + std::strerror(errno));
      if (ready == 0) give_up();
      if (ready > 0 && ends[0].revents != 0) read_some();
      if (ready > 0 && ends[1].revents != 0) write_some();
    }
    process_.questions().close();
    if (!line_.empty()) answer(line_);  // the last line without its end
    check_ending();
    return std::move(answers_);
  }

 private:
  [[noreturn]] void give_up() {
    fail(ErrorCode::io,
         "is silent for " + std::to_string(patience_.count()) + " s after " + progress() +
             "; it must answer each line it reads, and end when its input ends. Raise --timeout if it "
             "is only slow");
  }
  std::string progress() const {
    return std::to_string(answers_.size()) + " of " + std::to_string(questions_.size()) + " answers";
  }

  // The part of the questions' text that has not been written.
  std::string_view pending() {
    if (written_ == text_.size()) {
      constexpr std::size_t enough = std::size_t{1} << 16;
      text_.clear();
      written_ = 0;
      while (asked_ < questions_.size() && text_.size() < enough)
        text_ += to_string(questions_[asked_++]) + "\n";
    }
    return std::string_view(text_).substr(written_);
  }

  void write_some() {
    const std::string_view part = pending();
    const ssize_t count = ::write(process_.questions().get(), part.data(), part.size());
    if (count > 0) written_ += static_cast<std::size_t>(count);
    // It reads no further: what it has answered shows whether that is a fault.
    if (count < 0 && errno != EAGAIN && errno != EINTR) process_.questions().close();
  }

  void read_some() {
    std::array<char, 1 << 16> buffer;
    const ssize_t count = ::read(process_.answers().get(), buffer.data(), buffer.size());
    if (count == 0) process_.answers().close();
    if (count < 0 && errno != EAGAIN && errno != EINTR) {
      fail(ErrorCode::io, std::string("cannot be read: ") + std::strerror(errno));
    }
    std::string_view text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      line_ += text.substr(0, end);
      text.remove_prefix(end + 1);
      answer(line_);
      line_.clear();
    }
    line_ += text;
    if (line_.size() > longest_line) answer(line_);
  }

  void answer(std::string_view line) {
    if (answers_.size() == questions_.size()) {
      fail(ErrorCode::bad_data, "answered more than the " + std::to_string(questions_.size()) +
                                    " lines that it was asked; it must answer every line with one number");
    }
    answers_.push_back(number_in(line, answers_.size()));
  }

  void check_ending() {
    const std::optional<int> status = process_.status_within(patience_);
    if (answers_.size() < questions_.size()) {
      fail(ErrorCode::io,
           ending(status) + " after " + progress() + "; it must answer every line that it reads");
    }
    if (!status) give_up();
    if (*status != 0)
      fail(ErrorCode::io, ending(status) + " after all answers; its answers cannot be trusted");
  }

  Process& process_;
  std::span<const double> questions_;
  std::chrono::seconds patience_;
  std::size_t asked_ = 0;
  std::string text_;
  std::size_t written_ = 0;
  std::string line_;
  std::vector<double> answers_;
};

}  // namespace

std::vector<double> foreign_answers(const std::string& command, std::span<const double> questions,
                                    std::chrono::seconds patience) {
  Process process(command);
  return Conversation(process, questions, patience).run();
}

}  // namespace snapdp::cli
