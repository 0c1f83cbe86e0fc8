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
  EXPECT_EQ(Relation::stable(0).backward_hint(5), std::nullopt);
  EXPECT_TRUE(Relation::stable(0).holds(Relation::stable(0).backward(5), 5));
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
  EXPECT_TRUE(backwards.holds(1, 10));
  EXPECT_FALSE(backwards.holds(1, 9));
  EXPECT_TRUE(Relation::chain(Relation::stable(2), bare).holds(1, 10));
  // With no hint at all a distance is searched for, and is off by a factor 1 + 2^-30 at each link.
  const Relation both = Relation::chain(bare, bare);
  EXPECT_FALSE(both.holds(1, Rational(2499, 100)));
  EXPECT_TRUE(both.holds(1, Rational(2501, 100)));
  EXPECT_TRUE(both.holds(1, both.forward(1)));
}

bool doubles(const Rational& d_in, const Rational& d_out) {
  return d_out >= 2 * d_in;
}
Rational half(const Rational& distance) {
  return distance / 2;
}
Rational same(const Rational& distance) {
  return distance;
}
Rational twice(const Rational& distance) {
  return 2 * distance;
}
Rational negative(const Rational&) {
  return -1;
}

// A map that says what its predicate denies is not believed, wherever it is asked.
TEST(Relation, DoesNotBelieveAHintThatThePredicateDenies) {
  for (const Relation::Map& lie : {Relation::Map(same), Relation::Map(half), Relation::Map(negative)}) {
    const Relation lying(doubles, lie);
    EXPECT_EQ(lying.forward_hint(1), lie(1));
    for (const Rational& d_in : std::vector<Rational>{1, 3, Rational(1, 7)}) {
      EXPECT_GE(lying.forward(d_in), 2 * d_in);
      EXPECT_LE(lying.forward(d_in), 2 * d_in * (1 + Rational(1, 1 << 30)));
      EXPECT_EQ(lying.tightest(d_in), lying.forward(d_in));
      EXPECT_TRUE(lying.holds(d_in, lying.forward(d_in)));
    }
  }
  for (const Relation::Map& lie : {Relation::Map(same), Relation::Map(twice), Relation::Map(negative)}) {
    const Relation lying(doubles, twice, lie);
    EXPECT_EQ(lying.backward_hint(8), lie(8));
    EXPECT_LE(lying.backward(8), 4);
    EXPECT_GE(lying.backward(8), 4 * (1 - Rational(1, 1 << 30)));
    EXPECT_TRUE(lying.holds(lying.backward(8), 8));
  }
  // A true hint is taken as it is, even where a smaller distance would do.
  EXPECT_EQ(Relation(doubles, [](const Rational& d) { return Rational(3 * d); }).forward(1), 3);
  EXPECT_EQ(Relation(doubles, nullptr, [](const Rational& d) { return Rational(d / 3); }).backward(6), 2);
}

TEST(Relation, ChainsAskEveryPredicate) {
  const Relation lying(doubles, same, twice);
  const Relation honest = Relation::stable(3);
  for (const Relation& chained : {Relation::chain(lying, honest), Relation::chain(honest, lying)}) {
    EXPECT_FALSE(chained.holds(1, 3));
    EXPECT_FALSE(chained.holds(1, Rational(599, 100)));
    EXPECT_TRUE(chained.holds(1, chained.forward(1)));
    EXPECT_EQ(chained.forward_hint(1), chained.forward(1));
    EXPECT_GE(chained.forward(1), 6);
    EXPECT_LE(chained.forward(1), Rational(601, 100));
    EXPECT_LE(chained.backward(6), 1);
    EXPECT_GE(chained.backward(6), Rational(99, 100));
    EXPECT_TRUE(chained.holds(chained.backward(6), 6));
  }
  // A lie deep inside, behind an honest middle, and as the distance between two parts without a forward map.
  const Relation deep = Relation::chain(honest, Relation::chain(Relation::chain(honest, lying), honest));
  EXPECT_GE(deep.forward(1), 54);
  EXPECT_FALSE(deep.holds(1, 27));
  const Relation bare(doubles);
  const Relation middle = Relation::chain(bare, Relation(doubles, nullptr, twice));
  EXPECT_FALSE(middle.holds(1, 2));
  EXPECT_FALSE(middle.holds(1, Rational(39, 10)));
  EXPECT_TRUE(middle.holds(1, Rational(41, 10)));
}

TEST(Relation, ClaimsNothingWhereItsPredicateHoldsForNothing) {
  const Relation never([](const Rational&, const Rational&) { return false; }, same, same);
  EXPECT_EQ(never.tightest(1), std::nullopt);
  EXPECT_THROW(never.forward(1), Error);
  EXPECT_THROW(never.backward(1), Error);
  for (const Relation& chained :
       {Relation::chain(never, Relation::stable(1)), Relation::chain(Relation::stable(1), never)}) {
    EXPECT_EQ(chained.tightest(1), std::nullopt);
    EXPECT_FALSE(chained.holds(1, 1000));
    EXPECT_THROW(chained.backward(1), Error);
  }
  // Only equal inputs are claimed anything of.
  const Relation equal([](const Rational& d_in, const Rational&) { return d_in == 0; }, same, same);
  EXPECT_EQ(equal.backward(7), 0);
}

TEST(Relation, OfOutputsThatCannotBeFartherApart) {
  const Relation within = Relation::stable_within(2, 5);
  EXPECT_EQ(within.forward(2), 4);
  EXPECT_EQ(within.forward(100), 5);
  EXPECT_TRUE(within.holds(100, 5));
  EXPECT_FALSE(within.holds(100, Rational(49, 10)));
  EXPECT_FALSE(within.holds(2, Rational(39, 10)));
  EXPECT_TRUE(within.holds(within.backward(3), 3));
  EXPECT_EQ(Relation::stable_within(0, 5).forward(9), 0);
  EXPECT_THROW(Relation::stable_within(1, -1), Error);
}

// Long chains are asked in a time that grows with their length, not doubled by each link.
TEST(Relation, OfALongChain) {
  Relation chain = Relation::stable(1);
  for (int link = 0; link < 200; ++link) {
    chain = link % 2 == 0 ? Relation::chain(chain, Relation(doubles, same))
                          : Relation::chain(Relation::stable(Rational(1, 2)), chain);
  }
  EXPECT_GE(chain.forward(1), 1);
  EXPECT_LE(chain.forward(1), Rational(101, 100));
  EXPECT_TRUE(chain.holds(1, chain.forward(1)));
}

}  // namespace
}  // namespace snapdp
