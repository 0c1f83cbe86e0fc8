// Relations: the claim a part of a chain makes about distances. holds(d_in, d_out) may be true only if every
// pair of inputs at distance <= d_in gives outputs at distance <= d_out (or, for a measurement, privacy loss
// <= d_out).
//
// Distances and losses are exact rationals. The predicate is mandatory and decides alone. The maps are hints:
//   forward map(d_in)   some d_out with holds(d_in, d_out), as small as the author can prove
//   backward map(d_out) some d_in with holds(d_in, d_out), as large as the author can prove
// A hint is never taken on trust: every distance that leaves a relation is one for which the predicate holds.
// Where a map is missing, or the predicate denies what it says, a distance is searched for. (Gaboardi, Hay,
// Vadhan: A Programming Framework for OpenDP, 2020; OpenDP's relations: "the integrity of the relation is
// upheld by the mandatory relation closure".)
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "snapdp/numeric/rational.h"

namespace snapdp {

class Relation {
 public:
  using Predicate = std::function<bool(const Rational& d_in, const Rational& d_out)>;
  using Map = std::function<Rational(const Rational&)>;

  explicit Relation(Predicate predicate, Map forward = nullptr, Map backward = nullptr);
  // The relation of a c-stable function, d_out >= c * d_in, c >= 0, with its exact maps (none backward for c
  // = 0).
  static Relation stable(const Rational& c);
  // The same for a function of which no two outputs are farther apart than `widest`: d_out >= min(c * d_in,
  // widest).
  static Relation stable_within(const Rational& c, const Rational& widest);

  // Throws invalid_argument for a negative distance.
  bool holds(const Rational& d_in, const Rational& d_out) const;

  // A d_out for which the relation holds: the forward map's when it does, else within a factor 1 + 2^-30 of
  // the smallest, found by bisection (only monotone relations make it that tight; it holds for any). Absent
  // when none up to 2^1100 holds.
  std::optional<Rational> tightest(const Rational& d_in) const;
  // The same; throws mismatch where nothing is claimed.
  Rational forward(const Rational& d_in) const;
  // A d_in for which the relation holds: the backward map's when it does, else within a factor 1 + 2^-30 of
  // the largest up to 2^1100, found likewise. Throws mismatch when none holds, not even 0.
  Rational backward(const Rational& d_out) const;

  // What the maps say, unchecked, for testers of the claim; nothing without a map.
  std::optional<Rational> forward_hint(const Rational& d_in) const;
  std::optional<Rational> backward_hint(const Rational& d_out) const;

  // The relation of "first, then second". The distance between the two is first's tightest() or, where second
  // denies that one, what its backward map says; both predicates are asked in either case.
  static Relation chain(const Relation& first, const Relation& second);

 private:
  using Hint = std::function<std::optional<Rational>(const Rational&)>;
  static Hint hint_of(Map map);
  // backward(), absent where nothing is claimed.
  std::optional<Rational> farthest(const Rational& d_out) const;

  Predicate predicate_;
  Hint forward_;
  Hint backward_;
  // The forward map gives only what the predicate holds for, as that of a chain does. To ask again at every
  // link of a chain would take twice as long for each.
  bool forward_is_checked_ = false;
};

}  // namespace snapdp
