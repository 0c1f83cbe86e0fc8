#include "framework/shared/memory_reserve.h"

#include <algorithm>

namespace snapdp {

Integer framework_internal::most_steps(const Measurement& measurement) {
  const Mechanism& mechanism = measurement.mechanism();
  Rational reach = 0;
  const auto include = [&](const Rational& end) { reach = std::max(reach, Rational(::abs(end))); };
  if (mechanism.lower()) include(Rational(*mechanism.lower()));
  if (mechanism.upper()) include(Rational(*mechanism.upper()));
  if (!mechanism.lower() || !mechanism.upper()) {
    include(scale_by_power_of_two(mechanism.sensitivity(), 63).rational());
    if (const std::optional<Bounds>& range = measurement.aggregation().output_domain().range) {
      include(range->lower().rational());
      include(range->upper().rational());
    }
    reach += scale_by_power_of_two(Dyadic(mechanism.scale()), 64).rational();
  }
  return ceil(Rational(reach / mechanism.grid().spacing().rational())) + 1;
}

std::size_t framework_internal::memory_to_draw(const Measurement& measurement) {
  constexpr std::size_t small = 128;  // bits that come in the allocation which a value has already
  // In the vectors that hand values on, and the first digits of a value that was 0.
  constexpr std::size_t of_place = 64;
  const std::size_t bits = mpz_sizeinbase(most_steps(measurement).get_mpz_t(), 2);
  const std::size_t growth = bits <= small ? 0 : bits / 8;
  return measurement.aggregation().output_domain().dimension * (of_place + growth);
}

}  // namespace snapdp
