// See proofs/regression.md, whose letters these are: M the matrix of the x, v their moments with y, b = W v the
// coefficients with W the inverse of M, D what the coefficients may be off.
#include "snapdp/statistics/regression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "numeric/shared/float_environment.h"
#include "snapdp/statistics/from_parts.h"
#include "statistics/construction.h"
#include "statistics/noisy_terms.h"

namespace snapdp {

using namespace numeric_internal;
using namespace statistics_internal;

namespace {

using Vector = std::vector<Rational>;
using Matrix = std::vector<Vector>;

// a^-1 right, by elimination without exchanges. Nothing unless all pivots are above 0: these are ratios of leading
// minors, so for symmetric matrices that is to be positive definite, and for those without a positive number off the
// diagonal to be an M-matrix, whose inverse has no negative number.
std::optional<Matrix> solved(Matrix a, Matrix right) {
  const std::size_t size = a.size();
  for (std::size_t pivot = 0; pivot < size; ++pivot) {
    if (a[pivot][pivot] <= 0) return std::nullopt;
    for (std::size_t row = 0; row < size; ++row) {
      if (row == pivot || a[row][pivot] == 0) continue;
      const Rational times = a[row][pivot] / a[pivot][pivot];
      for (std::size_t i = pivot; i < size; ++i) a[row][i] -= times * a[pivot][i];
      for (std::size_t i = 0; i < right[row].size(); ++i) right[row][i] -= times * right[pivot][i];
    }
  }
  for (std::size_t row = 0; row < size; ++row) {
    for (Rational& number : right[row]) number /= a[row][row];
  }
  return right;
}

// |value| rounded up to a double, which keeps fractions short; nothing beyond the doubles.
std::optional<Rational> short_magnitude(const Rational& value) {
  const double rounded = to_double_up(abs(value));
  if (!std::isfinite(rounded)) return std::nullopt;
  return Rational(rounded);
}

Rational middle_of(const Bounds& bounds) {
  return (bounds.lower() + bounds.upper()).rational() / 2;
}

// What is computed of the moments as they were released.
struct NoisyFit {
  Vector means;         // of y, x1, ... less the middles
  Matrix inverse;       // W
  Vector coefficients;  // of x1, ...
  Rational intercept;
};

// How far the exact fit may be from it.
struct FitErrors {
  Vector coefficients;
  Rational intercept;
};

// Column 0 is y.
class Regression {
 public:
  Regression(const std::vector<Bounds>& bounds, const RegressionMoments& moments)
      : bounds_(bounds), moments_(moments), x_count_(moments.with_y.size()) {
    const bool fits = x_count_ > 0 && bounds.size() == x_count_ + 1 &&
                      moments.firsts.size() == x_count_ + 1 &&
                      moments.among_x.size() == x_count_ * (x_count_ + 1) / 2;
    if (!fits) {
      refuse("moments",
             "of p columns x there must be p + 1 bounds, p + 1 firsts, p moments with y and "
             "p (p + 1) / 2 among x; give as many");
    }
  }

  // Nothing where the moments are those of no data.
  std::optional<NoisyFit> fit() const {
    if (moments_.count && moments_.count->value < Dyadic(2)) return std::nullopt;
    NoisyFit fit;
    for (std::size_t i = 0; i <= x_count_; ++i) fit.means.push_back(mean(i));
    Matrix matrix(x_count_, Vector(x_count_));
    Matrix right(x_count_, Vector(x_count_ + 1));  // the unit matrix and v
    for (std::size_t i = 0; i < x_count_; ++i) {
      for (std::size_t j = 0; j < x_count_; ++j) matrix[i][j] = moment(i + 1, j + 1, fit.means);
      right[i][i] = 1;
      right[i][x_count_] = moment(i + 1, 0, fit.means);
    }
    std::optional<Matrix> solution = solved(std::move(matrix), std::move(right));
    if (!solution) return std::nullopt;
    fit.intercept = middle_of(bounds_[0]) + fit.means[0];
    for (std::size_t i = 0; i < x_count_; ++i) {
      fit.coefficients.push_back((*solution)[i].back());
      fit.intercept -= fit.coefficients[i] * (middle_of(bounds_[i + 1]) + fit.means[i + 1]);
      (*solution)[i].pop_back();
    }
    fit.inverse = *std::move(solution);
    return fit;
  }

  // Nothing where nothing can be said.
  std::optional<FitErrors> errors(const NoisyFit& fit, const Rational& alpha) const {
    if (!released_freely_all()) return std::nullopt;
    const std::size_t enclosed = x_count_ + 1 + x_count_ * (x_count_ + 3) / 2;
    const Rational each = alpha * enclosing_share / static_cast<unsigned long>(enclosed);
    const std::optional<std::vector<EnclosedMean>> means = enclosed_means(each);
    if (!means) return std::nullopt;
    std::optional<Vector> off = enclosing_errors(fit, *means, each);
    const Rational own = alpha * (1 - enclosing_share) / static_cast<unsigned long>(x_count_ + 1);
    std::optional<Rational> of_means;
    for (int i = 0; i < own_rounds && off; ++i) {
      of_means = residual_errors(fit, *means, own, *off);
      if (!of_means) return std::nullopt;
    }
    if (!off) return std::nullopt;
    FitErrors errors{*off, *of_means};
    for (std::size_t i = 0; i < x_count_; ++i)
      errors.intercept +=
          errors.coefficients[i] * abs(Rational(middle_of(bounds_[i + 1]) + fit.means[i + 1]));
    return errors;
  }

 private:
  static constexpr int own_rounds = 2;
  using Weights = std::map<const NoisyPart*, Interval>;

  const NoisyPart& second(std::size_t i, std::size_t j) const {
    if (i > j) std::swap(i, j);
    if (i == 0) return moments_.with_y[j - 1];
    // Rows of the upper triangle have x_count_, x_count_ - 1, ... numbers.
    const std::size_t row = i - 1;
    return moments_.among_x[row * x_count_ - row * (row + 1) / 2 + j - 1];
  }

  Rational mean(std::size_t i) const {
    const Rational first = moments_.firsts[i].value.rational();
    if (!moments_.count) return first - middle_of(bounds_[i]);
    return first / moments_.count->value.rational();
  }

  Rational moment(std::size_t i, std::size_t j, const Vector& means) const {
    Rational released = second(i, j).value.rational();
    if (!moments_.count) return released;
    return released - moments_.count->value.rational() * means[i] * means[j];
  }

  bool released_freely_all() const {
    const auto free = [](const NoisyPart& part) { return released_freely(part); };
    return (!moments_.count || free(*moments_.count)) &&
           std::all_of(moments_.firsts.begin(), moments_.firsts.end(), free) &&
           std::all_of(moments_.with_y.begin(), moments_.with_y.end(), free) &&
           std::all_of(moments_.among_x.begin(), moments_.among_x.end(), free);
  }

  // For means that were released themselves.
  static std::optional<EnclosedMean> released_mean(const Bounds& bounds, const NoisyPart& mean,
                                                   const Rational& alpha) {
    const std::optional<Rational> error = error_of({{&mean, exactly(1)}}, alpha);
    if (!error) return std::nullopt;
    const Rational half = bounds.width().rational() / 2;
    const Rational estimate = mean.value.rational() - middle_of(bounds);
    const std::optional<Interval> m = intersection({-half, half}, around(estimate, *error));
    if (!m) return std::nullopt;
    return EnclosedMean{*m, estimate, *error};
  }

  std::optional<std::vector<EnclosedMean>> enclosed_means(const Rational& alpha) const {
    std::vector<EnclosedMean> means;
    for (std::size_t i = 0; i <= x_count_; ++i) {
      const NoisyPart& first = moments_.firsts[i];
      const std::optional<EnclosedMean> mean = moments_.count
                                                   ? mean_of(bounds_[i], *moments_.count, first, alpha)
                                                   : released_mean(bounds_[i], first, alpha);
      if (!mean) return std::nullopt;
      means.push_back(*mean);
    }
    return means;
  }

  static void add(Weights& weights, const NoisyPart& part, const Interval& weight) {
    const auto [known, is_new] = weights.emplace(&part, weight);
    if (!is_new) known->second = known->second + weight;
  }

  static std::optional<Rational> error_of_weights(const Weights& weights, const Rational& alpha) {
    std::vector<WeightedPart> sum;
    for (const auto& [part, weight] : weights) sum.push_back({part, weight});
    return error_of(sum, alpha);
  }

  // What the noisy moment of columns i and j may be off.
  std::optional<Rational> moment_error(std::size_t i, std::size_t j, const std::vector<EnclosedMean>& means,
                                       const Rational& alpha) const {
    Weights weights;
    add(weights, second(i, j), exactly(1));
    if (!moments_.count) return error_of_weights(weights, alpha);
    add(weights, moments_.firsts[i], means[j].enclosure);
    add(weights, moments_.firsts[j], means[i].enclosure);
    add(weights, *moments_.count, means[i].enclosure * means[j].enclosure);
    const std::optional<Rational> error = error_of_weights(weights, alpha);
    if (!error) return std::nullopt;
    return short_magnitude(*error + moments_.count->value.rational() * means[i].error * means[j].error);
  }

  // The D that the errors of single moments allow: (I - |W| A) D <= |W| (a + A |b|).
  std::optional<Vector> enclosing_errors(const NoisyFit& fit, const std::vector<EnclosedMean>& means,
                                         const Rational& alpha) const {
    Matrix of_matrix(x_count_, Vector(x_count_));  // A
    Vector residuals(x_count_);                    // a + A |b|
    for (std::size_t i = 0; i < x_count_; ++i) {
      for (std::size_t j = i; j < x_count_; ++j) {
        const std::optional<Rational> error = moment_error(i + 1, j + 1, means, alpha);
        if (!error) return std::nullopt;
        of_matrix[i][j] = of_matrix[j][i] = *error;
      }
      const std::optional<Rational> error = moment_error(i + 1, 0, means, alpha);
      if (!error) return std::nullopt;
      residuals[i] = *error;
    }
    for (std::size_t i = 0; i < x_count_; ++i) {
      for (std::size_t j = 0; j < x_count_; ++j) residuals[i] += of_matrix[i][j] * abs(fit.coefficients[j]);
    }
    Matrix system(x_count_, Vector(x_count_));
    Matrix right(x_count_, Vector(1));
    for (std::size_t i = 0; i < x_count_; ++i) {
      for (std::size_t j = 0; j < x_count_; ++j) {
        Rational product;
        for (std::size_t k = 0; k < x_count_; ++k) product += abs(fit.inverse[i][k]) * of_matrix[k][j];
        const std::optional<Rational> rounded = short_magnitude(product);
        if (!rounded) return std::nullopt;
        system[i][j] = Rational(i == j ? 1 : 0) - *rounded;
        right[i][0] += abs(fit.inverse[i][j]) * residuals[j];
      }
      const std::optional<Rational> rounded = short_magnitude(right[i][0]);
      if (!rounded) return std::nullopt;
      right[i][0] = *rounded;
    }
    const std::optional<Matrix> solution = solved(std::move(system), std::move(right));
    if (!solution) return std::nullopt;
    Vector off;
    for (const Vector& row : *solution) {
      const std::optional<Rational> rounded = short_magnitude(row[0]);
      if (!rounded) return std::nullopt;
      off.push_back(*rounded);
    }
    return off;
  }

  // The same from the joint law: for the exact coefficients each residual moment is one sum of noises. Makes `off`
  // smaller, and returns what the mean of y less the fit of the mean of x may be off.
  std::optional<Rational> residual_errors(const NoisyFit& fit, const std::vector<EnclosedMean>& means,
                                          const Rational& alpha, Vector& off) const {
    // Of the residual y - b1 x1 - ...: the weights of its columns, and its mean.
    std::vector<Interval> weights{exactly(1)};
    for (std::size_t i = 0; i < x_count_; ++i)
      weights.push_back(negative(around(fit.coefficients[i], off[i])));
    Interval mean = exactly(0);
    for (std::size_t i = 0; i <= x_count_; ++i) mean = mean + weights[i] * means[i].enclosure;
    Weights of_mean;
    for (std::size_t i = 0; i <= x_count_; ++i) add(of_mean, moments_.firsts[i], weights[i]);
    if (moments_.count) add(of_mean, *moments_.count, mean);
    const std::optional<Rational> mean_error = error_of_weights(of_mean, alpha);
    if (!mean_error) return std::nullopt;
    Vector residuals;
    for (std::size_t i = 1; i <= x_count_; ++i) {
      Weights of_moment;
      for (std::size_t j = 0; j <= x_count_; ++j) add(of_moment, second(i, j), weights[j]);
      if (moments_.count) {
        const Interval& m = means[i].enclosure;
        for (std::size_t j = 0; j <= x_count_; ++j) add(of_moment, moments_.firsts[j], m * weights[j]);
        add(of_moment, moments_.firsts[i], mean);
        add(of_moment, *moments_.count, m * mean);
      }
      std::optional<Rational> error = error_of_weights(of_moment, alpha);
      if (!error) return std::nullopt;
      if (moments_.count) *error += means[i].error * *mean_error;
      residuals.push_back(*error);
    }
    for (std::size_t i = 0; i < x_count_; ++i) {
      Rational error;
      for (std::size_t j = 0; j < x_count_; ++j) error += abs(fit.inverse[i][j]) * residuals[j];
      const std::optional<Rational> rounded = short_magnitude(error);
      if (rounded) off[i] = std::min(off[i], *rounded);
    }
    return moments_.count ? Rational(*mean_error / moments_.count->value.rational()) : *mean_error;
  }

  const std::vector<Bounds>& bounds_;
  const RegressionMoments& moments_;
  std::size_t x_count_;
};

constexpr double infinity = std::numeric_limits<double>::infinity();

RegressionCoefficient unknown(double value) {
  return {value, -infinity, infinity};
}

RegressionCoefficient coefficient(const Rational& value, const std::optional<Rational>& error) {
  const double nearest = to_double_nearest(value);
  if (!error) return unknown(nearest);
  return {nearest, to_double_down(Rational(value - *error)), to_double_up(Rational(value + *error))};
}

}  // namespace

std::vector<RegressionCoefficient> regression_from_moments(const std::vector<Bounds>& bounds,
                                                           const RegressionMoments& moments,
                                                           const FailureRate& alpha) {
  const FloatEnvironment environment;
  const Regression regression(bounds, moments);
  std::vector<RegressionCoefficient> coefficients;
  if (const std::optional<NoisyFit> fit = regression.fit()) {
    const std::optional<FitErrors> errors = regression.errors(*fit, alpha.value());
    const auto add = [&](const Rational& value, const Rational* error) {
      coefficients.push_back(coefficient(value, error != nullptr ? std::optional(*error) : std::nullopt));
    };
    add(fit->intercept, errors ? &errors->intercept : nullptr);
    for (std::size_t i = 0; i < fit->coefficients.size(); ++i)
      add(fit->coefficients[i], errors ? &errors->coefficients[i] : nullptr);
    const bool are_doubles =
        std::all_of(coefficients.begin(), coefficients.end(),
                    [](const RegressionCoefficient& one) { return std::isfinite(one.value); });
    if (are_doubles) return coefficients;
  }
  // A mean of two rows or more, clamped to the bounds; in the middle of them for fewer.
  const NoisyPart& first = moments.firsts.front();
  const Dyadic rows = moments.count ? moments.count->value : Dyadic(1);
  const Dyadic sum = moments.count ? first.value : first.value - bounds.front().middle();
  coefficients.assign(bounds.size(), unknown(0));
  coefficients.front() = unknown(mean_from_parts(bounds.front(), rows, sum));
  return coefficients;
}

}  // namespace snapdp
