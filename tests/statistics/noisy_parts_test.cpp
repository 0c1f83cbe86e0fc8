#include "snapdp/statistics/noisy_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "mechanism/shared/noise_sums.h"
#include "noisy.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/statistics/from_parts.h"
#include "statistics/exact_moments.h"

namespace snapdp {
namespace {

using mechanism_internal::error_of_sum;
using mechanism_internal::ErrorLaw;
using mechanism_internal::NoisyTerm;

const Bounds ages(0, 100);
const Bounds incomes(-8, 24);
constexpr double alpha = 0.05;
// Of alpha, what is left when means and deviations are enclosed.
constexpr double own_alpha = alpha * 7 / 8;

// Bounds are found to 2^-12.
constexpr double within = 1 - 0x1p-11;

// Rows of two columns, and all that is computed of them.
class Data {
 public:
  Data(const std::vector<double>& x, const std::vector<double>& y) {
    const Rational c = center(ages);
    const Rational d = center(incomes);
    parts_ = {{"count", size_of(x)},
              {"sum_x", power_sum(x, c, 1)},
              {"sum_y", power_sum(y, d, 1)},
              {"products", product_sum(x, y, c, d)},
              {"squares_x", power_sum(x, c, 2)},
              {"squares_y", power_sum(y, d, 2)}};
    variance_x_ = exact_covariance(x, x).get_d();
    variance_y_ = exact_covariance(y, y).get_d();
    covariance_ = exact_covariance(x, y).get_d();
  }

  const std::map<std::string, Rational>& parts() const { return parts_; }
  double m() const { return Rational(parts_.at("sum_x") / parts_.at("count")).get_d(); }
  double l() const { return Rational(parts_.at("sum_y") / parts_.at("count")).get_d(); }
  double variance_x() const { return variance_x_; }
  double variance_y() const { return variance_y_; }
  double covariance() const { return covariance_; }
  double correlation() const { return covariance_ / std::sqrt(variance_x_ * variance_y_); }

 private:
  std::map<std::string, Rational> parts_;
  double variance_x_;
  double variance_y_;
  double covariance_;
};

Data random_data(std::mt19937_64& engine, std::size_t rows) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  const double middle = 10 + 80 * uniform(engine);
  const double slope = 2 * uniform(engine) - 1;
  const double spread = 4 + 16 * uniform(engine);
  const double base = -6 + 20 * uniform(engine);
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto sixteenths = [](double value) { return std::round(16 * value) / 16; };
    const double z = normal(engine);
    x.push_back(std::clamp(sixteenths(middle + spread * z), 0.0, 100.0));
    y.push_back(std::clamp(sixteenths(base + 6 * (slope * z + uniform(engine))), -8.0, 24.0));
  }
  return Data(x, y);
}

// Noise as the parts of an epsilon have it.
using Noises = std::map<std::string, Noise>;
Noises noises_of(double epsilon) {
  const auto noise = [&](double sensitivity) {
    const double scale = 6 * sensitivity / epsilon;
    return Noise{.scale = scale, .grid = Grid(static_cast<long>(std::ceil(std::log2(scale))) - 10)};
  };
  return {{"count", {.scale = 6 / epsilon}}, {"sum_x", noise(50)},       {"sum_y", noise(16)},
          {"products", noise(800)},          {"squares_x", noise(2500)}, {"squares_y", noise(256)}};
}

std::map<std::string, NoisyPart> released(const Data& data, const Noises& noises,
                                          const std::map<std::string, double>& errors) {
  std::map<std::string, NoisyPart> parts;
  for (const auto& [name, exact] : data.parts()) {
    const double error = errors.contains(name) ? errors.at(name) : 0;
    parts[name] = {Dyadic(exact.get_d() + error), noises.at(name), 0, name == "count"};
  }
  return parts;
}

// A statistic: what is released of parts, its accuracy, the exact value, and the weights of the noises in what is 0 of
// it.
struct Statistic {
  std::string name;
  std::function<double(const std::map<std::string, NoisyPart>&)> value;
  std::function<double(const std::map<std::string, NoisyPart>&)> accuracy;
  std::function<double(const Data&)> exact;
  std::function<std::map<std::string, double>(const Data&)> weights;
};

double value_of_variance(const std::map<std::string, NoisyPart>& p) {
  return variance_from_parts(ages, p.at("count").value, p.at("sum_x").value, p.at("squares_x").value);
}

double value_of_covariance(const std::map<std::string, NoisyPart>& p) {
  return covariance_from_parts(ages, incomes, p.at("count").value, p.at("sum_x").value, p.at("sum_y").value,
                               p.at("products").value);
}

std::vector<Statistic> statistics() {
  const auto weights_of_variance = [](const Data& d) {
    return std::map<std::string, double>{
        {"squares_x", 1}, {"sum_x", -2 * d.m()}, {"count", d.m() * d.m() - d.variance_x()}};
  };
  return {
      {"mean", [](const auto& p) { return mean_from_parts(ages, p.at("count").value, p.at("sum_x").value); },
       [](const auto& p) { return mean_accuracy(ages, p.at("count"), p.at("sum_x"), alpha); },
       [](const Data& d) { return d.m() + 50; },
       [](const Data& d) {
         return std::map<std::string, double>{{"sum_x", 1}, {"count", -d.m()}};
       }},
      {"variance", value_of_variance,
       [](const auto& p) {
         return variance_accuracy(ages, p.at("count"), p.at("sum_x"), p.at("squares_x"), alpha);
       },
       [](const Data& d) { return d.variance_x(); }, weights_of_variance},
      {"deviation",
       [](const auto& p) { return standard_deviation_from_variance(Dyadic(value_of_variance(p))); },
       [](const auto& p) {
         return standard_deviation_accuracy(ages, p.at("count"), p.at("sum_x"), p.at("squares_x"), alpha);
       },
       [](const Data& d) { return std::sqrt(d.variance_x()); }, weights_of_variance},
      {"covariance", value_of_covariance,
       [](const auto& p) {
         return covariance_accuracy(ages, incomes, p.at("count"), p.at("sum_x"), p.at("sum_y"),
                                    p.at("products"), alpha);
       },
       [](const Data& d) { return d.covariance(); },
       [](const Data& d) {
         return std::map<std::string, double>{{"products", 1},
                                              {"sum_x", -d.l()},
                                              {"sum_y", -d.m()},
                                              {"count", d.m() * d.l() - d.covariance()}};
       }},
      {"correlation",
       [](const auto& p) {
         const Dyadic& count = p.at("count").value;
         return correlation_from_parts(
             Dyadic(value_of_covariance(p)), Dyadic(value_of_variance(p)),
             Dyadic(variance_from_parts(incomes, count, p.at("sum_y").value, p.at("squares_y").value)));
       },
       [](const auto& p) {
         return correlation_accuracy(ages, incomes,
                                     {p.at("count"), p.at("sum_x"), p.at("sum_y"), p.at("products"),
                                      p.at("squares_x"), p.at("squares_y")},
                                     alpha);
       },
       [](const Data& d) { return d.correlation(); },
       [](const Data& d) {
         const double ratio = std::sqrt(d.variance_y() / d.variance_x());
         const double r = d.correlation();
         return std::map<std::string, double>{
             {"products", 1},
             {"sum_x", r * ratio * d.m() - d.l()},
             {"sum_y", r / ratio * d.l() - d.m()},
             {"count", d.m() * d.l() - r / 2 * (ratio * d.m() * d.m() + d.l() * d.l() / ratio)},
             {"squares_x", -r * ratio / 2},
             {"squares_y", -r / ratio / 2}};
       }}};
}

// The largest error of the sum that a statistic's accuracy allows, at the exact weights.
double allowed(const std::map<std::string, double>& weights, const Noises& noises, double rate) {
  std::vector<NoisyTerm> terms;
  for (const auto& [name, weight] : weights)
    terms.push_back({ErrorLaw(noises.at(name), {}, name == "count"), weight});
  return error_of_sum(terms, rate / 2);
}

// The likeliest errors of the parts, the weights being these, with which the sum of noises is `size`.
std::map<std::string, double> likeliest(const std::map<std::string, double>& weights, const Noises& noises,
                                        double size) {
  double all = 0;
  for (const auto& [name, weight] : weights) all += std::pow(weight * noises.at(name).scale.up(), 2);
  std::map<std::string, double> errors;
  for (const auto& [name, weight] : weights)
    errors[name] = size * weight * std::pow(noises.at(name).scale.up(), 2) / all;
  return errors;
}

// Errors of the parts that together reach the bound: the exact statistic is where the accuracy says, and may be near
// its end. One part after the other is noisier than the rest, so that each weight matters.
TEST(NoisyParts, HoldWhereTheSumOfNoisesIsWithinItsBound) {
  std::mt19937_64 engine(61);
  std::map<std::string, double> closest;
  for (int round = 0; round < 120; ++round) {
    const Data data = random_data(engine, round % 2 == 0 ? 2000 : 300);
    for (const Statistic& statistic : statistics()) {
      const std::map<std::string, double> weights = statistic.weights(data);
      for (const auto& [noisier, ignored] : weights) {
        Noises noises = noises_of(round % 3 == 0 ? 0.5 : 3);
        Noise& noise = noises.at(noisier);
        noise = {.scale = noise.scale.up() * (round % 4 < 2 ? 1 : 30), .grid = noise.grid};
        const double bound = allowed(weights, noises, statistic.name == "mean" ? alpha : own_alpha) * within;
        for (const double sign : {-1.0, 1.0}) {
          const auto parts = released(data, noises, likeliest(weights, noises, sign * bound));
          const double off = std::fabs(statistic.value(parts) - statistic.exact(data));
          const double accuracy = statistic.accuracy(parts);
          EXPECT_LE(off, accuracy) << statistic.name << " " << round << " " << noisier;
          closest[statistic.name] = std::max(closest[statistic.name], off / accuracy);
        }
      }
    }
  }
  for (const auto& [name, ratio] : closest) EXPECT_GT(ratio, 0.9) << name;
}

// With real noise: no more misses than alpha, but for chance. With T releases the misses are at most binomial(T,
// alpha); by Hoeffding P(misses >= alpha T + t) <= exp(-2 t^2 / T), which is below 1e-10 for t = sqrt(T ln(1e10) / 2).
// And the accuracies are no wild overestimates: errors beyond half of them are not rare, a tenth or more, where 400
// releases give fewer than 8 with probability below 1e-9 (binomial).
TEST(NoisyParts, ReleasesAreAsAccurateAsTheySay) {
  constexpr int releases = 400;
  std::mt19937_64 engine(67);
  for (const auto& [rows, epsilon] : {std::pair(2000U, 4.0), std::pair(2000U, 0.4), std::pair(60U, 0.5)}) {
    const Data data = random_data(engine, rows);
    const Noises noises = noises_of(epsilon);
    std::map<std::string, Mechanism> mechanisms;
    for (const auto& [name, noise] : noises) {
      const Rational scale(noise.scale.up());
      mechanisms.emplace(name, Mechanism({.epsilon = Rational(1 / scale),
                                          .sensitivity = 1,
                                          .grid = GridChoice(noise.grid),
                                          .integer = name == "count"}));
    }
    std::map<std::string, int> misses;
    std::map<std::string, int> beyond_half;
    const auto exact = data.parts();
    for (int i = 0; i < releases; ++i) {
      std::map<std::string, NoisyPart> parts;
      for (const auto& [name, part] : exact) {
        const Noise& noise = mechanisms.at(name).noise();
        // As aggregations do: rounded to a grid far finer than the noise.
        const Dyadic value(part.get_d());
        parts[name] = {mechanisms.at(name).release(value, thread_generator()), noise, 0, name == "count"};
      }
      for (const Statistic& statistic : statistics()) {
        const double off = std::fabs(statistic.value(parts) - statistic.exact(data));
        const double accuracy = statistic.accuracy(parts);
        if (off > accuracy) ++misses[statistic.name];
        if (off > accuracy / 2) ++beyond_half[statistic.name];
      }
    }
    const double most = alpha * releases + std::sqrt(releases * std::log(1e10) / 2);
    for (const Statistic& statistic : statistics()) {
      EXPECT_LT(misses[statistic.name], most) << statistic.name;
      if (rows == 2000 && epsilon == 4.0) {
        EXPECT_GT(beyond_half[statistic.name], 8) << statistic.name;
      }
    }
  }
}

// What is planned for every dataset holds for the worst: all rows at ends of the bounds.
TEST(NoisyParts, PlannedAccuraciesHoldForTheWorstData) {
  const Noises noises = noises_of(1);
  for (const double share : {0.0, 0.3, 0.5, 1.0}) {
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < 2000; ++i) {
      const bool high = static_cast<double>(i) < 2000 * share;
      x.push_back(high ? 100 : 0);
      y.push_back(high ? 24 : -8);
    }
    const Data data(x, y);
    const auto blank = released(data, noises, {});
    const double planned_mean =
        planned_mean_accuracy(ages, 2000, blank.at("count"), blank.at("sum_x"), alpha);
    const double planned_variance = planned_variance_accuracy(
        ages, 2000, blank.at("count"), blank.at("sum_x"), blank.at("squares_x"), alpha);
    const double planned_covariance =
        planned_covariance_accuracy(ages, incomes, 2000, blank.at("count"), blank.at("sum_x"),
                                    blank.at("sum_y"), blank.at("products"), alpha);
    const std::vector<std::pair<std::size_t, double>> planned{
        {0, planned_mean}, {1, planned_variance}, {3, planned_covariance}};
    double nearest = 0;
    for (const auto& [index, accuracy] : planned) {
      const Statistic statistic = statistics()[index];
      const std::map<std::string, double> weights = statistic.weights(data);
      const double bound = allowed(weights, noises, index == 0 ? alpha : own_alpha) * within;
      for (const double sign : {-1.0, 1.0}) {
        const auto parts = released(data, noises, likeliest(weights, noises, sign * bound));
        const double off = std::fabs(statistic.value(parts) - statistic.exact(data));
        EXPECT_LE(off, accuracy) << statistic.name << share;
        nearest = std::max(nearest, off / accuracy);
        EXPECT_LE(statistic.accuracy(parts), 1.02 * accuracy) << statistic.name << share;
      }
    }
    if (share == 1) {
      EXPECT_GT(nearest, 0.9);
    }
  }
}

TEST(NoisyParts, SayNothingWhereNothingIsKnown) {
  const Noise noise{.scale = 10};
  const Noise none{.scale = HUGE_VAL};
  const auto part = [&](double value) { return NoisyPart{Dyadic(value), noise}; };
  // Fewer than one noisy row, or two; much more noise than there is to know.
  EXPECT_EQ(mean_accuracy(ages, part(0), part(3), 0.05), 50);
  EXPECT_EQ(variance_accuracy(ages, part(1.5), part(3), part(9), 0.05), 2500);
  EXPECT_EQ(mean_accuracy(ages, part(1), part(0), 0.05), 50);
  EXPECT_EQ(correlation_accuracy(part(3), part(1), part(1), 0.05), 2);
  EXPECT_EQ(
      correlation_accuracy(ages, incomes, {part(100), part(0), part(0), part(5), part(7), part(0)}, 0.05), 1);
  // At a bound that cut something off.
  const NoisyPart free{Dyadic(2000), noise};
  NoisyPart clamped = free;
  clamped.noise.upper = 2000;
  const NoisyPart covariance{Dyadic(100), noise};
  EXPECT_LT(correlation_accuracy(covariance, free, free, 0.05), 0.1);
  EXPECT_GE(correlation_accuracy(covariance, free, clamped, 0.05), 1);
  clamped.noise.upper = 2001;
  EXPECT_EQ(correlation_accuracy(covariance, free, clamped, 0.05),
            correlation_accuracy(covariance, free, free, 0.05));
  EXPECT_EQ(planned_mean_accuracy(ages, 20, part(0), part(0), 0.05), 100);
  EXPECT_EQ(planned_variance_accuracy(ages, 20, part(0), part(0), part(0), 0.05), 5000);
  EXPECT_EQ(planned_covariance_accuracy(ages, incomes, 1, part(0), part(0), part(0), part(0), 0.05), 3200);
}

// A count that noise leaves as it is costs nothing, whatever its grid.
TEST(NoisyParts, ExactCountsAreExact) {
  const NoisyPart sum{Dyadic(500), {.scale = 1e-3, .grid = Grid(-20)}};
  const NoisyPart count{Dyadic(100), {.scale = 1e-2}, 0, true};
  EXPECT_NEAR(mean_accuracy(ages, count, sum, 0.05), 1e-3 * std::log(20) / 100, 1e-6);
}

// Of the sum of n noises of one law: released anew, with and without bounds, on grids finer and coarser than the noise.
TEST(SumAccuracy, HoldsAsOftenAsItSays) {
  constexpr int rounds = 4'000;
  const Rational rate(1, 5);
  for (const MechanismOptions& options :
       {MechanismOptions{.epsilon = 1, .sensitivity = 1},
        MechanismOptions{.epsilon = 1, .sensitivity = 1, .grid = GridChoice(Grid(3))},
        MechanismOptions{.epsilon = 1, .sensitivity = 1, .integer = true},
        MechanismOptions{.epsilon = 1, .sensitivity = 1, .integer = true, .noise = NoiseKind::geometric},
        MechanismOptions{.epsilon = 1, .sensitivity = 1, .lower = 0, .integer = true},
        MechanismOptions{
            .epsilon = 1, .sensitivity = 1, .lower = 0, .upper = 64, .noise = NoiseKind::notes}}) {
    const Mechanism mechanism(options);
    const NoisyPart one{.value = 0, .noise = mechanism.noise(), .integer = options.integer};
    for (const int numbers : {1, 2, 7}) {
      const double accuracy =
          sum_accuracy(one, {0.0, std::nullopt}, static_cast<std::uint64_t>(numbers), rate);
      int misses = 0;
      for (int i = 0; i < rounds; ++i) {
        Rational error = 0;  // of a sum with signs
        for (int j = 0; j < numbers; ++j) {
          const Dyadic exact(j % 3);
          const Rational off =
              Rational(mechanism.release(exact, thread_generator()).rational() - exact.rational());
          error += j % 2 == 0 ? off : Rational(-off);
        }
        if (abs(error) > Rational(accuracy)) ++misses;
      }
      // Hoeffding: more with probability at most 1e-9.
      EXPECT_LE(misses, rounds / 5 + std::sqrt(rounds * std::log(1e9) / 2)) << numbers;
      const bool fine = !options.lower && options.grid.is_automatic() && !options.integer;
      if (fine && numbers > 1) {
        EXPECT_GE(misses, rounds / 5 - 2 * std::sqrt(rounds * std::log(1e9) / 2)) << numbers;
      }
    }
  }
  // (1 + t/2) e^-t = .2 for t = 2.397 scales.
  const NoisyPart fine{.value = 0, .noise = {.scale = 1, .grid = Grid(-40)}};
  EXPECT_NEAR(sum_accuracy(fine, {}, 2, rate), 2.397, 0.003);
}

}  // namespace
}  // namespace snapdp
