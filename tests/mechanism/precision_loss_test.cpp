// The privacy loss of precision mode, computed from its exact law on small formats: it must not exceed what the
// mechanism states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mechanism/exact_precision_law.h"
#include "snapdp/mechanism/precision_snapping.h"

namespace snapdp {
namespace {

// ln x for x > 0, to a double's accuracy also next to 1.
double log_of(const Rational& x) {
  const Rational rest = x - 1;
  return std::log1p(rest.get_d());
}

struct Case {
  long precision;
  Rational epsilon;
  double half_width;
  bool proved;  // the proved bound is within epsilon
};

TEST(PrecisionLoss, IsAtMostWhatIsStated) {
  // Just above the least width and near the greatest, steps of the grid that are one scale and two.
  const std::vector<Case> cases = {{8, Rational(1), 1.25, true},      {8, Rational(1, 2), 4, true},
                                   {9, Rational(1), 4.25, true},      {9, Rational(17, 16), 3, true},
                                   {10, Rational(1), 7, true},        {10, Rational(9, 16), 4, false},
                                   {11, Rational(33, 32), 14.5, true}};
  for (const Case& each : cases) {
    const PrecisionSnapping mechanism({.epsilon = each.epsilon,
                                       .sensitivity = Dyadic(1),
                                       .lower = -each.half_width,
                                       .upper = each.half_width,
                                       .precision = each.precision});
    const ExactPrecisionLaw law(mechanism.precision(), mechanism.exact_scale().rational(), mechanism.grid(),
                                mechanism.half_width().rational());
    double worst = 0;
    for (const Rational& x : law.interesting_values()) {
      const std::vector<Rational> here = law(x);
      for (const Rational& distance : {Rational(1), Rational(-1)}) {
        Rational y = x + distance;
        if (y > mechanism.half_width().rational()) y = mechanism.half_width().rational();
        if (y < -mechanism.half_width().rational()) y = -mechanism.half_width().rational();
        const std::vector<Rational> there = law(y);
        ASSERT_EQ(here.size(), there.size());
        for (std::size_t i = 0; i < here.size(); ++i) {
          ASSERT_GT(here[i], 0);
          worst = std::max(worst, log_of(here[i] / there[i]));
        }
      }
    }
    const double proved = mechanism.loss_bound().get_d();
    const double claimed = mechanism.notes_claim().get_d();
    const double inner = Rational(1 / mechanism.exact_scale().rational()).get_d();
    RecordProperty("loss", std::to_string(worst));
    EXPECT_LE(worst, proved) << each.precision << " " << each.half_width;
    // Not proved, but never seen to fail.
    EXPECT_LE(worst, claimed);
    EXPECT_LE(mechanism.notes_claim(), mechanism.epsilon());
    EXPECT_EQ(mechanism.epsilon_is_proved(), each.proved) << each.precision << " " << each.half_width;
    // The computation sees the loss: Laplace noise of this scale alone has Delta / scale.
    EXPECT_GT(worst, 0.98 * inner);
  }
}

}  // namespace
}  // namespace snapdp
