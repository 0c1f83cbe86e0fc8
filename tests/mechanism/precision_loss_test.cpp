// The privacy loss of precision mode, computed from its exact law on small formats: it must not exceed what the
// mechanism states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mechanism/precision_oracle.h"
#include "mechanism/precision_slow_path.h"
#include "snapdp/mechanism/precision_snapping.h"

namespace snapdp {
namespace {

using precision_oracle::power_of_two;

// ln x for x > 0, to a double's accuracy also next to 1.
double log_of(const Rational& x) {
  const Rational rest = x - 1;
  return std::log1p(rest.get_d());
}

// The law of an output before "c +", from U* in increasing order: U* is U cut off, so P(U* < u) = u for every u of p
// bits.
class ExactLaw {
 public:
  explicit ExactLaw(const PrecisionSnapping& mechanism)
      : p_(mechanism.precision()),
        grid_(power_of_two(mechanism.grid().exponent())),
        half_width_(mechanism.half_width().rational()) {
    // K = ceil(B / grid): indices from K up are the upper bound.
    outermost_ = Integer(-precision_oracle::floor_of(Rational(-half_width_ / grid_))).get_si();
    // From here down, noise leads beyond the bounds from every value.
    const Rational scale = mechanism.exact_scale().rational();
    const double farthest = Rational((2 * half_width_ + 2 * grid_) / scale).get_d();
    const long least_exponent = -static_cast<long>(farthest / std::log(2.0)) - 2;
    for (long e = least_exponent; e < 0; ++e) {
      for (long m = 1L << (p_ - 1); m < 1L << p_; ++m) {
        const Rational u = m * power_of_two(e - p_ + 1);
        uniforms_.push_back(u);
        noise_.push_back(precision_oracle::noise_of(u, scale, p_));
      }
    }
    uniforms_.push_back(1);
  }

  // The probabilities of -B, -(K-1), ..., K-1, B times grid.
  std::vector<Rational> operator()(const Rational& x) const {
    std::vector<Rational> at_least = {1};
    for (long k = 1 - outermost_; k <= outermost_; ++k) at_least.push_back(upper_tail(x, k));
    at_least.push_back(0);
    std::vector<Rational> probabilities;
    for (std::size_t i = 0; i + 1 < at_least.size(); ++i) {
      probabilities.push_back(at_least[i] - at_least[i + 1]);
    }
    return probabilities;
  }

  // Values of the statistic, centered, at which thresholds lie, and others.
  std::vector<Rational> interesting_values() const {
    std::vector<Rational> values;
    for (long i = -4 * outermost_; i <= 4 * outermost_; ++i) {
      const Rational x = i * grid_ / 4;
      for (const Rational& value : {x, Rational(x + grid_ * Rational(1, 77))}) {
        if (::abs(value) <= half_width_) values.push_back(value);
      }
    }
    values.push_back(half_width_);
    values.push_back(-half_width_);
    return values;
  }

 private:
  // P(index >= k). The index increases with U* for S = +1 and decreases for S = -1.
  Rational upper_tail(const Rational& x, long k) const {
    std::size_t plus = 0;  // the first with an index >= k
    for (std::size_t end = noise_.size(); plus < end;) {
      const std::size_t middle = (plus + end) / 2;
      if (index(x, false, middle) >= k) {
        end = middle;
      } else {
        plus = middle + 1;
      }
    }
    std::size_t minus = 0;  // the first with an index < k
    for (std::size_t end = noise_.size(); minus < end;) {
      const std::size_t middle = (minus + end) / 2;
      if (index(x, true, middle) < k) {
        end = middle;
      } else {
        minus = middle + 1;
      }
    }
    return (1 - uniforms_[plus] + uniforms_[minus]) / 2;
  }
  Integer index(const Rational& x, bool minus, std::size_t i) const {
    return precision_oracle::index_of(x, minus, noise_[i], grid_, p_);
  }

  long p_;
  Rational grid_;
  Rational half_width_;
  long outermost_;
  std::vector<Rational> uniforms_;
  std::vector<Rational> noise_;
};

struct Case {
  long precision;
  Rational epsilon;
  double half_width;
  bool proved;  // the proved bound is within epsilon
};

TEST(PrecisionLoss, IsAtMostWhatIsStated) {
  // Just above the least width and near the greatest, steps of the grid that are one scale and two.
  const std::vector<Case> cases = {{8, Rational(1), 1.25, false},     {8, Rational(1, 2), 4, false},
                                   {9, Rational(1), 4.25, false},     {9, Rational(17, 16), 3, true},
                                   {10, Rational(1), 7, true},        {10, Rational(9, 16), 4, false},
                                   {11, Rational(33, 32), 14.5, true}};
  for (const Case& each : cases) {
    const PrecisionSnapping mechanism({.epsilon = each.epsilon,
                                       .sensitivity = Dyadic(1),
                                       .lower = -each.half_width,
                                       .upper = each.half_width,
                                       .precision = each.precision});
    const ExactLaw law(mechanism);
    double worst = 0;
    for (const Rational& x : law.interesting_values()) {
      const std::vector<Rational> here = law(x);
      for (const Rational& distance : {Rational(1), Rational(-1)}) {
        Rational y = x + distance;
        if (y > mechanism.half_width().rational()) y = mechanism.half_width().rational();
        if (y < -mechanism.half_width().rational()) y = -mechanism.half_width().rational();
        const std::vector<Rational> there = law(y);
        ASSERT_EQ(here.size(), there.size());
        for (std::size_t i = 0; i < here.size(); ++i) {
          ASSERT_GT(here[i], 0);
          worst = std::max(worst, log_of(here[i] / there[i]));
        }
      }
    }
    const double proved = mechanism.loss_bound().get_d();
    const double claimed = mechanism.notes_claim().get_d();
    const double inner = Rational(1 / mechanism.exact_scale().rational()).get_d();
    RecordProperty("loss", std::to_string(worst));
    EXPECT_LE(worst, proved) << each.precision << " " << each.half_width;
    // Not proved, but never seen to fail.
    EXPECT_LE(worst, claimed);
    EXPECT_LE(mechanism.notes_claim(), mechanism.epsilon());
    EXPECT_EQ(mechanism.epsilon_is_proved(), each.proved);
    // The computation sees the loss: Laplace noise of this scale alone has Delta / scale.
    EXPECT_GT(worst, 0.98 * inner);
  }
}

}  // namespace
}  // namespace snapdp
