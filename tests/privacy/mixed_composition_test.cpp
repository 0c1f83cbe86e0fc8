#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/mechanism/gaussian_loss.h"
#include "snapdp/privacy/composition_bounds.h"

namespace snapdp {
namespace {

Rational number(const std::string& text) {
  return parse_rational(text, "number");
}

// "10x0.1+1x0.5"
std::vector<ComposedLoss> losses_of(const std::string& text) {
  std::vector<ComposedLoss> losses;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, '+');) {
    const std::size_t times = part.find('x');
    losses.push_back({number(part.substr(times + 1)), std::stoll(part.substr(0, times))});
  }
  return losses;
}

// tests/data/mixed_composition.csv was made independently, from the papers' definitions, in ball arithmetic.
TEST(MixedComposition, AgreesWithAnIndependentTable) {
  std::ifstream file(std::string(SNAPDP_TEST_DATA) + "/mixed_composition.csv");
  std::string line;
  std::getline(file, line);
  std::size_t rows = 0;
  for (; std::getline(file, line); ++rows) {
    SCOPED_TRACE(line);
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    std::vector<ComposedLoss> losses = losses_of(row[0]);
    losses.push_back({PrivacyLoss::gaussian(number(row[1])), 1});
    const Rational delta = number(row[2]);
    const Rational low = number(row[3]);
    const Rational high = number(row[4]);
    const CompositionBound bound = *optimal_composition(losses, delta);
    EXPECT_GE(bound.epsilon, low);
    EXPECT_LE(bound.epsilon, high * (1 + number("1e-11")));
    EXPECT_LE(bound.at_least, high);
    EXPECT_GE(bound.at_least, low * (1 - number("1e-11")));
    const Rational basic = *basic_composition(losses, delta);
    EXPECT_GE(basic, number(row[6]) * (1 - number("1e-25")));
    EXPECT_LE(basic, number(row[6]) * (1 + number("1e-25")));
    const Rational zcdp = *zcdp_to_epsilon(zcdp_composition(losses).value, delta);
    EXPECT_NEAR(zcdp.get_d(), std::stod(row[9]), 1e-9 * std::stod(row[9]));
  }
  EXPECT_EQ(rows, 15U);
}

// delta by the definition: over all 2^k outcomes of randomized responses, Gaussian loss by plain erfc.
double delta_of(const std::vector<double>& epsilons, double rho, double epsilon) {
  const double mu = std::sqrt(2 * rho);
  double delta = 0;
  for (std::size_t outcome = 0; outcome < std::size_t{1} << epsilons.size(); ++outcome) {
    double loss = 0;
    double mass = 1;
    for (std::size_t i = 0; i < epsilons.size(); ++i) {
      const bool plus = (outcome >> i & 1) != 0;
      loss += plus ? epsilons[i] : -epsilons[i];
      mass *= 1 / (1 + std::exp(plus ? -epsilons[i] : epsilons[i]));
    }
    const double t = epsilon - loss;
    const auto phi = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
    delta += mass * (phi(mu / 2 - t / mu) - std::exp(t) * phi(-mu / 2 - t / mu));
  }
  return delta;
}

TEST(MixedComposition, IsWhatTheDefinitionSays) {
  const std::vector<double> epsilons = {0.125, 0.5, 0.75, 0.75, 1.5};
  std::vector<ComposedLoss> losses;
  for (const double epsilon : epsilons) losses.push_back({Rational(epsilon), 1});
  losses.push_back({PrivacyLoss::gaussian(Rational(1, 32)), 4});
  const CompositionBound bound = *optimal_composition(losses, number("1e-3"));
  EXPECT_NEAR(delta_of(epsilons, 0.125, bound.epsilon.get_d()), 1e-3, 1e-10);
  EXPECT_LE(bound.at_least, bound.epsilon);
}

TEST(MixedComposition, DeltasAreLost) {
  // Two that lose everything with probability 1/10: what is left of 1/2 for the rest.
  const std::vector<ComposedLoss> losses = {{PrivacyLoss::approximate(1, Rational(1, 10)), 2}};
  EXPECT_EQ(*basic_composition(losses, Rational(1, 2)), 2);
  const CompositionBound bound = *optimal_composition(losses, Rational(1, 2));
  const Rational left = (Rational(1, 2) - Rational(1, 5)) / (1 - Rational(1, 5));
  EXPECT_EQ(bound.epsilon, optimal_composition(std::vector<EqualReleases>{{1, 2}}, left).epsilon);
  EXPECT_LE(bound.at_least, bound.epsilon);
  EXPECT_EQ(basic_composition(losses, Rational(1, 10)), std::nullopt);
  EXPECT_EQ(optimal_composition(losses, Rational(1, 10)), std::nullopt);
  // All of it is taken: the rest is pure.
  EXPECT_EQ(optimal_composition(losses, Rational(1, 5))->epsilon, 2);
}

TEST(MixedComposition, GaussianNoiseNeedsADelta) {
  const std::vector<ComposedLoss> losses = {{PrivacyLoss::gaussian(Rational(1, 50)), 1}};
  EXPECT_EQ(optimal_composition(losses, 0), std::nullopt);
  const Rational delta = number("1e-6");
  const Rational alone = gaussian_epsilon(Rational(1, 50), delta).upper;
  EXPECT_EQ(*basic_composition(losses, delta), alone);
  const Rational found = optimal_composition(losses, delta)->epsilon;
  EXPECT_LE(found, alone);
  EXPECT_GE(found, alone * (1 - number("1e-11")));
}

// Thousands of losses, which are rounded: never more than the other bounds, and the enclosure holds.
TEST(MixedComposition, OfManyLosses) {
  std::vector<ComposedLoss> losses = {{PrivacyLoss::gaussian(Rational(1, 50)), 1},
                                      {Rational(1, 100), 20'000}};
  for (int i = 1; i <= 20; ++i) losses.push_back({Rational(1, 30 + i), 3});
  const Rational delta = number("1e-6");
  const CompositionBound bound = *optimal_composition(losses, delta);
  EXPECT_LT(bound.epsilon, *basic_composition(losses, delta));
  EXPECT_LE(bound.epsilon, *zcdp_to_epsilon(zcdp_composition(losses).value, delta));
  EXPECT_GT(bound.at_least, bound.epsilon * number("0.9"));
}

TEST(MixedComposition, RefusesWhatIsNoLoss) {
  EXPECT_THROW(optimal_composition(std::vector<ComposedLoss>{{Rational(-1), 1}}, Rational(1, 2)), Error);
  EXPECT_THROW(optimal_composition(std::vector<ComposedLoss>{{PrivacyLoss::gaussian(Rational(-1)), 1}},
                                   Rational(1, 2)),
               Error);
  EXPECT_THROW(optimal_composition(std::vector<ComposedLoss>{{Rational(1), 1}}, 1), Error);
}

}  // namespace
}  // namespace snapdp
