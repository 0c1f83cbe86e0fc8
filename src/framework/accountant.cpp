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
  if (debit.loss > remaining()) {
    throw Error(ErrorCode::budget_refused, "epsilon",
                "epsilon = " + to_string(debit.loss) + ": the budget has " + to_string(remaining()) +
                    " left of " + to_string(budget_) + "; nothing was debited. Ask for less");
  }
  metric_ = debit.metric;
  spent_ += debit.loss;
}

}  // namespace snapdp
