#include "snapdp/framework/accountant.h"

#include "snapdp/error.h"

namespace snapdp {

InMemoryAccountant::InMemoryAccountant(const Epsilon& budget) : budget_(budget.value()) {
  if (budget_ <= 0) {
    throw Error(ErrorCode::invalid_argument, "budget",
                "budget = " + to_string(budget_) + ": must be greater than 0, or nothing can be released");
  }
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
  if (debit.loss > remaining()) {
    throw Error(ErrorCode::budget_refused, "epsilon",
                "epsilon = " + to_string(debit.loss) + ": the budget has " + to_string(remaining()) +
                    " left of " + to_string(budget_) + "; nothing was debited. Ask for less");
  }
  metric_ = debit.metric;
  unit_ = debit.unit;
  spent_ += debit.loss;
}

}  // namespace snapdp
