// Released outputs follow the law of the rounded, clamped Laplace distribution.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "snapdp/mechanism/snapping.h"

namespace snapdp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// P(Y >= t) for Y ~ Laplace(scale).
double tail(double t, double scale) {
  return t >= 0 ? 0.5 * std::exp(-t / scale) : 1 - 0.5 * std::exp(t / scale);
}

// P(a <= Y < b), without cancellation far from 0.
double mass(double a, double b, double scale) {
  if (b <= 0) return mass(-b, -a, scale);
  if (a >= 0) return tail(a, scale) - tail(b, scale);
  return 1 - tail(-a, scale) - tail(b, scale);
}

struct Case {
  std::string name;
  MechanismOptions options;
  double value;
};

double clamped(const Snapping& mechanism, double x) {
  return std::fmin(std::fmax(x, mechanism.lower().value_or(-infinity)), mechanism.upper().value_or(infinity));
}

// The outputs between `first` and `last` with their probabilities: P(out >= k grid) = P(Y >= (k - 1/2) grid - value);
// the ends collect the tails, as bounds do.
std::map<double, double> law(const Snapping& mechanism, double value, double first, double last) {
  const double spacing = std::ldexp(1.0, static_cast<int>(mechanism.grid().exponent()));
  const double center = clamped(mechanism, value);
  std::map<double, double> result;
  double below = -infinity;
  const double least = std::floor(first / spacing) + 1;
  for (double k = least; k * spacing < last; ++k) {
    const double from = (k - 0.5) * spacing - center;
    result[k == least ? first : (k - 1) * spacing] = mass(below, from, mechanism.scale());
    below = from;
  }
  const double greatest = std::ceil(last / spacing) - 1;
  const double from = (greatest + 0.5) * spacing - center;
  result[greatest * spacing] = mass(below, from, mechanism.scale());
  result[last] = tail(from, mechanism.scale());
  return result;
}

// Chernoff: a cell of probability p holds a fraction q of n samples or one farther from p with probability at most
// 2 exp(-n KL(q, p)). The limit makes the chance that any of fewer than 10,000 cells exceeds it 1e-9.
void expect_law(const std::map<double, double>& probabilities, const std::vector<double>& outputs,
                const std::string& name) {
  std::map<double, std::size_t> counts;
  const double first = probabilities.begin()->first;
  const double last = probabilities.rbegin()->first;
  for (const double x : outputs) ++counts[std::fmin(std::fmax(x, first), last)];
  double total = 0;
  for (const auto& [x, count] : counts) {
    EXPECT_TRUE(probabilities.contains(x)) << name << ": " << x << " is no output";
  }
  const auto n = static_cast<double>(outputs.size());
  for (const auto& [x, p] : probabilities) {
    total += p;
    const double q = static_cast<double>(counts.contains(x) ? counts.at(x) : 0) / n;
    const double divergence =
        (q > 0 ? q * std::log(q / p) : 0) + (q < 1 ? (1 - q) * std::log((1 - q) / (1 - p)) : 0);
    EXPECT_LE(n * divergence, std::log(2 * 10'000 / 1e-9))
        << name << ": output " << x << " has " << q << " of " << p;
  }
  EXPECT_NEAR(total, 1, 1e-12);
}

std::vector<Case> cases() {
  const auto options = [](const Rational& epsilon, double sensitivity, std::optional<double> lower,
                          std::optional<double> upper, const char* grid) {
    return MechanismOptions{.epsilon = epsilon,
                            .sensitivity = Dyadic(sensitivity),
                            .lower = lower,
                            .upper = upper,
                            .grid = GridChoice::parse(grid)};
  };
  return {
      {"notes", options(1, 1, -8, 8, "notes"), 0},
      {"off the grid", options(1, 1, -8, 8, "notes"), 0.3125},
      {"on a tie", options(1, 1, -8, 8, "notes"), -2.5},
      {"scale between powers of two", options(Rational(7, 10), 1, -8, 8, "notes"), 1.1},
      {"bounds off the grid", options(1, 1, -3.3, 5.7, "notes"), 4.9},
      {"value beyond the bounds", options(1, 1, -3, 5, "notes"), 40},
      {"fine grid", options(2, 1, -2, 2, "2^-5"), 0.77},
      {"coarse grid", options(1, 1, -32, 32, "2^3"), 3.9},
      {"no bounds", options(1, 3, std::nullopt, std::nullopt, "2^0"), 1e6},
      {"one bound", options(1, 1, 0, std::nullopt, "2^-1"), 0.25},
      {"far from zero", options(1, 1, 0, 0x1p52, "2^0"), 0x1p51 + 0.5},
  };
}

TEST(SnappingLaw, EveryKernelFollowsIt) {
  for (const Case& each : cases()) {
    const Snapping mechanism(each.options);
    // Outputs 12 scales from the value are counted with those beyond.
    const double center = clamped(mechanism, each.value);
    const double reach = std::ceil(12 * mechanism.scale());
    const double first = clamped(mechanism, std::floor(center) - reach);
    const double last = clamped(mechanism, std::ceil(center) + reach);
    const std::map<double, double> expected = law(mechanism, each.value, first, last);
    for (const InstructionSet set :
         {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
      if (!is_supported(set)) continue;
      const std::vector<double> values(200'000, each.value);
      std::vector<double> out(values.size());
      mechanism.replay(values, out, thread_generator(), {.kernel = set});
      expect_law(expected, out, each.name + ", " + std::string(to_string(set)));
    }
    std::vector<double> out;
    for (int i = 0; i < 30'000; ++i) {
      out.push_back(mechanism.release(Dyadic(each.value), thread_generator()).to_double_nearest());
    }
    expect_law(expected, out, each.name + ", exact");
    out.resize(2'000);
    for (double& x : out) {
      x = mechanism.replay(Dyadic(each.value), thread_generator(), {.slow_only = true}).to_double_nearest();
    }
    expect_law(expected, out, each.name + ", slow path");
  }
}

// The numbers of the specification: scale 1, grid 1, bounds +-8, value 0.
TEST(SnappingLaw, TheFormulaOfThisTestIsRight) {
  const Snapping mechanism({.epsilon = Rational(1),
                            .sensitivity = Dyadic(1),
                            .lower = -8,
                            .upper = 8,
                            .grid = GridChoice::notes()});
  const std::map<double, double> expected = law(mechanism, 0, -8, 8);
  EXPECT_EQ(expected.size(), 17u);
  EXPECT_NEAR(expected.at(0), .393469340, 1e-9);
  EXPECT_NEAR(expected.at(1), .191700250, 1e-9);
  EXPECT_NEAR(expected.at(-1), .191700250, 1e-9);
  EXPECT_NEAR(expected.at(7), .000475177, 1e-9);
  EXPECT_NEAR(expected.at(8), .000276542, 1e-9);
  EXPECT_NEAR(expected.at(-8), .000276542, 1e-9);
}

}  // namespace
}  // namespace snapdp
