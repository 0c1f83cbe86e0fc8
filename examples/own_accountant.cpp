// Your own accountant: whoever debits before noise is drawn. This one keeps a limit for each day as well.
#include <snapdp/snapdp.h>

#include <iostream>
#include <vector>

using namespace snapdp;

class DailyAccountant final : public BudgetAccountant {
 public:
  DailyAccountant(BudgetAccountant& whole, Rational a_day) : whole_(whole), left_today_(std::move(a_day)) {}

  // Refuses before anything is debited, and lets the other accountant have the last word.
  void debit(const Debit& debit) override {
    const Rational epsilon = debit.loss.in(PrivacyMeasure::pure).value;  // throws where it is not pure
    if (epsilon > left_today_) {
      throw Error(ErrorCode::budget_refused, "epsilon",
                  "epsilon = " + to_string(epsilon) + ": " + to_string(left_today_) +
                      " are left for today; nothing was debited. Ask again tomorrow");
    }
    whole_.debit(debit);
    left_today_ -= epsilon;
  }

 private:
  BudgetAccountant& whole_;
  Rational left_today_;
};

int main() {
  const std::vector<double> rows{1, 2, 3};
  const auto total = make_clamp(vector_domain<double>(), symmetric_distance(), Bounds(0, 10)) >> make_sum() >>
                     make_snapping({.epsilon = "0.1"});
  InMemoryAccountant budget(10);
  DailyAccountant today(budget, Rational(1, 5));
  std::cout << to_string(total.release(rows, today).values[0]) << "\n";
  std::cout << to_string(total.release(rows, today).values[0]) << "\n";
  try {
    total.release(rows, today);
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
    return budget.spent() == Rational(1, 5) ? 0 : 1;
  }
  return 1;
}
