#include "snapdp/release/declaration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "release/replace.h"
#include "snapdp/error.h"
#include "snapdp/release/release.h"
#include "snapdp/testing/memory_source.h"

namespace snapdp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string people_text = R"([data]
path = "people.csv"
delimiter = ";"
dataset = "people"
neighbors = "add-remove"
expected_size = 1_000
privacy_unit = "pid"
max_rows_per_unit = 2

[columns.age]
type = "integer"
bounds = [0, 100]
description = "Age in \"years\""

[columns.city]
keys = ["Bonn", "Köln"]

[columns."odd name"]
bounds = ["-1/3", 1e-3]

[columns.code]
type = "integer"
categories = [9, 7_0, -3]
)";

// What an analyst writes: nothing about how the data are read.
const std::string question_text = R"([budget]
epsilon = 1
[[statistic]]
name = "mean age"
kind = "mean"
column = "age"
epsilon = "1/2"
[[statistic]]
name = "cities"
kind = "histogram"
column = "city"
epsilon = "1/4"
[[statistic]]
name = "by city"
kind = "count"
group_by = "city"
epsilon = "1/4"
)";

Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::io, "", "no error");
}

Error refusal(const std::string& text) {
  return error_of([&] { Declaration::parse(text, "people.toml"); });
}

Declaration people() {
  return Declaration::parse(people_text, "people.toml", "/home");
}

TEST(Declaration, ReadsWhatIsPublic) {
  const Declaration declaration = people();
  EXPECT_EQ(declaration.path, "/home/people.csv");
  EXPECT_EQ(declaration.delimiter, ';');
  EXPECT_EQ(declaration.format, std::nullopt);
  EXPECT_EQ(declaration.identity(), (LedgerIdentity{"people", Neighbors::add_remove, "pid"}));
  EXPECT_EQ(declaration.expected_size, 1000U);
  EXPECT_EQ(declaration.max_rows_per_unit, 2U);
  EXPECT_TRUE(declaration.drop_nulls);
  EXPECT_EQ(declaration.column("age").type, AtomType::integer);
  EXPECT_EQ(declaration.column("age").bounds->upper, 100);
  EXPECT_EQ(declaration.column("age").description, "Age in \"years\"");
  EXPECT_EQ(declaration.column("city").type, AtomType::text);
  EXPECT_THAT(declaration.column("city").values.texts, ElementsAre("Bonn", "Köln"));
  EXPECT_EQ(declaration.column("odd name").bounds->lower, Rational(-1, 3));
  EXPECT_THAT(declaration.column("code").values.numbers, ElementsAre(9, 70, -3));
  EXPECT_EQ(declaration.column("unknown").type, std::nullopt);
  EXPECT_THAT(declaration.types(), testing::SizeIs(3));
}

// They are kept as they are written, a number in quotes included, and change nothing else.
TEST(Declaration, HasWordsForPeople) {
  const std::string words =
      replaced(people_text, "dataset = ", "title = \"People of Bonn\"\ndataset = ") +
      "unit = \"points\"\nlabels = { 9 = \"nine\", \"70.0\" = \"1e1\", \"[0, 20)\" = "
      "\"low\", other = \"none\" }\n[columns.word]\nlabels = { size = \"12\", bounds = \"3\" }\n";
  const Declaration declaration = Declaration::parse(words, "people.toml");
  EXPECT_EQ(declaration.title, "People of Bonn");
  const ColumnDeclaration& code = declaration.column("code");
  EXPECT_EQ(code.unit, "points");
  EXPECT_EQ(code.label_of("9"), "nine");
  EXPECT_EQ(code.label_of("70"), "1e1");
  EXPECT_EQ(code.label_of("[0, 20)"), "low");
  EXPECT_EQ(code.label_of("other"), "none");
  EXPECT_EQ(code.label_of("-3"), "");
  const std::string canonical = declaration.canonical_text();
  EXPECT_EQ(Declaration::parse(canonical, "again").canonical_text(), canonical);
  EXPECT_EQ(Declaration::parse(canonical, "again").column("word").label_of("size"), "12");
  EXPECT_EQ(Declaration::parse(canonical, "again").column("code").label_of("70"), "1e1");
  const auto column = [](const std::string& keys) { return refusal(people_text + keys); };
  EXPECT_THAT(column("labels = { 8 = \"eight\" }").what(),
              HasSubstr("names \"8\", which is none of the column's values"));
  EXPECT_THAT(column("labels = { 9 = \"a\", \"9.0\" = \"b\" }").what(), HasSubstr("twice"));
  EXPECT_THAT(column("labels = { 9 = 3 }").what(), HasSubstr("must be a text in quotes"));
  EXPECT_THAT(column("labels = \"x\"").what(), HasSubstr("labels = \"x\""));
  EXPECT_THAT(column("unit = \"\"").what(), HasSubstr("must not be empty"));
}

// Words are the custodian's: an analyst may repeat them, not change them.
TEST(Declaration, WordsAreNotForASpecificationToChange) {
  const Declaration declaration = Declaration::parse(
      replaced(people_text, "dataset = ", "title = \"People\"\ndataset = "), "people.toml");
  EXPECT_NO_THROW(
      Specification::parse("[data]\ntitle = \"People\"\n" + question_text, "q.toml", {}, declaration));
  const Error error = error_of([&] {
    Specification::parse("[data]\ntitle = \"Others\"\n" + question_text, "q.toml", {}, declaration);
  });
  EXPECT_EQ(error.code(), ErrorCode::budget_refused);
}

TEST(Declaration, RefusesWhatCannotBe) {
  const auto column = [](const std::string& keys) { return refusal(people_text + "[columns.x]\n" + keys); };
  EXPECT_THAT(column("type = \"date\"").what(),
              HasSubstr("people.toml:25: [columns.x]: type = \"date\": must be"));
  EXPECT_THAT(column("bound = [0, 1]").what(), HasSubstr("did you mean \"bounds\"?"));
  EXPECT_THAT(column("bounds = [1, 0]").what(), HasSubstr("must not be above"));
  EXPECT_THAT(column("bounds = [0]").what(), HasSubstr("two ends"));
  EXPECT_THAT(column("categories = []").what(), HasSubstr("at least one"));
  EXPECT_THAT(column("categories = [1, \"a\"]").what(), HasSubstr("mixes"));
  EXPECT_THAT(column("categories = [1, 1.0]").what(), HasSubstr("twice"));
  EXPECT_THAT(column("categories = [1]\nkeys = [1]").what(), HasSubstr("cannot stand beside"));
  EXPECT_THAT(column("type = \"integer\"\ncategories = [1.5]").what(), HasSubstr("whole numbers"));
  EXPECT_THAT(column("type = \"text\"\nbounds = [0, 1]").what(), HasSubstr("need numbers"));
  EXPECT_THAT(column("type = \"text\"\ncategories = [1]").what(), HasSubstr("texts in quotes"));
  EXPECT_THAT(refusal("[columns]\nx = 3\n" + replaced(people_text, "[columns.age]", "[columns.a]")).what(),
              HasSubstr("[columns.NAME]"));
  EXPECT_THAT(refusal(replaced(people_text, "[data]", "[date]")).what(), HasSubstr("\"data\""));
  EXPECT_THAT(refusal(replaced(people_text, "delimiter = \";\"", "delimiter = \"a\"")).what(),
              HasSubstr("one character"));
  EXPECT_THAT(refusal(replaced(people_text, "delimiter", "format = \"parquet\"\ndelimiter")).what(),
              HasSubstr("does not go with"));
  EXPECT_THAT(refusal(replaced(people_text, "people.csv", "https://example.org/people.csv")).what(),
              HasSubstr("addresses are not opened"));
  EXPECT_THAT(refusal(replaced(people_text, "delimiter", "format = \"xlsx\"\ndelimiter")).what(),
              HasSubstr("csv or parquet"));
  EXPECT_THAT(refusal(replaced(people_text, "expected_size", "where = \"city = 3\"\nexpected_size")).what(),
              HasSubstr("is declared as text"));
}

TEST(Declaration, HasOneCanonicalTextThatReadsBack) {
  const std::string text = people().canonical_text();
  EXPECT_EQ(Declaration::parse(text, "again", "/home").canonical_text(), text);
  EXPECT_EQ(Declaration::parse(text, "again", "/home").path, "/home/people.csv");
  EXPECT_THAT(text, HasSubstr("[data]\ndataset = \"people\"\ndelimiter = \";\"\nexpected_size = 1000\n"));
  EXPECT_THAT(text, HasSubstr("[columns.\"odd name\"]\nbounds = [\"-1/3\", 0.001]\n"));
  EXPECT_THAT(text, HasSubstr("categories = [9, 70, -3]"));
  // Written otherwise, with a specification behind it.
  std::string other = replaced(people_text, "1_000", "1000   # a guess");
  other = replaced(other, "[0, 100]", "[ 0.0,\n  1e2 ]");
  other = replaced(other, "delimiter = \";\"", "\"delimiter\" = ';'");
  EXPECT_EQ(Declaration::parse(other + question_text, "other").canonical_text(), text);
}

TEST(Declaration, NumbersOfAnySizeReadBackFromItsCanonicalText) {
  for (const char* number :
       {"1e300", "-1e-300", "9223372036854775808.0", "0.1", "\"1e-400\"", "\"1e400\"", "\"1/7\"",
        "\"0x1p-1000\"", "-0.0", "1234567890123456789012345678901234567890.5", "1e-45",
        // Longer than people may write them, in the form that is the usual one.
        "\"0x1p-400\"", "\"0x1p-900\"", "1.2345678901234567890123456789012345678901234e250",
        "-1.2345678901234567890123456789012345678901234e-250", "\"1/3e200\""}) {
    const std::string text =
        replaced(people_text, "bounds = [0, 100]", std::string("bounds = [") + number + ", " + number + "]");
    const Declaration declaration =
        Declaration::parse(replaced(text, "\"integer\"", "\"real\""), "people.toml");
    const Declaration again = Declaration::parse(declaration.canonical_text(), "again");
    EXPECT_EQ(again.column("age").bounds->lower, declaration.column("age").bounds->lower) << number;
    EXPECT_EQ(again.canonical_text(), declaration.canonical_text()) << number;
  }
}

TEST(Declaration, ARelativePathFollowsTheFolder) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const Declaration declaration = Declaration::parse(people_text, "people.toml", folder / "a");
  const Declaration moved = declaration.moved_to(folder / "b");
  EXPECT_THAT(moved.canonical_text(), HasSubstr("path = \"../a/people.csv\""));
  EXPECT_EQ(std::filesystem::weakly_canonical(moved.path),
            std::filesystem::weakly_canonical(declaration.path));
  const Declaration absolute =
      Declaration::parse(replaced(people_text, "people.csv", "/srv/people.csv"), "people.toml", folder);
  EXPECT_EQ(absolute.moved_to("/tmp").canonical_text(), absolute.canonical_text());
}

TEST(Declaration, AStatisticTakesFromItWhatItLeavesOut) {
  const Specification specification = Specification::parse(question_text, "q.toml", {}, people());
  EXPECT_EQ(specification.statistics[0].type, AtomType::integer);
  EXPECT_EQ(specification.statistics[0].bounds.at(0).upper, 100);
  EXPECT_THAT(specification.statistics[1].texts, ElementsAre("Bonn", "Köln"));
  EXPECT_EQ(specification.statistics[1].type, AtomType::text);
  EXPECT_THAT(specification.statistics[2].key_texts, ElementsAre("Bonn", "Köln"));
  EXPECT_EQ(specification.data.delimiter, ';');
  EXPECT_EQ(Plan(specification).epsilon(), 1);
  // Its own bounds and values go first: they are public constants, too.
  const Specification narrower =
      Specification::parse(replaced(question_text, "column = \"age\"", "column = \"age\"\nbounds = [18, 65]"),
                           "q.toml", {}, people());
  EXPECT_EQ(narrower.statistics[0].bounds.at(0).lower, 18);
  const auto refused = [](const std::string& keys) {
    return error_of([&] {
      Specification::parse("[budget]\nepsilon = 1\n[[statistic]]\nname = \"x\"\nepsilon = 1\n" + keys,
                           "q.toml", {}, people());
    });
  };
  // The types are the declaration's.
  EXPECT_THAT(refused("kind = \"sum\"\ncolumn = \"age\"\ntype = \"real\"").what(),
              HasSubstr("is declared as integer; remove type"));
  EXPECT_THAT(refused("kind = \"sum\"\ncolumn = \"city\"\nbounds = [0, 1]").what(),
              HasSubstr("declared as text"));
  EXPECT_THAT(refused("kind = \"histogram\"\ncolumn = \"city\"\ncategories = [1]").what(),
              HasSubstr("in quotes"));
  EXPECT_THAT(refused("kind = \"histogram\"\ncolumn = \"city\"\nedges = [1, 2]").what(),
              HasSubstr("use categories"));
  EXPECT_THAT(refused("kind = \"count\"\ngroup_by = \"city\"\nkeys = [1]").what(), HasSubstr("in quotes"));
  EXPECT_THAT(refused("kind = \"count\"\ngroup_by = \"age\"\nkeys = [\"1\"]").what(),
              HasSubstr("without quotes"));
  EXPECT_THAT(refused("kind = \"sum\"\ncolumn = \"code\"").what(), HasSubstr("bounds is missing"));
}

// An analyst may repeat what the declaration says, choose what a statistic could choose as well, and nothing else.
TEST(Declaration, AnAnalystAgreesWithItOrIsRefused) {
  const auto under = [](const std::string& data) {
    return error_of([&] { Specification::parse(data + question_text, "q.toml", "/home", people()); });
  };
  EXPECT_EQ(under("").code(), ErrorCode::io) << under("").what();
  EXPECT_EQ(under(people_text).code(), ErrorCode::io) << under(people_text).what();
  EXPECT_EQ(under("[data]\nwhere = \"age > 3\"\nnulls = { impute = 1 }\nexpected_size = 1000\n").code(),
            ErrorCode::io);
  EXPECT_EQ(under("[data]\npath = \"elsewhere.csv\"\n").code(), ErrorCode::io);  // declared_path() judges
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"delimiter", "\"?\""},          {"format", "\"parquet\""},
      {"dataset", "\"folk\""},         {"size", "10"},
      {"neighbors", "\"change-one\""}, {"privacy_unit", "\"age\""},
      {"max_rows_per_unit", "3"},      {"expected_size", "999"}};
  for (const auto& [key, value] : changes) {
    const Error error = under("[data]\n" + key + " = " + value + "\n");
    EXPECT_EQ(error.code(), ErrorCode::budget_refused) << key << error.what();
    EXPECT_EQ(error.parameter(), key) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("q.toml:2: [data]: " + key + " = " + value + ": the declaration"));
  }
  for (const char* column : {"[columns.age]\ntype = \"real\"\n", "[columns.age]\nbounds = [0, 99]\n",
                             "[columns.age]\ncategories = [1]\n", "[columns.new]\ntype = \"text\"\n",
                             "[columns.city]\nkeys = [\"Köln\", \"Bonn\"]\n"}) {
    EXPECT_EQ(under(column).code(), ErrorCode::budget_refused) << column << under(column).what();
  }
  EXPECT_EQ(under("[columns.age]\nbounds = [0.0, 1e2]\n").code(), ErrorCode::io);
  // Nonsense is called that first.
  EXPECT_EQ(under("[columns.age]\nbounds = [1, 0]\n").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(under("[data]\ndelimeter = \",\"\n").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(under("[data]\nwhere = \"city > 3\"\n").code(), ErrorCode::invalid_argument);
  EXPECT_THAT(error_of([] { Specification::parse(question_text, "q.toml"); }).what(),
              HasSubstr("--ledger FILE or --declaration FILE"));
}

class DeclaredLedgerTest : public testing::Test {
 protected:
  DeclaredLedgerTest() { std::filesystem::create_directories(folder_); }
  ~DeclaredLedgerTest() override { std::filesystem::remove_all(folder_); }

  Ledger ledger(const std::string& declaration) const {
    return Ledger::create(folder_ / "people.ledger", people().identity(), 100, declaration);
  }

  const std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                        ("snapdp_declaration_" + std::to_string(std::random_device()()));
};

MemorySource rows() {
  MemorySource source;
  source.add("pid", MemorySource::Texts{"a", "b", "b", "c"});
  source.add("age", MemorySource::Texts{"30", "40", "50", "x"});
  source.add("city", MemorySource::Texts{"Bonn", "Köln", "Ulm", ""});
  return source;
}

// A release obeys the ledger's declaration, whatever its specification was read with.
TEST_F(DeclaredLedgerTest, IsInForceInARelease) {
  Ledger book = ledger(people().canonical_text());
  EXPECT_EQ(Declaration::of(book)->canonical_text(), people().canonical_text());
  std::optional<char> delimiter;
  const auto open = [&](const Declaration& declaration) {
    delimiter = declaration.delimiter;
    return std::make_unique<MemorySource>(rows());
  };
  const Specification asked = Specification::parse(question_text, "q.toml", {}, Declaration::of(book));
  EXPECT_EQ(release(asked, book, open).release, 1);
  EXPECT_EQ(delimiter, ';');
  EXPECT_EQ(book.specification(1), question_text);
  // An analyst's own declaration of the same name: silent about the delimiter, then another one.
  const std::string own =
      "[data]\ndataset = \"people\"\nneighbors = \"add-remove\"\nprivacy_unit = \"pid\"\n"
      "max_rows_per_unit = 2\n";
  const std::string bounded =
      replaced(question_text, "column = \"age\"", "column = \"age\"\nbounds = [0, 9]");
  const std::string keyed =
      replaced(replaced(bounded, "kind = \"histogram\"", "kind = \"histogram\"\ncategories = [\"a\"]"),
               "group_by", "keys = [\"a\"]\ngroup_by");
  delimiter.reset();
  EXPECT_EQ(release(Specification::parse(own + keyed, "q.toml"), book, open).release, 2);
  EXPECT_EQ(delimiter, ';');
  const Rational before = book.balance().spent.value;
  const Error error = error_of(
      [&] { release(Specification::parse(own + "delimiter = \"?\"\n" + keyed, "q.toml"), book, open); });
  EXPECT_EQ(error.code(), ErrorCode::budget_refused);
  EXPECT_EQ(error.parameter(), "delimiter");
  EXPECT_EQ(book.balance().spent, before);
}

TEST_F(DeclaredLedgerTest, WithoutOneNobodySaysHowAFileIsRead) {
  Ledger book = ledger("");
  EXPECT_EQ(Declaration::of(book), std::nullopt);
  const auto open = [](const Declaration&) { return std::make_unique<MemorySource>(rows()); };
  const Error error =
      error_of([&] { release(Specification::parse(people_text + question_text, "q.toml"), book, open); });
  EXPECT_EQ(error.code(), ErrorCode::budget_refused);
  EXPECT_EQ(error.parameter(), "delimiter");
  const std::string without = replaced(people_text, "delimiter = \";\"\n", "");
  const Specification asked = Specification::parse(without + question_text, "q.toml");
  EXPECT_EQ(error_of([&] { declared_path(asked, book); }).parameter(), "path");
  EXPECT_EQ(release(asked, book, open).release, 1);
}

TEST_F(DeclaredLedgerTest, SaysWhereTheDataLie) {
  const Declaration declaration = Declaration::parse(people_text, "people.toml", folder_);
  const Ledger book = ledger(declaration.moved_to(folder_).canonical_text());
  const auto path = [&](const std::string& data) {
    return declared_path(Specification::parse(data + question_text, "q.toml", folder_, Declaration::of(book)),
                         book);
  };
  EXPECT_EQ(path("").filename(), "people.csv");
  EXPECT_EQ(path("[data]\npath = \"./people.csv\"\n"), path(""));
  const Error error = error_of([&] { path("[data]\npath = \"other.csv\"\n"); });
  EXPECT_EQ(error.code(), ErrorCode::budget_refused);
  EXPECT_EQ(error.parameter(), "path");
}

TEST_F(DeclaredLedgerTest, IsUntrusted) {
  for (const std::string& text : std::vector<std::string>{
           "nonsense", "[data]\n", replaced(people_text, "\"people\"", "\"folk\""), question_text}) {
    const Ledger book = ledger(text);
    const Error error = error_of([&] { static_cast<void>(Declaration::of(book)); });
    EXPECT_EQ(error.code(), ErrorCode::budget_refused) << text << error.what();
    EXPECT_THAT(error.what(), HasSubstr("people.ledger"));
    std::filesystem::remove(folder_ / "people.ledger");
  }
  EXPECT_THROW(ledger(std::string("a\0b", 3)), Error);
}

}  // namespace
}  // namespace snapdp
