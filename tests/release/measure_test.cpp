// Runs and ledgers that count in epsilon and delta, or in rho.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "snapdp/error.h"
#include "snapdp/mechanism/gaussian_loss.h"
#include "snapdp/release/release.h"
#include "snapdp/testing/memory_source.h"

namespace snapdp {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr const char* data = "[data]\ndataset = \"people\"\nneighbors = \"add-remove\"\n";

std::string statistic(const std::string& name, const std::string& keys) {
  return "[[statistic]]\nname = \"" + name + "\"\n" + keys + "\n";
}
const std::string count = "kind = \"count\"\n";
const std::string bins = "kind = \"histogram\"\ncolumn = \"x\"\ncategories = [1, 2, 3]\n";
const std::string gaussian = "noise = \"gaussian\"\n";

Plan plan_of(const std::string& budget, const std::string& statistics) {
  return Plan(Specification::parse(data + ("[budget]\n" + budget) + "\n" + statistics, "s.toml"));
}

std::string refusal_of(const std::string& budget, const std::string& statistics) {
  try {
    plan_of(budget, statistics);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  ADD_FAILURE() << "was not refused: " << statistics;
  return "";
}

const std::string in_rho = "rho = \"1/8\"\ndelta = \"1e-6\"";
const std::string in_both = "epsilon = 3\ndelta = \"1e-6\"";

TEST(Measure, OfAPlanInRho) {
  const Plan plan = plan_of(in_rho, statistic("all", count + gaussian + "rho = \"1/32\"") +
                                        statistic("bins", bins + gaussian + "weight = 1") +
                                        statistic("laplace", count + "epsilon = \"1/4\""));
  EXPECT_TRUE(plan.is_affordable());
  const auto& statistics = plan.statistics();
  EXPECT_EQ(statistics[0].cost, Rational(1, 32));
  EXPECT_EQ(statistics[0].measurements[0].measurement.mechanism().scale(), 4);
  EXPECT_EQ(statistics[2].cost, pure_to_zcdp(Rational(1, 4)));
  // What is left, to 2^-60.
  const Rational left = Rational(1, 8) - plan.cost().value;
  EXPECT_GE(left, 0);
  EXPECT_LT(left, Rational(1, 1'000'000'000'000'000));
  for (const PlannedStatistic& planned : statistics) {
    EXPECT_TRUE(planned.certificate.covers(planned.cost.value));
    EXPECT_LE(planned.loss_bound, planned.cost.value);
  }
  const Json json = Json::parse(plan.to_json());
  EXPECT_EQ(json["budget"]["rho"], "0.125");
  EXPECT_EQ(json["budget"]["delta"], "0.000001");
  EXPECT_EQ(json["statistics"][0]["rho"], "0.03125");
  EXPECT_EQ(json["statistics"][0]["noise"], "gaussian");
  EXPECT_FALSE(json["statistics"][0].contains("epsilon"));
  EXPECT_THAT(plan.to_table(),
              AllOf(HasSubstr("rho"), HasSubstr("at delta 0.000001"), HasSubstr("except with probability")));
  EXPECT_THAT(plan.explanation(), AllOf(HasSubstr("Gaussian noise of scale 4"), HasSubstr("loss: rho <= ")));
  EXPECT_THAT(plan.to_html(), AllOf(HasSubstr("ρ"), Not(HasSubstr("ε"))));
}

TEST(Measure, OfAPlanInEpsilonAndDelta) {
  const Plan plan = plan_of(in_both, statistic("a", count + gaussian + "epsilon = 1\ndelta = \"1e-7\"") +
                                         statistic("b", count + "epsilon = 1") +
                                         statistic("c", bins + gaussian + "weight = 1"));
  EXPECT_EQ(plan.cost().value, 3);
  EXPECT_EQ(plan.cost().delta, parse_rational("1e-6", "delta"));  // the third has what is left of both
  EXPECT_EQ(plan.statistics()[2].cost.value, 1);
  EXPECT_EQ(plan.statistics()[2].cost.delta, parse_rational("9e-7", "delta"));
  for (const PlannedStatistic& planned : plan.statistics())
    EXPECT_TRUE(planned.certificate.covers(planned.cost.value));
}

TEST(Measure, AccuracyIsReachedByTheLeastPrice) {
  const Plan plan = plan_of(
      "rho = 100\ndelta = \"1e-6\"",
      statistic("a", count + gaussian + "accuracy = 10") +
          statistic("b", count + gaussian + "accuracy = 10\ndelta = \"1e-7\"") +
          statistic("c", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1]\nrho = \"1/2\"\n" + gaussian));
  const PlannedStatistic& by_rho = plan.statistics()[0];
  EXPECT_LE(by_rho.accuracy->tight, 10);
  const Plan less = plan_of("rho = 100\ndelta = \"1e-6\"",
                            statistic("a", count + gaussian + "rho = \"" +
                                               to_string(Rational(by_rho.asked * Rational(99, 100))) + "\""));
  EXPECT_GT(less.statistics()[0].accuracy->tight, 10);
  // The same noise, or a little less, whichever way it is asked for.
  const PlannedStatistic& by_epsilon = plan.statistics()[1];
  EXPECT_LE(by_epsilon.accuracy->tight, 10);
  EXPECT_NEAR(by_epsilon.measurements[0].measurement.mechanism().scale() /
                  by_rho.measurements[0].measurement.mechanism().scale(),
              1, 1e-6);
  // A mean is of two parts, which share the rho.
  EXPECT_EQ(plan.statistics()[2].measurements.size(), 2U);
  EXPECT_EQ(plan.statistics()[2].cost, Rational(1, 2));
}

TEST(Measure, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusal_of("epsilon = 1", statistic("a", count + gaussian + "epsilon = 1\ndelta = \"1e-6\"")),
              HasSubstr("has no pure epsilon"));
  EXPECT_THAT(refusal_of(in_rho, statistic("a", count + gaussian + "epsilon = 1")), HasSubstr("delta"));
  EXPECT_THAT(refusal_of(in_both, statistic("a", count + gaussian + "rho = 1")), HasSubstr("rho"));
  EXPECT_THAT(refusal_of(in_both, statistic("a", count + gaussian + "accuracy = 5")), HasSubstr("delta"));
  EXPECT_THAT(refusal_of(in_rho, statistic("a", count + "rho = 1")), HasSubstr("Gaussian"));
  EXPECT_THAT(refusal_of(in_both, statistic("a", count + "epsilon = 1\ndelta = \"1e-6\"")),
              HasSubstr("Gaussian"));
  EXPECT_THAT(refusal_of(in_both, statistic("a", count + gaussian + "epsilon = 1\ndelta = 1")),
              HasSubstr("less than 1"));
  EXPECT_THAT(refusal_of(in_rho, statistic("a", count + gaussian + "weight = 1\ndelta = \"1e-6\"")),
              HasSubstr("remove it"));
  EXPECT_THAT(refusal_of("rho = 1", statistic("a", count + "epsilon = 1")), HasSubstr("delta"));
  EXPECT_THAT(refusal_of("rho = 1\nepsilon = 1\ndelta = \"1e-6\"", statistic("a", count + "epsilon = 1")),
              HasSubstr("remove one"));
  EXPECT_THAT(refusal_of("epsilon = 1\ndelta = 2", statistic("a", count + "epsilon = 1")),
              HasSubstr("less than 1"));
  EXPECT_THAT(refusal_of(in_both, statistic("a", count + gaussian + "mode = \"precision\"\nepsilon = 1")),
              HasSubstr("precision"));
}

TEST(Measure, MoreDeltaThanTheRunHasIsRefused) {
  const Plan plan = plan_of(in_both, statistic("a", count + gaussian + "epsilon = 1\ndelta = \"1e-5\""));
  EXPECT_FALSE(plan.is_affordable());
  try {
    plan.require_affordable();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parameter(), "budget.delta");
  }
}

class MeasureLedgerTest : public testing::Test {
 protected:
  MeasureLedgerTest() { std::filesystem::create_directories(folder_); }
  ~MeasureLedgerTest() override { std::filesystem::remove_all(folder_); }

  Ledger create(const PrivacyBudget& budget) {
    return Ledger::create(folder_ / "people.ledger", {"people", Neighbors::add_remove, ""}, budget);
  }
  static Released released(const std::string& budget, const std::string& statistics, Ledger& ledger) {
    return release(Specification::parse(data + ("[budget]\n" + budget) + "\n" + statistics, "s.toml"), ledger,
                   [](const Declaration&) -> std::unique_ptr<Source> {
                     auto source = std::make_unique<MemorySource>();
                     source->add("x", std::vector<double>{1, 1, 2, 3, 3, 3});
                     return source;
                   });
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("snapdp-measure-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(MeasureLedgerTest, ReleasesGaussianNoise) {
  Ledger ledger = create(PrivacyBudget::zcdp("1/8", "1e-6"));
  const std::string asked =
      statistic("bins", bins + gaussian + "rho = \"1/16\"") + statistic("all", count + "epsilon = \"1/4\"");
  const Released first = released(in_rho, asked, ledger);
  const Rational cost = Rational(1, 16) + pure_to_zcdp(Rational(1, 4));
  EXPECT_EQ(ledger.balance().spent, cost);
  const LedgerEntry entry = ledger.entry(1);
  EXPECT_EQ(entry.charges[0].loss, PrivacyLoss::gaussian(Rational(1, 16)));
  EXPECT_EQ(entry.charges[1].loss, PrivacyLoss(Rational(1, 4)));
  ledger.verify();
  // The report says so, and reads back.
  const Json json = Json::parse(first.report.json());
  EXPECT_EQ(json["ledger"]["measure"], "zcdp");
  EXPECT_EQ(json["ledger"]["spent"], to_string(cost));
  EXPECT_EQ(json["statistics"][0]["rho"], "0.0625");
  const Report again = Report::from_json(*ledger.report(1));
  EXPECT_EQ(again.to_table(), first.report.to_table());
  EXPECT_THAT(again.to_table(), AllOf(HasSubstr("rho"), HasSubstr("at delta 0.000001")));
  EXPECT_THAT(again.to_html(), AllOf(HasSubstr("ρ"), Not(HasSubstr("Pure ε"))));
  EXPECT_THAT(again.to_markdown(), HasSubstr("ρ"));
  // A second one does not fit any more.
  EXPECT_THROW(released(in_rho, asked, ledger), Error);
  EXPECT_EQ(ledger.balance().releases, 1);
}

TEST_F(MeasureLedgerTest, ARunCountsAsItsLedgerDoes) {
  Ledger ledger = create(PrivacyBudget::zcdp(1, "1e-6"));
  try {
    released("epsilon = 1", statistic("all", count + "epsilon = \"1/4\""), ledger);
    FAIL() << "a pure run from a ledger of rho";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::budget_refused);
    EXPECT_THAT(error.what(), HasSubstr("rho and delta"));
  }
  EXPECT_EQ(ledger.balance().releases, 0);
}

TEST_F(MeasureLedgerTest, APureRunFitsALedgerWithADelta) {
  Ledger ledger = create(PrivacyBudget::approximate(2, "1e-6"));
  released("epsilon = 1", statistic("all", count + "epsilon = \"1/4\""), ledger);
  EXPECT_EQ(ledger.balance().spent, PrivacyAmount(Rational(1, 4), 0));
  const Released both =
      released(in_both, statistic("all", count + gaussian + "epsilon = 1\ndelta = \"1e-7\""), ledger);
  EXPECT_EQ(ledger.balance().spent, PrivacyAmount(Rational(5, 4), parse_rational("1e-7", "delta")));
  const Json json = Json::parse(both.report.json());
  EXPECT_EQ(json["statistics"][0]["epsilon"], "1");
  EXPECT_EQ(json["statistics"][0]["delta"], "0.0000001");
  EXPECT_EQ(json["ledger"]["spent_delta"], "0.0000001");
  ledger.verify();
}

}  // namespace
}  // namespace snapdp
