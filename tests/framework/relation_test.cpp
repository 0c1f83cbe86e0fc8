#include "snapdp/framework/relation.h"

#include <gtest/gtest.h>

#include <vector>

#include "snapdp/error.h"

namespace snapdp {
namespace {

TEST(Relation, OfAStableFunction) {
  const Relation twice = Relation::stable(2);
  EXPECT_TRUE(twice.holds(3, 6));
  EXPECT_FALSE(twice.holds(3, Rational(599, 100)));
  EXPECT_EQ(twice.forward(3), 6);
  EXPECT_EQ(twice.backward(6), 3);
  EXPECT_TRUE(Relation::stable(0).holds(1000, 0));
  EXPECT_FALSE(Relation::stable(0).has_backward());
  EXPECT_THROW(twice.holds(-1, 6), Error);
  EXPECT_THROW(twice.holds(1, -6), Error);
  EXPECT_THROW(Relation::stable(-1), Error);
  EXPECT_THROW(Relation(nullptr), Error);
}

TEST(Relation, BisectionFindsTheTightestDistanceAndAlwaysEnds) {
  const auto above = [](const Rational& least) {
    return Relation([least](const Rational&, const Rational& d_out) { return d_out >= least; });
  };
  for (const Rational& least :
       std::vector<Rational>{Rational(101, 100), 1, Rational(1, 3), Rational(Integer(1) << 1000),
                             1 / Rational(Integer(1) << 1000)}) {
    const std::optional<Rational> found = above(least).tightest(1);
    ASSERT_TRUE(found.has_value());
    EXPECT_GE(*found, least);
    EXPECT_LE(*found, least * (1 + Rational(1, 1 << 30)));
  }
  EXPECT_EQ(Relation([](const Rational&, const Rational&) { return true; }).tightest(1), Rational(0));
  EXPECT_FALSE(Relation([](const Rational&, const Rational&) { return false; }).tightest(1).has_value());
  EXPECT_FALSE(above(Rational(Integer(1) << 1200)).tightest(1).has_value());
  // Not monotone: whatever comes back holds.
  const Relation odd(
      [](const Rational&, const Rational& d_out) { return floor(d_out) % 2 != 0 || d_out > 1000; });
  const std::optional<Rational> found = odd.tightest(1);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(odd.holds(1, *found));
}

TEST(Relation, ChainsThroughAMiddleDistance) {
  const Relation chained = Relation::chain(Relation::stable(2), Relation::stable(Rational(1, 3)));
  EXPECT_TRUE(chained.holds(3, 2));
  EXPECT_FALSE(chained.holds(3, Rational(19, 10)));
  EXPECT_EQ(chained.forward(3), 2);
  EXPECT_EQ(chained.backward(2), 3);

  const Relation bare([](const Rational& d_in, const Rational& d_out) { return d_out >= 5 * d_in; });
  // The hint comes from the second part's backward map, else from the first part's forward map.
  const Relation backwards = Relation::chain(bare, Relation::stable(2));
  EXPECT_FALSE(backwards.has_forward());
  EXPECT_TRUE(backwards.holds(1, 10));
  EXPECT_FALSE(backwards.holds(1, 9));
  EXPECT_TRUE(Relation::chain(Relation::stable(2), bare).holds(1, 10));
  EXPECT_THROW(Relation::chain(bare, bare), Error);
}

}  // namespace
}  // namespace snapdp
