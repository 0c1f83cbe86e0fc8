#include "snapdp/framework/accountant.h"

#include "snapdp/error.h"

namespace snapdp {

InMemoryAccountant::InMemoryAccountant(const PrivacyBudget& budget) : budget_(budget) {
  require_budget(budget_);
}

PrivacyAmount InMemoryAccountant::remaining() const {
  return budget_.remaining(spent_);
}

void InMemoryAccountant::debit(const Debit& debit) {
  if (metric_ && *metric_ != debit.metric) {
    throw Error(ErrorCode::mismatch, "metric",
                "metric: this budget pays for neighbors by the " + to_string(*metric_) +
                    ", the release protects neighbors by the " + to_string(debit.metric) +
                    ", and the two do not add up; use one metric, or another budget");
  }
  if (metric_ && unit_ != debit.unit) {
    throw Error(ErrorCode::mismatch, "unit",
                "unit: this budget pays for the privacy units in " + quoted_text(unit_) +
                    ", the release protects those in " + quoted_text(debit.unit) +
                    ", and the two do not add up; use one unit, or another budget");
  }
  const PrivacyAmount cost = debit.loss.in(budget_.measure);
  const PrivacyAmount spent = spent_ + cost;
  if (const std::string over = budget_.exceeded_by(spent); !over.empty()) {
    throw Error(ErrorCode::budget_refused, over,
                over + ": the release costs " + in_words(budget_.measure, cost) + ", the budget has " +
                    in_words_down(budget_.measure, remaining()) + " left of " +
                    in_words_down(budget_.measure, budget_.limit()) + "; nothing was debited. Ask for less");
  }
  metric_ = debit.metric;
  unit_ = debit.unit;
  spent_ = spent;
}

}  // namespace snapdp
