#include "privacy/randomized_response.h"

#include <algorithm>
#include <cmath>

namespace snapdp::privacy_internal::composition {
namespace {

// Neighboring binomial probabilities, from the likeliest on: i of n are a plus.
class Binomial {
 public:
  Binomial(const Group& group, mpfr_prec_t bits)
      : n_(static_cast<unsigned long>(group.count)),
        odds_(PositiveInterval::exp_minus(bits, group.epsilon)),
        inverse_odds_(odds_.reciprocal()),
        start_(bits),
        neighbor_start_(bits) {
    const PositiveInterval plus = odds_.one_plus_reciprocal();
    const double mode = std::floor((static_cast<double>(n_) + 1) * mpfr_get_d(plus.low(), MPFR_RNDN));
    first_ = std::min(n_, static_cast<unsigned long>(mode));
    Integer choices;
    mpz_bin_uiui(choices.get_mpz_t(), n_, n_ - first_);
    // p^i (1-p)^(n-i) = p^n odds^(n-i), and with i and n - i exchanged.
    start_ = PositiveInterval(bits, Rational(choices));
    start_ *= plus.power(n_);
    neighbor_start_ = start_;
    start_ *= odds_.power(n_ - first_);
    neighbor_start_ *= odds_.power(first_);
  }

  unsigned long first() const { return first_; }
  const PositiveInterval& start() const { return start_; }
  const PositiveInterval& neighbor_start() const { return neighbor_start_; }

  // From i to i + 1 plus signs, i < n, or to i - 1, i > 0.
  void step(unsigned long i, bool up, PositiveInterval& mass, PositiveInterval& neighbor) const {
    const unsigned long factor = up ? n_ - i : i;
    const unsigned long divisor = up ? i + 1 : n_ - i + 1;
    for (PositiveInterval* const each : {&mass, &neighbor}) {
      *each *= factor;
      *each /= divisor;
    }
    mass *= up ? inverse_odds_ : odds_;
    neighbor *= up ? odds_ : inverse_odds_;
  }

  // Whether everything beyond i, whose probability is `mass`, has at most the probability `negligible` together; then
  // it is added to `left_out`. The ratio of neighbors falls away from the mode: a geometric series is above them.
  bool ends_at(unsigned long i, bool up, const PositiveInterval& mass, const PositiveInterval& negligible,
               PositiveInterval& left_out) const {
    if (i == (up ? n_ : 0)) return true;
    const double next = static_cast<double>(up ? n_ - i : i) / static_cast<double>(up ? i + 1 : n_ - i + 1);
    const double ratio = next * mpfr_get_d((up ? inverse_odds_ : odds_).high(), MPFR_RNDU) * (1 + 0x1p-40);
    constexpr double greatest_ratio = 1 - 0x1p-20;
    if (!(ratio < greatest_ratio)) return false;
    PositiveInterval beyond = mass;
    beyond *= PositiveInterval(mass.bits(), Rational(ratio / (1 - ratio) * (1 + 0x1p-40)));
    if (mpfr_cmp(beyond.high(), negligible.low()) > 0) return false;
    left_out += beyond;
    return true;
  }

 private:
  unsigned long n_;
  PositiveInterval odds_;  // of a minus
  PositiveInterval inverse_odds_;
  unsigned long first_ = 0;
  PositiveInterval start_;
  PositiveInterval neighbor_start_;
};

}  // namespace

PlusCounts plus_counts(const Group& group, const PositiveInterval& negligible) {
  const Binomial binomial(group, negligible.bits());
  PlusCounts counts{0, {}, {}, PositiveInterval(negligible.bits())};
  // Downwards and upwards; the part below the start is turned around in between.
  for (const bool up : {false, true}) {
    PositiveInterval mass = binomial.start();
    PositiveInterval neighbor = binomial.neighbor_start();
    unsigned long i = binomial.first();
    for (; !binomial.ends_at(i, up, mass, negligible, counts.left_out); i = up ? i + 1 : i - 1) {
      binomial.step(i, up, mass, neighbor);
      counts.masses.push_back(mass);
      counts.neighbors.push_back(neighbor);
    }
    if (up) break;
    counts.first = static_cast<std::int64_t>(i);
    std::reverse(counts.masses.begin(), counts.masses.end());
    std::reverse(counts.neighbors.begin(), counts.neighbors.end());
    counts.masses.push_back(binomial.start());
    counts.neighbors.push_back(binomial.neighbor_start());
  }
  return counts;
}

}  // namespace snapdp::privacy_internal::composition
