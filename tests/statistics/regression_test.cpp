#include "snapdp/statistics/regression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "mechanism/shared/noise_sums.h"
#include "noisy.h"
#include "snapdp/error.h"
#include "snapdp/framework/measurement.h"
#include "statistics/exact_moments.h"

namespace snapdp {
namespace {

using mechanism_internal::error_of_sum;
using mechanism_internal::ErrorLaw;
using mechanism_internal::NoisyTerm;

using Columns = std::vector<std::vector<double>>;  // y, x1, ...

const std::vector<Bounds> all_bounds = {Bounds(-8, 24), Bounds(-50, 50), Bounds(-1, 3), Bounds(0, 16)};

std::vector<Bounds> bounds_of(const Columns& columns) {
  return {all_bounds.begin(), all_bounds.begin() + static_cast<std::ptrdiff_t>(columns.size())};
}

// The fit by the normal equations of the raw columns and a column of ones, with exchanges of rows: nothing centered,
// nothing in common with the code.
std::vector<Rational> exact_fit(const Columns& columns) {
  const std::size_t size = columns.size();
  Columns design{std::vector<double>(columns[0].size(), 1)};
  design.insert(design.end(), columns.begin() + 1, columns.end());
  std::vector<std::vector<Rational>> a(size, std::vector<Rational>(size + 1));
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) a[i][j] = product_sum(design[i], design[j], 0, 0);
    a[i][size] = product_sum(design[i], columns[0], 0, 0);
  }
  for (std::size_t column = 0; column < size; ++column) {
    for (std::size_t row = column + 1; row < size; ++row) {
      if (abs(a[row][column]) > abs(a[column][column])) std::swap(a[row], a[column]);
    }
    for (std::size_t row = column + 1; row < size; ++row) {
      const Rational times = a[row][column] / a[column][column];
      for (std::size_t i = 0; i <= size; ++i) a[row][i] -= times * a[column][i];
    }
  }
  std::vector<Rational> fit(size);
  for (std::size_t row = size; row-- > 0;) {
    fit[row] = a[row][size];
    for (std::size_t i = row + 1; i < size; ++i) fit[row] -= a[row][i] * fit[i];
    fit[row] /= a[row][row];
  }
  return fit;
}

// y depends on every x, and these on one another.
Columns random_columns(std::mt19937_64& engine, std::size_t rows, std::size_t columns) {
  std::normal_distribution<double> normal;
  Columns result(columns);
  for (std::size_t row = 0; row < rows; ++row) {
    const double common = normal(engine);
    double y = 13 + 2 * normal(engine);
    for (std::size_t i = 1; i < columns; ++i) {
      const Bounds& bounds = all_bounds[i];
      const double width = bounds.width().to_double_nearest();
      const double z = 0.8 * normal(engine) + 0.6 * common;
      const double x = bounds.middle().to_double_nearest() + width * (0.1 + 0.2 * z);
      result[i].push_back(std::clamp(std::round(64 * x) / 64, bounds.lower().to_double_nearest(),
                                     bounds.upper().to_double_nearest()));
      y += 3 * z / static_cast<double>(i);
    }
    result[0].push_back(std::clamp(std::round(64 * y) / 64, -8.0, 24.0));
  }
  return result;
}

// The exact moments as they are released, with the noise that goes with each; its scale is that of a part whose
// columns' half widths are 1, times those.
RegressionMoments centered(const Columns& columns, const Noise& unit) {
  RegressionMoments moments;
  const auto half = [](std::size_t i) { return (all_bounds[i].width() * Dyadic(0.5)).to_double_nearest(); };
  const auto part = [&](const Rational& value, double sensitivity) {
    const double scale = unit.scale.up() * sensitivity;
    Noise noise = unit;
    noise.scale = scale;
    noise.grid = Grid(static_cast<long>(std::ceil(std::log2(scale))) - 20);
    return NoisyPart{Dyadic(value.get_d()), noise};
  };
  const auto product = [&](std::size_t i, std::size_t j) {
    return part(product_sum(columns[i], columns[j], center(all_bounds[i]), center(all_bounds[j])),
                half(i) * half(j));
  };
  moments.count = part(size_of(columns[0]), 1);
  for (std::size_t i = 0; i < columns.size(); ++i)
    moments.firsts.push_back(part(power_sum(columns[i], center(all_bounds[i]), 1), half(i)));
  for (std::size_t i = 1; i < columns.size(); ++i) moments.with_y.push_back(product(i, 0));
  for (std::size_t i = 1; i < columns.size(); ++i) {
    for (std::size_t j = i; j < columns.size(); ++j) moments.among_x.push_back(product(i, j));
  }
  return moments;
}

// Means and covariances of a public number of rows.
RegressionMoments released_moments(const Columns& columns, const Noise& unit) {
  RegressionMoments moments = centered(columns, unit);
  const Rational rows = size_of(columns[0]);
  moments.count.reset();
  const auto become = [&](NoisyPart& part, const Rational& value) {
    const double scale = part.noise.scale.up() / rows.get_d();
    part.value = Dyadic(value.get_d());
    part.noise.scale = scale;
    part.noise.grid = Grid(static_cast<long>(std::ceil(std::log2(scale))) - 20);
    part.rounding_error = Rational(scale / (1 << 20));
  };
  for (std::size_t i = 0; i < columns.size(); ++i)
    become(moments.firsts[i], Rational(power_sum(columns[i], 0, 1) / rows));
  std::size_t next = 0;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    become(moments.with_y[i - 1], exact_covariance(columns[i], columns[0]));
    for (std::size_t j = i; j < columns.size(); ++j)
      become(moments.among_x[next++], exact_covariance(columns[i], columns[j]));
  }
  return moments;
}

std::vector<NoisyPart*> parts_of(RegressionMoments& moments) {
  std::vector<NoisyPart*> parts;
  if (moments.count) parts.push_back(&*moments.count);
  for (auto* list : {&moments.firsts, &moments.with_y, &moments.among_x}) {
    for (NoisyPart& part : *list) parts.push_back(&part);
  }
  return parts;
}

bool says_nothing(const std::vector<RegressionCoefficient>& fit) {
  return std::all_of(fit.begin(), fit.end(), [](const RegressionCoefficient& one) {
    return one.lower == -HUGE_VAL && one.upper == HUGE_VAL;
  });
}

bool holds(const std::vector<RegressionCoefficient>& fit, const std::vector<Rational>& exact) {
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (std::isfinite(fit[i].lower) && Rational(fit[i].lower) > exact[i]) return false;
    if (std::isfinite(fit[i].upper) && Rational(fit[i].upper) < exact[i]) return false;
  }
  return true;
}

const Noise little{.scale = 0x1p-30};

TEST(Regression, OfExactMomentsIsTheFitOfTheRows) {
  std::mt19937_64 engine(71);
  for (const std::size_t columns : {2U, 3U, 4U}) {
    for (const std::size_t rows : {std::size_t{columns} + 1, std::size_t{64}}) {
      const Columns data = random_columns(engine, rows, columns);
      const std::vector<Rational> exact = exact_fit(data);
      // The centered moments are doubles, and so the fit is that of the rows, rounded.
      const auto fit = regression_from_moments(bounds_of(data), centered(data, little), 0.05);
      const auto of_means = regression_from_moments(bounds_of(data), released_moments(data, little), 0.05);
      ASSERT_EQ(fit.size(), columns);
      ASSERT_EQ(of_means.size(), columns);
      for (std::size_t i = 0; i < columns; ++i) {
        EXPECT_EQ(fit[i].value, to_double_nearest(exact[i])) << columns << " " << i;
        EXPECT_LT(fit[i].upper - fit[i].lower, 1e-3) << columns << " " << i;
        EXPECT_NEAR(of_means[i].value, exact[i].get_d(), 1e-9 * (1 + std::fabs(exact[i].get_d())));
      }
      EXPECT_TRUE(holds(fit, exact));
      EXPECT_TRUE(holds(of_means, exact));
    }
  }
}

// Three points of which anybody knows the line, and a plane.
TEST(Regression, OfRowsThatLieOnALine) {
  const Columns line{{1, 3, 7}, {0, 1, 3}};
  const auto fit = regression_from_moments(bounds_of(line), centered(line, little), 0.05);
  EXPECT_EQ(fit[0].value, 1);
  EXPECT_EQ(fit[1].value, 2);
  const Columns plane{{1, 3, 0, 2}, {0, 1, 0, 1}, {0, 0, 1, 1}};
  const auto flat = regression_from_moments(bounds_of(plane), centered(plane, little), 0.05);
  EXPECT_EQ(flat[0].value, 1);
  EXPECT_EQ(flat[1].value, 2);
  EXPECT_EQ(flat[2].value, -1);
}

// Errors of the parts, as likely as they can be, that bring the residual moment of the x, or the mean of the residual, to
// what its law allows: the fit of the rows lies in the interval, and near its end. One part after the other is noisier
// than the rest, so that each weight matters.
TEST(Regression, HoldsWhereTheResidualMomentsAreWithinTheirBounds) {
  std::mt19937_64 engine(73);
  constexpr double alpha = 0.05;
  double closest_slope = 0;
  double closest_intercept = 0;
  for (int round = 0; round < 40; ++round) {
    const Columns data = random_columns(engine, 2000, 2);
    const std::vector<Rational> exact = exact_fit(data);
    const double b = exact[1].get_d();
    RegressionMoments moments = centered(data, {.scale = round % 2 == 0 ? 0.5 : 2.0});
    const double n = moments.count->value.to_double_nearest();
    const double l = moments.firsts[0].value.to_double_nearest() / n;
    const double m = moments.firsts[1].value.to_double_nearest() / n;
    const double e = l - b * m;
    // In the order of parts_of(): count, sums of y and x, products, squares.
    const std::size_t noisier = static_cast<std::size_t>(round / 2) % 5;
    Noise& noise = parts_of(moments)[noisier]->noise;
    noise = {.scale = noise.scale.up() * 30, .grid = noise.grid};
    for (const bool of_mean : {false, true}) {
      const std::vector<double> weights =
          of_mean ? std::vector<double>{-e, 1, -b, 0, 0} : std::vector<double>{m * e, -m, b * m - e, 1, -b};
      const std::vector<NoisyPart*> parts = parts_of(moments);
      std::vector<NoisyTerm> terms;
      double squares = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (weights[i] == 0) continue;
        terms.push_back({ErrorLaw(parts[i]->noise, {}, false), std::fabs(weights[i])});
        squares += std::pow(weights[i] * parts[i]->noise.scale.up(), 2);
      }
      const double allowed = error_of_sum(terms, alpha * 7 / 8 / 2 / 2) * (1 - 0x1p-11);
      for (const double sign : {-1.0, 1.0}) {
        RegressionMoments noisy = moments;
        const std::vector<NoisyPart*> noisy_parts = parts_of(noisy);
        for (std::size_t i = 0; i < parts.size(); ++i) {
          const double error =
              sign * allowed * weights[i] * std::pow(parts[i]->noise.scale.up(), 2) / squares;
          noisy_parts[i]->value += Dyadic(error);
        }
        const auto fit = regression_from_moments(bounds_of(data), noisy, alpha);
        EXPECT_TRUE(holds(fit, exact)) << round << of_mean;
        const auto used = [&](std::size_t i) {
          return std::fabs(fit[i].value - exact[i].get_d()) / ((fit[i].upper - fit[i].lower) / 2);
        };
        double& closest = of_mean ? closest_intercept : closest_slope;
        closest = std::max(closest, used(of_mean ? 0 : 1));
      }
    }
  }
  EXPECT_GT(closest_slope, 0.95);
  EXPECT_GT(closest_intercept, 0.8);
}

// With real noise: no more misses than alpha, but for chance. With T releases the misses are at most binomial(T, alpha);
// by Hoeffding P(misses >= alpha T + t) <= exp(-2 t^2 / T), which is below 1e-10 for t = sqrt(T ln(1e10) / 2). And the
// intervals are no wild overestimates: in most releases some coefficient is off by more than an eighth of what it may.
TEST(Regression, IntervalsHoldTogetherAsOftenAsTheySay) {
  constexpr int releases = 100;
  constexpr double alpha = 0.2;
  std::mt19937_64 engine(79);
  for (const std::size_t columns : {2U, 4U}) {
    for (const NoiseKind kind : {NoiseKind::exact, NoiseKind::gaussian}) {
      for (const bool public_rows : {false, true}) {
        const Columns data = random_columns(engine, 4000, columns);
        const std::vector<Rational> exact = exact_fit(data);
        const Noise unit{.scale = 6, .kind = kind};
        const RegressionMoments moments = public_rows ? released_moments(data, unit) : centered(data, unit);
        int misses = 0;
        int far = 0;
        std::normal_distribution<double> normal;
        std::exponential_distribution<double> exponential;
        for (int i = 0; i < releases; ++i) {
          RegressionMoments noisy = moments;
          for (NoisyPart* part : parts_of(noisy)) {
            const double size =
                kind == NoiseKind::gaussian ? normal(engine) : exponential(engine) - exponential(engine);
            part->value += Dyadic(
                std::round(part->noise.scale.up() * size / part->noise.grid.spacing().to_double_nearest()) *
                part->noise.grid.spacing().to_double_nearest());
          }
          const auto fit = regression_from_moments(bounds_of(data), noisy, alpha);
          EXPECT_FALSE(says_nothing(fit));
          if (!holds(fit, exact)) ++misses;
          double farthest = 0;
          for (std::size_t k = 0; k < columns; ++k)
            farthest = std::max(
                farthest, std::fabs(fit[k].value - exact[k].get_d()) / ((fit[k].upper - fit[k].lower) / 2));
          if (farthest > 0.125) ++far;
        }
        EXPECT_LT(misses, alpha * releases + std::sqrt(releases * std::log(1e10) / 2));
        EXPECT_GT(far, releases / 2) << columns << public_rows;
      }
    }
  }
}

// The fit of constant or collinear columns is not unique, and of too few rows neither: intervals say so, except as often
// as alpha allows (Hoeffding, as above); and no value is beyond the doubles.
TEST(Regression, SaysNothingOfColumnsThatHaveNoFit) {
  constexpr int releases = 300;
  constexpr double alpha = 0.05;
  std::mt19937_64 engine(83);
  std::exponential_distribution<double> exponential;
  const Columns random = random_columns(engine, 3000, 2);
  const std::vector<double> twice = [&] {
    std::vector<double> x;
    for (const double one : random[1]) x.push_back(one / 32 + 1);
    return x;
  }();
  const std::vector<Columns> degenerate{{random[0], std::vector<double>(3000, 7.0)},
                                        {random[0], random[1], twice},
                                        {{}, {}},
                                        {{1}, {30}},
                                        {{1, 2}, {30, 40}, {0, 1}}};
  for (const Columns& data : degenerate) {
    for (const bool public_rows : {false, true}) {
      if (public_rows && data[0].size() < 2) continue;
      const Noise unit{.scale = 3};
      const RegressionMoments moments = public_rows ? released_moments(data, unit) : centered(data, unit);
      int told = 0;
      for (int i = 0; i < releases; ++i) {
        RegressionMoments noisy = moments;
        for (NoisyPart* part : parts_of(noisy))
          part->value += Dyadic(part->noise.scale.up() * (exponential(engine) - exponential(engine)));
        const auto fit = regression_from_moments(bounds_of(data), noisy, alpha);
        ASSERT_EQ(fit.size(), data.size());
        for (const RegressionCoefficient& one : fit) EXPECT_TRUE(std::isfinite(one.value));
        if (!says_nothing(fit)) ++told;
      }
      EXPECT_LT(told, alpha * releases + std::sqrt(releases * std::log(1e10) / 2)) << data[0].size();
    }
  }
}

// What no data have: the mean of y, and nothing about the rest.
TEST(Regression, OfMomentsOfNoDataIsTheMean) {
  const Columns data{{0, 4, 8, 16}, {-50, -25, 0, 50}};
  const auto placeholder = [&](const RegressionMoments& moments) {
    const auto fit = regression_from_moments(bounds_of(data), moments, 0.05);
    EXPECT_TRUE(says_nothing(fit));
    EXPECT_EQ(fit[1].value, 0);
    return fit[0].value;
  };
  RegressionMoments negative = centered(data, little);
  negative.among_x[0].value = -negative.among_x[0].value;
  EXPECT_EQ(placeholder(negative), 7);
  RegressionMoments none = centered(data, little);
  none.count->value = Dyadic(1);
  EXPECT_EQ(placeholder(none), 4);  // the sum of the distances from 8, -4, is taken for that of one row
  none.count->value = Dyadic(-3);
  EXPECT_EQ(placeholder(none), 8);
  RegressionMoments huge = centered(data, little);
  huge.with_y[0].value = scale_by_power_of_two(Dyadic(1), 5000);
  EXPECT_EQ(placeholder(huge), 7);
  RegressionMoments released = released_moments(data, little);
  released.among_x[0].value = Dyadic(0);
  EXPECT_EQ(placeholder(released), 7);
  released.firsts[0].value = Dyadic(100);
  EXPECT_EQ(placeholder(released), 24);  // clamped to the bounds
}

// What lies at a bound may have been cut off there, and then nothing is said.
TEST(Regression, SaysNothingWhereNoiseWasCutOff) {
  std::mt19937_64 engine(89);
  const Columns data = random_columns(engine, 100, 3);
  const RegressionMoments moments = released_moments(data, little);
  const auto free = regression_from_moments(bounds_of(data), moments, 0.05);
  EXPECT_FALSE(says_nothing(free));
  RegressionMoments copy = moments;
  const std::size_t count = parts_of(copy).size();
  for (std::size_t i = 0; i < count; ++i) {
    RegressionMoments clamped = moments;
    NoisyPart& part = *parts_of(clamped)[i];
    const double value = part.value.to_double_nearest();
    part.noise.upper = value;
    const auto fit = regression_from_moments(bounds_of(data), clamped, 0.05);
    EXPECT_TRUE(says_nothing(fit)) << i;
    EXPECT_EQ(fit[1].value, free[1].value);
    part.noise.upper = value + 1e3;
    EXPECT_FALSE(says_nothing(regression_from_moments(bounds_of(data), clamped, 0.05))) << i;
  }
  RegressionMoments endless = moments;
  endless.with_y[0].noise.scale = HUGE_VAL;
  EXPECT_TRUE(says_nothing(regression_from_moments(bounds_of(data), endless, 0.05)));
}

TEST(Regression, NumbersThatDoNotFitTogetherAreRefused) {
  const Columns data{{0, 4, 8, 16}, {-50, -25, 0, 50}};
  const auto refused = [&](const std::vector<Bounds>& bounds, const RegressionMoments& moments) {
    try {
      regression_from_moments(bounds, moments, 0.05);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument && error.parameter() == "moments";
    }
    return false;
  };
  const RegressionMoments good = centered(data, little);
  EXPECT_FALSE(refused(bounds_of(data), good));
  EXPECT_TRUE(refused({all_bounds[0]}, good));
  EXPECT_TRUE(refused({all_bounds[0]}, {}));
  for (auto list : {&RegressionMoments::firsts, &RegressionMoments::with_y, &RegressionMoments::among_x}) {
    RegressionMoments fewer = good;
    (fewer.*list).pop_back();
    EXPECT_TRUE(refused(bounds_of(data), fewer));
  }
}

}  // namespace
}  // namespace snapdp
