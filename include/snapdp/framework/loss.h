// Privacy losses: what a release loses between neighbors, and budgets, which pay for it.
//
//   PrivacyLoss(Rational(1, 10))                          // pure: epsilon = 0.1
//   PrivacyLoss::approximate(1, Rational(1, 1'000'000))   // (epsilon, delta)
//   PrivacyLoss::gaussian(Rational(1, 50))                // Gaussian noise, rho = 0.02
//
//   PrivacyBudget(2)                                      // pure
//   PrivacyBudget::approximate(2, "1e-6")                 // epsilons and deltas add up
//   PrivacyBudget::zcdp("1/8", "1e-6")                    // rhos add up, read as an epsilon at delta 1e-6
//
// A budget counts in one measure, and every loss says what it is in that measure, or that it is nothing
// there: Gaussian noise is not pure. All amounts are exact rationals; what is not rational is rounded up.
#pragma once

#include <concepts>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "snapdp/numeric/rational.h"

namespace snapdp {

// A privacy loss as its author writes it: text is that decimal or fraction, a double is its shortest decimal.
class Epsilon {
 public:
  Epsilon(const char* text) : value_(parse_rational(text, "epsilon")) {}         // NOLINT: written in place
  Epsilon(const std::string& text) : value_(parse_rational(text, "epsilon")) {}  // NOLINT
  Epsilon(double value) : value_(shortest_decimal(value, "epsilon")) {}          // NOLINT
  Epsilon(Rational value) : value_(std::move(value)) {}                          // NOLINT
  const Rational& value() const { return value_; }

 private:
  Rational value_;
};

enum class PrivacyMeasure {
  pure,         // epsilon (Dwork, McSherry, Nissim, Smith 2006)
  approximate,  // (epsilon, delta): both add up
  zcdp,         // rho, zero-concentrated differential privacy (Bun and Steinke 2016), and a delta beside it
};

// "pure", "approximate" and "zcdp".
std::string to_string(PrivacyMeasure measure);
std::optional<PrivacyMeasure> parse_measure(std::string_view text);
// What an amount of it is called: "epsilon", but "rho" for zcdp.
std::string unit_of(PrivacyMeasure measure);

// So much of a measure: an epsilon or a rho, and the probability with which that does not hold, 0 for pure.
struct PrivacyAmount {
  Rational value = 0;
  Rational delta = 0;

  PrivacyAmount() = default;
  template <std::convertible_to<Rational> Number>
  PrivacyAmount(const Number& number) : value(number) {}  // NOLINT: without delta
  PrivacyAmount(Rational number, Rational failing) : value(std::move(number)), delta(std::move(failing)) {}

  friend PrivacyAmount operator+(const PrivacyAmount& a, const PrivacyAmount& b) {
    return {a.value + b.value, a.delta + b.delta};
  }
  friend bool operator==(const PrivacyAmount&, const PrivacyAmount&) = default;
};
std::ostream& operator<<(std::ostream& out, const PrivacyAmount& amount);

// "epsilon 0.5" or "rho 0.02, delta 1e-06", rounded up or down for people.
std::string in_words(PrivacyMeasure measure, const PrivacyAmount& amount);
std::string in_words_down(PrivacyMeasure measure, const PrivacyAmount& amount);

// The loss of something that is released: a part that is (epsilon, delta)-differentially private, and
// Gaussian noise, which is the real one rounded to a grid and so loses exactly what rho says (Bun and Steinke
// 2016, Proposition 1.6). Either may be 0.
struct PrivacyLoss {
  Rational epsilon = 0;
  Rational delta = 0;
  Rational rho = 0;  // of all Gaussian noise
  // What the Gaussian noise costs in a budget of epsilon and delta, as it was asked for; absent where it was
  // asked for by its rho.
  std::optional<PrivacyAmount> gaussian_cost = {};

  PrivacyLoss() = default;
  template <std::convertible_to<Rational> Number>
  PrivacyLoss(const Number& pure) : epsilon(pure) {}  // NOLINT: a loss is pure unless it says more
  static PrivacyLoss approximate(Rational epsilon, Rational delta);
  static PrivacyLoss gaussian(Rational rho);
  // That its noise is (epsilon, delta)-differentially private is for the caller to know.
  static PrivacyLoss gaussian(Rational rho, PrivacyAmount cost);

  bool is_pure() const { return delta == 0 && rho == 0; }
  bool is_zero() const { return is_pure() && epsilon == 0; }
  // The narrowest measure that has a figure for it.
  PrivacyMeasure measure() const;
  // What a budget of `measure` pays for it. Pure losses are rho = epsilon tanh(epsilon / 2) there, which is
  // optimal (Steinke, "Tight RDP and zCDP Bounds from Pure DP", 2023), rounded up to 20 digits; deltas stay
  // deltas. Throws mismatch naming "noise" where the measure has no figure.
  PrivacyAmount in(PrivacyMeasure measure) const;

  // Of releases about the same rows: sums, by basic composition within each part.
  PrivacyLoss& operator+=(const PrivacyLoss& other);
  friend PrivacyLoss operator+(PrivacyLoss a, const PrivacyLoss& b) { return a += b; }
  // At least either: of releases about rows of their own.
  friend PrivacyLoss larger(const PrivacyLoss& a, const PrivacyLoss& b);
  friend bool operator==(const PrivacyLoss&, const PrivacyLoss&) = default;
};

std::ostream& operator<<(std::ostream& out, const PrivacyLoss& loss);

// rho of everything that is epsilon-differentially private: epsilon tanh(epsilon / 2) to 20 significant
// digits, rounded up. epsilon >= 0.
Rational pure_to_zcdp(const Rational& epsilon);

// What may be spent: an amount > 0 of one measure.
struct PrivacyBudget {
  PrivacyMeasure measure = PrivacyMeasure::pure;
  // Of zcdp, delta is that at which the whole is read as an epsilon; at most half of it is for releases that
  // have a delta of their own.
  PrivacyAmount amount;

  PrivacyBudget() = default;
  PrivacyBudget(PrivacyMeasure of, PrivacyAmount most) : measure(of), amount(std::move(most)) {}
  PrivacyBudget(const Epsilon& epsilon) : amount(epsilon.value(), 0) {}  // NOLINT: pure unless it says more
  template <typename Number>
  requires(std::convertible_to<Number, Epsilon> && !std::same_as<Number, Epsilon>)
      PrivacyBudget(const Number& epsilon)  // NOLINT(google-explicit-constructor)
      : PrivacyBudget(Epsilon(epsilon)) {}
  static PrivacyBudget approximate(const Epsilon& epsilon, const Epsilon& delta);
  static PrivacyBudget zcdp(const Epsilon& rho, const Epsilon& delta);

  // The most that may be spent: of zcdp, half of delta.
  PrivacyAmount limit() const;
  // What is left of limit().
  PrivacyAmount remaining(const PrivacyAmount& spent) const;
  // What more than the limit `spent` would be: "epsilon", "rho" or "delta", or "" when it is within.
  std::string exceeded_by(const PrivacyAmount& spent) const;
  friend bool operator==(const PrivacyBudget&, const PrivacyBudget&) = default;
};

// Whether something may be spent, and 0 < delta < 1 for all but pure budgets, which have none.
bool is_budget(const PrivacyBudget& budget);
// Throws invalid_argument saying why it is none.
void require_budget(const PrivacyBudget& budget);

}  // namespace snapdp
