// The normal distribution in certified arithmetic.
#include <string.h>  // explicit_bzero

#include <array>
#include <cmath>
#include <vector>

#include "numeric/shared/certified.h"
#include "numeric/shared/normal_tail.h"

namespace snapdp::numeric_internal::certified {

namespace {

// Tails are also computed of secret numbers.
class WipedReal : public Real {
 public:
  using Real::Real;
  WipedReal(const WipedReal&) = delete;
  WipedReal(WipedReal&&) = default;
  WipedReal& operator=(const WipedReal&) = delete;
  ~WipedReal() { explicit_bzero(mpfr_custom_get_significand(get()), mpfr_custom_get_size(bits())); }
};

// P(0 <= Z <= z), z >= 0, by a series of positive terms that takes about z^2 of them:
//   phi(z) (z + z^3 / 3 + z^5 / (3 5) + ...),  phi(z) = e^(-z^2/2) / sqrt(2 pi).
// To so many bits that `bits` are left when it is taken from 1/2.
struct Ends {
  WipedReal low;
  WipedReal high;
};

Ends mass_by_series(mpfr_srcptr z, mpfr_prec_t bits) {
  constexpr mpfr_rnd_t near = MPFR_RNDN;
  const double size = mpfr_get_d(z, near);
  const auto work = bits + static_cast<mpfr_prec_t>(size * size * 0.73) + 32;
  Ends result{WipedReal(work), WipedReal(work)};
  if (mpfr_zero_p(z) != 0) {
    mpfr_set_zero(result.low.get(), 1);
    mpfr_set_zero(result.high.get(), 1);
    return result;
  }
  WipedReal square(work);
  WipedReal term(work);
  WipedReal sum(work);
  mpfr_sqr(square.get(), z, near);
  mpfr_set(term.get(), z, near);
  mpfr_set(sum.get(), term.get(), near);
  unsigned long count = 1;
  // Until the ratio of terms is below 1/2 and a term below an ulp of the sum: then so is all that is left out.
  for (;; ++count) {
    mpfr_mul(term.get(), term.get(), square.get(), near);
    mpfr_div_ui(term.get(), term.get(), 2 * count + 1, near);
    mpfr_add(sum.get(), sum.get(), term.get(), near);
    const bool falls = static_cast<double>(2 * count + 1) > 2 * size * size + 2;
    if (falls && (mpfr_zero_p(term.get()) != 0 ||
                  mpfr_get_exp(term.get()) < mpfr_get_exp(sum.get()) - static_cast<mpfr_exp_t>(work) - 1))
      break;
  }
  WipedReal density(work);
  mpfr_div_2ui(square.get(), square.get(), 1, near);
  mpfr_neg(square.get(), square.get(), near);
  mpfr_exp(density.get(), square.get(), near);
  mpfr_mul(sum.get(), sum.get(), density.get(), near);
  mpfr_const_pi(density.get(), near);
  mpfr_mul_2ui(density.get(), density.get(), 1, near);
  mpfr_sqrt(density.get(), density.get(), near);
  mpfr_div(sum.get(), sum.get(), density.get(), near);
  // Roundings, each a relative 2^-work: three a term, of which they are at most those of the last, z^2 / 2 of z^2 in the
  // exponential, a few at the end, and what the series leaves out.
  WipedReal error(64);
  mpfr_set_d(error.get(), 4 * static_cast<double>(count) + size * size + 32, MPFR_RNDU);
  mpfr_mul(error.get(), error.get(), sum.get(), MPFR_RNDU);
  mpfr_div_2ui(error.get(), error.get(), static_cast<unsigned long>(work), MPFR_RNDU);
  mpfr_sub(result.low.get(), sum.get(), error.get(), MPFR_RNDD);
  mpfr_add(result.high.get(), sum.get(), error.get(), MPFR_RNDU);
  return result;
}

// Beyond it the tail is below 2^-(5 10^8), the smallest that MPFR's exponents, as they are by default, leave room for.
constexpr double farthest = 27'000;

// Whether the asymptotic expansion in mpfr_erfc serves for z >= 0.
bool is_far(double z, mpfr_prec_t bits) {
  return z * z > 1.4 * static_cast<double>(bits) + 64;
}

// A bound of P(Z >= z), z >= 0, on the side that `direction` says.
void tail_bound(mpfr_ptr result, mpfr_srcptr z, mpfr_rnd_t direction) {
  const mpfr_prec_t bits = mpfr_get_prec(result);
  const double size = mpfr_get_d(z, MPFR_RNDN);
  if (size > farthest) {
    mpfr_set_ui_2exp(result, direction == MPFR_RNDU ? 1 : 0, -500'000'000, direction);
    return;
  }
  if (is_far(size, bits)) {
    WipedReal x(bits + 16);
    const mpfr_rnd_t other = direction == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU;
    mpfr_set_ui(x.get(), 2, MPFR_RNDN);
    mpfr_sqrt(x.get(), x.get(),
              direction);  // a larger divisor makes the argument smaller and the tail larger
    mpfr_div(x.get(), z, x.get(), other);
    mpfr_erfc(result, x.get(), direction);
    mpfr_div_2ui(result, result, 1, direction);
    return;
  }
  const Ends mass = mass_by_series(z, bits);
  WipedReal half(8);
  mpfr_set_d(half.get(), 0.5, MPFR_RNDN);
  mpfr_sub(result, half.get(), direction == MPFR_RNDU ? mass.low.get() : mass.high.get(), direction);
}

}  // namespace

}  // namespace snapdp::numeric_internal::certified

void snapdp::numeric_internal::normal_tail_bound(mpfr_ptr result, mpfr_srcptr z, mpfr_rnd_t direction) {
  if (mpfr_sgn(z) >= 0) return certified::tail_bound(result, z, direction);
  certified::WipedReal minus(mpfr_get_prec(z));
  mpfr_neg(minus.get(), z, MPFR_RNDN);
  certified::tail_bound(result, minus.get(), direction == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU);
  mpfr_ui_sub(result, 1, result, direction);
}

namespace snapdp::numeric_internal::certified {

Wide normal_tail(const Wide& a) {
  Wide result;
  normal_tail_bound(result.low_.get(), a.high_.get(), MPFR_RNDD);
  normal_tail_bound(result.high_.get(), a.low_.get(), MPFR_RNDU);
  return result;
}

Wide normal_mass(const Wide& a) {
  if (mpfr_sgn(a.low_.get()) < 0) throw Undecided();
  Wide result;
  if (mpfr_cmp_d(a.high_.get(), 2) > 0) return Wide(0.5) - normal_tail(a);
  const Ends least = mass_by_series(a.low_.get(), Wide::bits());
  const Ends most = mass_by_series(a.high_.get(), Wide::bits());
  mpfr_set(result.low_.get(), least.low.get(), MPFR_RNDD);
  mpfr_set(result.high_.get(), most.high.get(), MPFR_RNDU);
  return result;
}

Wide Wide::pi() {
  Wide result;
  mpfr_const_pi(result.low_.get(), MPFR_RNDD);
  mpfr_const_pi(result.high_.get(), MPFR_RNDU);
  return result;
}

namespace {

// A function of slope at most 1 in magnitude at [low, high], narrow.
template <typename Function>
void gentle(mpfr_ptr low, mpfr_ptr high, mpfr_srcptr a_low, mpfr_srcptr a_high, Function function) {
  Real width(64);
  mpfr_sub(width.get(), a_high, a_low, MPFR_RNDU);
  function(low, a_low, MPFR_RNDD);
  function(high, a_low, MPFR_RNDU);
  mpfr_sub(low, low, width.get(), MPFR_RNDD);
  mpfr_add(high, high, width.get(), MPFR_RNDU);
}

}  // namespace

Wide sin_of_turns(const Wide& a) {
  const Wide angle = ldexp(Wide::pi() * a, 1);
  Wide result;
  gentle(result.low_.get(), result.high_.get(), angle.low_.get(), angle.high_.get(), mpfr_sin);
  return result;
}

Wide cos_of_turns(const Wide& a) {
  const Wide angle = ldexp(Wide::pi() * a, 1);
  Wide result;
  gentle(result.low_.get(), result.high_.get(), angle.low_.get(), angle.high_.get(), mpfr_cos);
  return result;
}

Wide widened(const Wide& a, const Wide& by) {
  Wide result;
  mpfr_sub(result.low_.get(), a.low_.get(), by.high_.get(), MPFR_RNDD);
  mpfr_add(result.high_.get(), a.high_.get(), by.high_.get(), MPFR_RNDU);
  return result;
}

// ---- Fast ----

namespace {

using internal::Pair;

// P(Z >= x) = e^(-x^2/2) M(x), M(x) = integral of e^(-x t - t^2/2) dt / sqrt(2 pi) over t > 0. M is expanded at the
// nearest multiple of 1/8, |d| <= 1/16:  M(x + d) = sum of c_n d^n,  n! c_n = M^(n)(x), of alternating signs, as
// M^(n)(x) = integral of (-t)^n e^(-x t - t^2/2) dt / sqrt(2 pi);  M' = x M - 1/sqrt(2 pi),  M^(n+1) = x M^(n) + n M^(n-1).
constexpr int nodes_per_unit = 8;
constexpr int nodes = 23 * nodes_per_unit + 1;  // the tail beyond 23 is below 2^-386
constexpr int precise_terms = 10;               // as double-doubles
constexpr int terms = 20;

struct Expansion {
  std::array<Pair, precise_terms> precise;         // c_0 ... c_9, off by less than 2^-105 of each
  std::array<double, terms - precise_terms> rest;  // c_10 ... c_19, to the nearest double
  double left_out;                                 // at least what is left out, |c_20(x - 1/16)| / 16^20
  double rest_error;                               // at least what the roundings of the rest lose
};

Pair pair_of(mpfr_srcptr value) {
  Real rest(600);
  const double hi = mpfr_get_d(value, MPFR_RNDN);
  mpfr_sub_d(rest.get(), value, hi, MPFR_RNDN);
  return {hi, mpfr_get_d(rest.get(), MPFR_RNDN)};
}

// c_0 ... c_count at x >= 0, with 600 bits: the recursion cancels less than 2^250 up to x = 23 and n = 20, and 1/2 - mass
// another 2^382 of what it has more of.
std::vector<Real> coefficients(double x) {
  constexpr mpfr_prec_t bits = 600;
  constexpr mpfr_rnd_t near = MPFR_RNDN;
  std::vector<Real> c(terms + 1, Real(bits));
  Real at(bits);
  Real t(bits);
  mpfr_set_d(at.get(), x, near);
  mpfr_set_d(t.get(), 0.5, near);
  const Ends mass = mass_by_series(at.get(), bits);
  mpfr_sub(c[0].get(), t.get(), mass.low.get(), near);
  mpfr_sqr(t.get(), at.get(), near);
  mpfr_div_2ui(t.get(), t.get(), 1, near);
  mpfr_exp(t.get(), t.get(), near);
  mpfr_mul(c[0].get(), c[0].get(), t.get(), near);
  mpfr_const_pi(t.get(), near);
  mpfr_mul_2ui(t.get(), t.get(), 1, near);
  mpfr_rec_sqrt(t.get(), t.get(), near);
  mpfr_mul(c[1].get(), c[0].get(), at.get(), near);
  mpfr_sub(c[1].get(), c[1].get(), t.get(), near);
  // (n + 1) c_(n+1) = x c_n + c_(n-1).
  for (unsigned long n = 1; n < terms; ++n) {
    mpfr_mul(t.get(), c[n].get(), at.get(), near);
    mpfr_add(t.get(), t.get(), c[n - 1].get(), near);
    mpfr_div_ui(c[n + 1].get(), t.get(), n + 1, near);
  }
  return c;
}

const std::array<Expansion, nodes>& expansions() {
  static const std::array<Expansion, nodes> table = [] {
    std::array<Expansion, nodes> result{};
    for (int i = 0; i < nodes; ++i) {
      const double x = static_cast<double>(i) / nodes_per_unit;
      const std::vector<Real> c = coefficients(x);
      Expansion& e = result[static_cast<std::size_t>(i)];
      for (std::size_t n = 0; n < precise_terms; ++n) e.precise[n] = pair_of(c[n].get());
      for (std::size_t n = precise_terms; n < terms; ++n)
        e.rest[n - precise_terms] = mpfr_get_d(c[n].get(), MPFR_RNDN);
      // |M^(20)| falls, by a factor below e^(h sqrt(21) + h^2/2) < 2 over h = 1/16: the mean of e^(h t) under a density
      // in proportion to t^20 e^(-x t - t^2/2), which has a mean square of at most 21 and is as concentrated as a normal
      // one of variance 1 (its logarithm less that of such a one is concave).
      e.left_out = 2.1 * std::fabs(mpfr_get_d(c[terms].get(), MPFR_RNDU)) * 0x1p-80;
      // Horner's rule on alternating or equal signs: each of at most 20 roundings is of at most sum |c_n d^n|.
      double size = 0;
      for (std::size_t n = precise_terms; n < terms; ++n)
        size += std::fabs(e.rest[n - precise_terms]) * std::ldexp(1.0, -4 * static_cast<int>(n));
      e.rest_error = size * 0x1p-47;
    }
    return result;
  }();
  return table;
}

}  // namespace

Fast Fast::pi() {
  return Fast(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53, 0x1p-105);
}

Fast normal_tail(const Fast& a) {
  if (!(a.radius_ < 0x1p-20)) throw Undecided();
  if (a.hi_ < 0) return Fast(1.0) - normal_tail(-a);
  if (a.hi_ > 22.9) return Fast(0.0, 0.0, 0x1p-380);  // the tail beyond 22.89 is below 2^-382
  const int index = static_cast<int>(std::lround(a.hi_ * nodes_per_unit));
  const Expansion& e = expansions()[static_cast<std::size_t>(index)];
  const Fast d = a - Fast(static_cast<double>(index) / nodes_per_unit);
  double tail = 0;
  for (std::size_t n = terms - precise_terms; n-- > 0;) tail = tail * d.hi_ + e.rest[n];
  Fast sum(tail);
  for (std::size_t n = precise_terms; n-- > 0;)
    sum = sum * d + Fast(e.precise[n].hi, e.precise[n].lo, std::fabs(e.precise[n].hi) * 0x1p-105);
  sum = sum.widened(e.left_out + e.rest_error);
  return sum * exp(-ldexp(a * a, -1));
}

Fast normal_mass(const Fast& a) {
  if (a.hi_ < 0 || a.hi_ < a.radius_) throw Undecided();
  return Fast(0.5) - normal_tail(a);
}

// Of |x| <= pi / 2 + 2^-20, after taking off half turns: x - x^3 / 3! + ..., of which what is left out is less than the
// first term of it.
Fast sin_of_turns(const Fast& a) {
  if (!(std::fabs(a.hi_) < 0x1p20 && a.radius_ < 0x1p-40)) throw Undecided();
  const double halves = std::nearbyint(2 * a.hi_);
  const Fast rest = a - Fast(halves / 2);
  const Fast x = ldexp(Fast::pi() * rest, 1);
  if (x.hi_ == 0 && x.lo_ == 0 && x.radius_ == 0) return Fast();
  const Fast square = x * x;
  Fast term = x;
  Fast sum = x;
  for (int n = 1; std::fabs(term.hi_) > std::fabs(x.hi_) * 0x1p-108; ++n) {
    if (n > 40) throw Undecided();
    term = -(term * square / Fast(2.0 * n * (2.0 * n + 1)));
    sum = sum + term;
  }
  sum = widened(sum, term);
  return std::fmod(halves, 2) != 0 ? -sum : sum;
}
Fast cos_of_turns(const Fast& a) {
  return sin_of_turns(a + Fast(0.25));
}

Fast widened(const Fast& a, const Fast& by) {
  return a.widened(std::fabs(by.hi_) + std::fabs(by.lo_) + by.radius_);
}

}  // namespace snapdp::numeric_internal::certified
