// Intervals of exact rationals, which enclose what exact statistics may be when noisy parts are known.
#pragma once

#include <optional>

#include "snapdp/framework/domain.h"

namespace snapdp::statistics_internal {

struct Interval {
  Rational low;
  Rational high;
};

Interval operator+(const Interval& a, const Interval& b);
Interval operator-(const Interval& a, const Interval& b);
Interval operator*(const Interval& a, const Interval& b);
// b.low > 0.
Interval operator/(const Interval& a, const Interval& b);
Interval square(const Interval& a);
// The largest |x|.
Rational magnitude(const Interval& a);
// Nothing when the two do not meet.
std::optional<Interval> intersection(const Interval& a, const Interval& b);

// The distance from the released number to the farther end of what is left of the range, rounded up.
double half_width(double released, const Interval& range, const std::optional<Interval>& enclosure);

// The square root, not above it and by a factor of less than 1 + 2^-64 below it, with what must be added to be above.
struct Root {
  Rational low;
  Rational high;
};
Root root(const Rational& value);

// (b - a)(d - c) / 2: the largest covariance of two or more rows, that of two rows at opposite corners.
Rational largest_covariance(const Bounds& x, const Bounds& y);
Interval variance_range(const Bounds& bounds);
Interval covariance_range(const Bounds& x, const Bounds& y);

// What a result of at most this size may move when it is rounded to the nearest double.
Rational largest_rounding(const Rational& largest);

}  // namespace snapdp::statistics_internal
