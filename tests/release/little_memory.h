// What happens in a process that has little memory left.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <stdexcept>

// Sanitizers map terabytes of address space, and their allocators end the program where others return nothing.
#if defined(__has_feature)  // clang++
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SNAPDP_LITTLE_MEMORY_CANNOT_BE_TRIED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // g++
#define SNAPDP_LITTLE_MEMORY_CANNOT_BE_TRIED
#endif

namespace snapdp {

inline std::size_t memory_in_use() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

inline void limit_memory(std::size_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_AS, &limit);
}

// From here on the process gets `bytes` of memory and no more. What the allocator still holds of memory that was freed is
// used up first, so that it does not matter what ran before.
inline void leave_memory(std::size_t bytes) {
  const std::size_t in_use = memory_in_use();
  limit_memory(in_use);
  // Never given back: the process ends soon. Volatile, because a compiler may leave out memory that nobody uses.
  void* volatile taken = nullptr;
  for (std::size_t size = std::size_t{1} << 26; size >= sizeof(void*); size /= 2) {
    do taken = std::malloc(size);
    while (taken != nullptr);
  }
  limit_memory(in_use + bytes);
}

// Calls `prepare` and then, with `bytes` of memory and no more, `action`, in a process of its own; whether that returned
// true. It may as well throw or be aborted, as GMP does without memory.
inline bool succeeds_with_memory(std::size_t bytes, const std::function<void()>& prepare,
                                 const std::function<bool()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::close(STDERR_FILENO);  // GMP and the C++ library say so when they abort
    try {
      prepare();
      leave_memory(bytes);
      ::_exit(action() ? 0 : 3);
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) throw std::runtime_error("no process of its own");
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace snapdp
