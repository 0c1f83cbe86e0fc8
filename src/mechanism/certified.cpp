#include "mechanism/certified.h"

#include <algorithm>
#include <array>
#include <limits>

namespace snapdp::certified {
namespace {

using internal::fast_two_sum;
using internal::Pair;
using internal::round_up_factor;
using internal::two_product;
using internal::two_sum;

constexpr double infinity = std::numeric_limits<double>::infinity();

double positive_zero(double value) {
  return value == 0 ? 0.0 : value;
}

// The smallest double >= hi + lo, given hi = RN(hi + lo).
double ceiling(Pair x) {
  if (x.lo > 0) return std::nextafter(x.hi, infinity);
  const double below = std::nextafter(x.hi, -infinity);
  return x.lo <= below - x.hi ? below : x.hi;
}

}  // namespace

// ---- Fast ----

Fast::Fast(const Rational& value) {
  const auto integer = [](const Integer& z) {
    const std::size_t bits = mpz_sizeinbase(z.get_mpz_t(), 2);
    if (bits > 400) throw Undecided();
    const double hi = z.get_d();  // rounds towards zero
    if (bits <= 53) return Fast(hi, 0.0, 0.0);
    const double lo = Integer(z - Integer(hi)).get_d();
    const Pair pair = fast_two_sum(hi, lo);
    return Fast(pair.hi, pair.lo, bits <= 106 ? 0.0 : std::fabs(hi) * 0x1p-104);
  };
  const Integer& denominator = value.get_den();
  const Fast numerator = integer(value.get_num());
  if (mpz_popcount(denominator.get_mpz_t()) == 1) {
    const mp_bitcnt_t shift = mpz_scan1(denominator.get_mpz_t(), 0);
    if (shift > 400) throw Undecided();
    *this = ldexp(numerator, -static_cast<int>(shift));
  } else {
    *this = numerator / integer(denominator);
  }
}

Fast Fast::scaled(double value, long exponent) {
  if (value == 0) return Fast();
  // Exact unless it leaves the range.
  return Fast(value * internal::power_of_two(exponent));
}

Fast operator/(const Fast& a, const Fast& b) {
  const double divisor = std::fabs(b.hi_);
  if (!(divisor > 4 * b.radius_)) throw Undecided();
  const double quotient = Fast::in_range(a.hi_ / b.hi_);
  const Pair p = two_product(b.hi_, quotient);
  const Pair r = fast_two_sum(p.hi, p.lo + b.lo_ * quotient);
  const double rest = (a.hi_ - r.hi) + (a.lo_ - r.lo);
  const Pair z = fast_two_sum(quotient, rest / b.hi_);
  const double rounding = std::fabs(z.hi) * internal::operation_error;
  // |a/b - a'/b'| <= (ra + |a/b| rb) / (|b| - rb).
  const double spread = (a.radius_ + std::fabs(z.hi) * b.radius_ * round_up_factor) / (divisor - b.radius_);
  return Fast(z.hi, z.lo, (spread + rounding) * round_up_factor);
}

Fast ldexp(const Fast& a, int k) {
  const double factor = internal::power_of_two(k);
  const double hi = Fast::in_range(a.hi_ * factor);
  const double lo = a.lo_ * factor;
  const double radius = a.radius_ * factor;
  // Parts below the normal range may have been rounded, by far less than this.
  const auto exact = [](double part) { return part == 0 || std::fabs(part) > 0x1p-1000; };
  if (exact(lo) && exact(radius) && (lo != 0 || a.lo_ == 0) && (radius != 0 || a.radius_ == 0)) {
    return Fast(hi, lo, radius);
  }
  return Fast(hi, lo, radius + 0x1p-1000);
}

Fast sqrt(const Fast& a) {
  if (a.hi_ == 0 && a.radius_ == 0) return a;
  if (!(a.hi_ > 4 * a.radius_)) throw Undecided();
  const double root = std::sqrt(Fast::in_range(a.hi_));
  // One Newton step: root + (a - root^2) / (2 root) exceeds sqrt(a) by less than root 2^-104.
  const Pair square = two_product(root, root);
  const Pair z = fast_two_sum(root, ((a.hi_ - square.hi) - square.lo + a.lo_) / (2 * root));
  // |sqrt(a) - sqrt(a')| <= r / sqrt(a).
  return Fast(z.hi, z.lo, (a.radius_ / root + root * internal::operation_error) * round_up_factor);
}

namespace {

// 2^(i/32) - 1 for i = -16 ... 16, and the inverse factorials 1/k!.
struct ExpTables {
  std::array<Fast, 33> power;
  std::array<Fast, 6> inverse_factorial;
};

}  // namespace

// expm1(a) 2^n and n from a = n ln 2 + i ln 2 / 32 + s, |i| <= 16, |s| <= ln 2 / 64: with t = 2^(i/32) - 1,
// expm1(a - n ln 2) = t + (1 + t) expm1(s). As |t| > 0.021 unless i = 0, and |s| < 0.011, the sum keeps its relative
// accuracy.
Fast Fast::expm1_reduced(const Fast& a, int& exponent) {
  static const ExpTables tables = [] {
    ExpTables result;
    mpfr_t x;
    mpfr_init2(x, 200);
    for (std::size_t i = 0; i <= 32; ++i) {
      mpfr_set_si_2exp(x, static_cast<long>(i) - 16, -5, MPFR_RNDN);
      mpfr_exp2(x, x, MPFR_RNDN);
      mpfr_sub_ui(x, x, 1, MPFR_RNDN);
      const double hi = mpfr_get_d(x, MPFR_RNDN);
      mpfr_sub_d(x, x, hi, MPFR_RNDN);
      const double lo = mpfr_get_d(x, MPFR_RNDN);
      result.power[i] = Fast(hi, lo, std::fabs(hi) * 0x1p-105);
    }
    mpfr_clear(x);
    double factorial = 1;
    for (std::size_t k = 1; k < result.inverse_factorial.size(); ++k) {
      factorial *= static_cast<double>(k);
      result.inverse_factorial[k] = Fast(1.0) / Fast(factorial);
    }
    return result;
  }();
  // ln 2 / 32 in three pieces: the product of the first, of 37 bits, with a 14-bit count is exact, and the third ends
  // at 2^-146, so that count ln 2 / 32 is off by less than 2^-132.
  constexpr double step_a = 0x1.62e42fefap-6;
  constexpr double step_b = 0x39ef35793c767p-94;
  constexpr double step_c = 0x3007e5ed5e81ep-146;
  constexpr double nearest_integer = 0x1.8p52;
  const double count = (a.hi_ * 0x1.71547652b82fep+5 + nearest_integer) - nearest_integer;
  const int steps = static_cast<int>(count);
  exponent = (steps + 16 + 32 * 1024) / 32 - 1024;
  const int index = steps - 32 * exponent + 16;
  Fast s = a;
  if (steps != 0) {
    const Pair b = two_product(count, step_b);
    const Pair rest = fast_two_sum(b.hi, b.lo + count * step_c);
    s = a - Fast(count * step_a) - Fast(rest.hi, rest.lo, 0x1p-132);
  }
  // The terms s^6/6! ... s^11/11!, divided by s^5, in double: with |s| < 0.011 they are below 2^-15.9, double
  // arithmetic (and s for its high part) loses less than 2^-66 and the terms left out less than 2^-74.
  const double h = s.hi_;
  const double tail =
      h *
      (1.0 / 720 + h * (1.0 / 5040 +
                        h * (1.0 / 40320 + h * (1.0 / 362880 + h * (1.0 / 3628800 + h * (1.0 / 39916800))))));
  Fast p = (tables.inverse_factorial[5] + Fast(tail, 0.0, 0.0)).widened(0x1p-65);
  for (std::size_t k = 4; k >= 1; --k) p = tables.inverse_factorial[k] + s * p;
  p = s * p;
  if (index == 16) return p;
  const Fast& t = tables.power[static_cast<std::size_t>(index)];
  return t + (Fast(1.0) + t) * p;
}

Fast exp(const Fast& a) {
  if (!(a.radius_ < 0x1p-10) || !(a.hi_ < 277)) throw Undecided();
  // exp(-277 + 2^-10) < 2^-399.
  if (a.hi_ < -277) return Fast(0.0, 0.0, 0x1p-399);
  int exponent = 0;
  const Fast p = Fast::expm1_reduced(a, exponent);
  return ldexp(Fast(1.0) + p, exponent);
}

Fast expm1(const Fast& a) {
  if (std::fabs(a.hi_) < 0.33 && a.radius_ < 0x1p-10) {
    int exponent = 0;
    return Fast::expm1_reduced(a, exponent);  // exponent = 0: fewer than 16 steps of ln 2 / 32
  }
  return exp(a) - Fast(1.0);
}

// The library's logarithm is only a guess y: log(a) = y + log1p(a e^-y - 1), and |log1p(z) - z| <= z^2
// whatever the guess was.
Fast log(const Fast& a) {
  if (!(a.hi_ > 4 * a.radius_)) throw Undecided();
  if (a.hi_ > 0.5 && a.hi_ < 2) return log1p(a - Fast(1.0));
  const Fast guess(std::log(a.hi_));
  const Fast z = a * exp(-guess) - Fast(1.0);
  const double bound = (std::fabs(z.hi_) + z.radius_) * round_up_factor;
  if (!(bound < 0.5)) throw Undecided();
  return (guess + z).widened(bound * bound);
}

Fast log1p(const Fast& a) {
  if (!(a.hi_ + 1 > 4 * a.radius_)) throw Undecided();
  if (!(a.hi_ < 1)) return log(a + Fast(1.0));
  const Fast guess(std::log1p(a.hi_));
  const Fast power = expm1(guess);
  const Fast z = (a - power) / (Fast(1.0) + power);
  const double bound = (std::fabs(z.hi_) + z.radius_) * round_up_factor;
  if (!(bound < 0.5)) throw Undecided();
  return (guess + z).widened(bound * bound);
}

int sign(const Fast& a) {
  if (a.radius_ == 0) return (a.hi_ > 0) - (a.hi_ < 0);
  // |hi + lo| >= |hi| (1 - 2^-52).
  if (!(std::fabs(a.hi_) * (1 - 0x1p-50) > a.radius_)) throw Undecided();
  return a.hi_ > 0 ? 1 : -1;
}

Fast floor(const Fast& a) {
  const double whole = std::floor(a.hi_);
  // A double-double whose high part is no integer has no integer between the two.
  const Fast result = whole == a.hi_ ? Fast(whole) + Fast(std::floor(a.lo_), 0.0, 0.0) : Fast(whole);
  const Fast fraction = a - result;
  if (sign(fraction) < 0 || sign(Fast(1.0) - fraction) <= 0) throw Undecided();
  return result;
}

namespace {

// The ends of [hi + lo - radius, hi + lo + radius] as normalised pairs, rounded outwards.
struct Ends {
  Pair low;
  Pair high;
};

Ends ends(double hi, double lo, double radius) {
  if (radius == 0) return {{hi, lo}, {hi, lo}};
  const double reach = radius * (1 + 0x1p-40) + std::fabs(lo) * 0x1p-51;
  return {two_sum(hi, lo - reach), two_sum(hi, lo + reach)};
}

double scaled_result(double value, long exponent) {
  if (value == 0) return 0.0;
  const long total = std::ilogb(value) + exponent;
  // The rounding was that of a normal number; leave the edges of the double range to MPFR.
  if (total < -1000 || total > 1000) throw Undecided();
  return std::ldexp(value, static_cast<int>(exponent));
}

double agreed(double a, double b, long exponent) {
  if (a != b) throw Undecided();
  return scaled_result(a, exponent);
}

}  // namespace

double round_nearest(const Fast& a, long exponent) {
  const Ends e = ends(a.hi_, a.lo_, a.radius_);
  return agreed(e.low.hi, e.high.hi, exponent);
}

double round_up(const Fast& a, long exponent) {
  const Ends e = ends(a.hi_, a.lo_, a.radius_);
  return agreed(ceiling(e.low), ceiling(e.high), exponent);
}

double round_down(const Fast& a, long exponent) {
  return positive_zero(-round_up(-a, exponent));
}

// ---- Wide ----

namespace {

thread_local mpfr_prec_t current_bits = 160;
thread_local bool last_attempt = false;

}  // namespace

Wide::Precision::Precision(mpfr_prec_t bits, bool last)
    : outer_bits_(current_bits), outer_last_(last_attempt) {
  current_bits = bits;
  last_attempt = last;
}

Wide::Precision::~Precision() {
  current_bits = outer_bits_;
  last_attempt = outer_last_;
}

Wide::Wide() {
  mpfr_init2(low_, current_bits);
  mpfr_init2(high_, current_bits);
  mpfr_set_zero(low_, 1);
  mpfr_set_zero(high_, 1);
}

Wide::Wide(double value) : Wide() {
  mpfr_set_d(low_, value, MPFR_RNDD);
  mpfr_set_d(high_, value, MPFR_RNDU);
}

Wide::Wide(const Rational& value) : Wide() {
  mpfr_set_q(low_, value.get_mpq_t(), MPFR_RNDD);
  mpfr_set_q(high_, value.get_mpq_t(), MPFR_RNDU);
}

Wide Wide::scaled(double value, long exponent) {
  Wide result(value);
  mpfr_mul_2si(result.low_, result.low_, exponent, MPFR_RNDD);
  mpfr_mul_2si(result.high_, result.high_, exponent, MPFR_RNDU);
  return result;
}

Wide::Wide(const Wide& other) {
  mpfr_init2(low_, mpfr_get_prec(other.low_));
  mpfr_init2(high_, mpfr_get_prec(other.high_));
  mpfr_set(low_, other.low_, MPFR_RNDD);
  mpfr_set(high_, other.high_, MPFR_RNDU);
}

Wide::Wide(Wide&& other) noexcept : Wide() {
  mpfr_swap(low_, other.low_);
  mpfr_swap(high_, other.high_);
}

Wide& Wide::operator=(Wide other) noexcept {
  mpfr_swap(low_, other.low_);
  mpfr_swap(high_, other.high_);
  return *this;
}

Wide::~Wide() {
  mpfr_clear(low_);
  mpfr_clear(high_);
}

Wide operator-(const Wide& a) {
  Wide result;
  mpfr_neg(result.low_, a.high_, MPFR_RNDD);
  mpfr_neg(result.high_, a.low_, MPFR_RNDU);
  return result;
}

Wide operator+(const Wide& a, const Wide& b) {
  Wide result;
  mpfr_add(result.low_, a.low_, b.low_, MPFR_RNDD);
  mpfr_add(result.high_, a.high_, b.high_, MPFR_RNDU);
  return result;
}

Wide operator-(const Wide& a, const Wide& b) {
  Wide result;
  mpfr_sub(result.low_, a.low_, b.high_, MPFR_RNDD);
  mpfr_sub(result.high_, a.high_, b.low_, MPFR_RNDU);
  return result;
}

Wide operator*(const Wide& a, const Wide& b) {
  Wide result;
  Wide corner;
  mpfr_mul(result.low_, a.low_, b.low_, MPFR_RNDD);
  mpfr_mul(result.high_, a.low_, b.low_, MPFR_RNDU);
  const auto include = [&](mpfr_srcptr x, mpfr_srcptr y) {
    mpfr_mul(corner.low_, x, y, MPFR_RNDD);
    mpfr_mul(corner.high_, x, y, MPFR_RNDU);
    mpfr_min(result.low_, result.low_, corner.low_, MPFR_RNDD);
    mpfr_max(result.high_, result.high_, corner.high_, MPFR_RNDU);
  };
  include(a.low_, b.high_);
  include(a.high_, b.low_);
  include(a.high_, b.high_);
  return result;
}

Wide operator/(const Wide& a, const Wide& b) {
  if (mpfr_sgn(b.low_) != mpfr_sgn(b.high_) || mpfr_zero_p(b.low_)) throw Undecided();
  Wide inverse;
  mpfr_ui_div(inverse.low_, 1, b.high_, MPFR_RNDD);
  mpfr_ui_div(inverse.high_, 1, b.low_, MPFR_RNDU);
  return a * inverse;
}

Wide ldexp(const Wide& a, int k) {
  Wide result;
  mpfr_mul_2si(result.low_, a.low_, k, MPFR_RNDD);
  mpfr_mul_2si(result.high_, a.high_, k, MPFR_RNDU);
  return result;
}

namespace {

// An increasing function, end by end.
template <typename Function>
void increasing(mpfr_ptr low, mpfr_ptr high, mpfr_srcptr a_low, mpfr_srcptr a_high, Function function) {
  function(low, a_low, MPFR_RNDD);
  function(high, a_high, MPFR_RNDU);
}

}  // namespace

Wide sqrt(const Wide& a) {
  if (mpfr_sgn(a.low_) < 0) throw Undecided();
  Wide result;
  increasing(result.low_, result.high_, a.low_, a.high_, mpfr_sqrt);
  return result;
}

Wide exp(const Wide& a) {
  Wide result;
  increasing(result.low_, result.high_, a.low_, a.high_, mpfr_exp);
  return result;
}

Wide expm1(const Wide& a) {
  Wide result;
  increasing(result.low_, result.high_, a.low_, a.high_, mpfr_expm1);
  return result;
}

Wide log(const Wide& a) {
  if (mpfr_sgn(a.low_) <= 0) throw Undecided();
  Wide result;
  increasing(result.low_, result.high_, a.low_, a.high_, mpfr_log);
  return result;
}

Wide log1p(const Wide& a) {
  if (mpfr_cmp_si(a.low_, -1) <= 0) throw Undecided();
  Wide result;
  increasing(result.low_, result.high_, a.low_, a.high_, mpfr_log1p);
  return result;
}

int sign(const Wide& a) {
  const int low = mpfr_sgn(a.low_);
  const int high = mpfr_sgn(a.high_);
  if (low > 0) return 1;
  if (high < 0) return -1;
  if ((low == 0 && high == 0) || last_attempt) return 0;
  throw Undecided();
}

Wide floor(const Wide& a) {
  Wide result;
  mpfr_floor(result.low_, a.low_);
  mpfr_floor(result.high_, a.high_);
  if (!mpfr_equal_p(result.low_, result.high_)) {
    if (!last_attempt) throw Undecided();
    mpfr_set(result.low_, result.high_, MPFR_RNDD);
  }
  return result;
}

namespace {

double shifted_double(mpfr_srcptr value, long exponent, mpfr_rnd_t rounding) {
  mpfr_t scaled;
  mpfr_init2(scaled, mpfr_get_prec(value));
  mpfr_mul_2si(scaled, value, exponent, rounding);
  const double result = mpfr_get_d(scaled, rounding);
  mpfr_clear(scaled);
  return positive_zero(result);
}

}  // namespace

Rational lower_end(const Wide& a) {
  Rational end;
  mpfr_get_q(end.get_mpq_t(), a.low_);
  return end;
}
Rational upper_end(const Wide& a) {
  Rational end;
  mpfr_get_q(end.get_mpq_t(), a.high_);
  return end;
}
double round_nearest(const Wide& a, long exponent) {
  const double low = shifted_double(a.low_, exponent, MPFR_RNDN);
  const double high = shifted_double(a.high_, exponent, MPFR_RNDN);
  if (low != high && !last_attempt) throw Undecided();
  return high;
}

double round_up(const Wide& a, long exponent) {
  const double high = shifted_double(a.high_, exponent, MPFR_RNDU);
  if (shifted_double(a.low_, exponent, MPFR_RNDU) != high && !last_attempt) throw Undecided();
  return high;
}

double round_down(const Wide& a, long exponent) {
  return positive_zero(-round_up(-a, exponent));
}

}  // namespace snapdp::certified
