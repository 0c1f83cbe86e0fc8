#include "output.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <utility>

#include "argument_file.h"
#include "privacy/shared/descriptor.h"
#include "snapdp/error.h"
#include "snapdp/text.h"

namespace snapdp::cli {

using privacy_internal::Descriptor;

namespace {

[[noreturn]] void fail(const std::string& what, int error) {
  throw Error(ErrorCode::io, "output", what + ": cannot be written: " + std::strerror(error));
}

// The error number, or 0.
int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return count == 0 ? EIO : errno;
    }
  }
  return 0;
}

// A file that is removed unless it was kept.
class Temporary {
 public:
  explicit Temporary(std::string path) : path_(std::move(path)), file_(::mkostemp(path_.data(), O_CLOEXEC)) {
    if (file_.get() < 0) path_.clear();
  }
  ~Temporary() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Descriptor& file() { return file_; }
  int rename_to(const std::filesystem::path& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) return errno;
    path_.clear();
    return 0;
  }

 private:
  std::string path_;
  Descriptor file_;
};

std::string shown(const std::filesystem::path& path) {
  return quoted_path(path.string());
}

std::filesystem::path folder_of(const std::filesystem::path& target) {
  return target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
}

// A pattern for mkostemp; renaming works within one folder.
std::string temporary_beside(const std::filesystem::path& target) {
  return target.string() + ".XXXXXX";
}

// The tool has one thread when it asks.
mode_t mode_by_umask() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  constexpr mode_t for_all = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  return for_all & ~mask;
}

TableStyle style_of(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool plain =
      (no_color != nullptr && *no_color != '\0') || terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
  return {.color = !plain && ::isatty(descriptor) == 1};
}

}  // namespace

void write_standard_output(std::string_view text) {
  if (const int error = write_all(STDOUT_FILENO, text)) fail("standard output", error);
}

void write_standard_error(std::string_view text) noexcept {
  write_all(STDERR_FILENO, text);
}

void check_standard_output() {
  if (::fcntl(STDOUT_FILENO, F_GETFD) < 0) fail("standard output", errno);
}

void check_writable(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) fail(shown(path), EISDIR);
  if (is_device(path)) return;
  // Asking for permission is not enough: a file system may refuse the file for reasons of its own.
  Temporary trial(temporary_beside(target_of(path)));
  if (trial.file().get() < 0) fail(shown(path), errno);
}

bool is_device(const std::filesystem::path& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

std::filesystem::path target_of(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, ignored);
  return target.empty() ? path : target;
}

void write_file(const std::filesystem::path& path, std::string_view text, Readers readers) {
  if (is_device(path)) {
    Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (device.get() < 0) fail(shown(path), errno);
    if (const int error = write_all(device.get(), text)) fail(shown(path), error);
    if (const int error = device.close()) fail(shown(path), error);
    return;
  }
  const std::filesystem::path target = target_of(path);
  Temporary temporary(temporary_beside(target));
  Descriptor& file = temporary.file();
  if (file.get() < 0) fail(shown(path), errno);
  if (readers == Readers::umask && ::fchmod(file.get(), mode_by_umask()) != 0) fail(shown(path), errno);
  if (const int error = write_all(file.get(), text)) fail(shown(path), error);
  if (::fsync(file.get()) != 0) fail(shown(path), errno);
  if (const int error = file.close()) fail(shown(path), error);
  if (const int error = temporary.rename_to(target)) fail(shown(path), error);
  const Descriptor folder(::open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) ::fsync(folder.get());
}

TableStyle style_of_standard_output() {
  return style_of(STDOUT_FILENO);
}
TableStyle style_of_standard_error() {
  return style_of(STDERR_FILENO);
}

ReportStyle report_style_of_standard_output() {
  ReportStyle style;
  style.color = style_of_standard_output().color;
  if (::isatty(STDOUT_FILENO) != 1) return style;
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  const bool utf8 = locale != nullptr && std::string_view(::nl_langinfo_l(CODESET, locale)) == "UTF-8";
  if (locale != nullptr) ::freelocale(locale);
  style.marks = utf8 ? ReportStyle::Marks::utf8 : ReportStyle::Marks::ascii;
  struct winsize size = {};
  constexpr std::size_t widest = 200;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = std::min<std::size_t>(size.ws_col, widest);
  return style;
}

bool standard_error_is_terminal() {
  return ::isatty(STDERR_FILENO) == 1;
}
bool can_ask() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

bool ask(const std::string& question) {
  write_standard_error(question + " [y/N] ");
  std::string answer;
  std::getline(std::cin, answer);
  write_standard_error("\n");
  return !answer.empty() && (answer[0] == 'y' || answer[0] == 'Y');
}

std::string ask_line(const std::string& question) {
  write_standard_error(question + " ");
  std::string answer;
  if (!std::getline(std::cin, answer))
    throw Error(ErrorCode::invalid_argument, "standard input",
                "the input ended before all questions; nothing was written");
  return std::string(trimmed(answer));
}

}  // namespace snapdp::cli
