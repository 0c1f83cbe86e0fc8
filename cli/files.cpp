#include "files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <utility>

#include "snapdp/error.h"
#include "snapdp/privacy/ledger.h"
#include "snapdp/text.h"

namespace snapdp::cli {
namespace {

// What SQLite may write beside a ledger.
constexpr std::array<const char*, 3> companions = {"-journal", "-wal", "-shm"};

enum class Role { written, ledger, read };

// One file of the run. A ledger and its journals are one group.
struct Member {
  NamedFile file;
  Role role;
  std::size_t group;
  std::string shown;
};

bool is_stream(const struct stat& status) {
  return S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
}

std::optional<struct stat> status_of(const std::filesystem::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

bool same_file(const struct stat& first, const struct stat& second) {
  return !is_stream(first) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// With every link on the way resolved; the file itself need not exist.
std::filesystem::path resolved(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path full = std::filesystem::absolute(path, error);
  std::filesystem::path result = std::filesystem::weakly_canonical(full, error);
  return error ? full : result;
}

bool same_file(const std::filesystem::path& first, const std::filesystem::path& second) {
  const auto [one, two] = std::pair(status_of(first), status_of(second));
  if (one && two) return same_file(*one, *two);
  return !one && !two && resolved(first) == resolved(second);
}

std::string shown(const NamedFile& file) {
  return file.name + " = " + quoted_path(file.path.string());
}

[[noreturn]] void refuse(const NamedFile& file, const std::string& rule) {
  throw Error(ErrorCode::invalid_argument, file.name, shown(file) + ": " + rule);
}

std::vector<Member> members_of(const Files& files) {
  std::vector<Member> members;
  std::size_t group = 0;
  const auto add = [&](const std::vector<NamedFile>& list, Role role) {
    for (const NamedFile& file : list) {
      if (file.path.empty()) continue;
      members.push_back({file, role, ++group, shown(file)});
      if (role != Role::ledger) continue;
      for (const char* suffix : companions) {
        const NamedFile journal = {file.name, file.path.string() + suffix};
        members.push_back({journal, role, group,
                           quoted_path(journal.path.string()) + ", which belongs to " + shown(file) + ","});
      }
    }
  };
  add(files.written, Role::written);
  add(files.ledgers, Role::ledger);
  add(files.read, Role::read);
  return members;
}

void check_standard_output(const std::vector<Member>& members) {
  struct stat stream = {};
  if (::fstat(STDOUT_FILENO, &stream) != 0) return;
  for (const Member& member : members) {
    if (member.role == Role::written) continue;  // --output /dev/stdout
    const std::optional<struct stat> status = status_of(member.file.path);
    if (!status || !same_file(stream, *status)) continue;
    throw Error(ErrorCode::invalid_argument, member.file.name,
                "standard output: goes into the file " + member.shown +
                    ", which this command reads or keeps; send it elsewhere");
  }
}

// An output replaces no ledger and plants no journal.
void check_output(const NamedFile& file) {
  if (Ledger::lies_at(file.path)) refuse(file, "is a ledger, which no output replaces; choose another name");
  const std::string path = resolved(file.path).string();
  for (const std::string suffix : companions) {
    if (path.ends_with(suffix) && Ledger::lies_at(path.substr(0, path.size() - suffix.size())))
      refuse(file, "is the name of a ledger's journal, which no output replaces; choose another name");
  }
}

}  // namespace

void check_distinct(const Files& files) {
  const std::vector<Member> members = members_of(files);
  for (const Member& written : members) {
    if (written.role == Role::read) continue;
    for (const Member& other : members) {
      if (other.group == written.group || !same_file(written.file.path, other.file.path)) continue;
      refuse(written.file, "is the file " + other.shown +
                               " too; what this command writes may be nothing that it reads or keeps; choose "
                               "another name");
    }
  }
  check_standard_output(members);
}

void check_outputs(const Files& files) {
  for (const NamedFile& file : files.written) {
    if (!file.path.empty()) check_output(file);
  }
}

}  // namespace snapdp::cli
