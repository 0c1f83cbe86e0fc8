#include "numeric/shared/certified.h"

#include <algorithm>
#include <array>
#include <limits>

#include "snapdp/error.h"

namespace snapdp::numeric_internal::certified {
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

void refuse_undecided() {
  throw Error(
      ErrorCode::invalid_argument, "scale",
      "scale: it is so far from the other numbers that nothing between them can be told; bring scale, grid, "
      "bounds and value nearer to each other");
}

// ---- Fast ----

Fast::Fast(const Rational& value) {
  const auto integer = [](const Integer& z) {
    if (mpz_size(z.get_mpz_t()) <= 1 && mpz_getlimbn(z.get_mpz_t(), 0) < (1UL << 53)) {
      const auto magnitude = static_cast<double>(mpz_getlimbn(z.get_mpz_t(), 0));
      return Fast(sgn(z) < 0 ? -magnitude : magnitude, 0.0, 0.0);
    }
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
  // Parts below the normal range may have been rounded, by far less than 2^-1000.
  const bool exact = a.radius_ == 0 && (a.lo_ == 0 || std::fabs(lo) > 0x1p-1000);
  return Fast(hi, lo, exact ? 0.0 : a.radius_ * factor + 0x1p-1000);
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

// Sums and products of double-doubles inside exp and expm1, whose error is bounded as a whole there. A product loses less
// than 7 u^2 < 2^-103 of the result, u = 2^-53.
Pair product(Pair a, Pair b) {
  const Pair c = two_product(a.hi, b.hi);
  return fast_two_sum(c.hi, c.lo + (a.hi * b.lo + a.lo * b.hi));
}

// a + b for |a| >= |b| or a = 0. Loses less than 2 u (|a.lo| + |b.lo|) + u^2 |a + b|, to first order.
Pair fast_sum(Pair a, Pair b) {
  const Pair s = fast_two_sum(a.hi, b.hi);
  return fast_two_sum(s.hi, s.lo + (a.lo + b.lo));
}

// x divided by a small integer; off by less than 2^-106 of it.
Pair quotient(double x, double divisor) {
  const double hi = x / divisor;
  const Pair back = two_product(hi, divisor);
  return {hi, ((x - back.hi) - back.lo) / divisor};
}

// 2^(i/256) - 1 for i = -128 ... 128, off by less than 2^-105 of it.
struct PowerTable {
  std::array<Pair, 257> at;
};

const PowerTable& power_table() {
  static const PowerTable table = [] {
    PowerTable result;
    Real owner(200);
    mpfr_ptr x = owner.get();
    for (std::size_t i = 0; i <= 256; ++i) {
      mpfr_set_si_2exp(x, static_cast<long>(i) - 128, -8, MPFR_RNDN);
      mpfr_exp2(x, x, MPFR_RNDN);
      mpfr_sub_ui(x, x, 1, MPFR_RNDN);
      const double hi = mpfr_get_d(x, MPFR_RNDN);
      mpfr_sub_d(x, x, hi, MPFR_RNDN);
      result.at[i] = {hi, mpfr_get_d(x, MPFR_RNDN)};
    }
    return result;
  }();
  return table;
}

// a = (256 n + i) ln 2 / 256 + s with |i| <= 128 and |s| < 0.00136 < 2^-9.5: e^a = 2^n (1 + t) (1 + p) with t = 2^(i/256)
// - 1 and p = expm1(s).
struct Reduced {
  Pair p;  // off by less than 2^-94 |p| for this s
  Pair t;
  int n;
  int i;
  double error;  // of this s
};

Reduced reduce(double hi, double lo) {
  // ln 2 / 256 in three pieces: the product of the first, of 36 bits, with a 17-bit count is exact, and the third ends
  // at 2^-149, so that count ln 2 / 256 is off by less than 2^-132.
  constexpr double step_a = 0x1.62e42fefap-9;
  constexpr double step_b = 0x39ef35793c767p-97;
  constexpr double step_c = 0x3007e5ed5e81ep-149;
  constexpr double nearest_integer = 0x1.8p52;
  Reduced result{};
  const double count = (hi * 0x1.71547652b82fep+8 + nearest_integer) - nearest_integer;
  const int steps = static_cast<int>(count);
  result.n = (steps + 128 + 256 * 1024) / 256 - 1024;
  const int index = steps - 256 * result.n + 128;
  result.i = index - 128;
  result.t = power_table().at[static_cast<std::size_t>(index)];
  Pair s{hi, lo};
  if (steps != 0) {
    const Pair b = two_product(count, step_b);
    const Pair r = two_sum(hi, -(count * step_a));
    const Pair v = two_sum(r.hi, -b.hi);
    s = two_sum(v.hi, (lo - (b.lo + count * step_c)) + (r.lo + v.lo));
    // The sum of the low parts, at most u |a|, 2^-80, 0 (hi and its product with step_a cancel) and u |s|, loses less
    // than 2 u times their sum, and |a| > 2^-9.6.
    result.error = std::fabs(hi) * 0x1p-103;
  }
  // p = s + (s^2/2 + s^3 (1/6 + s/24 + s^2 r)), r = 1/120 + s/720 + ... + s^4/9!. The terms left out are below
  // |s|^9/10! < 2^-106 of p. s^2 r in double is off by less than 4 u of it, which makes 4 u s^4/120 < 2^-95 of p. The
  // last sum loses 2^-104 of p, and everything else less.
  static const Pair sixth = quotient(1, 6);
  static const Pair twenty_fourth = quotient(1, 24);
  const double h = s.hi;
  const double r = 1.0 / 120 + h * (1.0 / 720 + h * (1.0 / 5040 + h * (1.0 / 40320 + h * (1.0 / 362880))));
  const Pair square = product(s, s);
  const Pair cube = product(square, s);
  const Pair fourth = product(s, twenty_fourth);
  const Pair rest = fast_two_sum(fourth.hi, square.hi * r);
  const Pair factor = fast_sum(sixth, {rest.hi, rest.lo + fourth.lo});
  const Pair half_square{square.hi * 0.5, square.lo * 0.5};
  result.p = fast_sum(s, fast_sum(half_square, product(cube, factor)));
  return result;
}

}  // namespace

// With v = 1 + t: 2^n (v + v p). The error of p counts 2^-94 |p| < 2^-103, those of t, v, the product and the sum less
// than 2^-104 each, relative to the result.
Fast exp(const Fast& a) {
  if (!(a.radius_ < 0x1p-10) || !(a.hi_ < 277)) throw Undecided();
  // exp(-277 + 2^-10) < 2^-399.
  if (a.hi_ < -277) return Fast(0.0, 0.0, 0x1p-399);
  if (a.hi_ == 0 && a.radius_ == 0) return Fast(1.0);
  const Reduced x = reduce(a.hi_, a.lo_);
  const Pair v = fast_sum({1.0, 0.0}, x.t);
  const Pair z = fast_sum(v, product(v, x.p));
  const double factor = internal::power_of_two(x.n);
  // |e^d - 1| < |d| (1 + 2^-10).
  const double relative = (a.radius_ + x.error) * (1 + 0x1p-7) + 0x1p-100;
  return Fast(z.hi * factor, z.lo * factor, z.hi * factor * relative);
}

// With n = 0, t + v p. When i is not 0, |t| > 0.0027 and |p| < 0.00137, so that the result is about |v p| or more and
// more than |t| / 2.1.
Fast expm1(const Fast& a) {
  if (!(std::fabs(a.hi_) < 0.33 && a.radius_ < 0x1p-10)) return exp(a) - Fast(1.0);
  const Reduced x = reduce(a.hi_, a.lo_);
  Pair z = x.p;
  if (x.i != 0) z = fast_sum(x.t, product(fast_sum({1.0, 0.0}, x.t), x.p));
  // e^a < 1.4.
  return Fast(z.hi, z.lo, (a.radius_ + x.error) * 1.5 + std::fabs(z.hi) * 0x1p-93);
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
  if (!(a.hi_ > -0.5 && a.hi_ < 1)) return log(a + Fast(1.0));
  const Fast guess(std::log1p(a.hi_));
  const Fast power = expm1(guess);
  // z = (a - power) / (1 + power) is about as small as the rounding of the guess, and a double will do: the low parts
  // of both, 1 + power and the quotient lose less than 8 u of it.
  const Fast difference = a - power;
  const double divisor = 1 + power.hi_;
  const double z = difference.hi_ / divisor;
  const double error =
      (difference.radius_ + std::fabs(z) * power.radius_) * 1.01 / divisor + std::fabs(z) * 0x1p-50;
  const double bound = std::fabs(z) + error;
  if (!(bound < 0.5)) throw Undecided();
  return (guess + Fast(z, 0.0, 0.0)).widened(error + bound * bound);
}

int sign(const Fast& a) {
  if (a.radius_ == 0) return (a.hi_ > 0) - (a.hi_ < 0);
  // |hi + lo| >= |hi| (1 - 2^-52).
  if (!(std::fabs(a.hi_) * (1 - 0x1p-50) > a.radius_)) throw Undecided();
  return a.hi_ > 0 ? 1 : -1;
}

Fast floor(const Fast& a) {
  const double whole = std::floor(a.hi_);
  if (a.lo_ == 0 && a.radius_ == 0) return Fast(whole);
  // A double-double whose high part is no integer has no integer between the two.
  const Fast result = whole == a.hi_ ? Fast(whole) + Fast(std::floor(a.lo_), 0.0, 0.0) : Fast(whole);
  const Fast fraction = a - result;
  if (sign(fraction) < 0 || sign(Fast(1.0) - fraction) <= 0) throw Undecided();
  return result;
}

namespace {

// The ends of [hi + lo - radius, hi + lo + radius] as normalised pairs, rounded outwards.
struct Extent {
  Pair low;
  Pair high;
};

Extent extent(double hi, double lo, double radius) {
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
  const Extent e = extent(a.hi_, a.lo_, a.radius_);
  return agreed(e.low.hi, e.high.hi, exponent);
}

double round_up(const Fast& a, long exponent) {
  const Extent e = extent(a.hi_, a.lo_, a.radius_);
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

long Wide::bits() {
  return current_bits;
}

Wide::Wide() : low_(current_bits), high_(current_bits) {
  mpfr_set_zero(low_.get(), 1);
  mpfr_set_zero(high_.get(), 1);
}

Wide::Wide(double value) : Wide() {
  mpfr_set_d(low_.get(), value, MPFR_RNDD);
  mpfr_set_d(high_.get(), value, MPFR_RNDU);
}

Wide::Wide(const Rational& value) : Wide() {
  mpfr_set_q(low_.get(), value.get_mpq_t(), MPFR_RNDD);
  mpfr_set_q(high_.get(), value.get_mpq_t(), MPFR_RNDU);
}

Wide Wide::scaled(double value, long exponent) {
  Wide result(value);
  mpfr_mul_2si(result.low_.get(), result.low_.get(), exponent, MPFR_RNDD);
  mpfr_mul_2si(result.high_.get(), result.high_.get(), exponent, MPFR_RNDU);
  return result;
}

Wide operator-(const Wide& a) {
  Wide result;
  mpfr_neg(result.low_.get(), a.high_.get(), MPFR_RNDD);
  mpfr_neg(result.high_.get(), a.low_.get(), MPFR_RNDU);
  return result;
}

Wide operator+(const Wide& a, const Wide& b) {
  Wide result;
  mpfr_add(result.low_.get(), a.low_.get(), b.low_.get(), MPFR_RNDD);
  mpfr_add(result.high_.get(), a.high_.get(), b.high_.get(), MPFR_RNDU);
  return result;
}

Wide operator-(const Wide& a, const Wide& b) {
  Wide result;
  mpfr_sub(result.low_.get(), a.low_.get(), b.high_.get(), MPFR_RNDD);
  mpfr_sub(result.high_.get(), a.high_.get(), b.low_.get(), MPFR_RNDU);
  return result;
}

Wide operator*(const Wide& a, const Wide& b) {
  Wide result;
  Wide corner;
  mpfr_mul(result.low_.get(), a.low_.get(), b.low_.get(), MPFR_RNDD);
  mpfr_mul(result.high_.get(), a.low_.get(), b.low_.get(), MPFR_RNDU);
  const auto include = [&](mpfr_srcptr x, mpfr_srcptr y) {
    mpfr_mul(corner.low_.get(), x, y, MPFR_RNDD);
    mpfr_mul(corner.high_.get(), x, y, MPFR_RNDU);
    mpfr_min(result.low_.get(), result.low_.get(), corner.low_.get(), MPFR_RNDD);
    mpfr_max(result.high_.get(), result.high_.get(), corner.high_.get(), MPFR_RNDU);
  };
  include(a.low_.get(), b.high_.get());
  include(a.high_.get(), b.low_.get());
  include(a.high_.get(), b.high_.get());
  return result;
}

Wide operator/(const Wide& a, const Wide& b) {
  if (mpfr_sgn(b.low_.get()) != mpfr_sgn(b.high_.get()) || mpfr_zero_p(b.low_.get())) throw Undecided();
  Wide inverse;
  mpfr_ui_div(inverse.low_.get(), 1, b.high_.get(), MPFR_RNDD);
  mpfr_ui_div(inverse.high_.get(), 1, b.low_.get(), MPFR_RNDU);
  return a * inverse;
}

Wide ldexp(const Wide& a, int k) {
  Wide result;
  mpfr_mul_2si(result.low_.get(), a.low_.get(), k, MPFR_RNDD);
  mpfr_mul_2si(result.high_.get(), a.high_.get(), k, MPFR_RNDU);
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
  if (mpfr_sgn(a.low_.get()) < 0) throw Undecided();
  Wide result;
  increasing(result.low_.get(), result.high_.get(), a.low_.get(), a.high_.get(), mpfr_sqrt);
  return result;
}

Wide exp(const Wide& a) {
  Wide result;
  increasing(result.low_.get(), result.high_.get(), a.low_.get(), a.high_.get(), mpfr_exp);
  return result;
}

Wide expm1(const Wide& a) {
  Wide result;
  increasing(result.low_.get(), result.high_.get(), a.low_.get(), a.high_.get(), mpfr_expm1);
  return result;
}

Wide log(const Wide& a) {
  if (mpfr_sgn(a.low_.get()) <= 0) throw Undecided();
  Wide result;
  increasing(result.low_.get(), result.high_.get(), a.low_.get(), a.high_.get(), mpfr_log);
  return result;
}

Wide log1p(const Wide& a) {
  if (mpfr_cmp_si(a.low_.get(), -1) <= 0) throw Undecided();
  Wide result;
  increasing(result.low_.get(), result.high_.get(), a.low_.get(), a.high_.get(), mpfr_log1p);
  return result;
}

int sign(const Wide& a) {
  const int low = mpfr_sgn(a.low_.get());
  const int high = mpfr_sgn(a.high_.get());
  if (low > 0) return 1;
  if (high < 0) return -1;
  if ((low == 0 && high == 0) || last_attempt) return 0;
  throw Undecided();
}

Wide floor(const Wide& a) {
  Wide result;
  mpfr_floor(result.low_.get(), a.low_.get());
  mpfr_floor(result.high_.get(), a.high_.get());
  if (!mpfr_equal_p(result.low_.get(), result.high_.get())) {
    if (!last_attempt) throw Undecided();
    mpfr_set(result.low_.get(), result.high_.get(), MPFR_RNDD);
  }
  return result;
}

namespace {

double shifted_double(mpfr_srcptr value, long exponent, mpfr_rnd_t rounding) {
  Real scaled(mpfr_get_prec(value));
  mpfr_mul_2si(scaled.get(), value, exponent, rounding);
  return positive_zero(mpfr_get_d(scaled.get(), rounding));
}

}  // namespace

namespace {

Rational end_of(mpfr_srcptr value, mpfr_rnd_t direction) {
  constexpr mpfr_exp_t greatest_exponent = 65536;
  if (mpfr_zero_p(value) != 0) return 0;
  if (mpfr_number_p(value) == 0 || mpfr_get_exp(value) > greatest_exponent) throw Undecided();
  Rational end;
  if (mpfr_get_exp(value) >= -greatest_exponent) {
    mpfr_get_q(end.get_mpq_t(), value);
  } else if ((mpfr_sgn(value) > 0) == (direction == MPFR_RNDU)) {
    end = mpfr_sgn(value);
    mpq_div_2exp(end.get_mpq_t(), end.get_mpq_t(), greatest_exponent);
  }
  return end;
}

}  // namespace

Rational lower_end(const Wide& a) {
  return end_of(a.low_.get(), MPFR_RNDD);
}
Rational upper_end(const Wide& a) {
  return end_of(a.high_.get(), MPFR_RNDU);
}
double round_nearest(const Wide& a, long exponent) {
  const double low = shifted_double(a.low_.get(), exponent, MPFR_RNDN);
  const double high = shifted_double(a.high_.get(), exponent, MPFR_RNDN);
  if (low != high && !last_attempt) throw Undecided();
  return high;
}

double round_up(const Wide& a, long exponent) {
  const double high = shifted_double(a.high_.get(), exponent, MPFR_RNDU);
  if (shifted_double(a.low_.get(), exponent, MPFR_RNDU) != high && !last_attempt) throw Undecided();
  return high;
}

double round_down(const Wide& a, long exponent) {
  return positive_zero(-round_up(-a, exponent));
}

}  // namespace snapdp::numeric_internal::certified
