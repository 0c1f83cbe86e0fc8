#include "privacy/loss_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

namespace snapdp::privacy_internal {
namespace {

struct Candidate {
  Integer index;
  Dyadic x;
  Dyadic y;
  double excess;  // about (loss - distance / scale) / eta
};

class WitnessSearch {
 public:
  WitnessSearch(const detail::PrecisionArithmetic& arithmetic, const Dyadic& half_width,
                const Rational& distance)
      : law_(arithmetic, half_width),
        precision_(arithmetic.precision),
        scale_(arithmetic.scale),
        grid_(arithmetic.grid),
        distance_(longest_step(half_width, distance)),
        numerator_(law_.probability_bits()),
        denominator_(law_.probability_bits()),
        laplace_(law_.probability_bits()) {
    set_laplace(Rational(distance_.rational() / scale_.rational()));
    const Rational reach = 2 * law_.half_width().rational() + grid_.spacing().rational();
    farthest_ = Grid::at_least(reach).exponent();
    farthest_in_scales_ = Grid::at_least(Rational(reach / scale_.rational())).exponent();
  }

  Rational run(std::size_t pairs) {
    const std::size_t survivors = 24;
    const std::size_t first = pairs / 2;
    std::vector<Candidate> best;
    for (std::size_t i = 0; i < first; ++i) {
      best.push_back(valued(random_candidate()));
      if (best.size() == 4 * survivors) keep(best, survivors);
    }
    keep(best, survivors);
    // Climb from each; those that lead get more steps.
    std::size_t left = pairs - first;
    while (!best.empty() && left > 0) {
      const std::size_t steps = std::max<std::size_t>(1, left / (2 * best.size()));
      for (Candidate& candidate : best) {
        for (std::size_t i = 0; i < steps && left > 0; ++i, --left) {
          Candidate other = valued(neighbor_of(candidate));
          if (other.excess >= candidate.excess) candidate = std::move(other);
        }
      }
      keep(best, std::max<std::size_t>(1, best.size() / 2));
    }
    return loss_down(best.front());
  }

 private:
  // The largest distance of two values that is a number of twice the precision.
  static Dyadic longest_step(const Dyadic& half_width, const Rational& distance) {
    Dyadic whole = scale_by_power_of_two(half_width, 1);
    if (distance >= whole.rational()) return whole;
    const Grid fine(Grid::at_most(distance).exponent() - 256);
    return fine.value(floor(Rational(distance / fine.spacing().rational())));
  }

  // laplace_ and its shift for e^x, x > 0: MPFR's exponents hold it without a shift up to e^(10^8).
  void set_laplace(const Rational& x) {
    constexpr unsigned long greatest_without_shift = 1UL << 16;
    if (x < greatest_without_shift) {
      mpfr_set_q(laplace_.get(), x.get_mpq_t(), MPFR_RNDN);
      mpfr_exp(laplace_.get(), laplace_.get(), MPFR_RNDN);
      return;
    }
    const mpfr_prec_t bits = law_.probability_bits() + 2 * Grid::at_least(x).exponent();
    Real exponent(bits);
    Real doubling(bits);
    mpfr_set_q(exponent.get(), x.get_mpq_t(), MPFR_RNDN);
    mpfr_const_log2(doubling.get(), MPFR_RNDN);
    mpfr_div(exponent.get(), exponent.get(), doubling.get(), MPFR_RNDN);
    mpfr_get_z(laplace_shift_.get_mpz_t(), exponent.get(), MPFR_RNDD);
    mpfr_frac(exponent.get(), exponent.get(), MPFR_RNDN);
    mpfr_mul(exponent.get(), exponent.get(), doubling.get(), MPFR_RNDN);
    mpfr_exp(laplace_.get(), exponent.get(), MPFR_RNDN);
  }

  // x * 2^shift; 0 or an infinity where that is beyond MPFR's exponents.
  static void multiply(Real& x, const Integer& shift) {
    static const Integer far = Integer(1) << 60;
    mpfr_mul_2si(x.get(), x.get(), std::clamp(shift, Integer(-far), far).get_si(), MPFR_RNDN);
  }

  static void keep(std::vector<Candidate>& candidates, std::size_t count) {
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.excess > b.excess; });
    if (candidates.size() > count) candidates.resize(count);
  }

  Candidate valued(Candidate candidate) {
    const Integer at_x = law_.probability(candidate.index, candidate.x, numerator_);
    const Integer at_y = law_.probability(candidate.index, candidate.y, denominator_);
    // P(x) / (P(y) e^(distance / scale)) - 1 is tiny; its digits are what counts.
    mpfr_mul(denominator_.get(), denominator_.get(), laplace_.get(), MPFR_RNDN);
    mpfr_div(numerator_.get(), numerator_.get(), denominator_.get(), MPFR_RNDN);
    multiply(numerator_, at_y - at_x - laplace_shift_);
    mpfr_sub_ui(numerator_.get(), numerator_.get(), 1, MPFR_RNDN);
    mpfr_mul_2si(numerator_.get(), numerator_.get(), precision_, MPFR_RNDN);
    candidate.excess = mpfr_get_d(numerator_.get(), MPFR_RNDN);
    return candidate;
  }

  Rational loss_down(const Candidate& candidate) {
    const Integer at_x = law_.probability(candidate.index, candidate.x, numerator_);
    const Integer at_y = law_.probability(candidate.index, candidate.y, denominator_);
    const Rational ratio = numerator_.rational() / denominator_.rational();
    const Integer doublings = at_y - at_x;  // P(x) / P(y) = ratio 2^doublings
    mpfr_prec_t bits = 2 * precision_ + 128;
    if (doublings != 0) bits += static_cast<mpfr_prec_t>(mpz_sizeinbase(doublings.get_mpz_t(), 2));
    Real loss(bits);
    mpfr_set_q(loss.get(), ratio.get_mpq_t(), MPFR_RNDD);
    mpfr_log(loss.get(), loss.get(), MPFR_RNDD);
    if (doublings != 0) {
      Real logarithm(bits);
      mpfr_const_log2(logarithm.get(), doublings > 0 ? MPFR_RNDD : MPFR_RNDU);
      mpfr_mul_z(logarithm.get(), logarithm.get(), doublings.get_mpz_t(), MPFR_RNDD);
      mpfr_add(loss.get(), loss.get(), logarithm.get(), MPFR_RNDD);
    }
    return loss.rational();
  }

  // ---- Where to look
  // A rounding costs most where its unit is large for the number it rounds: just above a power of two, in the noise and
  // in the logarithm, and far out. Values with few digits see the same rounding again and again.

  std::uint64_t below(std::uint64_t count) {
    return std::uniform_int_distribution<std::uint64_t>(0, count - 1)(engine_);
  }
  double unit() { return std::uniform_real_distribution<double>(0, 1)(engine_); }

  // A random number in [-1, 1) with `bits` binary places.
  Dyadic random_fraction(long bits) {
    Integer digits = 0;
    for (long i = 0; i < bits; i += 32)
      digits = (digits << 32) + static_cast<unsigned long>(below(1ULL << 32));
    return Dyadic(digits, -32 * ((bits + 31) / 32) + 1) - Dyadic(1);
  }
  // To at most `places` below the size of the noise's numbers.
  Dyadic shortened(const Dyadic& x, long places) {
    const Grid grid(farthest_ - places);
    return grid.value(grid.index(x));
  }

  Dyadic clamped(const Dyadic& x) const { return std::clamp(x, -law_.half_width(), law_.half_width()); }

  // y at `distance_` from x, towards `above` where there is room.
  Candidate paired(Integer index, const Dyadic& at, bool above) {
    const Dyadic half = law_.half_width();
    Dyadic x = clamped(at);
    Dyadic y = above ? x + distance_ : x - distance_;
    if (y > half) {
      y = half;
      x = half - distance_;
    } else if (y < -half) {
      y = -half;
      x = distance_ - half;
    }
    index = std::clamp(index, Integer(-law_.outermost()), law_.outermost());
    return {std::move(index), std::move(x), std::move(y), 0};
  }

  Candidate random_candidate() {
    const bool above = below(2) == 1;  // the output lies above the values
    const Dyadic half = law_.half_width();
    // How far the boundary of the output is from the nearer value.
    Dyadic away;
    switch (below(4)) {
      case 0:  // a power of two of the noise
        away = Dyadic(Integer(1), farthest_ - static_cast<long>(below(4)));
        break;
      case 1:  // a power of two of the logarithm
        away = scale_by_power_of_two(scale_, farthest_in_scales_ - static_cast<long>(below(4)));
        break;
      default:
        away = Dyadic(unit()) * (half + half);
    }
    away += Dyadic(2 * unit() - 1) * scale_by_power_of_two(grid_.spacing(), 1);
    // Both ends have to be in range: x in [-B, B], boundary within B + grid.
    const Dyadic room = half + half - away;
    Dyadic x = room.sign() > 0 ? Dyadic(unit()) * room - half : -half;
    if (!above) x = -x;
    // The digits of x beyond a double's, and few of them at times.
    const long places = static_cast<long>(below(static_cast<std::uint64_t>(precision_) + 12));
    x += scale_by_power_of_two(random_fraction(precision_ + 12), farthest_ - 50);
    x = clamped(shortened(x, places));
    const Dyadic boundary = above ? x + away : x - away;
    return paired(grid_.index(boundary), x, !above);
  }

  Candidate neighbor_of(const Candidate& candidate) {
    const bool upwards = candidate.y > candidate.x;
    Integer index = candidate.index;
    Dyadic x = candidate.x;
    const std::uint64_t kind = below(8);
    if (kind == 0) {
      index += below(2) == 1 ? 1 : -1;
    } else if (kind == 1) {  // all of it one step on
      const int step = below(2) == 1 ? 1 : -1;
      index += step;
      x += step == 1 ? grid_.spacing() : -grid_.spacing();
    } else if (kind == 2) {
      x = shortened(x, static_cast<long>(below(static_cast<std::uint64_t>(precision_) + 12)));
    } else {
      const long places = static_cast<long>(below(static_cast<std::uint64_t>(precision_) + 14));
      x += scale_by_power_of_two(Dyadic(2 * unit() - 1), farthest_ - places);
    }
    return paired(std::move(index), x, upwards);
  }

  PrecisionLaw law_;
  long precision_;
  Dyadic scale_;
  Grid grid_;
  Dyadic distance_;
  Real numerator_;
  Real denominator_;
  Real laplace_;  // e^(distance / scale) 2^-laplace_shift
  Integer laplace_shift_ = 0;
  long farthest_;
  long farthest_in_scales_;
  std::mt19937_64 engine_{20120};  // any seed: the result is a lower bound for each
};

}  // namespace

Rational largest_loss_found(const detail::PrecisionArithmetic& arithmetic, const Dyadic& half_width,
                            const Rational& distance, std::size_t pairs) {
  WitnessSearch search(arithmetic, half_width, distance);
  return search.run(std::max<std::size_t>(pairs, 100));
}

}  // namespace snapdp::privacy_internal
