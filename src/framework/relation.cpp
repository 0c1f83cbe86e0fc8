#include "snapdp/framework/relation.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "snapdp/error.h"

namespace snapdp {
namespace {

void require_distance(const Rational& distance, const char* name) {
  if (distance < 0) {
    throw Error(ErrorCode::invalid_argument, name,
                std::string(name) + " = " + to_string(distance) + ": a distance or loss is at least 0");
  }
}

// Distances are searched for from 2^-reach to 2^reach.
constexpr long reach = 1100;

Rational power_of_two(long exponent) {
  const Integer power = Integer(1) << static_cast<unsigned long>(std::abs(exponent));
  return exponent >= 0 ? Rational(power) : Rational(Integer(1), power);
}

// Two distances within a factor 1 + 2^-30 with beyond(first) false and beyond(second) true, for a property that is false
// at 2^-reach and true at 2^reach. The number of steps is fixed, so any property ends the search.
std::pair<Rational, Rational> change(const std::function<bool(const Rational&)>& beyond) {
  long low = -reach;
  long high = reach;
  while (high - low > 1) {
    const long middle = low + (high - low) / 2;
    (beyond(power_of_two(middle)) ? high : low) = middle;
  }
  std::pair<Rational, Rational> ends(power_of_two(low), power_of_two(high));
  constexpr int halvings = 31;
  for (int step = 0; step < halvings; ++step) {
    Rational middle = (ends.first + ends.second) / 2;
    (beyond(middle) ? ends.second : ends.first) = std::move(middle);
  }
  return ends;
}

// A small distance for which `holds` is true.
std::optional<Rational> search_small(const std::function<bool(const Rational&)>& holds) {
  if (holds(0)) return Rational(0);
  if (!holds(power_of_two(reach))) return std::nullopt;
  if (holds(power_of_two(-reach))) return power_of_two(-reach);
  return change(holds).second;
}

// A large distance for which `holds` is true.
std::optional<Rational> search_large(const std::function<bool(const Rational&)>& holds) {
  if (holds(power_of_two(reach))) return power_of_two(reach);
  if (holds(power_of_two(-reach)))
    return change([&](const Rational& distance) { return !holds(distance); }).first;
  if (holds(0)) return Rational(0);
  return std::nullopt;
}

[[noreturn]] void refuse_nothing_claimed(const std::string& distance) {
  throw Error(ErrorCode::mismatch, "relation",
              "relation: it holds for no distance at " + distance +
                  ", so that nothing is claimed there; correct its predicate");
}

}  // namespace

Relation::Relation(Predicate predicate, Map forward, Map backward)
    : predicate_(std::move(predicate)),
      forward_(hint_of(std::move(forward))),
      backward_(hint_of(std::move(backward))) {
  if (!predicate_) {
    throw Error(ErrorCode::invalid_argument, "relation",
                "relation: the predicate is mandatory; only the maps may be left out");
  }
}

Relation::Hint Relation::hint_of(Map map) {
  if (!map) return nullptr;
  return [map = std::move(map)](const Rational& distance) { return std::optional<Rational>(map(distance)); };
}

Relation Relation::stable(const Rational& c) {
  require_distance(c, "stability");
  return Relation([c](const Rational& d_in, const Rational& d_out) { return d_out >= c * d_in; },
                  [c](const Rational& d_in) { return Rational(c * d_in); },
                  c == 0 ? Map() : [c](const Rational& d_out) { return Rational(d_out / c); });
}

Relation Relation::stable_within(const Rational& c, const Rational& widest) {
  require_distance(c, "stability");
  require_distance(widest, "widest");
  const auto apart = [c, widest](const Rational& d_in) { return std::min(Rational(c * d_in), widest); };
  return Relation([apart](const Rational& d_in, const Rational& d_out) { return d_out >= apart(d_in); },
                  apart, c == 0 ? Map() : [c](const Rational& d_out) { return Rational(d_out / c); });
}

bool Relation::holds(const Rational& d_in, const Rational& d_out) const {
  require_distance(d_in, "d_in");
  require_distance(d_out, "d_out");
  return predicate_(d_in, d_out);
}

std::optional<Rational> Relation::forward_hint(const Rational& d_in) const {
  require_distance(d_in, "d_in");
  return forward_ ? forward_(d_in) : std::nullopt;
}

std::optional<Rational> Relation::backward_hint(const Rational& d_out) const {
  require_distance(d_out, "d_out");
  return backward_ ? backward_(d_out) : std::nullopt;
}

std::optional<Rational> Relation::tightest(const Rational& d_in) const {
  std::optional<Rational> hint = forward_hint(d_in);
  if (hint && (forward_is_checked_ || (*hint >= 0 && predicate_(d_in, *hint)))) return hint;
  return search_small([&](const Rational& d_out) { return predicate_(d_in, d_out); });
}

Rational Relation::forward(const Rational& d_in) const {
  std::optional<Rational> d_out = tightest(d_in);
  if (!d_out) refuse_nothing_claimed("d_in = " + to_string(d_in));
  return *std::move(d_out);
}

std::optional<Rational> Relation::farthest(const Rational& d_out) const {
  std::optional<Rational> hint = backward_hint(d_out);
  if (hint && *hint >= 0 && predicate_(*hint, d_out)) return hint;
  return search_large([&](const Rational& d_in) { return predicate_(d_in, d_out); });
}

Rational Relation::backward(const Rational& d_out) const {
  std::optional<Rational> d_in = farthest(d_out);
  if (!d_in) refuse_nothing_claimed("d_out = " + to_string(d_out));
  return *std::move(d_in);
}

Relation Relation::chain(const Relation& first, const Relation& second) {
  // Shared, as each of the functions below would otherwise copy the whole chain.
  struct Links {
    Relation first;
    Relation second;
  };
  const auto links = std::make_shared<const Links>(Links{first, second});
  Relation chained([links](const Rational& d_in, const Rational& d_out) {
    const std::optional<Rational> d_mid = links->first.tightest(d_in);
    if (d_mid && links->second.predicate_(*d_mid, d_out)) return true;
    const std::optional<Rational> hint = links->second.backward_hint(d_out);
    return hint && *hint >= 0 && links->first.predicate_(d_in, *hint) &&
           links->second.predicate_(*hint, d_out);
  });
  chained.forward_is_checked_ = true;
  chained.forward_ = [links](const Rational& d_in) {
    const std::optional<Rational> d_mid = links->first.tightest(d_in);
    return d_mid ? links->second.tightest(*d_mid) : std::nullopt;
  };
  if (first.backward_ && second.backward_) {
    chained.backward_ = [links](const Rational& d_out) {
      const std::optional<Rational> d_mid = links->second.farthest(d_out);
      return d_mid ? links->first.farthest(*d_mid) : std::nullopt;
    };
  }
  return chained;
}

}  // namespace snapdp
