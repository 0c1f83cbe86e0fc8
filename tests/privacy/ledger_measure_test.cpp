// Ledgers whose budget is not a pure epsilon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "privacy/ledger_format.h"
#include "privacy/ledger_testing.h"
#include "snapdp/framework/loss.h"

namespace snapdp {
namespace {

namespace ledger_format = privacy_internal::ledger_format;
using ledger_testing::error_of;
using ledger_testing::household;
using ledger_testing::run_sql;
using ledger_testing::ScratchFolder;
using testing::HasSubstr;

const Rational millionth = Rational(1, 1'000'000);

class LedgerMeasureTest : public testing::Test {
 protected:
  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "people.ledger";
};

TEST_F(LedgerMeasureTest, OfEpsilonAndDelta) {
  Ledger ledger = Ledger::create(path_, household, PrivacyBudget::approximate(2, "1e-6"));
  const LedgerReceipt first =
      ledger.debit(household, {{"a", Rational(1, 2)}, {"b", PrivacyLoss::approximate(1, millionth / 4)}}, "");
  EXPECT_EQ(first.cost, PrivacyAmount(Rational(3, 2), millionth / 4));
  EXPECT_EQ(first.remaining, PrivacyAmount(Rational(1, 2), millionth * Rational(3, 4)));
  const PrivacyLoss gaussian =
      PrivacyLoss::gaussian(Rational(1, 100), PrivacyAmount(Rational(1, 4), millionth / 2));
  ledger.check(household, gaussian);
  ledger.debit(household, {{"c", gaussian}}, "");
  // Too much of the one, of the other, and what has no such price.
  EXPECT_EQ(error_of([&] {
              ledger.debit(household, {{"d", PrivacyLoss::approximate(Rational(1, 8), millionth)}}, "");
            }).parameter(),
            "delta");
  EXPECT_EQ(error_of([&] { ledger.debit(household, {{"d", PrivacyLoss(1)}}, ""); }).parameter(), "epsilon");
  const Error none = error_of([&] { ledger.debit(household, {{"d", PrivacyLoss::gaussian(1)}}, ""); });
  EXPECT_EQ(none.code(), ErrorCode::budget_refused);
  EXPECT_EQ(none.parameter(), "noise");
  const Ledger again = Ledger::open(path_);
  EXPECT_EQ(again.budget(), PrivacyBudget::approximate(2, "1e-6"));
  EXPECT_EQ(again.verify().spent, PrivacyAmount(Rational(7, 4), millionth * Rational(3, 4)));
  EXPECT_EQ(again.entry(2).charges[0].loss, gaussian);
  EXPECT_EQ(again.entry(1).charges[1].loss, PrivacyLoss::approximate(1, millionth / 4));
}

TEST_F(LedgerMeasureTest, OfRho) {
  Ledger ledger = Ledger::create(path_, household, PrivacyBudget::zcdp("1/8", "1e-6"));
  ledger.debit(household, {{"vector", PrivacyLoss::gaussian(Rational(1, 16))}}, "");
  const LedgerReceipt pure = ledger.debit(household, {{"a", Rational(1, 10)}, {"b", Rational(1, 10)}}, "");
  EXPECT_EQ(pure.cost, 2 * pure_to_zcdp(Rational(1, 10)));
  // At most half of delta is for the releases.
  EXPECT_EQ(error_of([&] {
              ledger.check(household, PrivacyLoss::approximate(Rational(1, 100), millionth));
            }).parameter(),
            "delta");
  ledger.debit(household, {{"keys", PrivacyLoss::approximate(Rational(1, 100), millionth / 2)}}, "");
  const LedgerBalance balance = Ledger::open(path_).verify();
  EXPECT_EQ(balance.remaining.delta, 0);
  EXPECT_EQ(balance.releases, 3);
  const Error error = error_of([&] { ledger.debit(household, {{"more", PrivacyLoss::gaussian(1)}}, ""); });
  EXPECT_EQ(error.parameter(), "rho");
  EXPECT_THAT(error.what(), HasSubstr("left of rho 0.125"));
}

TEST_F(LedgerMeasureTest, OnlyAPureBudgetKeepsTheOldFormat) {
  Ledger::create(path_, household, 1);
  EXPECT_EQ(ledger_format::version_of(ledger_testing::read_bytes(path_).substr(0, 100)), 2U);
  const auto other = folder_ / "other.ledger";
  Ledger::create(other, household, PrivacyBudget::zcdp(1, "1e-6"));
  EXPECT_EQ(ledger_format::version_of(ledger_testing::read_bytes(other).substr(0, 100)), 3U);
}

TEST_F(LedgerMeasureTest, BudgetsThatAreNoneMakeNoFile) {
  for (const PrivacyBudget& budget :
       {PrivacyBudget::zcdp(1, 0.0), PrivacyBudget::zcdp(1, 1), PrivacyBudget::approximate(1, "-1"),
        PrivacyBudget::approximate(0.0, "1e-6"), PrivacyBudget(PrivacyMeasure::pure, {1, millionth})}) {
    EXPECT_EQ(error_of([&] { Ledger::create(path_, household, budget); }).code(),
              ErrorCode::invalid_argument);
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
}

// Whoever writes with another tool: the genesis is covered by the chain, and charges must come to the cost.
TEST_F(LedgerMeasureTest, ForgeriesAreFound) {
  const std::vector<std::string> forgeries = {
      "UPDATE ledger SET measure = 'approximate'",
      "UPDATE ledger SET measure = 'pure'",
      "UPDATE ledger SET budget = '1 1/1000000'",
      "UPDATE ledger SET budget = '1/8 1/100000'",
      "UPDATE ledger SET budget = '1/8'",
      "UPDATE head SET spent = '1/32 0'",
      "UPDATE head SET spent = '1/16'",
      "UPDATE record SET cost = '1/32 0', spent = '1/32 0'",
      "UPDATE record SET charges = '0 0 1/32 0 0 a' || char(10)",
      "UPDATE record SET charges = '0 0 1/16 a' || char(10)",
      "UPDATE record SET charges = '0 0 1/16 1 0 a' || char(10)",
  };
  for (const std::string& forgery : forgeries) {
    const auto path = folder_ / "forged.ledger";
    std::filesystem::remove(path);
    {
      Ledger ledger = Ledger::create(path, household, PrivacyBudget::zcdp("1/8", "1e-6"));
      ledger.debit(household, {{"a", PrivacyLoss::gaussian(Rational(1, 16))}}, "");
    }
    run_sql(path, forgery);
    const Error error = error_of([&] { Ledger::open(path).verify(); });
    EXPECT_EQ(error.code(), ErrorCode::budget_refused) << forgery;
  }
}

// With every hash made anew, what charges cost is still recomputed from what they lose.
TEST_F(LedgerMeasureTest, TheCostOfAChargeIsRecomputed) {
  using ledger_format::parse_charges;
  EXPECT_EQ(parse_charges(PrivacyMeasure::zcdp, "1/4 0 0 0 0 a b\n0 0 1/50 1 1/9 c\n"),
            (std::vector<LedgerCharge>{{"a b", Rational(1, 4)},
                                       {"c", PrivacyLoss::gaussian(Rational(1, 50), {1, Rational(1, 9)})}}));
  const std::vector<LedgerCharge> charges = {{"x", PrivacyLoss::approximate(1, millionth)},
                                             {"y", PrivacyLoss::gaussian(3)}};
  EXPECT_EQ(parse_charges(PrivacyMeasure::zcdp, ledger_format::charges_text(PrivacyMeasure::zcdp, charges)),
            charges);
  for (const char* bad : {"1/4 a\n", "0 0 0 0 0 a\n", "1 0 0 1 0 a\n", "1 0 0 0 0\n", "1 0 0 0 0 \n",
                          "-1 0 0 0 0 a\n", "1 0 0 0 0 a", "1  0 0 0 a\n"}) {
    EXPECT_EQ(parse_charges(PrivacyMeasure::zcdp, bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace snapdp
