// Accountants: whoever pays for releases. A measurement or composition debits its accountant before it draws
// noise, and draws only when the debit stands.
//
//   InMemoryAccountant budget("1/2");                       // gone with the process: for tests and notebooks
//   InMemoryAccountant vectors(PrivacyBudget::zcdp("1/8", "1e-6"));  // see loss.h
//   const Release r = mean_age.release(rows, budget);
//   budget.remaining();
//
// A LedgerAccountant (privacy/ledger.h) debits a file instead, durably and against every other process.
#pragma once

#include <optional>
#include <string>

#include "snapdp/framework/domain.h"
#include "snapdp/framework/loss.h"

namespace snapdp {

// What a release asks its accountant to pay.
struct Debit {
  PrivacyLoss loss;       // at least what the release loses between neighbors, not zero
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
  // Throws invalid_argument unless something may be spent; see require_budget().
  explicit InMemoryAccountant(const PrivacyBudget& budget);
  // Throws besides mismatch naming "noise" when the release has no loss in the budget's measure.
  void debit(const Debit& debit) override;
  const PrivacyBudget& budget() const { return budget_; }
  // In the budget's measure.
  const PrivacyAmount& spent() const { return spent_; }
  PrivacyAmount remaining() const;

 private:
  PrivacyBudget budget_;
  PrivacyAmount spent_;
  std::optional<Metric> metric_;
  std::string unit_;
};

}  // namespace snapdp
