// snapdp init: from a data file to a first declaration and a first specification.
#include <gmock/gmock.h>

#include "cli/tool.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::Not;

class InitTest : public ToolTest {
 protected:
  InitTest() { write("people.csv", "person,age,city\nann,31,ulm\nbob,45,bonn\n"); }

  std::string text(const std::string& name) const { return read_text(path(name)); }
};

TEST_F(InitTest, WritesEveryQuestionAsACommentWhenNobodyIsAsked) {
  const Outcome outcome = run({"init", "people.csv", "--yes"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("from the header of \"people.csv\" alone"));
  EXPECT_THAT(outcome.error, HasSubstr("snapdp ledger create people.ledger people.toml --epsilon 2"));
  const std::string declaration = text("people.toml");
  EXPECT_THAT(declaration, HasSubstr("path = \"people.csv\"\ndataset = \"people\""));
  EXPECT_THAT(declaration, HasSubstr("# privacy_unit = \"person\""));
  EXPECT_THAT(declaration, HasSubstr("neighbors = \"add-remove\""));
  for (const char* column : {"person", "age", "city"}) {
    EXPECT_THAT(declaration, HasSubstr("[columns." + std::string(column) +
                                       "]\n# type = \"integer\"               # or \"text\""));
  }
  EXPECT_THAT(text("people.question.toml"), HasSubstr("kind = \"count\""));
  // What is written can be used at once.
  succeed({"ledger", "create", "people.ledger", "people.toml", "--epsilon", "2"});
  EXPECT_THAT(succeed({"release", "people.question.toml", "--ledger", "people.ledger", "--yes"}),
              HasSubstr("number of rows"));
}

TEST_F(InitTest, NothingComesFromTheRows) {
  succeed({"init", "people.csv", "--yes"});
  const std::string declaration = text("people.toml");
  const std::string question = text("people.question.toml");
  std::filesystem::remove(path("people.toml"));
  std::filesystem::remove(path("people.question.toml"));
  write("people.csv", "person,age,city\n\xff\xfe,,\n\"open,1,2\n");
  succeed({"init", "people.csv", "--yes"});
  EXPECT_EQ(text("people.toml"), declaration);
  EXPECT_EQ(text("people.question.toml"), question);
}

TEST_F(InitTest, AsksUntilAnAnswerMakesSense) {
  const Outcome outcome =
      on_terminal({"init", "people.csv"},
                  "my people\n"
                  "persn\nperson\n"        // no such column; the unit
                  "0\n2\n"                 // at least one row
                  "100\n90 0\n0 100\ny\n"  // one number; the wrong way round; whole numbers
                  "ulm, bonn,\nulm, ulm\nulm, bonn,  new york\n\x04");
  ASSERT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("did you mean \"person\"?"));
  EXPECT_THAT(outcome.out, HasSubstr("must be a whole number, at least 1"));
  EXPECT_THAT(outcome.out, HasSubstr("what is meant?"));
  EXPECT_THAT(outcome.out, HasSubstr("the least value comes first"));
  EXPECT_THAT(outcome.out, HasSubstr("each category once, and none empty"));
  const std::string declaration = text("people.toml");
  EXPECT_THAT(declaration, HasSubstr("dataset = \"my people\""));
  EXPECT_THAT(declaration, HasSubstr("privacy_unit = \"person\"\nmax_rows_per_unit = 2"));
  EXPECT_THAT(declaration, HasSubstr("[columns.age]\ntype = \"integer\"\nbounds = [0, 100]\n"));
  EXPECT_THAT(declaration,
              HasSubstr("[columns.city]\ntype = \"text\"\ncategories = [\"ulm\", \"bonn\", \"new york\"]\n"));
  EXPECT_THAT(declaration, Not(HasSubstr("[columns.person]")));
  const std::string question = text("people.question.toml");
  EXPECT_THAT(question, HasSubstr("name = \"mean of age\"\nkind = \"mean\"\ncolumn = \"age\"\n"));
  EXPECT_THAT(question, HasSubstr("name = \"histogram of city\"\nkind = \"histogram\"\ncolumn = \"city\"\n"));
  succeed({"ledger", "create", "people.ledger", "people.toml", "--epsilon", "2"});
  EXPECT_THAT(succeed({"release", "people.question.toml", "--ledger", "people.ledger", "--yes"}),
              HasSubstr("new york"));
}

TEST_F(InitTest, APublicNumberOfRowsAndNumbersAsCategories) {
  const Outcome outcome =
      on_terminal({"init", "people.csv", "--declaration", "d.toml", "--specification", "q.toml"},
                  "\n\n2\n-5 1e20\nn\n0.5 1000/3\n1, 2.5, 1/3\n\x04");
  ASSERT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_THAT(text("d.toml"), HasSubstr("neighbors = \"change-one\"\nsize = 2\n"));
  EXPECT_THAT(text("d.toml"), HasSubstr("bounds = [-5, \"100000000000000000000\"]"));
  EXPECT_THAT(text("d.toml"), HasSubstr("bounds = [0.5, \"1000/3\"]"));
  EXPECT_THAT(text("d.toml"), HasSubstr("[columns.city]\ntype = \"real\"\ncategories = [1, 2.5, \"1/3\"]"));
  EXPECT_EQ(json_of({"plan", "q.toml", "--declaration", "d.toml", "--json"}).at("statistics").size(), 4U);
}

TEST_F(InitTest, NothingIsWrittenWhenTheAnswersEnd) {
  const Outcome outcome = on_terminal({"init", "people.csv"}, "people\n\x04");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out, HasSubstr("nothing was written"));
  EXPECT_FALSE(std::filesystem::exists(path("people.toml")));
}

TEST_F(InitTest, ExistingFilesStayAsTheyAre) {
  for (const char* existing : {"people.toml", "people.question.toml"}) {
    write(existing, "mine");
    const Outcome outcome = run({"init", "people.csv", "--yes"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.error, HasSubstr("is there already and stays as it is"));
    EXPECT_EQ(text(existing), "mine");
    std::filesystem::remove(path(existing));
  }
  EXPECT_FALSE(std::filesystem::exists(path("people.toml")));
  EXPECT_EQ(run({"init", "people.csv", "--yes", "--declaration", "people.csv"}).code, 2);
  EXPECT_THAT(text("people.csv"), HasSubstr("ann"));
  // A link to nowhere is a file too.
  std::filesystem::create_symlink("elsewhere", path("people.toml"));
  EXPECT_EQ(run({"init", "people.csv", "--yes"}).code, 2);
}

TEST_F(InitTest, FromADeclarationWritesASpecificationAlone) {
  write("people.toml",
        "[data]\npath = \"people.csv\"\ndataset = \"people\"\nneighbors = \"add-remove\"\n"
        "[columns.age]\nbounds = [0, 100]\n[columns.city]\ncategories = [\"ulm\"]\n[columns.person]\n");
  const Outcome outcome = run({"init", "--from", "people.toml", "--specification", "q.toml"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_THAT(text("q.toml"), HasSubstr("#   snapdp plan q.toml --declaration people.toml\n"));
  EXPECT_THAT(text("q.toml"), HasSubstr("mean of age"));
  EXPECT_THAT(text("q.toml"), HasSubstr("# person: declare its bounds or categories"));
  succeed({"plan", "q.toml", "--declaration", "people.toml"});
  EXPECT_EQ(run({"init", "people.csv", "--from", "people.toml"}).code, 2);
  EXPECT_EQ(run({"init"}).code, 2);
}

TEST_F(InitTest, StrangeHeadersAreWrittenSoThatTheyAreRead) {
  write("odd.csv", "\"a b\",\"say \"\"so\"\"\",,x,x,\"\xc3\xa4\",\"" + std::string(300, 'n') + "\"\n");
  ASSERT_EQ(run({"init", "odd.csv", "--yes"}).code, 0);
  const std::string declaration = text("odd.toml");
  EXPECT_THAT(declaration, HasSubstr("[columns.\"a b\"]"));
  EXPECT_THAT(declaration, HasSubstr("[columns.\"say \\\"so\\\"\"]"));
  EXPECT_THAT(declaration, HasSubstr("# column \"\" has no name"));
  EXPECT_THAT(declaration, HasSubstr("# column \"x\" stands for columns 4 and 5"));
  EXPECT_THAT(declaration, HasSubstr("[columns.\"\xc3\xa4\"]"));
  EXPECT_THAT(declaration, HasSubstr("has a name of more than 256 bytes"));
  succeed({"plan", "odd.question.toml", "--declaration", "odd.toml"});
}

TEST_F(InitTest, SaysWhatIsMissing) {
  const Outcome nobody = run({"init", "people.csv"});
  EXPECT_EQ(nobody.code, 2);
  EXPECT_THAT(nobody.error, HasSubstr("--yes: is required where nobody can be asked"));
  EXPECT_EQ(run({"init", "missing.csv", "--yes"}).code, 5);
}

}  // namespace
}  // namespace snapdp
