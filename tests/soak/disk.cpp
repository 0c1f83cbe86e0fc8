// The C library must not replace the calls defined here by checking variants.
#undef _FORTIFY_SOURCE
#include "soak/disk.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

#define REAL(name)                                               \
  (*[] {                                                         \
    static auto* const function = next<decltype(::name)>(#name); \
    return function;                                             \
  }())

// A change of a file since it was last synced: bytes written at an offset, or, without bytes, a new size.
struct Change {
  off_t offset;
  std::string bytes;
};

struct File {
  std::string durable;
  std::vector<Change> pending;
};

struct NameChange {
  std::string name;
  std::shared_ptr<File> file;  // none: the name is gone
};

struct Disk {
  disk::Trouble trouble;
  long calls = 0;
  long reads = 0;
  std::string folder;
  std::mt19937_64 engine;
  std::map<std::string, std::shared_ptr<File>> now;      // by name
  std::map<std::string, std::shared_ptr<File>> durable;  // as of the last sync of the folder
  std::vector<NameChange> pending;
  std::map<int, std::shared_ptr<File>> open_files;
  std::map<int, bool> open_folders;
};
Disk* watched = nullptr;
std::recursive_mutex mutex;  // calls may come from several threads
using Lock = std::lock_guard<std::recursive_mutex>;

void apply(std::string& bytes, const Change& change, std::size_t count) {
  const auto offset = static_cast<std::size_t>(change.offset);
  if (change.bytes.empty()) {
    bytes.resize(offset, '\0');
  } else {
    if (bytes.size() < offset + count) bytes.resize(offset + count, '\0');
    bytes.replace(offset, count, change.bytes, 0, count);
  }
}

void sync(File& file) {
  for (const Change& change : file.pending) apply(file.durable, change, change.bytes.size());
  file.pending.clear();
}

// What the file holds after a power failure: what was synced, and of the rest a part.
std::string after_power_failure(const File& file, int mode, std::mt19937_64& engine) {
  std::string bytes = file.durable;
  std::size_t kept = file.pending.size();
  if (mode == 0) kept = 0;
  if (mode == 3) kept = engine() % (file.pending.size() + 1);
  for (std::size_t i = 0; i < kept; ++i) {
    const Change& change = file.pending[i];
    if (mode == 2 && engine() % 2 == 0) continue;
    // Sectors are written whole, but a write may be torn between them.
    std::size_t count = change.bytes.size();
    if (mode >= 2 && engine() % 4 == 0) count = count / 512 == 0 ? 0 : engine() % (count / 512 + 1) * 512;
    if (count > 0 || change.bytes.empty()) apply(bytes, change, count);
  }
  return bytes;
}

void write_out(const std::string& path, const std::string& bytes) {
  const int file = REAL(open)(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || REAL(ftruncate64)(file, 0) != 0) ::abort();
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count =
        REAL(pwrite64)(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count <= 0) ::abort();
    done += static_cast<std::size_t>(count);
  }
  REAL(close)(file);
}

[[noreturn]] void kill_process() {
  ::raise(SIGKILL);
  ::abort();
}

[[noreturn]] void power_failure(Disk& disk) {
  // 0: nothing that was not synced is left; 1: everything is; 2: any part; 3: what came first.
  const int mode = static_cast<int>(disk.engine() % 4);
  auto names = disk.durable;
  const std::size_t kept = mode == 0   ? 0
                           : mode == 1 ? disk.pending.size()
                                       : disk.engine() % (disk.pending.size() + 1);
  for (std::size_t i = 0; i < kept; ++i) {
    const NameChange& change = disk.pending[i];
    if (change.file) {
      names[change.name] = change.file;
    } else {
      names.erase(change.name);
    }
  }
  watched = nullptr;
  for (const auto& [name, file] : disk.now) {
    if (names.count(name) == 0) REAL(unlink)((disk.folder + "/" + name).c_str());
  }
  for (const auto& [name, file] : names) {
    write_out(disk.folder + "/" + name, after_power_failure(*file, mode, disk.engine));
  }
  kill_process();
}

// The name inside the watched folder, "." for the folder itself, or nothing.
std::string name_of(const char* path) {
  if (watched == nullptr) return {};
  const std::string text = path;
  if (text == watched->folder) return ".";
  if (!text.starts_with(watched->folder + "/")) return {};
  return text.substr(watched->folder.size() + 1);
}

bool is_watched(int descriptor) {
  return watched != nullptr &&
         (watched->open_files.count(descriptor) > 0 || watched->open_folders.count(descriptor) > 0);
}

enum class Kind { look, lock, change };

// What is to happen to the call at hand: an errno, or 0 to go on. Kills are carried out here.
int verdict(Kind kind) {
  using disk::Fault;
  Disk& disk = *watched;
  const long call = ++disk.calls;
  if (call == disk.trouble.power) power_failure(disk);
  const bool later = disk.trouble.lasting && call > disk.trouble.call && kind == Kind::change;
  if (call != disk.trouble.call && !later) return 0;
  switch (disk.trouble.fault) {
    case Fault::error:
      return kind == Kind::lock ? ENOLCK : EIO;
    case Fault::full:
      return kind == Kind::change ? ENOSPC : 0;
    case Fault::short_write:
      return EINTR;
    case Fault::kill_before:
    case Fault::kill_midway:
      kill_process();
    case Fault::power:
      power_failure(disk);
    case Fault::none:
    case Fault::kill_after:
    case Fault::terminate:
      break;
  }
  return 0;
}

// After a call that was carried out.
void done() {
  const disk::Trouble& trouble = watched->trouble;
  if (watched->calls != trouble.call) return;
  if (trouble.fault == disk::Fault::kill_after) kill_process();
  if (trouble.fault == disk::Fault::terminate) ::raise(SIGTERM);
}

int failed(int error) {
  errno = error;
  return -1;
}

template <typename Call>
int looked(Kind kind, Call call) {
  if (const int error = verdict(kind)) return failed(error);
  const int result = call();
  done();
  return result;
}

template <typename Open>
int open_file(const char* path, int flags, Open open) {
  const Lock lock(mutex);
  const std::string name = name_of(path);
  if (name.empty()) return open();
  const bool creates = (flags & O_CREAT) != 0 && name != "." && watched->now.count(name) == 0;
  if (const int error = verdict(creates ? Kind::change : Kind::look)) return failed(error);
  const int descriptor = open();
  if (descriptor >= 0) {
    if (name == ".") {
      watched->open_folders[descriptor] = true;
    } else {
      std::shared_ptr<File>& file = watched->now[name];
      if (!file) {
        file = std::make_shared<File>();
        watched->pending.push_back({name, file});
      }
      watched->open_files[descriptor] = file;
    }
  }
  done();
  return descriptor;
}

int sync_call(int descriptor, int (*call)(int)) {
  const Lock lock(mutex);
  if (!is_watched(descriptor)) return call(descriptor);
  const auto file = watched->open_files.find(descriptor);
  if (const int error = verdict(Kind::change)) {
    // The kernel gives up on the pages of a sync that failed: no later sync will write them.
    if (file != watched->open_files.end()) file->second->pending.clear();
    return failed(error);
  }
  if (file != watched->open_files.end()) {
    sync(*file->second);
  } else {
    watched->durable = watched->now;
    watched->pending.clear();
  }
  done();
  return 0;
}

}  // namespace

namespace disk {

void watch(const std::filesystem::path& folder, const Trouble& trouble) {
  auto* const disk = new Disk;
  disk->trouble = trouble;
  disk->folder = folder.string();
  disk->engine.seed(trouble.seed);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    auto file = std::make_shared<File>();
    const int descriptor = REAL(open)(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    char buffer[4096];
    for (ssize_t count = 0; (count = REAL(read)(descriptor, buffer, sizeof buffer)) > 0;) {
      file->durable.append(buffer, static_cast<std::size_t>(count));
    }
    REAL(close)(descriptor);
    disk->now[entry.path().filename().string()] = file;
  }
  disk->durable = disk->now;
  unwatch();
  watched = disk;
}

void fail_power() {
  power_failure(*watched);
}

long calls() {
  return watched == nullptr ? 0 : watched->calls;
}

long reads() {
  return watched == nullptr ? 0 : watched->reads;
}

void unwatch() {
  delete watched;
  watched = nullptr;
}

}  // namespace disk

// ---- The calls themselves, as SQLite and SnapDP make them

extern "C" {

__attribute__((visibility("default"))) int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_file(path, flags, [&] { return REAL(open64)(path, flags, mode); });
}

__attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_file(path, flags, [&] { return REAL(open)(path, flags, mode); });
}

__attribute__((visibility("default"))) int close(int descriptor) {
  const Lock lock(mutex);
  if (watched != nullptr) {
    watched->open_files.erase(descriptor);
    watched->open_folders.erase(descriptor);
  }
  return REAL(close)(descriptor);
}

__attribute__((visibility("default"))) ssize_t pread64(int descriptor, void* bytes, size_t size,
                                                       off64_t offset) {
  const Lock lock(mutex);
  if (!is_watched(descriptor)) return REAL(pread64)(descriptor, bytes, size, offset);
  ++watched->reads;
  if (const int error = verdict(Kind::look)) return failed(error);
  const ssize_t count = REAL(pread64)(descriptor, bytes, size, offset);
  done();
  return count;
}

__attribute__((visibility("default"))) ssize_t pwrite64(int descriptor, const void* bytes, size_t size,
                                                        off64_t offset) {
  const Lock lock(mutex);
  if (!is_watched(descriptor)) return REAL(pwrite64)(descriptor, bytes, size, offset);
  using disk::Fault;
  const Fault fault = watched->trouble.fault;
  const bool halves = watched->calls + 1 == watched->trouble.call &&
                      (fault == Fault::full || fault == Fault::short_write || fault == Fault::kill_midway);
  const auto write = [&](std::size_t count) {
    const ssize_t written = REAL(pwrite64)(descriptor, bytes, count, offset);
    if (written > 0) {
      watched->open_files[descriptor]->pending.push_back(
          {offset, std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(written))});
    }
    return written;
  };
  ssize_t half = 0;
  if (halves && size > 1) half = write(size / 2);
  if (half > 0 && fault == Fault::short_write) {
    ++watched->calls;
    return half;
  }
  if (const int error = verdict(Kind::change)) return failed(error);
  const ssize_t count = write(size);
  done();
  return count;
}

__attribute__((visibility("default"))) int ftruncate64(int descriptor, off64_t size) noexcept {
  const Lock lock(mutex);
  if (!is_watched(descriptor)) return REAL(ftruncate64)(descriptor, size);
  if (const int error = verdict(Kind::change)) return failed(error);
  const int result = REAL(ftruncate64)(descriptor, size);
  if (result == 0) watched->open_files[descriptor]->pending.push_back({size, {}});
  done();
  return result;
}

__attribute__((visibility("default"))) int fsync(int descriptor) {
  return sync_call(descriptor, REAL(fsync));
}

__attribute__((visibility("default"))) int fdatasync(int descriptor) {
  return sync_call(descriptor, REAL(fdatasync));
}

__attribute__((visibility("default"))) int unlink(const char* path) noexcept {
  const Lock lock(mutex);
  const std::string name = name_of(path);
  if (name.empty()) return REAL(unlink)(path);
  if (const int error = verdict(Kind::change)) return failed(error);
  const int result = REAL(unlink)(path);
  if (result == 0) {
    watched->now.erase(name);
    watched->pending.push_back({name, nullptr});
  }
  done();
  return result;
}

__attribute__((visibility("default"))) int fchmod(int descriptor, mode_t mode) noexcept {
  const Lock lock(mutex);
  if (!is_watched(descriptor)) return REAL(fchmod)(descriptor, mode);
  return looked(Kind::change, [&] { return REAL(fchmod)(descriptor, mode); });
}

__attribute__((visibility("default"))) int fcntl64(int descriptor, int command, ...) {
  const Lock lock(mutex);
  va_list more;
  va_start(more, command);
  void* const argument = va_arg(more, void*);
  va_end(more);
  if (!is_watched(descriptor)) return REAL(fcntl64)(descriptor, command, argument);
  return looked(Kind::lock, [&] { return REAL(fcntl64)(descriptor, command, argument); });
}

__attribute__((visibility("default"))) int access(const char* path, int mode) noexcept {
  const Lock lock(mutex);
  if (name_of(path).empty()) return REAL(access)(path, mode);
  return looked(Kind::look, [&] { return REAL(access)(path, mode); });
}

__attribute__((visibility("default"))) int lstat64(const char* path, struct stat64* status) noexcept {
  const Lock lock(mutex);
  if (name_of(path).empty()) return REAL(lstat64)(path, status);
  return looked(Kind::look, [&] { return REAL(lstat64)(path, status); });
}

__attribute__((visibility("default"))) int lstat(const char* path, struct stat* status) noexcept {
  const Lock lock(mutex);
  if (name_of(path).empty()) return REAL(lstat)(path, status);
  return looked(Kind::look, [&] { return REAL(lstat)(path, status); });
}

__attribute__((visibility("default"))) int stat64(const char* path, struct stat64* status) noexcept {
  const Lock lock(mutex);
  if (name_of(path).empty()) return REAL(stat64)(path, status);
  return looked(Kind::look, [&] { return REAL(stat64)(path, status); });
}

__attribute__((visibility("default"))) int fstat64(int descriptor, struct stat64* status) noexcept {
  const Lock lock(mutex);
  if (!is_watched(descriptor)) return REAL(fstat64)(descriptor, status);
  return looked(Kind::look, [&] { return REAL(fstat64)(descriptor, status); });
}

}  // extern "C"
