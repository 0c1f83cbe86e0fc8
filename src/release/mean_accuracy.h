// Accuracy of a mean that is the quotient of two noisy parts, a centered sum and a count.
//
// Let N >= 1 rows lie in [c - h, c + h], S = sum of (x - c) and m = S / N, so |m| <= h. With probability at
// least 1 - alpha both parts are good (union bound, alpha/2 each): |S' - S| <= a_s and |N' - N| <= a_n. For
// N' > 0
//
//     S'/N' - m = ((S' - S) - m (N' - N)) / N',   so   |S'/N' - m| <= (|m| a_n + a_s) / N'.              (1)
//
// Before the release N' >= N - a_n and |m| <= h give (h a_n + a_s) / (N - a_n). After it, N' is known and |m|
// is at most h, and also at most |S'/N'| + e for the error e itself; putting that into (1) and solving for e
// gives e <= (|S'/N'| a_n + a_s) / (N' - a_n) when N' > a_n. Clamping to [c - h, c + h], where m + c lies,
// can only reduce the error, and no error exceeds the distance from the released mean to the farther bound.
// The mean is rounded to the nearest double, which adds what it adds. When N' < 1 the midpoint is released.
#pragma once

#include <cstdint>

#include "snapdp/framework/domain.h"

namespace snapdp {

// Before the release, for `size` rows; rounded up.
double planned_mean_accuracy(const Bounds& bounds, std::uint64_t size, double sum_accuracy,
                             double count_accuracy);

// After the release of these noisy parts; rounded up.
double released_mean_accuracy(const Bounds& bounds, const Dyadic& centered_sum, const Dyadic& count,
                              double sum_accuracy, double count_accuracy);

}  // namespace snapdp
