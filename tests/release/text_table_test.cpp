#include "snapdp/release/text_table.h"

#include <gtest/gtest.h>

#include "snapdp/error.h"
#include "snapdp/release/suggestion.h"

namespace snapdp {
namespace {

Rational number(const std::string& text) {
  return parse_rational(text, "number");
}

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

TEST(Numbers, AreRoundedUpToSignificantDigits) {
  EXPECT_EQ(round_up_to_digits(number("0.12345"), 3), "0.124");
  EXPECT_EQ(round_up_to_digits(number("12345"), 3), "12400");
  EXPECT_EQ(round_up_to_digits(number("12.3"), 3), "12.3");
  EXPECT_EQ(round_up_to_digits(number("12.300000001"), 3), "12.4");
  EXPECT_EQ(round_up_to_digits(number("0.5"), 3), "0.5");
  EXPECT_EQ(round_up_to_digits(number("99.91"), 3), "100");
  EXPECT_EQ(round_up_to_digits(number("1e-9"), 3), "1e-9");
  EXPECT_EQ(round_up_to_digits(number("1.2341e+25"), 3), "1.24e+25");
  EXPECT_EQ(round_up_to_digits(number("1/3"), 5), "0.33334");
  EXPECT_EQ(round_up_to_digits(number("0"), 3), "0");
  EXPECT_EQ(round_up_to_digits(number("1e400"), 3), "1e+400");
}

TEST(Numbers, AreShownExactlyWhenShort) {
  EXPECT_EQ(short_number(number("0.25")), "0.25");
  EXPECT_EQ(short_number(number("1000000")), "1000000");
  EXPECT_EQ(short_number(number("1/3")), "0.33334");
  EXPECT_EQ(short_number(number("0x1p-40")), "9.095e-13");
}

TEST(Numbers, HaveTheDigitsOfTheirGrid) {
  EXPECT_EQ(at_grid_resolution(number("44.79218"), number("0x1p-14")), "44.79218");
  EXPECT_EQ(at_grid_resolution(number("44.79218"), number("0.25")), "44.8");
  EXPECT_EQ(at_grid_resolution(number("-44.79218"), number("0.01")), "-44.79");
  EXPECT_EQ(at_grid_resolution(number("0.004"), number("0.5")), "0.0");
  EXPECT_EQ(at_grid_resolution(number("-0.004"), number("0.5")), "0.0");
  EXPECT_EQ(at_grid_resolution(number("123456"), number("1024")), "123456");
  EXPECT_EQ(at_grid_resolution(number("1e300"), number("1e280")), "1e+300");
  // Beyond the doubles, and between numbers that 30 decimals do not tell apart.
  EXPECT_EQ(at_grid_resolution(number("1.5e310"), number("1e280")), "1.5e+310");
  EXPECT_EQ(at_grid_resolution(number("-1.5e310"), number("1e280")), "-1.5e+310");
  EXPECT_EQ(at_grid_resolution(number("1e-200"), number("1e-210")), "1e-200");
  EXPECT_EQ(at_grid_resolution(number("2e-350"), number("1e-351")), "2e-350");
  EXPECT_EQ(at_grid_resolution(number("0"), number("1e-351")), "0");
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

TEST(Suggestion, QuotesAreSafeToPrint) {
  EXPECT_EQ(quoted_text("a\x1b\n"), "\"a??\"");
  EXPECT_EQ(quoted_text(std::string(59, 'a') + "\xc3\xa4\xc3\xa4"), "\"" + std::string(59, 'a') + "...\"");
  EXPECT_EQ(either_of({"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace snapdp
