// Releases that a program makes itself, paid by a ledger: what the headers and the README show, compiled and run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>

#include "random/failing_generator.h"
#include "release/little_memory.h"
#include "snapdp/error.h"
#include "snapdp/framework/composition.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/privacy/certificate.h"
#include "snapdp/privacy/ledger.h"
#include "snapdp/statistics/quantiles.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/memory_source.h"

namespace snapdp {
namespace {

using testing::HasSubstr;

class LedgerAccountantTest : public testing::Test {
 protected:
  LedgerAccountantTest() { std::filesystem::create_directories(folder_); }
  ~LedgerAccountantTest() override { std::filesystem::remove_all(folder_); }

  Ledger create(const LedgerIdentity& identity, const Rational& budget = 1) {
    return Ledger::create(folder_ / (std::to_string(++files_) + ".ledger"), identity, budget);
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  ("snapdp_accountant_" + std::to_string(std::random_device()()));

 private:
  int files_ = 0;
};

const LedgerIdentity people{"people-2026", Neighbors::change_one, ""};

Measurement mean_age(const Epsilon& epsilon) {
  const auto ages = vector_domain<double>().of_size(10'000);
  return make_clamp(ages, change_one(), Bounds(0, 100)) >> make_mean() >> make_snapping({.epsilon = epsilon});
}

// The lines of a file between two others, without indentation and comment signs.
std::string shown(const std::string& path, const std::string& from, const std::string& to) {
  std::ifstream file(std::string(SNAPDP_SOURCE "/") + path);
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    std::size_t start = line.find_first_not_of(" /");
    line = start == std::string::npos ? "" : line.substr(start);
    if (inside && line == to) return text;
    if (inside && !line.empty()) text += line + '\n';
    inside |= line == from;
  }
  return {};
}

TEST_F(LedgerAccountantTest, TheFirstExampleOfTheReadmeIsAWholeRelease) {
  create(people);
  std::filesystem::rename(folder_ / "1.ledger", folder_ / "people.ledger");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  const std::vector<double> rows(10'000, 30.0);
  // clang-format off
  // [the readme]
  auto ages = vector_domain<double>().of_size(10'000);
  auto clamped = make_clamp(ages, change_one(), Bounds(0, 100));
  auto mean_age = clamped >> make_mean() >> make_snapping({.epsilon = "1/4"});
  Ledger ledger = Ledger::open("people.ledger");
  LedgerAccountant accountant(ledger, {"people-2026", Neighbors::change_one, ""}, "mean_age");
  Release r = mean_age.release(rows, accountant);    // debits the ledger, durably, then draws
  // [end]
  // clang-format on
  std::filesystem::current_path(before);
  // 10,000 scales of 4e-4 away: a false alarm of e^-10000.
  EXPECT_NEAR(r.values.at(0).to_double_nearest(), 30, 4);
  EXPECT_EQ(r.loss, Rational(1, 4));
  EXPECT_EQ(ledger.balance().spent, Rational(1, 4));
  EXPECT_EQ(ledger.entries().at(0).charges, (std::vector<LedgerCharge>{{"mean_age", Rational(1, 4)}}));
  EXPECT_THAT(ledger.specification(1), HasSubstr("clamp to [0, 100]"));
  EXPECT_EQ(accountant.receipt()->release, 1);
  EXPECT_EQ(accountant.receipt()->remaining, Rational(3, 4));
  EXPECT_EQ(ledger.verify().releases, 1);
  const std::string code = shown("tests/release/accountant_test.cpp", "[the readme]", "[end]");
  EXPECT_NE(code, "");
  EXPECT_EQ(shown("README.md", "using namespace snapdp;", "```"), code);
}

TEST_F(LedgerAccountantTest, TheExampleOfMeasurementRuns) {
  const std::vector<double> rows(10'000, 30.0);
  // clang-format off
  // [measurement.h]
  auto ages = vector_domain<double>().of_size(10'000);
  auto clamped = make_clamp(ages, change_one(), Bounds(0, 100));
  auto mean_age = clamped >> make_mean() >> make_snapping({.epsilon = "1/4"});
  mean_age.loss();                                   // at most 1/4 at distance 1, exact
  mean_age.accuracy(0.05);                           // known before any row is read
  InMemoryAccountant budget(1);                      // or a LedgerAccountant, see privacy/ledger.h
  Release r = mean_age.release(rows, budget);        // debit, then draw
  // [end]
  // clang-format on
  EXPECT_EQ(budget.spent(), r.loss.epsilon);
  EXPECT_EQ(shown("include/snapdp/framework/measurement.h",
                  "Measurements: an exact statistic, snapped once, paid for first.", "#pragma once"),
            shown("tests/release/accountant_test.cpp", "[measurement.h]", "[end]"));
}

TEST_F(LedgerAccountantTest, TheExampleOfQuantilesRuns) {
  const VectorDomain domain = vector_domain<double>();
  const std::vector<double> rows(500, 35.0);
  InMemoryAccountant accountant(1);
  // clang-format off
  // [quantiles.h]
  const HierarchyLayout layout({0, 10, 20, 30, 40, 50, 60, 70, 80}, 2);
  auto ages = make_hierarchy(domain, symmetric_distance(), layout) >> make_snapping({.epsilon = "1/2"});
  auto tree = ages.release(rows, accountant).values;          // one integer a node
  auto counts = consistent_counts(layout, tree);  // one number a leaf; their sums are those of the nodes
  double median = quantile_from_hierarchy(layout, counts, Rational(1, 2));
  // With probability at least 0.95, known before any row is read: how many rows off,
  double off = quantile_rank_error(layout, ages.mechanism().noise(), Rational(1, 2), 0.05);
  // and after the release, between which edges the exact median lies.
  double margin = quantile_margin(layout, ages.mechanism().noise(), Rational(1, 2), 0.05);
  auto [lower, upper] = quantile_interval(layout, counts, Rational(1, 2), margin);
  // [end]
  // clang-format on
  EXPECT_LE(margin, off);
  EXPECT_LE(lower, median);
  EXPECT_LE(median, upper);
  EXPECT_EQ(shown("include/snapdp/statistics/quantiles.h",
                  "Quantiles and the median from a hierarchy of noisy counts over public edges.",
                  "Leaves are the bins [e_0, e_1), [e_1, e_2), ...; values below e_0 count in the first and "
                  "values from the"),
            shown("tests/release/accountant_test.cpp", "[quantiles.h]", "[end]"));
}

TEST_F(LedgerAccountantTest, PaysFirstAndReleasesNothingUnpaid) {
  Ledger ledger = create(people);
  LedgerAccountant accountant(ledger, people, "mean_age");
  const std::vector<double> rows(10'000, 30.0);
  for (int i = 0; i < 10; ++i) accountant.debit({Rational(1, 20), change_one(), 1, "before"});
  // Ten at a tenth would fit a budget of 1; half of it is gone.
  for (int i = 0; i < 5; ++i) mean_age(0.1).release(rows, accountant);
  EXPECT_EQ(ledger.balance().remaining, 0);
  try {
    mean_age(0.1).release(rows, accountant);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::budget_refused);
  }
  EXPECT_EQ(ledger.balance().releases, 15);
  EXPECT_EQ(accountant.receipt()->release, 15);
}

// Different scales have losses whose exact values share no denominator; what is debited is what was asked for.
TEST_F(LedgerAccountantTest, ManyDifferentReleasesKeepTheTotalShort) {
  Ledger ledger = create(people, 100);
  LedgerAccountant accountant(ledger, people, "means");
  Rational spent = 0;
  int shorter = 0;
  for (int i = 1; i <= 60; ++i) {
    const VectorDomain ages = vector_domain<double>().of_size(1000 + static_cast<std::uint64_t>(i));
    const Measurement mean =
        make_clamp(ages, change_one(), Bounds(0, 100)) >> make_mean() >> make_snapping({.epsilon = 0.3});
    EXPECT_LE(mean.loss(), mean.price().epsilon);
    shorter += mean.loss() < mean.price().epsilon ? 1 : 0;
    mean.release(std::vector<double>(1000 + static_cast<std::size_t>(i), 1.0), accountant);
    spent += Rational(3, 10);
  }
  EXPECT_GT(shorter, 20);
  EXPECT_EQ(ledger.balance().spent, spent);
}

// One rule of debits: the relation holds for what is debited, and the certificate covers it.
TEST_F(LedgerAccountantTest, WhatIsDebitedIsCovered) {
  NoiseOptions precise{.epsilon = "9/16"};
  precise.noise = NoiseKind::notes;
  precise.precision = 10;
  const VectorDomain eight = VectorDomain({{AtomType::real, false, false, Bounds(-4, 4)}}).of_size(1);
  const std::vector<Measurement> all = {
      mean_age(0.3), make_mean(eight, change_one()) >> make_snapping(NoiseOptions{.epsilon = 1}),
      make_histogram(untrusted_domain({AtomType::real}).of_size(20), change_one(), Bins::numbers({1, 2})) >>
          make_snapping({.epsilon = 1, .noise = NoiseKind::notes})};
  for (const Measurement& measurement : all) {
    EXPECT_EQ(measurement.price(), PrivacyLoss(measurement.mechanism().epsilon()));
    EXPECT_TRUE(measurement.privacy().holds(measurement.distance(), measurement.price().epsilon));
    EXPECT_TRUE(certify(measurement.mechanism()).covers(measurement.price().epsilon));
    EXPECT_GE(measurement.price().epsilon, measurement.loss(measurement.distance()));
  }
  // Where only the notes' claim is within epsilon, what is proved is debited.
  const VectorDomain reals = VectorDomain({{AtomType::real, false, false, Bounds(0, 8)}}).of_size(8);
  const Measurement claimed = make_sum(reals, change_one()) >>
                              make_snapping({.epsilon = "9/16", .noise = NoiseKind::notes, .precision = 12});
  ASSERT_FALSE(claimed.mechanism().loss_is_proved());
  EXPECT_GT(claimed.price().epsilon, Rational(9, 16));
  EXPECT_EQ(claimed.price(), claimed.loss());
  EXPECT_TRUE(certify(claimed.mechanism()).covers(claimed.price().epsilon));
  const Composition both = make_sequential({claimed, claimed});
  EXPECT_EQ(both.price(), 2 * claimed.loss());
}

TEST_F(LedgerAccountantTest, OnlyForTheNeighborsOfTheLedger) {
  const LedgerIdentity rows_of{"people-2026", Neighbors::add_remove, ""};
  const LedgerIdentity units_of{"people-2026", Neighbors::add_remove, "pid"};
  const VectorDomain column = untrusted_domain({AtomType::real});
  NoiseOptions two{.epsilon = "1/8"};
  two.distance = 2;
  const Measurement replaced = make_histogram(column.of_size(3), change_one(), Bins::numbers({1, 2})) >>
                               make_snapping({.epsilon = "1/8"});
  const Measurement placed = make_histogram(column.of_size(3), hamming(), Bins::numbers({1, 2})) >>
                             make_snapping({.epsilon = "1/8"});
  const Measurement one_row = make_count(column, symmetric_distance()) >> make_snapping({.epsilon = "1/8"});
  const Measurement two_rows = make_count(column, symmetric_distance()) >> make_snapping(two);
  const std::vector<double> rows{1, 2, 3};
  struct Case {
    LedgerIdentity identity;
    const Measurement* measurement;
    std::string parameter;  // "" when it is paid
  };
  const std::vector<Case> cases = {
      {people, &replaced, ""},        {people, &placed, "metric"}, {people, &one_row, "metric"},
      {rows_of, &replaced, "metric"}, {rows_of, &one_row, ""},     {rows_of, &two_rows, "distance"},
      {units_of, &one_row, ""},       {units_of, &two_rows, ""},   {units_of, &replaced, "metric"}};
  for (const Case& each : cases) {
    Ledger ledger = create(each.identity);
    LedgerAccountant accountant(ledger, each.identity, "count");
    std::string refused;
    try {
      each.measurement->release(rows, accountant);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::mismatch);
      EXPECT_THAT(error.what(), HasSubstr("nothing was debited"));
      refused = error.parameter();
    }
    EXPECT_EQ(refused, each.parameter);
    EXPECT_EQ(ledger.balance().spent, each.parameter.empty() ? Rational(1, 8) : Rational(0));
  }
  // Another dataset than the ledger's.
  Ledger ledger = create(rows_of);
  LedgerAccountant other(ledger, {"people-2025", Neighbors::add_remove, ""}, "count");
  EXPECT_THROW(one_row.release(rows, other), Error);
  EXPECT_EQ(ledger.balance().spent, 0);
}

// Whole people of a table: the ledger's own unit and no other.
TEST_F(LedgerAccountantTest, OnlyForThePrivacyUnitOfTheLedger) {
  const Measurement two_rows = make_count(untrusted_domain({AtomType::real}), symmetric_distance()) >>
                               make_snapping({.epsilon = "1/8", .distance = 2});
  struct Case {
    std::string ledger_unit;
    std::string unit;
    std::string parameter;  // "" when it is paid
  };
  for (const Case& each :
       {Case{"pid", "pid", ""}, Case{"pid", "household", "unit"}, Case{"", "pid", "metric"}}) {
    MemorySource table;
    table.add("x", MemorySource::Reals{1, 2, 3}).add("pid", MemorySource::Reals{7, 7, 8});
    table.add("household", MemorySource::Reals{1, 1, 1});
    RowSelection people_of;
    people_of.unit = RowSelection::UnitLimit{each.unit, 2};
    const LedgerIdentity identity{"people-2026", Neighbors::add_remove, each.ledger_unit};
    Ledger ledger = create(identity);
    LedgerAccountant accountant(ledger, identity, "count");
    std::string refused;
    try {
      make_on_table(people_of, {{{"x"}, two_rows}}).release(table, accountant);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::mismatch);
      refused = error.parameter();
    }
    EXPECT_EQ(refused, each.parameter);
    EXPECT_EQ(ledger.balance().spent, each.parameter.empty() ? Rational(1, 8) : Rational(0));
  }
}

// Every way to release something for oneself.
std::vector<std::pair<std::string, std::function<void(BudgetAccountant&)>>> all_releases(std::size_t bins) {
  const VectorDomain column = untrusted_domain({AtomType::real});
  std::vector<Dyadic> edges;
  for (std::size_t i = 0; i <= bins; ++i) edges.emplace_back(static_cast<std::int64_t>(i));
  const Measurement histogram =
      make_histogram(column, symmetric_distance(), Bins::edges(edges)) >> make_snapping({.epsilon = "1/8"});
  const Composition twice = make_sequential({histogram, histogram});
  const Composition half =
      make_parallel(column, symmetric_distance(),
                    {{Predicate::compare(0, AtomType::real, Comparison::at_least, 2), histogram}});
  const Composition same = make_postprocessing(
      histogram, [](std::vector<Dyadic> values) { return values; }, "itself", Trusted{});
  const auto of = [](const auto& chain) {
    return [chain](BudgetAccountant& accountant) { chain.release(std::vector<double>{1, 2, 3}, accountant); };
  };
  return {{"measurement", of(histogram)},
          {"sequential", of(twice)},
          {"parallel", of(half)},
          {"post-processing", of(same)}};
}

TEST_F(LedgerAccountantTest, AGeneratorThatFailsCostsNothing) {
  const LedgerIdentity identity{"people-2026", Neighbors::add_remove, ""};
  for (const auto& [name, release] : all_releases(3)) {
    Ledger ledger = create(identity);
    LedgerAccountant accountant(ledger, identity, name);
    release(accountant);  // leaves words in the buffer, which would hide the failure
    const Rational spent = ledger.balance().spent.value;
    {
      const FailingGenerator failing(0);
      try {
        release(accountant);
        ADD_FAILURE() << name;
      } catch (const Error& error) {
        EXPECT_EQ(error.parameter(), "random") << name;
      }
    }
    EXPECT_EQ(ledger.balance().spent, spent) << name;
    release(accountant);
  }
}

#ifndef SNAPDP_LITTLE_MEMORY_CANNOT_BE_TRIED
// With memory of every size that nearly suffices, in processes of their own: the release succeeds or costs nothing.
TEST_F(LedgerAccountantTest, AProcessWithTooLittleMemoryCostsNothingInForks) {
  const LedgerIdentity identity{"people-2026", Neighbors::add_remove, ""};
  for (const auto& each : all_releases((1 << 15) + 1)) {  // no structured binding: clang 14 captures none
    const std::string& name = each.first;
    const auto& release = each.second;
    const std::filesystem::path path = folder_ / (name + ".ledger");
    Ledger::create(path, identity, 1000);
    int released = 0;
    int refused = 0;
    for (std::size_t bytes = 0; bytes < (std::size_t{256} << 20) && released < 3;
         bytes += std::size_t{1} << 20) {
      const std::int64_t before = Ledger::open(path).balance().releases;
      std::optional<Ledger> ledger;
      std::optional<LedgerAccountant> accountant;
      const bool good = succeeds_with_memory(
          bytes,
          [&] {
            ledger.emplace(Ledger::open(path));
            accountant.emplace(*ledger, identity, name);
          },
          [&] {
            release(*accountant);
            return true;
          });
      EXPECT_EQ(Ledger::open(path).balance().releases - before, good ? 1 : 0)
          << name << ", " << bytes << " bytes";
      good ? ++released : ++refused;
    }
    EXPECT_GT(refused, 3) << name;
    EXPECT_GT(released, 0) << name;
  }
}

// Takes all memory that is left, once the release holds what follows the debit.
class TakesAllMemory final : public BudgetAccountant {
 public:
  void debit(const Debit&) override { leave_memory(0); }
};

// Noise on grids so fine and so coarse that every number is decided in multiple precision, and where hardly any is.
TEST_F(LedgerAccountantTest, WhatIsHeldForTheNoiseSufficesForItInForks) {
  const VectorDomain column({{AtomType::real, false, false, Bounds(0, 100)}});
  const Aggregation sum = make_sum(column, symmetric_distance());
  std::vector<Dyadic> edges;
  for (std::int64_t edge = 0; edge <= 5000; ++edge) edges.emplace_back(edge);
  const Aggregation histogram = make_histogram(column, symmetric_distance(), Bins::edges(edges));
  const RangeChoice range = RangeChoice::fixed(Rational(-1000), Rational(1000));
  const std::vector<std::pair<Aggregation, NoiseOptions>> all = {
      {sum, {.epsilon = "1/8"}},
      {sum, {.epsilon = "1/8", .grid = GridChoice::parse("2^-1022", "grid")}},
      {sum, {.epsilon = "1e-290", .grid = GridChoice::parse("2^1000", "grid")}},
      {sum, {.epsilon = "1/8", .noise = NoiseKind::notes, .precision = 4096, .range = range}},
      {sum, {.epsilon = "1/2", .noise = NoiseKind::notes, .range = range}},
      {histogram, {.epsilon = "1/8"}},
      {histogram, {.epsilon = "1e-290"}},
      {histogram, {.epsilon = "1/8", .noise = NoiseKind::geometric}}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Measurement measurement(all[i].first, all[i].second);
    const Composition twice = make_postprocessing(
        Composition(measurement), [](std::vector<Dyadic> values) { return values; }, "itself", Trusted{});
    for (const Composition& release : {Composition(measurement), twice}) {
      EXPECT_TRUE(succeeds_with_memory(
          std::size_t{256} << 20, [] {},
          [&] {
            TakesAllMemory accountant;
            const Release released = release.release(std::vector<double>{1, 2, 3}, accountant);
            return released.values.size() == measurement.aggregation().output_domain().dimension;
          }))
          << i << ": " << release.description();
    }
  }
}
#endif

// Chains may be described by any bytes; the ledger keeps text.
TEST_F(LedgerAccountantTest, KeepsDescriptionsAsText) {
  Ledger ledger = create({"people-2026", Neighbors::add_remove, ""});
  LedgerAccountant accountant(ledger, {"people-2026", Neighbors::add_remove, ""}, "words");
  const Measurement words = make_histogram(untrusted_domain({AtomType::text}), symmetric_distance(),
                                           Bins::texts({"a\x1b[2J", "\xff\xc3", "Köln"})) >>
                            make_snapping({.epsilon = "1/8"});
  words.release(std::vector<std::string_view>{"Köln"}, accountant);
  EXPECT_THAT(ledger.specification(1), HasSubstr("a\\x1b[2J"));
  EXPECT_THAT(ledger.specification(1), HasSubstr("\\xff\\xc3"));
  EXPECT_THAT(ledger.specification(1), HasSubstr("Köln"));
}

TEST_F(LedgerAccountantTest, ABudgetInMemoryIsForOneMetric) {
  EXPECT_THROW(InMemoryAccountant(0.0), Error);
  EXPECT_THROW(InMemoryAccountant("-1"), Error);
  InMemoryAccountant budget("1/2");
  const std::vector<double> rows(10'000, 30.0);
  mean_age("1/4").release(rows, budget);
  const Measurement count =
      make_count(vector_domain<double>(), symmetric_distance()) >> make_snapping({.epsilon = "1/4"});
  EXPECT_THROW(count.release(rows, budget), Error);
  EXPECT_EQ(budget.spent(), Rational(1, 4));
  EXPECT_THROW(mean_age("1/2").release(rows, budget), Error);
  EXPECT_EQ(budget.remaining(), Rational(1, 4));
  mean_age("1/4").release(rows, budget);
  EXPECT_EQ(budget.remaining(), 0);
}

}  // namespace
}  // namespace snapdp
