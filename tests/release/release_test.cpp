#include "snapdp/release/release.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "release/replace.h"
#include "snapdp/error.h"
#include "snapdp/testing/memory_source.h"

namespace snapdp {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

constexpr const char* change_one_head = R"([data]
dataset = "people"
neighbors = "change-one"
size = 8
[budget]
epsilon = "1e9"
)";
constexpr const char* add_remove_head = R"([data]
dataset = "people"
neighbors = "add-remove"
[budget]
epsilon = "1e9"
)";

std::string statistic(const std::string& name, const std::string& keys) {
  return "[[statistic]]\nname = \"" + name + "\"\n" + keys + "\n";
}

// A ledger in a file of its own, and a source whose use is watched.
class ReleaseTest : public testing::Test {
 protected:
  ~ReleaseTest() override { std::filesystem::remove_all(folder_); }

  Ledger& ledger(Neighbors neighbors, const Rational& budget = Rational(1'000'000'000)) {
    if (!ledger_) {
      std::filesystem::create_directories(folder_);
      ledger_ = Ledger::create(folder_ / "people.ledger", {"people", neighbors, ""}, budget);
    }
    return *ledger_;
  }

  // Copies are opened, so that a test may look at the source it made.
  Released run(const std::string& text, const MemorySource& source, const ReleaseOptions& options = {}) {
    const Specification specification = Specification::parse(text, "s.toml");
    return release(
        specification, ledger(specification.data.neighbors),
        [&](const Declaration&) {
          ++opened_;
          return std::make_unique<MemorySource>(source);
        },
        options);
  }

  Json report(const std::string& text, const MemorySource& source) {
    Json json = Json::parse(run(text, source).report.json());
    check_certificates(json);
    return json;
  }

  // Every statistic of every report says how large its loss is and may be; nothing was paid for less.
  static void check_certificates(const Json& json) {
    const auto number = [](const Json& text) {
      return parse_rational(text.get<std::string>(), "certificate");
    };
    // The texts have 30 digits and are rounded outward.
    const Rational digits = 1 + Rational(1e-28);
    Rational bounds = 0;
    for (const Json& statistic : json.at("statistics")) {
      const Rational bound = number(statistic.at("certificate").at("bound"));
      const Rational epsilon = number(statistic.at("epsilon"));
      EXPECT_LE(number(statistic.at("certificate").at("witness")), bound) << statistic;
      EXPECT_EQ(bound > 0, epsilon > 0) << statistic;
      EXPECT_LE(bound, epsilon * digits) << statistic;
      bounds += bound;
      if (!statistic.contains("parts")) continue;
      for (const Json& part : statistic.at("parts")) {
        EXPECT_LE(number(part.at("certificate").at("bound")), number(part.at("epsilon")) * digits) << part;
      }
    }
    EXPECT_LE(number(json.at("certificate").at("bound")), bounds * digits);
  }

  // The error of a run that must fail without having cost anything.
  Error refusal(const std::string& text, const MemorySource& source) {
    ledger(text.find("add-remove") != std::string::npos ? Neighbors::add_remove : Neighbors::change_one);
    const Rational before = ledger_->balance().spent.value;
    try {
      run(text, source);
    } catch (const Error& error) {
      EXPECT_EQ(ledger_->balance().spent, before);
      return error;
    }
    return Error(ErrorCode::io, "", "released:\n" + text);
  }

  int opened_ = 0;
  // For ledgers of units.
  std::filesystem::path units_ =
      std::filesystem::path(testing::TempDir()) / ("snapdp_units_" + std::to_string(std::random_device()()));
  int files_ = 0;

 private:
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  ("snapdp_release_" + std::to_string(std::random_device()()));
  std::optional<Ledger> ledger_;
};

MemorySource people() {
  MemorySource source;
  source.add("age", MemorySource::Reals{10, 20, 30, 40, 50, 60, 70, 80});
  source.add("income", MemorySource::Reals{0, -100, 250, 1e5, nan, infinity, -infinity, 42.5});
  source.add("visits", MemorySource::Integers{1, 2, 3, 4, 5, 6, 7, 100});
  source.add("city", MemorySource::Texts{"ulm", "ulm", "bonn", "", "Ulm", "ulm ", "bonn", "x"});
  return source;
}

// Statistics at an epsilon that leaves hardly any noise, so that their exact values show. Each lies within its
// accuracy with probability 1 - 1e-12.
const std::string exact_enough = "epsilon = \"1e7\"\nalpha = \"1e-12\"\n";

TEST_F(ReleaseTest, ReleasesEveryKindUnderChangeOne) {
  const std::string nulls = replaced(change_one_head, "size = 8", "size = 8\nnulls = { impute = 100 }");
  const Json json = report(
      nulls + statistic("count", "kind = \"count\"") +
          statistic("sum", "kind = \"sum\"\ncolumn = \"visits\"\ntype = \"integer\"\nbounds = [0, 50]\n" +
                               exact_enough) +
          statistic("mean", "kind = \"mean\"\ncolumn = \"income\"\nbounds = [-50, 1000]\n" + exact_enough) +
          statistic("variance", "kind = \"variance\"\ncolumn = \"age\"\nbounds = [0, 100]\n" + exact_enough) +
          statistic("covariance",
                    "kind = \"covariance\"\ncolumns = [\"age\", \"visits\"]\nbounds = [[0, 100], [0, 8]]\n" +
                        exact_enough) +
          statistic(
              "cities",
              "kind = \"histogram\"\ncolumn = \"city\"\ncategories = [\"ulm\", \"bonn\", \"kiel\"]\nother = "
              "\"bin\"\n" +
                  exact_enough) +
          statistic("ages", "kind = \"histogram\"\ncolumn = \"age\"\nedges = [10, 30, 70]\n" + exact_enough),
      people());
  const Json& s = json.at("statistics");
  EXPECT_EQ(json.at("release"), 1);
  EXPECT_EQ(json.at("ledger").at("spent"), "60000000");
  EXPECT_EQ(json.at("ledger").at("remaining"), "940000000");
  EXPECT_EQ(s.at(0).at("value"), 8);
  EXPECT_EQ(s.at(1).at("value"), 78);
  EXPECT_TRUE(s.at(1).at("value").is_number_integer());
  // Clamped and imputed: 0 -50 250 1000 100 1000 -50 42.5
  const std::map<std::size_t, double> truth = {{2, 2292.5 / 8}, {3, 600}, {4, 420.0 / 7}};
  for (const auto& [i, value] : truth) {
    const double tight = s.at(i).at("accuracy").at("tight");
    EXPECT_NEAR(s.at(i).at("value"), value, tight) << i;
    EXPECT_LT(tight, 1e-2);
  }
  const auto counts = [&](std::size_t i) {
    std::vector<std::int64_t> values;
    for (const Json& bin : s.at(i).at("bins")) values.push_back(bin.at("value"));
    return values;
  };
  EXPECT_THAT(counts(5), testing::ElementsAre(2, 2, 0, 4));
  EXPECT_THAT(counts(6), testing::ElementsAre(2, 5));
}

TEST_F(ReleaseTest, ReleasesEveryKindUnderAddRemove) {
  const std::string statistics =
      statistic("count", "kind = \"count\"\n" + exact_enough) +
      statistic("sum", "kind = \"sum\"\ncolumn = \"visits\"\ntype = \"integer\"\nbounds = [0, 50]\n" +
                           exact_enough) +
      statistic("mean", "kind = \"mean\"\ncolumn = \"income\"\nbounds = [-50, 1000]\n" + exact_enough) +
      statistic("ages",
                "kind = \"histogram\"\ncolumn = \"age\"\ntype = \"real\"\ncategories = [10, 20.0, \"99\"]\n" +
                    exact_enough);
  const Json json = report(add_remove_head + statistics, people());
  const Json& s = json.at("statistics");
  EXPECT_EQ(s.at(0).at("value"), 8);
  EXPECT_EQ(s.at(1).at("value"), 78);
  EXPECT_EQ(s.at(3).at("bins").at(1).at("value"), 1);
  EXPECT_EQ(s.at(3).at("bins").at(2).at("value"), 0);
  const Json& mean = s.at(2);
  EXPECT_TRUE(mean.at("sensitivity").is_null());
  ASSERT_EQ(mean.at("parts").size(), 2U);
  EXPECT_EQ(mean.at("parts").at(0).at("name"), "sum");
  EXPECT_EQ(mean.at("parts").at(0).at("center"), "475");
  EXPECT_EQ(mean.at("parts").at(0).at("epsilon"), "5000000");
  // The missing income is dropped: both parts speak of seven rows.
  EXPECT_EQ(mean.at("parts").at(1).at("value"), 7);
  // A noise scale of 1e-4 on the sum; the stated accuracy must also allow for a count rounded by half.
  EXPECT_NEAR(mean.at("value"), 2192.5 / 7, 0.01);
  EXPECT_LT(mean.at("accuracy").at("tight"), 15);

  const std::string imputed = replaced(add_remove_head, "[budget]", "nulls = { impute = -7 }\n[budget]");
  const Json other = report(imputed + statistics, people());
  EXPECT_EQ(other.at("statistics").at(2).at("parts").at(1).at("value"), 8);
  EXPECT_NEAR(other.at("statistics").at(2).at("value"), 2185.5 / 8, 0.01);
}

TEST_F(ReleaseTest, AnEmptyTableAndOneRowAreOrdinary) {
  MemorySource empty;
  empty.add("x", MemorySource::Reals{});
  MemorySource one;
  one.add("x", MemorySource::Reals{0.25});
  const std::string text =
      add_remove_head + statistic("count", "kind = \"count\"\nepsilon = 1") +
      statistic("mean", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1]\nepsilon = 1") +
      statistic("h", "kind = \"histogram\"\ncolumn = \"x\"\nedges = [0, 1]\nepsilon = 1");
  for (const MemorySource& source : {empty, one}) {
    for (int i = 0; i < 3; ++i) {
      const Json json = report(text, source);
      const double mean = json.at("statistics").at(1).at("value");
      EXPECT_GE(mean, 0);
      EXPECT_LE(mean, 1);
    }
  }
}

TEST_F(ReleaseTest, NonnegativeIsPostProcessing) {
  MemorySource empty;
  empty.add("x", MemorySource::Reals{});
  std::string text =
      add_remove_head +
      statistic("h",
                "kind = \"histogram\"\ncolumn = \"x\"\nepsilon = 0.01\nnonnegative = true\nedges = "
                "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]");
  constexpr int counts = 60;
  for (int i = 0; i < counts; ++i) {
    text += statistic("raw" + std::to_string(i), "kind = \"count\"\nepsilon = 0.01") +
            statistic("count" + std::to_string(i), "kind = \"count\"\nepsilon = 0.01\nnonnegative = true");
  }
  const Json json = report(text, empty);
  // Of 60 noisy counts of no rows more than .49 each are negative: none is with probability .51^60 < 1e-17.
  bool negative = false;
  for (const Json& statistic : json.at("statistics")) {
    const std::string name = statistic.at("name");
    if (name.starts_with("raw")) negative = negative || statistic.at("value") < 0;
    if (name.starts_with("count")) {
      EXPECT_GE(statistic.at("value"), 0);
    }
    if (name == "h") {
      for (const Json& bin : statistic.at("bins")) EXPECT_GE(bin.at("value"), 0);
    }
  }
  EXPECT_TRUE(negative);
}

TEST_F(ReleaseTest, IntegersBeyondDoublesAreExactText) {
  MemorySource source;
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  source.add({"x", AtomType::integer, ""}, MemorySource::Integers{largest, largest, largest - 1});
  const Json json = report(
      replaced(change_one_head, "size = 8", "size = 3") +
          statistic("sum",
                    "kind = \"sum\"\ncolumn = \"x\"\ntype = \"integer\"\nbounds = [0, 9223372036854775807]\n"
                    "grid = \"2^12\"\n" +
                        replaced(exact_enough, "1e7", "1e8")),
      source);
  const Json& value = json.at("statistics").at(0).at("value");
  ASSERT_TRUE(value.is_string());
  const Rational sum = Rational(Integer(largest)) * 3 - 1;
  EXPECT_LE(abs(parse_rational(value.get<std::string>(), "sum") - sum),
            Rational(json.at("statistics").at(0).at("accuracy").at("tight").get<double>()));
}

TEST_F(ReleaseTest, TheDebitComesAfterTheFoldAndBeforeTheReport) {
  MemorySource source = people();
  Ledger& book = ledger(Neighbors::change_one);
  source.before_fold = [&] { EXPECT_EQ(book.balance().spent, 0); };
  int asked = 0;
  ReleaseOptions options;
  options.confirm = [&](const Plan& plan) {
    ++asked;
    EXPECT_EQ(plan.epsilon(), Rational(1, 4));
    EXPECT_EQ(book.balance().spent, 0);
    return true;
  };
  double percent = 0;
  options.progress = [&](double done) { percent = done; };
  const std::string text =
      change_one_head +
      statistic("mean", "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\nepsilon = \"0.25\"");
  const Released released = run(text, source, options);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(percent, 100);
  EXPECT_EQ(released.release, 1);
  EXPECT_EQ(released.not_stored, "");
  EXPECT_EQ(book.balance().spent, Rational(1, 4));
  EXPECT_EQ(book.report(1), released.report.json());
  EXPECT_EQ(book.specification(1), text);
  EXPECT_THAT(book.entry(1).charges, testing::ElementsAre(LedgerCharge{"mean", Rational(1, 4)}));
}

TEST_F(ReleaseTest, ANoCostsNothing) {
  ReleaseOptions options;
  options.confirm = [](const Plan&) { return false; };
  MemorySource source = people();
  source.before_fold = [] { ADD_FAILURE() << "read the rows"; };
  const std::string text =
      change_one_head +
      statistic("mean", "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\nepsilon = 1");
  EXPECT_THROW(run(text, source, options), Error);
  EXPECT_EQ(ledger(Neighbors::change_one).balance().spent, 0);
}

TEST_F(ReleaseTest, WhatHasALabelIsPaidForOnce) {
  const std::string mean =
      statistic("mean", "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\nepsilon = 1");
  ReleaseOptions options;
  options.label = "2026-Q4";
  Ledger& book = ledger(Neighbors::change_one, 2);
  const Released first = run(change_one_head + mean, people(), options);
  EXPECT_FALSE(first.reprinted);
  EXPECT_EQ(book.entry(1).label, "2026-Q4");
  EXPECT_EQ(book.specification(1), change_one_head + mean);
  run(change_one_head + mean, people());  // without a label it is another release
  EXPECT_EQ(book.balance().remaining, 0);

  // Nothing is left, and nothing is read, asked or debited.
  MemorySource source = people();
  source.before_fold = [] { ADD_FAILURE() << "read the rows"; };
  options.confirm = [](const Plan&) -> bool { throw std::logic_error("asked"); };
  opened_ = 0;
  const Released again = run(change_one_head + mean, source, options);
  EXPECT_TRUE(again.reprinted);
  EXPECT_EQ(again.release, 1);
  EXPECT_EQ(again.report.json(), first.report.json());
  EXPECT_EQ(opened_, 0);

  const auto refused = [&](const std::string& text) {
    try {
      run(text, people(), options);
    } catch (const Error& error) {
      return error;
    }
    throw std::logic_error("not refused");
  };
  // Another question, were it only one more blank.
  const Error other = refused(change_one_head + mean + "\n");
  EXPECT_EQ(other.code(), ErrorCode::budget_refused);
  EXPECT_EQ(other.parameter(), "label");
  EXPECT_THAT(other.what(), HasSubstr("another specification"));
  // Two labels.
  const Error two = refused("label = \"2026-Q3\"\n" + (change_one_head + mean));
  EXPECT_EQ(two.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(two.parameter(), "label");
  EXPECT_EQ(book.balance().releases, 2);
}

TEST_F(ReleaseTest, ASpecificationMayStateItsLabel) {
  const std::string text =
      "label = \"first\"\n" +
      (change_one_head +
       statistic("mean", "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\nepsilon = 1"));
  EXPECT_FALSE(run(text, people()).reprinted);
  EXPECT_TRUE(run(text, people()).reprinted);
  EXPECT_EQ(ledger(Neighbors::change_one).entry(1).label, "first");
  EXPECT_EQ(refusal(replaced(text, "\"first\"", "1"), people()).parameter(), "label");
}

// The program died between the debit and the report.
TEST_F(ReleaseTest, ALabelWhoseReportWasLostIsNotPaidForAgain) {
  const std::string text =
      change_one_head +
      statistic("mean", "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\nepsilon = 1");
  Ledger& book = ledger(Neighbors::change_one);
  book.debit({"people", Neighbors::change_one, ""}, {{"mean", 1}}, text, "lost");
  const Error error = refusal("label = \"lost\"\n" + text, people());
  EXPECT_EQ(error.code(), ErrorCode::budget_refused);
  EXPECT_EQ(book.balance().spent, 1);
}

TEST_F(ReleaseTest, ADryRunDoesAllUpToTheDebit) {
  const std::string text =
      change_one_head +
      statistic("mean", "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\nepsilon = 1");
  Ledger& book = ledger(Neighbors::change_one, 1);
  int folds = 0;
  const auto dry = [&](const std::string& asked, MemorySource source) {
    source.before_fold = [&] { ++folds; };
    return dry_run(Specification::parse(asked, "s.toml"), book,
                   [&](const Declaration&) { return std::make_unique<MemorySource>(source); });
  };
  EXPECT_EQ(dry(text, people()).epsilon(), 1);
  EXPECT_EQ(folds, 1);
  EXPECT_EQ(book.balance().releases, 0);
  const auto code = [&](const std::string& asked) {
    try {
      dry(asked, people());
    } catch (const Error& error) {
      return error.code();
    }
    throw std::logic_error("not refused");
  };
  EXPECT_EQ(code(replaced(text, "size = 8", "size = 9")), ErrorCode::bad_data);
  EXPECT_EQ(code(replaced(text, "\"age\"", "\"ages\"")), ErrorCode::bad_data);
  EXPECT_EQ(code(replaced(text, "epsilon = 1\n", "epsilon = 1.5\n")), ErrorCode::budget_refused);
  EXPECT_EQ(book.balance().releases, 0);
  // A label that is taken.
  book.debit({"people", Neighbors::change_one, ""}, {{"mean", Rational(1, 100)}}, "another", "taken");
  EXPECT_EQ(code("label = \"taken\"\n" + text), ErrorCode::budget_refused);
}

TEST_F(ReleaseTest, TenReleasesAtATenthFitABudgetOfOne) {
  const std::string text =
      change_one_head +
      statistic("mean", "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\nepsilon = 0.1");
  Ledger& book = ledger(Neighbors::change_one, 1);
  for (int i = 1; i <= 10; ++i) EXPECT_EQ(run(text, people()).release, i);
  EXPECT_EQ(book.balance().remaining, 0);
  opened_ = 0;
  const Error error = refusal(text, people());
  EXPECT_EQ(error.code(), ErrorCode::budget_refused);
  EXPECT_EQ(opened_, 0) << "the data were opened although the ledger refuses";
}

TEST_F(ReleaseTest, TheLedgerMustBeOfTheSameDataAndNeighbors) {
  ledger(Neighbors::change_one);
  const std::string mean =
      statistic("mean", "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\nepsilon = 0.1");
  EXPECT_EQ(refusal(replaced(change_one_head, "\"people\"", "\"People\"") + mean, people()).code(),
            ErrorCode::budget_refused);
  EXPECT_EQ(refusal(add_remove_head + mean, people()).code(), ErrorCode::budget_refused);
  // Even when nothing is to be paid.
  const Error error = refusal(
      replaced(change_one_head, "\"people\"", "\"folk\"") + statistic("n", "kind = \"count\""), people());
  EXPECT_EQ(error.code(), ErrorCode::budget_refused);
  EXPECT_THAT(error.what(), HasSubstr("\"people\""));
  EXPECT_EQ(opened_, 0);
}

TEST_F(ReleaseTest, ColumnsMustBeInTheHeaderToTheLetter) {
  const auto mean_of = [](const std::string& column) {
    return change_one_head +
           statistic("mean", "kind = \"mean\"\ncolumn = \"" + column + "\"\nbounds = [0, 1]\nepsilon = 1");
  };
  MemorySource source = people();
  source.add({"born", std::nullopt, "a date"}, MemorySource::Texts{"", "", "", "", "", "", "", ""});
  source.before_fold = [] { ADD_FAILURE() << "read the rows"; };
  source.add({"twice", std::nullopt, ""}, MemorySource::Texts(8))
      .add({"twice", std::nullopt, ""}, MemorySource::Texts(8));
  source.add({"", std::nullopt, ""}, MemorySource::Texts(8));
  // Names of the header, which may be a row, are in no message.
  for (const std::string column : {"Age", "incom", "vistis", "zzz"}) {
    const Error error = refusal(mean_of(column), source);
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    EXPECT_THAT(error.what(),
                HasSubstr("s.toml:7: statistic \"mean\": column \"" + column + "\" is not in the header"));
    EXPECT_THAT(error.what(), HasSubstr("check the name and the delimiter (names match to the letter)"));
    EXPECT_THAT(error.what(),
                Not(AnyOf(HasSubstr("\"age\""), HasSubstr("\"income\""), HasSubstr("\"visits\""))));
  }
  // With none of them in the header the cells may be separated otherwise.
  MemorySource single;
  single.add({"age income", std::nullopt, ""}, MemorySource::Texts(8));
  EXPECT_THAT(refusal(mean_of("age"), single).what(),
              AllOf(HasSubstr("the header is read as a single column"), HasSubstr("delimiter = \";\""),
                    HasSubstr("Spaces are no delimiter")));
  EXPECT_THAT(refusal(mean_of("Age"), source).what(), HasSubstr("none of the columns that are asked for"));
  for (const std::string there : {"born", "twice"})
    EXPECT_THAT(refusal(mean_of(there), source).what(), Not(HasSubstr("separated otherwise")));
  // Those that the specification names are.
  const std::string income =
      statistic("income", "kind = \"mean\"\ncolumn = \"income\"\nbounds = [0, 1]\nepsilon = 1");
  EXPECT_THAT(refusal(mean_of("incom") + income, source).what(),
              AllOf(HasSubstr("did you mean \"income\"?"), Not(HasSubstr("separated otherwise"))));
  const Error twice = refusal(mean_of("twice"), source);
  EXPECT_EQ(twice.code(), ErrorCode::bad_data);
  EXPECT_THAT(twice.what(), HasSubstr("of the data, which have the same name; rename one of them"));
  const Error date = refusal(mean_of("born"), source);
  EXPECT_EQ(date.code(), ErrorCode::bad_data);
  EXPECT_THAT(date.what(), HasSubstr("cannot be used: it is a date"));
}

TEST_F(ReleaseTest, AnotherSizeIsRefusedNamingTheDeclaredOneOnly) {
  const std::string statistics =
      statistic("n", "kind = \"count\"") +
      statistic("mean", "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\nepsilon = 0.1");
  for (const char* size : {"size = 7", "size = 9", "size = 1000000000000"}) {
    const Error error = refusal(replaced(change_one_head, "size = 8", size) + statistics, people());
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    EXPECT_EQ(error.parameter(), "size");
    EXPECT_THAT(error.what(), HasSubstr(size));
    EXPECT_THAT(error.what(), Not(HasSubstr("8")));
  }
  // A constant is checked against the data too.
  EXPECT_EQ(refusal(replaced(change_one_head, "size = 8", "size = 7") + statistic("n", "kind = \"count\""),
                    people())
                .code(),
            ErrorCode::bad_data);
}

TEST_F(ReleaseTest, AFailedReadCostsNothing) {
  MemorySource source = people();
  source.before_fold = [] { throw Error(ErrorCode::io, "data", "the disk is gone"); };
  const Error error =
      refusal(change_one_head +
                  statistic("mean", "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\nepsilon = 0.1"),
              source);
  EXPECT_STREQ(error.what(), "the disk is gone");
}

TEST_F(ReleaseTest, ConstantsAloneAreNotDebited) {
  const Released released =
      run(change_one_head + statistic("n", "kind = \"count\"\nepsilon = 1") +
              statistic("seven", "kind = \"sum\"\ncolumn = \"age\"\ntype = \"integer\"\nbounds = [7, 7]"),
          people());
  EXPECT_FALSE(released.release.has_value());
  const Json json = Json::parse(released.report.json());
  EXPECT_TRUE(json.at("release").is_null());
  EXPECT_EQ(json.at("statistics").at(0).at("value"), 8);
  EXPECT_EQ(json.at("statistics").at(1).at("value"), 56);
  EXPECT_EQ(json.at("ledger").at("spent"), "0");
  EXPECT_TRUE(ledger(Neighbors::change_one).entries().empty());
  EXPECT_THAT(released.report.to_table(), HasSubstr("n: a public constant"));
}

// What is printed beforehand is what is debited, whatever the schema of the file says.
TEST_F(ReleaseTest, TheSchemaOfTheFileDecidesNothing) {
  const std::string text =
      change_one_head + statistic("sum", "kind = \"sum\"\ncolumn = \"x\"\nbounds = [0, 9.5]\naccuracy = 3");
  const Plan plan(Specification::parse(text, "s.toml"));
  MemorySource integers;
  integers.add({"x", AtomType::integer, ""}, MemorySource::Integers{1, 2, 3, 4, 5, 6, 7, 8});
  MemorySource reals;
  reals.add({"x", AtomType::real, ""}, MemorySource::Reals{1, 2, 3, 4, 5, 6, 7, 8});
  for (const MemorySource& source : {integers, reals}) {
    const Json json = report(text, source);
    EXPECT_EQ(json.at("statistics").at(0).at("epsilon"), to_string(plan.epsilon()));
    EXPECT_EQ(json.at("statistics").at(0).at("sensitivity"), "9.5");
  }
}

TEST_F(ReleaseTest, ATableOfAReportIsReadable) {
  const Released released = run(
      change_one_head +
          statistic("mean_age", "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\n" + exact_enough) +
          statistic("city", "kind = \"histogram\"\ncolumn = \"city\"\ncategories = [\"ulm\", \"bonn\"]\n" +
                                exact_enough),
      people());
  std::string table = released.report.to_table();
  // Noise has the last word on digits, so they are all made 9.
  for (std::size_t i = table.find("mean_age"); table[i] != '\n'; ++i) {
    if (table[i] >= '0' && table[i] <= '9') table[i] = '9';
  }
  EXPECT_EQ(table,
            "Release 1 of people\n"
            "Hidden: what one row says, one of 8. Neighbors: change-one.\n"
            "\n"
            "  statistic   released        1 - 1e-12 within\n"
            "  mean_age   99.999999  [99.999999, 99.999999]\n"
            "\n"
            "city, histogram of city                         1 - 1e-12: all intervals at once\n"
            "  ulm   2  [2, 2]\n"
            "  bonn  2  [2, 2]\n"
            "\n"
            "! city: all bins together hold far fewer rows than there are; look for a\n"
            "  mistyped category, values outside the bins, or a column that was read as\n"
            "  another type.\n"
            "\n"
            "  epsilon 20000000 spent now, 20000000 in all, 980000000 left.  Loss at most\n"
            "  20000000: the certificate of these statistics together.\n"
            "\n"
            "  Intervals hold the noise only: not sampling, not what bounds cut off.\n");
}

// Every interval of a table has its level: single numbers in the header when all levels agree, else behind each; lists
// of numbers in their first line.
void expect_levels(const std::string& table, bool same) {
  SCOPED_TRACE(table);
  std::istringstream lines(table);
  bool single = false;
  bool list = false;
  int intervals = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) single = list = false;
    if (line.starts_with("  statistic ")) {
      single = true;
      EXPECT_EQ(line.ends_with("95 in 100 within"), same);
    } else if (line.find("95%: ") != std::string::npos) {
      list = true;
    } else if (line.starts_with("  ") && line.find("  [") != std::string::npos) {
      ++intervals;
      EXPECT_TRUE(single || list) << line;
      EXPECT_EQ(single && line.find("%)") != std::string::npos, single && !same) << line;
    }
  }
  EXPECT_GT(intervals, 0);
}

TEST_F(ReleaseTest, NoAccuracyStandsWithoutItsLevel) {
  const std::string grouped = "group_by = \"visits\"\nkeys = [1, 2]\nepsilon = 1e6\n";
  const std::string statistics =
      statistic("n", "kind = \"count\"\nepsilon = 1e6") +
      statistic("h", "kind = \"histogram\"\ncolumn = \"age\"\nedges = [0, 50, 100]\nepsilon = 1e6") +
      statistic(
          "q",
          "kind = \"quantiles\"\ncolumn = \"age\"\nedges = [0, 50, 100]\nquantiles = [0.5]\nepsilon = 1e6") +
      statistic("m", "kind = \"median\"\ncolumn = \"age\"\nedges = [0, 50, 100]\nepsilon = 1e6") +
      statistic("a", "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\n" + grouped) +
      statistic("b", "kind = \"median\"\ncolumn = \"age\"\nedges = [0, 50, 100]\n" + grouped) +
      statistic("g", "kind = \"count\"\n" + grouped);
  expect_levels(run(add_remove_head + statistics, people()).report.to_table(), true);
  // Quantiles alone have a level too, and so have the groups of a mean.
  for (const char* name : {"q", "m", "a", "b"}) {
    const std::size_t begin = statistics.find("[[statistic]]\nname = \"" + std::string(name) + "\"");
    const std::string one = statistics.substr(begin, statistics.find("[[statistic]]", begin + 1) - begin);
    expect_levels(run(add_remove_head + one, people()).report.to_table(), true);
  }
  const std::string other = statistic("z", "kind = \"count\"\nepsilon = 1e6\nalpha = \"0.1\"");
  const std::string table = run(add_remove_head + statistics + other, people()).report.to_table();
  expect_levels(table, false);
  EXPECT_THAT(table, HasSubstr("(90%)"));
  const std::string plan =
      Plan(Specification::parse(add_remove_head + statistics + other, "s.toml")).to_table();
  EXPECT_THAT(plan, HasSubstr("(90%)"));
  EXPECT_THAT(plan, HasSubstr("all 2 at once \xc2\xb1"
                              "0 (95%)\n"));
}

// 4 - 2.00001 is not 2: what remains is rounded down, what is spent up.
TEST_F(ReleaseTest, WhatRemainsIsNeverShownAsMore) {
  ledger(Neighbors::add_remove, 4)
      .debit({"people", Neighbors::add_remove, ""}, {{"before", Rational(2)}}, "");
  const std::string one = statistic("n", "kind = \"count\"\nepsilon = \"1/3000000\"");
  const std::string table = run(add_remove_head + one, people()).report.to_table();
  EXPECT_THAT(table, HasSubstr(" 2.0001 in all, 1.9999 left."));
  const Json json = Json::parse(*ledger(Neighbors::add_remove).report(2));
  EXPECT_EQ(json.at("ledger").at("remaining"), "5999999/3000000");
  const std::string plan =
      Plan(Specification::parse(replaced(add_remove_head, "\"1e9\"", "\"2/3\"") + one, "s.toml")).to_table();
  EXPECT_THAT(plan, HasSubstr("of the 0.66666 that [budget] allows"));
}

TEST_F(ReleaseTest, GroupsHaveAllTheirPublicKeys) {
  const std::string text =
      add_remove_head +
      statistic(
          "n",
          "kind = \"count\"\ngroup_by = \"city\"\nkeys = [\"bonn\", \"ulm\", \"nowhere\"]\nepsilon = 1e6") +
      statistic("age",
                "kind = \"mean\"\ncolumn = \"age\"\nbounds = [0, 100]\ngroup_by = \"visits\"\n"
                "keys = [100, 3, 77]\nepsilon = 1e6") +
      statistic("ages",
                "kind = \"histogram\"\ncolumn = \"age\"\nedges = [0, 25, 100]\ngroup_by = \"city\"\n"
                "keys = [\"ulm\"]\nepsilon = 1e6");
  const Json json = report(text, people());
  const Json& n = json.at("statistics").at(0);
  EXPECT_EQ(n.at("groups"), Json::parse(R"([{"key": "bonn", "value": 2}, {"key": "ulm", "value": 2},
                                            {"key": "nowhere", "value": 0}])"));
  EXPECT_EQ(n.at("sensitivity"), "1");
  EXPECT_TRUE(n.at("accuracy").contains("simultaneous"));
  const Json& age = json.at("statistics").at(1);
  EXPECT_TRUE(age.at("accuracy").is_null());
  EXPECT_EQ(age.at("groups").at(0).at("key"), 100);
  EXPECT_NEAR(age.at("groups").at(0).at("value").get<double>(), 80, 0.01);
  EXPECT_NEAR(age.at("groups").at(1).at("value").get<double>(), 30, 0.01);
  EXPECT_EQ(age.at("groups").at(2).at("value"), 50.0);  // nobody: the midpoint
  EXPECT_EQ(age.at("groups").at(2).at("parts").at(1).at("value"), 0);
  EXPECT_GT(age.at("groups").at(0).at("accuracy").at("tight"), 0);
  const Json& ages = json.at("statistics").at(2).at("groups").at(0);
  EXPECT_EQ(ages.at("bins").at(0).at("value"), 2);
  EXPECT_EQ(ages.at("bins").at(1).at("value"), 0);
  // The table prints them all, from the stored text alone.
  const std::string table = Report::from_json(json.dump()).to_table();
  for (const char* line : {"  nowhere  ", "  77  ", "  ulm, [25, 100]  "})
    EXPECT_THAT(table, HasSubstr(line));
}

TEST_F(ReleaseTest, AHundredThousandKeysAllAppearWhetherSomeOrNoRowsAreSelected) {
  constexpr int key_count = 100'000;
  std::string keys;
  for (int i = 0; i < key_count; ++i) keys += (i == 0 ? "[" : ", ") + std::to_string(i);
  keys += "]";
  const std::string wanted =
      statistic("n", "kind = \"count\"\ngroup_by = \"visits\"\nkeys = " + keys + "\nepsilon = 1e6");
  for (const int oldest : {0, 35}) {  // nobody, and the first three
    const std::string head =
        replaced(add_remove_head, "[budget]", "where = \"age < " + std::to_string(oldest) + "\"\n[budget]");
    const Json json = report(head + wanted, people());
    const Json& groups = json.at("statistics").at(0).at("groups");
    ASSERT_EQ(groups.size(), static_cast<std::size_t>(key_count));
    for (int i = 0; i < key_count; ++i) {
      const Json& group = groups.at(static_cast<std::size_t>(i));
      ASSERT_EQ(group.at("key"), i);
      ASSERT_EQ(group.at("value"), oldest == 35 && i >= 1 && i <= 3 ? 1 : 0) << i;
    }
  }
}

// Plain formulas over the rows that count.
struct Moments {
  std::vector<double> x, y;
  static double mean(const std::vector<double>& rows) {
    return std::accumulate(rows.begin(), rows.end(), 0.0) / static_cast<double>(rows.size());
  }
  static double covariance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean(a)) * (b[i] - mean(b));
    return sum / static_cast<double>(a.size() - 1);
  }
  double deviation() const { return std::sqrt(covariance(x, x)); }
  double correlation() const { return covariance(x, y) / std::sqrt(covariance(x, x) * covariance(y, y)); }
};

TEST_F(ReleaseTest, KindsThatAreComputedFromPartsUnderAddRemove) {
  MemorySource source;
  source.add("x", MemorySource::Reals{1, 2, 4, 8, nan, 3, 250});
  source.add("y", MemorySource::Reals{2, 3, 4, 9, 5, nan, -1});
  const std::string two =
      "columns = [\"x\", \"y\"]\nbounds = [[0, 10], [-4, 8]]\nepsilon = 1e7\nalpha = 1e-12";
  const std::string one = "column = \"x\"\nbounds = [0, 10]\nepsilon = 1e7\nalpha = 1e-12";
  const Json json = report(
      add_remove_head + statistic("v", "kind = \"variance\"\nsplit = [1, 2, 3]\n" + one) +
          statistic("s", "kind = \"standard_deviation\"\n" + one) +
          statistic("c", "kind = \"covariance\"\n" + two) + statistic("r", "kind = \"correlation\"\n" + two),
      source);
  const Moments single{{1, 2, 4, 8, 3, 10}, {}};
  const Moments pairs{{1, 2, 4, 8, 10}, {2, 3, 4, 8, -1}};
  const std::vector<double> exact{Moments::covariance(single.x, single.x), single.deviation(),
                                  Moments::covariance(pairs.x, pairs.y), pairs.correlation()};
  const std::vector<std::size_t> parts{3, 3, 4, 6};
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const Json& one_json = json.at("statistics").at(i);
    SCOPED_TRACE(one_json.dump());
    const double tight = one_json.at("accuracy").at("tight");
    EXPECT_NEAR(one_json.at("value").get<double>(), exact[i], 1e-4);
    EXPECT_LE(std::abs(one_json.at("value").get<double>() - exact[i]), tight * (1 + 1e-9) + 1e-9);
    EXPECT_LT(tight, 1e-3);
    EXPECT_EQ(one_json.at("parts").size(), parts[i]);
    EXPECT_EQ(one_json.at("epsilon"), "10000000");
  }
  EXPECT_EQ(json.at("statistics").at(0).at("parts").at(2).at("epsilon"), "5000000");
  EXPECT_EQ(json.at("statistics").at(2).at("parts").at(3).at("centers"), Json::parse(R"(["5", "2"])"));
  EXPECT_EQ(json.at("statistics").at(3).at("parts").at(5).at("center"), "2");
}

TEST_F(ReleaseTest, KindsThatAreComputedFromPartsUnderChangeOne) {
  const std::string two = "columns = [\"age\", \"visits\"]\nbounds = [[0, 100], [0, 10]]\nepsilon = 1e7";
  const Json json = report(
      change_one_head +
          statistic("s",
                    "kind = \"standard_deviation\"\ncolumn = \"age\"\nbounds = [0, 100]\nepsilon = 1e7") +
          statistic("r", "kind = \"correlation\"\nsplit = [2, 1, 1]\n" + two) +
          statistic("m",
                    "kind = \"moment\"\norder = 3\ncolumn = \"visits\"\nbounds = [0, 10]\nepsilon = 1e7"),
      people());
  const Moments moments{{10, 20, 30, 40, 50, 60, 70, 80}, {1, 2, 3, 4, 5, 6, 7, 10}};
  EXPECT_NEAR(json.at("statistics").at(0).at("value").get<double>(), moments.deviation(), 1e-4);
  EXPECT_NEAR(json.at("statistics").at(1).at("value").get<double>(), moments.correlation(), 1e-4);
  EXPECT_EQ(json.at("statistics").at(0).at("parts").size(), 1U);
  EXPECT_NEAR(json.at("statistics").at(2).at("value").get<double>(), (784 + 1000) / 8.0, 1e-4);
}

TEST_F(ReleaseTest, QuantilesComeFromOneHierarchy) {
  const std::string edges =
      "column = \"age\"\nedges = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]\nepsilon = 1e6\nalpha = 1e-12\n";
  for (const char* head : {add_remove_head, change_one_head}) {
    const Plan plan(Specification::parse(head + statistic("m", "kind = \"median\"\n" + edges), "s.toml"));
    EXPECT_EQ(plan.statistics()[0].measurements[0].measurement.mechanism().sensitivity(),
              2);  // a root and the leaves; without the root, twice
  }
  const Json json = report(
      add_remove_head + statistic("m", "kind = \"median\"\n" + edges) +
          statistic("q", "kind = \"quantiles\"\nquantiles = [0, 0.25, 1]\n" + edges) +
          statistic("g", "kind = \"median\"\ngroup_by = \"city\"\nkeys = [\"bonn\", \"nowhere\"]\n" + edges),
      people());
  const Json& median = json.at("statistics").at(0);
  EXPECT_NEAR(median.at("value").get<double>(), 50, 1e-9);  // four of eight are below
  EXPECT_LE(median.at("interval").at(0), 50);
  EXPECT_GE(median.at("interval").at(1), 50);
  EXPECT_TRUE(median.at("accuracy").is_null());
  EXPECT_GE(median.at("rank_error"), 0.0);
  const Json& quantiles = json.at("statistics").at(1).at("quantiles");
  EXPECT_EQ(quantiles.at(1).at("q"), "0.25");
  EXPECT_NEAR(quantiles.at(1).at("value").get<double>(), 30, 1e-9);
  EXPECT_LE(quantiles.at(0).at("value"), quantiles.at(1).at("value"));
  EXPECT_LE(quantiles.at(1).at("value"), quantiles.at(2).at("value"));
  const Json& groups = json.at("statistics").at(2).at("groups");
  EXPECT_GE(groups.at(0).at("value"), 30.0);
  EXPECT_LE(groups.at(0).at("value"), 80.0);
  EXPECT_EQ(groups.at(1).at("value"), 45.0);  // nobody: the middle
  EXPECT_THAT(Report::from_json(json.dump()).to_table(),
              HasSubstr("for every quantile of every group at once"));
}

TEST_F(ReleaseTest, DistinctValuesOfAPublicSet) {
  for (const char* head : {add_remove_head, change_one_head}) {
    const Specification specification =
        Specification::parse(head + statistic("d",
                                              "kind = \"distinct\"\ncolumn = \"city\"\ncategories = "
                                              "[\"ulm\", \"bonn\", \"aachen\"]\nepsilon = 1e6"),
                             "s.toml");
    const Plan plan(specification);
    EXPECT_EQ(plan.statistics()[0].measurements[0].measurement.mechanism().sensitivity(), Dyadic(1));
  }
  const Json json = report(add_remove_head + statistic("d",
                                                       "kind = \"distinct\"\ncolumn = \"city\"\ncategories = "
                                                       "[\"ulm\", \"bonn\", \"aachen\"]\nepsilon = 1e6"),
                           people());
  EXPECT_EQ(json.at("statistics").at(0).at("value"), 2);
}

TEST_F(ReleaseTest, OfAUnitSoManyGroupsAndSoManyRowsOfEachCount) {
  MemorySource visits;
  MemorySource::Reals unit;
  MemorySource::Reals place;
  for (int person = 0; person < 100; ++person) {
    for (int day = 0; day < 12; ++day) {
      unit.push_back(person);
      place.push_back(day % 3);  // four visits to each of three places
    }
  }
  visits.add("person", unit).add("place", place);
  const std::string head =
      replaced(add_remove_head, "[budget]", "privacy_unit = \"person\"\nmax_rows_per_unit = 12\n[budget]");
  const auto counts = [&](const std::string& limits) {
    const Specification specification =
        Specification::parse(head + statistic("n", "kind = \"count\"\n" + exact_enough +
                                                       "group_by = \"place\"\nkeys = [0, 1, 2]\n" + limits),
                             "s.toml");
    std::filesystem::create_directories(units_);
    Ledger ledger = Ledger::create(units_ / (std::to_string(++files_) + ".ledger"), specification.identity(),
                                   1'000'000'000);
    const Released released = release(
        specification, ledger, [&](const Declaration&) { return std::make_unique<MemorySource>(visits); });
    const Json json = Json::parse(released.report.json()).at("statistics").at(0);
    long sum = 0;
    for (const Json& group : json.at("groups")) sum += std::lround(group.at("value").get<double>());
    return std::pair(sum, json.at("sensitivity").get<std::string>());
  };
  EXPECT_EQ(counts(""), std::pair(1200L, std::string("12")));
  EXPECT_EQ(counts("max_groups_per_unit = 2\nmax_rows_per_group_per_unit = 3"),
            std::pair(600L, std::string("6")));
  EXPECT_EQ(counts("max_groups_per_unit = 1\nmax_rows_per_group_per_unit = 1"),
            std::pair(100L, std::string("1")));
  EXPECT_EQ(counts("max_groups_per_unit = 9\nmax_rows_per_group_per_unit = 9"),
            std::pair(1200L, std::string("12")));
  std::filesystem::remove_all(units_);
}

TEST_F(ReleaseTest, ColumnsOfGroupsConditionsAndUnitsMustBeThere) {
  const std::string count = statistic("n", "kind = \"count\"\nepsilon = 1");
  const std::string where = replaced(add_remove_head, "[budget]", "where = \"agee > 3\"\n[budget]");
  EXPECT_THAT(refusal(where + count, people()).what(),
              HasSubstr("where: column \"agee\" is not in the header"));
  const std::string grouped =
      add_remove_head +
      statistic("n", "kind = \"count\"\nepsilon = 1\ngroup_by = \"City\"\nkeys = [\"ulm\"]");
  EXPECT_THAT(refusal(grouped, people()).what(), HasSubstr("group_by: column \"City\""));
  // A ledger of rows does not pay for units.
  const std::string unit =
      replaced(add_remove_head, "[budget]", "privacy_unit = \"city\"\nmax_rows_per_unit = 2\n[budget]");
  EXPECT_EQ(refusal(unit + count, people()).code(), ErrorCode::budget_refused);
}

TEST(Report, StoredTextsThatAreNoReportAreRefused) {
  for (const char* text : {"", "{}", "[]", "null", "{\"statistics\": [{\"name\": 1}]}", "\xff"}) {
    EXPECT_THROW(Report::from_json(text), Error) << text;
  }
}

}  // namespace
}  // namespace snapdp
