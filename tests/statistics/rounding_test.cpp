#include "snapdp/statistics/rounding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "snapdp/error.h"

namespace snapdp {
namespace {

Rational part(long numerator) {
  Rational value(numerator, 12);
  value.canonicalize();
  return value;
}

constexpr long most_apart = 30;

// The farthest that two numbers are rounded that are so many twelfths apart, wherever they lie.
std::vector<Rational> farthest_numbers(Grid grid) {
  std::vector<Rational> all;
  for (long apart = 0; apart <= most_apart; ++apart) {
    Rational most = 0;
    for (long place = -24; place <= 24; ++place) {
      const Dyadic moved = grid.round(part(place + apart)) - grid.round(part(place));
      most = std::max(most, moved.rational());
    }
    all.push_back(most);
  }
  return all;
}

// The same of vectors so far apart in L1, by every way to share that out.
std::vector<Rational> farthest_vectors(const std::vector<Rational>& numbers, std::size_t dimension) {
  std::vector<Rational> all = numbers;
  for (std::size_t i = 1; i < dimension; ++i) {
    const std::vector<Rational> fewer = all;
    for (std::size_t apart = 0; apart < all.size(); ++apart) {
      for (std::size_t first = 0; first <= apart; ++first)
        all[apart] = std::max(all[apart], Rational(numbers[first] + fewer[apart - first]));
    }
  }
  return all;
}

TEST(Rounding, SensitivityIsTheFarthestThatRoundedValuesAreApart) {
  for (const Grid grid : {Grid(-2), Grid(-1), Grid(0), Grid(1)}) {
    const std::vector<Rational> numbers = farthest_numbers(grid);
    for (const std::size_t dimension : {1U, 2U, 3U}) {
      const std::vector<Rational> found = farthest_vectors(numbers, dimension);
      for (std::size_t apart = 0; apart < found.size(); ++apart)
        EXPECT_LE(found[apart], rounded_sensitivity(part(static_cast<long>(apart)), grid, dimension));
      // It is the least: attained where each number is a twelfth beyond a step of the grid.
      const std::size_t beyond = 24 + dimension;
      EXPECT_EQ(found[beyond], rounded_sensitivity(part(static_cast<long>(beyond)), grid, dimension));
    }
  }
}

TEST(Rounding, DistancesOfSeveralStepsAreMultiples) {
  for (long apart = 1; apart <= 30; ++apart) {
    for (long steps = 1; steps <= 4; ++steps) {
      EXPECT_LE(rounded_sensitivity(part(steps * apart), Grid(-1), 3),
                Rational(steps * rounded_sensitivity(part(apart), Grid(-1), 3)));
    }
  }
}

TEST(Rounding, GridIsThatOfTheStatistics) {
  EXPECT_EQ(statistic_grid(1), Grid(-40));
  EXPECT_EQ(statistic_grid(part(4)), Grid(-42));
  EXPECT_EQ(statistic_grid(part(12 * 1000)), Grid(-31));
  EXPECT_EQ(rounded_sensitivity(0, Grid(3), 5), 0);
  EXPECT_EQ(rounded_sensitivity(part(4), Grid(-1)), part(6));
  EXPECT_EQ(rounded_sensitivity(part(4), Grid(-1), 3), part(18));
}

TEST(Rounding, RefusesWhatIsNoDistance) {
  for (const Rational& wrong : {Rational(0), Rational(-1)}) EXPECT_THROW(statistic_grid(wrong), Error);
  EXPECT_THROW(rounded_sensitivity(-1, Grid(0)), Error);
}

}  // namespace
}  // namespace snapdp
