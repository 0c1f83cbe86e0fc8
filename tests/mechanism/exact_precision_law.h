// The exact law of precision mode on small formats: every U* there is, one after the other.
#pragma once

#include <cmath>
#include <vector>

#include "mechanism/precision_oracle.h"
#include "snapdp/numeric/grid.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

// The law of an output before "c +", from U* in increasing order: U* is U cut off, so P(U* < u) = u for every u of p
// bits.
class ExactPrecisionLaw {
 public:
  ExactPrecisionLaw(long precision, const Rational& scale, Grid grid, const Rational& half_width)
      : p_(precision), grid_(precision_oracle::power_of_two(grid.exponent())), half_width_(half_width) {
    // K = ceil(B / grid): indices from K up are the upper bound.
    outermost_ = Integer(-precision_oracle::floor_of(Rational(-half_width_ / grid_))).get_si();
    // From here down, noise leads beyond the bounds from every value.
    const double farthest = Rational((2 * half_width_ + 2 * grid_) / scale).get_d();
    const long least_exponent = -static_cast<long>(farthest / std::log(2.0)) - 2;
    for (long e = least_exponent; e < 0; ++e) {
      for (long m = 1L << (p_ - 1); m < 1L << p_; ++m) {
        const Rational u = m * precision_oracle::power_of_two(e - p_ + 1);
        uniforms_.push_back(u);
        noise_.push_back(precision_oracle::noise_of(u, scale, p_));
      }
    }
    uniforms_.push_back(1);
  }

  long outermost() const { return outermost_; }

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

}  // namespace snapdp
