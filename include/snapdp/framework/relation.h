// Relations: the claim a part of a chain makes about distances. holds(d_in, d_out) may be true only if every
// pair of inputs at distance <= d_in gives outputs at distance <= d_out (or, for a measurement, privacy loss
// <= d_out).
//
// Distances and losses are exact rationals. The predicate is mandatory; the maps are optional hints:
//   forward(d_in)   some d_out with holds(d_in, d_out), as small as the author can prove
//   backward(d_out) some d_in with holds(d_in, d_out), as large as the author can prove
// (Gaboardi, Hay, Vadhan: A Programming Framework for OpenDP, 2020.)
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

  // Throws invalid_argument for a negative distance.
  bool holds(const Rational& d_in, const Rational& d_out) const;
  bool has_forward() const { return static_cast<bool>(forward_); }
  bool has_backward() const { return static_cast<bool>(backward_); }
  Rational forward(const Rational& d_in) const;
  Rational backward(const Rational& d_out) const;

  // A d_out for which the relation holds: the forward map's, else within a factor 1 + 2^-30 of the smallest
  // found by bisection (monotone relations only make it tight; it is sound for any). Absent when none up to
  // 2^1100 holds.
  std::optional<Rational> tightest(const Rational& d_in) const;

  // The relation of "first, then second". Its d_mid comes from first's forward map, else from second's
  // backward map; with neither there is nothing to try, which is a mismatch error.
  static Relation chain(const Relation& first, const Relation& second);

 private:
  Predicate predicate_;
  Map forward_;
  Map backward_;
};

}  // namespace snapdp
