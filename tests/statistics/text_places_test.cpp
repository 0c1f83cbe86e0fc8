#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "statistics/bin_index.h"

namespace snapdp {

using namespace statistics_internal;

namespace {

// Texts of every length around the word size that differ in one byte only, zero bytes and bytes above 127 included.
TEST(TextPlaces, FindsEveryTextAndNoOther) {
  std::mt19937_64 engine(5);
  for (const std::size_t count : {0U, 1U, 2U, 300U, 1000U}) {
    std::set<std::string> distinct;
    while (distinct.size() < count) {
      std::string text(engine() % 30, engine() % 3 == 0 ? '\0' : 'a');
      for (int changes = 0; changes < 3 && !text.empty(); ++changes)
        text[engine() % text.size()] = static_cast<char>(engine());
      distinct.insert(text);
    }
    std::vector<std::string> texts(distinct.begin(), distinct.end());
    std::shuffle(texts.begin(), texts.end(), engine);
    const TextPlaces table(texts);
    std::map<std::string, std::uint32_t> expected;
    for (std::size_t i = 0; i < texts.size(); ++i) expected[texts[i]] = static_cast<std::uint32_t>(i);
    for (const auto& [text, place] : expected) {
      ASSERT_EQ(table.find(text), place);
      for (std::string other : {text + '\0', text + "a", text.substr(0, text.size() / 2), text + text}) {
        const auto found = expected.find(other);
        ASSERT_EQ(table.find(other), found == expected.end() ? TextPlaces::absent : found->second);
      }
      for (std::size_t at = 0; at < text.size(); ++at) {
        std::string other = text;
        other[at] = static_cast<char>(other[at] ^ 1);
        const auto found = expected.find(other);
        ASSERT_EQ(table.find(other), found == expected.end() ? TextPlaces::absent : found->second);
      }
    }
    ASSERT_EQ(table.find({}), expected.count("") == 0 ? TextPlaces::absent : expected.at(""));
  }
}

}  // namespace
}  // namespace snapdp
