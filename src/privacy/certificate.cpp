#include "snapdp/privacy/certificate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "mechanism/shared/precision_law.h"
#include "mechanism/shared/precision_loss.h"
#include "numeric/shared/certified.h"
#include "numeric/shared/float_environment.h"
#include "privacy/loss_search.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;
using namespace mechanism_internal;
using namespace privacy_internal;

namespace {

using certified::Wide;

[[noreturn]] void refuse(const char* parameter, const std::string& message) {
  throw Error(ErrorCode::invalid_argument, parameter, message);
}

void check_bound(const char* name, const std::optional<double>& bound) {
  if (bound && !std::isfinite(*bound)) {
    refuse(name, std::string(name) + " = " + to_string(*bound) +
                     ": must be a finite number; leave it out for none");
  }
}

// Geometric noise is for integers, which differ by at least 1 and lie between integers.
void check_integers(const Noise& noise) {
  if (noise.sensitivity < Dyadic(1)) {
    refuse("sensitivity", "sensitivity = " + to_string(noise.sensitivity) +
                              ": integers differ by 1 at least; use Laplace noise for other statistics");
  }
  for (const auto& [name, bound] : {std::pair("lower", noise.lower), std::pair("upper", noise.upper)}) {
    if (bound && *bound != std::trunc(*bound))
      refuse(name, std::string(name) + " = " + to_string(*bound) +
                       ": must be an integer with geometric noise, as the statistic is one");
  }
}

void check(const Noise& noise) {
  if (noise.scale.exact() <= 0) {
    refuse("scale",
           "scale = " + to_string(noise.scale.exact()) + ": the scale of the noise must be greater than 0");
  }
  if (noise.sensitivity.sign() <= 0) {
    refuse("sensitivity", "sensitivity = " + to_string(noise.sensitivity) +
                              ": must be greater than 0; what no row can move has no loss");
  }
  if (noise.kind == NoiseKind::gaussian) {
    refuse("noise", "noise = \"gaussian\": no loss bounds it at delta 0; ask for a delta: gaussian_delta()");
  }
  check_bound("lower", noise.lower);
  check_bound("upper", noise.upper);
  if (noise.lower && noise.upper && *noise.lower >= *noise.upper) {
    refuse("lower", "lower = " + to_string(*noise.lower) + ": must be less than upper = " +
                        to_string(*noise.upper) + "; between equal bounds there is nothing to tell apart");
  }
  if (noise.coordinates == 0) refuse("coordinates", "coordinates = 0: must be at least 1");
  if (noise.kind == NoiseKind::geometric) check_integers(noise);
}

// The scale of `bits` bits, or a refusal.
Dyadic precise_scale(const Rational& scale, long bits) {
  const std::string rule =
      ": the scale of precision mode must be a number of " + std::to_string(bits) + " bits";
  const bool dyadic = mpz_popcount(scale.get_den_mpz_t()) == 1;
  if (dyadic) {
    Dyadic value = to_dyadic(scale, "scale");
    if (static_cast<long>(mpz_sizeinbase(value.mantissa().get_mpz_t(), 2)) <= bits) return value;
  }
  refuse("scale", "scale = " + to_string(scale) + rule + "; round it up, or raise the precision");
}

// ln P(noise >= x * scale), noise of the Laplace law.
Wide log_tail(const Rational& x) {
  if (x >= 0) return Wide(Rational(-x)) - log(Wide(2.0));
  return log1p(-ldexp(exp(Wide(x)), -1));
}

// The loss of the event {value + noise >= boundary} as the value moves from `from` up to `to`, in units of the scale.
// Exactly to - from while the boundary is not below `to`.
struct LossRange {
  Rational lower;
  Rational upper;
};
LossRange loss_of_tail(const Rational& boundary, const Rational& from, const Rational& to) {
  if (boundary >= to) return {to - from, to - from};
  const Wide loss = log_tail(Rational(boundary - to)) - log_tail(Rational(boundary - from));
  return {std::max(Rational(0), lower_end(loss)), std::min(Rational(to - from), upper_end(loss))};
}

// proofs/certify.md: the worst outputs are the two bounds, and the worst values start at the opposite one.
LossRange laplace_loss(const Noise& noise) {
  const Rational scale = noise.scale.exact();
  const Rational sensitivity = noise.sensitivity.rational();
  const Rational whole = sensitivity / scale;
  if (!noise.lower || !noise.upper) return {whole, whole};
  const Rational lower(*noise.lower);
  const Rational upper(*noise.upper);
  const Rational step = noise.grid.spacing().rational();
  const Rational moved = std::min(sensitivity, Rational(upper - lower));
  const Rational top = (Rational(ceil(Rational(upper / step))) - Rational(1, 2)) * step;
  const Rational bottom = (Rational(floor(Rational(lower / step))) + Rational(1, 2)) * step;
  const auto scaled = [&](const Rational& x) { return Rational(x / scale); };
  constexpr mpfr_prec_t bits = 320;
  const Wide::Precision precision(bits, false);
  const LossRange up = loss_of_tail(scaled(top), scaled(lower), scaled(lower + moved));
  const LossRange down = loss_of_tail(scaled(-bottom), scaled(-upper), scaled(-upper + moved));
  return {std::max(up.lower, down.lower), std::max(up.upper, down.upper)};
}

// Integers, whose tails beyond a bound are whole powers of q.
LossRange geometric_loss(const Noise& noise) {
  Rational moved(floor(noise.sensitivity.rational()));
  if (noise.lower && noise.upper) {
    moved = std::min(moved, Rational(Rational(*noise.upper) - Rational(*noise.lower)));
  }
  const Rational loss = moved / noise.scale.exact();
  return {loss, loss};
}

Certificate certify_precision(const Noise& noise, const CertificateEffort& effort) {
  if (!noise.lower || !noise.upper) {
    refuse(noise.lower ? "upper" : "lower",
           std::string(noise.lower ? "upper" : "lower") +
               " is missing: the loss of precision mode depends on both bounds");
  }
  if (noise.precision < PrecisionSnapping::least_precision ||
      noise.precision > PrecisionSnapping::greatest_precision) {
    refuse("precision", "precision = " + std::to_string(noise.precision) + ": must be between " +
                            std::to_string(PrecisionSnapping::least_precision) + " and " +
                            std::to_string(PrecisionSnapping::greatest_precision) + " bits");
  }
  const Dyadic half_width = scale_by_power_of_two(Dyadic(*noise.upper) - Dyadic(*noise.lower), -1);
  const Rational scale = noise.scale.exact();
  const detail::PrecisionArithmetic arithmetic{.precision = noise.precision,
                                               .scale = precise_scale(scale, noise.precision),
                                               .grid = Grid::at_least(scale)};
  if (half_width >= scale_by_power_of_two(arithmetic.scale, noise.precision - 7)) {
    refuse("precision", "precision = " + std::to_string(noise.precision) +
                            ": nothing is proved for bounds 2^" + std::to_string(noise.precision - 6) +
                            " noise scales apart or more; raise it, or take narrower bounds");
  }
  // The roundings cost most when every number takes an equal part of the sensitivity.
  const Rational numbers(Integer(static_cast<unsigned long>(noise.coordinates)));
  const Rational moved =
      std::min(Rational(noise.sensitivity.rational() / numbers), Rational(2 * half_width.rational()));
  Certificate certificate;
  certificate.precision = noise.precision;
  certificate.bound = numbers * (moved / scale + Rational(precision_loss_excess_up(arithmetic, half_width)));
  constexpr long most_pairs = 40'000;
  const long pairs = std::min(most_pairs, 250 * most_pairs / noise.precision);
  certificate.witness = numbers * largest_loss_found(arithmetic, half_width, moved,
                                                     effort.pairs.value_or(static_cast<std::size_t>(pairs)));
  if (noise.coordinates == 1)
    certificate.notes_claim = notes_loss_claim(arithmetic, noise.sensitivity.rational(), half_width);
  return certificate;
}

Rational power_of_ten(long exponent) {
  Integer power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(std::labs(exponent)));
  return exponent < 0 ? Rational(Rational(1) / power) : Rational(power);
}

// `digits` significant decimal digits of a value >= 0, rounded in the given direction.
std::string decimal(const Rational& value, long digits, bool up) {
  if (value == 0) return "0";
  // 10^(point-1) <= value < 10^point.
  long point = static_cast<long>(mpz_sizeinbase(value.get_num_mpz_t(), 10)) -
               static_cast<long>(mpz_sizeinbase(value.get_den_mpz_t(), 10)) - 1;
  while (power_of_ten(point) <= value) ++point;
  const Rational scaled = value * power_of_ten(digits - point);
  Integer whole_digits = up ? ceil(scaled) : floor(scaled);
  std::string text = whole_digits.get_str();
  if (static_cast<long>(text.size()) > digits) {  // rounded up to a power of ten
    text.pop_back();
    ++point;
  }
  constexpr long longest = 20;
  if (point > longest || point < -longest) {
    return text.substr(0, 1) + "." + text.substr(1) + "e" + std::to_string(point - 1);
  }
  if (point <= 0) return "0." + std::string(static_cast<std::size_t>(-point), '0') + text;
  const auto whole = static_cast<std::size_t>(point);
  return text.substr(0, whole) + "." + text.substr(whole);
}

long digits_of(const Certificate& certificate) {
  constexpr long least = 30;
  // The two ends differ from about 2^-precision on.
  return certificate.precision ? std::max(least, *certificate.precision * 302 / 1000 + 12) : least;
}

}  // namespace

bool Certificate::covers(const Rational& epsilon) const {
  if (bound == 0 || witness > epsilon) return false;
  return bound <= epsilon || (notes_claim && *notes_claim <= epsilon && notes_claim_holds());
}

std::string Certificate::witness_text() const {
  const FloatEnvironment environment;
  return decimal(witness, digits_of(*this), false);
}

std::string Certificate::bound_text() const {
  const FloatEnvironment environment;
  return decimal(bound, digits_of(*this), true);
}

std::string Certificate::notes_claim_text() const {
  const FloatEnvironment environment;
  return decimal(notes_claim ? *notes_claim : bound, digits_of(*this), true);
}

Certificate certify(const Noise& noise, const CertificateEffort& effort) {
  const FloatEnvironment environment;
  check(noise);
  if (noise.kind == NoiseKind::notes) return certify_precision(noise, effort);
  const LossRange ends = noise.kind == NoiseKind::geometric ? geometric_loss(noise) : laplace_loss(noise);
  Certificate certificate;
  certificate.witness = ends.lower;
  // Several numbers share the sensitivity; nothing is gained by a bound that looks at how.
  certificate.bound =
      noise.coordinates == 1 ? ends.upper : Rational(noise.sensitivity.rational() / noise.scale.exact());
  return certificate;
}

Rational precision_scale(const Rational& epsilon, const Dyadic& sensitivity, double lower, double upper,
                         long precision) {
  const FloatEnvironment environment;
  const Rational two_eta = Dyadic(Integer(1), 1 - precision).rational();
  if (epsilon <= two_eta) {
    refuse("precision", "precision = " + std::to_string(precision) + ": epsilon must be above 2^" +
                            std::to_string(1 - precision) + "; raise either");
  }
  const Dyadic half_width = scale_by_power_of_two(Dyadic(upper) - Dyadic(lower), -1);
  return notes_arithmetic(epsilon, sensitivity, half_width, precision).arithmetic.scale.rational();
}

Certificate certify(const Choice& choice, std::size_t candidates) {
  Certificate certificate;
  certificate.bound = choice.epsilon();
  // Two candidates ahead of all others by far, first equal and then as far apart as neighbors are: the second one's
  // probability of being first falls from 1/2 to e^(-epsilon / count) / 2.
  if (candidates > 1)
    certificate.witness = choice.epsilon() / Rational(Integer(static_cast<unsigned long>(choice.count())));
  return certificate;
}

Certificate compose_certificates(std::span<const Certificate> parts) {
  const FloatEnvironment environment;
  Certificate whole;
  for (const Certificate& part : parts) {
    whole.bound += part.bound;
    whole.witness = std::max(whole.witness, part.witness);
    if (part.precision) whole.precision = std::max(whole.precision.value_or(0), *part.precision);
  }
  return whole;
}

}  // namespace snapdp
