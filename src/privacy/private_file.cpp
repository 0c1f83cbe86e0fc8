#include "privacy/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "privacy/shared/descriptor.h"
#include "snapdp/error.h"

namespace snapdp::privacy_internal {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorCode::budget_refused, "ledger", named_ledger(path) + what);
}

// create() is asked for a file that may not be made.
[[noreturn]] void refuse_existing(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "ledger",
              named_ledger(path) + what + " exists already and is left as it is; choose another name");
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what, int error) {
  throw Error(ErrorCode::io, "ledger",
              named_ledger(path) + what + " (" + std::generic_category().message(error) + ")");
}

[[noreturn]] void refuse_missing(const std::filesystem::path& path) {
  refuse(path,
         "there is no such file; the custodian of the data creates it once with: snapdp ledger create " +
             shell_word(path.string()) + " DECLARATION --epsilon BUDGET");
}

std::string octal(mode_t mode) {
  std::string digits = "0000";
  for (std::size_t i = 4; i-- > 0; mode >>= 3) digits[i] = static_cast<char>('0' + (mode & 7));
  return digits;
}

}  // namespace

std::string named_ledger(const std::filesystem::path& path) {
  return "ledger " + quoted_path(path.string()) + ": ";
}

std::filesystem::path journal_of(const std::filesystem::path& path) {
  return path.string() + "-journal";
}

std::filesystem::path resolve_folder(const std::filesystem::path& path) {
  if (!path.has_filename() || path.filename() == "." || path.filename() == "..") {
    throw Error(ErrorCode::invalid_argument, "ledger",
                "ledger = " + quoted_path(path.string()) + ": must name a file");
  }
  std::error_code error;
  const std::filesystem::path parent =
      path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const std::filesystem::path folder = std::filesystem::canonical(parent, error);
  if (error)
    refuse(path, "its folder cannot be reached (" + error.message() + "); create it or correct the path");
  return folder / path.filename();
}

void create_private_file(const std::filesystem::path& path) {
  struct stat unused {};
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    if (::lstat((path.string() + suffix).c_str(), &unused) == 0) {
      refuse_existing(path, quoted_path(path.filename().string() + suffix));
    }
  }
  const Descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.get() < 0) {
    if (errno == EEXIST) refuse_existing(path, "it");
    fail(path, "cannot be created", errno);
  }
  // An odd umask may have taken away the owner's own bits.
  if (::fchmod(file.get(), S_IRUSR | S_IWUSR) != 0) fail(path, "cannot be given the mode 0600", errno);
}

void remove_if_empty(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != 0) return;
  ::unlink(journal_of(path).c_str());
  ::unlink(path.c_str());
}

void sync_folder(const std::filesystem::path& file) {
  const Descriptor folder(::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || ::fsync(folder.get()) != 0)
    fail(file, "its folder cannot be synced to the disk", errno);
}

FileIdentity inspect_private_file(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) refuse_missing(path);
    refuse(path, "cannot be reached (" + std::generic_category().message(errno) + ")");
  }
  if (S_ISLNK(status.st_mode)) refuse(path, "is a symbolic link; give the path of the ledger itself");
  if (!S_ISREG(status.st_mode)) refuse(path, "is not a regular file");
  constexpr mode_t others_write = S_IWGRP | S_IWOTH;
  if ((status.st_mode & others_write) != 0) {
    refuse(path, "may be written by others than its owner (mode " + octal(status.st_mode & 07777) +
                     "). Find out whether somebody did (snapdp ledger verify on a copy of mode 0600), then: "
                     "chmod 600 " +
                     shell_word(path.string()));
  }
  if (status.st_nlink != 1) {
    refuse(path, "has " + std::to_string(status.st_nlink) +
                     " hard links; a crash under one name would be invisible under the other. Keep one");
  }
  struct stat journal {};
  if (::lstat(journal_of(path).c_str(), &journal) == 0) {
    const bool known_owner =
        journal.st_uid == status.st_uid || journal.st_uid == ::geteuid() || journal.st_uid == 0;
    if (!S_ISREG(journal.st_mode) || (journal.st_mode & others_write) != 0 || !known_owner) {
      refuse(path,
             "beside it lies " + quoted_path(journal_of(path).filename().string()) +
                 ", which others than the ledger's owner may have written; find out who, and keep the ledger "
                 "in a folder that only its owner may write");
    }
  }
  return {status.st_dev, status.st_ino};
}

}  // namespace snapdp::privacy_internal
