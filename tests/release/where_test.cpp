#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "snapdp/error.h"
#include "snapdp/release/declaration.h"

namespace snapdp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string described(const std::string& text) {
  return Where::parse(text).bind({}).predicate.description();
}

std::string refusal(const std::string& text) {
  try {
    Where::parse(text).bind({});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << text;
    EXPECT_EQ(error.parameter(), "where") << text;
    return error.what();
  }
  ADD_FAILURE() << text << " is accepted";
  return "";
}

TEST(Where, ReadsTheWholeGrammar) {
  const Where where = Where::parse("age >= 18 and state in (6, 36)");
  EXPECT_THAT(where.columns(), ElementsAre("age", "state"));
  EXPECT_EQ(described("age >= 18 and state in (6, 36)"), "(#0 >= 18 and (#1 = 6 or #1 = 36))");
  EXPECT_EQ(described("a=1 or b=2 and c=3"), "(#0 = 1 or (#1 = 2 and #2 = 3))");
  EXPECT_EQ(described("(a=1 or b=2) AND NOT c<>3"), "((#0 = 1 or #1 = 2) and not #2 != 3)");
  EXPECT_EQ(described("not not a == -1.5e3"), "not not #0 = -1500");
  EXPECT_EQ(described("x not in (0x1p-3)"), "not (#0 = 0.125)");
  EXPECT_EQ(described("a.b_1<+.5"), "#0 < 0.5");
  EXPECT_EQ(described("sex = 'it''s' or sex in ('', 'F')"), "(#0 = 4:it's or (#0 = 0: or #0 = 1:F))");
  EXPECT_THAT(Where::parse("\"a \"\"b\"\"\" = 1 and andy = 2 and \"and\" = 3").columns(),
              ElementsAre("a \"b\"", "andy", "and"));
}

TEST(Where, RefusesWhatIsNotInIt) {
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("  \n"), HasSubstr("empty"));
  EXPECT_THAT(refusal("age >"), HasSubstr("it ends where a constant is expected"));
  EXPECT_THAT(refusal("18 <= age"), HasSubstr("the column comes first"));
  EXPECT_THAT(refusal("age >= other"), HasSubstr("single quotes"));
  EXPECT_THAT(refusal("age >= \"18\""), HasSubstr("single quotes"));
  EXPECT_THAT(refusal("age >= 18; DROP TABLE people"),
              HasSubstr("at character 10: \";\" has no meaning here"));
  EXPECT_THAT(refusal("age >= 18 limit 3"),
              HasSubstr("at character 11: \"limit\" stands where and, or, or the end"));
  EXPECT_THAT(refusal("f(age) > 2"), HasSubstr("= != < <= > >= or in"));
  EXPECT_THAT(refusal("(age > 2"), HasSubstr("it ends where )"));
  EXPECT_THAT(refusal("age in ()"), HasSubstr("a constant"));
  EXPECT_THAT(refusal("age in (1, 2"), HasSubstr("it ends where )"));
  EXPECT_THAT(refusal("age not 3"), HasSubstr("where in is expected"));
  EXPECT_THAT(refusal("name < 'b'"), HasSubstr("texts have no order"));
  EXPECT_THAT(refusal("name = 'b"), HasSubstr("not closed"));
  EXPECT_THAT(refusal("a = 1 and a = 'x'"), HasSubstr("both texts and numbers"));
  EXPECT_THAT(refusal("a in (1, 'x')"), HasSubstr("both texts and numbers"));
  EXPECT_THAT(refusal("a = 1e999"), HasSubstr("no number"));
  EXPECT_THAT(refusal("a = 1e400"), HasSubstr("beyond the largest double"));
  EXPECT_THAT(refusal("a = 12abc"), HasSubstr("no number"));
  EXPECT_THAT(refusal("a=1 and b=1 and c=1 and d=1 and e=1 and f=1 and g=1 and h=1 and i=1"),
              HasSubstr("8 columns"));
  EXPECT_THAT(refusal(std::string(101, '(') + "a=1" + std::string(101, ')')), HasSubstr("100 deep"));
  std::string negations;
  for (int i = 0; i < 200; ++i) negations += "not ";
  EXPECT_THAT(refusal(negations + "a = 1"), HasSubstr("100 deep"));
  EXPECT_THAT(refusal(std::string(10'001, ' ')), HasSubstr("longer than"));
  EXPECT_THAT(refusal(std::string("a = 1\0", 6)), HasSubstr("has no meaning"));
}

TEST(Where, TakesItsTypesFromTheDeclaration) {
  const std::map<std::string, AtomType> declared{{"n", AtomType::integer}, {"t", AtomType::text}};
  const RowSelection::Condition condition = Where::parse("t = 'a' and n > 2 and c > 2").bind(declared);
  EXPECT_THAT(condition.columns, ElementsAre("t", "n", "c"));
  EXPECT_THAT(condition.types, ElementsAre(AtomType::text, AtomType::integer, AtomType::real));
  condition.predicate.require_fits(untrusted_domain(condition.types));
  EXPECT_THROW(Where::parse("t = 1").bind(declared), Error);
  EXPECT_THROW(Where::parse("n = '1'").bind(declared), Error);
}

}  // namespace
}  // namespace snapdp
