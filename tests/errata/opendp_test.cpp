// docs/errata.md: Casacuberta, "Privacy Proofs for OpenDP: Clamping" (June 2021).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/framework/relation.h"
#include "snapdp/framework/transformation.h"

namespace snapdp::errata {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();

using Rows = std::vector<int>;

long symmetric_distance_of(const Rows& v, const Rows& w) {
  std::map<int, long> histogram;
  for (const int z : v) ++histogram[z];
  for (const int z : w) --histogram[z];
  long distance = 0;
  for (const auto& [z, count] : histogram) distance += std::labs(count);
  return distance;
}

TEST(Errata, NanIsInNoInterval) {
  const auto clamp = [](double x) { return std::max(std::min(x, 1.0), 0.0); };
  const double clamped = clamp(nan);
  EXPECT_FALSE(0 <= clamped && clamped <= 1);
  const AtomDomain with_nan{AtomType::real, false, true, std::nullopt};
  EXPECT_THROW(make_clamp(VectorDomain({with_nan}), symmetric_distance(), Bounds(0, 1)), Error);
  EXPECT_NO_THROW(make_clamp(vector_domain<double>(), symmetric_distance(), Bounds(0, 1)));
}

TEST(Errata, NanBoundsPassTheCheck) {
  const auto refused_as_written = [](double lower, double upper) { return lower > upper; };
  EXPECT_TRUE(refused_as_written(2, 1));
  for (const auto& [lower, upper] : {std::pair{nan, 1.0}, {0.0, nan}, {nan, nan}}) {
    EXPECT_FALSE(refused_as_written(lower, upper));
    EXPECT_THROW(Bounds(Dyadic(lower), Dyadic(upper)), Error);
  }
}

TEST(Errata, RelationScalesTheInputDistance) {
  const auto as_written = [](const Rational& d_in, const Rational& d_out) { return d_in <= 2 * d_out; };
  // Writing every row twice is 2-stable.
  const auto twice = [](const Rows& rows) {
    Rows out = rows;
    out.insert(out.end(), rows.begin(), rows.end());
    return out;
  };
  const Rows v{};
  const Rows w{1, 2};
  EXPECT_EQ(symmetric_distance_of(v, w), 2);
  EXPECT_TRUE(as_written(2, 1));
  EXPECT_GT(symmetric_distance_of(twice(v), twice(w)), 1);
  EXPECT_FALSE(Relation::stable(2).holds(2, 1));
  EXPECT_FALSE(Relation::stable(2).holds(2, 3));
  EXPECT_TRUE(Relation::stable(2).holds(2, 4));
}

// The Hamming distance up to the order of rows: rows to replace. Both have the same length.
long rows_to_replace(Rows v, const Rows& w) {
  std::sort(v.begin(), v.end());
  long least = static_cast<long>(v.size());
  do {
    long differing = 0;
    for (std::size_t i = 0; i < v.size(); ++i) differing += v[i] != w[i];
    least = std::min(least, differing);
  } while (std::next_permutation(v.begin(), v.end()));
  return least;
}

TEST(Errata, FactorTwoNeedsEqualSizes) {
  std::mt19937_64 engine(1);
  for (int i = 0; i < 200; ++i) {
    Rows v(engine() % 6);
    Rows w(v.size());
    for (int& z : v) z = static_cast<int>(engine() % 4);
    for (int& z : w) z = static_cast<int>(engine() % 4);
    EXPECT_EQ(symmetric_distance_of(v, w), 2 * rows_to_replace(v, w));
    // One row more, and the symmetric distance is odd: no number of replaced rows is half of it.
    w.push_back(0);
    EXPECT_EQ(symmetric_distance_of(v, w) % 2, 1);
  }
}

}  // namespace
}  // namespace snapdp::errata
