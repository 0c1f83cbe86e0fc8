// Faults below SQLite: every single call that a debit makes to the file system fails in turn, or is the last before the
// process is killed. Uses a VFS (https://www.sqlite.org/vfs.html) that passes everything on to the real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <new>

#include "privacy/ledger_testing.h"
#include "snapdp/error.h"
#include "snapdp/privacy/ledger.h"

namespace snapdp {
namespace {

using ledger_testing::charge;
using ledger_testing::household;
using ledger_testing::ScratchFolder;
using testing::HasSubstr;

enum class Fault {
  none,
  error,        // the call does nothing and reports an I/O error
  full,         // a write stops half way and reports a full disk
  late_error,   // the call does its work and then reports an error: a sync that failed after the deletion
  kill_before,  // the process dies instead of the call
  kill_after,   // ... or right after it
};

// What the VFS does; one for the whole process, as SQLite's default VFS is.
struct Injector {
  Fault fault = Fault::none;
  int countdown = 0;  // the call that is hit, counted from 1
  int calls = 0;
  int page_reads = 0;
  std::vector<std::string> log;
};
Injector injector;

bool hit() {
  return ++injector.calls == injector.countdown;
}

template <typename Call>
int guarded(const std::string& what, int error_code, Call call) {
  injector.log.push_back(what);
  const bool now = hit();
  if (now && injector.fault == Fault::kill_before) ::raise(SIGKILL);
  if (now && (injector.fault == Fault::error || injector.fault == Fault::full)) {
    return injector.fault == Fault::full ? SQLITE_FULL : error_code;
  }
  const int code = call();
  if (now && injector.fault == Fault::kill_after) ::raise(SIGKILL);
  return now && injector.fault == Fault::late_error ? error_code : code;
}

// A file of the real VFS behind our methods. SQLite gives the memory, of szOsFile bytes.
struct File {
  sqlite3_file base;
  const char* kind;  // "ledger", "journal", "folder"...
  sqlite3_file* real;
};
sqlite3_file* real(sqlite3_file* file) {
  return reinterpret_cast<File*>(file)->real;
}
std::string kind(sqlite3_file* file) {
  return reinterpret_cast<File*>(file)->kind;
}
sqlite3_vfs* real(sqlite3_vfs* vfs) {
  return static_cast<sqlite3_vfs*>(vfs->pAppData);
}

int x_close(sqlite3_file* file) {
  const int code = real(file)->pMethods->xClose(real(file));
  sqlite3_free(real(file));
  return code;
}
int x_read(sqlite3_file* file, void* data, int size, sqlite3_int64 offset) {
  if (size == 4096) ++injector.page_reads;
  return guarded("read " + kind(file), SQLITE_IOERR_READ,
                 [&] { return real(file)->pMethods->xRead(real(file), data, size, offset); });
}
int x_write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  if (injector.fault == Fault::full && injector.calls + 1 == injector.countdown) {
    real(file)->pMethods->xWrite(real(file), data, size / 2, offset);
  }
  return guarded("write " + kind(file), SQLITE_IOERR_WRITE,
                 [&] { return real(file)->pMethods->xWrite(real(file), data, size, offset); });
}
int x_truncate(sqlite3_file* file, sqlite3_int64 size) {
  return guarded("truncate " + kind(file), SQLITE_IOERR_TRUNCATE,
                 [&] { return real(file)->pMethods->xTruncate(real(file), size); });
}
int x_sync(sqlite3_file* file, int flags) {
  return guarded("sync " + kind(file), SQLITE_IOERR_FSYNC,
                 [&] { return real(file)->pMethods->xSync(real(file), flags); });
}
int x_size(sqlite3_file* file, sqlite3_int64* size) {
  return guarded("size " + kind(file), SQLITE_IOERR_FSTAT,
                 [&] { return real(file)->pMethods->xFileSize(real(file), size); });
}
int x_lock(sqlite3_file* file, int level) {
  return guarded("lock " + kind(file), SQLITE_IOERR_LOCK,
                 [&] { return real(file)->pMethods->xLock(real(file), level); });
}
int x_unlock(sqlite3_file* file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}
int x_reserved(sqlite3_file* file, int* out) {
  return real(file)->pMethods->xCheckReservedLock(real(file), out);
}
int x_control(sqlite3_file* file, int op, void* argument) {
  return real(file)->pMethods->xFileControl(real(file), op, argument);
}
int x_sector(sqlite3_file* file) {
  return real(file)->pMethods->xSectorSize(real(file));
}
int x_characteristics(sqlite3_file* file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

const sqlite3_io_methods methods = {
    1,        x_close,    x_read,    x_write,  x_truncate,        x_sync,  x_size,  x_lock,
    x_unlock, x_reserved, x_control, x_sector, x_characteristics, nullptr, nullptr, nullptr,
    nullptr,  nullptr,    nullptr};

int x_open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  auto* ours = new (file) File{};
  ours->kind = (flags & SQLITE_OPEN_MAIN_DB) != 0        ? "ledger"
               : (flags & SQLITE_OPEN_MAIN_JOURNAL) != 0 ? "journal"
                                                         : "other";
  return guarded("open " + kind(file), SQLITE_CANTOPEN, [&] {
    ours->real = static_cast<sqlite3_file*>(sqlite3_malloc(real(vfs)->szOsFile));
    if (ours->real == nullptr) return SQLITE_NOMEM;
    std::memset(ours->real, 0, static_cast<std::size_t>(real(vfs)->szOsFile));
    const int code = real(vfs)->xOpen(real(vfs), name, ours->real, flags, out_flags);
    if (code == SQLITE_OK) {
      ours->base.pMethods = &methods;
    } else {
      sqlite3_free(ours->real);
    }
    return code;
  });
}
int x_delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  return guarded(std::string("delete journal") + (sync_folder != 0 ? " and sync the folder" : ""),
                 SQLITE_IOERR_DELETE, [&] { return real(vfs)->xDelete(real(vfs), name, sync_folder); });
}
int x_access(sqlite3_vfs* vfs, const char* name, int flags, int* out) {
  return guarded("access", SQLITE_IOERR_ACCESS,
                 [&] { return real(vfs)->xAccess(real(vfs), name, flags, out); });
}

// Makes the injecting VFS the default for as long as it lives.
class InjectingVfs {
 public:
  explicit InjectingVfs(Fault fault = Fault::none, int countdown = 0) {
    injector = Injector{fault, countdown, 0, 0, {}};
    original_ = sqlite3_vfs_find(nullptr);
    vfs_ = *original_;
    vfs_.pNext = nullptr;
    vfs_.zName = "injecting";
    vfs_.szOsFile = sizeof(File);
    vfs_.pAppData = original_;
    vfs_.xOpen = x_open;
    vfs_.xDelete = x_delete;
    vfs_.xAccess = x_access;
    sqlite3_vfs_register(&vfs_, 1);
  }
  ~InjectingVfs() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(original_, 1);
  }
  InjectingVfs(const InjectingVfs&) = delete;
  InjectingVfs& operator=(const InjectingVfs&) = delete;

 private:
  sqlite3_vfs* original_;
  sqlite3_vfs vfs_;
};

class LedgerFaultTest : public testing::Test {
 protected:
  LedgerFaultTest() {
    Ledger ledger = Ledger::create(path_, household, 1);
    ledger.debit(household, charge(Rational(1, 4)), std::string(3000, 's'));
    good_ = ledger_testing::read_bytes(path_);
  }

  void restore() {
    std::filesystem::remove(path_.string() + "-journal");
    ledger_testing::write_bytes(path_, good_);
  }

  // What a release does with a ledger. Returns how far it came: 0 nothing, 1 debited, 2 reported as well; also writes
  // a byte at each step to `progress`, which survives a kill.
  int release(int progress = -1) {
    int done = 0;
    const auto step = [&] {
      ++done;
      return progress < 0 || ::write(progress, "s", 1) == 1;
    };
    try {
      Ledger ledger = Ledger::open(path_);
      ledger.check(household, Rational(1, 2));
      const LedgerReceipt receipt = ledger.debit(household, charge(Rational(1, 2)), std::string(9000, 's'));
      if (!step()) return -1;
      ledger.store_report(receipt.release, std::string(5000, 'r'));
      if (!step()) return -1;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::io || error.code() == ErrorCode::budget_refused);
      EXPECT_THAT(error.what(), HasSubstr(path_.string()));
      last_error_ = error.what();
    }
    return done;
  }

  // What must hold afterwards for a release that came so far.
  void expect_sound(int done, const std::string& what) {
    Ledger ledger = Ledger::open(path_);
    const LedgerBalance balance = ledger.verify();
    EXPECT_TRUE(balance.spent == Rational(1, 4) || balance.spent == Rational(3, 4)) << what;
    if (done >= 1) {
      EXPECT_EQ(balance.spent, Rational(3, 4)) << what;
    }
    if (done >= 2) {
      EXPECT_EQ(ledger.report(2), std::string(5000, 'r')) << what;
    }
    if (done == 0 && balance.spent == Rational(3, 4)) {
      EXPECT_THAT(last_error_, HasSubstr("may stand")) << what;
      ++stood_;
    }
    // Life goes on.
    EXPECT_EQ(ledger.debit(household, charge(balance.remaining.value), "").remaining, 0) << what;
    ledger.verify();
  }

  // The number of calls that an undisturbed release makes.
  int undisturbed() {
    const InjectingVfs vfs;
    EXPECT_EQ(release(), 2);
    return injector.calls;
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "people.ledger";
  std::string good_;
  std::string last_error_;
  int stood_ = 0;
};

TEST_F(LedgerFaultTest, EveryCallFailsOnce) {
  const int calls = undisturbed();
  EXPECT_GT(calls, 40);
  int failed = 0;
  for (const Fault fault : {Fault::error, Fault::full, Fault::late_error}) {
    for (int call = 1; call <= calls; ++call) {
      restore();
      int done = 0;
      std::string what;
      {
        const InjectingVfs vfs(fault, call);
        done = release();
        if (static_cast<std::size_t>(call) <= injector.log.size())
          what = injector.log[static_cast<std::size_t>(call) - 1];
      }
      if (done < 2) ++failed;
      expect_sound(done, "call " + std::to_string(call) + ", " + what);
    }
  }
  // Most faults must have been felt; and once, at least, the debit stood although it was reported as failed.
  EXPECT_GT(failed, calls);
  EXPECT_GE(stood_, 1);
}

TEST_F(LedgerFaultTest, KilledBeforeAndAfterEveryChangeOfTheDisk) {
  const int calls = undisturbed();
  const std::vector<std::string> log = injector.log;
  ASSERT_EQ(log.size(), static_cast<std::size_t>(calls));
  int kills = 0;
  for (const Fault fault : {Fault::kill_before, Fault::kill_after}) {
    for (int call = 1; call <= calls; ++call) {
      const std::string& what = log[static_cast<std::size_t>(call) - 1];
      const bool changes = what.starts_with("write") || what.starts_with("sync") ||
                           what.starts_with("truncate") || what.starts_with("delete") ||
                           what == "open journal";
      // What comes after one change comes before the next, but for the last.
      if (!changes || (fault == Fault::kill_after && !what.starts_with("delete"))) continue;
      ++kills;
      restore();
      // Through which the child tells how far it came.
      int ends[2];
      ASSERT_EQ(::pipe(ends), 0);
      const pid_t child = ::fork();
      if (child == 0) {
        const InjectingVfs vfs(fault, call);
        release(ends[1]);
        ::_exit(0);
      }
      ::close(ends[1]);
      int done = 0;
      char byte = 0;
      while (::read(ends[0], &byte, 1) == 1) ++done;
      ::close(ends[0]);
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
      last_error_ = "may stand";  // a dead process says nothing
      expect_sound(done, "killed at call " + std::to_string(call) + ", " + what);
    }
  }
  EXPECT_GT(kills, 20);
}

TEST_F(LedgerFaultTest, EveryCallOfACreationFailsOnce) {
  int calls = 0;
  for (int call = 0; call == 0 || call <= calls; ++call) {
    const auto path = folder_ / ("new" + std::to_string(call)).c_str();
    bool created = false;
    {
      const InjectingVfs vfs(call == 0 ? Fault::none : Fault::error, call);
      try {
        Ledger::create(path, household, 1);
        created = true;
      } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ErrorCode::io || error.code() == ErrorCode::budget_refused)
            << error.what();
      }
      if (call == 0) calls = injector.calls;
    }
    if (created) {
      EXPECT_EQ(Ledger::open(path).verify().remaining, 1) << call;
    } else if (std::filesystem::exists(path)) {
      // Either it became a ledger, or it is refused; nobody can mistake it for one with a budget.
      try {
        EXPECT_EQ(Ledger::open(path).verify().remaining, 1) << call;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::budget_refused) << call;
      }
    }
  }
  EXPECT_GT(calls, 20);
}

// The order that makes a debit durable: journal synced, then the ledger written and synced, then the journal deleted,
// which commits, and the folder synced so that the deletion lasts.
TEST_F(LedgerFaultTest, ADebitIsSyncedBeforeItReturns) {
  const InjectingVfs vfs;
  Ledger ledger = Ledger::open(path_);
  injector.log.clear();
  ledger.debit(household, charge(Rational(1, 2)), std::string(9000, 's'));
  const std::vector<std::string>& log = injector.log;
  ASSERT_FALSE(log.empty());
  EXPECT_EQ(log.back(), "delete journal and sync the folder");
  const auto first_write = std::find(log.begin(), log.end(), "write ledger");
  ASSERT_NE(first_write, log.end());
  EXPECT_NE(std::find(log.begin(), first_write, "sync journal"), first_write);
  const auto last_write = std::find(log.rbegin(), log.rend(), "write ledger").base();
  EXPECT_NE(std::find(last_write, log.end(), "sync ledger"), log.end());
}

// Work that does not grow with the past: pages read by a new process for one debit, counted.
TEST_F(LedgerFaultTest, ThePastDoesNotSlowTheNextDebit) {
  const auto reads = [&] {
    const InjectingVfs vfs;
    Ledger ledger = Ledger::open(path_);
    ledger.debit(household, charge(Rational(1, 100'000)), std::string(2000, 's'));
    return injector.page_reads;
  };
  {
    Ledger ledger = Ledger::open(path_);
    for (int i = 0; i < 10; ++i)
      ledger.debit(household, charge(Rational(1, 100'000)), std::string(2000, 's'));
  }
  const int few = reads();
  {
    Ledger ledger = Ledger::open(path_);
    for (int i = 0; i < 1500; ++i) {
      const LedgerReceipt paid =
          ledger.debit(household, charge(Rational(1, 100'000)), std::string(2000, 's'));
      if (i % 10 == 0) ledger.store_report(paid.release, std::string(static_cast<std::size_t>(i), 'r'));
    }
  }
  const int many = reads();
  // A level or two more in the trees of records and of the index, walked down a few times; not 1500 rows.
  EXPECT_LE(many, few + 12) << few;
  EXPECT_EQ(Ledger::open(path_).verify().releases, 1513);
}

}  // namespace
}  // namespace snapdp
