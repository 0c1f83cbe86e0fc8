#include "mechanism/shared/precision_law.h"

#include <stdexcept>

namespace snapdp::mechanism_internal {
namespace {

constexpr unsigned long scales_without_shift = 1UL << 16;

// Whether nothing was rounded.
bool set(Real& target, const Dyadic& value, mpfr_rnd_t direction) {
  return mpfr_set_z_2exp(target.get(), value.mantissa().get_mpz_t(), value.exponent(), direction) == 0;
}

// Whether the last bit of x is 0.
bool is_even(const Real& x) {
  return mpfr_min_prec(x.get()) < mpfr_get_prec(x.get());
}

// The middle between x > 0 and the number of its precision before it, which is half a unit of x's last place below x, or
// a quarter below a power of two. `result` has two more bits than x: two of its own steps, smaller below a power of two.
void middle_below(const Real& x, Real& result) {
  mpfr_set(result.get(), x.get(), MPFR_RNDN);
  mpfr_nextbelow(result.get());
  mpfr_nextbelow(result.get());
}

// 2^shift e^-x, x > 0, rounded up. The exponent shift ln 2 - x is small, but a difference of numbers that need not be: it
// is enclosed, more closely until both ends give the same. They will, as e^-x is irrational.
void shifted_exponential(const Real& x, const Integer& shift, Real& result) {
  Real high(mpfr_get_prec(result.get()));
  const mpfr_prec_t least_bits =
      mpfr_get_prec(x.get()) + static_cast<mpfr_prec_t>(mpz_sizeinbase(shift.get_mpz_t(), 2)) + 64;
  for (mpfr_prec_t bits = least_bits;; bits *= 2) {
    Real exponent(bits);
    const auto evaluate = [&](mpfr_rnd_t direction, Real& to) {
      mpfr_const_log2(exponent.get(), direction);
      mpfr_mul_z(exponent.get(), exponent.get(), shift.get_mpz_t(), direction);
      mpfr_sub(exponent.get(), exponent.get(), x.get(), direction);
      mpfr_exp(to.get(), exponent.get(), MPFR_RNDU);
    };
    evaluate(MPFR_RNDD, result);
    evaluate(MPFR_RNDU, high);
    if (mpfr_equal_p(result.get(), high.get()) != 0) return;
  }
}

}  // namespace

PrecisionLaw::PrecisionLaw(const detail::PrecisionArithmetic& arithmetic, const Dyadic& half_width)
    : precision_(arithmetic.precision),
      grid_(arithmetic.grid),
      half_width_(half_width),
      outermost_(ceil(Rational(half_width.rational() / arithmetic.grid.spacing().rational()))),
      scale_(precision_),
      noise_(precision_),
      log_(precision_),
      middle_(precision_ + 2),
      near_(precision_),
      far_(precision_) {
  set(scale_, arithmetic.scale, MPFR_RNDN);
}

// RN(x + noise) reaches the boundary b exactly from the middle between b and the number before it on, where the middle
// itself goes to the even one of the two.
PrecisionLaw::Threshold PrecisionLaw::threshold(const Integer& k, const Dyadic& x) const {
  const Dyadic boundary(2 * k - 1, grid_.exponent() - 1);
  const Integer& odd = boundary.mantissa();
  const auto bits = static_cast<long>(mpz_sizeinbase(odd.get_mpz_t(), 2));
  // Half a unit in the last of p places; a quarter above a gap that is half as wide, next to a positive power of two.
  const long half_unit = boundary.exponent() + bits - precision_ - 1;
  const bool power = odd == 1;
  const Dyadic middle = boundary - Dyadic(Integer(1), power ? half_unit - 1 : half_unit);
  return {middle - x, bits < precision_};
}

// noise = RN(scale * l), l = RN(|ln U*|), to p bits. From the outside in: the least p-bit noise that is far enough, the
// least l that gives it, the largest U* that gives that, and P(U* <= u) is the p-bit number after u. That number is
// e^-middle rounded up, as e^-middle is irrational.
void PrecisionLaw::tail(const Dyadic& distance, bool reached, const Integer& shift, Real& result) {
  const bool exact = set(noise_, distance, MPFR_RNDU);
  if (exact && !reached) mpfr_nextabove(noise_.get());
  middle_below(noise_, middle_);
  const bool tie = mpfr_div(log_.get(), middle_.get(), scale_.get(), MPFR_RNDU) == 0;
  if (tie && !is_even(noise_)) mpfr_nextabove(log_.get());
  middle_below(log_, middle_);
  if (shift != 0) return shifted_exponential(middle_, shift, result);
  mpfr_neg(middle_.get(), middle_.get(), MPFR_RNDN);
  mpfr_exp(result.get(), middle_.get(), MPFR_RNDU);
}

// The logarithm of the tail to base 2, about: it is less than 2^(p-5).
Integer PrecisionLaw::shift_at(const Dyadic& distance) {
  set(noise_, distance, MPFR_RNDD);
  mpfr_div(log_.get(), noise_.get(), scale_.get(), MPFR_RNDD);
  Integer shift = 0;
  if (mpfr_cmp_ui(log_.get(), scales_without_shift) < 0) return shift;
  mpfr_const_log2(noise_.get(), MPFR_RNDN);
  mpfr_div(log_.get(), log_.get(), noise_.get(), MPFR_RNDD);
  mpfr_get_z(shift.get_mpz_t(), log_.get(), MPFR_RNDD);
  return shift;
}

Integer PrecisionLaw::probability(const Integer& k, const Dyadic& x, Real& result) {
  // The law is that of x + S * noise with noise > 0: P(index >= k) is half a tail, or 1 less half a tail.
  const bool has_lower = k > -outermost_;
  const bool has_upper = k < outermost_;
  const Threshold lower = has_lower ? threshold(k, x) : Threshold{-1, false};
  const Threshold upper = has_upper ? threshold(k + 1, x) : Threshold{1, false};
  Integer shift = 0;
  if (has_lower && lower.distance.sign() > 0) {
    // Both boundaries, or one, above x.
    shift = shift_at(lower.distance);
    tail(lower.distance, lower.reached, shift, near_);
    if (has_upper) {
      tail(upper.distance, upper.reached, shift, far_);
      mpfr_sub(result.get(), near_.get(), far_.get(), MPFR_RNDN);
    } else {
      mpfr_set(result.get(), near_.get(), MPFR_RNDN);
    }
  } else if (has_upper && upper.distance.sign() < 0) {
    shift = shift_at(-upper.distance);
    tail(-upper.distance, !upper.reached, shift, near_);
    if (has_lower) {
      tail(-lower.distance, !lower.reached, shift, far_);
      mpfr_sub(result.get(), near_.get(), far_.get(), MPFR_RNDN);
    } else {
      mpfr_set(result.get(), near_.get(), MPFR_RNDN);
    }
  } else {
    // x lies inside: all but the tails on both sides, of which one beyond a boundary at x itself is 1.
    mpfr_set_ui(result.get(), 2, MPFR_RNDN);
    for (const bool above : {false, true}) {
      if (above ? !has_upper : !has_lower) continue;
      const Threshold& boundary = above ? upper : lower;
      if (boundary.distance.sign() == 0) {
        mpfr_sub_ui(result.get(), result.get(), 1, MPFR_RNDN);
        continue;
      }
      tail(above ? boundary.distance : -boundary.distance, above == boundary.reached, shift, near_);
      mpfr_sub(result.get(), result.get(), near_.get(), MPFR_RNDN);
    }
  }
  mpfr_div_2ui(result.get(), result.get(), 1, MPFR_RNDN);
  return shift;
}

Rational PrecisionLaw::probability(const Integer& k, const Dyadic& x) {
  Real result(probability_bits());
  if (probability(k, x, result) != 0) throw std::logic_error("the output is too far from the value");
  return result.rational();
}

}  // namespace snapdp::mechanism_internal
