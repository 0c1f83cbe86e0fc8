#include "snapdp/framework/relation.h"

#include "snapdp/error.h"

namespace snapdp {
namespace {

void require_distance(const Rational& distance, const char* name) {
  if (distance < 0) {
    throw Error(ErrorCode::invalid_argument, name,
                std::string(name) + " = " + to_string(distance) + ": a distance or loss is at least 0");
  }
}

Rational power_of_two(unsigned long exponent) {
  return Rational(Integer(1) << exponent);
}

}  // namespace

Relation::Relation(Predicate predicate, Map forward, Map backward)
    : predicate_(std::move(predicate)), forward_(std::move(forward)), backward_(std::move(backward)) {
  if (!predicate_) {
    throw Error(ErrorCode::invalid_argument, "relation",
                "relation: the predicate is mandatory; only the maps may be left out");
  }
}

Relation Relation::stable(const Rational& c) {
  require_distance(c, "stability");
  return Relation([c](const Rational& d_in, const Rational& d_out) { return d_out >= c * d_in; },
                  [c](const Rational& d_in) { return Rational(c * d_in); },
                  c == 0 ? Map() : [c](const Rational& d_out) { return Rational(d_out / c); });
}

bool Relation::holds(const Rational& d_in, const Rational& d_out) const {
  require_distance(d_in, "d_in");
  require_distance(d_out, "d_out");
  return predicate_(d_in, d_out);
}

Rational Relation::forward(const Rational& d_in) const {
  require_distance(d_in, "d_in");
  if (!forward_)
    throw Error(ErrorCode::mismatch, "relation", "relation: it has no forward map; use tightest()");
  return forward_(d_in);
}

Rational Relation::backward(const Rational& d_out) const {
  require_distance(d_out, "d_out");
  if (!backward_) throw Error(ErrorCode::mismatch, "relation", "relation: it has no backward map");
  return backward_(d_out);
}

std::optional<Rational> Relation::tightest(const Rational& d_in) const {
  if (forward_) return forward(d_in);
  if (holds(d_in, 0)) return Rational(0);
  // Find [below, above] with holds(above), a factor of 2 apart, from 2^-1100 to 2^1100; then bisect. Every
  // step count is fixed, so any predicate ends the search, and only a value that holds is returned.
  constexpr long reach = 1100;
  std::optional<Rational> above;
  Rational below = 0;
  long low = -reach;
  long high = reach;
  const auto at = [](long exponent) {
    return exponent >= 0 ? power_of_two(static_cast<unsigned long>(exponent))
                         : Rational(1 / power_of_two(static_cast<unsigned long>(-exponent)));
  };
  if (!holds(d_in, at(high))) return std::nullopt;
  above = at(high);
  if (holds(d_in, at(low))) return at(low);
  while (high - low > 1) {
    const long middle = low + (high - low) / 2;
    if (holds(d_in, at(middle))) {
      high = middle;
      above = at(middle);
    } else {
      low = middle;
    }
  }
  below = at(low);
  for (int step = 0; step < 31; ++step) {
    const Rational middle = (below + *above) / 2;
    if (holds(d_in, middle)) {
      above = middle;
    } else {
      below = middle;
    }
  }
  return above;
}

Relation Relation::chain(const Relation& first, const Relation& second) {
  Map forward;
  Map backward;
  if (first.has_forward() && second.has_forward()) {
    forward = [first, second](const Rational& d_in) { return second.forward(first.forward(d_in)); };
  }
  if (first.has_backward() && second.has_backward()) {
    backward = [first, second](const Rational& d_out) { return first.backward(second.backward(d_out)); };
  }
  if (first.has_forward()) {
    return Relation(
        [first, second](const Rational& d_in, const Rational& d_out) {
          const Rational d_mid = first.forward(d_in);
          return first.holds(d_in, d_mid) && second.holds(d_mid, d_out);
        },
        std::move(forward), std::move(backward));
  }
  if (second.has_backward()) {
    return Relation(
        [first, second](const Rational& d_in, const Rational& d_out) {
          const Rational d_mid = second.backward(d_out);
          return first.holds(d_in, d_mid) && second.holds(d_mid, d_out);
        },
        std::move(forward), std::move(backward));
  }
  throw Error(
      ErrorCode::mismatch, "relation",
      "relation: chaining needs a distance between the two parts, from the forward map of the first or the "
      "backward map of the second; give one of them a map");
}

}  // namespace snapdp
