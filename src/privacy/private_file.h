// Files that only their owner may write: made so, and checked to be so, without ever opening one that SQLite
// may hold (closing any descriptor of a file drops the process's POSIX locks on it).
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace snapdp::privacy_internal {

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// The path with its folder's links resolved, so that every process derives the same journal name. The last
// part is left alone. Throws if the folder does not exist.
std::filesystem::path resolve_folder(const std::filesystem::path& path);

// Makes an empty file with mode 0600, whatever the umask; invalid_argument if anything of that name exists, or a
// journal of that name, io if the system refuses.
void create_private_file(const std::filesystem::path& path);

// Takes back what create_private_file made, and a journal beside it, unless something was written to it
// since: then it may be in use already.
void remove_if_empty(const std::filesystem::path& path);

// Makes the folder's entries durable; io on failure.
void sync_folder(const std::filesystem::path& file);

// Refuses (budget_refused) a ledger that is missing, no regular file, a symbolic link, one of several hard
// links or writable by group or world, and one beside which lies a journal that somebody else may have
// written: SQLite would play it back into the ledger.
FileIdentity inspect_private_file(const std::filesystem::path& path);

// How messages about a ledger begin: ledger "people.ledger": ...
std::string named_ledger(const std::filesystem::path& path);

// The journal of SQLite's rollback mode.
std::filesystem::path journal_of(const std::filesystem::path& path);

}  // namespace snapdp::privacy_internal
