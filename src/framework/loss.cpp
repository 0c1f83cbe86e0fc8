#include "snapdp/framework/loss.h"

#include <algorithm>
#include <array>
#include <ostream>

#include "numeric/shared/certified.h"
#include "snapdp/error.h"

namespace snapdp {

namespace {

constexpr int digits_kept = 20;  // of what is rounded

constexpr std::array<std::pair<PrivacyMeasure, const char*>, 3> measure_names = {{
    {PrivacyMeasure::pure, "pure"},
    {PrivacyMeasure::approximate, "approximate"},
    {PrivacyMeasure::zcdp, "zcdp"},
}};

std::string words(PrivacyMeasure measure, const PrivacyAmount& amount,
                  std::string (*shown)(const Rational&)) {
  std::string text = unit_of(measure) + " " + shown(amount.value);
  if (measure == PrivacyMeasure::approximate || amount.delta != 0) text += ", delta " + shown(amount.delta);
  return text;
}

Rational up(const Rational& value) {
  return parse_exact(round_up_to_digits(value, digits_kept), "rho");
}

[[noreturn]] void refuse_measure(PrivacyMeasure measure, const PrivacyLoss& loss) {
  std::string message;
  if (measure == PrivacyMeasure::approximate) {
    message =
        "Gaussian noise that was asked for by its rho has no price in a budget of epsilon and delta; give "
        "the statistic an epsilon and a delta instead, or use a budget of rho";
  } else if (loss.rho != 0) {
    message =
        "Gaussian noise has no pure epsilon; use Laplace noise, or a budget of epsilon and delta, or of rho";
  } else {
    message = "a release with a delta has no pure epsilon; use a budget of epsilon and delta, or of rho";
  }
  throw Error(ErrorCode::mismatch, "noise", "noise: " + message);
}

}  // namespace

std::string to_string(PrivacyMeasure measure) {
  for (const auto& [known, name] : measure_names)
    if (known == measure) return name;
  return {};
}

std::optional<PrivacyMeasure> parse_measure(std::string_view text) {
  for (const auto& [measure, name] : measure_names)
    if (text == name) return measure;
  return std::nullopt;
}

std::string unit_of(PrivacyMeasure measure) {
  return measure == PrivacyMeasure::zcdp ? "rho" : "epsilon";
}

std::string in_words(PrivacyMeasure measure, const PrivacyAmount& amount) {
  return words(measure, amount, short_number);
}
std::string in_words_down(PrivacyMeasure measure, const PrivacyAmount& amount) {
  return words(measure, amount, short_number_down);
}

std::ostream& operator<<(std::ostream& out, const PrivacyAmount& amount) {
  out << amount.value;
  if (amount.delta != 0) out << " with delta " << amount.delta;
  return out;
}

std::ostream& operator<<(std::ostream& out, const PrivacyLoss& loss) {
  out << "epsilon " << loss.epsilon << ", delta " << loss.delta << ", rho " << loss.rho;
  if (loss.gaussian_cost) out << " (which costs " << *loss.gaussian_cost << ")";
  return out;
}

PrivacyLoss PrivacyLoss::approximate(Rational epsilon, Rational delta) {
  PrivacyLoss loss;
  loss.epsilon = std::move(epsilon);
  loss.delta = std::move(delta);
  return loss;
}

PrivacyLoss PrivacyLoss::gaussian(Rational rho) {
  PrivacyLoss loss;
  loss.rho = std::move(rho);
  return loss;
}

PrivacyLoss PrivacyLoss::gaussian(Rational rho, PrivacyAmount cost) {
  PrivacyLoss loss = gaussian(std::move(rho));
  loss.gaussian_cost = std::move(cost);
  return loss;
}

PrivacyMeasure PrivacyLoss::measure() const {
  if (is_pure()) return PrivacyMeasure::pure;
  return rho == 0 || gaussian_cost ? PrivacyMeasure::approximate : PrivacyMeasure::zcdp;
}

PrivacyAmount PrivacyLoss::in(PrivacyMeasure measure) const {
  switch (measure) {
    case PrivacyMeasure::pure:
      if (is_pure()) return {epsilon, 0};
      break;
    case PrivacyMeasure::approximate:
      if (rho == 0) return {epsilon, delta};
      if (gaussian_cost) return PrivacyAmount{epsilon, delta} + *gaussian_cost;
      break;
    case PrivacyMeasure::zcdp:
      return {rho + pure_to_zcdp(epsilon), delta};
  }
  refuse_measure(measure, *this);
}

PrivacyLoss& PrivacyLoss::operator+=(const PrivacyLoss& other) {
  // A sum of Gaussian noises has a price only where all of them have one.
  if (rho == 0) {
    gaussian_cost = other.gaussian_cost;
  } else if (other.rho != 0) {
    if (gaussian_cost && other.gaussian_cost) {
      gaussian_cost = *gaussian_cost + *other.gaussian_cost;
    } else {
      gaussian_cost.reset();
    }
  }
  epsilon += other.epsilon;
  delta += other.delta;
  rho += other.rho;
  return *this;
}

PrivacyLoss larger(const PrivacyLoss& a, const PrivacyLoss& b) {
  PrivacyLoss loss = PrivacyLoss::approximate(std::max(a.epsilon, b.epsilon), std::max(a.delta, b.delta));
  loss.rho = std::max(a.rho, b.rho);
  if (a.rho == 0 || b.rho == 0) {
    loss.gaussian_cost = a.rho == 0 ? b.gaussian_cost : a.gaussian_cost;
  } else if (a.gaussian_cost && b.gaussian_cost) {
    loss.gaussian_cost = {std::max(a.gaussian_cost->value, b.gaussian_cost->value),
                          std::max(a.gaussian_cost->delta, b.gaussian_cost->delta)};
  }
  return loss;
}

Rational pure_to_zcdp(const Rational& epsilon) {
  using numeric_internal::certified::Wide;
  if (epsilon < 0) {
    throw Error(ErrorCode::invalid_argument, "epsilon",
                "epsilon = " + short_number(epsilon) + ": a privacy loss is not negative");
  }
  if (epsilon == 0) return 0;
  // There tanh(epsilon / 2) is 1 in more digits than are kept.
  constexpr long saturated = 1 << 10;
  if (epsilon >= saturated) return up(epsilon);
  // tanh(epsilon / 2) = (e^epsilon - 1) / (e^epsilon + 1), irrational: some precision tells the digits.
  constexpr mpfr_prec_t first_bits = 160;
  for (mpfr_prec_t bits = first_bits;; bits *= 2) {
    const Wide::Precision precision(bits, false);
    const Wide grown = expm1(Wide(epsilon));
    const Wide rho = Wide(epsilon) * grown / (grown + Wide(2.0));
    Rational low = up(lower_end(rho));
    if (low == up(upper_end(rho))) return low;
  }
}

PrivacyBudget PrivacyBudget::approximate(const Epsilon& epsilon, const Epsilon& delta) {
  return {PrivacyMeasure::approximate, {epsilon.value(), delta.value()}};
}

PrivacyBudget PrivacyBudget::zcdp(const Epsilon& rho, const Epsilon& delta) {
  return {PrivacyMeasure::zcdp, {rho.value(), delta.value()}};
}

PrivacyAmount PrivacyBudget::limit() const {
  if (measure == PrivacyMeasure::zcdp) return {amount.value, amount.delta / 2};
  return amount;
}

PrivacyAmount PrivacyBudget::remaining(const PrivacyAmount& spent) const {
  const PrivacyAmount most = limit();
  return {most.value - spent.value, most.delta - spent.delta};
}

std::string PrivacyBudget::exceeded_by(const PrivacyAmount& spent) const {
  const PrivacyAmount left = remaining(spent);
  if (left.value < 0) return unit_of(measure);
  return left.delta < 0 ? "delta" : "";
}

bool is_budget(const PrivacyBudget& budget) {
  const auto& [value, delta] = budget.amount;
  return value > 0 && (budget.measure == PrivacyMeasure::pure ? delta == 0 : delta > 0 && delta < 1);
}

void require_budget(const PrivacyBudget& budget) {
  if (is_budget(budget)) return;
  const auto& [value, delta] = budget.amount;
  if (value <= 0) {
    throw Error(ErrorCode::invalid_argument, "budget",
                "budget = " + short_number(value) + ": must be greater than 0, or nothing can be released");
  }
  if (budget.measure == PrivacyMeasure::pure)
    throw Error(ErrorCode::invalid_argument, "delta", "delta: a pure budget has none; leave it out");
  throw Error(ErrorCode::invalid_argument, "delta",
              "delta = " + short_number(delta) +
                  ": is the probability that what is promised fails, greater than 0 and less than 1; choose "
                  "one far below 1 divided by the number of people, such as 1e-6");
}

}  // namespace snapdp
