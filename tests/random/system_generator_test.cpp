#include "random/system_generator.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <csignal>
#include <set>
#include <thread>
#include <type_traits>
#include <vector>

#include "random/failing_generator.h"
#include "snapdp/error.h"

namespace snapdp {

class SystemGeneratorPeer {
 public:
  using Buffer = SystemGenerator::Buffer;
  static const Buffer& buffer(const SystemGenerator& generator) { return *generator.buffer_; }
  static bool wiped_on_fork(const SystemGenerator& generator) { return generator.wiped_on_fork_; }
  // As on a kernel without MADV_WIPEONFORK.
  static void compare_process_ids_instead(SystemGenerator& generator) {
    ASSERT_EQ(madvise(generator.buffer_, sizeof(Buffer), MADV_KEEPONFORK), 0);
    generator.wiped_on_fork_ = false;
  }
};

namespace {

using Peer = SystemGeneratorPeer;
constexpr std::size_t capacity = Peer::Buffer::capacity;

static_assert(!std::is_copy_constructible_v<SystemGenerator> && !std::is_copy_assignable_v<SystemGenerator>);
static_assert(!std::is_constructible_v<SystemGenerator, std::uint64_t>, "no seed");

std::vector<std::uint64_t> draw(SystemGenerator& generator, std::size_t count) {
  std::vector<std::uint64_t> words(count);
  generator.fill(words);
  return words;
}

bool all_zero(std::span<const std::uint64_t> words) {
  return std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; });
}

// All words differ: by chance two of n words agree with probability below n^2 2^-65, here at most 1e-10.
void expect_distinct(const std::vector<std::uint64_t>& words) {
  EXPECT_EQ(std::set<std::uint64_t>(words.begin(), words.end()).size(), words.size());
}

void append(std::vector<std::uint64_t>& all, const std::vector<std::uint64_t>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

TEST(SystemGenerator, ServesEveryRequestSizeWithFreshWords) {
  SystemGenerator generator;
  std::vector<std::uint64_t> all;
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{1000}, capacity - 1, capacity,
                                  capacity + 1, std::size_t{8192}, std::size_t{20001}, std::size_t{0}}) {
    append(all, draw(generator, count));
  }
  expect_distinct(all);
}

TEST(SystemGenerator, WipesServedWords) {
  SystemGenerator generator;
  const Peer::Buffer& buffer = Peer::buffer(generator);
  EXPECT_EQ(buffer.available, 0u);
  const std::vector<std::uint64_t> first = draw(generator, 10);
  EXPECT_FALSE(all_zero(first));
  EXPECT_EQ(buffer.available, capacity - 10);
  EXPECT_TRUE(all_zero(std::span(buffer.words).first(10)));
  EXPECT_EQ(std::count(buffer.words.begin() + 10, buffer.words.end(), std::uint64_t{0}), 0);
  draw(generator, capacity - 11);
  EXPECT_TRUE(all_zero(std::span(buffer.words).first(capacity - 1)));
  EXPECT_NE(buffer.words.back(), 0u);
  // Across the end of the buffer.
  const std::vector<std::uint64_t> across = draw(generator, 3);
  EXPECT_EQ(std::count(across.begin(), across.end(), std::uint64_t{0}), 0);
  EXPECT_EQ(buffer.available, capacity - 2);
  EXPECT_TRUE(all_zero(std::span(buffer.words).first(2)));
}

TEST(SystemGenerator, BulkRequestsBypassTheBuffer) {
  SystemGenerator generator;
  EXPECT_FALSE(all_zero(draw(generator, 3 * capacity)));
  EXPECT_EQ(Peer::buffer(generator).available, 0u);
  EXPECT_TRUE(all_zero(Peer::buffer(generator).words));
}

// What a child drew, by way of a pipe. `make_child` returns like fork().
template <typename MakeChild>
std::vector<std::uint64_t> words_of_child(SystemGenerator& generator, std::size_t count,
                                          MakeChild make_child) {
  std::array<int, 2> ends = {};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = make_child();
  if (child == 0) {
    // Only what is safe in a child: no test macros, no exit handlers.
    std::vector<std::uint64_t> words(count);
    generator.fill(words);
    const ssize_t size = static_cast<ssize_t>(count * sizeof(std::uint64_t));
    _exit(write(ends[1], words.data(), static_cast<std::size_t>(size)) == size ? 0 : 1);
  }
  close(ends[1]);
  std::vector<std::uint64_t> words(count);
  std::size_t received = 0;
  for (ssize_t part = 1; part > 0 && received < count * sizeof(std::uint64_t);) {
    part = read(ends[0], reinterpret_cast<char*>(words.data()) + received,
                count * sizeof(std::uint64_t) - received);
    if (part > 0) received += static_cast<std::size_t>(part);
  }
  close(ends[0]);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(received, count * sizeof(std::uint64_t));
  return words;
}

pid_t raw_clone() {
  // The system call alone: the C library's fork handlers do not run.
  return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

// Draw, make two children, draw in all three: the streams share nothing, from the buffer and in bulk.
template <typename MakeChild>
void expect_independent_streams(SystemGenerator& generator, MakeChild make_child) {
  for (const std::size_t count : {std::size_t{64}, 2 * capacity}) {
    std::vector<std::uint64_t> all = draw(generator, 100);
    append(all, words_of_child(generator, count, make_child));
    append(all, words_of_child(generator, count, make_child));
    append(all, draw(generator, count));
    expect_distinct(all);
  }
}

TEST(SystemGeneratorFork, ParentAndChildrenHaveIndependentStreams) {
  SystemGenerator generator;
  EXPECT_TRUE(Peer::wiped_on_fork(generator)) << "this kernel has no MADV_WIPEONFORK";
  expect_independent_streams(generator, fork);
}

TEST(SystemGeneratorFork, AlsoWhenTheChildIsMadeByTheBareSystemCall) {
  SystemGenerator generator;
  expect_independent_streams(generator, raw_clone);
}

TEST(SystemGeneratorFork, AlsoWhereTheKernelDoesNotWipe) {
  SystemGenerator generator;
  Peer::compare_process_ids_instead(generator);
  expect_independent_streams(generator, fork);
}

TEST(SystemGeneratorFork, TheChildFindsAnEmptyBuffer) {
  SystemGenerator generator;
  draw(generator, 1);
  const pid_t child = fork();
  if (child == 0) {
    const Peer::Buffer& buffer = Peer::buffer(generator);
    _exit(buffer.available == 0 && all_zero(buffer.words) ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Peer::buffer(generator).available, capacity - 1);
}

TEST(SystemGeneratorFork, AGrandchildIsIndependentToo) {
  SystemGenerator generator;
  draw(generator, 1);
  std::vector<std::uint64_t> all = words_of_child(generator, 64, [&] {
    const pid_t child = fork();
    if (child != 0) return child;
    draw(generator, 1);  // the child's buffer is in use when the grandchild is made
    const pid_t grandchild = fork();
    if (grandchild == 0) return pid_t{0};
    int status = -1;
    waitpid(grandchild, &status, 0);
    _exit(status);
  });
  append(all, draw(generator, 64));
  expect_distinct(all);
}

TEST(ThreadGenerator, EveryThreadHasItsOwn) {
  constexpr std::size_t threads = 4;
  std::array<std::vector<std::uint64_t>, threads> words;
  std::array<SystemGenerator*, threads> generators = {};
  {
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        generators[i] = &thread_generator();
        EXPECT_EQ(generators[i], &thread_generator());
        words[i] = draw(thread_generator(), 3000);
      });
    }
    for (std::thread& thread : running) thread.join();
  }
  std::vector<std::uint64_t> all = draw(thread_generator(), 3000);
  for (const auto& part : words) append(all, part);
  expect_distinct(all);
  for (SystemGenerator* generator : generators) EXPECT_NE(generator, nullptr);
}

void expect_failure(SystemGenerator& generator, std::size_t count) {
  std::vector<std::uint64_t> words(count, 7);
  try {
    generator.fill(words);
    ADD_FAILURE() << "a failed read delivered words";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_EQ(error.parameter(), "random");
  }
  EXPECT_TRUE(all_zero(words));
}

TEST(SystemGeneratorFailure, AFailedReadIsAnErrorAndDeliversNothing) {
  SystemGenerator generator;
  {
    const FailingGenerator failing(0);
    expect_failure(generator, 1);
    expect_failure(generator, capacity);
    EXPECT_EQ(Peer::buffer(generator).available, 0u);
    EXPECT_TRUE(all_zero(Peer::buffer(generator).words));
  }
  expect_distinct(draw(generator, 100));
}

TEST(SystemGeneratorFailure, NorDoesAReadThatFailsHalfWay) {
  SystemGenerator generator;
  draw(generator, capacity - 10);
  {
    const FailingGenerator failing(0);
    // Ten words come from the buffer before the refill fails: they are lost, not served.
    expect_failure(generator, 50);
    EXPECT_EQ(Peer::buffer(generator).available, 0u);
    EXPECT_TRUE(all_zero(Peer::buffer(generator).words));
  }
  {
    // The second block of three fails.
    const FailingGenerator failing(1);
    expect_failure(generator, 3 * SystemGenerator::block_bytes / sizeof(std::uint64_t));
  }
  expect_distinct(draw(generator, 100));
}

TEST(SystemGeneratorFailure, APreparedGeneratorIsKnownToWork) {
  SystemGenerator generator;
  draw(generator, 10);
  generator.prepare();
  EXPECT_EQ(Peer::buffer(generator).available, capacity);
  draw(generator, 10);
  {
    const FailingGenerator failing(0);
    EXPECT_THROW(generator.prepare(), Error);
    // What was left is not served either.
    EXPECT_EQ(Peer::buffer(generator).available, 0u);
    EXPECT_TRUE(all_zero(Peer::buffer(generator).words));
  }
  expect_distinct(draw(generator, 100));
}

// Each of the 64 bit positions of n words is fair: by Hoeffding |ones - n/2| > t with probability at most
// 2 exp(-2 t^2 / n); t is chosen so that all 128 comparisons together fail with probability 1e-9.
TEST(SystemGenerator, BitsAreFair) {
  constexpr std::size_t n = 200'000;
  const double t = std::sqrt(0.5 * static_cast<double>(n) * std::log(2 * 128 / 1e-9));
  SystemGenerator generator;
  for (const std::size_t request : {std::size_t{1}, n}) {
    std::array<std::size_t, 64> ones = {};
    std::vector<std::uint64_t> words(n);
    for (std::size_t i = 0; i < n; i += request) generator.fill(std::span(words).subspan(i, request));
    for (const std::uint64_t word : words) {
      for (std::size_t bit = 0; bit < 64; ++bit) ones[bit] += word >> bit & 1;
    }
    for (const std::size_t count : ones) EXPECT_LE(std::fabs(static_cast<double>(count) - n / 2.0), t);
  }
}

}  // namespace
}  // namespace snapdp
