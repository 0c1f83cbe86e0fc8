#include <gtest/gtest.h>

#include <array>

#include "snapdp/error.h"
#include "snapdp/random/word_source.h"

namespace snapdp {
namespace {

TEST(RecordedTape, ServesItsWordsInOrderAndRewinds) {
  RecordedTape tape({1, 2, 3, 4});
  std::array<std::uint64_t, 2> words = {};
  tape.fill(words);
  EXPECT_EQ(words, (std::array<std::uint64_t, 2>{1, 2}));
  EXPECT_EQ(tape.next(), 3u);
  EXPECT_EQ(tape.consumed(), 3u);
  EXPECT_EQ(tape.remaining(), 1u);
  tape.rewind();
  EXPECT_EQ(tape.next(), 1u);
}

TEST(RecordedTape, ThrowsAtItsEndAndDeliversNothing) {
  RecordedTape tape({1, 2, 3});
  std::array<std::uint64_t, 4> words = {9, 9, 9, 9};
  try {
    tape.fill(words);
    FAIL() << "served more words than it holds";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    EXPECT_EQ(error.parameter(), "tape");
  }
  EXPECT_EQ(words, (std::array<std::uint64_t, 4>{}));
  EXPECT_EQ(tape.consumed(), 0u);
  EXPECT_EQ(tape.next(), 1u);
}

TEST(Wipe, LeavesZeros) {
  std::array<std::uint64_t, 3> words = {1, 2, 3};
  wipe(std::span(words).first(2));
  EXPECT_EQ(words, (std::array<std::uint64_t, 3>{0, 0, 3}));
  wipe({});
}

}  // namespace
}  // namespace snapdp
