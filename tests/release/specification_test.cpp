#include "snapdp/release/specification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "release/replace.h"
#include "snapdp/error.h"

namespace snapdp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A specification of every kind of statistic; tests change one thing in it.
constexpr const char* change_one_text = R"([data]
path = "people.csv"            # CSV
dataset = "household-2024"
neighbors = "change-one"
size = 10000
nulls = { impute = 0 }
[budget]
epsilon = "1.0"
[[statistic]]
name = "mean_age"
kind = "mean"
column = "age"
type = "integer"
bounds = [0, 100]
epsilon = "0.25"
[[statistic]]
name = "education"
kind = "histogram"
column = "educ"
categories = [1, 2, 3]
other = "drop"
epsilon = 0.25
[[statistic]]
name = "both"
kind = "covariance"
columns = ["age", "income"]
bounds = [[0, 100], [-0.5, 5e5]]
accuracy = "0.5"
alpha = "0.05"
)";

constexpr const char* add_remove_text = R"([data]
dataset = "d"
neighbors = "add-remove"
[budget]
epsilon = 1
[[statistic]]
name = "income"
kind = "mean"
column = "income"
bounds = [0, 1]
epsilon = 0.1
split = [1, 1]
)";

Error refusal(const std::string& text) {
  try {
    Specification::parse(text, "people.toml");
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::io, "", "accepted:\n" + text);
}

TEST(Specification, ReadsEveryKey) {
  const Specification s = Specification::parse(change_one_text, "people.toml", "/home/custodian");
  EXPECT_EQ(s.data.path, "/home/custodian/people.csv");
  EXPECT_EQ(s.data.dataset, "household-2024");
  EXPECT_EQ(s.data.neighbors, Neighbors::change_one);
  EXPECT_EQ(s.data.size, 10000U);
  EXPECT_EQ(s.data.impute, Rational(0));
  EXPECT_FALSE(s.data.drop_nulls);
  EXPECT_EQ(s.budget, PrivacyBudget(1));
  EXPECT_EQ(s.identity(), (LedgerIdentity{"household-2024", Neighbors::change_one, ""}));
  EXPECT_EQ(s.text, change_one_text);
  ASSERT_EQ(s.statistics.size(), 3U);

  const StatisticSpecification& mean = s.statistics[0];
  EXPECT_EQ(mean.name, "mean_age");
  EXPECT_EQ(mean.kind, StatisticKind::mean);
  EXPECT_THAT(mean.columns, ElementsAre("age"));
  EXPECT_EQ(mean.type, AtomType::integer);
  EXPECT_EQ(mean.bounds[0].upper, 100);
  EXPECT_EQ(mean.epsilon, Rational(1, 4));
  EXPECT_EQ(mean.alpha, Rational(1, 20));
  EXPECT_TRUE(mean.grid.is_automatic());
  EXPECT_EQ(mean.line, 9);

  const StatisticSpecification& histogram = s.statistics[1];
  EXPECT_THAT(histogram.categories, ElementsAre(1, 2, 3));
  EXPECT_FALSE(histogram.other);
  EXPECT_EQ(histogram.epsilon, Rational(1, 4));

  const StatisticSpecification& covariance = s.statistics[2];
  EXPECT_THAT(covariance.columns, ElementsAre("age", "income"));
  EXPECT_EQ(covariance.bounds[1].lower, Rational(-1, 2));
  EXPECT_EQ(covariance.bounds[1].upper, 500000);
  EXPECT_FALSE(covariance.epsilon.has_value());
  EXPECT_EQ(covariance.accuracy, Rational(1, 2));
}

TEST(Specification, ReadsTheAddRemoveForm) {
  const Specification s = Specification::parse(
      replaced(add_remove_text, "split = [1, 1]", "split = [\"1/3\", 2]\ngrid = \"notes\"\nalpha = 1e-300") +
          "[[statistic]]\nname = \"people\"\nkind = \"count\"\nepsilon = 0.1\nnonnegative = true\n"
          "[[statistic]]\nname = \"colours\"\nkind = \"histogram\"\ncolumn = \"c\"\ncategories = "
          "[\"r\u00e9d\", "
          "\"x,[y\"]\nother = \"bin\"\nepsilon = 0.1\n"
          "[[statistic]]\nname = \"ages\"\nkind = \"histogram\"\ncolumn = \"c\"\nedges = [-1, 0, "
          "20.5]\nepsilon = 0.1\n",
      "p.toml");
  EXPECT_TRUE(s.data.path.empty());
  EXPECT_FALSE(s.data.size.has_value());
  EXPECT_TRUE(s.data.drop_nulls);
  EXPECT_EQ(s.statistics[0].split[0], Rational(1, 3));
  EXPECT_TRUE(s.statistics[0].grid.is_notes());
  EXPECT_EQ(s.statistics[0].alpha, parse_rational("1e-300", "alpha"));
  EXPECT_TRUE(s.statistics[1].nonnegative);
  EXPECT_THAT(s.statistics[2].texts, ElementsAre("r\u00e9d", "x,[y"));
  EXPECT_TRUE(s.statistics[2].other);
  EXPECT_THAT(s.statistics[3].edges, ElementsAre(-1, 0, Rational(41, 2)));
}

TEST(Specification, NumbersAreWhatTheSourceTextSays) {
  const auto epsilon = [](const std::string& line) {
    return Specification::parse(replaced(change_one_text, "epsilon = \"0.25\"", line), "p.toml")
        .statistics[0]
        .epsilon;
  };
  EXPECT_EQ(epsilon("epsilon = 0.1"), Rational(1, 10));
  EXPECT_EQ(epsilon("epsilon=0.1#comment"), Rational(1, 10));
  EXPECT_EQ(epsilon("epsilon = +1_0.0_1e-1"), Rational(1001, 1000));
  EXPECT_EQ(epsilon("epsilon = 0x10"), 16);
  EXPECT_EQ(epsilon("epsilon = \"1/3\""), Rational(1, 3));
  EXPECT_EQ(epsilon("\"epsilon\" = '0x1p-3'"), Rational(1, 8));
  // Columns are counted in code points by the parser and in bytes by us.
  EXPECT_EQ(epsilon("grid = \"notes\"\nepsilon = 0.3"), Rational(3, 10));
  const Specification unicode = Specification::parse(
      replaced(change_one_text, "columns = [\"age\", \"income\"]\nbounds = [[0, 100], [-0.5, 5e5]]",
               "columns = [\"\u00e4\u20ac\U0001f600\", \"b\"]\nbounds = [[0.1, # \u20ac ]\n\t0.2,],[\"0.3\" "
               ",0.7]]"),
      "p.toml");
  EXPECT_EQ(unicode.statistics[2].columns[0], "\u00e4\u20ac\U0001f600");
  EXPECT_EQ(unicode.statistics[2].bounds[0].lower, Rational(1, 10));
  EXPECT_EQ(unicode.statistics[2].bounds[0].upper, Rational(1, 5));
  EXPECT_EQ(unicode.statistics[2].bounds[1].lower, Rational(3, 10));
  EXPECT_EQ(unicode.statistics[2].bounds[1].upper, Rational(7, 10));
  // A number after letters of more than one byte on its line.
  const Specification inline_form = Specification::parse(
      "statistic = [{ name = \"\u20ac\u20ac\u20ac\", kind = \"count\", epsilon = 0.1 }]\n"
      "data = { dataset = \"\u00e4\U0001f600\", neighbors = \"add-remove\", nulls = { impute = 0.3 } }\n"
      "budget = { epsilon = 1 }\n",
      "p.toml");
  EXPECT_EQ(inline_form.statistics[0].epsilon, Rational(1, 10));
  EXPECT_EQ(inline_form.data.impute, Rational(3, 10));
}

TEST(Specification, AByteOrderMarkAndCarriageReturnsChangeNothing) {
  std::string text = "\xef\xbb\xbf";
  for (const char c : std::string(change_one_text))
    text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const Specification s = Specification::parse(text, "p.toml");
  EXPECT_EQ(s.statistics[1].epsilon, Rational(1, 4));
  EXPECT_EQ(s.statistics[2].bounds[1].lower, Rational(-1, 2));
}

struct Fault {
  const char* base;
  std::string from;
  std::string to;
  std::string parameter;
  std::string message;
};

TEST(Specification, RefusesWithPlaceRuleAndNextStep) {
  const std::vector<Fault> faults = {
      // Unknown keys, in every table.
      {change_one_text, "[budget]", "[budgets]", "budgets",
       "unknown key \"budgets\"; did you mean \"budget\"?"},
      {change_one_text, "neighbors", "neighbours", "neighbours", "did you mean \"neighbors\"?"},
      {change_one_text, "epsilon = \"1.0\"", "epsilom = 1", "epsilom", "did you mean \"epsilon\"?"},
      {change_one_text, "bounds = [0, 100]", "bound = [0, 100]", "bound",
       "people.toml:14: statistic \"mean_age\": unknown key \"bound\"; did you mean \"bounds\"?"},
      {change_one_text, "impute", "inpute", "inpute", "did you mean \"impute\"?"},
      {change_one_text, "[budget]", "zzzzzz = 1\n[budget]", "zzzzzz", "the keys here are path, format"},
      // Missing keys.
      {change_one_text, "[budget]\nepsilon = \"1.0\"", "", "[budget]", "is missing"},
      {change_one_text, "dataset = \"household-2024\"", "", "dataset", "is missing"},
      {change_one_text, "neighbors = \"change-one\"", "", "neighbors", "change-one or add-remove"},
      {change_one_text, "size = 10000", "", "size", "is missing; change-one"},
      {change_one_text, "name = \"mean_age\"", "", "name", "[[statistic]] number 1: name is missing"},
      {change_one_text, "kind = \"mean\"", "", "kind", "is missing; it is count, sum"},
      {change_one_text, "column = \"age\"", "", "column", "is missing"},
      {change_one_text, "bounds = [0, 100]", "", "bounds", "is missing; declare public bounds"},
      {change_one_text, "epsilon = \"0.25\"", "", "epsilon", "is missing; give epsilon"},
      {change_one_text, "categories = [1, 2, 3]", "", "categories", "or edges are missing"},
      // Wrong types and values.
      {change_one_text, "size = 10000", "size = 10.5", "size", "whole number"},
      {change_one_text, "size = 10000", "size = 0", "size", "at least 1"},
      {change_one_text, "size = 10000", "size = \"1e19\"", "size", "below 2^63"},
      {change_one_text, "size = 10000", "size = true", "size", "must be a number; this is true or false"},
      {change_one_text, "\"household-2024\"", "2024", "dataset",
       "must be a text in quotes; this is a number"},
      {change_one_text, "\"household-2024\"", "\"\"", "dataset", "must not be empty"},
      {change_one_text, "\"household-2024\"", "\"a\\u001bb\"", "dataset", "control characters"},
      {change_one_text, "\"change-one\"", "\"change-on\"", "neighbors", "did you mean \"change-one\"?"},
      {change_one_text, "size = 10000", "size = 10000\nexpected_size = 1", "expected_size", "use size"},
      {change_one_text, "size = 10000", "size = 10000\ndelimiter = \";;\"", "delimiter", "one character"},
      {change_one_text, "size = 10000", "size = 10000\ndelimiter = \".\"", "delimiter", "one character"},
      {change_one_text, "nulls = { impute = 0 }", "nulls = \"drop\"", "nulls",
       "not available under change-one"},
      {change_one_text, "nulls = { impute = 0 }", "nulls = \"keep\"", "nulls", "must be \"drop\""},
      {change_one_text, "nulls = { impute = 0 }", "nulls = {}", "impute", "is missing"},
      {change_one_text, "nulls = { impute = 0 }", "nulls = { impute = nan }", "impute", "finite number"},
      {change_one_text, "epsilon = \"1.0\"", "epsilon = 0", "epsilon",
       "[budget]: epsilon = 0: must be greater than 0"},
      {change_one_text, "kind = \"mean\"", "kind = \"meen\"", "kind", "did you mean \"mean\"?"},
      {change_one_text, "type = \"integer\"", "type = \"int\"", "type", "real or integer"},
      {change_one_text, "type = \"integer\"", "type = \"text\"", "type", "real or integer"},
      {change_one_text, "bounds = [0, 100]", "bounds = [100, 0]", "bounds",
       "bounds = [100, 0]: the lower bound"},
      {change_one_text, "bounds = [0, 100]", "bounds = [0]", "bounds", "two ends"},
      {change_one_text, "bounds = [0, 100]", "bounds = 0", "bounds", "must be an array"},
      {change_one_text, "bounds = [0, 100]", "bounds = [nan, 100]", "bounds",
       "bounds = [nan, 100]: must have finite ends"},
      {change_one_text, "bounds = [0, 100]", "bounds = [0, inf]", "bounds", "values beyond them are clamped"},
      {change_one_text, "bounds = [0, 100]", "bounds = [0, 1979-05-27]", "bounds", "this is a date"},
      {change_one_text, "bounds = [0, 100]", "bounds = [\"0\", \"1e401\"]", "bounds",
       "too large an exponent"},
      {change_one_text, "bounds = [0, 100]", "bounds = [0, 1e999999]", "specification",
       "people.toml:14: not TOML"},
      {change_one_text, "bounds = [0, 100]",
       "bounds = [0, " + std::string(60, '1') + "." + std::string(60, '1') + "]", "bounds",
       "more than 100 digits"},
      {change_one_text, "epsilon = \"0.25\"", "epsilon = \"0.25\"\naccuracy = 1", "accuracy",
       "cannot stand beside"},
      {change_one_text, "epsilon = \"0.25\"", "epsilon = -1", "epsilon",
       "epsilon = -1: must be greater than 0"},
      {change_one_text, "epsilon = \"0.25\"", "epsilon = nan", "epsilon", "must be a finite number"},
      {change_one_text, "epsilon = \"0.25\"", "epsilon = \"abc\"", "epsilon", "not a number"},
      {change_one_text, "accuracy = \"0.5\"", "accuracy = 0", "accuracy", "greater than 0"},
      {change_one_text, "alpha = \"0.05\"", "alpha = 0", "alpha", "strictly between 0 and 1"},
      {change_one_text, "alpha = \"0.05\"", "alpha = 1", "alpha", "strictly between 0 and 1"},
      {change_one_text, "other = \"drop\"", "other = \"keep\"", "other", "drop or bin"},
      {change_one_text, "other = \"drop\"", "grid = \"2^x\"", "grid", "a power of two from \"2^-1022\""},
      {change_one_text, "other = \"drop\"", "grid = \"1024\"", "grid", "; write \"2^10\""},
      {change_one_text, "other = \"drop\"", "grid = 1024", "grid", "; write \"2^10\""},
      {change_one_text, "other = \"drop\"", "grid = 0.125", "grid", "; write \"2^-3\""},
      {change_one_text, "other = \"drop\"", "grid = \"1/2\"", "grid", "; write \"2^-1\""},
      {change_one_text, "other = \"drop\"", "grid = 1000", "grid", "lies between \"2^9\" and \"2^10\""},
      {change_one_text, "other = \"drop\"", "grid = true", "grid", "a power of two from"},
      {change_one_text, "other = \"drop\"", "range = inf", "range", "must be [lower, upper], \"none\""},
      {change_one_text, "bounds = [0, 100]", "bounds = [\"-Infinity\", 100]", "bounds",
       "must have finite ends"},
      {change_one_text, "[[0, 100], [-0.5, 5e5]]", "[[0, 100], [-0.5, +inf]]", "bounds",
       "must have finite ends"},
      {add_remove_text, "\"add-remove\"", "\"add-remove\"\nwhere = \"\"", "where",
       "where = \"\": it is empty; write a condition such as age >= 18, or leave the key out"},
      {change_one_text, "dataset = \"household-2024\"", "dataset = \"\"", "dataset",
       "write a value, or leave the key out"},
      {change_one_text, "other = \"drop\"", "nonnegative = \"yes\"", "nonnegative", "true or false"},
      {change_one_text, "categories = [1, 2, 3]", "categories = []", "categories", "at least one"},
      {change_one_text, "categories = [1, 2, 3]", "categories = [1, \"a\"]", "categories", "mixes"},
      {change_one_text, "categories = [1, 2, 3]", "categories = [1, 1.0]", "categories", "twice"},
      {change_one_text, "categories = [1, 2, 3]", "categories = [\"a\", \"a\"]", "categories", "twice"},
      {change_one_text, "categories = [1, 2, 3]", "categories = [1]\nedges = [1, 2]", "edges",
       "cannot stand beside"},
      {change_one_text, "categories = [1, 2, 3]", "edges = [1]", "edges", "at least two"},
      {change_one_text, "categories = [1, 2, 3]", "edges = [1, 3, 2]", "edges", "increase strictly"},
      {change_one_text, "categories = [1, 2, 3]", "edges = [1, 2]\ntype = \"text\"", "edges",
       "use categories"},
      {change_one_text, "categories = [1, 2, 3]", "categories = [1]\ntype = \"text\"", "categories",
       "texts in quotes"},
      {change_one_text, "categories = [1, 2, 3]", "categories = [1]\nbounds = [0, 1]", "bounds",
       "use categories or edges"},
      {change_one_text, "columns = [\"age\", \"income\"]", "columns = [\"age\"]", "columns", "two columns"},
      {change_one_text, "columns = [\"age\", \"income\"]", "column = \"age\"", "column", "use columns = "},
      {change_one_text, "[[0, 100], [-0.5, 5e5]]", "[0, 100]", "bounds", "a pair for each"},
      {change_one_text, "[[0, 100], [-0.5, 5e5]]", "[[0, 100], [1, 0]]", "bounds", "swap them"},
      {change_one_text, "epsilon = \"0.25\"", "epsilon = 1\nsplit = [1, 1]", "split",
       "released as one number"},
      {change_one_text, "epsilon = \"0.25\"", "epsilon = 1\ncategories = [1]", "categories",
       "does not apply to a mean"},
      {change_one_text, "name = \"education\"", "name = \"mean_age\"", "name",
       "people.toml:16: statistic \"mean_age\""},
      {change_one_text, "size = 10000", "size = 1", "kind", "needs size >= 2"},
      // TOML's own rules.
      {change_one_text, "size = 10000", "size = 1\nsize = 2", "specification", "people.toml:6: not TOML"},
      {change_one_text, "bounds = [0, 100]", "bounds = [0, 100", "specification", "not TOML"},
      // add-remove.
      {add_remove_text, "\"add-remove\"", "\"add-remove\"\nsize = 5", "size", "private under add-remove"},
      {add_remove_text, "kind = \"mean\"", "kind = \"sum\"", "split", "does not apply"},
      {add_remove_text, "kind = \"mean\"", "kind = \"variance\"", "split",
       "must have 3 weights above 0, [sum, count, squares], for example [1, 1, 1]"},
      {add_remove_text, "split = [1, 1]", "split = [1, 0]", "split", "2 weights above 0"},
      {add_remove_text, "split = [1, 1]", "grid = \"2^-3\"", "grid", "auto"},
  };
  for (const Fault& fault : faults) {
    const Error error = refusal(replaced(fault.base, fault.from, fault.to));
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    EXPECT_EQ(error.parameter(), fault.parameter) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(fault.message));
    EXPECT_THAT(error.what(), testing::StartsWith("people.toml:"));
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// All of them, one a line, each with its place; the first decides the parameter.
TEST(Specification, NamesSeveralFaultsAtOnce) {
  const Error error = refusal(R"([data]
pathh = "people.csv"
dataset = "household-2024"
neighbors = "change-one"
size = 0
nulls = "drop"
expected_size = 5
delimiter = "ab"
[budget]
epsilon = -1
eps = 1
[[statistic]]
name = "a"
kind = "average"
[[statistic]]
name = "b"
kind = "mean"
colum = "age"
bounds = [100, 0]
alpha = 2
epsilon = nan
[[statistic]]
name = "b"
kind = "histogram"
column = "educ"
bounds = [0, 1]
order = 2
grid = "3"
noise = "normal"
epsilon = 1
)");
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.parameter(), "pathh");
  const auto fault = [](const std::string& begin, const std::string& end) {
    return testing::AllOf(testing::StartsWith("people.toml:" + begin), HasSubstr(end));
  };
  EXPECT_THAT(
      lines_of(error.what()),
      testing::ElementsAre(fault("2: [data]: unknown key \"pathh\"", "did you mean \"path\"?"),
                           fault("8: [data]: delimiter", "one character"),
                           fault("7: [data]: expected_size", "belongs to add-remove"),
                           fault("5: [data]: size = 0", "at least 1"),
                           fault("6: [data]: nulls", "not available under change-one"),
                           fault("11: [budget]: unknown key \"eps\"", "did you mean \"epsilon\"?"),
                           fault("10: [budget]: epsilon = -1", "greater than 0"),
                           fault("14: statistic \"a\": kind = \"average\"", "did you mean \"mean\"?"),
                           fault("18: statistic \"b\": unknown key \"colum\"", "did you mean \"column\"?"),
                           // Neither bounds nor type are judged without a column.
                           fault("15: statistic \"b\": column is missing", ""),
                           fault("21: statistic \"b\": epsilon", "finite number"),
                           fault("20: statistic \"b\": alpha", "strictly between"),
                           fault("26: statistic \"b\": bounds", "use categories or edges"),
                           fault("27: statistic \"b\": order", "does not apply to a histogram"),
                           fault("22: statistic \"b\": categories or edges are missing", ""),
                           fault("28: statistic \"b\": grid", "lies between \"2^1\" and \"2^2\""),
                           fault("22: statistic \"b\": ", "another statistic has the same name")));
  // Each line stands alone, too: mended one by one, every fault is found as the first.
  EXPECT_THAT(refusal("[data]\n[budget]\n").what(),
              testing::AllOf(HasSubstr("dataset is missing"),
                             HasSubstr("\npeople.toml:1: [data]: neighbors is missing"),
                             HasSubstr("\npeople.toml:2: [budget]: epsilon is missing")));
}

// What follows from a fault is not called one.
TEST(Specification, AFaultIsNamedOnce) {
  const auto alone = [](const std::string& from, const std::string& to, const std::string& rule) {
    const std::vector<std::string> lines = lines_of(refusal(replaced(change_one_text, from, to)).what());
    EXPECT_THAT(lines, testing::ElementsAre(HasSubstr(rule)));
  };
  alone("neighbors = \"change-one\"\nsize = 10000", "neighbors = \"change\"", "did you mean \"change-one\"?");
  alone("kind = \"mean\"", "kind = \"meen\"", "did you mean \"mean\"?");
  alone("column = \"age\"\ntype = \"integer\"", "column = 1\ntype = \"integer\"", "must be a text in quotes");
  alone("type = \"integer\"", "type = \"int\"\nnoise = \"laplace\"", "did you mean \"integer\"?");
  alone("bounds = [0, 100]\nepsilon = \"0.25\"", "bounds = [0]", "two ends");
  alone("[[statistic]]\nname = \"mean_age\"",
        "[columns.age]\nbound = [0, 1]\n[[statistic]]\nname = \"mean_age\"", "did you mean \"bounds\"?");
}

TEST(Specification, ManyFaultsAreCounted) {
  std::string many(change_one_text);
  for (int i = 0; i < 100; ++i)
    many += "[[statistic]]\nname = \"s" + std::to_string(i) + "\"\nkind = \"avg\"\n";
  const std::vector<std::string> lines = lines_of(refusal(many).what());
  ASSERT_EQ(lines.size(), 21U);
  EXPECT_EQ(lines.back(), "and 80 more faults");
}

TEST(Specification, WordsOfOtherToolsAreUnderstood) {
  const auto kind = [](const std::string& word) {
    return std::string(
        refusal(replaced(change_one_text, "kind = \"mean\"", "kind = \"" + word + "\"")).what());
  };
  for (const auto& [said, meant] :
       std::vector<std::pair<std::string, std::string>>{{"average", "mean"},
                                                        {"Average", "mean"},
                                                        {"avg", "mean"},
                                                        {"std", "standard_deviation"},
                                                        {"stddev", "standard_deviation"},
                                                        {"std-dev", "standard_deviation"},
                                                        {"var", "variance"},
                                                        {"hist", "histogram"},
                                                        {"percentile", "quantiles"},
                                                        {"quantile", "quantiles"},
                                                        {"median_age", "median"},
                                                        {"mean_income", "mean"},
                                                        {"avg_income", "mean"},
                                                        {"total", "sum"},
                                                        {"count_distinct", "distinct"},
                                                        {"cov", "covariance"},
                                                        {"corr", "correlation"}}) {
    EXPECT_THAT(kind(said), HasSubstr("did you mean \"" + meant + "\"?")) << said;
  }
  EXPECT_THAT(kind("laplace"), HasSubstr("; that is noise = \"laplace\", a key of its own"));
  EXPECT_THAT(kind("zzz"), testing::Not(HasSubstr("did you mean")));
  const auto key = [](const std::string& word) {
    return std::string(refusal(replaced(change_one_text, "bounds = [0, 100]", word + " = [0, 100]")).what());
  };
  for (const auto& [said, meant] :
       std::vector<std::pair<std::string, std::string>>{{"clip", "bounds"},
                                                        {"lower", "bounds"},
                                                        {"eps", "epsilon"},
                                                        {"groupby", "group_by"},
                                                        {"bins", "edges"},
                                                        {"mechanism", "noise"},
                                                        {"percentiles", "quantiles"}}) {
    EXPECT_THAT(key(said), HasSubstr("unknown key \"" + said + "\"; did you mean \"" + meant + "\"?"));
  }
  EXPECT_THAT(refusal(replaced(change_one_text, "\"change-one\"", "\"replace_one\"")).what(),
              HasSubstr("did you mean \"change-one\"?"));
  EXPECT_THAT(refusal(replaced(change_one_text, "type = \"integer\"", "type = \"float\"")).what(),
              HasSubstr("did you mean \"real\"?"));
  EXPECT_THAT(refusal(replaced(change_one_text, "path = \"people.csv\"", "sep = \";\"")).what(),
              HasSubstr("did you mean \"delimiter\"?"));
}

TEST(Specification, WantsAtLeastOneStatisticInItsForm) {
  const std::string head = "[data]\ndataset = \"d\"\nneighbors = \"add-remove\"\n[budget]\nepsilon = 1\n";
  EXPECT_THAT(refusal(head).what(), HasSubstr("[[statistic]] is missing"));
  EXPECT_THAT(refusal("statistic = []\n" + head).what(), HasSubstr("two brackets"));
  EXPECT_THAT(refusal(head + "[statistic]\nname = \"x\"\n").what(), HasSubstr("two brackets"));
  EXPECT_THAT(refusal("statistic = [1]\n" + head).what(), HasSubstr("two brackets"));
  EXPECT_THAT(refusal("").what(), HasSubstr("[data] is missing"));
  EXPECT_THAT(refusal("data = 1").what(), HasSubstr("must be a table"));
}

// Nothing that is huge is ever parsed.
TEST(Specification, RefusesWhatIsTooLargeOrTooDeepAtOnce) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "snapdp_large.toml";
  std::ofstream(path) << "x = [" << std::string(10 << 20, '[');
  try {
    Specification::read(path);
    ADD_FAILURE() << "accepted 10 MB";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("larger than 1 MiB"));
  }
  std::filesystem::remove(path);

  std::string dotted = "a";
  for (int i = 0; i < 400'000; ++i) dotted += ".a";
  EXPECT_THAT(refusal("x = 1\n" + dotted + " = 1").what(),
              HasSubstr("people.toml:2: a key has more than 16 dots"));
  EXPECT_THAT(refusal("[" + dotted + "]").what(), HasSubstr("dots"));
  std::string in_quotes = "x = { y";
  for (int i = 0; i < 100'000; ++i) in_quotes += " . \"=\"";
  EXPECT_THAT(refusal(in_quotes + " = 1 }").what(), HasSubstr("dots"));
  EXPECT_THAT(refusal("x = " + std::string(500'000, '[')).what(), HasSubstr("not TOML"));
  // Dots elsewhere are no keys.
  EXPECT_NO_THROW(Specification::parse(
      replaced(change_one_text, "household-2024", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s") + "# " + dotted,
      "p"));

  std::string many = change_one_text;
  for (int i = 0; i < 1000; ++i) {
    many += "[[statistic]]\nname = \"s" + std::to_string(i) + "\"\nkind = \"count\"\n";
  }
  EXPECT_THAT(refusal(many).what(), HasSubstr("more than 1000 statistics"));
  std::string bins = "categories = [0";
  for (int i = 1; i <= 100'000; ++i) bins += "," + std::to_string(i);
  EXPECT_THAT(refusal(replaced(change_one_text, "categories = [1, 2, 3]", bins + "]")).what(),
              HasSubstr("more than 100000 entries"));
}

// Where the parser's own assertions fail.
TEST(Specification, RefusesWhatTheParserDoesNotExpect) {
  for (const char* text :
       {"[=data]\n", "[[=statistic]]\n", "[ .x]\n", "[\n", "[\xc3\xa4]\n", "[#]\n", "\xc3\xa4 = 1\n",
        "x = \"\"\"\\\n\xc3\xa4\"\"\"\n[\xd2\x80]\n", "x = \xe1\xa0\x80 1\n"}) {
    const Error error = refusal(text);
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << text;
    EXPECT_THAT(error.what(), HasSubstr("not TOML")) << text;
  }
}

TEST(Specification, AFileThatCannotBeReadIsAnInputError) {
  for (const char* path : {"/nowhere/at/all.toml", "/"}) {
    try {
      Specification::read(path);
      ADD_FAILURE() << "read " << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      EXPECT_THAT(error.what(), HasSubstr(path));
    }
  }
}

TEST(Specification, ConstantsNeedNoEpsilon) {
  const Specification s = Specification::parse(
      replaced(change_one_text, "bounds = [0, 100]\nepsilon = \"0.25\"", "bounds = [7, 7.0]") +
          "[[statistic]]\nname = \"people\"\nkind = \"count\"\n",
      "p.toml");
  EXPECT_TRUE(s.is_constant(s.statistics[0]));
  EXPECT_FALSE(s.is_constant(s.statistics[1]));
  EXPECT_TRUE(s.is_constant(s.statistics[3]));
  // A sum over a private number of equal rows tells that number.
  const std::string sum = "kind = \"sum\"\ncolumn = \"income\"\nbounds = [7, 7]\nepsilon = 0.1\n";
  const std::string mean =
      "kind = \"mean\"\ncolumn = \"income\"\nbounds = [0, 1]\nepsilon = 0.1\nsplit = [1, 1]\n";
  const Specification add_remove = Specification::parse(replaced(add_remove_text, mean, sum), "p.toml");
  EXPECT_FALSE(add_remove.is_constant(add_remove.statistics[0]));
}

// Under [data] of the add-remove specification, and under its statistic.
std::string with_data(const std::string& keys) {
  return replaced(add_remove_text, "[budget]", keys + "\n[budget]");
}
std::string with_statistic(const std::string& keys) {
  return std::string(add_remove_text) + keys + "\n";
}
std::string refused(const std::string& text) {
  try {
    Specification::parse(text, "s.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "accepted";
}

TEST(Specification, ChoosesRowsUnderAddRemove) {
  const Specification specification = Specification::parse(
      with_data("privacy_unit = \"pid\"\nmax_rows_per_unit = 2\nwhere = \"age >= 18 and state in (6, 36)\""),
      "s.toml");
  EXPECT_EQ(specification.data.privacy_unit, "pid");
  EXPECT_EQ(specification.data.max_rows_per_unit, 2U);
  EXPECT_THAT(specification.data.where->columns(), ElementsAre("age", "state"));
  EXPECT_EQ(specification.identity().privacy_unit, "pid");
  EXPECT_EQ(Specification::parse(add_remove_text, "s.toml").identity().privacy_unit, "");

  EXPECT_THAT(refused(with_data("privacy_unit = \"pid\"")), HasSubstr("max_rows_per_unit is missing"));
  EXPECT_THAT(refused(with_data("max_rows_per_unit = 2")), HasSubstr("only with privacy_unit"));
  EXPECT_THAT(refused(with_data("privacy_unit = \"pid\"\nmax_rows_per_unit = 0")),
              HasSubstr("max_rows_per_unit"));
  EXPECT_THAT(refused(with_data("where = \"age >\"")),
              HasSubstr("[data]: where = \"age >\": at character 6: it ends where"));
  EXPECT_THAT(refused(with_data("where = 3")), HasSubstr("where"));
  for (const char* key : {"privacy_unit = \"pid\"", "where = \"age > 3\""}) {
    const std::string text = replaced(change_one_text, "[budget]", std::string(key) + "\n[budget]");
    EXPECT_THAT(refused(text), HasSubstr("not available under change-one")) << key;
  }
}

TEST(Specification, GroupsHavePublicKeys) {
  const auto statistic = [](const std::string& keys) {
    return Specification::parse(with_statistic(keys), "s.toml").statistics.at(0);
  };
  const StatisticSpecification numbers = statistic("group_by = \"educ\"\nkeys = [1, 2.5]");
  EXPECT_EQ(numbers.group_by, "educ");
  EXPECT_THAT(numbers.key_numbers, ElementsAre(1, Rational(5, 2)));
  EXPECT_THAT(statistic("group_by = \"educ\"\nkeys = [\"a\", \" \"]").key_texts, ElementsAre("a", " "));

  EXPECT_THAT(refused(with_statistic("group_by = \"educ\"")), HasSubstr("keys is missing"));
  EXPECT_THAT(refused(with_statistic("keys = [1]")), HasSubstr("only with group_by"));
  EXPECT_THAT(refused(with_statistic("group_by = \"educ\"\nkeys = []")), HasSubstr("at least one"));
  EXPECT_THAT(refused(with_statistic("group_by = \"educ\"\nkeys = [1, \"a\"]")), HasSubstr("mixes"));
  EXPECT_THAT(refused(with_statistic("group_by = \"educ\"\nkeys = [1, 1.0]")), HasSubstr("twice"));
  EXPECT_THAT(refused(with_statistic("group_by = \"educ\"\nkeys = [1]\nmax_groups_per_unit = 1")),
              HasSubstr("only with privacy_unit"));
  EXPECT_THAT(refused(with_statistic("max_rows_per_group_per_unit = 1")), HasSubstr("only with group_by"));
  EXPECT_THAT(refused(replaced(change_one_text, "bounds = [0, 100]",
                               "bounds = [0, 100]\ngroup_by = \"educ\"\nkeys = [1]")),
              HasSubstr("not available under change-one"));
}

// Groups without rows, or rows without groups, would take rows away and leave the noise as it is.
TEST(Specification, GroupsOfAUnitAreLimitedWithTheirRows) {
  const auto text = [](const std::string& keys) {
    return replaced(with_data("privacy_unit = \"pid\"\nmax_rows_per_unit = 9"), "[[statistic]]",
                    "[[statistic]]\ngroup_by = \"educ\"\nkeys = [1]\n" + keys);
  };
  const StatisticSpecification both =
      Specification::parse(text("max_groups_per_unit = 2\nmax_rows_per_group_per_unit = 3"), "s.toml")
          .statistics.at(0);
  EXPECT_EQ(both.groups_per_unit, (GroupLimit{.max_groups = 2, .max_rows = 3}));
  EXPECT_EQ(Specification::parse(text(""), "s.toml").statistics.at(0).groups_per_unit, std::nullopt);
  EXPECT_THAT(refused(text("max_groups_per_unit = 2")), HasSubstr("say max_rows_per_group_per_unit too"));
  EXPECT_THAT(refused(text("max_rows_per_group_per_unit = 2")), HasSubstr("say max_groups_per_unit too"));
  EXPECT_THAT(refused(text("max_groups_per_unit = 0\nmax_rows_per_group_per_unit = 2")),
              HasSubstr("max_groups_per_unit"));
  EXPECT_THAT(refused(text("max_groups_per_unit = 2\nmax_rows_per_group_per_unit = 0")),
              HasSubstr("max_rows_per_group_per_unit"));
}

TEST(Specification, MomentsHaveAnOrderAndAPublicSize) {
  const auto moment = [](const std::string& keys) {
    return replaced(change_one_text, "kind = \"mean\"", "kind = \"moment\"\n" + keys);
  };
  EXPECT_EQ(Specification::parse(moment("order = 4"), "s.toml").statistics[0].order, 4);
  EXPECT_THAT(refused(moment("")), HasSubstr("order is missing"));
  EXPECT_THAT(refused(moment("order = 5")), HasSubstr("1, 2, 3 or 4"));
  EXPECT_THAT(refused(replaced(add_remove_text, "\"mean\"", "\"moment\"\norder = 2")), HasSubstr("split"));
  const std::string without_split = replaced(add_remove_text, "split = [1, 1]\n", "");
  EXPECT_THAT(refused(replaced(without_split, "\"mean\"", "\"moment\"\norder = 2")),
              HasSubstr("not available under add-remove"));
}

TEST(Specification, QuantilesHaveEdges) {
  const auto quantiles = [](const std::string& keys) {
    return replaced(change_one_text,
                    "kind = \"mean\"\ncolumn = \"age\"\ntype = \"integer\"\nbounds = [0, 100]",
                    keys + "\ncolumn = \"age\"");
  };
  const Specification s = Specification::parse(
      quantiles("kind = \"quantiles\"\nedges = [0, 1]\nquantiles = [0.1, \"1/3\"]"), "s.toml");
  EXPECT_THAT(s.statistics[0].quantiles, ElementsAre(Rational(1, 10), Rational(1, 3)));
  EXPECT_THAT(refused(quantiles("kind = \"median\"")), HasSubstr("edges is missing"));
  EXPECT_THAT(refused(quantiles("kind = \"median\"\nedges = [1, 1]")), HasSubstr("increase strictly"));
  EXPECT_THAT(refused(quantiles("kind = \"median\"\nedges = [0, 1]\nquantiles = [0.5]")),
              HasSubstr("does not apply"));
  EXPECT_THAT(refused(quantiles("kind = \"quantiles\"\nedges = [0, 1]")), HasSubstr("quantiles is missing"));
  EXPECT_THAT(refused(quantiles("kind = \"quantiles\"\nedges = [0, 1]\nquantiles = [1.5]")),
              HasSubstr("from 0 to 1"));
}

TEST(Specification, QuantilesHaveBoundsAndAResolutionInsteadOfEdges) {
  const auto median = [](const std::string& keys) {
    return replaced(change_one_text,
                    "kind = \"mean\"\ncolumn = \"age\"\ntype = \"integer\"\nbounds = [0, 100]",
                    "kind = \"median\"\ncolumn = \"age\"\n" + keys);
  };
  const auto edges = [&](const std::string& keys) {
    return Specification::parse(median(keys), "s.toml").statistics[0].edges;
  };
  EXPECT_THAT(edges("bounds = [0, 1]\nresolution = 0.25"),
              ElementsAre(0, Rational(1, 4), Rational(1, 2), Rational(3, 4), 1));
  // The last bin is what is left.
  EXPECT_THAT(edges("bounds = [-1, 1.5]\nresolution = 1"), ElementsAre(-1, 0, 1, Rational(3, 2)));
  EXPECT_THAT(edges("bounds = [0, 1]\nresolution = 7"), ElementsAre(0, 1));
  const std::string declared = median("resolution = 50") + "[columns.age]\nbounds = [0, 100]\n";
  EXPECT_THAT(Specification::parse(declared, "s.toml").statistics[0].edges, ElementsAre(0, 50, 100));
  EXPECT_THAT(refused(median("resolution = 1")), HasSubstr("bounds is missing"));
  EXPECT_THAT(refused(median("bounds = [0, 1]")), HasSubstr("need a resolution"));
  EXPECT_THAT(refused(median("bounds = [0, 1]\nedges = [0, 1]")), HasSubstr("cannot stand beside edges"));
  EXPECT_THAT(refused(median("bounds = [0, 1]\nresolution = 1\nedges = [0, 1]")),
              HasSubstr("cannot stand beside edges"));
  EXPECT_THAT(refused(median("bounds = [0, 1]\nresolution = 0")), HasSubstr("resolution = 0"));
  EXPECT_THAT(refused(median("bounds = [1, 1]\nresolution = 1")), HasSubstr("bounds that are equal"));
  EXPECT_THAT(refused(median("bounds = [0, 1]\nresolution = 1e-6")), HasSubstr("choose a coarser one"));
}

TEST(Specification, OnePriceAStatistic) {
  const std::string text = add_remove_text;
  const Specification weighted =
      Specification::parse(replaced(text, "epsilon = 0.1", "weight = 2"), "s.toml");
  EXPECT_EQ(weighted.statistics.at(0).weight, Rational(2));
  EXPECT_THAT(refused(with_statistic("weight = 2")), HasSubstr("cannot stand beside epsilon"));
  EXPECT_THAT(refused(replaced(text, "epsilon = 0.1", "weight = 0")), HasSubstr("weight"));
}

}  // namespace
}  // namespace snapdp
