#include "snapdp/mechanism/law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "mechanism/csv_rows.h"
#include "mechanism/law_oracle.h"
#include "mechanism/refused.h"
#include "snapdp/error.h"

namespace snapdp {
namespace {

using oracle::Number;

const double infinity = std::numeric_limits<double>::infinity();

// Correctly rounded to the nearest double; half a unit in the last place and a trace, for rounded references.
testing::AssertionResult is_nearest(double value, const Rational& exact) {
  const double expected = to_double_nearest(exact);
  if (value == expected) return testing::AssertionSuccess();
  const Rational error = abs(Rational(Rational(value) - exact));
  if (error <= abs(exact) * Rational(0x1.0001p-53)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << value << " is not " << expected << ", relative error "
                                     << Rational(error / exact).get_d();
}

testing::AssertionResult is_nearest(double value, const Number& exact) {
  const double expected = exact.nearest();
  if (value == expected) return testing::AssertionSuccess();
  return testing::AssertionFailure() << value << " is not " << expected;
}

Grid grid_of(const Rational& spacing) {
  return Grid::at_least(spacing);
}

TEST(Law, Vectors) {
  for (const auto& row : csv_rows("law.csv", 6)) {
    const Noise noise{.scale = to_double_up(1 / row[0]),
                      .grid = grid_of(row[1]),
                      .lower = -row[2].get_d(),
                      .upper = row[2].get_d()};
    const OutputLaw law(noise, row[3].get_d());
    ASSERT_TRUE(is_nearest(law.probability(row[4].get_d()), row[5])) << row[4].get_d();
  }
}

TEST(Law, MissVectors) {
  for (const auto& row : csv_rows("miss.csv", 5)) {
    const Noise noise{.scale = to_double_up(1 / row[0]), .grid = grid_of(row[1])};
    ASSERT_TRUE(is_nearest(OutputLaw(noise, row[2].get_d()).miss(row[3]), row[4])) << row[2] << " " << row[3];
    // The worst over all values is worse.
    ASSERT_GE(worst_miss(noise, row[3]), to_double_down(row[4]));
  }
}

// An independent, slow law: outputs one by one with the oracle's tails, geometric noise by summing its mass function.
struct SlowLaw {
  std::vector<Rational> outputs;
  std::vector<Number> probabilities;

  SlowLaw(const Noise& noise, const Rational& value, long reach) {
    const Rational unit = noise.grid.spacing().rational();
    Rational y = value;
    if (noise.lower && y < *noise.lower) y = *noise.lower;
    if (noise.upper && y > *noise.upper) y = *noise.upper;
    const Integer center = noise.grid.index(y);
    const Rational scale(noise.scale.up());
    const auto at_least = [&](const Integer& k) {
      if (noise.kind == NoiseKind::exact) return oracle::at_least(k, y, scale, noise.grid);
      const Number q = oracle::exp(Number(Rational(-1 / scale)));
      const Integer j = k - center;
      const auto power = [&](const Integer& n) {
        return oracle::exp(Number(Rational(-Rational(n) / scale)));
      };
      if (j >= 1) return power(j) / (Number(1.0) + q);
      return Number(1.0) - power(Integer(1 - j)) / (Number(1.0) + q);
    };
    std::set<Rational> points;
    for (long j = -reach; j <= reach; ++j) {
      Rational x = Rational(center + j) * unit;
      if (noise.lower && x < *noise.lower) x = *noise.lower;
      if (noise.upper && x > *noise.upper) x = *noise.upper;
      points.insert(x);
    }
    outputs.assign(points.begin(), points.end());
    // P(out >= x) is P(M >= ceil(x / grid)) for every output but the least.
    std::vector<Number> tail;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      tail.push_back(i == 0 ? Number(1.0) : at_least(ceil(Rational(outputs[i] / unit))));
    }
    tail.push_back(Number(0.0));
    for (std::size_t i = 0; i < outputs.size(); ++i) probabilities.push_back(tail[i] - tail[i + 1]);
  }

  template <typename Function>
  Number expect(const Function& function) const {
    Number sum(0.0);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      sum = sum + probabilities[i] * Number(function(outputs[i]));
    return sum;
  }
};

struct Case {
  Noise noise;
  double value;
};

// Laws of every shape: grids coarser and finer than the scale, one bound, both, none, bounds on and off the grid,
// ranges without a single multiple of the grid, values at, between and outside the bounds.
std::vector<Case> cases() {
  std::mt19937_64 engine(3);
  const auto pick = [&](std::uint64_t n) { return static_cast<int>(engine() % n); };
  std::vector<Case> result;
  for (int i = 0; i < 130; ++i) {
    Case c{.noise = {.scale = std::ldexp(1 + pick(1000), -9), .grid = Grid(pick(6) - 3)}, .value = 0};
    const double unit = std::ldexp(1.0, static_cast<int>(c.noise.grid.exponent()));
    c.value = unit * (pick(65) - 32) / 16;
    if (pick(3)) c.noise.upper = unit * (pick(100) - 20) / 8;
    if (pick(3)) c.noise.lower = unit * (pick(100) - 80) / 8;
    if (pick(6) == 0) {
      c.noise.kind = NoiseKind::geometric;
      c.noise.grid = Grid(0);
      c.value = std::floor(c.value);
      if (c.noise.lower) c.noise.lower = std::floor(*c.noise.lower);
      if (c.noise.upper) c.noise.upper = std::floor(*c.noise.upper);
    }
    if (c.noise.lower && c.noise.upper && *c.noise.lower >= *c.noise.upper) continue;
    result.push_back(c);
  }
  return result;
}

std::string describe(const Case& c) {
  const auto text = [](const std::optional<double>& b) { return b ? to_string(*b) : "none"; };
  return (c.noise.kind == NoiseKind::geometric ? "geometric " : "laplace ") + to_string(c.noise.scale.up()) +
         " grid " + to_string(c.noise.grid) + " [" + text(c.noise.lower) + ", " + text(c.noise.upper) +
         "] at " + to_string(c.value);
}

TEST(Law, EveryOutputMatchesTheOracle) {
  for (const Case& c : cases()) {
    const OutputLaw law(c.noise, c.value);
    const SlowLaw slow(c.noise, Rational(c.value), 60);
    Number below(0.0);
    for (std::size_t i = 0; i < slow.outputs.size(); ++i) {
      const double x = slow.outputs[i].get_d();
      const bool whole = (c.noise.lower && x == *c.noise.lower) || (c.noise.upper && x == *c.noise.upper) ||
                         (i > 0 && i + 1 < slow.outputs.size());
      if (!whole) continue;  // the ends of an unbounded table hold the tails beyond it
      if (slow.probabilities[i] < Number(1e-150))
        continue;  // differences of the oracle that lost their digits
      ASSERT_TRUE(is_nearest(law.probability(x), slow.probabilities[i])) << describe(c) << " output " << x;
    }
    for (std::size_t i = 0; i + 1 < slow.outputs.size(); ++i) {
      below = below + slow.probabilities[i];
      const double x = slow.outputs[i].get_d();
      const double next = slow.outputs[i + 1].get_d();
      if (below > Number(1e-150)) {
        ASSERT_TRUE(is_nearest(law.cdf(x), below)) << describe(c) << " cdf " << x;
      }
      ASSERT_EQ(law.cdf((x + next) / 2), law.cdf(x)) << describe(c);
      const Number rest = Number(1.0) - below;
      if (rest > Number(1e-150)) {
        ASSERT_TRUE(is_nearest(law.at_least(next), rest)) << describe(c) << " at least " << next;
      }
      ASSERT_EQ(law.at_least((x + next) / 2), law.at_least(next)) << describe(c);
      ASSERT_EQ(law.probability((x + next) / 2), 0) << describe(c);
    }
  }
}

TEST(Law, QuantilesInvertTheDistribution) {
  std::mt19937_64 engine(4);
  for (const Case& c : cases()) {
    const OutputLaw law(c.noise, c.value);
    const SlowLaw slow(c.noise, Rational(c.value), 400);
    for (const double p : {1e-6, 0.01, 0.3, 0.5, 0.7, 0.999, 1 - 1e-7,
                           std::ldexp(static_cast<double>(engine() >> 11) + 0.5, -53)}) {
      Number below(0.0);
      std::size_t i = 0;
      while (i + 1 < slow.outputs.size()) {
        below = below + slow.probabilities[i];
        if (Number(p) <= below) break;
        ++i;
      }
      ASSERT_EQ(law.quantile(Rational(p)), slow.outputs[i].get_d()) << describe(c) << " p = " << p;
    }
  }
  // Exactly one half: the value lies halfway between two outputs.
  EXPECT_EQ(OutputLaw({.scale = 1, .grid = Grid(0)}, 2.5).quantile(Rational(1, 2)), 2);
  EXPECT_EQ(OutputLaw({.scale = 1, .grid = Grid(0)}, 2.5).cdf(2), 0.5);
  EXPECT_THROW(OutputLaw({.scale = 1, .grid = Grid(0)}, 2.5).quantile(0), Error);
  EXPECT_THROW(OutputLaw({.scale = 1, .grid = Grid(0)}, 2.5).quantile(1), Error);
}

TEST(Law, MomentsMatchTheOracle) {
  for (const Case& c : cases()) {
    const OutputLaw law(c.noise, c.value);
    // Beyond 300 scales the oracle's sums lack less than e^-300 of themselves.
    const long reach =
        static_cast<long>(
            std::ceil(300 * std::ldexp(c.noise.scale.up(), -static_cast<int>(c.noise.grid.exponent())))) +
        5;
    if (reach > 3000) continue;
    const SlowLaw slow(c.noise, Rational(c.value), reach);
    const Number mean = slow.expect([](const Rational& x) { return x; });
    const Rational exact_mean = mean.rational();
    const double scale = std::max({std::fabs(c.value), c.noise.scale.up(), 1e-9});
    ASSERT_NEAR(law.mean(), mean.nearest(), 1e-60 * scale + 1e-16 * std::fabs(mean.nearest())) << describe(c);
    const Number variance =
        slow.expect([&](const Rational& x) { return Rational((x - exact_mean) * (x - exact_mean)); });
    ASSERT_TRUE(is_nearest(law.variance(), variance)) << describe(c);
  }
}

TEST(Law, MomentsOfFineGridsAreLaplaces) {
  const OutputLaw law({.scale = 3, .grid = Grid(-40)}, 0.3);
  EXPECT_NEAR(law.variance(), 18, 1e-13);
  EXPECT_NEAR(law.mean(), 0.3, 1e-15);
  EXPECT_LT(law.distance_to_continuous(), std::ldexp(1.0, -42));
}

TEST(Law, MissAndAccuracyForAValue) {
  for (const Case& c : cases()) {
    const OutputLaw law(c.noise, c.value);
    const SlowLaw slow(c.noise, Rational(c.value), 250);
    const auto miss = [&](const Rational& a) {
      Number sum(0.0);
      for (std::size_t i = 0; i < slow.outputs.size(); ++i) {
        if (abs(Rational(slow.outputs[i] - Rational(c.value))) > a) sum = sum + slow.probabilities[i];
      }
      return sum;
    };
    const Rational unit = c.noise.grid.spacing().rational();
    for (const Rational& a :
         {Rational(0), Rational(unit / 2), unit, Rational(unit * 7 / 3), Rational(unit * 25 / 8)}) {
      ASSERT_NEAR(law.miss(a), miss(a).nearest(), 2e-16 * law.miss(a)) << describe(c) << " a = " << a.get_d();
    }
    const bool outside =
        (c.noise.lower && c.value < *c.noise.lower) || (c.noise.upper && c.value > *c.noise.upper);
    if (outside) {
      EXPECT_THROW(law.accuracy(0.05), Error);
      continue;
    }
    for (const double alpha : {0.9, 0.5, 0.05, 1e-4}) {
      const double a = law.accuracy(alpha);
      ASSERT_LE(law.miss(Rational(a)), alpha) << describe(c) << " alpha = " << alpha;
      if (a > 0) {
        ASSERT_GT(law.miss(Rational(std::nextafter(a, 0.0))), alpha) << describe(c) << " alpha = " << alpha;
      }
      if (!c.noise.lower && !c.noise.upper && c.noise.kind == NoiseKind::exact) {
        ASSERT_LE(
            a, tight_accuracy({.noise = {.scale = c.noise.scale.up(), .grid = c.noise.grid}, .alpha = alpha}))
            << describe(c);
      }
    }
  }
}

// Half of the outputs lie on the far side, yet rarely enough: the nearer bound is the answer.
TEST(Law, AccuracyUpToTheNearerBound) {
  const OutputLaw law({.scale = 0.666015625, .grid = Grid(-1), .lower = -0.125, .upper = 0.625}, -0.09375);
  EXPECT_EQ(law.accuracy(0.9), 0.03125);
  const OutputLaw mirrored({.scale = 0.666015625, .grid = Grid(-1), .lower = -0.625, .upper = 0.125},
                           0.09375);
  EXPECT_EQ(mirrored.accuracy(0.9), 0.03125);
}

TEST(Law, FarTailsKeepTheirRelativeAccuracy) {
  const OutputLaw law({.scale = 1, .grid = Grid(-3)}, 0.2);
  for (const double x : {50.0, 300.0, 700.0, 740.0}) {
    const Number at_least = oracle::at_least(Integer(8 * x), Rational(0.2), 1, Grid(-3));
    ASSERT_TRUE(is_nearest(law.at_least(x), at_least)) << x;
    const Number one_more = oracle::at_least(Integer(8 * x + 1), Rational(0.2), 1, Grid(-3));
    ASSERT_TRUE(is_nearest(law.probability(x), at_least - one_more)) << x;
  }
  EXPECT_EQ(law.at_least(1e300), 0);
  EXPECT_EQ(law.cdf(1e300), 1);
  EXPECT_EQ(law.at_least(infinity), 0);
  EXPECT_EQ(law.cdf(-infinity), 0);
}

TEST(Law, NumbersOfTheDocumentation) {
  const OutputLaw law({.scale = 1, .grid = Grid(0), .lower = -8.0, .upper = 8.0}, 0);
  EXPECT_NEAR(law.probability(0), 0.393469340, 5e-10);
  EXPECT_NEAR(law.probability(1), 0.191700250, 5e-10);
  EXPECT_NEAR(law.probability(-7), 0.000475177, 5e-10);
  EXPECT_NEAR(law.probability(8), 0.000276542, 5e-10);
  const OutputLaw geometric({.scale = 1, .kind = NoiseKind::geometric}, 0);
  EXPECT_NEAR(geometric.probability(0), 0.46212, 5e-6);
  EXPECT_EQ(geometric.mean(), 0);
  // Value 19 clamped at 20, scale and grid 1: an interval of 1.598 misses with probability 0.1116.
  const OutputLaw near_bound({.scale = 1, .grid = Grid(0), .lower = -20.0, .upper = 20.0}, 19);
  EXPECT_NEAR(near_bound.miss(Rational(1.598)), 0.1116, 5e-5);
}

TEST(Law, TablesHoldEverything) {
  for (const Case& c : cases()) {
    const OutputLaw law(c.noise, c.value);
    for (const double least : {1e-3, 1e-15}) {
      const OutputLaw::Table table = law.table(least);
      ASSERT_FALSE(table.outputs.empty());
      double sum = table.below + table.above;
      for (std::size_t i = 0; i < table.outputs.size(); ++i) {
        const OutputProbability& row = table.outputs[i];
        ASSERT_EQ(row.probability, law.probability(row.output));
        ASSERT_FALSE(row.output == 0 && std::signbit(row.output));
        if (i > 0) {
          ASSERT_GT(row.output, table.outputs[i - 1].output);
        }
        sum += row.probability;
      }
      ASSERT_NEAR(sum, 1, 1e-13) << describe(c);
      // Nothing likely is left out.
      const double unit = std::ldexp(1.0, static_cast<int>(c.noise.grid.exponent()));
      ASSERT_LT(
          table.below > 0 ? law.probability(std::ceil(table.outputs.front().output / unit - 1) * unit) : 0,
          least);
      ASSERT_LT(
          table.above > 0 ? law.probability(std::floor(table.outputs.back().output / unit + 1) * unit) : 0,
          least);
    }
  }
  EXPECT_THROW(OutputLaw({.scale = 1, .grid = Grid(-40)}, 0).table(), Error);
}

// Each side of the table is that of the table with this one limit.
TEST(Law, TablesHaveALimitForEachSide) {
  for (const Case& c : cases()) {
    const OutputLaw law(c.noise, c.value);
    const OutputLaw::Table table = law.table(1e-9, 1e-3);
    const OutputLaw::Table fine = law.table(1e-9);
    const OutputLaw::Table coarse = law.table(1e-3);
    EXPECT_EQ(table.below, fine.below) << describe(c);
    EXPECT_EQ(table.above, coarse.above) << describe(c);
    EXPECT_EQ(table.outputs.front().output, fine.outputs.front().output) << describe(c);
    EXPECT_EQ(table.outputs.back().output, coarse.outputs.back().output) << describe(c);
    for (std::size_t i = 0; i < table.outputs.size(); ++i) {
      ASSERT_EQ(table.outputs[i].output, fine.outputs[i].output) << describe(c);
      ASSERT_EQ(table.outputs[i].probability, fine.outputs[i].probability) << describe(c);
    }
  }
  // Down to the bound, however rare, and on the open side no farther than 1e-15.
  const OutputLaw::Table table =
      OutputLaw({.scale = 1, .grid = Grid(0), .lower = 0.0}, 600).table(0x1p-1074, 1e-15);
  EXPECT_EQ(table.outputs.front().output, 0);
  EXPECT_GT(table.outputs.front().probability, 0);
  EXPECT_EQ(table.below, 0);
  EXPECT_LT(table.outputs.back().output, 640);
  EXPECT_GT(table.above, 0);
}

// A bound is absent when it is so far away that nothing reaches it.
TEST(Law, OneBoundIsTheLimitOfAFarSecondOne) {
  int laws = 0;
  for (Case c : cases()) {
    if (c.noise.lower.has_value() == c.noise.upper.has_value()) continue;
    ++laws;
    const OutputLaw law(c.noise, c.value);
    const double far = std::ceil(2000 * c.noise.scale.up()) + 500;
    (c.noise.lower ? c.noise.upper : c.noise.lower) = c.noise.lower ? far : -far;
    const OutputLaw two(c.noise, c.value);
    EXPECT_EQ(law.mean(), two.mean()) << describe(c);
    EXPECT_EQ(law.variance(), two.variance()) << describe(c);
    for (const double p : {1e-9, 0.05, 0.5, 0.99}) {
      EXPECT_EQ(law.quantile(Rational(p)), two.quantile(Rational(p))) << describe(c);
    }
    const OutputLaw::Table of_one = law.table(1e-12);
    const OutputLaw::Table of_two = two.table(1e-12);
    ASSERT_EQ(of_one.outputs.size(), of_two.outputs.size()) << describe(c);
    for (std::size_t i = 0; i < of_one.outputs.size(); ++i) {
      const double x = of_one.outputs[i].output;
      ASSERT_EQ(x, of_two.outputs[i].output) << describe(c);
      ASSERT_EQ(law.probability(x), two.probability(x)) << describe(c);
      ASSERT_EQ(law.cdf(x), two.cdf(x)) << describe(c);
      ASSERT_EQ(law.at_least(x), two.at_least(x)) << describe(c);
    }
    const double unit = std::ldexp(1.0, static_cast<int>(c.noise.grid.exponent()));
    EXPECT_EQ(law.miss(Rational(3 * unit / 2)), two.miss(Rational(3 * unit / 2))) << describe(c);
  }
  EXPECT_GT(laws, 30);
}

TEST(Law, DistanceToLaplaceIsTheLargestDifference) {
  for (const Case& c : cases()) {
    if (c.noise.kind != NoiseKind::exact) continue;
    const Noise free{.scale = c.noise.scale.up(), .grid = c.noise.grid};
    const OutputLaw law(free, c.value);
    const Rational unit = free.grid.spacing().rational();
    double largest = 0;
    const Integer center = free.grid.index(Rational(c.value));
    for (int j = -6; j <= 6; ++j) {
      const Rational x = Rational(center + j) * unit;
      const Number at = oracle::survival(x - Rational(c.value), free.scale.exact());
      // P(out > x) just right of the output x and P(out >= x) just left of it.
      for (const Integer& k : {Integer(center + j + 1), Integer(center + j)}) {
        const Number output = oracle::at_least(k, Rational(c.value), free.scale.exact(), free.grid);
        largest = std::max(largest, std::fabs((output - at).nearest()));
      }
    }
    ASSERT_NEAR(law.distance_to_continuous(), largest, 1e-15) << describe(c);
  }
}

TEST(Law, TinyAndHugeUnits) {
  const Noise unit{.scale = 1.5, .grid = Grid(1), .lower = -5.0, .upper = 7.0};
  const OutputLaw law(unit, 0.75);
  for (const int shift : {-1000, -600, 600, 1000}) {
    const Noise noise{.scale = std::ldexp(1.5, shift),
                      .grid = Grid(1 + shift),
                      .lower = std::ldexp(-5.0, shift),
                      .upper = std::ldexp(7.0, shift)};
    const OutputLaw scaled(noise, std::ldexp(0.75, shift));
    EXPECT_EQ(scaled.probability(std::ldexp(4.0, shift)), law.probability(4));
    EXPECT_EQ(scaled.probability(noise.upper.value()), law.probability(7));
    EXPECT_EQ(scaled.mean(), std::ldexp(law.mean(), shift));
    EXPECT_EQ(scaled.accuracy(0.05), std::ldexp(law.accuracy(0.05), shift));
  }
  // A bound so small that it is no multiple of any unit nearby still lies between outputs 0 and 1.
  const OutputLaw between(
      {.scale = 1, .grid = Grid(4), .lower = 0.0, .upper = std::numeric_limits<double>::denorm_min()}, 0);
  EXPECT_EQ(between.probability(std::numeric_limits<double>::denorm_min()), oracle::survival(8, 1).nearest());
}

TEST(Law, Refusals) {
  const auto refused = [](const Noise& noise, double value) {
    return refused_parameter([&] { OutputLaw law(noise, value); });
  };
  for (const double scale : {0.0, -1.0, infinity, std::nan("")})
    EXPECT_EQ(refused({.scale = scale}, 0), "scale");
  EXPECT_EQ(refused({.scale = 1}, std::nan("")), "value");
  EXPECT_EQ(refused({.scale = 1}, infinity), "value");
  EXPECT_EQ(refused({.scale = 1, .lower = 1.0, .upper = 1.0}, 0), "lower");
  EXPECT_EQ(refused({.scale = 1, .lower = 2.0, .upper = 1.0}, 0), "lower");
  EXPECT_EQ(refused({.scale = 1, .lower = std::nan("")}, 0), "lower");
  EXPECT_EQ(refused({.scale = 1, .upper = infinity}, 0), "upper");
  EXPECT_EQ(refused({.scale = 1, .upper = 0x1p54}, 0), "upper");
  EXPECT_EQ(refused({.scale = 1, .grid = Grid(-1000)}, 1), "value");
  EXPECT_EQ(refused({.scale = 1, .grid = Grid(1), .kind = NoiseKind::geometric}, 0), "grid");
  EXPECT_EQ(refused({.scale = 1, .kind = NoiseKind::geometric}, 0.5), "value");
  EXPECT_EQ(refused({.scale = 1, .upper = 0.5, .kind = NoiseKind::geometric}, 0), "upper");
  const OutputLaw law({.scale = 1}, 0);
  EXPECT_EQ(refused_parameter([&] { law.cdf(std::nan("")); }), "x");
  EXPECT_EQ(refused_parameter([&] { law.at_least(std::nan("")); }), "x");
  EXPECT_EQ(refused_parameter([&] { law.miss(-1); }), "a");
  EXPECT_EQ(refused_parameter([&] { law.table(0); }), "least");
  EXPECT_EQ(refused_parameter([&] { law.table(1e-3, 1); }), "least");
  EXPECT_EQ(law.probability(std::nan("")), 0);
}

// Indices beyond 2^53 are no doubles: the table ends there, and what lies beyond is its tail.
TEST(Law, TablesEndWhereOutputsAreNoDoubles) {
  for (const double sign : {-1.0, 1.0}) {
    const OutputLaw law({.scale = 1, .grid = Grid(0)}, sign * (0x1p53 - 1));
    const OutputLaw::Table table = law.table();
    const double last = sign > 0 ? table.outputs.back().output : table.outputs.front().output;
    EXPECT_EQ(last, sign * 0x1p53);
    double sum = table.below + table.above;
    for (const OutputProbability& row : table.outputs) sum += row.probability;
    EXPECT_NEAR(sum, 1, 1e-13);
    EXPECT_EQ(sign > 0 ? table.above : table.below, OutputLaw({.scale = 1, .grid = Grid(0)}, 0).at_least(2));
    // Noise that leads beyond on both sides.
    const OutputLaw wide({.scale = 0x1p60, .grid = Grid(0)}, sign * 0x1p53);
    const OutputLaw::Table three = wide.table(1e-30, 1e-30, 3);
    ASSERT_EQ(three.outputs.size(), 3U);
    EXPECT_EQ(sign > 0 ? three.outputs.back().output : three.outputs.front().output, sign * 0x1p53);
    EXPECT_NEAR(three.below + three.above, 1, 1e-12);
  }
}

TEST(Law, LongTablesAreCutAroundTheValue) {
  for (const auto& [lower, upper] : std::vector<std::pair<std::optional<double>, std::optional<double>>>{
           {}, {-2.0, {}}, {{}, 3.0}, {-40.0, 500.0}}) {
    const OutputLaw law({.scale = 8, .grid = Grid(-2), .lower = lower, .upper = upper}, 0.75);
    const OutputLaw::Table whole = law.table(1e-12, 1e-15);
    for (const std::size_t most : {1U, 2U, 7U, 400U, 100'000U}) {
      const OutputLaw::Table table = law.table(1e-12, 1e-15, most);
      ASSERT_EQ(table.outputs.size(), std::min(most, whole.outputs.size()));
      ASSERT_EQ(table.outputs.size() + static_cast<std::size_t>(table.cut), whole.outputs.size());
      double sum = table.below + table.above;
      for (const OutputProbability& row : table.outputs) sum += row.probability;
      ASSERT_NEAR(sum, 1, 1e-13);
      // What is left out is not nearer than what is kept, unless one side has nothing left.
      const auto first = std::find_if(
          whole.outputs.begin(), whole.outputs.end(),
          [&](const OutputProbability& row) { return row.output == table.outputs.front().output; });
      ASSERT_NE(first, whole.outputs.end());
      const auto after = first + static_cast<std::ptrdiff_t>(table.outputs.size());
      const auto distance = [](const OutputProbability& row) { return std::fabs(row.output - 0.75); };
      if (first != whole.outputs.begin() && after != whole.outputs.end()) {
        ASSERT_GE(distance(*(first - 1)), distance(*(after - 1)));
        ASSERT_GE(distance(*after), distance(*first));
      }
    }
  }
  EXPECT_EQ(refused_parameter([] { OutputLaw({.scale = 1}, 0).table(0.1, 0.1, 0); }), "most");
  EXPECT_EQ(refused_parameter([] { OutputLaw({.scale = 1, .grid = Grid(1L << 40)}, 0); }), "grid");
}

}  // namespace
}  // namespace snapdp
