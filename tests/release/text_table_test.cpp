#include "release/shared/text_table.h"

#include <gtest/gtest.h>

#include "release/shared/suggestion.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace release_internal;

namespace {

TEST(TextTable, AlignsColumnsByCharactersAndLeavesOutEmptyOnes) {
  TextTable table(
      {{"name", TextTable::Align::left}, {"n", TextTable::Align::right}, {"unused", TextTable::Align::left}});
  table.add({"\xc3\xa4ge", "1"});
  table.add({"a\x1b[31m", "-1000", ""});
  table.add({"last"});
  EXPECT_EQ(table.to_string(),
            "  name        n\n"
            "  \xc3\xa4ge         1\n"
            "  a?[31m  -1000\n"
            "  last\n");
  EXPECT_EQ(table.to_string({.color = true}).substr(0, 4), "\x1b[1m");
  EXPECT_THROW(table.add({"1", "2", "3", "4"}), Error);
}

TEST(TextTable, NothingInItSteersATerminal) {
  TextTable table({{"a\x1b]0;\xc2\x9b", TextTable::Align::left}});
  table.add({"\xe2\x80\xaeline\nline\x9b"});
  EXPECT_EQ(table.to_string(), "  a?]0;?\n  ?line?line?\n");
}

TEST(Suggestion, FindsTheNearestName) {
  const std::vector<std::string> names = {"age", "income", "education", "epsilon"};
  EXPECT_EQ(nearest_name("Age", names), "age");
  EXPECT_EQ(nearest_name("AGE", names), "age");
  EXPECT_EQ(nearest_name("icnome", names), "income");
  EXPECT_EQ(nearest_name("eductaion", names), "education");
  EXPECT_EQ(nearest_name("epsilonn", names), "epsilon");
  EXPECT_EQ(nearest_name("sex", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(10000, 'a'), names), "");
  EXPECT_EQ(nearest_name("age", {}), "");
  EXPECT_EQ(did_you_mean("agee", names), "; did you mean \"age\"?");
  EXPECT_EQ(did_you_mean("zzzz", names), "");
}

TEST(Suggestion, ListsNames) {
  EXPECT_EQ(either_of({"a", "b", "c"}), "a, b or c");
  EXPECT_EQ(either_of({"a"}), "a");
}

}  // namespace
}  // namespace snapdp
