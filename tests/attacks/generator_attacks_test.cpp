// Attacks on the generator: the same noise twice cancels, and noise that stays in memory can be subtracted later.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <thread>
#include <type_traits>

#include "attacks/attack.h"
#include "random/system_generator.h"

namespace snapdp {

class SystemGeneratorPeer {
 public:
  static std::vector<std::uint64_t> memory(const SystemGenerator& generator) {
    const auto& words = generator.buffer_->words;
    return {words.begin(), words.end()};
  }
};

namespace attacks {
namespace {

// As deployed: a good generator, seeded from the system, whose words are drawn ahead into a buffer.
class NaiveGenerator {
 public:
  NaiveGenerator() { thread_generator().fill(buffer_); }
  std::uint64_t next() { return buffer_[position_++ % buffer_.size()]; }
  // Laplace noise of scale 1.
  double noise() {
    const double u = static_cast<double>((next() >> 11) + 1) * 0x1p-53;
    return (next() % 2 == 0 ? 1 : -1) * std::log(u);
  }
  const std::vector<std::uint64_t>& memory() const { return buffer_; }

 private:
  std::vector<std::uint64_t> buffer_ = std::vector<std::uint64_t>(512);
  std::size_t position_ = 0;
};

constexpr std::size_t releases = 16;
using Series = std::array<double, releases>;

// Two series of releases of 10 and of 25 with the same noise differ by 15 throughout. Independent ones do with
// probability below 2^-9 a release on the grid 2^-10, noise of scale 1: below 2^-140 for all sixteen.
bool difference_is_out(const Series& first, const Series& second) {
  for (std::size_t i = 0; i < releases; ++i) {
    if (std::fabs(second[i] - first[i] - 15) > 1e-9) return false;
  }
  return true;
}

Series naive_series(NaiveGenerator& generator, double value) {
  Series series;
  for (double& x : series) x = value + generator.noise();
  return series;
}

Series our_series(double value) {
  const Snapping mechanism({.epsilon = 1, .sensitivity = Dyadic(1)});
  Series series;
  for (double& x : series) x = mechanism.release(Dyadic(value), thread_generator()).to_double_nearest();
  return series;
}

// What the function gives in a child process.
template <typename Function>
Series in_child(const Function& function) {
  std::array<int, 2> ends = {};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Series series = function();
    _exit(write(ends[1], series.data(), sizeof series) == static_cast<ssize_t>(sizeof series) ? 0 : 1);
  }
  close(ends[1]);
  Series series = {};
  EXPECT_EQ(read(ends[0], series.data(), sizeof series), static_cast<ssize_t>(sizeof series));
  close(ends[0]);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return series;
}

TEST(RepeatedState, AfterForkCancelsTheNoise) {
  NaiveGenerator naive;
  const Series of_child = in_child([&] { return naive_series(naive, 10); });
  EXPECT_TRUE(difference_is_out(of_child, naive_series(naive, 25)));
  our_series(0);  // the parent's buffer is in use
  const Series ours_of_child = in_child([] { return our_series(10); });
  EXPECT_FALSE(difference_is_out(ours_of_child, our_series(25)));
  EXPECT_FALSE(
      difference_is_out(in_child([] { return our_series(10); }), in_child([] { return our_series(25); })));
}

TEST(RepeatedState, InThreadsCancelsTheNoise) {
  // A thread-local generator with the standard library's default seed.
  Series first = {};
  Series second = {};
  const auto in_threads = [&](const auto& function) {
    std::thread one([&] { first = function(10.0); });
    std::thread two([&] { second = function(25.0); });
    one.join();
    two.join();
  };
  in_threads([](double value) {
    thread_local std::mt19937_64 engine;
    Series series;
    for (double& x : series) x = value + textbook_laplace(engine, 1);
    return series;
  });
  EXPECT_TRUE(difference_is_out(first, second));
  in_threads([](double value) { return our_series(value); });
  EXPECT_FALSE(difference_is_out(first, second));
}

TEST(RepeatedState, FromACopyOfTheBufferCancelsTheNoise) {
  // Copied by accident (passed by value), checkpointed, or restored with the process image.
  NaiveGenerator naive;
  NaiveGenerator copy = naive;
  EXPECT_TRUE(difference_is_out(naive_series(naive, 10), naive_series(copy, 25)));
  static_assert(std::is_copy_constructible_v<NaiveGenerator>);
  static_assert(!std::is_copy_constructible_v<SystemGenerator> &&
                !std::is_copy_assignable_v<SystemGenerator>);
  static_assert(!std::is_move_constructible_v<SystemGenerator> &&
                !std::is_move_assignable_v<SystemGenerator>);
  // Release code takes this type and no other source: nothing that replays can be passed to it.
  static_assert(!std::is_invocable_v<decltype([](const Snapping& m,
                                                 auto& source) -> decltype(m.release(Dyadic(0), source)) {
                                       return m.release(Dyadic(0), source);
                                     }),
                                     const Snapping&, RecordedTape&>);
}

TEST(RepeatedState, LeftInMemoryUndoesAReleaseLater) {
  // Whoever reads the memory of a naive generator after a release (a core dump, another bug) finds the words behind it,
  // and with them the exact value.
  NaiveGenerator naive;
  const double released_value = 42 + naive.noise();
  bool found = false;
  for (std::size_t i = 0; i + 1 < naive.memory().size(); ++i) {
    const double u = static_cast<double>((naive.memory()[i] >> 11) + 1) * 0x1p-53;
    const double noise = (naive.memory()[i + 1] % 2 == 0 ? 1 : -1) * std::log(u);
    found = found || std::fabs(released_value - noise - 42) < 1e-9;
  }
  EXPECT_TRUE(found);

  // Ours: no word that may still be in the buffer gives what was released, but by chance: fewer than 2,048 words each do
  // with probability below 2^-9 a release, which 24 releases in a row cannot mimic (2048 2^-9 > 1, so the words of all of
  // them must lie together): at most 2048 2^-216.
  SystemGenerator generator;
  const Snapping mechanism({.epsilon = 1, .sensitivity = Dyadic(1)});
  std::vector<Dyadic> values;
  for (int i = 0; i < 24; ++i) values.push_back(mechanism.release(Dyadic(42), generator));
  const std::vector<std::uint64_t> memory = SystemGeneratorPeer::memory(generator);
  const auto undoes = [&](const std::vector<std::uint64_t>& words, std::size_t at) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      RecordedTape tape({words[at + i], 0x5555555555555555, 0x5555555555555555});
      if (mechanism.replay(Dyadic(42), tape) != values[i]) return false;
    }
    return true;
  };
  for (std::size_t at = 0; at + values.size() <= memory.size(); ++at) {
    if (memory[at] != 0) {
      ASSERT_FALSE(undoes(memory, at));
    }
  }
  EXPECT_TRUE(std::all_of(memory.begin(), memory.begin() + 24, [](std::uint64_t word) { return word == 0; }));
  // The search works: with the words at hand it finds them.
  std::vector<std::uint64_t> tape_words(24);
  generator.fill(tape_words);
  RecordedTape tape(tape_words);
  for (Dyadic& value : values) value = mechanism.replay(Dyadic(42), tape);
  EXPECT_TRUE(undoes(tape_words, 0));
}

}  // namespace
}  // namespace attacks
}  // namespace snapdp
