#include "mechanism/shared/precision_law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "errata/finite_snapping.h"
#include "mechanism/exact_precision_law.h"

namespace snapdp {

using namespace mechanism_internal;

namespace {

struct Case {
  long precision;
  Rational scale;  // of that many bits
  double half_width;
};

// Scales that are powers of two, next to them and in between; bounds nearer than the scale, and many grid steps away.
const std::vector<Case> cases = {{8, 1, 0.25},
                                 {8, 1, 0.5},
                                 {8, 1, 5.25},
                                 {8, Rational(129, 128), 6},
                                 {9, Rational(255, 256), 3.5},
                                 {9, 3, 10.75},
                                 {9, Rational(5, 4), 7},
                                 {10, Rational(1023, 1024), 4}};

// Every output's probability for every interesting value, against the enumeration of all U*.
TEST(PrecisionLaw, IsTheEnumeratedLaw) {
  for (const Case& each : cases) {
    const Grid grid = Grid::at_least(each.scale);
    const ExactPrecisionLaw enumerated(each.precision, each.scale, grid, Rational(each.half_width));
    PrecisionLaw law({each.precision, to_dyadic(each.scale, "scale"), grid}, Dyadic(each.half_width));
    ASSERT_EQ(law.outermost(), enumerated.outermost());
    for (const Rational& value : enumerated.interesting_values()) {
      // Dyadics only: an interesting value such as 1/77 is taken to a few more bits than the arithmetic has.
      const Dyadic x = Grid(-3 - each.precision).round(value);
      if (abs(x) > Dyadic(each.half_width)) continue;
      const std::vector<Rational> expected = enumerated(x.rational());
      Rational sum = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const Rational probability = law.probability(static_cast<long>(i) - enumerated.outermost(), x);
        sum += probability;
        // The enumeration stops where U* leads beyond every bound, and counts the rest with the last.
        ASSERT_EQ(probability, expected[i])
            << each.precision << " " << each.scale << " " << each.half_width << " x " << x.rational()
            << " output " << static_cast<long>(i) - enumerated.outermost();
      }
      ASSERT_EQ(sum, 1);
    }
  }
}

// At 53 bits no enumeration is possible: against thresholds that are searched for step by step.
TEST(PrecisionLaw, AgreesWithASearchForThresholds) {
  for (const double scale : {1.0, 0x1.2d2d2d2d2d2d3p-1, 0x1.fffffffffffffp-1, 100.0}) {
    const Grid grid = Grid::at_least(Rational(scale));
    const double half_width = 40 * grid.spacing().to_double_nearest();
    PrecisionLaw law({53, Dyadic(scale), grid}, Dyadic(half_width));
    const errata::FiniteSnapping searched{53, 53, Rational(scale)};
    const Rational step = grid.spacing().rational();
    for (int i = -30; i < 30; ++i) {
      const Dyadic x = Dyadic(i * 1.234567 * scale);
      if (abs(x) > Dyadic(half_width)) continue;
      const Rational top = searched.tail((law.outermost() - Rational(1, 2)) * step, x.rational());
      EXPECT_EQ(law.probability(law.outermost(), x), top) << scale << " " << i;
      const long k = 35;
      if (x >= grid.value(k - 1)) continue;  // the search is for thresholds above x
      EXPECT_EQ(law.probability(k, x), searched.tail((k - Rational(1, 2)) * step, x.rational()) -
                                           searched.tail((k + Rational(1, 2)) * step, x.rational()));
    }
  }
}

// Far outputs are scaled: the probability itself would need a million binary places and more. By the definition, the tail
// is the number after the largest U* that leads there.
TEST(PrecisionLaw, FarOutputsAreExactToo) {
  using namespace precision_oracle;
  constexpr long precision = 53;
  for (const double scale : {1.0, 0x1.2d2d2d2d2d2d3p-1}) {
    const Rational step = Grid::at_least(Rational(scale)).spacing().rational();
    const Dyadic half_width(std::ldexp(1.25, 18));
    PrecisionLaw law({precision, Dyadic(scale), Grid::at_least(Rational(scale))}, half_width);
    for (const Dyadic& x : {-half_width, -half_width + Dyadic(0x1p-30), Dyadic(-100'000.375)}) {
      Real result(law.probability_bits());
      const Integer shift = law.probability(law.outermost(), x, result);
      ASSERT_GT(shift, 100'000);
      const Rational tail = 2 * result.rational() * power_of_two(-shift.get_si());
      // The number of 53 bits before it: half a place below is cut off to that.
      const Rational before = cut_off(tail - power_of_two(exponent_of(tail) - precision), precision);
      const auto index = [&](const Rational& u) {
        return index_of(x.rational(), true, noise_of(u, Rational(scale), precision), step, precision);
      };
      EXPECT_LT(index(tail), law.outermost());
      EXPECT_GE(index(before), law.outermost());
      // The mirror image, but for ties, and an output between: a difference of two tails with one shift.
      Real mirrored(law.probability_bits());
      EXPECT_EQ(law.probability(-law.outermost(), -x, mirrored), shift);
      EXPECT_NEAR(Rational(mirrored.rational() / result.rational()).get_d(), 1, 1e-8);
      Real inner(law.probability_bits());
      const Integer inner_shift = law.probability(law.outermost() - 1, x, inner);
      const Rational ratio =
          inner.rational() / result.rational() * power_of_two(Integer(shift - inner_shift).get_si());
      EXPECT_NEAR(ratio.get_d(), std::expm1(Rational(step / scale).get_d()), 1e-7);
    }
  }
  // Nearby nothing is scaled.
  PrecisionLaw near({precision, Dyadic(1), Grid(0)}, Dyadic(30'000));
  Real result(near.probability_bits());
  EXPECT_EQ(near.probability(near.outermost(), Dyadic(-30'000), result), 0);
}

}  // namespace
}  // namespace snapdp
