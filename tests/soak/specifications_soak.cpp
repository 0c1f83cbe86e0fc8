// Random specifications of every kind and magnitude: see tests/release/after_debit.h. Each block of them runs in a process
// of its own, so that a crash or an endless computation is told with the seed that caused it.
//
// Usage: soak_specifications [--rounds N] [--seed S]        (20000 rounds)
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <random>
#include <string>

#include "release/after_debit.h"

namespace snapdp {
namespace {

constexpr std::uint64_t block = 50;
constexpr unsigned seconds_a_block = 600;

std::filesystem::path scratch() {
  std::string pattern =
      ::access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm/snapdp-soak-XXXXXX" : "/tmp/snapdp-soak-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch folder");
  return pattern;
}

// What a block tells its parent.
struct Progress {
  std::uint64_t seed = 0;  // begun last
  AfterDebit::Counts counts;
};

// 0 when all seeds in [first, end) keep the rule.
int run_block(std::uint64_t first, std::uint64_t end, int pipe) {
  ::alarm(seconds_a_block);
  const std::filesystem::path folder = scratch();
  AfterDebit rule(folder);
  int code = 0;
  for (std::uint64_t seed = first; seed < end && code == 0; ++seed) {
    const Progress progress{seed, rule.counts()};
    if (::write(pipe, &progress, sizeof progress) != sizeof progress) code = 2;
    try {
      rule.check(seed);
    } catch (const std::exception& error) {
      std::printf("VIOLATED by seed %llu: %s\n%s\n", static_cast<unsigned long long>(seed), error.what(),
                  rule.text().c_str());
      code = 1;
    }
  }
  const Progress done{end, rule.counts()};
  if (::write(pipe, &done, sizeof done) != sizeof done) code = 2;
  std::fflush(stdout);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return code;
}

int run(std::uint64_t rounds, std::uint64_t first) {
  AfterDebit::Counts all;
  int violations = 0;
  for (std::uint64_t done = 0; done < rounds && violations < 20;) {
    const std::uint64_t end = std::min(rounds, done + block);
    int ends[2];
    if (::pipe(ends) != 0) return 2;
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(run_block(first + done, first + end, ends[1]));
    ::close(ends[1]);
    Progress last;
    for (Progress next; ::read(ends[0], &next, sizeof next) == sizeof next;) last = next;
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    all.released += last.counts.released;
    all.refused += last.counts.refused;
    for (std::size_t kind = 0; kind < all.statistics.size(); ++kind)
      all.statistics[kind] += last.counts.statistics[kind];
    done = end;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    ++violations;
    if (WIFSIGNALED(status)) {
      std::printf("VIOLATED by seed %llu: ended by signal %d\n%s\n",
                  static_cast<unsigned long long>(last.seed), WTERMSIG(status),
                  RandomSpecification(last.seed).text().c_str());
      done = last.seed + 1 - first;
    }
  }
  for (std::size_t kind = 0; kind < all.statistics.size(); ++kind)
    std::printf("%8d %s\n", all.statistics[kind], to_string(static_cast<StatisticKind>(kind)).c_str());
  std::printf("%llu rounds: %d released, %d refused with nothing debited, %d violations\n",
              static_cast<unsigned long long>(rounds), all.released, all.refused, violations);
  return violations == 0 ? 0 : 1;
}

}  // namespace
}  // namespace snapdp

int main(int argc, char** argv) {
  std::uint64_t rounds = 20'000;
  std::uint64_t seed = 20240501;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  try {
    std::printf("random specifications: %llu rounds, seed %llu\n", static_cast<unsigned long long>(rounds),
                static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    return snapdp::run(rounds, seed);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "soak_specifications: %s\n", error.what());
    return 2;
  }
}
