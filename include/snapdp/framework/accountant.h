// Accountants: whoever pays for releases. A measurement or composition debits its accountant before it draws
// noise, and draws only when the debit stands.
//
//   InMemoryAccountant budget("1/2");                       // gone with the process: for tests and notebooks
//   const Release r = mean_age.release(rows, budget);
//   budget.remaining();
//
// A LedgerAccountant (privacy/ledger.h) debits a file instead, durably and against every other process.
#pragma once

#include <optional>
#include <string>

#include "snapdp/framework/domain.h"
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

// What a release asks its accountant to pay.
struct Debit {
  Rational loss;          // at least what the release loses between neighbors, > 0
  Metric metric;          // neighbors are datasets at most `distance` apart by this metric
  Rational distance;      // 1, or the rows that one privacy unit may contribute
  std::string what = {};  // the release in words, which tell nothing of the rows
  std::string unit = {};  // of distances in privacy units: the column that tells whose row it is
};

class BudgetAccountant {
 public:
  virtual ~BudgetAccountant() = default;
  // Returns once the debit is durable, or throws and debits nothing: budget_refused when too little is left,
  // mismatch when the budget protects other neighbors than the debit speaks of. Nothing is ever refunded.
  virtual void debit(const Debit& debit) = 0;
};

// A budget held in memory by one thread. Losses add up for the neighbors of one metric, and for one kind of
// privacy unit, only, so the first debit decides which.
class InMemoryAccountant final : public BudgetAccountant {
 public:
  // Throws invalid_argument unless the budget is greater than 0.
  explicit InMemoryAccountant(const Epsilon& budget);
  void debit(const Debit& debit) override;
  const Rational& budget() const { return budget_; }
  const Rational& spent() const { return spent_; }
  Rational remaining() const { return budget_ - spent_; }

 private:
  Rational budget_;
  Rational spent_ = 0;
  std::optional<Metric> metric_;
  std::string unit_;
};

}  // namespace snapdp
