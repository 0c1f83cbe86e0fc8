#include "snapdp/numeric/grid.h"

#include "snapdp/error.h"

namespace snapdp {
namespace {

Rational power_of_two(long exponent) {
  return Dyadic(Integer(1), exponent).rational();
}

}  // namespace

Grid Grid::at_most(const Rational& scale) {
  if (scale <= 0) {
    throw Error(ErrorCode::invalid_argument, "scale", "scale = " + to_string(scale) + ": must be positive");
  }
  const long guess = static_cast<long>(mpz_sizeinbase(scale.get_num_mpz_t(), 2)) -
                     static_cast<long>(mpz_sizeinbase(scale.get_den_mpz_t(), 2));
  // n in [2^(i-1), 2^i), d in [2^(j-1), 2^j): n/d lies in (2^(i-j-1), 2^(i-j+1)).
  return Grid(power_of_two(guess) <= scale ? guess : guess - 1);
}

Grid Grid::at_least(const Rational& scale) {
  const Grid below = at_most(scale);
  return power_of_two(below.exponent()) == scale ? below : Grid(below.exponent() + 1);
}

Integer Grid::index(const Dyadic& x) const {
  // floor(m 2^e / 2^k + 1/2) with s = e - k: exact shifts only.
  const long shift = x.exponent() - exponent_;
  if (shift >= 0) return x.mantissa() << static_cast<unsigned long>(shift);
  const auto places = static_cast<mp_bitcnt_t>(-shift);
  Integer result = x.mantissa() + (Integer(1) << (places - 1));
  mpz_fdiv_q_2exp(result.get_mpz_t(), result.get_mpz_t(), places);
  return result;
}

Integer Grid::index(const Rational& x) const {
  return floor(Rational(x / power_of_two(exponent_) + Rational(1, 2)));
}

Dyadic Grid::round_up(const Rational& x) const {
  return value(ceil(Rational(x / power_of_two(exponent_))));
}

std::string to_string(Grid grid) {
  return "2^" + std::to_string(grid.exponent());
}

}  // namespace snapdp
