#include "privacy/randomized_response.h"

namespace snapdp::composition {

std::vector<PositiveInterval> plus_counts(const Group& group, mpfr_prec_t bits) {
  // Binomial, from the top: a plus less multiplies by plus / (count - plus + 1) and by the odds of a minus.
  const PositiveInterval odds = PositiveInterval::exp_minus(bits, group.epsilon);
  const auto count = static_cast<unsigned long>(group.count);
  std::vector<PositiveInterval> masses(count + 1, PositiveInterval(bits));
  masses[count] = odds.one_plus_reciprocal().power(count);
  for (unsigned long plus = count; plus > 0; --plus) {
    PositiveInterval& mass = masses[plus - 1];
    mass = masses[plus];
    mass *= odds;
    mass *= plus;
    mass /= count - plus + 1;
  }
  return masses;
}

}  // namespace snapdp::composition
