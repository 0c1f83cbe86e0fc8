#include "snapdp/framework/loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "snapdp/error.h"
#include "snapdp/framework/accountant.h"

namespace snapdp {
namespace {

using testing::HasSubstr;

Rational number(const std::string& text) {
  return parse_rational(text, "number");
}

// tests/data/pure_to_zcdp.csv: epsilon tanh(epsilon / 2), made independently from the formula, to 30 digits.
TEST(Loss, PureIsZcdpAsInAnIndependentTable) {
  std::ifstream file(std::string(SNAPDP_TEST_DATA) + "/pure_to_zcdp.csv");
  std::string line;
  std::getline(file, line);
  std::size_t rows = 0;
  for (; std::getline(file, line); ++rows) {
    const std::size_t comma = line.find(',');
    const Rational expected = number(line.substr(comma + 1));
    const Rational rho = pure_to_zcdp(number(line.substr(0, comma)));
    EXPECT_GE(rho, expected * (1 - number("1e-29"))) << line;
    EXPECT_LE(rho, expected * (1 + number("1e-19"))) << line;
  }
  EXPECT_EQ(rows, 40U);
}

TEST(Loss, PureIsZcdpAtTheEnds) {
  EXPECT_EQ(pure_to_zcdp(0), 0);
  EXPECT_EQ(pure_to_zcdp(5000), 5000);
  EXPECT_EQ(pure_to_zcdp(number("1e-300")), number("1e-300") * number("5e-301"));
  EXPECT_LE(pure_to_zcdp(number("1023.5")), number("1023.5"));
  EXPECT_THROW(pure_to_zcdp(-1), Error);
  // It grows, and faster than in proportion.
  for (const char* epsilon : {"0.001", "0.1", "1", "7", "600"}) {
    const Rational once = pure_to_zcdp(number(epsilon));
    EXPECT_GT(pure_to_zcdp(2 * number(epsilon)), 2 * once * (1 - number("1e-19"))) << epsilon;
  }
}

TEST(Loss, SaysWhatItCostsInEachMeasure) {
  const PrivacyLoss pure(Rational(1, 2));
  EXPECT_EQ(pure.in(PrivacyMeasure::pure), Rational(1, 2));
  EXPECT_EQ(pure.in(PrivacyMeasure::approximate), Rational(1, 2));
  EXPECT_EQ(pure.in(PrivacyMeasure::zcdp), pure_to_zcdp(Rational(1, 2)));

  const PrivacyLoss chosen = PrivacyLoss::approximate(1, number("1e-6"));
  EXPECT_THROW(chosen.in(PrivacyMeasure::pure), Error);
  EXPECT_EQ(chosen.in(PrivacyMeasure::approximate), PrivacyAmount(1, number("1e-6")));
  EXPECT_EQ(chosen.in(PrivacyMeasure::zcdp), PrivacyAmount(pure_to_zcdp(1), number("1e-6")));

  const PrivacyLoss by_rho = PrivacyLoss::gaussian(Rational(1, 50));
  EXPECT_THROW(by_rho.in(PrivacyMeasure::pure), Error);
  EXPECT_THROW(by_rho.in(PrivacyMeasure::approximate), Error);
  EXPECT_EQ(by_rho.in(PrivacyMeasure::zcdp), Rational(1, 50));

  const PrivacyLoss priced = PrivacyLoss::gaussian(Rational(1, 50), {1, number("1e-7")});
  EXPECT_EQ(priced.in(PrivacyMeasure::approximate), PrivacyAmount(1, number("1e-7")));
  EXPECT_EQ(priced.in(PrivacyMeasure::zcdp), Rational(1, 50));
  EXPECT_EQ(PrivacyLoss(0).measure(), PrivacyMeasure::pure);
  EXPECT_EQ(chosen.measure(), PrivacyMeasure::approximate);
  EXPECT_EQ(priced.measure(), PrivacyMeasure::approximate);
  EXPECT_EQ(by_rho.measure(), PrivacyMeasure::zcdp);
}

TEST(Loss, AddsUpPartByPart) {
  const PrivacyLoss priced = PrivacyLoss::gaussian(Rational(1, 50), {1, number("1e-7")});
  PrivacyLoss sum = PrivacyLoss(Rational(1, 4)) + priced + priced;
  EXPECT_EQ(sum.in(PrivacyMeasure::approximate), PrivacyAmount(Rational(9, 4), number("2e-7")));
  EXPECT_EQ(sum.in(PrivacyMeasure::zcdp), pure_to_zcdp(Rational(1, 4)) + Rational(1, 25));
  // With noise that has no such price, the whole has none, in whatever order.
  const PrivacyLoss by_rho = PrivacyLoss::gaussian(Rational(1, 50));
  EXPECT_THROW((sum + by_rho).in(PrivacyMeasure::approximate), Error);
  EXPECT_THROW((by_rho + sum).in(PrivacyMeasure::approximate), Error);
  EXPECT_EQ((by_rho + sum).rho, Rational(3, 50));

  EXPECT_EQ(larger(priced, PrivacyLoss(Rational(1, 4))).in(PrivacyMeasure::approximate),
            PrivacyAmount(Rational(5, 4), number("1e-7")));
  EXPECT_EQ(larger(priced, by_rho).gaussian_cost, std::nullopt);
  EXPECT_EQ(larger(PrivacyLoss(Rational(1, 4)), PrivacyLoss(Rational(1, 2))), Rational(1, 2));
}

TEST(Budget, MustBeOne) {
  EXPECT_NO_THROW(require_budget(2));
  EXPECT_NO_THROW(require_budget("1/2"));
  for (const PrivacyBudget& budget :
       {PrivacyBudget(0.0), PrivacyBudget("-1"), PrivacyBudget::approximate(1, 0.0),
        PrivacyBudget::approximate(1, 1), PrivacyBudget::approximate(0.0, "1e-6"),
        PrivacyBudget::zcdp(0.0, "1e-6"), PrivacyBudget::zcdp(1, "2"),
        PrivacyBudget(PrivacyMeasure::pure, {1, Rational(1, 2)})}) {
    EXPECT_FALSE(is_budget(budget));
    EXPECT_THROW(require_budget(budget), Error);
  }
}

Debit debit_of(const PrivacyLoss& loss) {
  return {loss, symmetric_distance(), 1, "a release"};
}

TEST(Budget, OfRhoPaysForEverything) {
  InMemoryAccountant budget(PrivacyBudget::zcdp("1/8", "1e-6"));
  budget.debit(debit_of(PrivacyLoss::gaussian(Rational(1, 16))));
  budget.debit(debit_of(Rational(1, 4)));
  // Half of delta is for the releases' own, so that the rest reads rho as an epsilon.
  budget.debit(debit_of(PrivacyLoss::approximate(Rational(1, 100), number("5e-7"))));
  const Rational pure = pure_to_zcdp(Rational(1, 4)) + pure_to_zcdp(Rational(1, 100));
  EXPECT_EQ(budget.spent(), PrivacyAmount(Rational(1, 16) + pure, number("5e-7")));
  try {
    budget.debit(debit_of(PrivacyLoss::approximate(Rational(1, 100), number("1e-12"))));
    FAIL() << "more delta than there is";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::budget_refused);
    EXPECT_EQ(error.parameter(), "delta");
  }
  try {
    budget.debit(debit_of(PrivacyLoss::gaussian(Rational(1, 16))));
    FAIL() << "more rho than there is";
  } catch (const Error& error) {
    EXPECT_EQ(error.parameter(), "rho");
    EXPECT_THAT(error.what(), HasSubstr("nothing was debited"));
  }
  EXPECT_EQ(budget.spent(), PrivacyAmount(Rational(1, 16) + pure, number("5e-7")));
}

TEST(Budget, OfEpsilonPaysForNoGaussianNoise) {
  InMemoryAccountant budget(1);
  try {
    budget.debit(debit_of(PrivacyLoss::gaussian(Rational(1, 1000))));
    FAIL() << "Gaussian noise has no pure epsilon";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::mismatch);
    EXPECT_EQ(error.parameter(), "noise");
  }
  EXPECT_EQ(budget.spent(), 0);
}

}  // namespace
}  // namespace snapdp
