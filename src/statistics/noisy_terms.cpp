#include "statistics/noisy_terms.h"

#include <algorithm>
#include <cmath>

#include "mechanism/shared/noise_sums.h"

namespace snapdp::statistics_internal {

using namespace mechanism_internal;

namespace {

// As if nothing were clamped: see released_freely().
ErrorLaw law_of(const NoisyPart& part) {
  ErrorLaw law(part.noise, {}, part.integer);
  law.clamped = 0;
  law.off = to_double_up(Rational(law.off) + part.rounding_error);
  return law;
}

}  // namespace

Interval exactly(const Rational& value) {
  return {value, value};
}

Interval around(const Rational& value, const Rational& distance) {
  return {value - distance, value + distance};
}

Interval negative(const Interval& a) {
  return {-a.high, -a.low};
}

std::optional<Rational> error_of(const std::vector<WeightedPart>& sum, const Rational& alpha) {
  std::vector<NoisyTerm> terms;
  for (const WeightedPart& term : sum) {
    const double weight = to_double_up(magnitude(term.weight));
    if (weight > 0) terms.push_back({law_of(*term.part), weight});
  }
  const double error = error_of_sum(terms, to_double_down(Rational(alpha / 2)));
  if (!std::isfinite(error)) return std::nullopt;
  return Rational(error);
}

bool released_freely(const NoisyPart& part) {
  return !(part.noise.lower && part.value <= Dyadic(*part.noise.lower)) &&
         !(part.noise.upper && part.value >= Dyadic(*part.noise.upper));
}

bool released_freely(std::initializer_list<const NoisyPart*> parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [](const NoisyPart* part) { return released_freely(*part); });
}

std::optional<EnclosedMean> mean_of(const Bounds& bounds, const NoisyPart& count, const NoisyPart& sum,
                                    const Rational& alpha) {
  const Rational n = count.value.rational();
  if (n < 1 || !released_freely({&count, &sum})) return std::nullopt;
  const Rational half = bounds.width().rational() / 2;
  const Rational estimate = sum.value.rational() / n;
  Interval m{-half, half};
  for (int i = 0; i < enclosing_rounds; ++i) {
    const std::optional<Rational> error = error_of({{&sum, exactly(1)}, {&count, m}}, alpha);
    if (!error) return std::nullopt;
    const std::optional<Interval> next = intersection({-half, half}, around(estimate, Rational(*error / n)));
    if (!next) return std::nullopt;
    m = *next;
  }
  return EnclosedMean{m, estimate, std::max(Rational(m.high - estimate), Rational(estimate - m.low))};
}

}  // namespace snapdp::statistics_internal
