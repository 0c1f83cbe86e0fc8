// What many releases cost together, at a chosen delta: the loss of k releases, each pure epsilon_i-DP.
//
//   const std::vector<EqualReleases> past = {{Rational(1, 10), 100}, {Rational(1, 5), 25}};
//   basic_composition(past);                                       // 15, the sum: what a ledger debits
//   optimal_composition(past, Rational(1, 1'000'000)).epsilon;     // least epsilon such that all of them
//                                                                  // together are (epsilon, 1e-6)-DP
//
//   const std::vector<ComposedLoss> mixed = {{Rational(1, 10), 10},
//                                            {PrivacyLoss::gaussian(Rational(1, 50)), 1}};
//   optimal_composition(mixed, Rational(1, 1'000'000))->epsilon;   // 1.50394...
//
// The bounds hold for mechanisms that are chosen adaptively, each with knowledge of the outputs before it, as
// long as the epsilons themselves were fixed in advance (Kairouz, Oh and Viswanath 2017; Murtagh and Vadhan
// 2018). When an epsilon was chosen after seeing earlier outputs, of these bounds only the sum is proved to
// hold. docs/accounting.md says more.
//
// Errors: invalid_argument for an epsilon that is not greater than 0, a count outside [1,
// max_composed_releases], more than max_composed_releases in all, epsilons whose exact sum has more than 1024
// digits as a fraction (decimals never do), or a delta outside [0, 1).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "snapdp/framework/loss.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

// `count` releases, each of them pure epsilon-differentially private.
struct EqualReleases {
  Rational epsilon;
  std::int64_t count = 1;

  friend bool operator==(const EqualReleases&, const EqualReleases&) = default;
};

// The most releases that the functions below take together.
constexpr std::int64_t max_composed_releases = 1'000'000;

// The sum of all epsilons, exactly: the loss at delta = 0, and the only bound for epsilons chosen adaptively.
Rational basic_composition(std::span<const EqualReleases> releases);

// An enclosure of the least epsilon for which the composition is (epsilon, delta)-DP.
struct CompositionBound {
  Rational epsilon;   // proved to hold: the least epsilon, rounded up; 0 <= epsilon <= the sum
  Rational at_least;  // proved not to be beaten: the least epsilon lies in [at_least, epsilon]
};

// The optimal composition. No better epsilon holds for all mechanisms with these losses: randomized response
// attains it.
//
// Equal epsilons, and unequal ones whose sums take at most a few million values: the enclosure is at most
// 1e-9 wide (or 2^-60 of the value, if that is more). Beyond that the epsilons are rounded, up for `epsilon`
// and down for `at_least`, to multiples of as fine a step as is affordable, and the enclosure says how much
// that cost. At delta = 0 both ends are the sum. How long it takes is bounded before it begins: less than a
// second for a million equal releases, and a few seconds at the most for any.
CompositionBound optimal_composition(std::span<const EqualReleases> releases, const Rational& delta);

// `count` releases of one loss, which may have a delta and Gaussian noise.
struct ComposedLoss {
  PrivacyLoss loss;
  std::int64_t count = 1;
};

// The same of losses of any kind. Gaussian noise of all releases together is one Gaussian with the sum of the
// rhos; a delta is a probability of losing everything.
//
// basic_composition: the sum of the epsilons and what the Gaussian noise loses at the delta that the others
// leave. optimal_composition: the exact bound of all of it (Zhu, Dong and Wang, "Optimal Accounting of
// Differential Privacy via Characteristic Function", AISTATS 2022: products of dominating pairs dominate),
//
//   delta(x) = sum over outcomes of the pure parts, of loss l and probability w, of w delta_G(x - l),
//
// of which the enclosure is about 1e-12 of the value wide; where there are more than 300 outcomes their
// losses are rounded, and the enclosure says how much that cost. Never more than the basic bound or the zCDP
// bound. Nothing when the releases' own deltas are delta or more, or when there is Gaussian noise at delta 0.
std::optional<Rational> basic_composition(std::span<const ComposedLoss> losses, const Rational& delta);
std::optional<CompositionBound> optimal_composition(std::span<const ComposedLoss> losses,
                                                    const Rational& delta);
// In the measure zcdp: rhos, epsilon tanh(epsilon / 2) for pure parts, and the sum of the deltas.
PrivacyAmount zcdp_composition(std::span<const ComposedLoss> losses);

// The parameter rho of zero-concentrated differential privacy: the sum of epsilon^2 / 2 (Bun and Steinke
// 2016, Proposition 1.4), exactly.
Rational zcdp_composition(std::span<const EqualReleases> releases);

// An epsilon for which every rho-zCDP mechanism is (epsilon, delta)-DP, rounded up: the bound of Canonne,
// Kamath and Steinke 2020 (Proposition 12 and Corollary 13) at an order alpha that is optimal to about ten
// digits. Nothing at delta = 0, where zCDP promises nothing. May be larger than the sum. rho >= 0.
std::optional<Rational> zcdp_to_epsilon(const Rational& rho, const Rational& delta);

}  // namespace snapdp
