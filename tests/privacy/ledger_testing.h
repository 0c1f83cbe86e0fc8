// What the tests of the ledger share: a scratch folder, raw access to the file, and the ways to expect a
// refusal.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/privacy/ledger.h"

namespace snapdp::ledger_testing {

inline const LedgerIdentity household{"household-2024", Neighbors::change_one, ""};

inline std::vector<LedgerCharge> charge(const Rational& epsilon) {
  return {{"mean_age", epsilon}};
}

// A folder of mode 0700 that goes away with the object. Of a file system in memory if there is one: these
// tests commit thousands of times, and what a sync does to a disk is not what they are about.
class ScratchFolder {
 public:
  ScratchFolder() {
    const std::string base = ::access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm/" : testing::TempDir();
    std::string pattern = base + "snapdp-ledger-XXXXXX";
    const char* made = ::mkdtemp(pattern.data());
    if (made == nullptr) throw std::runtime_error("cannot make a scratch folder");
    path_ = made;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Only for ledgers that this process does not have open.
inline void write_bytes(const std::filesystem::path& path, const std::string& bytes, mode_t mode = 0600) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
  ::chmod(path.c_str(), mode);
}

// Changes a ledger as somebody with another tool would, without CHECK constraints.
inline void run_sql(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  char* message = nullptr;
  const int code = sqlite3_exec(database, ("PRAGMA ignore_check_constraints = ON;" + sql).c_str(), nullptr,
                                nullptr, &message);
  EXPECT_EQ(code, SQLITE_OK) << sql << ": " << (message == nullptr ? "" : message);
  sqlite3_free(message);
  sqlite3_close(database);
}

// The Error that `action` throws; a failure if it throws none.
template <typename Action>
Error error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorCode::mismatch, "", "nothing was thrown");
}

}  // namespace snapdp::ledger_testing
