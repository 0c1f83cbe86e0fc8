#include "mechanism/shared/noise_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "snapdp/error.h"
#include "snapdp/mechanism/law.h"

namespace snapdp::mechanism_internal {
namespace {

double largest(const std::vector<double>& tails) {
  return *std::max_element(tails.begin(), tails.end());
}

ErrorLaw law_of(const Noise& noise) {
  return ErrorLaw(noise, {}, true);
}

// P(sum > radius) of Laplace noises of different sizes: with phi = sum_i c_i / (1 + (a_i w)^2) by partial fractions,
// P = sum_i c_i exp(-radius / a_i) / 2.
double laplace_tail(const std::vector<double>& sizes, double radius) {
  double tail = 0;
  for (const double a : sizes) {
    double coefficient = 1;
    for (const double b : sizes) {
      if (a != b) coefficient *= a * a / (a * a - b * b);
    }
    tail += coefficient * std::exp(-radius / a) / 2;
  }
  return tail;
}

// A sum of Gaussian noises is Gaussian, and rounding moves it by half a step of the grid a noise.
TEST(NoiseSums, OfGaussianNoiseAreGaussian) {
  const Noise noise{.scale = 3, .grid = Grid(-30), .kind = NoiseKind::gaussian};
  const WeightedNoises sum = {{1, 4}, {-0.5, 2}, {0.25, 16}};
  const double deviation = 3 * std::sqrt(4 + 0.5 + 1);
  for (const double alpha : {0.4, 0.025, 1e-6, 1e-30, 1e-300}) {
    const double error = error_of_sums(law_of(noise), 22, {sum}, alpha, largest);
    EXPECT_LE(std::erfc(error / deviation / std::sqrt(2)) / 2, alpha);
    EXPECT_GT(std::erfc(error * 0.99999 / deviation / std::sqrt(2)) / 2, alpha);
  }
  Noise coarse = noise;
  coarse.grid = Grid(1);
  EXPECT_NEAR(error_of_sums(law_of(coarse), 22, {sum}, 1e-6, largest),
              error_of_sums(law_of(noise), 22, {sum}, 1e-6, largest) + 4 + 1 + 4, 1e-3);
  // Bounds that the values touch may cut off either side.
  Noise clamped = noise;
  clamped.lower = 0;
  clamped.upper = 10;
  EXPECT_GT(error_of_sums(ErrorLaw(clamped, {0, 10}, true), 22, {sum}, 1e-6, largest),
            error_of_sums(law_of(noise), 22, {sum}, 1e-6, largest));
  // As good as exact: an integer stays what it is with probability 1 - 2 Q(grid / (2 scale)).
  const Noise little{.scale = 0.05, .kind = NoiseKind::gaussian};
  EXPECT_EQ(error_of_sum({{law_of(little), 1}}, 1e-6), 0);
  EXPECT_GT(error_of_sum({{law_of(little), 1}}, 1e-24), 0);
  EXPECT_THROW(error_of_sum({{law_of(noise), 1}, {law_of({.scale = 3, .grid = Grid(-30)}), 1}}, 0.01), Error);
}

TEST(NoiseSums, AreThoseOfTheClosedForm) {
  const Noise noise{.scale = 3, .grid = Grid(-30)};
  for (const std::vector<double>& weights : {std::vector<double>{1},
                                             {1, 0.5},
                                             {1, 0.01},
                                             {1, 0.8, 0.6, 0.4, 0.2},
                                             {0.9, 0.7, 0.5, 0.3, 0.25, 0.21, 0.17}}) {
    WeightedNoises sum;
    std::vector<double> sizes;
    for (const double weight : weights) {
      sum.push_back({sizes.size() % 2 == 0 ? weight : -weight, 1});
      sizes.push_back(3 * weight);
    }
    for (const double alpha : {0.4, 0.025, 1e-3, 1e-6}) {
      const double error = error_of_sums(law_of(noise), 9, {sum}, alpha, largest);
      EXPECT_LE(laplace_tail(sizes, error), alpha) << weights.size();
      // With one or two noises the characteristic function falls slowly.
      const double tight = weights.size() > 2 ? 0.998 : alpha > 1e-5 ? 0.98 : 0.7;
      EXPECT_GT(laplace_tail(sizes, error * tight), alpha) << weights.size() << " " << alpha;
    }
    // Where doubles do not resolve alpha, Chernoff's bound.
    const double rare = error_of_sums(law_of(noise), 9, {sum}, 1e-30, largest);
    EXPECT_LE(std::log(std::fabs(laplace_tail(sizes, rare))), std::log(1e-30));
    EXPECT_GT(laplace_tail(sizes, rare * 0.9), 1e-30);
  }
}

TEST(NoiseSums, HoldJointly) {
  const Noise noise{.scale = 1, .grid = Grid(-30)};
  const std::vector<WeightedNoises> sums{{{1, 1}, {0.5, 1}, {0.3, 1}}, {{0.9, 1}, {0.4, 1}, {0.2, 1}}};
  const JointTail both = [](const std::vector<double>& tails) { return tails[0] + tails[1]; };
  for (const double alpha : {0.1, 1e-4, 1e-20}) {
    const double error = error_of_sums(law_of(noise), 9, sums, alpha, both);
    const auto joint = [](double radius) {
      return laplace_tail({1, 0.5, 0.3}, radius) + laplace_tail({0.9, 0.4, 0.2}, radius);
    };
    EXPECT_LE(joint(error), alpha);
    EXPECT_GT(joint(error * (alpha < 1e-10 ? 0.85 : 0.995)), alpha);
  }
}

TEST(NoiseSums, ManyCopiesAreTheSameTermOften) {
  const Noise noise{.scale = 1, .grid = Grid(-30)};
  WeightedNoises one_by_one(7, {0.5, 1});
  one_by_one.push_back({0.2, 1});
  const double together = error_of_sums(law_of(noise), 8, {{{0.5, 7}, {0.2, 1}}}, 0.01, largest);
  EXPECT_EQ(together, error_of_sums(law_of(noise), 8, {one_by_one}, 0.01, largest));
  // Seven of variance 2 / 4 and one of 2 / 25, about normal: 2.33 standard deviations and a little.
  EXPECT_NEAR(together, 2.33 * std::sqrt(7 * 0.5 + 0.08), 0.4);
}

TEST(NoiseSums, OfNothing) {
  const ErrorLaw law = law_of({.scale = 1});
  EXPECT_EQ(error_of_sums(law, 1, {{}}, 0.05, largest), 0);
  EXPECT_TRUE(std::isinf(error_of_sums(law, 1, {{{1, 1}}}, 0, largest)));
}

// The law of out - value for an integer value, by the probabilities of the outputs.
std::map<long, double> errors(const Noise& noise, long value) {
  std::map<long, double> result;
  for (const OutputProbability& output : OutputLaw(noise, static_cast<double>(value)).table(1e-16).outputs)
    result[std::lround(output.output) - value] += output.probability;
  return result;
}

double tail_of_sum(const std::vector<std::map<long, double>>& laws, double radius) {
  std::map<long, double> sum{{0, 1}};
  for (const std::map<long, double>& law : laws) {
    std::map<long, double> next;
    for (const auto& [a, p] : sum) {
      for (const auto& [b, q] : law) next[a + b] += p * q;
    }
    sum = std::move(next);
  }
  double tail = 0;
  for (const auto& [error, p] : sum) tail += static_cast<double>(error) > radius ? p : 0;
  return tail;
}

// Three noises on integers, at the worst integers: the bound holds on both sides, for every kind and grid.
TEST(NoiseSums, HoldForRoundedNoiseAtEveryInteger) {
  const std::vector<Noise> noises{{.scale = 0.3},
                                  {.scale = 2},
                                  {.scale = 2, .grid = Grid(1)},
                                  {.scale = 2, .grid = Grid(2)},
                                  {.scale = 1, .grid = Grid(3)},
                                  {.scale = 0.3, .kind = NoiseKind::geometric},
                                  {.scale = 2, .kind = NoiseKind::geometric}};
  for (const Noise& noise : noises) {
    const long step = 1L << noise.grid.exponent();
    for (const double alpha : {0.2, 0.01}) {
      const double error = error_of_sums(law_of(noise), 3, {{{1, 3}}}, alpha, largest);
      double worst = 0;
      double worst_with_less = 0;
      for (long value = 0; value < step; ++value) {
        const std::map<long, double> law = errors(noise, value);
        worst = std::max(worst, tail_of_sum({law, law, law}, error));
        worst_with_less = std::max(worst_with_less, tail_of_sum({law, law, law}, error / 2 - 1));
      }
      EXPECT_LE(worst, alpha) << noise.scale.up() << " " << step;
      EXPECT_GT(worst_with_less, alpha) << noise.scale.up() << " " << step;
    }
  }
}

// One noise at many rates: what rounding is taken to move it is needed, wherever the bound comes to lie between
// integers.
TEST(NoiseSums, RoundingOfOneNoiseIsNotUnderrated) {
  for (const NoiseKind kind : {NoiseKind::exact, NoiseKind::geometric}) {
    const Noise noise{.scale = 50, .kind = kind};
    const OutputLaw law(noise, 0);
    for (int i = 1; i <= 200; ++i) {
      const double alpha = 0.05 + 0.3 * i / 200;
      const double error = error_of_sums(law_of(noise), 1, {{{1, 1}}}, alpha, largest);
      EXPECT_LE(law.at_least(std::floor(error) + 1), alpha);
    }
  }
}

// Chernoff's bound by brute force: the largest moment generating function over all values in eighths, and the best of
// many t.
TEST(NoiseSums, CoarseGridsHaveChernoffsBoundOfTheirLaw) {
  for (const auto& [scale, exponent] : {std::pair(1.0, 3), std::pair(2.0, 4), std::pair(3.0, 5)}) {
    const Noise noise{.scale = scale, .grid = Grid(exponent)};
    const double copies = 50;
    const double alpha = 1e-3;
    double least = HUGE_VAL;
    for (int i = 1; i < 200; ++i) {
      const double t = i / (200 * scale);
      double moment = 0;
      for (long value = 0; value < 1L << exponent; ++value) {
        double of_value = 0;
        for (const auto& [error, p] : errors(noise, value))
          of_value += p * std::exp(t * static_cast<double>(error));
        moment = std::max(moment, of_value);
      }
      least = std::min(least, (copies * std::log(moment) - std::log(alpha)) / t);
    }
    const double error = error_of_sums(law_of(noise), copies, {{{1, copies}}}, alpha, largest);
    EXPECT_GT(error, 0.98 * least) << scale;
    EXPECT_LT(error, 1.05 * least) << scale;
  }
}

// Counts of 0 clamped to [0, 10^6] err upwards only: the sum of 20 by about 20 times half the scale.
TEST(NoiseSums, KnowThatClampedNoiseLeans) {
  const Noise noise{.scale = 4, .lower = 0, .upper = 1e6};
  const ErrorLaw law(noise, {0.0, 1e6}, true);
  const double error = error_of_sums(law, 20, {{{1, 20}}}, 0.01, largest);
  std::map<long, double> clamped;
  for (const auto& [error_of_one, p] : errors({.scale = 4}, 0)) clamped[std::max(error_of_one, 0L)] += p;
  const std::vector<std::map<long, double>> laws(20, clamped);
  EXPECT_LE(tail_of_sum(laws, error), 0.01);
  EXPECT_GT(tail_of_sum(laws, error / 1.5), 0.01);
  // Far bounds cost next to nothing.
  const Noise far{.scale = 4, .lower = -1e3, .upper = 1e6 + 1e3};
  const double free = error_of_sums(law_of({.scale = 4}), 20, {{{1, 20}}}, 0.01, largest);
  EXPECT_NEAR(error_of_sums(ErrorLaw(far, {0.0, 1e6}, true), 20, {{{1, 20}}}, 0.01, largest), free,
              1e-3 * free);
}

TEST(NoiseSums, OfDifferentNoises) {
  const Noise one{.scale = 1, .grid = Grid(-30)};
  const Noise two{.scale = 5, .grid = Grid(-20)};
  const double error = error_of_sum({{law_of(one), 2}, {law_of(two), -0.3}, {law_of(one), 0.1}}, 0.025);
  EXPECT_LE(laplace_tail({2, 1.5, 0.1}, error), 0.025);
  EXPECT_GT(laplace_tail({2, 1.5, 0.1}, 0.999 * error), 0.025);
}

}  // namespace
}  // namespace snapdp::mechanism_internal
