#include "mechanism/shared/precision_loss.h"

#include <algorithm>

#include "mechanism/secret.h"
#include "numeric/shared/certified.h"

namespace snapdp::mechanism_internal {

using namespace numeric_internal;

namespace {

Rational power_of_two(long exponent) {
  return Dyadic(Integer(1), exponent).rational();
}

// `value` to `precision` bits in the given direction.
Dyadic rounded(const Rational& value, long precision, mpfr_rnd_t direction) {
  SecretReal result(precision);
  mpfr_set_q(result.get(), value.get_mpq_t(), direction);
  return result.dyadic();
}

}  // namespace

NotesArithmetic notes_arithmetic(const Rational& epsilon, const Dyadic& sensitivity, const Dyadic& half_width,
                                 long precision, std::size_t coordinates) {
  const Rational eta = power_of_two(-precision) * Integer(static_cast<unsigned long>(coordinates));
  const Rational ratio = half_width.rational() / sensitivity.rational();
  return arithmetic_of((epsilon - 2 * eta) / (1 + 12 * ratio * eta), sensitivity, precision);
}

NotesArithmetic arithmetic_of(const Rational& inner_epsilon, const Dyadic& sensitivity, long precision) {
  NotesArithmetic result;
  result.inner_epsilon = rounded(inner_epsilon, precision, MPFR_RNDD);
  result.arithmetic.precision = precision;
  result.arithmetic.scale =
      rounded(sensitivity.rational() / result.inner_epsilon.rational(), precision, MPFR_RNDU);
  result.arithmetic.grid = Grid::at_least(result.arithmetic.scale.rational());
  return result;
}

Rational notes_loss_claim(const detail::PrecisionArithmetic& arithmetic, const Rational& sensitivity,
                          const Dyadic& half_width) {
  const Rational eta = power_of_two(-arithmetic.precision);
  return (sensitivity + 12 * half_width.rational() * eta) / arithmetic.scale.rational() + 2 * eta;
}

// With kappa and mu as in the proof, a tail of the noise is at most 1 + kappa and at least 1 - mu times that of the
// Laplace law; q is the largest ratio of two tails a step of the grid apart.
double precision_loss_excess_up(const detail::PrecisionArithmetic& arithmetic, const Dyadic& half_width) {
  const Rational eta = power_of_two(-arithmetic.precision);
  const Rational scale = arithmetic.scale.rational();
  const Rational step = arithmetic.grid.spacing().rational();
  const Rational width = half_width.rational();
  // The farthest boundary between two outputs: (K - 1/2) grid with K = ceil(B / grid).
  const Rational farthest = (Rational(ceil(Rational(width / step))) - Rational(1, 2)) * step;
  const Rational reach = (farthest * (1 + eta) + width) / scale;
  const Rational least_step = (step - eta * farthest) / scale;
  const Rational up_exponent = reach * (2 * eta + eta * eta) / ((1 + eta) * (1 + eta)) + 2 * eta;
  const Rational down_exponent = reach * (2 * eta - eta * eta) / ((1 - eta) * (1 - eta));
  if (2 * width <= step * (1 - eta)) {
    // Three outputs: two tails, and 0, whose cell holds every value, a distance of at least nearest * scale inside.
    const Rational nearest = ((1 - eta) * step / 2 - width) / scale;
    return certified::certify([&](auto zero) {
      using Real = decltype(zero);
      const Real kappa = expm1(Real(up_exponent));
      const Real mu = -expm1(Real(Rational(-down_exponent)));
      // Laplace's mass outside the cell of 0 is convex in the value, largest at a bound.
      const Real outside = ldexp(
          exp(Real(Rational(-nearest))) + exp(Real(Rational(-(step / 2 + width - eta * step) / scale))), -1);
      const Real odds = outside / (Real(1.0) - outside);
      const double tails = round_up(log1p(kappa) - log1p(-mu), 0);
      const double middle = round_up(log1p(mu * odds) - log1p(-(kappa * odds)), 0);
      return std::max(tails, middle);
    });
  }
  return certified::certify([&](auto zero) {
    using Real = decltype(zero);
    const Real kappa = expm1(Real(up_exponent));
    const Real mu = -expm1(Real(Rational(-down_exponent)));
    const Real q = exp(Real(Rational(-least_step)));
    const Real rest = -expm1(Real(Rational(-least_step)));
    // A cell on one side of the value, and the cell around it.
    const Real around_up = Real(Rational((eta + 2 * eta * eta) * Rational(3, 2))) / rest;  // 4 / e < 3/2
    const Real around_down =
        Real(Rational(2 * eta * (1 + 8 * eta))) * (Real(1.0) + q * Real(Rational(1 + least_step))) / rest;
    const Real up = (kappa + q * mu) / rest;
    const Real down = (mu + q * kappa) / rest;
    const double worst_up = std::max(round_up(log1p(up), 0), round_up(log1p(around_up), 0));
    const double worst_down = std::max(round_up(-log1p(-down), 0), round_up(-log1p(-around_down), 0));
    return to_double_up(Rational(worst_up) + Rational(worst_down));
  });
}

}  // namespace snapdp::mechanism_internal
