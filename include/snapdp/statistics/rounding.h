// The grid of a statistic, and how far apart its values are on it: for aggregations of one's own.
//
//   const Rational c(1, 3);                       // neighbors' exact values are at most that far apart
//   const Grid grid = statistic_grid(c);          // 2^-42
//   const Rational d = rounded_sensitivity(c, grid);
//   // 1/3 rounded up to a multiple of 2^-42; the aggregation that rounds to the grid has
//   // StatisticDomain{1, grid} and Relation::stable(d).
#pragma once

#include <cstddef>

#include "snapdp/numeric/grid.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

// The largest power of two <= sensitivity * 2^-40, to which real statistics are rounded. Throws
// invalid_argument naming "sensitivity" unless it is greater than 0.
Grid statistic_grid(const Rational& sensitivity);

// The least L1 distance that holds for values rounded to the grid g when the exact ones are vectors of
// `dimension` >= 1 numbers at most `sensitivity` apart; 0 for 0. Throws invalid_argument naming "sensitivity"
// when it is negative.
//
// With round(x) = g floor(x / g + 1/2), two numbers d > 0 apart are rounded to multiples of g that are less
// than d + g apart. Together those of k numbers that differ are less than s + k g apart, and a multiple of g:
// at most s rounded up to a multiple, and k - 1 steps. It scales: datasets n steps from neighbor to neighbor
// apart give values at most n times that apart.
Rational rounded_sensitivity(const Rational& sensitivity, Grid grid, std::size_t dimension = 1);

}  // namespace snapdp
